//! What a draft says about preparation, checked before a row is read.

use chrysalis_release::{Preparation, PreparedValues};
use chrysalis_table::{ColumnRequest, Knob, Remedy};

use super::{ColumnPlan, Plan};
use crate::{Draft, Error};

impl Draft {
    /// How a column is prepared; `None` if it is not. `wanted` says what it is to be afterwards.
    pub(crate) fn column_plan(&self, wanted: &ColumnRequest) -> Result<Option<ColumnPlan>, Error> {
        let name = &wanted.name;
        let Some(said) = self.attributes.get(name).filter(|said| !said.prepare.is_empty()) else { return Ok(None) };
        let wrong = |problem| {
            let remedy =
                Remedy::from("for example ").knob(Knob::Prepare, format!("{name}=top:90")).words("; see ").manual();
            Error::request(format!("column `{name}`: {problem}"), remedy)
        };
        let steps = Preparation::parse_all(said.prepare.iter()).map_err(wrong)?;
        let fits = |step: &&Preparation| {
            wanted.kind.is_none_or(|kind| step.is_for().are(kind) || PreparedValues::Words.are(kind))
        };
        if let (Some(step), Some(kind)) = (steps.iter().find(|step| !fits(step)), wanted.kind) {
            let message = format!("`{step}` is for {}, but column `{name}` is said to be {kind}", step.is_for());
            let remedy = Remedy::from("leave ").knob(Knob::Kind, "").words(" or ").knob(Knob::Prepare, "");
            return Err(Error::request(message, remedy.words(" out")));
        }
        Ok(Some(ColumnPlan { name: name.clone(), steps, kind: wanted.kind, order: wanted.order.clone() }))
    }

    /// How the wanted columns are prepared. Rows are of persons where dates are moved.
    pub(crate) fn plan(&self, header: &[String], columns: Vec<ColumnPlan>) -> Result<Plan, Error> {
        let steps = || columns.iter().flat_map(|column| column.steps.iter().map(move |step| (column, step)));
        let mut shifts = steps().filter(|(_, step)| matches!(step, Preparation::Shift(_)));
        let first = shifts.next();
        if let Some(((one, a), (other, b))) =
            first.zip(shifts.find(|(_, step)| first.is_none_or(|(_, it)| it != *step)))
        {
            let (one, other) = (&one.name, &other.name);
            let message = format!("`{one}` is moved by `{a}` and `{other}` by `{b}`, so the time between them is lost");
            return Err(Error::request(message, "move both in the same way"));
        }
        match (first, &self.person) {
            (Some((column, step)), None) => {
                let name = &column.name;
                let message =
                    format!("`{step}` moves the dates of `{name}` by person, but no column says whose a row is");
                return Err(Error::request(message, Remedy::from("name it with ").knob(Knob::Person, "patient_id")));
            }
            (_, Some(person)) => self.check_names(header, std::iter::once(person))?,
            (None, None) => {}
        }
        if self.key.is_some() && !steps().any(|(_, step)| step.is_keyed()) {
            let message = format!("`{}` has no effect: no column is prepared with it", Knob::Key);
            let remedy = Remedy::from("leave ").knob(Knob::Key, "").words(" out, or use ");
            return Err(Error::request(message, remedy.knob(Knob::Prepare, "COLUMN=pseudonym")));
        }
        Ok(Plan { columns, person: self.person.clone(), drops_person: false })
    }

    /// Whether any column is prepared with the key.
    pub(crate) fn says_keyed(&self) -> bool {
        self.says(|step| step.is_keyed())
    }

    /// Whether any column of dates is moved.
    pub(crate) fn says_shift(&self) -> bool {
        self.says(|step| matches!(step, Preparation::Shift(_)))
    }

    fn says(&self, is_meant: impl Fn(Preparation) -> bool) -> bool {
        let texts = self.attributes.values().flat_map(|said| &said.prepare);
        texts.filter_map(|text| text.parse().ok()).any(is_meant)
    }
}

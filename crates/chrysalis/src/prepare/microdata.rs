//! The microdata behind releases, prepared as the releases were.

use chrysalis_release::{Attribute, Manifest, Preparation};
use chrysalis_table::{ColumnRequest, Knob, Remedy, Table};

use super::{ColumnPlan, Key, Nobody, Plan};
use crate::{Draft, Error};

/// How to read the microdata so that releases can be compared with them: the attributes of these releases, with their
/// kinds and preparations.
#[derive(Clone, Debug)]
pub struct MicrodataPlan {
    plan: Plan,
    requests: Vec<ColumnRequest>,
}

impl MicrodataPlan {
    /// What these releases need. `person` is the column that says whose a row is, for dates that were moved and for
    /// promises that count persons, which keep it.
    ///
    /// # Errors
    /// If releases prepared one column differently: one table cannot be compared with both. If dates were moved and no
    /// person is named, or if a person is named and of no use.
    pub fn new(manifests: &[&Manifest], person: Option<&str>) -> Result<MicrodataPlan, Error> {
        check_alike(manifests)?;
        let mut wanted: Vec<ColumnRequest> = Vec::new();
        let mut columns = Vec::new();
        for attribute in manifests.iter().flat_map(|manifest| &manifest.attributes) {
            if wanted.iter().any(|known| known.name == attribute.name) {
                continue;
            }
            let (name, kind, order) = (attribute.name.clone(), Some(attribute.kind.into()), attribute.domain.order());
            let steps = attribute.preparations()?;
            if !steps.is_empty() {
                columns.push(ColumnPlan { name: name.clone(), steps, kind, order: order.clone() });
            }
            wanted.push(ColumnRequest { name, kind, order });
        }
        let counts_persons = counts_persons(manifests);
        let is_kept = counts_persons || person.is_some_and(|person| wanted.iter().any(|known| known.name == person));
        let plan = Plan { columns, person: person.map(str::to_owned), drops_person: !is_kept };
        match (plan.step(), person) {
            (Some(_), None) => {
                let message = "the dates of this release were moved by person, but no column says whose a row is";
                return Err(Error::request(message, Remedy::from("name it with ").knob(Knob::Person, "patient_id")));
            }
            (None, Some(_)) if !counts_persons => {
                let message =
                    format!("`{}` has no effect: this release counts rows, and no date of it was moved", Knob::Person);
                return Err(Error::request(message, Remedy::from("leave ").knob(Knob::Person, "").words(" out")));
            }
            _ => {}
        }
        Ok(MicrodataPlan { requests: plan.requests(&wanted), plan })
    }

    /// The columns to read.
    pub fn requests(&self) -> &[ColumnRequest] {
        &self.requests
    }

    /// Whether the microdata can be prepared with the owner's key alone.
    pub fn is_keyed(&self) -> bool {
        self.plan.is_keyed()
    }

    /// Checks that there is a key if one is needed, and none otherwise.
    pub(crate) fn check_key(&self, is_named: bool) -> Result<(), Error> {
        match (self.is_keyed(), is_named) {
            (true, false) => {
                let message =
                    "the microdata of this release can be prepared with the owner's key alone, and none is named";
                let remedy = Remedy::from("name the file that it was made with: ").knob(Knob::Key, "chrysalis.key");
                Err(Error::request(message, remedy))
            }
            (false, true) => {
                let message =
                    format!("`{}` has no effect: no column of this release was prepared with a key", Knob::Key);
                Err(Error::request(message, Remedy::from("leave ").knob(Knob::Key, "").words(" out")))
            }
            _ => Ok(()),
        }
    }

    /// The columns that were read, prepared as the releases were.
    pub fn prepared(&self, table: Table, key: Option<&Key>) -> Result<Table, Error> {
        self.check_key(key.is_some())?;
        // Rows without a person cannot have been published.
        let person = self.plan.person.as_ref().and_then(|person| table.column(person));
        let table = match person.filter(|person| person.domain().has_missing()) {
            Some(person) => {
                let rows: Vec<u32> = (0..table.rows() as u32).filter(|&row| person.code(row as usize) != 0).collect();
                table.gather(&rows)
            }
            None => table,
        };
        Ok(self.plan.carry_out(table, key, Nobody::Refused)?.0)
    }
}

impl Draft {
    /// Keeps the key and the persons of a spec as far as these releases need them; a key that is not named lies beside
    /// the table. If a release was not prepared as its spec says, that is for the audit to tell.
    #[must_use]
    pub fn suited_to(self, manifests: &[&Manifest]) -> Draft {
        let attributes = manifests.iter().flat_map(|manifest| &manifest.attributes);
        let steps: Vec<Preparation> =
            attributes.filter_map(|attribute| attribute.preparations().ok()).flatten().collect();
        let is_moved = steps.iter().any(|step| matches!(step, Preparation::Shift(_)));
        let key = steps.iter().any(|step| step.is_keyed()).then(|| self.key_file());
        let has_use = is_moved || counts_persons(manifests);
        Draft { key, person: self.person.filter(|_| has_use), ..self }
    }
}

/// Whether promises of some release count persons, or follow them from release to release.
fn counts_persons(manifests: &[&Manifest]) -> bool {
    manifests.iter().any(|manifest| manifest.persons.is_some() || manifest.series.is_some())
}

/// Releases that share a column must have prepared it in the same way, or their values do not mean the same.
pub(crate) fn check_alike(manifests: &[&Manifest]) -> Result<(), Error> {
    for attribute in manifests.iter().flat_map(|manifest| &manifest.attributes) {
        let mut known = manifests.iter().filter_map(|manifest| manifest.attribute(&attribute.name));
        if let Some(known) = known.find(|known| known.prepared != attribute.prepared) {
            let message = format!(
                "the releases prepared `{}` differently ({} and {}), so they cannot be compared",
                attribute.name,
                shown(attribute),
                shown(known)
            );
            return Err(Error::request(message, "check each of them alone"));
        }
    }
    Ok(())
}

fn shown(attribute: &Attribute) -> String {
    attribute.prepared.as_ref().map_or_else(|| "not at all".to_owned(), |steps| steps.join(", "))
}

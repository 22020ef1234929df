//! Persons who may have several rows each: what a draft says about them, surplus rows, and tables that look as if they
//! had such persons although nobody says so.

use chrysalis_criteria::Sees;
use chrysalis_publish::PersonsSpec;
use chrysalis_release::{Detail, Form, Values};
use chrysalis_table::{Column, Knob, Remedy, Role, Table, Watch};
use rand::CryptoRng;
use rand::seq::SliceRandom;

use crate::guess::{GuessedRole, numbers_people, suggest};
use crate::words::count;
use crate::{Draft, Error, Recipe};

/// What a recipe says about persons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PersonsPlan {
    pub(crate) spec: PersonsSpec,
    /// The most rows that a person keeps.
    pub(crate) most_rows: Option<u64>,
}

impl Draft {
    /// What is said about persons, if anything. `shifts` says whether dates are moved by person.
    pub(crate) fn persons(
        &self,
        form: Form,
        roles: &[(String, Role)],
        shifts: bool,
    ) -> Result<Option<PersonsPlan>, Error> {
        let Some(column) = &self.person else {
            let idle =
                [(Knob::RowsKnown, self.rows_known.is_some()), (Knob::RowsPerPerson, self.rows_per_person.is_some())];
            return match idle.into_iter().find(|(_, is_said)| *is_said) {
                None => Ok(None),
                Some((knob, _)) => {
                    let message = format!("`{knob}` has no effect: no column says whose a row is");
                    Err(Error::request(message, Remedy::from("name it with ").knob(Knob::Person, "patient_id")))
                }
            };
        };
        let named = roles.iter().find(|(name, role)| name == column && *role != Role::Identifier);
        if let Some((_, role)) = named {
            let message = format!(
                "column `{column}` says whose a row is, so it cannot be published as {}: rows of a person would be tied \
                 together",
                role.name()
            );
            return Err(Error::request(message, "leave it out of the other lists"));
        }
        let shape = form.shape();
        if !shape.may_promise {
            if shifts && self.rows_known.is_none() && self.rows_per_person.is_none() {
                return Ok(None);
            }
            let message =
                format!("`{}` has no effect: {form} promises nothing, neither to rows nor to persons", Knob::Person);
            return Err(Error::request(message, Remedy::from("leave ").knob(Knob::Person, "").words(" out")));
        }
        if self.rows_per_person == Some(0) {
            let message = format!("`{}` is 0, so nothing would be left", Knob::RowsPerPerson);
            return Err(Error::request(message, Remedy::from("use ").knob(Knob::RowsPerPerson, "1").words(" or more")));
        }
        // Rows can be counted where their quasi values are exact, and where batches show how many rows a box has.
        let is_countable = match shape.detail {
            Detail::Exact | Detail::Permuted | Detail::RowBoxes => true,
            Detail::GroupBoxes => false,
        };
        if is_countable && self.rows_known == Some(false) {
            let message =
                format!("`{} = false` cannot be: {form} lets everybody count the rows of a person", Knob::RowsKnown);
            let remedy = Remedy::from("leave it out, or use ").knob(Knob::Method, Form::Generalize.name());
            return Err(Error::request(message, remedy));
        }
        let rows_known = is_countable || self.rows_known == Some(true) || self.rows_per_person == Some(1);
        let sees = match shape.values {
            Values::Counted(_) if rows_known => Sees::Persons,
            _ => Sees::Rows,
        };
        let spec = PersonsSpec { column: column.clone(), rows_known, sees };
        Ok(Some(PersonsPlan { spec, most_rows: self.rows_per_person }))
    }

    /// Columns that sound like the numbers of people, although nobody says what they are.
    pub(crate) fn suspects(&self, header: &[String], roles: &[(String, Role)]) -> Vec<String> {
        if self.person.is_some() {
            return Vec::new();
        }
        let is_used = |name: &String| roles.iter().any(|(known, role)| known == name && *role != Role::Identifier);
        header.iter().filter(|name| !is_used(name) && numbers_people(name)).take(MOST_SUSPECTS).cloned().collect()
    }
}

/// Columns cost time to read.
const MOST_SUSPECTS: usize = 2;

/// Leaves out the columns that were read only to see whether people have several rows, and says so if they have.
pub(crate) fn noticed(table: Table, recipe: &Recipe, watch: &dyn Watch) -> Table {
    let is_suspect = |column: &&Column| recipe.suspects.iter().any(|name| name == column.name());
    if !table.columns().iter().any(|column| is_suspect(&column)) {
        return table;
    }
    for column in table.columns().iter().filter(is_suspect) {
        let rows = table.rows() as u64;
        let missing = usize::from(column.domain().has_missing());
        let values = column.domain().len() - missing;
        let several: u64 = column.histogram()[missing..].iter().filter(|&&n| n > 1).sum();
        if suggest(column, table.rows()).role == GuessedRole::Person && several > 0 {
            watch.note(&format!(
                "{} of {} rows share their `{}` with other rows ({} different ones): if these are the rows of one \
                 person, promises about rows protect that person less. `{} = {}` makes them about persons",
                count(several),
                count(rows),
                column.name(),
                count(values as u64),
                Knob::Person,
                column.name(),
            ));
        }
    }
    Table::new(table.columns().iter().filter(|column| !is_suspect(column)).cloned().collect())
}

/// Drops surplus rows of persons at random, and counts them.
///
/// LEAK: which rows of a person stay depends on the generator, never on their order.
pub(crate) fn without_surplus(
    table: Table,
    plan: &PersonsPlan,
    rng: &mut dyn CryptoRng,
) -> Result<(Table, u64), Error> {
    let Some(most) = plan.most_rows else { return Ok((table, 0)) };
    let column = table.column(&plan.spec.column);
    let column = column.ok_or_else(|| Error::internal("the column of persons was not read"))?;
    let missing = usize::from(column.domain().has_missing());
    let counts = column.histogram();
    if counts.iter().skip(missing).all(|&n| n <= most) {
        return Ok((table, 0));
    }
    let mut order: Vec<u32> = (0..table.rows() as u32).collect();
    order.shuffle(rng);
    let mut kept = vec![0_u64; counts.len()];
    // Rows without a person are an error of their own, later.
    order.retain(|&row| {
        let person = column.code(row as usize) as usize;
        kept[person] += 1;
        person < missing || kept[person] <= most
    });
    order.sort_unstable();
    let surplus = (table.rows() - order.len()) as u64;
    Ok((table.gather(&order), surplus))
}

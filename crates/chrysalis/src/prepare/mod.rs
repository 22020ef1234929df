//! Columns are prepared between reading and publishing: rounded, capped, shortened, replaced by pseudonyms, moved.
//!
//! Everything after it, from taxonomies to promises, sees prepared values only. How a preparation is written is decided
//! in `chrysalis-release`, because manifests say it too.

mod key;
mod microdata;
mod plan;
mod steps;

use chrysalis_release::{Preparation, PreparedValues};
use chrysalis_table::{Code, Column, ColumnRequest, Kind, Knob, Remedy, Table};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use key::Key;
pub use microdata::MicrodataPlan;
pub(crate) use microdata::check_alike;

use crate::Error;
use crate::words::{count, counted};

/// One step, and how many rows have another value since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreparedColumn {
    /// The column.
    pub column: String,
    /// The step, such as `top:90`.
    pub preparation: String,
    /// The rows whose value it changed.
    pub changed_rows: u64,
}

/// How one column is prepared, and what it is afterwards.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ColumnPlan {
    pub(crate) name: String,
    /// In the order in which they are carried out; at least one.
    pub(crate) steps: Vec<Preparation>,
    /// Its kind afterwards, if somebody says so.
    pub(crate) kind: Option<Kind>,
    /// For ordinals: the prepared values, from lowest to highest.
    pub(crate) order: Vec<String>,
}

/// How the columns of a table are prepared.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Plan {
    pub(crate) columns: Vec<ColumnPlan>,
    /// The column that says whose a row is, if dates are moved.
    pub(crate) person: Option<String>,
    /// Whether that column is of no use afterwards.
    pub(crate) drops_person: bool,
}

/// What becomes of rows that name no person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nobody {
    /// They are an error.
    Refused,
    /// They will be dropped, so their dates do not matter.
    Ignored,
}

impl ColumnPlan {
    /// How the column is read, so that it can be prepared.
    ///
    /// Words are taken as they are written, whatever the other values look like: a pseudonym must not depend on them.
    /// Numbers and dates that become words afterwards are read as what they look like.
    pub(crate) fn request(&self) -> ColumnRequest {
        let is_for = self.steps.first().map(|step| step.is_for());
        let kind = match is_for {
            Some(PreparedValues::Words) => Some(Kind::Category),
            _ => self.kind.filter(|kind| !PreparedValues::Words.are(*kind)),
        };
        ColumnRequest { name: self.name.clone(), kind, order: Vec::new() }
    }

    fn prepared(&self, column: &Column, key: Option<&Key>, people: Option<&People>) -> Result<PreparedSteps, Error> {
        let mut column = column.clone();
        let mut report = Vec::new();
        for &step in &self.steps {
            self.check(&column, step)?;
            let (next, changed_rows) = match (step, people) {
                (Preparation::Shift(_), Some(people)) => steps::shifted(&column, step, &people.column, &people.days)?,
                (Preparation::Shift(_), None) => {
                    return Err(Error::internal("dates were to be moved, but not by person"));
                }
                _ => steps::mapped(&column, step, key)?,
            };
            column = next;
            report.push(PreparedColumn { column: self.name.clone(), preparation: step.to_string(), changed_rows });
        }
        match self.kind.filter(|kind| PreparedValues::Words.are(*kind) && *kind != column.domain().kind()) {
            Some(kind) => Ok((steps::as_words(&column, kind, &self.order)?, report)),
            None => Ok((column, report)),
        }
    }

    /// A step must fit what the values turn out to be.
    fn check(&self, column: &Column, step: Preparation) -> Result<(), Error> {
        let (name, kind) = (&self.name, column.domain().kind());
        let of_kind = |kind: Kind| format!("{name}={kind}");
        if step.is_for() != PreparedValues::Words && !step.is_for().are(kind) {
            let message = format!("`{step}` is for {}, but column `{name}` is {kind}", step.is_for());
            let remedy = match step.is_for() {
                PreparedValues::Dates => Remedy::from("leave it out, or say how its dates are written with ")
                    .knob(Knob::DateFormat, "%d/%m/%Y")
                    .words(" or ")
                    .knob(Knob::Kind, of_kind(Kind::Date)),
                _ => Remedy::from("leave it out, or say that these are numbers with ")
                    .knob(Knob::Kind, of_kind(Kind::Integer)),
            };
            return Err(Error::request(message, remedy));
        }
        let number = match step {
            Preparation::Round(number) => Some(number),
            Preparation::Top(chrysalis_release::Bound::Number(number))
            | Preparation::Bottom(chrysalis_release::Bound::Number(number)) => Some(number),
            _ => None,
        };
        if kind == Kind::Integer && number.is_some_and(|number| number.whole().is_none()) {
            let message = format!("`{step}` is no whole number, but column `{name}` has whole numbers only");
            let remedy = Remedy::from("use a whole number, or ").knob(Knob::Kind, of_kind(Kind::Real));
            return Err(Error::request(message, remedy));
        }
        Ok(())
    }
}

/// A prepared column, and what was done.
type PreparedSteps = (Column, Vec<PreparedColumn>);

/// Who is who, and by how much the dates of each are moved.
struct People {
    column: Column,
    /// One number per code.
    days: Vec<i32>,
}

impl Plan {
    /// Whether a key is needed.
    pub(crate) fn is_keyed(&self) -> bool {
        self.columns.iter().flat_map(|column| &column.steps).any(|step| step.is_keyed())
    }

    /// The step by which dates are moved, if they are.
    fn step(&self) -> Option<u16> {
        self.columns.iter().flat_map(|column| &column.steps).find_map(|step| match step {
            Preparation::Shift(step) => Some(*step),
            _ => None,
        })
    }

    /// What of it matters to some columns.
    pub(crate) fn for_columns(mut self, wanted: &[ColumnRequest]) -> Plan {
        let is_wanted = |name: &String| wanted.iter().any(|known| known.name == *name);
        self.columns.retain(|column| is_wanted(&column.name));
        self.person = self.person.take().filter(|_| self.step().is_some());
        self.drops_person = self.person.as_ref().is_some_and(|person| !is_wanted(person));
        self
    }

    /// Changes requests for the columns as they are wanted into requests for the columns as they can be prepared.
    pub(crate) fn requests(&self, wanted: &[ColumnRequest]) -> Vec<ColumnRequest> {
        let planned = |name: &str| self.columns.iter().find(|column| column.name == name);
        let request =
            |wanted: &ColumnRequest| planned(&wanted.name).map_or_else(|| wanted.clone(), ColumnPlan::request);
        let mut requests: Vec<ColumnRequest> = wanted.iter().map(request).collect();
        if let Some(person) = self.person.iter().find(|person| requests.iter().all(|known| known.name != **person)) {
            // Persons are told apart by what is written.
            requests.push(ColumnRequest::of_kind(person, Kind::Category));
        }
        requests
    }

    /// Prepares the columns of a table that has all of them. Rows stay where they are.
    pub(crate) fn carry_out(
        &self,
        table: Table,
        key: Option<&Key>,
        nobody: Nobody,
    ) -> Result<(Table, Vec<PreparedColumn>), Error> {
        if self.columns.is_empty() {
            return Ok((table, Vec::new()));
        }
        let key = key.filter(|_| self.is_keyed());
        if key.is_none() && self.is_keyed() {
            return Err(Error::internal("the key was not read"));
        }
        let people = match (self.step(), key) {
            (Some(step), Some(key)) => Some(self.people(&table, step, key, nobody)?),
            _ => None,
        };
        let mut report = Vec::new();
        let mut columns = Vec::new();
        for column in table.columns() {
            if self.drops_person && self.person.as_deref() == Some(column.name()) {
                continue;
            }
            match self.columns.iter().find(|planned| planned.name == column.name()) {
                None => columns.push(column.clone()),
                Some(planned) => {
                    let (column, told) = planned.prepared(column, key, people.as_ref())?;
                    columns.push(column);
                    report.extend(told);
                }
            }
        }
        Ok((Table::new(columns), report))
    }

    fn people(&self, table: &Table, step: u16, key: &Key, nobody: Nobody) -> Result<People, Error> {
        let column = self.person.as_ref().and_then(|person| table.column(person)).cloned();
        let column = column.ok_or_else(|| Error::internal("the column of persons was not read"))?;
        let domain = column.domain();
        if domain.has_missing() && nobody == Nobody::Refused {
            let (name, rows) = (column.name(), counted(column.histogram()[0], "row"));
            let message = format!("{rows} without a person in `{name}`: dates are moved by person");
            let remedy = Remedy::from("fill them in, or drop these rows with ").knob(Knob::Missing, "drop");
            return Err(Error::request(message, remedy));
        }
        let shifts = key.shifts(step)?;
        let days = |code: Code| domain.value(code).map_or(0, |value| shifts.days(&value.to_string(), step));
        let days = (0..domain.len() as Code).into_par_iter().map(days).collect();
        Ok(People { days, column })
    }
}

/// A date that this share of all rows have gives away how far they were moved, if anybody knows it.
const COMMON: u64 = 10;
/// Small tables have such dates by chance.
const FEW_ROWS: usize = 50;

impl Plan {
    /// What the owner should know about dates that are to be moved.
    ///
    /// LEAK: if many rows have one date, it is often not a real one (9999-12-31, or the day of an export). Whoever knows
    /// it can tell by how much the other dates of each of these people were moved.
    pub(crate) fn notes(&self, table: &Table) -> Vec<String> {
        let is_moved = |plan: &&ColumnPlan| plan.steps.iter().any(|step| matches!(step, Preparation::Shift(_)));
        let moved = self.columns.iter().filter(is_moved).filter_map(|plan| table.column(&plan.name));
        let note = |column: &Column| {
            let missing = usize::from(column.domain().has_missing());
            let counts = column.histogram();
            let (code, rows) = counts.iter().enumerate().skip(missing).max_by_key(|(_, rows)| **rows)?;
            let is_common = table.rows() >= FEW_ROWS && rows * COMMON >= table.rows() as u64;
            is_common.then(|| {
                format!(
                    "{} of {} rows have the date {} in `{}`: if it can be guessed, it tells by how much all dates of \
                     these people were moved. If it stands for something else, read it as missing",
                    count(*rows),
                    count(table.rows() as u64),
                    column.domain().text(code as Code),
                    column.name()
                )
            })
        };
        moved.filter_map(note).collect()
    }
}

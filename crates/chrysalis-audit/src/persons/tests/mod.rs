//! Releases about persons, made by hand, and what becomes of them if somebody tampers with them.

mod forms;
mod hostile;
mod microdata;
mod tampered;

use std::collections::{BTreeMap, BTreeSet};

use chrysalis_release::{Holds, Manifest, Persons, Release};
use chrysalis_table::{Column, Table};

use crate::testing::entry;

/// Seven persons. Group 1: three with two rows each, flu and cold, flu twice, cough and cold. Group 2: four with one row
/// each and different diseases.
pub(super) struct Clinic {
    pub(super) people: Table,
    pub(super) groups: Vec<i64>,
    pub(super) persons: Vec<i64>,
}

pub(super) fn clinic() -> Clinic {
    let people = Table::new(vec![
        Column::integers("age", &[20, 21, 24, 25, 28, 29, 40, 50, 60, 70]),
        Column::texts(
            "disease",
            ["flu", "cold", "flu", "flu", "cough", "cold", "flu", "cold", "cough", "gout"].into_iter(),
        ),
    ]);
    Clinic { people, groups: vec![1, 1, 1, 1, 1, 1, 2, 2, 2, 2], persons: vec![1, 1, 2, 2, 3, 3, 4, 5, 6, 7] }
}

impl Clinic {
    /// The same rows in the order of a table that shows values in its rows: by group, then by value.
    pub(super) fn sorted(&self) -> Clinic {
        let values = self.people.columns().last().unwrap();
        let mut rows: Vec<u32> = (0..self.groups.len() as u32).collect();
        rows.sort_by_key(|&row| (self.groups[row as usize], values.code(row as usize)));
        let of = |all: &[i64]| rows.iter().map(|&row| all[row as usize]).collect();
        Clinic { people: self.people.gather(&rows), groups: of(&self.groups), persons: of(&self.persons) }
    }
}

/// Turns a release that counts rows into one that counts persons, with what it says about them.
pub(super) fn with_persons(mut release: Release, clinic: &Clinic, rows_known: bool) -> Release {
    let everybody: BTreeSet<i64> = clinic.persons.iter().copied().collect();
    release.manifest.persons = Some(Persons { count: everybody.len() as u64, rows_known });
    let id = release.manifest.method.shape().group_id.unwrap();
    let mut of_group: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
    clinic.groups.iter().zip(&clinic.persons).for_each(|(&group, &person)| {
        of_group.entry(group).or_default().insert(person);
    });
    let sizes: Vec<i64> = of_group.values().map(|persons| persons.len() as i64).collect();
    let ids: Vec<i64> = of_group.keys().copied().collect();
    let groups = Table::new(vec![Column::integers(id, &ids), Column::integers("persons", &sizes)]);
    let layout = release.manifest.layout();
    let counted = layout.tables.iter().find(|table| table.holds == Holds::Values).filter(|_| rows_known);
    if let Some(at) = counted.and_then(|of| release.manifest.tables.iter().position(|entry| entry.name == of.name)) {
        let table = &release.tables[at];
        let (groups, values) = (table.column(id).unwrap(), &table.columns()[1]);
        let sensitive = clinic.people.columns().last().unwrap();
        let having = |row: usize| {
            let text = |column: &Column, row: usize| column.domain().text(column.code(row)).into_owned();
            let rows = (0..clinic.people.rows()).filter(|&other| {
                clinic.groups[other].to_string() == text(groups, row) && text(sensitive, other) == text(values, row)
            });
            rows.map(|row| clinic.persons[row]).collect::<BTreeSet<i64>>().len() as i64
        };
        let having: Vec<i64> = (0..table.rows()).map(having).collect();
        let columns = table.columns().iter().cloned().chain([Column::integers("persons", &having)]);
        release.tables[at] = Table::new(columns.collect());
    }
    // `members` comes last.
    let at = release.manifest.tables.iter().position(|entry| entry.name == "members").unwrap_or(release.tables.len());
    release.tables.insert(at, groups);
    let mut names: Vec<String> = release.manifest.tables.iter().map(|entry| entry.name.clone()).collect();
    names.insert(at, "groups".to_owned());
    release.manifest.tables = names.iter().zip(&release.tables).map(|(name, table)| entry(name, table)).collect();
    count_persons(&mut release.manifest);
    release
}

/// Promises that count persons can only be read.
fn count_persons(manifest: &mut Manifest) {
    for entry in &mut manifest.tables {
        entry.parts.iter_mut().for_each(|part| part.sha256 = "0".repeat(64));
    }
    let text = manifest.to_json().unwrap();
    let text =
        text.replace(r#""unit":"rows""#, r#""unit":"persons""#).replace(r#""unit": "rows""#, r#""unit": "persons""#);
    *manifest = Manifest::parse(text.as_bytes()).unwrap();
}

/// Replaces a column of numbers in a table.
pub(super) fn set(release: &mut Release, table: &str, column: &str, numbers: &[i64]) {
    let at = release.manifest.tables.iter().position(|entry| entry.name == table).unwrap();
    let known = &release.tables[at];
    let replaced = known.columns().iter().map(|it| match it.name() == column {
        true => Column::integers(column, numbers),
        false => it.clone(),
    });
    release.tables[at] = Table::new(replaced.collect());
    release.manifest.tables[at] = entry(table, &release.tables[at]);
}

//! Small releases made by hand, then tampered with.

mod faithful;
mod hostile;
mod tampered;

use std::sync::Arc;

use chrysalis_release::{
    Attribute, DomainEntry, ENCODING, Form, KindName, Manifest, Published, Release, RoleName, VERSION,
};
use chrysalis_table::{Codes, Column, Domain, Kind, Table, Value};

use crate::AuditReport;
use crate::testing::{audit, check, entry, expect, promise, promises};

/// One published row: group id, age range, label of sex, city (kept as it is), disease (sensitive).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    group: i64,
    age: (Option<i64>, Option<i64>),
    sex: &'static str,
    city: &'static str,
    disease: &'static str,
}

fn row(group: i64, ages: (i64, i64), sex: &'static str, city: &'static str, disease: &'static str) -> Row {
    Row { group, age: (Some(ages.0), Some(ages.1)), sex, city, disease }
}

/// Eight people, as they are.
fn microdata() -> Table {
    Table::new(vec![
        Column::integers("age", &[21, 25, 29, 31, 33, 38, 38, 45]),
        Column::texts("sex", ["F", "M", "F", "F", "F", "M", "M", "M"].into_iter()),
        Column::texts("city", ["Ulm", "Bonn", "Bonn", "Ulm", "Ulm", "Bonn", "Bonn", "Ulm"].into_iter()),
        Column::texts("disease", ["flu", "cold", "gastritis", "flu", "cold", "flu", "flu", "cold"].into_iter()),
    ])
}

/// The same eight, published in three groups.
fn rows() -> Vec<Row> {
    vec![
        row(3, (21, 29), "{F,M}", "Bonn", "cold"),
        row(3, (21, 29), "{F,M}", "Bonn", "gastritis"),
        row(3, (21, 29), "{F,M}", "Ulm", "flu"),
        row(5, (31, 33), "F", "Ulm", "cold"),
        row(5, (31, 33), "F", "Ulm", "flu"),
        row(9, (38, 45), "M", "Bonn", "flu"),
        row(9, (38, 45), "M", "Bonn", "flu"),
        row(9, (38, 45), "M", "Ulm", "cold"),
    ]
}

const MEMBERS: [(&str, &str, &str); 4] =
    [("sex", "F", "F"), ("sex", "M", "M"), ("sex", "{F,M}", "F"), ("sex", "{F,M}", "M")];

/// Integers of which some are missing.
fn integers(name: &str, numbers: &[Option<i64>]) -> Column {
    let mut values: Vec<i64> = numbers.iter().copied().flatten().collect();
    values.sort_unstable();
    values.dedup();
    let has_missing = numbers.contains(&None);
    let code = |number: &Option<i64>| match number {
        None => 0,
        Some(number) => values.binary_search(number).unwrap() as u32 + u32::from(has_missing),
    };
    let codes = Codes::collect(values.len() + 1, numbers.iter().map(code));
    let domain = Domain::new(Kind::Integer, values.iter().copied().map(Value::Integer).collect(), has_missing);
    Column::new(name, Arc::new(domain), codes)
}

fn generalized(rows: &[Row]) -> Table {
    let texts = |name: &str, text: fn(&Row) -> &'static str| Column::texts(name, rows.iter().map(text));
    Table::new(vec![
        Column::integers("group_id", &rows.iter().map(|row| row.group).collect::<Vec<_>>()),
        integers("age_min", &rows.iter().map(|row| row.age.0).collect::<Vec<_>>()),
        integers("age_max", &rows.iter().map(|row| row.age.1).collect::<Vec<_>>()),
        texts("sex", |row| row.sex),
        texts("city", |row| row.city),
        texts("disease", |row| row.disease),
    ])
}

fn members(rows: &[(&str, &str, &str)]) -> Table {
    Table::new(vec![
        Column::texts("attribute", rows.iter().map(|row| row.0)),
        Column::texts("label", rows.iter().map(|row| row.1)),
        Column::texts("value", rows.iter().map(|row| row.2)),
    ])
}

pub(crate) fn attribute(role: RoleName, column: &Column) -> Attribute {
    let counts = (role == RoleName::Sensitive).then(|| column.histogram());
    Attribute {
        name: column.name().to_owned(),
        role,
        kind: column.domain().kind().into(),
        published: if role == RoleName::Quasi { Published::Generalized } else { Published::Exact },
        domain: DomainEntry::of(column.domain(), counts),
        taxonomy: None,
        categories: None,
        weights: None,
        ordinary: None,
        near: None,
        prepared: None,
        weight: false,
    }
}

/// A release of these rows, whose manifest describes the microdata.
fn release_of(rows: &[Row], microdata: &Table, guarantees: &[&str]) -> Release {
    let roles = [RoleName::Quasi, RoleName::Quasi, RoleName::Other, RoleName::Sensitive];
    let mut groups: Vec<i64> = rows.iter().map(|row| row.group).collect();
    groups.sort_unstable();
    groups.dedup();
    let tables = vec![generalized(rows), members(&MEMBERS)];
    Release {
        manifest: Manifest {
            version: VERSION,
            encoding: ENCODING,
            method: Form::Generalize,
            partitioner: "mondrian".into(),
            rows: rows.len() as u64,
            groups: groups.len() as u64,
            promises: promises(Form::Generalize, Some("disease"), guarantees),
            attributes: roles
                .into_iter()
                .zip(microdata.columns())
                .map(|(role, column)| attribute(role, column))
                .collect(),
            together: Vec::new(),
            quasi_identifiers: vec![vec!["age".into(), "sex".into()]],
            tables: vec![entry("generalized", &tables[0]), entry("members", &tables[1])],
            persons: None,
            suppressed: 0,
            reproducible: false,
            transparent: false,
            series: None,
            accepted: vec![chrysalis_release::Accepted::Disclosure],
        },
        tables,
    }
}

fn release() -> Release {
    release_of(&rows(), &microdata(), &["k=2", "distinct-l=2"])
}

/// The same manifest with other rows, as left by somebody who altered the files and fixed the hashes.
fn with_rows(rows: &[Row]) -> Release {
    let mut release = release();
    release.tables[0] = generalized(rows);
    release
}

fn report(release: &Release) -> AuditReport {
    audit(release, Some(&microdata())).unwrap()
}

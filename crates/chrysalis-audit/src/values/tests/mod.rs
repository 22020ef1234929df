//! Small releases made by hand, then tampered with.

mod hostile;
mod papers;
mod tampered;

use chrysalis_release::{
    Attribute, DomainEntry, ENCODING, Form, KindName, Manifest, Published, Release, RoleName, VERSION,
};
use chrysalis_table::{Column, Kind, Table, Value};

use crate::AuditReport;
use crate::testing::{audit, check, entry, expect, promise, promises};

fn attribute(form: Form, role: RoleName, column: &Column) -> Attribute {
    let is_permuted = match role {
        RoleName::Quasi => form == Form::Permute,
        RoleName::Sensitive => !matches!(form, Form::Anatomy | Form::Permute),
        _ => false,
    };
    Attribute {
        name: column.name().to_owned(),
        role,
        kind: column.domain().kind().into(),
        published: if is_permuted { Published::Permuted } else { Published::Exact },
        domain: DomainEntry::of(column.domain(), (role == RoleName::Sensitive).then(|| column.histogram())),
        taxonomy: None,
        categories: None,
        weights: None,
        ordinary: None,
        near: None,
        prepared: None,
        weight: false,
    }
}

/// A release of some tables, whose manifest describes the microdata: the last column is sensitive, `city` is kept as it
/// is.
fn release_of(form: Form, microdata: &Table, tables: Vec<(&str, Table)>, guarantees: &[&str]) -> Release {
    let n = microdata.columns().len();
    let role = |(at, column): (usize, &Column)| match column.name() {
        _ if at + 1 == n => (RoleName::Sensitive, at),
        "city" => (RoleName::Other, at),
        _ => (RoleName::Quasi, at),
    };
    let roles = microdata.columns().iter().enumerate().map(role);
    let attributes: Vec<Attribute> = roles.map(|(role, at)| attribute(form, role, &microdata.columns()[at])).collect();
    let quasi = attributes.iter().filter(|attribute| attribute.role == RoleName::Quasi);
    let sensitive = microdata.columns().last().map(Column::name);
    let groups = tables[0].1.column("group_id").map_or(0, |column| column.domain().len());
    Release {
        manifest: Manifest {
            version: VERSION,
            encoding: ENCODING,
            method: form,
            partitioner: "column".into(),
            rows: tables[0].1.rows() as u64,
            groups: groups as u64,
            promises: promises(form, sensitive, guarantees),
            together: Vec::new(),
            quasi_identifiers: vec![quasi.map(|attribute| attribute.name.clone()).collect()],
            attributes,
            tables: tables.iter().map(|(name, table)| entry(name, table)).collect(),
            persons: None,
            suppressed: 0,
            reproducible: false,
            transparent: false,
            series: None,
            accepted: vec![chrysalis_release::Accepted::Disclosure],
        },
        tables: tables.into_iter().map(|(_, table)| table).collect(),
    }
}

/// Rows in ascending order of some columns, as a publisher would write them.
fn sorted(table: Table, by: &[&str]) -> Table {
    let columns: Vec<&Column> = by.iter().map(|name| table.column(name).unwrap()).collect();
    let mut rows: Vec<u32> = (0..table.rows() as u32).collect();
    rows.sort_by_key(|&row| columns.iter().map(|column| column.code(row as usize)).collect::<Vec<_>>());
    table.gather(&rows)
}

/// A real column.
fn reals(name: &str, numbers: &[f64]) -> Column {
    let codes = chrysalis_table::Codes::collect(numbers.len(), 0..numbers.len() as u32);
    let chunk = chrysalis_table::DictionaryChunk { codes, to_dictionary: (0..numbers.len() as u32).collect() };
    let values = numbers.iter().map(|&number| Some(Value::Real(number))).collect();
    Column::from_dictionary(name, Kind::Real, values, &[], vec![chunk])
}

/// The table with a column replaced by another of the same name.
fn with_column(table: &Table, column: Column) -> Table {
    let other = |known: &Column| if known.name() == column.name() { column.clone() } else { known.clone() };
    Table::new(table.columns().iter().map(other).collect())
}

/// Eight people: age, sex, city (kept as it is), disease.
fn microdata() -> Table {
    Table::new(vec![
        Column::integers("age", &[21, 25, 29, 31, 33, 38, 38, 45]),
        Column::texts("sex", ["F", "M", "F", "F", "F", "M", "M", "M"].into_iter()),
        Column::texts("city", ["Ulm", "Bonn", "Bonn", "Ulm", "Ulm", "Bonn", "Bonn", "Ulm"].into_iter()),
        Column::texts("disease", ["flu", "cold", "gastritis", "flu", "cold", "flu", "flu", "cold"].into_iter()),
    ])
}

/// Groups 3, 5 and 9 of the eight.
const GROUPS: [i64; 8] = [3, 3, 3, 5, 5, 9, 9, 9];

/// (group, disease, count).
type Line = (i64, &'static str, i64);

const LINES: [Line; 7] =
    [(3, "cold", 1), (3, "flu", 1), (3, "gastritis", 1), (5, "cold", 1), (5, "flu", 1), (9, "cold", 1), (9, "flu", 2)];

fn lines(lines: &[Line]) -> Table {
    Table::new(vec![
        Column::integers("group_id", &lines.iter().map(|line| line.0).collect::<Vec<_>>()),
        Column::texts("disease", lines.iter().map(|line| line.1)),
        Column::integers("count", &lines.iter().map(|line| line.2).collect::<Vec<_>>()),
    ])
}

/// The quasi and other columns of the eight, with group ids.
fn rows_with(groups: &[i64; 8]) -> Table {
    let mut columns = microdata().columns()[..3].to_vec();
    columns.push(Column::integers("group_id", groups));
    sorted(Table::new(columns), &["group_id", "age", "sex", "city"])
}

fn anatomy() -> Release {
    let tables = vec![("qit", rows_with(&GROUPS)), ("st", lines(&LINES))];
    release_of(Form::Anatomy, &microdata(), tables, &["k=2", "distinct-l=2", "l=1.5"])
}

/// The eight without their cities, which a permuted release does not keep.
fn people_of_permute() -> Table {
    let table = microdata();
    Table::new(["age", "sex", "disease"].map(|name| table.column(name).unwrap().clone()).to_vec())
}

fn permute() -> Release {
    let pqt = Table::new(vec![
        Column::integers("age", &[21, 25, 29, 31, 33, 38, 38, 45]),
        Column::texts("sex", ["M", "F", "F", "F", "F", "M", "M", "M"].into_iter()),
        Column::integers("group_id", &GROUPS),
    ]);
    let tables = vec![("pqt", pqt), ("pst", lines(&LINES))];
    release_of(Form::Permute, &people_of_permute(), tables, &["k=2", "l=1.5"])
}

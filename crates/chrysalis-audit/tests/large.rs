//! Releases as large as the census, made by the simplest partition that works: halve the widest attribute.

// Clippy recognizes tests by their attribute, which helpers lack.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod common;

use std::time::Instant;

use chrysalis_audit::{audit, profile};
use chrysalis_release::{Attribute, DomainEntry, ENCODING, Form, Manifest, Published, Release, RoleName, VERSION};
use chrysalis_table::{Code, Codes, Column, Table, Unwatched, Value};

/// Halves rows at the median of the widest attribute that leaves k rows in both halves, as long as there is one.
///
/// If `strict`, rows with equal values stay together. Otherwise a cut may go through them, and ranges overlap.
fn halve(table: &Table, n_quasi: usize, rows: Vec<u32>, k: usize, strict: bool, groups: &mut Vec<Vec<u32>>) {
    let width = |column: &Column| {
        let codes = rows.iter().map(|&row| column.code(row as usize));
        let (low, high) = codes.fold((Code::MAX, 0), |(low, high), code| (low.min(code), high.max(code)));
        f64::from(high - low) / column.domain().len() as f64
    };
    let mut columns: Vec<&Column> = table.columns()[..n_quasi].iter().collect();
    columns.sort_by(|a, b| width(b).total_cmp(&width(a)));
    for column in columns {
        let mut rows = rows.clone();
        rows.sort_unstable_by_key(|&row| column.code(row as usize));
        let median = column.code(rows[rows.len() / 2] as usize);
        let before = rows.partition_point(|&row| column.code(row as usize) < median);
        let after = rows.partition_point(|&row| column.code(row as usize) <= median);
        let cuts = if strict { vec![before, after] } else { vec![rows.len() / 2] };
        if let Some(cut) = cuts.into_iter().find(|&cut| cut >= k && rows.len() - cut >= k) {
            let right = rows.split_off(cut);
            halve(table, n_quasi, rows, k, strict, groups);
            return halve(table, n_quasi, right, k, strict, groups);
        }
    }
    groups.push(rows);
}

/// The generalized release of a partition of integer columns, the last of which is sensitive.
fn publish(table: &Table, k: usize, strict: bool) -> Release {
    let n_quasi = table.columns().len() - 1;
    let mut groups = Vec::new();
    halve(table, n_quasi, (0..table.rows() as u32).collect(), k, strict, &mut groups);
    let sensitive = &table.columns()[n_quasi];
    for group in &mut groups {
        group.sort_unstable_by_key(|&row| sensitive.code(row as usize));
    }
    let ids = (0i64..).zip(&groups).flat_map(|(id, group)| std::iter::repeat_n(id, group.len()));
    let mut columns = vec![Column::integers("group_id", &ids.collect::<Vec<_>>())];
    for column in &table.columns()[..n_quasi] {
        for (end, pick) in [("min", Iterator::min as fn(_) -> _), ("max", Iterator::max as fn(_) -> _)] {
            let ends = groups.iter().flat_map(|group| {
                let codes: Vec<Code> = group.iter().map(|&row| column.code(row as usize)).collect();
                let code: Option<Code> = pick(codes.into_iter());
                std::iter::repeat_n(number(column, code.unwrap()), group.len())
            });
            columns.push(Column::integers(format!("{}_{end}", column.name()), &ends.collect::<Vec<_>>()));
        }
    }
    let codes = groups.iter().flatten().map(|&row| sensitive.code(row as usize));
    let codes = Codes::collect(sensitive.domain().len(), codes);
    columns.push(Column::new(sensitive.name(), sensitive.domain().clone(), codes));
    describe(table, Table::new(columns), groups.len(), k)
}

fn number(column: &Column, code: Code) -> i64 {
    match column.domain().value(code) {
        Some(Value::Integer(number)) => *number,
        other => panic!("{other:?} is no integer"),
    }
}

fn describe(microdata: &Table, table: Table, n_groups: usize, k: usize) -> Release {
    let n_quasi = microdata.columns().len() - 1;
    let attribute = |(index, column): (usize, &Column)| Attribute {
        name: column.name().to_owned(),
        role: if index < n_quasi { RoleName::Quasi } else { RoleName::Sensitive },
        kind: column.domain().kind().into(),
        published: if index < n_quasi { Published::Generalized } else { Published::Exact },
        domain: DomainEntry::of(column.domain(), (index == n_quasi).then(|| column.histogram())),
        taxonomy: None,
        categories: None,
        weights: None,
        ordinary: None,
        near: None,
        prepared: None,
        weight: false,
    };
    let attributes: Vec<Attribute> = microdata.columns().iter().enumerate().map(attribute).collect();
    let guarantees = [format!("k={k}"), "t=1".into(), "entropy-l=1".into()];
    let guarantees: Vec<&str> = guarantees.iter().map(String::as_str).collect();
    Release {
        manifest: Manifest {
            version: VERSION,
            encoding: ENCODING,
            method: Form::Generalize,
            partitioner: "column".into(),
            rows: table.rows() as u64,
            groups: n_groups as u64,
            promises: common::promises(Form::Generalize, microdata.columns()[n_quasi].name(), &guarantees),
            together: Vec::new(),
            quasi_identifiers: vec![attributes[..n_quasi].iter().map(|attribute| attribute.name.clone()).collect()],
            attributes,
            tables: vec![common::entry("generalized", &table)],
            persons: None,
            suppressed: 0,
            reproducible: false,
            transparent: false,
            series: None,
            accepted: vec![chrysalis_release::Accepted::Disclosure],
        },
        tables: vec![table],
    }
}

fn judge(microdata: &Table, k: usize, strict: bool) {
    let release = publish(microdata, k, strict);
    let start = Instant::now();
    let report = audit(&release, Some(microdata), &Unwatched).unwrap();
    println!("{} rows, {} groups, strict: {strict}: {:?}", report.rows, report.groups, start.elapsed());
    assert!(common::is_sound(&report), "{report:?}");
}

fn is_slow_allowed() -> bool {
    let allowed = chrysalis_testkit::is_slow();
    if !allowed {
        println!("skipped: set CHRYSALIS_SLOW=1 to run it");
    }
    allowed
}

#[test]
fn overlapping_ranges_of_thirty_thousand_rows_are_untangled() {
    let Some(table) = common::table("census_sal_500k.csv.gz") else { return };
    let rows: Vec<u32> = (0..30_000).collect();
    judge(&table.gather(&rows), 4, false);
}

#[test]
fn half_a_million_rows_are_audited_in_seconds() {
    let Some(table) = is_slow_allowed().then(|| common::table("census_sal_500k.csv.gz")).flatten() else { return };
    judge(&table, 8, true);
    judge(&table, 10, false);
}

#[test]
fn a_million_rows_are_profiled_in_seconds() {
    let Some(table) = is_slow_allowed().then(|| common::table("census_sal_500k.csv.gz")).flatten() else { return };
    let rows: Vec<u32> = (0..1_200_000).map(|row| row % table.rows() as u32).collect();
    let table = table.gather(&rows);
    let quasi: Vec<&str> = table.columns().iter().map(Column::name).collect();
    let start = Instant::now();
    let levels = profile(&table, &quasi[..7], Some(quasi[7]), None).unwrap();
    println!("7 quasi columns, {} groups: {:?}", levels.groups, start.elapsed());
    let start = Instant::now();
    let levels = profile(&table, &quasi, Some(quasi[7]), None).unwrap();
    println!("8 quasi columns, {} groups: {:?}", levels.groups, start.elapsed());
    assert_eq!(levels.uniqueness.len(), 8 + 28 + 1);
}

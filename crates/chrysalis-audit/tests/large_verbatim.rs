//! Releases that show values, as large as the census, made by the simplest partitions that work.

// Clippy recognizes tests by their attribute, which helpers lack.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod common;

use std::time::Instant;

use chrysalis_audit::{AuditReport, audit};
use chrysalis_release::{Attribute, DomainEntry, ENCODING, Form, Manifest, Published, Release, RoleName, VERSION};
use chrysalis_table::{Column, Table, Unwatched};

/// Groups of about l rows, whose sensitive values are spread over the values of their block.
///
/// If `nearby`, blocks follow the order of quasi values, so that groups lie close together, as those of a good
/// partitioner do.
fn groups_of(table: &Table, l: usize, nearby: bool) -> Vec<i64> {
    let n_quasi = table.columns().len() - 1;
    let sensitive = &table.columns()[n_quasi];
    let mut rows: Vec<usize> = (0..table.rows()).collect();
    let key = |&row: &usize| -> Vec<u32> { table.columns()[..n_quasi].iter().map(|column| column.code(row)).collect() };
    if nearby {
        rows.sort_by_cached_key(key);
    }
    let mut groups = vec![0; table.rows()];
    // Blocks of 64·l rows; inside, rows by sensitive value are dealt round-robin.
    for (block, rows) in rows.chunks_mut(64 * l).enumerate() {
        rows.sort_by_key(|&row| sensitive.code(row));
        let n = (rows.len() / l).max(1);
        rows.iter().enumerate().for_each(|(at, &row)| groups[row] = (block * 64 + at % n) as i64);
    }
    groups
}

/// A fixed shuffle, so that a column's values say nothing about their rows.
fn mixed(group: i64, at: usize, column: usize) -> u64 {
    let mut x = (group as u64) << 24 ^ (at as u64) << 4 ^ column as u64;
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

fn publish(table: &Table, groups: &[i64], form: Form) -> Release {
    let n_quasi = table.columns().len() - 1;
    let is_permuted = form == Form::Permute;
    let by_group = |column: usize| {
        let mut rows: Vec<u32> = (0..table.rows() as u32).collect();
        let key =
            |row: &u32| if is_permuted { mixed(groups[*row as usize], *row as usize, column) } else { u64::from(*row) };
        rows.sort_by_key(|row| (groups[*row as usize], key(row)));
        table.columns()[column].gather(&rows)
    };
    let mut columns: Vec<Column> = (0..n_quasi).map(by_group).collect();
    let mut ids = groups.to_vec();
    ids.sort_unstable();
    columns.push(Column::integers("group_id", &ids));
    let main = canonical(Table::new(columns));
    let side = counts(table, groups);
    let n_groups = main.column("group_id").unwrap().domain().len();
    let shape = form.shape();
    describe(table, [(shape.people, main), (shape.values_table(), side)], n_groups, form)
}

fn canonical(table: Table) -> Table {
    let mut rows: Vec<u32> = (0..table.rows() as u32).collect();
    let n = table.columns().len();
    rows.sort_by_cached_key(|&row| {
        let code = |column: &Column| column.code(row as usize);
        (code(&table.columns()[n - 1]), table.columns()[..n - 1].iter().map(code).collect::<Vec<_>>())
    });
    table.gather(&rows)
}

fn counts(table: &Table, groups: &[i64]) -> Table {
    let sensitive = table.columns().last().unwrap();
    let mut lines: Vec<(i64, u32, u32)> =
        (0..).zip(groups).map(|(row, &group)| (group, sensitive.code(row as usize), row)).collect();
    lines.sort_unstable();
    let mut firsts = Vec::new();
    let mut counts: Vec<i64> = Vec::new();
    for (at, &(group, code, _)) in lines.iter().enumerate() {
        if at > 0 && (lines[at - 1].0, lines[at - 1].1) == (group, code) {
            *counts.last_mut().unwrap() += 1;
        } else {
            firsts.push(at);
            counts.push(1);
        }
    }
    let rows: Vec<u32> = firsts.iter().map(|&at| lines[at].2).collect();
    let ids: Vec<i64> = firsts.iter().map(|&at| lines[at].0).collect();
    Table::new(vec![Column::integers("group_id", &ids), sensitive.gather(&rows), Column::integers("count", &counts)])
}

fn describe(microdata: &Table, tables: [(&str, Table); 2], n_groups: usize, form: Form) -> Release {
    let n_quasi = microdata.columns().len() - 1;
    let attribute = |(index, column): (usize, &Column)| Attribute {
        name: column.name().to_owned(),
        role: if index < n_quasi { RoleName::Quasi } else { RoleName::Sensitive },
        kind: column.domain().kind().into(),
        published: if form == Form::Permute && index < n_quasi { Published::Permuted } else { Published::Exact },
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
    Release {
        manifest: Manifest {
            version: VERSION,
            encoding: ENCODING,
            method: form,
            partitioner: "column".into(),
            rows: microdata.rows() as u64,
            groups: n_groups as u64,
            promises: common::promises(form, microdata.columns()[n_quasi].name(), &["distinct-l=2"]),
            together: Vec::new(),
            quasi_identifiers: vec![attributes[..n_quasi].iter().map(|attribute| attribute.name.clone()).collect()],
            attributes,
            tables: tables.iter().map(|(name, table)| common::entry(name, table)).collect(),
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

fn judge(microdata: &Table, form: Form, nearby: bool) -> AuditReport {
    let release = publish(microdata, &groups_of(microdata, 10, nearby), form);
    let start = Instant::now();
    let report = audit(&release, Some(microdata), &Unwatched).unwrap();
    println!("{form}, nearby: {nearby}, {} rows, {} groups: {:?}", report.rows, report.groups, start.elapsed());
    println!("  {:?} {:?}", report.attacks.presence, report.utility);
    println!("  {}", report.checks.iter().find(|check| check.name == "faithful").unwrap().detail);
    assert!(common::is_sound(&report), "{report:?}");
    report
}

/// The first quasi columns and the last column.
fn columns(table: &Table, n_quasi: usize) -> Table {
    let all = table.columns();
    Table::new(all[..n_quasi].iter().chain(all.last()).cloned().collect())
}

fn judge_all(rows: u32, n_quasi: usize) -> Vec<(Form, AuditReport)> {
    let Some(table) = common::table("census_sal_500k.csv.gz") else { return Vec::new() };
    let rows: Vec<u32> = (0..rows).collect();
    let table = columns(&table.gather(&rows), n_quasi);
    let forms = [Form::Anatomy, Form::Permute].into_iter().flat_map(|form| [(form, false), (form, true)]);
    forms.map(|(form, nearby)| (form, judge(&table, form, nearby))).collect()
}

#[test]
fn ten_thousand_people_are_given_groups_where_quasi_values_are_exact() {
    for (form, report) in judge_all(10_000, 7) {
        let faithful = report.checks.iter().find(|check| check.name == "faithful").unwrap();
        assert!(form == Form::Permute || faithful.detail.ends_with("an assignment was found"), "{}", faithful.detail);
    }
}

#[test]
fn half_a_million_rows_are_audited_in_seconds() {
    if !chrysalis_testkit::is_slow() {
        println!("skipped: set CHRYSALIS_SLOW=1 to run it");
        return;
    }
    judge_all(100_000, 5);
    judge_all(500_000, 7);
}

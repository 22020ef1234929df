//! Whether tables have the shape that the manifest describes, whatever the form.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use chrysalis_release::{Cell, Holds, KindName, Manifest, PERSONS, Published, Release, RoleName, TableEntry};
use chrysalis_table::{Column, Table, Watch};

use crate::Check;
use crate::findings::Findings;

/// A table that belongs to a form, and the columns that belong to the table.
pub(crate) struct ExpectedTable<'a> {
    pub(crate) name: &'a str,
    pub(crate) table: &'a Table,
    pub(crate) columns: Vec<&'a str>,
}

/// Tables, columns and numbers of rows are those of the manifest, and nothing else is published.
///
/// The first expected table has one row per person. `fits` says how an attribute of some role may be shown.
pub(crate) fn tables(
    release: &Release,
    expected_tables: &[ExpectedTable<'_>],
    fits: impl Fn(RoleName, Published) -> bool,
) -> Check {
    let mut findings = Findings::new("tables");
    let manifest = &release.manifest;
    if release.tables.len() != manifest.tables.len() {
        let (found, listed) = (release.tables.len(), manifest.tables.len());
        findings.add("tables", || format!("the release has {found} tables, the manifest lists {listed}"));
    }
    let mut seen = BTreeSet::new();
    // Where persons are counted, every form has one more table, and its tables of values one more column.
    let layout = manifest.layout();
    let of_groups = layout.tables.iter().find(|table| table.holds == Holds::Groups);
    for (entry, table) in manifest.tables.iter().zip(&release.tables) {
        let is_of_groups = of_groups.is_some_and(|of| of.name == entry.name);
        let is_expected = is_of_groups || expected_tables.iter().any(|expected| expected.name == entry.name);
        if !seen.insert(&entry.name) || !is_expected {
            findings.add("stray tables", || format!("table `{}` does not belong to this form", entry.name));
        }
        compare(entry, table, &mut findings);
    }
    if manifest.promises.is_empty() && manifest.method.shape().may_promise {
        findings.add("promises", || "the manifest promises nothing, so nothing can hold".to_owned());
    }
    let rows = expected_tables.first().map_or(0, |main| main.table.rows());
    if let Some(main) = expected_tables.first().filter(|_| manifest.rows != rows as u64) {
        findings.add("rows", || format!("`{}` has {rows} rows, the manifest says {}", main.name, manifest.rows));
    }
    for expected in expected_tables {
        let has_persons =
            layout.table(expected.name).is_some_and(|of| of.columns.iter().any(|column| column.cell == Cell::Persons));
        let columns = expected.columns.iter().copied().chain(has_persons.then_some(PERSONS));
        stray_columns(expected.name, expected.table, columns.collect(), &mut findings);
    }
    if let Some((of, table)) = of_groups.and_then(|of| Some((of, release.table(&of.name).ok()?))) {
        let columns = of.columns.iter().map(|column| column.name.as_str()).collect();
        stray_columns(&of.name, table, columns, &mut findings);
    }
    attributes(manifest, fits, &mut findings);
    findings.check(format!("{rows} rows, {} attributes", manifest.attributes.len()))
}

fn compare(entry: &TableEntry, table: &Table, findings: &mut Findings) {
    let shape = |name: &str, kind: KindName| format!("{name} {kind:?}");
    let found: Vec<String> =
        table.columns().iter().map(|column| shape(column.name(), column.domain().kind().into())).collect();
    let listed: Vec<String> = entry.columns.iter().map(|column| shape(&column.name, column.kind)).collect();
    if found != listed {
        findings.add("columns", || format!("the columns of `{}` are not those the manifest lists", entry.name));
    }
    if entry.rows != table.rows() as u64 {
        let (found, listed) = (table.rows(), entry.rows);
        findings.add("rows", || format!("`{}` has {found} rows, the manifest lists {listed}", entry.name));
    }
}

/// LEAK: a column that nobody described could hold anything, and so could a second one of the same name.
fn stray_columns(name: &str, table: &Table, mut known: BTreeSet<&str>, findings: &mut Findings) {
    for column in table.columns().iter().filter(|column| !known.remove(column.name())) {
        findings.add("stray columns", || format!("column `{}` of `{name}` belongs to no attribute", column.name()));
    }
}

fn attributes(manifest: &Manifest, fits: impl Fn(RoleName, Published) -> bool, findings: &mut Findings) {
    let known: BTreeSet<&str> = manifest.quasi_identifiers.iter().flatten().map(String::as_str).collect();
    for attribute in &manifest.attributes {
        let name = &attribute.name;
        if attribute.role == RoleName::Identifier {
            findings.add("attributes", || format!("`{name}` is an identifier and must not be published"));
        } else if !fits(attribute.role, attribute.published) {
            let shown = format!("{:?}", attribute.published).to_lowercase();
            findings.add("published", || {
                format!("the manifest says that `{name}` is {shown}, which does not fit this form")
            });
        }
        if attribute.role == RoleName::Quasi && !known.contains(name.as_str()) {
            findings.add("attributes", || format!("`{name}` is quasi, but in no quasi-identifier"));
        }
    }
}

/// The first rows of all parts of a table but the first. Each part has an order of its own.
pub(crate) fn later_parts(manifest: &Manifest, table: &str) -> Vec<usize> {
    let parts = manifest.tables.iter().find(|entry| entry.name == table).map_or(&[][..], |entry| &entry.parts);
    let ends = parts.iter().scan(0_usize, |end, part| {
        *end = end.saturating_add(usize::try_from(part.rows).unwrap_or(usize::MAX));
        Some(*end)
    });
    let mut starts: Vec<usize> = ends.collect();
    starts.pop();
    starts
}

/// How many groups have rows in several parts of a table. Parts are told apart by the rows with which they begin.
///
/// LEAK: which part a row stands in may follow from its group, but must not say more.
fn divided(group: &Column, starts: &[usize]) -> usize {
    let mut part_of = vec![u32::MAX; group.domain().len()];
    let mut is_divided = vec![false; group.domain().len()];
    let mut part = 0;
    for (row, code) in group.codes().iter().enumerate() {
        while starts.get(part as usize).is_some_and(|start| *start <= row) {
            part += 1;
        }
        let known = &mut part_of[code as usize];
        is_divided[code as usize] |= *known != u32::MAX && *known != part;
        *known = part;
    }
    is_divided.into_iter().filter(|divided| *divided).count()
}

/// Rows ascend by their keys, part after part of one table after the other: nothing of the input's order is left.
pub(crate) fn row_order(manifest: &Manifest, tables: &[(&str, Vec<&Column>)], watch: &dyn Watch) -> Check {
    let id = manifest.method.shape().group_id;
    let mut findings = Findings::new("row order");
    for (name, keys) in tables {
        watch.pause();
        let starts = later_parts(manifest, name);
        if let Some(group) = keys.iter().find(|column| Some(column.name()) == id).filter(|_| !starts.is_empty()) {
            let n_divided = divided(group, &starts);
            if n_divided > 0 {
                findings.add("divided groups", || {
                    format!("{n_divided} groups have rows in several parts of `{name}`, which could tell them apart")
                });
            }
        }
        let order = |row: usize| {
            let sides = keys.iter().map(|column| column.code(row - 1).cmp(&column.code(row)));
            sides.fold(Ordering::Equal, Ordering::then)
        };
        let rows = keys.first().map_or(0, |column| column.codes().len());
        let n_inversions = (1..rows).filter(|&row| order(row).is_gt() && starts.binary_search(&row).is_err()).count();
        if n_inversions > 0 {
            findings.add("rows out of order", || {
                format!(
                    "{n_inversions} rows of `{name}` come before one that should precede them, which could reveal the \
                     input's order"
                )
            });
        }
    }
    findings.check("canonical: nothing of the input's order is left".into())
}

//! Whether the tables have the shape that the manifest describes.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use chrysalis_release::generalized::{MEMBERS, TABLE};
use chrysalis_release::{GROUP_ID, KindName, Published as Form, Release, RoleName, TableEntry};
use chrysalis_table::{Column, Table};

use super::cells::Published;
use crate::findings::Findings;
use crate::{Check, Groups};

/// Tables, columns and numbers of rows are those of the manifest, and nothing else is published.
pub(super) fn tables(release: &Release, published: &Published<'_>) -> Check {
    let mut findings = Findings::new("tables");
    let manifest = &release.manifest;
    if release.tables.len() != manifest.tables.len() {
        let (found, listed) = (release.tables.len(), manifest.tables.len());
        findings.add("tables", || format!("the release has {found} tables, the manifest lists {listed}"));
    }
    for (entry, table) in manifest.tables.iter().zip(&release.tables) {
        if entry.name != TABLE && entry.name != MEMBERS {
            findings.add("stray tables", || format!("table `{}` does not belong to this form", entry.name));
        }
        compare(entry, table, &mut findings);
    }
    if manifest.rows != published.table.rows() as u64 {
        let (found, promised) = (published.table.rows(), manifest.rows);
        findings.add("rows", || format!("`{TABLE}` has {found} rows, the manifest says {promised}"));
    }
    if manifest.guarantees.is_empty() {
        findings.add("promises", || "the manifest promises nothing, so nothing can hold".to_owned());
    }
    for attribute in &manifest.attributes {
        let is_quasi = attribute.role == RoleName::Quasi;
        let expected = if is_quasi { Form::Generalized } else { Form::Exact };
        if attribute.published != expected {
            let name = &attribute.name;
            findings.add("forms", || format!("`{name}` is not published in the form the manifest says"));
        }
    }
    stray_columns(published, &mut findings);
    attributes(published, &mut findings);
    findings.check(format!("{} rows, {} attributes", published.table.rows(), manifest.attributes.len()))
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

/// LEAK: a column that nobody described could hold anything.
fn stray_columns(published: &Published<'_>, findings: &mut Findings) {
    let exact = published.others.iter().chain(&published.sensitive).map(|(_, column)| *column);
    let known: BTreeSet<&str> = published.cell_columns().into_iter().chain(exact).map(Column::name).collect();
    for column in published.table.columns() {
        if column.name() != GROUP_ID && !known.contains(column.name()) {
            findings.add("stray columns", || format!("column `{}` belongs to no attribute", column.name()));
        }
    }
}

fn attributes(published: &Published<'_>, findings: &mut Findings) {
    let manifest = published.manifest;
    let known: BTreeSet<&str> = manifest.quasi_identifiers.iter().flatten().map(String::as_str).collect();
    for attribute in manifest.with_role(RoleName::Quasi) {
        if !known.contains(attribute.name.as_str()) {
            findings.add("attributes", || format!("`{}` is quasi, but in no quasi-identifier", attribute.name));
        }
    }
    for attribute in manifest.with_role(RoleName::Identifier) {
        findings.add("attributes", || format!("`{}` is an identifier and must not be published", attribute.name));
    }
}

/// Every row has a group, there are as many as promised, and all rows of one show the same cells.
pub(super) fn groups(published: &Published<'_>, groups: &Groups, sizes: &[u64]) -> Check {
    let mut findings = Findings::new("groups");
    let n_missing = if published.group.domain().has_missing() { sizes.first().copied().unwrap_or(0) } else { 0 };
    if n_missing > 0 {
        findings.add("missing group ids", || format!("{n_missing} rows have no group id"));
    }
    let n_groups = sizes.iter().filter(|&&size| size > 0).count() as u64 - u64::from(n_missing > 0);
    if n_groups != published.manifest.groups {
        let promised = published.manifest.groups;
        findings.add("groups", || format!("there are {n_groups} group ids, the manifest says {promised}"));
    }
    for column in published.cell_columns() {
        for row in rows_that_differ(column, groups) {
            let group = published.group_of(row);
            findings.add("groups that differ in a cell", || {
                format!("rows of group {group} differ in `{}`, so they do not hide each other", column.name())
            });
        }
    }
    let n_boxes = Groups::of_columns(&published.cell_columns(), published.table.rows()).n_groups;
    findings.check(format!("{n_groups} groups by group id, {n_boxes} different rows of cells"))
}

/// One row of every group in which a column is not constant.
fn rows_that_differ(column: &Column, groups: &Groups) -> Vec<usize> {
    let mut first = vec![None; groups.n_groups];
    let mut is_known = vec![false; groups.n_groups];
    let mut rows = Vec::new();
    for (row, (code, &group)) in column.codes().iter().zip(&groups.of_row).enumerate() {
        let group = group as usize;
        if *first[group].get_or_insert(code) != code && !is_known[group] {
            is_known[group] = true;
            rows.push(row);
        }
    }
    rows
}

/// Rows ascend by group id, then by the other columns, then by sensitive value: nothing of the input's order is left.
pub(super) fn row_order(published: &Published<'_>) -> Check {
    let mut findings = Findings::new("row order");
    let exact = published.others.iter().chain(&published.sensitive).map(|(_, column)| *column);
    let keys: Vec<&Column> = std::iter::once(published.group).chain(exact).collect();
    let order = |row: usize| {
        let sides = keys.iter().map(|column| column.code(row - 1).cmp(&column.code(row)));
        sides.fold(Ordering::Equal, Ordering::then)
    };
    let n_inversions = (1..published.table.rows()).filter(|&row| order(row).is_gt()).count();
    if n_inversions > 0 {
        findings.add("rows out of order", || {
            format!("{n_inversions} rows come before one that should precede them, which could tell the input's order")
        });
    }
    findings.check("canonical: nothing of the input's order is left".into())
}

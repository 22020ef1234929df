//! Whether the tables have the shape that the manifest describes.

use std::iter::once;

use chrysalis_release::{Published, Release, RoleName};
use chrysalis_table::{Column, Watch};

use super::cells::{BoxTable, Members};
use crate::findings::Findings;
use crate::shape::{self, ExpectedTable};
use crate::{Check, Groups};

/// Tables, columns and numbers of rows are those of the manifest, and nothing else is published.
pub(super) fn tables(release: &Release, published: &BoxTable<'_>) -> Check {
    let exact = published.others.iter().chain(&published.sensitive).map(|(_, column)| *column);
    let columns = published.cell_columns().into_iter().chain(exact).chain(once(published.group)).map(Column::name);
    let main = ExpectedTable { name: &published.name, table: published.table, columns: columns.collect() };
    let members = published.members.map(Members::expected_table);
    shape::tables(release, &once(main).chain(members).collect::<Vec<_>>(), fits)
}

/// Whether the manifest may say that an attribute of this role is shown in this way.
pub(super) fn fits(role: RoleName, shown: Published) -> bool {
    shown == if role == RoleName::Quasi { Published::Generalized } else { Published::Exact }
}

/// Every row has a group, there are as many groups as the manifest says, and all rows of a group show the same cells.
pub(super) fn groups(published: &BoxTable<'_>, groups: &Groups, sizes: &[u64], watch: &dyn Watch) -> Check {
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
        watch.pause();
        for row in rows_that_differ(column, groups) {
            let group = published.group_of(row);
            findings.add("groups that differ in a cell", || {
                format!("rows of group {group} differ in `{}`, so they do not hide each other", column.name())
            });
        }
    }
    let n_boxes = Groups::of_columns(&published.cell_columns(), published.table.rows(), watch).n_groups;
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

/// Rows ascend by group id, then by `other` columns, then by sensitive value; the rows of `members` by their texts.
pub(super) fn row_order(published: &BoxTable<'_>, watch: &dyn Watch) -> Check {
    let exact = published.others.iter().chain(&published.sensitive).map(|(_, column)| *column);
    let main = (published.name.as_str(), once(published.group).chain(exact).collect());
    let all: Vec<_> = once(main).chain(published.members.map(Members::order)).collect();
    shape::row_order(published.manifest, &all, watch)
}

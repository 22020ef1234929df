//! Which rows share a group, and which sensitive values every group has.

use chrysalis_table::{Code, Column, Value};

use super::tables::{Counts, ValueTables};
use crate::columns::group_ids;
use crate::findings::Findings;
use crate::measure::GroupCounts;
use crate::profile::check_size;
use crate::{AuditError, Check, Groups};

/// Groups under one numbering for all tables, ascending by id.
pub(super) struct Tally {
    pub(super) ids: Vec<Option<i64>>,
    /// The groups of the people's rows.
    pub(super) groups: Groups,
    /// Rows of every group.
    pub(super) sizes: Vec<u64>,
    /// Sensitive values of every group; impossible counts are left out.
    pub(super) sample: Option<GroupCounts>,
}

impl Tally {
    /// Numbers the groups of all tables, and counts their sensitive values.
    pub(super) fn new(tables: &ValueTables<'_>, group: &Column) -> Result<Tally, AuditError> {
        let side = tables.counts.as_ref().map(|counts| counts.group).or(tables.help.as_ref().map(|help| help.group));
        let mut ids: Vec<Option<i64>> = group_ids(group);
        ids.extend(side.into_iter().flat_map(group_ids));
        ids.sort_unstable();
        ids.dedup();
        let groups = Groups { of_row: numbered(&ids, group), n_groups: ids.len() };
        let sample = match (&tables.counts, tables.sensitive) {
            (Some(counts), Some((_, values))) => Some(counted(counts, values, &ids, tables.table.rows())?),
            (None, Some((_, column))) => Some(GroupCounts::new(&groups, column.codes(), column.domain().len())),
            (_, None) => None,
        };
        Ok(Tally { sizes: groups.sizes(), ids, groups, sample })
    }

    /// The id of a group for messages.
    pub(super) fn name(&self, group: usize) -> String {
        self.ids[group].map_or_else(|| "(missing)".to_owned(), |id| id.to_string())
    }

    /// The number of every row's group, for a table that shares the ids.
    pub(super) fn of_rows(&self, group: &Column) -> Vec<u32> {
        numbered(&self.ids, group)
    }
}

fn numbered(ids: &[Option<i64>], group: &Column) -> Vec<u32> {
    // PROOF: `ids` holds every id of every column of group ids, so all are found.
    let of_code: Vec<u32> =
        group_ids(group).iter().map(|id| ids.binary_search(id).unwrap_or_default() as u32).collect();
    group.codes().iter().map(|code| of_code[code as usize]).collect()
}

/// The count behind every code; `None` where no group of the release can have that many rows.
fn possible(column: &Column, rows: usize) -> Vec<Option<u32>> {
    let domain = column.domain();
    let count = |code: Code| match domain.value(code) {
        Some(Value::Integer(count)) => u32::try_from(*count).ok().filter(|&count| count > 0 && count as usize <= rows),
        _ => None,
    };
    (0..domain.len() as Code).map(count).collect()
}

fn counted(counts: &Counts<'_>, values: &Column, ids: &[Option<i64>], rows: usize) -> Result<GroupCounts, AuditError> {
    let of_code = possible(counts.count, rows);
    let of_row = numbered(ids, counts.group);
    let lines = (0..counts.table.rows()).filter_map(|row| {
        let count = of_code[counts.count.code(row) as usize]?;
        Some((of_row[row], values.code(row), count))
    });
    let lines: Vec<(u32, Code, u32)> = lines.collect();
    let total: u64 = lines.iter().map(|&(_, _, count)| u64::from(count)).sum();
    check_size("the table of sensitive values", usize::try_from(total).unwrap_or(usize::MAX).max(1))?;
    Ok(GroupCounts::from_counts(ids.len(), values.domain().len(), lines))
}

/// Every row has a group, there are as many groups as the manifest says, and all of them are in both tables with the
/// same size.
pub(super) fn groups(tables: &ValueTables<'_>, tally: &Tally) -> Check {
    let mut findings = Findings::new("groups");
    let n_missing = match (tally.ids.first(), tally.sizes.first()) {
        (Some(None), Some(&size)) => size,
        _ => 0,
    };
    if n_missing > 0 {
        findings.add("missing group ids", || format!("{n_missing} rows have no group id"));
    }
    let n_groups = tally.sizes.iter().filter(|&&size| size > 0).count() as u64 - u64::from(n_missing > 0);
    if n_groups != tables.manifest.groups {
        let promised = tables.manifest.groups;
        findings.add("groups", || format!("there are {n_groups} group ids, the manifest says {promised}"));
    }
    if let (Some(counts), Some(sample)) = (&tables.counts, &tally.sample) {
        sizes(tables.name, counts, tally, sample, &mut findings);
    }
    let both = tables.counts.as_ref().map_or("", |_| ", of the same size in both tables");
    findings.check(format!("{n_groups} groups by group id{both}"))
}

fn sizes(name: &str, counts: &Counts<'_>, tally: &Tally, sample: &GroupCounts, findings: &mut Findings) {
    let mut is_counted = vec![false; tally.ids.len()];
    tally.of_rows(counts.group).into_iter().for_each(|group| is_counted[group as usize] = true);
    for (group, is_counted) in is_counted.into_iter().enumerate() {
        let (rows, total, id) = (tally.sizes[group], sample.sizes()[group], || tally.name(group));
        if rows > 0 && !is_counted {
            findings
                .add("groups in one table", || format!("group {} is in `{name}`, but not in `{}`", id(), counts.name));
        } else if rows == 0 && is_counted {
            findings
                .add("groups in one table", || format!("group {} is in `{}`, but not in `{name}`", id(), counts.name));
        } else if rows != total {
            findings.add("groups of two sizes", || {
                format!("group {} has {rows} rows in `{name}`, but {total} sensitive values in `{}`", id(), counts.name)
            });
        }
    }
}

/// Counts are positive and no larger than the release, and no group lists a value twice.
pub(super) fn counts(tables: &ValueTables<'_>, tally: &Tally) -> Option<Check> {
    let (counts, (_, values)) = (tables.counts.as_ref()?, tables.sensitive?);
    let mut findings = Findings::new("counts");
    let of_code = possible(counts.count, tables.table.rows());
    let of_row = tally.of_rows(counts.group);
    let group = |row: usize| tally.name(of_row[row] as usize);
    for row in (0..counts.table.rows()).filter(|&row| of_code[counts.count.code(row) as usize].is_none()) {
        let count = counts.count.domain().display(counts.count.code(row));
        findings.add("impossible counts", || {
            let rows = tables.table.rows();
            format!("group {}: a count of {count}, where the release has {rows} rows", group(row))
        });
    }
    let mut lines: Vec<(u32, Code, usize)> =
        of_row.iter().enumerate().map(|(row, &group)| (group, values.code(row), row)).collect();
    lines.sort_unstable();
    for pair in lines.windows(2).filter(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1)) {
        findings.add("repeated values", || format!("group {} lists a value twice", group(pair[1].2)));
    }
    Some(findings.check(format!("{} counts, all positive, none twice", counts.table.rows())))
}

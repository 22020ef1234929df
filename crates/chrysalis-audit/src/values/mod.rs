//! Releases that show values as they are, not ranges.
//!
//! They differ in what was taken apart. Where quasi values are exact, a row's values belong together and only its
//! sensitive value is hidden among those of its group; where they are permuted, no two columns of a row belong
//! together; and where sensitive values are swapped there are no groups at all, and nothing may be promised.

mod attacks;
mod contents;
mod faithful;
mod help;
mod locate;
mod permuted;
mod presence;
mod swapped;
mod tables;
mod tally;
#[cfg(test)]
mod tests;
mod utility;
mod worlds;

use chrysalis_release::{Attribute, Manifest, Release, Scope};
use chrysalis_table::{Column, Table, Watch};

use crate::attack::Places;
use crate::disclosure::{self, SeenRows};
use crate::findings::in_turn;
use crate::measure::GroupCounts;
use crate::parts::{Extent, Looked};
use crate::promise::{JudgedGroups, Measured, judge, measure_all};
use crate::sensitive::sensitive_values;
use crate::source::relevant;
use crate::{AuditError, AuditReport, Bystander, Check, Presence, Reading, RowLinking, Utility, shape};
pub(crate) use permuted::{apart_from_kept, columns_apart};
use tables::ValueTables;
use tally::Tally;

/// The rows of a release, with the sensitive values of every row's group.
pub(crate) struct RowsWithValues<'a> {
    pub(crate) manifest: &'a Manifest,
    pub(crate) table: &'a Table,
    pub(crate) group: &'a Column,
    pub(crate) quasi: Vec<(&'a Attribute, &'a Column)>,
    /// Whether the quasi values of a row do not belong together.
    pub(crate) is_permuted: bool,
    /// The column that holds the sensitive values, in whichever table.
    pub(crate) sensitive: &'a Column,
    /// The group of every row, and the sensitive values of every group.
    pub(crate) of_row: Vec<u32>,
    pub(crate) sample: GroupCounts,
}

/// Opens a release with groups for an attack that joins it with another.
pub(crate) fn rows_with_values(release: &Release) -> Result<RowsWithValues<'_>, AuditError> {
    let tables = ValueTables::open(release)?;
    let nothing = || AuditError::NoSensitive { method: tables.manifest.method };
    let (group, (_, sensitive)) = (tables.group.ok_or_else(nothing)?, tables.sensitive.ok_or_else(nothing)?);
    let Tally { groups, sample, .. } = Tally::new(&tables, group)?;
    Ok(RowsWithValues {
        manifest: tables.manifest,
        table: tables.table,
        group,
        is_permuted: tables.is_permuted(),
        sensitive,
        of_row: groups.of_row,
        sample: sample.ok_or_else(nothing)?,
        quasi: tables.quasi,
    })
}

/// The groups that people may be in: the ids of groups, and for every row of the microdata asked for, numbers of groups
/// with how many of their rows could be the person's.
pub(crate) fn places(
    release: &Release,
    (microdata, people): (&Table, &[usize]),
    watch: &dyn Watch,
) -> Result<(Vec<Option<i64>>, Places), AuditError> {
    let tables = ValueTables::open(release)?;
    let Some(group) = tables.group else { return Ok((Vec::new(), Vec::new())) };
    let tally = Tally::new(&tables, group)?;
    let places = if tables.is_permuted() {
        let columns = presence::samples(&tables, &tally, watch);
        locate::among_columns(&tables, &tally, &columns, (microdata, people), watch)
    } else {
        locate::among_rows(&tables, &tally, microdata, people, watch)
    };
    Ok((tally.ids, places))
}

/// Whether a release with groups is a truthful picture of the microdata, and nothing else.
pub(crate) fn faithful_check(release: &Release, microdata: &Table, watch: &dyn Watch) -> Result<Check, AuditError> {
    let tables = ValueTables::open(release)?;
    let group = tables.group.ok_or(AuditError::NoSensitive { method: tables.manifest.method })?;
    let (microdata, n_dropped) = relevant(tables.manifest, microdata)?;
    faithful::grouped(&tables, &Tally::new(&tables, group)?, (&microdata, n_dropped), watch)
}

/// Judges a release that shows values.
pub(crate) fn audit(
    release: &Release,
    microdata: Option<&Table>,
    watch: &dyn Watch,
) -> Result<AuditReport, AuditError> {
    let tables = ValueTables::open(release)?;
    let microdata = microdata.map(|table| relevant(tables.manifest, table)).transpose()?;
    match tables.group {
        Some(group) => Ok(grouped(release, (&tables, group), microdata, Extent::All, watch)?.report),
        None => ungrouped(release, &tables, microdata, watch),
    }
}

/// Judges one part of a release with groups.
pub(crate) fn audit_part(release: &Release, extent: Extent<'_>, watch: &dyn Watch) -> Result<Looked, AuditError> {
    let tables = ValueTables::open(release)?;
    let group = tables.group.ok_or(AuditError::NoSensitive { method: tables.manifest.method })?;
    grouped(release, (&tables, group), None, extent, watch)
}

fn grouped(
    release: &Release,
    (tables, group): (&ValueTables<'_>, &Column),
    microdata: Option<(Table, usize)>,
    extent: Extent<'_>,
    watch: &dyn Watch,
) -> Result<Looked, AuditError> {
    let mut tally = Tally::new(tables, group)?;
    tally.sample = tally.sample.map(|sample| extent.of(sample));
    let tally = tally;
    let sensitive = tables.sensitive.zip(tally.sample.as_ref());
    let sensitive = sensitive.map(|((attribute, column), sample)| (attribute, column.domain().as_ref(), sample));
    let mut checks = in_turn(&[&|| shape_check(release, tables), &|| tally::groups(tables, &tally)], watch);
    checks.extend(tally::counts(tables, &tally));
    let whole = sensitive.map(|(attribute, domain, sample)| (attribute, domain, sample.whole()));
    checks.extend(in_turn(&[&|| contents::values(tables), &|| sensitive_values(whole)], watch));
    checks.extend(help::check(tables, &tally, watch));
    checks.extend(in_turn(&[&|| shape::row_order(tables.manifest, &tables.orders(), watch)], watch));
    let columns = if tables.is_permuted() { presence::samples(tables, &tally, watch) } else { Vec::new() };
    if let Some((table, n_dropped)) = &microdata {
        checks.push(faithful::grouped(tables, &tally, (table, *n_dropped), watch)?);
        checks.extend(permuted::check(tables, &tally, &columns, table, watch));
    }
    let table = microdata.as_ref().map(|(table, _)| table);
    let (linked, utility) = measured(tables, &tally, &columns, table, watch);
    let evidence = [JudgedGroups::new(tables.manifest, &tally.sizes, &tally.ids, sensitive)?];
    let of_groups = |scope: Scope| match scope {
        Scope::Group => Some(&evidence[..]),
        Scope::Batch | Scope::Bucket | Scope::User => None,
    };
    let (mut attacks, groups_seen) = attacks::grouped(tables, (&tally, &columns), linked, (table, extent), watch)?;
    let rows = tables.table.rows() as u64;
    let judged = tables.sensitive.zip(tally.sample.as_ref()).map(|((attribute, column), values)| {
        let seen = [SeenRows { groups: &tally.groups, values, sure: &[] }];
        let shown = (attribute, column.domain().as_ref());
        disclosure::judge(tables.manifest, shown, &seen, &tables.others, None, watch)
    });
    let (disclosure, bystander) = judged.transpose()?.unzip();
    attacks.bystander = bystander.flatten();
    attacks.findings.push(Bystander::finding(attacks.bystander.as_ref(), rows));
    let principles = measure_all(tables.manifest, of_groups, watch)?;
    let report = AuditReport {
        columns: Vec::new(),
        reading: Reading::of(tables.manifest),
        principles: principles.iter().cloned().map(Measured::result).collect(),
        checks,
        attacks,
        disclosure,
        utility,
        rows: tables.table.rows() as u64,
        groups: tally.sizes.iter().filter(|&&size| size > 0).count() as u64,
    };
    Ok(Looked { report, principles, seen: groups_seen })
}

/// Which row is whose, who is in the data, and the reconstruction error.
fn measured(
    tables: &ValueTables<'_>,
    tally: &Tally,
    columns: &[GroupCounts],
    microdata: Option<&Table>,
    watch: &dyn Watch,
) -> ((Option<RowLinking>, Option<Presence>), Option<Utility>) {
    let (promised, sample) = (tables.manifest.promised_l(), tally.sample.as_ref());
    if !tables.is_permuted() {
        let found = (Some(presence::own_row()), Some(presence::certain(tables)));
        return (found, sample.map(|sample| utility::exact(sample, promised)));
    }
    let linked = presence::attack(tables, tally, columns, microdata, watch);
    let there = linked.as_ref().map(|_| presence::covered(tables, tally, columns));
    ((linked, there), sample.map(|sample| utility::permuted(columns, sample, promised, watch)))
}

/// Without groups no promise can be checked, so there must be none.
fn ungrouped(
    release: &Release,
    tables: &ValueTables<'_>,
    microdata: Option<(Table, usize)>,
    watch: &dyn Watch,
) -> Result<AuditReport, AuditError> {
    let principles = judge(tables.manifest, |_| None, watch)?;
    let found = tables.sensitive.map(|(_, column)| column.histogram()).unwrap_or_default();
    let sensitive = tables.sensitive.map(|(attribute, column)| (attribute, column.domain().as_ref(), found.as_slice()));
    let looks: [&dyn Fn() -> Check; 4] =
        [&|| shape_check(release, tables), &|| contents::values(tables), &|| sensitive_values(sensitive), &|| {
            shape::row_order(tables.manifest, &tables.orders(), watch)
        }];
    let mut checks = in_turn(&looks, watch);
    if let Some((table, n_dropped)) = &microdata {
        checks.push(faithful::ungrouped(tables, (table, *n_dropped), watch)?);
        checks.extend(swapped::check(tables, table, watch));
    }
    Ok(AuditReport {
        columns: Vec::new(),
        reading: Reading::of(tables.manifest),
        principles,
        checks,
        attacks: attacks::ungrouped(tables),
        disclosure: None,
        utility: None,
        rows: tables.table.rows() as u64,
        groups: 0,
    })
}

fn shape_check(release: &Release, tables: &ValueTables<'_>) -> Check {
    shape::tables(release, &tables.expected_tables(), |role, shown| tables.fits(role, shown))
}

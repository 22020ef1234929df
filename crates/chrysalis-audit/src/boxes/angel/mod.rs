//! Sensitive values per batch, quasi values per bucket (angel).
//!
//! A batch is the rows with one batch id, and is the same in every table. A bucket is the rows of one generalized table
//! that show the same ranges and labels: nothing else tells an attacker who shares a group.

mod attacks;
mod crossing;
mod faithful;
mod linking;
mod meeting;
mod tables;
#[cfg(test)]
mod tests;

use chrysalis_release::{Release, Scope};
use chrysalis_table::{Table, Watch};

pub(crate) use self::attacks::places;
pub(crate) use self::linking::mixture;
pub(crate) use self::tables::{BatchTables, buckets};
use super::contents;
use crate::disclosure::{self, SeenRows};
use crate::findings::in_turn;
use crate::promise::{JudgedGroups, judge};
use crate::sensitive::sensitive_values;
use crate::{AuditError, AuditReport, Bystander, Check, Groups, Joining, Reading};

/// Whether such a release is a truthful picture of the microdata, and nothing else.
pub(crate) fn faithful_check(release: &Release, microdata: &Table, watch: &dyn Watch) -> Result<Check, AuditError> {
    let angel = BatchTables::open(release)?;
    faithful::check(&angel, &angel.batches()?, microdata, watch)
}

/// Judges a release of batches and buckets.
pub(crate) fn audit(
    release: &Release,
    microdata: Option<&Table>,
    watch: &dyn Watch,
) -> Result<AuditReport, AuditError> {
    let angel = BatchTables::open(release)?;
    let batches = angel.batches()?;
    let in_tables: Vec<Groups> = angel.tables.iter().map(|table| buckets(table, watch)).collect();
    let (attribute, values) = angel.sensitive;
    let looks: [&dyn Fn() -> Check; 8] = [
        &|| angel.shape(release),
        &|| tables::batch_sizes(&angel, &batches),
        &|| tables::counts(&angel, &batches),
        &|| tables::bucket_counts(&angel, &in_tables),
        &|| contents::ranges(&angel.tables, watch),
        &|| contents::labels(&angel.tables),
        &|| sensitive_values(Some((attribute, values.domain(), batches.sample.whole()))),
        &|| angel.row_order(watch),
    ];
    let mut checks = in_turn(&looks, watch);
    checks.extend(meeting::check(&angel, &batches, watch));
    let (check, joining) = crossing::check(&angel, &batches, microdata, watch)?;
    checks.push(check);
    if let Some(microdata) = microdata {
        checks.push(faithful::check(&angel, &batches, microdata, watch)?);
    }
    let shown = Some((attribute, values.domain().as_ref(), &batches.sample));
    let sizes: Vec<u64> = in_tables.iter().flat_map(Groups::sizes).collect();
    let of_batches = [JudgedGroups::new(&release.manifest, batches.sample.sizes(), &batches.ids, shown)?];
    // Buckets have no id, and a person in one may have any value of their batch.
    let of_buckets = [JudgedGroups::of_rows(&sizes, &[], "buckets have no sensitive values of their own")];
    let evidence = |scope: Scope| match scope {
        Scope::Batch => Some(&of_batches[..]),
        Scope::Bucket => Some(&of_buckets[..]),
        Scope::Group | Scope::User => None,
    };
    let mut attacks = attacks::attacks(&angel, &batches, &in_tables, microdata, watch)?;
    attacks.findings.extend(Joining::finding(joining.as_ref(), &angel.manifest.promises, angel.tables.len()));
    attacks.joining = joining;
    let people = &angel.tables[0];
    let of_rows = Groups { of_row: tables::numbered(&batches.ids, people.group), n_groups: batches.ids.len() };
    let seen = [SeenRows { groups: &of_rows, values: &batches.sample, sure: &[] }];
    let shown = (attribute, values.domain().as_ref());
    let (found, bystander) = disclosure::judge(&release.manifest, shown, &seen, &people.others, None, watch)?;
    attacks.findings.push(Bystander::finding(bystander.as_ref(), people.table.rows() as u64));
    attacks.bystander = bystander;
    Ok(AuditReport {
        columns: Vec::new(),
        reading: Reading::of(&release.manifest),
        principles: judge(&release.manifest, evidence, watch)?,
        checks,
        attacks,
        disclosure: Some(found),
        utility: None,
        rows: angel.tables[0].table.rows() as u64,
        groups: batches.sample.sizes().iter().filter(|&&size| size > 0).count() as u64,
    })
}

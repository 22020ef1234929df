//! The form of `angel`: sensitive values per batch, quasi values per bucket.
//!
//! Batches are the rows with one batch id, and the same in every table. A bucket is the rows of one generalized table that
//! show the same labels: nothing else tells an attacker who stands together.

mod attacks;
mod crossing;
mod faithful;
mod linking;
mod tables;
#[cfg(test)]
mod tests;

use chrysalis_criteria::PrincipleSpec;
use chrysalis_release::{Manifest, Release};
use chrysalis_table::Table;

pub(super) use self::tables::{Angelized, buckets};
use super::contents;
use crate::promise::judge;
use crate::sensitive::sensitive_values;
use crate::{AuditError, AuditReport, Groups, PrincipleResult};

/// Judges an angel release.
pub(crate) fn audit(release: &Release, microdata: Option<&Table>) -> Result<AuditReport, AuditError> {
    let angel = Angelized::open(release)?;
    let batches = angel.batches()?;
    let in_tables: Vec<Groups> = angel.tables.iter().map(buckets).collect();
    let (attribute, values) = angel.sensitive;
    let mut checks = vec![
        angel.shape(release),
        tables::batch_sizes(&angel, &batches),
        tables::counts(&angel, &batches),
        tables::bucket_counts(&angel, &in_tables),
        contents::ranges(&angel.tables),
        contents::labels(&angel.tables),
        sensitive_values(Some((attribute, values.domain(), batches.sample.whole()))),
        angel.row_order(),
        crossing::check(&angel, &batches, microdata)?,
    ];
    if let Some(microdata) = microdata {
        checks.push(faithful::check(&angel, &batches, microdata)?);
    }
    let shown = Some((attribute, values.domain().as_ref(), &batches.sample));
    let sizes: Vec<u64> = in_tables.iter().flat_map(Groups::sizes).collect();
    Ok(AuditReport {
        principles: principles(&release.manifest, &sizes, |manifest| {
            judge(manifest, batches.sample.sizes(), &batches.ids, shown)
        })?,
        checks,
        attacks: attacks::attacks(&angel, &batches, &in_tables, microdata)?,
        utility: None,
        rows: angel.tables[0].table.rows() as u64,
        groups: batches.sample.sizes().iter().filter(|&&size| size > 0).count() as u64,
    })
}

/// `k=` is promised of buckets, everything else of batches; in the order of the manifest.
fn principles(
    manifest: &Manifest,
    bucket_sizes: &[u64],
    judge_batches: impl Fn(&Manifest) -> Result<Vec<PrincipleResult>, AuditError>,
) -> Result<Vec<PrincipleResult>, AuditError> {
    let no_ids = vec![None; bucket_sizes.len()];
    let mut results = Vec::with_capacity(manifest.guarantees.len());
    for promise in &manifest.guarantees {
        let one = Manifest { guarantees: vec![promise.clone()], ..manifest.clone() };
        let is_of_buckets = matches!(promise.parse(), Ok(PrincipleSpec::KAnonymity { .. }));
        results.extend(if is_of_buckets { judge(&one, bucket_sizes, &no_ids, None)? } else { judge_batches(&one)? });
    }
    Ok(results)
}

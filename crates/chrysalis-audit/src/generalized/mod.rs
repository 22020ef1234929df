//! The forms of `generalize`, `butterfly` and `angel`: ranges and labels in place of values.

mod angel;
mod butterfly;
mod cells;
mod contents;
mod faithful;
mod index;
mod intersection;
mod matching;
mod space;
mod structure;
mod suppressed;
#[cfg(test)]
mod tests;

use chrysalis_release::Release;
use chrysalis_table::Table;

use crate::columns::group_ids;
use crate::measure::Sample;
use crate::promise::judge;
use crate::sensitive::{linking, sensitive_values, similarity};
use crate::{Attacks, AuditError, AuditReport, Groups};
pub(crate) use angel::audit as audit_angel;
pub(crate) use butterfly::audit as audit_butterfly;
use cells::Published;
pub(crate) use intersection::attack as intersect;

/// Judges a generalized release. Groups are the rows with one group id; the check `groups` sees to it that all of them
/// show the same cells, so that an attacker can tell no two of them apart.
pub(crate) fn audit(release: &Release, microdata: Option<&Table>) -> Result<AuditReport, AuditError> {
    let published = Published::open(release)?;
    let groups = Groups { of_row: published.group.codes().iter().collect(), n_groups: published.group.domain().len() };
    let ids = group_ids(published.group);
    let sizes = groups.sizes();
    let sample = published.sensitive.map(|(_, column)| Sample::new(&groups, column.codes(), column.domain().len()));
    let sensitive = published.sensitive.zip(sample.as_ref());
    let sensitive = sensitive.map(|((attribute, column), sample)| (attribute, column.domain().as_ref(), sample));

    let mut checks = vec![
        structure::tables(release, &published),
        structure::groups(&published, &groups, &sizes),
        contents::ranges(std::slice::from_ref(&published)),
        contents::labels(std::slice::from_ref(&published)),
        sensitive_values(sensitive.map(|(attribute, domain, sample)| (attribute, domain, sample.whole()))),
        structure::row_order(&published),
    ];
    checks.extend(suppressed::check(&published, &groups, &sizes));
    if let Some(microdata) = microdata {
        checks.push(faithful::check(&published, microdata)?);
    }
    Ok(AuditReport {
        principles: judge(&release.manifest, &sizes, &ids, sensitive)?,
        checks,
        attacks: Attacks {
            linking: sample.as_ref().and_then(|sample| linking(sample, &ids)),
            presence: None,
            intersection: Vec::new(),
            pooling: Vec::new(),
            similarity: similarity(sensitive)?,
        },
        utility: None,
        rows: published.table.rows() as u64,
        groups: sizes.iter().filter(|&&size| size > 0).count() as u64,
    })
}

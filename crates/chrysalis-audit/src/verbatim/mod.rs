//! The forms that show values as they are: `anatomy`, `permute`, `shuffle` and `rank-swap`.
//!
//! They differ in what was taken apart. In `anatomy` and `shuffle` a row's quasi values belong together and only its
//! sensitive value is hidden among those of its group; in `permute` no two columns of a row belong together; in
//! `rank-swap` there are no groups at all, and nothing may be promised.

mod attacks;
mod contents;
mod faithful;
mod help;
mod layout;
mod locate;
mod permuted;
mod presence;
mod tally;
#[cfg(test)]
mod tests;
mod utility;
mod worlds;

use chrysalis_release::{Attribute, Manifest, Release};
use chrysalis_table::{Column, Table};

use crate::measure::Sample;
use crate::promise::judge;
use crate::sensitive::sensitive_values;
use crate::source::relevant;
use crate::{AuditError, AuditReport, Check, Presence, Utility, shape};
pub(crate) use layout::Form;
use layout::Layout;
use tally::Tally;

/// The rows of a release, with the sensitive values of every row's group. In `permute` their quasi values do not belong
/// together.
pub(crate) struct RowsWithValues<'a> {
    pub(crate) manifest: &'a Manifest,
    pub(crate) table: &'a Table,
    pub(crate) group: &'a Column,
    pub(crate) quasi: Vec<(&'a Attribute, &'a Column)>,
    /// The column that holds the sensitive values, in whichever table.
    pub(crate) sensitive: &'a Column,
    /// The group of every row, and what it has.
    pub(crate) of_row: Vec<u32>,
    pub(crate) sample: Sample,
}

/// Opens a release by anatomy, permute or shuffle for an attack that joins it with another.
pub(crate) fn rows_with_values(release: &Release, form: Form) -> Result<RowsWithValues<'_>, AuditError> {
    let Layout { manifest, table, group, quasi, sensitive, .. } = &Layout::open(release, form)?;
    let nothing = || AuditError::NoSensitive { method: manifest.method.clone() };
    let (group, (_, sensitive)) = ((*group).ok_or_else(nothing)?, (*sensitive).ok_or_else(nothing)?);
    let Tally { groups, sample, .. } = Tally::new(&Layout::open(release, form)?, group)?;
    let (of_row, sample) = (groups.of_row, sample.ok_or_else(nothing)?);
    Ok(RowsWithValues { manifest, table, group, quasi: quasi.clone(), sensitive, of_row, sample })
}

/// Judges a release of one of these forms.
pub(crate) fn audit(release: &Release, form: Form, microdata: Option<&Table>) -> Result<AuditReport, AuditError> {
    let layout = Layout::open(release, form)?;
    let microdata = microdata.map(|table| relevant(layout.manifest, table)).transpose()?;
    match layout.group {
        Some(group) => grouped(release, &layout, group, microdata),
        None => ungrouped(release, &layout, microdata),
    }
}

fn grouped(
    release: &Release,
    layout: &Layout<'_>,
    group: &Column,
    microdata: Option<(Table, usize)>,
) -> Result<AuditReport, AuditError> {
    let tally = Tally::new(layout, group)?;
    let sensitive = layout.sensitive.zip(tally.sample.as_ref());
    let sensitive = sensitive.map(|((attribute, column), sample)| (attribute, column.domain().as_ref(), sample));
    let mut checks = vec![tables(release, layout), tally::groups(layout, &tally)];
    checks.extend(tally::counts(layout, &tally));
    checks.push(contents::values(layout));
    checks.push(sensitive_values(sensitive.map(|(attribute, domain, sample)| (attribute, domain, sample.whole()))));
    checks.extend(help::check(layout, &tally));
    checks.push(shape::row_order(&layout.orders()));
    if let Some((table, n_dropped)) = &microdata {
        checks.push(faithful::grouped(layout, &tally, table, *n_dropped)?);
        checks.extend(permuted::check(layout, &tally, table));
    }
    let table = microdata.as_ref().map(|(table, _)| table);
    let columns = if layout.form == Form::Permute { presence::samples(layout, &tally) } else { Vec::new() };
    let (presence, utility) = measured(layout, &tally, &columns, table);
    Ok(AuditReport {
        principles: judge(layout.manifest, &tally.sizes, &tally.ids, sensitive)?,
        checks,
        attacks: attacks::grouped(layout, &tally, &columns, presence, table)?,
        utility,
        rows: layout.table.rows() as u64,
        groups: tally.sizes.iter().filter(|&&size| size > 0).count() as u64,
    })
}

/// The presence attack and the reconstruction error.
fn measured(
    layout: &Layout<'_>,
    tally: &Tally,
    columns: &[Sample],
    microdata: Option<&Table>,
) -> (Option<Presence>, Option<Utility>) {
    let (guarantees, sample) = (&layout.manifest.guarantees, tally.sample.as_ref());
    if layout.form != Form::Permute {
        return (Some(presence::certain()), sample.map(|sample| utility::exact(sample, guarantees)));
    }
    let presence = presence::attack(layout, tally, columns, microdata);
    (presence, sample.map(|sample| utility::permuted(columns, sample, guarantees)))
}

/// Swapped values keep no promise that an audit could check, so there must be none.
fn ungrouped(
    release: &Release,
    layout: &Layout<'_>,
    microdata: Option<(Table, usize)>,
) -> Result<AuditReport, AuditError> {
    if let Some(promise) = layout.manifest.guarantees.first() {
        let problem = format!("a release by method `{}` has no groups", layout.manifest.method);
        return Err(AuditError::Promise { principle: promise.chars().take(80).collect(), problem });
    }
    let found = layout.sensitive.map(|(_, column)| column.histogram()).unwrap_or_default();
    let sensitive = layout.sensitive.map(|(attribute, column)| (attribute, column.domain().as_ref(), found.as_slice()));
    let mut checks = vec![
        tables(release, layout),
        contents::values(layout),
        sensitive_values(sensitive),
        shape::row_order(&layout.orders()),
    ];
    if let Some((table, n_dropped)) = &microdata {
        checks.push(faithful::ungrouped(layout, table, *n_dropped)?);
    }
    Ok(AuditReport {
        principles: Vec::new(),
        checks,
        attacks: attacks::ungrouped(layout),
        utility: None,
        rows: layout.table.rows() as u64,
        groups: 0,
    })
}

fn tables(release: &Release, layout: &Layout<'_>) -> Check {
    shape::tables(release, &layout.parts(), |role, shown| layout.form.fits(role, shown))
}

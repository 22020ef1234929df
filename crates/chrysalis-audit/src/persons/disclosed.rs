//! What groups of persons give away: a value that all persons of a group have.

use chrysalis_release::{RoleName, Values};
use chrysalis_table::{Code, Column, Watch};

use super::seen::Seen;
use super::tables::PersonTables;
use crate::disclosure::{self, SeenRows};
use crate::{AuditError, AuditReport, Bystander};

/// Counts certain and disclosed rows once more, with the values that all persons of a group have.
pub(super) fn measure(
    report: &mut AuditReport,
    tables: &PersonTables<'_>,
    seen: &[Seen],
    watch: &dyn Watch,
) -> Result<(), AuditError> {
    let Some(values) = &tables.values else { return Ok(()) };
    let sure: Vec<Vec<(u32, Code)>> = seen.iter().map(Seen::sure).collect();
    let with_values = seen.iter().zip(&sure).filter_map(|(seen, sure)| {
        let values = &seen.values.as_ref()?.counts;
        Some(SeenRows { groups: &seen.classes, values, sure })
    });
    let with_values: Vec<SeenRows<'_>> = with_values.collect();
    let (manifest, shape) = (tables.manifest, tables.manifest.method.shape());
    let others = manifest.with_role(RoleName::Other);
    let others: Vec<_> = others.filter_map(|it| Some((it, tables.people.column(&it.name)?))).collect();
    // Where rows show their own sensitive value, the columns that are kept as they are stand beside it.
    let is_beside = shape.detail.is_labelled() && shape.values == Values::Beside;
    let beside: Option<&Column> = is_beside.then_some(values.column);
    let shown = (values.attribute, values.column.domain().as_ref());
    let (mut found, bystander) = disclosure::judge(manifest, shown, &with_values, &others, beside, watch)?;
    let is_shown = seen.iter().all(|seen| seen.values.as_ref().is_none_or(|values| values.is_shown));
    found.rule.push_str(if is_shown { SHOWN } else { NOT_SHOWN });
    report.disclosure = Some(found);
    let finding = Bystander::finding(bystander.as_ref(), tables.people.rows() as u64);
    if let Some(known) = report.attacks.findings.iter_mut().find(|known| known.attack == finding.attack) {
        *known = finding;
    }
    report.attacks.bystander = bystander;
    Ok(())
}

const SHOWN: &str = "; a value that all persons of a group have is certain";
const NOT_SHOWN: &str = "; a value that all persons of a group have is certain, but how many have one is not shown, so there \
                         may be more";

//! Columns that are kept as they are beside several sensitive attributes, in forms that show sensitive values in rows.
//!
//! Every sensitive attribute is permuted on its own there, so that a row shows the kept values of one person beside
//! sensitive values of others. Looking at one sensitive attribute alone leaves such columns out
//! ([`Release::about`]); what they tell, whether they are true, and whether they stand beside their own sensitive
//! values after all, is found here.

use chrysalis_release::{Attribute, Manifest, Release, RoleName, Values};
use chrysalis_table::{Column, Table, Watch};

use crate::{AuditError, AuditReport, Bystander, Check, boxes, values};

/// Looks at the kept columns, and tells every report about them; nothing where there are none, or where the reports
/// know them already.
pub(crate) fn look(
    release: &Release,
    microdata: Option<&Table>,
    reports: &mut [(String, AuditReport)],
    watch: &dyn Watch,
) -> Result<Vec<Check>, AuditError> {
    let manifest = &release.manifest;
    let shape = manifest.method.shape();
    let others: Vec<&Attribute> = manifest.with_role(RoleName::Other).collect();
    if others.is_empty() || !shape.detail.is_labelled() || shape.values != Values::Beside {
        return Ok(Vec::new());
    }
    let view = without_sensitive(release);
    let (groups, mut checks) = boxes::kept(&view, microdata, watch)?;
    let people = release.table(shape.people)?;
    let kept: Vec<(&str, &Column)> =
        others.iter().filter_map(|it| Some((it.name.as_str(), people.column(&it.name)?))).collect();
    if let Some(microdata) = microdata {
        let both = |&(name, shown): &(_, _)| Some((name, microdata.column(name)?, shown));
        let sensitive = manifest.with_role(RoleName::Sensitive);
        let sensitive = sensitive.filter_map(|it| Some((it.name.as_str(), people.column(&it.name)?)));
        let (fixed, moved): (Option<Vec<_>>, Option<Vec<_>>) =
            (kept.iter().map(both).collect(), sensitive.map(|it| both(&it)).collect());
        if let Some((fixed, moved)) = fixed.zip(moved) {
            checks.extend(values::apart_from_kept(&fixed, &moved, &groups, microdata.rows(), watch));
        }
    }
    let columns: Vec<&Column> = kept.iter().map(|(_, column)| *column).collect();
    let names: Vec<String> = kept.iter().map(|(name, _)| (*name).to_owned()).collect();
    let alone_rows = Bystander::alone_rows(&groups, &columns, watch);
    for (_, report) in reports {
        let Some(alone) = &report.disclosure else { continue };
        let bystander = Bystander {
            columns: names.clone(),
            is_beside: false,
            alone_rows,
            certain_rows: alone.certain_rows,
            disclosed_rows: alone.disclosed_rows,
        };
        let finding = bystander.finding_of_permuted(people.rows() as u64);
        report.attacks.bystander = Some(bystander);
        match report.attacks.findings.iter_mut().find(|known| known.attack == finding.attack) {
            Some(known) => *known = finding,
            None => report.attacks.findings.push(finding),
        }
    }
    Ok(checks)
}

/// The release as seen by somebody who does not look at sensitive values.
fn without_sensitive(release: &Release) -> Release {
    let manifest = &release.manifest;
    let is_kept = |name: &str| !manifest.with_role(RoleName::Sensitive).any(|attribute| attribute.name == name);
    let attributes = manifest.attributes.iter().filter(|it| it.role != RoleName::Sensitive).cloned().collect();
    let tables = manifest.tables.iter().zip(&release.tables).map(|(entry, table)| {
        match entry.name == manifest.method.shape().people {
            true => Table::new(table.columns().iter().filter(|it| is_kept(it.name())).cloned().collect()),
            false => table.clone(),
        }
    });
    Release { tables: tables.collect(), manifest: Manifest { attributes, ..manifest.clone() } }
}

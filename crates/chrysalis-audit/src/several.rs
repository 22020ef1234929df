//! Releases with several sensitive attributes. Each attribute is judged as if it were the only one: they share their
//! groups and are shown apart, so that a reader of one attribute sees a release about that attribute. What this leaves
//! out is checked here: that the tables are those of the form, that rows are in canonical order, and, with the
//! microdata, that values of one person do not stand side by side, unless the owner wants them together. What one
//! attribute tells about another is the attack `insider`.

use chrysalis_release::{Holds, Manifest, Release, RoleName, Values};
use chrysalis_table::{Column, Table, Watch};

use crate::attack::{Margin, Margins, Together};
use crate::findings::Findings;
use crate::parts::{Extent, GroupsSeen, Looked};
use crate::promise::Measured;
use crate::report::{ColumnReport, PrincipleResult};
use crate::source::relevant_with;
use crate::{
    AuditError, AuditReport, Check, Disclosure, Finding, Groups, Insider, disclosure, form, insiders, judged, kept,
    shape, together, values,
};

/// Judges every sensitive attribute, and what they have in common.
pub(crate) fn audit(
    release: &Release,
    microdata: Option<&Table>,
    person: Option<&str>,
    watch: &dyn Watch,
) -> Result<AuditReport, AuditError> {
    let manifest = &release.manifest;
    // Rows that lack a value of any attribute were left out of the whole release, whichever attribute is looked at.
    let (microdata, n_dropped) = microdata.map(|table| relevant_with(manifest, table, person)).transpose()?.unzip();
    let microdata = microdata.as_ref();
    let mut views: Vec<Release> = Vec::new();
    let mut reports: Vec<(String, AuditReport)> = Vec::new();
    for attribute in manifest.with_role(RoleName::Sensitive) {
        let alone = release.about(&attribute.name)?;
        reports.push((attribute.name.clone(), judged(&alone, microdata, person, watch)?));
        views.push(alone);
    }
    let kept = kept::look(release, microdata, &mut reports, watch)?;
    let together = together::judge(release, microdata, watch)?;
    let of_all = [Some(tables(release)), order(release), apart(release, microdata, watch)].into_iter().flatten();
    let of_all = of_all.chain(kept).chain(together.checks).collect();
    let margins = Margins::open(release)?;
    let insider = insiders::attack(margins.as_ref(), views.first(), microdata, watch)?;
    let manifests: Vec<&Manifest> = views.iter().map(|view| &view.manifest).collect();
    let disclosure = disclosure(margins.as_ref(), &manifests, &reports)?;
    let mut report = combined(manifest, Columns { reports, of_all, learned: together.learned, disclosure }, insider)?;
    if let Some(n_dropped) = n_dropped.filter(|&n| n > 0) {
        let faithful = report.checks.iter_mut().filter(|check| check.name == "faithful" && check.ok);
        faithful.for_each(|check| check.detail.push_str(&format!("; {n_dropped} with missing values left out")));
    }
    Ok(report)
}

/// What was found about every sensitive attribute, and about all of them.
pub(crate) struct Columns<R = AuditReport> {
    /// By attribute, in the manifest's order.
    pub(crate) reports: Vec<(String, R)>,
    /// Checks of all attributes together.
    pub(crate) of_all: Vec<Check>,
    /// What is learned from attributes that are shown together.
    pub(crate) learned: Vec<Together>,
    /// What all attributes together give away.
    pub(crate) disclosure: Option<Disclosure>,
}

/// Judges one part of a release attribute by attribute. `recoded` brings a release to the values of the whole table, and
/// `counts` says how often each value of an attribute occurs there.
pub(crate) fn look_part(
    release: &Release,
    recoded: &dyn Fn(Release) -> Result<Release, AuditError>,
    counts: &dyn Fn(&str) -> Vec<u64>,
    watch: &dyn Watch,
) -> Result<Columns<Looked>, AuditError> {
    let manifest = &release.manifest;
    let mut manifests: Vec<Manifest> = Vec::new();
    let mut reports: Vec<(String, AuditReport)> = Vec::new();
    let mut rest: Vec<(Vec<Measured>, GroupsSeen)> = Vec::new();
    for attribute in manifest.with_role(RoleName::Sensitive) {
        // Looking at one attribute alone leaves out values that do not occur here.
        let alone = recoded(release.about(&attribute.name)?)?;
        let looked = form::judge(manifest.method).audit_part(&alone, Extent::Part(&counts(&attribute.name)), watch)?;
        reports.push((attribute.name.clone(), looked.report));
        rest.push((looked.principles, looked.seen));
        manifests.push(alone.manifest);
    }
    let kept = kept::look(release, None, &mut reports, watch)?;
    let together = together::judge(release, None, watch)?;
    let of_all = [Some(tables(release)), order(release)].into_iter().flatten();
    let of_all = of_all.chain(kept).chain(together.checks).collect();
    let mut margins = Margins::open(release)?;
    if let Some(margins) = &mut margins {
        let of_part = std::mem::take(&mut margins.columns).into_iter();
        margins.columns = of_part
            .map(|margin| Margin { values: margin.values.within(counts(&margin.attribute.name)), ..margin })
            .collect();
    }
    let manifests: Vec<&Manifest> = manifests.iter().collect();
    let disclosure = disclosure(margins.as_ref(), &manifests, &reports)?;
    let reports = reports.into_iter().zip(rest);
    let reports =
        reports.map(|((column, report), (principles, seen))| (column, Looked { report, principles, seen })).collect();
    Ok(Columns { reports, of_all, learned: together.learned, disclosure })
}

/// One report about all attributes.
pub(crate) fn combined(
    manifest: &Manifest,
    found: Columns,
    (insider, finding): (Option<Insider>, Finding),
) -> Result<AuditReport, AuditError> {
    let Columns { mut reports, of_all, learned, disclosure } = found;
    let principles = principles(manifest, &reports);
    let checks = joined(&reports, of_all.into_iter());
    // Of several attributes, the one whose values are guessed best comes first.
    let confidence = |report: &AuditReport| report.attacks.linking.as_ref().map_or(0.0, |linking| linking.confidence);
    let worst =
        (0..reports.len()).rev().max_by(|&a, &b| confidence(&reports[a].1).total_cmp(&confidence(&reports[b].1)));
    let columns = |(column, report): &(String, AuditReport)| ColumnReport {
        column: column.clone(),
        attacks: report.attacks.clone(),
        disclosure: report.disclosure.clone(),
        utility: report.utility.clone(),
    };
    let columns = reports.iter().map(columns).collect();
    let Some((_, mut first)) = worst.map(|at| reports.swap_remove(at)) else {
        return Err(AuditError::NoSensitive { method: manifest.method });
    };
    first.attacks.insider = insider;
    first.attacks.findings.push(finding);
    first.attacks.findings.extend(Together::finding(&learned));
    first.attacks.together = learned;
    Ok(AuditReport { principles, checks, disclosure, columns, ..first })
}

/// The promises in the manifest's order, each with the attribute it is about.
fn principles(manifest: &Manifest, reports: &[(String, AuditReport)]) -> Vec<PrincipleResult> {
    let mut taken = vec![0; reports.len()];
    let mut all = Vec::new();
    for (promise, text) in manifest.promises.iter().zip(manifest.guarantees()) {
        for ((column, report), taken) in reports.iter().zip(&mut taken) {
            if promise.about().is_some_and(|about| about != column) {
                continue;
            }
            let result = report.principles.get(*taken).cloned();
            *taken += 1;
            // What only counts rows is the same for every attribute, and reported once.
            let is_known =
                promise.about().is_none() && all.iter().any(|known: &PrincipleResult| known.principle == text);
            all.extend(
                result.filter(|_| !is_known).map(|result| PrincipleResult { principle: text.clone(), ..result }),
            );
        }
    }
    all
}

/// The checks of all attributes and those of all together: one of each name, with all findings.
fn joined(reports: &[(String, AuditReport)], of_all: impl Iterator<Item = Check>) -> Vec<Check> {
    let of_column = |(column, report): &(String, AuditReport)| -> Vec<Check> {
        let named = |check: &Check| Check {
            findings: check.findings.iter().map(|finding| format!("`{column}`: {finding}")).collect(),
            ..check.clone()
        };
        report.checks.iter().map(named).collect()
    };
    let mut all: Vec<Check> = Vec::new();
    for check in reports.iter().flat_map(of_column).chain(of_all) {
        match all.iter_mut().find(|known| known.name == check.name) {
            None => all.push(check),
            Some(known) => {
                known.findings.extend(check.findings.clone());
                if known.ok && known.detail != check.detail {
                    let is_new = !check.ok || !known.detail.contains(&check.detail);
                    known.detail = match (check.ok, is_new) {
                        (false, _) => check.detail.clone(),
                        (true, true) => format!("{}; {}", known.detail, check.detail),
                        (true, false) => known.detail.clone(),
                    };
                }
                known.ok &= check.ok;
            }
        }
    }
    all
}

/// What all attributes together give away.
fn disclosure(
    margins: Option<&Margins<'_>>,
    views: &[&Manifest],
    reports: &[(String, AuditReport)],
) -> Result<Option<Disclosure>, AuditError> {
    let alone: Option<Vec<&Disclosure>> = reports.iter().map(|(_, report)| report.disclosure.as_ref()).collect();
    let Some((margins, alone)) = margins.zip(alone) else { return Ok(None) };
    let columns: Vec<_> = margins
        .columns
        .iter()
        .zip(views)
        .map(|(margin, view)| (*view, margin.attribute, margin.domain, &margin.values))
        .collect();
    disclosure::of_any(&columns, &alone)
}

/// The tables are those of the form, and nothing else.
fn tables(release: &Release) -> Check {
    let mut findings = Findings::new("tables");
    let layout = release.manifest.layout();
    let expected: Vec<(&str, Vec<&str>)> = layout
        .tables
        .iter()
        .map(|table| (table.name.as_str(), table.columns.iter().map(|column| column.name.as_str()).collect()))
        .collect();
    for (name, columns) in &expected {
        match release.table(name) {
            Err(_) => findings.add("tables", || format!("there is no table `{name}`")),
            Ok(table) => {
                let found: Vec<&str> = table.columns().iter().map(Column::name).collect();
                if found != *columns {
                    findings.add("columns", || format!("`{name}` does not have the columns {}", columns.join(", ")));
                }
            }
        }
    }
    for entry in &release.manifest.tables {
        if !expected.iter().any(|(name, _)| *name == entry.name) {
            findings.add("tables", || format!("`{}` is no table of this form", entry.name));
        }
    }
    findings.check(format!("{} tables, as the form has them", expected.len()))
}

/// Rows that show several sensitive attributes are sorted by group, then by all columns.
fn order(release: &Release) -> Option<Check> {
    let (people, id) = beside(release)?;
    let keys: Vec<&Column> =
        std::iter::once(id).chain(people.columns().iter().filter(|it| it.name() != id.name())).collect();
    let key = |row: usize| keys.iter().map(move |column| column.code(row));
    let mut findings = Findings::new("row order");
    let name = release.manifest.method.shape().people;
    let starts = shape::later_parts(&release.manifest, name);
    let is_first = |row: usize| starts.binary_search(&row).is_ok();
    if !(1..people.rows()).all(|row| is_first(row) || key(row - 1).le(key(row))) {
        findings.add("order", || "rows are not in canonical order, so their order may tell something".to_owned());
    }
    Some(findings.check("canonical: nothing of the input's order is left".to_owned()))
}

/// The table of people and its group ids, where several sensitive attributes stand beside each other.
fn beside(release: &Release) -> Option<(&Table, &Column)> {
    let layout = release.manifest.layout();
    if layout.shape.values != Values::Beside {
        return None;
    }
    let people = layout.tables.iter().find(|table| table.holds == Holds::People)?;
    let table = release.table(&people.name).ok()?;
    Some((table, table.column(layout.shape.group_id?)?))
}

/// With the microdata: whether values of one person stand beside each other more often than by chance.
fn apart(release: &Release, microdata: Option<&Table>, watch: &dyn Watch) -> Option<Check> {
    let ((people, id), microdata) = beside(release).zip(microdata)?;
    let groups = Groups::of_columns(&[id], people.rows(), watch);
    let names: Vec<&str> = release.manifest.with_role(RoleName::Sensitive).map(|it| it.name.as_str()).collect();
    let columns: Option<Vec<(&str, &Column, &Column)>> =
        names.iter().map(|&name| Some((name, microdata.column(name)?, people.column(name)?))).collect();
    let sets = &release.manifest.together;
    let are_together =
        |a: &str, b: &str| sets.iter().any(|set| [a, b].iter().all(|name| set.iter().any(|it| it == name)));
    values::columns_apart(&columns?, &are_together, &groups, microdata.rows(), watch)
}

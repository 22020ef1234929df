//! Judging a release: the audit's own checks, and those that only the hall can make, because they need files or what
//! the auditor knows about the columns.

mod files;
mod months;
mod parts;
mod roles;
mod sql;

use std::path::Path;

use chrysalis_audit::AuditReport;
use chrysalis_release::{Attribute, Manifest, Release, RoleName};
use chrysalis_table::{Counted, Stopped, Table, Watch};

use crate::prepare::check_alike;
use crate::report::AuditOutcome;
use crate::{Error, Recipe, population, replay};

pub use months::KnownLedger;
pub use parts::ToAudit;
pub use sql::{SqlAudit, audit_as_sql};

/// What a release is checked against, beyond its own tables.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence<'a> {
    /// The table it was made from, prepared as the release was: [`MicrodataPlan`](crate::MicrodataPlan).
    pub microdata: Option<&'a Table>,
    /// The column of the microdata that tells persons apart, if the promises of the release count persons.
    pub person: Option<&'a str>,
    /// A table of the people who could be in the data, prepared as the release was: promises about them, and presence, are
    /// measured against it.
    pub population: Option<&'a Table>,
    /// Other releases about the same people, each with the name that findings use for it.
    pub others: &'a [(&'a str, &'a Release)],
    /// For releases of a series: the tables that the others were made from, in their order, each prepared as its release was.
    pub other_microdata: &'a [Table],
    /// For releases of a series: the manifests' hashes, that of the release itself first.
    pub hashes: &'a [Option<String>],
    /// For releases of a series: what its owner remembers.
    pub ledger: Option<&'a KnownLedger>,
    /// The folder that contains the release: everything beside the tables is published with them, and so is every byte
    /// of their files.
    pub folder: Option<&'a Path>,
    /// Columns that the auditor says must be protected: any of them that is published must be sensitive.
    pub sensitive: &'a [String],
    /// What the owner asked for: every column must be published in the role that it has here.
    pub asked: Option<&'a Recipe>,
    /// With the microdata: how many times two members of a group exchange their values before the table is published
    /// again, to see whether the group still comes out (the attack `replay`). If absent, only small tables are tried.
    pub replay: Option<usize>,
}

/// Recomputes, from the published tables alone, everything that a release promises, checks it against the evidence, and
/// attacks it.
///
/// It shares no deciding code with [`publish`](crate::publish).
pub fn audit(release: &Release, with: Evidence<'_>, watch: &dyn Watch) -> Result<AuditOutcome, Error> {
    let manifests: Vec<&Manifest> =
        std::iter::once(&release.manifest).chain(with.others.iter().map(|(_, other)| &other.manifest)).collect();
    check_alike(&manifests)?;
    population::check_form(&release.manifest, with.population)?;
    months::check_request(release, &with)?;
    Stopped::catch(|| {
        watch.phase("audit", None, Counted::Rows);
        let (report, files) = rayon::join(
            || match (with.microdata, with.person.filter(|_| release.manifest.persons.is_some())) {
                (Some(microdata), Some(person)) => chrysalis_audit::audit_persons(release, microdata, person, watch),
                (microdata, _) => chrysalis_audit::audit(release, microdata, watch),
            },
            || with.folder.map(|folder| files::check(folder, release, &|_| watch.pause())).transpose(),
        );
        let mut report = report?;
        if let Some(people) = with.population {
            chrysalis_audit::measure_population(&mut report, release, people, watch)?;
        }
        report.checks.extend(files?);
        report.checks.extend(roles::check(&release.manifest, with.sensitive, with.asked));
        let (replay, finding) = replay::attack(&release.manifest, with.microdata, with.replay, watch);
        report.attacks.replay = replay;
        report.attacks.findings.push(finding);
        if let Some(found) = months::audit(release, &with, watch)? {
            report.checks.extend(found.checks);
            report.attacks.findings.push(found.finding);
            report.attacks.series = found.left;
        }
        // Each other release alone, and, if there are several, all of them together.
        let others = if release.manifest.series.is_some() { &[] } else { with.others };
        let together = (others.len() > 1).then_some(others);
        for others in others.chunks(1).chain(together) {
            for (check, intersection) in intersections(release, others, with.microdata, watch)? {
                report.checks.push(check);
                let mut finding = intersection.finding();
                if release.manifest.persons.is_some() {
                    finding.sentence.push_str(" Every row is taken for another person.");
                }
                report.attacks.findings.push(finding);
                report.attacks.intersection.push(intersection);
            }
        }
        Ok(outcome(report, &release.manifest))
    })?
}

/// What was found, and about which release.
fn outcome(report: AuditReport, manifest: &Manifest) -> AuditOutcome {
    let (method, partitioner, reproducible) = (manifest.method, manifest.partitioner.clone(), manifest.reproducible);
    let accepted = manifest.accepted.iter().map(ToString::to_string).collect();
    let kept = manifest.with_role(RoleName::Other).map(|attribute| attribute.name.clone()).collect();
    let steps = |it: &Attribute| Some((it.name.clone(), it.prepared.clone()?));
    let prepared = manifest.attributes.iter().filter_map(steps).collect();
    let persons = manifest.persons;
    AuditOutcome { report, method, partitioner, reproducible, accepted, kept, prepared, persons }
}

/// The attack with other releases, once for every sensitive column that a release has.
fn intersections(
    release: &Release,
    others: &[(&str, &Release)],
    microdata: Option<&Table>,
    watch: &dyn Watch,
) -> Result<Vec<(chrysalis_audit::Check, chrysalis_audit::Intersection)>, Error> {
    let sensitive: Vec<&str> = release.manifest.with_role(RoleName::Sensitive).map(|it| it.name.as_str()).collect();
    let has_several = std::iter::once(release).chain(others.iter().map(|(_, other)| *other));
    if !has_several.into_iter().any(|release| release.manifest.has_several_sensitive()) {
        return Ok(vec![chrysalis_audit::intersect_all(release, others, microdata, watch)?]);
    }
    let mut found = Vec::new();
    for column in sensitive {
        let own = release.about(column)?;
        let mut views: Vec<(String, Release)> = Vec::new();
        for (name, other) in others {
            // A release that shows other columns of the same people is met with the first of them.
            let known: Vec<&str> = other.manifest.with_role(RoleName::Sensitive).map(|it| it.name.as_str()).collect();
            let same = known.iter().find(|name| **name == column).or(known.first());
            let view = same.map_or_else(|| Ok((*other).clone()), |same| other.about(same))?;
            views.push((format!("{name} (`{column}`)"), view));
        }
        let views: Vec<(&str, &Release)> = views.iter().map(|(name, view)| (name.as_str(), view)).collect();
        found.push(chrysalis_audit::intersect_all(&own, &views, microdata, watch)?);
    }
    Ok(found)
}

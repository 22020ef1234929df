//! The judge: measures what tables and releases really satisfy.
//!
//! A publisher that checks its own work repeats its own mistakes. So this crate shares no deciding code with the
//! publisher: from `chrysalis-criteria` it takes only how a principle is *written*, and it measures every principle
//! anew, from the published tables alone, in a different shape. A publisher asks of one group after another "does it
//! pass?"; the audit asks "what is the worst level any group reaches, and which group is it?" and only then compares
//! that level with the promise.
//!
//! Two questions are answered:
//!
//! - [`profile`]: what does any table satisfy today, ours or not?
//! - [`audit`]: does a release keep what its manifest promises, is it what the manifest says it is, and, with the
//!   microdata at hand, is it a truthful picture of them?
//!
//! Levels are exact: counts, ratios of counts ([`chrysalis_table::exact::BigRational`]) and, for entropy, a decision in whole
//! numbers wherever floating point comes near the line. Only a level that is irrational by nature (the entropy itself,
//! the logarithm of δ-disclosure) is reported as a float.
//!
//! What it deliberately does not do: open files, verify hashes (the store does, before anyone sees a table), print, or
//! stop at the first finding. A hostile release gives findings or an [`AuditError`], never a panic. No message names
//! the values of a person: a group id, a column and a count say enough for an owner to find the place.
//!
//! # Example
//!
//! ```
//! use chrysalis_audit::profile;
//! use chrysalis_table::{Column, Table};
//!
//! let table = Table::new(vec![
//!     Column::integers("age", &[30, 30, 40, 40]),
//!     Column::texts("disease", ["flu", "gastritis", "flu", "flu"].into_iter()),
//! ]);
//! let levels = profile(&table, &["age"], Some("disease"), None)?;
//! assert_eq!((levels.k, levels.groups), (2, 2));
//! let sensitive = levels.sensitive.unwrap();
//! assert_eq!((sensitive.distinct_l, sensitive.alpha), (1, 1.0));
//! # Ok::<(), chrysalis_audit::AuditError>(())
//! ```

mod attack;
mod boxes;
mod columns;
mod counting;
mod disclosure;
mod error;
mod findings;
mod form;

mod grouping;
mod insiders;
mod intersection;
mod kept;
mod manifest;
pub mod measure;
mod near;
mod parts;
mod persons;
mod population;
mod profile;
mod promise;
mod report;
mod sensitive;
mod series;
mod several;
mod shape;
mod source;
#[cfg(test)]
mod testing;
mod together;
mod transparent;
mod values;

pub use attack::{
    Background, BetScore, Extremes, Finding, Insider, InsiderPair, InsiderScore, Learned, LearnedOver, Minimality,
    Replay, Republishing, RuledOut, Subtraction, Together, WorstGroup,
};
pub use counting::Reading;
pub use disclosure::{Bystander, Disclosure};
pub use error::AuditError;
pub use grouping::Groups;
pub use intersection::{KnownLives, Month, SeriesAudit, audit_series};
pub use manifest::knows_partitioner;
pub use parts::{PartsAudit, Survey};
pub use persons::{PersonLevels, profile_persons};
pub use population::{measure_population, takes_population};
pub use profile::{Levels, SensitiveLevels, Uniqueness, profile, profile_all};
pub use report::{
    Attacks, AuditReport, Check, ColumnReport, Intersection, IntersectionLeft, IntersectionOver, Joining, Linking,
    NotCounted, Pooling, PopulationPresence, Presence, PrincipleResult, RowLinking, RowLinkingOver,
    SHARE_ERROR_PERCENT, SeriesLeft, SeriesReplay, Shares, SharesOver, Similarity, SimilarityOf, Utility,
};

use chrysalis_release::Release;
use chrysalis_table::{Table, Unwatched, Watch};

/// Recomputes everything a release promises from its own tables; with the microdata, also checks that it is faithful.
///
/// The microdata hold at least the published attributes, read with the manifest's kinds and with missing values as
/// values of their own.
///
/// # Guarantees
/// A report that is [`ok`](AuditReport::ok) means: every promised principle holds in every published group, decided
/// exactly; the tables have the shape the manifest describes, agree with each other, and keep nothing of the input's
/// order; ids are numbered from 1, and the manifest says nothing that its form and tables do not call for. With the
/// microdata, it also means that nothing published contradicts them:
///
/// - generalized and butterfly: some one-to-one assignment of people to published rows exists under which every cell is true;
/// - anatomy, permuted and shuffled: people can be assigned to groups so that every group has the values it shows. That
///   is NP-complete, so it is decided where it can be in reasonable time: the detail of the check `faithful` says
///   whether an assignment was found, or else what was checked and for how many people the question is open;
/// - angel: in every generalized table some one-to-one assignment of people to rows makes every cell true, also for the
///   people of each sensitive value alone, among the rows whose batches have it; whether one assignment does all of
///   this at once is not decided;
/// - swapped: the same quasi rows and the same sensitive values; which belong together cannot be known.
///
/// # Cost
/// n log n in the rows; with microdata, plus a maximum flow over the rows that fit several groups (generalized), or a
/// bounded search (the other forms).
///
/// This may take long: `watch` may stop it, and then nothing is returned (see [`Watch`]).
pub fn audit(release: &Release, microdata: Option<&Table>, watch: &dyn Watch) -> Result<AuditReport, AuditError> {
    audited(release, microdata, None, watch)
}

/// The same for a release whose promises count persons: `person` is the column of the microdata that tells persons
/// apart.
///
/// # Guarantees
/// Besides what [`audit`] guarantees: the release has as many persons as the microdata and, where numbers of rows are
/// taken as known, as many with each number of rows; every person fits some group with all their rows at once; and no
/// group has fewer persons than fit no other group. Whether one assignment places everybody at once is not decided.
pub fn audit_persons(
    release: &Release,
    microdata: &Table,
    person: &str,
    watch: &dyn Watch,
) -> Result<AuditReport, AuditError> {
    audited(release, Some(microdata), Some(person), watch)
}

fn audited(
    release: &Release,
    microdata: Option<&Table>,
    person: Option<&str>,
    watch: &dyn Watch,
) -> Result<AuditReport, AuditError> {
    if let Some(seen) = series::look(release, watch)? {
        return of_series(release, seen, microdata, watch);
    }
    let mut report = match release.manifest.has_several_sensitive() {
        true => several::audit(release, microdata, person, watch)?,
        false => {
            let mut report = judged(release, microdata, person, watch)?;
            report.attacks.findings.push(attack::no_insider());
            report
        }
    };
    report.checks.extend(transparent::check(release, watch)?);
    report.checks.extend(manifest::ids(release));
    report.checks.push(manifest::check(release, report.disclosure.as_ref(), watch));
    Ok(report)
}

/// A release of a series, as it looks to those who cannot tell counterfeit values from others.
fn of_series(
    release: &Release,
    seen: series::Seen,
    microdata: Option<&Table>,
    watch: &dyn Watch,
) -> Result<AuditReport, AuditError> {
    let mut report = judged(&seen.padded, None, None, watch)?;
    seen.correct(&release.manifest, &mut report);
    report.attacks.findings.push(attack::no_insider());
    // The next release of the series keeps what these attacks count on to change.
    (report.attacks.subtraction, report.attacks.republishing) = (None, None);
    for finding in &mut report.attacks.findings {
        if let Some(reason) = series::why_not(finding.attack) {
            *finding = Finding::not_run(finding.attack, reason);
        }
    }
    report.checks.push(seen.check);
    report.checks.extend(microdata.map(|microdata| series::faithful(release, microdata)).transpose()?);
    report.checks.extend(manifest::ids(release));
    report.checks.push(manifest::check(release, report.disclosure.as_ref(), watch));
    Ok(report)
}

/// What the judge of its form says about a release. Whether the release holds anything else is checked separately.
fn judged(
    release: &Release,
    microdata: Option<&Table>,
    person: Option<&str>,
    watch: &dyn Watch,
) -> Result<AuditReport, AuditError> {
    let known = microdata.zip(person).map(|by_person| persons::known(release, by_person, watch)).transpose()?.flatten();
    // A release of only some rows cannot be compared with all of them row by row.
    let microdata = microdata.filter(|_| !known.as_ref().is_some_and(persons::KnownPersons::is_cut));
    let mut report = form::judge(release.manifest.method).audit(release, microdata, watch)?;
    if release.manifest.partitioner == "sequential" {
        let order = report.checks.iter_mut().filter(|check| check.name == "row order" && check.ok);
        order.for_each(|check| check.detail = SEQUENTIAL.to_owned());
    }
    persons::complete(&mut report, release, known.as_ref(), watch)?;
    Ok(report)
}

/// What the canonical order of rows does not hide.
const SEQUENTIAL: &str =
    "canonical, but groups by `sequential` are stretches of the input: they reveal who was next to whom";

/// Attacks a release with another one of the same data: [`intersect_all`] with one other release, unwatched.
pub fn intersect(
    release: &Release,
    other: &Release,
    name: &str,
    microdata: Option<&Table>,
) -> Result<(Check, Intersection), AuditError> {
    intersect_all(release, &[(name, other)], microdata, &Unwatched)
}

/// Attacks a release with others of the same data, by any method but rank swapping: who is left with fewer sensitive
/// values than promised, once only values that all releases allow are counted? Where one of them protects no column,
/// people are counted instead: who shares their groups in all releases with fewer others than promised?
///
/// Besides the values that are left, their shares are counted over all worlds that fit the releases ([`Shares`]): the
/// check fails where somebody can be bet on above the largest share that one of the releases allows.
///
/// The findings call the other releases by the names given with them. With the microdata, everybody in them is tried;
/// without, one conceivable person wherever groups of all releases meet.
///
/// # Cost
/// With the microdata n log n, times the groups that may hold a person; without, up to the product of the numbers of
/// groups, 20 million at most. Shares: at most 300 rounds over people, their groups and the values of these. This may
/// take long: `watch` may stop it.
pub fn intersect_all(
    release: &Release,
    others: &[(&str, &Release)],
    microdata: Option<&Table>,
    watch: &dyn Watch,
) -> Result<(Check, Intersection), AuditError> {
    // Nobody can tell counterfeit values from others.
    let padded = |release: &Release| Ok::<_, AuditError>(series::look(release, watch)?.map(|seen| seen.padded));
    let (own, of_others) =
        (padded(release)?, others.iter().map(|(_, other)| padded(other)).collect::<Result<Vec<_>, _>>()?);
    let others: Vec<(&str, &Release)> = others
        .iter()
        .zip(&of_others)
        .map(|((name, other), padded)| (*name, padded.as_ref().unwrap_or(other)))
        .collect();
    intersection::attack(own.as_ref().unwrap_or(release), &others, microdata, watch)
}

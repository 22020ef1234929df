//! What an audit found, for people who will not read the audit: one page of sentences and figures.
//!
//! Every sentence follows from the manifest or from a result of the audit. What was not measured is said to be unknown,
//! and what makes no sense for a release is said not to apply: these are different things.

mod attacks;
mod hashes;
mod limits;
mod promises;

use chrysalis_audit::{Check, PrincipleResult};
use chrysalis_release::{Accepted, Attribute, Manifest, Promise, Release, RoleName};
use serde::Serialize;

use crate::report::AuditOutcome;
use crate::words::{count, counted, share_of};
use crate::{Error, Evidence, catalogue};

pub use attacks::{AttackState, ToldAttack};
pub use hashes::FileHash;

/// A certificate: what was published, what is promised, what was found.
#[derive(Clone, Debug, Serialize)]
pub struct Certificate {
    /// What the release is called.
    pub name: String,
    /// What was found, in one word.
    pub verdict: Verdict,
    /// The same as a headline.
    pub headline: String,
    /// What the headline means, and what a reader must know with it.
    pub meaning: Vec<String>,
    /// What was published.
    pub published: Vec<(&'static str, String)>,
    /// Every promise in plain words, with the result.
    pub promises: Vec<ToldPromise>,
    /// What is not protected, a sentence each.
    pub not_protected: Vec<String>,
    /// Risks that the owner accepted, in a sentence each.
    pub accepted: Vec<String>,
    /// What the promises assume.
    pub assumptions: Vec<String>,
    /// With what the release was compared.
    pub evidence: Vec<String>,
    /// Everything that was checked.
    pub checks: Vec<ToldCheck>,
    /// What attackers can do.
    pub attacks: Vec<ToldAttack>,
    /// The files that all this is about.
    pub files: Vec<FileHash>,
}

/// What a certificate says at the top, from bad to good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// A promise is broken, a check failed, or rows are disclosed that nobody accepted.
    Failed,
    /// Promises hold, but rows give their sensitive value away, or the release is fit for experiments only.
    Exposed,
    /// Nothing is promised.
    NothingPromised,
    /// Nobody can tell whether every promise holds.
    Untold,
    /// Every promise holds.
    Holds,
}

/// A promise.
#[derive(Clone, Debug, Serialize)]
pub struct ToldPromise {
    /// As the manifest writes it.
    pub written: String,
    /// In plain words.
    pub words: String,
    /// Whether it holds; `None` if nobody can tell.
    pub holds: Option<bool>,
    /// What the worst group has, or why nobody can tell.
    pub worst: String,
}

/// A check.
#[derive(Clone, Debug, Serialize)]
pub struct ToldCheck {
    /// Its name.
    pub name: &'static str,
    /// Whether all is well.
    pub ok: bool,
    /// What was found.
    pub detail: String,
}

impl Certificate {
    /// The certificate of a release that was audited with this evidence. The hash of the manifest needs the folder.
    pub fn of(
        name: impl Into<String>,
        release: &Release,
        outcome: &AuditOutcome,
        with: &Evidence<'_>,
    ) -> Result<Certificate, Error> {
        Certificate::of_manifest(name, &release.manifest, outcome, with)
    }

    /// The same for a release that is not in memory.
    pub fn of_manifest(
        name: impl Into<String>,
        manifest: &Manifest,
        outcome: &AuditOutcome,
        with: &Evidence<'_>,
    ) -> Result<Certificate, Error> {
        let verdict = verdict(outcome);
        Ok(Certificate {
            name: name.into(),
            verdict,
            headline: headline(verdict, outcome),
            meaning: meaning(verdict, manifest, outcome),
            published: published(manifest),
            promises: told_promises(manifest, outcome),
            not_protected: limits::not_protected(manifest, outcome, with),
            accepted: manifest.accepted.iter().map(|risk| accepted(risk, outcome)).collect(),
            assumptions: limits::assumptions(manifest, outcome),
            evidence: limits::evidence(with),
            checks: outcome.checks.iter().map(check).collect(),
            attacks: attacks::told(outcome),
            files: hashes::of(manifest, with.folder)?,
        })
    }
}

fn disclosed_rows(outcome: &AuditOutcome) -> u64 {
    outcome.disclosure.as_ref().map_or(0, |found| found.disclosed_rows)
}

fn verdict(outcome: &AuditOutcome) -> Verdict {
    let is_exposed = disclosed_rows(outcome) > 0 || outcome.reproducible || !outcome.accepted.is_empty();
    match outcome {
        _ if !outcome.ok() => Verdict::Failed,
        _ if is_exposed => Verdict::Exposed,
        _ if outcome.principles.is_empty() => Verdict::NothingPromised,
        _ if outcome.untold().next().is_some() || outcome.groups == 0 => Verdict::Untold,
        _ => Verdict::Holds,
    }
}

fn headline(verdict: Verdict, outcome: &AuditOutcome) -> String {
    match verdict {
        Verdict::Failed => "FAILED: do not rely on this release".to_owned(),
        Verdict::Exposed if disclosed_rows(outcome) > 0 => {
            let (rows, are) = (disclosed_rows(outcome), if disclosed_rows(outcome) == 1 { "is" } else { "are" });
            format!("NOT PROTECTED: {} {are} disclosed", counted(rows, "row"))
        }
        Verdict::Exposed if outcome.reproducible => "FOR EXPERIMENTS ONLY: made with a fixed seed".to_owned(),
        Verdict::Exposed => "A risk was accepted: read it before you rely on this release".to_owned(),
        Verdict::NothingPromised => "Nothing is promised".to_owned(),
        Verdict::Untold => outcome.verdict().to_owned(),
        Verdict::Holds => "Every promise holds".to_owned(),
    }
}

/// One sentence for each thing that a reader of the headline must know.
fn meaning(verdict: Verdict, manifest: &Manifest, outcome: &AuditOutcome) -> Vec<String> {
    let mut told = Vec::new();
    for result in outcome.principles.iter().filter(|result| result.is_broken()) {
        told.push(format!("The promise {} is broken: the worst group has {}.", result.principle, result.worst_text));
    }
    let failed: Vec<&str> = outcome.checks.iter().filter(|check| !check.ok).map(|check| check.name).collect();
    if !failed.is_empty() {
        told.push(format!("Checks that failed: {}.", failed.join(", ")));
    }
    told.extend(outcome.disclosure.as_ref().filter(|found| found.disclosed_rows > 0).map(|found| {
        let share = share_of(found.disclosed_rows, outcome.rows);
        let who = match (found.is_accepted, found.is_older) {
            (true, _) => "The owner accepted that. The people behind these rows did not become safer by it.",
            (_, true) => "The release is of a version that did not count such rows.",
            _ => "The owner did not accept that.",
        };
        let although = if outcome.promises_hold() { ", although no promise is broken by that" } else { "" };
        format!(
            "Whoever finds a person's group reads the person's sensitive value off it for {} of {} ({share}){although}. \
             {who}",
            count(found.disclosed_rows),
            counted(outcome.rows, "row"),
        )
    }));
    if outcome.reproducible {
        let sentence =
            "It was made with a fixed seed: whoever knows the seed can undo the randomness. Do not hand it out.";
        told.push(sentence.to_owned());
    }
    told.extend(outcome.told_untold());
    told.extend(outcome.attacks.joining.as_ref().filter(|found| found.narrowed > 0).map(|found| {
        let people = if found.narrowed == 1 {
            "1 person is".to_owned()
        } else {
            format!("{} people are", count(found.narrowed))
        };
        format!("When the tables of this release are joined, {people} left with fewer than k={} rows.", found.promised)
    }));
    match verdict {
        Verdict::Holds => told.push(format!(
            "Every promise below was recomputed from the published tables{}, and holds in each of {}. What is not \
             promised is not protected.",
            match manifest.promises.iter().any(|promise| promise.principle().needs_population()) {
                true => " and the table of the population",
                false => "",
            },
            counted(outcome.groups, "group")
        )),
        Verdict::NothingPromised => told.push("No promise protects anybody in this release.".to_owned()),
        Verdict::Failed | Verdict::Exposed | Verdict::Untold => {}
    }
    told
}

fn published(manifest: &Manifest) -> Vec<(&'static str, String)> {
    let named = |role: RoleName| {
        let name = |it: &Attribute| match &it.prepared {
            Some(steps) => format!("{} (prepared: {})", it.name, steps.join(", ")),
            None => it.name.clone(),
        };
        manifest.with_role(role).map(name).collect::<Vec<_>>().join(", ")
    };
    let about = catalogue::method(manifest.method).about.replace('\n', " ");
    let mut facts = vec![("form", format!("{}: {about}", manifest.method))];
    let persons = manifest.persons.map_or_else(String::new, |it| format!(" of {}", counted(it.count, "person")));
    let suppressed = match manifest.suppressed {
        0 => String::new(),
        rows => format!("; {} shown fully generalized", counted(rows, "row")),
    };
    let groups = if manifest.groups > 0 { format!(" in {}", counted(manifest.groups, "group")) } else { String::new() };
    let by = format!(", formed by {}", manifest.partitioner);
    let by = if manifest.groups > 0 { by } else { String::new() };
    facts.push(("size", format!("{}{persons}{groups}{by}{suppressed}", counted(manifest.rows, "row"))));
    let roles = [
        ("attackers may know", RoleName::Quasi),
        ("must not be linked to people", RoleName::Sensitive),
        ("kept as they are", RoleName::Other),
    ];
    facts.extend(roles.map(|(words, role)| (words, named(role))).into_iter().filter(|(_, names)| !names.is_empty()));
    facts
}

fn told_promises(manifest: &Manifest, outcome: &AuditOutcome) -> Vec<ToldPromise> {
    // The audit reports on promises in their order.
    let told = |(result, promise): (&PrincipleResult, Option<&Promise>)| ToldPromise {
        written: result.principle.clone(),
        words: promise.map_or_else(|| result.principle.clone(), |promise| promises::plain(promise, manifest)),
        holds: result.untold.is_none().then_some(result.holds),
        worst: result.untold.clone().unwrap_or_else(|| result.worst_text.clone()),
    };
    let promises = manifest.promises.iter().map(Some).chain(std::iter::repeat(None));
    outcome.principles.iter().zip(promises).map(told).collect()
}

fn accepted(risk: &Accepted, outcome: &AuditOutcome) -> String {
    match risk {
        Accepted::Disclosure => format!(
            "disclosure: sensitive values that can be read off the release. It has {}.",
            counted(disclosed_rows(outcome), "such row")
        ),
        Accepted::Identifying(column) => {
            format!("identifying: `{column}` is kept as it is, although it looks as if it tells people apart.")
        }
    }
}

fn check(check: &Check) -> ToldCheck {
    let detail = if check.ok || check.findings.is_empty() { check.detail.clone() } else { check.findings.join("; ") };
    ToldCheck { name: check.name, ok: check.ok, detail }
}

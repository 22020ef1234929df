//! Whether promises about persons hold.

use chrysalis_criteria::PrincipleSpec;
use chrysalis_release::{Promise, Scope};
use chrysalis_table::Watch;

use super::seen::{Buckets, GroupMasses, Seen};
use super::tables::PersonTables;
use crate::measure;
use crate::promise::{JudgedGroups, said, unusable};
use crate::{AuditError, PrincipleResult};

/// What is known about the persons of every group.
pub(super) struct Known<'a> {
    pub(super) seen: &'a [Seen],
    pub(super) buckets: &'a [Buckets],
    /// The parts that persons give to their values, group by group.
    pub(super) masses: &'a [Option<GroupMasses>],
    /// Why masses that are not there are not there.
    pub(super) why_open: &'a str,
}

/// Measures every promise, in the manifest's order.
pub(super) fn judge(
    tables: &PersonTables<'_>,
    known: &Known<'_>,
    watch: &dyn Watch,
) -> Result<Vec<PrincipleResult>, AuditError> {
    let shape = tables.manifest.method.shape();
    let mut results = Vec::with_capacity(tables.manifest.promises.len());
    for promise in &tables.manifest.promises {
        watch.pause();
        let fits = match promise.scope() {
            Scope::User => shape.has_users,
            Scope::Batch | Scope::Bucket => shape.marginals.is_some(),
            Scope::Group => !shape.has_users && shape.marginals.is_none(),
        };
        if !fits {
            let problem = format!("a release by method `{}` has no {}", tables.manifest.method, said(promise.scope()));
            return Err(unusable(promise, problem));
        }
        match promise.scope() {
            Scope::Bucket => results.push(in_buckets(known.buckets, promise)?),
            Scope::Group | Scope::Batch | Scope::User => {
                for seen in known.seen {
                    results.push(in_groups(tables, seen, known, promise)?);
                }
            }
        }
    }
    Ok(results)
}

/// Buckets have no id, and a person in one may have any value of their batch.
fn in_buckets(buckets: &[Buckets], promise: &Promise) -> Result<PrincipleResult, AuditError> {
    let sizes: Vec<u64> = buckets.iter().flat_map(|buckets| buckets.placed.persons.iter().copied()).collect();
    if sizes.iter().all(|&persons| persons == 0) {
        return Ok(nobody(promise));
    }
    let why = "buckets have no sensitive values of their own";
    JudgedGroups::of_rows(&sizes, &[], why).counting_persons().judge(promise)
}

fn in_groups(
    tables: &PersonTables<'_>,
    seen: &Seen,
    known: &Known<'_>,
    promise: &Promise,
) -> Result<PrincipleResult, AuditError> {
    if seen.sizes.iter().all(|&persons| persons == 0) {
        return Ok(nobody(promise));
    }
    let shown = tables.values.as_ref().zip(seen.values.as_ref());
    let judged = |sample: Option<&measure::GroupCounts>| -> Result<PrincipleResult, AuditError> {
        let shown = shown.zip(sample);
        let shown = shown.map(|((values, seen), sample)| {
            (values.attribute, values.column.domain().as_ref(), seen.counts.whole(), sample)
        });
        let groups = JudgedGroups::of_persons(tables.manifest, &seen.sizes, &seen.ids, shown)?;
        match &seen.user {
            Some(user) => groups.seen_by(user).judge(promise),
            None => groups.judge(promise),
        }
    };
    let having = seen.values.as_ref().map(|values| &values.having);
    let is_shown = seen.values.as_ref().is_none_or(|values| values.is_shown);
    match counts(promise.principle()) {
        Counts::Persons => judged(having),
        Counts::Shares { is_bounded: true } if !is_shown => {
            let found = judged(having)?;
            Ok(PrincipleResult { measured: joined(&found.measured, EVERY_ROW), ..found })
        }
        Counts::Shares { is_bounded: false } if !is_shown => Ok(untold(promise, seen, NOT_SHOWN)),
        Counts::Shares { .. } => judged(having),
        Counts::Masses { least } => {
            let Some((values, of_seen)) = shown else { return judged(having) };
            let masses = seen.masses(known.masses, values.column.domain().len());
            let needs_all = matches!(promise.principle(), PrincipleSpec::TCloseness { .. });
            if let Some(masses) = masses.as_ref().filter(|masses| masses.open == 0 || !needs_all) {
                let found = if masses.sample.rows() > 0 { Some(judged(Some(&masses.sample))?) } else { None };
                match found {
                    Some(found) if masses.open == 0 || found.is_broken() => return Ok(found),
                    _ => {}
                }
            }
            // Nobody has a value that their group does not show, so too few values are too few for persons as well.
            let fewest = measure::distinct(&of_seen.counts);
            if let Some(worst) = fewest.filter(|worst| worst.level < least) {
                return Ok(PrincipleResult {
                    worst: worst.level as f64,
                    worst_text: with_user(format!("{} values", worst.level), seen),
                    worst_group: seen.ids.get(worst.group).copied().flatten(),
                    untold: None,
                    ..untold(promise, seen, "")
                });
            }
            let why = if masses.is_none() { TOO_MANY } else { known.why_open };
            Ok(untold(promise, seen, why))
        }
    }
}

/// What a principle counts, where persons may have several values.
enum Counts {
    /// Persons of groups, and different values.
    Persons,
    /// The share of a group's persons who have a value. If it is bounded by the number of rows with the value, that is
    /// what is promised where the tables do not show persons.
    Shares { is_bounded: bool },
    /// The mean over persons of equal parts for each of a person's values. Groups need at least so many values.
    Masses { least: u64 },
}

fn counts(spec: &PrincipleSpec) -> Counts {
    match spec {
        PrincipleSpec::KAnonymity { .. } | PrincipleSpec::DistinctL { .. } | PrincipleSpec::Ke { .. } => {
            Counts::Persons
        }
        PrincipleSpec::FrequencyL { .. } | PrincipleSpec::AlphaK { .. } | PrincipleSpec::OthersL { .. } => {
            Counts::Shares { is_bounded: true }
        }
        PrincipleSpec::OfPopulation(_) | PrincipleSpec::MInvariance { .. } => Counts::Persons,
        PrincipleSpec::Beta { .. } => Counts::Shares { is_bounded: false },
        PrincipleSpec::EntropyL { l } => Counts::Masses { least: l.ceil().to_integer() },
        PrincipleSpec::RecursiveCl { l, .. }
        | PrincipleSpec::DistinctLAlpha { l, .. }
        | PrincipleSpec::EntropyLAlpha { l, .. }
        | PrincipleSpec::RecursiveLAlpha { l, .. } => Counts::Masses { least: *l },
        PrincipleSpec::TCloseness { .. } => Counts::Masses { least: 0 },
        #[cfg(feature = "toy-principle")]
        PrincipleSpec::Toy { .. } => Counts::Persons,
    }
}

/// How shares were bounded.
const EVERY_ROW: &str = "the tables do not show how many persons have a value, so every row counts as another person's";
/// Why nobody can tell from the tables.
pub(super) const NOT_SHOWN: &str = "it counts what each person has, which the tables do not show";
pub(super) const TOO_MANY: &str = "it counts what each person has, and persons have too many different numbers of values to decide it \
                        exactly";

/// A release that names no persons keeps no promise about them.
fn nobody(promise: &Promise) -> PrincipleResult {
    PrincipleResult {
        principle: promise.principle().to_string(),
        holds: false,
        untold: None,
        worst: 0.0,
        worst_text: "no persons".to_owned(),
        worst_group: None,
        measured: String::new(),
    }
}

fn untold(promise: &Promise, seen: &Seen, why: &str) -> PrincipleResult {
    PrincipleResult {
        principle: promise.principle().to_string(),
        holds: false,
        untold: Some(why.to_owned()),
        worst: f64::INFINITY,
        worst_text: with_user("cannot tell".to_owned(), seen),
        worst_group: None,
        measured: String::new(),
    }
}

fn with_user(text: String, seen: &Seen) -> String {
    match &seen.user {
        None => text,
        Some(user) => format!("{text} for {}", user.join(", ")),
    }
}

fn joined(first: &str, second: &str) -> String {
    if first.is_empty() { second.to_owned() } else { format!("{first}; {second}") }
}

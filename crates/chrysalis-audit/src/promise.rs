//! Compares the worst level of any group with what was promised.

use std::cmp::Ordering;

use chrysalis_criteria::{PrincipleSpec, Rational, show_rational};
use chrysalis_release::{Attribute, Manifest};
use chrysalis_table::{Domain, Taxonomy};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::ToPrimitive;

use crate::measure::{self, Categories, Decision, Fraction, Ground, Group, Sample, Worst};
use crate::sensitive::{categories, taxonomy};
use crate::{AuditError, PrincipleResult};

/// Measures every promise of a manifest: on the rows of every group, and on the sensitive values if there are any.
pub(crate) fn judge(
    manifest: &Manifest,
    sizes: &[u64],
    ids: &[Option<i64>],
    shown: Option<(&Attribute, &Domain, &Sample)>,
) -> Result<Vec<PrincipleResult>, AuditError> {
    let taxonomy = shown.map(|(attribute, domain, _)| taxonomy(attribute, domain)).transpose()?.flatten();
    let categories = shown.map(|(attribute, domain, _)| categories(attribute, domain)).transpose()?.flatten();
    let (taxonomy, categories) = (taxonomy.as_ref(), categories.as_ref());
    let sensitive = shown.map(|(_, domain, sample)| Sensitive { domain, taxonomy, categories, sample });
    let evidence = Evidence { sizes, sensitive, ids };
    manifest.guarantees.iter().map(|promise| evidence.judge(promise)).collect()
}

/// How many sensitive values some promises leave everybody, at least.
pub(crate) fn promised_values(guarantees: &[String]) -> u64 {
    let least = |l: Rational| l.ceil().to_integer();
    let of_promise = |text: &String| match text.parse() {
        Ok(PrincipleSpec::FrequencyL { l } | PrincipleSpec::EntropyL { l }) => least(l),
        Ok(PrincipleSpec::AlphaK { alpha, .. }) if alpha > Rational::from_integer(0) => least(alpha.recip()),
        Ok(
            PrincipleSpec::DistinctL { l }
            | PrincipleSpec::RecursiveCl { l, .. }
            | PrincipleSpec::DistinctLAlpha { l, .. }
            | PrincipleSpec::EntropyLAlpha { l, .. }
            | PrincipleSpec::RecursiveLAlpha { l, .. }
            | PrincipleSpec::Ke { k: l, .. },
        ) => l,
        _ => 1,
    };
    guarantees.iter().map(of_promise).max().unwrap_or(1)
}

/// How many rows some promises leave every group, at least. Different values are in different rows.
pub(crate) fn promised_rows(guarantees: &[String]) -> u64 {
    let of_promise = |text: &String| match text.parse() {
        Ok(PrincipleSpec::KAnonymity { k } | PrincipleSpec::AlphaK { k, .. }) => k,
        _ => 1,
    };
    guarantees.iter().map(of_promise).max().unwrap_or(1).max(promised_values(guarantees))
}

/// The largest share of one value that some promises allow a group, if they speak of that: 1/l or α.
pub(crate) fn promised_share(guarantees: &[String]) -> Option<Rational> {
    let of_promise = |text: &String| match text.parse() {
        Ok(PrincipleSpec::FrequencyL { l }) if l > Rational::from_integer(0) => Some(l.recip()),
        Ok(PrincipleSpec::AlphaK { alpha, .. }) => Some(alpha),
        _ => None,
    };
    guarantees.iter().filter_map(of_promise).min()
}

/// The sensitive column of a release, counted by group.
struct Sensitive<'a> {
    domain: &'a Domain,
    taxonomy: Option<&'a Taxonomy>,
    categories: Option<&'a Categories>,
    sample: &'a Sample,
}

/// What a promise is held against.
struct Evidence<'a> {
    /// Rows of every group.
    sizes: &'a [u64],
    /// Absent where nothing sensitive is published.
    sensitive: Option<Sensitive<'a>>,
    /// The published id of every group, if it has one.
    ids: &'a [Option<i64>],
}

/// One condition of a principle, at its worst.
struct Part {
    holds: bool,
    level: f64,
    text: String,
    group: usize,
}

impl Evidence<'_> {
    /// Measures one promise as the manifest writes it.
    fn judge(&self, text: &str) -> Result<PrincipleResult, AuditError> {
        let shown: String = text.chars().take(80).collect();
        let unusable = |problem: String| AuditError::Promise { principle: shown.clone(), problem };
        let spec: PrincipleSpec = text.parse().map_err(|error| unusable(format!("{error}")))?;
        let parts = self.parts(&spec).map_err(|problem| unusable(problem.to_owned()))?;
        let headline = parts.iter().find(|part| !part.holds).or(parts.first());
        let headline = headline.ok_or(AuditError::NoRows { what: "the release" })?;
        Ok(PrincipleResult {
            principle: text.to_owned(),
            holds: parts.iter().all(|part| part.holds),
            worst: headline.level,
            worst_text: parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(", "),
            worst_group: self.ids.get(headline.group).copied().flatten(),
        })
    }

    /// Every condition of a principle; none where there are no rows.
    fn parts(&self, spec: &PrincipleSpec) -> Result<Vec<Part>, &'static str> {
        if let PrincipleSpec::KAnonymity { k } = spec {
            return Ok(self.size(*k, "").into_iter().collect());
        }
        let sensitive = self.sensitive.as_ref().ok_or("the release has no sensitive attribute")?;
        let sample = sensitive.sample;
        let parts = match spec {
            PrincipleSpec::KAnonymity { .. } => Vec::new(),
            PrincipleSpec::DistinctL { l } => vec![at_least(measure::distinct(sample), *l, "")],
            PrincipleSpec::FrequencyL { l } => vec![frequency(sample, l)],
            PrincipleSpec::EntropyL { l } => vec![entropy(sample, *l, |group| group.counts().collect(), "")],
            PrincipleSpec::RecursiveCl { c, l } => vec![recursive(measure::recursive(sample, *l), c, "")],
            PrincipleSpec::TCloseness { t } => {
                let ground = Ground::of(sensitive.domain, sensitive.taxonomy);
                vec![at_most(measure::closeness(sample, ground).map(some), t, "")]
            }
            PrincipleSpec::Ke { k, e } => sensitive.spread(*k, e)?,
            PrincipleSpec::AlphaK { alpha, k } => {
                vec![at_most(measure::share(sample).map(fraction), alpha, "share "), self.size(*k, " rows")]
            }
            PrincipleSpec::DistinctLAlpha { .. }
            | PrincipleSpec::EntropyLAlpha { .. }
            | PrincipleSpec::RecursiveLAlpha { .. } => sensitive.weighted(spec)?,
            PrincipleSpec::Beta { beta } => vec![at_most(measure::gain(sample).map(fraction), beta, "")],
        };
        Ok(parts.into_iter().flatten().collect())
    }

    fn size(&self, k: u64, unit: &str) -> Option<Part> {
        at_least(measure::smallest(self.sizes), k, unit)
    }
}

impl Sensitive<'_> {
    fn spread(&self, k: u64, e: &Rational) -> Result<Vec<Option<Part>>, &'static str> {
        if !self.domain.kind().is_numeric() {
            return Err("the sensitive attribute is not numeric");
        }
        let values = at_least(measure::distinct_numbers(self.sample, self.domain), k, " values");
        let span = measure::span(self.sample, self.domain).map(|worst| Part {
            holds: worst.level >= big(e),
            level: measure::to_float(Some(&worst.level)),
            text: format!("span {}", show(&worst.level)),
            group: worst.group,
        });
        Ok(vec![values, span])
    }

    fn weighted(&self, spec: &PrincipleSpec) -> Result<Vec<Option<Part>>, &'static str> {
        let categories = self.categories.ok_or("the sensitive attribute has no categories with weights")?;
        let counts = |group: Group<'_>| categories.counts(group);
        let (l, alpha, extra) = match spec {
            PrincipleSpec::EntropyLAlpha { l, alpha } => {
                (l, alpha, entropy(self.sample, Rational::from_integer(*l), counts, "entropy "))
            }
            PrincipleSpec::RecursiveLAlpha { c, l, alpha } => {
                let ratio = |group: Group<'_>| measure::recursive_ratio(counts(group).into_iter(), *l);
                (l, alpha, recursive(self.sample.worst(ratio, Fraction::compare), c, "ratio "))
            }
            PrincipleSpec::DistinctLAlpha { l, alpha } => (l, alpha, None),
            _ => return Ok(Vec::new()),
        };
        let weight = measure::least_weight(self.sample, categories).map(|worst| Part {
            holds: worst.level >= big(alpha),
            level: measure::to_float(Some(&worst.level)),
            text: format!("weight {}", show(&worst.level)),
            group: worst.group,
        });
        Ok(vec![at_least(measure::distinct(self.sample), *l, " values"), weight, extra])
    }
}

fn at_least(worst: Option<Worst<u64>>, least: u64, unit: &str) -> Option<Part> {
    let Worst { level, group } = worst?;
    Some(Part { holds: level >= least, level: level as f64, text: format!("{level}{unit}"), group })
}

/// One over the largest share is at least l.
fn frequency(sample: &Sample, l: &Rational) -> Option<Part> {
    let Worst { level, group } = measure::share(sample)?;
    let reached = Fraction::new(level.denominator, level.numerator).exact()?;
    let (holds, level) = (reached >= big(l), measure::to_float(Some(&reached)));
    Some(Part { holds, level, text: show(&reached), group })
}

fn at_most(worst: Option<Worst<Option<BigRational>>>, most: &Rational, name: &str) -> Option<Part> {
    let Worst { level, group } = worst?;
    let holds = level.as_ref().is_some_and(|level| *level <= big(most));
    Some(Part { holds, level: measure::to_float(level.as_ref()), text: name.to_owned() + &show_or_none(level), group })
}

/// c must be *above* the ratio, and no c is above an infinite one.
fn recursive(worst: Option<Worst<Fraction>>, c: &Rational, name: &str) -> Option<Part> {
    let Worst { level, group } = fraction(worst?);
    let holds = level.as_ref().is_some_and(|ratio| *ratio < big(c));
    Some(Part { holds, level: measure::to_float(level.as_ref()), text: name.to_owned() + &show_or_none(level), group })
}

/// The least e^H; where a group fails, the least among those that do, as decided exactly.
fn entropy(sample: &Sample, l: Rational, counts: impl Fn(Group<'_>) -> Vec<u64> + Sync, name: &str) -> Option<Part> {
    let level = |group: Group<'_>| {
        let counts = counts(group);
        let counts = || counts.iter().copied().filter(|&count| count > 0);
        (measure::entropy_at_least(counts(), l), measure::effective_values(counts()))
    };
    let badness = |a: &(Decision, f64), b: &(Decision, f64)| -> Ordering {
        b.0.holds().cmp(&a.0.holds()).then(b.1.total_cmp(&a.1))
    };
    let Worst { level: (decision, level), group } = sample.worst(level, badness)?;
    // What holds exactly must not look as if it fell short by a rounding error.
    let line = l.to_f64().unwrap_or(0.0);
    let level = if decision.holds() { level.max(line) } else { level };
    let number = format!("{level:.9}");
    let number = number.trim_end_matches('0').trim_end_matches('.');
    let doubt = if decision == Decision::Doubt { ", too near to decide" } else { "" };
    Some(Part { holds: decision.holds(), level, text: format!("{name}{number}{doubt}"), group })
}

fn fraction(worst: Worst<Fraction>) -> Worst<Option<BigRational>> {
    Worst { level: worst.level.exact(), group: worst.group }
}

fn some(worst: Worst<BigRational>) -> Worst<Option<BigRational>> {
    Worst { level: Some(worst.level), group: worst.group }
}

fn big(number: &Rational) -> BigRational {
    BigRational::new(BigInt::from(*number.numer()), BigInt::from(*number.denom()))
}

fn show_or_none(level: Option<BigRational>) -> String {
    level.map_or_else(|| "unbounded".into(), |level| show(&level))
}

/// An exact number: as a decimal where that is short and exact, as a fraction otherwise.
pub(crate) fn show(number: &BigRational) -> String {
    match (number.numer().to_u64(), number.denom().to_u64()) {
        (Some(numerator), Some(denominator)) => show_rational(Rational::new(numerator, denominator)),
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use chrysalis_table::{Codes, Kind, Value};

    use super::*;
    use crate::Groups;

    #[test]
    fn doubt_is_said_and_means_fail() {
        let words = ["a", "b"].map(|word| Value::Text(word.into())).to_vec();
        let domain = Domain::new(Kind::Category, words, false);
        let judge = |counts: [usize; 2]| {
            let codes = (0u8..).zip(counts).flat_map(|(code, count)| std::iter::repeat_n(code, count)).collect();
            let n = counts[0] + counts[1];
            let sample = Sample::new(&Groups { of_row: vec![0; n], n_groups: 1 }, &Codes::U8(codes), 2);
            let sensitive = Sensitive { domain: &domain, taxonomy: None, categories: None, sample: &sample };
            let evidence = Evidence { sizes: sample.sizes(), sensitive: Some(sensitive), ids: &[Some(7)] };
            evidence.judge("entropy-l=2").unwrap()
        };
        let doubtful = judge([1_000_000, 1_000_001]);
        assert_eq!((doubtful.holds, doubtful.worst_text.as_str()), (false, "2, too near to decide"));
        let even = judge([1_000_000, 1_000_000]);
        assert_eq!((even.holds, even.worst, even.worst_text.as_str()), (true, 2.0, "2"));
    }
}

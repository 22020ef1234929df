//! The conditions of a principle, each with its worst level, and how those of several parts of a release become one.

use std::cmp::Ordering;

use chrysalis_criteria::{Rational, show_rational};
use chrysalis_table::exact::BigRational;
use num_bigint::BigInt;
use num_traits::ToPrimitive;

use crate::PrincipleResult;
use crate::measure::{self, Decision, Fraction, Group, GroupCounts, Worst};

/// One condition of a principle, and its worst level.
#[derive(Clone, Debug)]
pub(crate) struct Clause {
    pub(super) holds: bool,
    pub(super) level: f64,
    pub(super) text: String,
    /// The number of the worst group.
    pub(super) group: usize,
    /// The id of the worst group, if it has one.
    pub(super) id: Option<i64>,
    badness: Badness,
}

/// How bad a level is, whichever way its numbers run.
#[derive(Clone, Debug)]
enum Badness {
    /// The larger, the worse.
    Number(BigRational),
    /// Whether it fails, as decided exactly, and the level, of which less is worse.
    Float(bool, f64),
    /// Worse than any number.
    Unbounded,
}

impl Badness {
    fn compare(&self, other: &Badness) -> Ordering {
        match (self, other) {
            (Badness::Number(a), Badness::Number(b)) => a.cmp(b),
            (Badness::Float(a, low), Badness::Float(b, other_low)) => a.cmp(b).then(other_low.total_cmp(low)),
            (Badness::Unbounded, Badness::Unbounded) => Ordering::Equal,
            (Badness::Unbounded, _) | (Badness::Float(..), Badness::Number(_)) => Ordering::Greater,
            (_, Badness::Unbounded) | (Badness::Number(_), Badness::Float(..)) => Ordering::Less,
        }
    }
}

/// How well some groups keep a promise.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(super) principle: String,
    /// Why nobody can tell; there are no clauses then.
    pub(super) untold: Option<String>,
    pub(super) clauses: Vec<Clause>,
    /// How it was measured, in words.
    pub(super) words: String,
    /// The worst level by equal distance, where the words name it.
    pub(super) by_equal_distance: f64,
    /// The user to whom it is promised, where there are several.
    pub(super) user: Option<String>,
}

impl Measured {
    pub(crate) fn result(self) -> PrincipleResult {
        let Measured { principle, untold, clauses, words, user, .. } = self;
        let headline = clauses.iter().find(|clause| !clause.holds).or(clauses.first());
        let Some(headline) = headline else {
            return PrincipleResult {
                principle,
                holds: false,
                untold,
                worst: f64::INFINITY,
                worst_text: "cannot tell".to_owned(),
                worst_group: None,
                measured: words,
            };
        };
        let text = clauses.iter().map(|clause| clause.text.as_str()).collect::<Vec<_>>().join(", ");
        PrincipleResult {
            principle,
            holds: clauses.iter().all(|clause| clause.holds),
            untold,
            worst: headline.level,
            worst_text: match user {
                None => text,
                Some(user) => format!("{text} for {user}"),
            },
            worst_group: headline.id,
            measured: words,
        }
    }

    /// The same promise in the groups of both.
    pub(crate) fn merged(mut self, other: Measured) -> Measured {
        if other.by_equal_distance > self.by_equal_distance {
            (self.words, self.by_equal_distance) = (other.words, other.by_equal_distance);
        }
        self.untold = self.untold.or(other.untold);
        let mut others = other.clauses.into_iter();
        for clause in &mut self.clauses {
            let Some(other) = others.next() else { break };
            let holds = clause.holds && other.holds;
            let worse = other.badness.compare(&clause.badness).then(clause.id.cmp(&other.id));
            if worse == Ordering::Greater {
                *clause = other;
            }
            // The worst level fails if any does; whoever fails anywhere fails.
            clause.holds = holds;
        }
        self.clauses.extend(others);
        self
    }
}

/// The largest ratio of several readings.
pub(super) fn worst_ratio(readings: Vec<Vec<u64>>, l: u64) -> Fraction {
    let ratios = readings.into_iter().map(|counts| measure::recursive_ratio(counts.into_iter(), l));
    let worse = |a: Fraction, b: Fraction| if b.compare(&a) == Ordering::Greater { b } else { a };
    ratios.reduce(worse).unwrap_or(Fraction::new(0, 1))
}

pub(super) fn at_least(worst: Option<Worst<u64>>, least: u64, unit: &str) -> Option<Clause> {
    let Worst { level, group } = worst?;
    let badness = Badness::Number(-whole(level));
    Some(Clause {
        holds: level >= least,
        level: level as f64,
        text: format!("{level}{unit}"),
        group,
        id: None,
        badness,
    })
}

/// The same for a level that need not be whole.
pub(super) fn at_least_exactly(worst: Option<Worst<BigRational>>, least: &Rational, name: &str) -> Option<Clause> {
    let Worst { level, group } = worst?;
    Some(Clause {
        holds: level >= big(least),
        level: measure::to_float(Some(&level)),
        text: format!("{name}{}", show(&level)),
        group,
        id: None,
        badness: Badness::Number(-level),
    })
}

/// Every group shows all its values equally often.
pub(super) fn equally_often(worst: Option<Worst<u64>>) -> Option<Clause> {
    let Worst { level, group } = worst?;
    let text = match level {
        0 => "all equally often".to_owned(),
        _ => format!("one of them {level} times more than another"),
    };
    let badness = Badness::Number(whole(level));
    Some(Clause { holds: level == 0, level: level as f64, text, group, id: None, badness })
}

/// One over the largest share is at least l.
pub(super) fn frequency(worst: Option<Worst<Fraction>>, l: &Rational) -> Option<Clause> {
    let Worst { level, group } = worst?;
    let reached = Fraction::new(level.denominator, level.numerator).exact()?;
    at_least_exactly(Some(Worst { level: reached, group }), l, "")
}

pub(super) fn at_most(worst: Option<Worst<Option<BigRational>>>, most: &Rational, name: &str) -> Option<Clause> {
    below(worst?, |level| *level <= big(most), name)
}

/// c must be *above* the ratio, and no c is above an infinite one.
pub(super) fn recursive(worst: Option<Worst<Fraction>>, c: &Rational, name: &str) -> Option<Clause> {
    below(fraction(worst?), |ratio| *ratio < big(c), name)
}

fn below(
    Worst { level, group }: Worst<Option<BigRational>>,
    holds: impl Fn(&BigRational) -> bool,
    name: &str,
) -> Option<Clause> {
    Some(Clause {
        holds: level.as_ref().is_some_and(holds),
        level: measure::to_float(level.as_ref()),
        text: name.to_owned() + &level.as_ref().map_or_else(|| "unbounded".into(), show),
        group,
        id: None,
        badness: level.map_or(Badness::Unbounded, Badness::Number),
    })
}

/// The largest share of one value that is not ordinary is at most 1/l.
pub(super) fn share_of_others(worst: Option<Worst<Fraction>>, l: &Rational) -> Option<Clause> {
    let Worst { level, group } = worst?;
    let share = level.exact()?;
    Some(Clause {
        holds: share <= big(l).recip(),
        level: measure::to_float(Some(&share)),
        text: format!("share {} of a value that is not ordinary", show(&share)),
        group,
        id: None,
        badness: Badness::Number(share),
    })
}

/// The least e^H by any of several readings; where groups fail, as decided exactly, the least among these.
pub(super) fn entropy(
    sample: &GroupCounts,
    l: Rational,
    readings: impl Fn(Group<'_>) -> Vec<Vec<u64>> + Sync,
    name: &str,
) -> Option<Clause> {
    let badness = |a: &(Decision, f64), b: &(Decision, f64)| -> Ordering {
        b.0.holds().cmp(&a.0.holds()).then(b.1.total_cmp(&a.1))
    };
    let level = |group: Group<'_>| {
        let levels = readings(group).into_iter().map(|counts| {
            let counts = || counts.iter().copied().filter(|&count| count > 0);
            (measure::entropy_at_least(counts(), l), measure::effective_values(counts()))
        });
        levels.max_by(|a, b| badness(a, b)).unwrap_or((Decision::Fails, 0.0))
    };
    let Worst { level: (decision, reached), group } = sample.worst(level, badness)?;
    // A level that holds exactly must not look as if it fell short by a rounding error.
    let line = l.to_f64().unwrap_or(0.0);
    let level = if decision.holds() { reached.max(line) } else { reached };
    let number = format!("{level:.9}");
    let number = number.trim_end_matches('0').trim_end_matches('.');
    let doubt = if decision == Decision::Doubt { ", too close to decide" } else { "" };
    let holds = decision.holds();
    let badness = Badness::Float(!holds, reached);
    Some(Clause { holds, level, text: format!("{name}{number}{doubt}"), group, id: None, badness })
}

pub(super) fn fraction(worst: Worst<Fraction>) -> Worst<Option<BigRational>> {
    Worst { level: worst.level.exact(), group: worst.group }
}

pub(super) fn some(worst: Worst<BigRational>) -> Worst<Option<BigRational>> {
    Worst { level: Some(worst.level), group: worst.group }
}

fn whole(number: u64) -> BigRational {
    BigRational::from_integer(BigInt::from(number))
}

fn big(number: &Rational) -> BigRational {
    BigRational::new(BigInt::from(*number.numer()), BigInt::from(*number.denom()))
}

/// An exact number: as a decimal where that is short and exact, as a fraction otherwise.
pub(crate) fn show(number: &BigRational) -> String {
    match (number.numer().to_u64(), number.denom().to_u64()) {
        (Some(numerator), Some(denominator)) => show_rational(Rational::new(numerator, denominator)),
        _ => number.to_string(),
    }
}

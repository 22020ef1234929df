//! Random conditions, as codes of the microdata.

use std::ops::Range;

use chrysalis_table::{Code, Column, Knob, Remedy, Watch};
use rand::seq::SliceRandom;
use rand::{CryptoRng, RngExt};

use super::{Family, MAX_QUERIES, Workload};
use crate::EvaluateError;

/// Conditions that must all hold.
pub(super) struct Query {
    pub(super) conditions: Vec<Condition>,
}

/// The values that one column must have, never the missing one.
pub(super) struct Condition {
    /// The column's position.
    pub(super) column: usize,
    pub(super) codes: ChosenCodes,
}

/// Some codes.
pub(super) enum ChosenCodes {
    Interval(Range<Code>),
    /// In ascending order.
    Any(Vec<Code>),
}

impl ChosenCodes {
    pub(super) fn codes(&self) -> Box<dyn Iterator<Item = Code> + '_> {
        match self {
            ChosenCodes::Interval(codes) => Box::new(codes.clone()),
            ChosenCodes::Any(codes) => Box::new(codes.iter().copied()),
        }
    }
}

/// Draws a workload over columns, the sensitive one last. Also returns the number of conditions of each query.
pub(super) fn queries(
    columns: &[&Column],
    workload: &Workload,
    rng: &mut dyn CryptoRng,
    watch: &dyn Watch,
) -> Result<(Vec<Query>, usize), EvaluateError> {
    check(columns, workload)?;
    let Workload { family, selectivity, .. } = *workload;
    let sensitive = columns.len() - 1;
    let is_usable = |&at: &usize| {
        let is_ordered = columns[at].domain().kind().is_ordered();
        !values(columns[at]).is_empty() && (family != Family::KeRange || is_ordered)
    };
    let mut quasi: Vec<usize> = (0..sensitive).filter(is_usable).collect();
    let has_sensitive = matches!(family, Family::Pa | Family::Angel);
    let most = quasi.len() + usize::from(has_sensitive);
    let dimensions = dimensions(workload, most)?;
    let exponent = match family {
        Family::Pa => dimensions + 1,
        Family::Angel | Family::KeRange | Family::KeArbitrary => dimensions,
    };
    let side = selectivity.powf(1.0 / exponent as f64);
    let draw = |column: usize, rng: &mut dyn CryptoRng| {
        let values = values(columns[column]);
        let share = values.len() as f64 * side;
        let is_code = workload.unordered.iter().any(|name| name == columns[column].name());
        let is_ordered = columns[column].domain().kind().is_ordered() && !is_code;
        let codes = match family {
            Family::Pa | Family::KeRange => interval(values, share.floor(), rng),
            Family::Angel if is_ordered => interval(values, share.ceil(), rng),
            Family::Angel | Family::KeArbitrary => any(values, share.ceil(), rng),
        };
        Condition { column, codes }
    };
    let mut query = || {
        watch.pause();
        quasi.shuffle(rng);
        let last = has_sensitive.then_some(sensitive);
        let mut chosen: Vec<usize> = quasi[..dimensions - usize::from(has_sensitive)].to_vec();
        chosen.extend(last);
        Query { conditions: chosen.into_iter().map(|column| draw(column, rng)).collect() }
    };
    Ok(((0..workload.queries).map(|_| query()).collect(), dimensions))
}

pub(super) fn check(columns: &[&Column], workload: &Workload) -> Result<(), EvaluateError> {
    let Workload { family, queries, selectivity, .. } = *workload;
    let refuse = |problem: String, hint: Remedy| Err(EvaluateError::Workload { problem, hint });
    let sensitive = columns[columns.len() - 1];
    if !(selectivity > 0.0 && selectivity <= 1.0) {
        return refuse(
            format!("a selectivity of {selectivity} is not above 0 and at most 1"),
            Remedy::from("for example ").knob(Knob::Selectivity, "0.05"),
        );
    }
    if queries == 0 || queries > MAX_QUERIES {
        return refuse(format!("{queries} questions cannot be asked"), "ask between one and a million".into());
    }
    if family.needs_numbers() && !sensitive.domain().kind().is_numeric() {
        return refuse(
            format!("`{}` holds no numbers, and {family} questions ask for sums and averages", sensitive.name()),
            either(Family::Pa, Family::Angel),
        );
    }
    if !family.needs_numbers() && values(sensitive).is_empty() {
        return refuse(format!("nobody has a value of `{}`", sensitive.name()), "there is nothing to ask about".into());
    }
    Ok(())
}

/// A hint to use one family or the other.
pub(super) fn either(one: Family, other: Family) -> Remedy {
    Remedy::from("use ").knob(Knob::Workload, one.name()).words(format!(" or {other}"))
}

fn dimensions(workload: &Workload, most: usize) -> Result<usize, EvaluateError> {
    let Workload { family, dimensions, .. } = *workload;
    let usual = match family {
        Family::Pa => 4,
        Family::KeRange => 1,
        Family::Angel | Family::KeArbitrary => most,
    };
    let wanted = dimensions.unwrap_or(usual.min(most));
    if most == 0 {
        let problem = format!("the release has no quasi attribute for {family} questions");
        return Err(EvaluateError::Workload { problem, hint: Remedy::from("use another ").knob(Knob::Workload, "") });
    }
    if wanted == 0 || wanted > most {
        let problem = format!("{family} questions about {wanted} attributes cannot be asked");
        let hint = Remedy::set(Knob::Dimensions, "").words(format!(" lies between 1 and {most} here"));
        return Err(EvaluateError::Workload { problem, hint });
    }
    Ok(wanted)
}

/// The codes of a column, except that of the missing value.
fn values(column: &Column) -> Range<Code> {
    Code::from(column.domain().has_missing())..column.domain().len() as Code
}

/// How many of the values to take: at least one and at most all.
fn clamped(values: &Range<Code>, n: f64) -> usize {
    // A cast from a float saturates.
    (n as usize).clamp(1, values.len())
}

fn interval(values: Range<Code>, n: f64, rng: &mut dyn CryptoRng) -> ChosenCodes {
    let n = clamped(&values, n);
    let first = values.start + rng.random_range(0..=values.len() - n) as Code;
    ChosenCodes::Interval(first..first + n as Code)
}

fn any(values: Range<Code>, n: f64, rng: &mut dyn CryptoRng) -> ChosenCodes {
    let n = clamped(&values, n);
    let mut codes: Vec<Code> = values.collect();
    let (chosen, _) = codes.partial_shuffle(rng, n);
    let mut chosen = chosen.to_vec();
    chosen.sort_unstable();
    ChosenCodes::Any(chosen)
}

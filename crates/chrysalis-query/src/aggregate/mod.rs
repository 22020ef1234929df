//! From hits to numbers: estimate, bounds and standard error (step 7 of `spec.md`).

mod average;
mod choice;
mod distinct;
mod extreme;
mod pairing;
mod quantile;
mod sum;
mod totals;
#[cfg(feature = "toy-function")]
mod toy;
mod variance;
mod weighted;

use crate::estimate::{Hit, variance_of_draw as group_variance};
use chrysalis_release::view::Groups;

use crate::code_test::CodeTest;
use crate::listed::Listed;
use crate::question::Function;
pub(crate) use choice::{Chosen, Pick, of_choices};
pub(crate) use pairing::{Factor, Paired, sum_of_products, weighted_mean};
pub(crate) use quantile::expected_quantile;
pub(crate) use weighted::WeightedSide;

/// What can be said about one aggregate. If no hit is possible, everything but a count is NULL.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) estimate: Option<f64>,
    pub(crate) lower: Option<f64>,
    pub(crate) upper: Option<f64>,
    pub(crate) std_error: Option<f64>,
}

impl Estimate {
    /// Clamps the estimate into its bounds. It can only lie outside them by rounding, or for MIN and MAX, where the
    /// expected number of hits stands in for the hits.
    pub(crate) fn inside(mut self) -> Self {
        if let (Some(estimate), Some(lower), Some(upper)) = (self.estimate, self.lower, self.upper) {
            self.estimate = Some(estimate.max(lower).min(upper));
        }
        self
    }
}

/// The sensitive values that count, in every group.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) groups: &'a Groups,
    /// Absent where only the numbers of rows matter.
    pub(crate) values: Option<&'a Listed<'a>>,
    /// Which values count; `None` is all of them.
    pub(crate) test: Option<&'a CodeTest>,
}

/// A group's part in an answer.
pub(crate) struct GroupHits {
    /// Rows.
    n: f64,
    /// Values that count.
    c: u32,
    /// The least and most hits among those values.
    least: u32,
    most: u32,
}

impl<'a> Side<'a> {
    pub(crate) fn group_hits(&self, hit: &Hit) -> GroupHits {
        let n = self.groups.size(hit.group as usize);
        let c = self.values.map_or(n, |values| values.count(hit.group as usize, self.test));
        // PROOF: at most n − c hits fall on other values, so at least least + c − n fall on these.
        let least = (u64::from(hit.least) + u64::from(c)).saturating_sub(u64::from(n)) as u32;
        GroupHits { n: f64::from(n), c, least, most: hit.most.min(c) }
    }

    /// How many values of a group count.
    pub(crate) fn count(&self, group: usize) -> u32 {
        self.values.map_or_else(|| self.groups.size(group), |values| values.count(group, self.test))
    }

    /// The numbers of a group that count, each with how often it occurs.
    pub(crate) fn numbers_of(&self, group: usize) -> impl Iterator<Item = (f64, u32)> + use<'a> {
        let (test, values) = (self.test, self.values);
        let numbers = move |listed: &'a Listed<'a>| {
            listed.passing(group, test).map(|(code, count)| (listed.values.numbers[code as usize], count))
        };
        values.into_iter().flat_map(numbers)
    }

    /// How many different values there are.
    pub(crate) fn n_values(&self) -> usize {
        self.values.map_or(0, |listed| listed.values.numbers.len())
    }

    /// The same with all values.
    pub(crate) fn without_test(self) -> Side<'a> {
        Side { test: None, ..self }
    }

    /// The numbers of a group that count, ascending, each with how often it occurs.
    fn numbers(&self, hit: &Hit, into: &mut Vec<(f64, u32)>) {
        into.clear();
        if let Some(listed) = self.values {
            let values = listed.passing(hit.group as usize, self.test);
            into.extend(values.map(|(code, count)| (listed.values.numbers[code as usize], count)));
        }
    }
}

pub(crate) fn aggregate(function: Function, side: Side<'_>, pieces: &[&[Hit]]) -> Estimate {
    match function {
        Function::Count => totals::count(side, pieces),
        Function::Sum => totals::sum(side, pieces),
        Function::Avg => average::average(side, pieces),
        Function::Min => extreme::extreme(side, pieces, 1.0),
        Function::Max => extreme::extreme(side, pieces, -1.0),
        // PROOF: a plan has only the five functions above; an inquiry answers the others from choices.
        Function::CountDistinct | Function::Quantile => Estimate::default(),
        Function::VarPop | Function::VarSamp | Function::StddevPop | Function::StddevSamp => Estimate::default(),
        #[cfg(feature = "toy-function")]
        Function::Toy => toy::toy(side, pieces),
    }
}

/// The most rows that can match. A combination of GROUP BY values where this is 0 is left out of the answer.
pub(crate) fn most(side: Side<'_>, pieces: &[&[Hit]]) -> u64 {
    pieces.iter().flat_map(|piece| piece.iter()).map(|hit| u64::from(side.group_hits(hit).most)).sum()
}

/// Mean and variance of z over a group's n rows: the given values, and 0 for all other rows.
fn moments(values: &[(f64, u32)], n: f64) -> (f64, f64) {
    let (mut sum, mut c) = (0.0, 0.0);
    for &(value, count) in values {
        sum += value * f64::from(count);
        c += f64::from(count);
    }
    let mean = sum / n;
    let squares: f64 = values.iter().map(|&(value, count)| (value - mean).powi(2) * f64::from(count)).sum();
    (mean, (squares + (n - c) * mean * mean) / n)
}

//! COUNT and SUM.

use rayon::prelude::*;

use super::sum::{Bound, Sum};
use super::{Estimate, Side, group_variance, moments};
use crate::estimate::Hit;

#[derive(Clone, Copy, Default)]
struct Totals {
    estimate: Sum,
    variance: Sum,
    lower: Bound,
    upper: Bound,
    /// The least and most hits.
    least: u64,
    most: u64,
}

impl Totals {
    /// Adds up pieces in parallel and then their sums in order, so the result is independent of the number of threads.
    fn over(pieces: &[&[Hit]], add: impl Fn(&mut Totals, &Hit, &mut Vec<(f64, u32)>) + Sync) -> Totals {
        let piece = |hits: &&[Hit]| {
            let (mut totals, mut values) = (Totals::default(), Vec::new());
            hits.iter().for_each(|hit| add(&mut totals, hit, &mut values));
            totals
        };
        let parts: Vec<Totals> = pieces.par_iter().map(piece).collect();
        let mut all = Totals::default();
        for part in parts {
            all.estimate.merge(part.estimate);
            all.variance.merge(part.variance);
            all.lower.merge(part.lower);
            all.upper.merge(part.upper);
            all.least += part.least;
            all.most += part.most;
        }
        all
    }
}

pub(super) fn count(side: Side<'_>, pieces: &[&[Hit]]) -> Estimate {
    let totals = Totals::over(pieces, |totals, hit, _| {
        let of_group = side.group_hits(hit);
        let mean = f64::from(of_group.c) / of_group.n;
        totals.estimate.add(hit.expected * mean);
        totals.variance.add(group_variance(hit, of_group.n, mean, mean * (1.0 - mean)));
        totals.least += u64::from(of_group.least);
        totals.most += u64::from(of_group.most);
    });
    Estimate {
        estimate: Some(totals.estimate.value()),
        lower: Some(totals.least as f64),
        upper: Some(totals.most as f64),
        std_error: Some(totals.variance.value().max(0.0).sqrt()),
    }
    .inside()
}

pub(super) fn sum(side: Side<'_>, pieces: &[&[Hit]]) -> Estimate {
    let totals = Totals::over(pieces, |totals, hit, values| {
        let of_group = side.group_hits(hit);
        if of_group.most == 0 {
            return;
        }
        side.numbers(hit, values);
        let (mean, variance) = moments(values, of_group.n);
        totals.estimate.add(hit.expected * mean);
        totals.variance.add(group_variance(hit, of_group.n, mean, variance));
        least_sum(&mut totals.lower, values.iter().copied(), of_group.least, of_group.most);
        let negated = values.iter().rev().map(|&(value, count)| (-value, count));
        least_sum(&mut totals.upper, negated, of_group.least, of_group.most);
        totals.most += u64::from(of_group.most);
    });
    if totals.most == 0 {
        return Estimate::default();
    }
    Estimate {
        estimate: Some(totals.estimate.value()),
        lower: Some(totals.lower.at_least()),
        // The greatest sum is the negated least sum of the negated values.
        upper: Some(-totals.upper.at_least() + 0.0),
        std_error: Some(totals.variance.value().max(0.0).sqrt()),
    }
    .inside()
}

/// Adds the least sum of between `least` and `most` of the values, which are ascending: takes values from the front as
/// long as they must be taken or make the sum smaller.
fn least_sum(sum: &mut Bound, values: impl Iterator<Item = (f64, u32)>, least: u32, most: u32) {
    let mut taken = 0;
    for (value, count) in values {
        let limit = if value < 0.0 { most } else { least };
        let more = count.min(limit.saturating_sub(taken));
        if more == 0 {
            break;
        }
        sum.add(value, more);
        taken += more;
    }
}

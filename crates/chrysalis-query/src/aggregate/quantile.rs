//! Quantiles with interpolation: MEDIAN and PERCENTILE_CONT (step 9b of `spec.md`).

use super::Estimate;
use super::choice::{Chosen, Pick, is_exact};

/// Sums of shares that differ by less than this part of the whole are taken for equal.
const NEAR: f64 = 1e-9;

pub(super) fn quantile(groups: &[Chosen], fraction: f64) -> Estimate {
    if groups.is_empty() {
        return Estimate::default();
    }
    if is_exact(groups) {
        let truth = exact(groups, fraction);
        return Estimate { estimate: truth, lower: truth, upper: truth, std_error: truth.map(|_| 0.0) };
    }
    let spread = Spread::new(groups);
    let estimate = spread.at(fraction);
    let deviation = |estimate: f64| {
        let below = |pick: &Pick| f64::from(u8::from(pick.middle() <= estimate)) - fraction;
        let variance: f64 = groups.iter().map(|group| group.variance(below)).sum();
        let error = variance.max(0.0).sqrt() / spread.total;
        let (low, high) = (spread.at((fraction - error).max(0.0)), spread.at((fraction + error).min(1.0)));
        low.zip(high).map_or(0.0, |(low, high)| (high - low) / 2.0)
    };
    Estimate {
        estimate,
        lower: lower(groups, fraction, 1.0),
        upper: lower(groups, 1.0 - fraction, -1.0).map(|lower| -lower + 0.0),
        std_error: estimate.map(deviation),
    }
    .inside()
}

/// The quantile of the values as often as they are expected to be hit.
pub(crate) fn expected_quantile(groups: &[Chosen], fraction: f64) -> Option<f64> {
    Spread::new(groups).at(fraction)
}

/// The quantile of values that are all known.
fn exact(groups: &[Chosen], fraction: f64) -> Option<f64> {
    let mut values: Vec<(f64, u64)> =
        groups.iter().flat_map(|group| group.picks.iter().map(|pick| (pick.low, u64::from(pick.count)))).collect();
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let n: u64 = values.iter().map(|(_, count)| count).sum();
    let rank = fraction * (n.checked_sub(1)? as f64);
    let at = |rank: f64| {
        let mut passed = 0;
        values.iter().find_map(|&(value, count)| {
            passed += count;
            (passed as f64 > rank).then_some(value)
        })
    };
    let (below, above) = (at(rank.floor())?, at(rank.ceil())?);
    Some(below + (above - below) * (rank - rank.floor()))
}

/// Values with how often they are expected to be hit, ascending.
struct Spread {
    values: Vec<(f64, f64)>,
    total: f64,
}

impl Spread {
    fn new(groups: &[Chosen]) -> Self {
        let mut values: Vec<(f64, f64)> = groups
            .iter()
            .flat_map(|group| {
                group.picks.iter().map(|pick| (pick.middle(), group.chance(pick) * f64::from(pick.count)))
            })
            .collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total = values.iter().map(|(_, weight)| weight).sum();
        Spread { values, total }
    }

    fn at(&self, fraction: f64) -> Option<f64> {
        let mut passed = 0.0;
        // Sums of shares that should be equal may differ in their last digits; rewritten statements do the same.
        let target = (fraction - NEAR) * self.total;
        let reached = self.values.iter().find(|(_, weight)| {
            passed += weight;
            passed >= target && *weight > 0.0
        });
        reached.or(self.values.last()).map(|(value, _)| *value).filter(|_| self.total > 0.0)
    }
}

/// The greatest value that the quantile cannot lie below; with a `sign` of −1 of the negated values.
///
/// PROOF: let B hits lie below v and A not. The value at rank ⌊p(N−1)⌋+1 is at least v where B ≤ p(N−1), that is where
/// (1−p)B − pA + p ≤ 0. Over all worlds the left side is greatest where every group has as few hits not below v as it
/// must, and then as many below v as it can. Where no hit can lie below v, nothing is to be shown.
fn lower(groups: &[Chosen], fraction: f64, sign: f64) -> Option<f64> {
    let near = |pick: &Pick| if sign > 0.0 { pick.low } else { -pick.high };
    let mut values: Vec<f64> = groups.iter().flat_map(|group| group.picks.iter().map(near)).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let holds = |value: f64| {
        let (mut below, mut others) = (0_u64, 0_u64);
        for group in groups {
            let (mut all, mut certain) = (0, 0);
            for pick in group.picks.iter().filter(|pick| near(pick) < value) {
                all += pick.count;
                certain += if pick.is_certain { pick.count } else { 0 };
            }
            let forced = group.must.saturating_sub(certain);
            others += u64::from(forced);
            below += u64::from(all.min(group.most - forced));
        }
        // The fraction itself is seldom a double, and neither engine computes its multiples exactly.
        let rounding = 1e-15 * (below + others) as f64;
        below == 0 || (1.0 - fraction) * below as f64 - fraction * others as f64 + fraction <= rounding
    };
    // PROOF: the more values lie below, the less it holds; the first value is below none.
    let first_that_fails = values.partition_point(|&value| holds(value));
    values.get(first_that_fails.saturating_sub(1)).copied()
}

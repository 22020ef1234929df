//! AVG.

use rayon::prelude::*;

use super::sum::{Bound, Sum};
use super::{Estimate, Side, group_variance, moments};
use crate::estimate::Hit;

/// The choices behind an extreme average: values that must be taken, and values that may be.
#[derive(Default)]
pub(super) struct Choice {
    sum: Bound,
    count: u64,
    optional: Vec<(f64, u32)>,
}

#[derive(Default)]
struct Piece {
    sum: Sum,
    count: Sum,
    low: Choice,
    high: Choice,
}

pub(super) fn average(side: Side<'_>, pieces: &[&[Hit]]) -> Estimate {
    let parts: Vec<Piece> = pieces.par_iter().map(|hits| gather(side, hits)).collect();
    let mut all = Piece::default();
    for part in parts {
        all.sum.merge(part.sum);
        all.count.merge(part.count);
        all.low.merge(part.low);
        all.high.merge(part.high);
    }
    let count = all.count.value();
    let ratio = (count > 0.0).then(|| all.sum.value() / count);
    Estimate {
        estimate: ratio,
        lower: all.low.least(),
        // `high` works on negated values.
        upper: all.high.least().map(|least| -least),
        std_error: ratio.map(|ratio| deviation(side, pieces, ratio) / count),
    }
    .inside()
}

fn gather(side: Side<'_>, hits: &[Hit]) -> Piece {
    let (mut piece, mut values) = (Piece::default(), Vec::new());
    for hit in hits {
        let of_group = side.group_hits(hit);
        if of_group.most == 0 {
            continue;
        }
        side.numbers(hit, &mut values);
        piece.sum.add(hit.expected * moments(&values, of_group.n).0);
        piece.count.add(hit.expected * f64::from(of_group.c) / of_group.n);
        piece.low.add(values.iter().copied(), of_group.least, of_group.most);
        piece.high.add(values.iter().rev().map(|&(value, count)| (-value, count)), of_group.least, of_group.most);
    }
    piece
}

impl Choice {
    /// Adds a value that is taken.
    pub(super) fn must_take(&mut self, value: f64) {
        self.sum.add(value, 1);
        self.count += 1;
    }

    /// Adds a value that may be taken or left.
    pub(super) fn may_take(&mut self, value: f64) {
        self.optional.push((value, 1));
    }

    /// Adds a value that is taken `times` times.
    pub(super) fn must_take_times(&mut self, value: f64, times: u32) {
        self.sum.add(value, times);
        self.count += u64::from(times);
    }

    /// Adds a value that may be taken up to `times` times.
    pub(super) fn may_take_times(&mut self, value: f64, times: u32) {
        self.optional.push((value, times));
    }

    /// `values` is ascending: the first `least` must be taken, the rest up to `most` may be.
    fn add(&mut self, values: impl Iterator<Item = (f64, u32)>, least: u32, most: u32) {
        let mut taken = 0;
        for (value, count) in values {
            let must = count.min(least.saturating_sub(taken));
            self.sum.add(value, must);
            self.count += u64::from(must);
            taken += must;
            let may = (count - must).min(most - taken);
            if may > 0 {
                self.optional.push((value, may));
                taken += may;
            }
            if taken == most {
                break;
            }
        }
    }

    pub(super) fn merge(&mut self, other: Choice) {
        self.sum.merge(other.sum);
        self.count += other.count;
        self.optional.extend(other.optional);
    }

    /// The least average. Within a run of equal values the running average moves in one direction only, so it is enough
    /// to look at it after each run.
    pub(super) fn least(mut self) -> Option<f64> {
        self.optional.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let (mut sum, mut count) = (self.sum, self.count);
        let mut least = (count > 0).then(|| sum.share_at_least(count));
        for (value, times) in self.optional {
            if least.is_some_and(|least| value >= least) {
                break;
            }
            sum.add(value, times);
            count += u64::from(times);
            let average = sum.share_at_least(count);
            least = Some(least.map_or(average, |least: f64| least.min(average)));
        }
        least
    }
}

/// The square root of the variance of Σ(y − R) over the hits.
fn deviation(side: Side<'_>, pieces: &[&[Hit]], ratio: f64) -> f64 {
    let piece = |hits: &&[Hit]| {
        let (mut sum, mut values) = (Sum::default(), Vec::new());
        for hit in hits.iter() {
            let of_group = side.group_hits(hit);
            side.numbers(hit, &mut values);
            values.iter_mut().for_each(|(value, _)| *value -= ratio);
            let (mean, variance) = moments(&values, of_group.n);
            sum.add(group_variance(hit, of_group.n, mean, variance));
        }
        sum
    };
    let parts: Vec<Sum> = pieces.par_iter().map(piece).collect();
    let mut all = Sum::default();
    parts.into_iter().for_each(|part| all.merge(part));
    all.value().max(0.0).sqrt()
}

//! MIN, and MAX as the minimum of the negated values.

use chrysalis_table::Code;
use rayon::prelude::*;

use super::{Estimate, Side};
use crate::estimate::Hit;

#[derive(Default)]
struct Piece {
    /// The least value that can be hit.
    near: Option<f64>,
    /// The least value that the minimum cannot exceed, because some group has too many certain hits to avoid it.
    certain: Option<f64>,
    /// The greatest value that can be hit.
    far: Option<f64>,
    /// For every value of every group: ln P(none of its copies is hit | no smaller value of the group is hit).
    misses: Vec<(Code, f64)>,
}

/// `sign` is 1 for the minimum and −1 for the maximum.
pub(super) fn extreme(side: Side<'_>, pieces: &[&[Hit]], sign: f64) -> Estimate {
    let Some(multisets) = side.values.map(|listed| listed.values) else { return Estimate::default() };
    let parts: Vec<Piece> = pieces.par_iter().map(|hits| gather(side, hits, sign)).collect();
    let (mut all, mut misses) =
        (Piece::default(), Misses::new(multisets.numbers.len(), parts.iter().map(|part| part.misses.len()).sum()));
    for part in parts {
        all.near = least(all.near, part.near);
        all.certain = least(all.certain, part.certain);
        all.far = least(all.far.map(|far| -far), part.far.map(|far| -far)).map(|far| -far);
        misses.add(part.misses);
    }
    let (Some(near), Some(far)) = (all.near, all.certain.or(all.far)) else { return Estimate::default() };
    let expected = misses.expectation(|code| sign * multisets.numbers[code as usize], sign);
    let estimate = expected.map(|(mean, _)| sign * mean);
    let (lower, upper) = if sign > 0.0 { (near, far) } else { (-far, -near) };
    let std_error = expected.map(|(_, deviation)| deviation);
    Estimate { estimate, lower: Some(lower), upper: Some(upper), std_error }.inside()
}

pub(super) fn least(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

fn gather(side: Side<'_>, hits: &[Hit], sign: f64) -> Piece {
    let mut piece = Piece::default();
    let Some(listed) = side.values else { return piece };
    let multisets = listed.values;
    let mut values: Vec<(Code, u32)> = Vec::new();
    for hit in hits {
        let of_group = side.group_hits(hit);
        if of_group.most == 0 {
            continue;
        }
        values.clear();
        values.extend(listed.passing(hit.group as usize, side.test));
        if sign < 0.0 {
            values.reverse();
        }
        let number = |code: Code| sign * multisets.numbers[code as usize];
        piece.near = least(piece.near, values.first().map(|(code, _)| number(*code)));
        let far = values.last().map(|(code, _)| -number(*code));
        piece.far = least(piece.far.map(|far| -far), far).map(|far| -far);
        if of_group.least > 0 {
            let rank = of_group.c - of_group.least + 1;
            piece.certain = least(piece.certain, value_at(&values, rank).map(number));
        }
        piece.misses.extend(misses(&values, of_group.n, hit.expected));
    }
    piece
}

/// Below this, the exponential of a logarithm is 0.
pub(super) const NEVER: f64 = -800.0;

/// For every value: ln P(no copy of it is hit | no smaller value is hit), until that is impossible.
fn misses(values: &[(Code, u32)], n: f64, expected: f64) -> Vec<(Code, f64)> {
    let (mut misses, mut rank, mut so_far) = (Vec::new(), 0.0, 0.0);
    for &(code, count) in values {
        let mut miss = 0.0;
        for _ in 0..count {
            rank += 1.0;
            let chance = expected / (n - rank + 1.0);
            miss += if chance >= 1.0 { f64::NEG_INFINITY } else { (-chance).ln_1p() };
            if so_far + miss < NEVER {
                break;
            }
        }
        misses.push((code, miss));
        so_far += miss;
        if so_far < NEVER {
            break;
        }
    }
    misses
}

/// The value at a rank, counted from 1.
fn value_at(values: &[(Code, u32)], rank: u32) -> Option<Code> {
    let mut passed = 0;
    values.iter().find_map(|&(code, count)| {
        passed += count;
        (passed >= rank).then_some(code)
    })
}

/// ln P(no copy is hit) per value, over all groups: one slot per code, or only the codes that occur if they are few.
pub(super) enum Misses {
    Dense(Vec<f64>),
    Sparse(Vec<(Code, f64)>),
}

impl Misses {
    /// For `n` misses of values with that many codes.
    pub(super) fn new(n_codes: usize, n: usize) -> Self {
        if n >= n_codes / 8 { Misses::Dense(vec![0.0; n_codes]) } else { Misses::Sparse(Vec::with_capacity(n)) }
    }

    pub(super) fn add(&mut self, misses: Vec<(Code, f64)>) {
        match self {
            Misses::Dense(all) => misses.into_iter().for_each(|(code, miss)| all[code as usize] += miss),
            Misses::Sparse(all) => all.extend(misses),
        }
    }

    /// Mean and standard deviation of the least value that is hit, given that at least one is hit.
    pub(super) fn expectation(self, number: impl Fn(Code) -> f64, sign: f64) -> Option<(f64, f64)> {
        let mut misses: Vec<(Code, f64)> = match self {
            Misses::Dense(all) => (0..).zip(all).collect(),
            Misses::Sparse(mut all) => {
                all.sort_by_key(|(code, _)| *code);
                all
            }
        };
        if sign < 0.0 {
            misses.reverse();
        }
        let mut log_missed = 0.0_f64;
        let mut chances: Vec<(f64, f64)> = Vec::new();
        for run in misses.chunk_by(|a, b| a.0 == b.0) {
            let miss: f64 = run.iter().map(|(_, miss)| miss).sum();
            if miss < 0.0 {
                chances.push((number(run[0].0), log_missed.exp() * -miss.exp_m1()));
                log_missed += miss;
            }
        }
        let total: f64 = chances.iter().map(|(_, chance)| chance).sum();
        if total <= 0.0 {
            return None;
        }
        // Relative to the first value, so that a single value comes out unchanged.
        let first = chances[0].0;
        let mean = first + chances.iter().map(|(value, chance)| (value - first) * chance).sum::<f64>() / total;
        let variance = chances.iter().map(|(value, chance)| (value - mean).powi(2) * chance).sum::<f64>() / total;
        Some((mean, variance.max(0.0).sqrt()))
    }
}

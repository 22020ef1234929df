//! From chances to estimates and standard errors (step 7 of `spec.md`).

use super::Asked;
use crate::aggregate::{Estimate, aggregate};
use crate::estimate::Hit;
use crate::question::Function;

/// How large an error of the model is, as a share of the error if all rows of all groups erred alike: where groups have
/// labels, and where rows have them.
pub(super) const ALIKE_IN_GROUPS: f64 = 0.16;
pub(super) const ALIKE_IN_ROWS: f64 = 0.1;

/// The share of the distance between both estimates that counts as an error of the model.
const DISTANCE: f64 = 0.12;

/// For every hit: how likely a row that counts is to be among the hits.
pub(super) struct Chances {
    of_hits: Vec<f64>,
    /// The share of the error if all rows erred alike.
    alike: f64,
}

impl Chances {
    /// From the chances of hits before conditions on other sensitive attributes, which thin them out evenly.
    pub(super) fn thinned(asked: &Asked<'_>, found: &[f64], alike: f64) -> Chances {
        let mut chances = asked.found.iter().flat_map(|piece| piece.iter()).zip(found);
        let chance = |hit: &Hit| {
            // PROOF: thinning leaves hits out and keeps their order.
            let whole = chances.by_ref().find(|(whole, _)| whole.group == hit.group);
            whole.map_or(0.0, |(whole, chance)| {
                let kept = if whole.expected > 0.0 { hit.expected / whole.expected } else { 0.0 };
                (chance * kept).clamp(0.0, 1.0)
            })
        };
        Chances { of_hits: asked.pieces.iter().flat_map(|piece| piece.iter()).map(chance).collect(), alike }
    }
}

/// The parts of a variance.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parts {
    /// If rows err independently of each other.
    pub(super) apart: f64,
    /// The standard deviation if all rows err alike.
    pub(super) alike: f64,
}

impl Parts {
    /// Rows of a group with this sum of numbers and of their squares, each of which is a hit with this chance.
    fn add(&mut self, squares: f64, sum: f64, chance: f64) {
        let spread = chance * (1.0 - chance);
        self.apart += squares * spread;
        self.alike += sum.abs() * spread.sqrt();
    }

    pub(super) fn variance(self, share: f64) -> f64 {
        self.apart + (share * self.alike).powi(2)
    }
}

pub(super) fn count(asked: &Asked<'_>, chances: &Chances) -> Estimate {
    let (mut estimate, mut parts) = (0.0, Parts::default());
    for (hit, &chance) in hits(asked).zip(&chances.of_hits) {
        let c = f64::from(asked.side.count(hit.group as usize));
        estimate += c * chance;
        parts.add(c, c, chance);
    }
    finished(asked, estimate, parts.variance(chances.alike))
}

/// SUM and AVG; `signed` are the chances of positive and of negative values.
pub(super) fn numbers(asked: &Asked<'_>, rows: &Chances, signed: [&Chances; 2]) -> Estimate {
    let (mut sum, mut count, mut parts) = (0.0, 0.0, Parts::default());
    let both = signed[0].of_hits.iter().zip(&signed[1].of_hits);
    for ((hit, &chance), (&up, &down)) in hits(asked).zip(&rows.of_hits).zip(both) {
        let (mut positive, mut negative, mut squares, mut n) = (0.0, 0.0, [0.0; 2], 0.0);
        for (number, times) in asked.side.numbers_of(hit.group as usize) {
            let times = f64::from(times);
            n += times;
            if number > 0.0 {
                positive += number * times;
                squares[0] += number * number * times;
            } else {
                negative += number * times;
                squares[1] += number * number * times;
            }
        }
        sum += positive * up + negative * down;
        count += n * chance;
        parts.add(squares[0], positive, up);
        parts.add(squares[1], negative, down);
    }
    if asked.planned.function == Function::Sum {
        return finished(asked, sum, parts.variance(rows.alike));
    }
    if count <= 0.0 {
        return asked.even;
    }
    let (ratio, mut parts) = (sum / count, Parts::default());
    for (hit, &chance) in hits(asked).zip(&rows.of_hits) {
        let (mut deviations, mut squares) = (0.0, 0.0);
        for (number, times) in asked.side.numbers_of(hit.group as usize) {
            let times = f64::from(times);
            deviations += (number - ratio) * times;
            squares += (number - ratio).powi(2) * times;
        }
        parts.add(squares, deviations, chance);
    }
    let parts = Parts { apart: parts.apart / (count * count), alike: parts.alike / count };
    finished(asked, ratio, parts.variance(rows.alike))
}

/// MIN and MAX: the learned chances stand in for the expected hits.
pub(super) fn extreme(asked: &Asked<'_>, chances: &Chances) -> Estimate {
    let mut next = chances.of_hits.iter();
    let learned = |hit: &Hit| {
        let n = hit.expected + hit.others;
        let expected = next.next().map_or(hit.expected, |chance| chance * n);
        Hit { expected, others: n - expected, ..*hit }
    };
    let hits: Vec<Hit> = asked.pieces.iter().flat_map(|piece| piece.iter()).map(learned).collect();
    aggregate(asked.planned.function, asked.side, &[&hits])
}

pub(super) fn hits<'s>(asked: &'s Asked<'_>) -> impl Iterator<Item = &'s Hit> {
    asked.pieces.iter().flat_map(|piece| piece.iter())
}

pub(super) fn finished(asked: &Asked<'_>, estimate: f64, variance: f64) -> Estimate {
    let even = asked.even;
    if !estimate.is_finite() {
        return even;
    }
    let learned = Estimate { estimate: Some(estimate), ..even }.inside();
    let moved = learned.estimate.zip(even.estimate).map_or(0.0, |(learned, even)| DISTANCE * (learned - even).abs());
    let error = (variance + moved * moved).sqrt();
    // No error is larger than half the distance between the bounds.
    let most = even.lower.zip(even.upper).map_or(f64::INFINITY, |(lower, upper)| (upper - lower) / 2.0);
    Estimate { std_error: Some(error.min(most)).filter(|error| error.is_finite()).or(even.std_error), ..learned }
}

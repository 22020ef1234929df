//! From chances to estimates and standard errors (step 7 of `spec.md`).

use super::Asked;
use crate::aggregate::{Estimate, Side, aggregate};
use crate::estimate::{Hit, variance_of_draw};
use crate::question::Function;

/// How far the log odds of being hit may be off in all groups alike, at least.
pub(super) const ALIKE: f64 = 0.12;

/// How much of the slope that hits and values have across groups may be missing inside them.
const ACROSS: f64 = 0.38;

/// How far the log odds may be off in each group apart from the others.
pub(super) const BY_GROUP: f64 = 0.9;

/// Groups that differ less than this are no evidence.
pub(super) const LEAST_DIFFERENCE: f64 = 0.05;

/// The share of the distance between both estimates that counts as an error of the model.
pub(super) const DISTANCE: f64 = 0.35;

/// For every hit: how likely a row that counts is to be among the hits.
#[derive(Debug)]
pub(super) struct Chances {
    pub(super) of_hits: Vec<f64>,
    /// For every hit: how much less hits vary because they are drawn from the rows of a batch.
    pub(super) drawn: Vec<f64>,
}

/// The rows of a group that count, and their numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moments {
    pub(super) rows: f64,
    /// The sizes of positive and of other numbers, added up, and their squares.
    pub(super) sums: [f64; 2],
    squares: [f64; 2],
}

impl Moments {
    pub(super) fn of(side: Side<'_>, group: usize, are_numbers: bool) -> Moments {
        let mut moments = Moments::default();
        if !are_numbers {
            moments.rows = f64::from(side.count(group));
            return moments;
        }
        side.numbers_of(group).for_each(|(number, times)| {
            let (sign, times) = (usize::from(number <= 0.0), f64::from(times));
            moments.rows += times;
            moments.sums[sign] += number.abs() * times;
            moments.squares[sign] += number * number * times;
        });
        moments
    }

    /// Those of the group of every hit.
    pub(super) fn of_hits(asked: &Asked<'_>) -> Vec<Moments> {
        let are_numbers = asked.planned.function != Function::Count;
        hits(asked).map(|hit| Moments::of(asked.side, hit.group as usize, are_numbers)).collect()
    }
}

/// The rows of all groups that count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    pub(super) total: f64,
    /// The sum of squared distances of rows that count (1, others 0) from the mean of each group.
    pub(super) inside: f64,
}

impl Chances {
    /// From the chances of hits before conditions on other sensitive attributes, which thin them out evenly.
    pub(super) fn thinned(asked: &Asked<'_>, found: &[f64]) -> Chances {
        let mut chances = asked.found.iter().flat_map(|piece| piece.iter()).zip(found);
        let chance = |hit: &Hit| {
            // PROOF: thinning leaves hits out and keeps their order.
            let whole = chances.by_ref().find(|(whole, _)| whole.group == hit.group);
            whole.map_or(0.0, |(whole, chance)| {
                let kept = if whole.expected > 0.0 { hit.expected / whole.expected } else { 0.0 };
                (chance * kept).clamp(0.0, 1.0)
            })
        };
        let of_hits: Vec<f64> = asked.pieces.iter().flat_map(|piece| piece.iter()).map(chance).collect();
        let drawn = vec![1.0; of_hits.len()];
        Chances { of_hits, drawn }
    }

    /// The same where values were dealt to the rows of a batch: a draw without replacement.
    pub(super) fn dealt(mut self, asked: &Asked<'_>) -> Chances {
        let drawn = |(hit, &chance): (&Hit, &f64)| {
            let n = f64::from(asked.side.groups.size(hit.group as usize));
            let share = f64::from(asked.side.count(hit.group as usize)) / n;
            let learned = Hit { expected: n * chance, others: n * (1.0 - chance), ..*hit };
            let alone = n * share * chance * (1.0 - chance);
            let drawn = variance_of_draw(&learned, n, share, share * (1.0 - share)) / alone;
            if drawn.is_finite() { drawn } else { 1.0 }
        };
        self.drawn = hits(asked).zip(&self.of_hits).map(drawn).collect();
        self
    }

    /// By how much log odds may be off in all groups alike: the more, the more hits and values go together across groups.
    /// Nothing is known about that where values were learned together.
    pub(super) fn tilt(&self, asked: &Asked<'_>, moments: &[Moments], counted: Option<Counted>) -> f64 {
        let groups = asked.side.groups;
        let (mut rows, mut inside, mut found) = (0.0, 0.0, 0.0);
        for ((hit, chance), moments) in hits(asked).zip(&self.of_hits).zip(moments) {
            let size = f64::from(groups.size(hit.group as usize));
            rows += size * chance;
            inside += size * chance * (1.0 - chance);
            found += moments.rows * chance;
        }
        let n = groups.n_rows() as f64;
        let slope = counted.map_or(0.0, |counted| {
            let of_hits = rows * (1.0 - rows / n);
            let of_counted = counted.total * (1.0 - counted.total / n);
            let differ = 1.0 - (inside / of_hits).min(counted.inside / of_counted);
            (found - rows * counted.total / n) * n / (of_hits * of_counted * differ.max(LEAST_DIFFERENCE))
        });
        ALIKE.hypot(if slope.is_finite() { ACROSS * slope } else { 0.0 })
    }
}

/// The parts of a variance.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parts {
    /// If rows err independently of each other.
    apart: f64,
    /// What the estimate changes by if log odds change by one in all groups, and the sum of the squares of what it
    /// changes by if they do so in one group alone, as they may.
    alike: f64,
    by_group: f64,
}

impl Parts {
    /// Rows of a group with this sum of sizes of numbers and of their squares, each of which is a hit with this chance;
    /// `drawn` is how much less they vary because they are drawn from a group.
    fn add(&mut self, squares: f64, sizes: f64, chance: f64, drawn: f64) {
        let spread = chance * (1.0 - chance) * drawn;
        self.apart += squares * spread;
        self.alike += sizes * spread;
        self.by_group += (sizes * spread).powi(2);
    }

    fn variance(self, tilt: f64) -> f64 {
        self.apart + (tilt * self.alike).powi(2) + BY_GROUP * BY_GROUP * self.by_group
    }
}

pub(super) fn count(asked: &Asked<'_>, chances: &Chances, counted: Option<Counted>) -> Estimate {
    let (mut estimate, mut parts) = (0.0, Parts::default());
    let moments = Moments::of_hits(asked);
    for ((moments, &chance), &drawn) in moments.iter().zip(&chances.of_hits).zip(&chances.drawn) {
        estimate += moments.rows * chance;
        parts.add(moments.rows, moments.rows, chance, drawn);
    }
    finished(asked, estimate, parts.variance(chances.tilt(asked, &moments, counted)))
}

/// SUM and AVG; `signed` are the chances of positive and of negative values, if there are any.
pub(super) fn numbers(
    asked: &Asked<'_>,
    rows: &Chances,
    signed: [Option<&Chances>; 2],
    counted: Option<Counted>,
) -> Estimate {
    let (mut sum, mut count, mut parts) = (0.0, 0.0, Parts::default());
    let moments = Moments::of_hits(asked);
    for (at, (moments, &drawn)) in moments.iter().zip(&rows.drawn).enumerate() {
        let [up, down] = signed.map(|chances| chances.map_or(0.0, |chances| chances.of_hits[at]));
        sum += moments.sums[0] * up - moments.sums[1] * down;
        count += moments.rows * rows.of_hits[at];
        parts.add(moments.squares[0], moments.sums[0], up, drawn);
        parts.add(moments.squares[1], moments.sums[1], down, drawn);
    }
    let tilt = rows.tilt(asked, &moments, counted);
    if asked.planned.function == Function::Sum {
        return finished(asked, sum, parts.variance(tilt));
    }
    if count <= 0.0 {
        return asked.even;
    }
    let (ratio, mut parts) = (sum / count, Parts::default());
    for ((hit, &chance), &drawn) in hits(asked).zip(&rows.of_hits).zip(&rows.drawn) {
        let (mut sizes, mut squares) = (0.0, 0.0);
        asked.side.numbers_of(hit.group as usize).for_each(|(number, times)| {
            let (away, times) = (number - ratio, f64::from(times));
            sizes += away.abs() * times;
            squares += away * away * times;
        });
        parts.add(squares, sizes, chance, drawn);
    }
    finished(asked, ratio, parts.variance(tilt) / (count * count))
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

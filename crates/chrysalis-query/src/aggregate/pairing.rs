//! Sums of products of a column that stands in its row with a sensitive one of which only the group is known, and
//! weighted means (step 9e of `spec.md`).

use super::Estimate;
use super::sum::Sum;

/// One group: every row has a factor, and is given one of the values.
#[derive(Clone, Debug)]
pub(crate) struct Paired {
    pub(crate) group: u32,
    /// The factors of the rows that may match: the least and the greatest they can count with, and the expected.
    pub(crate) factors: Vec<Factor>,
    /// The rows of the group.
    pub(crate) n: u32,
    /// The sensitive values that count, with how often they occur; all others count as 0.
    pub(crate) values: Vec<(f64, u32)>,
    /// How far factors and values may go together inside groups (step 9 of `learned/spec.md`); 0 if that is not asked.
    pub(crate) tilt: f64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Factor {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) expected: f64,
}

impl Factor {
    /// A row that matches for certain, or may match.
    pub(crate) fn new(factor: f64, is_certain: bool, chance: f64) -> Self {
        if is_certain {
            return Factor { low: factor, high: factor, expected: factor };
        }
        Factor { low: factor.min(0.0), high: factor.max(0.0), expected: factor * chance }
    }
}

impl Paired {
    fn is_exact(&self) -> bool {
        self.factors.iter().all(|factor| factor.low == factor.high)
    }

    /// The least Σ factor·(value − shift) over all ways to hand out the values; others count as 0.
    fn least(&self, sign: f64, shift: f64) -> f64 {
        let mut values: Vec<f64> = Vec::with_capacity(self.n as usize);
        for &(value, count) in &self.values {
            values.extend(std::iter::repeat_n(sign * (value - shift), count as usize));
        }
        values.resize(self.n as usize, 0.0);
        values.sort_by(f64::total_cmp);
        if self.is_exact() {
            return opposite(self.factors.iter().map(|factor| factor.low), &values);
        }
        // Factors that may be anything between two numbers: positive and negative parts apart.
        let part = |factor: &Factor, sign: f64| {
            let (a, b) = ((sign * factor.low).max(0.0), (sign * factor.high).max(0.0));
            (a.min(b), a.max(b))
        };
        let negated: Vec<f64> = values.iter().rev().map(|value| -value).collect();
        [(1.0, &values), (-1.0, &negated)]
            .into_iter()
            .map(|(sign, values)| {
                let gains: Vec<f64> = values.iter().map(|value| value.max(0.0)).collect();
                let losses: Vec<f64> = values.iter().map(|value| value.min(0.0)).collect();
                opposite(self.factors.iter().map(|factor| part(factor, sign).0), &gains)
                    + opposite(self.factors.iter().map(|factor| part(factor, sign).1), &losses)
            })
            .sum()
    }
}

/// The least sum of products: the greatest factor meets the least value (the rearrangement inequality). Rows without a
/// factor have the factor 0.
fn opposite(factors: impl Iterator<Item = f64>, ascending: &[f64]) -> f64 {
    let mut factors: Vec<f64> = factors.collect();
    factors.resize(ascending.len().max(factors.len()), 0.0);
    factors.sort_by(|a, b| b.total_cmp(a));
    let mut sum = Sum::default();
    factors.iter().zip(ascending).for_each(|(factor, value)| sum.add(factor * value));
    sum.value()
}

/// More than products and their sums can round; whole numbers do not round.
fn slack(groups: &[Paired]) -> f64 {
    let is_whole = |group: &Paired| {
        group.factors.iter().all(|factor| factor.low.fract() == 0.0 && factor.high.fract() == 0.0)
            && group.values.iter().all(|(value, _)| value.fract() == 0.0)
    };
    let size = |group: &Paired| {
        let factor = group.factors.iter().map(|factor| factor.low.abs().max(factor.high.abs())).fold(0.0, f64::max);
        let values: f64 = group.values.iter().map(|(value, count)| value.abs() * f64::from(*count)).sum();
        factor * values
    };
    let size = groups.iter().map(size).sum::<f64>();
    if size < 4e15 && groups.iter().all(is_whole) { 0.0 } else { size * 1e-14 }
}

/// Σ factor·value over the hits.
pub(crate) fn sum_of_products(groups: &[Paired]) -> Estimate {
    if groups.iter().all(|group| group.factors.is_empty() || group.values.is_empty()) {
        return Estimate::default();
    }
    let (mut estimate, mut total, mut leaning) = (Sum::default(), 0.0, 0.0);
    let (mut lower, mut upper) = (Sum::default(), Sum::default());
    for group in groups {
        let mut variance = 0.0;
        let n = f64::from(group.n);
        let factors: f64 = group.factors.iter().map(|factor| factor.expected).sum();
        let values: f64 = group.values.iter().map(|(value, count)| value * f64::from(*count)).sum();
        estimate.add(factors * values / n);
        lower.add(group.least(1.0, 0.0));
        upper.add(group.least(-1.0, 0.0));
        if group.n > 1 {
            let spread = |numbers: &mut dyn Iterator<Item = (f64, f64)>, sum: f64| {
                let (mut squares, mut rows) = (0.0, 0.0);
                for (number, count) in numbers {
                    squares += (number - sum / n).powi(2) * count;
                    rows += count;
                }
                squares + (n - rows).max(0.0) * (sum / n).powi(2)
            };
            let of_factors = spread(&mut group.factors.iter().map(|factor| (factor.expected, 1.0)), factors);
            let of_values = spread(&mut group.values.iter().map(|(value, count)| (*value, f64::from(*count))), values);
            variance += of_factors * of_values / (n - 1.0);
        }
        let mean_square = group.values.iter().map(|(value, count)| value * value * f64::from(*count)).sum::<f64>() / n;
        let of_rows: f64 =
            group.factors.iter().map(|factor| (factor.expected - factor.low) * (factor.high - factor.expected)).sum();
        variance += of_rows.max(0.0) * mean_square;
        total += variance;
        leaning += group.tilt * variance;
    }
    let slack = slack(groups);
    let (lower, upper) = (lower.value() - slack, -upper.value() + slack + 0.0);
    let error = total.max(0.0).sqrt();
    // What was learned says no more than the bounds do.
    let error = if leaning == 0.0 { error } else { error.hypot(leaning).min((upper - lower) / 2.0) };
    Estimate { estimate: Some(estimate.value()), lower: Some(lower), upper: Some(upper), std_error: Some(error) }
        .inside()
}

/// The least and the greatest Σ factor·value / Σ factor over the hits, where factors are known and none is negative.
///
/// PROOF: the mean is at least x in every world where Σ factor·(value − x) ≥ 0 there, so where the least of these sums is
/// not negative. That least falls as x rises, so the greatest such x is found by halving.
pub(crate) fn weighted_mean(groups: &[Paired]) -> Option<(f64, f64)> {
    let is_plain = |group: &Paired| group.is_exact() && group.factors.iter().all(|factor| factor.low >= 0.0);
    if !groups.iter().all(is_plain) {
        return None;
    }
    let values = || groups.iter().flat_map(|group| group.values.iter().map(|(value, _)| *value));
    let (least, most) = (values().min_by(f64::total_cmp)?, values().max_by(f64::total_cmp)?);
    let end = |sign: f64, from: f64, to: f64| {
        // In the order of `sign`, `from` comes first and is always reached.
        let (mut reached, mut beyond) = (from, to);
        for _ in 0..100 {
            let middle = reached / 2.0 + beyond / 2.0;
            if middle == reached || middle == beyond {
                break;
            }
            let mut sum = Sum::default();
            groups.iter().for_each(|group| sum.add(group.least(sign, middle)));
            if sum.value() >= 0.0 { reached = middle } else { beyond = middle }
        }
        reached
    };
    let slack = 1e-11 * (least.abs().max(most.abs()) + (most - least));
    Some((end(1.0, least, most) - slack, end(-1.0, most, least) + slack))
}

//! Which values may be hit, group by group, and what follows for any aggregate of them (step 9 of `spec.md`).

use super::Estimate;
use super::average::Choice;
use super::sum::{Bound, Sum};
use super::{distinct, quantile, variance};
use crate::estimate::Hit;
use crate::learned::{LearnedGroup, with_learned};
use crate::question::Function;

/// A value that may be hit, and how often it occurs in its group. Where only a range is known, it lies somewhere there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pick {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) count: u32,
    /// Whether its row matches on the quasi side for certain.
    pub(crate) is_certain: bool,
    /// The probabilities that its row matches on the quasi side, and that it does not.
    pub(crate) inside: f64,
    pub(crate) outside: f64,
}

impl Pick {
    /// A value that is known.
    pub(crate) fn known(value: f64, count: u32) -> Self {
        Pick { low: value, high: value, count, is_certain: true, inside: 1.0, outside: 0.0 }
    }

    pub(crate) fn middle(&self) -> f64 {
        if self.low == self.high { self.low } else { self.low / 2.0 + self.high / 2.0 }
    }
}

/// The values of one group: in every world, between `must` and `most` of them are hit, at least `must` of them among
/// those whose rows match for certain.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub(crate) picks: Vec<Pick>,
    /// The rows from which hits are drawn, and what is known about the draw.
    pub(crate) n: f64,
    pub(crate) drawn: Hit,
    pub(crate) must: u32,
    pub(crate) most: u32,
    /// What all groups together say about these values, where they stand in ranges.
    pub(crate) learned: Option<LearnedGroup>,
}

impl Chosen {
    /// `None` if none of the values can be hit.
    pub(crate) fn new(picks: Vec<Pick>, n: u32, drawn: Hit, must: u32, most: u32) -> Option<Self> {
        (most > 0 && !picks.is_empty()).then_some(Chosen { picks, n: f64::from(n), drawn, must, most, learned: None })
    }

    /// How often one copy of a value is expected to be hit.
    pub(crate) fn chance(&self, pick: &Pick) -> f64 {
        (pick.inside * self.drawn.expected / self.n).clamp(0.0, 1.0)
    }

    /// The expected sum of a number over the hits.
    pub(crate) fn expected(&self, number: impl Fn(&Pick) -> f64) -> f64 {
        self.picks.iter().map(|pick| number(pick) * f64::from(pick.count) * pick.inside).sum::<f64>()
            * (self.drawn.expected / self.n)
    }

    /// The variance of that sum (step 7a).
    pub(crate) fn variance(&self, number: impl Fn(&Pick) -> f64) -> f64 {
        let (n, Hit { expected, others, variance, .. }) = (self.n, self.drawn);
        let inside = |pick: &Pick| number(pick) * pick.inside;
        let sum: f64 = self.picks.iter().map(|pick| inside(pick) * f64::from(pick.count)).sum();
        let mean = sum / n;
        let rows: f64 = self.picks.iter().map(|pick| f64::from(pick.count)).sum();
        let squares = self.picks.iter().map(|pick| (inside(pick) - mean).powi(2) * f64::from(pick.count)).sum::<f64>()
            + (n - rows).max(0.0) * mean * mean;
        let of_boxes: f64 = self
            .picks
            .iter()
            .map(|pick| number(pick).powi(2) * pick.inside * pick.outside * f64::from(pick.count))
            .sum();
        let drawn = if n > 1.0 { ((expected * others - variance) / (n * (n - 1.0))).max(0.0) * squares } else { 0.0 };
        (expected / n * of_boxes + drawn + variance * mean * mean).max(0.0)
    }

    /// The values behind the least average or sum of `number`: those that must be taken, and those that may be.
    pub(super) fn choose(
        &self,
        number: impl Fn(&Pick) -> f64,
        mut must_take: impl FnMut(f64, u32),
        mut may_take: impl FnMut(f64, u32),
    ) {
        let mut sorted: Vec<(f64, &Pick)> = self.picks.iter().map(|pick| (number(pick), pick)).collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut must, mut may) = (self.must, self.most - self.must);
        for (value, pick) in sorted {
            let mut left = pick.count;
            if pick.is_certain && must > 0 {
                let taken = left.min(must);
                must_take(value, taken);
                must -= taken;
                left -= taken;
            }
            let taken = left.min(may);
            if taken > 0 {
                may_take(value, taken);
                may -= taken;
            }
        }
    }
}

/// How far all rows of a question may lean the same way inside their ranges, as a share of the width.
const LEAN: f64 = 0.1;

/// What is not known about values that lie somewhere in a range (step 9a of `spec.md`): the variance of their sum if every
/// row lies where it will, its deviation if all lean the same way, and the rows.
struct Unplaced {
    alone: f64,
    alike: f64,
    rows: f64,
}

impl Unplaced {
    fn of(groups: &[Chosen]) -> Self {
        let mut all = Unplaced { alone: 0.0, alike: 0.0, rows: 0.0 };
        for (group, pick) in groups.iter().flat_map(|group| group.picks.iter().map(move |pick| (group, pick))) {
            let (rows, width) = (group.chance(pick) * f64::from(pick.count), pick.high - pick.low);
            all.rows += rows;
            all.alone += rows * width * width / 12.0;
            all.alike += rows * width * LEAN;
        }
        all
    }

    /// Of a sum.
    fn variance(&self) -> f64 {
        self.alone + self.alike * self.alike
    }

    /// Of one value among them.
    fn of_one(&self, is_alone: bool) -> f64 {
        if self.rows > 0.0 {
            (self.alike / self.rows).powi(2) + if is_alone { self.alone / self.rows } else { 0.0 }
        } else {
            0.0
        }
    }
}

/// Adds a variance to a standard error.
fn with_variance(estimate: Estimate, more: f64) -> Estimate {
    let std_error = estimate.std_error.map(|error| if more > 0.0 { error.hypot(more.sqrt()) } else { error });
    Estimate { std_error, ..estimate }
}

/// Whether every world has the same hits, with known values.
pub(super) fn is_exact(groups: &[Chosen]) -> bool {
    groups.iter().all(|group| {
        let count: u32 = group.picks.iter().map(|pick| pick.count).sum();
        group.must == count && group.picks.iter().all(|pick| pick.is_certain && pick.low == pick.high)
    })
}

/// The least and the most hits.
pub(super) fn hits(groups: &[Chosen]) -> (u64, u64) {
    groups.iter().fold((0, 0), |(least, most), group| (least + u64::from(group.must), most + u64::from(group.most)))
}

/// What can be said about an aggregate of the values; `fraction` is the share below a quantile.
pub(crate) fn of_choices(function: Function, fraction: f64, groups: &[Chosen]) -> Estimate {
    with_learned(function, fraction, groups, spread_evenly(function, fraction, groups))
}

fn spread_evenly(function: Function, fraction: f64, groups: &[Chosen]) -> Estimate {
    match function {
        Function::Count => count(groups),
        Function::Sum => sum(groups),
        Function::Avg => average(groups),
        Function::Min => with_variance(extreme(groups, 1.0), Unplaced::of(groups).of_one(true)),
        Function::Max => with_variance(extreme(groups, -1.0), Unplaced::of(groups).of_one(true)),
        Function::CountDistinct => distinct::distinct(groups),
        Function::Quantile => with_variance(quantile::quantile(groups, fraction), Unplaced::of(groups).of_one(false)),
        Function::VarPop => variance::variance(groups, false),
        Function::VarSamp => variance::variance(groups, true),
        Function::StddevPop => variance::variance(groups, false).root(),
        Function::StddevSamp => variance::variance(groups, true).root(),
        #[cfg(feature = "toy-function")]
        Function::Toy => extreme(groups, -1.0),
    }
}

fn count(groups: &[Chosen]) -> Estimate {
    let (least, most) = hits(groups);
    let estimate = groups.iter().map(|group| group.expected(|_| 1.0)).sum();
    let variance: f64 = groups.iter().map(|group| group.variance(|_| 1.0)).sum();
    Estimate {
        estimate: Some(estimate),
        lower: Some(least as f64),
        upper: Some(most as f64),
        std_error: Some(variance.sqrt()),
    }
    .inside()
}

fn sum(groups: &[Chosen]) -> Estimate {
    if groups.is_empty() {
        return Estimate::default();
    }
    let (mut estimate, mut variance) = (Sum::default(), Sum::default());
    let (mut lower, mut upper) = (Bound::default(), Bound::default());
    for group in groups {
        estimate.add(group.expected(Pick::middle));
        variance.add(group.variance(Pick::middle));
        least_sum(group, |pick| pick.low, &mut lower);
        least_sum(group, |pick| -pick.high, &mut upper);
    }
    Estimate {
        estimate: Some(estimate.value()),
        lower: Some(lower.at_least()),
        upper: Some(-upper.at_least() + 0.0),
        std_error: Some((variance.value().max(0.0) + Unplaced::of(groups).variance()).sqrt()),
    }
    .inside()
}

/// PROOF: a set that is hit contains the `must` smallest of its values from rows that match for certain; exchanging these
/// for the smallest of all such values makes no sum greater, and of the others only negative values make it smaller.
fn least_sum(group: &Chosen, number: impl Fn(&Pick) -> f64, sum: &mut Bound) {
    let mut taken: Vec<(f64, u32)> = Vec::new();
    group.choose(
        number,
        |value, count| taken.push((value, count)),
        |value, count| {
            if value < 0.0 {
                sum.add(value, count);
            }
        },
    );
    taken.into_iter().for_each(|(value, count)| sum.add(value, count));
}

/// The least average of `number` over the hits, over all worlds with a hit.
pub(super) fn least_average(groups: &[Chosen], number: impl Fn(&Pick) -> f64) -> Option<f64> {
    let mut choice = Choice::default();
    for group in groups {
        let (mut must, mut may) = (Vec::new(), Vec::new());
        group.choose(&number, |value, count| must.push((value, count)), |value, count| may.push((value, count)));
        must.into_iter().for_each(|(value, count)| choice.must_take_times(value, count));
        may.into_iter().for_each(|(value, count)| choice.may_take_times(value, count));
    }
    choice.least()
}

fn average(groups: &[Chosen]) -> Estimate {
    let sum: f64 = groups.iter().map(|group| group.expected(Pick::middle)).sum();
    let count: f64 = groups.iter().map(|group| group.expected(|_| 1.0)).sum();
    let ratio = (count > 0.0).then(|| sum / count);
    let deviation = |ratio: f64| {
        let hits = groups.iter().map(|group| group.variance(|pick| pick.middle() - ratio)).sum::<f64>().max(0.0);
        (hits + Unplaced::of(groups).variance()).sqrt() / count
    };
    Estimate {
        estimate: ratio,
        lower: least_average(groups, |pick| pick.low),
        upper: least_average(groups, |pick| -pick.high).map(|least| -least + 0.0),
        std_error: ratio.map(deviation),
    }
    .inside()
}

/// The minimum, or with a `sign` of −1 the maximum.
fn extreme(groups: &[Chosen], sign: f64) -> Estimate {
    let near = |pick: &Pick| if sign > 0.0 { pick.low } else { -pick.high };
    let far = |pick: &Pick| if sign > 0.0 { pick.high } else { -pick.low };
    let picks = || groups.iter().flat_map(|group| group.picks.iter().map(move |pick| (group, pick)));
    let Some(least) = picks().map(|(_, pick)| near(pick)).min_by(f64::total_cmp) else { return Estimate::default() };
    let most = picks().map(|(_, pick)| far(pick)).max_by(f64::total_cmp).unwrap_or(least);
    let certain = groups.iter().filter(|group| group.must > 0).filter_map(|group| {
        // Of `must` hits among the certain ones, the least is at most the value at this rank from above.
        let mut values: Vec<(f64, u32)> =
            group.picks.iter().filter(|pick| pick.is_certain).map(|pick| (far(pick), pick.count)).collect();
        values.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut passed = 0;
        values.into_iter().find_map(|(value, count)| {
            passed += count;
            (passed >= group.must).then_some(value)
        })
    });
    let most = certain.min_by(f64::total_cmp).unwrap_or(most);
    // P(no smaller value is hit), as if values were hit independently.
    let mut sorted: Vec<(f64, f64)> = picks()
        .map(|(group, pick)| (sign * pick.middle(), (1.0 - group.chance(pick)).powf(f64::from(pick.count))))
        .collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut missed, mut mass, mut mean, mut square) = (1.0, 0.0, 0.0, 0.0);
    let origin = sorted[0].0;
    for (value, miss) in sorted {
        let here = missed * (1.0 - miss);
        mass += here;
        mean += here * (value - origin);
        square += here * (value - origin).powi(2);
        missed *= miss;
        if missed < 1e-300 {
            break;
        }
    }
    let estimate = (mass > 0.0).then(|| sign * (origin + mean / mass));
    let std_error = (mass > 0.0).then(|| (square / mass - (mean / mass).powi(2)).max(0.0).sqrt());
    let (lower, upper) = if sign > 0.0 { (least, most) } else { (-most, -least) };
    Estimate { estimate, lower: Some(lower + 0.0), upper: Some(upper + 0.0), std_error }.inside()
}

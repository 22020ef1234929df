//! Aggregates of numbers that stand in ranges, from all groups together (step 8 of `spec.md`).

use std::sync::Arc;

use chrysalis_release::Detail;
use chrysalis_table::{Code, Value};

use super::positions::{Positions, Scale};
use super::totals::{ALIKE, BY_GROUP, DISTANCE, Moments};
use super::{Asked, Learned, Learner};
use crate::PlannedAggregate;
use crate::aggregate::{Chosen, Estimate, Pick, Side};
use crate::estimate::Hit;
use crate::question::Function;

/// How far all rows of a question may lean the same way inside their ranges, in standard deviations of one row: at least, and
/// how much more in a range as wide as all values together.
const LEAN: f64 = 0.05;
const LEAN_WHERE_WIDE: f64 = 0.3;

/// By how much more than a mean the spread around it is off.
const SPREAD: f64 = 1.2;

/// Sums of shares that differ by less than this part of the whole are taken for equal.
const NEAR: f64 = 1e-9;

/// The rows of one row of an answer.
pub(crate) struct LearnedRows<'l> {
    learner: &'l Learner<'l>,
    learned: Arc<Learned>,
    share: Box<dyn Fn(usize) -> f64 + 'l>,
    /// By how much the log odds of being hit may be off in all groups alike.
    tilt: f64,
}

/// What is learned about a value that may be hit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LearnedPick {
    /// The probability that its row matches on the quasi side.
    pub(crate) chance: f64,
    pub(crate) mean: f64,
    pub(crate) variance: f64,
    place: usize,
}

impl LearnedPick {
    /// What the row is expected to add to a sum.
    pub(crate) fn expected(&self) -> f64 {
        self.chance * self.mean
    }
}

/// What is learned about the values of one group, in their order.
#[derive(Clone, Debug)]
pub(crate) struct LearnedGroup {
    picks: Vec<LearnedPick>,
    positions: Arc<Positions>,
    tilt: f64,
}

impl<'a> Learner<'a> {
    /// The rows of one row of an answer with these hits.
    pub(crate) fn rows<'l>(
        &'l self,
        side: Side<'_>,
        value: Option<Code>,
        group: &[Option<Value>],
        (found, pieces): (&[&[Hit]], &[&[Hit]]),
    ) -> LearnedRows<'l>
    where
        'a: 'l,
    {
        let planned = PlannedAggregate {
            name: String::new(),
            has_alias: false,
            function: Function::Count,
            field: None,
            condition: 0,
            set: self.plan.sensitive_set.clone(),
        };
        let even = Estimate::default();
        let at = self.plan.aggregates.len();
        let asked = Asked { at, planned: &planned, side, value, group, found, pieces, even };
        let learned = self.learned(&asked);
        let admitted = self.admitted(0, group);
        let chances = self.in_boxes(&asked, &admitted, &learned.rows);
        let tilt = chances.tilt(&asked, &Moments::of_hits(&asked), learned.counted);
        let share = Box::new(self.share(&admitted, &learned.rows));
        LearnedRows { learner: self, learned, share, tilt }
    }
}

impl LearnedRows<'_> {
    /// Where in their labels these rows are.
    pub(crate) fn positions(&self, scale: &Arc<Scale>) -> Arc<Positions> {
        Arc::new(self.learner.positions(scale, &self.learned))
    }

    /// A row at a place, which matches with this chance if rows are spread evenly.
    pub(crate) fn pick(&self, place: usize, even: f64, positions: &Positions) -> LearnedPick {
        let position = positions.of(place);
        let share = (self.share)(place);
        // Which bucket a row is in cannot be told, so half of it stays even.
        let share = if self.learner.plan.shape.detail == Detail::RowBoxes { f64::midpoint(share, even) } else { share };
        LearnedPick { chance: share * position.share, mean: position.mean, variance: position.variance, place }
    }

    pub(crate) fn group(&self, picks: Vec<LearnedPick>, positions: &Arc<Positions>) -> LearnedGroup {
        LearnedGroup { picks, positions: Arc::clone(positions), tilt: self.tilt }
    }
}

/// A value with how many rows are expected to be hit with it.
#[derive(Clone, Copy)]
struct Expected {
    chance: f64,
    rows: f64,
    mean: f64,
    variance: f64,
}

impl Expected {
    /// How far it may lean: the narrower its range is beside all values, the better it is known from other ranges where in
    /// it rows are.
    fn lean(&self, deviation: f64) -> f64 {
        let own = self.variance.sqrt();
        if deviation > 0.0 { own * (LEAN + LEAN_WHERE_WIDE * (own / deviation).min(1.0)) } else { 0.0 }
    }
}

impl Chosen {
    /// What is known about its values, with everything that was learned.
    fn each_expected(&self) -> impl Iterator<Item = Expected> + '_ {
        let thinned = self.drawn.expected / self.n;
        // Where all rows are alike it does not matter which of them sensitive conditions leave.
        let are_alike = self.picks.len() == 1;
        let one = move |(at, pick): (usize, &Pick)| {
            let rows = f64::from(pick.count);
            match self.learned.as_ref().map(|learned| learned.picks[at]) {
                Some(LearnedPick { chance, mean, variance, .. }) if are_alike => {
                    Expected { chance: chance.clamp(0.0, 1.0), rows: rows * thinned, mean, variance }
                }
                Some(LearnedPick { chance, mean, variance, .. }) => {
                    Expected { chance: (chance * thinned).clamp(0.0, 1.0), rows, mean, variance }
                }
                None => Expected {
                    chance: self.chance(pick),
                    rows,
                    mean: pick.middle(),
                    variance: (pick.high - pick.low).powi(2) / 12.0,
                },
            }
        };
        self.picks.iter().enumerate().map(one)
    }
}

/// What is expected of a sum of numbers over the hits, and the parts of its variance.
#[derive(Default)]
struct Total {
    count: f64,
    sum: f64,
    apart: f64,
    alike: f64,
    by_group: f64,
    /// Because of where in their ranges rows are: apart from each other, and if all lean the same way.
    placed: f64,
    leaning: f64,
}

impl Total {
    /// Of a number that each value stands for, and how fast it grows with the value; `deviation` is that of all values.
    fn of(groups: &[Chosen], deviation: f64, number: impl Fn(&Expected) -> (f64, f64)) -> Total {
        let mut total = Total::default();
        for group in groups {
            let mut in_group = 0.0;
            for expected in group.each_expected() {
                let (number, slope) = number(&expected);
                let hits = expected.chance * expected.rows;
                let open = hits * (1.0 - expected.chance);
                total.count += hits;
                total.sum += hits * number;
                total.apart += open * number * number;
                in_group += open * number;
                total.placed += hits * slope * slope * expected.variance;
                total.leaning += hits * slope.abs() * expected.lean(deviation);
            }
            total.alike += in_group * group.learned.as_ref().map_or(ALIKE, |learned| learned.tilt);
            total.by_group += in_group * in_group;
        }
        total
    }

    fn of_hits(&self) -> f64 {
        self.apart + self.alike * self.alike + BY_GROUP * BY_GROUP * self.by_group
    }

    fn variance(&self) -> f64 {
        self.of_hits() + self.placed + self.leaning.powi(2)
    }
}

/// The estimate and the standard error with everything that was learned, inside the bounds.
pub(crate) fn with_learned(function: Function, fraction: f64, groups: &[Chosen], even: Estimate) -> Estimate {
    if groups.iter().all(|group| group.learned.is_none()) || even.estimate.is_none() || even.lower == even.upper {
        return even;
    }
    let plain = Total::of(groups, 0.0, |value| (value.mean, 1.0));
    if plain.count <= 0.0 {
        return even;
    }
    let average = plain.sum / plain.count;
    let squared = |value: &Expected| (value.mean - average).powi(2) + value.variance;
    let population = Total::of(groups, 0.0, |value| (squared(value), 0.0)).sum / plain.count;
    let of = |number: &dyn Fn(&Expected) -> (f64, f64)| Total::of(groups, population.max(0.0).sqrt(), number);
    let (estimate, variance) = match function {
        Function::Sum => (plain.sum, of(&|value| (value.mean, 1.0)).variance()),
        Function::Avg => (average, of(&|value| (value.mean - average, 1.0)).variance() / plain.count.powi(2)),
        Function::Quantile => {
            let Some(found) = quantile(groups, population.max(0.0).sqrt(), fraction) else { return even };
            found
        }
        Function::VarPop | Function::VarSamp | Function::StddevPop | Function::StddevSamp => {
            let is_sample = matches!(function, Function::VarSamp | Function::StddevSamp);
            let around = |value: &Expected| (squared(value) - population, 2.0 * SPREAD * squared(value).sqrt());
            let variance = of(&around).variance() / plain.count.powi(2);
            let scale = if is_sample && plain.count > 1.0 { plain.count / (plain.count - 1.0) } else { 1.0 };
            let (found, variance) = (population * scale, variance * scale * scale);
            match function {
                // The standard error of a root, by the delta method.
                Function::StddevPop | Function::StddevSamp if found > 0.0 => (found.sqrt(), variance / (4.0 * found)),
                Function::StddevPop | Function::StddevSamp => return even,
                _ => (found, variance),
            }
        }
        _ => return even,
    };
    finished(even, estimate, variance)
}

/// A quantile, and the variance of what it is off.
fn quantile(groups: &[Chosen], deviation: f64, fraction: f64) -> Option<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    // Groups of one operand share their positions.
    for run in groups.chunk_by(|a, b| a.shares_positions(b)) {
        match run.first().and_then(|group| group.learned.as_ref()) {
            Some(learned) => {
                let hits = run.iter().flat_map(|group| {
                    let places = group.learned.iter().flat_map(|learned| learned.picks.iter().map(|pick| pick.place));
                    places.zip(group.each_expected()).map(|(place, it)| (place, it.chance * it.rows))
                });
                points.extend(learned.positions.points(hits));
            }
            None => points
                .extend(run.iter().flat_map(|group| group.each_expected().map(|it| (it.mean, it.chance * it.rows)))),
        }
    }
    points.retain(|(_, hits)| *hits > 0.0);
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = points.iter().map(|(_, hits)| hits).sum();
    let at = |fraction: f64| {
        let mut passed = 0.0;
        let target = (fraction.clamp(0.0, 1.0) - NEAR) * total;
        let reached = points.iter().find(|(_, hits)| {
            passed += hits;
            passed >= target
        });
        reached.or(points.last()).map(|(value, _)| *value)
    };
    let estimate = at(fraction)?;
    // How likely a row is to be below, as if its number were normal about its mean.
    let below = |it: &Expected| {
        let share = match it.variance.sqrt() {
            deviation if deviation > 0.0 => logistic(1.7 * (estimate - it.mean) / deviation),
            _ => f64::from(u8::from(it.mean <= estimate)),
        };
        (share, share * (1.0 - share))
    };
    let hits = Total::of(groups, 0.0, |it| (below(it).0 - fraction, 0.0)).of_hits();
    // Rows that are certainly below or above do not move it.
    let (mut reaching, mut leaning) = (0.0, 0.0);
    for it in groups.iter().flat_map(Chosen::each_expected) {
        let rows = it.chance * it.rows * below(&it).1;
        reaching += rows;
        leaning += rows * it.lean(deviation);
    }
    let off = (hits + reaching).sqrt() / total;
    let spread = (at(fraction + off)? - at(fraction - off)?) / 2.0;
    let lean = if reaching > 0.0 { leaning / reaching } else { 0.0 };
    Some((estimate, spread * spread + lean * lean))
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl Chosen {
    fn shares_positions(&self, other: &Chosen) -> bool {
        match (&self.learned, &other.learned) {
            (Some(a), Some(b)) => Arc::ptr_eq(&a.positions, &b.positions),
            (None, None) => true,
            _ => false,
        }
    }
}

fn finished(even: Estimate, estimate: f64, variance: f64) -> Estimate {
    if !estimate.is_finite() {
        return even;
    }
    let learned = Estimate { estimate: Some(estimate), ..even }.inside();
    let moved = learned.estimate.zip(even.estimate).map_or(0.0, |(learned, even)| DISTANCE * (learned - even).abs());
    let error = variance.max(0.0).sqrt().hypot(moved);
    // No error is larger than half the distance between the bounds.
    let most = even.lower.zip(even.upper).map_or(f64::INFINITY, |(lower, upper)| (upper - lower) / 2.0);
    Estimate { std_error: Some(error.min(most)).filter(|error| error.is_finite()).or(even.std_error), ..learned }
}

//! Aggregates of numbers that stand in ranges, from all groups together (step 8 of `spec.md`).

use std::sync::Arc;

use chrysalis_release::Detail;
use chrysalis_table::{Code, Value};

use super::positions::{Positions, Scale};
use super::totals::{ALIKE, BY_GROUP, Chances, DISTANCE, Moments};
use super::{Asked, Learned, Learner, Spreads};
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

/// The part of what log odds may be off that counts for squares of distances of sensitive values.
const SQUARES: f64 = 0.6;

/// Sums of shares that differ by less than this part of the whole are taken for equal.
const NEAR: f64 = 1e-9;

/// The rows of one row of an answer.
pub(crate) struct LearnedRows<'l> {
    learner: &'l Learner<'l>,
    learned: Arc<Learned>,
    share: Box<dyn Fn(usize) -> f64 + 'l>,
    /// By how much the log odds of being hit may be off in all groups alike.
    pub(super) tilt: f64,
    pub(super) hits: HitValues<'l>,
    /// For every hit: how likely a row that counts is to be among the hits.
    pub(super) chances: Arc<Chances>,
}

/// The hits of one row of an answer, and which values count.
#[derive(Clone, Copy)]
pub(crate) struct HitValues<'l> {
    pub(crate) side: Side<'l>,
    /// Values of sensitive attributes in GROUP BY, as in [`Asked`].
    pub(crate) value: Option<Code>,
    pub(crate) together: Option<Code>,
    pub(crate) group: &'l [Option<Value>],
    /// Hits before conditions on other sensitive attributes and after.
    pub(crate) found: &'l [&'l [Hit]],
    pub(crate) pieces: &'l [&'l [Hit]],
}

/// What is learned about a value in a range that may be hit.
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

/// What is learned about the values of one group.
#[derive(Clone, Debug)]
pub(crate) struct LearnedGroup {
    values: LearnedValues,
    /// By how much log odds may be off in all groups alike; for draws, per unit of the number that a function adds up.
    tilt: f64,
}

/// What is learned about the values of one group, in their order.
#[derive(Clone, Debug)]
enum LearnedValues {
    /// Numbers that stand in ranges.
    Ranges { picks: Vec<LearnedPick>, positions: Arc<Positions> },
    /// Sensitive values: how likely a row with each of them is to be hit, and how much less hits vary because they are
    /// drawn from the rows of a batch.
    Chances { chances: Vec<f64>, drawn: f64 },
    /// Hits are a draw from rows whose numbers are known; nothing moves the even estimate.
    Draw,
}

impl LearnedGroup {
    pub(super) fn of_chances(chances: Vec<f64>, drawn: f64, tilt: f64) -> Self {
        LearnedGroup { values: LearnedValues::Chances { chances, drawn }, tilt }
    }

    pub(crate) fn draw(tilt: f64) -> Self {
        LearnedGroup { values: LearnedValues::Draw, tilt }
    }

    fn is_draw(&self) -> bool {
        matches!(self.values, LearnedValues::Draw)
    }

    fn positions(&self) -> Option<&Arc<Positions>> {
        if let LearnedValues::Ranges { positions, .. } = &self.values { Some(positions) } else { None }
    }
}

impl<'a> Learner<'a> {
    /// The rows of one row of an answer with these hits.
    pub(crate) fn rows<'l>(&'l self, hits: HitValues<'l>) -> LearnedRows<'l>
    where
        'a: 'l,
    {
        let planned = self.counting();
        let asked = self.asked(hits, &planned);
        let learned = self.learned(&asked);
        let admitted = self.admitted(0, hits.group);
        let chances = self.in_boxes(&asked, &admitted, &learned.rows);
        let tilt = chances.tilt(&asked, &Moments::of_hits(&asked), learned.counted);
        let share = Box::new(self.share(&admitted, &learned.rows));
        LearnedRows { learner: self, learned, share, tilt, hits, chances: Arc::new(chances) }
    }

    /// A count of the rows that the condition admits.
    fn counting(&self) -> PlannedAggregate {
        PlannedAggregate {
            name: String::new(),
            has_alias: false,
            function: Function::Count,
            field: None,
            condition: 0,
            set: self.plan.sensitive_set.clone(),
        }
    }

    fn asked<'l>(&self, hits: HitValues<'l>, planned: &'l PlannedAggregate) -> Asked<'l> {
        let HitValues { side, value, together, group, found, pieces } = hits;
        let (at, even) = (self.plan.aggregates.len(), Estimate::default());
        Asked { at, planned, side, value, together, group, found, pieces, even }
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
        LearnedGroup { values: LearnedValues::Ranges { picks, positions: Arc::clone(positions) }, tilt: self.tilt }
    }

    pub(super) fn has_sensitive_key(&self) -> bool {
        self.learner.plan.sensitive_key().is_some()
    }

    /// The chances of the same hits under other distributions.
    pub(super) fn chances_under(&self, learned: &[Arc<Spreads>]) -> Vec<Chances> {
        let learner = self.learner;
        let planned = learner.counting();
        let asked = learner.asked(self.hits, &planned);
        let admitted = learner.admitted(0, self.hits.group);
        learned.iter().map(|spreads| learner.in_boxes(&asked, &admitted, spreads)).collect()
    }

    /// Learns from masses of groups, starting from where the rows were found.
    pub(super) fn spreads(&self, mass: impl Fn(usize) -> f64) -> Spreads {
        self.learner.spreads(mass, Some(&self.learned.rows))
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
        let are_alike = self.are_alike();
        let one = move |(at, pick): (usize, &Pick)| {
            let rows = f64::from(pick.count);
            match self.learned.as_ref().map(|learned| &learned.values) {
                Some(LearnedValues::Ranges { picks, .. }) => {
                    let LearnedPick { chance, mean, variance, .. } = picks[at];
                    if are_alike {
                        Expected { chance: chance.clamp(0.0, 1.0), rows: rows * thinned, mean, variance }
                    } else {
                        Expected { chance: (chance * thinned).clamp(0.0, 1.0), rows, mean, variance }
                    }
                }
                Some(LearnedValues::Chances { chances, .. }) => {
                    Expected { chance: chances[at], rows, mean: pick.middle(), variance: 0.0 }
                }
                Some(LearnedValues::Draw) | None => Expected {
                    chance: self.chance(pick),
                    rows,
                    mean: pick.middle(),
                    variance: (pick.high - pick.low).powi(2) / 12.0,
                },
            }
        };
        self.picks.iter().enumerate().map(one)
    }

    /// Whether all rows are alike, so that it does not matter which of them sensitive conditions leave.
    fn are_alike(&self) -> bool {
        matches!(self.picks.as_slice(), [only] if f64::from(only.count) == self.n)
    }

    /// The variance of the sum of a number over the hits if groups do not err together, and what the sum changes by if all
    /// log odds (for draws: per unit of the number) change by one.
    fn parts(&self, number: &impl Fn(&Expected) -> f64) -> (f64, f64) {
        let open = |it: &Expected| it.chance * it.rows * (1.0 - it.chance);
        match self.learned.as_ref().map(|learned| &learned.values) {
            Some(LearnedValues::Ranges { picks, .. }) => {
                let shift: f64 = self.each_expected().map(|it| open(&it) * number(&it)).sum();
                let numbers: Vec<f64> = self.each_expected().map(|it| number(&it)).collect();
                let chances = picks.iter().map(|pick| pick.chance.clamp(0.0, 1.0));
                (self.variance_of(numbers.into_iter().zip(chances)), shift)
            }
            Some(LearnedValues::Chances { drawn, .. }) => {
                let add = |(apart, shift): (f64, f64), it: Expected| {
                    let (number, open) = (number(&it), open(&it) * drawn);
                    (apart + open * number * number, shift + open * number.abs())
                };
                self.each_expected().fold((0.0, 0.0), add)
            }
            Some(LearnedValues::Draw) => {
                let of_pick = |pick: &Pick| {
                    let rows = f64::from(pick.count);
                    number(&Expected { chance: self.chance(pick), rows, mean: pick.middle(), variance: 0.0 })
                };
                let variance = self.variance(of_pick);
                (variance, variance)
            }
            None => {
                let add = |(apart, shift): (f64, f64), it: Expected| {
                    let (number, open) = (number(&it), open(&it));
                    (apart + open * number * number, shift + open * number)
                };
                self.each_expected().fold((0.0, 0.0), add)
            }
        }
    }

    /// Step 7a of `../spec.md`: the variance of a sum over the hits, if values with these numbers match on the quasi side
    /// with these chances, and a draw decides which of them satisfy sensitive conditions.
    fn variance_of(&self, values: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
        let (n, Hit { expected, others, variance, .. }) = (self.n, self.drawn);
        let counted = || self.picks.iter().map(|pick| f64::from(pick.count)).zip(values.clone());
        let rows: f64 = counted().map(|(rows, _)| rows).sum();
        let mean = counted().map(|(rows, (number, chance))| rows * number * chance).sum::<f64>() / n;
        let of_boxes: f64 = counted().map(|(rows, (number, p))| rows * number * number * p * (1.0 - p)).sum();
        let squares = counted().map(|(rows, (number, p))| rows * (number * p - mean).powi(2)).sum::<f64>()
            + (n - rows).max(0.0) * mean * mean;
        let drawn = if n > 1.0 { ((expected * others - variance) / (n * (n - 1.0))).max(0.0) * squares } else { 0.0 };
        (expected / n * of_boxes + drawn + variance * mean * mean).max(0.0)
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
            for expected in group.each_expected() {
                let (number, slope) = number(&expected);
                let hits = expected.chance * expected.rows;
                total.count += hits;
                total.sum += hits * number;
                total.placed += hits * slope * slope * expected.variance;
                total.leaning += hits * slope.abs() * expected.lean(deviation);
            }
            let (apart, shift) = group.parts(&|expected| number(expected).0);
            total.apart += apart;
            total.alike += shift * group.learned.as_ref().map_or(ALIKE, |learned| learned.tilt);
            // What draws leave open is known group by group.
            let is_draw = group.learned.as_ref().is_some_and(LearnedGroup::is_draw);
            total.by_group += if is_draw { 0.0 } else { shift * shift };
        }
        total
    }

    fn of_hits(&self) -> f64 {
        self.apart + self.alike * self.alike + BY_GROUP * BY_GROUP * self.by_group
    }

    /// Of squares of distances: being hit depends less on how far sensitive values are from their average than on the
    /// values themselves.
    fn of_squares(self, groups: &[Chosen]) -> Total {
        let is_values = |group: &Chosen| {
            group.learned.as_ref().is_some_and(|it| matches!(it.values, LearnedValues::Chances { .. }))
        };
        let share = if groups.iter().any(is_values) { SQUARES } else { 1.0 };
        Total { alike: self.alike * share, by_group: self.by_group * share * share, ..self }
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
            let total = of(&around).of_squares(groups);
            let variance = total.variance() / plain.count.powi(2);
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
    // Where hits are a draw, nothing moves the even estimate.
    let is_draw = groups.iter().all(|group| group.learned.as_ref().is_some_and(LearnedGroup::is_draw));
    finished(even, if is_draw { even.estimate.unwrap_or(estimate) } else { estimate }, variance)
}

/// A quantile, and the variance of what it is off.
fn quantile(groups: &[Chosen], deviation: f64, fraction: f64) -> Option<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    // Groups of one operand share their positions.
    for run in groups.chunk_by(|a, b| a.shares_positions(b)) {
        match run.first().and_then(Chosen::positions) {
            Some(positions) => {
                let hits = run.iter().flat_map(|group| {
                    group.places().zip(group.each_expected()).map(|(place, it)| (place, it.chance * it.rows))
                });
                points.extend(positions.points(hits));
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
    // Two standard errors reach the quantiles at two errors, also where many rows have the same number.
    let spread = f64::max(at(fraction + 2.0 * off)? - estimate, estimate - at(fraction - 2.0 * off)?) / 2.0;
    let lean = if reaching > 0.0 { leaning / reaching } else { 0.0 };
    Some((estimate, spread * spread + lean * lean))
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl Chosen {
    fn positions(&self) -> Option<&Arc<Positions>> {
        self.learned.as_ref().and_then(LearnedGroup::positions)
    }

    fn shares_positions(&self, other: &Chosen) -> bool {
        match (self.positions(), other.positions()) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }

    /// The places of numbers that stand in ranges.
    fn places(&self) -> impl Iterator<Item = usize> + '_ {
        let picks = match self.learned.as_ref().map(|learned| &learned.values) {
            Some(LearnedValues::Ranges { picks, .. }) => picks.as_slice(),
            _ => &[],
        };
        picks.iter().map(|pick| pick.place)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn group(chance: f64, counts: &[u32], n: u32, drawn: Hit) -> Chosen {
        let pick = |&count: &u32| Pick { count, inside: chance, outside: 1.0 - chance, ..Pick::known(2.0, count) };
        Chosen::new(counts.iter().map(pick).collect(), n, drawn, 0, n).unwrap()
    }

    fn variance(group: &Chosen, chance: f64) -> f64 {
        group.variance_of(group.picks.iter().map(|_| (2.0, chance)))
    }

    /// Ways to choose.
    fn binomial(n: u32, k: u32) -> f64 {
        (0..k).map(|at| f64::from(n - at) / f64::from(at + 1)).product()
    }

    /// All four rows are alike and match for certain, and how many of them satisfy two sensitive conditions, each on two
    /// rows, is a draw: 0, 1 or 2 with the chances of the hypergeometric distribution.
    #[test]
    fn the_number_of_rows_that_sensitive_conditions_leave_varies() {
        let chances: Vec<f64> = (0..3).map(|m| binomial(2, m) * binomial(2, 2 - m) / binomial(4, 2)).collect();
        let mean: f64 = (0..3).zip(&chances).map(|(m, chance)| f64::from(m) * chance).sum();
        let spread: f64 = (0..3).zip(&chances).map(|(m, chance)| (f64::from(m) - mean).powi(2) * chance).sum();
        let drawn = Hit::certain(0, 2, 4).thinned(4, 2).unwrap();
        assert!((drawn.variance - spread).abs() < 1e-12);
        let group = group(1.0, &[4], 4, drawn);
        assert!(group.are_alike());
        assert!((variance(&group, 1.0) - 4.0 * spread).abs() < 1e-12);
    }

    /// Of four rows only one can match, and two of the four satisfy the sensitive condition: it is hit with half its chance.
    #[test]
    fn a_single_row_among_others_is_drawn_or_not() {
        let group = group(0.8, &[1], 4, Hit::certain(0, 2, 4));
        assert!(!group.are_alike());
        assert!((variance(&group, 0.8) - 4.0 * 0.4 * 0.6).abs() < 1e-12);
    }
}

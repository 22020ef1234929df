//! Exact and permuted quasi values: whose values are whose is all that is unknown (step 6 of `spec.md`).
//!
//! The even estimate stays: groups are formed of rows that are alike, so how values go together across groups says
//! little about how they do inside one. Its error reckons with the dependence that is left inside groups.

use chrysalis_release::view::Groups;

use super::Asked;
use super::rows::LearnedGroup;
use super::totals::{self, LEAST_DIFFERENCE, hits};
use crate::aggregate::{Chosen, Estimate, expected_quantile};
use crate::estimate::{Hit, variance_of_draw};
use crate::question::Function;

/// How strongly hits depend on values inside groups at least: log odds between the two halves of the values.
const DEPENDENCE: f64 = 0.25;

/// How much of the slope that hits and values have across groups they may have inside them.
const ACROSS: f64 = 0.77;

/// The same where conditions on sensitive values draw from rows with their own numbers.
const ACROSS_ROWS: f64 = 1.5;

/// The same of the values of permuted columns, which depend on each other as well.
const DEPENDENCE_OF_COLUMNS: f64 = 0.35;
const ACROSS_COLUMNS: f64 = 2.0;

/// Groups whose values are further apart than this, compared with rows drawn at random, count as if they were this far.
const MOST_APART: f64 = 1.7;

/// Sums over all rows of a release, of the numbers that count.
#[derive(Clone, Copy, Debug, Default)]
struct Everywhere {
    groups: f64,
    rows: f64,
    sum: f64,
    squares: f64,
    /// The sum of squared distances from the mean of each group.
    inside: f64,
}

/// What the hits add up to.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    /// The variance over all worlds.
    variance: f64,
    /// The rows that are expected to match, or the sum of their factors; the sum of squares of hits (1, others 0) or
    /// factors, and that of squared distances from the mean of each group.
    rows: f64,
    squares: f64,
    inside: f64,
    /// How many of these rows count, and the sum of their numbers.
    count: f64,
    sum: f64,
}

pub(super) fn with_error(asked: &Asked<'_>, groups: &Groups) -> Estimate {
    let even = asked.even;
    let is_count = asked.planned.function == Function::Count;
    // Numbers relative to the estimated average, as the ratio of two sums errs.
    let origin = match asked.planned.function {
        Function::Count | Function::Sum => 0.0,
        Function::Avg => even.estimate.unwrap_or(0.0),
        _ => return even,
    };
    let of_group = |group: usize| -> (f64, f64, f64) {
        if is_count {
            let c = f64::from(asked.side.count(group));
            return (c, c, c);
        }
        let add = |(n, sum, squares): (f64, f64, f64), (number, times): (f64, u32)| {
            let (number, times) = (number - origin, f64::from(times));
            (n + times, sum + number * times, squares + number * number * times)
        };
        asked.side.numbers_of(group).fold((0.0, 0.0, 0.0), add)
    };
    let mut all = Everywhere::default();
    for group in 0..groups.len() {
        let (_, sum, squares) = of_group(group);
        all.add(f64::from(groups.size(group)), sum, squares);
    }
    let mut found = Found::default();
    for hit in hits(asked) {
        let n = f64::from(groups.size(hit.group as usize));
        let (c, sum, squares) = of_group(hit.group as usize);
        let mean = sum / n;
        found.variance += variance_of_draw(hit, n, mean, (squares / n - mean * mean).max(0.0));
        found.add(hit, n, sum);
        found.count += hit.expected * c / n;
    }
    if asked.planned.function == Function::Avg && found.count <= 0.0 {
        return even;
    }
    let error = all.tilt(&found, is_count.then_some(1.0), DrawnBy::Hits) * found.variance;
    let scale = if asked.planned.function == Function::Avg { found.count } else { 1.0 };
    totals::finished(asked, even.estimate.unwrap_or(0.0), (found.variance + error * error) / (scale * scale))
}

/// What decides which rows of a group are drawn. How far sensitive values are apart inside groups says how much of a slope
/// across groups may hold there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DrawnBy {
    /// Conditions on the quasi side draw from sensitive values.
    Hits,
    /// Conditions on sensitive values draw from rows.
    Values,
    /// Both draw from the values of a permuted column.
    Both,
}

impl DrawnBy {
    /// The least log odds per unit, and the share of the slope across groups.
    fn scales(self) -> (f64, f64) {
        match self {
            DrawnBy::Hits => (DEPENDENCE, ACROSS),
            DrawnBy::Values => (DEPENDENCE, ACROSS_ROWS),
            DrawnBy::Both => (DEPENDENCE_OF_COLUMNS, ACROSS_COLUMNS),
        }
    }
}

/// A group as a draw: its rows, and how many of them are drawn.
pub(crate) type Draw = (f64, Option<Hit>);

/// Says of values that a draw takes from rows with known numbers how far all hits of a question may lean the same way, as
/// far as a function is concerned. `each` calls with every group of the release: the draw, and the numbers of its rows
/// (others count as 0), each with how many rows have it.
pub(crate) fn lean(
    (function, fraction): (Function, f64),
    drawn_by: DrawnBy,
    groups: &mut [Chosen],
    each: impl FnOnce(&mut dyn FnMut(Draw, &[(f64, f64)])),
) {
    let Some(number) = added_up(function, fraction, groups) else { return };
    let (mut all, mut found, mut ends) = (Everywhere::default(), Found::default(), Ends::default());
    let mut counted = 0.0;
    each(&mut |(n, hit), numbers| {
        let (mut rows, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for &(value, times) in numbers {
            let number = number.of(value);
            ends.add(number);
            rows += times;
            sum += number * times;
            squares += number * number * times;
        }
        if rows < n {
            ends.add(0.0);
        }
        counted += rows;
        all.add(n, sum, squares);
        hit.into_iter().for_each(|hit| found.add(&hit, n, sum));
    });
    let unit = match drawn_by {
        DrawnBy::Hits => ends.unit(function),
        // How far apart the numbers of rows that count are, from each other and from 0: twice a deviation, or one number.
        DrawnBy::Values | DrawnBy::Both => {
            let mean = all.sum / f64::max(counted, 1.0);
            let variance = (all.squares / f64::max(counted, 1.0) - mean * mean).max(0.0);
            Some((mean * mean + 4.0 * variance).sqrt()).filter(|unit| *unit > 0.0)
        }
    };
    let tilt = all.tilt(&found, unit, drawn_by);
    groups.iter_mut().for_each(|group| group.learned = Some(LearnedGroup::draw(tilt)));
}

/// Says of sums of products how far factors and values may go together inside groups. `each` calls with every group of the
/// release: its rows, and factors and values (others count as 0), each with how many rows have it.
pub(crate) fn lean_of_products(each: impl FnOnce(&mut dyn FnMut(f64, &[(f64, f64)], &[(f64, f64)]))) -> f64 {
    let (mut factors, mut values, mut cross) = (Everywhere::default(), Everywhere::default(), 0.0);
    let mut ends = [Ends::default(); 2];
    each(&mut |n, of_rows, of_values| {
        let mut sums = [0.0; 2];
        for (at, (all, numbers)) in [(&mut factors, of_rows), (&mut values, of_values)].into_iter().enumerate() {
            let add = |(rows, sum, squares): (f64, f64, f64), &(number, times): &(f64, f64)| {
                (rows + times, sum + number * times, squares + number * number * times)
            };
            let (rows, sum, squares) = numbers.iter().fold((0.0, 0.0, 0.0), add);
            numbers.iter().for_each(|(number, _)| ends[at].add(*number));
            if rows < n {
                ends[at].add(0.0);
            }
            all.add(n, sum, squares);
            sums[at] = sum;
        }
        cross += sums[0] * sums[1] / n.max(1.0);
    });
    // Factors stand where hits do, each with its distance from the others for one.
    let [unit, of_values] = ends.map(|ends| ends.unit(Function::Sum));
    let n = factors.rows.max(1.0);
    let deviation = (factors.squares / n - (factors.sum / n).powi(2)).max(0.0).sqrt();
    let unit = unit.unwrap_or(2.0 * deviation);
    if unit <= 0.0 {
        return 0.0;
    }
    let found = Found {
        rows: factors.sum / unit,
        squares: factors.squares / (unit * unit),
        inside: factors.inside / (unit * unit),
        sum: cross / unit,
        ..Found::default()
    };
    values.tilt(&found, of_values, DrawnBy::Hits) / unit
}

/// What a function adds up over the hits, relative to its estimate (step 7 of `spec.md`).
#[derive(Clone, Copy, Debug)]
enum AddedUp {
    Number,
    Around(f64),
    /// Whether it is at most this, less a fraction.
    Below(f64, f64),
    /// The square of the distance from this, less another.
    Square(f64, f64),
}

impl AddedUp {
    fn of(self, value: f64) -> f64 {
        match self {
            AddedUp::Number => value,
            AddedUp::Around(average) => value - average,
            AddedUp::Below(limit, fraction) => f64::from(u8::from(value <= limit)) - fraction,
            AddedUp::Square(average, variance) => (value - average).powi(2) - variance,
        }
    }
}

/// `None` for functions whose errors stay those of the worlds.
fn added_up(function: Function, fraction: f64, groups: &[Chosen]) -> Option<AddedUp> {
    let sum = |number: &dyn Fn(f64) -> f64| -> f64 {
        groups.iter().map(|group| group.expected(|pick| number(pick.middle()))).sum()
    };
    let count = sum(&|_| 1.0);
    let average = sum(&|value| value) / count;
    match function {
        _ if count.is_nan() || count <= 0.0 => None,
        Function::Sum => Some(AddedUp::Number),
        Function::Avg => Some(AddedUp::Around(average)),
        Function::Quantile => Some(AddedUp::Below(expected_quantile(groups, fraction)?, fraction)),
        Function::VarPop | Function::VarSamp | Function::StddevPop | Function::StddevSamp => {
            Some(AddedUp::Square(average, sum(&|value| (value - average).powi(2)) / count))
        }
        _ => None,
    }
}

/// The numbers that rows add up: the outermost, and whether there are others.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    known: Option<(f64, f64)>,
    is_between: bool,
}

impl Ends {
    fn add(&mut self, number: f64) {
        let Some((low, high)) = self.known else {
            self.known = Some((number, number));
            return;
        };
        self.is_between |= low < high && number != low && number != high;
        self.known = Some((low.min(number), high.max(number)));
    }

    /// The number that stands for one row, if rows count or do not.
    fn unit(self, function: Function) -> Option<f64> {
        let (low, high) = self.known?;
        match function {
            // Rows are below a quantile or not.
            Function::Quantile => Some(1.0),
            _ if self.is_between => None,
            _ => Some(if low < high { high - low } else { low.abs() }).filter(|unit| *unit > 0.0),
        }
    }
}

impl Found {
    fn add(&mut self, hit: &Hit, n: f64, sum: f64) {
        self.rows += hit.expected;
        self.squares += hit.expected;
        self.inside += hit.expected * hit.others / n;
        self.sum += hit.expected * sum / n;
    }
}

impl Everywhere {
    /// A group of `n` rows with these sums of numbers and of their squares.
    fn add(&mut self, n: f64, sum: f64, squares: f64) {
        self.groups += 1.0;
        self.rows += n;
        self.sum += sum;
        self.squares += squares;
        self.inside += (squares - sum * sum / n.max(1.0)).max(0.0);
    }

    /// By how much the log odds of being hit may change inside groups per unit of the numbers; `unit` is the number of one
    /// row, if rows count or do not.
    fn tilt(&self, found: &Found, unit: Option<f64>, drawn_by: DrawnBy) -> f64 {
        let total = self.squares - self.sum * self.sum / self.rows.max(1.0);
        let deviation = (total / self.rows.max(1.0)).sqrt();
        // Without other values, only quasi attributes can depend on each other.
        if deviation.is_nan() || deviation <= 0.0 {
            return unit.map_or(0.0, |unit| DEPENDENCE / unit);
        }
        let (least, share) = drawn_by.scales();
        let least = least / unit.unwrap_or(2.0 * deviation);
        let chance = found.rows / self.rows;
        let varies = found.squares / self.rows - chance * chance;
        // The slope of either on the other across groups: whichever differs more between groups tells more.
        let differ = 1.0 - (found.inside / (self.rows * varies)).min(self.inside / total);
        let across = (found.sum - chance * self.sum) / (varies * total * differ.max(LEAST_DIFFERENCE));
        let across = if across.is_finite() { across } else { 0.0 };
        // How far apart the values of a group are, compared with those of rows drawn at random.
        let free = (self.rows - self.groups).max(1.0);
        let of_numbers = self.inside / free / (total / self.rows);
        let of_drawn = if varies > 0.0 { found.inside / free / varies } else { 0.0 };
        let apart = match drawn_by {
            DrawnBy::Hits => of_numbers,
            DrawnBy::Values => of_drawn,
            // Neither side alone is the sensitive one.
            DrawnBy::Both => (of_numbers * of_drawn).sqrt(),
        };
        apart.min(MOST_APART) * least.hypot(share * across)
    }
}

//! Exact and permuted quasi values: whose values are whose is all that is unknown (step 6 of `spec.md`).
//!
//! The even estimate stays: groups are formed of rows that are alike, so how values go together across groups says
//! little about how they do inside one. Its error reckons with the dependence that is left inside groups.

use chrysalis_release::view::Groups;

use super::Asked;
use super::totals::{self, LEAST_DIFFERENCE, hits};
use crate::aggregate::Estimate;
use crate::estimate::variance_of_draw;
use crate::question::Function;

/// How strongly hits depend on values inside groups at least: log odds between the two halves of the values.
const DEPENDENCE: f64 = 0.25;

/// How much of the slope that hits and values have across groups they may have inside them.
const ACROSS: f64 = 0.77;

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
    /// The rows that are expected to match, and the sum of squared distances of hits (1, others 0) from the mean of
    /// each group.
    rows: f64,
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
        let n = f64::from(groups.size(group));
        let (_, sum, squares) = of_group(group);
        all.groups += 1.0;
        all.rows += n;
        all.sum += sum;
        all.squares += squares;
        all.inside += (squares - sum * sum / n.max(1.0)).max(0.0);
    }
    let mut found = Found::default();
    for hit in hits(asked) {
        let n = f64::from(groups.size(hit.group as usize));
        let (c, sum, squares) = of_group(hit.group as usize);
        let mean = sum / n;
        found.variance += variance_of_draw(hit, n, mean, (squares / n - mean * mean).max(0.0));
        found.rows += hit.expected;
        found.inside += hit.expected * hit.others / n;
        found.count += hit.expected * c / n;
        found.sum += hit.expected * mean;
    }
    if asked.planned.function == Function::Avg && found.count <= 0.0 {
        return even;
    }
    let error = all.tilt(&found, is_count) * found.variance;
    let scale = if asked.planned.function == Function::Avg { found.count } else { 1.0 };
    totals::finished(asked, even.estimate.unwrap_or(0.0), (found.variance + error * error) / (scale * scale))
}

impl Everywhere {
    /// By how much the log odds of being hit may change inside groups per unit of the numbers.
    fn tilt(&self, found: &Found, is_count: bool) -> f64 {
        let total = self.squares - self.sum * self.sum / self.rows.max(1.0);
        let deviation = (total / self.rows.max(1.0)).sqrt();
        // Without other values, only quasi attributes can depend on each other.
        if deviation.is_nan() || deviation <= 0.0 {
            return if is_count { DEPENDENCE } else { 0.0 };
        }
        let least = if is_count { DEPENDENCE } else { DEPENDENCE / (2.0 * deviation) };
        let chance = found.rows / self.rows;
        let varies = chance * (1.0 - chance);
        // The slope of either on the other across groups: whichever differs more between groups tells more.
        let differ = 1.0 - (found.inside / (self.rows * varies)).min(self.inside / total);
        let across = (found.sum - chance * self.sum) / (varies * total * differ.max(LEAST_DIFFERENCE));
        let across = if across.is_finite() { across } else { 0.0 };
        // How far apart the values of a group are, compared with those of rows drawn at random.
        let free = (self.rows - self.groups).max(1.0);
        let apart = self.inside / free / (total / self.rows);
        apart.min(MOST_APART) * least.hypot(ACROSS * across)
    }
}

//! Exact and permuted quasi values: whose values are whose is all that is unknown (step 6 of `spec.md`).
//!
//! The even estimate stays: groups are formed of rows that are alike, so how values go together across groups says
//! little about how they do inside one. Its error reckons with the dependence that is left inside groups.

use chrysalis_release::view::Groups;

use super::Asked;
use super::totals::{self, Parts, hits};
use crate::aggregate::Estimate;
use crate::estimate::variance_of_draw;
use crate::question::Function;

/// How strongly hits and values depend on each other inside groups: at least so much, and more where they do so across
/// groups.
const DEPENDENCE: f64 = 0.1;
const ACROSS: f64 = 0.3;

/// Sums over all rows of a release, of the numbers that count.
#[derive(Clone, Copy, Debug, Default)]
struct Everywhere {
    rows: f64,
    sum: f64,
    squares: f64,
    /// The sum of squared distances from the mean of each group.
    inside: f64,
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
        all.rows += n;
        all.sum += sum;
        all.squares += squares;
        all.inside += (squares - sum * sum / n.max(1.0)).max(0.0);
    }
    let (mut parts, mut found, mut expected, mut count) = (Parts::default(), 0.0, 0.0, 0.0);
    for hit in hits(asked) {
        let n = f64::from(groups.size(hit.group as usize));
        let (c, sum, squares) = of_group(hit.group as usize);
        let mean = sum / n;
        let variance = variance_of_draw(hit, n, mean, (squares / n - mean * mean).max(0.0));
        parts.apart += variance;
        parts.alike += (variance * (n - 1.0).max(0.0)).sqrt();
        found += hit.expected * mean;
        expected += hit.expected;
        count += hit.expected * c / n;
    }
    let total = (all.squares - all.sum * all.sum / all.rows.max(1.0)).max(0.0);
    if total <= 0.0 || (asked.planned.function == Function::Avg && count <= 0.0) {
        return even;
    }
    let chance = expected / all.rows;
    // The correlation of hits and numbers over all rows, as far as groups tell.
    let across = (found - chance * all.sum) / (total * all.rows * chance * (1.0 - chance)).sqrt();
    let across = if across.is_finite() { across.abs().min(1.0) } else { 0.0 };
    let share = (DEPENDENCE + ACROSS * across) * (all.inside / total).min(1.0).sqrt();
    let scale = if asked.planned.function == Function::Avg { count } else { 1.0 };
    let estimate = even.estimate.unwrap_or(0.0);
    totals::finished(asked, estimate, parts.variance(share) / (scale * scale))
}

//! The reconstruction error (pa eq. 9) and its lower bound (pa, Theorem 2, where it holds).
//!
//! For a tuple t with sensitive value v, eq. 9 is 1 − 2·c(v)·δ + δ²·Σc². Whose sensitive value is whose, and in a permuted
//! release whose quasi values, the release leaves open; all worlds being equally likely, c(v) is Σc²/n on average, and
//! the powers of δ are products over the columns: Π Σ(n_i/n)² and Π Σ(n_i/n)³.

use chrysalis_criteria::{PrincipleSpec, Rational};
use num_traits::ToPrimitive;

use crate::Utility;
use crate::measure::Sample;

/// What pa's formulas need to know of one group.
struct Part {
    rows: f64,
    /// Σc² over its sensitive values.
    squares: f64,
    /// Whether it has a sensitive value twice.
    is_repeating: bool,
    /// The expected δ of its tuples, and the expected δ².
    delta: f64,
    delta_squared: f64,
}

/// Permuted quasi columns: each sample holds one column.
pub(super) fn permuted(columns: &[Sample], sensitive: &Sample, guarantees: &[String]) -> Utility {
    let moment = |group: usize, power: i32| -> f64 {
        let of_column = |sample: &Sample| -> f64 {
            let group = sample.group(group);
            group.counts().map(|count| (count as f64 / group.size as f64).powi(power)).sum()
        };
        columns.iter().map(of_column).product()
    };
    let parts = parts(sensitive, |group| (moment(group, 2), moment(group, 3)));
    let rce = parts.iter().map(error).sum();
    let bound = |l: f64| -> Option<f64> {
        let holds = |part: &Part| !part.is_repeating && part.rows >= l;
        let least = |part: &Part| part.rows * (1.0 - 2.0 * part.delta + l * part.delta_squared);
        parts.iter().all(holds).then(|| parts.iter().map(least).sum())
    };
    Utility { rce, rce_bound: promised(sensitive, guarantees).and_then(bound) }
}

/// Exact quasi values: δ is 1/n, the error of a group n − Σc²/n, and its bound |T|(1 − 1/l) always holds.
pub(super) fn exact(sensitive: &Sample, guarantees: &[String]) -> Utility {
    let inverse = |group: usize| 1.0 / sensitive.sizes()[group] as f64;
    let parts = parts(sensitive, |group| (inverse(group), inverse(group) * inverse(group)));
    let bound = promised(sensitive, guarantees).map(|l| sensitive.rows() as f64 * (1.0 - 1.0 / l));
    Utility { rce: parts.iter().map(error).sum(), rce_bound: bound }
}

fn parts(sensitive: &Sample, deltas: impl Fn(usize) -> (f64, f64)) -> Vec<Part> {
    let groups = (0..sensitive.sizes().len()).filter(|&group| sensitive.sizes()[group] > 0);
    let part = |index: usize| {
        let group = sensitive.group(index);
        let (delta, delta_squared) = deltas(index);
        Part {
            rows: group.size as f64,
            squares: group.counts().map(|count| count as f64 * count as f64).sum(),
            is_repeating: group.max() > 1,
            delta,
            delta_squared,
        }
    };
    groups.map(part).collect()
}

/// The expected error of a group: eq. 9, summed over its tuples.
fn error(part: &Part) -> f64 {
    let Part { rows, squares, delta, delta_squared, .. } = part;
    rows - 2.0 * squares * delta + rows * squares * delta_squared
}

/// The largest frequency l that was promised, if every group keeps it.
fn promised(sensitive: &Sample, guarantees: &[String]) -> Option<f64> {
    let l = |text: &String| match text.parse() {
        Ok(PrincipleSpec::FrequencyL { l }) => Some(l),
        _ => None,
    };
    let l: Rational = guarantees.iter().filter_map(l).max()?;
    let keeps = |group: usize| {
        let group = sensitive.group(group);
        u128::from(group.max()) * u128::from(*l.numer()) <= u128::from(group.size) * u128::from(*l.denom())
    };
    (0..sensitive.sizes().len()).all(keeps).then(|| l.to_f64()).flatten()
}

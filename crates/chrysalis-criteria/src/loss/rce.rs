//! pa's reconstruction error (RCE): how far a reader's reconstruction of every row is from the row itself.
//!
//! For a row with the sensitive value v, equation 9 is 1 − 2·c(v)·δ + δ²·Σc², where c counts values in the row's group
//! and δ is the chance that the row's quasi values belong together. A release hides who has which values: averaged over
//! all worlds it allows, c(v) is Σc²/n, and δ and δ² are products over the permuted columns of Σ(n_i/n)² and Σ(n_i/n)³.

use num_traits::ToPrimitive;

use crate::Rational;

/// One group as equation 9 sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RceGroup {
    /// Its rows.
    pub rows: u64,
    /// Σc² over its sensitive values.
    pub squares: f64,
    /// The largest c.
    pub most: u64,
    /// The expected δ of its rows.
    pub delta: f64,
    /// The expected δ².
    pub delta_squared: f64,
}

impl RceGroup {
    /// A group from the counts of its sensitive values, and the expected δ and δ².
    pub fn new(rows: u64, counts: impl Iterator<Item = u64> + Clone, (delta, delta_squared): (f64, f64)) -> Self {
        let squares = counts.clone().map(|count| count as f64 * count as f64).sum();
        RceGroup { rows, squares, most: counts.max().unwrap_or(0), delta, delta_squared }
    }

    /// δ and δ² for exact quasi values: each person in a group of n is any one of its rows with a chance of 1/n.
    pub fn exact_deltas(rows: u64) -> (f64, f64) {
        let inverse = 1.0 / rows as f64;
        (inverse, inverse * inverse)
    }

    /// Equation 9, summed over the rows of the group.
    fn error(&self) -> f64 {
        let rows = self.rows as f64;
        rows - 2.0 * self.squares * self.delta + rows * self.squares * self.delta_squared
    }

    /// Whether no value has more than 1/l of the group, decided in whole numbers.
    fn keeps(&self, l: Rational) -> bool {
        // PROOF: both factors fit 64 bits, so their products fit 128.
        u128::from(self.most) * u128::from(*l.numer()) <= u128::from(self.rows) * u128::from(*l.denom())
    }
}

/// The error of a release.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rce {
    /// Summed over all rows.
    pub rce: f64,
    /// The least possible error for the promised frequency l (pa, theorem 2). Absent if no such l is promised and kept,
    /// and for permuted columns if a sensitive value repeats in a group (errata pa-thm2).
    pub bound: Option<f64>,
}

/// The reconstruction error of non-empty groups, with exact or permuted quasi values.
pub fn reconstruction_error(groups: &[RceGroup], promised: Option<Rational>, is_permuted: bool) -> Rce {
    let kept = promised.filter(|l| groups.iter().all(|group| group.keeps(*l)));
    let bound = kept.and_then(|l| l.to_f64()).and_then(|l| match is_permuted {
        true => least_permuted(groups, l),
        false => Some(groups.iter().map(|group| group.rows).sum::<u64>() as f64 * (1.0 - 1.0 / l)),
    });
    Rce { rce: groups.iter().map(RceGroup::error).sum(), bound }
}

/// Theorem 2, which requires that no sensitive value repeats in a group.
fn least_permuted(groups: &[RceGroup], l: f64) -> Option<f64> {
    let holds = |group: &RceGroup| group.most <= 1 && group.rows as f64 >= l;
    let least = |group: &RceGroup| group.rows as f64 * (1.0 - 2.0 * group.delta + l * group.delta_squared);
    groups.iter().all(holds).then(|| groups.iter().map(least).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_values_in_even_groups_reach_the_bound() {
        let group = RceGroup::new(4, [1, 1, 1, 1].into_iter(), RceGroup::exact_deltas(4));
        let l = |l: u64| Some(Rational::from_integer(l));
        assert_eq!(reconstruction_error(&[group; 2], l(4), false), Rce { rce: 6.0, bound: Some(6.0) });
        assert_eq!(reconstruction_error(&[group; 2], l(5), false).bound, None, "it is not kept");
        assert_eq!(reconstruction_error(&[group; 2], None, false).bound, None);
        let repeating = RceGroup::new(4, [2, 2].into_iter(), (0.1, 0.02));
        assert_eq!(reconstruction_error(&[repeating], l(2), true).bound, None, "errata pa-thm2");
    }
}

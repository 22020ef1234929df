use std::fmt;

use chrysalis_table::{Code, SaCounts};
use num_bigint::BigUint;
use num_integer::Integer;

use super::{Limit, Principle, Sensitive, column_name, other_principles, safe};
use crate::{Alike, Laws, PrincipleSpec, Rational, show_rational};

/// Entropy l-diversity: the entropy of a group's sensitive values is at least ln l. This must hold with values that
/// look alike merged, with and without the missing ones, and with numbers in bins as wide as `near`.
///
/// # Guarantees
/// An attacker is as unsure of a person's value as among l equally likely ones, on average.
/// # Against whom
/// An attacker who links by the quasi-identifier.
/// # Cost
/// Linear in the values present, one logarithm each; big integers only exactly on the line.
/// # Paper
/// Machanavajjhala et al.; used by `lalpha`.
#[derive(Debug)]
pub(super) struct EntropyLDiversity {
    l: Rational,
    alike: Alike,
    layouts: Vec<Vec<Code>>,
}

impl EntropyLDiversity {
    pub(super) fn bind(l: Rational, sensitive: &Sensitive<'_>) -> Self {
        let (alike, layouts) = (sensitive.alike.clone(), sensitive.alike.layouts(sensitive.domain));
        EntropyLDiversity { l, alike, layouts }
    }

    fn is_reached(&self, counts: impl Iterator<Item = u64> + Clone) -> bool {
        // The entropy of m values is at most ln m.
        let enough_values = counts.clone().count() as u64 >= self.least_size();
        enough_values && entropy_is_at_least_ln(counts, self.l)
    }
}

impl Principle for EntropyLDiversity {
    fn laws(&self) -> Laws {
        Laws { monotone: true, scale_free: true }
    }

    fn holds(&self, group: &SaCounts) -> bool {
        if self.alike.is_plain() {
            return self.is_reached(group.iter().map(|(_, count)| count));
        }
        self.alike.readings(&self.layouts, group).iter().all(|counts| self.is_reached(counts.iter().copied()))
    }

    fn alike(&self) -> Option<&Alike> {
        Some(&self.alike)
    }

    fn least_size(&self) -> u64 {
        self.l.ceil().to_integer()
    }

    fn least_removal(&self, group: &SaCounts) -> u64 {
        if self.holds(group) {
            0
        } else if (group.distinct() as u64) < self.least_size() {
            // Fewer rows have no more values.
            group.total()
        } else {
            1
        }
    }

    /// Entropy rises when values become more even.
    fn safe_size(&self, rows: &SaCounts) -> Option<u64> {
        let of_reading = |counts: Vec<u64>| {
            // Rows that a reading leaves out may all be in the group.
            let left_out = rows.total() - counts.iter().sum::<u64>();
            safe::by_evenness(counts, |counts| self.is_reached(counts.iter().copied())) + left_out
        };
        self.alike.readings(&self.layouts, rows).into_iter().map(of_reading).max()
    }

    fn limit(&self, whole: &SaCounts, sensitive: Option<&Sensitive<'_>>) -> Limit {
        let readings = self.alike.readings(&self.layouts, whole);
        let reached = readings.iter().map(|counts| entropy(counts.iter().copied()).exp()).fold(f64::INFINITY, f64::min);
        let hundredths = (reached * 100.0).floor() as u64;
        // The float may be slightly off: start above it and go down until the exact test agrees.
        let possible = (100..=hundredths.max(99) + 1).rev().take(3).map(|l| Rational::new(l, 100));
        let possible = possible
            .map(|l| EntropyLDiversity { l, alike: self.alike.clone(), layouts: self.layouts.clone() })
            .find(|weaker| weaker.holds(whole));
        let possible = possible.map(|weaker| PrincipleSpec::EntropyL { l: weaker.l });
        let column = column_name(sensitive);
        let reason = format!("the values of {column} are as diverse as {reached:.2} equally frequent ones");
        Limit::new(reason, possible, other_principles(whole, &self.alike, sensitive))
    }
}

impl fmt::Display for EntropyLDiversity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entropy-l={}", show_rational(self.l))
    }
}

/// −Σ p ln p, for reports.
pub(super) fn entropy(counts: impl Iterator<Item = u64> + Clone) -> f64 {
    let n = counts.clone().sum::<u64>() as f64;
    n.ln() - counts.map(|count| count as f64 * (count as f64).ln()).sum::<f64>() / n
}

/// Above this many rows (after cancelling common factors) a tie is not worked out: doubt means no.
const LARGEST_EXACT: u64 = 100_000;

/// Whether −Σ p ln p ≥ ln l, decided exactly: n^n·q^n ≥ p^n·Π c^c with l = p/q.
///
/// Summed in floats, a perfectly even group misses l for l = 3, 6, 7 and 10. So the float only decides what lies
/// clearly off the line.
pub(super) fn entropy_is_at_least_ln(counts: impl Iterator<Item = u64> + Clone, l: Rational) -> bool {
    let (p, q) = (*l.numer(), *l.denom());
    let mut n = 0.0;
    let mut terms = 0.0;
    let mut n_terms = 0.0;
    for count in counts.clone() {
        let count = count as f64;
        n += count;
        n_terms += 1.0;
        terms += count * count.ln();
    }
    let surplus = n * n.ln() - terms - n * (p as f64 / q as f64).ln();
    // PROOF: every term and every partial sum is off by at most a few units in its last place, and all of them are
    // below `magnitude`; there are n_terms of them and a handful of operations more.
    let magnitude = n * n.ln() + terms + n * (p as f64 / q as f64).ln();
    let margin = f64::EPSILON * 4.0 * (n_terms + 8.0) * magnitude;
    if surplus > margin {
        return true;
    }
    if surplus < -margin {
        return false;
    }
    entropy_tie(counts, p, q)
}

#[cold]
fn entropy_tie(counts: impl Iterator<Item = u64> + Clone, p: u64, q: u64) -> bool {
    // Frequencies alone decide, so common factors cancel: even groups become tiny.
    let common = counts.clone().fold(0, |common: u64, count| common.gcd(&count)).max(1);
    let n: u64 = counts.clone().map(|count| count / common).sum();
    let Some(exponent) = u32::try_from(n).ok().filter(|_| n <= LARGEST_EXACT) else { return false };
    let power = |base: u64, exponent: u32| BigUint::from(base).pow(exponent);
    let left = power(n, exponent) * power(q, exponent);
    let product = counts.map(|count| count / common).fold(power(p, exponent), |product, count| {
        // PROOF: count ≤ n, which fits 32 bits.
        product * power(count, u32::try_from(count).unwrap_or(u32::MAX))
    });
    left >= product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_perfectly_even_group_reaches_its_own_number() {
        for l in 1..=40u64 {
            for each in [1, 2, 3, 1_000, 123_456] {
                let counts = vec![each; l as usize];
                assert!(entropy_is_at_least_ln(counts.iter().copied(), Rational::from(l)), "{l} values, {each} each");
                let above = Rational::new(l * 1_000_000 + 1, 1_000_000);
                assert!(!entropy_is_at_least_ln(counts.iter().copied(), above), "{l} values, {each} each");
            }
        }
    }

    #[test]
    fn one_row_off_even_misses() {
        assert!(!entropy_is_at_least_ln([1_000_000, 999_999].into_iter(), Rational::from(2)));
        assert!(entropy_is_at_least_ln([3, 3, 2].into_iter(), Rational::new(28, 10)));
    }
}

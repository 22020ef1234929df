use chrysalis_criteria::Rational;
use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::ToPrimitive;
use num_traits::pow::Pow;

use super::{GroupCounts, Worst};

/// Beyond this many rows (after division by the common factor) the exact test would take too long.
const MAX_EXACT_ROWS: u64 = 200_000;

/// The result of comparing a level with the line that it must reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// At or above the line.
    Holds,
    /// Below the line.
    Fails,
    /// Too near the line for floats and too large for whole numbers. Doubt means fail.
    Doubt,
}

impl Decision {
    /// Whether it certainly holds.
    pub fn holds(self) -> bool {
        self == Decision::Holds
    }
}

/// e^H: the number of equally frequent values with the same entropy. As a float, for reports.
pub fn effective_values(counts: impl Iterator<Item = u64> + Clone) -> f64 {
    entropy(counts).exp()
}

fn entropy(counts: impl Iterator<Item = u64> + Clone) -> f64 {
    let n = counts.clone().sum::<u64>() as f64;
    let sum: f64 = counts.filter(|&count| count > 1).map(|count| count as f64 * (count as f64).ln()).sum();
    n.ln() - sum / n
}

/// How far [`entropy`] may lie from the truth, with room to spare.
///
/// PROOF: with u = 2⁻⁵³, every c·ln c carries a relative error of at most 3u (a logarithm within one unit in the last
/// place, its rounded product), adding m of them at most m·u more, the division u, and the logarithm of n 2u. All
/// partial results are at most ln n once divided by n. So the error is below (m + 8)·u·2·ln n; ln l adds 2u·ln l.
/// We allow eight times that.
fn margin(n: u64, n_values: usize, line: f64) -> f64 {
    8.0 * (n_values as f64 + 8.0) * f64::EPSILON * ((n as f64).ln() + line.abs() + 1.0)
}

/// Whether the entropy of some counts is at least ln l, exactly.
///
/// With l = p/q and n the sum, −Σ (c/n)·ln(c/n) ≥ ln l says n^n·q^n ≥ p^n·Π c^c. A common factor of the counts drops
/// out, as it is a power common to both sides, so an even group is decided as one row of each value.
pub fn entropy_at_least(counts: impl Iterator<Item = u64> + Clone, l: Rational) -> Decision {
    let counts = counts.filter(|&count| count > 0);
    let n: u64 = counts.clone().sum();
    if n == 0 {
        return Decision::Fails;
    }
    let line = (*l.numer() as f64).ln() - (*l.denom() as f64).ln();
    let above = entropy(counts.clone()) - line;
    let margin = margin(n, counts.clone().count(), (*l.numer() as f64).ln() + (*l.denom() as f64).ln());
    if above.abs() > margin {
        return if above > 0.0 { Decision::Holds } else { Decision::Fails };
    }
    exactly(counts, n, l)
}

fn exactly(counts: impl Iterator<Item = u64> + Clone, n: u64, l: Rational) -> Decision {
    let factor = counts.clone().fold(0, |factor: u64, count| factor.gcd(&count));
    let n = n / factor;
    if n > MAX_EXACT_ROWS {
        return Decision::Doubt;
    }
    let power = |base: u64| Pow::pow(BigUint::from(base), n);
    let left = power(n) * power(*l.denom());
    let powers = counts.map(|count| Pow::pow(BigUint::from(count / factor), count / factor));
    let right = power(*l.numer()) * product(powers.collect());
    if left >= right { Decision::Holds } else { Decision::Fails }
}

/// Multiplies in pairs, so that the factors of every product are about equally long.
fn product(mut factors: Vec<BigUint>) -> BigUint {
    while factors.len() > 1 {
        factors = factors.chunks(2).map(|pair| pair.iter().product()).collect();
    }
    factors.pop().unwrap_or_else(|| BigUint::from(1u8))
}

/// The least e^H of any group, as a float.
pub fn least_entropy(sample: &GroupCounts) -> Option<Worst<f64>> {
    sample.worst(|group| effective_values(group.counts()), |a, b| b.total_cmp(a))
}

/// The largest whole l for which every group has an entropy of at least ln l.
///
/// Floats find the candidate; where the least e^H lies next to a whole number, every group near it is decided exactly.
pub fn entropy_floor(sample: &GroupCounts) -> Option<u64> {
    let least = least_entropy(sample)?.level;
    let l = (least + 0.5).floor().max(1.0).to_u64()?;
    let reaches = |l: u64| {
        let groups = sample.worst(
            |group| entropy_at_least(group.counts(), Rational::from_integer(l)).holds(),
            |a: &bool, b: &bool| b.cmp(a),
        );
        groups.is_none_or(|worst| worst.level)
    };
    Some(if l == 1 || reaches(l) { l } else { l - 1 })
}

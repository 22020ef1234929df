use std::fmt;

use chrysalis_table::SaCounts;

use super::{Limit, Principle, Sensitive, column_name, other_principles, values};
use crate::{Laws, PrincipleSpec, Rational, show_rational};

/// Recursive (c,l)-diversity: r₁ < c·(r_l + r_{l+1} + … + r_m), counts in descending order.
///
/// # Guarantees
/// After ruling out the l−2 most frequent other values, the most frequent one is still not too frequent.
/// # Against whom
/// An attacker who links by the quasi-identifier and can exclude some values.
/// # Cost
/// Sorts the counts of the values present.
/// # Paper
/// Machanavajjhala et al.; used by `lalpha`.
#[derive(Debug)]
pub(super) struct RecursiveClDiversity {
    pub(super) c: Rational,
    pub(super) l: u64,
}

impl Principle for RecursiveClDiversity {
    fn laws(&self) -> Laws {
        Laws { monotone: true, scale_free: true }
    }

    fn holds(&self, group: &SaCounts) -> bool {
        group.distinct() as u64 >= self.l
            && is_recursive(group.iter().map(|(_, count)| count).collect(), self.c, self.l)
    }

    fn least_size(&self) -> u64 {
        self.l
    }

    fn least_removal(&self, group: &SaCounts) -> u64 {
        if self.holds(group) {
            0
        } else if (group.distinct() as u64) < self.l {
            // Fewer rows have no more values.
            group.total()
        } else {
            1
        }
    }

    fn limit(&self, whole: &SaCounts, sensitive: Option<&Sensitive<'_>>) -> Limit {
        let l = self.l.min(whole.distinct() as u64);
        let (first, tail) = head_and_tail(whole.iter().map(|(_, count)| count).collect(), l);
        let reason = if l < self.l {
            format!("{} has {l} distinct {}, a group needs {}", column_name(sensitive), values(l), self.l)
        } else {
            let column = column_name(sensitive);
            format!("the most frequent value of {column} has {first} rows, all from number {l} on together {tail}")
        };
        let possible = least_c(first, tail).map(|c| PrincipleSpec::RecursiveCl { c, l });
        Limit::new(reason, possible, other_principles(whole, sensitive))
    }
}

impl fmt::Display for RecursiveClDiversity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "recursive-l={},{}", show_rational(self.c), self.l)
    }
}

/// r₁ and r_l + … + r_m.
pub(super) fn head_and_tail(mut counts: Vec<u64>, l: u64) -> (u64, u64) {
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let start = usize::try_from(l.saturating_sub(1)).unwrap_or(usize::MAX).min(counts.len());
    (counts.first().copied().unwrap_or(0), counts[start..].iter().sum())
}

/// r₁ < c·tail, with c = p/q: r₁·q < p·tail.
pub(super) fn is_recursive(counts: Vec<u64>, c: Rational, l: u64) -> bool {
    let (first, tail) = head_and_tail(counts, l);
    u128::from(first) * u128::from(*c.denom()) < u128::from(*c.numer()) * u128::from(tail)
}

/// The least c with two digits that works.
pub(super) fn least_c(first: u64, tail: u64) -> Option<Rational> {
    (first * 100).checked_div(tail).map(|hundredths| Rational::new(hundredths + 1, 100))
}

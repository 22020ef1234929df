use std::fmt;

use chrysalis_table::{Code, SaCounts};

use super::{Limit, Principle, Sensitive, column_name, distinct_values, other_principles, safe};
use crate::{Alike, Laws, PrincipleSpec, Rational, show_rational};

/// Recursive (c,l)-diversity: r₁ < c·(r_l + r_{l+1} + … + r_m), counts in descending order; values are merged as for
/// entropy l-diversity.
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
    c: Rational,
    l: u64,
    alike: Alike,
    layouts: Vec<Vec<Code>>,
}

impl RecursiveClDiversity {
    pub(super) fn bind(c: Rational, l: u64, sensitive: &Sensitive<'_>) -> Self {
        let (alike, layouts) = (sensitive.alike.clone(), sensitive.alike.layouts(sensitive.domain));
        RecursiveClDiversity { c, l, alike, layouts }
    }
}

impl Principle for RecursiveClDiversity {
    fn laws(&self) -> Laws {
        Laws { monotone: true, scale_free: true }
    }

    fn holds(&self, group: &SaCounts) -> bool {
        let is_reached = |counts: Vec<u64>| counts.len() as u64 >= self.l && is_recursive(counts, self.c, self.l);
        if self.alike.is_plain() {
            return is_reached(group.iter().map(|(_, count)| count).collect());
        }
        self.alike.readings(&self.layouts, group).into_iter().all(is_reached)
    }

    fn alike(&self) -> Option<&Alike> {
        Some(&self.alike)
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

    /// When values become more even, the first has fewer rows and the last ones have more.
    fn safe_size(&self, rows: &SaCounts) -> Option<u64> {
        let is_reached = |counts: Vec<u64>| counts.len() as u64 >= self.l && is_recursive(counts, self.c, self.l);
        let of_reading = |counts: Vec<u64>| {
            // Rows that a reading leaves out may all be in the group.
            let left_out = rows.total() - counts.iter().sum::<u64>();
            safe::by_evenness(counts, is_reached) + left_out
        };
        self.alike.readings(&self.layouts, rows).into_iter().map(of_reading).max()
    }

    fn limit(&self, whole: &SaCounts, sensitive: Option<&Sensitive<'_>>) -> Limit {
        let readings = self.alike.readings(&self.layouts, whole);
        let l = readings.iter().map(|counts| counts.len() as u64).min().unwrap_or(0).min(self.l);
        // The reading that demands the largest c; products of counts fit 64 bits.
        let heads = readings.into_iter().map(|counts| head_and_tail(counts, l));
        let (first, tail) = heads.max_by(|a, b| (a.0 * b.1).cmp(&(b.0 * a.1))).unwrap_or((0, 0));
        let reason = if l < self.l {
            format!("{}, a group needs {}", distinct_values(l, &self.alike, sensitive), self.l)
        } else {
            let column = column_name(sensitive);
            format!("the most frequent value of {column} has {first} rows, all from number {l} on together {tail}")
        };
        let possible = least_c(first, tail).map(|c| PrincipleSpec::RecursiveCl { c, l });
        Limit::new(reason, possible, other_principles(whole, &self.alike, sensitive))
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

/// The least c with two decimals that works.
pub(super) fn least_c(first: u64, tail: u64) -> Option<Rational> {
    (first * 100).checked_div(tail).map(|hundredths| Rational::new(hundredths + 1, 100))
}

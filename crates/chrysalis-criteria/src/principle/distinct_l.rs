use std::fmt;

use chrysalis_table::SaCounts;

use super::{Limit, Minimum, Principle, Sensitive, distinct_values, other_principles, safe};
use crate::{Alike, Laws, PrincipleSpec};

/// Distinct l-diversity: a group has at least l distinct sensitive values. Values that look alike count as one, numbers
/// count only if they are far enough apart, and a missing value does not count.
///
/// # Guarantees
/// l−1 values must be ruled out before a person's value is certain.
/// # Against whom
/// An attacker who links by the quasi-identifier; one value may still dominate the group.
/// # Cost
/// Constant if every value counts by itself: the number of values present is kept with the counts. Otherwise about
/// linear in the values present.
/// # Paper
/// Machanavajjhala et al.; used by `ke` and `lalpha`.
#[derive(Debug)]
pub(super) struct DistinctLDiversity {
    pub(super) l: u64,
    pub(super) alike: Alike,
}

impl Principle for DistinctLDiversity {
    fn laws(&self) -> Laws {
        Laws { monotone: true, scale_free: true }
    }

    fn holds(&self, group: &SaCounts) -> bool {
        self.alike.distinct(group) >= self.l
    }

    fn least_size(&self) -> u64 {
        self.l
    }

    fn minimum(&self) -> Option<Minimum> {
        let apart = if self.alike.is_plain() { 1 } else { self.l };
        Some(Minimum { rows: self.l, distinct: self.l, span: None, apart })
    }

    fn alike(&self) -> Option<&Alike> {
        Some(&self.alike)
    }

    /// Numbers that can be told apart in fewer than l ways lie in l − 1 stretches, none of which has more rows than the
    /// heaviest.
    fn safe_size(&self, rows: &SaCounts) -> Option<u64> {
        let missing = self.alike.missing(rows);
        if !self.alike.reach().is_empty() {
            let most = self.alike.most(rows).saturating_mul(self.l.saturating_sub(1)).saturating_add(missing);
            return Some(most.min(rows.total()) + 1);
        }
        let counts = self.alike.counts(rows);
        Some(safe::more_than_most_frequent(counts, self.l.saturating_sub(1)).saturating_add(missing))
    }

    fn limit(&self, whole: &SaCounts, sensitive: Option<&Sensitive<'_>>) -> Limit {
        let distinct = self.alike.distinct(whole);
        let reason = format!("{}, a group needs {}", distinct_values(distinct, &self.alike, sensitive), self.l);
        Limit::new(
            reason,
            Some(PrincipleSpec::DistinctL { l: distinct }),
            other_principles(whole, &self.alike, sensitive),
        )
    }
}

impl fmt::Display for DistinctLDiversity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "distinct-l={}", self.l)
    }
}

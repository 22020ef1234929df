use std::fmt;

use chrysalis_table::SaCounts;

use super::{Frequent, Limit, Principle, Sensitive, other_principles, removal_for_most, safe};
use crate::{Alike, Laws, PrincipleSpec, Rational, show_rational};

/// Frequency l-diversity: no sensitive value makes up more than 1/l of a group. Values that look alike, and numbers
/// that are near each other, count as one; rows without a value do not protect others.
///
/// # Guarantees
/// Nobody's value can be named with a confidence above 1/l.
/// # Against whom
/// An attacker who links by the quasi-identifier and has no other knowledge of values.
/// # Cost
/// Linear in the values present.
/// # Paper
/// The l-diversity of `pa` and `angel`; a cap on frequency, not a count of values.
#[derive(Debug)]
pub(super) struct FrequencyLDiversity {
    pub(super) l: Rational,
    pub(super) alike: Alike,
}

impl Principle for FrequencyLDiversity {
    fn laws(&self) -> Laws {
        Laws { monotone: true, scale_free: true }
    }

    /// c·l ≤ n − m for every value, and m·l ≤ n where m of n values are missing; with l = p/q: c·p ≤ (n − m)·q.
    fn holds(&self, group: &SaCounts) -> bool {
        let (p, q) = (u128::from(*self.l.numer()), u128::from(*self.l.denom()));
        let missing = self.alike.missing(group);
        u128::from(self.alike.most(group)) * p <= u128::from(group.total().saturating_sub(missing)) * q
            && u128::from(missing) * p <= u128::from(group.total()) * q
    }

    fn alike(&self) -> Option<&Alike> {
        Some(&self.alike)
    }

    fn least_size(&self) -> u64 {
        self.l.ceil().to_integer()
    }

    /// The most frequent value may have a share of at most 1/l.
    fn least_removal(&self, group: &SaCounts) -> u64 {
        if self.holds(group) {
            return 0;
        }
        // PROOF: a group that fails has c·l > n − m ≥ c or m·l > n ≥ m, so l is above 1.
        removal_for_most(group, &self.alike, (*self.l.denom(), *self.l.numer())).max(1)
    }

    /// All rows of the most frequent value may come together, and all those without one, too.
    fn safe_size(&self, rows: &SaCounts) -> Option<u64> {
        let (share, missing) = (self.l.recip(), self.alike.missing(rows));
        let most = safe::rows_for(self.alike.most(rows), share).saturating_add(missing);
        Some(most.max(safe::rows_for(missing, share)))
    }

    fn limit(&self, whole: &SaCounts, sensitive: Option<&Sensitive<'_>>) -> Limit {
        let allowed = 100.0 * *self.l.denom() as f64 / *self.l.numer() as f64;
        let most = Frequent::of(whole, &self.alike, sensitive);
        let reason = format!("{}, at most {allowed:.2} % may have it", most.words);
        let l = most.of.checked_div(most.count).map(Rational::from);
        Limit::new(reason, l.map(|l| PrincipleSpec::FrequencyL { l }), other_principles(whole, &self.alike, sensitive))
    }
}

impl fmt::Display for FrequencyLDiversity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "l={}", show_rational(self.l))
    }
}

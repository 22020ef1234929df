use std::fmt;

use chrysalis_table::SaCounts;

use super::{Frequent, Limit, Principle, Sensitive, other_principles, removal_for_most, safe};
use crate::{Alike, Laws, PrincipleSpec, Rational, show_rational};

/// (α,k)-anonymity: a group has at least k rows, and no sensitive value makes up more than α of it. Which values count
/// as one, and which rows protect nobody, is as in frequency l-diversity.
///
/// # Guarantees
/// k-anonymity, and a confidence of at most α in anyone's value.
/// # Against whom
/// An attacker who links by the quasi-identifier.
/// # Cost
/// Linear in the values present.
/// # Paper
/// Wong et al.; for all values, not one chosen value.
#[derive(Debug)]
pub(super) struct AlphaKAnonymity {
    pub(super) alpha: Rational,
    pub(super) k: u64,
    pub(super) alike: Alike,
}

impl Principle for AlphaKAnonymity {
    /// Not scale-free, because of k.
    fn laws(&self) -> Laws {
        Laws { monotone: true, scale_free: false }
    }

    fn holds(&self, group: &SaCounts) -> bool {
        let (p, q) = (u128::from(*self.alpha.numer()), u128::from(*self.alpha.denom()));
        let missing = self.alike.missing(group);
        group.total() >= self.k
            && u128::from(self.alike.most(group)) * q <= u128::from(group.total().saturating_sub(missing)) * p
            && u128::from(missing) * q <= u128::from(group.total()) * p
    }

    fn alike(&self) -> Option<&Alike> {
        Some(&self.alike)
    }

    fn least_size(&self) -> u64 {
        // One row of a value needs 1/α rows in all.
        self.k.max(self.alpha.recip().ceil().to_integer())
    }

    fn least_removal(&self, group: &SaCounts) -> u64 {
        if self.holds(group) {
            return 0;
        }
        if group.total() < self.least_size() {
            return group.total();
        }
        // PROOF: a group that is large enough and fails has c > α·(n − m) ≥ α·c or m > α·n ≥ α·m, so α is below 1.
        removal_for_most(group, &self.alike, (*self.alpha.numer(), *self.alpha.denom())).max(1)
    }

    fn safe_size(&self, rows: &SaCounts) -> Option<u64> {
        let missing = self.alike.missing(rows);
        let most = safe::rows_for(self.alike.most(rows), self.alpha).saturating_add(missing);
        Some(most.max(safe::rows_for(missing, self.alpha)).max(self.k))
    }

    fn limit(&self, whole: &SaCounts, sensitive: Option<&Sensitive<'_>>) -> Limit {
        let most = Frequent::of(whole, &self.alike, sensitive);
        let reason = if whole.total() < self.k {
            format!("the table has {} rows, a group needs {}", whole.total(), self.k)
        } else {
            let allowed = 100.0 * *self.alpha.numer() as f64 / *self.alpha.denom() as f64;
            format!("{}, at most {allowed:.2} % may have it", most.words)
        };
        // Rounded up to four digits, so that the proposal works.
        let share = Rational::new((most.count * 10_000).div_ceil(most.of.max(1)), 10_000);
        let share_is_fine = AlphaKAnonymity { alpha: self.alpha, k: 1, alike: self.alike.clone() }.holds(whole);
        // A share of 1 would promise nothing about values.
        let is_share = share > Rational::from(0) && share < Rational::from(1);
        let alpha = if share_is_fine { Some(self.alpha) } else { is_share.then_some(share) };
        let possible = alpha.map(|alpha| PrincipleSpec::AlphaK { alpha, k: self.k.min(whole.total()).max(1) });
        Limit::new(reason, possible, other_principles(whole, &self.alike, sensitive))
    }
}

impl fmt::Display for AlphaKAnonymity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "alpha-k={},{}", show_rational(self.alpha), self.k)
    }
}

use std::fmt;

use chrysalis_table::{Code, SaCounts};

use super::{Limit, Principle, Sensitive};
use crate::{Laws, Rational, show_rational};

/// Basic β-likeness: (p − q)/q ≤ β for every value, p its share in the group, q in the whole table.
///
/// # Guarantees
/// Nobody's likelihood of any value grows by more than the factor 1 + β through the release.
/// # Against whom
/// An attacker who knows the whole table's distribution and links by the quasi-identifier.
/// # Cost
/// Linear in the values present: an absent value cannot be over-represented.
/// # Paper
/// Cao and Karras.
#[derive(Debug)]
pub(super) struct BetaLikeness {
    beta: Rational,
    whole: SaCounts,
}

impl BetaLikeness {
    pub(super) fn bind(beta: Rational, sensitive: &Sensitive<'_>) -> Self {
        BetaLikeness { beta, whole: sensitive.counts.clone() }
    }
}

impl Principle for BetaLikeness {
    fn laws(&self) -> Laws {
        Laws { monotone: true, scale_free: true }
    }

    /// c/n ≤ (1 + β)·C/N, cross-multiplied: 32-bit counts and 18-digit parameters fit 128 bits.
    fn holds(&self, group: &SaCounts) -> bool {
        let denominator = u128::from(*self.beta.denom());
        let factor = denominator + u128::from(*self.beta.numer());
        let (n, all) = (u128::from(group.total()), u128::from(self.whole.total()));
        group.iter().all(|(code, count)| {
            let right = (u128::from(self.whole.count(code)) * n).checked_mul(factor);
            // PROOF: the left side is at most 2⁶⁴·10⁹; a right side past 128 bits is larger.
            right.is_none_or(|right| u128::from(count) * all * denominator <= right)
        })
    }

    fn least_size(&self) -> u64 {
        1
    }

    /// All rows of a value may come together: c·N/((1 + β)·C) rows, unless the whole group may have it.
    fn safe_size(&self, rows: &SaCounts) -> Option<u64> {
        let denominator = u128::from(*self.beta.denom());
        let factor = denominator + u128::from(*self.beta.numer());
        let all = u128::from(self.whole.total());
        let needed = |(code, count): (Code, u64)| {
            // PROOF: counts have 32 bits, parameters 30 digits of their own; what does not fit may be all of a group.
            let allowed = u128::from(self.whole.count(code)).checked_mul(factor)?;
            if allowed >= all * denominator {
                return Some(1);
            }
            u64::try_from((u128::from(count) * all * denominator).div_ceil(allowed.max(1))).ok()
        };
        Some(rows.iter().map(|it| needed(it).unwrap_or(1)).max().unwrap_or(1))
    }

    /// The whole table is always like itself.
    fn limit(&self, _: &SaCounts, _: Option<&Sensitive<'_>>) -> Limit {
        Limit::no_rows()
    }
}

impl fmt::Display for BetaLikeness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "beta={}", show_rational(self.beta))
    }
}

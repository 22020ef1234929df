use std::fmt;

use chrysalis_table::{Code, SaCounts};

use super::{Limit, Principle, Sensitive, column_name, safe, said, share_of_rows};
use crate::alike::Heaviest;
use crate::{Alike, Laws, Rational, show_rational};

/// Frequency l-diversity of all values except ordinary ones: none of them makes up more than 1/l of a group.
///
/// # Guarantees
/// No value that is not ordinary can be attributed to anybody with a confidence above 1/l. That somebody has an
/// ordinary value may be certain.
/// # Against whom
/// An attacker who links by the quasi-identifier and has no other knowledge of values.
/// # Cost
/// Linear in the values present.
/// # Paper
/// None: frequency l-diversity, for columns in which most values are harmless.
#[derive(Debug)]
pub(super) struct OthersLDiversity {
    l: Rational,
    is_ordinary: Vec<bool>,
    alike: Alike,
}

impl OthersLDiversity {
    pub(super) fn bind(l: Rational, sensitive: &Sensitive<'_>) -> Self {
        OthersLDiversity { l, is_ordinary: sensitive.ordinary.to_vec(), alike: sensitive.alike.clone() }
    }

    fn is_other(&self, code: Code) -> bool {
        !self.is_ordinary.get(code as usize).copied().unwrap_or(false)
    }

    /// The most frequent value that is not ordinary, where values may count as one.
    fn most(&self, group: &SaCounts) -> Heaviest {
        self.alike.heaviest(group, |code| self.is_other(code))
    }

    /// Missing values, unless they are ordinary.
    fn missing(&self, group: &SaCounts) -> u64 {
        let is_meant = |code: Code| self.alike.is_missing(code) && self.is_other(code);
        group.iter().filter(|(code, _)| is_meant(*code)).map(|(_, count)| count).sum()
    }
}

impl Principle for OthersLDiversity {
    fn laws(&self) -> Laws {
        Laws { monotone: true, scale_free: true }
    }

    /// c·l ≤ n − m for every value that is not ordinary, with l = p/q: c·p ≤ (n − m)·q; m of the n values are missing.
    fn holds(&self, group: &SaCounts) -> bool {
        let (p, q) = (u128::from(*self.l.numer()), u128::from(*self.l.denom()));
        let there = group.total().saturating_sub(self.alike.missing(group));
        u128::from(self.most(group).count) * p <= u128::from(there) * q
            && u128::from(self.missing(group)) * p <= u128::from(group.total()) * q
    }

    fn alike(&self) -> Option<&Alike> {
        Some(&self.alike)
    }

    /// A row with an ordinary value may stand alone.
    fn least_size(&self) -> u64 {
        1
    }

    fn beside_ordinary(&self) -> Option<(u64, &[bool])> {
        Some((self.l.numer().div_ceil(*self.l.denom()), &self.is_ordinary))
    }

    fn safe_size(&self, rows: &SaCounts) -> Option<u64> {
        let share = self.l.recip();
        let most = safe::rows_for(self.most(rows).count, share).saturating_add(self.alike.missing(rows));
        Some(most.max(safe::rows_for(self.missing(rows), share)))
    }

    fn limit(&self, whole: &SaCounts, sensitive: Option<&Sensitive<'_>>) -> Limit {
        let allowed = 100.0 * *self.l.denom() as f64 / *self.l.numer() as f64;
        let (most, missing) = (self.most(whole), self.missing(whole));
        let there = whole.total().saturating_sub(self.alike.missing(whole));
        // PROOF: counts stay below 2³², so the products fit 64 bits.
        let is_missing = missing * there > most.count * whole.total() || there == 0;
        let (count, of) = if is_missing { (missing, whole.total()) } else { (most.count, there) };
        let said = match sensitive {
            Some(column) if !is_missing => said(&most, &self.alike, column),
            _ => format!("the missing value of {} has", column_name(sensitive)),
        };
        let rows = share_of_rows(count, of, if there < whole.total() && !is_missing { " that have one" } else { "" });
        let reason = format!("{said} {rows}, and is not ordinary: at most {allowed:.2} % may have it");
        let l = of.checked_div(count).filter(|l| *l > 1).map(Rational::from);
        Limit::new(
            reason,
            l.map(|l| crate::PrincipleSpec::OthersL { l }),
            super::other_principles(whole, &self.alike, sensitive),
        )
    }
}

impl fmt::Display for OthersLDiversity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "others-l={}", show_rational(self.l))
    }
}

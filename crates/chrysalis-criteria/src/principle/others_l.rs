use std::fmt;

use chrysalis_table::{Code, SaCounts};

use super::{Limit, Principle, Sensitive, column_name};
use crate::{Laws, Rational, show_rational};

/// Frequency l-diversity of all values but ordinary ones: none of them makes up more than 1/l of a group.
///
/// # Guarantees
/// Nobody can be said to have a value that is not ordinary with a confidence above 1/l. That somebody has an ordinary one may be
/// certain.
/// # Against whom
/// An attacker who links by the quasi-identifier and has no other knowledge of values.
/// # Cost
/// Linear in the values present.
/// # Paper
/// None: frequency l-diversity, for columns most of whose values nobody minds.
#[derive(Debug)]
pub(super) struct OthersLDiversity {
    l: Rational,
    is_ordinary: Vec<bool>,
}

impl OthersLDiversity {
    pub(super) fn bind(l: Rational, sensitive: &Sensitive<'_>) -> Self {
        OthersLDiversity { l, is_ordinary: sensitive.ordinary.to_vec() }
    }

    /// The largest count of a value that is not ordinary, and which it is.
    fn most(&self, group: &SaCounts) -> (u64, Option<Code>) {
        let others = group.iter().filter(|(code, _)| !self.is_ordinary.get(*code as usize).copied().unwrap_or(false));
        let most = others.max_by_key(|&(code, count)| (count, std::cmp::Reverse(code)));
        most.map_or((0, None), |(code, count)| (count, Some(code)))
    }
}

impl Principle for OthersLDiversity {
    fn laws(&self) -> Laws {
        Laws { monotone: true, scale_free: true }
    }

    /// c·l ≤ n for every value that is not ordinary, with l = p/q: c·p ≤ n·q.
    fn holds(&self, group: &SaCounts) -> bool {
        let (p, q) = (u128::from(*self.l.numer()), u128::from(*self.l.denom()));
        u128::from(self.most(group).0) * p <= u128::from(group.total()) * q
    }

    /// A row with an ordinary value may stand alone.
    fn least_size(&self) -> u64 {
        1
    }

    fn limit(&self, whole: &SaCounts, sensitive: Option<&Sensitive<'_>>) -> Limit {
        let (count, code) = self.most(whole);
        let value =
            code.zip(sensitive).map_or_else(String::new, |(code, column)| column.domain.display(code).to_string());
        let allowed = 100.0 * *self.l.denom() as f64 / *self.l.numer() as f64;
        let share = 100.0 * count as f64 / whole.total().max(1) as f64;
        let reason = format!(
            "value `{value}` of {} is not ordinary and has {count} of {} rows ({share:.2} %), at most {allowed:.2} % may have it",
            column_name(sensitive),
            whole.total()
        );
        let l = whole.total().checked_div(count).filter(|l| *l > 1).map(Rational::from);
        Limit::new(reason, l.map(|l| crate::PrincipleSpec::OthersL { l }), super::other_principles(whole, sensitive))
    }
}

impl fmt::Display for OthersLDiversity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "others-l={}", show_rational(self.l))
    }
}

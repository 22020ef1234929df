use std::fmt;

use chrysalis_table::SaCounts;

use super::{Limit, Minimum, Principle, Sensitive, column_name, other_principles, values};
use crate::{Laws, PrincipleSpec};

/// Distinct l-diversity: a group has at least l distinct sensitive values.
///
/// # Guarantees
/// l−1 values must be ruled out before a person's value is certain.
/// # Against whom
/// An attacker who links by the quasi-identifier; one value may still dominate the group.
/// # Cost
/// Constant: the number of values present is kept with the counts.
/// # Paper
/// Machanavajjhala et al.; used by `ke` and `lalpha`.
#[derive(Debug)]
pub(super) struct DistinctLDiversity {
    pub(super) l: u64,
}

impl Principle for DistinctLDiversity {
    fn laws(&self) -> Laws {
        Laws { monotone: true, scale_free: true }
    }

    fn holds(&self, group: &SaCounts) -> bool {
        group.distinct() as u64 >= self.l
    }

    fn least_size(&self) -> u64 {
        self.l
    }

    fn minimum(&self) -> Option<Minimum> {
        Some(Minimum { rows: self.l, distinct: self.l, span: None })
    }

    fn limit(&self, whole: &SaCounts, sensitive: Option<&Sensitive<'_>>) -> Limit {
        let distinct = whole.distinct() as u64;
        let (column, values) = (column_name(sensitive), values(distinct));
        let reason = format!("{column} has {distinct} distinct {values}, a group needs {}", self.l);
        Limit::new(reason, Some(PrincipleSpec::DistinctL { l: distinct }), other_principles(whole, sensitive))
    }
}

impl fmt::Display for DistinctLDiversity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "distinct-l={}", self.l)
    }
}

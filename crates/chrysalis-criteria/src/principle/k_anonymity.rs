use std::fmt;

use chrysalis_table::SaCounts;

use super::{Limit, Minimum, Principle, Sensitive};
use crate::{Laws, PrincipleSpec};

/// k-anonymity: a group has at least k rows.
///
/// # Guarantees
/// A person known by the quasi-identifier cannot be told from k−1 others.
/// # Against whom
/// An attacker who links by the quasi-identifier and knows nothing of sensitive values.
/// # Cost
/// Constant.
/// # Paper
/// Samarati and Sweeney; the basis of `butterfly` and of angel's buckets.
#[derive(Debug)]
pub(super) struct KAnonymity {
    pub(super) k: u64,
}

impl Principle for KAnonymity {
    /// Not scale-free: one row fails k=2, the same row twice passes.
    fn laws(&self) -> Laws {
        Laws { monotone: true, scale_free: false }
    }

    fn holds(&self, group: &SaCounts) -> bool {
        group.total() >= self.k
    }

    fn least_size(&self) -> u64 {
        self.k
    }

    fn is_size_only(&self) -> bool {
        true
    }

    fn minimum(&self) -> Option<Minimum> {
        Some(Minimum { rows: self.k, distinct: 1, span: None, apart: 1 })
    }

    fn safe_size(&self, _: &SaCounts) -> Option<u64> {
        Some(self.k)
    }

    fn limit(&self, whole: &SaCounts, _: Option<&Sensitive<'_>>) -> Limit {
        let (rows, words) = (whole.total(), if whole.total() == 1 { "row" } else { "rows" });
        let reason = format!("the table has {rows} {words}, a group needs {}", self.k);
        Limit::new(reason, Some(PrincipleSpec::KAnonymity { k: rows }), "nobody hides alone: add rows")
    }
}

impl fmt::Display for KAnonymity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "k={}", self.k)
    }
}

use std::fmt;

use chrysalis_table::SaCounts;

use super::{Limit, Principle, Sensitive};
use crate::{Laws, PrincipleSpec};

/// m-invariance: a person's group shows the same m or more sensitive values, all equally often, in every release of a
/// series.
///
/// # Guarantees
/// Whoever intersects any number of releases is no surer of anybody's value than 1/m.
/// # Against whom
/// An attacker who knows all quasi values, life spans and releases, and to whom all worlds that agree with them are
/// equally likely.
/// # Cost
/// Constant.
/// # Paper
/// Xiao and Tao, *m-invariance: towards privacy preserving re-publication of dynamic datasets*.
///
/// What a person's group showed before decides, and so do counterfeit values, and counts of the rows of one group know
/// neither. So [`Principle::holds`] lets every group with a row pass, and a publisher must judge groups by what they show,
/// and by what was published before, before it promises anything.
#[derive(Debug)]
pub(super) struct MInvariance {
    pub(super) m: u64,
}

impl Principle for MInvariance {
    /// Two groups with one value in common show it more often than others once they are merged.
    fn laws(&self) -> Laws {
        Laws { monotone: false, scale_free: false }
    }

    fn holds(&self, group: &SaCounts) -> bool {
        group.total() > 0
    }

    fn least_size(&self) -> u64 {
        1
    }

    fn is_size_only(&self) -> bool {
        true
    }

    fn limit(&self, _: &SaCounts, _: Option<&Sensitive<'_>>) -> Limit {
        Limit::no_rows()
    }
}

impl fmt::Display for MInvariance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        PrincipleSpec::MInvariance { m: self.m }.fmt(f)
    }
}

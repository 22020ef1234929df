use std::fmt;

use chrysalis_table::SaCounts;

use super::{Limit, Principle, Sensitive, column_name};
use crate::{Laws, PrincipleSpec};

/// A principle that exists for one test: a group has at least n distinct sensitive values.
#[derive(Debug)]
pub(super) struct Toy {
    pub(super) n: u64,
}

impl Principle for Toy {
    fn laws(&self) -> Laws {
        Laws { monotone: true, scale_free: true }
    }

    fn holds(&self, group: &SaCounts) -> bool {
        group.distinct() as u64 >= self.n
    }

    fn least_size(&self) -> u64 {
        self.n
    }

    fn limit(&self, whole: &SaCounts, sensitive: Option<&Sensitive<'_>>) -> Limit {
        let distinct = whole.distinct();
        let reason = format!("{} has {distinct} distinct values, a group needs {}", column_name(sensitive), self.n);
        Limit::new(reason, Some(PrincipleSpec::Toy { n: distinct as u64 }), "choose another principle")
    }
}

impl fmt::Display for Toy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "toy={}", self.n)
    }
}

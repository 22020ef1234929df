//! The form of `shuffle` (ke): exact quasi values, the sensitive column permuted inside its group.
//!
//! `permuted`(quasi…, other…, group_id, sensitive) and `help`(group_id, hits, sum_lb, …): for every group and every number of
//! rows a question may hit, what sum, minimum and maximum of the sensitive values can be, and their expectation.

/// Name of the table of rows.
pub const TABLE: &str = "permuted";
/// Name of the table of bounds.
pub const HELP: &str = "help";
/// The columns of `help`. `mean` and `variance` are those of the sum over that many hits, all choices equally likely; `min_mean` to
/// `max_variance` are those of the least and of the greatest value hit.
pub const HELP_COLUMNS: [&str; 14] = [
    "group_id",
    "hits",
    "sum_lb",
    "sum_ub",
    "min_lb",
    "min_ub",
    "max_lb",
    "max_ub",
    "mean",
    "variance",
    "min_mean",
    "min_variance",
    "max_mean",
    "max_variance",
];

//! The form of `anatomy`: exact quasi values beside the sensitive values of their group.
//!
//! `qit`(quasi…, other…, group_id), one row per person, and `st`(group_id, sensitive, count), one row per group and
//! sensitive value. Rows of `qit` are in order of group id, then of the published values; rows of `st` in order of group
//! id, then value.

/// Name of the table of quasi values.
pub const QUASI_TABLE: &str = "qit";
/// Name of the table of sensitive values.
pub const SENSITIVE_TABLE: &str = "st";
/// The column of `st` that says how often a value occurs in its group.
pub const COUNT: &str = "count";

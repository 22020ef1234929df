//! The form of `permute` (pa): every quasi column permuted on its own inside its group.
//!
//! `pqt`(quasi…, group_id) and `pst`(group_id, sensitive, count). The cells of a row of `pqt` come from different
//! people: only each column's values per group are true. Rows are in order of group id, then of the shown values. Without a
//! sensitive column there is no `pst`.

/// Name of the table of quasi values.
pub const QUASI_TABLE: &str = "pqt";
/// Name of the table of sensitive values.
pub const SENSITIVE_TABLE: &str = "pst";
/// The column of `pst` that says how often a value occurs in its group.
pub const COUNT: &str = "count";

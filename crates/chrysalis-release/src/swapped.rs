//! The form of `rank-swap`: `swapped`(quasi…, other…, sensitive), each sensitive value exchanged with one of a close rank.

/// Name of the table of rows.
pub const TABLE: &str = "swapped";

//! The form of `generalize` and `butterfly`: ranges and labels in place of values.
//!
//! `generalized`(group_id, per ordered quasi attribute `a`: `a_min`, `a_max`; per category: its label; other…;
//! sensitive) and `members`(attribute, label, value).
//!
//! A missing value sorts before all others. An empty `a_min` beside an `a_max` therefore means: missing, or anything
//! up to `a_max`; both empty mean: missing, for certain. In a label the missing value is a member with an empty text.

/// Name of the table of rows.
pub const TABLE: &str = "generalized";
/// Name of the table that says what labels stand for.
pub const MEMBERS: &str = "members";
/// Columns of `members`.
pub const MEMBERS_COLUMNS: [&str; 3] = ["attribute", "label", "value"];

/// The column with the lower ends of an ordered attribute's ranges.
pub fn min_column(attribute: &str) -> String {
    format!("{attribute}_min")
}

/// The column with the upper ends of an ordered attribute's ranges.
pub fn max_column(attribute: &str) -> String {
    format!("{attribute}_max")
}

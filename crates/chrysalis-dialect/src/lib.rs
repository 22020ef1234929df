//! SQL statements as syntax trees, built almost as one would write them, and the differences between databases.
//!
//! Nothing is decided here: what a statement says is up to its author. Rewritten questions (`chrysalis-sql`) and the
//! audit as SQL (`chrysalis-audit-sql`) are both built with these parts, so that no statement is ever glued together
//! from text.

pub mod dialect;
pub mod expr;
pub mod select;
pub mod view;

pub use dialect::Dialect;

//! What the tests of several crates share; never published.
//!
//! - [`papers`]: the papers' worked tables, typed in by hand.
//! - [`strategies`]: random columns, groups, taxonomies, principles and tables, small enough to shrink well.
//! - [`questions`]: a survey with every kind of column, and random questions about it.
//! - [`engines`]: databases that judge rewritten questions.
//! - [`oracle`]: slow and obviously right. Every principle straight from its definition, every partition of a few rows.
//!
//! Nothing here is shared with the code under test beyond plain data: domains, counts, and parameters as written.

#![allow(clippy::unwrap_used, reason = "no product code depends on this crate; a test whose support fails has failed")]

pub mod engines;
pub mod oracle;
pub mod papers;
pub mod questions;
mod sensitive;
pub mod strategies;

pub use sensitive::{SensitiveColumn, required};

//! What the tests of several crates share; never published.
//!
//! - [`papers`]: the papers' worked tables, typed in by hand.
//! - [`strategies`]: random columns, groups, taxonomies, principles and tables, small enough to shrink well.
//! - [`oracle`]: slow and obviously right. Every principle straight from its definition, every partition of a few rows.
//!
//! Nothing here is shared with the code under test beyond plain data: domains, counts, and parameters as written.

#![allow(clippy::unwrap_used, reason = "tests")]

pub mod oracle;
pub mod papers;
mod sensitive;
pub mod strategies;

pub use sensitive::SensitiveColumn;

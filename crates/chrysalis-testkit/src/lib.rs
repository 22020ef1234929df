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

/// Whether long suites run in full, as `cargo xtask ci --all` asks for.
pub fn is_slow() -> bool {
    std::env::var_os("CHRYSALIS_SLOW").is_some_and(|value| value == "1")
}

/// How much of a long suite to run.
pub fn sampled<T>(sample: T, all: T) -> T {
    if is_slow() { all } else { sample }
}

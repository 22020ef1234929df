//! SQL in and out.
//!
//! [`parse`] turns text into a [`Question`](chrysalis_query::Question), and [`rewrite()`] turns a planned question into
//! one statement for a database that holds the release's tables. `chrysalis-query` defines what a question means and
//! how a release answers it; this crate follows its `spec.md`.
//!
//! This is a crate of its own because a parser's syntax tree is large and never hot: it is compiled with little
//! optimization, so that the first build stays short (docs/results/build.md).

pub mod parse;
pub mod rewrite;

use chrysalis_query::{Answer, EstimateMode, Inquiry, OpenRelease, QueryError, Tables};

pub use rewrite::{Dialect, rewrite};

/// Answers one question written in SQL with the papers' estimates, which rewritten statements compute too.
pub fn ask(release: &OpenRelease, text: &str) -> Result<Answer, QueryError> {
    let inquiry = Inquiry::new(&parse::statement(text)?, release.manifest(), &Tables::default())?;
    Ok(release.inquire(&inquiry, EstimateMode::Even)?.answer)
}

use std::fmt;

use chrysalis_release::ReleaseError;
use chrysalis_table::Remedy;
use thiserror::Error;

/// A place in the text of a question, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: u64,
    /// The column, in characters.
    pub column: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Why a question gets no answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The question cannot be understood, or asks for something that no release publishes.
    #[error("{}{problem}", place(at))]
    Question {
        /// Where in the question's text.
        at: Option<Position>,
        /// What is wrong.
        problem: String,
        /// What to ask instead.
        hint: Remedy,
    },
    /// The question is sound, but this form of release cannot answer it.
    #[error("{}{problem}", place(at))]
    Unanswerable {
        /// Where in the question's text.
        at: Option<Position>,
        /// Why.
        problem: String,
        /// What can be asked.
        hint: Remedy,
    },
    /// The tables are not what their form says.
    #[error(transparent)]
    Release(#[from] ReleaseError),
}

fn place(at: &Option<Position>) -> String {
    at.map_or_else(String::new, |at| format!("{at}: "))
}

impl QueryError {
    /// A question that cannot be understood.
    pub fn question(at: Option<Position>, problem: impl Into<String>, hint: impl Into<Remedy>) -> Self {
        QueryError::Question { at, problem: problem.into(), hint: hint.into() }
    }

    /// A question that this release cannot answer.
    pub fn unanswerable(at: Option<Position>, problem: impl Into<String>, hint: impl Into<Remedy>) -> Self {
        QueryError::Unanswerable { at, problem: problem.into(), hint: hint.into() }
    }

    /// A release whose tables are not what their form says.
    pub fn broken(problem: impl Into<String>) -> Self {
        QueryError::Release(ReleaseError::Nonsense(problem.into()))
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Remedy {
        match self {
            QueryError::Question { hint, .. } | QueryError::Unanswerable { hint, .. } => hint.clone(),
            QueryError::Release(error) => error.hint(),
        }
    }
}

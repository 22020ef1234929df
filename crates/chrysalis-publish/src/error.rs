use chrysalis_criteria::CriteriaError;
use chrysalis_table::{Knob, Remedy, TableError, TaxonomyError};
use thiserror::Error;

/// Why nothing was published.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The whole table fails a principle, and therefore so does every partition of it.
    #[error("cannot reach {principle}: {reason}")]
    Infeasible {
        /// The principle, as written.
        principle: String,
        /// What stands in the way.
        reason: String,
        /// The strongest variant that would work.
        possible: Option<String>,
        /// What to do if no variant would work.
        instead: Remedy,
    },
    /// A group that came with the input fails a principle.
    #[error(
        "cannot keep {principle}: group `{group}` of column `{column}` fails it ({n_failing} of {n_groups} groups do)"
    )]
    GroupFails {
        /// The principle, as written.
        principle: String,
        /// The column the groups come from.
        column: String,
        /// The first failing group.
        group: String,
        /// How many groups fail.
        n_failing: usize,
        /// How many groups there are.
        n_groups: usize,
    },
    /// No column is named that an attacker may know.
    #[error("no quasi-identifier is named")]
    NoQuasi,
    /// Two columns of a published table would have the same name.
    #[error("the published table would have two columns `{column}`")]
    NameClash {
        /// The name.
        column: String,
    },
    /// A taxonomy that does not fit its column.
    #[error("taxonomy of `{column}`: {error}")]
    Taxonomy {
        /// The column.
        column: String,
        /// What is wrong.
        error: TaxonomyError,
    },
    /// A request that cannot be carried out.
    #[error("{problem}")]
    Request {
        /// What is wrong.
        problem: String,
        /// What to do about it.
        remedy: Remedy,
    },
    /// A principle that does not fit the column.
    #[error(transparent)]
    Criteria(#[from] CriteriaError),
    /// A problem with the table itself.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A bug.
    #[error("internal error: {0}")]
    Internal(String),
}

impl PublishError {
    /// Names the sensitive column that a principle is out of reach for, as one of several.
    pub(crate) fn about(self, column: &str) -> Self {
        let named = |principle: String| format!("{column}:{principle}");
        match self {
            PublishError::Infeasible { principle, reason, possible, instead } if !principle.starts_with("k=") => {
                PublishError::Infeasible { principle: named(principle), reason, possible: possible.map(named), instead }
            }
            error => error,
        }
    }

    /// A request that cannot be carried out; the hint points to the manual.
    pub(crate) fn request(problem: impl Into<String>) -> Self {
        PublishError::remedied(problem, Remedy::from("see ").manual())
    }

    /// A request that cannot be carried out, and what to do about it.
    pub(crate) fn remedied(problem: impl Into<String>, remedy: Remedy) -> Self {
        PublishError::Request { problem: problem.into(), remedy }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Remedy {
        match self {
            PublishError::Infeasible { possible: Some(possible), .. } => {
                format!("the strongest that this table allows is {possible}").into()
            }
            PublishError::Infeasible { possible: None, instead, .. } => instead.clone(),
            PublishError::GroupFails { .. } => "merge it with another group, or choose a weaker principle".into(),
            PublishError::NoQuasi => {
                Remedy::from("name the columns an attacker may know with ").knob(Knob::Quasi, "a,b,c")
            }
            PublishError::NameClash { column } => format!("rename the column `{column}` in the input").into(),
            PublishError::Taxonomy { error, .. } => error.hint(),
            PublishError::Request { remedy, .. } => remedy.clone(),
            PublishError::Criteria(error) => error.hint(),
            PublishError::Table(error) => error.hint(),
            PublishError::Internal(_) => "please report this with the command you ran".into(),
        }
    }

    /// Whether the request was valid but the data cannot meet it.
    pub fn is_infeasible(&self) -> bool {
        matches!(self, PublishError::Infeasible { .. } | PublishError::GroupFails { .. })
    }
}

use chrysalis_query::QueryError;
use chrysalis_release::{Form, ReleaseError, Shape};
use chrysalis_table::{Kind, Knob, Remedy};
use thiserror::Error;

/// Why a release cannot be evaluated.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EvaluateError {
    /// A form from which no distribution can be rebuilt.
    #[error("releases by method `{method}` cannot be evaluated")]
    Method {
        /// The method.
        method: Form,
    },
    /// A release without sensitive values.
    #[error("the release has no sensitive attribute, so there is nothing to rebuild")]
    NoSensitive,
    /// A name that is no quasi attribute.
    #[error("`{name}` is not a quasi attribute of the release")]
    NotQuasi {
        /// The name.
        name: String,
        /// The quasi attributes of the release.
        known: Vec<String>,
    },
    /// A table that does not show what is asked for.
    #[error("the release has no table `{table}` with these attributes")]
    NoTable {
        /// Its name.
        table: String,
    },
    /// Microdata that lack a column of the release.
    #[error("the microdata have no column `{column}`")]
    MissingColumn {
        /// The column.
        column: String,
    },
    /// A column of the microdata of another kind than in the release.
    #[error("column `{column}` of the microdata is {found}, the release says {expected}")]
    WrongKind {
        /// The column.
        column: String,
        /// The kind in the microdata.
        found: Kind,
        /// The kind in the release.
        expected: Kind,
    },
    /// Microdata without rows.
    #[error("the microdata have no rows")]
    NoRows,
    /// Questions that cannot be asked.
    #[error("{problem}")]
    Workload {
        /// What is wrong with them.
        problem: String,
        /// What can be asked.
        hint: Remedy,
    },
    /// A question that the release cannot answer.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The tables are not what their form says.
    #[error(transparent)]
    Release(#[from] ReleaseError),
}

impl EvaluateError {
    pub(crate) fn broken(problem: impl Into<String>) -> Self {
        EvaluateError::Release(ReleaseError::Nonsense(problem.into()))
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Remedy {
        match self {
            EvaluateError::Method { .. } => {
                format!("evaluate one by {}", forms(|shape| shape.group_id.is_some())).into()
            }
            EvaluateError::NoSensitive => Remedy::from("publish the table with ").knob(Knob::Sensitive, ""),
            EvaluateError::NotQuasi { known, .. } => format!("the quasi attributes are {}", known.join(", ")).into(),
            EvaluateError::NoTable { .. } => {
                Remedy::from("leave ").knob(Knob::Table, "").words(" out, or name one of the tables in release.json")
            }
            EvaluateError::MissingColumn { .. } | EvaluateError::WrongKind { .. } | EvaluateError::NoRows => {
                "name the table that the release was made from".into()
            }
            EvaluateError::Workload { hint, .. } => hint.clone(),
            EvaluateError::Query(error) => error.hint(),
            EvaluateError::Release(error) => error.hint(),
        }
    }
}

/// The forms whose shape satisfies a condition, as one lists them in a sentence.
pub(crate) fn forms(looks_so: impl Fn(&Shape) -> bool) -> String {
    let names: Vec<&str> = Form::ALL.iter().filter(|form| looks_so(&form.shape())).map(|form| form.name()).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}

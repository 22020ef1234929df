use chrysalis_release::{Form, ReleaseError};
use chrysalis_table::Remedy;
use thiserror::Error;

/// Why no rows can be drawn.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SampleError {
    /// A form that does not say what a world must keep.
    #[error("no rows can be drawn from releases by method `{method}`: they have no groups")]
    Method {
        /// The method.
        method: Form,
    },
    /// Tables of people whose boxes cannot all be kept.
    #[error("found no rows that fit the tables `{whole}` and `{marginal}` both")]
    Marginal {
        /// The table with all attributes.
        whole: String,
        /// The table with some of them.
        marginal: String,
    },
    /// The tables are not what their form says.
    #[error(transparent)]
    Release(#[from] ReleaseError),
}

impl SampleError {
    pub(crate) fn broken(problem: impl Into<String>) -> Self {
        SampleError::Release(ReleaseError::Nonsense(problem.into()))
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Remedy {
        match self {
            SampleError::Method { .. } => {
                let names: Vec<&str> =
                    Form::ALL.iter().filter(|form| form.shape().group_id.is_some()).map(|form| form.name()).collect();
                format!("draw from a release by one of {}", names.join(", ")).into()
            }
            SampleError::Marginal { .. } => "draw again, or audit the release".into(),
            SampleError::Release(error) => error.hint(),
        }
    }
}

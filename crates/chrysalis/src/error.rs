use std::fmt;

use chrysalis_arrow::ArrowTableError;
use chrysalis_audit::AuditError;
use chrysalis_criteria::CriteriaError;
use chrysalis_evaluate::EvaluateError;
use chrysalis_publish::PublishError;
use chrysalis_query::QueryError;
use chrysalis_release::ReleaseError;
use chrysalis_risk::RiskError;
use chrysalis_sample::SampleError;
use chrysalis_store::StoreError;
use chrysalis_table::{Remedy, Stopped, TableError, TaxonomyError};

/// Why something was not done: whose fault it is, what is wrong in one sentence, and what to do about it.
///
/// A remedy names knobs; the door that shows the error spells them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Whose fault it is.
    pub fault: Fault,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// What to do about it; empty if nothing can be done.
    pub remedy: Remedy,
}

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The request's, or that of the data or files it refers to.
    Request,
    /// The request is fine, but these data cannot meet it.
    Infeasible,
    /// A question that the release does not answer.
    Question,
    /// Nobody's: the work was stopped from outside and left nothing behind.
    Stopped,
    /// Ours: a bug.
    Internal,
}

impl Error {
    /// An error that is the fault of the request, or of what it refers to.
    pub fn request(message: impl Into<String>, remedy: impl Into<Remedy>) -> Self {
        Error { fault: Fault::Request, message: message.into(), remedy: remedy.into() }
    }

    /// An error that is our fault.
    pub fn internal(message: impl Into<String>) -> Self {
        let remedy = "please report this with everything that leads to it".into();
        Error { fault: Fault::Internal, message: message.into(), remedy }
    }

    /// The same error, preceded by what it is about.
    #[must_use]
    pub fn about(self, what: &str) -> Self {
        Error { message: format!("{what}: {}", self.message), ..self }
    }

    /// The error if everything that was tried failed: the common reason if there is one, otherwise the first error
    /// stands for all.
    pub fn none_of(errors: Vec<Error>) -> Self {
        let n_tried = errors.len();
        let mut errors = errors.into_iter();
        let Some(first) = errors.next() else { return Error::internal("nothing was tried") };
        let rest: Vec<Error> = errors.collect();
        if rest.iter().all(|other| other.message == first.message) {
            return first;
        }
        let is_infeasible = std::iter::once(&first).chain(&rest).any(|error| error.fault == Fault::Infeasible);
        let message = format!("none of the {n_tried} releases can be made; the first error: {}", first.message);
        Error { message, remedy: first.remedy, fault: if is_infeasible { Fault::Infeasible } else { first.fault } }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<Stopped> for Error {
    fn from(_: Stopped) -> Self {
        Error { fault: Fault::Stopped, message: "stopped; nothing was written".to_owned(), remedy: Remedy::none() }
    }
}

impl From<PublishError> for Error {
    fn from(error: PublishError) -> Self {
        let fault = match &error {
            PublishError::Internal(_) => Fault::Internal,
            error if error.is_infeasible() => Fault::Infeasible,
            _ => Fault::Request,
        };
        Error { fault, message: error.to_string(), remedy: error.hint() }
    }
}

impl From<QueryError> for Error {
    fn from(error: QueryError) -> Self {
        Error { fault: Fault::Question, message: error.to_string(), remedy: error.hint() }
    }
}

/// Errors that are always the fault of the request, or of what it refers to.
macro_rules! requests {
    ($($error:ty),*) => {$(
        impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Error::request(error.to_string(), error.hint())
            }
        }
    )*};
}

requests!(
    ArrowTableError,
    AuditError,
    CriteriaError,
    EvaluateError,
    ReleaseError,
    RiskError,
    SampleError,
    StoreError,
    TableError,
    TaxonomyError
);

//! What went wrong, in one sentence, what to do, in another, and the exit code that goes with it.

use std::process::ExitCode;

use chrysalis_audit::AuditError;
use chrysalis_criteria::CriteriaError;
use chrysalis_evaluate::EvaluateError;
use chrysalis_load::LoadError;
use chrysalis_publish::PublishError;
use chrysalis_query::QueryError;
use chrysalis_release::ReleaseError;
use chrysalis_store::StoreError;

use crate::render::printable;

/// Done.
pub(crate) const DONE: u8 = 0;
/// Anything else.
const INTERNAL: u8 = 1;
/// Bad input or usage.
const BAD_INPUT: u8 = 2;
/// Cannot be satisfied.
const INFEASIBLE: u8 = 3;
/// The audit failed.
pub(crate) const AUDIT_FAILED: u8 = 4;

#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hint: String,
    code: u8,
}

impl Failure {
    /// The user's request or data is at fault.
    pub(crate) fn bad_input(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Failure { message: message.into(), hint: hint.into(), code: BAD_INPUT }
    }

    /// The command line cannot be understood: clap's own sentence, with its tip or the usage as a hint.
    pub(crate) fn usage(error: &clap::Error) -> Self {
        let text = error.to_string();
        let mut paragraphs = text.split("\n\n").map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
        let message = paragraphs.next().unwrap_or_default();
        let message = message.strip_prefix("error: ").unwrap_or(&message).to_owned();
        let rest: Vec<String> = paragraphs.collect();
        let tip = rest.iter().find_map(|part| part.strip_prefix("tip: ")).filter(|tip| !tip.contains("'-- -"));
        let usage = rest.iter().find_map(|part| part.strip_prefix("Usage: "));
        let hint = match (tip, usage) {
            (Some(tip), _) => tip.to_owned(),
            (None, Some(usage)) => format!("usage: {usage}; --help tells more"),
            (None, None) => "--help tells what can be said".to_owned(),
        };
        Failure::bad_input(message, hint)
    }

    /// We are.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        let hint = "please report this with the command you ran".into();
        Failure { message: message.into(), hint, code: INTERNAL }
    }

    /// The work is done, but nobody can be told.
    pub(crate) fn unprinted(error: &std::io::Error) -> Self {
        let message = format!("cannot print the result: {error}");
        Failure { message, hint: "the work itself is done; check where the output goes".into(), code: INTERNAL }
    }

    /// Whether no release can keep what is required.
    pub(crate) fn is_infeasible(&self) -> bool {
        self.code == INFEASIBLE
    }

    /// The same, with what it is about.
    pub(crate) fn about(self, what: &str) -> Self {
        Failure { message: format!("{what}: {}", self.message), ..self }
    }

    /// What is wrong.
    pub(crate) fn sentence(&self) -> &str {
        &self.message
    }

    /// Nothing that was tried can be done: if all fail for one reason that is it, else the first stands for them.
    pub(crate) fn none_of(failures: Vec<Failure>) -> Self {
        let n_tried = failures.len();
        let mut failures = failures.into_iter();
        let Some(first) = failures.next() else { return Failure::internal("nothing was tried") };
        let rest: Vec<Failure> = failures.collect();
        if rest.iter().all(|other| other.message == first.message) {
            return first;
        }
        let is_infeasible = first.code == INFEASIBLE || rest.iter().any(|other| other.code == INFEASIBLE);
        let message = format!("none of the {n_tried} releases can be made; the first: {}", first.message);
        Failure { message, hint: first.hint, code: if is_infeasible { INFEASIBLE } else { first.code } }
    }

    #[allow(clippy::print_stderr, reason = "this is where errors are printed")]
    pub(crate) fn report(self) -> ExitCode {
        eprintln!("error: {}", printable(&self.message));
        if !self.hint.is_empty() {
            eprintln!("hint: {}", printable(&self.hint));
        }
        ExitCode::from(self.code)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Failure::bad_input(error.to_string(), error.hint())
    }
}

impl From<ReleaseError> for Failure {
    fn from(error: ReleaseError) -> Self {
        Failure::bad_input(error.to_string(), error.hint())
    }
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Self {
        Failure::bad_input(error.to_string(), error.hint())
    }
}

impl From<CriteriaError> for Failure {
    fn from(error: CriteriaError) -> Self {
        Failure::bad_input(error.to_string(), error.hint())
    }
}

impl From<AuditError> for Failure {
    fn from(error: AuditError) -> Self {
        Failure::bad_input(error.to_string(), error.hint())
    }
}

impl From<EvaluateError> for Failure {
    fn from(error: EvaluateError) -> Self {
        Failure::bad_input(error.to_string(), error.hint())
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        Failure::bad_input(error.to_string(), error.hint())
    }
}

impl From<PublishError> for Failure {
    fn from(error: PublishError) -> Self {
        let code = match &error {
            PublishError::Internal(_) => INTERNAL,
            error if error.is_infeasible() => INFEASIBLE,
            _ => BAD_INPUT,
        };
        Failure { message: error.to_string(), hint: error.hint(), code }
    }
}

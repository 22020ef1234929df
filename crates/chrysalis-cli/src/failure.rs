//! What went wrong, in one sentence, what to do, in another, and the exit code that goes with it.

use std::process::ExitCode;

use chrysalis_audit::AuditError;
use chrysalis_criteria::CriteriaError;
use chrysalis_publish::PublishError;
use chrysalis_release::ReleaseError;
use chrysalis_store::StoreError;

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

    /// We are.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        let hint = "please report this with the command you ran".into();
        Failure { message: message.into(), hint, code: INTERNAL }
    }

    #[allow(clippy::print_stderr, reason = "this is where errors are printed")]
    pub(crate) fn report(self) -> ExitCode {
        eprintln!("error: {}", self.message);
        if !self.hint.is_empty() {
            eprintln!("hint: {}", self.hint);
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

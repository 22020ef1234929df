//! What went wrong in one sentence, what to do in another, and the exit code.

use std::io::Write;
use std::process::ExitCode;

use chrysalis::{Error, Fault, Knob, Remedy, Spelling};

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
/// Stopped by a signal, with the exit code that shells use for that.
pub(crate) const STOPPED: u8 = 130;

/// How a command line spells a knob.
pub(crate) struct Flags;

impl Spelling for Flags {
    fn knob(&self, knob: Knob, value: &str) -> String {
        let flag = match (knob, value.split_once('=')) {
            // Each table has a flag of its own.
            (Knob::Tables, _) => "--table".to_owned(),
            // Runs, and the weights of several columns, are said in a spec only.
            (Knob::Runs, _) => return "`[[compare.runs]]` in a spec".to_owned(),
            (Knob::Weights, Some((column, weights))) => {
                return format!("`[attributes.{column}]`, `weights = \"{weights}\"` in a spec");
            }
            _ => format!("--{}", knob.name().replace('_', "-")),
        };
        if value.is_empty() { flag } else { format!("{flag} {value}") }
    }

    fn manual(&self) -> String {
        "`chrysalis publish --help`".to_owned()
    }
}

#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hint: String,
    code: u8,
}

impl Failure {
    /// The request or the data is at fault.
    pub(crate) fn bad_input(message: impl Into<String>, remedy: impl Into<Remedy>) -> Self {
        Failure { message: message.into(), hint: remedy.into().spelled(&Flags), code: BAD_INPUT }
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
            (None, Some(usage)) => format!("usage: {usage}; see --help for more"),
            (None, None) => "run with --help to see the options".to_owned(),
        };
        Failure::bad_input(message, hint)
    }

    /// A bug of ours.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Error::internal(message).into()
    }

    /// SQLite and PostgreSQL take minutes to compile, and not everyone needs them.
    #[cfg(not(feature = "databases"))]
    pub(crate) fn without_databases() -> Self {
        let hint = "install it with them: cargo install --path crates/chrysalis-cli --features databases";
        Failure::bad_input("this chrysalis was built without databases", hint)
    }

    /// The work is done, but its result cannot be printed.
    pub(crate) fn unprinted(error: &std::io::Error) -> Self {
        let message = format!("cannot print the result: {error}");
        Failure { message, hint: "the work itself is done; check where the output goes".into(), code: INTERNAL }
    }

    pub(crate) fn report(self) -> ExitCode {
        say(&format!("error: {}", printable(&self.message)));
        if !self.hint.is_empty() {
            say(&format!("hint: {}", printable(&self.hint)));
        }
        ExitCode::from(self.code)
    }
}

/// Prints a line to standard error. If nobody reads it any more, the error is ignored.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match error.fault {
            Fault::Request | Fault::Question => BAD_INPUT,
            Fault::Infeasible => INFEASIBLE,
            Fault::Stopped => STOPPED,
            Fault::Internal => INTERNAL,
        };
        Failure { message: error.message, hint: error.remedy.spelled(&Flags), code }
    }
}

impl From<chrysalis::store::StoreError> for Failure {
    fn from(error: chrysalis::store::StoreError) -> Self {
        Error::from(error).into()
    }
}

#[cfg(feature = "databases")]
impl From<chrysalis_load::LoadError> for Failure {
    fn from(error: chrysalis_load::LoadError) -> Self {
        Failure::bad_input(error.to_string(), error.hint())
    }
}

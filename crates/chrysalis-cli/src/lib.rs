//! The `chrysalis` command: parse, call, print. It contains no algorithms.
//!
//! It is a library so that the Python package can carry the command without a second copy of everything behind it.

mod args;
mod command;
mod failure;
mod progress;
mod render;

use std::ffi::OsString;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use chrysalis::{Error, Stopped};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use args::{Cli, Command};
use failure::{DONE, Failure};

/// Runs the command with the arguments of a process, its own name first, and returns the exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        // Without arguments, print the help.
        Err(answer) if answer.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let shown = Cli::command().print_help();
            return shown.map_or_else(|error| Failure::unprinted(&error).report(), |()| ExitCode::from(DONE));
        }
        Err(error) if error.use_stderr() => return Failure::usage(&error).report(),
        // Help and version are answers, not errors.
        Err(answer) => answer.exit(),
    };
    // A panic is a bug of ours (a library's panic over a broken file is caught where it happens), and is reported like
    // every other error.
    panic::set_hook(Box::new(|info| *LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner) = info.to_string()));
    let result = panic::catch_unwind(AssertUnwindSafe(|| run(&cli))).unwrap_or_else(|payload| {
        if Stopped::is(&*payload) {
            return Err(Error::from(Stopped).into());
        }
        let what = LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner).replace('\n', " ");
        Err(Failure::internal(format!("internal error: {what}")))
    });
    match result {
        Ok(code) => code,
        Err(failure) => progress::last_word(|| failure.report()),
    }
}

static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

fn run(cli: &Cli) -> Result<ExitCode, Failure> {
    start_threads(cli.threads)?;
    progress::listen_for_signals(matches!(cli.command, Command::Load(_)))?;
    match &cli.command {
        Command::Init(args) => command::init::run(args, cli),
        Command::Profile(args) => command::profile::run(args, cli),
        Command::Risk(args) => command::risk::run(args, cli),
        Command::Publish(args) => command::publish::run(args, cli),
        Command::Audit(args) => command::audit::run(args, cli),
        Command::Evaluate(args) => command::evaluate::run(args, cli),
        Command::Compare(args) => command::compare::run(args, cli),
        Command::Rewrite(args) => command::rewrite::run(args, cli),
        #[cfg(feature = "databases")]
        Command::Load(args) => command::load::run(args, cli),
        #[cfg(not(feature = "databases"))]
        Command::Load(_) => Err(Failure::without_databases()),
        Command::Query(args) => command::query::run(args, cli),
        Command::Sample(args) => command::sample::run(args, cli),
        Command::Taxonomy(args) => command::taxonomy::run(args, cli),
        Command::Experiment(args) => command::experiment::run(args, cli),
        Command::Example(args) => command::example::run(args, cli),
        Command::Series(args) => command::series::run(args, cli),
        Command::Studio(args) => command::studio::run(args, cli),
        Command::Completions(args) => command::manual::completions(args, cli),
        Command::Man(args) => command::manual::man(args, cli),
    }
}

/// Stack space on every thread for the deepest recursion possible; only pages that are used take memory.
const STACK: usize = 64 << 20;

fn start_threads(threads: Option<usize>) -> Result<(), Failure> {
    // Zero means as many threads as there are cores.
    let pool = rayon::ThreadPoolBuilder::new().stack_size(STACK).num_threads(threads.unwrap_or(0));
    pool.build_global().map_err(|error| Failure::internal(format!("cannot start threads: {error}")))
}

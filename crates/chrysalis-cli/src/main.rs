//! The `chrysalis` command: parse, call, print. No algorithm lives here.

mod args;
mod command;
mod failure;
mod plan;
mod progress;
mod randomness;
mod render;
mod spec;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use failure::Failure;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = start_threads(cli.threads).and_then(|()| match &cli.command {
        Command::Init(args) => command::init::run(args, &cli),
        Command::Profile(args) => command::profile::run(args, &cli),
        Command::Publish(args) => command::publish::run(args, &cli),
        Command::Audit(args) => command::audit::run(args, &cli),
        Command::Example(args) => command::example::run(args, &cli),
    });
    match result {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

/// Room on every thread's stack for the deepest recursion there is; only what is used is ever real.
const STACK: usize = 64 << 20;

fn start_threads(threads: Option<usize>) -> Result<(), Failure> {
    // Zero threads mean as many as there are cores.
    let pool = rayon::ThreadPoolBuilder::new().stack_size(STACK).num_threads(threads.unwrap_or(0));
    pool.build_global().map_err(|error| Failure::internal(format!("cannot start threads: {error}")))
}

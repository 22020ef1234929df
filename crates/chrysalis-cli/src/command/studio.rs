//! The studio is a program of its own, found as cargo finds its subcommands: whoever only publishes need not wait for a
//! web server to be built.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::{env, io};

use crate::args::{Cli, Output, StudioArgs};
use crate::failure::Failure;

const PROGRAM: &str = "chrysalis-studio";

pub(crate) fn run(args: &StudioArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    check_effect(cli)?;
    let Some(program) = program() else {
        let hint = format!("install it: cargo install --path crates/{PROGRAM}");
        return Err(Failure::bad_input(
            format!("the program {PROGRAM} is neither beside this one nor on the PATH"),
            hint,
        ));
    };
    let mut command = Command::new(&program);
    if let Some(port) = args.port {
        command.args(["--port", &port.to_string()]);
    }
    if let Some(threads) = cli.threads {
        command.args(["--threads", &threads.to_string()]);
    }
    command.args(args.no_open.then_some("--no-open")).arg("--").args(&args.file);
    let error = replaced_by(&mut command)?;
    Err(Failure::bad_input(format!("cannot start {}: {error}", program.display()), "install it again"))
}

/// The studio prints its address and nothing else.
fn check_effect(cli: &Cli) -> Result<(), Failure> {
    let idle = match cli {
        Cli { output: Output::Json | Output::Csv, .. } => "--output",
        Cli { quiet: true, .. } => "--quiet",
        Cli { verbose: true, .. } => "--verbose",
        _ => return Ok(()),
    };
    let message = format!("the studio prints its address and nothing else, so {idle} has no effect");
    Err(Failure::bad_input(message, "leave it out: everything else is on the page"))
}

/// Beside this program, then on the PATH.
fn program() -> Option<PathBuf> {
    let name = format!("{PROGRAM}{}", env::consts::EXE_SUFFIX);
    let own = env::current_exe().ok().and_then(|own| Some(own.parent()?.to_owned()));
    let path = env::var_os("PATH").map(|path| env::split_paths(&path).collect::<Vec<_>>());
    own.into_iter().chain(path.into_iter().flatten()).map(|folder| folder.join(&name)).find(|file| file.is_file())
}

/// Signals go to the studio alone, because this process becomes it.
#[cfg(unix)]
fn replaced_by(command: &mut Command) -> Result<io::Error, Failure> {
    Ok(std::os::unix::process::CommandExt::exec(command))
}

#[cfg(not(unix))]
fn replaced_by(command: &mut Command) -> Result<io::Error, Failure> {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => Ok(error),
    }
}

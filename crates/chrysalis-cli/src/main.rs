//! The `chrysalis` command: see the library of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    chrysalis_cli::main(std::env::args_os())
}

//! The command line's description of itself: completions and manual pages.

use std::fs;
use std::io;
use std::process::ExitCode;

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs, ManArgs, Output};
use crate::failure::{DONE, Failure};

pub(crate) fn completions(args: &CompletionsArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    check_output(cli)?;
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "chrysalis", &mut script);
    print(&script)
}

pub(crate) fn man(args: &ManArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    check_output(cli)?;
    let Some(folder) = &args.out else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page).map_err(|error| Failure::unprinted(&error))?;
        return print(&page);
    };
    let write = || {
        fs::create_dir_all(folder)?;
        clap_mangen::generate_to(Cli::command(), folder)
    };
    write().map_err(|error| {
        Failure::bad_input(format!("cannot write to {}: {error}", folder.display()), "choose another folder")
    })?;
    Ok(ExitCode::from(DONE))
}

fn print(text: &[u8]) -> Result<ExitCode, Failure> {
    match io::Write::write_all(&mut io::stdout(), text) {
        // A reader who only wants the first lines has seen enough.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::unprinted(&error)),
        _ => Ok(ExitCode::from(DONE)),
    }
}

/// Neither completions nor manual pages have rows or fields.
fn check_output(cli: &Cli) -> Result<(), Failure> {
    match cli.output {
        Output::Table => Ok(()),
        Output::Json | Output::Csv => {
            Err(Failure::bad_input("this is text, so --output has no effect", "leave it out"))
        }
    }
}

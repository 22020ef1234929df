use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use chrysalis::store::write_file;
use chrysalis::words::counted;
use chrysalis::{Error, Fault, Knob, Remedy, Watch};
use chrysalis_lab::experiment::{Experiment, ExperimentResult, Lab, together};
use serde_json::{Value, json};

use crate::args::{Cli, ExperimentArgs};
use crate::failure::{DONE, Failure};
use crate::progress::Phases;
use crate::render::{self, Report};

pub(crate) fn run(args: &ExperimentArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    let folder = folder(args)?;
    // Mistakes are found before hours of work, not after.
    let experiments =
        args.files.iter().map(|path| Experiment::load(path, folder.as_deref())).collect::<Result<Vec<_>, _>>()?;
    let phases = Phases::new(cli);
    let mut lab = Lab::new(folder);
    let mut outcomes = Vec::new();
    for (experiment, path) in experiments.iter().zip(&args.files) {
        if experiment.stands_in() {
            phases.note(&format!("{}: no real data, the made-up hospital stands in", experiment.name));
        }
        let made = lab.make(experiment, &phases).map_err(|error| match (error.fault, outcomes.len()) {
            (Fault::Stopped, 0) => error,
            (Fault::Stopped, done) => {
                let message = format!("stopped; {} in {}", counted(done as u64, "experiment"), args.out.display());
                Error { message, ..error }
            }
            _ => error.about(&path.display().to_string()),
        })?;
        let failed = |error: std::io::Error| {
            let message = format!("cannot make the folder {}: {error}", args.out.display());
            Failure::bad_input(message, Remedy::from("choose another with ").knob(Knob::Out, ""))
        };
        fs::create_dir_all(&args.out).map_err(failed)?;
        for (name, text) in &made.files {
            write_file(&args.out.join(name), text.as_bytes(), true)?;
        }
        outcomes.push(made);
    }
    phases.finish();
    if outcomes.len() > 1 {
        write_file(&args.out.join("results.md"), together(&outcomes).as_bytes(), true)?;
    }
    report(&outcomes, &args.out.display().to_string()).print(cli.output)?;
    Ok(ExitCode::from(DONE))
}

/// The data folder, from the flag or the environment. A folder that is named must exist.
fn folder(args: &ExperimentArgs) -> Result<Option<PathBuf>, Failure> {
    let named = args.data.clone().or_else(|| std::env::var_os("CHRYSALIS_DATA").map(PathBuf::from));
    match named.filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) if !folder.is_dir() => {
            let message = format!("there is no data folder {}", folder.display());
            Err(Failure::bad_input(message, "name one with --data, or leave it out to use made-up data"))
        }
        folder => Ok(folder),
    }
}

/// The first measure of every panel, and where the rest is.
fn report(outcomes: &[ExperimentResult], out: &str) -> Report {
    let mut blocks = Vec::new();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for outcome in outcomes {
        blocks.push(outcome.heading.clone());
        for table in &outcome.tables {
            let header: Vec<&str> = table.header.iter().map(String::as_str).collect();
            blocks.push(format!("{}\n{}", table.title, render::table(&header, &table.rows)));
        }
        rows.extend(outcome.rows.iter().skip(usize::from(!rows.is_empty())).cloned());
    }
    blocks.push(format!("Numbers, pictures and the papers' claims are in {out}"));
    let experiments: Vec<&Value> = outcomes.iter().map(|outcome| &outcome.json).collect();
    Report { json: json!({ "out": out, "experiments": experiments }), blocks, rows }
}

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chrysalis::store::{Format, write_tables};
use chrysalis::words::counted;
use chrysalis::{Counted, Error, Sampled, Sampling, Seed, Table, Watch, sample, values};

use super::read_whole;
use crate::args::{Cli, SampleArgs};
use crate::failure::{DONE, Failure};
use crate::progress::Phases;
use crate::render::{self, Report};

pub(crate) fn run(args: &SampleArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    let phases = Phases::new(cli);
    let format = format(args)?;
    let places = places(&args.out, args.worlds);
    if let Some(taken) = places.iter().find(|place| !args.force && place.symlink_metadata().is_ok()) {
        let hint = "choose another name, or replace it with --force";
        return Err(Failure::bad_input(format!("{} exists already", taken.display()), hint));
    }
    let sampling = Sampling { worlds: args.worlds, estimate: args.estimate };
    let release = read_whole(&args.release, args.memory, &phases)?;
    let made = sample(&release, &sampling, Seed::from(args.seed), &phases)?;
    let tables: Vec<(&Path, &Table)> = places.iter().map(PathBuf::as_path).zip(&made.worlds).collect();
    phases.phase("write", Some(made.report.rows * args.worlds as u64), Counted::Rows);
    let watch: &dyn Watch = &phases;
    chrysalis::Stopped::catch(|| write_tables(&tables, format, args.force, &|n| watch.tell(n)))
        .map_err(|stopped| Failure::from(Error::from(stopped)))??;
    phases.finish();
    let files: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
    report(&made, &files)?.print(cli.output)?;
    Ok(ExitCode::from(DONE))
}

fn format(args: &SampleArgs) -> Result<Format, Failure> {
    let wrong = |problem: String| Failure::bad_input(format!("format: {problem}"), "name one of the two");
    match &args.format {
        Some(name) => values::format(name).map_err(wrong),
        None => Format::of_file(&args.out).ok_or_else(|| {
            let problem = format!("{} does not say how to write the table", args.out.display());
            Failure::bad_input(problem, "name a file that ends in .csv or .parquet, or say --format")
        }),
    }
}

/// The file itself for one world; numbered ones for several.
fn places(out: &Path, worlds: usize) -> Vec<PathBuf> {
    if worlds == 1 {
        return vec![out.to_owned()];
    }
    let stem = out.file_stem().unwrap_or_default().to_string_lossy();
    let extension = out.extension().map_or_else(String::new, |it| format!(".{}", it.to_string_lossy()));
    (1..=worlds.min(chrysalis::MOST_WORLDS))
        .map(|number| out.with_file_name(format!("{stem}-{number}{extension}")))
        .collect()
}

fn report(made: &Sampled, files: &[String]) -> Result<Report, Failure> {
    let report = &made.report;
    let mut json = serde_json::to_value(report).map_err(|error| Failure::internal(error.to_string()))?;
    json["files"] = files.into();
    let place = match files {
        [only] => only.clone(),
        [first, .., last] => format!("{first} to {last}"),
        [] => String::new(),
    };
    let title = format!(
        "Drew {} of {} in {} to {place}, from the {} distribution",
        counted(report.worlds as u64, "table"),
        counted(report.rows, "row"),
        counted(report.groups, "group"),
        report.estimate.name(),
    );
    let rows: Vec<Vec<String>> = report
        .columns
        .iter()
        .map(|it| vec![it.name.clone(), it.origin.name().to_owned(), it.origin.in_words().to_owned()])
        .collect();
    let blocks = vec![title, render::table(&["column", "values", "where they come from"], &rows)];
    Report::flattened(blocks, &json)
}

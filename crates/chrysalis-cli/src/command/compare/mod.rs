//! `compare`: several methods, partitioners and parameters on one input, and a page about them.

mod advice;
mod charts;
mod measures;
mod page;
mod printed;
mod questions;
mod reproduce;
mod runs;
mod spec;
mod trial;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chrysalis_store::{Input, StoreError, write_files};
use chrysalis_table::{Kind, Role, Table};

use crate::args::{Cli, CompareArgs};
use crate::failure::{AUDIT_FAILED, DONE, Failure};
use crate::plan::{Draft, Method};
use crate::progress::{Phases, Unit};
use crate::randomness::generator;
use questions::Asker;
use runs::Run;
pub(crate) use spec::CompareSpec;
use trial::Trial;

pub(crate) fn run(args: &CompareArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    let mut phases = Phases::new(cli.quiet);
    let numbers_file = place(&args.report, args.force)?;
    let draft = Draft::new(&args.file, &args.choices.read)?;
    let mut asker = Asker::new(args, draft.spec.compare.as_ref())?;
    let input = Input::open(&draft.source, &draft.options)?;
    let runs = runs::runs(&draft, args, input.header())?;
    let requests = runs::requests(&runs);
    let size = input.size();
    let table = phases.run("read", size, Unit::Bytes, |progress| input.read_with(&requests, progress))?;
    let runs = fitting(runs, &table, &draft);
    let trials = trials(runs, &table, &draft, args, &mut asker, &mut phases)?;
    let advice = advice::advice(&trials);
    let page = page::page(&trials, &advice, &args.file, &asker.sentence(), args.seed.is_some());
    let written = format!("Written: {} and {}", args.report.display(), numbers_file.display());
    let report = printed::report(&trials, &advice, asker.json(), &written);
    let numbers = format!("{:#}\n", report.json);
    write_files(&[(&numbers_file, numbers.as_bytes()), (&args.report, page.to_html().as_bytes())], args.force)?;
    if args.seed.is_some() {
        phases.note("made with --seed: whoever knows the seed can undo the randomness. For experiments only.");
    }
    report.print(cli.output)?;
    let is_sound = trials.iter().all(|trial| trial.found.is_err() || trial.sound().is_some());
    Ok(ExitCode::from(if is_sound { DONE } else { AUDIT_FAILED }))
}

/// Of the usual set, what fits the table: shuffle wants numbers. Whoever lists runs gets all of them, with the reason.
fn fitting(runs: Vec<Run>, table: &Table, draft: &Draft) -> Vec<Run> {
    let is_listed = draft.spec.compare.as_ref().is_some_and(|compare| !compare.runs.is_empty());
    let is_numeric = |name: &str| table.column(name).is_some_and(|column| Kind::is_numeric(column.domain().kind()));
    let fits = |run: &Run| {
        let mut sensitive = run.plan.attributes.iter().filter(|attribute| attribute.role == Role::Sensitive);
        is_listed || run.plan.method != Method::Shuffle || sensitive.all(|attribute| is_numeric(&attribute.name))
    };
    runs.into_iter().filter(fits).collect()
}

/// The page ends in `.html`, its numbers in `.json` beside it; neither may be there unless `--force` replaces them.
fn place(report: &Path, force: bool) -> Result<PathBuf, Failure> {
    let ending = report.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if !ending.eq_ignore_ascii_case("html") {
        let message = format!("the report {} does not end in .html", report.display());
        return Err(Failure::bad_input(
            message,
            "for example --report comparison.html; its numbers go to comparison.json",
        ));
    }
    // Said now, not after all the work.
    let folder = report.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        let message = format!("there is no folder {} for the report", folder.display());
        return Err(Failure::bad_input(message, "make it first, or choose another place"));
    }
    let numbers = report.with_extension("json");
    for path in [report, &numbers] {
        if path.is_dir() {
            let message = format!("{} is a folder, and the report is a file", path.display());
            return Err(Failure::bad_input(message, "choose another name for the report"));
        }
        if !force && path.symlink_metadata().is_ok() {
            return Err(StoreError::Exists { path: path.to_owned() }.into());
        }
    }
    Ok(numbers)
}

/// Makes one release after another; one that cannot be made does not stop the others.
fn trials(
    runs: Vec<Run>,
    table: &Table,
    draft: &Draft,
    args: &CompareArgs,
    asker: &mut Asker,
    phases: &mut Phases,
) -> Result<Vec<Trial>, Failure> {
    let total = runs.len();
    let mut trials = Vec::new();
    let in_table = |error| StoreError::Table { path: draft.source.name(), error };
    for (at, run) in runs.into_iter().enumerate() {
        phases.announce(&format!("{} of {total}: {}", at + 1, run.name));
        let (own, _) = runs::columns_of(&run, table).with_missing(draft.missing).map_err(in_table)?;
        if own.rows() == 0 {
            return Err(Failure::bad_input("every row lacks a value, so nothing is left", "use --missing as-value"));
        }
        let found = trial::trial(&run, &own, &mut generator(args.seed)?, asker, phases);
        asker.check()?;
        trials.push(Trial { run, found });
    }
    if trials.iter().any(|trial| trial.found.is_ok()) {
        return Ok(trials);
    }
    let failures: Vec<Failure> = trials.into_iter().filter_map(|trial| trial.found.err()).collect();
    Err(Failure::none_of(failures))
}

//! `chrysalis experiment`: a figure or table of a paper, made again.

mod data;
mod database;
mod file;
mod measure;
mod run;
mod show;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chrysalis_criteria::{Minimum, Principle};
use chrysalis_evaluate::workload::Questions;
use chrysalis_publish::Microdata;
use chrysalis_publish::method::Outcome;
use chrysalis_release::Release;
use chrysalis_store::write_file;
use chrysalis_table::{Role, Table};

use self::file::{Experiment, Panel};
use self::measure::{Measure, Sample};
use self::run::Run;
use crate::args::{Cli, ExperimentArgs};
use crate::failure::{DONE, Failure};
use crate::maker::make;
use crate::plan::{Method, Plan};
use crate::progress::{Phases, Unit};
use crate::randomness::generator;

pub(crate) fn run(args: &ExperimentArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    let folder = folder(args)?;
    // Mistakes come to light before hours of work, not after.
    let experiments =
        args.files.iter().map(|path| Experiment::load(path, folder.as_deref())).collect::<Result<Vec<_>, _>>()?;
    let failed = |error: std::io::Error| {
        Failure::bad_input(
            format!("cannot make the folder {}: {error}", args.out.display()),
            "choose another with --out",
        )
    };
    fs::create_dir_all(&args.out).map_err(failed)?;
    let mut phases = Phases::new(cli.quiet);
    let mut lab = Lab { folder, tables: BTreeMap::new(), questions: BTreeMap::new(), last: None };
    let mut parts = Vec::new();
    for (experiment, path) in experiments.iter().zip(&args.files) {
        if experiment.panels.iter().any(|panel| panel.stands_in) {
            phases.note(&format!("{}: no real data, the made-up hospital stands in", experiment.name));
        }
        let total = Some(experiment.n_runs());
        let found = phases.run("experiment", total, Unit::Runs, |progress| lab.experiment(experiment, progress));
        let results = found.map_err(|failure| failure.about(&path.display().to_string()))?;
        for (name, text) in show::files(experiment, &results) {
            write_file(&args.out.join(name), text.as_bytes(), true)?;
        }
        parts.push((experiment, results));
        // Tables of one paper are of no use to the next.
        lab.forget();
    }
    if parts.len() > 1 {
        write_file(&args.out.join("results.md"), show::together(&parts).as_bytes(), true)?;
    }
    show::report(&parts, &args.out).print(cli.output)?;
    Ok(ExitCode::from(DONE))
}

/// The data folder, from the flag or the environment. A folder that is named must be there.
fn folder(args: &ExperimentArgs) -> Result<Option<PathBuf>, Failure> {
    let named = args.data.clone().or_else(|| std::env::var_os("CHRYSALIS_DATA").map(PathBuf::from));
    match named.filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) if !folder.is_dir() => {
            let message = format!("there is no data folder {}", folder.display());
            Err(Failure::bad_input(message, "name one with --data, or none: made-up data take its place"))
        }
        folder => Ok(folder),
    }
}

/// What one run gave: a value per measure, or the reason why there is no such release.
pub(crate) enum Found {
    Values { values: Vec<Option<f64>>, rows: usize },
    OutOfReach,
}

/// By panel, series and value of the sweep.
type Results = Vec<Vec<Vec<Found>>>;

/// What runs share, so that it is made once.
struct Lab {
    folder: Option<PathBuf>,
    tables: BTreeMap<String, Table>,
    questions: BTreeMap<String, Questions>,
    /// The last release: sweeps of questions go on with it.
    last: Option<(String, Made)>,
}

struct Made {
    outcome: Outcome,
    seconds: f64,
    partition_seconds: f64,
}

impl Lab {
    fn experiment(&mut self, experiment: &Experiment, progress: &(dyn Fn(u64) + Sync)) -> Result<Results, Failure> {
        experiment.panels.iter().map(|panel| self.panel(panel, progress)).collect()
    }

    fn panel(&mut self, panel: &Panel, progress: &(dyn Fn(u64) + Sync)) -> Result<Vec<Vec<Found>>, Failure> {
        let mut results = Vec::new();
        for series in &panel.series {
            let mut line = Vec::new();
            for run in &series.runs {
                line.push(self.run(run, &panel.measures).map_err(|failure| failure.about(&series.name))?);
                progress(1);
            }
            results.push(line);
        }
        Ok(results)
    }

    fn run(&mut self, run: &Run, measures: &[Measure]) -> Result<Found, Failure> {
        let plan = data::plan(run, self.folder.as_deref())?;
        let of_table = format!("{:?} {:?} {}", run.data, plan.requests, run.seed);
        if !self.tables.contains_key(&of_table) {
            let table = data::table(run, &plan.requests, self.folder.as_deref())?;
            self.tables.insert(of_table.clone(), table);
        }
        let table = &self.tables[&of_table];
        let of_release = format!("{of_table} {:?}", run.release);
        if self.last.as_ref().is_none_or(|(known, _)| *known != of_release) {
            self.last = None;
            match made(&plan, table, run.seed) {
                Ok(made) => self.last = Some((of_release, made)),
                Err(failure) if failure.is_infeasible() => return Ok(Found::OutOfReach),
                Err(failure) => return Err(failure),
            }
        }
        let Some((of_release, made)) = &self.last else { return Ok(Found::OutOfReach) };
        // Questions about groups are those of one release.
        let is_within = run.workload.as_ref().is_some_and(|asking| asking.rows_of_groups.is_some());
        let of_questions = format!("{} {:?}", if is_within { of_release } else { &of_table }, run.workload);
        if !self.questions.contains_key(&of_questions)
            && let Some(questions) = questions(run, &plan, table, &made.outcome.release)?
        {
            self.questions.insert(of_questions.clone(), questions);
        }
        let sample = Sample {
            release: &made.outcome.release,
            table,
            run,
            seconds: made.seconds,
            partition_seconds: made.partition_seconds,
            swapping: if plan.method == Method::RankSwap { swapping(&plan, table)? } else { None },
            questions: self.questions.get(&of_questions),
        };
        Ok(Found::Values { values: sample.measured(measures)?, rows: table.rows() })
    }

    fn forget(&mut self) {
        self.tables.clear();
        self.questions.clear();
        self.last = None;
    }
}

fn made(plan: &Plan, table: &Table, seed: u64) -> Result<Made, Failure> {
    let mut phases = Phases::new(true);
    let made = make(plan, table.clone(), generator(Some(seed))?, &mut phases)?;
    let seconds = |name: &str| phases.done().iter().filter(|(known, _)| *known == name).map(|(_, it)| it).sum::<f64>();
    let partition_seconds = seconds("partition");
    Ok(Made { outcome: made.outcome, seconds: partition_seconds + seconds("publish"), partition_seconds })
}

/// How far values were swapped at least: the releases do not tell, but who is to judge them knows.
fn swapping(plan: &Plan, table: &Table) -> Result<Option<Minimum>, Failure> {
    Ok(Microdata::new(table.clone(), &plan.attributes)?.goal(&plan.require)?.minimum())
}

fn questions(run: &Run, plan: &Plan, table: &Table, release: &Release) -> Result<Option<Questions>, Failure> {
    let Some(asking) = &run.workload else { return Ok(None) };
    let with = |role: Role| plan.attributes.iter().filter(move |it| it.role == role).map(|it| it.name.clone());
    let Some(sensitive) = with(Role::Sensitive).next() else {
        return Err(Failure::bad_input("questions need a sensitive attribute", "add `data.sensitive`"));
    };
    let mut quasi: Vec<String> = with(Role::QuasiIdentifier).collect();
    if let Some(name) = asking.attributes.iter().find(|name| !quasi.contains(name)) {
        let message = format!("questions about `{name}`, which is no quasi attribute, cannot be asked");
        return Err(Failure::bad_input(message, "correct `workload.attributes`"));
    }
    quasi.retain(|name| asking.attributes.is_empty() || asking.attributes.contains(name));
    let mut rng = generator(Some(asking.seed))?;
    let workload = asking.workload()?;
    Ok(Some(match (asking.rows_of_groups, quasi.as_slice()) {
        (None, _) => Questions::draw(table, &quasi, &sensitive, workload, &mut rng)?,
        (Some(share), [by]) => Questions::draw_within(release, table, (by, &sensitive), (workload, share), &mut rng)?,
        (Some(_), _) => {
            let message = "rows of groups are picked by one attribute";
            return Err(Failure::bad_input(message, "name it in `workload.attributes`"));
        }
    }))
}

/// Where an experiment's data come from, in words.
fn origin(run: &Run) -> String {
    let file = run.data.file.as_deref().map(Path::display).map(|file| format!("`{file}`"));
    match (file, run.data.hospital) {
        (Some(file), _) => file,
        (None, true) => "**made-up patients, standing in for real data**".to_owned(),
        (None, false) => "made-up columns".to_owned(),
    }
}

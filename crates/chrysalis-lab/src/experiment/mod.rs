//! Reproduces a figure or table of a paper.

mod data;
#[cfg(feature = "databases")]
mod database;
mod file;
mod measure;
mod run;
mod show;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use chrysalis::{Error, Fault, Published, Recipe, Seed, publish_to_compare};
use chrysalis_criteria::{Minimum, Principle};
use chrysalis_evaluate::workload::Questions;
use chrysalis_publish::Microdata;
use chrysalis_release::{EstimateMode, Release};
use chrysalis_table::{Counted, Role, Stopped, Table, Watch};

pub use self::file::Experiment;
use self::file::Panel;
use self::measure::{Measure, Sample};
use self::run::ExperimentRun;
pub use self::show::{ExperimentResult, PanelTable, together};

/// Runs experiments, one after the other. `folder` contains the real data, as far as available.
pub struct Lab {
    folder: Option<PathBuf>,
    tables: BTreeMap<String, Table>,
    questions: BTreeMap<String, Questions>,
    /// The last release, which sweeps over questions reuse.
    last: Option<(String, ExperimentOutput)>,
}

impl Lab {
    /// A new lab without any results.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Lab { folder, tables: BTreeMap::new(), questions: BTreeMap::new(), last: None }
    }

    /// Makes every release that an experiment asks for, and measures it.
    pub fn make(&mut self, experiment: &Experiment, watch: &dyn Watch) -> Result<ExperimentResult, Error> {
        let results = Stopped::catch(|| {
            watch.phase("experiment", Some(experiment.n_runs()), Counted::Runs);
            experiment.panels.iter().map(|panel| self.panel(panel, watch)).collect::<Result<Results, Error>>()
        });
        // Tables of one paper are of no use to the next.
        self.forget();
        Ok(ExperimentResult::new(experiment, results??))
    }
}

/// The result of one run: a value per measure, or that there is no such release.
pub(crate) enum RunResult {
    Values { values: Vec<Option<f64>>, rows: usize, disclosed: Option<u64> },
    OutOfReach,
}

/// By panel, series and value of the sweep.
type Results = Vec<Vec<Vec<RunResult>>>;

struct ExperimentOutput {
    release: Release,
    seconds: f64,
    partition_seconds: f64,
    disclosed: Option<u64>,
}

impl Lab {
    fn panel(&mut self, panel: &Panel, watch: &dyn Watch) -> Result<Vec<Vec<RunResult>>, Error> {
        let mut results = Vec::new();
        for series in &panel.series {
            let mut line = Vec::new();
            for run in &series.runs {
                line.push(self.run(run, &panel.measures, watch).map_err(|error| error.about(&series.name))?);
                watch.tell(1);
            }
            results.push(line);
        }
        Ok(results)
    }

    fn run(&mut self, run: &ExperimentRun, measures: &[Measure], watch: &dyn Watch) -> Result<RunResult, Error> {
        let recipe = data::recipe(run, self.folder.as_deref())?;
        let of_table = format!("{:?} {:?} {}", run.data, recipe.requests(), run.seed);
        if !self.tables.contains_key(&of_table) {
            let table = data::table(run, recipe.requests(), self.folder.as_deref())?;
            self.tables.insert(of_table.clone(), table);
        }
        let table = &self.tables[&of_table];
        let of_release = format!("{of_table} {:?}", run.release);
        if self.last.as_ref().is_none_or(|(known, _)| *known != of_release) {
            self.last = None;
            match made(&recipe, table, run.seed, watch) {
                Ok(made) => self.last = Some((of_release, made)),
                Err(error) if error.fault == Fault::Infeasible => return Ok(RunResult::OutOfReach),
                Err(error) => return Err(error),
            }
        }
        let Some((of_release, made)) = &self.last else { return Ok(RunResult::OutOfReach) };
        // Questions about groups belong to one release.
        let is_within = run.workload.as_ref().is_some_and(|asking| asking.rows_of_groups.is_some());
        let of_questions = format!("{} {:?}", if is_within { of_release } else { &of_table }, run.workload);
        if !self.questions.contains_key(&of_questions)
            && let Some(questions) = questions(run, &recipe, table, &made.release, watch)?
        {
            self.questions.insert(of_questions.clone(), questions);
        }
        // Without groups, answers need to know how far values were swapped.
        let has_groups = recipe.form().shape().group_id.is_some();
        let sample = Sample {
            release: &made.release,
            table,
            run,
            seconds: made.seconds,
            partition_seconds: made.partition_seconds,
            swapping: if has_groups { None } else { swapping(&recipe, table)? },
            questions: self.questions.get(&of_questions),
            watch,
        };
        let disclosed = made.disclosed;
        Ok(RunResult::Values { values: sample.measured(measures)?, rows: table.rows(), disclosed })
    }

    fn forget(&mut self) {
        self.tables.clear();
        self.questions.clear();
        self.last = None;
    }
}

fn made(recipe: &Recipe, table: &Table, seed: u64, watch: &dyn Watch) -> Result<ExperimentOutput, Error> {
    let clock = Clock { watch, phases: Mutex::new(Vec::new()) };
    let Published { release, report, .. } = publish_to_compare(table.clone(), recipe, Seed::Fixed(seed), &clock)?;
    let partition_seconds = clock.seconds("partition");
    let seconds = partition_seconds + clock.seconds("publish");
    Ok(ExperimentOutput { release, seconds, partition_seconds, disclosed: report.disclosed_rows })
}

/// Records when phases begin, and passes on nothing but the wish to stop.
struct Clock<'a> {
    watch: &'a dyn Watch,
    phases: Mutex<Vec<(&'static str, Instant)>>,
}

impl Clock<'_> {
    /// How long all phases with this name took, up to now if the last phase is one of them.
    fn seconds(&self, name: &str) -> f64 {
        let phases = self.phases.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let ends = phases.iter().skip(1).map(|(_, begin)| *begin).chain([Instant::now()]);
        let spans = phases.iter().zip(ends).filter(|((known, _), _)| *known == name);
        spans.map(|((_, begin), end)| end.duration_since(*begin).as_secs_f64()).sum()
    }
}

impl Watch for Clock<'_> {
    fn phase(&self, name: &'static str, _: Option<u64>, _: Counted) {
        self.phases.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((name, Instant::now()));
    }

    fn advance(&self, _: u64) {}

    fn stopped(&self) -> bool {
        self.watch.stopped()
    }
}

/// The minimum numbers within which values were swapped: the release does not contain them, but its judge knows them.
fn swapping(recipe: &Recipe, table: &Table) -> Result<Option<Minimum>, Error> {
    Ok(Microdata::new(table.clone(), recipe.attributes())?.goal(recipe.require())?.minimum())
}

fn questions(
    run: &ExperimentRun,
    recipe: &Recipe,
    table: &Table,
    release: &Release,
    watch: &dyn Watch,
) -> Result<Option<Questions>, Error> {
    let Some(asking) = &run.workload else { return Ok(None) };
    let with = |role: Role| recipe.with_role(role).map(str::to_owned);
    let Some(sensitive) = with(Role::Sensitive).next() else {
        return Err(Error::request("questions need a sensitive attribute", "add `data.sensitive`"));
    };
    let mut quasi: Vec<String> = with(Role::QuasiIdentifier).collect();
    if let Some(name) = asking.attributes.iter().find(|name| !quasi.contains(name)) {
        let message = format!("questions about `{name}`, which is no quasi attribute, cannot be asked");
        return Err(Error::request(message, "correct `workload.attributes`"));
    }
    quasi.retain(|name| asking.attributes.is_empty() || asking.attributes.contains(name));
    let mut rng = Seed::Fixed(asking.seed).generator()?;
    let workload = asking.workload()?;
    let questions = match (asking.rows_of_groups, quasi.as_slice()) {
        (None, _) => Questions::draw(table, &quasi, &sensitive, workload, &mut rng, watch)?,
        (Some(share), [by]) => {
            Questions::draw_within(release, table, (by, &sensitive), (workload, share), &mut rng, watch)?
        }
        (Some(_), _) => {
            let message = "rows of groups are picked by one attribute";
            return Err(Error::request(message, "name it in `workload.attributes`"));
        }
    };
    // The figures of the papers are about the papers' estimates.
    Ok(Some(questions.estimates(EstimateMode::Even)))
}

/// Where an experiment's data come from, in words.
fn origin(run: &ExperimentRun) -> String {
    let file = run.data.file.as_deref().map(Path::display).map(|file| format!("`{file}`"));
    match (file, run.data.hospital) {
        (Some(file), _) => file,
        (None, true) => "**made-up patients, standing in for real data**".to_owned(),
        (None, false) => "made-up columns".to_owned(),
    }
}

//! `cargo xtask bench-estimates`: how far answers are from the truth, with even and with learned estimates, and how
//! often the truth lies within two standard errors.
//!
//! Real tables are published in several forms and asked the same random questions by a whole `chrysalis query`, evenly
//! and learned. The truth is counted here, over the microdata. The chore only reports; it enforces no limit.

mod questions;
mod tables;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::Value;

use crate::shell::{self, Failure};
use questions::{Asked, Microdata};
use tables::{PUBLICATIONS, Publication, TABLES, TableSpec};

pub(crate) struct Options {
    data: PathBuf,
    /// A program that is built already.
    chrysalis: Option<PathBuf>,
    questions: usize,
    /// Only publications whose names contain this.
    only: Option<String>,
    /// Only aggregates whose names contain this.
    about: Option<String>,
}

impl Options {
    pub(crate) fn parse(arguments: &[String], called_from: &Path) -> Result<Self, Failure> {
        let data = std::env::var_os("CHRYSALIS_DATA").map(PathBuf::from);
        let mut options = Self {
            data: called_from.join(data.unwrap_or_else(|| PathBuf::from("../shared/data"))),
            chrysalis: None,
            questions: 1_000,
            only: None,
            about: None,
        };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| Failure::usage(format!("{argument} wants a value")));
            match argument.as_str() {
                "--data" => options.data = called_from.join(value()?),
                "--chrysalis" => options.chrysalis = Some(called_from.join(value()?)),
                "--only" => options.only = Some(value()?.clone()),
                "--about" => options.about = Some(value()?.clone()),
                "--questions" => options.questions = shell::count("--questions", arguments.next())?,
                _ => return Err(Failure::usage(format!("bench-estimates has no `{argument}`"))),
            }
        }
        Ok(options)
    }
}

/// What is asked about the rows that match.
struct Aggregate {
    name: &'static str,
    /// In SQL, with `{}` for the column.
    sql: &'static str,
    over: Over,
    truth: fn(&Asked) -> f64,
}

enum Over {
    Rows,
    Sensitive,
    /// The first quasi column with numbers.
    Quasi,
}

impl Aggregate {
    const fn new(name: &'static str, sql: &'static str, over: Over, truth: fn(&Asked) -> f64) -> Aggregate {
        Aggregate { name, sql, over, truth }
    }

    /// In SQL; `None` if the table has no such numbers.
    fn of(&self, microdata: &Microdata) -> Option<String> {
        let column = match self.over {
            Over::Rows => Some(""),
            Over::Sensitive => microdata.numbers(),
            Over::Quasi => microdata.quasi_numbers(),
        };
        column.map(|column| self.sql.replace("{}", column))
    }
}

const NINTH: &str = "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY {})";

const AGGREGATES: [Aggregate; 14] = [
    Aggregate::new("COUNT", "COUNT(*)", Over::Rows, |asked| asked.count),
    Aggregate::new("SUM", "SUM({})", Over::Sensitive, |asked| asked.values.sum),
    Aggregate::new("AVG", "AVG({})", Over::Sensitive, |asked| asked.values.average),
    Aggregate::new("MEDIAN", "MEDIAN({})", Over::Sensitive, |asked| asked.values.median),
    Aggregate::new("PERCENTILE", NINTH, Over::Sensitive, |asked| asked.values.ninth),
    Aggregate::new("STDDEV", "STDDEV_POP({})", Over::Sensitive, |asked| asked.values.variance.sqrt()),
    Aggregate::new("VAR", "VAR_POP({})", Over::Sensitive, |asked| asked.values.variance),
    Aggregate::new("SUM of squares", "SUM({} * {})", Over::Sensitive, |asked| asked.values.squares),
    Aggregate::new("AVG of squares", "AVG({} * {})", Over::Sensitive, |asked| asked.values.squares / asked.count),
    Aggregate::new("quasi SUM", "SUM({})", Over::Quasi, |asked| asked.numbers.sum),
    Aggregate::new("quasi AVG", "AVG({})", Over::Quasi, |asked| asked.numbers.average),
    Aggregate::new("quasi MEDIAN", "MEDIAN({})", Over::Quasi, |asked| asked.numbers.median),
    Aggregate::new("quasi PERCENTILE", NINTH, Over::Quasi, |asked| asked.numbers.ninth),
    Aggregate::new("quasi STDDEV", "STDDEV_POP({})", Over::Quasi, |asked| asked.numbers.variance.sqrt()),
];

/// The answer to one question.
#[derive(Clone, Copy)]
struct Told {
    estimate: f64,
    lower: f64,
    upper: f64,
    std_error: f64,
}

/// What was measured about one aggregate of one publication.
struct Measured {
    name: String,
    aggregate: &'static str,
    is_second: bool,
    /// Mean and median relative errors: even, learned.
    errors: [(f64, f64); 2],
    /// The share of questions with the truth within two standard errors: even, learned.
    covered: [f64; 2],
    /// The median of two standard errors, divided by the median error.
    ratio: f64,
    /// Questions whose bounds are not one point.
    open: usize,
    seconds: [f64; 2],
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let chrysalis = match &options.chrysalis {
        Some(program) => program.clone(),
        None => shell::build_chrysalis("release", &[])?,
    };
    let folder = shell::target_dir().join("bench-estimates");
    fs::create_dir_all(&folder).map_err(|error| Failure::new(format!("cannot make a folder: {error}")))?;
    let mut known: BTreeMap<&str, (Microdata, Vec<Asked>)> = BTreeMap::new();
    let mut all = Vec::new();
    for publication in &PUBLICATIONS {
        let name = format!("{}-{}-{}", publication.table, publication.promise, publication.method);
        if options.only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        let Some(table) = TABLES.iter().find(|table| table.name == publication.table) else { continue };
        let file = options.data.join(table.file);
        if !file.is_file() {
            println!("{name}: skipped, there is no {}", file.display());
            continue;
        }
        if !known.contains_key(table.name) {
            let microdata = Microdata::read(&file, table)?;
            let asked = microdata.draw(options.questions);
            known.insert(table.name, (microdata, asked));
        }
        let Some((microdata, asked)) = known.get(table.name) else { continue };
        let release = published(&chrysalis, &folder, &name, &file, (table, publication), &options.data)?;
        let is_wanted = |aggregate: &&Aggregate| {
            let is_about = options.about.as_ref().is_none_or(|about| aggregate.name.contains(about.as_str()));
            is_about && aggregate.of(microdata).is_some()
        };
        for aggregate in AGGREGATES.iter().filter(is_wanted) {
            let found = measure(&chrysalis, &folder, &release, (name.as_str(), aggregate), (microdata, asked))?;
            let measured = Measured { is_second: table.is_second, ..found };
            println!("{}", measured.line());
            all.push(measured);
        }
    }
    report(&all);
    Ok(())
}

/// The folder of a release; one that is there already is not published again.
fn published(
    chrysalis: &Path,
    folder: &Path,
    name: &str,
    file: &Path,
    (table, publication): (&TableSpec, &Publication),
    data: &Path,
) -> Result<PathBuf, Failure> {
    let release = folder.join(name);
    if release.join("release.json").is_file() {
        return Ok(release);
    }
    let mut command = Command::new(chrysalis);
    command.arg("publish").arg(file).args(["--quasi", table.quasi, "--sensitive", table.sensitive]);
    command.args(["--method", publication.method, "--seed", "1", "--accept", "disclosure", "--quiet"]);
    publication.require.iter().for_each(|principle| {
        command.args(["--require", principle]);
    });
    if publication.has_taxonomies {
        for column in table.taxonomies {
            let file = data.join("hierarchies").join(table.name).join(format!("{column}.csv"));
            command.arg("--taxonomy").arg(format!("{column}={}", file.display()));
        }
    }
    shell::run(command.arg("--out").arg(&release))?;
    Ok(release)
}

fn measure(
    chrysalis: &Path,
    folder: &Path,
    release: &Path,
    (name, aggregate): (&str, &Aggregate),
    (microdata, asked): (&Microdata, &[Asked]),
) -> Result<Measured, Failure> {
    let file = folder.join("questions.sql");
    let sql = aggregate.of(microdata).unwrap_or_default();
    let text: String = asked.iter().map(|asked| microdata.sql(asked, &sql) + ";\n").collect();
    fs::write(&file, text).map_err(|error| Failure::new(format!("cannot write questions: {error}")))?;
    let mut told = Vec::new();
    let mut seconds = [0.0; 2];
    for (mode, seconds) in ["even", "learned"].into_iter().zip(&mut seconds) {
        let mut command = Command::new(chrysalis);
        command.arg("query").arg(release).arg("--file").arg(&file);
        command.args(["--estimate", mode, "--output", "json", "--quiet"]);
        let start = Instant::now();
        let output = command.output().map_err(|error| Failure::new(format!("cannot ask: {error}")))?;
        *seconds = start.elapsed().as_secs_f64();
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(Failure::new(format!("{} failed: {said}", shell::shown(&command))));
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        told.push(text.lines().map(parsed).collect::<Result<Vec<Option<Told>>, Failure>>()?);
    }
    // Where hits have no number there may be no estimate.
    let is_told = |at: &usize| told.iter().all(|told: &Vec<Option<Told>>| told[*at].is_some());
    let both: Vec<usize> = (0..asked.len()).filter(is_told).collect();
    let truths: Vec<f64> = both.iter().map(|&at| (aggregate.truth)(&asked[at])).collect();
    let told: Vec<Vec<Told>> = told.iter().map(|told| both.iter().filter_map(|&at| told[at]).collect()).collect();
    let relative = |told: &[Told]| {
        let nonzero = told.iter().zip(&truths).filter(|(_, truth)| **truth != 0.0);
        let errors: Vec<f64> = nonzero.map(|(told, truth)| ((told.estimate - truth) / truth).abs()).collect();
        (errors.iter().sum::<f64>() / errors.len() as f64, median(errors))
    };
    let open: Vec<usize> = (0..truths.len()).filter(|&at| told[0][at].lower < told[0][at].upper).collect();
    let covered = |told: &[Told]| {
        let is_covered = |&&at: &&usize| {
            let Told { estimate, std_error, .. } = told[at];
            (estimate - truths[at]).abs() <= 2.0 * std_error + 1e-9 * truths[at].abs().max(1.0)
        };
        open.iter().filter(is_covered).count() as f64 / open.len().max(1) as f64
    };
    let learned = &told[1];
    let outside = (0..truths.len()).filter(|&at| {
        let room = 1e-9 * truths[at].abs();
        truths[at] < learned[at].lower - room || truths[at] > learned[at].upper + room
    });
    if outside.count() > 0 {
        return Err(Failure::new(format!("{name}: a truth lies outside its bounds")));
    }
    let errors = median(open.iter().map(|&at| (learned[at].estimate - truths[at]).abs()).collect());
    Ok(Measured {
        errors: [relative(&told[0]), relative(learned)],
        covered: [covered(&told[0]), covered(learned)],
        ratio: median(open.iter().map(|&at| 2.0 * learned[at].std_error).collect()) / errors,
        open: open.len(),
        seconds,
        name: name.to_owned(),
        aggregate: aggregate.name,
        is_second: false,
    })
}

/// `None` where there is no estimate.
fn parsed(line: &str) -> Result<Option<Told>, Failure> {
    let answer: Value =
        serde_json::from_str(line).map_err(|error| Failure::new(format!("cannot read an answer: {error}")))?;
    let aggregate = &answer["rows"][0]["aggregates"][0];
    if !aggregate.is_object() {
        return Err(Failure::new(format!("no answer in {line}")));
    }
    let number = |name: &str| aggregate[name].as_f64();
    let told = || {
        Some(Told {
            estimate: number("estimate")?,
            lower: number("lower")?,
            upper: number("upper")?,
            std_error: number("std_error")?,
        })
    };
    Ok(told())
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

impl Measured {
    fn line(&self) -> String {
        let [even, learned] = self.errors;
        format!(
            "| {}{}, {} | {:.4} | {:.4} | {:.2} | {:.4} | {:.4} | {:.2} | {} | {:.0} % | {:.1} % | {:.1} | {:.1} | {:.1} |",
            self.name,
            if self.is_second { " (second look)" } else { "" },
            self.aggregate,
            even.0,
            learned.0,
            learned.0 / even.0,
            even.1,
            learned.1,
            learned.1 / even.1,
            self.open,
            100.0 * self.covered[0],
            100.0 * self.covered[1],
            self.ratio,
            self.seconds[0],
            self.seconds[1],
        )
    }
}

fn report(all: &[Measured]) {
    println!(
        "\n| release | mean, even | learned | ratio | median, even | learned | ratio | open | covered, even | learned | \
         2·se / error | s, even | learned |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    );
    all.iter().for_each(|measured| println!("{}", measured.line()));
    for is_second in [false, true] {
        for aggregate in AGGREGATES.map(|aggregate| aggregate.name) {
            let some = || all.iter().filter(|it| it.aggregate == aggregate && it.is_second == is_second);
            let open: usize = some().map(|it| it.open).sum();
            let covered: f64 = some().map(|it| it.covered[1] * it.open as f64).sum();
            if open == 0 {
                continue;
            }
            let which = if is_second { "looked at once before a change of the formula" } else { "chosen on" };
            println!("{which}, {aggregate}: {:.1} % of {open} questions covered", 100.0 * covered / open.max(1) as f64);
        }
    }
}

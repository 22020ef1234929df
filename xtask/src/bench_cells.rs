//! `cargo xtask bench-cells`: what publishing cell by cell costs, beside the same table in one piece.
//!
//! Rows like CENSUS. Each comparison publishes the same file in one piece and with `--memory`, one after the other as whole
//! processes: time, peak memory, loss, and the error of count questions. The chore only reports; it enforces no limit.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, thread};

use serde_json::Value;

use crate::bench::data::{self, MAKER, QUASI};
use crate::bench::report::{grouped, megabytes, met};
use crate::bench::{self, ACCEPTING, Bench, default_threads};
use crate::measure::{self, Timing};
use crate::referees;
use crate::shell::{self, Failure};

pub(crate) struct Options {
    rows: usize,
    memory: String,
    /// A file to measure instead of one that is made.
    file: Option<PathBuf>,
    /// Part of the names of the releases that are measured.
    only: String,
    bench: bench::Options,
}

impl Options {
    pub(crate) fn parse(arguments: &[String], called_from: &Path) -> Result<Self, Failure> {
        let mut rest = arguments.to_vec();
        let mut take = |name: &str| {
            let at = rest.iter().position(|argument| argument == name)?;
            let value = rest.get(at + 1).cloned();
            rest.drain(at..(at + 2).min(rest.len()));
            Some(value)
        };
        let (rows, memory, file, only) = (take("--rows"), take("--memory"), take("--file"), take("--only"));
        let wants = |name: &str| Failure::usage(format!("{name} wants a value"));
        let rows = rows.map(|rows| shell::count("--rows", rows.as_ref())).transpose()?.unwrap_or(10_000_000);
        let memory = memory.map(|memory| memory.ok_or_else(|| wants("--memory"))).transpose()?;
        let file = file.map(|file| file.ok_or_else(|| wants("--file"))).transpose()?;
        Ok(Self {
            rows,
            memory: memory.unwrap_or_else(|| "1GB".to_owned()),
            file: file.map(|file| called_from.join(file)),
            only: only.map(|only| only.ok_or_else(|| wants("--only"))).transpose()?.unwrap_or_default(),
            bench: bench::Options::parse(&rest, called_from)?,
        })
    }
}

/// The releases that are measured.
const RELEASES: [(&str, &[&str]); 4] = [
    ("generalize k=10", &["--method", "generalize", "--require", "k=10"]),
    ("generalize l=4", &["--method", "generalize", "--require", "l=4"]),
    ("anatomy l=10", &["--method", "anatomy", "--require", "l=10"]),
    ("permute l=10", &["--method", "permute", "--require", "l=10"]),
];
/// Peak memory, as a multiple of what `--memory` says; time and loss, as multiples of those of one piece.
const MOST_MEMORY: f64 = 1.5;
const MOST_TIME: f64 = 2.5;
const MOST_LOSS: f64 = 1.05;
const MOST_ERROR: f64 = 1.10;
const QUESTIONS: &str = "500";

/// One release, measured.
struct Run {
    timing: Timing,
    ncp: f64,
    error: f64,
    parts: usize,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let folder = data::folder(options.bench.data.as_deref());
    if options.file.is_none() && !folder.join(MAKER).is_file() {
        println!("skipped: there is no {}; --data names the folder that holds it", folder.join(MAKER).display());
        return Ok(());
    }
    let bench = Bench::with(referees::prepare().map_err(Failure::new)?, &options.bench)?;
    let (bench, csv) = match &options.file {
        Some(file) => (bench, file.clone()),
        None => {
            let csv = data::census_like(&bench, &folder, options.rows)?;
            (bench, csv)
        }
    };
    println!("\ndata     {}", csv.display());
    println!("cores    {}", thread::available_parallelism().map_or(1, usize::from));
    println!("memory   {}: at most {MOST_MEMORY} times that\n", options.memory);
    println!(
        "{:<18}{:>8}{:>8}{:>10}{:>9}{:>8}{:>10}{:>7}{:>7}{:>7}{:>8}{:>8}",
        "", "one, s", "CPU s", "peak MB", "cells, s", "CPU s", "peak MB", "cells", "time", "CPU", "loss", "error"
    );
    let polars = moved(&bench, &csv)?;
    println!(
        "{:<18}{:>8.1}{:>8}{:>10}  read, sorted by four columns, written",
        "polars",
        polars.seconds,
        seconds(polars.cpu_seconds),
        megabytes(polars.peak_bytes)
    );
    for (name, how) in RELEASES.into_iter().filter(|(name, _)| name.contains(&options.only)) {
        let one = measured(&bench, &csv, how, None)?;
        let cells = measured(&bench, &csv, how, Some(&options.memory))?;
        line(name, &one, &cells, &options.memory);
    }
    Ok(())
}

/// The same rows, moved without protecting anybody.
fn moved(bench: &Bench, csv: &Path) -> Result<Timing, Failure> {
    let mut command = Command::new(&bench.python);
    command.arg("referee/move_rows.py").arg(csv).arg(bench.file("moved.parquet")).args(QUASI.split(',').take(4));
    measure::run(default_threads(&mut command), &bench.file("move_rows.out"))
}

fn seconds(cpu: Option<f64>) -> String {
    cpu.map_or_else(|| "?".to_owned(), |cpu| format!("{cpu:.1}"))
}

fn measured(bench: &Bench, csv: &Path, how: &[&str], memory: Option<&str>) -> Result<Run, Failure> {
    let (release, printed) = (bench.file("cells"), bench.file("publish.json"));
    let mut command = Command::new(&bench.chrysalis);
    command.arg("publish").arg(csv).args(["--quasi", QUASI, "--sensitive", "salary_class"]).args(how);
    command.args(memory.into_iter().flat_map(|memory| ["--memory", memory]));
    command.arg("--out").arg(&release).args(["--force", "--output", "json", "--quiet"]).args(ACCEPTING);
    let timing = measure::run(default_threads(&mut command), &printed)?;
    let ncp = json(&printed)?["ncp"].as_f64().unwrap_or(f64::NAN);
    let parts = json(&release.join("release.json"))?["tables"][0]["parts"].as_array().map_or(0, Vec::len);
    let found = bench.file("evaluate.json");
    let mut evaluate = Command::new(&bench.chrysalis);
    evaluate.arg("evaluate").arg(&release).arg("--microdata").arg(csv);
    evaluate.args(["--queries", QUESTIONS, "--memory", "64GB", "--output", "json", "--quiet"]);
    measure::run(default_threads(&mut evaluate), &found)?;
    let error = json(&found)?["workload"]["aggregates"][0]["error"]["mean"].as_f64().unwrap_or(f64::NAN);
    Ok(Run { timing, ncp, error, parts })
}

fn json(path: &Path) -> Result<Value, Failure> {
    let text =
        fs::read_to_string(path).map_err(|error| Failure::new(format!("cannot read {}: {error}", path.display())));
    serde_json::from_str(&text?).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

fn line(name: &str, one: &Run, cells: &Run, memory: &str) {
    let number: f64 = memory.trim_end_matches(|letter: char| letter.is_alphabetic()).parse().unwrap_or(f64::NAN);
    let unit = if memory.to_ascii_lowercase().ends_with("mb") { 1e6 } else { 1e9 };
    let peak = cells.timing.peak_bytes.map_or(f64::NAN, |peak| peak as f64 / (number * unit));
    let ratio = |of: fn(&Run) -> f64| of(cells) / of(one);
    let (time, loss, error) = (ratio(|run| run.timing.seconds), ratio(|run| run.ncp), ratio(|run| run.error));
    let cpu = ratio(|run| run.timing.cpu_seconds.unwrap_or(f64::NAN));
    // Forms that show quasi values as they are lose nothing either way; what was not measured is not met.
    let loss = if one.ncp == 0.0 && cells.ncp == 0.0 { 1.0 } else { loss };
    let all = peak <= MOST_MEMORY && time <= MOST_TIME && loss <= MOST_LOSS && error <= MOST_ERROR;
    println!(
        "{name:<18}{:>8.1}{:>8}{:>10}{:>9.1}{:>8}{:>10}{:>7}{time:>7.2}{cpu:>7.2}{loss:>8.3}{error:>8.3}  {}",
        one.timing.seconds,
        seconds(one.timing.cpu_seconds),
        megabytes(one.timing.peak_bytes),
        cells.timing.seconds,
        seconds(cells.timing.cpu_seconds),
        megabytes(cells.timing.peak_bytes),
        grouped(cells.parts),
        met(all)
    );
}

//! `cargo xtask bench-audit`: what auditing 500,000 rows and measuring 1,200,000 rows costs.
//!
//! CENSUS is published in every form; each release is then audited with all attacks, from its tables alone and with the
//! microdata, as whole processes. After that, `profile` on a larger table. The chore only reports; it enforces no
//! limit.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use crate::bench::data::{self, CENSUS, QUASI, TWO_USERS};
use crate::bench::report::{grouped, megabytes, met};
use crate::bench::{ACCEPTING, Bench, Options, default_threads};
use crate::measure::{self, Timing, median};
use crate::shell::Failure;

/// The most seconds that all attacks on 500,000 rows may take.
const MOST_SECONDS: f64 = 30.0;
/// The most seconds that `profile` may take, and for how many rows.
const MOST_PROFILE_SECONDS: f64 = 2.0;
const PROFILE_ROWS: usize = 1_200_000;

/// A name, and the flags that make the release.
const RELEASES: [(&str, &[&str]); 8] = [
    ("anatomy, nearby", &["--method", "anatomy", "--partitioner", "nearby", "--require", "l=10"]),
    ("anatomy, anatomize", &["--method", "anatomy", "--partitioner", "anatomize", "--require", "l=10"]),
    ("permute, nearby", &["--method", "permute", "--partitioner", "nearby", "--require", "l=10"]),
    ("generalize", &["--method", "generalize", "--require", "l=10"]),
    ("generalize, mondrian", &["--method", "generalize", "--partitioner", "mondrian", "--require", "l=4"]),
    ("angel", &["--method", "angel", "--require", "l=10", "--require", "k=10"]),
    ("shuffle, min-sum", &["--method", "shuffle", "--partitioner", "min-sum", "--require", "ke=10,9"]),
    ("butterfly", &["--method", "butterfly", "--require", "k=10"]),
];

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let bench = Bench::alone(options)?;
    let (csv, rows) = data::census_once(&bench, options.data.as_deref())?;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    println!("\ndata     {CENSUS}, {} rows", grouped(rows));
    println!("cores    {cores}");
    println!("runs     {} of each; medians of whole processes\n", options.repeat);
    println!(
        "{:<24}{:>12}{:>12}{:>12}{:>12}",
        "audit with all attacks", "release, s", "and data, s", "peak MB", "peak MB"
    );
    for (name, arguments) in RELEASES {
        let release = publish(&bench, &csv, arguments)?;
        let mut runs: [Vec<Timing>; 2] = [Vec::new(), Vec::new()];
        for _ in 0..options.repeat {
            runs[0].push(audit(&bench, &release, None)?);
            runs[1].push(audit(&bench, &release, Some(&csv))?);
        }
        line(name, &runs);
    }
    profile(&bench, &csv, options.repeat)
}

fn publish(bench: &Bench, csv: &Path, arguments: &[&str]) -> Result<PathBuf, Failure> {
    let release = bench.file("audited");
    let mut command = Command::new(&bench.chrysalis);
    command.arg("publish").arg(csv).args(["--sensitive", "salary_class"]);
    let is_for_two = arguments.contains(&"butterfly");
    let sets: &[&str] = if is_for_two { &TWO_USERS } else { &[QUASI] };
    command.args(sets.iter().flat_map(|set| ["--quasi", *set])).args(arguments);
    command.arg("--out").arg(&release).args(["--force", "--output", "json"]).args(ACCEPTING);
    measure::run(default_threads(&mut command), &bench.file("publish.json"))?;
    Ok(release)
}

fn audit(bench: &Bench, release: &Path, microdata: Option<&Path>) -> Result<Timing, Failure> {
    let mut command = Command::new(&bench.chrysalis);
    command.arg("audit").arg(release).args(["--output", "json", "--quiet"]);
    command.args(microdata.into_iter().flat_map(|csv| [OsString::from("--microdata"), csv.into()]));
    measure::run(default_threads(&mut command), &bench.file("audit.json"))
}

fn line(name: &str, runs: &[Vec<Timing>; 2]) {
    let [alone, with] = runs.each_ref().map(|runs| median(runs.iter().map(|run| run.seconds)));
    let [peak, peak_with] = runs.each_ref().map(|runs| megabytes(runs.iter().filter_map(|run| run.peak_bytes).max()));
    let verdict = met(alone.max(with) <= MOST_SECONDS);
    println!("{name:<24}{alone:>12.2}{with:>12.2}{peak:>12}{peak_with:>12}  at most {MOST_SECONDS:.0} s: {verdict}");
}

/// Measures `profile` on rows of CENSUS that repeat with everyone a year older each time.
fn profile(bench: &Bench, csv: &Path, repeat: usize) -> Result<(), Failure> {
    let text =
        fs::read_to_string(csv).map_err(|error| Failure::new(format!("cannot read {}: {error}", csv.display())))?;
    let target = bench.file("census_varied.csv");
    fs::write(&target, varied(&text, PROFILE_ROWS))
        .map_err(|error| Failure::new(format!("cannot write {}: {error}", target.display())))?;
    let mut runs = Vec::new();
    for _ in 0..repeat {
        let mut command = Command::new(&bench.chrysalis);
        command.arg("profile").arg(&target).args(["--quasi", QUASI, "--sensitive", "salary_class", "--quiet"]);
        runs.push(measure::run(default_threads(&mut command), &bench.file("profile.out"))?);
    }
    let seconds = median(runs.iter().map(|run| run.seconds));
    let verdict = met(seconds <= MOST_PROFILE_SECONDS);
    println!(
        "\nprofile of {} rows: {seconds:.2} s, {} MB (at most {MOST_PROFILE_SECONDS:.0} s: {verdict})",
        grouped(PROFILE_ROWS),
        megabytes(runs.iter().filter_map(|run| run.peak_bytes).max())
    );
    Ok(())
}

/// The header and `n_rows` rows: the given ones over and over, with the first column (age) increased by one each time.
fn varied(text: &str, n_rows: usize) -> String {
    let mut lines = text.lines();
    let mut varied = format!("{}\n", lines.next().unwrap_or_default());
    let rows: Vec<&str> = lines.collect();
    for (at, row) in rows.iter().cycle().take(n_rows).enumerate() {
        let copy = at / rows.len();
        match row.split_once(',').and_then(|(age, rest)| Some((age.parse::<usize>().ok()?, rest))) {
            Some((age, rest)) => varied.push_str(&format!("{},{rest}\n", age + copy)),
            None => varied.push_str(&format!("{row}\n")),
        }
    }
    varied
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_again_a_year_older() {
        assert_eq!(varied("age,sex\n30,F\n40,M\n", 5), "age,sex\n30,F\n40,M\n31,F\n41,M\n32,F\n");
        assert_eq!(varied("age\nold\n", 2), "age\nold\nold\n");
    }
}

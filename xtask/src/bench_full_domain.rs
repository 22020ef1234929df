//! `cargo xtask bench-full-domain`: what the search over all combinations of levels costs on one million rows.
//!
//! Rows made from CENSUS, eight quasi attributes with levels; all rows and half of them, alternating, because the cost
//! should be linear in the rows. Whole processes. The chore only reports; it enforces no limit.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::{fs, thread};

use serde_json::Value;

use crate::bench::data::{self, MAKER, QUASI};
use crate::bench::report::{grouped, megabytes};
use crate::bench::{ACCEPTING, Bench, Options, default_threads};
use crate::measure::{self, Timing, median};
use crate::shell::Failure;

const ROWS: usize = 1_000_000;
/// The first seven have taxonomies; occupation is a number.
const INTERVALS: &str = "occupation=5,10,20,40";

/// The requirements, and the share of rows that may be suppressed.
const SETTINGS: [(&[&str], &str); 4] =
    [(&["k=5"], "0"), (&["k=5"], "0.05"), (&["k=5", "distinct-l=4"], "0"), (&["k=5", "distinct-l=4"], "0.05")];

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let bench = Bench::prepare(options)?;
    let folder = data::folder(options.data.as_deref());
    let whole = data::census_like(&bench, &folder, ROWS)?;
    let half = bench.file("census_like_half.csv");
    let n_half = first_rows(&whole, ROWS / 2, &half)
        .map_err(|error| Failure::new(format!("cannot write {}: {error}", half.display())))?;
    let taxonomies = taxonomies(&folder)?;
    heading(options.repeat, n_half);
    for (require, suppress) in SETTINGS {
        let mut runs: [Vec<Timing>; 2] = [Vec::new(), Vec::new()];
        let mut summary = Value::Null;
        for _ in 0..options.repeat {
            for (runs, csv) in runs.iter_mut().zip([&half, &whole]) {
                let (run, printed) = publish(&bench, csv, &taxonomies, require, suppress)?;
                runs.push(run);
                summary = printed;
            }
        }
        line(&format!("{}, {suppress}", require.join(" ")), &runs, &summary);
    }
    Ok(())
}

/// Copies the header and the first rows; returns the number of rows.
fn first_rows(source: &Path, n_rows: usize, target: &Path) -> io::Result<usize> {
    let mut target = BufWriter::new(File::create(target)?);
    let mut n_lines = 0;
    for line in BufReader::new(File::open(source)?).split(b'\n').take(n_rows + 1) {
        target.write_all(&line?)?;
        target.write_all(b"\n")?;
        n_lines += 1;
    }
    target.flush()?;
    Ok(n_lines - 1)
}

/// `--taxonomy` for every column that has one.
fn taxonomies(data: &Path) -> Result<Vec<OsString>, Failure> {
    let folder = data.join("hierarchies").join("census");
    let mut arguments = Vec::new();
    for name in QUASI.split(',') {
        let file = folder.join(format!("{name}.csv"));
        if !file.is_file() {
            return Err(Failure::new(format!("there is no {}", file.display())));
        }
        let mut argument = OsString::from(format!("{name}="));
        argument.push(&file);
        arguments.extend(["--taxonomy".into(), argument]);
    }
    Ok(arguments)
}

fn publish(
    bench: &Bench,
    csv: &Path,
    taxonomies: &[OsString],
    require: &[&str],
    suppress: &str,
) -> Result<(Timing, Value), Failure> {
    let mut command = Command::new(&bench.chrysalis);
    command.arg("publish").arg(csv).args(["--quasi", &format!("{QUASI},occupation"), "--sensitive", "salary_class"]);
    command.args(["--partitioner", "full-domain", "--intervals", INTERVALS]).args(taxonomies);
    command.args(require.iter().flat_map(|principle| ["--require", principle])).args(["--suppress", suppress]);
    command.arg("--out").arg(bench.file("release")).args(["--force", "--output", "json"]).args(ACCEPTING);
    let printed = bench.file("publish.json");
    let run = measure::run(default_threads(&mut command), &printed)?;
    let summary = fs::read(&printed).ok().and_then(|json| serde_json::from_slice(&json).ok());
    let summary = summary.ok_or_else(|| Failure::new("`chrysalis publish --output json` printed no JSON"))?;
    Ok((run, summary))
}

fn heading(repeat: usize, n_half: usize) {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    println!("\ndata     rows like CENSUS ({MAKER}), {} and the first {} of them", grouped(ROWS), grouped(n_half));
    println!("quasi    {QUASI} (taxonomies), {INTERVALS}");
    println!("cores    {cores}");
    println!("runs     {repeat} of each, in turns; medians\n");
    println!(
        "{:<24}{:>10}{:>10}{:>8}{:>10}{:>10}  nodes checked",
        "requires, suppresses", "half, s", "all, s", "ratio", "half, MB", "all, MB"
    );
}

fn line(setting: &str, runs: &[Vec<Timing>; 2], summary: &Value) {
    let [half, all] = runs.each_ref().map(|runs| median(runs.iter().map(|run| run.seconds)));
    let [half_peak, peak] = runs.each_ref().map(|runs| megabytes(runs.iter().filter_map(|run| run.peak_bytes).max()));
    let proof = if summary["proven_optimal"] == true { "" } else { ", NOT proven" };
    println!(
        "{setting:<24}{half:>10.2}{all:>10.2}{:>8.2}{half_peak:>10}{peak:>10}  {} of {}{proof}, {} rows disclosed",
        all / half,
        summary["nodes_checked"],
        summary["nodes"],
        summary["disclosed_rows"]
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rows_come_with_their_header() {
        let file = |name: &str| std::env::temp_dir().join(format!("xtask-{name}-{}.csv", std::process::id()));
        let (source, target) = (file("source"), file("first"));
        fs::write(&source, "a,b\n1,2\n3,4\n5,6\n").unwrap();
        let n_rows = first_rows(&source, 2, &target).unwrap();
        let text = fs::read_to_string(&target).unwrap();
        [source, target].iter().for_each(|file| fs::remove_file(file).unwrap());
        assert_eq!((n_rows, text.as_str()), (2, "a,b\n1,2\n3,4\n"));
    }
}

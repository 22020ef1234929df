//! `cargo xtask bench-tables`: what a second sensitive column costs, and what counting persons costs.
//!
//! Rows like CENSUS, which have both a salary and an occupation. Each comparison alternates two publications of the
//! same file as whole processes, so that a busy machine slows both down: one sensitive column and two; rows and persons
//! who have one row each; rows and persons who have one to three. The chore only reports; it enforces no limit.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use crate::bench::data::{self, MAKER, QUASI};
use crate::bench::report::{grouped, megabytes, met};
use crate::bench::{self, Bench, default_threads};
use crate::measure::{self, Timing, median};
use crate::referees;
use crate::shell::{self, Failure};

pub(crate) struct Options {
    rows: usize,
    bench: bench::Options,
}

impl Options {
    pub(crate) fn parse(arguments: &[String], called_from: &Path) -> Result<Self, Failure> {
        let mut rest = arguments.to_vec();
        let mut rows = 2_000_000;
        if let Some(at) = rest.iter().position(|argument| argument == "--rows") {
            rows = shell::count("--rows", rest.get(at + 1))?;
            rest.drain(at..at + 2);
        }
        Ok(Self { rows, bench: bench::Options::parse(&rest, called_from)? })
    }
}

/// Which file is published.
#[derive(Clone, Copy)]
enum Rows {
    /// Every person has one row.
    One,
    /// Persons have one to three rows.
    OneToThree,
}

/// The same file published in two ways.
struct Comparison {
    name: &'static str,
    rows: Rows,
    /// For both sides.
    how: &'static [&'static str],
    /// Only for the second.
    more: &'static [&'static str],
    /// How many times the first side's time the second may take.
    limit: f64,
}

const ANATOMY_10: &[&str] = &["--method", "anatomy", "--require", "l=10"];
/// Three rows of a person may have three values, so ten persons without a common one need not exist.
const ANATOMY_4: &[&str] = &["--method", "anatomy", "--require", "l=4"];
const GENERALIZE: &[&str] = &["--method", "generalize", "--require", "k=10", "--require", "l=4"];
const TWO_COLUMNS: &[&str] = &["--sensitive", "occupation"];
const PERSONS: &[&str] = &["--person", "id"];
const MOST_FOR_TWO_COLUMNS: f64 = 1.6;
const MOST_FOR_PERSONS: f64 = 1.3;

const fn two_columns(name: &'static str, how: &'static [&'static str]) -> Comparison {
    Comparison { name, rows: Rows::One, how, more: TWO_COLUMNS, limit: MOST_FOR_TWO_COLUMNS }
}

const fn persons(name: &'static str, rows: Rows, how: &'static [&'static str]) -> Comparison {
    Comparison { name, rows, how, more: PERSONS, limit: MOST_FOR_PERSONS }
}

const COMPARISONS: [Comparison; 6] = [
    two_columns("anatomy l=10: two columns", ANATOMY_10),
    two_columns("generalize k=10 l=4: two columns", GENERALIZE),
    persons("anatomy l=10: persons, 1 row", Rows::One, ANATOMY_10),
    persons("generalize k=10 l=4: persons, 1 row", Rows::One, GENERALIZE),
    persons("anatomy l=4: persons, 1 to 3 rows", Rows::OneToThree, ANATOMY_4),
    persons("generalize k=10 l=4: persons, 1 to 3 rows", Rows::OneToThree, GENERALIZE),
];

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let folder = data::folder(options.bench.data.as_deref());
    if !folder.join(MAKER).is_file() {
        println!("skipped: there is no {}; --data names the folder that holds it", folder.join(MAKER).display());
        return Ok(());
    }
    let python = match referees::prepare() {
        Ok(python) => python,
        Err(reason) => {
            println!("skipped: {MAKER} needs Python with numpy: {reason}");
            return Ok(());
        }
    };
    let bench = Bench::with(python, &options.bench)?;
    let made = data::census_like(&bench, &folder, options.rows)?;
    let files = with_persons(&bench, &made)?;
    heading(options);
    let mut failed = Vec::new();
    for comparison in &COMPARISONS {
        let csv = match comparison.rows {
            Rows::One => &files[0],
            Rows::OneToThree => &files[1],
        };
        match compare(&bench, comparison, csv, options.bench.repeat) {
            Ok(runs) => line(comparison, &runs, options.rows),
            // The others are worth knowing all the same.
            Err(failure) => {
                println!("{:<42}failed", comparison.name);
                failed.push(failure.message);
            }
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(Failure::new(failed.join("\n"))) }
}

fn compare(bench: &Bench, comparison: &Comparison, csv: &Path, repeat: usize) -> Result<[Vec<Timing>; 2], Failure> {
    let mut runs = [Vec::new(), Vec::new()];
    for _ in 0..repeat {
        for (runs, more) in runs.iter_mut().zip([&[][..], comparison.more]) {
            let mut command = Command::new(&bench.chrysalis);
            command.arg("publish").arg(csv).args(["--quasi", QUASI, "--sensitive", "salary_class"]);
            command.args(comparison.how).args(more).arg("--out").arg(bench.file("release"));
            command.args(["--force", "--output", "json", "--quiet"]);
            runs.push(measure::run(default_threads(&mut command), &bench.file("publish.json"))?);
        }
    }
    Ok(runs)
}

/// Writes both files: the rows with a number of their own, and with the number of one of fewer persons.
fn with_persons(bench: &Bench, made: &Path) -> Result<[PathBuf; 2], Failure> {
    let text = fs::read_to_string(made);
    let text = text.map_err(|error| Failure::new(format!("cannot read {}: {error}", made.display())))?;
    let files = ["persons_1_row.csv", "persons_1_to_3_rows.csv"].map(|name| bench.file(name));
    for (file, most) in files.iter().zip([1, 3]) {
        let write = || -> io::Result<()> {
            let mut out = BufWriter::new(fs::File::create(file)?);
            numbered(&text, most, &mut out)?;
            out.flush()
        };
        write().map_err(|error| Failure::new(format!("cannot write {}: {error}", file.display())))?;
    }
    Ok(files)
}

/// The rows with a column `id` in front. A person has up to `most` rows; the quasi values of later ones are those of
/// the first, because people with the same number are alike. Rows of a person do not stand side by side.
fn numbered(text: &str, most: usize, out: &mut impl Write) -> io::Result<()> {
    let mut lines = text.lines();
    writeln!(out, "id,{}", lines.next().unwrap_or_default())?;
    let n_quasi = QUASI.split(',').count();
    let quasi_end = |row: &str| row.match_indices(',').nth(n_quasi - 1).map_or(row.len(), |(at, _)| at);
    let rows: Vec<&str> = lines.collect();
    // Whose row it is: the person's number, and the row with the quasi values.
    let mut owners = Vec::with_capacity(rows.len());
    for person in 1.. {
        if owners.len() >= rows.len() {
            break;
        }
        let first = owners.len();
        let n_rows = (1 + scattered(person) % most).min(rows.len() - first);
        owners.extend(std::iter::repeat_n((person, first), n_rows));
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&row| (scattered(row), row));
    for row in order {
        let (person, first) = owners[row];
        let (quasi, rest) = (&rows[first][..quasi_end(rows[first])], &rows[row][quasi_end(rows[row])..]);
        writeln!(out, "{person},{quasi}{rest}")?;
    }
    Ok(())
}

/// Fibonacci hashing: neighbours become far apart.
fn scattered(number: usize) -> usize {
    // PROOF: 32 bits are left, which every `usize` of the systems we build for holds.
    ((number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize
}

fn heading(options: &Options) {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    println!("\ndata     rows like CENSUS ({MAKER}), {}", grouped(options.rows));
    println!("quasi    {QUASI}");
    println!("first    --sensitive salary_class, by rows");
    println!("second   {} too, or {}", TWO_COLUMNS.join(" "), PERSONS.join(" "));
    println!("cores    {cores}");
    println!("runs     {} of each, in turns; medians of whole processes\n", options.bench.repeat);
    println!(
        "{:<42}{:>9}{:>9}{:>7}{:>9}{:>9}{:>7}{:>8}{:>8}{:>10}",
        "", "first, s", "second", "ratio", "CPU, s", "second", "ratio", "MB", "second", "B per row"
    );
}

fn line(comparison: &Comparison, runs: &[Vec<Timing>; 2], rows: usize) {
    let [first, second] = runs.each_ref().map(|runs| median(runs.iter().map(|run| run.seconds)));
    let [cpu, cpu_second] = runs.each_ref().map(|runs| median(runs.iter().filter_map(|run| run.cpu_seconds)));
    let peaks = runs.each_ref().map(|runs| runs.iter().filter_map(|run| run.peak_bytes).max());
    let [peak, peak_second] = peaks.map(megabytes);
    println!(
        "{:<42}{first:>9.2}{second:>9.2}{:>7.2}{cpu:>9.2}{cpu_second:>9.2}{:>7.2}{peak:>8}{peak_second:>8}{:>10}  \
         at most {:.1}: {}",
        comparison.name,
        second / first,
        cpu_second / cpu,
        more_per_row(peaks, rows),
        comparison.limit,
        met(second / first <= comparison.limit)
    );
}

/// How many bytes of memory a row needs more on the second side.
fn more_per_row(peaks: [Option<u64>; 2], rows: usize) -> String {
    let [Some(first), Some(second)] = peaks.map(|peak| peak.and_then(|bytes| i64::try_from(bytes).ok())) else {
        return "not known".to_owned();
    };
    #[expect(clippy::cast_precision_loss, reason = "a number for people to read")]
    let bytes = (second - first) as f64 / rows as f64;
    format!("{bytes:+.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seven quasi columns and two others; the last two differ in every row.
    fn table(rows: usize) -> String {
        let rows = (0..rows).map(|row| format!("{row},2,3,4,5,6,7,o{row},s{row}\n"));
        std::iter::once("age,b,c,d,e,f,g,occupation,salary\n".to_owned()).chain(rows).collect()
    }

    fn rows_of(most: usize, n: usize) -> Vec<(usize, usize, String)> {
        let mut out = Vec::new();
        numbered(&table(n), most, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("id,age,b,c,d,e,f,g,occupation,salary\n"));
        let parse = |line: &str| {
            let fields: Vec<&str> = line.split(',').collect();
            assert_eq!(fields.len(), 10);
            (fields[0].parse().unwrap(), fields[1].parse().unwrap(), fields[9].to_owned())
        };
        text.lines().skip(1).map(parse).collect()
    }

    #[test]
    fn with_one_row_each_everybody_keeps_their_own() {
        let mut rows = rows_of(1, 50);
        rows.sort();
        assert!(rows.iter().enumerate().all(|(at, row)| *row == (at + 1, at, format!("s{at}"))));
    }

    #[test]
    fn rows_of_a_person_share_quasi_values_and_stand_apart() {
        let rows = rows_of(3, 600);
        let mut secrets: Vec<&str> = rows.iter().map(|row| row.2.as_str()).collect();
        secrets.sort_unstable();
        secrets.dedup();
        assert_eq!(secrets.len(), 600, "no row is lost or repeated");
        let mut numbers = std::collections::BTreeMap::<usize, Vec<usize>>::new();
        for (person, age, _) in &rows {
            numbers.entry(*person).or_default().push(*age);
        }
        assert!(numbers.values().all(|ages| ages.len() <= 3 && ages.iter().all(|age| age == &ages[0])));
        for n_rows in 1..=3 {
            let found = numbers.values().filter(|ages| ages.len() == n_rows).count();
            assert!(found > 60, "{found} persons have {n_rows} rows");
        }
        assert!(rows.windows(2).filter(|pair| pair[0].0 == pair[1].0).count() < 20);
    }

    #[test]
    fn memory_per_row_is_a_difference() {
        assert_eq!(more_per_row([Some(1000), Some(1900)], 100), "+9.0");
        assert_eq!(more_per_row([Some(1900), Some(1000)], 100), "-9.0");
        assert_eq!(more_per_row([None, Some(1900)], 100), "not known");
    }

    #[test]
    fn the_number_of_rows_is_an_option() {
        let parse = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            Options::parse(&words, Path::new(".")).map(|options| (options.rows, options.bench.repeat)).ok()
        };
        assert_eq!(parse(&[]), Some((2_000_000, 5)));
        assert_eq!(parse(&["--repeat", "2", "--rows", "1000"]), Some((1000, 2)));
        assert_eq!(parse(&["--rows"]), None);
        assert_eq!(parse(&["--row", "5"]), None);
    }
}

//! Chores of this repository, run as `cargo xtask <chore>`.
//!
//! One file per chore. Chores are programs for people at a terminal: they print, start other programs and stop at the
//! first failure. They contain no product code, and no crate of the product depends on this one.

// Printing is what a chore is for.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod bench;
mod bench_audit;
mod bench_cells;
mod bench_estimates;
mod bench_full_domain;
mod bench_queries;
mod bench_series;
mod bench_stop;
mod bench_tables;
mod bless;
mod check_deps;
mod ci;
mod example;
mod measure;
mod python;
mod referees;
mod shell;
mod spark;
mod studio_pictures;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, io};

use shell::Failure;

const HELP: &str = "\
Chores of the Chrysalis workspace.

usage: cargo xtask <chore> [options]

Benchmarks build a release; with --chrysalis PROGRAM they measure one that is built already.

  ci [--all]             everything CI runs: referees, format, clippy, check-deps, tests, docs; with
                         --all, suites that CI runs on a sample are run whole
  example [--rows N]     make the example hospital table, publish it, audit the release
  bench [--data DIR]     publish 2,000,000 CENSUS rows and time it against polars
        [--repeat N]     (DIR holds census_sal_500k.csv.gz; default: the environment variable
                         CHRYSALIS_DATA, then ../shared/data, then the example generator)
  bench-audit            publish 500,000 CENSUS rows in every form, audit them with all attacks,
        [--data DIR]     and profile 1,200,000 rows (needs census_sal_500k.csv.gz)
        [--repeat N]
  bench-cells            publish 10,000,000 rows like CENSUS in one piece and cell by cell: time, peak
        [--data DIR]     memory, loss and errors (DIR holds make_census_like.py and the CENSUS
        [--rows N]       files; --file measures a file that is there already, --only takes part of a
        [--memory 1GB]   name such as anatomy), beside polars, which moves the same rows
        [--file FILE] [--only TEXT]
  bench-estimates        publish real tables in several forms and ask them 1,000 random questions:
        [--data DIR]     errors of even and learned estimates, and how often the truth lies within
        [--questions N]  two standard errors (releases in target/bench-estimates are used again;
        [--only TEXT]    --only takes part of a name such as adult-l4-generalize)
  bench-full-domain      search all combinations of levels of 1,000,000 rows like CENSUS, and of
        [--data DIR]     half of them (DIR holds make_census_like.py, the CENSUS files and
        [--repeat N]     hierarchies/census)
  bench-queries          ask 2,000,000 CENSUS rows: rewritten questions against the raw table in
        [--data DIR]     DuckDB and PostgreSQL, `chrysalis query` against DuckDB over the raw
        [--repeat N]     Parquet file (needs census_sal_500k.csv.gz)
  bench-series           publish 200,000 people of CENSUS 20 times, some of whom come and go: counterfeits,
        [--data DIR]     time beside plain anatomy, and whom plain releases expose (needs
                         census_sal_500k.csv.gz)
  bench-spark            publish 2,000,000 rows like CENSUS on a Spark cluster of two workers in every
        [--data DIR]     form: CPU seconds of all processes beside those of one machine, and the same
        [--rows N]       hashes for every number of partitions (--partitions 2,7,32; --forms anatomy;
        [--partitions …] --rows-per-cell N; --faults: the same with a worker that is killed, and
                         with tasks that run twice)
  bench-stop             interrupt the publication of 2,000,000 CENSUS rows at many moments: how long
        [--data DIR]     does it take to end, and is anything left behind?
        [--repeat N]
  bench-tables           publish 2,000,000 rows like CENSUS with one sensitive column and with two,
        [--data DIR]     by rows and by persons, in turns (DIR holds make_census_like.py and the
        [--repeat N]     CENSUS files; skipped without them)
        [--rows N]
  bless                  rewrite the expected transcripts of the command line
  check-deps             check which of our crates may depend on which
  python [--build]       build the Python wheel, install it into a fresh environment, and test it
         [--profile NAME] there; --build only builds it
  python-pictures        photograph what notebooks show for docs/guides/python.md
  referees               install pycanon, polars, DuckDB and playwright into target/referee, axe-core into
                         target/axe, PostgreSQL and Chromium
  spark [--profile NAME] build the Python wheel, and test it on a Spark cluster that is started for it: a
                         master and two workers (installs Java, and PySpark into target/python)
  studio-pictures        photograph every step of the studio for docs/guides/studio.md
";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match start(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.message.is_empty() {
                eprintln!("error: {}", failure.message);
            }
            ExitCode::from(failure.code)
        }
    }
}

fn start(arguments: &[String]) -> Result<(), Failure> {
    let called_from = env::current_dir().map_err(cannot_enter)?;
    env::set_current_dir(repository_root()).map_err(cannot_enter)?;
    dispatch(arguments, &called_from)
}

fn dispatch(arguments: &[String], called_from: &Path) -> Result<(), Failure> {
    let Some((chore, rest)) = arguments.split_first() else {
        return Err(Failure::usage(format!("which chore?\n\n{HELP}")));
    };
    if chore == "help" || arguments.iter().any(|a| a == "--help" || a == "-h") {
        print!("{HELP}");
        return Ok(());
    }
    match chore.as_str() {
        "ci" => ci::run(ci::Extent::parse(rest)?),
        "example" => example::run(&example::Options::parse(rest)?),
        "bench" => bench::run(&bench::Options::parse(rest, called_from)?),
        "bench-audit" => bench_audit::run(&bench::Options::parse(rest, called_from)?),
        "bench-cells" => bench_cells::run(&bench_cells::Options::parse(rest, called_from)?),
        "bench-estimates" => bench_estimates::run(&bench_estimates::Options::parse(rest, called_from)?),
        "bench-full-domain" => bench_full_domain::run(&bench::Options::parse(rest, called_from)?),
        "bench-queries" => bench_queries::run(&bench::Options::parse(rest, called_from)?),
        "bench-spark" => spark::bench(rest, called_from),
        "bench-series" => bench_series::run(&bench_series::Options::parse(rest, called_from)?),
        "bench-stop" => bench_stop::run(&bench::Options::parse(rest, called_from)?),
        "bench-tables" => bench_tables::run(&bench_tables::Options::parse(rest, called_from)?),
        "bless" => no_options(rest).and_then(|()| bless::run()),
        "check-deps" => no_options(rest).and_then(|()| check_deps::run()),
        "python" => python::run(&python::Options::parse(rest)?),
        "python-pictures" => no_options(rest).and_then(|()| python::pictures()),
        "spark" => spark::run(&python::Options::parse(rest)?),
        "studio-pictures" => no_options(rest).and_then(|()| studio_pictures::run()),
        "referees" => no_options(rest).and_then(|()| referees::run()),
        _ => Err(Failure::usage(format!("no chore `{chore}`\n\n{HELP}"))),
    }
}

fn no_options(rest: &[String]) -> Result<(), Failure> {
    match rest.first() {
        None => Ok(()),
        Some(extra) => Err(Failure::usage(format!("unexpected `{extra}`\n\n{HELP}"))),
    }
}

/// Cargo passes the folder of this package when it runs us; the repository is its parent.
fn repository_root() -> PathBuf {
    let package =
        env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    package.parent().map(Path::to_path_buf).unwrap_or(package)
}

fn cannot_enter(error: io::Error) -> Failure {
    Failure::new(format!("cannot enter the repository: {error}"))
}

//! `cargo xtask bench-queries`: what it costs to ask a release a question, compared with asking the microdata.
//!
//! Three comparisons, each alternating, so that a busy machine slows both sides down: (a) the rewritten question
//! against the raw one inside DuckDB and inside PostgreSQL; (b) a whole `chrysalis query` against a whole DuckDB
//! process over the raw Parquet file; (c) the same for a file of a thousand questions. The chore only reports; it
//! enforces no limit.

mod postgres;
mod processes;
mod questions;
mod report;
mod rewriting;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::data::{self, Input};
use crate::bench::{Bench, Options, default_threads};
use crate::measure;
use crate::referees;
use crate::shell::Failure;

/// Inside an engine a question is fast, about ten milliseconds in DuckDB and a tenth of a second in PostgreSQL, so it
/// is asked this many times as often.
const IN_DUCKDB: usize = 20;
const IN_POSTGRES: usize = 5;

/// A published release.
struct Release {
    name: &'static str,
    folder: PathBuf,
    tables: [&'static str; 2],
}

/// The raw table and the releases made from it.
struct Tables {
    csv: PathBuf,
    parquet: PathBuf,
    shuffle: Release,
    anatomy: Release,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let bench = Bench::prepare(options)?;
    let input = data::prepare(&bench, options.data.as_deref())?;
    if input.forms.is_empty() {
        let problem = format!("the questions are about CENSUS: name the folder of {} with --data", data::CENSUS);
        return Err(Failure::new(problem));
    }
    report::heading(&input, options.repeat);
    let tables = tables(&bench, &input)?;
    rewriting::duckdb(&bench, &tables, options.repeat * IN_DUCKDB)?;
    match referees::prepare_postgres() {
        Ok(programs) => {
            let server = postgres::Server::start(programs)?;
            rewriting::postgres(&bench, &tables, &server, options.repeat * IN_POSTGRES)?;
        }
        Err(reason) => println!("\nno PostgreSQL to measure in: {reason}"),
    }
    processes::single(&bench, &tables, options.repeat)?;
    processes::files(&bench, &tables, options.repeat)
}

fn tables(bench: &Bench, input: &Input) -> Result<Tables, Failure> {
    let absolute = |path: &Path| {
        std::path::absolute(path).map_err(|error| Failure::new(format!("cannot find {}: {error}", path.display())))
    };
    let (csv, parquet) = (absolute(&input.csv)?, absolute(&bench.file("raw.parquet"))?);
    rewriting::write_parquet(bench, &csv, &parquet)?;
    let shuffle = ["--method", "shuffle", "--partitioner", "min-sum", "--require", "ke=10,9"];
    let shuffle = publish(bench, input, "shuffle", &shuffle, ["permuted", "help"])?;
    let anatomy = ["--method", "anatomy", "--require", "l=10"];
    let anatomy = publish(bench, input, "anatomy", &anatomy, ["qit", "st"])?;
    Ok(Tables { csv, parquet, shuffle, anatomy })
}

fn publish(
    bench: &Bench,
    input: &Input,
    name: &'static str,
    arguments: &[&str],
    tables: [&'static str; 2],
) -> Result<Release, Failure> {
    let folder = bench.file(&format!("questions-{name}"));
    let mut command = Command::new(&bench.chrysalis);
    command.arg("publish").args(&input.publish).args(arguments);
    command.arg("--out").arg(&folder).args(["--force", "--quiet"]);
    measure::run(default_threads(&mut command), &bench.file("publish.out"))?;
    Ok(Release { name, folder, tables })
}

/// A Parquet file as a table expression of DuckDB.
fn read_parquet(file: &Path) -> String {
    format!("read_parquet('{}')", file.display().to_string().replace('\'', "''"))
}

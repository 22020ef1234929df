//! (b) and (c) Whole processes: `chrysalis query` against DuckDB over the raw Parquet file.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::questions::{PROCESS, many};
use super::{Release, Tables, report};
use crate::bench::{Bench, default_threads};
use crate::measure::{self, Timing};
use crate::shell::Failure;

/// The number of questions in one file.
const MANY: usize = 1000;
/// The most times DuckDB's time that a file of questions may take.
const MOST_TIMES_DUCKDB: f64 = 1.0;

/// One question per process.
pub(super) fn single(bench: &Bench, tables: &Tables, repeat: usize) -> Result<(), Failure> {
    let raw = super::read_parquet(&tables.parquet);
    let mut nothing = Vec::new();
    report::table("One process, one question: chrysalis query against DuckDB over Parquet", "chrysalis", "duckdb");
    for question in &PROCESS {
        let (mut duckdb, mut queries) = (Vec::new(), [Vec::new(), Vec::new()]);
        for _ in 0..repeat {
            nothing.push(ask_duckdb(bench, &["-c", "SELECT 1"])?);
            duckdb.push(ask_duckdb(bench, &["-c", &question.over(&raw)])?);
            for (runs, release) in queries.iter_mut().zip([&tables.shuffle, &tables.anatomy]) {
                runs.push(query(bench, release, &[&question.over("microdata")])?);
            }
        }
        for (runs, release) in queries.iter().zip([&tables.shuffle, &tables.anatomy]) {
            report::runs(&format!("{}, {}", release.name, question.name), runs, &duckdb, question.limit);
        }
    }
    report::note("of which DuckDB needs to start and to answer SELECT 1", &nothing);
    Ok(())
}

/// A file of questions per process.
pub(super) fn files(bench: &Bench, tables: &Tables, repeat: usize) -> Result<(), Failure> {
    let raw = super::read_parquet(&tables.parquet);
    let load = format!("CREATE TABLE microdata AS SELECT * FROM {raw};\n");
    let microdata = many(MANY, "microdata").join(";\n");
    let file = |name: &str, text: &str| -> Result<String, Failure> {
        let path = bench.file(name);
        let cannot = |error| Failure::new(format!("cannot write {}: {error}", path.display()));
        fs::write(&path, text).map_err(cannot).map(|()| path.display().to_string())
    };
    let over_parquet = file("over_parquet.sql", &many(MANY, &raw).join(";\n"))?;
    let over_table = file("over_table.sql", &format!("{load}{microdata}"))?;
    let questions = file("questions.sql", &microdata)?;
    let (mut parquet, mut table, mut queries) = (Vec::new(), Vec::new(), [Vec::new(), Vec::new()]);
    for _ in 0..repeat {
        parquet.push(ask_duckdb(bench, &[&over_parquet])?);
        for (runs, release) in queries.iter_mut().zip([&tables.shuffle, &tables.anatomy]) {
            runs.push(query(bench, release, &["--file", &questions])?);
        }
        table.push(ask_duckdb(bench, &[&over_table])?);
    }
    let yardsticks = [("DuckDB over Parquet", &parquet), ("DuckDB over a table loaded from it first", &table)];
    for (name, duckdb) in yardsticks {
        report::table(&format!("One process, {MANY} questions: chrysalis query against {name}"), "chrysalis", "duckdb");
        for (runs, release) in queries.iter().zip([&tables.shuffle, &tables.anatomy]) {
            report::runs(release.name, runs, duckdb, Some(MOST_TIMES_DUCKDB));
        }
    }
    Ok(())
}

fn ask_duckdb(bench: &Bench, arguments: &[&str]) -> Result<Timing, Failure> {
    let mut command = Command::new(&bench.python);
    command.arg("referee/ask_duckdb.py").args(arguments);
    measure::run(default_threads(&mut command), &bench.file("duckdb.out"))
}

fn query(bench: &Bench, release: &Release, arguments: &[&str]) -> Result<Timing, Failure> {
    let mut command = Command::new(&bench.chrysalis);
    command.arg("query").arg::<&Path>(&release.folder).args(arguments).args(["--output", "json"]);
    measure::run(default_threads(&mut command), &bench.file("query.out"))
}

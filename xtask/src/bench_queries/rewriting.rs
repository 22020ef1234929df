//! (a) Rewritten questions against the raw ones, in the same engine.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::postgres::{self, Server};
use super::questions::{ANATOMY, Question, SHUFFLE};
use super::{Release, Tables, report};
use crate::bench::{Bench, data, default_threads};
use crate::measure;
use crate::shell::{self, Failure};

/// The name of the raw table in both engines.
const RAW: &str = "microdata";

/// A question with its statement over the raw table and over a release.
struct Pair {
    question: &'static Question,
    release: &'static str,
    statements: [String; 2],
}

fn pairs(bench: &Bench, tables: &Tables, dialect: &str) -> Result<Vec<Pair>, Failure> {
    let asked = SHUFFLE.iter().map(|question| (question, &tables.shuffle));
    let asked = asked.chain(ANATOMY.iter().map(|question| (question, &tables.anatomy)));
    let pair = |(question, release): (&'static Question, &Release)| {
        let mut command = Command::new(&bench.chrysalis);
        command.arg("rewrite").arg(&release.folder).arg(question.over(RAW)).args(["--dialect", dialect]);
        let file = bench.file("rewritten.sql");
        measure::run(&mut command, &file)?;
        let cannot = |error| Failure::new(format!("cannot read {}: {error}", file.display()));
        let rewritten = fs::read_to_string(&file).map_err(cannot)?;
        Ok(Pair { question, release: release.name, statements: [question.over(RAW), rewritten] })
    };
    asked.map(pair).collect()
}

fn show(pairs: &[Pair], seconds: &[[Vec<f64>; 2]]) {
    for (pair, [raw, rewritten]) in pairs.iter().zip(seconds) {
        let name = format!("{}, {}", pair.release, pair.question.name);
        report::line(&name, rewritten, raw, pair.question.limit);
    }
}

pub(super) fn duckdb(bench: &Bench, tables: &Tables, repeat: usize) -> Result<(), Failure> {
    let pairs = pairs(bench, tables, "duckdb")?;
    let load = |name: &str, file: &Path| format!("CREATE TABLE {name} AS SELECT * FROM {}", super::read_parquet(file));
    let mut setup = vec![load(RAW, &tables.parquet)];
    for release in [&tables.shuffle, &tables.anatomy] {
        let file = |name: &&str| release.folder.join(format!("{name}.parquet"));
        setup.extend(release.tables.iter().map(|name| load(name, &file(name))));
    }
    let statements: Vec<&[String; 2]> = pairs.iter().map(|pair| &pair.statements).collect();
    let plan = json!({"setup": setup, "pairs": statements, "repeat": repeat});
    let file = bench.file("compare.json");
    fs::write(&file, plan.to_string())
        .map_err(|error| Failure::new(format!("cannot write {}: {error}", file.display())))?;
    let mut command = Command::new(&bench.python);
    command.args(["referee/ask_duckdb.py", "--compare"]).arg(&file);
    let printed = bench.file("compared.json");
    measure::run(default_threads(&mut command), &printed)?;
    let seconds = fs::read(&printed).ok().and_then(|json| serde_json::from_slice(&json).ok());
    let seconds: Vec<[Vec<f64>; 2]> =
        seconds.ok_or_else(|| Failure::new("`ask_duckdb.py --compare` printed something other than seconds"))?;
    report::table("DuckDB: rewritten question against the raw one", "rewritten", "raw");
    show(&pairs, &seconds);
    Ok(())
}

pub(super) fn postgres(bench: &Bench, tables: &Tables, server: &Server, repeat: usize) -> Result<(), Failure> {
    let pairs = pairs(bench, tables, "postgres")?;
    let script = bench.file("psql.sql");
    let columns = data::QUASI.split(',').chain(["salary_class"]).map(|name| format!("{name} bigint"));
    let columns = columns.collect::<Vec<_>>().join(", ");
    let csv = tables.csv.display();
    server.psql(
        &format!("CREATE TABLE {RAW} ({columns});\n\\copy {RAW} FROM '{csv}' CSV HEADER\nVACUUM ANALYZE {RAW};\n"),
        &script,
    )?;
    for release in [&tables.shuffle, &tables.anatomy] {
        let mut load = Command::new(&bench.chrysalis);
        load.args(["load", "--quiet"]).arg(&release.folder).arg(server.address());
        measure::run(&mut load, &bench.file("load.out"))?;
        let vacuum: String = release.tables.iter().map(|table| format!("VACUUM ANALYZE {table};\n")).collect();
        server.psql(&vacuum, &script)?;
    }
    report::table("PostgreSQL: rewritten question against the raw one", "rewritten", "raw");
    for pair in &pairs {
        let [raw, rewritten] = &pair.statements;
        // The first run of each is a warm-up.
        let both = format!("{raw};\n{rewritten}\n");
        let text = format!("{both}\\timing on\n{}", both.repeat(repeat));
        let seconds = postgres::seconds(&server.psql(&text, &script)?);
        if seconds.len() != 2 * repeat {
            return Err(Failure::new("psql did not time every statement"));
        }
        let side = |first| seconds.iter().skip(first).step_by(2).copied().collect::<Vec<f64>>();
        show(std::slice::from_ref(pair), &[[side(0), side(1)]]);
    }
    Ok(())
}

/// Writes the raw table as a Parquet file, with DuckDB.
pub(super) fn write_parquet(bench: &Bench, csv: &Path, parquet: &Path) -> Result<(), Failure> {
    let mut command = Command::new(&bench.python);
    let text = |path: &Path| path.display().to_string().replace('\'', "''");
    let copy = format!("COPY (SELECT * FROM read_csv('{}')) TO '{}' (FORMAT parquet)", text(csv), text(parquet));
    let file = bench.file("copy.sql");
    fs::write(&file, copy).map_err(|error| Failure::new(format!("cannot write {}: {error}", file.display())))?;
    command.arg("referee/ask_duckdb.py").arg(&file);
    shell::run(command.stdout(std::process::Stdio::null()))
}

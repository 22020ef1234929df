//! `load` and `rewrite` as people use them.

#![cfg(feature = "databases")]
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::path::Path;

use chrysalis_testkit::engines::Engine;
use common::{Outcome, finish, run};

const QUESTION: &str =
    "SELECT sex, COUNT(*), AVG(cost) AS mean FROM microdata WHERE age BETWEEN 30 AND 60 GROUP BY sex";

/// Publishes a small hospital.
fn release(folder: &Path) {
    run(folder, "example --rows 400 --out hospital").expect(0);
    let quasi = "--quasi age,sex,occupation --sensitive cost";
    let line = format!("publish hospital/patients.csv {quasi} --method anatomy --require l=4 --seed 1 --out release");
    run(folder, &line).expect(0);
}

#[test]
fn a_rewritten_question_has_the_numbers_of_query() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    release(folder);
    let loaded = run(folder, "load release sqlite:release.db --output json").expect(0).json();
    assert_eq!(loaded["target"], "sqlite:release.db");
    assert_eq!(loaded["tables"][0], serde_json::json!({"name": "qit", "rows": 400}));
    let statement = assert_same_numbers(folder, QUESTION);
    assert!(statement.contains("\"mean_std_error\"") && statement.contains("\"count_all_estimate\""), "{statement}");
}

/// Another sensitive column has a condition, or is in GROUP BY.
#[test]
fn so_has_a_rewritten_question_about_two_sensitive_columns() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    run(folder, "example --rows 400 --out hospital").expect(0);
    let columns = "--quasi age,sex,occupation --sensitive cost --sensitive disease";
    for method in ["anatomy", "permute", "generalize"] {
        let line = format!("publish hospital/patients.csv {columns} --method {method} --require l=4 --seed 1");
        run(folder, &format!("{line} --out release --force")).expect(0);
        run(folder, "load release sqlite:release.db").expect(0);
        for question in [
            "SELECT sex, COUNT(*), AVG(cost) AS mean FROM microdata WHERE age > 30 AND disease < 'e' GROUP BY sex",
            "SELECT sex, disease, COUNT(*), SUM(cost) FROM microdata WHERE disease > 'c' GROUP BY sex, disease",
        ] {
            assert_same_numbers(folder, question);
        }
    }
}

/// Asks the release in `release`, and SQLite, which has it in `release.db`; returns the rewritten question, which
/// counts and has another aggregate, by sex and perhaps another column.
fn assert_same_numbers(folder: &Path, question: &str) -> String {
    let answer = run(folder, &format!("query release \"{question}\" --estimate even --output json")).expect(0).json();
    let rewritten = run(folder, &format!("rewrite release \"{question}\" --dialect sqlite --output json")).expect(0);
    let statement = rewritten.json()["sql"].as_str().unwrap().to_owned();
    let Some(mut sqlite) = Engine::sqlite(&folder.join("release.db")) else { return statement };
    let rows = sqlite.ask(&statement).unwrap();
    let answers = answer["rows"].as_array().unwrap();
    assert_eq!(rows.len(), answers.len());
    for (row, answer) in rows.iter().zip(answers) {
        assert_eq!(row[0], answer["group"]["sex"]);
        let keys = answer["group"].as_object().unwrap().len();
        for (at, end) in ["estimate", "lower", "upper", "std_error"].into_iter().enumerate() {
            for (aggregate, place) in [(0, keys + at), (1, keys + 4 + at)] {
                let (ours, theirs) =
                    (answer["aggregates"][aggregate][end].as_f64().unwrap(), row[place].as_f64().unwrap());
                assert!((ours - theirs).abs() <= 1e-9 * ours.abs().max(1.0), "{end}: {ours}, SQLite says {theirs}");
            }
        }
    }
    statement
}

#[test]
fn a_file_of_questions_becomes_a_file_of_statements() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    release(folder);
    std::fs::write(folder.join("q.sql"), format!("{QUESTION};\nSELECT MAX(cost) FROM microdata WHERE age > 3;\n"))
        .unwrap();
    for dialect in ["postgres", "duckdb", "sqlite", "spark"] {
        let statements = run(folder, &format!("rewrite release --file q.sql --dialect {dialect}")).expect(0).stdout;
        assert_eq!(statements.matches(";\n").count(), 2, "{statements}");
        // The comment that says what is computed speaks of commands.
        let sql: String = statements.lines().filter(|line| !line.starts_with("--")).collect();
        assert_eq!(sql.contains('`'), dialect == "spark", "{statements}");
        assert_eq!(statements.contains("GREATEST"), dialect != "sqlite", "{statements}");
    }
}

#[track_caller]
fn refused(outcome: &Outcome, words: &str) {
    assert_eq!(outcome.complaint(&[2]), None);
    assert!(outcome.stderr.contains(words), "{words} is not said\n{outcome}");
    assert!(!outcome.stderr.contains("s3cret"), "{outcome}");
}

#[test]
fn bad_requests_are_refused_without_giving_passwords_away() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    release(folder);
    let load = |rest: &str| run(folder, &format!("load {rest}"));
    refused(&load("release mysql://ann:s3cret@host/db"), "postgres://user@host");
    refused(&load("release postgres://ann:s3cret@host:no/db"), "not of the form");
    refused(&load("release postgres://ann:s3cret@127.0.0.1:1/db"), "ann@127.0.0.1:1/db");
    refused(&load("release sqlite:a.db --schema x"), "needs PostgreSQL");
    refused(&load("release sqlite:no/such/a.db"), "check the path");
    refused(&load("hospital sqlite:a.db"), "name the folder of a release");
    assert!(!folder.join("a.db").exists());
    let ask =
        |question: &str, dialect: &str| run(folder, &format!("rewrite release \"{question}\" --dialect {dialect}"));
    refused(&ask("SELECT COUNT(*) FROM microdata", "oracle"), "postgres, duckdb, sqlite or spark");
    refused(&ask("SELECT * FROM microdata", "sqlite"), "aggregates");
    refused(&ask("SELECT STDDEV(cost) FROM microdata WHERE age > 3", "sqlite"), "ask the release itself");
    let mut command = common::chrysalis(folder);
    command.args(["load", "release", "postgres://ann@127.0.0.1:1/db"]).env("PGPASSWORD", "s3cret");
    refused(&finish(&mut command, "load with PGPASSWORD".into()), "127.0.0.1:1");
}

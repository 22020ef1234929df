//! Releases as version 1 of the format wrote them, one or two of every form: they must be read, audited, asked and
//! evaluated as on the day they were written. The releases are never regenerated. The printed text about `minimality`
//! was false for some partitioners and has been corrected, and sentences were reworded since; their facts and numbers
//! are those of that day.
//!
//! `frozen/people.csv` is the table they were made from, and `frozen/v1/<name>/` contains a release, the questions it
//! was asked, and what was printed at that time.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Outcome, run};

fn frozen() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/frozen")
}

fn names() -> Vec<String> {
    let folders = fs::read_dir(frozen().join("v1")).unwrap();
    let mut names: Vec<String> = folders.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names.len(), 13, "{names:?}");
    names
}

/// Runs a command on every frozen release; its output must be that of the file.
#[track_caller]
fn check(command: &str, options: &str, file: &str) {
    let mut wrong = Vec::new();
    for name in names() {
        let Ok(expected) = fs::read_to_string(frozen().join("v1").join(&name).join(file)) else { continue };
        let options = options.replace("NAME", &name);
        let outcome: Outcome = run(&frozen(), &format!("{command} v1/{name}/release {options}")).expect(0);
        let printed = without_what_was_false(&without_what_came_later(&outcome.stdout, file), file);
        let expected = without_what_was_false(&expected, file);
        if !is_same(&printed, &expected) {
            let at = printed.bytes().zip(expected.bytes()).take_while(|(ours, theirs)| ours == theirs).count();
            let around = |text: &str| {
                let from = text.floor_char_boundary(at.saturating_sub(80));
                text[from..].chars().take(200).collect::<String>()
            };
            wrong.push(format!("{name}, {file}:\n  - {}\n  + {}", around(&expected), around(&printed)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The same text, or the same JSON up to the last digits of numbers: sums may be taken in another order.
fn is_same(printed: &str, expected: &str) -> bool {
    let json = |text: &str| text.lines().map(serde_json::from_str).collect::<Result<Vec<serde_json::Value>, _>>();
    match (json(printed), json(expected)) {
        (Ok(ours), Ok(theirs)) => ours.len() == theirs.len() && ours.iter().zip(&theirs).all(|(a, b)| is_close(a, b)),
        _ => printed == expected,
    }
}

fn is_close(ours: &serde_json::Value, theirs: &serde_json::Value) -> bool {
    use serde_json::Value;
    match (ours, theirs) {
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| is_close(a, b))
        }
        (Value::Object(ours), Value::Object(theirs)) => {
            ours.keys().eq(theirs.keys()) && ours.values().zip(theirs.values()).all(|(a, b)| is_close(a, b))
        }
        (Value::Number(ours), Value::Number(theirs)) => {
            let (a, b) = (ours.as_f64().unwrap(), theirs.as_f64().unwrap());
            (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
        }
        _ => ours == theirs,
    }
}

/// Removes counts of disclosed rows, attacks and notes that version 1 did not have.
fn without_what_came_later(printed: &str, file: &str) -> String {
    if !file.ends_with(".json") {
        return printed.to_owned();
    }
    let line = |line: &str| {
        let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
        let object = value.as_object_mut().unwrap();
        if file.starts_with("audit") {
            for name in ["certain_rows", "disclosed_rows", "accepted", "kept", "disclosure_rule", "reading"] {
                assert!(object.shift_remove(name).is_some(), "{name} is counted of every release");
            }
            for principle in object["principles"].as_array_mut().unwrap() {
                assert!(principle.as_object_mut().unwrap().shift_remove("measured").is_some());
            }
            let checks = object["checks"].as_array_mut().unwrap();
            let later = ["ids", "manifest", "marginals", "swapped"];
            checks.retain(|check| later.iter().all(|name| check["name"] != *name));
            for files in checks.iter_mut().filter(|check| check["name"] == "files") {
                // The sentence about the bytes of the files came later.
                let detail = files["detail"].as_str().unwrap().split("; ").next().unwrap().to_owned();
                files["detail"] = detail.into();
            }
            let attacks = object["attacks"].as_object_mut().unwrap();
            let attacks_since =
                ["bystander", "insider", "joining", "replay", "republishing", "row_linking", "subtraction", "extremes"];
            for name in attacks_since {
                attacks.shift_remove(name);
                attacks["not_run"].as_object_mut().unwrap().shift_remove(name);
            }
        }
        if file == "evaluate.json" {
            assert!(object.shift_remove("rows_drawn").is_some());
            for aggregate in object["workload"]["aggregates"].as_array_mut().unwrap() {
                let later = ["open", "covered", "reach", "even"];
                aggregate.as_object_mut().unwrap().retain(|name, _| !later.contains(&name.as_str()));
            }
        }
        object.shift_remove("notes");
        format!("{value}\n")
    };
    printed.lines().map(line).collect()
}

/// Version 1 said that δ bounds presence, and that rows matched about as often as by chance: the numbers stay, the
/// sentences do not.
fn without_what_was_false(printed: &str, file: &str) -> String {
    if file.ends_with(".sql") {
        // Version 1 did not say which estimates a statement computes.
        let sql = printed.split_inclusive('\n').filter(|line| !line.starts_with("--"));
        return sql.collect();
    }
    if !file.starts_with("audit") {
        return printed.to_owned();
    }
    let line = |line: &str| {
        let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
        if let Some(presence) = value["attacks"]["presence"].as_object_mut() {
            presence.retain(|name, _| ["delta", "delta_exact", "group", "over"].contains(&name.as_str()));
        }
        for check in value["checks"].as_array_mut().unwrap().iter_mut().filter(|check| check["name"] == "permuted") {
            assert!(check.as_object_mut().unwrap().shift_remove("detail").is_some());
        }
        format!("{value}\n")
    };
    printed.lines().map(line).collect()
}

#[test]
fn frozen_releases_are_audited_as_before() {
    check("audit", "--output json", "audit.json");
    check("audit", "--microdata people.csv --output json", "audit-microdata.json");
}

#[test]
fn frozen_releases_answer_as_before() {
    check("query", "--file v1/NAME/questions.sql --estimate even --output json", "answers.json");
    check("rewrite", "--file v1/NAME/questions.sql --dialect postgres", "rewritten.postgres.sql");
    let refused = run(&frozen(), "query v1/rank-swap/release --file v1/rank-swap/questions.sql").expect(2);
    let expected = fs::read_to_string(frozen().join("v1/rank-swap/answers.err")).unwrap();
    assert!(refused.stderr.starts_with(&expected), "{refused}");
}

#[test]
fn frozen_releases_are_evaluated_as_before() {
    check("evaluate", "--microdata people.csv --queries 50 --estimate even --worlds 0 --output json", "evaluate.json");
}

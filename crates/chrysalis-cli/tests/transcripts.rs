//! Command lines and what they print: `transcripts/<name>/` holds `in/` (files), `cmd` (command lines) and `out/`
//! (`transcript` and the files that must have been written).
//!
//! The commands run without a shell in a copy of `in/`, with the papers' tables beside it as `papers/`. Times are
//! masked. `cargo xtask bless` rewrites `out/`; read the diff before committing it.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// One test per folder.
macro_rules! cases {
    ($($name:ident: $folder:literal,)*) => {
        $(#[test] fn $name() { check($folder); })*

        #[test]
        fn every_folder_is_a_test() {
            let mut folders: Vec<String> = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            folders.sort();
            assert_eq!(folders, [$($folder),*]);
        }
    };
}

cases! {
    audit_failing: "audit-failing",
    audit_ok: "audit-ok",
    audit_other_month: "audit-other-month",
    dialects: "dialects",
    disclosure: "disclosure",
    example: "example",
    full_domain: "full-domain",
    help: "help",
    infeasible: "infeasible",
    infeasible_values: "infeasible-values",
    init: "init",
    kinds: "kinds",
    like: "like",
    missing: "missing",
    other_columns: "other-columns",
    paper_butterfly: "paper-butterfly",
    paper_lalpha: "paper-lalpha",
    paper_pa_table_1: "paper-pa-table-1",
    paper_pa_too_strong: "paper-pa-too-strong",
    profile: "profile",
    publish: "publish",
    publish_notes: "publish-notes",
    query: "query",
    query_notes: "query-notes",
    refused_formats: "refused-formats",
    refused_parameters: "refused-parameters",
    refused_principles: "refused-principles",
    refused_releases: "refused-releases",
    refused_specs: "refused-specs",
    refused_tables: "refused-tables",
    refused_taxonomies: "refused-taxonomies",
    refused_usage: "refused-usage",
    release_csv: "release-csv",
    spec_and_flags: "spec-and-flags",
    taxonomy: "taxonomy",
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts")
}

#[track_caller]
fn check(folder: &str) {
    let case = root().join(folder);
    let found = play(&case);
    if std::env::var_os("CHRYSALIS_BLESS").is_some_and(|value| value == "1") {
        write_expected(&case, &found);
    }
    let wrong = compare(&case, &found);
    assert!(wrong.is_empty(), "{wrong}\nIf this is meant, run `cargo xtask bless` and read the diff.");
}

/// Runs the commands of a case; returns its transcript and the files it wrote, by name.
fn play(case: &Path) -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    if case.join("in").is_dir() {
        common::copy_folder(&case.join("in"), folder);
    }
    common::copy_folder(&common::papers(), &folder.join("papers"));
    let before = common::listing(folder);
    let mut transcript = String::new();
    for line in fs::read_to_string(case.join("cmd")).unwrap().lines() {
        let Some(arguments) = line.strip_prefix("chrysalis") else {
            assert!(line.is_empty() || line.starts_with('#'), "{}: `{line}` is no command", case.display());
            continue;
        };
        let outcome = common::run(folder, arguments.trim_start());
        writeln!(transcript, "$ {line}").unwrap();
        transcript.push_str(&masked(&pretty(&outcome.stdout)));
        transcript.push_str(&masked(&outcome.stderr));
        let exit = outcome.code.map_or_else(|| "killed".to_owned(), |code| format!("exit {code}"));
        writeln!(transcript, "{exit}\n").unwrap();
    }
    let mut files = common::listing(folder);
    // The content of Parquet files is not the command line's business.
    let parquet: Vec<String> =
        files.keys().filter_map(|name| name.strip_suffix("generalized.parquet")).map(Into::into).collect();
    files.retain(|name, bytes| {
        !name.ends_with('/')
            && before.get(name) != Some(bytes)
            && !parquet.iter().any(|folder| name.starts_with(folder))
    });
    files.insert("transcript".to_owned(), transcript.into_bytes());
    files
}

/// JSON as a person reads it, without measured times.
fn pretty(text: &str) -> String {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(mut value @ serde_json::Value::Object(_)) => {
            for key in ["seconds", "phases"] {
                if let Some(measured) = value.get_mut(key) {
                    *measured = "(masked)".into();
                }
            }
            format!("{value:#}\n")
        }
        _ => text.to_owned(),
    }
}

fn write_expected(case: &Path, found: &BTreeMap<String, Vec<u8>>) {
    let out = case.join("out");
    if out.exists() {
        fs::remove_dir_all(&out).unwrap();
    }
    for (name, bytes) in found {
        let path = out.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    eprintln!("blessed {}", case.display());
}

fn compare(case: &Path, found: &BTreeMap<String, Vec<u8>>) -> String {
    let mut expected = if case.join("out").is_dir() { common::listing(&case.join("out")) } else { BTreeMap::new() };
    expected.retain(|name, _| !name.ends_with('/'));
    let name = case.file_name().unwrap().to_string_lossy();
    let mut wrong = String::new();
    for (file, bytes) in found {
        match expected.get(file) {
            None => writeln!(wrong, "{name}: {file} was written, but is not expected").unwrap(),
            Some(old) if old != bytes => {
                writeln!(wrong, "{name}: {file} differs\n{}", first_difference(old, bytes)).unwrap()
            }
            Some(_) => {}
        }
    }
    for file in expected.keys().filter(|file| !found.contains_key(*file)) {
        writeln!(wrong, "{name}: {file} is expected, but was not written").unwrap();
    }
    wrong
}

/// The first line that differs, with the three lines before it.
fn first_difference(expected: &[u8], found: &[u8]) -> String {
    let (expected, found) = (String::from_utf8_lossy(expected), String::from_utf8_lossy(found));
    let (expected, found): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), found.lines().collect());
    let at = (0..).find(|&at| expected.get(at) != found.get(at)).unwrap_or(0);
    let mut words: String = expected[at.saturating_sub(3)..at].iter().map(|line| format!("    {line}\n")).collect();
    for (sign, lines) in [('-', &expected), ('+', &found)] {
        for line in lines.iter().skip(at).take(3) {
            writeln!(words, "  {sign} {line}").unwrap();
        }
    }
    words
}

/// The text with measured times masked: the `seconds` line of tables, and both members of CSV.
fn masked(text: &str) -> String {
    let mask = |line: &str| {
        if line.starts_with("  seconds ") {
            "  seconds      (masked)".to_owned()
        } else if line.starts_with("seconds,") || line.starts_with("phases.") {
            format!("{},(masked)", line.split(',').next().unwrap_or_default())
        } else {
            line.to_owned()
        }
    };
    text.lines().map(|line| mask(line) + "\n").collect()
}

#[test]
fn times_are_masked_and_nothing_else() {
    let json = r#"{"rows":5,"seconds":0.04,"phases":{"read":0.1,"write":0.2}}"#;
    let expected = "{\n  \"rows\": 5,\n  \"seconds\": \"(masked)\",\n  \"phases\": \"(masked)\"\n}\n";
    assert_eq!(pretty(json), expected);
    assert_eq!(pretty("rows,5\n"), "rows,5\n");
    assert_eq!(masked("seconds,0.5\nphases.read,1\nk,3\n"), "seconds,(masked)\nphases.read,(masked)\nk,3\n");
    assert_eq!(masked("  seconds      0.07 (read 0.01)\n  rows 3\n"), "  seconds      (masked)\n  rows 3\n");
}

#[test]
fn command_lines_are_split_as_a_shell_would() {
    assert_eq!(common::split("publish 'a b.csv' --quasi a,\"b c\" ''"), ["publish", "a b.csv", "--quasi", "a,b c", ""]);
}

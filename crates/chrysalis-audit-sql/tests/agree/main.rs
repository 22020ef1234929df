//! The audit and its SQL agree: on frozen releases, on honest ones of every form, and on tampered ones.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod engines;
mod honest;
mod lies;
mod people;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use chrysalis_audit_sql::{Dialect, statements};
use chrysalis_release::Release;

use engines::Judge;
use verdict::{audit, compare};

/// Every engine that is installed; SQLite always is.
fn judges(folder: &Path) -> Vec<Judge> {
    [Some(Judge::sqlite()), Judge::duckdb(folder), Judge::postgres()].into_iter().flatten().collect()
}

fn frozen() -> Vec<(String, Release)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../chrysalis-cli/tests/frozen/v1");
    let mut names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    let read = |path: &std::path::PathBuf| {
        (
            path.file_name().unwrap().to_string_lossy().into_owned(),
            chrysalis_store::read_release(&path.join("release")).unwrap(),
        )
    };
    names.iter().map(read).collect()
}

/// Every engine says of sound releases what the audit says: nothing.
fn all_is_well(releases: &[(String, Release)]) {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    for mut judge in judges(folder.path()) {
        let mut statements = 0;
        for (name, release) in releases {
            let report = audit(release).unwrap();
            let verdict = compare(release, &report, &mut judge);
            statements += verdict.statements;
            wrong.extend(verdict.wrong.iter().map(|it| format!("{name}, {}: {it}", judge.dialect())));
            if verdict.audit_complains || verdict.sql_complains {
                let found: Vec<_> = report.checks.iter().filter(|it| !it.ok).map(|it| (&it.name, &it.detail)).collect();
                wrong.push(format!("{name}: somebody complains: {found:?} {:?}", report.principles));
            }
        }
        assert!(statements > releases.len(), "{}: {statements} statements", judge.dialect());
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.iter().take(12).cloned().collect::<Vec<_>>().join("\n")
    );
}

#[test]
fn frozen_releases_pass_in_every_database() {
    all_is_well(&frozen());
}

#[test]
fn sound_releases_of_every_form_and_promise_pass_in_every_database() {
    all_is_well(&honest::releases());
}

#[test]
fn sound_releases_of_series_pass_in_every_database() {
    all_is_well(&honest::series());
}

/// Spark is not at hand in tests, so its statements are at least parsed; names are unique, and nothing is left out
/// silently: every promise and every check of the audit is decided or said to be undecided.
#[test]
fn every_promise_and_check_has_statements_that_parse_or_is_said_to_be_undecided() {
    use sqlparser::dialect::{DatabricksDialect, Dialect as Syntax, DuckDbDialect, PostgreSqlDialect, SQLiteDialect};
    let syntax = |dialect: Dialect| -> Box<dyn Syntax> {
        match dialect {
            Dialect::Postgres => Box::new(PostgreSqlDialect {}),
            Dialect::DuckDb => Box::new(DuckDbDialect {}),
            Dialect::Sqlite => Box::new(SQLiteDialect {}),
            Dialect::Spark => Box::new(DatabricksDialect {}),
        }
    };
    for (name, release) in honest::releases().into_iter().chain(honest::series()).chain(frozen()) {
        let report = audit(&release).unwrap();
        for dialect in Dialect::ALL {
            let all = statements(&release.manifest, dialect);
            for sql in all.iter().filter_map(|it| it.sql.as_ref()) {
                let parsed = sqlparser::parser::Parser::parse_sql(&*syntax(dialect), sql);
                assert_eq!(parsed.map_err(|error| error.to_string()).map(|it| it.len()), Ok(1), "{name}: {sql}");
            }
            let names: BTreeSet<&str> = all.iter().map(|it| it.name.as_str()).collect();
            assert_eq!(names.len(), all.len(), "{name}: two statements have one name");
            for promise in release.manifest.guarantees() {
                assert!(all.iter().any(|it| it.promise.as_ref() == Some(&promise)), "{name}: {promise}");
            }
            for check in &report.checks {
                // Without the microdata it cannot fail.
                let is_told = check.name == "intersection"
                    || names.iter().any(|it| it.split('/').nth(1) == Some(check.name) && it.starts_with("check/"));
                assert!(is_told, "{name}: nothing is said about the check `{}`", check.name);
            }
        }
    }
}

#[test]
fn lies_are_found_by_both_or_by_neither() {
    let folder = tempfile::tempdir().unwrap();
    let sound: Vec<(String, Release)> = honest::releases().into_iter().chain(frozen()).collect();
    let mut forged = lies::forge(&sound, chrysalis_testkit::sampled(60, 520));
    forged.extend(lies::forge(&honest::series(), chrysalis_testkit::sampled(40, 200)));
    let forged = forged;
    let kinds: BTreeSet<&str> = forged.iter().map(|it| it.kind).collect();
    let mut wrong: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for mut judge in judges(folder.path()) {
        let (mut both, mut neither, mut beyond) = (0, 0, BTreeMap::<String, usize>::new());
        for it in &forged {
            let verdict = compare(&it.release, &it.report, &mut judge);
            for problem in &verdict.wrong {
                let at = format!("{} of {}, {}", it.kind, it.of, judge.dialect());
                wrong.entry(problem.chars().take(90).collect()).or_default().push(format!("{at}: {problem}"));
            }
            match (verdict.audit_complains, verdict.sql_complains) {
                (true, true) => both += 1,
                (false, false) => neither += 1,
                // What only the bytes, the order of rows or the manifest can show.
                (true, false) => *beyond.entry(format!("{} ({:?})", it.kind, verdict.only_audit)).or_default() += 1,
                (false, true) => {}
            }
        }
        println!(
            "{}: {} tampered releases of {} kinds: {both} found by both, {neither} harmless to both, {} beyond tables: {beyond:#?}",
            judge.dialect(),
            forged.len(),
            kinds.len(),
            beyond.values().sum::<usize>()
        );
    }
    let shown: Vec<String> = wrong.values().map(|all| format!("{} × {}", all.len(), all[0])).take(25).collect();
    assert!(wrong.is_empty(), "{} kinds of disagreement:\n{}", wrong.len(), shown.join("\n"));
}

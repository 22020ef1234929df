//! Several releases of one series: which one a question is about, differences between months, and broken chains.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use common::run;

/// The people of a month: those from `first` on.
fn people(month: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    let first = (month - 1) * 30;
    (first..first + 120).map(|id| (id, 20 + id * 37 % 50, id * 7 % 6))
}

fn write(folder: &Path, month: usize) {
    let mut text = "id,age,disease\n".to_owned();
    people(month).for_each(|(id, age, disease)| writeln!(text, "p{id},{age},d{disease}").unwrap());
    fs::write(folder.join(format!("month-{month}.csv")), text).unwrap();
}

/// Four months by anatomy.
fn months(folder: &Path, ledger: &str, out: &str) {
    for month in 1..=4 {
        write(folder, month);
        let line = format!(
            "publish month-{month}.csv --quasi age --sensitive disease --person id --require m=3 --series {ledger} \
             --method anatomy --out {out}-{month} --quiet"
        );
        run(folder, &line).expect(0);
    }
}

fn truth(month: usize, age: usize, disease: usize) -> f64 {
    people(month).filter(|person| person.1 > age && person.2 == disease).count() as f64
}

fn told(json: &serde_json::Value) -> (f64, f64, f64) {
    let one = &json["rows"][0]["aggregates"][0];
    let number = |name: &str| one[name].as_f64().unwrap_or_else(|| panic!("{json}"));
    (number("lower"), number("estimate"), number("upper"))
}

#[test]
fn questions_are_about_the_latest_release_or_the_one_that_they_name() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    months(folder, "ledger", "release");
    let all = "--with release-1 release-2 release-3 release-4 --output json";
    let ask = |line: &str| told(&run(folder, line).expect(0).json());
    let condition = "WHERE age > 40 AND disease = 'd2'";
    for month in 1..=4 {
        let alone = ask(&format!("query release-{month} \"SELECT COUNT(*) FROM microdata {condition}\" --output json"));
        let named = format!("SELECT COUNT(*) FROM microdata VERSION AS OF {month} {condition}");
        assert_eq!(alone, ask(&format!("query release-2 \"{named}\" {all}")));
        assert_eq!(alone, ask(&format!("query release-{month} \"{named}\" --output json")));
        if month == 4 {
            assert_eq!(alone, ask(&format!("query release-1 \"SELECT COUNT(*) FROM microdata {condition}\" {all}")));
        }
    }
    for (a, b) in [(4, 3), (2, 1), (4, 1)] {
        let count = |month| format!("(SELECT COUNT(*) FROM microdata VERSION AS OF {month} {condition})");
        let sql = format!("SELECT {} - {} AS more", count(a), count(b));
        let (lower, estimate, upper) = ask(&format!("query release-1 \"{sql}\" {all}"));
        let more = truth(a, 40, 2) - truth(b, 40, 2);
        assert!(lower <= more && more <= upper && lower <= estimate && estimate <= upper, "{lower} {more} {upper}");
    }
    // Ages are exact, so what depends on nothing else has no error.
    let sql = "SELECT (SELECT COUNT(*) FROM microdata WHERE age > 40) - (SELECT COUNT(*) FROM microdata VERSION AS OF 2 WHERE age > 40)";
    let older = |month| people(month).filter(|person| person.1 > 40).count() as f64;
    let more = older(4) - older(2);
    assert_eq!(ask(&format!("query release-4 \"{sql}\" {all}")), (more, more, more));
    let explained = run(folder, &format!("query release-4 \"{sql}\" --with release-3 release-2 --explain")).expect(0);
    assert!(explained.stdout.contains("Question 2, of release 2"), "{explained}");
    // A file of questions, each about another release.
    let file = "SELECT COUNT(*) FROM microdata VERSION AS OF 3; SELECT COUNT(*) FROM microdata;";
    fs::write(folder.join("q.sql"), file).unwrap();
    run(folder, "query release-4 --with release-3 --file q.sql").expect(0);
}

#[test]
fn a_broken_chain_is_refused_in_words() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    months(folder, "ledger", "release");
    let elsewhere = folder.join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    months(&elsewhere, "ledger", "release");
    let plain = "publish month-1.csv --quasi age --sensitive disease --other id --accept identifying=id --require l=2 --out plain \
                 --method anatomy --quiet";
    run(folder, &plain.replace("--other id --accept identifying=id", "")).expect(0);
    let refuse = |line: &str, words: &str| {
        let refused = run(folder, line);
        assert!(refused.complaint(&[2]).is_none() && refused.stderr.contains(words), "{line}: {refused}");
    };
    let query = |more: &str| format!("query release-4 \"SELECT COUNT(*) FROM microdata\" --with {more}");
    refuse(&query("release-1"), "releases 2 to 3 are missing between release-1 and release-4");
    refuse(&query("release-3 release-1"), "release 2 is missing between release-1 and release-3");
    refuse(&query("elsewhere/release-3"), "follows another release 3 than elsewhere/release-3");
    refuse(&query("elsewhere/release-4"), "both say that they are release 4");
    refuse(&query("plain"), "plain is not a release of a series");
    let version = |number: u64| format!("query release-4 \"SELECT COUNT(*) FROM microdata VERSION AS OF {number}\"");
    refuse(&version(3), "release 3 of the series is asked, and this is release 4");
    refuse(&format!("{} --with release-3", version(2)), "there are releases 3 to 4");
    refuse("query plain \"SELECT COUNT(*) FROM microdata VERSION AS OF 1\"", "this release belongs to none");
    refuse("rewrite release-4 \"SELECT (SELECT COUNT(*) FROM microdata) - 1\" --dialect duckdb", "is not rewritten");
    refuse(
        "rewrite release-4 \"SELECT COUNT(*) FROM microdata VERSION AS OF 3\" --dialect duckdb",
        "this is release 4",
    );
    // One byte more, and the next manifest names another hash.
    let manifest = folder.join("release-3/release.json");
    let mut text = fs::read_to_string(&manifest).unwrap();
    text.push('\n');
    fs::write(&manifest, text).unwrap();
    refuse(&query("release-3"), "follows another release 3");
}

#[test]
fn releases_of_a_series_are_evaluated_sampled_and_checked_in_sql() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    months(folder, "ledger", "release");
    let with = "--with release-3=month-3.csv --with release-2=month-2.csv --queries 40 --worlds 0 --output json";
    let found = run(folder, &format!("evaluate release-4 --microdata month-4.csv {with}")).expect(0).json();
    let releases = found["releases"].as_array().unwrap();
    let numbers: Vec<_> = releases.iter().map(|it| it["release"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [2, 3, 4]);
    assert!(releases.iter().all(|it| it["evaluation"]["rows"] == 120), "{found}");
    assert!(releases.iter().all(|it| it["evaluation"]["workload"]["aggregates"][0]["inside"] == 1.0), "{found}");
    run(folder, &format!("evaluate release-4 --microdata month-4.csv {}", with.replace(" --output json", "")))
        .expect(0);
    let drawn = run(folder, "sample release-4 --out rows.csv --output json").expect(0).json();
    assert_eq!(drawn["rows"], 120);
    let statements = run(folder, "audit release-4 --sql duckdb").expect(0);
    assert!(statements.stdout.contains("check/series/groups") && statements.stdout.contains("promise/m=3"));
}

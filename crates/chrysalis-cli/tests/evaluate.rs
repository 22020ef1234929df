//! `chrysalis evaluate`: every form of one table, asked the same questions.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::path::Path;

use common::run;
use serde_json::Value;

fn hospital(folder: &Path) {
    run(folder, "example --rows 600 --seed 4 --out hospital").expect(0);
}

fn publish(folder: &Path, sensitive: &str, how: &str, out: &str) {
    let quasi =
        if how.contains("butterfly") { "--quasi age,sex --quasi age,zip_code" } else { "--quasi age,sex,zip_code" };
    let line = format!(
        "publish hospital/patients.csv {quasi} --sensitive {sensitive} --kind zip_code=category {how} --seed 3 --out {out} --force"
    );
    run(folder, &line).expect(0);
}

fn evaluated(folder: &Path, release: &str, flags: &str) -> Value {
    let queries = if flags.contains("--queries") { "" } else { "--queries 60" };
    let line = format!("evaluate {release} --microdata hospital/patients.csv --output json {queries} {flags}");
    run(folder, &line).expect(0).json()
}

#[test]
fn true_answers_lie_within_the_bounds_of_every_form() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    hospital(folder);
    let forms = [
        ("disease", "--method generalize --require k=5"),
        ("disease", "--method butterfly --require k=5"),
        ("disease", "--method anatomy --require l=3"),
        ("disease", "--method permute --require l=3"),
        ("disease", "--method angel --require l=3 --require k=5"),
        ("cost", "--method shuffle --require ke=4,1000"),
    ];
    for (sensitive, how) in forms {
        publish(folder, sensitive, how, "release");
        let families: &[&str] =
            if sensitive == "cost" { &["pa", "angel", "ke-range", "ke-arbitrary"] } else { &["pa", "angel"] };
        for family in families {
            let found = evaluated(folder, "release", &format!("--workload {family} --selectivity 0.2"));
            let workload = &found["workload"];
            assert_eq!((workload["family"].as_str(), workload["queries"].as_u64()), (Some(*family), Some(60)), "{how}");
            let aggregates = workload["aggregates"].as_array().unwrap();
            assert_eq!(aggregates.len(), if family.starts_with("ke") { 3 } else { 1 });
            for aggregate in aggregates {
                assert_eq!(aggregate["inside"], 1.0, "{how}: {aggregate}");
                assert!(aggregate["judged"].as_u64().unwrap() >= aggregate["nonzero"].as_u64().unwrap());
                let quantiles = aggregate["width"]["quantiles"].as_object().unwrap();
                let values: Vec<f64> = quantiles.values().map(|value| value.as_f64().unwrap()).collect();
                assert!(values.len() == 5 && values.is_sorted(), "{how}: {aggregate}");
                assert_eq!(aggregate["width"]["median"], quantiles["50%"]);
            }
            let distances = &found["distances"];
            assert_eq!(distances["attributes"].as_array().unwrap().len(), 4);
            assert_eq!(distances["pairs"].as_array().unwrap().len(), 6);
        }
    }
}

#[test]
fn questions_follow_the_seed_and_the_kind_of_values() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    hospital(folder);
    publish(folder, "disease", "--method anatomy --require l=3", "anatomy");
    publish(folder, "cost", "--method shuffle --require ke=4,1000", "shuffle");
    let error = |flags: &str| evaluated(folder, "anatomy", flags)["workload"]["aggregates"][0]["error"]["mean"].clone();
    assert_eq!(error(""), error("--seed 1"));
    assert_ne!(error(""), error("--seed 2"));
    assert_eq!(evaluated(folder, "anatomy", "")["workload"]["family"], "pa");
    assert_eq!(evaluated(folder, "shuffle", "")["workload"]["family"], "ke-range");
    assert_eq!(evaluated(folder, "anatomy", "--queries 0")["workload"], Value::Null);
    assert!(
        evaluated(folder, "anatomy", "")["rce"].as_f64().unwrap()
            >= evaluated(folder, "anatomy", "")["rce_bound"].as_f64().unwrap()
    );

    let said = run(folder, "evaluate shuffle --microdata hospital/patients.csv --queries 60").expect(0).stdout;
    for part in [
        "avg(cost), error",
        "count(*), width of bounds",
        "true answers lie within the bounds",
        "distance with cost",
        "RCE",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    for (flags, part) in [
        ("--workload pb", "pa, angel, ke-range, ke-arbitrary"),
        ("--selectivity 0", "not above 0"),
        ("--dimensions 9", "between 1 and 4"),
        ("--workload ke-range", "holds no numbers"),
        ("--queries 99999999", "between one and a million"),
    ] {
        let refused = run(folder, &format!("evaluate anatomy --microdata hospital/patients.csv {flags}"));
        assert_eq!(refused.complaint(&[2]), None);
        assert!(refused.stderr.contains(part), "{part}\n{}", refused.stderr);
    }
}

#[test]
fn a_table_that_was_not_published_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    hospital(folder);
    publish(folder, "disease", "--require k=5", "release");
    let patients = std::fs::read_to_string(folder.join("hospital/patients.csv")).unwrap();
    let some: String = patients.lines().take(100).map(|line| format!("{line}\n")).collect();
    std::fs::write(folder.join("some.csv"), some).unwrap();
    let outcome = run(folder, "evaluate release --microdata some.csv").expect(2);
    assert!(outcome.stderr.contains("the release has 600 rows, the microdata 99"), "{}", outcome.stderr);
}

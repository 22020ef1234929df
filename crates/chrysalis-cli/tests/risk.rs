//! `chrysalis risk` from the outside: figures of ARX on Adult, and what is said of mistakes.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

const QUASI: &str = "sex,age,race,marital_status,education,native_country,workclass,occupation,income";

#[track_caller]
fn close(found: &serde_json::Value, expected: f64, slack: f64) {
    let found = found.as_f64().unwrap();
    assert!((found - expected).abs() < slack, "{found} instead of {expected}");
}

/// ARX's `TestRiskMetrics`, to the digits that it gives.
#[test]
fn arx_adult_figures() {
    let Some(adult) = common::data("adult_train_complete.csv.gz") else { return };
    let ground = tempfile::tempdir().unwrap();
    let ask = |more: &str| {
        let command = format!("risk {} --quasi {QUASI} --max-size 2 --output json {more}", adult.display());
        common::run(ground.path(), &command).expect(0).json()
    };
    let tenth = ask("--fraction 0.1");
    assert_eq!((&tenth["rows"], &tenth["classes"]), (&30_162.into(), &19_502.into()));
    close(&tenth["prosecutor"]["mean"], 0.646_575_160_8, 5e-11);
    close(&tenth["prosecutor"]["max"], 1.0, 1e-15);
    close(&tenth["sample_uniques"], 0.514_289_503_3, 5e-11);
    close(&tenth["population_uniques"]["zayatz"], 0.320_740_239_3, 1e-10);
    close(&tenth["population_uniques"]["pitman"], 0.276_849_94, 1e-8);
    assert_eq!(tenth["population_uniques"]["chosen"], "pitman");
    assert_eq!(tenth, ask("--population 301620"));
    let share = |more: &str| ask(more)["population_uniques"]["share"].clone();
    close(&share("--fraction 0.2"), 0.357_709_923_5, 1e-10);
    close(&share("--fraction 0.01"), 0.144_608_35, 1e-8);
    close(&share("--fraction 1"), 0.514_289_503_3, 5e-11);
}

fn patients() -> tempfile::TempDir {
    let ground = tempfile::tempdir().unwrap();
    let rows = "age,sex,people\n30,F,4\n30,F,5\n41,M,6\n,M,7\n55,F,8\n";
    fs::write(ground.path().join("patients.csv"), rows).unwrap();
    ground
}

#[test]
fn rows_go_to_a_file_of_their_own() {
    let ground = patients();
    let told =
        common::run(ground.path(), "risk patients.csv --quasi age,sex --rows risks.csv --output json").expect(0).json();
    assert_eq!((&told["rows"], &told["suda"]["rows"]), (&5.into(), &3.into()));
    let file = ground.path().join("risks.csv");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "row,class,prosecutor,journalist,suda,dis_suda,minimal_uniques");
    assert_eq!(lines[1], "1,2,0.5,0.5,0,,");
    assert_eq!(lines[3], "3,1,1,1,1,,age");
    let again = common::run(ground.path(), "risk patients.csv --quasi age,sex --rows risks.csv").expect(2);
    assert!(again.stderr.contains("is already there") && again.stderr.contains("--rows"), "{}", again.stderr);
}

#[test]
fn wildcards_match_anything() {
    let ground = patients();
    let ask = |more: &str| {
        common::run(ground.path(), &format!("risk patients.csv --quasi age,sex --output json {more}")).expect(0).json()
    };
    close(&ask("")["prosecutor"]["mean"], 0.8, 1e-15);
    // The man without an age may be the one of 41, and the other way round.
    close(&ask("--missing wildcard")["prosecutor"]["mean"], 0.6, 1e-15);
    assert_eq!(ask("--missing drop")["dropped_rows"], 1);
    assert_eq!(ask("--weight people")["population"]["size"], 30.0);
}

#[test]
fn mistakes_are_explained() {
    let ground = patients();
    let check = |command: &str, expected: &[&str]| {
        let told = common::run(ground.path(), command).expect(2).stderr;
        expected.iter().for_each(|words| assert!(told.contains(words), "{command}: {told}"));
    };
    check("risk patients.csv", &["no quasi columns are named", "--quasi"]);
    check("risk patients.csv --quasi age,size", &["size", "sex"]);
    check("risk patients.csv --quasi age,age", &["`age` is named as quasi twice"]);
    check("risk patients.csv --quasi age,sex --weight sex", &["`sex` is named as quasi and as weight"]);
    check("risk patients.csv --quasi age --weight sex", &["the weight `sex` must hold numbers"]);
    check(
        "risk patients.csv --quasi age --fraction 0.1 --population 9",
        &["both describe the population", "--fraction"],
    );
    check("risk patients.csv --quasi age --fraction 0", &["the fraction 0 is not above 0 and at most 1"]);
    check("risk patients.csv --quasi age --population 4", &["the population has 4 rows, but the table has 5"]);
    check("risk patients.csv --quasi age --threshold 2", &["the threshold 2 is not between 0 and 1"]);
    check("risk patients.csv --quasi age --max-size 2", &["--max-size"]);
    check("risk patients.csv --quasi age --population-table gone.csv", &["gone.csv"]);
    check("profile patients.csv --missing wildcard", &["expected as-value, drop or error"]);
}

#[test]
fn people_are_looked_up_in_a_table_of_the_population() {
    let ground = patients();
    let people = "sex,name,age\nF,a,30\nF,b,30\nF,c,30\nM,d,41\nM,e,41\nM,f,\nF,g,55\nM,h,99\n";
    fs::write(ground.path().join("people.csv"), people).unwrap();
    let command = "risk patients.csv --quasi age,sex --population-table people.csv --output json";
    let told = common::run(ground.path(), command).expect(0).json();
    // Two of three, one of two, one of one, one of one.
    close(&told["marketer"]["mean"], (2.0 / 3.0 + 0.5 + 2.0) / 5.0, 1e-15);
    close(&told["population_uniques"]["measured"], 3.0 / 8.0, 1e-15);
    assert_eq!(told["journalist"]["basis"], "population_table");
}

//! A spec that `init` writes can be published unchanged, and its promises hold.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod common;

use std::fs;
use std::path::Path;

/// Writes a spec, publishes with it and audits; returns the spec.
fn check(folder: &Path, table: &str) -> String {
    common::run(folder, &format!("init {table}")).expect(0);
    let published = common::run(folder, "publish chrysalis.toml --out release --output json").expect(0).json();
    let audit = common::run(folder, "audit release --output json").expect(0).json();
    assert_eq!(audit["ok"], true, "{audit}");
    assert_eq!(audit["rows"], published["rows"], "{audit}");
    fs::read_to_string(folder.join("chrysalis.toml")).unwrap()
}

#[track_caller]
fn check_data(name: &str, quasi: &[&str], require: &str) {
    let Some(table) = common::data(name) else { return };
    let ground = tempfile::tempdir().unwrap();
    let spec = check(ground.path(), &table.display().to_string());
    let require = format!("\nrequire = {require}\n");
    assert!(spec.contains(&require), "{require}{spec}");
    let used: Vec<&str> =
        spec.split("\n[attributes.").skip(1).filter(|text| text.contains("]\nrole = \"quasi\"")).collect();
    let used: Vec<&str> = used.iter().map(|text| text.split(']').next().unwrap()).collect();
    assert_eq!(used, quasi, "{spec}");
}

#[test]
fn the_example_hospital() {
    let ground = tempfile::tempdir().unwrap();
    common::run(ground.path(), "example --rows 500 --out hospital").expect(0);
    let spec = check(ground.path(), "hospital/patients.csv");
    assert!(spec.contains("\nrequire = [\"k=10\", \"l=4\"]\n"), "{spec}");
    for words in ["fracture", "builder", "role = \"other\""] {
        assert!(!spec.contains(words), "{words} in\n{spec}");
    }
}

#[test]
fn a_few_people() {
    let ground = tempfile::tempdir().unwrap();
    let people = "name,age,city,illness\nAnn,23,A,flu\nBea,25,B,cold\nCid,27,A,flu\nDan,28,B,ulcer\n";
    fs::write(ground.path().join("people.csv"), people).unwrap();
    let spec = check(ground.path(), "people.csv");
    assert!(spec.contains("\nrequire = [\"k=2\", \"l=2\"]\n"), "{spec}");
}

#[test]
fn rows_that_are_dropped_do_not_count() {
    let ground = tempfile::tempdir().unwrap();
    // Among all rows, the most frequent illness has a share of a quarter; among the rows with an age, of a half.
    let row = |at: usize| match at % 4 {
        0 => format!("{},flu\n", 20 + at % 40),
        1 => format!("{},v{}\n", 20 + at % 40, at % 3),
        _ => format!(",w{}\n", at % 7),
    };
    let rows: String = (0..400).map(row).collect();
    fs::write(ground.path().join("people.csv"), format!("age,illness\n{rows}")).unwrap();
    let spec = check(ground.path(), "people.csv --missing drop");
    assert!(spec.contains("\nrequire = [\"k=10\", \"l=2\"]\n"), "{spec}");
}

#[test]
fn capital_losses() {
    let quasi = ["age", "education", "marital_status", "race", "sex", "native_country"];
    check_data("adult_capital_loss.csv.gz", &quasi, r#"["k=10", "beta=1"]"#);
}

#[test]
fn incomes_of_the_national_survey() {
    let quasi = ["puma", "agep", "sex", "msp", "hisp", "edu"];
    check_data("acs2019_nist_national.csv.gz", &quasi, r#"["k=10", "l=4", "ke=2,2200"]"#);
}

#[test]
fn diagnoses_of_diabetics() {
    check_data("diabetes_hospitals.csv.gz", &["race", "gender", "age"], r#"["k=10", "l=4"]"#);
}

#[test]
fn a_table_without_anything_that_others_know_is_refused() {
    let Some(table) = common::data("informs_conditions.csv.gz") else { return };
    let ground = tempfile::tempdir().unwrap();
    let outcome = common::run(ground.path(), &format!("init {}", table.display()));
    assert_eq!(outcome.complaint(&[2]), None);
    assert!(outcome.stderr.contains("no column looks like something that an attacker may know"), "{outcome}");
    assert!(outcome.stderr.contains("hint: publish with --quasi a,b and the columns that"), "{outcome}");
    assert!(!ground.path().join("chrysalis.toml").exists());
}

#[test]
fn a_profile_gives_its_reasons() {
    let ground = tempfile::tempdir().unwrap();
    common::run(ground.path(), "example --rows 500 --out hospital").expect(0);
    let profile = "profile hospital/patients.csv --sensitive disease";
    let report = common::run(ground.path(), &format!("{profile} --output json")).expect(0).json();
    let column =
        |name: &str| report["columns"].as_array().unwrap().iter().find(|column| column["name"] == name).unwrap();
    assert_eq!(column("age")["suggested_role"], "quasi");
    assert_eq!(column("age")["reason"], "others know about how old somebody is");
    assert_eq!(column("patient_id")["suggested_role"], "identifier");
    assert_eq!(column("disease")["role"], "sensitive");
    assert!(column("disease").get("reason").is_none(), "nobody guessed");
    let shown = common::run(ground.path(), profile).expect(0).stdout;
    assert!(shown.contains("quasi?        others know somebody's sex\n"), "{shown}");
}

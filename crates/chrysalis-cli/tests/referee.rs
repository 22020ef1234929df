//! `profile` compared with pycanon, and recursive c, which pycanon gets wrong, compared with our own count; a release about
//! persons, recounted by a script that knows nothing of this program.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod common;

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

const ADULT: &str = "adult_train_complete.csv.gz";

/// Small enough for pycanon, which filters the whole frame once per group and value.
const CASES: &[(&str, &str)] = &[
    ("sex,race", "hours_per_week"),
    ("education,sex", "occupation"),
    ("marital_status,sex", "age"),
    ("relationship", "education_num"),
    ("workclass,sex", "occupation"),
    ("race,income", "occupation"),
    ("relationship,race", "education"),
    ("sex,race", "occupation"),
    ("race,income", "hours_per_week"),
    ("relationship", "income"),
    ("sex,race", "capital_gain"),
    ("sex,native_country", "income"),
];

fn profile(adult: &Path, quasi: &str, sensitive: &str) -> Value {
    let line = format!("profile {} --quasi {quasi} --sensitive {sensitive} --output json", adult.display());
    common::run(Path::new("."), &line).expect(0).json()["anonymity"].clone()
}

#[test]
fn profile_says_what_pycanon_says() {
    let Some(adult) = common::data(ADULT) else { return };
    let Some(python) = std::env::var_os("CHRYSALIS_REFEREE_PYTHON") else {
        eprintln!("skipped: CHRYSALIS_REFEREE_PYTHON names no Python with pycanon (see `cargo xtask referees`)");
        return;
    };
    let theirs = pycanon(Path::new(&python), &adult);
    let mut wrong = String::new();
    for ((quasi, sensitive), theirs) in CASES.iter().zip(&theirs) {
        let ours = profile(&adult, quasi, sensitive);
        for level in ["k", "distinct_l", "entropy_l"] {
            if ours[level] != theirs[level] {
                wrong +=
                    &format!("{quasi} | {sensitive}: {level} is {}, pycanon says {}\n", ours[level], theirs[level]);
            }
        }
        for level in ["alpha", "t", "beta", "delta"] {
            let (a, b) = (ours[level].as_f64().unwrap(), theirs[level].as_f64().unwrap());
            if (a - b).abs() > 1e-9 * b.abs().max(1e-300) {
                wrong += &format!("{quasi} | {sensitive}: {level} is {a}, pycanon says {b}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn pycanon(python: &Path, adult: &Path) -> Vec<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../referee/pycanon_levels.py");
    let mut command = Command::new(python);
    command.arg(script).arg(adult).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let cases: Vec<Value> = CASES
        .iter()
        .map(|(quasi, sensitive)| json!({"quasi": quasi.split(',').collect::<Vec<_>>(), "sensitive": sensitive}))
        .collect();
    child.stdin.take().unwrap().write_all(json!(cases).to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the referee failed");
    let levels: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(levels.len(), CASES.len());
    levels
}

/// The smallest integer c with r₁ < c·(r_l + … + r_m) in every group, with r descending and l the least number of
/// distinct values.
fn recursive_c(table: &[Vec<String>], quasi: &str, sensitive: &str) -> Option<u64> {
    let column = |name: &str| table[0].iter().position(|column| column == name).unwrap();
    let quasi: Vec<usize> = quasi.split(',').map(column).collect();
    let sensitive = column(sensitive);
    let mut groups: BTreeMap<Vec<&str>, BTreeMap<&str, u64>> = BTreeMap::new();
    for row in &table[1..] {
        let key = quasi.iter().map(|&at| row[at].as_str()).collect();
        *groups.entry(key).or_default().entry(&row[sensitive]).or_default() += 1;
    }
    let l = groups.values().map(BTreeMap::len).min()?;
    if l == 1 {
        return None;
    }
    let of_group = |counts: &BTreeMap<&str, u64>| {
        let mut counts: Vec<u64> = counts.values().copied().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts[0] / counts[l - 1..].iter().sum::<u64>() + 1
    };
    groups.values().map(of_group).max()
}

#[test]
fn recursive_c_follows_from_the_definition() {
    let Some(adult) = common::data(ADULT) else { return };
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(&adult).unwrap()).read_to_string(&mut text).unwrap();
    let table = common::parse_csv(&text);
    for (quasi, sensitive) in CASES {
        let ours = profile(&adult, quasi, sensitive)["recursive_c"].clone();
        assert_eq!(ours, json!(recursive_c(&table, quasi, sensitive)), "{quasi} | {sensitive}");
    }
}

/// Patients of whom many were in hospital several times: from the files of the release and from the microdata, no group
/// breaks what is promised, and everybody fits a group with all of their rows.
#[test]
fn a_release_about_persons_keeps_its_promises() {
    let Some(diabetes) = common::data("diabetes_hospitals.csv.gz") else { return };
    let Some(python) = std::env::var_os("CHRYSALIS_REFEREE_PYTHON") else {
        eprintln!("skipped: CHRYSALIS_REFEREE_PYTHON names no Python (see `cargo xtask referees`)");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let line = format!(
        "publish {} --person patient_nbr --quasi race,gender,age --sensitive diag_1 --sensitive time_in_hospital --require \
         k=10 --require diag_1:l=4 --require time_in_hospital:distinct-l=3 --format csv --out release",
        diabetes.display()
    );
    common::run(folder.path(), &line).expect(0);
    let recount = |promises: Value| -> Value {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../referee/persons_recount.py");
        let mut command = Command::new(&python);
        command.arg(script).arg(&diabetes).arg("patient_nbr").arg(folder.path().join("release"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(promises.to_string().as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "the referee failed");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let found = recount(json!({"k": 10, "l": {"diag_1": 4}, "distinct_l": {"time_in_hospital": 3}}));
    let everybody = json!({"persons": 71_518, "rows": 101_766});
    assert_eq!(found["broken"], json!({"k": 0, "l": 0, "distinct_l": 0}), "{found}");
    assert_eq!((&found["lost"], &found["crowded"]), (&json!(0), &json!(0)), "{found}");
    assert_eq!(found["table"], everybody);
    assert_eq!(found["release"]["persons"], everybody["persons"]);
    assert_eq!(found["release"]["rows"], everybody["rows"]);
    // The referee is able to find something.
    let found = recount(json!({"k": 1_000, "l": {"diag_1": 100}, "distinct_l": {"time_in_hospital": 15}}));
    for what in ["k", "l", "distinct_l"] {
        assert!(found["broken"][what].as_u64() > Some(0), "{found}");
    }
}

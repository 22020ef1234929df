//! Butterflies through the command line: the paper's tables, what joining two of them reveals, and refusals.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::path::Path;

use common::{parse_csv, run};

/// The accidents of table I and the taxonomies behind tables II and III.
fn accidents(folder: &Path) {
    for (from, to) in [
        ("table-1.csv", "data.csv"),
        ("vehicle.taxonomy.csv", "vehicle.csv"),
        ("occupation.taxonomy.csv", "occupation.csv"),
    ] {
        fs::copy(common::papers().join("butterfly").join(from), folder.join(to)).unwrap();
    }
}

const COLUMNS: [&str; 5] = ["occupation", "age", "vehicle", "postcode", "faulty"];

/// A CSV as sorted rows of text, in the order of the paper's columns; a range shows its lower end.
fn cells(text: &str, columns: &[&str]) -> Vec<Vec<String>> {
    let mut rows = parse_csv(text).into_iter();
    let header = rows.next().unwrap();
    let is = |known: &String, name: &str| known == name || *known == format!("{name}_min");
    let places: Vec<usize> =
        columns.iter().map(|name| header.iter().position(|known| is(known, name)).unwrap()).collect();
    let mut rows: Vec<Vec<String>> = rows.map(|row| places.iter().map(|&place| row[place].clone()).collect()).collect();
    rows.sort();
    rows
}

fn published(folder: &Path, out: &str) -> Vec<Vec<String>> {
    cells(&fs::read_to_string(folder.join(out).join("generalized.csv")).unwrap(), &COLUMNS)
}

fn printed(name: &str) -> Vec<Vec<String>> {
    cells(&fs::read_to_string(common::papers().join("butterfly").join(name)).unwrap(), &COLUMNS)
}

#[track_caller]
fn publish(folder: &Path, arguments: &str, out: &str) -> serde_json::Value {
    let line = format!(
        "publish data.csv {arguments} --require k=2 --accept disclosure --format csv --out {out} --output json"
    );
    let summary = run(folder, &line).expect(0).json();
    run(folder, &format!("audit {out} --microdata data.csv")).expect(0);
    summary
}

const TABLE_II: &str =
    "--quasi age,vehicle,postcode --other occupation --sensitive faulty --taxonomy vehicle=vehicle.csv";
const TABLE_III: &str =
    "--quasi occupation,age,postcode --other vehicle --sensitive faulty --taxonomy occupation=occupation.csv";
const BUTTERFLY: &str = "--method butterfly --quasi age,vehicle,postcode --quasi occupation,age,postcode --sensitive faulty \
                         --taxonomy vehicle=vehicle.csv --taxonomy occupation=occupation.csv";

#[test]
fn butterfly_tables_2_and_3_are_open_to_a_join_and_the_butterfly_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    accidents(folder);
    publish(folder, TABLE_II, "two");
    assert_eq!(published(folder, "two"), printed("table-2.csv"));
    publish(folder, TABLE_III, "three");
    assert_eq!(published(folder, "three"), printed("table-3.csv"));
    // Joined on what one table shows as it is, they reveal who was at fault.
    for microdata in ["", " --microdata data.csv"] {
        let audit = run(folder, &format!("audit two --with three{microdata} --output json")).expect(4).json();
        let found = &audit["attacks"]["intersection"][0];
        assert_eq!((&found["fewest"], &audit["ok"]), (&1.into(), &false.into()), "{audit}");
    }
    // One release for both users.
    let summary = publish(folder, BUTTERFLY, "butterfly");
    let rows = published(folder, "butterfly");
    let pair = |row: &Vec<String>| format!("{} {} {}", row[0], row[2], row[4]);
    let expected = ["Finance Sedan No", "Finance Truck No", "Medical Sedan Yes", "Medical Truck No"];
    assert_eq!(rows.iter().map(pair).collect::<Vec<_>>(), expected);
    assert_eq!(summary["butterflies"], 1);
    assert_eq!(summary["quasi_identifiers"][0]["smallest_class"], 2);
    run(folder, "audit butterfly --with butterfly --microdata data.csv").expect(0);
    let audit = run(folder, "audit butterfly --output json").expect(0).json();
    let worst: Vec<&str> =
        audit["principles"].as_array().unwrap().iter().map(|it| it["worst_exact"].as_str().unwrap()).collect();
    assert_eq!(worst, ["2 for age, vehicle, postcode", "2 for occupation, age, postcode"]);
    let pooling = &audit["attacks"]["pooling"][0];
    assert_eq!((&pooling["smallest"], &pooling["rows_below"]), (&1.into(), &4.into()));
}

#[test]
fn butterfly_table_4_is_2_anonymous_for_every_two_attributes_and_not_for_three() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::copy(common::papers().join("butterfly/table-4.csv"), folder.join("data.csv")).unwrap();
    for (quasi, k) in [("a,b", 2), ("b,c", 2), ("a,c", 2), ("a", 4), ("a,b,c", 1)] {
        let found = run(folder, &format!("profile data.csv --quasi {quasi} --output json")).expect(0).json();
        assert_eq!(found["anonymity"]["k"], k, "{quasi}");
    }
    let summary = publish(folder, "--method butterfly --quasi a,b --quasi b,c", "release");
    assert_eq!(summary["ncp_sum"], 0.0);
    assert!(summary["union_ncp_sum"].as_f64().unwrap() > 0.0 && summary["saved"] == 1.0, "{summary}");
    // Colluding users need the union.
    let summary = publish(folder, "--method butterfly --quasi a,b --quasi b,c --collude 2", "together");
    assert!(summary["ncp_sum"].as_f64().unwrap() > 0.0);
    let audit = run(folder, "audit together --output json").expect(0).json();
    assert_eq!(audit["principles"][0]["worst_exact"], "2 for a, b, c");
}

#[test]
fn butterflies_are_asked_like_other_releases_and_measured() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    accidents(folder);
    publish(folder, BUTTERFLY, "release");
    let question = "SELECT COUNT(*) FROM microdata WHERE vehicle = 'White Sedan' AND faulty = 'Yes'";
    let answer = run(folder, &format!("query release \"{question}\" --estimate even --output json")).expect(0).json();
    let found = &answer["rows"][0]["aggregates"][0];
    assert_eq!((&found["estimate"], &found["lower"], &found["upper"]), (&0.5.into(), &0.0.into(), &1.0.into()));
    let rewritten = run(folder, &format!("rewrite release \"{question}\" --dialect duckdb")).expect(0).stdout;
    assert!(rewritten.contains("generalized"), "{rewritten}");
    let measured = run(folder, "evaluate release --microdata data.csv --output json").expect(0).json();
    assert!(measured["ncp"].as_f64().unwrap() > 0.0, "{measured}");
}

#[test]
fn a_spec_can_say_all_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    accidents(folder);
    let spec = "input = \"data.csv\"\n\
        quasi_identifiers = [[\"age\", \"vehicle\", \"postcode\"], [\"occupation\", \"age\", \"postcode\"]]\n\
        [attributes.vehicle]\ntaxonomy = \"vehicle.csv\"\n[attributes.occupation]\ntaxonomy = \"occupation.csv\"\n\
        [attributes.faulty]\nrole = \"sensitive\"\n\
        [release]\nmethod = \"butterfly\"\nrequire = [\"k=2\"]\ncollude = 1\n";
    fs::write(folder.join("spec.toml"), spec).unwrap();
    run(folder, "publish spec.toml --format csv --out one").expect(0);
    publish(folder, BUTTERFLY, "two");
    assert_eq!(published(folder, "one"), published(folder, "two"));
}

#[test]
fn what_makes_no_sense_is_refused_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    accidents(folder);
    let check = |arguments: &str, code: i32, problem: &str| {
        let outcome = run(folder, &format!("publish data.csv {arguments} --out release"));
        assert_eq!(outcome.complaint(&[code]), None);
        assert!(outcome.stderr.contains(problem), "{outcome}");
        assert!(!folder.join("release").exists());
    };
    let two = "--quasi age,vehicle --quasi age,occupation";
    check(&format!("{two} --require k=2"), 2, "protects one quasi-identifier");
    check("--quasi age,vehicle --method butterfly --require k=2", 2, "fewer than two");
    check(&format!("{two} --method butterfly --require k=5"), 3, "k=5");
    check(&format!("{two} --method butterfly --require k=2 --collude 3"), 2, "cannot collude");
    check(&format!("{two} --method butterfly --require k=2 --collude 0"), 2, "cannot collude");
    check(&format!("{two} --method butterfly --require k=2 --partitioner nearby"), 2, "`nearby`");
    check("--quasi age,vehicle --require k=2 --collude 2", 2, "`collude` goes with");
    check("--quasi age,age --quasi vehicle --method butterfly --require k=2", 2, "names a column twice");
    check("--quasi age --quasi absent --method butterfly --require k=2", 2, "absent");
    check(&format!("{two} --method butterfly --require k=2 --relaxed"), 2, "--relaxed");
}

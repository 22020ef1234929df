//! Releases that somebody changed.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::Ground;
use crate::common::{self, Release};

/// A folder with a sound release of 60 patients in `release`, made with a seed.
fn release(format: &str) -> Ground {
    let ground = Ground::new(&[]);
    common::run(ground.path(), "example --rows 60 --out hospital").expect(0);
    let line = format!(
        "publish hospital/patients.csv --quasi age,sex,occupation --other cost --accept identifying=cost --accept disclosure --sensitive disease --require k=5 \
         --require distinct-l=2 --format {format} --seed 1 --out release"
    );
    common::run(ground.path(), &line).expect(0);
    common::run(ground.path(), "audit release").expect(0);
    ground
}

/// Audits the release with a changed manifest, which must be refused (2) or detected (4).
fn forge(ground: &mut Ground, what: &str, change: impl FnOnce(&mut Value)) {
    let release = Release::at(ground.path().join("release"));
    let sound = fs::read(release.folder.join("release.json")).unwrap();
    let mut manifest = release.manifest();
    change(&mut manifest);
    assert_ne!(manifest, release.manifest(), "{what}: nothing was changed");
    release.write_manifest(&manifest);
    try_audit(ground, what);
    fs::write(release.folder.join("release.json"), sound).unwrap();
}

fn promise(principle: &str) -> Value {
    json!([{"principle": principle, "about": "disease", "of": "group", "unit": "rows"}])
}

fn try_audit(ground: &mut Ground, what: &str) {
    let known = ground.wrong.len();
    ground.refuses("audit release", &[2, 4]);
    for wrong in &mut ground.wrong[known..] {
        *wrong = format!("{what}: {wrong}");
    }
}

#[test]
fn manifests_that_say_something_else_are_found_out() {
    let mut ground = release("csv");
    let g = &mut ground;
    for (field, value) in [
        ("format", json!("x")),
        ("version", json!(1)),
        ("version", json!(3)),
        ("version", json!("1")),
        ("version", json!(-1)),
        ("version", json!(u64::MAX)),
        ("unknown", json!(1)),
        ("rows", json!(61)),
        ("rows", json!(u64::MAX)),
        ("rows", json!(-1)),
        ("rows", json!(1.5)),
        ("rows", json!(1e300)),
        ("groups", json!(0)),
        ("groups", json!(u64::MAX)),
        ("method", json!("anatomy")),
        ("method", json!("\u{1b}[2J")),
        ("promises", promise("k=6000")),
        ("promises", promise("frobnicate")),
        ("promises", promise("l=0")),
        ("promises", promise("ke=2,3")),
        ("promises", promise("distinct-l-alpha=2,1")),
        ("promises", promise("recursive-l=999999999,4000000000")),
        ("promises", promise("\u{1b}[2J")),
        ("promises", json!("k=5")),
        ("promises", json!([{"principle": "k=5", "of": "bucket", "unit": "rows"}])),
        ("promises", json!([{"principle": "distinct-l=2", "of": "group", "unit": "rows"}])),
        ("promises", json!([{"principle": "distinct-l=2", "about": "age", "of": "group", "unit": "rows"}])),
        ("features", json!(["telepathy"])),
        ("features", json!("parts")),
        ("guarantees", json!(["k=5"])),
        ("encoding", json!(-1)),
        ("attributes", json!([])),
        ("quasi_identifiers", json!([])),
        ("quasi_identifiers", json!([["age"]])),
        ("quasi_identifiers", json!([["absent"]])),
        ("tables", json!([])),
        ("reproducible", json!("yes")),
    ] {
        forge(g, field, |manifest| manifest[field] = value);
    }
    for (field, value) in [
        ("name", json!("members")),
        ("name", json!("absent")),
        ("rows", json!(59)),
        ("rows", json!(u64::MAX)),
        ("columns", json!([])),
        ("columns", json!(5)),
        ("unknown", json!(1)),
    ] {
        forge(g, &format!("table {field} = {value}"), |manifest| manifest["tables"][0][field] = value.clone());
    }
    for (field, value) in [
        ("file", json!("/etc/passwd")),
        ("file", json!("../hospital/patients.csv")),
        ("file", json!("x/../generalized.csv")),
        ("file", json!("./generalized.csv")),
        ("file", json!("..\\generalized.csv")),
        ("file", json!("")),
        ("file", json!(".")),
        ("file", json!("a\u{0}b")),
        ("file", json!("absent.csv")),
        ("file", json!("members.csv")),
        ("file", json!("release.json")),
        ("file", json!("\u{1b}[2J.csv")),
        ("rows", json!(59)),
        ("rows", json!(u64::MAX)),
        ("sha256", json!("0".repeat(64))),
        ("sha256", json!("00")),
        ("sha256", json!("")),
        ("unknown", json!(1)),
    ] {
        let what = format!("part {field} = {value}");
        forge(g, &what, |manifest| manifest["tables"][0]["parts"][0][field] = value.clone());
    }
    let part = json!({"file": "more.csv", "rows": 0, "sha256": "00"});
    forge(g, "a part that no feature tells of", |manifest| {
        manifest["tables"][0]["parts"].as_array_mut().unwrap().push(part.clone());
    });
    forge(g, "a part that is not there", |manifest| {
        manifest["features"] = json!(["parts"]);
        manifest["tables"][0]["parts"].as_array_mut().unwrap().push(part);
    });
    forge(g, "no parts", |manifest| manifest["tables"][0]["parts"] = json!([]));
    for (field, value) in [
        ("name", json!("sex")),
        ("name", json!("absent")),
        ("name", json!("\u{1b}[2J")),
        ("role", json!("sensitive")),
        ("role", json!("other")),
        ("kind", json!("category")),
        ("kind", json!("date")),
        ("kind", json!("frobnicate")),
        ("domain", json!({"min": 100, "max": 0})),
        ("domain", json!({"min": 50, "max": 51})),
        ("domain", json!({})),
        ("domain", json!(null)),
        ("unknown", json!(1)),
    ] {
        forge(g, &format!("age's {field} = {value}"), |manifest| manifest["attributes"][0][field] = value.clone());
    }
    ground.done();
}

#[test]
fn manifests_that_describe_the_tables_falsely_are_found_out() {
    let mut ground = release("csv");
    let g = &mut ground;
    forge(g, "age published as exact", |manifest| manifest["attributes"][0]["published"] = json!("exact"));
    forge(g, "disease published as permuted", |manifest| manifest["attributes"][4]["published"] = json!("permuted"));
    forge(g, "a domain value twice", |manifest| {
        manifest["attributes"][1]["domain"]["values"] = json!(["F", "M", "M"]);
    });
    forge(g, "no promise at all", |manifest| manifest["promises"] = json!([]));
    ground.done();
}

#[test]
fn manifests_that_are_no_manifests_are_refused() {
    let mut ground = release("csv");
    let path = ground.path().join("release/release.json");
    let sound = fs::read_to_string(&path).unwrap();
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let inside = |extra: &str| format!("{},{extra}}}", sound.trim_end().strip_suffix('}').unwrap());
    for (what, text) in [
        ("empty", String::new()),
        ("null", "null".to_owned()),
        ("list", "[]".to_owned()),
        ("text", "\"x\"".to_owned()),
        ("cut", sound[..sound.len() / 2].to_owned()),
        ("trailing", format!("{sound}{{}}")),
        ("100,000 brackets", "[".repeat(100_000)),
        ("100,000 braces", "{\"a\":".repeat(100_000)),
        ("100,000 brackets inside", inside(&format!("\"unknown\":{deep}"))),
        ("rows twice", inside("\"rows\":5")),
        ("1e999", sound.replacen("\"rows\": 60", "\"rows\": 1e999", 1)),
        ("10,000 digits", sound.replacen("\"rows\": 60", &format!("\"rows\": {}", "9".repeat(10_000)), 1)),
        ("binary", "\u{0}\u{1}\u{2}".to_owned()),
    ] {
        assert_ne!(text, sound, "{what}: nothing was changed");
        fs::write(&path, text).unwrap();
        try_audit(&mut ground, what);
    }
    fs::write(&path, b"\xff\xfe\xfd").unwrap();
    try_audit(&mut ground, "not UTF-8");
    fs::remove_file(&path).unwrap();
    try_audit(&mut ground, "no manifest");
    fs::create_dir(&path).unwrap();
    try_audit(&mut ground, "a folder as manifest");
    ground.done();
}

#[test]
fn a_named_pipe_instead_of_a_file_does_not_hang() {
    for file in ["generalized.csv", "release.json"] {
        let mut ground = release("csv");
        let path = ground.path().join("release").join(file);
        fs::remove_file(&path).unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        try_audit(&mut ground, file);
        ground.done();
    }
}

#[test]
fn tables_that_are_links_folders_or_gone_are_refused() {
    let mut ground = release("csv");
    let path = ground.path().join("release/generalized.csv");
    let aside = ground.path().join("aside.csv");
    fs::rename(&path, &aside).unwrap();
    try_audit(&mut ground, "gone");
    std::os::unix::fs::symlink(&aside, &path).unwrap();
    try_audit(&mut ground, "link");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    try_audit(&mut ground, "folder");
    fs::remove_dir(&path).unwrap();
    fs::write(&path, "").unwrap();
    try_audit(&mut ground, "empty");
    ground.done();
}

#[test]
fn altered_csv_tables_with_a_right_hash_are_found_out() {
    let mut ground = release("csv");
    let release = Release::at(ground.path().join("release"));
    let sound = release.cells("generalized.csv");
    let members = release.cells("members.csv");
    let header = &sound[0];
    assert_eq!(header, &["group_id", "age_min", "age_max", "sex", "occupation", "cost", "disease"]);
    let cell = |column: usize, value: &str| {
        let mut cells = sound.clone();
        cells[7][column] = value.to_owned();
        common::to_csv(&cells)
    };
    let text = common::to_csv(&sound);
    let long = "9".repeat(5000);
    let tables = [
        ("group id", cell(0, "1000000")),
        ("negative group id", cell(0, "-1")),
        ("no group id", cell(0, "")),
        ("group id is text", cell(0, "x")),
        ("huge group id", cell(0, &long)),
        ("range", cell(1, "0")),
        ("range upside down", cell(1, "1000")),
        ("no minimum", cell(1, "")),
        ("minimum is text", cell(1, "x")),
        ("unknown label", cell(3, "X")),
        ("escape as label", cell(3, "\u{1b}[2J")),
        ("unknown disease", cell(6, "frobnication")),
        ("escape as disease", cell(6, "\u{1b}[2J")),
        ("a row less", common::to_csv(&sound[..sound.len() - 1])),
        ("a row twice", common::to_csv(&[sound.clone(), vec![sound[7].clone()]].concat())),
        ("rows in another order", common::to_csv(&[&sound[..1], &[sound[60].clone()], &sound[1..60]].concat())),
        ("header only", common::to_csv(&sound[..1])),
        ("empty", String::new()),
        ("no header", common::to_csv(&sound[1..])),
        ("header renamed", text.replacen("disease", "illness", 1)),
        ("column twice", text.replacen("disease", "sex", 1)),
        ("ragged", text.replacen('\n', "\n1,2\n", 1)),
        ("open quote", format!("{text}\"")),
        ("nul", text.replacen(",F,", ",\0,", 1)),
    ];
    for (what, table) in &tables {
        release.forge("generalized.csv", table.as_bytes());
        try_audit(&mut ground, what);
    }
    release.forge("generalized.csv", b"\xff\xfe");
    try_audit(&mut ground, "binary");
    release.forge("generalized.csv", text.as_bytes());

    let mut other = members.clone();
    other[1][2] = "frobnicator".to_owned();
    release.forge("members.csv", common::to_csv(&other).as_bytes());
    try_audit(&mut ground, "a member outside the domain");
    release.forge("members.csv", common::to_csv(&members[..members.len() - 1]).as_bytes());
    try_audit(&mut ground, "a label without members");
    release.forge("members.csv", common::to_csv(&members).as_bytes());
    common::run(ground.path(), "audit release").expect(0);
    ground.done();
}

#[test]
fn folders_that_are_no_releases_are_refused() {
    let mut ground = Ground::new(&[("file", b"x"), ("folder/x", b"x")]);
    for folder in ["absent", "file", "folder", ".", "/"] {
        ground.refuses(&format!("audit {folder}"), &[2]);
    }
    ground.done();
}

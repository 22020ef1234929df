//! Releases by cells: whatever is promised holds in the audit's judgement of the whole release, nothing depends on the
//! order of rows or on how they are read, and no rows are left behind.

#![allow(clippy::unwrap_used, reason = "tests")]

mod again;
mod cluster;

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;
use chrysalis::cells::{self, Place, publish_by_cells, publish_by_cells_of};
use chrysalis::report::PublishReport;
use chrysalis::store::{Input, read_release};
use chrysalis::table::{Column, CsvOptions, Table};
use chrysalis::{
    Counted, Draft, Error, Evidence, Fault, Manifest, Memory, Recipe, Seed, Unwatched, Watch, audit, publish,
};
use rand::rngs::ChaCha20Rng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use serde_json::{Value as Json, json};

/// People whose sensitive values depend on what is known of them, so that cells differ from the whole table.
struct People {
    rows: Vec<[String; 7]>,
}

const HEADER: [&str; 7] = ["age", "sex", "ward", "since", "disease", "cost", "kept"];

impl People {
    fn draw(seed: u64, rows: usize) -> People {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let wards = ["north", "south", "east", "west", "centre", "hill", "lake", "wood"];
        let diseases = ["flu", "cold", "ulcer", "asthma", "gout", "angina", "migraine", "otitis"];
        let mut row = |_| {
            let age: i64 = rng.random_range(0..90).min(rng.random_range(0..110));
            let ward = rng.random_range(0..8).min(rng.random_range(0..8));
            let tilt = usize::from(age > 50) * 2;
            let disease = (rng.random_range(0..6) + tilt) % 8;
            let cost = 100 * rng.random_range(1..60) + age;
            let since = format!("20{:02}-0{}-11", rng.random_range(10..25), rng.random_range(1..9));
            [
                if rng.random_range(0..50) == 0 { String::new() } else { age.to_string() },
                ["F", "M"][rng.random_range(0..2)].to_owned(),
                wards[ward].to_owned(),
                since,
                diseases[disease].to_owned(),
                cost.to_string(),
                ["a", "b"][rng.random_range(0..2)].to_owned(),
            ]
        };
        People { rows: (0..rows).map(&mut row).collect() }
    }

    fn csv(&self) -> Bytes {
        let lines = self.rows.iter().map(|row| row.join(","));
        let lines: Vec<String> = std::iter::once(HEADER.join(",")).chain(lines).collect();
        (lines.join("\n") + "\n").into()
    }

    fn shuffled(&self, seed: u64) -> People {
        let mut rows = self.rows.clone();
        rows.shuffle(&mut ChaCha20Rng::seed_from_u64(seed));
        People { rows }
    }

    fn input(&self, piece_len: usize) -> Input {
        let options = CsvOptions { piece_len, ..CsvOptions::default() };
        Input::of_bytes("people.csv".to_owned(), self.csv(), &options).unwrap()
    }

    fn table(&self, draft: &Draft) -> Table {
        let recipe = draft.check(&HEADER.map(str::to_owned)).unwrap();
        self.input(1 << 20).read(recipe.requests()).unwrap()
    }
}

fn draft(method: &str, sensitive: Json, require: &[&str], more: Json) -> Draft {
    let mut draft = json!({
        "quasi": ["age", "sex", "ward", "since"], "sensitive": sensitive,
        "release": {"method": method, "require": require, "format": "csv"},
    });
    for (key, value) in more.as_object().unwrap() {
        match value.as_object() {
            Some(inner) => inner.iter().for_each(|(name, value)| draft[key][name] = value.clone()),
            None => draft[key] = value.clone(),
        }
    }
    serde_json::from_value(draft).unwrap()
}

fn by_cells(
    people: &People,
    piece_len: usize,
    draft: &Draft,
    most_rows: u64,
    out: &Path,
) -> Result<(Manifest, PublishReport), Error> {
    let recipe = draft.check(&HEADER.map(str::to_owned)).unwrap();
    let place = Place { out, force: false };
    publish_by_cells_of(people.input(piece_len), &recipe, most_rows, place, Seed::Fixed(7), &Unwatched)
}

/// Publishes by cells, and has the audit judge the whole release with the microdata at hand. Returns how many cells there
/// were.
#[track_caller]
fn check(people: &People, draft: &Draft, most_rows: u64) -> usize {
    let ground = tempfile::tempdir().unwrap();
    let out = ground.path().join("release");
    let (manifest, report) = by_cells(people, 1 << 12, draft, most_rows, &out).unwrap();
    assert_eq!(std::fs::read_dir(ground.path()).unwrap().count(), 1, "nothing but the release is left");
    let release = read_release(&out).unwrap();
    assert_eq!(release.manifest, manifest);
    let table = people.table(draft);
    let found = audit(&release, Evidence { microdata: Some(&table), ..Evidence::default() }, &Unwatched).unwrap();
    assert!(found.ok(), "{draft:?}\n{}", serde_json::to_string_pretty(&found).unwrap());
    let asked = draft.release.require.as_ref().unwrap().len();
    assert!(manifest.promises.len() >= asked && report.groups > 0, "{:?}", manifest.promises);
    // What is counted cell by cell is what one run would count.
    assert_eq!((report.rows, report.groups), (manifest.rows, manifest.groups));
    manifest.tables[0].parts.len()
}

#[test]
fn every_form_and_principle_holds_in_the_whole_release() {
    let people = People::draw(1, 6_000);
    let cases: &[(&str, &[&str])] = &[
        ("generalize", &["k=10"]),
        ("generalize", &["l=3", "k=5"]),
        ("generalize", &["t=0.3"]),
        ("generalize", &["beta=2"]),
        ("generalize", &["distinct-l=4"]),
        ("generalize", &["entropy-l=3"]),
        ("generalize", &["recursive-l=3,2"]),
        ("generalize", &["alpha-k=0.4,6"]),
        ("anatomy", &["l=4"]),
        ("anatomy", &["l=3", "k=6"]),
        ("anatomy", &["t=0.3"]),
        ("anatomy", &["beta=2"]),
        ("permute", &["l=4"]),
        ("permute", &["k=10", "l=2"]),
    ];
    for (method, require) in cases {
        let cells = check(&people, &draft(method, json!("disease"), require, json!({})), 900);
        assert!(cells > 1, "{method} {require:?}: {cells} cells");
    }
}

#[test]
fn numbers_several_columns_and_other_columns_go_by_cells_too() {
    let people = People::draw(2, 5_000);
    let cells = |draft: Draft| assert!(check(&people, &draft, 900) > 1);
    cells(draft("shuffle", json!("cost"), &["ke=3,500"], json!({})));
    cells(draft("generalize", json!("cost"), &["ke=3,500", "k=5"], json!({})));
    let accepting = json!({"release": {"accept": ["disclosure"]}});
    cells(draft("generalize", json!("cost"), &["t=0.3"], accepting));
    cells(draft("generalize", json!(["disease", "cost"]), &["disease:l=3", "cost:ke=2,300"], json!({})));
    cells(draft("anatomy", json!(["disease", "cost"]), &["l=3"], json!({})));
    cells(draft(
        "anatomy",
        json!(["disease", "cost"]),
        &["l=2"],
        json!({"release": {"together": [["disease", "cost"]]}}),
    ));
    cells(draft(
        "generalize",
        json!("disease"),
        &["l=4"],
        json!({"other": ["kept"], "release": {"accept": ["disclosure"]}}),
    ));
    cells(draft("generalize", json!([]), &["k=7"], json!({})));
    cells(draft("generalize", json!("disease"), &["k=4", "l=2"], json!({"ordinary": ["flu"]})));
    for partitioner in ["mondrian", "top-down", "compact"] {
        cells(draft("generalize", json!("disease"), &["k=6", "l=2"], json!({"release": {"partitioner": partitioner}})));
    }
    for partitioner in ["anatomize", "nearby", "similar"] {
        cells(draft("anatomy", json!("disease"), &["l=3"], json!({"release": {"partitioner": partitioner}})));
    }
}

#[test]
fn transparent_releases_stay_transparent() {
    let people = People::draw(3, 6_000);
    // Where no cut of the whole table is safe, all of it is one cell.
    for (method, require, least) in [("anatomy", "l=2", 2), ("generalize", "k=8", 2), ("generalize", "t=0.4", 1)] {
        let transparent = json!({"release": {"transparent": true}});
        let cells = check(&people, &draft(method, json!("disease"), &[require], transparent), 900);
        assert!(cells >= least, "{method} {require}: {cells} cells");
    }
}

/// The tables' hashes, and all else that a release says.
#[test]
fn nothing_depends_on_the_order_of_rows_or_on_how_they_are_read() {
    let people = People::draw(4, 3_000);
    for (method, require) in [("anatomy", "l=3"), ("generalize", "k=5"), ("permute", "l=2")] {
        let draft = draft(method, json!("disease"), &[require], json!({"missing": "drop"}));
        let ground = tempfile::tempdir().unwrap();
        let made = |people: &People, piece_len: usize, name: &str| {
            by_cells(people, piece_len, &draft, 600, &ground.path().join(name)).unwrap().0
        };
        let one = made(&people, 1 << 20, "a");
        assert!(one.tables[0].parts.len() > 1);
        assert_eq!(one, made(&people.shuffled(1), 777, "b"), "{method}");
        assert_eq!(one, made(&people.shuffled(2), 4_000, "c"), "{method}");
    }
}

/// Cells cost something, but not much: 3,000 rows each here, where the goal is about a million.
#[test]
fn cells_lose_little() {
    let people = People::draw(5, 12_000);
    for require in ["k=10", "l=3"] {
        let draft = draft("generalize", json!("disease"), &[require], json!({}));
        let recipe = draft.check(&HEADER.map(str::to_owned)).unwrap();
        let one = publish(people.table(&draft), &recipe, Seed::Fixed(1), &Unwatched).unwrap().report.ncp_sum;
        let ground = tempfile::tempdir().unwrap();
        let (manifest, report) = by_cells(&people, 1 << 16, &draft, 3_500, &ground.path().join("r")).unwrap();
        assert!(manifest.tables[0].parts.len() >= 4);
        assert!(report.ncp_sum < 1.08 * one, "{require}: {} by cells, {one} in one piece", report.ncp_sum);
    }
}

/// If all rows fit into one cell, the tables are single files, as they always were.
#[test]
fn one_cell_is_one_file() {
    let people = People::draw(6, 500);
    let draft = draft("anatomy", json!("disease"), &["l=2"], json!({}));
    assert_eq!(check(&people, &draft, 1_000), 1);
    let ground = tempfile::tempdir().unwrap();
    let (manifest, _) = by_cells(&people, 1 << 16, &draft, 1_000, &ground.path().join("r")).unwrap();
    assert_eq!(manifest.tables[0].parts[0].file, "qit.csv");
}

/// Cuts are undone where a side would fail: half of the wards have one disease only.
#[test]
fn cuts_that_would_break_a_promise_are_undone() {
    let mut people = People::draw(7, 4_000);
    for row in &mut people.rows {
        let digit = usize::from(row[5].bytes().last().unwrap());
        let others = ["cold", "gout", "ulcer"][digit % 3];
        row[4] = if row[2].as_str() < "lake" { "flu".to_owned() } else { others.to_owned() };
    }
    check(&people, &draft("generalize", json!("disease"), &["l=2"], json!({})), 400);
    check(&people, &draft("generalize", json!("disease"), &["t=0.2"], json!({})), 400);
}

#[track_caller]
fn refused(draft: &Draft, fault: Fault, message: &str) {
    let ground = tempfile::tempdir().unwrap();
    let error = by_cells(&People::draw(8, 400), 1 << 12, draft, 100, &ground.path().join("r")).unwrap_err();
    assert!(error.fault == fault && error.message.contains(message), "{error:?}");
    assert_eq!(std::fs::read_dir(ground.path()).unwrap().count(), 0, "nothing is left");
}

#[test]
fn what_cannot_be_done_by_cells_is_refused_with_a_reason() {
    let by = "this cannot be published cell by cell: ";
    refused(&draft("angel", json!("disease"), &["l=2"], json!({})), Fault::Request, by);
    refused(&draft("rank-swap", json!("cost"), &["k=2"], json!({})), Fault::Request, by);
    let full = json!({"release": {"partitioner": "full-domain"}});
    refused(&draft("generalize", json!("disease"), &["k=2"], full), Fault::Request, "shows every column at one level");
    let person = json!({"person": "kept"});
    refused(
        &draft("generalize", json!("disease"), &["k=2"], person),
        Fault::Request,
        "promises are to be about persons",
    );
    let given = json!({"release": {"partitioner": "column", "group_column": "kept"}});
    refused(&draft("generalize", json!("disease"), &["k=2"], given), Fault::Request, "takes groups that are given");
}

#[test]
fn what_one_piece_refuses_cells_refuse_too() {
    refused(&draft("generalize", json!("disease"), &["l=40"], json!({})), Fault::Infeasible, "cannot reach l=40");
    refused(&draft("generalize", json!("cost"), &["k=2"], json!({})), Fault::Infeasible, "would be disclosed");
    let missing = json!({"missing": "error"});
    let people = People::draw(8, 400);
    let first = people.rows.iter().position(|row| row[0].is_empty()).unwrap() + 1;
    let found = people.rows.iter().filter(|row| row[0].is_empty()).count();
    let message = format!("column `age` has {found} missing values, the first in row {first}");
    refused(&draft("generalize", json!("disease"), &["k=2"], missing), Fault::Request, &message);
}

#[test]
fn columns_are_prepared_and_rows_dropped_on_the_way() {
    let people = People::draw(9, 3_000);
    let prepare = json!({
        "missing": "drop",
        "attributes": {"age": {"prepare": ["top:70", "round:5"]}, "since": {"prepare": ["date:year"]}},
    });
    let draft = draft("generalize", json!("disease"), &["l=3"], prepare);
    let ground = tempfile::tempdir().unwrap();
    let (manifest, report) = by_cells(&people, 1 << 12, &draft, 600, &ground.path().join("r")).unwrap();
    let recipe = draft.check(&HEADER.map(str::to_owned)).unwrap();
    let one = publish(people.table(&draft), &recipe, Seed::Fixed(1), &Unwatched).unwrap().report;
    assert_eq!((report.rows, report.dropped_rows), (one.rows, one.dropped_rows));
    assert_eq!(report.prepared, one.prepared);
    assert_eq!(manifest.attributes[0].prepared.as_deref(), Some(&["top:70".to_owned(), "round:5".to_owned()][..]));
    let release = read_release(&ground.path().join("r")).unwrap();
    assert!(audit(&release, Evidence::default(), &Unwatched).unwrap().ok());
}

/// Stops after so many questions.
struct Impatient(AtomicU32);

impl Watch for Impatient {
    fn phase(&self, _: &'static str, _: Option<u64>, _: Counted) {}
    fn advance(&self, _: u64) {}
    fn stopped(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
    }
}

#[test]
fn a_stopped_run_leaves_nothing() {
    let people = People::draw(10, 2_000);
    let draft = draft("anatomy", json!("disease"), &["l=3"], json!({}));
    let recipe = draft.check(&HEADER.map(str::to_owned)).unwrap();
    let ground = tempfile::tempdir().unwrap();
    let out = ground.path().join("release");
    let mut stopped = 0;
    for patience in [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144] {
        let place = Place { out: &out, force: true };
        let watch = Impatient(AtomicU32::new(patience));
        let made = publish_by_cells_of(people.input(1 << 12), &recipe, 400, place, Seed::Fixed(1), &watch);
        stopped += u32::from(made.is_err_and(|error| error.fault == Fault::Stopped));
        let left = std::fs::read_dir(ground.path()).unwrap().count();
        assert_eq!(left, usize::from(out.exists()), "patience {patience}");
    }
    assert!(stopped > 3, "{stopped} runs were stopped");
}

#[test]
fn a_table_in_memory_is_not_limited() {
    let draft = draft("anatomy", json!("disease"), &["l=2"], json!({"memory": "1GB"}));
    let recipe = draft.check(&HEADER.map(str::to_owned)).unwrap();
    let error =
        publish(Table::new(vec![Column::integers("age", &[1])]), &recipe, Seed::Secret, &Unwatched).unwrap_err();
    assert!(error.message.contains("has no effect on a table that is in memory already"), "{}", error.message);
}

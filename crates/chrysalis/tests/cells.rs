//! Releases by cells: whatever is promised holds in the audit's judgement of the whole release, nothing depends on the
//! order of rows or on how they are read, and no rows are left behind.

#![allow(clippy::unwrap_used, reason = "tests")]

mod by_cells;

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use chrysalis::cells::{
    self, CellCounts, CellFacts, CellPlan, CellRelease, GroupNumbers, Place, Survey, Tally, publish_by_cells_of,
};
use chrysalis::store::{PartEntry, read_release, write_part};
use chrysalis::table::{Column, Table};
use chrysalis::{Counted, Draft, Evidence, Fault, Manifest, Seed, Unwatched, Watch, audit, publish};
use serde_json::json;

use by_cells::{HEADER, People, by_cells, draft};

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

fn travelled<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

/// The steps as a cluster takes them: partitions know nothing of each other, whatever travels is text or bytes, and rows of
/// a cell come together in any order.
fn by_cluster(people: &People, draft: &Draft, partitions: usize, most_rows: u64, folder: &Path) -> Manifest {
    let recipe = draft.check(&HEADER.map(str::to_owned)).unwrap();
    let secret = cells::secret(Seed::Fixed(7)).unwrap();
    let part = |rows: &[[String; 7]]| {
        let table = People { rows: rows.to_vec() }.table(draft);
        cells::prepared(table, &recipe).unwrap()
    };
    let parts: Vec<_> = people.rows.chunks(people.rows.len().div_ceil(partitions)).map(part).collect();
    let mut survey: Option<Survey> = None;
    for part in parts.iter().rev() {
        let mut own = cells::survey(&recipe, &secret);
        own.add(&part.table).unwrap();
        let own = travelled(&own);
        match &mut survey {
            None => survey = Some(own),
            Some(all) => all.merge(&own).unwrap(),
        }
    }
    let plan: CellPlan = travelled(&cells::draw(&survey.unwrap(), &recipe, most_rows, &Unwatched).unwrap());
    let (mut counts, mut blocks) = (CellCounts::default(), Vec::new());
    for part in &parts {
        counts.merge(&travelled(&plan.count(&part.table).unwrap()));
        blocks.extend(plan.blocks(&part.table).unwrap());
    }
    let (plan, became) = cells::settled(&plan, &counts, &recipe).unwrap();
    let plan: CellPlan = travelled(&plan);
    let made = |cell: u32| {
        let own = blocks.iter().rev().filter(|block| became[block.cell as usize] == cell);
        let bytes: Vec<u8> = own.flat_map(|block| block.bytes.iter().copied()).collect();
        let table = cells::decode(plan.whole(), &bytes).unwrap();
        let made = cells::publish_cell(&plan, &recipe, &secret, cell, &table, &Unwatched).unwrap();
        CellRelease::from_bytes(&made.to_bytes().unwrap()).unwrap()
    };
    let made: Vec<CellRelease> = (0..plan.n_cells() as u32).map(made).collect();
    let facts: Vec<CellFacts> = made.iter().map(|made| travelled(&made.facts)).collect();
    let numbers = GroupNumbers::new(&secret, facts.iter().map(CellFacts::groups).sum());
    let tally = Tally { dropped: parts.iter().map(|part| part.dropped).sum(), steps: Vec::new() };
    let concluded = cells::concluded(&plan, &facts, &recipe, tally, Seed::Fixed(7), &Unwatched).unwrap();
    let mut manifest = concluded.manifest;
    let mut put = |name: &str, entry: PartEntry| {
        manifest.tables.iter_mut().find(|table| table.name == name).unwrap().parts.push(entry);
    };
    let write = |name: &str, number: Option<usize>, table: &Table| {
        write_part(folder, name, number, table, recipe.format(), &|_| ()).unwrap()
    };
    let mut first = 0;
    for (at, made) in made.into_iter().enumerate() {
        let groups = made.facts.groups();
        for (name, table) in cells::numbered(made.tables, groups, &numbers, first, &Unwatched).unwrap() {
            put(&name, write(&name, Some(at + 1), &table));
        }
        first += groups;
    }
    concluded.shared.iter().for_each(|(name, table)| put(name, write(name, None, table)));
    manifest
}

#[test]
fn one_machine_and_a_cluster_make_the_same_files() {
    let people = People::draw(11, 3_000);
    for (method, require) in [("anatomy", "l=3"), ("generalize", "t=0.3")] {
        let draft = draft(method, json!("disease"), &[require], json!({"missing": "drop"}));
        let ground = tempfile::tempdir().unwrap();
        let (one, _) = by_cells(&people, 1 << 16, &draft, 600, &ground.path().join("one")).unwrap();
        for partitions in [1, 2, 7] {
            let folder = ground.path().join(partitions.to_string());
            std::fs::create_dir(&folder).unwrap();
            let many = by_cluster(&people.shuffled(partitions as u64), &draft, partitions, 600, &folder);
            assert_eq!(many.tables, one.tables, "{method}, {partitions} partitions");
            assert_eq!(Manifest { version: one.version, encoding: one.encoding, ..many }, one);
        }
    }
}

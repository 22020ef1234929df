//! Sensitive columns that are shown together: their pairs are the true ones, everything else stays apart, and the audit
//! says what one of them tells about the other. Pairs are counted here from the published tables, by hand.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;

use chrysalis::report::AuditOutcome;
use chrysalis::table::{Codes, Column, Table, Unwatched};
use chrysalis::{Draft, Error, Evidence, Release, Seed, audit, publish};
use serde_json::{Value, json};

/// People with three sensitive numbers: `cost` follows from `stay` but for a few people, `age` from nothing.
fn people(n: usize) -> Table {
    let value = |row: usize, times: u64, of: i64| (((row as u64 * times + 7) * 2_654_435_761) >> 13) as i64 % of;
    let numbers = |times: u64, of: i64| (0..n).map(|row| value(row, times, of)).collect::<Vec<i64>>();
    let stays = numbers(23, 12);
    let costs: Vec<i64> = stays.iter().zip(numbers(5, 3)).map(|(stay, extra)| stay * 1000 + extra * 300).collect();
    Table::new(vec![
        Column::integers("age", &numbers(3, 60)),
        Column::texts("sex", numbers(11, 2).iter().map(|number| if *number == 0 { "f" } else { "m" })),
        Column::integers("cost", &costs),
        Column::integers("stay", &stays),
        Column::integers("grade", &numbers(29, 9)),
    ])
}

fn draft(method: &str, sensitive: &[&str], together: Value) -> Draft {
    let all = json!({"cost": {"near": 1}, "stay": {"near": 1}, "grade": {"near": 1}});
    let attributes: serde_json::Map<String, Value> =
        sensitive.iter().filter_map(|name| Some(((*name).to_owned(), all.get(name)?.clone()))).collect();
    serde_json::from_value(json!({
        "quasi": ["age", "sex"], "sensitive": sensitive, "attributes": attributes,
        "release": {"method": method, "require": ["l=3", "k=4"], "together": together},
    }))
    .unwrap()
}

fn published(table: &Table, draft: &Draft) -> Result<Release, Error> {
    let header: Vec<String> = table.columns().iter().map(|column| column.name().to_owned()).collect();
    let recipe = draft.check(&header)?;
    let columns = recipe.requests().iter().map(|request| table.column(&request.name).unwrap().clone()).collect();
    publish(Table::new(columns), &recipe, Seed::Fixed(3), &Unwatched).map(|published| published.release)
}

fn audited(release: &Release, microdata: Option<&Table>) -> AuditOutcome {
    audit(release, Evidence { microdata, ..Evidence::default() }, &Unwatched).unwrap()
}

fn failed(found: &AuditOutcome) -> Vec<&'static str> {
    found.checks.iter().filter(|check| !check.ok).map(|check| check.name).collect()
}

fn text(table: &Table, column: &str, row: usize) -> String {
    let column = table.column(column).unwrap();
    column.domain().text(column.code(row)).into_owned()
}

/// How often every pair of values occurs in a table, which may have counts.
fn pairs(table: &Table, a: &str, b: &str) -> BTreeMap<(String, String), u64> {
    let mut pairs = BTreeMap::new();
    for row in 0..table.rows() {
        let times = table.column("count").map_or(1, |_| text(table, "count", row).parse().unwrap());
        *pairs.entry((text(table, a, row), text(table, b, row))).or_default() += times;
    }
    pairs
}

const METHODS: [(&str, &str); 5] = [
    ("generalize", "generalized"),
    ("shuffle", "permuted"),
    ("anatomy", "st_cost_stay"),
    ("permute", "pst_cost_stay"),
    ("angel", "bt_cost_stay"),
];

#[test]
fn every_form_keeps_the_pairs_and_nothing_else() {
    let table = people(420);
    let truth = pairs(&table, "cost", "stay");
    for (method, name) in METHODS {
        // Columns are shown in the order in which they are sensitive, however they are named.
        let draft = draft(method, &["cost", "stay", "grade"], json!([["stay", "cost"]]));
        let release = published(&table, &draft).unwrap();
        assert_eq!(release.manifest.together, [["cost", "stay"]], "{method}");
        assert_eq!(pairs(release.table(name).unwrap(), "cost", "stay"), truth, "{method}");
        assert!(release.manifest.to_json().unwrap().contains("\"together\"\n"), "the feature is listed");
        for microdata in [None, Some(&table)] {
            let found = audited(&release, microdata);
            assert!(found.ok(), "{method}: {:?}", found.checks);
            assert_eq!(found.attacks.together.len(), 2, "{method}");
        }
        // What is apart is still looked at.
        let found = audited(&release, Some(&table));
        let apart = found.checks.iter().find(|check| check.name == "apart");
        assert_eq!(apart.is_some(), name == "generalized" || name == "permuted", "{method}");
        // The release is the same without the wish, but for the pairs.
        let mut plain = draft.clone();
        plain.release.together = None;
        let plain = published(&table, &plain).unwrap();
        assert_eq!(plain.manifest.guarantees(), release.manifest.guarantees());
        assert_eq!(plain.manifest.groups, release.manifest.groups, "{method}");
    }
}

/// The numbers of the attack, counted from the published pairs by hand.
#[test]
fn the_audit_says_what_an_insider_learns() {
    let table = people(420);
    let release = published(&table, &draft("anatomy", &["cost", "stay"], json!([["cost", "stay"]]))).unwrap();
    let shown = release.table("st_cost_stay").unwrap();
    let mut by_known: BTreeMap<(String, String), Vec<u64>> = BTreeMap::new();
    for row in 0..shown.rows() {
        let key = (text(shown, "group_id", row), text(shown, "stay", row));
        by_known.entry(key).or_default().push(text(shown, "count", row).parse().unwrap());
    }
    let certain: u64 = by_known.values().filter(|counts| counts.len() == 1).flatten().sum();
    let right: u64 = by_known.values().map(|counts| counts.iter().max().unwrap()).sum();
    let found = audited(&release, None);
    let told = serde_json::to_value(&found).unwrap();
    let told = &told["attacks"]["together"];
    let of_stay = &told["pairs"][1];
    assert_eq!((of_stay["known"].as_str(), of_stay["learned"].as_str()), (Some("stay"), Some("cost")));
    assert_eq!(of_stay["certain_rows"], certain);
    assert_eq!(of_stay["certain_share"], certain as f64 / 420.0);
    assert_eq!(of_stay["expected_right"], right as f64 / 420.0);
    // The cost tells the stay.
    assert_eq!(told["pairs"][0]["certain_share"], 1.0);
    let said = told["finding"].as_str().unwrap();
    assert!(said.contains("Nothing is promised about combinations."), "{said}");
    assert!(found.attacks.findings.iter().any(|finding| finding.attack == "together"));
}

/// A column of a table of a release, with other codes.
fn replaced(release: &Release, table: &str, name: &str, codes: &[u32]) -> Release {
    let mut forged = release.clone();
    let at = release.manifest.tables.iter().position(|entry| entry.name == table).unwrap();
    let columns = release.tables[at].columns().iter().map(|column| match column.name() == name {
        true => {
            Column::new(name, column.domain().clone(), Codes::collect(column.domain().len(), codes.iter().copied()))
        }
        false => column.clone(),
    });
    forged.tables[at] = Table::new(columns.collect());
    forged
}

/// The codes of a column with two rows exchanged that are in one group and differ in both columns.
fn exchanged(table: &Table, id: &str, (kept, moved): (&str, &str), is_fine: impl Fn(usize, usize) -> bool) -> Vec<u32> {
    let column = |name: &str| table.column(name).unwrap();
    let differ = |name: &str, a: usize, b: usize| column(name).code(a) != column(name).code(b);
    let mut all = (0..table.rows()).flat_map(|a| (a + 1..table.rows().min(a + 20)).map(move |b| (a, b)));
    let (a, b) =
        all.find(|&(a, b)| !differ(id, a, b) && differ(kept, a, b) && differ(moved, a, b) && is_fine(a, b)).unwrap();
    let mut codes: Vec<u32> = column(moved).codes().iter().collect();
    codes.swap(a, b);
    codes
}

#[test]
fn pairs_that_are_not_the_true_ones_are_caught() {
    let table = people(420);
    for (method, name) in METHODS {
        let release = published(&table, &draft(method, &["cost", "stay"], json!([["cost", "stay"]]))).unwrap();
        let shown = release.table(name).unwrap();
        let id = release.manifest.method.shape().group_id.unwrap();
        // Of counted pairs only those that occur once are exchanged, so that the counts of each column stay.
        let is_once = |row: usize| shown.column("count").is_none() || text(shown, "count", row) == "1";
        let codes = exchanged(shown, id, ("cost", "stay"), |a, b| is_once(a) && is_once(b));
        let found = audited(&replaced(&release, name, "stay", &codes), Some(&table));
        assert!(failed(&found).contains(&"faithful"), "{method}: {:?}", found.checks);
        let check = found.checks.iter().find(|check| check.name == "faithful").unwrap();
        assert!(check.findings.iter().any(|it| it.starts_with("`cost, stay` together: ")), "{method}: {check:?}");
    }
}

#[test]
fn a_table_of_pairs_that_contradicts_the_others_is_caught_without_the_microdata() {
    let table = people(420);
    for (method, name) in &METHODS[2..] {
        let release = published(&table, &draft(method, &["cost", "stay"], json!([["cost", "stay"]]))).unwrap();
        let shown = release.table(name).unwrap();
        let stay = shown.column("stay").unwrap();
        let mut codes: Vec<u32> = stay.codes().iter().collect();
        codes[0] = (codes[0] + 1) % stay.domain().len() as u32;
        let found = audited(&replaced(&release, name, "stay", &codes), None);
        assert!(failed(&found).contains(&"together"), "{method}: {:?}", found.checks);
        // Rows in another order could tell something.
        let order: Vec<u32> = (0..shown.rows() as u32).rev().collect();
        let mut forged = release.clone();
        let at = release.manifest.tables.iter().position(|entry| entry.name == *name).unwrap();
        forged.tables[at] = shown.gather(&order);
        assert_eq!(failed(&audited(&forged, None)), ["together"], "{method}");
        // A table of pairs that the manifest does not announce.
        let mut forged = release.clone();
        forged.manifest.together.clear();
        assert!(failed(&audited(&forged, None)).contains(&"tables"), "{method}");
    }
}

/// Columns that are not named together must not be: here `grade` is kept beside its own `cost` and `stay`.
#[test]
fn a_column_that_should_be_apart_is_caught() {
    let table = people(420);
    let all = published(&table, &draft("generalize", &["cost", "stay", "grade"], json!([["cost", "stay", "grade"]])));
    let mut all = all.unwrap();
    assert!(audited(&all, Some(&table)).ok());
    all.manifest.together = vec![vec!["cost".to_owned(), "stay".to_owned()]];
    let found = audited(&all, Some(&table));
    assert_eq!(failed(&found), ["apart"]);
}

#[test]
fn a_release_reads_back_as_it_was_written() {
    let table = people(420);
    let folder = tempfile::tempdir().unwrap();
    for (at, (method, name)) in METHODS.iter().enumerate() {
        let release = published(&table, &draft(method, &["cost", "stay"], json!([["cost", "stay"]]))).unwrap();
        let place = folder.path().join(at.to_string());
        let format = if at % 2 == 0 { chrysalis::store::Format::Csv } else { chrysalis::store::Format::Parquet };
        chrysalis::files::write(&release, &place, format, false, &Unwatched).unwrap();
        let read = chrysalis::store::read_release(&place).unwrap();
        assert_eq!(read.manifest.together, release.manifest.together);
        assert_eq!(pairs(read.table(name).unwrap(), "cost", "stay"), pairs(&table, "cost", "stay"));
        let evidence = Evidence { microdata: Some(&table), folder: Some(&place), ..Evidence::default() };
        let found = audit(&read, evidence, &Unwatched).unwrap();
        assert!(found.ok(), "{method}: {:?}", found.checks);
    }
}

#[test]
fn what_cannot_be_shown_together_is_refused() {
    let table = people(60);
    let refused = |method: &str, sensitive: &[&str], together: Value, expected: &str| {
        let error = published(&table, &draft(method, sensitive, together)).unwrap_err();
        assert_eq!(error.message, expected);
    };
    let two = ["cost", "stay"];
    refused(
        "anatomy",
        &["cost"],
        json!([["cost", "stay"]]),
        "`together` has no effect: fewer than two columns are sensitive",
    );
    refused("anatomy", &two, json!([["cost", "age"]]), "`together` names `age`, which is not a sensitive column");
    refused("anatomy", &two, json!([["cost", "height"]]), "`together` names `height`, which is not a sensitive column");
    refused("anatomy", &two, json!([["cost"]]), "`together = cost` has no effect: it takes two columns");
    refused("anatomy", &two, json!([["cost", "cost"]]), "`together` names `cost` twice");
    refused("anatomy", &two, json!([["cost", "stay"], ["stay", "cost"]]), "`together` names `stay` twice");
    refused("rank-swap", &two, json!([["cost", "stay"]]), "rank-swap cannot show columns together");
}

#[test]
fn other_sensitive_columns_replace_what_a_spec_shows_together() {
    let base = draft("anatomy", &["cost", "stay"], json!([["cost", "stay"]]));
    let over: Draft = serde_json::from_value(json!({"sensitive": "grade"})).unwrap();
    assert_eq!(over.or(base.clone()).release.together, None);
    let over: Draft = serde_json::from_value(json!({"release": {"require": ["k=2"]}})).unwrap();
    assert_eq!(over.or(base.clone()).release.together, base.release.together);
}

//! Several sensitive columns: one partition whose groups satisfy what is required of every column, columns that are
//! shown apart, and an audit that judges each of them. Levels are counted here from the published tables, by hand.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;

use chrysalis::report::AuditOutcome;
use chrysalis::table::{Codes, Column, Table, Unwatched};
use chrysalis::{Draft, Error, Evidence, Release, Seed, audit, publish};
use proptest::prelude::*;
use serde_json::json;

/// People with two quasi columns and three sensitive ones, of which `cost` and `stay` are numbers.
fn people(n: usize) -> Table {
    let value = |row: usize, times: u64, of: i64| (((row as u64 * times + 7) * 2_654_435_761) >> 13) as i64 % of;
    let numbers = |times: u64, of: i64| (0..n).map(|row| value(row, times, of)).collect::<Vec<i64>>();
    let word = |number: &i64| format!("d{number:02}");
    let diseases: Vec<String> = numbers(5, 14).iter().map(word).collect();
    Table::new(vec![
        Column::integers("age", &numbers(3, 60)),
        Column::texts("sex", numbers(11, 2).iter().map(|number| if *number == 0 { "f" } else { "m" })),
        Column::texts("disease", diseases.iter().map(String::as_str)),
        Column::integers("cost", &numbers(17, 1_000_000)),
        Column::integers("stay", &numbers(23, 40)),
    ])
}

fn draft(method: &str, sensitive: &[&str], require: &[&str]) -> Draft {
    serde_json::from_value(json!({
        "quasi": ["age", "sex"], "sensitive": sensitive,
        "attributes": {"stay": {"near": 1}, "cost": {"near": 100}},
        "release": {"method": method, "require": require},
    }))
    .unwrap()
}

fn published(table: &Table, mut draft: Draft) -> Result<Release, Error> {
    let header: Vec<String> = table.columns().iter().map(|column| column.name().to_owned()).collect();
    let sensitive = draft.sensitive_columns();
    draft.attributes.retain(|name, _| sensitive.contains(name));
    if draft.release.require.iter().flatten().any(|text| text.contains("ke=")) {
        draft.attributes.clear();
    }
    let recipe = draft.check(&header)?;
    let columns = recipe.requests().iter().map(|request| table.column(&request.name).unwrap().clone()).collect();
    publish(Table::new(columns), &recipe, Seed::Fixed(3), &Unwatched).map(|published| published.release)
}

fn audited(release: &Release, microdata: &Table) -> AuditOutcome {
    audit(release, Evidence { microdata: Some(microdata), ..Evidence::default() }, &Unwatched).unwrap()
}

/// The values of a sensitive column in every group, as the tables show them.
fn by_group(release: &Release, column: &str) -> Vec<BTreeMap<String, u64>> {
    let layout = release.manifest.layout();
    let at = release.manifest.attributes.iter().position(|attribute| attribute.name == column).unwrap();
    let table = release.table(&layout.values_of(at).unwrap().name).unwrap();
    let id = table.column(layout.shape.group_id.unwrap()).unwrap();
    let (values, counts) = (table.column(column).unwrap(), table.column("count"));
    let mut groups: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for row in 0..table.rows() {
        let times = counts.map_or(1, |counts| counts.domain().text(counts.code(row)).parse().unwrap());
        let group = groups.entry(id.domain().text(id.code(row)).into_owned()).or_default();
        *group.entry(values.domain().text(values.code(row)).into_owned()).or_default() += times;
    }
    groups.into_values().collect()
}

/// No value has more than a quarter of a group, and no row is lost.
fn assert_l_4(release: &Release, column: &str, rows: u64) {
    let groups = by_group(release, column);
    assert_eq!(groups.iter().flat_map(|group| group.values()).sum::<u64>(), rows, "{column}");
    for group in &groups {
        let (most, all) = (group.values().max().unwrap(), group.values().sum::<u64>());
        assert!(4 * most <= all, "{column}: {group:?}");
    }
}

#[test]
fn every_form_keeps_what_is_required_of_every_column() {
    let table = people(600);
    for method in ["generalize", "anatomy", "permute", "angel"] {
        let release = published(&table, draft(method, &["disease", "cost"], &["l=4", "k=5"])).unwrap();
        let guarantees = release.manifest.guarantees();
        assert!(["disease:l=4", "cost:l=4"].iter().all(|it| guarantees.contains(&(*it).to_owned())), "{guarantees:?}");
        assert_l_4(&release, "disease", 600);
        assert_l_4(&release, "cost", 600);
        let found = audited(&release, &table);
        assert!(found.ok(), "{method}: {found:?}");
        assert_eq!(found.columns.len(), 2, "{method}");
        let names: Vec<&str> = found.principles.iter().map(|it| it.principle.as_str()).collect();
        assert_eq!(names, guarantees, "{method}");
    }
    let release =
        published(&table, draft("shuffle", &["cost", "stay"], &["cost:ke=4,1000", "stay:ke=2,1", "k=5"])).unwrap();
    let found = audited(&release, &table);
    assert!(found.ok(), "{found:?}");
    let names: Vec<&str> = release.manifest.tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["permuted", "help_cost", "help_stay"]);
}

#[test]
fn every_partitioner_forms_such_groups() {
    let table = people(300);
    for partitioner in ["compact", "mondrian", "top-down", "nearby", "anatomize", "similar", "sequential"] {
        let mut draft = draft("anatomy", &["disease", "stay"], &["l=4"]);
        draft.release.partitioner = Some(partitioner.to_owned());
        let release = published(&table, draft).unwrap();
        assert_l_4(&release, "disease", 300);
        assert_l_4(&release, "stay", 300);
        assert!(audited(&release, &table).ok(), "{partitioner}");
    }
}

#[test]
fn three_columns_with_requirements_of_their_own() {
    let table = people(800);
    let draft = draft("anatomy", &["disease", "cost", "stay"], &["disease:l=4", "stay:distinct-l=3", "k=6"]);
    let release = published(&table, draft).unwrap();
    assert_eq!(release.manifest.guarantees(), ["disease:l=4", "stay:distinct-l=3", "k=6"]);
    assert_l_4(&release, "disease", 800);
    for group in by_group(&release, "stay") {
        assert!(group.len() >= 3 && group.values().sum::<u64>() >= 6, "{group:?}");
    }
    assert!(audited(&release, &table).ok());
}

/// A column of a table of the release, replaced.
fn replaced(release: &Release, name: &str, codes: &[u32]) -> Release {
    let mut forged = release.clone();
    let columns = release.tables[0].columns().iter().map(|column| match column.name() == name {
        true => {
            let codes = Codes::collect(column.domain().len(), codes.iter().copied());
            Column::new(name, column.domain().clone(), codes)
        }
        false => column.clone(),
    });
    forged.tables[0] = Table::new(columns.collect());
    forged
}

/// Columns that are promised apart must not show pairs.
#[test]
fn a_pair_that_was_kept_is_caught() {
    let table = people(600);
    let release = published(&table, draft("generalize", &["cost", "stay"], &["l=4"])).unwrap();
    let is_apart = |release: &Release| {
        let found = audited(release, &table);
        let check = found.checks.iter().find(|check| check.name == "apart").unwrap().clone();
        (check.ok, check)
    };
    assert!(is_apart(&release).0, "{:?}", is_apart(&release).1);
    // Everybody's cost is different, so it says whose row it is; the true stay is put beside it.
    let shown = &release.tables[0];
    let (cost, stay) = (shown.column("cost").unwrap(), shown.column("stay").unwrap());
    let own: BTreeMap<String, String> = (0..table.rows())
        .map(|row| {
            let text = |name: &str| {
                let column = table.column(name).unwrap();
                column.domain().text(column.code(row)).into_owned()
            };
            (text("cost"), text("stay"))
        })
        .collect();
    let code = |text: &String| (0..stay.domain().len() as u32).find(|&it| stay.domain().text(it) == text.as_str());
    let codes: Vec<u32> =
        (0..shown.rows()).map(|row| code(&own[&cost.domain().text(cost.code(row)).into_owned()]).unwrap()).collect();
    let (ok, check) = is_apart(&replaced(&release, "stay", &codes));
    assert!(!ok && check.findings[0].contains("were not permuted at random"), "{check:?}");
}

/// One value too many in one group of one column is found, whichever column it is.
#[test]
fn a_broken_promise_about_either_column_is_found() {
    let table = people(600);
    let release = published(&table, draft("generalize", &["disease", "stay"], &["l=4"])).unwrap();
    for name in ["disease", "stay"] {
        let column = release.tables[0].column(name).unwrap();
        let ids = release.tables[0].column("group_id").unwrap();
        // All rows of the first group get the value of its first row.
        let first = column.code(0);
        let codes: Vec<u32> = (0..release.tables[0].rows())
            .map(|row| if ids.code(row) == ids.code(0) { first } else { column.code(row) })
            .collect();
        let found = audit(&replaced(&release, name, &codes), Evidence::default(), &Unwatched).unwrap();
        let broken: Vec<&str> =
            found.principles.iter().filter(|it| !it.holds).map(|it| it.principle.as_str()).collect();
        assert_eq!(broken, [format!("{name}:l=4")]);
    }
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let table = people(60);
    let refused = |method: &str, sensitive: &[&str], require: &[&str], expected: &str| {
        let error = published(&table, draft(method, sensitive, require)).unwrap_err();
        assert_eq!(error.message, expected);
    };
    let two = ["disease", "stay"];
    refused("anatomy", &two, &["age:l=2"], "`age:l=2` is about `age`, which is not a sensitive column");
    refused("anatomy", &two, &["disease:k=2"], "`disease:k=2`: it counts rows, whatever their `disease`");
    refused("anatomy", &two, &["l=2", "disease:l=2"], "`disease:l=2` is required twice");
    refused("shuffle", &two, &["k=2"], "shuffle needs a numeric sensitive column, but `disease` is category");
    refused(
        "anatomy",
        &two,
        &["l=40"],
        "cannot reach disease:l=40: value `d02` of `disease` has 5 of 60 rows (8.33 %), at most 2.50 % may have it",
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is required of two columns holds in every group of both, or publishing is refused.
    #[test]
    fn requirements_of_both_columns_hold(
        rows in prop::collection::vec((0..5_i64, 0..3_i64, 0..4_i64), 4..40),
        l in 2..4_u64,
        distinct in 1..3_u64,
        method in prop::sample::select(vec!["anatomy", "permute", "generalize"]),
    ) {
        let column = |name: &str, at: fn(&(i64, i64, i64)) -> i64| {
            let texts: Vec<String> = rows.iter().map(|row| format!("v{}", at(row))).collect();
            Column::texts(name, texts.iter().map(String::as_str))
        };
        let quasi: Vec<i64> = rows.iter().map(|row| row.0).collect();
        let table = Table::new(vec![
            Column::integers("age", &quasi),
            Column::texts("sex", rows.iter().map(|_| "f")),
            column("a", |row| row.1),
            column("b", |row| row.2),
        ]);
        let require = [format!("a:l={l}"), format!("b:distinct-l={}", distinct + 1)];
        let require: Vec<&str> = require.iter().map(String::as_str).collect();
        let Ok(release) = published(&table, draft(method, &["a", "b"], &require)) else { return Ok(()) };
        for group in by_group(&release, "a") {
            prop_assert!(l * group.values().max().unwrap() <= group.values().sum::<u64>());
        }
        for group in by_group(&release, "b") {
            prop_assert!(group.len() as u64 > distinct);
        }
        prop_assert!(audited(&release, &table).ok());
    }
}

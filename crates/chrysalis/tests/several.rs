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

/// Three groups by hand: one gives away the disease, one the ward, one neither. Publisher and audit count every row once.
#[test]
fn rows_that_any_column_gives_away_are_counted_once_by_publisher_and_audit() {
    let words = |name: &str, texts: [&str; 12]| Column::texts(name, texts.into_iter());
    let table = Table::new(vec![
        Column::integers("age", &[1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]),
        words("sex", ["f"; 12]),
        words(
            "disease",
            ["flu", "flu", "flu", "flu", "cold", "ulcer", "cold", "flu", "cold", "ulcer", "asthma", "gout"],
        ),
        words("ward", ["a", "b", "c", "d", "e", "e", "e", "e", "a", "b", "c", "d"]),
    ]);
    for method in ["generalize", "anatomy", "permute"] {
        let mut draft = draft(method, &["disease", "ward"], &["k=4"]);
        draft.release.partitioner = Some("mondrian".to_owned());
        draft.release.accept = Some(vec!["disclosure".to_owned()]);
        draft.attributes.clear();
        let header: Vec<String> = table.columns().iter().map(|column| column.name().to_owned()).collect();
        let recipe = draft.check(&header).unwrap();
        let columns = recipe.requests().iter().map(|request| table.column(&request.name).unwrap().clone()).collect();
        let published = publish(Table::new(columns), &recipe, Seed::Fixed(3), &Unwatched).unwrap();
        let made = serde_json::to_value(&published.report).unwrap();
        let made = (made["certain_rows"].as_u64().unwrap(), made["disclosed_rows"].as_u64().unwrap());
        let found = audited(&published.release, &table);
        let told = found.disclosure.clone().unwrap();
        assert_eq!((told.certain_rows, told.disclosed_rows), made, "{method}");
        let of_columns: Vec<u64> =
            found.columns.iter().map(|it| it.disclosure.as_ref().unwrap().disclosed_rows).collect();
        assert_eq!((told.disclosed_rows, &of_columns[..]), (8, &[4, 4][..]), "{method}");
        assert!(told.rule.starts_with("every row once, whichever column gives it away; `disease`: "), "{}", told.rule);
        assert!(told.rule.contains("; `ward`: "), "{}", told.rule);
    }
}

/// A drug that is given for one disease only: nothing in a group pairs them, but all groups together do.
#[test]
fn an_insider_who_knows_the_drug_learns_the_disease() {
    let n = 480;
    let disease: Vec<String> = (0..n).map(|row| format!("d{}", row * 7 % 8)).collect();
    let drug: Vec<String> = (0..n).map(|row| format!("m{}", (row * 7 + 3) % 8)).collect();
    let table = Table::new(vec![
        Column::integers("age", &(0..n).map(|row| (row * 37 % 97) as i64).collect::<Vec<_>>()),
        Column::texts("sex", (0..n).map(|row| if row * 31 % 3 == 0 { "f" } else { "m" })),
        Column::texts("disease", disease.iter().map(String::as_str)),
        Column::texts("drug", drug.iter().map(String::as_str)),
    ]);
    for method in ["generalize", "anatomy", "permute", "angel"] {
        let release = published(&table, draft(method, &["disease", "drug"], &["l=4"])).unwrap();
        let found = audited(&release, &table);
        let insider = found.attacks.insider.as_ref().unwrap();
        let pair = insider.worst_pair().unwrap();
        assert!(pair.baseline <= 0.25 && pair.lift > 1.5, "{method}: {pair:?}");
        let scored = pair.scored.as_ref().unwrap();
        assert!(scored.people > 100 && scored.right > 1.5 * scored.right_from_groups, "{method}: {pair:?}");
        let json = serde_json::to_value(&found).unwrap();
        let told = &json["attacks"]["insider"];
        assert_eq!((&told["known"], told["pairs"].as_array().unwrap().len()), (&json!(pair.known), 2), "{method}");
        assert!(told["finding"].as_str().unwrap().starts_with("An insider who knows a person's `"), "{told}");
        assert!(told["prevention"].as_str().unwrap().contains("no promise covers"), "{told}");
        assert_eq!(json["columns"][0]["attacks"]["insider"], json!(null));
    }
    // With one sensitive column there is nobody who could know another.
    let release = published(&table, draft("anatomy", &["disease"], &["l=4"])).unwrap();
    let json = serde_json::to_value(audited(&release, &table)).unwrap();
    assert_eq!(json["attacks"]["insider"], json!(null));
    let reason = "Does not apply: there are no two sensitive columns that share groups.";
    assert_eq!(json["attacks"]["not_run"]["insider"], json!(reason));
}

/// People with a column that is kept as it is.
fn with_room(table: &Table) -> Table {
    let rooms: Vec<String> = (0..table.rows()).map(|row| format!("r{}", row * 13 % 40)).collect();
    let mut columns = table.columns().to_vec();
    columns.push(Column::texts("room", rooms.iter().map(String::as_str)));
    Table::new(columns)
}

/// Columns that are kept beside several sensitive ones are looked at: whom they tell apart, and whether they are true.
#[test]
fn columns_kept_beside_several_sensitive_ones_are_judged() {
    let table = with_room(&people(400));
    let mut draft = draft("generalize", &["disease", "stay"], &["l=4"]);
    draft.other = Some(vec!["room".to_owned()]);
    let release = published(&table, draft).unwrap();
    let found = audited(&release, &table);
    assert!(found.ok(), "{found:?}");
    // By hand: rows whose room nobody else in their group has.
    let shown = &release.tables[0];
    let (id, room) = (shown.column("group_id").unwrap(), shown.column("room").unwrap());
    let mut rows: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    (0..shown.rows()).for_each(|row| *rows.entry((id.code(row), room.code(row))).or_default() += 1);
    let alone = rows.values().filter(|n| **n == 1).count() as u64;
    for attacks in found.columns.iter().map(|it| &it.attacks).chain([&found.attacks]) {
        let bystander = attacks.bystander.as_ref().unwrap();
        assert_eq!((bystander.alone_rows, bystander.is_beside, bystander.disclosed_rows), (alone, false, 0));
        let told = attacks.findings.iter().find(|it| it.attack == "bystander").unwrap();
        let expected = format!(
            "An attacker who also knows `room` can tell {alone} of 400 rows apart from all others in their groups. That \
             reveals no more about sensitive values: each sensitive column was permuted inside its groups, so that \
             those in a person's row may be anybody's of the group."
        );
        assert_eq!(told.sentence, expected);
    }
    // A room that nobody has there is found, and so are rooms that were handed to others.
    let first = room.code(0);
    let codes: Vec<u32> = (0..shown.rows()).map(|row| if row < 9 { first } else { room.code(row) }).collect();
    let forged = audited(&replaced(&release, "room", &codes), &table);
    let faithful = forged.checks.iter().find(|check| check.name == "faithful").unwrap();
    assert!(!faithful.ok, "{faithful:?}");
}

/// Kept columns must not stand beside their own sensitive values, or they would tell whose these are.
#[test]
fn kept_columns_beside_their_own_sensitive_values_are_caught() {
    let base = people(600);
    let rooms: Vec<i64> = (0..600).collect();
    let mut columns = base.columns().to_vec();
    columns.push(Column::integers("room", &rooms));
    let table = Table::new(columns);
    let mut draft = draft("generalize", &["disease", "stay"], &["l=4"]);
    draft.other = Some(vec!["room".to_owned()]);
    draft.release.accept = Some(vec!["identifying=room".to_owned()]);
    let release = published(&table, draft).unwrap();
    assert!(audited(&release, &table).ok());
    let shown = &release.tables[0];
    let (room, stay) = (shown.column("room").unwrap(), shown.column("stay").unwrap());
    let own = table.column("stay").unwrap();
    let code = |row: usize| {
        let person: usize = room.domain().text(room.code(row)).parse().unwrap();
        let text = own.domain().text(own.code(person)).into_owned();
        (0..stay.domain().len() as u32).find(|&it| stay.domain().text(it) == text).unwrap()
    };
    let codes: Vec<u32> = (0..shown.rows()).map(code).collect();
    let found = audited(&replaced(&release, "stay", &codes), &table);
    let apart = found.checks.iter().find(|check| check.name == "apart").unwrap();
    assert!(!apart.ok && apart.findings.iter().any(|it| it.contains("`room` beside `stay`")), "{apart:?}");
}

/// A row that lacks one sensitive value was left out of the whole release, whichever column is looked at.
#[test]
fn rows_left_out_for_one_column_are_left_out_of_all() {
    let base = people(300);
    let disease = base.column("disease").unwrap();
    let texts: Vec<String> = (0..300)
        .map(|row| if row % 50 == 0 { String::new() } else { disease.domain().text(disease.code(row)).into_owned() })
        .collect();
    let lacking = Column::texts("disease", texts.iter().map(String::as_str));
    let columns = base.columns().iter().map(|it| if it.name() == "disease" { lacking.clone() } else { it.clone() });
    let table = Table::new(columns.collect());
    let mut draft = draft("anatomy", &["disease", "stay"], &["l=3"]);
    draft.missing = Some("drop".to_owned());
    let release = published(&table, draft).unwrap();
    assert_eq!(release.manifest.rows, 294);
    let found = audited(&release, &table);
    assert!(found.ok(), "{:?}", found.checks);
    let faithful = found.checks.iter().find(|check| check.name == "faithful").unwrap();
    assert!(faithful.detail.ends_with("; 6 with missing values left out"), "{faithful:?}");
}

/// Values of either sensitive column are exchanged, and it is said how often each.
#[test]
fn a_replay_exchanges_values_of_every_sensitive_column() {
    let table = people(80);
    let release = published(&table, draft("anatomy", &["disease", "stay"], &["l=3"])).unwrap();
    let with = Evidence { microdata: Some(&table), replay: Some(12), ..Evidence::default() };
    let found = audit(&release, with, &Unwatched).unwrap();
    let replay = found.attacks.replay.as_ref().unwrap();
    let trials: Vec<(&str, u64)> = replay.columns.iter().map(|(name, n)| (name.as_str(), *n)).collect();
    assert!(matches!(trials[..], [("disease", 1..), ("stay", 1..)]), "{trials:?}");
    assert_eq!(trials.iter().map(|(_, n)| n).sum::<u64>(), 12);
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["attacks"]["replay"]["exchanged"]["stay"], json!(trials[1].1));
    assert!(json["attacks"]["replay"]["finding"].as_str().unwrap().contains(" trials) or `stay` ("), "{json}");
}

/// A profile reports every sensitive column, in the shape that one alone has.
#[test]
fn a_profile_measures_every_sensitive_column() {
    let table = people(200);
    let measured = |sensitive: &[&str]| {
        let draft: Draft = serde_json::from_value(json!({"quasi": ["sex"], "sensitive": sensitive})).unwrap();
        serde_json::to_value(chrysalis::profile(table.clone(), &draft, &Unwatched).unwrap()).unwrap()
    };
    let both = measured(&["disease", "stay"]);
    let both = both["anonymity"].as_object().unwrap();
    assert_eq!(both.keys().collect::<Vec<_>>(), ["k", "groups", "columns"]);
    for (at, name) in ["disease", "stay"].into_iter().enumerate() {
        let one = measured(&[name])["anonymity"].clone();
        assert_eq!((&one["k"], &one["groups"]), (&both["k"], &both["groups"]));
        let told = &both["columns"][at];
        assert_eq!(told["column"], name);
        for level in ["distinct_l", "entropy_l", "recursive_c", "alpha", "t", "beta", "delta"] {
            assert!(!one[level].is_null() && one[level] == told[level], "{name} {level}: {one} {told}");
        }
    }
    let draft: Draft = serde_json::from_value(json!({"quasi": ["sex"], "sensitive": ["stay", "stay"]})).unwrap();
    let error = chrysalis::profile(table.clone(), &draft, &Unwatched).unwrap_err();
    assert_eq!(error.message, "column `stay` is named as sensitive twice");
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

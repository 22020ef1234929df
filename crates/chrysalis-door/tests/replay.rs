//! The attack `replay`, through the library alone: publish again after two members of a group exchange values.

#![allow(clippy::unwrap_used, reason = "tests")]

use chrysalis::report::AuditOutcome;
use chrysalis::table::{Column, Table};
use chrysalis::{Draft, Evidence, Form, Release, Seed, Unwatched, audit, publish};
use serde_json::{Value, json};

const NOT_PROMISED: &str = "No promise covers an attacker who replays the algorithm.";

/// A number below `n` that looks random and is not.
fn mixed(seed: u64, n: u64) -> i64 {
    let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ x >> 31) % n) as i64
}

/// People who all look different, each with one of eight numbers.
fn people(n: u64) -> Table {
    let numbers = |offset: u64, below: u64| (0..n).map(|row| mixed(row + offset, below)).collect::<Vec<_>>();
    Table::new(vec![
        Column::integers("age", &numbers(0, 5_000)),
        Column::integers("room", &numbers(70_000, 5_000)),
        Column::integers("cost", &numbers(90_000, 8).iter().map(|cost| cost * 1_000).collect::<Vec<_>>()),
        Column::integers("ward", &(0..n as i64).map(|row| row % 4).collect::<Vec<_>>()),
    ])
}

fn release(table: &Table, release: &Value) -> Release {
    release_about(table, &json!("cost"), release)
}

fn release_about(table: &Table, sensitive: &Value, release: &Value) -> Release {
    let quasi = match release["method"] == "butterfly" {
        true => json!([["age"], ["room"]]),
        false => json!(["age", "room"]),
    };
    let draft = json!({ "quasi": quasi, "sensitive": sensitive, "release": release });
    let draft: Draft = serde_json::from_value(draft).unwrap();
    let header: Vec<String> = table.columns().iter().map(|column| column.name().to_owned()).collect();
    publish(table.clone(), &draft.check(&header).unwrap(), Seed::Fixed(1), &Unwatched).unwrap().release
}

fn audited(release: &Release, microdata: Option<&Table>, replay: Option<usize>) -> AuditOutcome {
    audit(release, Evidence { microdata, replay, ..Evidence::default() }, &Unwatched).unwrap()
}

fn sentence(outcome: &AuditOutcome) -> String {
    let mut found = outcome.report.attacks.findings.iter().filter(|finding| finding.attack == "replay");
    let sentence = found.next().unwrap().sentence.clone();
    assert!(found.next().is_none() && sentence.ends_with(NOT_PROMISED), "{sentence}");
    sentence
}

#[test]
fn groups_are_replayed_whatever_the_form_and_partitioner() {
    let table = people(60);
    let both = ["nearby", "compact", "similar", "mondrian", "top-down", "anatomize"];
    let sorted = ["min-sum", "min-max", "min-max-exact", "max-groups"];
    let with = |forms: &[&'static str], partitioners: &[&'static str], require: &'static str| {
        let with = |form: &&'static str| partitioners.iter().map(|by| (*form, *by, require)).collect::<Vec<_>>();
        forms.iter().flat_map(with).collect::<Vec<_>>()
    };
    let mut all = with(&["anatomy", "permute", "shuffle", "generalize"], &both, "l=3");
    all.extend(with(&["shuffle"], &sorted, "distinct-l=3"));
    for (form, by, require) in all {
        let made = release(&table, &json!({ "method": form, "partitioner": by, "require": [require] }));
        let outcome = audited(&made, Some(&table), Some(4));
        let found = outcome.report.attacks.replay.as_ref().unwrap_or_else(|| panic!("{form} {by}: {outcome:?}"));
        assert_eq!((found.exchanges, found.runs, found.rows, found.is_whole), (4, 20, 60, true), "{form} {by}");
        assert!(sentence(&outcome).contains(&format!("runs `{by}` again on worlds")), "{form} {by}");
        if by == "mondrian" {
            assert_eq!(found.with_true, 80, "nothing is drawn: {found:?}");
        }
        if sorted.contains(&by) {
            // The only random choice is the order of people with equal numbers, and the same random draws give the same
            // people. With eighty runs each, this is the variation expected by chance between two equal numbers.
            let apart = found.with_true.abs_diff(found.with_exchanged) as f64;
            assert!(apart <= 5.0 * ((found.with_true + found.with_exchanged) as f64).sqrt(), "{by}: {found:?}");
        }
        let json = serde_json::to_value(&outcome).unwrap()["attacks"]["replay"].clone();
        assert_eq!(json["with_true_values"], found.with_true, "{json}");
        assert!(json["finding"].as_str().unwrap().ends_with(NOT_PROMISED), "{json}");
        assert_eq!(serde_json::to_value(audited(&made, Some(&table), Some(4))).unwrap()["attacks"]["replay"], json);
    }
}

/// The leftmost two would form a group if they had different values. Mondrian cut elsewhere, so they have the same.
#[test]
fn a_world_in_which_the_group_cannot_come_out_is_told_apart() {
    let table = Table::new(vec![
        Column::integers("age", &[1, 2, 10, 11, 100, 101]),
        Column::integers("room", &[0; 6]),
        Column::integers("cost", &[1_000, 1_000, 2_000, 3_000, 4_000, 5_000]),
    ]);
    let made = release(&table, &json!({ "partitioner": "mondrian", "require": ["l=2"] }));
    let outcome = audited(&made, Some(&table), Some(30));
    let found = outcome.report.attacks.replay.as_ref().unwrap();
    assert!(found.with_true == 600 && found.with_exchanged < 600 && found.vanished > 0, "{found:?}");
    assert!(sentence(&outcome).contains("the group came out in 100.0 % of the runs with true values"));
}

#[test]
fn what_is_not_replayed_is_said_with_the_reason() {
    let small = people(60);
    let check = |made: &Release, microdata: Option<&Table>, asked: Option<usize>, reason: &str| {
        let outcome = audited(made, microdata, asked);
        let sentence = sentence(&outcome);
        assert!(outcome.report.attacks.replay.is_none() && sentence.contains(reason), "{sentence}");
        let json = serde_json::to_value(&outcome).unwrap();
        assert_eq!(json["attacks"]["replay"], Value::Null);
        assert_eq!(json["attacks"]["not_run"]["replay"], sentence.as_str());
    };
    let anatomy = release(&small, &json!({ "method": "anatomy", "require": ["l=3"] }));
    check(&anatomy, None, None, "the microdata are needed to publish again");
    check(&anatomy, Some(&small), Some(0), "Not run: nobody asked for it.");
    check(&anatomy, Some(&people(59)), None, "Not run: the microdata have 59 rows and the release 60.");
    let by = |by: &str| json!({ "method": "anatomy", "require": ["l=1.5"], "partitioner": by });
    check(
        &release(&small, &by("sequential")),
        Some(&small),
        None,
        "follow the order of the input, whatever the values",
    );
    check(&release(&small, &by("full-domain")), Some(&small), None, "is not in the manifest");
    let mut given = by("column");
    given["group_column"] = json!("ward");
    check(&release(&small, &given), Some(&small), None, "Not replayed: the groups were given in a column");
    let angel = json!({ "method": "angel", "require": ["l=3", "k=3"] });
    check(&release(&small, &angel), Some(&small), None, "Not replayed: each batch of angel");
    let butterfly = json!({ "method": "butterfly", "require": ["l=2"] });
    check(&release(&small, &butterfly), Some(&small), None, "Not replayed: each group of butterfly");
    let swapped = json!({ "method": "rank-swap", "require": ["ke=3,1"] });
    check(&release(&small, &swapped), Some(&small), None, "Not run: there are no groups");
    let mut unknown = anatomy.clone();
    unknown.manifest.partitioner = "moth".into();
    check(&unknown, Some(&small), None, "Not replayed: `moth` is not a partitioner of this version.");
    let large = people(500);
    let many = release(&large, &json!({ "method": "anatomy", "require": ["l=3"] }));
    check(&many, Some(&large), None, "tables of more than 400 rows are published again only on request");
    assert_eq!(many.manifest.method, Form::Anatomy);
}

#[test]
fn large_tables_are_replayed_among_people_who_lie_close_together() {
    let table = people(1_000);
    let made = release(&table, &json!({ "method": "anatomy", "partitioner": "mondrian", "require": ["l=3"] }));
    let outcome = audited(&made, Some(&table), Some(7));
    let found = outcome.report.attacks.replay.as_ref().unwrap();
    assert_eq!((found.exchanges, found.rows, found.is_whole, found.with_true), (7, 400, false, 140), "{found:?}");
    assert!(sentence(&outcome).contains("400 neighbouring people were published 20 times"));
}

/// Groups of a transparent release come out as often with true values as with exchanged ones, the audit says what is
/// promised, and a manifest that only claims it is caught.
#[test]
fn a_transparent_release_promises_what_replaying_measures() {
    let table = people(60);
    for (form, require) in [("anatomy", "l=3"), ("permute", "l=3"), ("generalize", "l=2"), ("shuffle", "ke=3,100")] {
        let made = release(&table, &json!({ "method": form, "transparent": true, "require": [require] }));
        assert!(made.manifest.transparent && made.manifest.partitioner == "transparent", "{form}");
        let outcome = audited(&made, Some(&table), Some(40));
        assert!(outcome.report.ok(), "{form}: {outcome:?}");
        let found = outcome.report.attacks.replay.as_ref().unwrap_or_else(|| panic!("{form}: {outcome:?}"));
        let apart = found.with_true.abs_diff(found.with_exchanged) as f64;
        assert!(apart <= 5.0 * ((found.with_true + found.with_exchanged) as f64).sqrt(), "{form}: {found:?}");
        let findings = &outcome.report.attacks.findings;
        let sentence = &findings.iter().find(|finding| finding.attack == "replay").unwrap().sentence;
        assert!(sentence.contains("promises that its groups are equally likely in all worlds"), "{form}: {sentence}");
        // Neither the claim nor the partitioner may stand alone.
        for lie in 0..2 {
            let mut forged = made.clone();
            match lie {
                0 => forged.manifest.partitioner = "nearby".to_owned(),
                _ => forged.manifest.transparent = false,
            }
            assert!(!audited(&forged, None, None).report.ok(), "{form}: lie {lie} went unnoticed");
        }
    }
}

/// Tables cannot prove that a choice of groups says nothing, but groups that were not cut and dealt can be told.
#[test]
fn groups_without_the_structure_of_transparent_ones_are_caught() {
    let table = people(60);
    let structure = |release: &Release| {
        let outcome = audited(release, None, None);
        outcome.report.checks.iter().find(|check| check.name == "transparent groups").unwrap().clone()
    };
    let forged = |release: Release| {
        let mut forged = release;
        forged.manifest.transparent = true;
        forged.manifest.partitioner = "transparent".to_owned();
        structure(&forged)
    };
    let two = json!(["cost", "ward"]);
    for form in ["anatomy", "permute"] {
        let made = |about: &Value, release: Value| {
            let mut release = release;
            release["method"] = json!(form);
            release_about(&table, about, &release)
        };
        // Groups that were dealt have no value twice.
        let dealt = structure(&made(&json!("cost"), json!({ "transparent": true, "require": ["l=3"] })));
        assert!(dealt.ok && dealt.detail.contains("no group has a value twice"), "{form}: {dealt:?}");
        let lie = forged(made(&json!("cost"), json!({ "partitioner": "mondrian", "require": ["l=3"] })));
        assert!(!lie.ok && lie.detail.contains("more than once, so it was not dealt"), "{form}: {lie:?}");
        // Where cells are the groups, cuts take them apart.
        let cells = structure(&made(&two, json!({ "transparent": true, "require": ["l=2"] })));
        assert!(cells.ok && cells.detail.contains("cuts by quasi values take all groups apart"), "{form}: {cells:?}");
        let lie = forged(made(&two, json!({ "partitioner": "anatomize", "require": ["l=2"] })));
        assert!(!lie.ok && lie.detail.contains("no cut by one column takes"), "{form}: {lie:?}");
        // Merged groups show neither.
        let merged = structure(&made(&json!("cost"), json!({ "transparent": true, "require": ["l=2", "k=7"] })));
        assert!(merged.ok && merged.detail.starts_with("cannot tell"), "{form}: {merged:?}");
    }
}

/// Nobody is told to make a release transparent where that would be refused.
#[test]
fn what_cannot_be_transparent_is_not_advised() {
    // Three values in equal numbers leave few ways to form groups.
    let costs = Column::integers("cost", &(0..24).map(|row| row % 3).collect::<Vec<_>>());
    let table = Table::new(people(24).columns().iter().take(2).cloned().chain([costs]).collect());
    let prevention = |require: &[&str]| {
        let draft = json!({
            "quasi": ["age", "room"],
            "sensitive": "cost",
            "attributes": { "cost": { "categories": [["0", "1"], ["2"]] } },
            "release": { "method": "anatomy", "partitioner": "compact", "require": require },
        });
        let draft: Draft = serde_json::from_value(draft).unwrap();
        let header: Vec<String> = table.columns().iter().map(|column| column.name().to_owned()).collect();
        let made = publish(table.clone(), &draft.check(&header).unwrap(), Seed::Fixed(1), &Unwatched).unwrap().release;
        let outcome = audited(&made, Some(&table), Some(40));
        let ratio = outcome.report.attacks.replay.as_ref().unwrap().median_ratio;
        assert!(ratio > Some(1.5), "{require:?}: {ratio:?}");
        let found = outcome.report.attacks.findings.into_iter().find(|finding| finding.attack == "replay").unwrap();
        found.prevention
    };
    assert!(prevention(&["l=3"]).contains("transparent"));
    assert_eq!(prevention(&["l=3", "distinct-l-alpha=2,0.1"]), "");
}

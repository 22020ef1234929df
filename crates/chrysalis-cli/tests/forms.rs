//! Anatomy, permute, shuffle and rank-swap through the command line, compared with the papers' tables.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::run;
use serde_json::Value;

/// Publishes a paper's table and returns the audit's JSON.
#[track_caller]
fn published(folder: &Path, paper: &str, arguments: &str) -> Value {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../chrysalis-testkit/papers").join(paper);
    fs::copy(source, folder.join("data.csv")).unwrap();
    let outcome = run(folder, &format!("publish data.csv {arguments} --out release --force --format csv"));
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let audit = run(folder, "audit release --microdata data.csv --output json");
    assert_eq!(audit.code, Some(0), "{}{}", audit.stdout, audit.stderr);
    serde_json::from_str(&audit.stdout).unwrap()
}

/// Rows of a published CSV as maps from column to text.
fn rows(folder: &Path, table: &str) -> Vec<BTreeMap<String, String>> {
    let text = fs::read_to_string(folder.join("release").join(table)).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| {
        header.iter().zip(line.split(',')).map(|(name, field)| ((*name).to_owned(), field.to_owned())).collect()
    };
    lines.map(row).collect()
}

#[test]
fn pa_table_1_permuted_has_delta_2_25_and_rce_7_49() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = "--quasi age,sex --sensitive disease --method permute --partitioner column --group-column group_id --require l=4";
    let audit = published(folder.path(), "pa/table-1.csv", arguments);
    // Bob is 65 and male: one of five has his age, two of five his sex. A file with him alone asks about him alone, and
    // is of course not the table that the release was made from.
    fs::write(folder.path().join("bob.csv"), "age,sex,disease\n65,M,Emphysema\n").unwrap();
    let outcome = run(folder.path(), "audit release --microdata bob.csv --output json");
    assert_eq!(outcome.code, Some(4), "{}", outcome.stderr);
    let of_bob: Value = serde_json::from_str(&outcome.stdout).unwrap();
    // The probability of a row; version 1 called it presence, and the number stays where readers look for it.
    assert_eq!(of_bob["attacks"]["row_linking"]["delta"], 2.0 / 25.0);
    assert_eq!(of_bob["attacks"]["presence"]["delta"], 2.0 / 25.0);
    assert_eq!(of_bob["attacks"]["presence"]["protected"], false);
    assert!((audit["utility"]["rce"].as_f64().unwrap() - 7.49).abs() < 0.005, "{audit}");
    assert!((audit["utility"]["rce_bound"].as_f64().unwrap() - 7.434).abs() < 0.0005, "{audit}");
    // Of all nine people, those of the second group are linked with the highest probability: one of four has their age,
    // two of four their sex.
    assert_eq!(audit["attacks"]["presence"]["delta"], 1.0 / 8.0);
}

/// At 31 or 50, a person is in one group of each release; at 30, both crossing groups are possible, whatever the sex.
#[test]
fn two_permuted_releases_are_intersected_and_swapped_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let people = ["30,M,flu,100,1,1", "31,M,cold,200,1,2", "50,F,asthma,300,2,1", "30,F,gastritis,400,2,2"];
    fs::write(folder.join("data.csv"), format!("age,sex,disease,cost,g,across\n{}\n", people.join("\n"))).unwrap();
    for (name, method) in [("one", "permute"), ("boxes", "generalize"), ("two", "permute")] {
        let group = if name == "two" { "across" } else { "g" };
        let roles = "--quasi age,sex --sensitive disease --partitioner column --require l=2";
        run(folder, &format!("publish data.csv {roles} --method {method} --group-column {group} --out {name}"))
            .expect(0);
    }
    for name in ["one", "boxes"] {
        let audit =
            run(folder, &format!("audit {name} --with two --microdata data.csv --output json")).expect(4).json();
        let attack = &audit["attacks"]["intersection"][0];
        assert_eq!((attack["fewest"].as_u64(), attack["narrowed"].as_u64()), (Some(1), Some(2)), "{name}: {attack}");
        run(folder, &format!("audit {name} --with {name} --microdata data.csv")).expect(0);
    }
    let swap = "--quasi age,sex --sensitive cost --method rank-swap --require ke=2,1 --out swapped";
    run(folder, &format!("publish data.csv {swap}")).expect(0);
    let refused = run(folder, "audit one --with swapped").expect(2).stderr;
    assert!(refused.contains("may show people the values of others"), "{refused}");
}

/// Every group lacks one of four diseases, a different one for each person in each release.
#[test]
fn all_releases_named_are_intersected_together() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let group = |value: u32, copy: u32, release: u32| (value + 1 + (copy + release) % 3) % 4;
    let person = |at: u32| {
        let (value, copy) = (at / 3, at % 3);
        let [a, b, c] = [0, 1, 2].map(|release| group(value, copy, release));
        format!("{},d{value},c{at},{a},{b},{c}\n", 20 + at)
    };
    let people: String = (0..12).map(person).collect();
    fs::write(folder.join("data.csv"), format!("age,disease,cost,a,b,c\n{people}")).unwrap();
    let publish = |arguments: &str| run(folder, &format!("publish data.csv --quasi age {arguments}")).expect(0);
    for name in ["a", "b", "c"] {
        let group = format!("--partitioner column --group-column {name} --out {name}");
        publish(&format!("--sensitive disease --method anatomy --require distinct-l=2 {group}"));
    }
    run(folder, "audit a --with b --microdata data.csv").expect(0);
    run(folder, "audit a --with c").expect(0);
    for microdata in ["", " --microdata data.csv"] {
        let audit = run(folder, &format!("audit a --with b --with c{microdata} --output json")).expect(4).json();
        let found = &audit["attacks"]["intersection"];
        assert_eq!(found.as_array().unwrap().len(), 3);
        assert_eq!((found[1]["fewest"].as_u64(), found[1]["with"].as_str()), (Some(2), Some("c")));
        assert_eq!((found[2]["fewest"].as_u64(), found[2]["with"].as_str()), (Some(1), Some("b and c")));
    }
    publish("--sensitive cost --method anatomy --require l=2 --out costs");
    let refused = run(folder, "audit a --with costs --microdata data.csv").expect(2).stderr;
    assert!(refused.contains("costs protects `cost`"), "{refused}");
    // Without a sensitive column, people are counted.
    publish("--method generalize --require k=3 --out threes");
    publish("--method generalize --require k=4 --out fours");
    let refused = run(folder, "audit threes --with fours").expect(2).stderr;
    assert!(refused.contains("no sensitive column") && refused.contains("--microdata"), "{refused}");
    run(folder, "audit threes --with threes --microdata data.csv").expect(0);
    let said = run(folder, "audit threes --with fours --microdata data.csv").expect(4).stdout;
    assert!(said.contains("people of the microdata hide among fewer people than promised"), "{said}");
}

/// Everyone keeps two possible values, but for two people one of them holds in 36 of the 45 possible worlds.
#[test]
fn bets_on_shares_fail_an_audit_that_leaves_enough_values() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let people = ["b,1,1", "b,1,2", "d,1,1", "c,1,1", "b,2,1", "a,2,2", "b,2,2", "d,2,2"];
    let people: String = (20..).zip(people).map(|(age, rest)| format!("{age},{rest}\n")).collect();
    fs::write(folder.join("data.csv"), format!("age,disease,g,h\n{people}")).unwrap();
    for (name, method) in [("g", "anatomy"), ("h", "anatomy"), ("boxes", "generalize")] {
        let group = if name == "h" { "h" } else { "g" };
        let roles = "--quasi age --sensitive disease --partitioner column --require l=2";
        run(folder, &format!("publish data.csv {roles} --method {method} --group-column {group} --out {name}"))
            .expect(0);
    }
    let audit = run(folder, "audit g --with h --microdata data.csv --output json").expect(4).json();
    let found = &audit["attacks"]["intersection"][0];
    assert_eq!((found["fewest"].as_u64(), found["narrowed"].as_u64()), (Some(2), Some(0)), "{found}");
    let expected = serde_json::json!({
        "share_promised": 0.5, "largest_share": 0.8, "people_above": 2, "bets_right": 2, "exact": true, "people_counted": 8,
        "people_estimated": 0, "people_impossible": 0, "shares_not_counted": null,
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(found[field], *value, "{field} in {found}");
    }
    let said = run(folder, "audit g --with h --microdata data.csv").expect(4).stdout;
    assert!(said.contains("2 of 8 people of the microdata a bet is better than promised"), "{said}");
    // Rows of exact values are people; nobody knows who is behind ranges.
    let audit = run(folder, "audit g --with h --output json").expect(4).json();
    let found = &audit["attacks"]["intersection"][0];
    assert_eq!((found["people_above"].as_u64(), found["bets_right"].is_null()), (Some(2), true), "{found}");
    let audit = run(folder, "audit boxes --with boxes --output json").expect(0).json();
    let found = &audit["attacks"]["intersection"][0];
    assert!(["largest_share", "people_above", "exact"].iter().all(|field| found[*field].is_null()), "{found}");
    assert!(found["shares_not_counted"].as_str().unwrap().contains("nobody knows who the people are"), "{found}");
}

#[test]
fn files_that_the_manifest_does_not_name_fail_the_audit() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("data.csv"), "age,disease\n20,flu\n30,cold\n").unwrap();
    run(folder, "publish data.csv --quasi age --sensitive disease --method anatomy --require l=2 --out release")
        .expect(0);
    run(folder, "audit release").expect(0);
    fs::copy(folder.join("data.csv"), folder.join("release/microdata.csv")).unwrap();
    fs::create_dir(folder.join("release/.old")).unwrap();
    let audit = run(folder, "audit release --output json").expect(4).json();
    let check = audit["checks"].as_array().unwrap().iter().find(|check| check["name"] == "files").unwrap();
    assert_eq!(check["detail"], "the folder holds 2 files that the manifest does not name: .old/, microdata.csv");
}

#[test]
fn pa_table_1_in_anatomy_shows_everybody_and_links_nobody_above_one_fourth() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = "--quasi age,sex --sensitive disease --method anatomy --partitioner column --group-column group_id --require l=4";
    let audit = published(folder.path(), "pa/table-1.csv", arguments);
    assert_eq!(audit["attacks"]["linking"]["confidence"], 0.25);
    assert_eq!(audit["attacks"]["presence"]["delta"], 1.0);
    assert_eq!(rows(folder.path(), "qit.csv").len(), 9);
    assert_eq!(rows(folder.path(), "st.csv").iter().map(|row| row["count"].parse::<u32>().unwrap()).sum::<u32>(), 9);
}

#[test]
fn ke_figure_1_shuffled_has_the_help_table_of_figure_4() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = "--quasi age,zipcode,gender --sensitive salary --method shuffle --partitioner column --group-column group_id --require ke=3,2000";
    published(folder.path(), "ke/figure-1.csv", arguments);
    let mut ours: Vec<String> = rows(folder.path(), "help.csv")
        .iter()
        .map(|row| ["hits", "sum_lb", "sum_ub", "min_lb", "min_ub"].map(|column| row[column].as_str()).join(","))
        .collect();
    ours.sort();
    let printed = include_str!("../../chrysalis-testkit/papers/ke/figure-4-help.csv");
    let mut printed: Vec<String> =
        printed.lines().skip(1).map(|line| line.split_once(',').unwrap().1.to_owned()).collect();
    printed.sort();
    assert_eq!(ours, printed);
}

/// What a help table says about extremes spans hundreds of orders of magnitude; the audit recomputes it in another way.
#[test]
fn a_shuffled_release_passes_its_audit_whatever_its_values() {
    let numbers =
        |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|number| format!("{number:e}")).collect::<Vec<_>>();
    let zeros = |n: usize| std::iter::repeat_n(0.0, n);
    let count = |n: u32| (1..=n).map(f64::from);
    let tables = [
        ("half zeros", 71, numbers(&mut zeros(70).chain(count(70)))),
        ("half zeros above", 101, numbers(&mut zeros(100).chain(count(100).map(|number| -number)))),
        ("many zeros of few values", 4, numbers(&mut zeros(2000).chain(count(2000).map(|number| number % 3.0 + 1.0)))),
        ("two far ranges", 200, numbers(&mut count(100).chain(count(100).map(|number| 1e13 + number)))),
        ("one and huge", 60, numbers(&mut count(1).chain(count(60).map(|number| 1e9 + number)))),
        ("reals side by side", 30, numbers(&mut count(40).map(|number| 1e9 + number / 1e6))),
        ("tiny", 10, numbers(&mut count(30).map(|number| number * 1e-157))),
        ("large", 10, numbers(&mut count(30).map(|number| number * 1e148))),
    ];
    for (name, k, values) in tables {
        let folder = tempfile::tempdir().unwrap();
        let lines = values.iter().enumerate().map(|(at, value)| format!("{},{value}\n", at % 7));
        fs::write(folder.path().join("data.csv"), format!("a,pay\n{}", lines.collect::<String>())).unwrap();
        let publish =
            format!("publish data.csv --quasi a --sensitive pay --method shuffle --require ke={k},0 --out release");
        let outcome = run(folder.path(), &publish);
        assert_eq!(outcome.code, Some(0), "{name}: {}", outcome.stderr);
        let audit = run(folder.path(), "audit release --microdata data.csv");
        assert_eq!(audit.code, Some(0), "{name}: {}{}", audit.stdout, audit.stderr);
    }
}

#[test]
fn ke_multiset_has_largest_ranges_5_7_and_7() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), "q,value\n1,1\n2,2\n3,3\n4,5\n5,5\n6,6\n7,6\n8,8\n").unwrap();
    for (partitioner, expected) in [("min-max-exact", 5), ("min-max", 7), ("min-sum", 7)] {
        let line = format!(
            "publish data.csv --quasi q --sensitive value --method shuffle --partitioner {partitioner} --require ke=4,5 --out release --force --format csv"
        );
        let outcome = run(folder.path(), &line);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        let mut ranges: BTreeMap<String, (i64, i64)> = BTreeMap::new();
        for row in rows(folder.path(), "permuted.csv") {
            let value: i64 = row["value"].parse().unwrap();
            let range = ranges.entry(row["group_id"].clone()).or_insert((value, value));
            *range = (range.0.min(value), range.1.max(value));
        }
        assert_eq!(ranges.values().map(|(low, high)| high - low).max(), Some(expected), "{partitioner}");
        assert_eq!(run(folder.path(), "audit release --microdata data.csv").code, Some(0));
    }
}

#[test]
fn what_a_form_cannot_show_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), "q,s,n\n1,a,1\n2,b,2\n3,a,3\n4,b,\n").unwrap();
    let check = |arguments: &str, code: i32, message: &str| {
        let outcome = run(folder.path(), &format!("publish data.csv {arguments} --out release"));
        assert_eq!(outcome.code, Some(code), "{arguments}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{arguments}: {}", outcome.stderr);
        assert!(!folder.path().join("release").exists());
    };
    check(
        "--quasi q --sensitive s --method shuffle --require k=2",
        2,
        "shuffle needs a numeric sensitive column, but `s` is category",
    );
    check("--quasi q --sensitive n --method shuffle --require k=2", 2, "shuffle cannot use rows whose `n` is missing");
    check("--quasi q --sensitive s --method shuffle --require ke=2,1", 2, "`ke=2,1` needs a numeric sensitive column");
    check("--quasi q --method anatomy --require k=2", 2, "no sensitive column is named");
    check("--quasi q --sensitive s --other n --method permute --require k=2", 2, "leave --other out");
    check("--quasi q --sensitive s --method anatomy --require l=3", 3, "value `a` of `s` has 2 of 4 rows (50.00 %)");
    check("--quasi q --sensitive s --method rank-swap --require k=2", 2, "rank-swap needs a numeric sensitive column");
}

#[test]
fn reals_of_seventeen_digits_come_back_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let rows = (0..500).map(|row| format!("{},{}\n", row % 50, f64::from(row + 2).ln() / 3.0));
    fs::write(folder.path().join("data.csv"), format!("age,cost\n{}", rows.collect::<String>())).unwrap();
    for arguments in
        ["--method generalize --require k=5", "--method anatomy --require l=5", "--method shuffle --require ke=5,0"]
    {
        let line = format!("publish data.csv --quasi age --sensitive cost {arguments} --out release --force");
        run(folder.path(), &line).expect(0);
        run(folder.path(), "audit release --microdata data.csv").expect(0);
        // Half of the people: sums are rounded, and the bounds allow for it.
        let answer =
            run(folder.path(), "query release \"SELECT SUM(cost) FROM microdata WHERE age < 25\" --output json");
        let sum = &answer.expect(0).json()["rows"][0]["aggregates"][0];
        assert!(sum["lower"].as_f64().unwrap() < sum["upper"].as_f64().unwrap(), "{arguments}: {sum}");
    }
}

#[test]
fn sums_of_numbers_that_no_double_holds_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (name, value) in [("whole", "9007199254740993"), ("real", "1.5e200")] {
        let rows = (0..40).map(|row| format!("{row},{}\n", if row == 7 { value } else { "12" }));
        fs::write(folder.path().join("data.csv"), format!("age,cost\n{}", rows.collect::<String>())).unwrap();
        run(folder.path(), "publish data.csv --quasi age --sensitive cost --require k=5 --out release --force")
            .expect(0);
        for function in ["SUM", "AVG", "MIN", "MAX"] {
            let outcome = run(folder.path(), &format!("query release \"SELECT {function}(cost) FROM microdata\""));
            assert!(outcome.expect(2).stderr.contains("has larger ones"), "{name} {function}");
        }
        run(folder.path(), "query release \"SELECT COUNT(*) FROM microdata WHERE cost > 100\"").expect(0);
    }
}

#[test]
fn a_release_that_was_not_permuted_is_told_from_one_that_was() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let cost = |age: u32| age * 7 % 100;
    let rows = (0..400).map(|age| format!("{age},{},{}\n", age % 20, cost(age)));
    fs::write(folder.join("data.csv"), format!("age,ward,cost\n{}", rows.collect::<String>())).unwrap();
    run(folder, "publish data.csv --quasi age,ward --sensitive cost --method shuffle --require ke=20,0 --out release --format csv")
        .expect(0);
    run(folder, "audit release --microdata data.csv").expect(0);
    // Every group keeps its people and its values, but everyone gets their own value.
    let release = common::Release::at(folder.join("release"));
    let mut cells = release.cells("permuted.csv");
    let place = |name: &str| cells[0].iter().position(|column| column == name).unwrap();
    let (age, shown) = (place("age"), place("cost"));
    for row in &mut cells[1..] {
        row[shown] = cost(row[age].parse().unwrap()).to_string();
    }
    release.forge("permuted.csv", common::to_csv(&cells).as_bytes());
    let outcome = run(folder, "audit release --microdata data.csv").expect(4);
    assert!(
        outcome
            .stdout
            .contains("400 of 400 rows show `cost` as their own person has it, where a random permutation shows"),
        "{}",
        outcome.stdout
    );
    run(folder, "audit release").expect(0);
}

//! Larger tables: what releases show of their groups, recounted from the microdata. A sensitive column `stamp`, which is
//! different in every row, says which rows are in which group, in every form.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use chrysalis::{Fault, Published};
use chrysalis_criteria::{PrincipleSpec, Weights};
use chrysalis_release::Unit;
use chrysalis_testkit::oracle::{RowsOfPerson, holds_of_persons};
use chrysalis_testkit::strategies::fixed;
use chrysalis_testkit::{SensitiveColumn, sampled};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::common::{Dice, Group, Row, groups, published, table};

/// How a table is published.
#[derive(Clone, Debug)]
struct Way {
    method: &'static str,
    partitioner: Option<&'static str>,
    rows_known: bool,
    /// What is required of the diseases, or of the stamps if it is `ke`.
    principle: &'static str,
    k: u64,
}

const PRINCIPLES: [&str; 17] = [
    "distinct-l=2",
    "distinct-l=4",
    "l=2",
    "l=3",
    "l=1.5",
    "entropy-l=2",
    "entropy-l=2.5",
    "recursive-l=2,2",
    "recursive-l=1,3",
    "t=0.4",
    "t=0.7",
    "alpha-k=0.6,4",
    "beta=1",
    "distinct-l-alpha=3,1",
    "entropy-l-alpha=2,1",
    "recursive-l-alpha=2,2,1",
    "ke=4,10",
];

const PARTITIONERS: [&str; 7] = ["compact", "mondrian", "top-down", "nearby", "anatomize", "similar", "sequential"];

fn ways() -> impl Strategy<Value = Way> {
    let method = prop::sample::select(vec!["generalize", "generalize", "anatomy", "permute", "angel"]);
    let partitioner = prop::option::of(prop::sample::select(PARTITIONERS.to_vec()));
    let principle = prop::sample::select(PRINCIPLES.to_vec());
    (method, partitioner, any::<bool>(), principle, 2..6_u64).prop_map(
        |(method, partitioner, rows_known, principle, k)| Way {
            method,
            partitioner,
            rows_known: rows_known || method != "generalize",
            principle,
            k,
        },
    )
}

/// Persons with up to three rows; most of them stay where they are, and some grow older between rows.
fn people() -> impl Strategy<Value = Vec<Row>> {
    let row = (0..7_usize, 0..10_i64);
    let person = (0..40_i64, 0..4_i64, prop::collection::vec(row, 1..=3));
    let shape = prop::sample::select(vec![1_usize, 3]);
    (prop::collection::vec(person, 8..36), shape).prop_map(|(persons, most)| {
        let mut rows: Vec<Row> = Vec::new();
        for (person, (age, zone, own)) in persons.into_iter().enumerate() {
            let mut age = age;
            for (disease, older) in own.into_iter().take(most) {
                age += (older - 6).max(0);
                let number = Some(7 * rows.len() as i64);
                rows.push(Row { person, quasi: vec![age, zone], words: vec![format!("d{disease}")], number });
            }
        }
        rows
    })
}

fn categories(rows: &[Row]) -> Vec<Vec<String>> {
    let words: BTreeSet<&String> = rows.iter().map(|row| &row.words[0]).collect();
    let words: Vec<String> = words.into_iter().cloned().collect();
    let (first, second) = words.split_at(words.len() / 2);
    vec![first.to_vec(), second.to_vec()]
}

fn draft(rows: &[Row], way: &Way) -> Value {
    let about = if way.principle.starts_with("ke") { "stamp" } else { "disease" };
    let mut draft = json!({
        "person": "id", "quasi": ["age", "zone"], "sensitive": ["disease", "stamp"], "attributes": {},
        "release": {
            "method": way.method, "partitioner": way.partitioner,
            "require": [format!("k={}", way.k), format!("{about}:{}", way.principle)],
        },
    });
    if about == "disease" {
        draft["attributes"]["stamp"] = json!({"near": 1});
    }
    if way.principle.contains("-l-alpha") {
        draft["attributes"]["disease"] = json!({"categories": categories(rows), "weights": "uniform"});
    }
    if way.method == "generalize" && way.rows_known {
        draft["rows_known"] = json!(true);
    }
    draft
}

/// The rows of every group, by what the stamps say.
fn members<'a>(rows: &'a [Row], found: &BTreeMap<String, Group>) -> Vec<(Group, Vec<&'a Row>)> {
    let by_stamp: BTreeMap<String, &Row> = rows.iter().map(|row| (row.number.unwrap().to_string(), row)).collect();
    let of_group = |group: &Group| group.values["stamp"].keys().map(|stamp| by_stamp[stamp]).collect::<Vec<_>>();
    found.values().map(|group| (group.clone(), of_group(group))).collect()
}

fn persons_of(rows: &[&Row]) -> BTreeMap<usize, usize> {
    let mut persons = BTreeMap::new();
    rows.iter().for_each(|row| *persons.entry(row.person).or_default() += 1);
    persons
}

/// Recounts everything that does not depend on the principle.
fn check_groups(rows: &[Row], way: &Way, made: &Published) {
    let release = &made.release;
    let found = groups(release, &["age", "zone"], &["disease", "stamp"]);
    let members = members(rows, &found);
    assert_eq!(members.iter().map(|it| it.1.len()).sum::<usize>(), rows.len(), "every row is in one group");
    let everybody: Vec<usize> = members.iter().flat_map(|it| persons_of(&it.1).into_keys()).collect();
    let different: BTreeSet<usize> = everybody.iter().copied().collect();
    assert_eq!(everybody.len(), different.len(), "everybody is in one group");
    let shown: u64 = members.iter().map(|it| it.0.persons.unwrap()).sum();
    assert_eq!((shown, different.len() as u64), (different.len() as u64, release.manifest.persons.unwrap().count));
    let sizes = members.iter().map(|it| persons_of(&it.1).len() as u64);
    let report = made.report.persons.unwrap();
    assert_eq!(Some(report.fewest_persons), sizes.clone().min());
    assert_eq!(Some(report.most_persons), sizes.max());
    assert_eq!((report.rows_known, report.persons), (way.rows_known, different.len() as u64));
    for (group, own) in &members {
        let persons = persons_of(own);
        assert_eq!(group.persons, Some(persons.len() as u64));
        if way.method != "angel" {
            assert!(persons.len() as u64 >= way.k);
        }
        let numbers: BTreeSet<&usize> = persons.values().collect();
        assert!(!way.rows_known || numbers.len() == 1, "{numbers:?} rows in one group");
        let is_told = way.rows_known && way.method != "generalize";
        for (name, shown) in &group.values {
            for (value, &(count, told)) in shown {
                let has = |row: &&&Row| match name.as_str() {
                    "stamp" => row.number.unwrap().to_string() == *value,
                    _ => row.words[0] == *value,
                };
                let having: Vec<&Row> = own.iter().filter(has).copied().collect();
                assert_eq!(count, having.len() as u64, "{name} {value}");
                assert_eq!(told, is_told.then_some(persons_of(&having).len() as u64), "{name} {value}");
            }
        }
        check_quasi(way, group, own);
    }
    if way.method == "angel" {
        check_buckets(rows, way, &found);
    }
}

/// Quasi values are what they are, or lie within what is shown.
fn check_quasi(way: &Way, group: &Group, own: &[&Row]) {
    let sorted = |mut it: Vec<Vec<i64>>| {
        it.sort_unstable();
        it
    };
    match way.method {
        "anatomy" => {
            let shown = group.rows.iter().map(|row| row.iter().map(|range| range.0).collect()).collect();
            assert_eq!(sorted(shown), sorted(own.iter().map(|row| row.quasi.clone()).collect()));
        }
        "permute" => {
            for at in 0..2 {
                let shown = group.rows.iter().map(|row| vec![row[at].0]).collect();
                assert_eq!(sorted(shown), sorted(own.iter().map(|row| vec![row.quasi[at]]).collect()));
            }
        }
        "generalize" => {
            for row in &group.rows {
                assert_eq!(*row, group.rows[0], "one box for a group");
                for (at, &(low, high)) in row.iter().enumerate() {
                    assert!(own.iter().all(|row| (low..=high).contains(&row.quasi[at])));
                }
            }
        }
        _ => assert_eq!(group.rows.len(), own.len()),
    }
}

/// Buckets of angel: as many rows as there are lie in every box, of at least k persons all of whose rows do.
fn check_buckets(rows: &[Row], way: &Way, found: &BTreeMap<String, Group>) {
    let mut buckets: BTreeMap<Vec<(i64, i64)>, usize> = BTreeMap::new();
    found.values().flat_map(|group| &group.rows).for_each(|row| *buckets.entry(row.clone()).or_default() += 1);
    let lies = |row: &Row, of: &[(i64, i64)]| {
        of.iter().zip(&row.quasi).all(|(&(low, high), number)| (low..=high).contains(number))
    };
    for (ranges, n_rows) in buckets {
        let own: Vec<&Row> = rows.iter().filter(|row| lies(row, &ranges)).collect();
        assert!(own.len() >= n_rows);
        let whole = persons_of(&own)
            .into_iter()
            .filter(|&(person, n)| rows.iter().filter(|row| row.person == person).count() == n);
        assert!(whole.count() as u64 >= way.k, "{ranges:?}");
    }
}

/// Whether every group satisfies what was required, by the definition.
fn check_principle(rows: &[Row], way: &Way, made: &Published) {
    let release = &made.release;
    let table = table(rows);
    let about = if way.principle.starts_with("ke") { "stamp" } else { "disease" };
    let spec: PrincipleSpec = way.principle.parse().unwrap();
    let column = table.column(about).unwrap();
    let mut of_column = SensitiveColumn::of(column);
    if way.principle.contains("-l-alpha") {
        of_column = of_column.with_categories(categories(rows), Weights::Uniform);
    }
    let codes = |own: &dyn Fn(&Row) -> bool| -> Vec<RowsOfPerson> {
        let mut persons: BTreeMap<usize, RowsOfPerson> = BTreeMap::new();
        for (at, row) in rows.iter().enumerate().filter(|(_, row)| own(row)) {
            persons.entry(row.person).or_default().push(column.code(at));
        }
        persons.into_values().collect()
    };
    let all = codes(&|_| true);
    let shows_persons = way.rows_known && way.method != "generalize";
    for (_, own) in members(rows, &groups(release, &["age", "zone"], &["stamp"])) {
        let persons = persons_of(&own);
        let group = codes(&|row| persons.contains_key(&row.person));
        assert!(holds_of_persons(&spec, &of_column, &all, &group, shows_persons), "{way:?} {group:?}");
    }
    let promises = &release.manifest.promises;
    assert!(promises.iter().all(|promise| promise.unit() == Unit::Persons));
    assert!(promises.iter().any(|promise| *promise.principle() == spec && promise.about() == Some(about)));
}

#[test]
fn releases_show_what_is_true_and_keep_what_they_promise() {
    let cases = sampled(900, 20_000);
    let (n_made, n_tried) = (Cell::new(0), Cell::new(0));
    let strategy = (people(), ways(), any::<u64>());
    let run = TestRunner::new(fixed(cases)).run(&strategy, |(rows, way, seed)| {
        n_tried.set(n_tried.get() + 1);
        match published(&table(&rows), &draft(&rows, &way), seed) {
            Ok(made) => {
                n_made.set(n_made.get() + 1);
                check_groups(&rows, &way, &made);
                check_principle(&rows, &way, &made);
            }
            Err(error) => prop_assert_eq!(error.fault, Fault::Infeasible, "{}: {}", error, error.remedy),
        }
        Ok(())
    });
    eprintln!("{} of {} tables were published", n_made.get(), n_tried.get());
    run.unwrap();
    assert!(3 * n_made.get() > n_tried.get(), "{} of {} tables test little", n_made.get(), n_tried.get());
}

fn many(seed: u64, n_persons: usize) -> Vec<Row> {
    let mut dice = Dice(seed);
    let mut rows: Vec<Row> = Vec::new();
    for person in 0..n_persons {
        let (age, zone) = (dice.below(50) as i64, dice.below(4) as i64);
        for older in 0..1 + dice.below(3) as i64 {
            let number = Some(7 * rows.len() as i64);
            rows.push(Row {
                person,
                quasi: vec![age + older, zone],
                words: vec![format!("d{}", dice.below(9))],
                number,
            });
        }
    }
    rows
}

/// Every partitioner under every form that takes it, so that none is left out by chance.
#[test]
fn every_partitioner_forms_groups_of_persons() {
    let rows = many(5, 200);
    for partitioner in PARTITIONERS {
        for (method, rows_known) in
            [("generalize", false), ("generalize", true), ("anatomy", true), ("permute", true), ("angel", true)]
        {
            let way = Way { method, partitioner: Some(partitioner), rows_known, principle: "l=2", k: 3 };
            let made =
                published(&table(&rows), &draft(&rows, &way), 2).unwrap_or_else(|error| panic!("{way:?} {error}"));
            check_groups(&rows, &way, &made);
            check_principle(&rows, &way, &made);
            assert!(made.release.manifest.groups > 3, "{way:?}: {} groups", made.release.manifest.groups);
        }
    }
}

/// Batches are improved by exchanging persons, which must not bring together who has different numbers of rows: a person
/// with the only three rows of a batch would be known by them.
#[test]
fn batches_of_angel_hold_persons_with_equally_many_rows() {
    for seed in 0..5 {
        let rows = many(20 + seed, 150);
        for principle in ["l=2", "l=1.5", "alpha-k=0.5,4"] {
            let way = Way { method: "angel", partitioner: None, rows_known: true, principle, k: 3 };
            let made = published(&table(&rows), &draft(&rows, &way), seed).unwrap_or_else(|error| panic!("{error}"));
            check_groups(&rows, &way, &made);
            check_principle(&rows, &way, &made);
        }
    }
}

/// Users of a butterfly: each sees classes of at least k persons, with all of their rows.
#[test]
fn butterflies_have_enough_persons_for_every_user() {
    let rows = many(6, 200);
    let draft = json!({
        "person": "id", "quasi": [["age"], ["zone"]], "sensitive": ["stamp"], "attributes": {"stamp": {"near": 1}},
        "release": {"method": "butterfly", "require": ["k=6", "distinct-l=6"]},
    });
    let made = published(&table(&rows), &draft, 2).unwrap();
    let shown = &made.release.tables[0];
    let by_stamp: BTreeMap<String, &Row> = rows.iter().map(|row| (row.number.unwrap().to_string(), row)).collect();
    for user in ["age", "zone"] {
        let at = usize::from(user == "zone");
        let mut classes: BTreeMap<(i64, i64), Vec<&Row>> = BTreeMap::new();
        for row in 0..shown.rows() {
            let cell = |name: &str| crate::common::text(shown.column(name).unwrap(), row);
            let end = |end: &str| cell(&format!("{user}_{end}")).parse::<i64>().unwrap();
            classes.entry((end("min"), end("max"))).or_default().push(by_stamp[&cell("stamp")]);
        }
        for ((low, high), own) in classes {
            let persons = persons_of(&own);
            assert!(persons.len() >= 6, "{user} {low} to {high}: {} persons", persons.len());
            let whole = |(person, n): (&usize, &usize)| rows.iter().filter(|row| row.person == *person).count() == *n;
            assert!(persons.iter().all(whole), "{user} {low} to {high} tears persons apart");
            assert!(own.iter().all(|row| (low..=high).contains(&row.quasi[at])));
        }
    }
    let counted = made.release.table("groups").unwrap();
    let counts = counted.column("persons").unwrap();
    assert_eq!((0..counted.rows()).map(|row| crate::common::number(counts, row)).sum::<i64>(), 200);
}

/// Values that stand beside exact rows: persons with equally many rows share a group, and every row may be anybody's.
#[test]
fn shuffled_numbers_stay_among_enough_persons() {
    let rows = many(8, 200);
    for partitioner in ["min-sum", "min-max", "min-max-exact", "max-groups", "compact", "nearby"] {
        let draft = json!({
            "person": "id", "quasi": ["age", "zone"], "sensitive": ["stamp"],
            "release": {"method": "shuffle", "require": ["k=4", "ke=4,10"], "partitioner": partitioner},
        });
        let made = published(&table(&rows), &draft, 2);
        if partitioner.starts_with('m') && partitioner != "min-sum" {
            let expected = format!(
                "`{partitioner}` sorts rows by one sensitive column: it takes neither several of them nor persons with \
                 several rows"
            );
            assert_eq!(made.unwrap_err().message, expected);
            continue;
        }
        let made = made.unwrap();
        for (group, own) in members(&rows, &groups(&made.release, &["age", "zone"], &["stamp"])) {
            let persons = persons_of(&own);
            assert!(persons.len() >= 4 && group.persons == Some(persons.len() as u64));
            assert_eq!(persons.values().collect::<BTreeSet<_>>().len(), 1);
            let stamps: Vec<i64> = own.iter().filter_map(|row| row.number).collect();
            assert!(stamps.iter().max().unwrap() - stamps.iter().min().unwrap() >= 10);
        }
    }
}

/// The order of the input plays no part: the same rows in another order form the same groups.
#[test]
fn the_order_of_rows_plays_no_part() {
    let rows = many(9, 120);
    let mut dice = Dice(4);
    for (method, rows_known) in [("generalize", false), ("generalize", true), ("anatomy", true), ("permute", true)] {
        let way = Way { method, partitioner: None, rows_known, principle: "l=2", k: 3 };
        let groups_of = |rows: &[Row], seed: u64| {
            let made = published(&table(rows), &draft(rows, &way), seed).unwrap();
            check_groups(rows, &way, &made);
            check_principle(rows, &way, &made);
            let found = groups(&made.release, &["age", "zone"], &["disease", "stamp"]);
            let mut sets: Vec<Vec<String>> =
                found.values().map(|group| group.values["stamp"].keys().cloned().collect()).collect();
            sets.sort();
            (sets, made.report.ncp)
        };
        for seed in 0..6 {
            let mut shuffled = rows.clone();
            (1..rows.len()).rev().for_each(|at| shuffled.swap(at, dice.below(at + 1)));
            let ((one, ncp), (other, of_other)) = (groups_of(&rows, seed), groups_of(&shuffled, seed));
            assert_eq!(one, other, "{way:?}");
            assert!((ncp - of_other).abs() <= 1e-9, "{way:?}: loss {ncp} and {of_other}");
        }
    }
}

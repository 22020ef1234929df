//! Small tables, published, and all worlds that the releases allow.
//!
//! A world hands the published values of a group to its persons so that the tables show what they show: `count` and, where
//! there is one, `persons` of every value, `groups.persons`, and as many rows of each person as the reader knows. Nobody
//! may have a value in a larger share of the worlds than the promise allows.

use std::collections::BTreeMap;

use chrysalis::{Fault, Published, Release};
use chrysalis_testkit::oracle::{Odds, RowsOf, ValueShown, worlds_of_persons};
use chrysalis_testkit::sampled;
use serde_json::{Value, json};

use crate::common::{Dice, Group, QUASI, Row, WORDS, groups, published, table};

/// How a table is published.
#[derive(Clone, Copy, Debug)]
struct Way {
    method: &'static str,
    rows_known: bool,
}

const WAYS: [Way; 4] = [
    Way { method: "anatomy", rows_known: true },
    Way { method: "permute", rows_known: true },
    Way { method: "generalize", rows_known: false },
    Way { method: "generalize", rows_known: true },
];

/// What is promised of every sensitive column: at least that many persons, and the largest share of worlds, as a
/// fraction. A share of one is what may never be, except for ordinary values.
const PROMISES: [(&str, u64, (u128, u128)); 5] = [
    ("l=2", 2, (1, 2)),
    ("distinct-l=2", 2, (1, 1)),
    ("k=2", 2, (1, 1)),
    ("alpha-k=0.5,3", 3, (1, 2)),
    ("l=1.5", 2, (2, 3)),
];

fn draft(rows: &[Row], way: Way, require: &str) -> Value {
    let mut draft = json!({
        "person": "id", "quasi": QUASI[..rows[0].quasi.len()], "sensitive": WORDS[..rows[0].words.len()],
        "release": {"method": way.method, "require": [require]},
    });
    if way.method == "generalize" && way.rows_known {
        draft["rows_known"] = json!(true);
    }
    draft
}

/// The rows of every person.
fn by_person(rows: &[Row]) -> Vec<Vec<&Row>> {
    let mut persons: BTreeMap<usize, Vec<&Row>> = BTreeMap::new();
    rows.iter().for_each(|row| persons.entry(row.person).or_default().push(row));
    persons.into_values().collect()
}

/// Whether these persons would give what is shown of a group.
fn is_shown(group: &Group, persons: &[&Vec<&Row>], is_exact: bool) -> bool {
    let rows: Vec<&Row> = persons.iter().flat_map(|person| person.iter().copied()).collect();
    let of_values = |(name, shown): (&String, &BTreeMap<String, (u64, Option<u64>)>)| {
        let at = WORDS.iter().position(|word| word == name).unwrap();
        let count = |value: &String| rows.iter().filter(|row| row.words[at] == *value).count() as u64;
        let having = |value: &String| {
            persons.iter().filter(|person| person.iter().any(|row| row.words[at] == *value)).count() as u64
        };
        shown.values().map(|it| it.0).sum::<u64>() == rows.len() as u64
            && shown.iter().all(|(value, &(n, persons))| {
                count(value) == n && persons.is_none_or(|persons| persons == having(value))
            })
    };
    let n_quasi = group.rows[0].len();
    let of_quasi = (0..n_quasi).all(|at| {
        let sorted = |mut numbers: Vec<i64>| {
            numbers.sort_unstable();
            numbers
        };
        let own = sorted(rows.iter().map(|row| row.quasi[at]).collect());
        let ranges: Vec<(i64, i64)> = group.rows.iter().map(|row| row[at]).collect();
        match is_exact {
            true => sorted(ranges.iter().map(|range| range.0).collect()) == own,
            false => {
                ranges.iter().all(|&(low, high)| low == ranges[0].0 && high == ranges[0].1)
                    && own.iter().all(|number| (ranges[0].0..=ranges[0].1).contains(number))
            }
        }
    });
    group.persons == Some(persons.len() as u64)
        && group.rows.len() == rows.len()
        && of_quasi
        && group.values.iter().all(of_values)
}

/// Whether persons can be put into groups as whole persons so that every group shows what it shows. `equal` asks for
/// equally many rows in a group.
fn has_true_world(groups: &[Group], persons: &[Vec<&Row>], is_exact: bool, equal: bool) -> bool {
    let mut place = vec![0; persons.len()];
    loop {
        let of_group = |at: usize| -> Vec<&Vec<&Row>> {
            persons.iter().zip(&place).filter(|(_, place)| **place == at).map(|it| it.0).collect()
        };
        let fits = |at: usize| {
            let own = of_group(at);
            is_shown(&groups[at], &own, is_exact) && (!equal || own.iter().all(|it| it.len() == own[0].len()))
        };
        if (0..groups.len()).all(fits) {
            return true;
        }
        let Some(at) = (0..place.len()).find(|&at| place[at] + 1 < groups.len()) else { return false };
        place[..at].fill(0);
        place[at] += 1;
    }
}

/// Everything that is wrong with a release.
fn check(rows: &[Row], way: Way, promise: (&str, u64, (u128, u128)), made: &Published) {
    let names = &WORDS[..rows[0].words.len()];
    let release = &made.release;
    let found: Vec<Group> = groups(release, &QUASI[..rows[0].quasi.len()], names).into_values().collect();
    let persons = by_person(rows);
    let say = || format!("{way:?} {promise:?}\n{rows:?}\n{found:?}");
    assert!(has_true_world(&found, &persons, way.method != "generalize", way.rows_known), "{}", say());
    assert_eq!(
        release.manifest.persons.map(|it| (it.count, it.rows_known)),
        Some((persons.len() as u64, way.rows_known))
    );
    let (_, least, (p, q)) = promise;
    for group in &found {
        let n_persons = group.persons.unwrap() as usize;
        assert!(n_persons as u64 >= least, "{}", say());
        let seen = match way.rows_known {
            false => RowsOf::Hidden(n_persons),
            true => {
                assert_eq!(group.rows.len() % n_persons, 0, "{}", say());
                RowsOf::Known(vec![group.rows.len() / n_persons; n_persons])
            }
        };
        for (at, name) in names.iter().enumerate() {
            let shown: Vec<(&String, ValueShown)> = group.values[*name]
                .iter()
                .map(|(value, &(count, persons))| {
                    (value, ValueShown { count: count as usize, persons: persons.map(|it| it as usize) })
                })
                .collect();
            // Persons are told only where rows can be counted, and then always.
            let is_told = way.rows_known && way.method != "generalize";
            assert!(shown.iter().all(|(_, value)| value.persons.is_some() == is_told), "{}", say());
            let worlds = worlds_of_persons(&seen, &shown.iter().map(|it| it.1).collect::<Vec<_>>());
            let mut all = [Odds::default(), Odds::default()];
            for odds in worlds.values() {
                all.iter_mut().zip(odds).for_each(|(all, odds)| all.merge(odds));
            }
            // Whoever knows how many rows persons have, but not which person, is no surer than promised either. That
            // everybody has a value may follow from numbers of rows that are not the true ones, so that certainty is
            // judged over all of them.
            let by_numbers = worlds.values().filter(|_| p < q);
            for odds in by_numbers.chain([&all]).flatten() {
                assert!(odds.worlds > 0 && odds.having.len() == n_persons, "{}", say());
                for (value, having) in (0..shown.len()).flat_map(|v| odds.having.iter().map(move |it| (v, it[v]))) {
                    let value = shown[value].0;
                    let is_ordinary = 2 * rows.iter().filter(|row| row.words[at] == *value).count() >= rows.len();
                    let is_kept = match p == q {
                        true => having < odds.worlds || is_ordinary,
                        false => having * q <= p * odds.worlds,
                    };
                    assert!(is_kept, "{value} of {name}: {having} of {} worlds\n{}", odds.worlds, say());
                }
            }
        }
    }
}

/// Publishes, and checks what was published. Refusals must be the data's fault.
fn tried(rows: &[Row], way: Way, promise: (&str, u64, (u128, u128)), seed: u64) -> bool {
    match published(&table(rows), &draft(rows, way, promise.0), seed) {
        Ok(made) => {
            check(rows, way, promise, &made);
            true
        }
        Err(error) => {
            let is_constant = error.message.starts_with("every row has the same value");
            assert!(error.fault == Fault::Infeasible || is_constant, "{error}\n{rows:?} {way:?} {promise:?}");
            false
        }
    }
}

fn word(value: usize) -> String {
    ["a", "b", "c", "d"][value].to_owned()
}

/// Numbers of rows that let persons share groups where rows can be counted.
const PAIRED: [&[usize]; 8] =
    [&[2, 2], &[3, 3], &[2, 2, 2], &[1, 1, 2, 2], &[1, 1, 1, 2, 2], &[1, 1, 1, 1], &[1, 1, 1, 1, 1], &[1, 1, 1, 3]];

/// A table of four to seven rows of two to five persons.
fn drawn(dice: &mut Dice, n_quasi: usize, n_words: usize) -> Vec<Row> {
    let mut whose: Vec<usize> = Vec::new();
    if dice.below(2) == 0 {
        let n_rows = 4 + dice.below(4);
        let n_persons = (n_rows / 2 + dice.below(n_rows - n_rows / 2)).clamp(2, 5);
        whose.extend((0..n_rows).map(|at| if at < n_persons { at } else { dice.below(n_persons) }));
    } else {
        let numbers = PAIRED[dice.below(PAIRED.len())];
        numbers.iter().enumerate().for_each(|(person, &n)| whose.extend(std::iter::repeat_n(person, n)));
    }
    let own: Vec<Vec<i64>> = (0..whose.len()).map(|_| (0..n_quasi).map(|_| dice.below(4) as i64).collect()).collect();
    let row = |person: usize| {
        let mut quasi = own[person].clone();
        if dice.below(3) == 0 {
            quasi[0] = dice.below(4) as i64;
        }
        let words = (0..n_words).map(|_| word(dice.below(4))).collect();
        Row { person, quasi, words, number: None }
    };
    whose.into_iter().map(row).collect()
}

#[test]
fn no_world_is_surer_than_promised_for_persons_drawn_at_random() {
    let n = sampled(500, 6_000);
    let mut dice = Dice(1);
    let mut tally: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for case in 0..n {
        let rows = drawn(&mut dice, 1 + case % 2, 1 + (case / 2) % 2);
        for way in WAYS {
            for promise in PROMISES {
                let is_made = tried(&rows, way, promise, case as u64);
                let counted = tally.entry(format!("{} {} {}", way.method, way.rows_known, promise.0)).or_default();
                *counted = (counted.0 + u64::from(is_made), counted.1 + 1);
            }
        }
    }
    eprintln!("published, of tried: {tally:?}");
    for (what, (made, tried)) in tally {
        assert!(made * 20 >= tried, "{what}: only {made} of {tried} tables were published, which tests little");
    }
}

/// Every way to give four rows to persons and values, everybody being of another age.
#[test]
fn no_world_is_surer_than_promised_in_any_table_of_four_rows() {
    let n_rows = sampled(4, 5);
    let mut n_made = 0;
    let mut whose = vec![0; n_rows];
    loop {
        // Persons are numbered in the order in which they come, so that no table occurs twice.
        let is_first = |at: usize| whose[at] <= whose[..at].iter().max().map_or(0, |most| most + 1);
        if (0..n_rows).all(is_first) && whose.iter().any(|&person| person > 0) {
            for values in 0..3_usize.pow(n_rows as u32) {
                let value = |at: usize| word(values / 3_usize.pow(at as u32) % 3);
                let row = |at: usize| Row {
                    person: whose[at],
                    quasi: vec![20 + whose[at] as i64],
                    words: vec![value(at)],
                    number: None,
                };
                let rows: Vec<Row> = (0..n_rows).map(row).collect();
                for way in WAYS {
                    n_made += u64::from(tried(&rows, way, PROMISES[0], values as u64));
                }
            }
        }
        let Some(at) = (0..n_rows).rev().find(|&at| whose[at] + 1 < n_rows) else { break };
        whose[at + 1..].fill(0);
        whose[at] += 1;
    }
    eprintln!("{n_made} releases");
    assert!(n_made > 300, "{n_made} releases test little");
}

/// The persons who are surer than one half of some value, if rows are what a release promises about: everybody's age is
/// different in every row, so that exact tables say in which groups a person is.
fn exposed(rows: &[Row], release: &Release) -> usize {
    let found: Vec<Group> = groups(release, &QUASI[..1], &WORDS[..1]).into_values().collect();
    let of_group = |group: &Group, person: usize| {
        let ages: Vec<i64> = rows.iter().filter(|row| row.person == person).map(|row| row.quasi[0]).collect();
        group.rows.iter().filter(|row| ages.contains(&row[0].0)).count()
    };
    let n_persons = by_person(rows).len();
    let is_exposed = |person: &usize| {
        // For every value, the share of worlds in which this person does not have it, a product over groups.
        let mut without: BTreeMap<&str, (u128, u128)> = BTreeMap::new();
        for group in &found {
            let present: Vec<usize> = (0..n_persons).filter(|&other| of_group(group, other) > 0).collect();
            let Some(own) = present.iter().position(|other| other == person) else { continue };
            let seen = RowsOf::Known(present.iter().map(|&other| of_group(group, other)).collect());
            let shown = &group.values[WORDS[0]];
            let counts: Vec<ValueShown> =
                shown.values().map(|it| ValueShown { count: it.0 as usize, persons: None }).collect();
            let worlds = worlds_of_persons(&seen, &counts);
            let odds = &worlds.values().next().unwrap()[1];
            for (value, having) in shown.keys().zip(&odds.having[own]) {
                let entry = without.entry(value).or_insert((1, 1));
                *entry = (entry.0 * (odds.worlds - having), entry.1 * odds.worlds);
            }
        }
        // More than half of the worlds have the value.
        without.values().any(|&(without, worlds)| 2 * without < worlds)
    };
    (0..n_persons).filter(is_exposed).count()
}

/// The same tables with promises about rows: some persons are then surer of, which this test is able to see; and none
/// is when the promises are about persons.
#[test]
fn promises_about_rows_expose_persons_and_promises_about_persons_do_not() {
    let mut dice = Dice(7);
    let (mut n_by_rows, mut n_exposed, mut n_by_persons) = (0, 0, 0);
    for case in 0..sampled(400, 4_000) {
        let mut rows = drawn(&mut dice, 1, 1);
        rows.iter_mut().enumerate().for_each(|(at, row)| row.quasi[0] = at as i64);
        let of_persons = draft(&rows, WAYS[0], "l=2");
        let mut of_rows = of_persons.clone();
        of_rows.as_object_mut().unwrap().remove("person");
        if let Ok(made) = published(&table(&rows), &of_rows, case) {
            n_by_rows += 1;
            n_exposed += usize::from(exposed(&rows, &made.release) > 0);
        }
        if let Ok(made) = published(&table(&rows), &of_persons, case) {
            n_by_persons += 1;
            // Readers now also know how many persons have a value; without that, everybody may have more.
            check(&rows, WAYS[0], PROMISES[0], &made);
        }
    }
    eprintln!("by rows {n_by_rows}, of which {n_exposed} expose somebody; by persons {n_by_persons}");
    assert!(n_by_rows > 50 && n_by_persons > 20, "{n_by_rows} {n_by_persons}");
    assert!(n_exposed * 10 > n_by_rows, "{n_exposed} of {n_by_rows} releases by rows expose somebody");
}

/// What the mode in which rows are hidden does not promise: whoever knows how many rows a person has may be surer.
#[test]
fn hidden_rows_that_become_known_expose_persons() {
    let mut dice = Dice(3);
    let (mut n_made, mut n_exposed) = (0, 0);
    for case in 0..400 {
        let rows = drawn(&mut dice, 1, 1);
        let Ok(made) = published(&table(&rows), &draft(&rows, WAYS[2], "l=2"), case) else { continue };
        let found: Vec<Group> = groups(&made.release, &QUASI[..1], &WORDS[..1]).into_values().collect();
        // With one group there is no doubt who is in it.
        let [group] = &found[..] else { continue };
        n_made += 1;
        let seen = RowsOf::Known(by_person(&rows).iter().map(Vec::len).collect());
        let counts: Vec<ValueShown> =
            group.values[WORDS[0]].values().map(|it| ValueShown { count: it.0 as usize, persons: None }).collect();
        let worlds = worlds_of_persons(&seen, &counts);
        let odds = &worlds.values().next().unwrap()[1];
        n_exposed += u64::from(2 * odds.most() > odds.worlds);
    }
    eprintln!("{n_exposed} of {n_made} releases would be unsafe if rows were known");
    assert!(n_exposed > 0, "the mode in which rows are known would not be needed");
}

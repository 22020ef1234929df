//! The true answer lies inside the bounds, whatever the data, the form and the question.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use chrysalis_query::{AggregateAnswer, OpenRelease, QueryError};
use chrysalis_table::{Kind, Value};
use common::ask::{Ask, Cond};
use common::{ORDER, Val, WORDS, World, rng, truth};
use proptest::prelude::*;
use rand::RngExt;

const FORMS: [&str; 7] = ["anatomy", "shuffle", "permute", "generalize", "angel", "angel with a marginal", "butterfly"];

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, cases, ..ProptestConfig::default() }
}

/// The answer, or `None` if the question is refused as the spec allows: too many boxes.
fn asked(release: &OpenRelease, sql: &str) -> Option<chrysalis_query::Answer> {
    match chrysalis_sql::ask(release, sql) {
        Ok(answer) => Some(answer),
        Err(QueryError::Unanswerable { problem, .. })
            if problem.contains("boxes") || problem.contains("ranges of reals") =>
        {
            None
        }
        Err(error) => panic!("{sql}: {error}"),
    }
}

fn of_value(value: &Value) -> Val {
    match value {
        Value::Integer(number) => Val::Number(*number as f64),
        Value::Real(number) => Val::Number(*number),
        Value::Date(date) => Val::Day(u32::try_from(date.0 - 18262).unwrap()),
        Value::DateTime(moment) => Val::Moment(u32::try_from(moment.0 + 2).unwrap()),
        Value::Text(text) => Val::Word(ORDER.iter().chain(&WORDS).find(|word| ***word == **text).unwrap()),
    }
}

/// A sort key for the expected order of key values: missing first, ordinals by their declared order.
fn order(world: &World, ask: &Ask, group: &[Option<Value>]) -> Vec<(bool, usize, Option<Value>)> {
    let rank = |col: usize, value: &Value| match (world.cols[col].kind, value) {
        (Kind::Ordinal, Value::Text(word)) => ORDER.iter().position(|known| *known == &**word).unwrap(),
        _ => 0,
    };
    let place = |(&col, value): (&usize, &Option<Value>)| match value {
        None => (false, 0, None),
        Some(value) => (true, rank(col, value), Some(value.clone()).filter(|_| world.cols[col].kind != Kind::Ordinal)),
    };
    ask.keys.iter().zip(group).map(place).collect()
}

fn within(answer: &AggregateAnswer, count: &AggregateAnswer, truth: Option<f64>) -> bool {
    match truth {
        // NULL is possible only where the least number of hits is 0.
        None => answer.lower.is_none() || count.lower == Some(0.0),
        Some(truth) => {
            let slack = 1e-9 * (1.0 + truth.abs());
            answer.lower.is_some_and(|lower| lower <= truth + slack)
                && answer.upper.is_some_and(|upper| truth <= upper + slack)
        }
    }
}

fn check(world: &World, form: &str, release: &OpenRelease, ask: &Ask) {
    let sql = ask.sql(world);
    let Some(answer) = asked(release, &sql) else { return };
    let mut by_key: BTreeMap<Vec<Option<String>>, Vec<usize>> = BTreeMap::new();
    for row in 0..world.rows.len() {
        by_key.entry(truth::key(world, ask, row)).or_default().push(row);
    }
    let mut told = BTreeSet::new();
    for row in &answer.rows {
        let key: Vec<Option<String>> = row.group.iter().map(|value| value.as_ref().map(Value::to_string)).collect();
        let rows = by_key.get(&key).cloned().unwrap_or_default();
        let truths = truth::answer(ask, rows.iter().map(|&row| &world.rows[row]));
        // The count that belongs to the aggregate: of rows, or of sensitive values.
        let counts = |at: usize| if at == 0 || at == 2 { at } else { 1 };
        for (at, (said, truth)) in row.aggregates.iter().zip(truths).enumerate() {
            let context = || format!("{form} {world:?}\n{sql}\n{key:?}\n{said:?}\ntruth {truth:?}");
            assert!(within(said, &row.aggregates[counts(at)], truth), "{}", context());
            if let (Some(estimate), Some(lower), Some(upper)) = (said.estimate, said.lower, said.upper) {
                assert!((lower..=upper).contains(&estimate), "estimate outside: {}", context());
                assert!(said.std_error.is_some_and(|error| error >= 0.0 && error.is_finite()), "{}", context());
            }
        }
        assert!(told.insert(key));
    }
    for (key, rows) in by_key {
        let count = truth::answer(ask, rows.iter().map(|&row| &world.rows[row]))[0];
        assert!(count == Some(0.0) || told.contains(&key), "{form} leaves out {key:?} of {sql}\n{world:?}");
    }
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn the_truth_lies_inside_the_bounds(seed in any::<u64>()) {
        let mut rng = rng(seed);
        let kind = [Kind::Integer, Kind::Real, Kind::Category][rng.random_range(0..3)];
        let missing = [0.0, 0.2][rng.random_range(0..2)];
        let (n_rows, n_groups) = (rng.random_range(1..14), rng.random_range(1..5));
        let world = World::random(&mut rng, n_rows, n_groups, kind, missing);
        for form in FORMS {
            let Some(release) = world.publish(form, &mut rng) else { continue };
            for _ in 0..6 {
                check(&world, form, &release, &Ask::random(&world, 2, &mut rng));
            }
        }
    }

    /// Step 8: the answer for a key is the answer to the question with `AND key = value`.
    #[test]
    fn grouping_is_asking_once_per_key(seed in any::<u64>()) {
        let mut rng = rng(seed);
        let (n_rows, n_groups) = (rng.random_range(1..14), rng.random_range(1..5));
        let world = World::random(&mut rng, n_rows, n_groups, Kind::Integer, 0.15);
        for form in FORMS {
            let Some(release) = world.publish(form, &mut rng) else { continue };
            let ask = Ask::random(&world, 2, &mut rng);
            let Some(grouped) = asked(&release, &ask.sql(&world)) else { continue };
            prop_assert!(grouped.rows.is_sorted_by(|a, b| ask.keys.is_empty() || order(&world, &ask, &a.group) < order(&world, &ask, &b.group)));
            for row in &grouped.rows {
                let tests = ask.keys.iter().zip(&row.group).map(|(&col, value)| match value {
                    None => Cond::IsNull(col),
                    Some(value) => Cond::Compare(col, "=", Some(of_value(value))),
                });
                let condition = tests.fold(ask.condition.clone(), |all, test| match all {
                    None => Some(test),
                    Some(all) => Some(Cond::And(Box::new(all), Box::new(test))),
                });
                let alone = Ask { condition, keys: Vec::new(), ..ask.clone() };
                let sql = alone.sql(&world);
                let Some(alone) = asked(&release, &sql) else { continue };
                for (a, b) in row.aggregates.iter().zip(&alone.rows[0].aggregates) {
                    let alike = |a: Option<f64>, b: Option<f64>| match (a, b) {
                        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * (1.0 + a.abs()),
                        (a, b) => a == b,
                    };
                    let all = alike(a.estimate, b.estimate) && alike(a.lower, b.lower) && alike(a.upper, b.upper)
                        && alike(a.std_error, b.std_error);
                    prop_assert!(all, "{} {:?}\n{}\n{}\n{:?}\n{:?}", form, world, ask.sql(&world), sql, a, b);
                }
            }
        }
    }

    /// ke, theorem 2: for one partition, the bounds of a permuted release lie inside those of a generalized one.
    #[test]
    fn shuffled_bounds_lie_inside_generalized_ones(seed in any::<u64>()) {
        let mut rng = rng(seed);
        let (n_rows, n_groups) = (rng.random_range(1..12), rng.random_range(1..4));
        let world = World::random(&mut rng, n_rows, n_groups, Kind::Integer, 0.0);
        let (shuffled, generalized) =
            (world.publish("shuffle", &mut rng).unwrap(), world.publish("generalize", &mut rng).unwrap());
        for _ in 0..6 {
            let ask = Ask::random(&world, 0, &mut rng);
            let sql = ask.sql(&world);
            let (Some(narrow), Some(wide)) = (asked(&shuffled, &sql), asked(&generalized, &sql)) else { continue };
            for (narrow, wide) in narrow.rows[0].aggregates.iter().zip(&wide.rows[0].aggregates) {
                let (Some(lower), Some(upper)) = (narrow.lower, narrow.upper) else { continue };
                prop_assert!(
                    wide.lower.unwrap() <= lower + 1e-9 && upper <= wide.upper.unwrap() + 1e-9,
                    "{}\n{:?}\n{:?}\n{:?}", sql, world, narrow, wide
                );
            }
        }
    }
}

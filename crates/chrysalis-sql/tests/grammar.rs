//! The whole grammar, with DuckDB over the microdata as the judge: every truth lies inside its bounds, in every form; and
//! over small tables in every world that a release allows.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::collections::BTreeMap;

use chrysalis_query::{Answer, OpenRelease, QueryError};
use chrysalis_table::{Kind, Value};
use chrysalis_testkit::engines::Engine;
use common::grammar::{Wanted, create, random};
use common::{Val, World, rng};
use rand::RngExt;
use rand::rngs::ChaCha20Rng;
use serde_json::Value as Json;

const FORMS: [&str; 7] = ["anatomy", "shuffle", "permute", "generalize", "angel", "angel with a marginal", "butterfly"];

type Row = Vec<Option<Val>>;

fn duckdb() -> Option<(Engine, tempfile::TempDir)> {
    let folder = tempfile::tempdir().unwrap();
    Some((Engine::duckdb(folder.path())?, folder))
}

fn key_of(json: &Json) -> String {
    match json {
        Json::Null => "NULL".to_owned(),
        Json::Bool(truth) => truth.to_string(),
        Json::String(text) => text.replace(' ', "T"),
        number => format!("{}", number.as_f64().unwrap() + 0.0),
    }
}

fn key_of_value(value: &Option<Value>) -> String {
    match value {
        None => "NULL".to_owned(),
        Some(Value::Integer(number)) => format!("{}", *number as f64),
        Some(Value::Real(number)) => format!("{number}"),
        Some(value) => value.to_string(),
    }
}

fn moment(text: &str) -> String {
    chrysalis_table::DateTime::parse(text).map_or_else(|| text.to_owned(), |moment| moment.to_string())
}

/// Compares what DuckDB says about every world with the answer; `None` if the question is refused.
fn check(engine: &mut Engine, release: &OpenRelease, form: &str, world: &World, wanted: &Wanted) -> Option<usize> {
    let sql = wanted.sql(&[]);
    let answer: Answer = match chrysalis_sql::ask(release, &sql) {
        Ok(answer) => answer,
        Err(QueryError::Unanswerable { .. }) => return None,
        Err(error) => panic!("{form}: {sql}: {error} / {}", error.hint()),
    };
    let truth = engine.ask(&wanted.sql(&["wid"])).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let n_keys = wanted.keys.len();
    let mut said = BTreeMap::new();
    for row in &answer.rows {
        let key: Vec<String> = row.group.iter().map(key_of_value).collect();
        said.insert(key, &row.aggregates);
    }
    let mut checked = 0;
    for row in &truth {
        let key: Vec<String> = row[1..=n_keys].iter().map(|json| moment(&key_of(json))).collect();
        let context =
            |said: &dyn std::fmt::Debug| format!("{form}\n{world:?}\n{sql}\n{key:?}\nDuckDB {row:?}\n{said:?}");
        let Some(aggregates) = said.get(&key) else { panic!("left out: {}", context(&answer)) };
        for (aggregate, truth) in aggregates.iter().zip(&row[1 + n_keys..]) {
            let Some(truth) = truth.as_f64() else { continue };
            let slack = 1e-7 * (1.0 + truth.abs());
            let is_known = aggregate.estimate.is_some() || aggregate.lower.is_some() || aggregate.upper.is_some();
            // A quotient whose divisor may be 0 may have neither an estimate nor bounds.
            assert!(is_known || sql.contains(" / "), "NULL: {}", context(aggregate));
            assert!(
                aggregate.lower.is_none_or(|lower| lower <= truth + slack),
                "{truth} is below {}",
                context(aggregate)
            );
            assert!(
                aggregate.upper.is_none_or(|upper| truth <= upper + slack),
                "{truth} is above {}",
                context(aggregate)
            );
            if let (Some(estimate), Some(lower), Some(upper)) = (aggregate.estimate, aggregate.lower, aggregate.upper) {
                assert!((lower..=upper).contains(&estimate), "estimate outside: {}", context(aggregate));
            }
            checked += 1;
        }
    }
    Some(checked)
}

#[test]
fn every_truth_lies_inside_its_bounds() {
    let Some((mut engine, _folder)) = duckdb() else { return };
    let (mut asked, mut answered, mut numbers, mut seed) = (0, 0, 0, 0);
    let wanted = chrysalis_testkit::sampled(1_500, 20_000);
    while asked < wanted {
        seed += 1;
        let mut rng = rng(seed);
        let kind = [Kind::Integer, Kind::Real, Kind::Category, Kind::Integer][rng.random_range(0..4)];
        let missing = [0.0, 0.2][rng.random_range(0..2)];
        let (n_rows, n_groups) = (rng.random_range(2..14), rng.random_range(1..5));
        let world = World::random(&mut rng, n_rows, n_groups, kind, missing);
        engine.ask(&create(&world.cols, std::slice::from_ref(&world.rows))).unwrap();
        for form in FORMS {
            let Some(release) = world.publish(form, &mut rng) else { continue };
            for _ in 0..4 {
                asked += 1;
                if let Some(checked) = check(&mut engine, &release, form, &world, &random(&world, &mut rng)) {
                    answered += 1;
                    numbers += checked;
                }
            }
        }
    }
    println!("{asked} questions, {answered} answered, {numbers} numbers inside their bounds");
    assert!(answered * 2 > asked, "only {answered} of {asked} answered");
}

fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let smaller = permutations(n - 1);
    let insert = |order: &Vec<usize>, at: usize| {
        let mut order = order.clone();
        order.insert(at, n - 1);
        order
    };
    smaller.iter().flat_map(|order| (0..n).map(move |at| insert(order, at))).collect()
}

/// Every way to permute each of the columns independently.
fn permuted(rows: &[Row], cols: &[usize]) -> Vec<Vec<Row>> {
    let mut worlds = vec![rows.to_vec()];
    for &col in cols {
        let permute = |world: &Vec<Row>, order: &Vec<usize>| {
            let mut permuted = world.clone();
            permuted.iter_mut().zip(order).for_each(|(row, &from)| row[col] = rows[from][col].clone());
            permuted
        };
        worlds = permutations(rows.len())
            .iter()
            .flat_map(|order| worlds.iter().map(|world| permute(world, order)).collect::<Vec<_>>())
            .collect();
    }
    worlds
}

#[test]
fn bounds_hold_in_all_worlds() {
    let Some((mut engine, _folder)) = duckdb() else { return };
    let (mut answered, mut numbers) = (0, 0);
    for seed in 0..chrysalis_testkit::sampled(120, 1_500) {
        let mut rng: ChaCha20Rng = rng(seed + 1_000_000);
        let is_permute = rng.random_bool(0.4);
        let n_rows = if is_permute { rng.random_range(1..4) } else { rng.random_range(1..5) };
        let kind = [Kind::Integer, Kind::Real][rng.random_range(0..2)];
        let missing = [0.0, 0.2][rng.random_range(0..2)];
        let mut world = World::random(&mut rng, n_rows, 1, kind, missing);
        if is_permute && world.cols.len() > 3 {
            world.cols.remove(0);
            world.rows.iter_mut().for_each(|row| {
                row.remove(0);
            });
        }
        let sensitive = world.sensitive();
        let (form, cols) =
            if is_permute { ("permute", (1..=sensitive).collect()) } else { ("anatomy", vec![sensitive]) };
        let Some(release) = world.publish(form, &mut rng) else { continue };
        engine.ask(&create(&world.cols, &permuted(&world.rows, &cols))).unwrap();
        for _ in 0..6 {
            if let Some(checked) = check(&mut engine, &release, form, &world, &random(&world, &mut rng)) {
                answered += 1;
                numbers += checked;
            }
        }
    }
    println!("{answered} answered, {numbers} numbers of all worlds inside their bounds");
    assert!(answered > 200);
}

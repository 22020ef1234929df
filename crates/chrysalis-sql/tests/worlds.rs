//! Estimates are means over all worlds the release allows, and standard errors are their deviations: checked by
//! enumeration where tables are small, and by drawing worlds where they are not.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use chrysalis_query::{OpenRelease, QueryError};
use chrysalis_table::Kind;
use common::ask::Ask;
use common::{Val, World, rng, truth};
use proptest::prelude::*;
use rand::RngExt;
use rand::rngs::ChaCha20Rng;
use rand::seq::SliceRandom;

type Row = Vec<Option<Val>>;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, cases, ..ProptestConfig::default() }
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

fn ask(release: &OpenRelease, sql: &str) -> Option<Vec<chrysalis_query::AggregateAnswer>> {
    match chrysalis_sql::ask(release, sql) {
        Ok(answer) => Some(answer.rows[0].aggregates.clone()),
        Err(QueryError::Unanswerable { problem, .. }) if problem.contains("boxes") => None,
        Err(error) => panic!("{sql}: {error}"),
    }
}

/// Compares COUNT and SUM (an empty sum is 0) and, where hits are certain, MIN and MAX given that there is a hit.
fn check(world: &World, form: &str, release: &OpenRelease, question: &Ask, worlds: &[Vec<Row>]) {
    let sql = question.sql(world);
    let Some(said) = ask(release, &sql) else { return };
    let answers: Vec<Vec<Option<f64>>> = worlds.iter().map(|world| truth::answer(question, world.iter())).collect();
    for (at, (function, _)) in question.aggregates.iter().enumerate() {
        let is_total = matches!(*function, "count" | "sum");
        let is_extreme = matches!(*function, "min" | "max") && matches!(form, "anatomy" | "shuffle");
        if !is_total && !is_extreme {
            continue;
        }
        let numbers: Vec<f64> = answers.iter().filter_map(|answer| answer[at].or(is_total.then_some(0.0))).collect();
        let Some(estimate) = said[at].estimate else { continue };
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        let variance = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / numbers.len() as f64;
        let context = || format!("{form} {world:?}\n{sql}\n{:?}: mean {mean}, variance {variance}", said[at]);
        assert!((estimate - mean).abs() <= 1e-9 * (1.0 + mean.abs()), "{}", context());
        let error = said[at].std_error.unwrap();
        assert!((error * error - variance).abs() <= 1e-7 * (1.0 + variance), "{}", context());
    }
}

/// Worlds to draw. Their mean is within five standard deviations of the truth, except once in a million times.
const DRAWN: usize = 1000;

#[test]
fn random_permutations_average_to_the_estimate() {
    let (mut rng, mut compared) = (rng(7), 0);
    for form in ["anatomy", "shuffle", "permute"].into_iter().cycle().take(6) {
        let missing = if form == "shuffle" { 0.0 } else { 0.1 };
        let world = World::random(&mut rng, 120, 10, Kind::Integer, missing);
        let release = world.publish(form, &mut rng).unwrap();
        let columns: Vec<usize> = (if form == "permute" { 0 } else { world.sensitive() }..world.cols.len()).collect();
        let worlds: Vec<Vec<Row>> = (0..DRAWN).map(|_| drawn(&world, &columns, &mut rng)).collect();
        for _ in 0..6 {
            let question = Ask::random(&world, 0, &mut rng);
            let Some(said) = ask(&release, &question.sql(&world)) else { continue };
            let answers: Vec<Vec<Option<f64>>> = worlds.iter().map(|it| truth::answer(&question, it.iter())).collect();
            for (at, (function, _)) in question.aggregates.iter().enumerate() {
                let Some(estimate) = said[at].estimate.filter(|_| matches!(*function, "count" | "sum")) else {
                    continue;
                };
                let n = answers.len() as f64;
                let mean = answers.iter().map(|answer| answer[at].unwrap_or(0.0)).sum::<f64>() / n;
                let error = said[at].std_error.unwrap();
                let context = format!("{form} {}: {:?}, mean {mean}", question.sql(&world), said[at]);
                assert!((estimate - mean).abs() <= 5.0 * error / n.sqrt() + 1e-9 * (1.0 + mean.abs()), "{context}");
                compared += usize::from(error > 0.0);
            }
        }
    }
    assert!(compared > 20, "only {compared} estimates were left to chance");
}

/// Columns permuted within the groups, each independently.
fn drawn(world: &World, columns: &[usize], rng: &mut ChaCha20Rng) -> Vec<Row> {
    let mut rows = world.rows.clone();
    for group in &world.groups {
        for &col in columns {
            let mut from = group.clone();
            from.shuffle(rng);
            group.iter().zip(from).for_each(|(&to, from)| rows[to][col] = world.rows[from][col].clone());
        }
    }
    rows
}

proptest! {
    #![proptest_config(config(250))]

    #[test]
    fn exact_forms_average_over_all_ways_to_hand_out_sensitive_values(seed in any::<u64>()) {
        let mut rng = rng(seed);
        let n_rows = rng.random_range(1..6);
        let missing = [0.0, 0.2][rng.random_range(0..2)];
        let world = World::random(&mut rng, n_rows, 1, Kind::Integer, missing);
        let worlds = permuted(&world.rows, &[world.sensitive()]);
        for form in ["anatomy", "shuffle"] {
            let Some(release) = world.publish(form, &mut rng) else { continue };
            for _ in 0..4 {
                check(&world, form, &release, &Ask::random(&world, 0, &mut rng), &worlds);
            }
        }
    }

    #[test]
    fn permuted_forms_average_over_all_permutations_of_every_column(seed in any::<u64>()) {
        let mut rng = rng(seed);
        let n_rows = rng.random_range(1..5);
        let mut world = World::random(&mut rng, n_rows, 1, Kind::Integer, 0.15);
        // Three quasi columns would make 24³ worlds.
        if world.cols.len() > 3 {
            world.cols.remove(0);
            for row in &mut world.rows {
                row.remove(0);
            }
        }
        let worlds = permuted(&world.rows, &(1..world.cols.len()).collect::<Vec<_>>());
        let release = world.publish("permute", &mut rng).unwrap();
        for _ in 0..4 {
            check(&world, "permute", &release, &Ask::random(&world, 0, &mut rng), &worlds);
        }
    }

    /// Every row may be anywhere in the group's box, all points equally likely.
    #[test]
    fn generalized_forms_average_over_all_points_of_the_box(seed in any::<u64>()) {
        let mut rng = rng(seed);
        let rows: Vec<Row> = (0..rng.random_range(1..4))
            .map(|_| {
                let number = |low: i32, high: i32, rng: &mut rand::rngs::ChaCha20Rng| Some(Val::Number(f64::from(rng.random_range(low..high))));
                let a = number(0, 4, &mut rng);
                let w = rng.random_bool(0.8).then(|| Val::Word(["b", "ba"][rng.random_range(0..2)]));
                vec![a, w, number(-3, 6, &mut rng)]
            })
            .collect();
        let col = |name, kind| common::Col { name, kind };
        let cols = vec![col("a", Kind::Integer), col("w", Kind::Category), col("s", Kind::Integer)];
        let world = World { cols, groups: vec![(0..rows.len()).collect()], rows, n_buckets: 1 };
        let release = world.publish("generalize", &mut rng).unwrap();
        let ends = world.rows.iter().map(|row| row[0].as_ref().unwrap().number() as i32);
        let range = ends.clone().min().unwrap()..=ends.max().unwrap();
        let mut words: Vec<Option<Val>> = Vec::new();
        for row in &world.rows {
            if !words.contains(&row[1]) {
                words.push(row[1].clone());
            }
        }
        let points: Vec<Row> = range.flat_map(|a| words.iter().map(move |word| vec![Some(Val::Number(f64::from(a))), word.clone()])).collect();
        let mut worlds: Vec<Vec<Row>> = vec![Vec::new()];
        for row in &world.rows {
            let place = |world: &Vec<Row>, point: &Row| {
                let mut world = world.clone();
                world.push(point.iter().cloned().chain([row[2].clone()]).collect());
                world
            };
            worlds = worlds.iter().flat_map(|world| points.iter().map(|point| place(world, point)).collect::<Vec<_>>()).collect();
        }
        for _ in 0..4 {
            check(&world, "generalize", &release, &Ask::random(&world, 0, &mut rng), &worlds);
        }
    }

    /// Every row may be anywhere in its bucket's box, with any of its batch's sensitive values.
    #[test]
    fn angel_averages_over_all_points_of_all_boxes_and_all_ways_to_hand_out_values(seed in any::<u64>()) {
        let mut rng = rng(seed);
        let number = |low: i32, high: i32, rng: &mut rand::rngs::ChaCha20Rng| Some(Val::Number(f64::from(rng.random_range(low..high))));
        let rows: Vec<Row> =
            (0..rng.random_range(1..5)).map(|_| vec![number(0, 3, &mut rng), number(-3, 6, &mut rng)]).collect();
        let col = |name, kind| common::Col { name, kind };
        let cols = vec![col("a", Kind::Integer), col("s", Kind::Integer)];
        let world = World { cols, groups: vec![(0..rows.len()).collect()], rows, n_buckets: 2 };
        let release = world.publish("angel", &mut rng).unwrap();
        let of_bucket = |bucket: usize| world.rows.iter().skip(bucket).step_by(2).map(|row| row[0].as_ref().unwrap().number() as i32);
        let mut worlds: Vec<Vec<Row>> = vec![Vec::new()];
        for at in 0..world.rows.len() {
            let (low, high) = (of_bucket(at % 2).min().unwrap(), of_bucket(at % 2).max().unwrap());
            let place = |known: &Vec<Row>, a: i32| {
                let mut known = known.clone();
                known.push(vec![Some(Val::Number(f64::from(a))), world.rows[at][1].clone()]);
                known
            };
            worlds = worlds.iter().flat_map(|known| (low..=high).map(|a| place(known, a)).collect::<Vec<_>>()).collect();
        }
        let worlds: Vec<Vec<Row>> = worlds.iter().flat_map(|world| permuted(world, &[1])).collect();
        for _ in 0..4 {
            check(&world, "angel", &release, &Ask::random(&world, 0, &mut rng), &worlds);
        }
    }
}

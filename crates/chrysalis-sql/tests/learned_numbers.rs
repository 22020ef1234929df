//! Learned aggregates of numbers in ranges: they agree with the counts of the same values, bounds stay what they are, and
//! errors mean what they say.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use chrysalis_query::{AggregateAnswer, Answer, EstimateMode, Inquiry, OpenRelease, Tables};
use chrysalis_sql::parse;
use chrysalis_table::{Kind, Value};
use common::skewed::skewed;
use common::{Val, World, rng};
use proptest::prelude::*;
use rand::RngExt;

fn asked(release: &OpenRelease, sql: &str, mode: EstimateMode) -> Answer {
    let statement = parse::statement(sql).unwrap();
    let inquiry = Inquiry::new(&statement, release.manifest(), &Tables::default()).unwrap();
    release.inquire(&inquiry, mode).unwrap().answer
}

/// The one row of an answer.
fn one(release: &OpenRelease, sql: &str, mode: EstimateMode) -> Vec<AggregateAnswer> {
    asked(release, sql, mode).rows.into_iter().next().unwrap().aggregates
}

const AGGREGATES: &str = "SUM(a), AVG(a), MEDIAN(a), VAR_POP(a), STDDEV_POP(a), SUM(2 * a + 1)";

/// The same aggregates of values, each with how many people are expected to have it.
fn of_counts(counts: &[(f64, f64)]) -> [f64; 6] {
    let total = |f: &dyn Fn(f64) -> f64| counts.iter().map(|(value, count)| f(*value) * count).sum::<f64>();
    let count = total(&|_| 1.0);
    let average = total(&|value| value) / count;
    let variance = total(&|value| (value - average).powi(2)) / count;
    let mut passed = 0.0;
    let median = counts.iter().find(|(_, rows)| {
        passed += rows;
        passed >= (0.5 - 1e-9) * count
    });
    let linear = total(&|value| 2.0 * value + 1.0);
    [total(&|value| value), average, median.unwrap().0, variance, variance.sqrt(), linear]
}

/// Each aggregate is that of the learned counts of single values, as far as the bounds allow.
#[test]
fn aggregates_agree_with_counts() {
    let world = skewed(3, 900);
    for form in ["generalize", "butterfly"] {
        let release = world.publish(form, &mut rng(3)).unwrap();
        for condition in ["", "WHERE s = 'b'", "WHERE w <> 'ba'", "WHERE a BETWEEN 4 AND 15 AND s IN ('ab', 'b')"] {
            let found =
                one(&release, &format!("SELECT {AGGREGATES} FROM microdata {condition}"), EstimateMode::Learned);
            let counts = format!("SELECT a, COUNT(*), MAX(a) FROM microdata {condition} GROUP BY a");
            let counts: Vec<(f64, f64)> = asked(&release, &counts, EstimateMode::Learned)
                .rows
                .iter()
                .map(|row| {
                    let Some(Value::Integer(value)) = row.group[0] else { panic!("a key is no number") };
                    (value as f64, row.aggregates[0].estimate.unwrap())
                })
                .collect();
            for (found, expected) in found.iter().zip(of_counts(&counts)) {
                let expected = expected.clamp(found.lower.unwrap(), found.upper.unwrap());
                let off = (found.estimate.unwrap() - expected).abs();
                assert!(off <= 1e-6 * expected.abs().max(1.0), "{form} {condition}: {found:?}, {expected} of counts");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn learning_moves_estimates_inside_the_same_bounds(seed in any::<u64>()) {
        let mut rng = rng(seed);
        let missing = [0.0, 0.2][rng.random_range(0..2)];
        let (n_rows, n_groups) = (rng.random_range(2..30), rng.random_range(1..8));
        let world = World::random(&mut rng, n_rows, n_groups, Kind::Integer, missing);
        let number = world.cols.iter().find(|col| col.name != "s" && col.kind.is_numeric()).map(|col| col.name);
        let Some(name) = number else { return Ok(()) };
        let aggregates = format!(
            "SUM({name}), AVG({name} + 1), MEDIAN({name}), PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY {name}), \
             VAR_POP({name}), STDDEV_SAMP({name}), SUM({name} * s), MIN({name}), COUNT(DISTINCT {name}), \
             MEDIAN(s), PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY s), VAR_SAMP(s), STDDEV_POP(s), SUM(s * s), \
             AVG(2 * s + 1), SUM(3), SUM(CASE WHEN s > 1 THEN 1 ELSE 0 END), AVG({name}) - AVG(s)"
        );
        for form in ["generalize", "angel", "butterfly", "anatomy", "permute"] {
            let Some(release) = world.publish(form, &mut rng) else { continue };
            let condition = ["", "WHERE s > 1", "WHERE s <= 2"][rng.random_range(0..3)];
            let sql = format!("SELECT {aggregates} FROM microdata {condition}");
            let (even, learned) = (one(&release, &sql, EstimateMode::Even), one(&release, &sql, EstimateMode::Learned));
            for (even, learned) in even.iter().zip(&learned) {
                let context = format!("{form} {sql}\n{even:?}\n{learned:?}");
                prop_assert_eq!((even.lower, even.upper), (learned.lower, learned.upper), "{}", context);
                prop_assert_eq!(even.estimate.is_some(), learned.estimate.is_some(), "{}", context);
                let (Some(estimate), Some(lower), Some(upper)) = (learned.estimate, learned.lower, learned.upper)
                else { continue };
                prop_assert!((lower..=upper).contains(&estimate), "{}", context);
                prop_assert!(learned.std_error.is_none_or(|error| error.is_finite() && error >= 0.0), "{}", context);
            }
        }
    }
}

/// Over a table where evenness is far from the truth: errors shrink, and two standard errors reach the truth.
#[test]
fn errors_mean_what_they_say_on_a_skewed_table() {
    let world = skewed(7, 3_000);
    let release = world.publish("generalize", &mut rng(7)).unwrap();
    let names = ["SUM", "AVG", "MEDIAN", "STDDEV_POP"];
    let (mut errors, mut covered, mut asked) = ([[0.0; 2]; 4], [0; 4], 0);
    let mut draw = rng(12);
    while asked < 100 {
        let (from, width) = (draw.random_range(0..25), draw.random_range(4..16));
        let word = ["ab", "b", "ba", "c,d"][draw.random_range(0..4)];
        let rows = world.rows.iter().filter_map(|row| {
            let Some(Val::Number(age)) = row[0] else { return None };
            let matches = (f64::from(from)..f64::from(from + width)).contains(&age) && row[2] == Some(Val::Word(word));
            matches.then_some((age, 1.0))
        });
        let mut rows: Vec<(f64, f64)> = rows.collect();
        if rows.len() < 20 {
            continue;
        }
        asked += 1;
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        let [sum, average, median, _, deviation, _] = of_counts(&rows);
        let to = from + width;
        let aggregates = "SUM(a), AVG(a), MEDIAN(a), STDDEV_POP(a)";
        let sql = format!("SELECT {aggregates} FROM microdata WHERE a >= {from} AND a < {to} AND s = '{word}'");
        let (even, learned) = (one(&release, &sql, EstimateMode::Even), one(&release, &sql, EstimateMode::Learned));
        for (at, truth) in [sum, average, median, deviation].into_iter().enumerate() {
            let off = |found: &AggregateAnswer| (found.estimate.unwrap() - truth).abs();
            errors[at][0] += off(&even[at]);
            errors[at][1] += off(&learned[at]);
            covered[at] += u32::from(off(&learned[at]) <= 2.0 * learned[at].std_error.unwrap());
        }
    }
    for ((name, errors), covered) in names.iter().zip(errors).zip(covered) {
        assert!(covered >= 80, "{name}: {covered} % covered, errors {errors:?}");
        assert!(errors[1] <= 1.05 * errors[0], "{name}: {errors:?}");
    }
}

/// A sum of a constant is a count: the estimate and the error are those of the count, as often as the constant says.
#[test]
fn constants_are_counted_as_count_counts() {
    let world = skewed(5, 600);
    for form in ["generalize", "angel", "butterfly", "anatomy", "permute"] {
        let release = world.publish(form, &mut rng(5)).unwrap();
        for condition in ["WHERE a < 9", "WHERE a BETWEEN 4 AND 20 AND s = 'ba'", "WHERE w <> 'ab' AND s <> 'b'"] {
            let count = one(&release, &format!("SELECT COUNT(*) FROM microdata {condition}"), EstimateMode::Learned);
            let sum = one(&release, &format!("SELECT SUM(-4) FROM microdata {condition}"), EstimateMode::Learned);
            let near = |a: Option<f64>, b: Option<f64>| (a.unwrap() - b.unwrap()).abs() <= 1e-6 * b.unwrap().abs();
            let context = format!("{form} {condition}: {sum:?}, {count:?}");
            assert!(near(sum[0].estimate, count[0].estimate.map(|estimate| -4.0 * estimate)), "{context}");
            assert!(near(sum[0].std_error, count[0].std_error.map(|error| 4.0 * error)), "{context}");
        }
    }
}

/// The skewed table with pay in place of words: it goes with the first attribute as the words do.
fn paid(seed: u64, n_rows: usize) -> World {
    let mut world = skewed(seed, n_rows);
    let mut draw = rng(seed + 1);
    world.cols[2].kind = Kind::Integer;
    for row in &mut world.rows {
        let Some(Val::Word(word)) = row[2] else { continue };
        let class = ["ab", "b", "ba", "c,d"].iter().position(|known| *known == word).unwrap();
        let pay = 20 * class + draw.random_range(0..30) + draw.random_range(0..10) * draw.random_range(0..10);
        row[2] = Some(Val::Number(pay as f64));
    }
    world
}

/// Sensitive numbers, and numbers of exact and permuted columns under sensitive conditions: two standard errors reach the
/// truth, and learning makes nothing worse.
#[test]
fn errors_of_other_aggregates_mean_what_they_say_on_a_skewed_table() {
    const NAMES: [&str; 6] = ["MEDIAN(s)", "STDDEV_POP(s)", "AVG(s * s)", "SUM(s * s)", "AVG(a)", "MEDIAN(a)"];
    let world = paid(7, 3_000);
    for form in ["generalize", "anatomy", "permute"] {
        let release = world.publish(form, &mut rng(7)).unwrap();
        let (mut errors, mut covered, mut open) = ([[0.0; 2]; 6], [0; 6], [0; 6]);
        let mut draw = rng(12);
        let mut asked = 0;
        while asked < 100 {
            let (from, width) = (draw.random_range(0..25), draw.random_range(4..16));
            let pay = draw.random_range(0..60);
            let rows: Vec<(f64, f64)> = world
                .rows
                .iter()
                .filter_map(|row| {
                    let (Some(Val::Number(age)), Some(Val::Number(own))) = (&row[0], &row[2]) else { return None };
                    let matches = (f64::from(from)..f64::from(from + width)).contains(age) && *own >= f64::from(pay);
                    matches.then_some((*age, *own))
                })
                .collect();
            if rows.len() < 20 {
                continue;
            }
            asked += 1;
            let of = |number: &dyn Fn(&(f64, f64)) -> f64| {
                let mut counts: Vec<(f64, f64)> = rows.iter().map(|row| (number(row), 1.0)).collect();
                counts.sort_by(|a, b| a.0.total_cmp(&b.0));
                of_counts(&counts)
            };
            let (pays, squares, ages) = (of(&|row| row.1), of(&|row| row.1 * row.1), of(&|row| row.0));
            let truths = [pays[2], pays[4], squares[1], squares[0], ages[1], ages[2]];
            let names = NAMES.join(", ");
            let to = from + width;
            let sql = format!("SELECT {names} FROM microdata WHERE a >= {from} AND a < {to} AND s >= {pay}");
            let (even, learned) = (one(&release, &sql, EstimateMode::Even), one(&release, &sql, EstimateMode::Learned));
            for (at, truth) in truths.into_iter().enumerate() {
                if learned[at].lower == learned[at].upper {
                    continue;
                }
                let off = |found: &AggregateAnswer| (found.estimate.unwrap() - truth).abs();
                open[at] += 1;
                errors[at][0] += off(&even[at]);
                errors[at][1] += off(&learned[at]);
                covered[at] += u32::from(off(&learned[at]) <= 2.0 * learned[at].std_error.unwrap());
            }
        }
        for at in 0..NAMES.len() {
            let (share, errors, open) = (f64::from(covered[at]) / f64::from(open[at]), errors[at], open[at]);
            assert!(open > 50 && share >= 0.8, "{form} {}: {share} of {open} covered, errors {errors:?}", NAMES[at]);
            assert!(errors[1] <= 1.05 * errors[0], "{form} {}: {errors:?}", NAMES[at]);
        }
    }
}

/// The error of arithmetic, and of a count in pieces, is the one that no correlation exceeds.
#[test]
fn errors_of_parts_add_up() {
    let world = skewed(9, 400);
    for form in ["generalize", "anatomy", "permute"] {
        let release = world.publish(form, &mut rng(9)).unwrap();
        for mode in [EstimateMode::Even, EstimateMode::Learned] {
            let sql = "SELECT COUNT(*) FILTER (WHERE a < 8 AND s = 'b'), COUNT(*) FILTER (WHERE a >= 8 AND s = 'ba'), \
                       COUNT(*) FILTER (WHERE (a < 8 AND s = 'b') OR (a >= 8 AND s = 'ba')), \
                       COUNT(*) FILTER (WHERE a < 8 AND s = 'b') - COUNT(*) FILTER (WHERE a >= 8 AND s = 'ba') \
                       FROM microdata";
            let found = one(&release, sql, mode);
            let errors: Vec<f64> = found.iter().map(|found| found.std_error.unwrap()).collect();
            let sum = errors[0] + errors[1];
            assert!(sum > 0.0 && errors[0] > 0.0 && errors[1] > 0.0, "{form}: {found:?}");
            assert!((errors[2] - sum).abs() < 1e-9 * sum && (errors[3] - sum).abs() < 1e-9 * sum, "{form}: {found:?}");
        }
    }
}

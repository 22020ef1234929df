//! Learned estimates: bounds stay what they are, nothing depends on threads, and errors mean what they say.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use chrysalis_query::{Answer, EstimateMode, OpenRelease, Plan, QueryError};
use chrysalis_sql::parse::parse_one;
use chrysalis_table::Kind;
use common::ask::Ask;
use common::skewed::skewed;
use common::{Col, Val, World, rng};
use proptest::prelude::*;
use rand::RngExt;

const FORMS: [&str; 7] = ["anatomy", "shuffle", "permute", "generalize", "angel", "angel with a marginal", "butterfly"];

/// Both answers, or `None` if the question is refused.
fn both(release: &OpenRelease, sql: &str) -> Option<(Answer, Answer)> {
    let plan = match Plan::new(&parse_one(sql).unwrap(), release.manifest()) {
        Ok(plan) => plan,
        Err(QueryError::Unanswerable { .. }) => return None,
        Err(error) => panic!("{sql}: {error}"),
    };
    let even = release.answer_with(&plan, EstimateMode::Even).ok()?;
    assert_eq!(even, release.answer(&plan).unwrap());
    Some((even, release.answer_with(&plan, EstimateMode::Learned).unwrap()))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn learning_moves_estimates_inside_the_same_bounds(seed in any::<u64>()) {
        let mut rng = rng(seed);
        let kind = [Kind::Integer, Kind::Real, Kind::Category][rng.random_range(0..3)];
        let missing = [0.0, 0.2][rng.random_range(0..2)];
        let (n_rows, n_groups) = (rng.random_range(1..30), rng.random_range(1..8));
        let world = World::random(&mut rng, n_rows, n_groups, kind, missing);
        for form in FORMS {
            let Some(release) = world.publish(form, &mut rng) else { continue };
            let ask = Ask::random(&world, 2, &mut rng);
            let sql = ask.sql(&world);
            let Some((even, learned)) = both(&release, &sql) else { continue };
            prop_assert_eq!(even.rows.len(), learned.rows.len());
            for (even, learned) in even.rows.iter().zip(&learned.rows) {
                prop_assert_eq!(&even.group, &learned.group);
                for (even, learned) in even.aggregates.iter().zip(&learned.aggregates) {
                    let context = format!("{form} {sql}\n{even:?}\n{learned:?}");
                    prop_assert_eq!((even.lower, even.upper), (learned.lower, learned.upper), "{}", context);
                    prop_assert_eq!(even.estimate.is_some(), learned.estimate.is_some(), "{}", context);
                    let (Some(estimate), Some(lower), Some(upper)) = (learned.estimate, learned.lower, learned.upper)
                    else { continue };
                    prop_assert!((lower..=upper).contains(&estimate), "{}", context);
                    let error = learned.std_error.unwrap();
                    prop_assert!(error.is_finite() && error >= 0.0, "{}", context);
                    if lower == upper {
                        prop_assert!(error <= even.std_error.unwrap() + 1e-9, "{}", context);
                    }
                }
            }
        }
    }
}

/// Counts over the values of an attribute add up to the count of all.
#[test]
fn parts_add_up() {
    let world = skewed(3, 600);
    for form in ["generalize", "angel", "butterfly"] {
        let release = world.publish(form, &mut rng(3)).unwrap();
        let sum = |sql: &str| -> f64 {
            let (_, learned) = both(&release, sql).unwrap();
            learned.rows.iter().map(|row| row.aggregates[0].estimate.unwrap()).sum()
        };
        for condition in ["", "WHERE s = 'b'", "WHERE w <> 'ba'"] {
            let all = sum(&format!("SELECT COUNT(*) FROM microdata {condition}"));
            for key in ["a", "w", "s", "a, w"] {
                let parts = sum(&format!("SELECT COUNT(*) FROM microdata {condition} GROUP BY {key}"));
                // Every sensitive value learns on its own, so their counts add up only roughly.
                let slack = if key == "s" && !condition.is_empty() { 0.05 * all } else { 1e-6 * all };
                assert!((parts - all).abs() <= slack.max(1e-6), "{form} {condition} {key}: {parts} of {all}");
            }
        }
    }
}

/// Over a table where evenness is far from the truth: errors shrink, and two standard errors reach the truth.
#[test]
fn errors_mean_what_they_say_on_a_skewed_table() {
    let world = skewed(7, 3_000);
    for form in ["generalize", "anatomy", "permute", "shuffle", "angel"] {
        let Some(release) = world.publish(form, &mut rng(7)) else { continue };
        let (mut errors, mut covered, mut asked) = ([0.0; 2], 0, 0);
        let mut draw = rng(11);
        while asked < 200 {
            let (from, width) = (draw.random_range(0..25), draw.random_range(1..12));
            let word = ["ab", "b", "ba", "c,d"][draw.random_range(0..4)];
            let in_words = draw.random_bool(0.5);
            let matches = |row: &&Vec<Option<Val>>| {
                let Some(Val::Number(age)) = row[0] else { return false };
                (f64::from(from)..f64::from(from + width)).contains(&age)
                    && (!in_words || row[1] == Some(Val::Word("ab")))
                    && row[2] == Some(Val::Word(word))
            };
            let truth = world.rows.iter().filter(matches).count() as f64;
            let more = if in_words { "AND w = 'ab'" } else { "" };
            let sql = format!(
                "SELECT COUNT(*) FROM microdata WHERE a >= {from} AND a < {} AND s = '{word}' {more}",
                from + width
            );
            let (even, learned) = both(&release, &sql).unwrap();
            let (even, learned) = (&even.rows[0].aggregates[0], &learned.rows[0].aggregates[0]);
            if learned.lower == learned.upper || truth < 10.0 {
                continue;
            }
            asked += 1;
            errors[0] += (even.estimate.unwrap() - truth).abs() / truth;
            errors[1] += (learned.estimate.unwrap() - truth).abs() / truth;
            covered += u32::from((learned.estimate.unwrap() - truth).abs() <= 2.0 * learned.std_error.unwrap());
        }
        let share = f64::from(covered) / f64::from(asked);
        let ratio = errors[1] / errors[0];
        // Buckets of this table hold neighbours in no order at all, which real ones never do: two standard errors of angel
        // reach a fifth of the truths here, and more than four fifths on real tables (docs/results/estimates.md).
        let least = if form == "angel" { 0.2 } else { 0.8 };
        assert!(share >= least, "{form}: {share} covered, {errors:?}");
        assert!(ratio <= 1.05, "{form}: {errors:?}");
        // On real tables with wide labels the ratio is below 0.6 (docs/results/estimates.md). Here it is 0.80.
        if form == "generalize" {
            assert!(ratio <= 0.85, "{form}: {errors:?}");
        }
    }
}

/// A column of reals with as many values as rows, 64 boxes and the widest domains: an answer, in bounded work.
#[test]
fn hostile_sizes_get_an_answer() {
    let rows: Vec<Vec<Option<Val>>> = (0..20_000)
        .map(|at| vec![Some(Val::Number(f64::from(at) * 1e300 - 1e304)), Some(Val::Number(f64::from(at % 7)))])
        .collect();
    let world = World {
        cols: vec![Col { name: "r", kind: Kind::Real }, Col { name: "s", kind: Kind::Integer }],
        groups: (0..rows.len()).collect::<Vec<_>>().chunks(2).map(<[usize]>::to_vec).collect(),
        rows,
        n_buckets: 3,
    };
    let release = world.publish("generalize", &mut rng(1)).unwrap();
    let ranges: Vec<String> = (0..30).map(|at| format!("r BETWEEN {at}e303 AND {at}.5e303")).collect();
    let sql = format!("SELECT COUNT(*), SUM(s) FROM microdata WHERE ({}) AND s > 2", ranges.join(" OR "));
    let (even, learned) = both(&release, &sql).unwrap();
    assert_eq!(even.rows[0].aggregates[0].upper, learned.rows[0].aggregates[0].upper);
    assert!(learned.rows[0].aggregates.iter().all(|it| it.estimate.unwrap().is_finite()));
}

#[test]
fn answers_do_not_depend_on_the_number_of_threads() {
    let world = skewed(5, 1_500);
    for form in ["generalize", "angel", "anatomy", "permute"] {
        let sql = "SELECT COUNT(*) FROM microdata WHERE s <> 'b' GROUP BY a";
        let answer = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| both(&world.publish(form, &mut rng(5)).unwrap(), sql).unwrap().1)
        };
        assert_eq!(answer(1), answer(3), "{form}");
    }
}

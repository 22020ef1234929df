//! A distant value costs the others no precision: real columns of any magnitude, asked here and in SQLite.

#![allow(clippy::unwrap_used, reason = "tests")]

use chrysalis_load::Database;
use chrysalis_publish::method::{Angel, Fallback, Generalize, Method};
use chrysalis_publish::partitioner::ByColumn;
use chrysalis_publish::{AttributeSpec, Job, Microdata, Partitioner};
use chrysalis_query::{AggregateAnswer, OpenRelease, Plan};
use chrysalis_release::Release;
use chrysalis_sql::{Dialect, parse, rewrite};
use chrysalis_table::{Column, Role, Table, Unwatched, no_progress};
use proptest::prelude::*;
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

fn publish(method: &dyn Method, x: &[f64], parts: &[i64]) -> Release {
    let values: Vec<String> = (0..x.len()).map(|row| format!("v{}", row % 3)).collect();
    let columns = vec![
        Column::reals("x", x),
        Column::texts("value", values.iter().map(String::as_str)),
        Column::integers("part", parts),
    ];
    let attributes = [AttributeSpec::new("x", Role::QuasiIdentifier), AttributeSpec::new("value", Role::Sensitive)];
    let data = Microdata::new(Table::new(columns), &attributes).unwrap();
    let goal = data.goal(&[]).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let partition = ByColumn { column: "part".into() }.partition(&data, &goal, &mut rng, &no_progress).unwrap();
    Job::new(&data, &[], &partition, &mut rng, &Unwatched).run(method).unwrap().release
}

fn angel() -> Angel {
    Angel {
        k: 2,
        marginals: Vec::new(),
        bucket_columns: Vec::new(),
        for_reconstruction: false,
        fallback: Fallback::Never,
    }
}

struct Asked {
    release: Release,
    open: OpenRelease,
    database: Database,
}

impl Asked {
    fn new(release: Release) -> Self {
        let mut database = Database::new().unwrap();
        database.load(&release).unwrap();
        Asked { open: OpenRelease::new(&release).unwrap(), release, database }
    }

    /// Our answer and SQLite's answer to the rewritten question: estimate, lower, upper, std_error.
    fn ask(&self, condition: &str) -> ([f64; 4], [f64; 4]) {
        let question = format!("SELECT COUNT(*) FROM microdata WHERE {condition}");
        let plan = Plan::new(&parse::parse_one(&question).unwrap(), &self.release.manifest).unwrap();
        let answer = self.open.answer(&plan).unwrap();
        let AggregateAnswer { estimate, lower, upper, std_error, .. } = &answer.rows[0].aggregates[0];
        let ours = [*estimate, *lower, *upper, *std_error].map(Option::unwrap);
        let rows = self.database.run(&rewrite(&plan, &self.release, Dialect::Sqlite).unwrap()).unwrap();
        let theirs: Vec<f64> = rows[0].iter().map(|number| number.unwrap()).collect();
        (ours, theirs.try_into().unwrap())
    }
}

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()) || a == b
}

/// Five groups of two: [−1e17, 0], [0.5, 0.9], [0.6, 0.8], the point 0.7, and [1, 2].
#[test]
fn a_value_far_away_swallows_no_share() {
    let x = [-1e17, 0.0, 0.5, 0.9, 0.6, 0.8, 0.7, 0.7, 1.0, 2.0];
    let parts = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5];
    let asked = Asked::new(publish(&Generalize, &x, &parts));
    #[track_caller]
    fn check(asked: &Asked, condition: &str, expected: [f64; 4]) {
        let (ours, theirs) = asked.ask(condition);
        for (number, name) in [(ours, "query"), (theirs, "SQLite")] {
            let same = number.iter().zip(expected).all(|(a, b)| is_near(*a, b));
            assert!(same, "{condition}: {name} says {number:?}, not {expected:?}");
        }
    }
    // All but the point; in a group with 0.7 inside its range, no row is certain to match.
    check(&asked, "x <> 0.7", [8.0, 4.0, 8.0, 0.0]);
    // Half of two groups with two rows each: variance 2 · ½ · ½, twice.
    check(&asked, "x < 0.7", [4.0, 2.0, 6.0, 1.0]);
    // Of the first group 5/1e17, of the second 1/8: variance 2 · 1/8 · 7/8.
    check(&asked, "x BETWEEN -5 AND 0.55", [0.25 + 1e-16, 0.0, 4.0, 0.21875_f64.sqrt()]);
    // All but 5/1e17 of the first group: variance 2 · 5e-17 = 1e-16.
    check(&asked, "x < -5", [2.0, 0.0, 2.0, 1e-8]);
    check(&asked, "x >= -5", [8.0, 8.0, 10.0, 1e-8]);
    check(&asked, "NOT (x < -5) AND x <> 1.5", [8.0, 6.0, 10.0, 1e-8]);
}

/// The same numbers row by row: a batch is one group, and every row has its own box.
#[test]
fn rows_of_a_batch_lose_no_share_either() {
    let x = [-1e17, 0.0, 0.5, 0.9];
    let asked = Asked::new(publish(&angel(), &x, &[1, 1, 1, 1]));
    let (ours, theirs) = asked.ask("x <> 0.7");
    assert_eq!((ours[0], theirs[0]), (4.0, 4.0), "{ours:?} {theirs:?}");
}

/// Numbers of any magnitude whose differences are still finite in SQLite.
fn number() -> impl Strategy<Value = f64> {
    let magnitude = prop_oneof![Just(0), -2..3i32, -140..140i32];
    (magnitude, 1.0..10.0f64, prop::bool::ANY).prop_map(|(magnitude, digits, is_negative)| {
        let size = digits * 10f64.powi(magnitude);
        if is_negative { -size } else { size }
    })
}

fn condition() -> impl Strategy<Value = String> {
    let test = (prop::sample::select(vec!["=", "<>", "<", "<=", ">", ">="]), number())
        .prop_map(|(op, number)| format!("x {op} {number:e}"));
    prop::collection::vec((test, prop::bool::ANY), 1..4).prop_map(|tests| {
        let mut text = String::new();
        for (at, (test, is_and)) in tests.into_iter().enumerate() {
            let joint = if at == 0 {
                ""
            } else if is_and {
                " AND "
            } else {
                " OR "
            };
            text = format!("{text}{joint}{test}");
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn questions_and_their_rewriting_agree_at_every_magnitude(
        x in prop::collection::vec(number(), 6..14),
        conditions in prop::collection::vec(condition(), 4),
    ) {
        let parts: Vec<i64> = (0..x.len() as i64).map(|row| row / 3).collect();
        let asked = Asked::new(publish(&Generalize, &x, &parts));
        for condition in conditions {
            let (ours, theirs) = asked.ask(&condition);
            for (a, b) in ours.iter().zip(theirs) {
                prop_assert!(is_near(*a, b), "{condition}: {ours:?}, not {theirs:?}");
            }
            let truth = x.iter().filter(|x| holds(&condition, **x)).count() as f64;
            prop_assert!(ours[1] <= truth && truth <= ours[2], "{condition}: {truth} is not in {ours:?}");
        }
    }
}

/// AND binds tighter than OR.
fn holds(condition: &str, x: f64) -> bool {
    condition.split(" OR ").any(|all| {
        all.split(" AND ").all(|test| {
            let [_, op, number] = test.split(' ').collect::<Vec<_>>().try_into().unwrap();
            let number: f64 = number.parse().unwrap();
            match op {
                "=" => x == number,
                "<>" => x != number,
                "<" => x < number,
                "<=" => x <= number,
                ">" => x > number,
                _ => x >= number,
            }
        })
    })
}

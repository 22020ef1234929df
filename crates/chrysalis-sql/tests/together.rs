//! Questions about sensitive columns that are shown together, against all worlds that a release allows: every way to
//! give the combinations of a group to its rows, and every way to give the values of a column that is shown apart.

#![allow(clippy::unwrap_used, reason = "tests")]

use chrysalis_publish::method::{Anatomy, Angel, Fallback, Generalize, Method, Permute, Shuffle};
use chrysalis_publish::{AttributeSpec, Job, Microdata, Partition};
use chrysalis_query::{AggregateAnswer, OpenRelease};
use chrysalis_release::Release;
use chrysalis_sql::{Dialect, rewrite};
use chrysalis_table::{Column, Role, Table, Unwatched};
use proptest::prelude::*;
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

/// A quasi value and the sensitive numbers a, b and c, of which a and b are shown together.
type Row = (i64, i64, i64, i64);
type Group = Vec<Row>;

fn released(groups: &[Group], method: &dyn Method) -> Release {
    let rows: Vec<&Row> = groups.iter().flatten().collect();
    let column =
        |name: &str, at: fn(&Row) -> i64| Column::integers(name, &rows.iter().map(|row| at(row)).collect::<Vec<i64>>());
    let table = Table::new(vec![
        column("q", |it| it.0),
        column("a", |it| it.1),
        column("b", |it| it.2),
        column("c", |it| it.3),
    ]);
    let sensitive = ["a", "b", "c"].map(|name| AttributeSpec::new(name, Role::Sensitive));
    let roles: Vec<AttributeSpec> =
        std::iter::once(AttributeSpec::new("q", Role::QuasiIdentifier)).chain(sensitive).collect();
    let data = Microdata::new(table, &roles).unwrap();
    // The order in which columns are named is not the order in which they are shown.
    let data = data.showing_together(&[vec!["b".to_owned(), "a".to_owned()]]).unwrap();
    let sizes: Vec<u32> = groups.iter().map(|group| group.len() as u32).collect();
    let partition = Partition::new((0..rows.len() as u32).collect(), &sizes);
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    Job::new(&data, &[], &partition, &mut rng, &Unwatched).run(method).unwrap().release
}

fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let insert = |order: &Vec<usize>, at: usize| {
        let mut order = order.clone();
        order.insert(at, n - 1);
        order
    };
    permutations(n - 1).iter().flat_map(|order| (0..n).map(move |at| insert(order, at))).collect()
}

/// Every way to permute the pairs of a and b, and the values of c, in a group.
fn worlds_of(group: &Group) -> Vec<Group> {
    let orders = permutations(group.len());
    let world = |pair: &Vec<usize>, c: &Vec<usize>| {
        (0..group.len()).map(|row| (group[row].0, group[pair[row]].1, group[pair[row]].2, group[c[row]].3)).collect()
    };
    orders.iter().flat_map(|pair| orders.iter().map(move |c| world(pair, c))).collect()
}

/// Mean, variance, least and greatest of a total over independent groups.
fn moments(groups: &[Vec<f64>]) -> (f64, f64, f64, f64) {
    groups.iter().fold((0.0, 0.0, 0.0, 0.0), |(mean, variance, least, most), numbers| {
        let own = numbers.iter().sum::<f64>() / numbers.len() as f64;
        let spread = numbers.iter().map(|number| (number - own).powi(2)).sum::<f64>() / numbers.len() as f64;
        let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (mean + own, variance + spread, least + low, most + high)
    })
}

/// The answer is the mean over worlds and contains all of them; `is_tight`: the bounds are reached.
#[track_caller]
fn compare(found: &AggregateAnswer, worlds: &[Vec<f64>], is_tight: bool, context: &str) {
    let (mean, variance, least, most) = moments(worlds);
    let context = format!("{context}: {found:?}, worlds {mean} {variance} {least} {most}");
    let (Some(estimate), Some(lower), Some(upper)) = (found.estimate, found.lower, found.upper) else {
        assert!(least == 0.0 && most == 0.0, "{context}");
        return;
    };
    assert!((estimate - mean).abs() < 1e-9 * (1.0 + mean.abs()), "{context}");
    assert!((found.std_error.unwrap().powi(2) - variance).abs() < 1e-6 * (1.0 + variance), "{context}");
    assert!(lower <= least + 1e-9 && most <= upper + 1e-9, "{context}");
    if is_tight {
        assert!((lower - least).abs() < 1e-9 && (upper - most).abs() < 1e-9, "{context}");
    }
}

fn check(groups: &[Group], asks: Row, method: &dyn Method) {
    let release = OpenRelease::new(&released(groups, method)).unwrap();
    let totals = |matches: &dyn Fn(&Row) -> bool, number: fn(&Row) -> f64| -> Vec<Vec<f64>> {
        let total = |world: &Group| world.iter().filter(|row| matches(row)).map(number).sum::<f64>();
        groups.iter().map(|group| worlds_of(group).iter().map(total).collect()).collect()
    };
    let ask = |sql: &str| chrysalis_sql::ask(&release, sql).unwrap();
    // Conditions on both columns of the set: one count of pairs, so that bounds are reached.
    let sql =
        format!("SELECT COUNT(*), SUM(b) FROM microdata WHERE q <= {} AND a <= {} AND b <= {}", asks.0, asks.1, asks.2);
    let answer = ask(&sql);
    let both = |row: &Row| row.0 <= asks.0 && row.1 <= asks.1 && row.2 <= asks.2;
    compare(&answer.rows[0].aggregates[0], &totals(&both, |_| 1.0), true, &format!("{groups:?} {sql}"));
    compare(&answer.rows[0].aggregates[1], &totals(&both, |row| row.2 as f64), true, &format!("{groups:?} {sql}"));
    // The sum of one under a condition on the other alone.
    let sql = format!("SELECT SUM(a) FROM microdata WHERE q <= {} AND b <= {}", asks.0, asks.2);
    let one = |row: &Row| row.0 <= asks.0 && row.2 <= asks.2;
    compare(&ask(&sql).rows[0].aggregates[0], &totals(&one, |row| row.1 as f64), true, &format!("{groups:?} {sql}"));
    // A column that is shown apart, under conditions on both.
    let sql = format!("SELECT SUM(c) FROM microdata WHERE q <= {} AND a <= {} AND b <= {}", asks.0, asks.1, asks.2);
    compare(&ask(&sql).rows[0].aggregates[0], &totals(&both, |row| row.3 as f64), false, &format!("{groups:?} {sql}"));
    // All three.
    let sql = format!(
        "SELECT SUM(a) FROM microdata WHERE q <= {} AND a <= {} AND b <= {} AND c <= {}",
        asks.0, asks.1, asks.2, asks.3
    );
    let all = |row: &Row| both(row) && row.3 <= asks.3;
    compare(&ask(&sql).rows[0].aggregates[0], &totals(&all, |row| row.1 as f64), false, &format!("{groups:?} {sql}"));
    // One value after the other of a column of the set, and of the one that is apart.
    for (key, at) in [("b", (|row: &Row| row.2) as fn(&Row) -> i64), ("c", |row| row.3)] {
        let sql = format!("SELECT {key}, SUM(a), COUNT(*) FROM microdata WHERE b <= {} GROUP BY {key}", asks.2);
        for row in ask(&sql).rows {
            let value: i64 = row.group[0].as_ref().unwrap().to_string().parse().unwrap();
            let here = |row: &Row| row.2 <= asks.2 && at(row) == value;
            let context = format!("{groups:?} {sql} {value}");
            compare(&row.aggregates[0], &totals(&here, |row| row.1 as f64), key == "b", &context);
            compare(&row.aggregates[1], &totals(&here, |_| 1.0), key == "b", &context);
        }
    }
}

/// `cargo xtask ci --all` asks more.
fn config() -> ProptestConfig {
    let cases = chrysalis_testkit::sampled(200, 5_000);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn answers_about_columns_shown_together_are_those_of_all_worlds(
        groups in prop::collection::vec(
            prop::collection::vec((0..3_i64, -2..3_i64, -3..3_i64, -1..2_i64), 1..5), 1..4),
        asks in (0..3_i64, -2..3_i64, -3..3_i64, -1..2_i64),
        is_beside in prop::bool::ANY,
    ) {
        let method: &dyn Method = if is_beside { &Shuffle } else { &Anatomy };
        check(&groups, asks, method);
    }
}

/// Four rows, two of them hit; three have a ≤ 1, two have b = 5, and one has both: typed in by hand.
#[test]
fn the_count_of_pairs_by_hand() {
    let group = vec![(1, 0, 5, 0), (1, 1, 7, 0), (2, 1, 9, 0), (2, 9, 5, 0)];
    let sql = "SELECT COUNT(*), SUM(b), MIN(b), MAX(b) FROM microdata WHERE q = 1 AND a <= 1 AND b >= 6";
    for method in [&Anatomy as &dyn Method, &Shuffle] {
        let release = OpenRelease::new(&released(std::slice::from_ref(&group), method)).unwrap();
        let answer = chrysalis_sql::ask(&release, sql).unwrap();
        let [count, sum, min, max] = &answer.rows[0].aggregates[..] else { panic!("four aggregates are asked for") };
        // h = 2, c = 2, n = 4: between 0 and 2, 2·2/4, and the variance 2·2/3 · 1/4.
        assert_eq!((count.lower, count.upper, count.estimate), (Some(0.0), Some(2.0), Some(1.0)));
        assert!((count.std_error.unwrap().powi(2) - 1.0 / 3.0).abs() < 1e-12);
        // The pairs (1, 7) and (1, 9).
        assert_eq!((sum.lower, sum.upper, sum.estimate), (Some(0.0), Some(16.0), Some(8.0)));
        assert_eq!((min.lower, min.upper, max.lower, max.upper), (Some(7.0), Some(9.0), Some(7.0), Some(9.0)));
    }
}

/// Whatever the form, the release knows how many rows have which pair.
#[test]
fn every_form_counts_pairs() {
    let groups = vec![
        vec![(1, 0, 5, 0), (1, 1, 7, 1), (2, 1, 9, 0), (2, 9, 5, 1)],
        vec![(3, 0, 5, 0), (4, 0, 7, 1), (5, 1, 5, 0), (5, 1, 5, 1)],
    ];
    let angel =
        Angel { k: 1, marginals: vec![], bucket_columns: vec![], for_reconstruction: false, fallback: Fallback::Never };
    for method in [&Generalize as &dyn Method, &Anatomy, &Permute, &Shuffle, &angel] {
        let release = released(&groups, method);
        assert_eq!(release.manifest.together, [["a", "b"]]);
        let open = OpenRelease::new(&release).unwrap();
        let sql = "SELECT COUNT(*), SUM(b) FROM microdata WHERE a = 1 AND b = 5";
        let answer = chrysalis_sql::ask(&open, sql).unwrap();
        let [count, sum] = &answer.rows[0].aggregates[..] else { panic!("two aggregates are asked for") };
        assert_eq!((count.lower, count.upper, count.estimate), (Some(2.0), Some(2.0), Some(2.0)), "{}", method.form());
        assert_eq!((sum.lower, sum.upper, sum.estimate), (Some(10.0), Some(10.0), Some(10.0)), "{}", method.form());
    }
}

#[test]
fn what_is_not_rewritten_is_refused() {
    let release = released(&[vec![(1, 0, 5, 0), (1, 1, 6, 0)]], &Anatomy);
    let question = |sql: &str| {
        let question = chrysalis_sql::parse::parse_one(sql).unwrap();
        let plan = chrysalis_query::Plan::new(&question, &release.manifest).unwrap();
        rewrite(&plan, &release, Dialect::Sqlite)
    };
    let refused = question("SELECT COUNT(*) FROM microdata WHERE a = 1 AND b = 5").unwrap_err().to_string();
    assert!(refused.contains("columns that are shown together"), "{refused}");
    assert!(question("SELECT COUNT(*) FROM microdata WHERE a = 1").is_ok());
}

/// A table of pairs that does not have as many rows as a group is refused, not believed.
#[test]
fn a_table_of_pairs_must_fit_the_groups() {
    let mut release = released(&[vec![(1, 0, 5, 0), (1, 1, 6, 0)]], &Anatomy);
    let at = release.manifest.tables.iter().position(|table| table.name == "st_a_b").unwrap();
    release.tables[at] = release.tables[at].gather(&[0]);
    let error = OpenRelease::new(&release).unwrap_err().to_string();
    assert!(error.contains("2 rows and 1 combinations"), "{error}");
}

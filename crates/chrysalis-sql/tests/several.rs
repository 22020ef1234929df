//! Questions about two sensitive columns at once, against all worlds that a release allows: every way to give the
//! values of each column to the rows of their group, independently.

#![allow(clippy::unwrap_used, reason = "tests")]

use chrysalis_publish::method::{Anatomy, Method};
use chrysalis_publish::{AttributeSpec, Job, Microdata, Partition};
use chrysalis_query::OpenRelease;
use chrysalis_table::{Column, Role, Table, Unwatched};
use proptest::prelude::*;
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

/// Rows of a quasi value and two sensitive numbers, in groups.
type Group = Vec<(i64, i64, i64)>;

fn opened(groups: &[Group], method: &dyn Method) -> OpenRelease {
    let rows: Vec<&(i64, i64, i64)> = groups.iter().flatten().collect();
    let column = |name: &str, at: fn(&(i64, i64, i64)) -> i64| {
        Column::integers(name, &rows.iter().map(|row| at(row)).collect::<Vec<i64>>())
    };
    let table = Table::new(vec![column("q", |row| row.0), column("a", |row| row.1), column("b", |row| row.2)]);
    let roles = [("q", Role::QuasiIdentifier), ("a", Role::Sensitive), ("b", Role::Sensitive)];
    let roles = roles.map(|(name, role)| AttributeSpec::new(name, role));
    let data = Microdata::new(table, &roles).unwrap();
    let sizes: Vec<u32> = groups.iter().map(|group| group.len() as u32).collect();
    let partition = Partition::new((0..rows.len() as u32).collect(), &sizes);
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let release = Job::new(&data, &[], &partition, &mut rng, &Unwatched).run(method).unwrap().release;
    OpenRelease::new(&release).unwrap()
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

/// Every way to permute both sensitive columns of a group.
fn worlds_of(group: &Group) -> Vec<Group> {
    let orders = permutations(group.len());
    let world = |a: &Vec<usize>, b: &Vec<usize>| {
        (0..group.len()).map(|row| (group[row].0, group[a[row]].1, group[b[row]].2)).collect()
    };
    orders.iter().flat_map(|a| orders.iter().map(move |b| world(a, b))).collect()
}

/// Answers of one group in all its worlds: the number of rows that match, and the sum of their `b`.
fn answers(group: &Group, asks: (i64, i64, i64)) -> Vec<(f64, f64)> {
    let matches = |row: &&(i64, i64, i64)| row.0 <= asks.0 && row.1 <= asks.1 && row.2 <= asks.2;
    let answer = |world: &Group| {
        let found: Vec<&(i64, i64, i64)> = world.iter().filter(matches).collect();
        (found.len() as f64, found.iter().map(|row| row.2 as f64).sum::<f64>())
    };
    worlds_of(group).iter().map(answer).collect()
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

fn check(groups: &[Group], asks: (i64, i64, i64)) {
    let release = opened(groups, &Anatomy);
    let sql =
        format!("SELECT COUNT(*), SUM(b) FROM microdata WHERE q <= {} AND a <= {} AND b <= {}", asks.0, asks.1, asks.2);
    let answer = chrysalis_sql::ask(&release, &sql).unwrap();
    let all: Vec<Vec<(f64, f64)>> = groups.iter().map(|group| answers(group, asks)).collect();
    let of =
        |pick: fn(&(f64, f64)) -> f64| moments(&all.iter().map(|it| it.iter().map(pick).collect()).collect::<Vec<_>>());
    let [count, sum] = &answer.rows[0].aggregates[..] else { panic!("two aggregates are asked for") };
    let (mean, variance, least, most) = of(|it| it.0);
    let context = format!("{groups:?} {sql}: {count:?}, worlds {mean} {variance} {least} {most}");
    assert!((count.estimate.unwrap() - mean).abs() < 1e-9, "{context}");
    assert!((count.std_error.unwrap().powi(2) - variance).abs() < 1e-7 * (1.0 + variance), "{context}");
    assert!(count.lower.unwrap() <= least && most <= count.upper.unwrap(), "{context}");
    let (mean, variance, least, most) = of(|it| it.1);
    let context = format!("{groups:?} {sql}: {sum:?}, worlds {mean} {variance} {least} {most}");
    if let (Some(estimate), Some(lower), Some(upper)) = (sum.estimate, sum.lower, sum.upper) {
        assert!(lower <= least + 1e-9 && most <= upper + 1e-9, "{context}");
        assert!(
            (estimate - mean).abs() < 1e-9 * (1.0 + mean.abs()) || estimate == lower || estimate == upper,
            "{context}"
        );
        assert!((sum.std_error.unwrap().powi(2) - variance).abs() < 1e-6 * (1.0 + variance), "{context}");
    } else {
        assert!(least == 0.0 && most == 0.0, "{context}");
    }
}

/// `cargo xtask ci --all` asks more.
fn config() -> ProptestConfig {
    let cases = chrysalis_testkit::sampled(600, 10_000);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn answers_about_two_columns_are_those_of_all_worlds(
        groups in prop::collection::vec(prop::collection::vec((0..3_i64, -2..3_i64, -4..4_i64), 1..5), 1..4),
        asks in (0..3_i64, -2..3_i64, -4..4_i64),
    ) {
        check(&groups, asks);
    }
}

/// Four rows, two of them hit; three have a ≤ 1, two have b = 5: typed in by hand.
#[test]
fn the_formulas_of_the_contract_by_hand() {
    let release = opened(&[vec![(1, 0, 5), (1, 1, 5), (2, 1, 7), (2, 9, 9)]], &Anatomy);
    let answer =
        chrysalis_sql::ask(&release, "SELECT COUNT(*) FROM microdata WHERE q = 1 AND a <= 1 AND b = 5").unwrap();
    let count = &answer.rows[0].aggregates[0];
    // h = 2, c₁ = 3, c₂ = 2, n = 4: between max(0, 2+3+2−8) and min(2,3,2); 2·3·2/16.
    assert_eq!((count.lower, count.upper, count.estimate), (Some(0.0), Some(2.0), Some(0.75)));
    // E[X(X−1)] = 2·1 · 3·2 · 2·1 / (4·3)² = 1/6, so the variance is 1/6 + 3/4 − 9/16 = 17/48.
    assert!((count.std_error.unwrap().powi(2) - 17.0 / 48.0).abs() < 1e-12);
}

#[test]
fn a_sum_grouped_by_another_sensitive_column() {
    let release = opened(&[vec![(1, 0, 5), (1, 1, 6)], vec![(2, 1, 10), (2, 1, 20)]], &Anatomy);
    let answer = chrysalis_sql::ask(&release, "SELECT SUM(b), COUNT(*) FROM microdata GROUP BY a").unwrap();
    let row = |at: usize| {
        let [sum, count] = &answer.rows[at].aggregates[..] else { panic!("two aggregates are asked for") };
        (sum.lower, sum.upper, sum.estimate, count.estimate)
    };
    // a = 0 has one of the values 5 and 6; a = 1 has the other one, and both of the second group.
    assert_eq!(row(0), (Some(5.0), Some(6.0), Some(5.5), Some(1.0)));
    assert_eq!(row(1), (Some(35.0), Some(36.0), Some(35.5), Some(3.0)));
}

/// The condition on the column of GROUP BY only says which of its values are listed.
#[test]
fn a_condition_on_the_column_of_group_by_counts_once() {
    let release = opened(&[vec![(1, 0, 5), (1, 1, 6), (1, 7, 8)]], &Anatomy);
    let sql = "SELECT SUM(b), COUNT(*) FROM microdata WHERE a <= 1 GROUP BY a";
    let answer = chrysalis_sql::ask(&release, sql).unwrap();
    let shown = |row: &chrysalis_query::AnswerRow| {
        let [sum, count] = &row.aggregates[..] else { panic!("two aggregates are asked for") };
        (sum.lower, sum.upper, count.estimate, count.lower, count.upper)
    };
    let rows: Vec<_> = answer.rows.iter().map(shown).collect();
    // Each of the two values has one row, and any b.
    assert_eq!(rows, [(Some(5.0), Some(8.0), Some(1.0), Some(1.0), Some(1.0)); 2]);
}

/// A condition on the other column that is in GROUP BY chooses among its values, and thins nothing a second time.
#[test]
fn a_condition_on_another_column_that_is_a_key() {
    let release = opened(&[vec![(1, 0, 5), (1, 1, 6), (1, 2, 7), (1, 2, 8)]], &Anatomy);
    let sql = "SELECT SUM(b), COUNT(*) FROM microdata WHERE a >= 1 GROUP BY a";
    let answer = chrysalis_sql::ask(&release, sql).unwrap();
    let keys: Vec<String> = answer.rows.iter().map(|row| row.group[0].as_ref().unwrap().to_string()).collect();
    assert_eq!(keys, ["1", "2"]);
    let numbers = |at: usize| {
        let [sum, count] = &answer.rows[at].aggregates[..] else { panic!("two aggregates are asked for") };
        (sum.lower, sum.upper, sum.estimate, count.lower, count.estimate)
    };
    assert_eq!(numbers(0), (Some(5.0), Some(8.0), Some(6.5), Some(1.0), Some(1.0)));
    assert_eq!(numbers(1), (Some(11.0), Some(15.0), Some(13.0), Some(2.0), Some(2.0)));
}

/// Of two people with a in {0, 1} and b in {5, 6}, either may have either: each pair is there once or not at all.
#[test]
fn two_columns_are_asked_at_once() {
    let release = opened(&[vec![(1, 0, 5), (1, 1, 6)]], &Anatomy);
    let ask = |sql: &str| chrysalis_sql::ask(&release, sql).unwrap();
    let sums = ask("SELECT SUM(a), SUM(b) FROM microdata").rows.remove(0).aggregates;
    assert_eq!((sums[0].lower, sums[0].upper), (Some(1.0), Some(1.0)));
    assert_eq!((sums[1].lower, sums[1].upper), (Some(11.0), Some(11.0)));
    let pairs = ask("SELECT COUNT(*) FROM microdata GROUP BY a, b");
    assert_eq!(pairs.rows.len(), 4);
    for row in &pairs.rows {
        let count = &row.aggregates[0];
        assert_eq!((count.lower, count.estimate, count.upper), (Some(0.0), Some(0.5), Some(1.0)), "{row:?}");
    }
    let either = ask("SELECT COUNT(*) FROM microdata WHERE a = 1 OR b = 5").rows.remove(0).aggregates.remove(0);
    assert_eq!((either.lower, either.estimate, either.upper), (Some(1.0), Some(1.5), Some(2.0)));
}

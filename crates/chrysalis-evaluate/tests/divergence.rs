//! The papers' tables by hand, and every form compared with a sum over the whole universe.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use chrysalis_evaluate::{EvaluateError, Subspace, distances, evaluate, reconstruction_error};
use chrysalis_publish::method::{Anatomy, Generalize, Method, Permute, RankSwap};
use chrysalis_publish::{AttributeSpec, Microdata, Partition};
use chrysalis_release::Release;
use chrysalis_table::{Column, Counted, Role, Stopped, Table, Unwatched, Watch};
use chrysalis_testkit::papers;
use common::{angel, by_column, microdata, publish, publish_as};
use proptest::prelude::*;

#[track_caller]
fn check(release: &Release, table: &Table, subspace: &Subspace, expected: f64) {
    let found = evaluate(release, table, std::slice::from_ref(subspace), &Unwatched).unwrap().divergences[0].kl;
    assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
}

/// Eight people at eight different points. Table 1b spreads four of them over 20 ages, 2 sexes and 2 diseases; table 3
/// spreads two over 3 ages, one sex and two diseases.
#[test]
fn angel_tables_1b_and_3_by_hand() {
    let table = papers::table("angel/table-1.csv");
    let data = microdata(&table, &["age", "sex"], "disease");
    let generalized = publish_as(&Generalize, &data, &by_column(&data, "group_id"), &["k=2"]);
    let one = 0.125_f64;
    check(&generalized, &table, &Subspace::whole(), (one / (0.5 / (20.0 * 2.0 * 2.0))).ln());
    let angelized = publish(&angel(&["bucket_id"], &[]), &data, &by_column(&data, "batch_id"));
    check(&angelized, &table, &Subspace::whole(), (one / (0.25 / (3.0 * 1.0 * 2.0))).ln());
    // Figure 3: over age alone.
    let age = Subspace { attributes: vec!["age".into()], table: None };
    check(&generalized, &table, &age, (one / (0.5 / (20.0 * 2.0))).ln());
    check(&angelized, &table, &age, (one / (0.25 / (3.0 * 2.0))).ln());
    // Anatomy of table 6: everyone's point is known, with either disease.
    let anatomy = publish(&Anatomy, &data, &by_column(&data, "group_id"));
    check(&anatomy, &table, &Subspace::whole(), 2f64.ln());
    let found = evaluate(&generalized, &table, &[], &Unwatched).unwrap();
    assert_eq!((found.discernibility, found.groups, found.average_group_size), (32, 2, Some(2.0)));
    assert!((found.ncp.sum - (8.0 * 19.0 / 39.0 + 8.0)).abs() < 1e-12);
    // Four buckets of two.
    let found = evaluate(&angelized, &table, &[], &Unwatched).unwrap();
    assert_eq!((found.discernibility, found.groups), (16, 4));
}

#[test]
fn a_marginal_is_rebuilt_from_its_own_table_unless_another_is_named() {
    let table = papers::table("angel/table-2a.csv");
    let data = microdata(&table, &["age", "sex", "zipcode"], "disease");
    let release =
        publish(&angel(&["bucket_id", "zipcode_bucket_id"], &[&["zipcode"]]), &data, &by_column(&data, "batch_id"));
    let zipcode =
        |table: Option<&str>| Subspace { attributes: vec!["zipcode".into()], table: table.map(str::to_owned) };
    let found =
        evaluate(&release, &table, &[zipcode(None), zipcode(Some("gt")), Subspace::whole()], &Unwatched).unwrap();
    let used: Vec<&str> = found.divergences.iter().map(|it| it.table.as_str()).collect();
    assert_eq!(used, ["gt_zipcode", "gt", "gt"]);
    assert!(found.divergences[0].kl < found.divergences[1].kl, "the marginal is there for a reason");
    let error = evaluate(&release, &table, &[zipcode(Some("gt_age"))], &Unwatched).unwrap_err();
    assert_eq!(error.to_string(), "the release has no table `gt_age` with these attributes");
    assert_eq!(error.hint(), "leave `table` out, or name one of the tables in release.json");
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let table = papers::table("angel/table-1.csv");
    let data = microdata(&table, &["age", "sex"], "disease");
    let release = publish(&Generalize, &data, &by_column(&data, "group_id"));
    let unknown = Subspace { attributes: vec!["name".into()], table: None };
    let error = evaluate(&release, &table, &[unknown], &Unwatched).unwrap_err();
    assert_eq!(error.to_string(), "`name` is not a quasi attribute of the release");
    assert_eq!(error.hint(), "the quasi attributes are age, sex");
    let other = Table::new(vec![Column::integers("age", &[1])]);
    assert!(matches!(evaluate(&release, &other, &[], &Unwatched), Err(EvaluateError::MissingColumn { .. })));
    let texts = Table::new(vec![
        Column::texts("age", ["x"].into_iter()),
        Column::texts("sex", ["F"].into_iter()),
        Column::texts("disease", ["flu"].into_iter()),
    ]);
    assert!(matches!(evaluate(&release, &texts, &[], &Unwatched), Err(EvaluateError::WrongKind { .. })));
    // A person whom no row covers: nothing published explains them.
    let ages = Column::integers("age", &[99; 8]);
    let columns = [ages].into_iter().chain(["sex", "disease"].map(|name| table.column(name).unwrap().clone()));
    assert!(
        evaluate(&release, &Table::new(columns.collect()), &[Subspace::whole()], &Unwatched).unwrap().divergences[0]
            .kl
            .is_infinite()
    );
}

/// Without groups, nothing says which values a row may have.
#[test]
fn a_release_without_groups_cannot_be_evaluated() {
    let table = Table::new(vec![Column::integers("x", &[1, 2, 3, 4]), Column::integers("s", &[1, 2, 3, 4])]);
    let data = microdata(&table, &["x"], "s");
    let release = publish_as(&RankSwap, &data, &by_column(&data, "x"), &["ke=2,1"]);
    for subspaces in [vec![], vec![Subspace::whole()]] {
        let error = evaluate(&release, &table, &subspaces, &Unwatched).unwrap_err();
        assert_eq!(error.to_string(), "releases by method `rank-swap` cannot be evaluated");
        assert_eq!(error.hint(), "evaluate one by generalize, anatomy, permute, shuffle, angel or butterfly");
    }
    assert!(matches!(distances(&release, &table, &Unwatched), Err(EvaluateError::Method { .. })));
    assert_eq!(reconstruction_error(&release).unwrap(), None);
}

#[test]
fn a_release_without_sensitive_values_has_nothing_to_rebuild() {
    let table = Table::new(vec![Column::integers("x", &[1, 2, 3, 4])]);
    let data = Microdata::new(table.clone(), &[AttributeSpec::new("x", Role::QuasiIdentifier)]).unwrap();
    let release = publish(&Generalize, &data, &Partition::new((0..4).collect(), &[2, 2]));
    let error = evaluate(&release, &table, &[Subspace::whole()], &Unwatched).unwrap_err();
    assert_eq!(error.to_string(), "the release has no sensitive attribute, so there is nothing to rebuild");
    assert_eq!(error.hint(), "publish the table with `sensitive`");
    assert_eq!(evaluate(&release, &table, &[], &Unwatched).unwrap().discernibility, 8);
    assert_eq!(distances(&release, &table, &Unwatched).unwrap().attributes.len(), 1);
}

/// Stops at once.
struct Impatient;

impl Watch for Impatient {
    fn phase(&self, _: &'static str, _: Option<u64>, _: Counted) {}
    fn advance(&self, _: u64) {}

    fn stopped(&self) -> bool {
        true
    }
}

#[test]
fn whoever_does_not_want_to_wait_can_stop_it() {
    let table = papers::table("angel/table-1.csv");
    let data = microdata(&table, &["age", "sex"], "disease");
    let release = publish(&Generalize, &data, &by_column(&data, "group_id"));
    let measured = Stopped::catch(|| evaluate(&release, &table, &[Subspace::whole()], &Impatient).map(drop));
    assert!(matches!(measured, Err(Stopped)));
    let compared = Stopped::catch(|| distances(&release, &table, &Impatient).map(drop));
    assert!(matches!(compared, Err(Stopped)));
}

/// Shares are sums of thousandths on one side and quotients on the other; the difference is no loss and no gain.
#[test]
fn rows_shown_as_they_are_lose_nothing() {
    let numbers = |of: fn(i64) -> i64| (0..1000).map(of).collect::<Vec<i64>>();
    let table = Table::new(vec![
        Column::integers("x", &numbers(|row| row % 3)),
        Column::integers("s", &numbers(|row| row * row % 7)),
        Column::integers("g", &numbers(|row| row)),
    ]);
    let data = microdata(&table, &["x"], "s");
    let release = publish(&Anatomy, &data, &by_column(&data, "g"));
    assert_eq!(evaluate(&release, &table, &[Subspace::whole()], &Unwatched).unwrap().divergences[0].kl, 0.0);
}

/// A range of reals stands for the values that occur in it, however they are spaced.
#[test]
fn ranges_of_reals_stand_for_the_values_in_them() {
    let numbers = [0.5, 0.5, 1.25, 2.0, -3.5, 7.75, 8.0, 8.0, 100.0, 1.0];
    let groups = [1, 1, 1, 2, 2, 2, 3, 3, 3, 1];
    let table = Table::new(vec![
        Column::reals("a", &numbers),
        Column::texts("s", ["x"; 10].into_iter()),
        Column::integers("g", &groups),
    ]);
    let data = microdata(&table, &["a"], "s");
    let release = publish(&Generalize, &data, &by_column(&data, "g"));
    let mut distinct = numbers.to_vec();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    // What a group's range says about a number: its rows, spread over the numbers that occur between its ends.
    let guess = |number: f64| {
        let of_group = |group: i64| {
            let own = || numbers.iter().zip(&groups).filter(|(_, own)| **own == group).map(|(number, _)| *number);
            let (low, high) = (own().fold(f64::INFINITY, f64::min), own().fold(f64::NEG_INFINITY, f64::max));
            let between = |number: &f64| low <= *number && *number <= high;
            let points = distinct.iter().copied().filter(|number| between(number)).count();
            if between(&number) { own().count() as f64 / points as f64 / 10.0 } else { 0.0 }
        };
        (1..=3).map(of_group).sum::<f64>()
    };
    let share = |number: f64| numbers.iter().filter(|other| **other == number).count() as f64 / 10.0;
    let expected: f64 = distinct.iter().map(|&at| share(at) * (share(at) / guess(at)).ln()).sum();
    check(&release, &table, &Subspace::whole(), expected);
    assert_eq!(evaluate(&release, &table, &[], &Unwatched).unwrap().discernibility, 16 + 9 + 9);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 150, ..ProptestConfig::default() })]

    /// The definitions, summed over all points: D*(Q,x) row by row, for the whole universe and for a subspace.
    #[test]
    fn divergences_follow_the_definitions(
        rows in prop::collection::vec((0i64..5, 0usize..3, 0i64..3, 0i64..3, 0i64..3), 1..14),
        is_whole in any::<bool>(),
    ) {
        let words = ["x", "y", "z"];
        let numbers = |pick: fn(&(i64, usize, i64, i64, i64)) -> i64| rows.iter().map(pick).collect::<Vec<_>>();
        let table = Table::new(vec![
            Column::integers("a", &numbers(|row| row.0)),
            Column::texts("b", rows.iter().map(|row| words[row.1])),
            Column::integers("s", &numbers(|row| row.2)),
            Column::integers("g", &numbers(|row| row.3)),
            Column::integers("h", &numbers(|row| row.4)),
        ]);
        let data = microdata(&table, &["a", "b"], "s");
        let groups = by_column(&data, "g");
        let subspace = Subspace { attributes: if is_whole { Vec::new() } else { vec!["a".into()] }, table: None };
        let n = rows.len() as f64;
        let members = |of: fn(&(i64, usize, i64, i64, i64)) -> i64, id: i64| rows.iter().filter(|row| of(row) == id).collect::<Vec<_>>();
        let share_of = |group: i64, s: i64| {
            let members = members(|row| row.3, group);
            members.iter().filter(|row| row.2 == s).count() as f64 / members.len() as f64
        };
        // What a box of some rows says about a point: 1/points if the box covers it.
        let in_box = |members: &[&(i64, usize, i64, i64, i64)], a: i64, b: usize| {
            let (low, high) = (members.iter().map(|row| row.0).min().unwrap(), members.iter().map(|row| row.0).max().unwrap());
            let mut seen: Vec<usize> = members.iter().map(|row| row.1).collect();
            seen.sort_unstable();
            seen.dedup();
            let width = (high - low + 1) as f64;
            match (low <= a && a <= high, seen.contains(&b)) {
                (true, _) if !is_whole => 1.0 / width,
                (true, true) => 1.0 / width / seen.len() as f64,
                _ => 0.0,
            }
        };
        let guess = |form: &str, a: i64, b: usize, s: i64| -> f64 {
            rows.iter().map(|row| {
                let group = members(|row| row.3, row.3);
                let value = share_of(row.3, s);
                let here = row.0 == a && (!is_whole || row.1 == b);
                value * match form {
                    "generalize" => in_box(&group, a, b),
                    "angel" => in_box(&members(|row| row.4, row.4), a, b),
                    "anatomy" => f64::from(u8::from(here)),
                    _ => {
                        let size = group.len() as f64;
                        let of_a = group.iter().filter(|row| row.0 == a).count() as f64 / size;
                        let of_b = group.iter().filter(|row| row.1 == b).count() as f64 / size;
                        if is_whole { of_a * of_b } else { of_a }
                    }
                }
            }).sum::<f64>() / n
        };
        let methods: [(&str, Box<dyn Method>); 4] = [
            ("generalize", Box::new(Generalize)),
            ("angel", Box::new(angel(&["h"], &[]))),
            ("anatomy", Box::new(Anatomy)),
            ("permute", Box::new(Permute)),
        ];
        for (form, method) in methods {
            let release = publish(&*method, &data, &groups);
            let found = evaluate(&release, &table, std::slice::from_ref(&subspace), &Unwatched).unwrap().divergences[0].kl;
            let mut points: Vec<(i64, usize, i64)> = rows.iter().map(|row| (row.0, if is_whole { row.1 } else { 0 }, row.2)).collect();
            points.sort_unstable();
            let expected: f64 = points.chunk_by(|x, y| x == y).map(|run| {
                let share = run.len() as f64 / n;
                share * (share / guess(form, run[0].0, run[0].1, run[0].2)).ln()
            }).sum();
            prop_assert!((found - expected).abs() < 1e-9, "{}: {} not {}", form, found, expected);
        }
    }
}

//! Anatomy, permute, shuffle and rank-swap: the papers' tables, uniform permutations, and nothing of the input's order.

use chrysalis_testkit::required;
use std::collections::BTreeMap;

use crate::common::{plain, rng, specs};
use chrysalis_publish::method::{Anatomy, Method, Permute, RankSwap, Shuffle};
use chrysalis_publish::partitioner::{ByColumn, BySensitive, Nobody, Sequential};
use chrysalis_publish::{Job, Microdata, Partition, Partitioner};
use chrysalis_release::Release;
use chrysalis_table::{Column, Table, Unwatched, no_progress};
use chrysalis_testkit::papers;

fn by_column(data: &Microdata, column: &str) -> Partition {
    let goal = data.goal(&[]).unwrap();
    let groups = ByColumn { column: column.into() };
    groups.partition(data, &goal, &mut rng(1), &no_progress).unwrap()
}

fn publish(method: &dyn Method, data: &Microdata, partition: &Partition, seed: u64) -> Release {
    Job::new(data, &[], partition, &mut rng(seed), &Unwatched).run(method).unwrap().release
}

/// The rows of a table as sorted texts.
fn sorted(table: &Table, columns: &[&str]) -> Vec<Vec<String>> {
    let mut rows = papers::cells(table, columns);
    rows.sort();
    rows
}

/// Per group, the sorted values of a column; groups sorted, so that ids do not matter.
fn per_group(table: &Table, column: &str) -> Vec<Vec<String>> {
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in papers::cells(table, &["group_id", column]) {
        groups.entry(row[0].clone()).or_default().push(row[1].clone());
    }
    let mut groups: Vec<Vec<String>> = groups.into_values().collect();
    groups.iter_mut().for_each(|group| group.sort());
    groups.sort();
    groups
}

fn pa_table_1() -> (Microdata, Partition) {
    let data = plain(papers::table("pa/table-1.csv"), &["age", "sex"], Some("disease"));
    let partition = by_column(&data, "group_id");
    (data, partition)
}

#[test]
fn pa_table_3_is_the_anatomy_of_table_1() {
    let (data, partition) = pa_table_1();
    for seed in 0..8 {
        let release = publish(&Anatomy, &data, &partition, seed);
        let (qit, st) = (release.table("qit").unwrap(), release.table("st").unwrap());
        let (printed_qit, printed_st) = (papers::table("pa/table-3-qit.csv"), papers::table("pa/table-3-st.csv"));
        assert_eq!(sorted(qit, &["age", "sex"]), sorted(&printed_qit, &["age", "sex"]));
        assert_eq!(sorted(st, &["disease", "count"]), sorted(&printed_st, &["disease", "count"]));
        for (column, ours, printed) in [("age", qit, &printed_qit), ("disease", st, &printed_st)] {
            assert_eq!(per_group(ours, column), per_group(printed, column), "{column}");
        }
    }
}

#[test]
fn pa_table_4_has_the_values_of_our_permuted_table_1() {
    let (data, partition) = pa_table_1();
    let release = publish(&Permute, &data, &partition, 3);
    let printed = papers::table("pa/table-4-pqt.csv");
    for column in ["age", "sex"] {
        assert_eq!(per_group(release.table("pqt").unwrap(), column), per_group(&printed, column), "{column}");
    }
    let printed = papers::table("pa/table-4-pst.csv");
    assert_eq!(per_group(release.table("pst").unwrap(), "disease"), per_group(&printed, "disease"));
}

#[test]
fn permute_without_a_sensitive_column_has_one_table() {
    let data = plain(papers::table("pa/table-1.csv"), &["age", "sex", "disease"], None);
    let release = publish(&Permute, &data, &by_column(&data, "group_id"), 3);
    assert_eq!(release.tables.len(), 1);
    assert_eq!(release.tables[0].rows(), 9);
}

#[test]
fn ke_figure_4_is_the_help_table_of_figure_1() {
    let data = plain(papers::table("ke/figure-1.csv"), &["age", "zipcode", "gender"], Some("salary"));
    let release = publish(&Shuffle, &data, &by_column(&data, "group_id"), 5);
    let columns = ["hits", "sum_lb", "sum_ub", "min_lb", "min_ub"];
    let help = release.table("help").unwrap();
    assert_eq!(sorted(help, &columns), sorted(&papers::table("ke/figure-4-help.csv"), &columns));
    assert_eq!(per_group(release.table("permuted").unwrap(), "salary"), per_group(data.table(), "salary"));
    // Of two hits the least is the first of three values two times in three, and the greatest the last.
    let second = papers::cells(help, &["hits", "min_lb", "min_mean", "min_variance", "max_mean", "max_variance"]);
    let second: Vec<&Vec<String>> = second.iter().filter(|row| row[0] == "2" && row[1] == "54000").collect();
    let numbers: Vec<f64> = second[0][2..].iter().map(|number| number.parse().unwrap()).collect();
    for (ours, by_hand) in numbers.iter().zip([54e3 + 1e3 / 3.0, 2e6 / 9.0, 56e3 - 1e3 / 3.0, 2e6 / 9.0]) {
        assert!((ours / by_hand - 1.0).abs() < 1e-12, "{second:?}");
    }
    // The maxima mirror the minima, and the mean of one hit is the group's.
    let first: Vec<Vec<String>> = papers::cells(help, &["hits", "min_lb", "max_lb", "max_ub", "mean", "variance"])
        .into_iter()
        .filter(|row| row[0] == "1" && row[1] == "54000")
        .collect();
    assert_eq!(first, [["1", "54000", "54000", "56000", "55000", "666666.6666666666"]]);
}

/// Every relative order of two permuted columns is equally likely; so is every assignment of a shuffled column.
#[test]
fn permutations_are_uniform() {
    let letters = Column::texts("a", ["p", "q", "r"].into_iter());
    let table =
        Table::new(vec![letters, Column::texts("b", ["x", "y", "z"].into_iter()), Column::integers("g", &[1, 1, 1])]);
    let data = plain(table, &["a", "b"], None);
    let partition = by_column(&data, "g");
    check_uniform(
        6,
        (0..6_000).map(|seed| papers::cells(&publish(&Permute, &data, &partition, seed).tables[0], &["a", "b"])),
    );
    let numbers = Column::integers("s", &[10, 20, 30, 40]);
    let table = Table::new(vec![
        Column::texts("a", ["p", "q", "r", "t"].into_iter()),
        numbers,
        Column::integers("g", &[1, 1, 1, 1]),
    ]);
    let data = plain(table, &["a"], Some("s"));
    let partition = by_column(&data, "g");
    let runs =
        (0..12_000).map(|seed| papers::cells(&publish(&Shuffle, &data, &partition, seed).tables[0], &["a", "s"]));
    check_uniform(24, runs);
}

/// A chi-square test over all outcomes, at a level of one in a hundred thousand.
fn check_uniform(n_outcomes: usize, runs: impl Iterator<Item = Vec<Vec<String>>>) {
    let mut seen: BTreeMap<Vec<Vec<String>>, u64> = BTreeMap::new();
    runs.for_each(|run| *seen.entry(run).or_default() += 1);
    assert_eq!(seen.len(), n_outcomes);
    let expected = seen.values().sum::<u64>() as f64 / n_outcomes as f64;
    let chi_square: f64 = seen.values().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
    // Wilson and Hilferty: the cube root of χ²/df is nearly normal; 4.26 deviations leave 1e-5.
    let df = (n_outcomes - 1) as f64;
    let limit = df * (1.0 - 2.0 / (9.0 * df) + 4.26 * (2.0 / (9.0 * df)).sqrt()).powi(3);
    assert!(chi_square < limit, "χ² {chi_square} of {n_outcomes} outcomes, at most {limit}");
}

#[test]
fn columns_and_groups_are_permuted_independently() {
    // Two groups of two, two columns: 2·2 relative orders, none favoured and none tied to another.
    let table = Table::new(vec![
        Column::texts("a", ["p", "q", "r", "t"].into_iter()),
        Column::texts("b", ["x", "y", "z", "w"].into_iter()),
        Column::integers("g", &[1, 1, 2, 2]),
    ]);
    let data = plain(table, &["a", "b"], None);
    let partition = by_column(&data, "g");
    let outcome = |seed| sorted(&publish(&Permute, &data, &partition, seed).tables[0], &["a", "b"]);
    check_uniform(4, (0..4_000).map(outcome));
}

/// Reversed input, same seed: the same bytes of every table.
#[test]
fn releases_do_not_depend_on_the_order_of_the_input() {
    let table = papers::table("ke/figure-1.csv");
    let reversed: Vec<u32> = (0..table.rows() as u32).rev().collect();
    let publishers: [&dyn Method; 3] = [&Anatomy, &Permute, &Shuffle];
    for publisher in publishers {
        let release = |table: Table| {
            let data = plain(table, &["age", "zipcode", "gender"], Some("salary"));
            publish(publisher, &data, &by_column(&data, "group_id"), 9)
        };
        let (one, other) = (release(table.clone()), release(table.gather(&reversed)));
        assert_eq!(one.tables, other.tables, "{}", publisher.form());
        assert_eq!(one.manifest, other.manifest);
    }
}

/// Rank-swap asks for no groups, so none are given.
fn swapped(data: &Microdata, within: &str) -> Release {
    Job::new(data, &required(&specs(&[within])), &Nobody, &mut rng(4), &Unwatched).run(&RankSwap).unwrap().release
}

#[test]
fn rank_swap_keeps_everybody_and_moves_values_within_reach() {
    let data = plain(papers::table("ke/figure-1.csv"), &["age", "gender"], Some("salary"));
    let release = swapped(&data, "ke=2,1000");
    let swapped = release.table("swapped").unwrap();
    for columns in [vec!["age", "gender"], vec!["salary"]] {
        assert_eq!(sorted(swapped, &columns), sorted(data.table(), &columns));
    }
    assert!(release.manifest.promises.is_empty(), "it promises nothing");
}

/// With values 0, 1, 2, … and three distinct ones within reach, no value comes from farther than two places away: the
/// radius is one, except for the first and the last, which have nobody beyond them.
#[test]
fn rank_swap_exchanges_once_so_that_nothing_drifts() {
    let numbers: Vec<i64> = (0..2000).collect();
    let table = Table::new(vec![Column::integers("own", &numbers), Column::integers("salary", &numbers)]);
    let data = plain(table, &["own"], Some("salary"));
    let release = swapped(&data, "ke=3,2");
    let swapped = release.table("swapped").unwrap();
    let number = |name: &str, row: usize| {
        let column = swapped.column(name).unwrap();
        column.domain().value(column.code(row)).unwrap().number().unwrap()
    };
    let moves: Vec<f64> = (0..2000).map(|row| (number("salary", row) - number("own", row)).abs()).collect();
    assert!(moves.iter().all(|&moved| moved <= 2.0), "{moves:?}");
    assert!(moves.iter().filter(|&&moved| moved > 0.0).count() > 1900, "{moves:?}");
}

#[test]
fn sorted_partitioners_refuse_what_they_cannot_sort_or_promise() {
    let check = |sensitive: &str, require: &str, message: &str| {
        let data = plain(papers::table("ke/figure-1.csv"), &["age"], Some(sensitive));
        let goal = data.goal(&required(&specs(&[require]))).unwrap();
        let error = BySensitive::MinSum.partition(&data, &goal, &mut rng(1), &no_progress).unwrap_err();
        assert_eq!(error.to_string(), message);
    };
    check("gender", "k=2", "`min-sum` needs a numeric sensitive column, but `gender` is category");
    check("salary", "l=2", "`min-sum` forms groups for ke, k and distinct-l only, not for l=2");
}

#[test]
fn every_group_of_the_sorted_and_sequential_partitioners_satisfies_the_principles() {
    let numbers: Vec<i64> = (0..500).map(|row| (row * row * 7919) % 311).collect();
    let table = Table::new(vec![Column::integers("q", &(0..500).collect::<Vec<_>>()), Column::integers("s", &numbers)]);
    let data = plain(table, &["q"], Some("s"));
    let all: [&dyn Partitioner; 5] =
        [&BySensitive::MinSum, &BySensitive::MinMax, &BySensitive::MinMaxExact, &BySensitive::MaxGroups, &Sequential];
    for partitioner in all {
        let goal = data.goal(&required(&specs(&["ke=4,12"]))).unwrap();
        let partition = partitioner.partition(&data, &goal, &mut rng(1), &no_progress).unwrap();
        let mut rows: Vec<u32> = partition.groups().flatten().copied().collect();
        rows.sort_unstable();
        assert_eq!(rows, (0..500).collect::<Vec<_>>(), "{}", partitioner.name());
        for group in partition.groups() {
            let mut values: Vec<i64> = group.iter().map(|&row| numbers[row as usize]).collect();
            values.sort_unstable();
            let span = values[values.len() - 1] - values[0];
            values.dedup();
            assert!(values.len() >= 4 && span >= 12, "{}: {values:?}", partitioner.name());
        }
    }
}

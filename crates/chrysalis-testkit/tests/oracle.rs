//! The oracle itself is checked against known results: Bell numbers, hand-made transports, ke's only optimum.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;

use chrysalis_criteria::Weights;
use chrysalis_table::Column;
use chrysalis_testkit::oracle::{best_partition, distance, for_each_partition, holds, least_cost, members, weight};
use chrysalis_testkit::{SensitiveColumn, papers};

fn check(principle: &str, column: &SensitiveColumn, group: &[&str], expected: bool) {
    let holds = holds(&principle.parse().unwrap(), column, &column.group(group));
    assert_eq!(holds, expected, "{principle} for {group:?}");
}

#[test]
fn partitions_are_counted_by_the_bell_numbers_and_each_comes_once() {
    for (n, bell) in (1..=9).zip([1, 2, 5, 15, 52, 203, 877, 4140, 21147]) {
        let mut seen = BTreeSet::new();
        for_each_partition(n, &mut |groups| {
            assert_eq!(groups.iter().sum::<u32>(), (1 << n) - 1, "a disjoint cover");
            assert!(groups.iter().all(|&group| group != 0));
            let mut groups = groups.to_vec();
            groups.sort_unstable();
            assert!(seen.insert(groups));
        });
        assert_eq!(seen.len(), bell);
    }
}

#[test]
fn ke_section_6_2_has_one_optimal_pair() {
    let table = papers::table("ke/multiset.csv");
    let column = SensitiveColumn::of(table.column("value").unwrap());
    let value = |row: &u32| -> i64 { papers::cells(&table, &["value"])[*row as usize][0].parse().unwrap() };
    let mut by_range: Vec<(i64, BTreeSet<Vec<i64>>)> = Vec::new();
    for_each_partition(8, &mut |groups| {
        let groups: Vec<Vec<u32>> = groups.iter().map(|&group| members(group)).collect();
        let allowed =
            |rows: &Vec<u32>| holds(&"ke=4,5".parse().unwrap(), &column, &papers::counts(&table, "value", rows));
        if groups.iter().all(allowed) {
            let values: Vec<Vec<i64>> = groups.iter().map(|rows| rows.iter().map(value).collect()).collect();
            let range = values.iter().map(|values| values.iter().max().unwrap() - values.iter().min().unwrap()).max();
            by_range.push((range.unwrap(), values.into_iter().collect()));
        }
    });
    let least = by_range.iter().map(|(range, _)| *range).min().unwrap();
    let best: BTreeSet<_> =
        by_range.into_iter().filter(|(range, _)| *range == least).map(|(_, groups)| groups).collect();
    assert_eq!((least, best.len()), (5, 1));
    let printed = papers::table("ke/multiset-min-max-exact.csv");
    let numbers = papers::cells(&printed, &["value"]);
    let group = |rows: &Vec<u32>| rows.iter().map(|&row| numbers[row as usize][0].parse().unwrap()).collect();
    let printed: BTreeSet<Vec<i64>> = papers::groups(&printed, "group_id").iter().map(group).collect();
    assert_eq!(best.first().unwrap(), &printed);
}

#[test]
fn the_best_partition_is_the_cheapest_that_is_allowed() {
    let pairs = |rows: &[u32]| (rows.len() == 2).then(|| f64::from(rows[1] - rows[0]));
    assert_eq!(best_partition(4, pairs), Some((2.0, vec![0b0011, 0b1100])));
    assert_eq!(best_partition(3, pairs), None);
}

#[test]
fn earth_is_moved_at_least_cost() {
    let line = |a: usize, b: usize| (a as i128 - b as i128).abs();
    assert_eq!(least_cost(&[0, 0, 0], line), 0);
    assert_eq!(least_cost(&[3, 0, -3], line), 6);
    assert_eq!(least_cost(&[2, -3, 0, 1], line), 4);
    // Taking the nearest pair first, 1 to 2, would cost 1 + 5: that choice must be undone.
    let cost = [[0, 9, 2, 5], [9, 0, 1, 1], [2, 1, 0, 9], [5, 1, 9, 0]];
    assert_eq!(least_cost(&[1, 1, -1, -1], |a, b| cost[a][b]), 3);
}

#[test]
fn definitions_agree_with_numbers_worked_by_hand() {
    let texts = ["Asthma", "Cancer", "Flu", "Flu", "HIV", "Hepatitis", "Indigestion", "Obesity", "Phthisis"];
    let column = SensitiveColumn::of(&Column::texts("disease", texts.iter().copied()));
    let column = column.with_categories(papers::lalpha_categories(), Weights::Uniform);
    check("l=2", &column, &["Flu", "HIV"], true);
    check("l=2.1", &column, &["Flu", "HIV"], false);
    check("entropy-l=2", &column, &["Flu", "HIV"], true);
    check("entropy-l=2", &column, &["Flu", "HIV", "HIV"], false);
    check("recursive-l=1,2", &column, &["Flu", "HIV"], false);
    check("recursive-l=1.1,2", &column, &["Flu", "HIV"], true);
    check("beta=3.5", &column, &["Flu"], true);
    check("beta=3.4", &column, &["Flu"], false);
    check("t=7/9", &column, &["Flu"], true);
    check("t=0.77", &column, &["Flu"], false);
    check("distinct-l-alpha=4,2", &column, &["Cancer", "Phthisis", "Asthma", "Flu"], true);
    assert_eq!(weight(&column, &column.group(&["Cancer", "Phthisis", "Asthma", "Flu"])).to_string(), "2");
    assert_eq!(distance(&column, &column.group(&texts)).to_string(), "0");
    // Li et al., section 4.3: {3K, 4K, 5K} lies 0.375 from {3K, …, 11K}, {6K, 8K, 11K} lies 0.167.
    let salaries = SensitiveColumn::of(&Column::integers("salary", &[3, 4, 5, 6, 7, 8, 9, 10, 11]));
    assert_eq!(distance(&salaries, &salaries.group(&["3", "4", "5"])).to_string(), "3/8");
    assert_eq!(distance(&salaries, &salaries.group(&["6", "8", "11"])).to_string(), "1/6");
}

#[test]
fn every_file_of_the_papers_is_at_hand_and_reads() {
    let mut found = Vec::new();
    for folder in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/papers")).unwrap().map(Result::unwrap) {
        let name = folder.file_name().into_string().unwrap();
        if folder.file_type().unwrap().is_dir() {
            let files = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name());
            found.extend(files.map(|file| format!("{name}/{}", file.into_string().unwrap())));
        }
    }
    found.sort();
    let listed: Vec<&str> = papers::FILES.iter().map(|(path, _)| *path).collect();
    assert_eq!(listed, found);
    for path in listed {
        if path.ends_with("taxonomy.csv") {
            assert!(papers::taxonomy(path).n_lines() > 0);
        } else {
            assert!(papers::table(path).rows() > 0);
        }
    }
}

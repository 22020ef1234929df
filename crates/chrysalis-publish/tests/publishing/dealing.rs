//! Anatomize, similar and nearby: groups that cover all rows, satisfy the principles, and are as small as promised.

use crate::common::{plain, specs};
use chrysalis_publish::partitioner::{Anatomize, Nearby, Similar};
use chrysalis_publish::{Microdata, Partition, Partitioner};
use chrysalis_table::{Column, Table};
use chrysalis_testkit::required;
use proptest::prelude::*;

fn all() -> [Box<dyn Partitioner + Sync>; 3] {
    [Box::new(Anatomize), Box::new(Similar::default()), Box::new(Nearby)]
}

fn table(numbers: &[i64], words: &[u8], sensitive: &[i64]) -> Microdata {
    let words: Vec<String> = words.iter().map(|word| format!("w{word}")).collect();
    let columns = vec![
        Column::integers("a", numbers),
        Column::texts("b", words.iter().map(String::as_str)),
        Column::integers("s", sensitive),
    ];
    plain(Table::new(columns), &["a", "b"], Some("s"))
}

/// Checks for a disjoint cover. Returns the largest count of a value, the distinct values and the size of every group.
fn check_cover(partition: &Partition, data: &Microdata) -> Vec<(usize, usize, usize)> {
    let mut rows: Vec<u32> = partition.groups().flatten().copied().collect();
    rows.sort_unstable();
    assert_eq!(rows, (0..data.rows() as u32).collect::<Vec<_>>());
    let of_group = |group: &[u32]| {
        let mut values: Vec<u32> = group.iter().map(|&row| data.sensitive().unwrap().code(row as usize)).collect();
        values.sort_unstable();
        let most = values.chunk_by(|a, b| a == b).map(<[u32]>::len).max().unwrap();
        (most, values.chunk_by(|a, b| a == b).count(), group.len())
    };
    partition.groups().map(of_group).collect()
}

fn rows() -> impl Strategy<Value = Vec<(i64, u8, i64)>> {
    prop::collection::vec((0i64..30, 0u8..4, 0i64..12), 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn groups_for_l_are_eligible_and_small(rows in rows(), l in 2usize..5, seed in 0u64..1000) {
        let numbers: Vec<i64> = rows.iter().map(|row| row.0).collect();
        let words: Vec<u8> = rows.iter().map(|row| row.1).collect();
        let sensitive: Vec<i64> = rows.iter().map(|row| row.2).collect();
        let data = table(&numbers, &words, &sensitive);
        let feasible = data.sensitive_counts().max() * l as u64 <= rows.len() as u64;
        for partitioner in all() {
            let name = partitioner.name();
            let partition = crate::common::partition(&*partitioner, &data, &specs(&[&format!("l={l}")]), seed);
            prop_assert_eq!(partition.is_ok(), feasible, "{}", name);
            let Ok(partition) = partition else { continue };
            for (most, distinct, size) in check_cover(&partition, &data) {
                prop_assert!(most * l <= size, "{}: {} of {}", name, most, size);
                prop_assert!((l..2 * l).contains(&size), "{}: {} rows", name, size);
                prop_assert!(name == "similar" || distinct == size, "{}: a value twice", name);
            }
        }
    }

    #[test]
    fn groups_for_any_principles_hold(rows in rows(), seed in 0u64..1000) {
        let numbers: Vec<i64> = rows.iter().map(|row| row.0).collect();
        let words: Vec<u8> = rows.iter().map(|row| row.1).collect();
        let sensitive: Vec<i64> = rows.iter().map(|row| row.2).collect();
        let data = table(&numbers, &words, &sensitive);
        for require in [&["k=3"][..], &["k=5", "distinct-l=3"], &["t=0.3"], &["ke=2,4"], &["entropy-l=2", "beta=3"], &["recursive-l=2,2"]] {
            let Ok(goal) = data.goal(&required(&specs(require))) else { continue };
            for partitioner in all() {
                let partition = crate::common::partition(&*partitioner, &data, &specs(require), seed).unwrap();
                check_cover(&partition, &data);
                for group in partition.groups() {
                    let codes = group.iter().map(|&row| data.sensitive().unwrap().code(row as usize));
                    let counts = chrysalis_table::SaCounts::of(data.sensitive_counts().domain_len(), codes);
                    prop_assert!(chrysalis_criteria::Principle::holds(&goal, &counts), "{} {require:?}", partitioner.name());
                }
            }
        }
    }
}

fn large() -> Microdata {
    let n = 30_000i64;
    let numbers: Vec<i64> = (0..n).map(|row| row * 7919 % 997).collect();
    let words: Vec<u8> = (0..n).map(|row| (row * 31 % 11) as u8).collect();
    let sensitive: Vec<i64> = (0..n).map(|row| row * row % 23).collect();
    table(&numbers, &words, &sensitive)
}

#[test]
fn the_number_of_threads_changes_nothing_and_the_generator_does() {
    let data = large();
    for partitioner in all() {
        let groups = |threads: usize, seed: u64| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| crate::common::partition(&*partitioner, &data, &specs(&["l=5"]), seed).unwrap())
        };
        assert!(groups(1, 7) == groups(3, 7), "{}", partitioner.name());
        assert!(groups(2, 7) != groups(2, 8), "{}", partitioner.name());
    }
}

#[test]
fn nearby_groups_are_the_tightest() {
    let data = large();
    let mean_range = |partitioner: &dyn Partitioner| {
        let partition = crate::common::partition(partitioner, &data, &specs(&["l=5"]), 1).unwrap();
        let (column, _) = data.quasi().next().unwrap();
        let range = |group: &[u32]| {
            let codes = || group.iter().map(|&row| column.code(row as usize));
            f64::from(codes().max().unwrap() - codes().min().unwrap()) * group.len() as f64
        };
        partition.groups().map(range).sum::<f64>() / data.rows() as f64
    };
    let [anatomize, similar, nearby] = all().map(|partitioner| mean_range(&*partitioner));
    assert!(nearby < similar && similar < anatomize, "{nearby} {similar} {anatomize}");
}

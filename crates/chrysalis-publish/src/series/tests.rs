#![allow(clippy::unwrap_used, reason = "tests")]

use chrysalis_table::Column;
use proptest::prelude::*;

use super::assign::Rest;
use super::divide::Bucket;
use super::family::Family;

/// A column whose domain has this many values.
fn column(n_values: usize) -> Column {
    Column::integers("s", &(0..n_values as i64).collect::<Vec<_>>())
}

proptest! {
    /// Every newcomer is handed out once, and where none of them is too frequent, nobody else is.
    #[test]
    fn newcomers_are_handed_out_once(
        counts in prop::collection::vec(0usize..30, 2..12),
        old in prop::collection::vec((prop::collection::btree_set(0u32..12, 2..6), 1usize..20), 0..8),
        m in 2u64..=5,
    ) {
        prop_assume!(counts.len() as u64 >= m);
        let newcomers: Vec<Vec<u32>> = counts.iter().map(|&n| (0..n as u32).collect()).collect();
        let n_values = counts.len() as u32;
        let signature = |set: &std::collections::BTreeSet<u32>| -> Vec<u32> {
            set.iter().copied().filter(|value| *value < n_values).collect()
        };
        let mut signatures: Vec<Vec<u32>> = old.iter().map(|(set, _)| signature(set)).collect();
        signatures.retain(|values| values.len() as u64 >= m);
        signatures.sort_unstable();
        signatures.dedup();
        let mut family = Family::new(signatures.clone());
        let buckets: Vec<Bucket> = signatures
            .iter()
            .enumerate()
            .map(|(at, values)| Bucket {
                signature: at as u32,
                rows: vec![vec![0; 3]; values.len()],
                groups: old[at].1,
                has_past: true,
            })
            .collect();
        let mut rest = Rest::of(&newcomers, m);
        let most = *counts.iter().max().unwrap() as u64;
        let total = counts.iter().sum::<usize>() as u64;
        rest.pad(&buckets, &family, &column(counts.len()));
        let mut handed = vec![0usize; counts.len()];
        let alike: Vec<u32> = (0..n_values).map(|value| (value * 7 + 3) % n_values.max(1)).collect();
        let alike = if n_values.is_multiple_of(7) { (0..n_values).collect() } else { alike };
        let people: Vec<u64> = counts.iter().map(|&n| n as u64 * 3 % 31).collect();
        for (signature, groups) in rest.hand_out(&buckets, &alike, &people, &mut family) {
            let values = family.values(signature);
            prop_assert!(groups > 0 && values.len() as u64 >= m);
            values.iter().for_each(|&value| handed[value as usize] += groups);
        }
        let more: usize = handed.iter().zip(&counts).map(|(handed, count)| {
            assert!(handed >= count);
            handed - count
        }).sum();
        prop_assert_eq!(more as u64, (m * most).saturating_sub(total), "counterfeits only where they are needed");
    }
}

#![allow(clippy::unwrap_used, reason = "tests")]

use chrysalis_table::Column;
use proptest::prelude::*;

use super::assign::Rest;
use super::divide::{Bucket, Divided};
use super::family::Family;

/// A column whose domain has this many values.
fn column(n_values: usize) -> Column {
    Column::integers("s", &(0..n_values as i64).collect::<Vec<_>>())
}

/// People of signatures, as many as named with each value, and newcomers.
fn divided(buckets: &[&[usize]], newcomers: &[usize], family: &Family) -> Divided {
    let bucket = |(at, counts): (usize, &&[usize])| Bucket {
        signature: at as u32,
        rows: counts.iter().map(|&n| vec![0; n]).collect(),
        groups: 0,
        has_past: false,
    };
    assert_eq!(family.len(), buckets.len());
    Divided {
        buckets: buckets.iter().enumerate().map(bucket).collect(),
        newcomers: newcomers.iter().map(|&n| vec![1; n]).collect(),
        changed: Vec::new(),
        n_changed: 0,
        stay: 0,
    }
}

/// One of four is a greater lack than three of a hundred.
#[test]
fn newcomers_go_where_most_is_lacking_beside_what_chance_does() {
    let family = Family::new(vec![vec![0, 1], vec![0, 2]]);
    for (n, expected) in [(0, (2, 97)), (1, (3, 97)), (2, (4, 97)), (3, (4, 98)), (5, (4, 100)), (7, (4, 100))] {
        let mut divided = divided(&[&[2, 4], &[97, 100]], &[n, 0, 0], &family);
        assert_eq!(divided.balance(&family), 203 + n.min(5) as u64);
        let found = (divided.buckets[0].rows[0].len(), divided.buckets[1].rows[0].len());
        assert_eq!((found, divided.newcomers[0].len()), (expected, n.saturating_sub(5)), "{n} newcomers");
        assert_eq!(divided.buckets.iter().map(|bucket| bucket.groups).collect::<Vec<_>>(), [4, 100]);
    }
}

proptest! {
    /// Whoever waits after the balance is one of a value that is lacking nowhere.
    #[test]
    fn nobody_waits_for_a_place_that_is_free(
        counts in prop::collection::vec(prop::collection::vec(0usize..9, 3), 1..6),
        newcomers in prop::collection::vec(0usize..20, 5),
    ) {
        let signatures: Vec<Vec<u32>> = [[0, 1, 2], [0, 1, 3], [0, 2, 4], [1, 3, 4], [2, 3, 4]].map(Vec::from).to_vec();
        let family = Family::new(signatures[..counts.len()].to_vec());
        let counts: Vec<&[usize]> = counts.iter().map(Vec::as_slice).collect();
        let mut divided = divided(&counts, &newcomers, &family);
        divided.balance(&family);
        for (bucket, before) in divided.buckets.iter().zip(&counts) {
            prop_assert_eq!(bucket.groups, *before.iter().max().unwrap());
            for (rows, &value) in bucket.rows.iter().zip(family.values(bucket.signature)) {
                prop_assert!(rows.len() <= bucket.groups);
                prop_assert!(rows.len() == bucket.groups || divided.newcomers[value as usize].is_empty());
            }
        }
        let of = |value: u32| counts.iter().zip(&signatures).flat_map(move |(counts, values)| {
            counts.iter().zip(values).filter(move |(_, at)| **at == value).map(|(n, _)| *n)
        }).sum::<usize>();
        for value in 0..5 {
            let there: usize = divided.buckets.iter().filter_map(|bucket| {
                family.place(bucket.signature, value).map(|place| bucket.rows[place].len())
            }).sum();
            let waiting = divided.newcomers[value as usize].len();
            prop_assert_eq!(there + waiting, of(value) + newcomers[value as usize]);
        }
    }

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

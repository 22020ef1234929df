//! `least_removal` never claims too much: if fewer rows leave than it says, the rest fails.

#![allow(clippy::unwrap_used, reason = "tests")]

use chrysalis_table::{Kind, SaCounts};
use chrysalis_testkit::SensitiveColumn;
use chrysalis_testkit::strategies::{NAMES, fixed, principle, sensitive_columns};
use proptest::prelude::*;

/// Every way to keep some of each value.
fn sub_multisets(counts: &[u32]) -> Vec<Vec<u32>> {
    counts.iter().fold(vec![Vec::new()], |all, &count| {
        let longer = |kept: &Vec<u32>| {
            let kept = kept.clone();
            (0..=count).map(move |n| kept.iter().copied().chain([n]).collect::<Vec<u32>>())
        };
        all.iter().flat_map(longer).collect()
    })
}

fn counted(counts: &[u32]) -> SaCounts {
    let mut group = SaCounts::new(counts.len());
    (0u32..).zip(counts).for_each(|(code, &n)| group.add_many(code, n));
    group
}

fn columns() -> impl Strategy<Value = SensitiveColumn> {
    sensitive_columns(prop::sample::select(Kind::ALL.to_vec()))
}

proptest! {
    #![proptest_config(fixed(600))]

    #[test]
    fn fewer_rows_than_that_are_never_enough(
        (column, spec, picks) in (columns(), prop::sample::select(NAMES.to_vec())).prop_flat_map(|(column, name)| {
            let n = column.domain.len();
            (Just(column), principle(name), prop::collection::vec(0..4u32, n))
        }),
    ) {
        let Ok(bound) = column.bind(&spec) else { return Ok(()) };
        let whole = column.counts.clone();
        let counts: Vec<u32> =
            (0u32..).zip(picks).map(|(code, pick)| pick.min(u32::try_from(whole.count(code)).unwrap())).collect();
        let group = counted(&counts);
        prop_assume!(group.total() > 0 && sub_multisets(&counts).len() <= 5_000);
        let least = bound.least_removal(&group);
        prop_assert_eq!(least == 0, bound.holds(&group));
        for kept in sub_multisets(&counts) {
            let kept = counted(&kept);
            if kept.total() > 0 && group.total() - kept.total() < least {
                prop_assert!(!bound.holds(&kept), "{} of {} rows may leave, {} said", group.total() - kept.total(), group.total(), least);
            }
        }
    }
}

//! Minimal sets that meet every set of a list.

/// The smallest sets of columns that meet every one of `sets`, none of which is part of another. Those with more than
/// `most` columns are left out. `found` is a buffer for the result, `next` for the work.
///
/// Sets are met one after the other (Berge): a set that meets the next one already stays, any other is extended by each of
/// its columns, unless one that stays is part of it.
pub(super) fn minimal(sets: &[u64], most: u32, found: &mut Vec<u64>, next: &mut Vec<u64>) {
    found.clear();
    found.push(0);
    for &set in sets {
        next.clear();
        next.extend(found.iter().copied().filter(|known| known & set != 0));
        let stay = next.len();
        for &short in found.iter().filter(|&&known| known & set == 0 && known.count_ones() < most) {
            let mut columns = set;
            while columns != 0 {
                let longer = short | columns & columns.wrapping_neg();
                columns &= columns - 1;
                if next[..stay].iter().all(|known| known & longer != *known) {
                    next.push(longer);
                }
            }
        }
        std::mem::swap(found, next);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn they_are_those_of_the_definition(
            sets in prop::collection::vec(0u64..64, 0..7),
            most in 0u32..7,
        ) {
            let meets_all = |set: u64| sets.iter().all(|other| other & set != 0);
            let is_minimal =
                |set: &u64| meets_all(*set) && (0..6).all(|at| set >> at & 1 == 0 || !meets_all(set & !(1 << at)));
            let expected: Vec<u64> = (0..64).filter(is_minimal).filter(|set| set.count_ones() <= most).collect();
            let (mut found, mut next) = (Vec::new(), Vec::new());
            minimal(&sets, most, &mut found, &mut next);
            found.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}

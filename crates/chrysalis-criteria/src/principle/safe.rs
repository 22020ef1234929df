//! How large a group must be so that it passes whichever of some rows it gets.
//!
//! Cuts that look at quasi values alone are safe if both sides are at least this large: nobody can tell from such a cut
//! which rows have which values. `crates/chrysalis-publish/src/partitioner/transparent/spec.md` has the argument.

use chrysalis_table::SaCounts;

use super::Principle;
use crate::Rational;

/// The least n for which p/q of n rows are no fewer than `count`.
pub(super) fn rows_for(count: u64, share: Rational) -> u64 {
    let (p, q) = (u128::from(*share.numer()), u128::from(*share.denom()));
    if p == 0 {
        return if count == 0 { 0 } else { u64::MAX };
    }
    u64::try_from((u128::from(count) * q).div_ceil(p)).unwrap_or(u64::MAX)
}

/// A group of more rows than the `n` most frequent values have together has more than `n` values.
pub(super) fn more_than_most_frequent(mut counts: Vec<u64>, n: u64) -> u64 {
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let n = usize::try_from(n).unwrap_or(usize::MAX).min(counts.len());
    counts[..n].iter().sum::<u64>() + 1
}

/// The same for a condition that a group keeps when its values become more even: the worst group of a size takes the
/// most frequent values first. `passes` is asked about frequencies.
pub(super) fn by_evenness(mut counts: Vec<u64>, passes: impl Fn(Vec<u64>) -> bool) -> u64 {
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let worst = |size: u64| {
        let mut left = size;
        let taken = counts.iter().map(|&count| {
            let taken = count.min(left);
            left -= taken;
            taken
        });
        taken.take_while(|&taken| taken > 0).collect::<Vec<u64>>()
    };
    least(counts.iter().sum(), |size| passes(worst(size)))
}

/// The least number up to `most` for which something is true that stays true, or one more than `most`.
pub(super) fn least(most: u64, is_enough: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, most + 1);
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if is_enough(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// What all parts of a goal need together.
pub(super) fn of_all<'a>(parts: impl Iterator<Item = &'a dyn Principle>, rows: &SaCounts) -> Option<u64> {
    parts.map(|part| part.safe_size(rows)).try_fold(1, |most, size| Some(most.max(size?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Alike, All, Near, PrincipleSpec, Sensitive};
    use chrysalis_table::{Domain, Kind, Value};

    /// Every group of rows with these values: how many of each.
    fn parts_of(counts: &[u64]) -> Vec<Vec<u64>> {
        counts.iter().fold(vec![Vec::new()], |parts, &count| {
            let with = |part: &Vec<u64>| (0..=count).map(|n| [part.clone(), vec![n]].concat()).collect::<Vec<_>>();
            parts.iter().flat_map(with).collect()
        })
    }

    fn counted(counts: &[u64]) -> SaCounts {
        let mut all = SaCounts::new(counts.len());
        (0..).zip(counts).for_each(|(code, &count)| all.add_many(code, count as u32));
        all
    }

    /// Whether every group of the safe size passes, for all ways to choose it, and the sizes that would do at least.
    fn checked(spec: &str, domain: &Domain, near: &Near, whole: &[u64], rows: &[u64]) -> Option<(u64, u64)> {
        let (whole, alike) = (counted(whole), Alike::new(domain, near));
        let ordinary = vec![false; domain.len()];
        let sensitive = Sensitive {
            name: "v",
            domain,
            counts: &whole,
            taxonomy: None,
            categories: None,
            ordinary: &ordinary,
            alike: &alike,
        };
        let goal = All::bind(&[spec.parse::<PrincipleSpec>().unwrap()], Some(&sensitive)).unwrap();
        let safe = goal.safe_size(&counted(rows))?;
        let total = |part: &Vec<u64>| part.iter().sum::<u64>();
        let failing = parts_of(rows).into_iter().filter(|part| total(part) > 0 && !goal.holds(&counted(part)));
        let needed = failing.map(|part| total(&part)).max().unwrap_or(0) + 1;
        assert!(safe >= needed, "{spec} on {rows:?}: {safe} rows are not enough, {needed} are");
        Some((safe, needed))
    }

    fn words(n: usize) -> Domain {
        let names = (0..n).map(|at| Value::Text(["a", "b", "c", "d", "e", "f"][at].into()));
        Domain::new(Kind::Category, names.collect(), false)
    }

    const ROWS: [[u64; 4]; 6] = [[3, 2, 2, 1], [1, 1, 1, 1], [5, 1, 1, 0], [2, 2, 2, 2], [4, 4, 0, 0], [6, 3, 2, 1]];
    const WHOLE: [u64; 4] = [8, 6, 4, 3];

    #[test]
    fn every_group_of_a_safe_size_passes_and_no_smaller_size_is_safe() {
        let specs =
            ["k=3", "l=2", "l=3", "l=2.5", "distinct-l=2", "distinct-l=3", "alpha-k=0.5,3", "beta=1", "beta=0.5"];
        for spec in specs.into_iter().chain(["entropy-l=2", "entropy-l=1.5", "recursive-l=2,2", "recursive-l=1,3"]) {
            for rows in ROWS {
                let (safe, needed) = checked(spec, &words(4), &Near::Nothing, &WHOLE, &rows).unwrap();
                let all = rows.iter().sum::<u64>();
                assert!(safe == needed || (safe > all && needed > all), "{spec} on {rows:?}: {safe}, not {needed}");
            }
        }
    }

    #[test]
    fn bounds_may_ask_for_more_where_values_count_as_one_or_are_compared_with_the_table() {
        let (mut n, mut exact) = (0, 0);
        for rows in ROWS {
            for spec in ["t=0.3", "t=0.5", "t=0.8"] {
                let (safe, needed) = checked(spec, &words(4), &Near::Nothing, &WHOLE, &rows).unwrap();
                (n, exact) = (n + 1, exact + usize::from(safe == needed));
            }
            let numbers = [10, 11, 12, 30].map(Value::Integer).to_vec();
            let numbers = Domain::new(Kind::Integer, numbers, false);
            for spec in ["l=2", "distinct-l=2", "ke=2,5", "ke=3,1", "entropy-l=1.5", "recursive-l=2,2", "alpha-k=0.5,2"]
            {
                checked(spec, &numbers, &Near::Width(Rational::from(2)), &WHOLE, &rows).unwrap();
            }
        }
        assert!(exact * 3 > n, "of {n} sizes for t only {exact} are the least possible");
    }

    #[test]
    fn missing_values_protect_nobody() {
        let with_missing = Domain::new(Kind::Category, ["a", "b", "c"].map(|it| Value::Text(it.into())).to_vec(), true);
        for rows in ROWS {
            for spec in ["l=2", "distinct-l=2", "distinct-l=3", "alpha-k=0.5,2", "entropy-l=1.5", "recursive-l=2,2"] {
                checked(spec, &with_missing, &Near::Nothing, &WHOLE, &rows).unwrap();
            }
        }
    }
}

use std::cmp::{Ordering, Reverse};

use super::{Fraction, Group, GroupCounts, Worst};

/// k-anonymity: the size of the smallest group.
pub fn smallest(sizes: &[u64]) -> Option<Worst<u64>> {
    let groups = sizes.iter().enumerate().filter(|(_, size)| **size > 0);
    groups.min_by_key(|&(group, size)| (*size, group)).map(|(group, &level)| Worst { level, group })
}

/// The fewest distinct values in any group, each value by itself: for profiles and attacks. What a promise of distinct
/// l-diversity counts is decided by `Counting`.
pub fn distinct(sample: &GroupCounts) -> Option<Worst<u64>> {
    sample.worst(|group| group.values.len() as u64, |a, b| b.cmp(a))
}

/// The largest share of one value in any group, each value by itself: the confidence of a linking attack, and a
/// profile's α and 1/l. What a promise counts is decided by `Counting`.
pub fn share(sample: &GroupCounts) -> Option<Worst<Fraction>> {
    sample.worst(|group| Fraction::new(group.max().into(), group.size.into()), Fraction::compare)
}

/// Recursive (c,l)-diversity at a given l: the largest r₁/(r_l + … + r_m). It holds for every c above that.
pub fn recursive(sample: &GroupCounts, l: u64) -> Option<Worst<Fraction>> {
    sample.worst(|group| recursive_ratio(group.counts(), l), Fraction::compare)
}

/// r₁/(r_l + … + r_m) of some counts; infinite where there are fewer than l values.
pub fn recursive_ratio(counts: impl Iterator<Item = u64>, l: u64) -> Fraction {
    let mut counts: Vec<u64> = counts.filter(|&count| count > 0).collect();
    counts.sort_unstable_by_key(|&count| Reverse(count));
    let before_tail = usize::try_from(l).unwrap_or(usize::MAX).saturating_sub(1);
    let tail: u64 = counts.iter().skip(before_tail).sum();
    Fraction::new(counts.first().copied().unwrap_or(0).into(), tail.into())
}

/// Basic β-likeness: the largest (p − q)/q of any value, p its share of the group and q its share of the table.
///
/// Never below zero: shares add up to one, so some value is at least as frequent in the group as in the table.
pub fn gain(sample: &GroupCounts) -> Option<Worst<Fraction>> {
    worst_pair(sample, |in_group, in_table| Fraction::new(in_group.saturating_sub(in_table), in_table))
}

/// δ-disclosure: the largest p/q or q/p of any value that occurs in a group; δ is its logarithm.
pub fn ratio(sample: &GroupCounts) -> Option<Worst<Fraction>> {
    worst_pair(sample, |in_group, in_table| Fraction::new(in_group.max(in_table), in_group.min(in_table)))
}

/// The worst over all values of a group, given c·N and C·n, whose ratio is that of the two shares.
fn worst_pair(sample: &GroupCounts, level: impl Fn(u128, u128) -> Fraction + Sync) -> Option<Worst<Fraction>> {
    let rows = u128::from(sample.rows());
    let of_group = |group: Group<'_>| {
        let levels = group.values.iter().map(|&(code, count)| {
            // PROOF: four numbers below 2³², so both products stay below 2⁶⁴ and theirs below 2¹²⁸.
            level(u128::from(count) * rows, u128::from(sample.whole()[code as usize]) * u128::from(group.size))
        });
        let worse = |a: Fraction, b: Fraction| if b.compare(&a) == Ordering::Greater { b } else { a };
        levels.fold(Fraction::new(0, 1), worse)
    };
    sample.worst(of_group, Fraction::compare)
}

//! Groups that were dealt by one of several sensitive columns, mended for the others.

use std::ops::Range;

use chrysalis_criteria::Principle;
use chrysalis_table::SaCounts;

use super::super::dealing::Dealing;
use super::points::Point;

/// How many groups on either side of a failing one are looked through.
const WITHIN: usize = 32;
/// The same where it can be told from codes which rows go together, which is quick.
const WITHIN_BY_CODES: usize = 1_024;

/// How many groups on either side of one that still fails are looked through for another to join it, and how many of
/// them on average over all groups of the cell.
const WITHIN_FOR_JOINING: usize = 4_096;
const LOOKS_PER_GROUP: usize = 256;

/// Lets rows of one class change places between groups of a cell, so that groups which fail the goal pass it (step 4a).
/// Those that still fail join others. Returns the sizes that come out.
///
/// Rows of one class count as one value in the column by which rows were dealt, so that what was dealt stays as it is.
/// Rows that clash with others of their group leave it, as long as some place takes them; where no rows clash, a change
/// is made if the failing group then passes. No other group may fail because of it.
pub(super) fn mend<const D: usize>(
    goal: &dyn Principle,
    dealing: &Dealing,
    points: &mut [Point<D>],
    sizes: &[u32],
    counts: &mut SaCounts,
) -> Vec<u32> {
    let mut starts = Vec::with_capacity(sizes.len() + 1);
    starts.push(0);
    sizes.iter().for_each(|&size| starts.push(starts[starts.len() - 1] + size as usize));
    let range = |group: usize| starts[group]..starts[group + 1];
    let passes = (0..sizes.len()).map(|at| holds(goal, &points[range(at)], counts)).collect();
    let mut mender = Mender { goal, dealing, points, starts, passes };
    for group in 0..sizes.len() {
        if !mender.passes[group] && !mender.part_clashing(group, counts) {
            mender.change_one(group, counts);
        }
    }
    mender.joined(counts)
}

struct Mender<'a, const D: usize> {
    goal: &'a dyn Principle,
    dealing: &'a Dealing,
    points: &'a mut [Point<D>],
    starts: Vec<usize>,
    passes: Vec<bool>,
}

impl<const D: usize> Mender<'_, D> {
    fn range(&self, group: usize) -> Range<usize> {
        self.starts[group]..self.starts[group + 1]
    }

    fn holds(&self, group: usize, counts: &mut SaCounts) -> bool {
        holds(self.goal, &self.points[self.range(group)], counts)
    }

    /// Other groups, the nearest first.
    fn near(&self, group: usize, within: usize) -> impl Iterator<Item = usize> + use<D> {
        let n_groups = self.passes.len();
        let around = (1..=within.min(n_groups)).flat_map(move |far| [group.checked_sub(far), Some(group + far)]);
        around.flatten().filter(move |&other| other < n_groups)
    }

    /// Whether the rows at two places may change places as far as the column is concerned by which rows were dealt.
    fn is_of_one_class(&self, a: usize, b: usize) -> bool {
        let (first, second) = (self.points[a].value, self.points[b].value);
        first != second && self.dealing.class(first) == self.dealing.class(second)
    }

    /// Whether the row at a place clashes with rows of a group other than the one at `but`.
    fn clashes(&self, at: usize, but: usize, group: Range<usize>) -> bool {
        let keys = self.dealing.keys(self.points[at].value);
        let has_one = |other: usize| {
            other != but && self.dealing.keys(self.points[other].value).iter().any(|key| keys.contains(key))
        };
        !keys.is_empty() && group.into_iter().any(has_one)
    }

    /// Sends rows that clash with others of their group elsewhere. Returns whether the group passes then.
    fn part_clashing(&mut self, group: usize, counts: &mut SaCounts) -> bool {
        let own = self.range(group);
        for a in own.clone() {
            if !self.clashes(a, a, own.clone()) {
                continue;
            }
            let mut candidates = self.near(group, WITHIN_BY_CODES).flat_map(|other| {
                let range = self.range(other);
                range.clone().map(move |b| (other, b, range.clone()))
            });
            let fits = |(_, b, range): &(usize, usize, Range<usize>)| {
                self.is_of_one_class(a, *b) && !self.clashes(*b, a, own.clone()) && !self.clashes(a, *b, range.clone())
            };
            let Some((other, b, _)) = candidates.find(fits) else { continue };
            self.points.swap(a, b);
            if self.passes[other] && !self.holds(other, counts) {
                self.points.swap(a, b);
            } else {
                self.passes[other] = self.holds(other, counts);
            }
        }
        self.passes[group] = self.holds(group, counts);
        self.passes[group]
    }

    /// Joins every group that fails with the nearest group with which it passes, if there is one: where a value is as
    /// frequent in a cell as it may be, one group has it twice because another lacks it, and nobody in between helps.
    fn joined(self, counts: &mut SaCounts) -> Vec<u32> {
        let n_groups = self.passes.len();
        let mut partner: Vec<Option<usize>> = vec![None; n_groups];
        let mut is_taken = vec![false; n_groups];
        let mut looks_left = LOOKS_PER_GROUP * n_groups;
        for group in 0..n_groups {
            if self.passes[group] || is_taken[group] {
                continue;
            }
            counts.clear();
            self.range(group).for_each(|at| counts.add(self.points[at].value));
            let found = self.near(group, WITHIN_FOR_JOINING).take(looks_left).find(|&other| {
                looks_left -= 1;
                if is_taken[other] {
                    return false;
                }
                self.range(other).for_each(|at| counts.add(self.points[at].value));
                let holds = self.goal.holds(counts);
                self.range(other).for_each(|at| counts.remove(self.points[at].value));
                holds
            });
            if let Some(other) = found {
                (is_taken[group], is_taken[other]) = (true, true);
                partner[group] = Some(other);
            }
        }
        let mut order = Vec::with_capacity(self.points.len());
        let mut sizes = Vec::with_capacity(n_groups);
        for group in 0..n_groups {
            if is_taken[group] && partner[group].is_none() {
                continue;
            }
            let before = order.len();
            order.extend_from_slice(&self.points[self.range(group)]);
            partner[group].into_iter().for_each(|other| order.extend_from_slice(&self.points[self.range(other)]));
            sizes.push((order.len() - before) as u32);
        }
        self.points.copy_from_slice(&order);
        sizes
    }

    /// Looks for a single change after which the group passes.
    fn change_one(&mut self, group: usize, counts: &mut SaCounts) {
        for other in self.near(group, WITHIN) {
            let others = self.range(other);
            for (a, b) in self.range(group).flat_map(|a| others.clone().map(move |b| (a, b))) {
                if !self.is_of_one_class(a, b) {
                    continue;
                }
                self.points.swap(a, b);
                if self.holds(group, counts) && (!self.passes[other] || self.holds(other, counts)) {
                    self.passes[group] = true;
                    self.passes[other] = self.holds(other, counts);
                    return;
                }
                self.points.swap(a, b);
            }
        }
    }
}

/// Puts all groups that fail into one, with as many of the largest other groups as it takes (step 5). Returns the
/// points and the sizes, or nothing if no group fails.
///
/// Where a value is as frequent as it may be, groups of the least size have no room for another one with it. Larger
/// groups do.
pub(super) fn pooled<const D: usize>(
    goal: &dyn Principle,
    points: &[Point<D>],
    sizes: &[u32],
    counts: &mut SaCounts,
) -> Option<(Vec<Point<D>>, Vec<u32>)> {
    let mut start = 0;
    let mut groups: Vec<&[Point<D>]> = Vec::with_capacity(sizes.len());
    for &size in sizes {
        groups.push(&points[start..start + size as usize]);
        start += size as usize;
    }
    let (mut rest, failing): (Vec<&[Point<D>]>, Vec<&[Point<D>]>) =
        groups.into_iter().partition(|group| holds(goal, group, counts));
    if failing.is_empty() {
        return None;
    }
    let mut pool = failing.concat();
    counts.clear();
    pool.iter().for_each(|point| counts.add(point.value));
    let mut by_size: Vec<usize> = (0..rest.len()).collect();
    by_size.sort_by_key(|&at| std::cmp::Reverse(rest[at].len()));
    let mut worth_a_test = 0;
    for at in by_size {
        if pool.len() >= worth_a_test {
            if goal.holds(counts) {
                break;
            }
            // Tests stay linear.
            worth_a_test = pool.len() + pool.len() / 64;
        }
        let group = std::mem::take(&mut rest[at]);
        group.iter().for_each(|point| counts.add(point.value));
        pool.extend_from_slice(group);
    }
    rest.retain(|group| !group.is_empty());
    rest.push(&pool);
    Some((rest.concat(), rest.iter().map(|group| group.len() as u32).collect()))
}

fn holds<const D: usize>(goal: &dyn Principle, points: &[Point<D>], counts: &mut SaCounts) -> bool {
    counts.clear();
    points.iter().for_each(|point| counts.add(point.value));
    goal.holds(counts)
}

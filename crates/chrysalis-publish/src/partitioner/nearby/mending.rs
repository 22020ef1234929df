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

/// Lets rows of one class change places between groups of a cell, so that groups which fail the goal pass it (step 4a).
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
) {
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

fn holds<const D: usize>(goal: &dyn Principle, points: &[Point<D>], counts: &mut SaCounts) -> bool {
    counts.clear();
    points.iter().for_each(|point| counts.add(point.value));
    goal.holds(counts)
}

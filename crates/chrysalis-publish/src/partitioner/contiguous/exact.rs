//! ke 6.2 exactly: groups may overlap, and the largest range is the least possible.
//!
//! Works on the distinct values. A family of groups is a solution when every value is used at least once and at most
//! as often as it occurs: spare copies join any group that already has the value.

use std::collections::BTreeMap;

/// Distinct values in order, how often each occurs, and what a group needs.
pub(super) struct Problem<'a> {
    pub(super) values: &'a [f64],
    pub(super) copies: &'a [u64],
    /// Distinct values a group needs.
    pub(super) distinct: usize,
    /// For every value, the first one far enough above it; the number of values if there is none.
    pub(super) reach: &'a [usize],
}

/// The values of every group, as positions among the distinct values.
pub(super) type Groups = Vec<Vec<usize>>;

/// A point of the scan: all values before `next` are used, and the open group began at `start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    next: usize,
    start: usize,
}

/// How the open group of a state was closed to get to another: its last value, and the first of the next group.
#[derive(Clone, Copy, Debug)]
struct Step {
    from: State,
    last: usize,
    first: usize,
    /// How many values that occur once and lie in the overlap went to the closed group.
    taken: usize,
}

impl Problem<'_> {
    /// About how many steps it takes to find out whether groups of ranges up to `bound` exist.
    pub(super) fn steps(&self, bound: f64) -> f64 {
        let width = |low: usize| self.values.partition_point(|value| value - self.values[low] <= bound) - low;
        (0..self.values.len()).map(|low| (width(low) as f64).powi(3)).sum()
    }

    /// The least largest range, and groups that reach it, if it is at most `most`.
    pub(super) fn solve(&self, most: f64) -> Option<(f64, Groups)> {
        // The answer is a difference of two values, at least as large as every group's least range.
        let mut bounds: Vec<f64> = Vec::new();
        for (low, &first) in self.reach.iter().enumerate() {
            let from = first.max(low + self.distinct.saturating_sub(1));
            let ranges = self.values.get(from..).into_iter().flatten().map(|high| high - self.values[low]);
            bounds.extend(ranges.take_while(|range| *range <= most));
        }
        bounds.sort_unstable_by(f64::total_cmp);
        bounds.dedup();
        let within = bounds.partition_point(|&bound| self.family(bound).is_none());
        let bound = *bounds.get(within)?;
        self.family(bound).map(|groups| (bound, groups))
    }

    /// Groups of ranges up to `bound`, if there are any.
    fn family(&self, bound: f64) -> Option<Groups> {
        let n = self.values.len();
        let origin = State { next: 0, start: 0 };
        // The most distinct values the open group can have, per state. States are visited in the order of `next`, so
        // each is final before it is used.
        let mut reached: BTreeMap<State, (usize, Option<Step>)> = BTreeMap::from([(origin, (0, None))]);
        let mut todo = Some(origin);
        while let Some(state) = todo {
            let has = reached[&state].0;
            let furthest = self.values.partition_point(|value| value - self.values[state.start] <= bound);
            for last in self.reach[state.start].max(state.next.saturating_sub(1))..furthest {
                if last + 1 == n && has + (n - state.next) >= self.distinct {
                    return Some(self.rebuild(&reached, state));
                }
                for (to, has, step) in self.closings(state, has, last) {
                    let entry = reached.entry(to).or_insert((has, Some(step)));
                    if entry.0 < has {
                        *entry = (has, Some(step));
                    }
                }
            }
            todo =
                reached.range((std::ops::Bound::Excluded(state), std::ops::Bound::Unbounded)).next().map(|(to, _)| *to);
        }
        None
    }

    /// All ways to close the open group at `last`.
    fn closings(&self, state: State, has: usize, last: usize) -> Vec<(State, usize, Step)> {
        let mut ways = Vec::new();
        let (mut doubles, mut singles) = (0, 0);
        let is_single = |value: usize| usize::from(self.copies[value] == 1);
        // From no overlap to the widest: the next group begins at `first`.
        for first in ((state.next + 1)..=(last + 1).min(self.values.len() - 1)).rev() {
            if first <= last {
                singles += is_single(first);
                doubles += 1 - is_single(first);
            }
            let own = has + (first - state.next) + doubles;
            let needed = self.distinct.saturating_sub(own);
            // The open group ends with `last`, the next begins with `first`: a single copy can do only one of them.
            let (must_take, must_leave) = if first <= last { (is_single(last), is_single(first)) } else { (0, 0) };
            let taken = needed.max(must_take);
            if taken + must_leave > singles {
                continue;
            }
            let to = State { next: last + 1, start: first };
            ways.push((to, doubles + singles - taken, Step { from: state, last, first, taken }));
        }
        ways
    }

    fn rebuild(&self, reached: &BTreeMap<State, (usize, Option<Step>)>, end: State) -> Groups {
        let mut steps = Vec::new();
        let mut state = end;
        while let Some(step) = reached[&state].1 {
            steps.push(step);
            state = step.from;
        }
        steps.reverse();
        let mut groups: Groups = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        let mut next = 0;
        for step in steps {
            open.extend(next..step.first.min(step.last + 1));
            let mut following = Vec::new();
            let mut taken = step.taken;
            let overlap = step.first..step.last + 1;
            // The closed group takes its last value first, then the lowest that are not the next group's first.
            let mut take = vec![false; overlap.len()];
            for value in overlap.clone().rev().filter(|&value| self.copies[value] == 1 && value != step.first) {
                if taken > 0 && value == step.last {
                    take[value - step.first] = true;
                    taken -= 1;
                }
            }
            for value in overlap.clone().filter(|&value| self.copies[value] == 1 && value != step.first) {
                if taken > 0 && !take[value - step.first] {
                    take[value - step.first] = true;
                    taken -= 1;
                }
            }
            for value in overlap {
                if self.copies[value] > 1 || take[value - step.first] {
                    open.push(value);
                }
                if self.copies[value] > 1 || !take[value - step.first] {
                    following.push(value);
                }
            }
            groups.push(std::mem::replace(&mut open, following));
            next = step.last + 1;
        }
        open.extend(next..self.values.len());
        groups.push(open);
        groups
    }
}

//! Steps 1 to 4: which cuts there are, what they are worth, and the best one that stands, because both sides satisfy
//! the goal.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use chrysalis_criteria::Principle;
use chrysalis_table::SaCounts;

use super::axis::{Axis, Shape};
use super::records::{Rank, Slice};

/// Which rows go left.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::partitioner) enum Side {
    /// Ranks below this one.
    Below(u32),
    /// Ranks within these; everything else goes right.
    Within(RangeInclusive<u32>),
    /// Ranks below this one and `quota` rows of it.
    Tie { rank: u32, quota: u32 },
}

impl Side {
    /// Whether a row with this rank, at this place among the group's records, goes left. `border` is where the quota of
    /// a tie is used up.
    pub(in crate::partitioner) fn goes_left(&self, rank: u32, at: usize, border: usize) -> bool {
        match self {
            Side::Below(first_right) => rank < *first_right,
            Side::Within(ranks) => ranks.contains(&rank),
            Side::Tie { rank: tied, .. } => rank < *tied || (rank == *tied && at < border),
        }
    }

    /// Cuts between neighbours first, from left to right: a sweep adds rows as it goes.
    fn place(&self) -> (u8, u32) {
        match self {
            Side::Below(rank) => (0, *rank),
            Side::Within(ranks) => (1, *ranks.start()),
            Side::Tie { rank, .. } => (2, *rank),
        }
    }
}

#[derive(Clone, Debug)]
pub(in crate::partitioner) struct Cut {
    pub(in crate::partitioner) axis: usize,
    pub(in crate::partitioner) side: Side,
    /// Penalty removed.
    gain: f64,
    /// Rows on the smaller side.
    smaller: u32,
}

impl Cut {
    /// Larger gain first; then the more even cut; then the order of attributes and ranks, so that the choice is unique.
    fn order(&self, other: &Cut) -> Ordering {
        let place = |cut: &Cut| (cut.axis, cut.side.place());
        let by_worth = other.gain.total_cmp(&self.gain).then(other.smaller.cmp(&self.smaller));
        by_worth.then_with(|| place(self).cmp(&place(other)))
    }
}

/// The ranks of one attribute that occur in a group, ascending, with their counts.
type Profile = Vec<(u32, u32)>;

/// Buffers that are reused from group to group.
pub(in crate::partitioner) struct Scratch {
    histogram: Vec<u32>,
    profiles: Vec<Profile>,
    sorted: Vec<u32>,
    cuts: Vec<Cut>,
    whole: SaCounts,
    left: SaCounts,
    right: SaCounts,
    /// Rank and sensitive code of every row, by rank.
    by_rank: Vec<(u32, u32)>,
}

/// Cuts tried one by one before all cuts of an attribute are swept at once.
const TRIED_FIRST: usize = 4;
/// Cuts looked at per attribute and group.
const MOST_CUTS: usize = 256;

/// What cuts should minimize.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::partitioner) enum Worth {
    /// The penalty of ranges and labels (NCP).
    Penalty,
    /// The surprise at the positions of rows: n·ln(points/n) of a group. Rows that are spread evenly over their box
    /// surprise nobody.
    Surprise,
}

pub(in crate::partitioner) struct Chooser<'a> {
    axes: &'a [Axis],
    worth: Worth,
    goal: &'a dyn Principle,
    relaxed: bool,
    peels: bool,
    is_blind: bool,
    least: u32,
    size_only: bool,
    n_sensitive: usize,
}

impl<'a> Chooser<'a> {
    pub(in crate::partitioner) fn new(
        axes: &'a [Axis],
        worth: Worth,
        goal: &'a dyn Principle,
        relaxed: bool,
        n_sensitive: usize,
    ) -> Self {
        let least = u32::try_from(goal.least_size()).unwrap_or(u32::MAX).max(1);
        let size_only = goal.is_size_only();
        Chooser { axes, worth, goal, relaxed, peels: false, is_blind: false, least, size_only, n_sensitive }
    }

    /// What `n` rows with these ranks of an attribute cost: the first, the last, and how many distinct ones.
    fn cost(&self, axis: usize, n: u32, (first, last): (u32, u32), n_distinct: usize) -> f64 {
        let (line, rows) = (&self.axes[axis], f64::from(n));
        match self.worth {
            Worth::Penalty => rows * line.width(first, last, n_distinct),
            Worth::Surprise => rows * (line.points(first, last, n_distinct) / rows).ln(),
        }
    }

    /// Also cuts off the fewest rows that can stand alone: rare values at either end of an attribute, filled up with rows
    /// of the next value, so that its other rows need not share their label.
    ///
    /// LEAK: the order of equal rows decides which of them fill up, so that order must be random.
    pub(in crate::partitioner) fn peeling(self) -> Self {
        Chooser { peels: true, ..self }
    }

    /// Makes only cuts that are safe whichever rows have which values: a cut depends on quasi values, on the sizes of both
    /// sides and on how often every sensitive value occurs in the group, and on nothing else.
    pub(in crate::partitioner) fn blind(self) -> Self {
        Chooser { is_blind: true, ..self }
    }

    /// The fewest rows that a side of a cut of this group may have.
    fn least_side<T: Rank>(&self, group: &Slice<'_, T>, scratch: &mut Scratch) -> u32 {
        if !self.is_blind || self.size_only {
            return self.least;
        }
        group.count_sensitive(&mut scratch.whole);
        let size = self.goal.safe_size(&scratch.whole);
        size.and_then(|size| u32::try_from(size).ok()).map_or(u32::MAX, |size| size.max(self.least))
    }

    pub(in crate::partitioner) fn scratch(&self) -> Scratch {
        Scratch {
            histogram: Vec::new(),
            profiles: vec![Vec::new(); self.axes.len()],
            sorted: Vec::new(),
            cuts: Vec::new(),
            whole: SaCounts::new(self.n_sensitive),
            left: SaCounts::new(self.n_sensitive),
            right: SaCounts::new(self.n_sensitive),
            by_rank: Vec::new(),
        }
    }

    /// The best cut whose two sides both satisfy the goal.
    pub(in crate::partitioner) fn best_cut<T: Rank>(&self, group: &Slice<'_, T>, scratch: &mut Scratch) -> Option<Cut> {
        let n = group.len() as u32;
        let least = if n < self.least.saturating_mul(2) { return None } else { self.least_side(group, scratch) };
        if n < least.saturating_mul(2) {
            return None;
        }
        self.profile(group, scratch);
        scratch.cuts.clear();
        for axis in 0..self.axes.len() {
            let profile = std::mem::take(&mut scratch.profiles[axis]);
            self.cuts_of(axis, (n, least), &profile, &mut scratch.cuts);
            scratch.profiles[axis] = profile;
        }
        if self.size_only || self.is_blind {
            return scratch.cuts.iter().min_by(|a, b| a.order(b)).cloned();
        }
        self.best_that_stands(group, scratch)
    }

    /// Step 1.
    fn profile<T: Rank>(&self, group: &Slice<'_, T>, scratch: &mut Scratch) {
        let is_dense = |axis: &Axis| axis.n_ranks() <= 256.max(group.len());
        let mut offsets = Vec::with_capacity(self.axes.len());
        let mut dense = Vec::with_capacity(self.axes.len());
        let mut total = 0;
        for (at, axis) in self.axes.iter().enumerate() {
            offsets.push(total);
            if is_dense(axis) {
                dense.push((at, total));
                total += axis.n_ranks();
            }
        }
        scratch.histogram.clear();
        scratch.histogram.resize(total, 0);
        let histogram = &mut scratch.histogram[..];
        for record in group.records() {
            for &(at, offset) in &dense {
                histogram[offset + record[at].get() as usize] += 1;
            }
        }
        for (at, axis) in self.axes.iter().enumerate() {
            let profile = &mut scratch.profiles[at];
            profile.clear();
            if is_dense(axis) {
                let counts = &histogram[offsets[at]..offsets[at] + axis.n_ranks()];
                profile.extend((0..).zip(counts).filter(|(_, n)| **n > 0).map(|(rank, n)| (rank, *n)));
            } else {
                scratch.sorted.clear();
                scratch.sorted.extend(group.ranks(at));
                scratch.sorted.sort_unstable();
                let runs = scratch.sorted.chunk_by(|a, b| a == b);
                profile.extend(runs.map(|run| (run[0], run.len() as u32)));
            }
        }
    }

    /// Steps 2 and 3: the cuts of one attribute that leave enough rows on both sides.
    fn cuts_of(&self, axis: usize, (n, least): (u32, u32), profile: &[(u32, u32)], cuts: &mut Vec<Cut>) {
        let (Some(&(first, _)), Some(&(last, _))) = (profile.first(), profile.last()) else { return };
        if first == last {
            return;
        }
        if self.peels {
            self.peelings(axis, (n, least), profile, cuts);
        }
        match self.axes[axis].shape() {
            Shape::Range(_) | Shape::Set => self.cuts_between(axis, (n, least), profile, cuts),
            Shape::Tree(tree, _) => {
                let node = tree.node(tree.common_ancestor(first..=last));
                let children = node.children.iter().map(|&child| tree.node(child).ranks.clone());
                self.cuts_among_children(axis, (n, least), profile, children, cuts);
            }
        }
    }

    fn cuts_between(&self, axis: usize, (n, least): (u32, u32), profile: &[(u32, u32)], cuts: &mut Vec<Cut>) {
        let p = profile.len();
        let (first, last) = (profile[0].0, profile[p - 1].0);
        let before = self.cost(axis, n, (first, last), p);
        let step = n / MOST_CUTS as u32;
        let mut next = 0;
        let mut n_left = 0;
        for at in 1..p {
            n_left += profile[at - 1].1;
            if p > MOST_CUTS && n_left < next && at > 1 {
                continue;
            }
            next = n_left + step;
            let n_right = n - n_left;
            if n_left.min(n_right) < least {
                continue;
            }
            let after = self.cost(axis, n_left, (first, profile[at - 1].0), at)
                + self.cost(axis, n_right, (profile[at].0, last), p - at);
            cuts.push(Cut {
                axis,
                side: Side::Below(profile[at].0),
                gain: before - after,
                smaller: n_left.min(n_right),
            });
        }
        if matches!(self.axes[axis].shape(), Shape::Set) && p > 2 && p <= MOST_CUTS {
            self.cuts_off_one(axis, (n, least), profile, cuts);
        }
        if self.relaxed {
            self.cut_in_the_middle(axis, (n, least), profile, cuts);
        }
    }

    /// One value against all others. The first and the last are among the cuts between neighbours already.
    fn cuts_off_one(&self, axis: usize, (n, least): (u32, u32), profile: &[(u32, u32)], cuts: &mut Vec<Cut>) {
        let p = profile.len();
        let (first, last) = (profile[0].0, profile[p - 1].0);
        let before = self.cost(axis, n, (first, last), p);
        for &(rank, count) in &profile[1..p - 1] {
            let smaller = count.min(n - count);
            if smaller >= least {
                let after = self.cost(axis, n - count, (first, last), p - 1) + self.cost(axis, count, (rank, rank), 1);
                cuts.push(Cut { axis, side: Side::Within(rank..=rank), gain: before - after, smaller });
            }
        }
    }

    /// Relaxed: half the rows in rank order, equal ones on both sides.
    fn cut_in_the_middle(&self, axis: usize, (n, least): (u32, u32), profile: &[(u32, u32)], cuts: &mut Vec<Cut>) {
        let (p, half) = (profile.len(), n / 2);
        if half < least {
            return;
        }
        let mut below = 0;
        let middle = profile.iter().position(|&(_, count)| {
            below += count;
            below > half
        });
        let Some(at) = middle else { return };
        let (rank, count) = profile[at];
        let quota = half - (below - count);
        if quota == 0 {
            return;
        }
        let (first, last) = (profile[0].0, profile[p - 1].0);
        let before = self.cost(axis, n, (first, last), p);
        let after = self.cost(axis, half, (first, rank), at + 1) + self.cost(axis, n - half, (rank, last), p - at);
        cuts.push(Cut { axis, side: Side::Tie { rank, quota }, gain: before - after, smaller: half });
    }

    /// Cuts off as few rows as possible from below, and from above, where that divides equal values.
    fn peelings(&self, axis: usize, (n, least): (u32, u32), profile: &[(u32, u32)], cuts: &mut Vec<Cut>) {
        let (line, p) = (&self.axes[axis], profile.len());
        if n < least.saturating_mul(2) {
            return;
        }
        let (first, last) = (profile[0].0, profile[p - 1].0);
        let before = f64::from(n) * line.width(first, last, p);
        for n_left in [least, n - least] {
            let mut below = 0;
            let middle = profile.iter().position(|&(_, count)| {
                below += count;
                below > n_left
            });
            let Some(at) = middle else { continue };
            let (rank, count) = profile[at];
            let quota = n_left - (below - count);
            if quota == 0 {
                continue;
            }
            let after = f64::from(n_left) * line.width(first, rank, at + 1)
                + f64::from(n - n_left) * line.width(rank, last, p - at);
            cuts.push(Cut { axis, side: Side::Tie { rank, quota }, gain: before - after, smaller: least });
        }
    }

    fn cuts_among_children(
        &self,
        axis: usize,
        (n, least): (u32, u32),
        profile: &[(u32, u32)],
        children: impl Iterator<Item = RangeInclusive<u32>>,
        cuts: &mut Vec<Cut>,
    ) {
        // Per child with rows: the ranks that occur, and how many rows.
        let mut parts: Vec<(RangeInclusive<u32>, u32)> = Vec::new();
        let mut rest = profile;
        for child in children {
            let inside = rest.partition_point(|(rank, _)| rank <= child.end());
            let (here, after) = rest.split_at(inside);
            rest = after;
            if let (Some(&(first, _)), Some(&(last, _))) = (here.first(), here.last()) {
                parts.push((first..=last, here.iter().map(|(_, count)| count).sum()));
            }
        }
        let (first, last) = (profile[0].0, profile[profile.len() - 1].0);
        let before = self.cost(axis, n, (first, last), 2);
        let mut push = |side: Side, n_left: u32, left: (u32, u32), right: (u32, u32)| {
            let smaller = n_left.min(n - n_left);
            if smaller >= least {
                let after = self.cost(axis, n_left, left, 2) + self.cost(axis, n - n_left, right, 2);
                cuts.push(Cut { axis, side, gain: before - after, smaller });
            }
        };
        let mut n_left = 0;
        for at in 1..parts.len() {
            n_left += parts[at - 1].1;
            let border = *parts[at].0.start();
            push(Side::Below(border), n_left, (first, *parts[at - 1].0.end()), (border, last));
        }
        for (at, (ranks, count)) in parts.iter().enumerate() {
            if at > 0 && at + 1 < parts.len() {
                push(Side::Within(ranks.clone()), *count, (*ranks.start(), *ranks.end()), (first, last));
            }
        }
    }

    /// Step 4 for principles that look at values: a few of the best cuts one by one, then all of them in sweeps.
    fn best_that_stands<T: Rank>(&self, group: &Slice<'_, T>, scratch: &mut Scratch) -> Option<Cut> {
        if scratch.cuts.is_empty() {
            return None;
        }
        group.count_sensitive(&mut scratch.whole);
        let mut cuts = std::mem::take(&mut scratch.cuts);
        let tried = cuts.len().min(TRIED_FIRST);
        if tried < cuts.len() {
            cuts.select_nth_unstable_by(tried - 1, Cut::order);
        }
        cuts[..tried].sort_unstable_by(Cut::order);
        let mut best = cuts[..tried].iter().find(|cut| self.stands(cut, group, scratch)).cloned();
        if best.is_none() && tried < cuts.len() {
            cuts.drain(..tried);
            cuts.sort_unstable_by(Cut::order);
            best = self.sweep(&cuts, group, scratch);
        }
        cuts.clear();
        scratch.cuts = cuts;
        best
    }

    fn stands<T: Rank>(&self, cut: &Cut, group: &Slice<'_, T>, scratch: &mut Scratch) -> bool {
        scratch.left.clear();
        let border = group.border(cut);
        for (at, (rank, code)) in group.ranks(cut.axis).zip(group.sensitive()).enumerate() {
            if cut.side.goes_left(rank, at, border) {
                scratch.left.add(code);
            }
        }
        self.both_hold(scratch)
    }

    fn both_hold(&self, scratch: &mut Scratch) -> bool {
        if !self.goal.holds(&scratch.left) {
            return false;
        }
        scratch.right.set_difference(&scratch.whole, &scratch.left);
        self.goal.holds(&scratch.right)
    }

    /// The sensitive codes of a group in the order of their ranks. Ranks are few in all but small groups, and are
    /// counted; the order of equal ones does not matter.
    fn sort_by_rank<T: Rank>(&self, axis: usize, group: &Slice<'_, T>, scratch: &mut Scratch) {
        let rows = group.ranks(axis).zip(group.sensitive());
        let n_ranks = self.axes[axis].n_ranks();
        scratch.by_rank.clear();
        if n_ranks > group.len() {
            scratch.by_rank.extend(rows);
            scratch.by_rank.sort_unstable_by_key(|(rank, _)| *rank);
            return;
        }
        scratch.histogram.clear();
        scratch.histogram.resize(n_ranks, 0);
        let mut n_before = 0;
        for &(rank, count) in &scratch.profiles[axis] {
            scratch.histogram[rank as usize] = n_before;
            n_before += count;
        }
        scratch.by_rank.resize(group.len(), (0, 0));
        for (rank, code) in rows {
            let place = &mut scratch.histogram[rank as usize];
            scratch.by_rank[*place as usize] = (rank, code);
            *place += 1;
        }
    }

    /// The best of the remaining cuts that stands, with the rows of each attribute sorted by rank only once.
    fn sweep<T: Rank>(&self, cuts: &[Cut], group: &Slice<'_, T>, scratch: &mut Scratch) -> Option<Cut> {
        let mut best: Option<&Cut> = None;
        for axis in 0..self.axes.len() {
            // Cuts come best first: those behind the best found so far need not be looked at.
            let better = best.map_or(cuts.len(), |best| cuts.partition_point(|cut| cut.order(best).is_lt()));
            let mut here: Vec<&Cut> = cuts[..better].iter().filter(|cut| cut.axis == axis).collect();
            if here.is_empty() {
                continue;
            }
            self.sort_by_rank(axis, group, scratch);
            here.sort_by_key(|cut| cut.side.place());
            let mut n_added = 0;
            scratch.left.clear();
            for cut in here {
                let stands = match &cut.side {
                    Side::Below(rank) => {
                        while n_added < scratch.by_rank.len() && scratch.by_rank[n_added].0 < *rank {
                            scratch.left.add(scratch.by_rank[n_added].1);
                            n_added += 1;
                        }
                        self.both_hold(scratch)
                    }
                    Side::Within(ranks) => {
                        let start = scratch.by_rank.partition_point(|(rank, _)| rank < ranks.start());
                        let end = scratch.by_rank.partition_point(|(rank, _)| rank <= ranks.end());
                        scratch.left.clear();
                        scratch.by_rank[start..end].iter().for_each(|&(_, code)| scratch.left.add(code));
                        self.both_hold(scratch)
                    }
                    Side::Tie { .. } => self.stands(cut, group, scratch),
                };
                if stands && best.is_none_or(|best| cut.order(best).is_lt()) {
                    best = Some(cut);
                }
            }
        }
        best.cloned()
    }
}

//! Bottom-up search over a hierarchy: every node becomes one butterfly or keeps those of its children; see `spec.md`
//! for the steps.

use std::ops::Range;

use chrysalis_table::Progress;

use super::super::mondrian::ROWS_PER_TASK;
use super::super::mondrian::cut::{Chooser, Scratch, Worth};
use super::super::mondrian::records::{Rank, Slice};
use super::nearest;
use super::space::{Extent, Space};
use super::wing::{self, WingRoom};
use super::{Hierarchy, Tally};

pub(super) struct Search<'a> {
    space: &'a Space<'a>,
    hierarchy: Hierarchy,
    trunk: Chooser<'a>,
    wings: Vec<Chooser<'a>>,
    /// A lower bound on every row's loss on its wings.
    floors: &'a [f64],
    progress: Progress<'a>,
}

/// The best butterflies found for some rows.
pub(super) struct Best {
    /// The loss of the butterflies.
    pub(super) loss: f64,
    /// Where the butterflies are among the records.
    pub(super) butterflies: Vec<Range<usize>>,
    /// For the union hierarchy: the loss of its leaves as they are, by attribute.
    pub(super) plain: Vec<f64>,
    pub(super) tally: Tally,
    /// The number of leaves below.
    n_leaves: usize,
    /// Per wing, the smallest distances inside any of these leaves.
    near: Vec<Vec<f64>>,
}

/// Buffers of one task.
struct Room {
    trunk: Scratch,
    wings: Vec<WingRoom>,
    extent: Extent,
}

impl<'a> Search<'a> {
    pub(super) fn new(space: &'a Space<'a>, hierarchy: Hierarchy, floors: &'a [f64], progress: Progress<'a>) -> Self {
        // Step 2 cuts along all attributes, step 3 along those of the body.
        let n_cut = if hierarchy == Hierarchy::Union { space.axes.len() } else { space.n_body };
        let chooser = |axes| Chooser::new(axes, Worth::Penalty, space.goal, false, space.n_sensitive);
        let wings = space.wings.iter().map(|wing| chooser(&wing.axes[..]).peeling()).collect();
        Search { space, hierarchy, trunk: chooser(&space.axes[..n_cut]), wings, floors, progress }
    }

    /// Divides all records along the hierarchy, and finds its best butterflies. The records of a butterfly end up side
    /// by side.
    pub(super) fn run<T: Rank>(&self, records: &mut Slice<'_, T>) -> Best {
        let mut best = self.best(records, 0, &mut self.room());
        best.butterflies.sort_unstable_by_key(|place| place.start);
        best
    }

    fn room(&self) -> Room {
        Room {
            trunk: self.trunk.scratch(),
            wings: self.wings.iter().map(|chooser| WingRoom::new(self.space, chooser)).collect(),
            extent: Extent::new(self.space),
        }
    }

    /// `start` is the position of the group among all records.
    fn best<T: Rank>(&self, group: &mut Slice<'_, T>, start: usize, room: &mut Room) -> Best {
        // The groups around the one that is still being divided, each with the result for its smaller half. The smaller
        // half is left to a recursive call and the larger one to this loop, so the stack stays shallow.
        let mut around: Vec<(Range<usize>, Best)> = Vec::new();
        let mut here = 0..group.len();
        let mut best = loop {
            let Some(cut) = self.trunk.best_cut(&group.part(here.clone()), &mut room.trunk) else {
                let place = start + here.start..start + here.end;
                break self.leaf(&group.part(here.clone()), place, room);
            };
            let n_left = group.part(here.clone()).divide(&cut).0.len();
            let (left, right) = (here.start..here.start + n_left, here.start + n_left..here.end);
            if left.len().min(right.len()) >= ROWS_PER_TASK {
                let mut whole = group.part(here.clone());
                let (mut a, mut b) = whole.parted(n_left);
                let (a, b) = rayon::join(
                    || self.best(&mut a, start + left.start, room),
                    || self.best(&mut b, start + right.start, &mut self.room()),
                );
                break self.better(&whole, start + here.start, a.and(b), room);
            }
            let (small, large) = if left.len() <= right.len() { (left, right) } else { (right, left) };
            let found = self.best(&mut group.part(small.clone()), start + small.start, room);
            around.push((here, found));
            here = large;
        };
        while let Some((range, smaller)) = around.pop() {
            best = self.better(&group.part(range.clone()), start + range.start, smaller.and(best), room);
        }
        best
    }

    /// A group that cannot be divided is a butterfly. It never loses more than a single class of all its rows would.
    fn leaf<T: Rank>(&self, group: &Slice<'_, T>, place: Range<usize>, room: &mut Room) -> Best {
        (self.progress)(group.len() as u64);
        let space = self.space;
        let mut best = Best {
            loss: 0.0,
            butterflies: vec![place],
            plain: Vec::new(),
            tally: Tally::default(),
            n_leaves: 1,
            near: Vec::new(),
        };
        if self.hierarchy == Hierarchy::Union {
            best.plain = (0..space.axes.len()).map(|at| room.extent.loss_on(&space.axes[at], at, group)).collect();
            let n = space.least.div_ceil(2);
            best.near = space.wings.iter().map(|wing| nearest::in_class(wing, group, n)).collect();
        }
        best.loss = room.extent.loss(&space.axes[..space.n_body], 0, group);
        best.loss += (0..space.wings.len()).map(|at| self.wing_loss(at, group, room)).sum::<f64>();
        best
    }

    /// Steps 4 and 5: one butterfly instead of the children's, if it loses less.
    fn better<T: Rank>(&self, group: &Slice<'_, T>, start: usize, children: Best, room: &mut Room) -> Best {
        let mut best = children;
        // Of any class, some leaf holds at least its share of k rows, and these are at least this far apart.
        let share = self.space.least.div_ceil(best.n_leaves).saturating_sub(1);
        let apart = |near: &Vec<f64>| near.get(share).copied().unwrap_or(0.0);
        let in_leaves = best.near.iter().map(apart).sum::<f64>() * group.len() as f64;
        if let Some(loss) = self.one(group, best.loss, in_leaves, &mut best.tally, room) {
            best.loss = loss;
            let whole = start..start + group.len();
            best.butterflies = vec![whole];
        }
        best
    }

    /// The loss of one butterfly, if it is less than `most`. Its wings are known to lose at least `floor`.
    fn one<T: Rank>(
        &self,
        group: &Slice<'_, T>,
        most: f64,
        floor: f64,
        tally: &mut Tally,
        room: &mut Room,
    ) -> Option<f64> {
        let space = self.space;
        tally.nodes += 1;
        let mut loss = room.extent.loss(&space.axes[..space.n_body], 0, group);
        if loss >= most {
            tally.passed_by_body += 1;
            return None;
        }
        // Theorem 4.
        let in_table: f64 = group.rows().iter().map(|&row| self.floors[row as usize]).sum();
        if loss + in_table.max(floor) >= most {
            tally.passed_by_bound += 1;
            return None;
        }
        tally.built += 1;
        for at in 0..space.wings.len() {
            loss += self.wing_loss(at, group, room);
            if loss >= most {
                return None;
            }
        }
        tally.kept += u64::from(loss < most);
        (loss < most).then_some(loss)
    }

    fn wing_loss<T: Rank>(&self, at: usize, group: &Slice<'_, T>, room: &mut Room) -> f64 {
        wing::classes(self.space, at, &self.wings[at], group, 0..group.len(), &mut room.wings[at]).loss
    }

    #[cfg(test)]
    pub(super) fn wing_loss_of<T: Rank>(&self, at: usize, group: &Slice<'_, T>) -> f64 {
        self.wing_loss(at, group, &mut self.room())
    }

    /// The classes of one wing in one butterfly: rows class after class, and sizes.
    pub(super) fn wing<T: Rank>(&self, at: usize, records: &Slice<'_, T>, place: Range<usize>) -> (Vec<u32>, Vec<u32>) {
        let mut room = WingRoom::new(self.space, &self.wings[at]);
        let classes = wing::classes(self.space, at, &self.wings[at], records, place, &mut room);
        (classes.records.into_rows(), classes.sizes)
    }
}

impl Best {
    /// The results of both halves of a group together.
    fn and(self, other: Best) -> Best {
        let (mut more, less) =
            if self.butterflies.len() >= other.butterflies.len() { (self, other) } else { (other, self) };
        more.loss += less.loss;
        more.butterflies.extend(less.butterflies);
        more.plain.iter_mut().zip(&less.plain).for_each(|(sum, loss)| *sum += loss);
        more.tally.add(less.tally);
        more.n_leaves += less.n_leaves;
        for (near, other) in more.near.iter_mut().zip(&less.near) {
            near.iter_mut().zip(other).for_each(|(near, other)| *near = near.min(*other));
        }
        more
    }
}

//! Body and wings as axes, and what a group loses on them.

use std::ops::Range;

use chrysalis_criteria::Principle;
use chrysalis_table::Column;

use super::super::mondrian::axis::{Axis, Shape};
use super::super::mondrian::records::{Rank, Slice};
use crate::Microdata;
use crate::quasi_identifiers::BodyAndWings;

/// The attributes in the order of records: those of the body, then wing after wing.
pub(super) struct Space<'a> {
    pub(super) columns: Vec<&'a Column>,
    pub(super) sensitive: Option<&'a Column>,
    pub(super) axes: Vec<Axis>,
    pub(super) n_body: usize,
    pub(super) wings: Vec<Wing>,
    pub(super) goal: &'a dyn Principle,
    /// No group with fewer rows passes.
    pub(super) least: usize,
    pub(super) n_sensitive: usize,
}

/// A wing that has attributes.
pub(super) struct Wing {
    /// The index of its set among those that no other set contains.
    pub(super) set: usize,
    /// Where its cells are in a record.
    pub(super) cells: Range<usize>,
    pub(super) axes: Vec<Axis>,
}

impl<'a> Space<'a> {
    pub(super) fn new(data: &'a Microdata, parts: &BodyAndWings, goal: &'a dyn Principle) -> Self {
        let quasi: Vec<_> = data.quasi().collect();
        let axis = |&at: &usize| Axis::new(quasi[at].0, quasi[at].1);
        let mut order = parts.body.clone();
        let mut wings = Vec::new();
        for (set, wing) in parts.wings.iter().enumerate().filter(|(_, wing)| !wing.is_empty()) {
            let start = order.len();
            order.extend(wing);
            wings.push(Wing { set, cells: start..order.len(), axes: wing.iter().map(axis).collect() });
        }
        Space {
            columns: order.iter().map(|&at| quasi[at].0).collect(),
            sensitive: data.sensitive(),
            axes: order.iter().map(axis).collect(),
            n_body: parts.body.len(),
            wings,
            goal,
            least: usize::try_from(goal.least_size()).unwrap_or(usize::MAX).max(1),
            n_sensitive: data.sensitive_counts().domain_len(),
        }
    }

    /// The number of different codes that a cell must hold.
    pub(super) fn widest(&self) -> usize {
        self.axes.iter().map(Axis::n_ranks).max().unwrap_or(1).max(self.n_sensitive)
    }
}

/// Measures what groups lose. Distinct ranks are marked with a stamp, so nothing has to be cleared between groups.
pub(super) struct Extent {
    seen: Vec<u32>,
    stamp: u32,
}

impl Extent {
    pub(super) fn new(space: &Space<'_>) -> Self {
        let sets = space.axes.iter().filter(|axis| matches!(axis.shape(), Shape::Set));
        Extent { seen: vec![0; sets.map(Axis::n_ranks).max().unwrap_or(0)], stamp: 0 }
    }

    /// The total loss of a group's rows if they are shown as one on these axes, the first of which has the cell
    /// `first`.
    pub(super) fn loss<T: Rank>(&mut self, axes: &[Axis], first: usize, group: &Slice<'_, T>) -> f64 {
        (0..axes.len()).map(|at| self.loss_on(&axes[at], first + at, group)).sum()
    }

    /// The total loss on one axis.
    pub(super) fn loss_on<T: Rank>(&mut self, axis: &Axis, cell: usize, group: &Slice<'_, T>) -> f64 {
        let ends = |(low, high): (u32, u32), rank: u32| (low.min(rank), high.max(rank));
        let (low, high) = group.ranks(cell).fold((u32::MAX, 0), ends);
        let n_distinct = match axis.shape() {
            Shape::Set if low < high => self.distinct(group.ranks(cell)),
            _ => 2,
        };
        group.len() as f64 * if low < high { axis.width(low, high, n_distinct) } else { 0.0 }
    }

    fn distinct(&mut self, ranks: impl Iterator<Item = u32>) -> usize {
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.seen.fill(0);
            self.stamp = 1;
        }
        let mut n = 0;
        for rank in ranks {
            let seen = &mut self.seen[rank as usize];
            n += usize::from(*seen != self.stamp);
            *seen = self.stamp;
        }
        n
    }
}

//! The group with which another one loses least, found in a tree of bounding boxes.

use std::ops::Range;

use chrysalis_table::Code;

use super::merge::Piece;
use crate::partitioner::mondrian::axis::{Axis, Shape};
use crate::partitioner::populated::Extent;

/// Up to this many groups are looked at one by one.
const LEAF: usize = 8;

/// Groups, by what they span.
pub(super) struct Tree<'a> {
    axes: &'a [Axis],
    pieces: &'a [Piece],
    order: Vec<u32>,
    nodes: Vec<Node>,
}

struct Node {
    /// The lowest and the highest rank of its groups on each axis.
    bounds: Vec<(u32, u32)>,
    pieces: Range<usize>,
    halves: Option<[usize; 2]>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(axes: &'a [Axis], pieces: &'a [Piece]) -> Tree<'a> {
        let mut tree = Tree { axes, pieces, order: (0..pieces.len() as u32).collect(), nodes: Vec::new() };
        tree.grow(0..pieces.len());
        tree
    }

    /// The other group that costs least together with this one, and what that costs; of equal ones the first.
    pub(super) fn cheapest(&self, own: u32) -> Option<(f64, u32)> {
        let piece = &self.pieces[own as usize];
        let mut best: Option<(f64, u32)> = None;
        let mut waiting = vec![(self.least(piece, 0), 0)];
        while let Some((least, id)) = waiting.pop() {
            if best.is_some_and(|(cost, _)| least > cost) {
                continue;
            }
            let node = &self.nodes[id];
            if let Some(halves) = node.halves {
                let mut halves = halves.map(|half| (self.least(piece, half), half));
                // The nearer half is looked at first.
                halves.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
                waiting.extend(halves);
                continue;
            }
            for &other in self.order[node.pieces.clone()].iter().filter(|&&other| other != own) {
                let cost = cost(self.axes, piece, &self.pieces[other as usize]);
                if best.is_none_or(|(known, at)| cost.total_cmp(&known).then(other.cmp(&at)).is_lt()) {
                    best = Some((cost, other));
                }
            }
        }
        best
    }

    /// No group of a node costs less together with a piece.
    fn least(&self, piece: &Piece, id: usize) -> f64 {
        let gained = |((extent, axis), &(low, high)): ((&Extent, &Axis), &(u32, u32))| {
            let (first, last) = (extent.low.min(high), extent.high.max(low));
            let is_apart = first < extent.low || last > extent.high;
            let n_values = extent.codes.len() + usize::from(is_apart && matches!(axis.shape(), Shape::Set));
            axis.width(first, last, n_values) - extent.penalty(axis)
        };
        let all = piece.extents.iter().zip(self.axes).zip(&self.nodes[id].bounds);
        piece.rows as f64 * all.map(gained).sum::<f64>().max(0.0)
    }

    fn grow(&mut self, range: Range<usize>) -> usize {
        let extent = |piece: u32, axis: usize| &self.pieces[piece as usize].extents[axis];
        let bounds: Vec<(u32, u32)> = (0..self.axes.len())
            .map(|axis| {
                let ends = self.order[range.clone()].iter().map(|&at| (extent(at, axis).low, extent(at, axis).high));
                ends.fold((u32::MAX, 0), |(low, high), (first, last)| (low.min(first), high.max(last)))
            })
            .collect();
        let share = |axis: usize| {
            f64::from(bounds[axis].1.saturating_sub(bounds[axis].0)) / self.axes[axis].n_ranks().max(1) as f64
        };
        let widest = (0..bounds.len()).max_by(|&a, &b| share(a).total_cmp(&share(b)).then(b.cmp(&a)));
        let id = self.nodes.len();
        self.nodes.push(Node { bounds, pieces: range.clone(), halves: None });
        if let Some(axis) = widest.filter(|_| range.len() > LEAF) {
            let middle = range.len() / 2;
            let pieces = self.pieces;
            let center = |&at: &u32| (pieces[at as usize].extents[axis].center(), at);
            self.order[range.clone()].select_nth_unstable_by_key(middle, center);
            let halves = [self.grow(range.start..range.start + middle), self.grow(range.start + middle..range.end)];
            self.nodes[id].halves = Some(halves);
        }
        id
    }
}

/// What the rows of two groups lose if these become one.
pub(super) fn cost(axes: &[Axis], one: &Piece, other: &Piece) -> f64 {
    let rows = (one.rows + other.rows) as f64;
    let of_axis = |((a, b), axis): ((&Extent, &Extent), &Axis)| {
        let together = axis.width(a.low.min(b.low), a.high.max(b.high), n_together(&a.codes, &b.codes));
        rows * together - one.rows as f64 * a.penalty(axis) - other.rows as f64 * b.penalty(axis)
    };
    one.extents.iter().zip(&other.extents).zip(axes).map(of_axis).sum()
}

/// How many different codes two ascending lists have.
fn n_together(one: &[Code], other: &[Code]) -> usize {
    let (mut at, mut n) = (0, one.len() + other.len());
    for code in one {
        while other.get(at).is_some_and(|known| known < code) {
            at += 1;
        }
        n -= usize::from(other.get(at) == Some(code));
    }
    n
}

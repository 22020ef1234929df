//! Step 2: the box of every row.

use chrysalis_table::{Code, Column, Progress};
use rayon::prelude::*;

use super::boxes::EarlierBoxes;
use super::kept::covered;
use crate::partitioner::mondrian::axis::{Axis, Shape};
use crate::partitioner::populated::Extent;
use crate::{Microdata, PublishError};

/// Up to this many boxes are looked at one by one.
const LEAF: usize = 8;
/// Rows that are placed between two reports.
const ROWS_PER_REPORT: usize = 1 << 14;

/// The boxes, in the space of a table's values.
pub(super) struct Space<'a> {
    pub(super) axes: Vec<Axis>,
    columns: Vec<&'a Column>,
    /// By axis and label: what it covers; `None` where no row has such a value.
    reaches: Vec<Vec<Option<Reach>>>,
    /// By axis: the attribute of the earlier release.
    attributes: Vec<usize>,
    boxes: &'a EarlierBoxes,
    /// The boxes that cover something, and what a row in each loses.
    open: Vec<(u32, f64)>,
    nodes: Vec<Node>,
}

/// What a label covers.
struct Reach {
    extent: Extent,
    /// The ranks that are covered, ascending; empty if all between the ends are.
    ranks: Vec<u32>,
}

struct Node {
    /// The ranks of its boxes, the lowest and the highest on each axis.
    bounds: Vec<(u32, u32)>,
    boxes: std::ops::Range<usize>,
    halves: Option<[usize; 2]>,
}

impl<'a> Space<'a> {
    pub(super) fn new(data: &'a Microdata, boxes: &'a EarlierBoxes) -> Result<Space<'a>, PublishError> {
        let (mut axes, mut columns, mut attributes) = (Vec::new(), Vec::new(), Vec::new());
        for (column, taxonomy) in data.quasi() {
            axes.push(Axis::new(column, taxonomy));
            columns.push(column);
            let place = boxes.place(column.name());
            attributes
                .push(place.ok_or_else(|| PublishError::Internal("boxes of other columns were not refused".into()))?);
        }
        let reach = |at: usize| {
            let covers = boxes.covers(attributes[at]).iter();
            covers.map(|cover| Reach::new(covered(cover, columns[at].domain()), &axes[at], columns[at])).collect()
        };
        let reaches = (0..axes.len()).map(reach).collect();
        let mut space = Space { axes, columns, reaches, attributes, boxes, open: Vec::new(), nodes: Vec::new() };
        for at in 0..boxes.len() as u32 {
            let penalties =
                (0..space.axes.len()).map(|axis| Some(space.reach(at, axis)?.extent.penalty(&space.axes[axis])));
            if let Some(penalty) = penalties.sum::<Option<f64>>() {
                space.open.push((at, penalty));
            }
        }
        if !space.open.is_empty() {
            space.grow(0..space.open.len());
        }
        Ok(space)
    }

    fn reach(&self, of: u32, axis: usize) -> Option<&Reach> {
        self.reaches[axis][self.boxes.label(of, self.attributes[axis])].as_ref()
    }

    /// What a box spans on every axis.
    pub(super) fn extents(&self, of: u32) -> Vec<Extent> {
        // PROOF: only boxes that cover something have rows.
        (0..self.axes.len()).filter_map(|axis| Some(self.reach(of, axis)?.extent.clone())).collect()
    }

    /// What rows that are alike span.
    pub(super) fn extents_of_row(&self, row: u32) -> Vec<Extent> {
        let extent = |(axis, column): (&Axis, &&Column)| {
            let code = column.code(row as usize);
            Extent::of([code].into_iter(), axis)
        };
        self.axes.iter().zip(&self.columns).map(extent).collect()
    }

    /// The quasi codes of a row.
    pub(super) fn codes(&self, row: u32) -> impl Iterator<Item = Code> {
        self.columns.iter().map(move |column| column.code(row as usize))
    }

    /// The box of every row: of those that cover it the one that loses least, of these the first in the order of labels.
    pub(super) fn place(&self, rows: usize, progress: Progress<'_>) -> Vec<Option<u32>> {
        let mut places = vec![None; rows];
        places.par_chunks_mut(ROWS_PER_REPORT).enumerate().for_each(|(piece, places)| {
            let mut point = Vec::new();
            for (at, place) in places.iter_mut().enumerate() {
                let row = piece * ROWS_PER_REPORT + at;
                point.clear();
                point.extend(self.axes.iter().zip(&self.columns).map(|(axis, column)| axis.rank(column.code(row))));
                *place = self.covering(&point);
            }
            progress(places.len() as u64);
        });
        places
    }

    fn covering(&self, point: &[u32]) -> Option<u32> {
        let mut best: Option<(f64, u32)> = None;
        let mut waiting: Vec<usize> = (!self.nodes.is_empty()).then_some(0).into_iter().collect();
        while let Some(node) = waiting.pop().map(|id| &self.nodes[id]) {
            if !node.bounds.iter().zip(point).all(|((low, high), rank)| (low..=high).contains(&rank)) {
                continue;
            }
            if let Some(halves) = node.halves {
                waiting.extend(halves);
                continue;
            }
            for &(at, penalty) in &self.open[node.boxes.clone()] {
                let is_better =
                    best.is_none_or(|(least, first)| penalty.total_cmp(&least).then(at.cmp(&first)).is_lt());
                if is_better && self.covers(at, point) {
                    best = Some((penalty, at));
                }
            }
        }
        best.map(|(_, at)| at)
    }

    fn covers(&self, of: u32, point: &[u32]) -> bool {
        let covers = |(axis, rank): (usize, &u32)| self.reach(of, axis).is_some_and(|reach| reach.covers(*rank));
        point.iter().enumerate().all(covers)
    }

    /// Adds the node of some boxes and those below it. Halves are as deep as the logarithm of the boxes.
    fn grow(&mut self, range: std::ops::Range<usize>) -> usize {
        let bounds: Vec<(u32, u32)> = (0..self.axes.len())
            .map(|axis| {
                let reaches = self.open[range.clone()].iter().filter_map(|&(at, _)| self.reach(at, axis));
                let ends = reaches.map(|reach| (reach.extent.low, reach.extent.high));
                ends.fold((u32::MAX, 0), |(low, high), (first, last)| (low.min(first), high.max(last)))
            })
            .collect();
        let share = |axis: usize| f64::from(bounds[axis].1 - bounds[axis].0) / self.axes[axis].n_ranks().max(1) as f64;
        let widest = (0..bounds.len()).max_by(|&a, &b| share(a).total_cmp(&share(b)).then(b.cmp(&a)));
        let id = self.nodes.len();
        self.nodes.push(Node { bounds, boxes: range.clone(), halves: None });
        if let Some(axis) = widest.filter(|_| range.len() > LEAF) {
            let mut boxes = self.open[range.clone()].to_vec();
            let middle = boxes.len() / 2;
            boxes.select_nth_unstable_by_key(middle, |&(at, _)| (self.reach(at, axis).map(Reach::center), at));
            self.open[range.clone()].copy_from_slice(&boxes);
            let halves = [self.grow(range.start..range.start + middle), self.grow(range.start + middle..range.end)];
            self.nodes[id].halves = Some(halves);
        }
        id
    }
}

impl Reach {
    fn new(codes: Vec<Code>, axis: &Axis, column: &Column) -> Option<Reach> {
        let mut ranks: Vec<u32> = codes.iter().map(|&code| axis.rank(code)).collect();
        ranks.sort_unstable();
        let (low, high) = (*ranks.first()?, *ranks.last()?);
        // Of ranges and of words with an order, everything between the ends is covered.
        if column.domain().kind().is_ordered() || ranks.len() as u64 == u64::from(high - low) + 1 {
            ranks.clear();
        }
        Some(Reach { extent: Extent::of(codes.into_iter(), axis), ranks })
    }

    fn covers(&self, rank: u32) -> bool {
        let is_between = self.extent.low <= rank && rank <= self.extent.high;
        is_between && (self.ranks.is_empty() || self.ranks.binary_search(&rank).is_ok())
    }

    /// Twice the middle.
    fn center(&self) -> u64 {
        self.extent.center()
    }
}

impl Extent {
    /// What some values span.
    fn of(codes: impl Iterator<Item = Code> + Clone, axis: &Axis) -> Extent {
        let ranks = codes.clone().map(|code| axis.rank(code));
        let (low, high) = ranks.fold((u32::MAX, 0), |(low, high), rank| (low.min(rank), high.max(rank)));
        let mut set: Vec<Code> = Vec::new();
        if matches!(axis.shape(), Shape::Set) {
            set.extend(codes);
            set.sort_unstable();
            set.dedup();
        }
        Extent { low, high, codes: set }
    }
}

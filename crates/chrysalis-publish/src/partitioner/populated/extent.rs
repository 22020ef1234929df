//! What the rows of groups span, attribute by attribute.

use chrysalis_table::Code;
use rayon::prelude::*;

use super::PeopleAxis;
use crate::partitioner::mondrian::axis::{Axis, Shape};
use crate::{Microdata, Partition};

/// The ranks that the rows of a group span and, where a label is a set of values, these values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::partitioner) struct Extent {
    pub(in crate::partitioner) low: u32,
    pub(in crate::partitioner) high: u32,
    /// Ascending; empty for labels that are ranges or nodes.
    pub(in crate::partitioner) codes: Vec<Code>,
}

impl Extent {
    /// The extent of both.
    pub(in crate::partitioner) fn with(&self, other: &Extent) -> Extent {
        let mut codes = self.codes.clone();
        codes.extend(&other.codes);
        codes.sort_unstable();
        codes.dedup();
        Extent { low: self.low.min(other.low), high: self.high.max(other.high), codes }
    }

    /// The penalty of one row.
    pub(in crate::partitioner) fn penalty(&self, axis: &Axis) -> f64 {
        axis.width(self.low, self.high, self.codes.len())
    }

    /// Twice the middle.
    pub(in crate::partitioner) fn center(&self) -> u64 {
        u64::from(self.low) + u64::from(self.high)
    }
}

/// The extents of all groups, one attribute after the other for each.
pub(super) struct Extents {
    n_axes: usize,
    all: Vec<Extent>,
}

impl Extents {
    pub(super) fn new(data: &Microdata, axes: &[PeopleAxis<'_>], partition: &Partition) -> Extents {
        let columns: Vec<_> = data.quasi().map(|(column, _)| column.codes()).collect();
        let extent = |group: &[u32], at: usize| {
            let (codes, axis) = (columns[at], &axes[at].axis);
            let ranks = group.iter().map(|&row| axis.rank(codes.get(row as usize)));
            let (low, high) = ranks.fold((u32::MAX, 0), |(low, high), rank| (low.min(rank), high.max(rank)));
            let mut set: Vec<Code> = Vec::new();
            if matches!(axis.shape(), Shape::Set) {
                set.extend(group.iter().map(|&row| codes.get(row as usize)));
                set.sort_unstable();
                set.dedup();
            }
            Extent { low, high, codes: set }
        };
        let groups: Vec<&[u32]> = partition.groups().collect();
        let of_group = |group: &&[u32]| (0..axes.len()).map(|at| extent(group, at)).collect::<Vec<_>>();
        Extents { n_axes: axes.len(), all: groups.par_iter().flat_map_iter(of_group).collect() }
    }

    /// One group alone.
    pub(super) fn one(extents: Vec<Extent>) -> Extents {
        Extents { n_axes: extents.len(), all: extents }
    }

    pub(super) fn of(&self, group: usize) -> &[Extent] {
        &self.all[group * self.n_axes..][..self.n_axes]
    }
}

//! Which groups may hold a person: those whose ranges and labels cover all the person's values.

use chrysalis_table::{Column, Table, Watch};
use rayon::prelude::*;

use super::cells::Cells;
use super::index::{Boxes, Index, Mark};
use super::space::{Axis, LabelSets};
use crate::Groups;
use crate::attack;
use crate::measure::GroupCounts;

/// The boxes of groups, in the space of the people's values.
pub(super) struct Places<'a> {
    axes: Vec<Axis<'a>>,
    columns: Vec<&'a Column>,
    /// The groups that have rows, and one of their rows.
    groups: Vec<(u32, usize)>,
}

impl<'a> Places<'a> {
    /// The groups of a table, by some of its cells.
    pub(super) fn new(
        cells: impl Iterator<Item = &'a Cells<'a>>,
        sets: &LabelSets,
        groups: &Groups,
        people: &'a Table,
    ) -> Places<'a> {
        let mut row_of = vec![None; groups.n_groups];
        groups.of_row.iter().enumerate().for_each(|(row, &group)| row_of[group as usize] = Some(row));
        let known: Vec<_> = cells.filter_map(|cells| Some((cells, people.column(&cells.attribute.name)?))).collect();
        Places {
            axes: known.iter().map(|(cells, column)| Axis::new(cells, column, sets)).collect(),
            columns: known.iter().map(|(_, column)| *column).collect(),
            groups: (0..).zip(row_of).filter_map(|(group, row)| Some((group, row?))).collect(),
        }
    }

    /// The groups that cover each of these people, ascending.
    pub(super) fn of(&self, rows: &[usize], watch: &dyn Watch) -> Vec<Vec<u32>> {
        let intervals = self.groups.iter().flat_map(|&(_, row)| self.axes.iter().map(move |axis| axis.interval(row)));
        let boxes = Boxes { axes: &self.axes, intervals: intervals.collect(), n: self.groups.len() };
        let index = Index::new(&boxes, watch);
        let of_person = |&row: &usize| {
            watch.pause();
            let point: Vec<u32> =
                self.axes.iter().zip(&self.columns).map(|(axis, column)| axis.rank(column.code(row))).collect();
            let mut found = Vec::new();
            index.visit(Mark::Unseen, &point, |at| {
                found.push(self.groups[at as usize].0);
                true
            });
            found.sort_unstable();
            found
        };
        rows.par_iter().with_min_len(256).map(of_person).collect()
    }
}

/// The groups that may hold each of these people, with their numbers of rows.
pub(super) fn weighed(places: &Places<'_>, rows: &[usize], sample: &GroupCounts, watch: &dyn Watch) -> attack::Places {
    let with_rows =
        |groups: Vec<u32>| groups.into_iter().map(|group| (group, sample.sizes()[group as usize] as f32)).collect();
    places.of(rows, watch).into_iter().map(with_rows).collect()
}

//! Which groups may hold a person.

use chrysalis_table::{Column, Table, Watch};

use super::views::JoinedView;
use crate::Groups;
use crate::boxes::cells::Cells;
use crate::boxes::index::{Boxes, Index, Mark};
use crate::boxes::space::Axis;

/// The kinds of people that these tables can tell apart: one row of each kind, and how many people are of it.
pub(super) fn kinds(views: &[&JoinedView<'_>], people: &Table, watch: &dyn Watch) -> Vec<(usize, u64)> {
    let classes = classes(views, people, watch);
    let mut rows = vec![(0_usize, 0_u64); classes.n_groups];
    for (row, &class) in classes.of_row.iter().enumerate() {
        rows[class as usize] = (row, rows[class as usize].1 + 1);
    }
    rows
}

/// Groups of people whom these tables cannot tell apart.
pub(super) fn classes(views: &[&JoinedView<'_>], people: &Table, watch: &dyn Watch) -> Groups {
    let names: Vec<&str> = views.iter().flat_map(|view| view.attributes()).collect();
    let columns: Vec<&Column> = people.columns().iter().filter(|column| names.contains(&column.name())).collect();
    Groups::of_columns(&columns, people.rows(), watch)
}

/// Finds the groups of a table that may hold a person.
pub(super) struct Finder<'a> {
    view: &'a JoinedView<'a>,
    pub(super) axes: Vec<Axis<'a>>,
    columns: Vec<&'a Column>,
    /// All values of all groups, ascending.
    values: Vec<u32>,
}

impl<'a> Finder<'a> {
    /// Finds groups by the table's own quasi attributes, or also by what it shows of those of other releases.
    pub(super) fn new(view: &'a JoinedView<'a>, people: &'a Table, is_own: bool, watch: &dyn Watch) -> Self {
        let n_cells = if is_own { view.n_own } else { view.published.quasi.len() };
        let known = view
            .published
            .quasi
            .iter()
            .take(n_cells)
            .filter_map(|cells| Some((cells, people.column(&cells.attribute.name)?)));
        let known: Vec<_> = known.collect();
        let axis = |cells: &Cells<'a>, column: &Column| {
            watch.pause();
            match view.is_permuted {
                true => Axis::of_groups(cells, view.published.group, column),
                false => Axis::new(cells, column, &view.sets),
            }
        };
        Finder {
            view,
            axes: known.iter().map(|(cells, column)| axis(cells, column)).collect(),
            columns: known.iter().map(|(_, column)| *column).collect(),
            values: distinct(view.groups.iter().flat_map(|group| &group.values)),
        }
    }

    pub(super) fn boxes(&self) -> Boxes<'_> {
        let intervals = self.view.groups.iter().flat_map(|group| self.axes.iter().map(|axis| axis.interval(group.row)));
        Boxes { axes: &self.axes, intervals: intervals.collect(), n: self.view.groups.len() }
    }

    /// All values of all groups that may hold the person of a row, ascending.
    pub(super) fn values(&self, index: &Index<'_>, row: usize) -> Vec<u32> {
        let mut is_found = vec![false; self.values.last().map_or(0, |last| *last as usize + 1)];
        let mut values = Vec::new();
        self.visit(index, row, |group| {
            for &value in &self.view.groups[group as usize].values {
                if !std::mem::replace(&mut is_found[value as usize], true) {
                    values.push(value);
                }
            }
            // Once all values are possible, no other group matters.
            values.len() < self.values.len()
        });
        values.sort_unstable();
        values
    }

    /// The groups that may hold the person of a row, ascending.
    pub(super) fn groups(&self, index: &Index<'_>, row: usize) -> Vec<u32> {
        let mut groups = Vec::new();
        self.visit(index, row, |group| {
            groups.push(group);
            true
        });
        groups.sort_unstable();
        groups
    }

    /// Calls `visit` with groups that may hold the person of a row, until it returns `false`.
    fn visit(&self, index: &Index<'_>, row: usize, visit: impl FnMut(u32) -> bool) {
        let point: Vec<u32> =
            self.axes.iter().zip(&self.columns).map(|(axis, column)| axis.rank(column.code(row))).collect();
        index.visit(Mark::Unseen, &point, visit);
    }
}

/// Some values, each once, ascending.
fn distinct<'a>(values: impl Iterator<Item = &'a u32>) -> Vec<u32> {
    let mut values: Vec<u32> = values.copied().collect();
    values.sort_unstable();
    values.dedup();
    values
}

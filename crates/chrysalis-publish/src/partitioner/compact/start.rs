//! Step 2: two partitions to start from, of which the better one is used.

use chrysalis_criteria::Principle;
use chrysalis_table::{Progress, SaCounts};
use rayon::prelude::*;

use super::atoms::{Atoms, Groups, Piece};
use super::cells;
use super::hull::Hull;
use super::line::Line;
use crate::Microdata;
use crate::partitioner::Mondrian;
use crate::partitioner::mondrian::axis::{Axis, Shape};
use crate::partitioner::mondrian::cut::Worth;

/// Groups to start from.
pub(super) struct Start {
    pub(super) groups: Groups,
    /// Whether neighbours in this list lie close together.
    pub(super) is_in_order: bool,
    /// The penalty of `mondrian`'s groups, which no step may exceed.
    pub(super) most: f64,
}

/// Labels must cost less than this share of what `mondrian` costs; otherwise the order of its groups is worth more.
const WORTHWHILE: f64 = 0.95;

impl Start {
    pub(super) fn best(
        data: &Microdata,
        goal: &dyn Principle,
        atoms: &Atoms,
        axes: &[(usize, Axis)],
        lines: &[Line],
        worth: Worth,
        progress: Progress<'_>,
    ) -> Self {
        let cut = || cut(data, goal, atoms, worth, progress);
        let cost = |groups: &Groups| {
            let hulls = Hull::all(lines, atoms, groups);
            hulls.iter().map(Hull::cost).sum::<f64>()
        };
        // Without a taxonomy there is hardly a label between a single value and all values.
        if !axes.iter().any(|(_, axis)| matches!(axis.shape(), Shape::Tree(..))) {
            let groups = cut();
            return Start { most: cost(&groups), groups, is_in_order: true };
        }
        let (cut, labelled) = rayon::join(cut, || labelled(data, goal, atoms, axes, progress));
        let most = cost(&cut);
        if cost(&labelled) < WORTHWHILE * most {
            Start { groups: labelled, is_in_order: false, most }
        } else {
            Start { groups: cut, is_in_order: true, most }
        }
    }
}

/// The groups of `mondrian`.
fn cut(data: &Microdata, goal: &dyn Principle, atoms: &Atoms, worth: Worth, progress: Progress<'_>) -> Groups {
    let all: Vec<u32> = (0..data.rows() as u32).collect();
    let cut = Mondrian { relaxed: false }.divided(data, goal, worth, all, progress);
    atoms.groups(&cut, data.rows(), progress)
}

/// Groups of rows with equal labels; `mondrian` divides the rows that found none.
fn labelled(
    data: &Microdata,
    goal: &dyn Principle,
    atoms: &Atoms,
    axes: &[(usize, Axis)],
    progress: Progress<'_>,
) -> Groups {
    let counts = atoms.counts();
    let tuples = atoms.tuples(&counts);
    let n_values = data.sensitive_counts().domain_len();
    let (found, left) = cells::group(&tuples, axes, goal, n_values);
    let mut groups = Groups::default();
    found.into_iter().for_each(|cell| groups.push(cell.pieces.into_iter()));
    if left.is_empty() {
        return groups;
    }
    let mut left: Vec<Piece> = left.iter().map(|&atom| Piece { atom, count: counts[atom as usize] }).collect();
    let mut values = SaCounts::of(n_values, []);
    left.iter().for_each(|piece| values.add_many(tuples.values[piece.atom as usize], piece.count));
    // The remaining rows may fail even as one group. The coarsest groups were formed last: they take these rows in.
    while !goal.holds(&values) && groups.len() > 0 {
        for &piece in groups.group(groups.len() - 1) {
            left.push(piece);
            values.add_many(tuples.values[piece.atom as usize], piece.count);
        }
        groups.pop();
    }
    let rows = atoms.some_rows(&mut left);
    let rest = Mondrian { relaxed: false }.partition_rows(data, goal, rows, &|_| progress(0));
    let rest = atoms.groups(&rest, data.rows(), progress);
    (0..rest.len()).for_each(|index| groups.push(rest.group(index).iter().copied()));
    groups
}

impl Hull {
    /// What every group has in common.
    pub(super) fn all(lines: &[Line], atoms: &Atoms, groups: &Groups) -> Vec<Hull> {
        let hull = |group: usize| {
            Hull::of(lines, groups.group(group).iter().map(|piece| (atoms.cells(piece.atom), piece.count)))
        };
        (0..groups.len()).into_par_iter().with_min_len(64).map(hull).collect()
    }
}

//! Step 5: the classes of one wing.

use std::ops::Range;

use chrysalis_table::{SaCounts, no_progress};

use super::super::mondrian::CutContext;
use super::super::mondrian::cut::{Chooser, Scratch, Worth};
use super::super::mondrian::records::{Rank, Records, Slice};
use super::space::{Extent, Space};

/// The classes of a wing: records class after class.
pub(super) struct Classes<T> {
    pub(super) records: Records<T>,
    pub(super) sizes: Vec<u32>,
    pub(super) loss: f64,
}

/// Buffers for the wing of one set.
pub(super) struct WingRoom {
    cuts: Scratch,
    counts: SaCounts,
    extent: Extent,
}

impl WingRoom {
    pub(super) fn new(space: &Space<'_>, chooser: &Chooser<'_>) -> Self {
        WingRoom { cuts: chooser.scratch(), counts: SaCounts::new(space.n_sensitive), extent: Extent::new(space) }
    }
}

/// Divides some rows into classes: once as they are, and once after frequent combinations of values have been set
/// apart. Takes the result that loses less.
pub(super) fn classes<T: Rank>(
    space: &Space<'_>,
    at: usize,
    chooser: &Chooser<'_>,
    group: &Slice<'_, T>,
    places: Range<usize>,
    room: &mut WingRoom,
) -> Classes<T> {
    let cells = space.wings[at].cells.clone();
    let whole = cut(space, at, chooser, Records::copied(group, places.clone(), cells.clone()), Vec::new(), room);
    if whole.loss == 0.0 {
        return whole;
    }
    let mut records = Records::copied(group, places, cells);
    let apart = set_apart(space, &mut records, &mut room.counts);
    if apart.is_empty() {
        return whole;
    }
    let rest = cut(space, at, chooser, records, apart, room);
    if rest.loss < whole.loss { rest } else { whole }
}

/// Divides the records after the classes that are already set apart, which lose nothing.
fn cut<T: Rank>(
    space: &Space<'_>,
    at: usize,
    chooser: &Chooser<'_>,
    mut records: Records<T>,
    apart: Vec<u32>,
    room: &mut WingRoom,
) -> Classes<T> {
    let axes = &space.wings[at].axes;
    let context = CutContext {
        axes,
        worth: Worth::Penalty,
        goal: space.goal,
        relaxed: false,
        is_blind: false,
        progress: &no_progress,
    };
    let mut all = records.all();
    let mut start = apart.iter().sum::<u32>() as usize;
    let rest = start..all.len();
    let mut sizes = apart;
    let mut loss = 0.0;
    if !rest.is_empty() {
        for size in context.split(chooser, all.part(rest), &mut room.cuts) {
            let end = start + size as usize;
            loss += room.extent.loss(axes, 0, &all.part(start..end));
            sizes.push(size);
            start = end;
        }
    }
    Classes { records, sizes, loss }
}

/// Moves rows whose combination of values is frequent enough to the front, combination by combination, and returns how
/// many rows each has. The remaining rows satisfy the goal too, or there are none.
fn set_apart<T: Rank>(space: &Space<'_>, records: &mut Records<T>, counts: &mut SaCounts) -> Vec<u32> {
    let order = records.by_values();
    let mut holds = |all: &Slice<'_, T>, runs: &[&[u32]]| {
        let n: usize = runs.iter().map(|run| run.len()).sum();
        if n < space.least || space.goal.is_size_only() {
            return n >= space.least;
        }
        counts.clear();
        runs.iter().flat_map(|run| run.iter()).for_each(|&place| counts.add(all.sensitive_at(place as usize)));
        space.goal.holds(counts)
    };
    let all = records.all();
    let runs = order.chunk_by(|&a, &b| all.has_same_values(a as usize, b as usize));
    let (mut apart, mut rest): (Vec<&[u32]>, Vec<&[u32]>) = runs.partition(|run| holds(&all, &[run]));
    // The largest first; of equal ones, the one with the lower values.
    apart.sort_by_key(|run| std::cmp::Reverse(run.len()));
    while !rest.is_empty() && !holds(&all, &rest) {
        match apart.pop() {
            Some(smallest) => rest.push(smallest),
            None => break,
        }
    }
    let sizes = apart.iter().map(|run| run.len() as u32).collect();
    let arranged: Vec<u32> = apart.into_iter().chain(rest).flatten().copied().collect();
    records.arrange(&arranged);
    sizes
}

//! Step 3: groups that fail are merged with others.

use std::cmp::Ordering;
use std::sync::Mutex;

use chrysalis_criteria::Principle;
use chrysalis_table::{Code, Progress, SaCounts};
use rayon::prelude::*;

use super::nearest::{Tree, cost};
use crate::partitioner::mondrian::axis::Axis;
use crate::partitioner::populated::Extent;

/// Halves with fewer groups than this are not worth another task.
const GROUPS_PER_TASK: usize = 2_048;

/// More rounds than groups that pair up need; after these, whatever still fails is merged by halves.
const MOST_ROUNDS: usize = 64;

/// Groups that became one.
pub(super) struct Piece {
    /// The groups, by their numbers.
    pub(super) groups: Vec<u32>,
    pub(super) rows: u64,
    pub(super) extents: Vec<Extent>,
    pub(super) passes: bool,
}

/// What merging needs to know.
pub(super) struct Merging<'a> {
    pub(super) axes: &'a [Axis],
    pub(super) goal: &'a dyn Principle,
    /// The rows of every group.
    pub(super) rows: &'a [Vec<u32>],
    /// The sensitive code of every row; empty if there is no sensitive column.
    pub(super) codes: &'a [Code],
    pub(super) n_codes: usize,
    pub(super) progress: Progress<'a>,
    pub(super) spare: Mutex<Vec<SaCounts>>,
}

impl Merging<'_> {
    /// Every group for itself.
    pub(super) fn pieces(&self, extents: Vec<Vec<Extent>>) -> Vec<Piece> {
        let new = || SaCounts::new(self.n_codes);
        let piece = |counts: &mut SaCounts, (at, extents): (usize, Vec<Extent>)| {
            counts.clear();
            self.count(at as u32, counts);
            let (groups, rows) = (vec![at as u32], self.rows[at].len() as u64);
            Piece { groups, rows, extents, passes: self.passes(counts) }
        };
        extents.into_par_iter().enumerate().map_init(new, piece).collect()
    }

    fn count(&self, group: u32, counts: &mut SaCounts) {
        let code = |row: u32| self.codes.get(row as usize).copied().unwrap_or(0);
        self.rows[group as usize].iter().for_each(|&row| counts.add(code(row)));
    }

    fn passes(&self, counts: &SaCounts) -> bool {
        counts.total() >= self.goal.least_size() && self.goal.holds(counts)
    }

    /// Groups that all pass, or one that does not.
    pub(super) fn merged(&self, mut pieces: Vec<Piece>) -> Vec<Piece> {
        for _ in 0..MOST_ROUNDS {
            if pieces.len() < 2 || pieces.iter().all(|piece| piece.passes) {
                return pieces;
            }
            pieces = self.round(pieces);
        }
        self.halved(pieces)
    }

    /// Every group that fails joins the one with which it loses least; of those that want the same one, the cheapest does.
    fn round(&self, pieces: Vec<Piece>) -> Vec<Piece> {
        let tree = Tree::new(self.axes, &pieces);
        let failing: Vec<u32> = (0..pieces.len() as u32).filter(|&at| !pieces[at as usize].passes).collect();
        let cheapest = |&at: &u32| {
            (self.progress)(0);
            tree.cheapest(at).map(|(cost, other)| (cost, at, other))
        };
        let mut wanted: Vec<(f64, u32, u32)> = failing.par_iter().filter_map(cheapest).collect();
        wanted.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut pieces: Vec<Option<Piece>> = pieces.into_iter().map(Some).collect();
        let mut pairs: Vec<(Piece, Piece)> = Vec::new();
        for (_, at, other) in wanted {
            let (at, other) = (at as usize, other as usize);
            if pieces[at].is_some() && pieces[other].is_some() {
                pairs.extend(pieces[at].take().zip(pieces[other].take()));
            }
        }
        let join = |counts: &mut SaCounts, (one, other): (Piece, Piece)| {
            counts.clear();
            one.groups.iter().chain(&other.groups).for_each(|&group| self.count(group, counts));
            both(one, other, self.passes(counts))
        };
        let joined: Vec<Piece> = pairs.into_par_iter().map_init(|| SaCounts::new(self.n_codes), join).collect();
        let mut all: Vec<Piece> = pieces.into_iter().flatten().chain(joined).collect();
        // Numbers of groups decide between equal costs, so that they must not depend on what was merged when.
        all.sort_unstable_by(|one, other| one.groups.cmp(&other.groups));
        all
    }

    /// The same, but each of ever smaller halves for itself.
    fn halved(&self, mut pieces: Vec<Piece>) -> Vec<Piece> {
        (self.progress)(0);
        if pieces.len() < 2 || pieces.iter().all(|piece| piece.passes) {
            return pieces;
        }
        let axis = self.widest(&pieces);
        let middle = pieces.len() / 2;
        pieces.select_nth_unstable_by(middle, |a, b| order(a, b, axis));
        let right = pieces.split_off(middle);
        let (left, right) = match pieces.len() >= GROUPS_PER_TASK {
            true => rayon::join(|| self.halved(pieces), || self.halved(right)),
            false => (self.halved(pieces), self.halved(right)),
        };
        self.joined(left, right)
    }

    /// The axis on which the middles of groups lie furthest apart.
    fn widest(&self, pieces: &[Piece]) -> usize {
        let mut best = (0, 0.0);
        for (at, axis) in self.axes.iter().enumerate() {
            let centers = pieces.iter().map(|piece| piece.extents[at].center());
            let (low, high) = centers.fold((u64::MAX, 0), |(low, high), it| (low.min(it), high.max(it)));
            let apart = high.saturating_sub(low) as f64 / axis.n_ranks().max(1) as f64;
            if apart > best.1 {
                best = (at, apart);
            }
        }
        best.0
    }

    fn joined(&self, mut left: Vec<Piece>, mut right: Vec<Piece>) -> Vec<Piece> {
        let fails = |pieces: &[Piece]| matches!(pieces, [only] if !only.passes);
        if fails(&right) {
            std::mem::swap(&mut left, &mut right);
        }
        // Now a half that fails is on the left, and both fail if the right one does.
        if !fails(&left) {
            left.append(&mut right);
            return left;
        }
        let Some(mut failing) = left.pop() else { return right };
        let mut counts = self.counts();
        failing.groups.iter().for_each(|&group| self.count(group, &mut counts));
        let cost = |piece: &Piece| cost(self.axes, &failing, piece);
        let mut others: Vec<(f64, Piece)> = right.into_iter().map(|piece| (cost(&piece), piece)).collect();
        others.sort_by(|(a, one), (b, other)| a.total_cmp(b).then_with(|| one.groups.cmp(&other.groups)));
        let mut others = others.into_iter().map(|(_, piece)| piece);
        while !failing.passes {
            let Some(other) = others.next() else { break };
            other.groups.iter().for_each(|&group| self.count(group, &mut counts));
            failing = both(failing, other, self.passes(&counts));
        }
        self.return_counts(counts);
        others.chain([failing]).collect()
    }

    /// Empty counts. They are as long as there are values, and are used again.
    fn counts(&self) -> SaCounts {
        let known = self.spare.lock().ok().and_then(|mut spare| spare.pop());
        known.unwrap_or_else(|| SaCounts::new(self.n_codes))
    }

    fn return_counts(&self, mut counts: SaCounts) {
        counts.clear();
        if let Ok(mut spare) = self.spare.lock() {
            spare.push(counts);
        }
    }
}

/// By the middles on an axis; equal ones by what they span, then by number.
fn order(one: &Piece, other: &Piece, axis: usize) -> Ordering {
    let by_middle = one.extents[axis].center().cmp(&other.extents[axis].center());
    by_middle.then_with(|| one.extents.cmp(&other.extents)).then_with(|| one.groups.cmp(&other.groups))
}

fn both(one: Piece, mut other: Piece, passes: bool) -> Piece {
    let extents: Vec<Extent> = one.extents.iter().zip(&other.extents).map(|(a, b)| a.with(b)).collect();
    other.groups.extend(one.groups);
    other.groups.sort_unstable();
    Piece { rows: one.rows + other.rows, extents, passes, groups: other.groups }
}

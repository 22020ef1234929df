//! Groups with too few people under their labels are merged with others (spec, step 3).

use chrysalis_table::Watch;
use rayon::prelude::*;

use super::People;
use super::extent::{Extent, Extents};
use crate::{Microdata, Partition};

/// Halves with fewer groups than this are not worth another task.
const GROUPS_PER_TASK: usize = 2_048;

/// Groups that became one.
struct Piece {
    groups: Vec<u32>,
    rows: u64,
    extents: Vec<Extent>,
    passes: bool,
}

impl People<'_> {
    /// Groups that all have enough people under their labels: some of these ones as they are, others merged.
    pub(crate) fn merged(&self, data: &Microdata, partition: Partition, watch: &dyn Watch) -> Partition {
        let extents = Extents::new(data, &self.axes, &partition);
        let sizes: Vec<u64> = partition.sizes().collect();
        let k = self.goal.least_people();
        let piece = |at: usize| {
            watch.pause_at(at);
            let passes = self.goal.is_mapped(self.under(&extents, at, k));
            Piece { groups: vec![at as u32], rows: sizes[at], extents: extents.of(at).to_vec(), passes }
        };
        let mut pieces: Vec<Option<Piece>> = (0..sizes.len()).into_par_iter().map(|at| Some(piece(at))).collect();
        if pieces.iter().flatten().all(|piece| piece.passes) {
            return partition;
        }
        let merged = self.halved(&mut pieces, watch);
        let rows = merged.iter().flat_map(|piece| &piece.groups).flat_map(|&at| partition.group(at as usize));
        let sizes: Vec<u32> = merged.iter().map(|piece| piece.rows as u32).collect();
        Partition::new(rows.copied().collect(), &sizes)
    }

    /// Groups that all pass, or one that does not.
    fn halved(&self, pieces: &mut [Option<Piece>], watch: &dyn Watch) -> Vec<Piece> {
        if pieces.len() < 2 {
            return pieces.iter_mut().filter_map(Option::take).collect();
        }
        watch.pause();
        if pieces.iter().flatten().all(|piece| piece.passes) {
            return pieces.iter_mut().filter_map(Option::take).collect();
        }
        let axis = self.widest(pieces);
        let middle = pieces.len() / 2;
        pieces.select_nth_unstable_by(middle, |a, b| match (a, b) {
            (Some(a), Some(b)) => {
                let by_middle = a.extents[axis].center().cmp(&b.extents[axis].center());
                by_middle.then_with(|| a.extents.cmp(&b.extents)).then_with(|| a.groups.cmp(&b.groups))
            }
            (a, b) => a.is_some().cmp(&b.is_some()),
        });
        let (left, right) = pieces.split_at_mut(middle);
        let (left, right) = match left.len() >= GROUPS_PER_TASK {
            true => rayon::join(|| self.halved(left, watch), || self.halved(right, watch)),
            false => (self.halved(left, watch), self.halved(right, watch)),
        };
        self.joined(left, right)
    }

    /// The axis on which the middles of groups lie furthest apart.
    fn widest(&self, pieces: &[Option<Piece>]) -> usize {
        let mut best = (0, 0.0);
        for (at, axis) in self.axes.iter().enumerate() {
            let centers = pieces.iter().flatten().map(|piece| piece.extents[at].center());
            let (low, high) = centers.fold((u64::MAX, 0), |(low, high), it| (low.min(it), high.max(it)));
            let apart = high.saturating_sub(low) as f64 / axis.axis.n_ranks().max(1) as f64;
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
        let Some(failing) = left.pop() else { return right };
        let cost = |piece: &Piece| self.cost(&failing, piece);
        let cheapest = (0..right.len()).min_by(|&a, &b| cost(&right[a]).total_cmp(&cost(&right[b])));
        let Some(other) = cheapest.map(|at| right.swap_remove(at)) else { return vec![failing] };
        right.push(self.both(failing, other));
        right
    }

    /// What the rows of two groups lose if these become one.
    fn cost(&self, one: &Piece, other: &Piece) -> f64 {
        let mut sum = 0.0;
        for ((a, b), axis) in one.extents.iter().zip(&other.extents).zip(&self.axes) {
            let rows = (one.rows + other.rows) as f64;
            let penalty = |extent: &Extent| extent.penalty(&axis.axis);
            sum += rows * penalty(&a.with(b)) - one.rows as f64 * penalty(a) - other.rows as f64 * penalty(b);
        }
        sum
    }

    fn both(&self, one: Piece, mut other: Piece) -> Piece {
        let extents: Vec<Extent> = one.extents.iter().zip(&other.extents).map(|(a, b)| a.with(b)).collect();
        other.groups.extend(one.groups);
        let extents = Extents::one(extents);
        // What joins a group that passes leaves it passing (spec, lemma).
        let passes = other.passes || self.goal.is_mapped(self.under(&extents, 0, self.goal.least_people()));
        Piece { groups: other.groups, rows: one.rows + other.rows, extents: extents.of(0).to_vec(), passes }
    }
}

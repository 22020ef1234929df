//! The kd-tree partitioner; see `spec.md` for the steps that the comments number.

pub(super) mod axis;
pub(super) mod cut;
pub(super) mod records;
mod shallow;

use chrysalis_criteria::Principle;
use chrysalis_table::{Codes, Column, Progress};
use rand::CryptoRng;
use rand::seq::SliceRandom;
use rayon::slice::ParallelSliceMut;

use super::Partitioner;
use crate::{Microdata, Partition, PublishError};
use axis::Axis;
use cut::{Chooser, Scratch, Worth};
use records::{Rank, Records, Slice};
pub(crate) use shallow::{Cuts, ranks, shallow};

/// Cuts the table in two, again and again, as long as both sides satisfy every principle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mondrian {
    /// Whether rows with equal values may end up on both sides of a cut.
    pub relaxed: bool,
}

/// Groups with fewer rows than this are not worth another task.
pub(super) const ROWS_PER_TASK: usize = 8_192;

impl Partitioner for Mondrian {
    fn name(&self) -> &'static str {
        "mondrian"
    }

    fn partition(
        &self,
        data: &Microdata,
        goal: &dyn Principle,
        rng: &mut dyn CryptoRng,
        progress: Progress<'_>,
    ) -> Result<Partition, PublishError> {
        let mut rows: Vec<u32> = (0..data.rows() as u32).collect();
        if self.relaxed {
            // LEAK: which of several equal rows go left must not depend on where they stood in the input, so rows are
            // sorted by their values and then shuffled.
            let columns: Vec<&Codes> = data.table().columns().iter().map(Column::codes).collect();
            rows.par_sort_unstable_by(|&a, &b| {
                let key = |row: u32| columns.iter().map(move |codes| codes.get(row as usize));
                key(a).cmp(key(b))
            });
            rows.shuffle(rng);
        }
        Ok(self.partition_rows(data, goal, rows, progress))
    }
}

/// Makes the cuts after which the positions of rows least surprise a reader who spreads every group evenly over its box
/// (angel, equation 7), instead of those that make boxes small.
pub(crate) fn cut_by_density(data: &Microdata, goal: &dyn Principle, progress: Progress<'_>) -> Partition {
    let rows = (0..data.rows() as u32).collect();
    Mondrian::default().divided(data, goal, Worth::Surprise, rows, progress)
}

impl Mondrian {
    /// Divides some rows, which satisfy the goal together.
    pub(super) fn partition_rows(
        &self,
        data: &Microdata,
        goal: &dyn Principle,
        rows: Vec<u32>,
        progress: Progress<'_>,
    ) -> Partition {
        self.divided(data, goal, Worth::Penalty, rows, progress)
    }

    /// Like `partition_rows`, with another measure of what groups are worth.
    pub(super) fn divided(
        &self,
        data: &Microdata,
        goal: &dyn Principle,
        worth: Worth,
        rows: Vec<u32>,
        progress: Progress<'_>,
    ) -> Partition {
        let axes: Vec<Axis> = data.quasi().map(|(column, taxonomy)| Axis::new(column, taxonomy)).collect();
        let context = CutContext { axes: &axes, worth, goal, relaxed: self.relaxed, is_blind: false, progress };
        context.divided(data, rows)
    }
}

/// Cuts some rows, in random order, in which nothing decides but quasi values and what is the same whichever rows have
/// which values. Equal rows may end up on both sides.
pub(super) fn blind_cuts(data: &Microdata, goal: &dyn Principle, rows: Vec<u32>, progress: Progress<'_>) -> Partition {
    let axes: Vec<Axis> = data.quasi().map(|(column, taxonomy)| Axis::new(column, taxonomy)).collect();
    let context = CutContext { axes: &axes, worth: Worth::Penalty, goal, relaxed: true, is_blind: true, progress };
    context.divided(data, rows)
}

impl CutContext<'_> {
    fn divided(&self, data: &Microdata, rows: Vec<u32>) -> Partition {
        let widest = self.axes.iter().map(Axis::n_ranks).max().unwrap_or(1).max(data.sensitive_counts().domain_len());
        // The narrowest records that hold every rank: most tables need one byte per cell.
        if widest <= 1 << 8 {
            self.partition::<u8>(data, rows)
        } else if widest <= 1 << 16 {
            self.partition::<u16>(data, rows)
        } else {
            self.partition::<u32>(data, rows)
        }
    }
}

pub(super) struct CutContext<'a> {
    pub(super) axes: &'a [Axis],
    pub(super) worth: Worth,
    pub(super) goal: &'a dyn Principle,
    pub(super) relaxed: bool,
    /// Whether cuts must be safe whichever rows have which values.
    pub(super) is_blind: bool,
    pub(super) progress: Progress<'a>,
}

impl CutContext<'_> {
    fn partition<T: Rank>(&self, data: &Microdata, rows: Vec<u32>) -> Partition {
        let mut records = Records::<T>::new(data, self.axes, rows);
        (self.progress)(0);
        let chooser =
            Chooser::new(self.axes, self.worth, self.goal, self.relaxed, data.sensitive_counts().domain_len());
        let chooser = if self.is_blind { chooser.blind() } else { chooser };
        let sizes = self.split(&chooser, records.all(), &mut chooser.scratch());
        Partition::new(records.into_rows(), &sizes)
    }

    /// Divides a group as far as possible. Returns the sizes of the groups it became, in the order of its rows.
    pub(super) fn split<T: Rank>(
        &self,
        chooser: &Chooser<'_>,
        mut group: Slice<'_, T>,
        scratch: &mut Scratch,
    ) -> Vec<u32> {
        let mut sizes = Vec::new();
        // The sizes of the groups to the right of the one that is still being divided, nearest last.
        let mut right_sizes: Vec<Vec<u32>> = Vec::new();
        loop {
            // Large groups take long, and it is a while until the first one is done: give the caller a chance to stop.
            if group.len() >= ROWS_PER_TASK {
                (self.progress)(0);
            }
            let Some(cut) = chooser.best_cut(&group, scratch) else {
                (self.progress)(group.len() as u64);
                sizes.push(group.len() as u32);
                break;
            };
            // Step 5. The smaller side is left to a recursive call and the larger one to this loop, so the stack stays
            // shallow.
            let (left, right) = group.divide(&cut);
            if left.len().min(right.len()) >= ROWS_PER_TASK {
                let mut scratch_right = chooser.scratch();
                let (a, b) = rayon::join(
                    || self.split(chooser, left, scratch),
                    || self.split(chooser, right, &mut scratch_right),
                );
                sizes.extend(a);
                sizes.extend(b);
                break;
            } else if left.len() <= right.len() {
                sizes.extend(self.split(chooser, left, scratch));
                group = right;
            } else {
                right_sizes.push(self.split(chooser, right, scratch));
                group = left;
            }
        }
        sizes.extend(right_sizes.into_iter().rev().flatten());
        sizes
    }
}

//! Rows as small records side by side: one cell per quasi attribute, then the sensitive code. Dividing a group moves
//! whole records, so every later look at a smaller group reads memory in order.

use chrysalis_table::SaCounts;

use super::axis::Axis;
use super::cut::{Cut, Side};
use crate::Microdata;

/// A rank in one, two or four bytes.
pub(super) trait Rank: Copy + Send + Sync + Default {
    fn of(rank: u32) -> Self;
    fn get(self) -> u32;
}

impl Rank for u8 {
    fn of(rank: u32) -> Self {
        // PROOF: the caller chose this width because every rank fits.
        rank as u8
    }
    fn get(self) -> u32 {
        u32::from(self)
    }
}

impl Rank for u16 {
    fn of(rank: u32) -> Self {
        // PROOF: the caller chose this width because every rank fits.
        rank as u16
    }
    fn get(self) -> u32 {
        u32::from(self)
    }
}

impl Rank for u32 {
    fn of(rank: u32) -> Self {
        rank
    }
    fn get(self) -> u32 {
        self
    }
}

pub(super) struct Records<T> {
    cells: Vec<T>,
    rows: Vec<u32>,
    stride: usize,
}

impl<T: Rank> Records<T> {
    pub(super) fn new(data: &Microdata, axes: &[Axis], rows: Vec<u32>) -> Self {
        let stride = axes.len() + 1;
        let mut cells = vec![T::default(); rows.len() * stride];
        for (at, ((column, _), axis)) in data.quasi().zip(axes).enumerate() {
            let rank_of: Vec<T> = (0..axis.n_ranks() as u32).map(|code| T::of(axis.rank(code))).collect();
            for (record, &row) in cells.chunks_exact_mut(stride).zip(&rows) {
                record[at] = rank_of[column.code(row as usize) as usize];
            }
        }
        if let Some(column) = data.sensitive() {
            for (record, &row) in cells.chunks_exact_mut(stride).zip(&rows) {
                record[axes.len()] = T::of(column.code(row as usize));
            }
        }
        Records { cells, rows, stride }
    }

    pub(super) fn all(&mut self) -> Slice<'_, T> {
        Slice { cells: &mut self.cells, rows: &mut self.rows, stride: self.stride }
    }

    pub(super) fn into_rows(self) -> Vec<u32> {
        self.rows
    }
}

/// The records of one group.
pub(super) struct Slice<'a, T> {
    cells: &'a mut [T],
    rows: &'a mut [u32],
    stride: usize,
}

impl<'a, T: Rank> Slice<'a, T> {
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn records(&self) -> impl Iterator<Item = &[T]> {
        self.cells.chunks_exact(self.stride)
    }

    /// The ranks of one attribute.
    pub(super) fn ranks(&self, axis: usize) -> impl Iterator<Item = u32> {
        self.records().map(move |record| record[axis].get())
    }

    /// The sensitive code of every row.
    pub(super) fn sensitive(&self) -> impl Iterator<Item = u32> {
        let last = self.stride - 1;
        self.records().map(move |record| record[last].get())
    }

    pub(super) fn count_sensitive(&self, counts: &mut SaCounts) {
        counts.clear();
        self.sensitive().for_each(|code| counts.add(code));
    }

    /// Where the quota of a tie is used up: one past the last tied record that goes left.
    pub(super) fn border(&self, cut: &Cut) -> usize {
        let Side::Tie { rank, quota } = cut.side else { return 0 };
        let mut tied = (0..).zip(self.ranks(cut.axis)).filter(|(_, other)| *other == rank);
        tied.nth((quota as usize).saturating_sub(1)).map_or(0, |(at, _): (usize, u32)| at + 1)
    }

    /// Puts the rows that go left first, and parts the group there.
    pub(super) fn divide(self, cut: &Cut) -> (Slice<'a, T>, Slice<'a, T>) {
        let border = self.border(cut);
        let Slice { cells, rows, stride } = self;
        let (mut low, mut high) = (0, rows.len());
        let goes_left = |cells: &[T], at: usize| cut.side.goes_left(cells[at * stride + cut.axis].get(), at, border);
        // A record that has not been looked at still stands where it stood, so its place decides ties as it did when
        // the cut was checked.
        while low < high {
            if goes_left(cells, low) {
                low += 1;
                continue;
            }
            while high - 1 > low && !goes_left(cells, high - 1) {
                high -= 1;
            }
            high -= 1;
            if high > low {
                rows.swap(low, high);
                let (head, tail) = cells.split_at_mut(high * stride);
                head[low * stride..(low + 1) * stride].swap_with_slice(&mut tail[..stride]);
                low += 1;
            }
        }
        let (left_cells, right_cells) = cells.split_at_mut(low * stride);
        let (left_rows, right_rows) = rows.split_at_mut(low);
        (Slice { cells: left_cells, rows: left_rows, stride }, Slice { cells: right_cells, rows: right_rows, stride })
    }
}

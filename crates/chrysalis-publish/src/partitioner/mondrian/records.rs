//! Rows as small records side by side: one cell per quasi attribute, then the sensitive code. Dividing a group moves
//! whole records, so every later look at a smaller group reads memory in order.

use std::ops::Range;

use chrysalis_table::{Column, SaCounts};

use super::axis::Axis;
use super::cut::{Cut, Side};
use crate::Microdata;

/// A rank in one, two or four bytes.
pub(in crate::partitioner) trait Rank: Copy + Send + Sync + Default {
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

pub(in crate::partitioner) struct Records<T> {
    cells: Vec<T>,
    rows: Vec<u32>,
    stride: usize,
}

impl<T: Rank> Records<T> {
    pub(in crate::partitioner) fn new(data: &Microdata, axes: &[Axis], rows: Vec<u32>) -> Self {
        Records::of(data.quasi().map(|(column, _)| column), data.sensitive(), axes, rows)
    }

    /// Columns in the order of their axes.
    pub(in crate::partitioner) fn of<'a>(
        columns: impl Iterator<Item = &'a Column>,
        sensitive: Option<&Column>,
        axes: &[Axis],
        rows: Vec<u32>,
    ) -> Self {
        let stride = axes.len() + 1;
        let mut cells = vec![T::default(); rows.len() * stride];
        for (at, (column, axis)) in columns.zip(axes).enumerate() {
            let rank_of: Vec<T> = (0..axis.n_ranks() as u32).map(|code| T::of(axis.rank(code))).collect();
            for (record, &row) in cells.chunks_exact_mut(stride).zip(&rows) {
                record[at] = rank_of[column.code(row as usize) as usize];
            }
        }
        if let Some(column) = sensitive {
            for (record, &row) in cells.chunks_exact_mut(stride).zip(&rows) {
                record[axes.len()] = T::of(column.code(row as usize));
            }
        }
        Records { cells, rows, stride }
    }

    pub(in crate::partitioner) fn all(&mut self) -> Slice<'_, T> {
        Slice { cells: &mut self.cells, rows: &mut self.rows, stride: self.stride }
    }

    /// Some attributes of some rows, and their sensitive codes.
    pub(in crate::partitioner) fn copied(group: &Slice<'_, T>, places: Range<usize>, axes: Range<usize>) -> Self {
        let stride = axes.len() + 1;
        let mut cells = Vec::with_capacity(places.len() * stride);
        for record in group.records().skip(places.start).take(places.len()) {
            cells.extend_from_slice(&record[axes.clone()]);
            cells.push(record[group.stride - 1]);
        }
        Records { cells, rows: group.rows[places].to_vec(), stride }
    }

    /// The order of the records when sorted by their values; equal records keep their order.
    pub(in crate::partitioner) fn by_values(&self) -> Vec<u32> {
        let width = self.stride - 1;
        let values = |place: u32| self.cells[place as usize * self.stride..][..width].iter().map(|cell| cell.get());
        let mut order: Vec<u32> = (0..self.rows.len() as u32).collect();
        order.sort_by(|&a, &b| values(a).cmp(values(b)));
        order
    }

    /// Puts the records into another order.
    pub(in crate::partitioner) fn arrange(&mut self, order: &[u32]) {
        let of = |place: &u32| &self.cells[*place as usize * self.stride..][..self.stride];
        self.cells = order.iter().flat_map(of).copied().collect();
        self.rows = order.iter().map(|&place| self.rows[place as usize]).collect();
    }

    pub(in crate::partitioner) fn into_rows(self) -> Vec<u32> {
        self.rows
    }
}

/// The records of one group.
pub(in crate::partitioner) struct Slice<'a, T> {
    cells: &'a mut [T],
    rows: &'a mut [u32],
    stride: usize,
}

impl<'a, T: Rank> Slice<'a, T> {
    pub(in crate::partitioner) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The rows, by their number in the table.
    pub(in crate::partitioner) fn rows(&self) -> &[u32] {
        self.rows
    }

    /// Borrows some of the records.
    pub(in crate::partitioner) fn part(&mut self, range: Range<usize>) -> Slice<'_, T> {
        Slice {
            cells: &mut self.cells[range.start * self.stride..range.end * self.stride],
            rows: &mut self.rows[range],
            stride: self.stride,
        }
    }

    /// The records before a position, and those from there on.
    pub(in crate::partitioner) fn parted(&mut self, at: usize) -> (Slice<'_, T>, Slice<'_, T>) {
        let stride = self.stride;
        let (left_cells, right_cells) = self.cells.split_at_mut(at * stride);
        let (left_rows, right_rows) = self.rows.split_at_mut(at);
        (Slice { cells: left_cells, rows: left_rows, stride }, Slice { cells: right_cells, rows: right_rows, stride })
    }

    pub(in crate::partitioner) fn records(&self) -> impl Iterator<Item = &[T]> {
        self.cells.chunks_exact(self.stride)
    }

    /// The ranks of one attribute.
    pub(in crate::partitioner) fn ranks(&self, axis: usize) -> impl Iterator<Item = u32> {
        self.records().map(move |record| record[axis].get())
    }

    /// The sensitive code of every row.
    pub(in crate::partitioner) fn sensitive(&self) -> impl Iterator<Item = u32> {
        let last = self.stride - 1;
        self.records().map(move |record| record[last].get())
    }

    pub(in crate::partitioner) fn sensitive_at(&self, place: usize) -> u32 {
        self.cells[(place + 1) * self.stride - 1].get()
    }

    /// Whether two records agree in all attributes.
    pub(in crate::partitioner) fn has_same_values(&self, a: usize, b: usize) -> bool {
        let values = |place: usize| self.cells[place * self.stride..][..self.stride - 1].iter().map(|cell| cell.get());
        values(a).eq(values(b))
    }

    pub(in crate::partitioner) fn count_sensitive(&self, counts: &mut SaCounts) {
        counts.clear();
        self.sensitive().for_each(|code| counts.add(code));
    }

    /// Where the quota of a tie is used up: one past the last tied record that goes left.
    pub(in crate::partitioner) fn border(&self, cut: &Cut) -> usize {
        let Side::Tie { rank, quota } = cut.side else { return 0 };
        let mut tied = (0..).zip(self.ranks(cut.axis)).filter(|(_, other)| *other == rank);
        tied.nth((quota as usize).saturating_sub(1)).map_or(0, |(at, _): (usize, u32)| at + 1)
    }

    /// Puts the rows that go left first, and splits the group there.
    pub(in crate::partitioner) fn divide(self, cut: &Cut) -> (Slice<'a, T>, Slice<'a, T>) {
        let border = self.border(cut);
        let Slice { cells, rows, stride } = self;
        let (mut low, mut high) = (0, rows.len());
        let goes_left = |cells: &[T], at: usize| cut.side.goes_left(cells[at * stride + cut.axis].get(), at, border);
        // A record that has not been looked at is still where it was, so its position decides ties as it did when the
        // cut was checked.
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

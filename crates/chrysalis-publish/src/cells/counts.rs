use chrysalis_table::SaCounts;
use serde::{Deserialize, Serialize};

use super::{Whole, rows};

/// How many rows each cell has, and how often each value of each sensitive column occurs in it. Counts of parts of a table
/// are merged in any order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CellCounts {
    /// By cell.
    pub(super) rows: Vec<u64>,
    /// By cell, by sensitive column, by code.
    pub(super) values: Vec<Vec<Vec<u64>>>,
    /// By cell, what stands for its rows as a multiset.
    pub(super) numbers: Vec<u64>,
}

impl CellCounts {
    /// No rows.
    pub(super) fn new(n_cells: usize, domains: &[usize]) -> Self {
        let empty: Vec<Vec<u64>> = domains.iter().map(|&len| vec![0; len]).collect();
        CellCounts { rows: vec![0; n_cells], values: vec![empty; n_cells], numbers: vec![rows::NONE; n_cells] }
    }

    /// Adds counts of other rows by the same plan.
    pub fn merge(&mut self, other: &CellCounts) {
        if self.rows.is_empty() {
            *self = other.clone();
            return;
        }
        for at in 0..self.rows.len().min(other.rows.len()) {
            self.add(at, other, at);
        }
    }

    /// Adds the rows of a cell of other counts.
    fn add(&mut self, at: usize, other: &CellCounts, cell: usize) {
        self.rows[at] += other.rows[cell];
        self.numbers[at] = self.numbers[at].wrapping_add(other.numbers[cell]);
        for (all, more) in self.values[at].iter_mut().zip(&other.values[cell]) {
            all.iter_mut().zip(more).for_each(|(all, more)| *all += more);
        }
    }

    /// The same rows by other cells: `became` says for every cell which one its rows belong to now, if that is known.
    pub fn moved(&self, became: &[Option<u32>], n_cells: usize) -> CellCounts {
        let domains: Vec<usize> =
            self.values.first().map_or_else(Vec::new, |of_cell| of_cell.iter().map(Vec::len).collect());
        let mut moved = CellCounts::new(n_cells, &domains);
        for (cell, now) in became.iter().enumerate() {
            if let Some(now) = now {
                moved.add(*now as usize, self, cell);
            }
        }
        moved
    }

    /// Some cells together: their rows, and the counts of every sensitive column.
    pub(super) fn together(&self, cells: std::ops::Range<usize>) -> (u64, Vec<SaCounts>) {
        let rows = self.rows[cells.clone()].iter().sum();
        let columns = self.values.first().map_or(0, Vec::len);
        (rows, (0..columns).map(|at| counted(&self.summed(at, cells.clone()))).collect())
    }

    /// How often each value of a sensitive column occurs in some cells.
    fn summed(&self, column: usize, cells: std::ops::Range<usize>) -> Vec<u64> {
        let mut sum = vec![0; self.values[0][column].len()];
        for cell in &self.values[cells] {
            sum.iter_mut().zip(&cell[column]).for_each(|(all, more)| *all += more);
        }
        sum
    }

    /// Whether all cells together have the rows of the whole table, of which `number` is the number.
    pub(super) fn are_of(&self, whole: &Whole, sensitive: &[String], number: u64) -> bool {
        let all = 0..self.rows.len();
        let is_same = |(at, name): (usize, &String)| {
            whole.column(name).is_some_and(|column| column.counts() == self.summed(at, all.clone()))
        };
        self.rows.iter().sum::<u64>() == whole.rows
            && self.numbers.iter().copied().fold(rows::NONE, u64::wrapping_add) == number
            && sensitive.iter().enumerate().all(is_same)
    }
}

/// Counts by code, as principles take them. PROOF: no value is counted above 32 bits, because [`Whole::check_counts`] refuses
/// such a table; how many rows there are only decides whether they are many enough.
pub(crate) fn counted(counts: &[u64]) -> SaCounts {
    let mut all = SaCounts::new(counts.len());
    for (code, &count) in (0..).zip(counts) {
        all.add_many(code, u32::try_from(count).unwrap_or(u32::MAX));
    }
    all
}

use chrysalis_table::SaCounts;
use serde::{Deserialize, Serialize};

/// How many rows each cell has, and how often each value of each sensitive column occurs in it. Counts of parts of a table
/// are merged in any order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CellCounts {
    /// By cell.
    pub(super) rows: Vec<u64>,
    /// By cell, by sensitive column, by code.
    pub(super) values: Vec<Vec<Vec<u64>>>,
}

impl CellCounts {
    /// No rows.
    pub(super) fn new(n_cells: usize, domains: &[usize]) -> Self {
        let empty: Vec<Vec<u64>> = domains.iter().map(|&len| vec![0; len]).collect();
        CellCounts { rows: vec![0; n_cells], values: vec![empty; n_cells] }
    }

    /// Adds counts of other rows by the same plan.
    pub fn merge(&mut self, other: &CellCounts) {
        if self.rows.is_empty() {
            *self = other.clone();
            return;
        }
        self.rows.iter_mut().zip(&other.rows).for_each(|(all, more)| *all += more);
        for (all, more) in self.values.iter_mut().flatten().zip(other.values.iter().flatten()) {
            all.iter_mut().zip(more).for_each(|(all, more)| *all += more);
        }
    }

    /// Some cells together: their rows, and the counts of every sensitive column.
    pub(super) fn together(&self, cells: std::ops::Range<usize>) -> (u64, Vec<SaCounts>) {
        let rows = self.rows[cells.clone()].iter().sum();
        let columns = self.values.first().map_or(0, Vec::len);
        let column = |at: usize| {
            let len = self.values[0][at].len();
            let sum = |code: usize| self.values[cells.clone()].iter().map(|cell| cell[at][code]).sum::<u64>();
            counted(&(0..len).map(sum).collect::<Vec<u64>>())
        };
        (rows, (0..columns).map(column).collect())
    }
}

/// Counts by code, as principles take them.
pub(crate) fn counted(counts: &[u64]) -> SaCounts {
    let mut all = SaCounts::new(counts.len());
    for (code, &count) in (0..).zip(counts) {
        all.add_many(code, u32::try_from(count).unwrap_or(u32::MAX));
    }
    all
}

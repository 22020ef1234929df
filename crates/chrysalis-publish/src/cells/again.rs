//! Steps 2 to 4 once more, for cells that became too large.

use super::judge::LEAST_SHARE;
use super::plan::drawn;
use super::tree::Tree;
use super::{CellCounts, CellPlan, Secret, Sides, Survey};
use crate::PublishError;

/// What the least share of a side is divided by where no cut is found: few combinations of quasi values may have most rows.
const FINER: [f64; 3] = [1.0, 4.0, 16.0];

impl CellPlan {
    /// The cells of more than `most` rows where there is still something to try.
    pub fn large(&self, most: u64) -> Vec<u32> {
        let n_quasi = self.quasi.len();
        let is_open = |cell: u32| {
            let tried = &self.tried[cell as usize];
            !tried.is_uncut && (0..n_quasi).any(|column| !tried.columns.contains(&column))
        };
        (0..self.n_cells() as u32).filter(|&cell| self.rows(cell) > most && is_open(cell)).collect()
    }

    /// Whether a cell was cut, and the cuts did not stand.
    pub fn is_undone(&self, cell: u32) -> bool {
        !self.tried[cell as usize].columns.is_empty()
    }

    /// A survey of no rows of one cell, where so many cells are surveyed.
    pub fn survey(&self, n_cells: usize, secret: &Secret) -> Survey {
        Survey::of_part(self.quasi.clone(), n_cells, secret)
    }

    /// Cuts large cells once more, by surveys of their own rows and without the columns whose cuts did not stand there.
    /// `counts` are those of this plan. Returns a plan whose rows are to be counted again, and for every cell which one it
    /// is there; none if it was cut.
    pub fn redrawn(
        &self,
        counts: &CellCounts,
        surveys: &[(u32, Survey)],
        sides: &Sides<'_>,
        most_rows: u64,
    ) -> Result<(CellPlan, Vec<Option<u32>>), PublishError> {
        let mut tried = self.tried.clone();
        let mut cut = vec![None; self.n_cells()];
        for (cell, survey) in surveys {
            let at = *cell as usize;
            let tried = tried.get_mut(at).ok_or_else(|| PublishError::Internal("a cell is not in the plan".into()))?;
            let columns: Vec<usize> = (0..self.quasi.len()).filter(|column| !tried.columns.contains(column)).collect();
            let (rows, values) = counts.together(at..at + 1);
            for finer in FINER {
                let least = sides.least_share(&self.whole, rows, &values, LEAST_SHARE / finer)?;
                let tree = drawn(survey, &self.whole, sides, &columns, (most_rows, least))?;
                if tree.n_cells() > 1 {
                    cut[at] = Some(tree);
                    break;
                }
            }
            tried.is_uncut = cut[at].is_none();
        }
        let mut plan = self.clone();
        (plan.tried, plan.rows) = (Vec::new(), Vec::new());
        let mut now = Vec::with_capacity(self.n_cells());
        // Cells come from left to right.
        let tree = self.tree.clone().with(&mut |cell: u32| {
            let of_cell = cut[cell as usize].take();
            let fresh = plan.tried.len() as u32;
            now.push(of_cell.is_none().then_some(fresh));
            let n_cells = of_cell.as_ref().map_or(1, Tree::n_cells);
            plan.tried.extend(std::iter::repeat_n(tried[cell as usize].clone(), n_cells));
            of_cell
        });
        plan.plant(tree);
        Ok((plan, now))
    }
}

use chrysalis_criteria::Principle;
use chrysalis_table::SaCounts;

use super::pool::Pool;

/// Decides whether groups still pass after a change.
pub(super) struct Rules<'a> {
    goal: &'a dyn Principle,
    /// No smaller group can pass.
    pub(super) least: u32,
    /// Whether size is all that matters.
    pub(super) is_size_only: bool,
    counts: SaCounts,
}

impl<'a> Rules<'a> {
    pub(super) fn new(goal: &'a dyn Principle, n_values: usize) -> Self {
        let least = u32::try_from(goal.least_size()).unwrap_or(u32::MAX).max(1);
        Rules { goal, least, is_size_only: goal.is_size_only(), counts: SaCounts::new(n_values) }
    }

    /// Whether a group passes once `leaving` has left and `coming` has come, each an atom and a number of rows.
    pub(super) fn allow(
        &mut self,
        pool: &Pool<'_>,
        group: usize,
        leaving: Option<(usize, u32)>,
        coming: Option<(usize, u32)>,
    ) -> bool {
        let size = pool.sizes[group] + coming.map_or(0, |(_, n)| n) - leaving.map_or(0, |(_, n)| n);
        if size < self.least || self.is_size_only {
            return size >= self.least;
        }
        self.counts.clear();
        let values = &pool.block.values;
        for &(atom, count) in &pool.pieces[group] {
            let gone = leaving.map_or(0, |(left, n)| if left == atom as usize { n } else { 0 });
            self.counts.add_many(values[atom as usize], count - gone);
        }
        if let Some((atom, count)) = coming {
            self.counts.add_many(values[atom], count);
        }
        self.goal.holds(&self.counts)
    }

    /// How often a sensitive value occurred in the group that was looked at last.
    pub(super) fn count(&self, value: u32) -> u64 {
        self.counts.count(value)
    }
}

//! Minimal unique sets and SUDA scores (spec.md, step 5).
//!
//! A set of columns is a minimal unique of a row if no other row has the row's values in all of them, and every smaller
//! set of them is shared with some row. The fewer columns it takes, and the more such sets there are, the easier the row
//! is found by somebody who knows only a little.

mod lists;
mod record;
mod refine;
mod transversals;
mod wild;

use chrysalis_table::Watch;

use crate::keys::Keys;
use lists::Lists;

/// The minimal uniques of a table and what they add up to.
pub(crate) struct Found {
    /// The largest size that was searched for.
    pub(crate) limit: usize,
    /// M of the score.
    pub(crate) m: usize,
    /// How many minimal uniques have 1, 2, … columns.
    pub(crate) by_size: Vec<u64>,
    /// For every column, how many minimal uniques it is part of, the sum of their scores, and of their sizes.
    pub(crate) columns: Vec<Contribution>,
    /// The sum of all scores.
    pub(crate) total: f64,
    /// The sets of columns that are minimal uniques, and of how many rows.
    pub(crate) sets: Vec<(u64, u64)>,
    lists: Lists,
}

/// What a column has to do with minimal uniques.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Contribution {
    pub(crate) sets: u64,
    pub(crate) score: f64,
    pub(crate) columns: u64,
}

/// What a minimal unique of `size` columns out of `columns` adds to a score: Π_{i=size..m} (columns − i).
///
/// The product of nothing is 1.
pub fn score(size: usize, columns: usize, m: usize) -> f64 {
    (size..=m).map(|i| columns.saturating_sub(i) as f64).product()
}

/// M of the score: the largest size that is searched for, at most one less than there are columns.
pub fn largest_factor(limit: usize, columns: usize) -> usize {
    limit.min(columns.saturating_sub(1))
}

impl Found {
    /// The minimal uniques of the keys that one row alone has. `is_alone` says which; no other key has any. If missing
    /// values are wildcards, a key that matches others is not alone.
    pub(crate) fn search(keys: &Keys, is_alone: &[bool], limit: usize, wild: bool, watch: &dyn Watch) -> Found {
        let lists = if wild && keys.missing_in != 0 {
            wild::search(keys, is_alone, limit, watch)
        } else {
            refine::search(keys, is_alone, limit, watch)
        };
        Found::of(lists, keys.n_columns, limit)
    }

    fn of(lists: Lists, n_columns: usize, limit: usize) -> Found {
        let m = largest_factor(limit, n_columns);
        let mut found = Found {
            limit,
            m,
            by_size: vec![0; limit],
            columns: vec![Contribution::default(); n_columns],
            total: 0.0,
            sets: lists.counts(),
            lists,
        };
        for &(set, rows) in &found.sets {
            let size = set.count_ones() as usize;
            let scores = score(size, n_columns, m) * rows as f64;
            found.by_size[size - 1] += rows;
            found.total += scores;
            for (_, column) in found.columns.iter_mut().enumerate().filter(|(at, _)| set >> at & 1 == 1) {
                column.sets += rows;
                column.score += scores;
                column.columns += rows * size as u64;
            }
        }
        found
    }

    /// The minimal uniques of a key, each as a set of columns.
    pub(crate) fn of_key(&self, key: u32) -> impl Iterator<Item = u64> + '_ {
        self.lists.of(key)
    }

    /// The score of a key.
    pub(crate) fn score(&self, key: u32) -> f64 {
        // A sum of nothing would be −0.
        let adds = |set: u64| score(set.count_ones() as usize, self.columns.len(), self.m);
        self.of_key(key).fold(0.0, |sum, set| sum + adds(set))
    }
}

#[cfg(test)]
mod tests;

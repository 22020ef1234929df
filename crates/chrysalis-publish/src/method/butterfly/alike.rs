//! Rows that look alike: those that show the same labels, whatever butterflies they come from.

use chrysalis_table::{Codes, Column};
use rayon::prelude::*;

use super::Shown;
use crate::Partition;

/// One group per combination of labels.
///
/// LEAK: a group is what anybody can see in the labels anyway, so that group ids tell nothing more. Which butterfly a row
/// comes from is not told.
pub(super) fn groups<'a>(
    n_rows: usize,
    shown: &[Shown<'a>],
    class_of: impl Fn(&Partition) -> Option<&'a Vec<u32>>,
) -> Partition {
    let mut of_row = vec![0_u32; n_rows];
    let mut n_groups = 1;
    for each in shown {
        let Some(classes) = class_of(each.classes) else { continue };
        for column in each.summary.columns() {
            (of_row, n_groups) = finer(&of_row, classes, column);
        }
    }
    let mut rows: Vec<u32> = (0..n_rows as u32).collect();
    rows.par_sort_by_key(|&row| of_row[row as usize]);
    let mut sizes = vec![0; n_groups];
    of_row.iter().for_each(|&group| sizes[group as usize] += 1);
    Partition::new(rows, &sizes)
}

/// Groups told apart by one more column of labels, which has one row per class.
fn finer(of_row: &[u32], classes: &[u32], column: &Column) -> (Vec<u32>, usize) {
    let labels: &Codes = column.codes();
    let key = |row: usize| u64::from(of_row[row]) << 32 | u64::from(labels.get(classes[row] as usize));
    let mut keyed: Vec<(u64, u32)> = (0..of_row.len()).into_par_iter().map(|row| (key(row), row as u32)).collect();
    keyed.par_sort_unstable();
    let mut finer = vec![0; of_row.len()];
    let mut n_groups = 0;
    for run in keyed.chunk_by(|a, b| a.0 == b.0) {
        run.iter().for_each(|&(_, row)| finer[row as usize] = n_groups);
        n_groups += 1;
    }
    (finer, n_groups as usize)
}

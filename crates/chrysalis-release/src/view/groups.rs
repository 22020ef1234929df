//! Rows, ordered by group.

use std::ops::Range;
use std::sync::Arc;

use chrysalis_table::{Code, Codes, Column, Domain, each_width};

use crate::ReleaseError;

/// Which rows form a group. Rows are ordered by group, and groups by their ids.
#[derive(Debug)]
pub struct Groups {
    /// Where each group's rows begin; one more entry at the end.
    starts: Vec<u32>,
    /// The order of rows, if it is not the table's own.
    order: Option<Vec<u32>>,
    /// Stretches of groups with about the same number of rows, for parallel work. They depend on the table alone, so
    /// that sums come out the same whatever the number of threads.
    pieces: Vec<Range<usize>>,
}

/// Rows of a piece.
const PIECE: u32 = 1 << 15;

impl Groups {
    /// From a column of ids.
    pub fn new(ids: &Column) -> Self {
        let mut starts = vec![0_u32; ids.domain().len() + 1];
        let is_sorted = each_width!(ids.codes(), codes => {
            codes.iter().for_each(|&code| starts[code as usize + 1] += 1);
            codes.is_sorted()
        });
        for group in 1..starts.len() {
            starts[group] += starts[group - 1];
        }
        let order = (!is_sorted).then(|| {
            let mut next = starts.clone();
            let mut order = vec![0; ids.codes().len()];
            for (row, code) in (0u32..).zip(ids.codes().iter()) {
                order[next[code as usize] as usize] = row;
                next[code as usize] += 1;
            }
            order
        });
        let pieces = pieces(&starts);
        Groups { starts, order, pieces }
    }

    /// Groups of these sizes, whose rows are in order.
    pub(super) fn of_sizes(sizes: impl Iterator<Item = u32>) -> Self {
        let mut starts = vec![0_u32];
        for size in sizes {
            starts.push(starts[starts.len() - 1].saturating_add(size));
        }
        let pieces = pieces(&starts);
        Groups { starts, order: None, pieces }
    }

    /// Every row as a group of its own, in the same order.
    pub fn of_rows(groups: &Groups) -> Self {
        let rows = groups.starts.last().copied().unwrap_or(0);
        Groups { starts: (0..=rows).collect(), order: groups.order.clone(), pieces: Vec::new() }
    }

    /// How many groups there are.
    #[allow(clippy::len_without_is_empty, reason = "a release has groups")]
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many rows there are.
    pub fn n_rows(&self) -> usize {
        self.starts.last().map_or(0, |&end| end as usize)
    }

    /// The rows of a group.
    pub fn rows(&self, group: usize) -> Range<usize> {
        self.starts[group] as usize..self.starts[group + 1] as usize
    }

    /// How many rows a group has.
    pub fn size(&self, group: usize) -> u32 {
        self.starts[group + 1] - self.starts[group]
    }

    /// Stretches of groups with about the same number of rows.
    pub fn pieces(&self) -> &[Range<usize>] {
        &self.pieces
    }

    /// Codes in the order of groups.
    pub fn arranged(&self, codes: &Codes) -> Codes {
        match &self.order {
            None => codes.clone(),
            Some(order) => codes.gather(order),
        }
    }

    /// The group of every row, in the order of groups.
    pub fn of_rows_in_order(&self) -> Vec<u32> {
        (0..self.len()).flat_map(|group| std::iter::repeat_n(group as u32, self.size(group) as usize)).collect()
    }

    /// The group of every row of another table, by that table's column of group ids.
    pub fn places(&self, ids: &Column, other: &Column) -> Result<Vec<u32>, ReleaseError> {
        let unknown = || ReleaseError::Nonsense("one table has a group that the other lacks".into());
        if ids.domain() == other.domain() {
            return Ok(each_width!(other.codes(), codes => codes.iter().map(|&code| Code::from(code)).collect()));
        }
        let place: Vec<Option<Code>> =
            (0..other.domain().len() as Code).map(|code| ids.domain().code_of(other.domain().value(code))).collect();
        other.codes().iter().map(|code| place[code as usize].ok_or_else(unknown)).collect()
    }
}

fn pieces(starts: &[u32]) -> Vec<Range<usize>> {
    let (mut pieces, mut from) = (Vec::new(), 0);
    for group in 0..starts.len() - 1 {
        if starts[group + 1] - starts[from] >= PIECE || group + 2 == starts.len() {
            pieces.push(from..group + 1);
            from = group + 1;
        }
    }
    pieces
}

/// The whole number behind every code, if there is one: group ids and counts are whole numbers.
pub(crate) fn whole_numbers(domain: &Arc<Domain>) -> Vec<Option<i64>> {
    let number = |code| match domain.value(code) {
        Some(chrysalis_table::Value::Integer(number)) => Some(*number),
        _ => None,
    };
    (0..domain.len() as Code).map(number).collect()
}

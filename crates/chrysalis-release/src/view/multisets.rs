//! The sensitive values of every group, in ascending order.

use std::ops::Range;
use std::sync::Arc;

use chrysalis_table::{Code, Codes, Column, Domain, each_width};
use rayon::prelude::*;

use super::groups::whole_numbers;
use super::{Field, Groups};
use crate::ReleaseError;

/// For every group its distinct values and how often each occurs.
#[derive(Debug)]
pub struct Multisets {
    /// The values' domain.
    pub domain: Arc<Domain>,
    /// The number behind every code; 0 if there is none, and then no question adds it up.
    pub numbers: Vec<f64>,
    starts: Vec<u32>,
    codes: Vec<Code>,
    counts: Vec<u32>,
    /// For words: the place of every code among the attribute's listed words.
    pub ranks: Vec<Option<usize>>,
}

/// Values and how often they occur, ascending.
#[derive(Clone, Copy, Debug)]
pub struct GroupValues<'a> {
    /// Their codes.
    pub codes: &'a [Code],
    /// How often each occurs.
    pub counts: &'a [u32],
}

impl Multisets {
    pub(super) fn new(
        domain: &Arc<Domain>,
        field: &Field,
        starts: Vec<u32>,
        codes: Vec<Code>,
        counts: Vec<u32>,
    ) -> Self {
        let number = |code| domain.value(code).and_then(|value| value.number()).unwrap_or(0.0);
        Multisets {
            numbers: (0..domain.len() as Code).map(number).collect(),
            ranks: field.ranks_of(domain),
            domain: Arc::clone(domain),
            starts,
            codes,
            counts,
        }
    }

    /// From a column with one value per row.
    pub(super) fn of_rows(column: &Column, field: &Field, groups: &Groups) -> Self {
        let codes = groups.arranged(column.codes());
        let piece = |piece: &Range<usize>| {
            let (mut lengths, mut values, mut counts) = (Vec::new(), Vec::new(), Vec::new());
            let mut sorted: Vec<Code> = Vec::new();
            for group in piece.clone() {
                sorted.clear();
                sorted.extend(groups.rows(group).map(|row| codes.get(row)));
                sorted.sort_unstable();
                let before = values.len();
                for run in sorted.chunk_by(|a, b| a == b) {
                    values.push(run[0]);
                    counts.push(run.len() as u32);
                }
                lengths.push((values.len() - before) as u32);
            }
            (lengths, values, counts)
        };
        let pieces: Vec<_> = groups.pieces().par_iter().map(piece).collect();
        let (mut starts, mut values, mut counts) = (vec![0], Vec::new(), Vec::new());
        for (lengths, more_values, more_counts) in pieces {
            for length in lengths {
                starts.push(starts[starts.len() - 1] + length);
            }
            values.extend(more_values);
            counts.extend(more_counts);
        }
        Multisets::new(column.domain(), field, starts, values, counts)
    }

    /// From a table of values and counts whose rows belong to the groups at `places`.
    pub(super) fn of_table(
        column: &Column,
        field: &Field,
        counts: &Column,
        places: Vec<u32>,
        groups: &Groups,
    ) -> Result<Self, ReleaseError> {
        let counts = widened(counts.codes(), &numbers_of(counts)?);
        let own: Vec<Code> = (0..column.domain().len() as Code).collect();
        let values = widened(column.codes(), &own);
        let is_sorted = (1..places.len()).all(|row| (places[row - 1], values[row - 1]) < (places[row], values[row]));
        let (places, values, counts) =
            if is_sorted { (places, values, counts) } else { sorted(places, values, counts) };
        let mut starts = vec![0_u32; groups.len() + 1];
        let mut sizes = vec![0_u64; groups.len()];
        for (place, count) in places.iter().zip(&counts) {
            starts[*place as usize + 1] += 1;
            sizes[*place as usize] += u64::from(*count);
        }
        for group in 0..groups.len() {
            starts[group + 1] += starts[group];
            if sizes[group] != u64::from(groups.size(group)) {
                let problem = format!("a group has {} rows and {} sensitive values", groups.size(group), sizes[group]);
                return Err(ReleaseError::Nonsense(problem));
            }
        }
        Ok(Multisets::new(column.domain(), field, starts, values, counts))
    }

    /// The places of a group's values among those of all groups.
    pub fn places(&self, group: usize) -> Range<usize> {
        self.starts[group] as usize..self.starts[group + 1] as usize
    }

    /// The codes of all groups, one group after the other.
    pub fn codes(&self) -> &[Code] {
        &self.codes
    }

    /// The values of a group.
    pub fn group(&self, group: usize) -> GroupValues<'_> {
        let range = self.places(group);
        GroupValues { codes: &self.codes[range.clone()], counts: &self.counts[range] }
    }
}

/// What every row's code stands for.
fn widened(codes: &Codes, behind: &[u32]) -> Vec<u32> {
    each_width!(codes, codes => codes.par_iter().map(|&code| behind[code as usize]).collect())
}

/// The counts behind a column's codes.
pub(super) fn numbers_of(counts: &Column) -> Result<Vec<u32>, ReleaseError> {
    let count = |number: Option<i64>| {
        let count = number.and_then(|number| u32::try_from(number).ok()).filter(|count| *count > 0);
        count.ok_or_else(|| ReleaseError::Nonsense(format!("`{}` has an impossible count", counts.name())))
    };
    whole_numbers(counts.domain()).into_iter().map(count).collect()
}

/// By group, then by value.
fn sorted(places: Vec<u32>, values: Vec<Code>, counts: Vec<u32>) -> (Vec<u32>, Vec<Code>, Vec<u32>) {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.par_sort_unstable_by_key(|&row| (places[row], values[row]));
    let gather = |column: &[u32]| order.iter().map(|&row| column[row]).collect();
    (gather(&places), gather(&values), gather(&counts))
}

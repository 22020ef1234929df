//! The true answers, counted over the microdata.

use chrysalis_query::question::Function;
use chrysalis_table::{Code, Column, Watch, each_width};
use rayon::prelude::*;

use super::generate::Query;

/// Rows processed together: small enough for the fastest cache.
const BLOCK: usize = 4096;

/// What the true answers to one query follow from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Truth {
    /// Rows that match.
    pub(super) rows: u64,
    /// How many of them have a number.
    pub(super) numbers: u64,
    /// The numbers' sum.
    pub(super) sum: f64,
}

/// The true answers to some queries over columns of the microdata.
pub(super) fn all(columns: &[&Column], queries: &[Query], watch: &dyn Watch) -> Vec<Truth> {
    let numbers = numbers(columns[columns.len() - 1]);
    let truth = |query: &Query| {
        watch.pause();
        Truth::of(columns, &numbers, query)
    };
    queries.par_iter().map(truth).collect()
}

/// The number of every code of the sensitive column; empty if it holds words.
pub(super) fn numbers(column: &Column) -> Vec<Option<f64>> {
    let domain = column.domain();
    if !domain.kind().is_numeric() {
        return Vec::new();
    }
    (0..domain.len() as Code).map(|code| domain.value(code)?.number()).collect()
}

impl Truth {
    fn of(columns: &[&Column], numbers: &[Option<f64>], query: &Query) -> Truth {
        let tests: Vec<(&Column, Vec<u8>)> = query
            .conditions
            .iter()
            .map(|condition| {
                let column = columns[condition.column];
                let mut admitted = vec![0; column.domain().len()];
                condition.codes.codes().for_each(|code| admitted[code as usize] = 1);
                (column, admitted)
            })
            .collect();
        let sensitive = columns[columns.len() - 1];
        let (mut truth, mut marks) = (Truth::default(), [0_u8; BLOCK]);
        let n_rows = sensitive.codes().len();
        for start in (0..n_rows).step_by(BLOCK) {
            let rows = start..(start + BLOCK).min(n_rows);
            let marks = &mut marks[..rows.len()];
            marks.fill(1);
            for (column, admitted) in &tests {
                each_width!(column.codes(), codes => {
                    for (mark, &code) in marks.iter_mut().zip(&codes[rows.clone()]) {
                        *mark &= admitted[code as usize];
                    }
                });
            }
            truth.rows += marks.iter().map(|&mark| u64::from(mark)).sum::<u64>();
            if !numbers.is_empty() {
                let matching = rows.zip(marks.iter()).filter(|(_, mark)| **mark == 1);
                for number in matching.filter_map(|(row, _)| numbers[sensitive.code(row) as usize]) {
                    truth.numbers += 1;
                    truth.sum += number;
                }
            }
        }
        truth
    }

    /// The answer to an aggregate; `None` is NULL.
    pub(super) fn answer(&self, function: Function) -> Option<f64> {
        match function {
            Function::Count => Some(self.rows as f64),
            Function::Sum => (self.numbers > 0).then_some(self.sum),
            Function::Avg => (self.numbers > 0).then(|| self.sum / self.numbers as f64),
            // No workload asks for anything else.
            _ => None,
        }
    }
}

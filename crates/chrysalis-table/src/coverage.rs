//! How well a taxonomy file and a column fit together.

use crate::{Code, Column, TaxonomyError, TaxonomyFile};

/// Which values have a line, and which lines have rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// Rows under every line of the file.
    pub rows: Vec<u64>,
    /// Values of the column that have no line, with their rows, in the column's order.
    pub without_line: Vec<(String, u64)>,
    /// Rows without a value, which need no line.
    pub missing: u64,
}

impl Coverage {
    /// Compares a taxonomy file with a column.
    pub fn new(file: &TaxonomyFile, column: &Column) -> Result<Coverage, TaxonomyError> {
        let domain = column.domain();
        let line_of = file.lines_of(domain)?;
        let mut coverage = Coverage { rows: vec![0; file.n_lines()], without_line: Vec::new(), missing: 0 };
        for (code, rows) in (0..).zip(column.histogram()) {
            match domain.value(code) {
                None => coverage.missing = rows,
                Some(_) => match line_of[code as usize] {
                    Some(line) => coverage.rows[line] = rows,
                    None => coverage.without_line.push((domain.text(code as Code).into_owned(), rows)),
                },
            }
        }
        Ok(coverage)
    }

    /// The lines whose value never occurs.
    pub fn unused(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        self.rows.iter().enumerate().filter(|(_, rows)| **rows == 0).map(|(line, _)| line)
    }
}

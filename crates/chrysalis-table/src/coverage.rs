//! How a taxonomy file and a column fit.

use std::collections::BTreeMap;

use crate::{Code, Column, TaxonomyError, TaxonomyFile, Value};

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
    /// Holds a taxonomy file against a column.
    pub fn new(file: &TaxonomyFile, column: &Column) -> Result<Coverage, TaxonomyError> {
        let domain = column.domain();
        let mut line_of: BTreeMap<Value, usize> = BTreeMap::new();
        for (index, labels) in file.lines().iter().enumerate() {
            let value = Value::parse(domain.kind(), &labels[0]).ok_or_else(|| TaxonomyError::WrongKind {
                line: index + 1,
                leaf: labels[0].clone(),
                kind: domain.kind(),
            })?;
            line_of.insert(value, index);
        }
        let mut coverage = Coverage { rows: vec![0; file.lines().len()], without_line: Vec::new(), missing: 0 };
        for (code, rows) in (0..).zip(column.histogram()) {
            match domain.value(code) {
                None => coverage.missing = rows,
                Some(value) => match line_of.get(value) {
                    Some(&line) => coverage.rows[line] = rows,
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

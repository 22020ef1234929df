use std::collections::BTreeMap;
use std::fmt;

use crate::{Column, Kind, TableError, each_width};

/// Columns of equal length. `Debug` prints the shape only.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Table {
    columns: Vec<Column>,
    rows: usize,
}

/// What to do with rows that lack a value in a column that is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MissingPolicy {
    /// A missing value is a value of its own.
    #[default]
    AsValue,
    /// Such rows are removed, and counted.
    Drop,
    /// Such a row is an error.
    Error,
}

/// A column to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnRequest {
    /// Its name in the header.
    pub name: String,
    /// Its kind; inferred when absent.
    pub kind: Option<Kind>,
    /// For ordinals: the values from lowest to highest.
    pub order: Vec<String>,
}

impl ColumnRequest {
    /// A column whose kind is inferred.
    pub fn named(name: impl Into<String>) -> Self {
        ColumnRequest { name: name.into(), kind: None, order: Vec::new() }
    }

    /// A column whose kind is known.
    pub fn of_kind(name: impl Into<String>, kind: Kind) -> Self {
        ColumnRequest { name: name.into(), kind: Some(kind), order: Vec::new() }
    }

    /// The rank of every value of an ordinal.
    pub fn ranks(&self) -> BTreeMap<&str, usize> {
        // The first of two equal values wins.
        self.order.iter().enumerate().rev().map(|(rank, value)| (value.as_str(), rank)).collect()
    }
}

/// The position of each requested column in a header, or an error that lists the header.
pub fn resolve(header: &[String], wanted: &[ColumnRequest]) -> Result<Vec<usize>, TableError> {
    let place: BTreeMap<&str, usize> = header.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
    let unknown = |column: &str| TableError::UnknownColumn { column: column.to_owned(), columns: header.to_vec() };
    wanted.iter().map(|request| place.get(&*request.name).copied().ok_or_else(|| unknown(&request.name))).collect()
}

impl Table {
    /// Puts columns side by side.
    ///
    /// # Panics
    /// When the columns differ in length: that is a bug in the caller.
    pub fn new(columns: Vec<Column>) -> Self {
        let rows = columns.first().map_or(0, |column| column.codes().len());
        assert!(columns.iter().all(|column| column.codes().len() == rows), "columns of one table are equally long");
        Table { columns, rows }
    }

    /// All columns, in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The columns themselves.
    pub fn into_columns(self) -> Vec<Column> {
        self.columns
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name() == name)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Applies a policy for missing values; also returns how many rows it removed.
    pub fn with_missing(self, policy: MissingPolicy) -> Result<(Table, usize), TableError> {
        if policy == MissingPolicy::AsValue || !self.columns.iter().any(|column| column.domain().has_missing()) {
            return Ok((self, 0));
        }
        if policy == MissingPolicy::Error {
            return Err(self.first_missing());
        }
        let mut keep = vec![true; self.rows];
        for column in self.columns.iter().filter(|column| column.domain().has_missing()) {
            each_width!(column.codes(), codes => {
                for (keep, &code) in keep.iter_mut().zip(codes) {
                    *keep &= code != 0;
                }
            });
        }
        let rows: Vec<u32> = (0u32..).zip(&keep).filter(|(_, keep)| **keep).map(|(row, _)| row).collect();
        let n_dropped = self.rows - rows.len();
        Ok((self.gather(&rows), n_dropped))
    }

    fn first_missing(&self) -> TableError {
        let incomplete = self.columns.iter().filter(|column| column.domain().has_missing());
        let places = incomplete.filter_map(|column| {
            let row = column.codes().iter().position(|code| code == 0)?;
            let count = column.codes().iter().filter(|&code| code == 0).count();
            Some(TableError::MissingValue { column: column.name().to_owned(), row: row + 1, count })
        });
        // PROOF: only called when some domain has a missing value, and domains hold only values that occur.
        places.into_iter().next().unwrap_or(TableError::NoRows)
    }

    /// A selection of rows, in the given order.
    pub fn gather(&self, rows: &[u32]) -> Table {
        Table { columns: self.columns.iter().map(|column| column.gather(rows)).collect(), rows: rows.len() }
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({} rows, {:?})", self.rows, self.columns)
    }
}

//! What reading a release may cost: limits that follow from its manifest, checked before a table is opened.
//!
//! A file says how large it is, and a packed file can lie cheaply: a few kilobytes can claim any number of rows. So
//! rows are compared with the manifest's as they come, text with what that many rows can need, and the memory that the
//! declared rows will need with what is allowed.

use chrysalis_release::{PartEntry, TableEntry};
use chrysalis_table::{CsvOptions, Encoding, Memory, Remedy};

use crate::StoreError;

/// Memory that a declared row takes, and each of its columns on top of that. Measured: the peak of an audit of ten
/// million rows with eight quasi columns is 71 bytes a row for generalize (18 columns), 133 for anatomy and 187 for
/// permute (twelve columns in two tables).
const BYTES_PER_ROW: u64 = 72;
const BYTES_PER_CELL: u64 = 4;

/// Text that a cell may have on average (the label of a large set is long), and text that any file may have on top.
const TEXT_PER_CELL: u64 = 4 << 10;
const FREE_TEXT: u64 = 32 << 20;

/// Text that may be in memory at once, in addition to what is kept.
const TEXT_AT_ONCE: u64 = 32 << 20;

/// What a Parquet footer may have beyond a byte per row: to fill it would take more row groups than rows.
const FREE_FOOTER: u64 = 1 << 20;
/// The most memory that one byte of a footer takes when it is decoded.
const MEMORY_PER_FOOTER_BYTE: u64 = 256;

/// The memory that a declared row of a table is taken to need, by the number of the table's columns that are read.
pub fn bytes_per_row(columns: usize) -> u64 {
    BYTES_PER_CELL.saturating_mul(columns as u64).saturating_add(BYTES_PER_ROW)
}

/// Refuses tables whose declared rows would not fit. For each table: its rows, and how many of its columns are read.
pub(crate) fn check_rows(place: &str, tables: &[(u64, usize)], memory: Memory) -> Result<(), StoreError> {
    check_rows_and(place, tables, 0, memory)
}

/// The same where something takes so many bytes besides.
pub(crate) fn check_rows_and(
    place: &str,
    tables: &[(u64, usize)],
    apart: u64,
    memory: Memory,
) -> Result<(), StoreError> {
    let bytes = |&(rows, columns): &(u64, usize)| rows.saturating_mul(bytes_per_row(columns));
    let needed = tables.iter().map(bytes).fold(apart, u64::saturating_add);
    if memory.allows(needed) {
        return Ok(());
    }
    let rows = tables.iter().map(|(rows, _)| *rows).fold(0, u64::saturating_add);
    Err(StoreError::TooLarge { path: place.to_owned(), rows, needed, memory })
}

/// What the manifest declares about a file of a release.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declared {
    pub(crate) rows: u64,
    pub(crate) columns: u64,
    pub(crate) memory: Memory,
}

impl Declared {
    pub(crate) fn new(entry: &TableEntry, part: &PartEntry, memory: Memory) -> Self {
        Declared { rows: part.rows, columns: entry.columns.len() as u64, memory }
    }

    /// How its text is read, if it is CSV.
    pub(crate) fn csv(&self) -> CsvOptions {
        CsvOptions {
            delimiter: Some(b','),
            encoding: Some(Encoding::Utf8),
            allow_empty: true,
            most_rows: self.rows,
            most_bytes: self.most_text(),
            ..CsvOptions::default()
        }
    }

    /// Bytes that its rows can need when they are unpacked, but no more than is allowed.
    pub(crate) fn most_text(&self) -> u64 {
        self.needed_text().min(self.memory.bytes())
    }

    fn needed_text(&self) -> u64 {
        self.rows.saturating_mul(self.columns).saturating_mul(TEXT_PER_CELL).saturating_add(FREE_TEXT)
    }

    /// Refuses a file that unpacks to this many bytes or more, if that is too much.
    pub(crate) fn check_text(&self, file: &str, bytes: u64) -> Result<(), StoreError> {
        if bytes <= self.most_text() {
            return Ok(());
        }
        let found = format!("unpacks to {} or more", Memory::of(bytes));
        match bytes <= self.needed_text() {
            true => Err(StoreError::TooMuchText { file: file.to_owned(), found, memory: self.memory }),
            false => Err(self.swollen(file, found)),
        }
    }

    /// How many rows are decoded together if the longest text has this many bytes.
    pub(crate) fn rows_at_once(longest: u64) -> usize {
        usize::try_from(TEXT_AT_ONCE / longest.max(1)).unwrap_or(usize::MAX).max(1)
    }

    /// Bytes that its footer may have, if it is Parquet.
    pub(crate) fn most_footer(&self) -> u64 {
        self.rows.saturating_add(FREE_FOOTER).min(self.memory.part(MEMORY_PER_FOOTER_BYTE).bytes())
    }

    /// The error for a file that holds more than its rows can need.
    pub(crate) fn swollen(&self, file: &str, found: impl Into<String>) -> StoreError {
        let found = found.into();
        StoreError::Swollen { file: file.to_owned(), found, rows: self.rows, columns: self.columns }
    }
}

/// What to do about rows that would not fit.
pub(crate) fn more(needed: u64) -> Remedy {
    Memory::more(needed, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_million_rows_with_eight_quasi_columns_pass_and_two_hundred_million_do_not() {
        let check = |tables: &[(u64, usize)]| check_rows("r", tables, Memory::default());
        assert!(check(&[(10_000_000, 18), (0, 3)]).is_ok());
        assert!(check(&[(10_000_000, 9), (10_000_000, 3)]).is_ok());
        let error = check(&[(210_000_000, 2)]).unwrap_err();
        let said =
            "r: its tables declare 210000000 rows, which would need about 16.8 GB of memory, but only 2 GB is allowed";
        assert_eq!(error.to_string(), said);
        assert_eq!(error.hint(), "if you trust where it comes from, allow more with `memory = 17GB`");
        assert!(check_rows("r", &[(u64::MAX, usize::MAX); 3], Memory::of(u64::MAX - 1)).is_err());
    }
}

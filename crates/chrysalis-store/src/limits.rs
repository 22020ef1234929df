//! What reading a release may cost: compared with what its manifest declares before a table is opened.
//!
//! A file says how large it is, and a packed one says it cheaply: a few kilobytes can claim any number of rows. So
//! rows are compared with the manifest's while they come, text with what so many rows can need, and what the declared
//! rows will need in memory with what is allowed.

use chrysalis_release::{PartEntry, TableEntry};
use chrysalis_table::{CsvOptions, Memory, Remedy};

use crate::StoreError;

/// What a declared row costs, and each of its columns beside that. Measured: the peak of an audit of ten million rows
/// with eight quasi columns is 71 bytes a row for generalize (18 columns), 133 for anatomy and 187 for permute (twelve
/// columns in two tables).
const BYTES_PER_ROW: u64 = 72;
const BYTES_PER_CELL: u64 = 4;

/// A cell may have so much text on average: the label of a large set is long. Less than that is in every file.
const TEXT_PER_CELL: u64 = 4 << 10;
const FREE_TEXT: u64 = 32 << 20;

/// Text that may be in memory at once, beside what is kept.
const TEXT_AT_ONCE: u64 = 32 << 20;

/// What a footer of Parquet may have: more row groups than rows would be needed to fill it.
const FREE_FOOTER: u64 = 1 << 20;
/// A byte of it costs at most so many when it is unfolded.
const MEMORY_PER_FOOTER_BYTE: u64 = 256;

/// Refuses tables whose declared rows would not fit: for each its rows, and how many of its columns are read.
pub(crate) fn check_rows(place: &str, tables: &[(u64, usize)], memory: Memory) -> Result<(), StoreError> {
    let row = |columns: usize| BYTES_PER_CELL.saturating_mul(columns as u64).saturating_add(BYTES_PER_ROW);
    let bytes = |&(rows, columns): &(u64, usize)| rows.saturating_mul(row(columns));
    let needed = tables.iter().map(bytes).fold(0, u64::saturating_add);
    if memory.allows(needed) {
        return Ok(());
    }
    let rows = tables.iter().map(|(rows, _)| *rows).fold(0, u64::saturating_add);
    Err(StoreError::TooLarge { path: place.to_owned(), rows, needed, memory })
}

/// What a file of a release may be, by its manifest.
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
            allow_empty: true,
            most_rows: self.rows,
            most_bytes: self.most_text(),
            ..CsvOptions::default()
        }
    }

    /// Bytes that its rows can need when they are unpacked, and no more than is allowed.
    pub(crate) fn most_text(&self) -> u64 {
        self.needed_text().min(self.memory.bytes())
    }

    fn needed_text(&self) -> u64 {
        self.rows.saturating_mul(self.columns).saturating_mul(TEXT_PER_CELL).saturating_add(FREE_TEXT)
    }

    /// Refuses a file that unpacks to so many bytes, or more.
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

    /// How many rows whose longest text has so many bytes are decoded together.
    pub(crate) fn rows_at_once(longest: u64) -> usize {
        usize::try_from(TEXT_AT_ONCE / longest.max(1)).unwrap_or(usize::MAX).max(1)
    }

    /// Bytes that its footer may have, if it is Parquet.
    pub(crate) fn most_footer(&self) -> u64 {
        self.rows.saturating_add(FREE_FOOTER).min(self.memory.part(MEMORY_PER_FOOTER_BYTE).bytes())
    }

    /// It holds more than its rows can need.
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
            "r: its tables declare 210000000 rows, which would need about 16.8 GB of memory, and 2 GB are allowed";
        assert_eq!(error.to_string(), said);
        assert_eq!(error.hint(), "if you trust where it comes from, allow more with `memory = 17GB`");
        assert!(check_rows("r", &[(u64::MAX, usize::MAX); 3], Memory::of(u64::MAX - 1)).is_err());
    }
}

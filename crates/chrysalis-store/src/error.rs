use std::io;
use std::path::PathBuf;

use chrysalis_arrow::ArrowTableError;
use chrysalis_release::ReleaseError;
use chrysalis_table::{Knob, Memory, Remedy, TableError};
use thiserror::Error;

use crate::limits::more;
use crate::{ForeignFormat, MANIFEST};

/// What can go wrong between memory and disk.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The operating system said no.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was attempted.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// A fault of the table in a file.
    #[error("{path}: {error}")]
    Table {
        /// The file, or `standard input`.
        path: String,
        /// What is wrong.
        error: TableError,
    },
    /// A table in a format that we do not read.
    #[error("{path}: this is {format}, but tables are read from CSV or Parquet")]
    Foreign {
        /// The file, or `standard input`.
        path: String,
        /// What it is.
        format: ForeignFormat,
    },
    /// A file that is not Parquet, or is broken.
    #[error("{path}: not a readable Parquet file: {problem}")]
    Parquet {
        /// The file.
        path: String,
        /// What is wrong.
        problem: String,
    },
    /// Record batches that cannot be read.
    #[error("{name}: {error}")]
    Batches {
        /// The table, as messages name it.
        name: String,
        /// What is wrong.
        error: ArrowTableError,
    },
    /// A Parquet column of a type that people's tables do not have.
    #[error("{path}: column `{column}` has the type {found}")]
    ColumnType {
        /// The file.
        path: String,
        /// The column.
        column: String,
        /// Its type.
        found: String,
    },
    /// A file that is no secret, and was to be one.
    #[error("{} is not used as a key: {problem}", path.display())]
    Secret {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A private file that is not used as what it was to be.
    #[error("{} is not used as a ledger: {problem}", path.display())]
    Private {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A Parquet column with values that would lose digits.
    #[error("{path}: column `{column}` of type {found} has {finer}")]
    Digits {
        /// The file.
        path: String,
        /// The column.
        column: String,
        /// Its type.
        found: String,
        /// What these values are.
        finer: &'static str,
    },
    /// Something is already there.
    #[error("{} exists already", path.display())]
    Exists {
        /// The place.
        path: PathBuf,
    },
    /// The folder to be replaced holds more than a release.
    #[error("{} holds things other than a release, so it is not replaced", path.display())]
    NotARelease {
        /// The place.
        path: PathBuf,
    },
    /// A file where the folder of a release was expected.
    #[error("{} is a file, but a release is a folder", path.display())]
    NotAFolder {
        /// The file.
        path: PathBuf,
    },
    /// A fault of the manifest.
    #[error("{path}: {error}")]
    Release {
        /// The folder.
        path: String,
        /// What is wrong.
        error: ReleaseError,
    },
    /// A file that is not the one that was published.
    #[error("the SHA-256 of {file} is not the one in the manifest")]
    Hash {
        /// The file.
        file: String,
    },
    /// Tables that declare more than fits into memory.
    #[error("{path}: its tables declare {rows} rows, which would need about {} of memory, but only {memory} is allowed",
            Memory::of(*needed))]
    TooLarge {
        /// The folder.
        path: String,
        /// The rows of all tables.
        rows: u64,
        /// What they would need, in bytes.
        needed: u64,
        /// What is allowed.
        memory: Memory,
    },
    /// A file that holds more text than is allowed.
    #[error("{file} {found}, but only {memory} of memory is allowed")]
    TooMuchText {
        /// The file.
        file: String,
        /// What it holds.
        found: String,
        /// What is allowed.
        memory: Memory,
    },
    /// A file that holds more than its declared rows can need.
    #[error("{file} {found}, which {rows} rows of {columns} columns cannot need")]
    Swollen {
        /// The file.
        file: String,
        /// What it holds.
        found: String,
        /// The rows that the manifest declares.
        rows: u64,
        /// The columns that it declares.
        columns: u64,
    },
    /// A table that is not as the manifest describes it.
    #[error("{file} has {found}, the manifest says {expected}")]
    Mismatch {
        /// The file.
        file: String,
        /// What there is.
        found: String,
        /// What there should be.
        expected: String,
    },
}

impl StoreError {
    /// An error about the columns of a file, with the name of the file.
    pub(crate) fn of_arrow(path: &str, error: ArrowTableError) -> Self {
        let path = path.to_owned();
        match error {
            ArrowTableError::Table(error) => StoreError::Table { path, error },
            ArrowTableError::ColumnType { column, found } => StoreError::ColumnType { path, column, found },
            ArrowTableError::Digits { column, found, finer } => StoreError::Digits { path, column, found, finer },
            // A file has one type per column, so this file contradicts itself.
            error => StoreError::Parquet { path, problem: error.to_string() },
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Remedy {
        match self {
            StoreError::Io { source, action, path } => match source.kind() {
                io::ErrorKind::NotFound if path.ends_with(MANIFEST) => "name the folder of a release".into(),
                io::ErrorKind::NotFound => "check the path".into(),
                io::ErrorKind::PermissionDenied => "check who may read and write there".into(),
                io::ErrorKind::StorageFull => {
                    Remedy::from("free some space, or name another place with ").knob(Knob::Out, "")
                }
                io::ErrorKind::ReadOnlyFilesystem => Remedy::from("name another place with ").knob(Knob::Out, ""),
                _ if *action == "read" => "check that the file is whole and readable".into(),
                _ => "check the disk, or name another place".into(),
            },
            StoreError::Table { error, .. } => error.hint(),
            StoreError::Batches { error, .. } => error.hint(),
            StoreError::Foreign { format, .. } => format.hint(),
            StoreError::Parquet { .. } => "check that the file was written whole".into(),
            StoreError::ColumnType { .. } => {
                "turn it into numbers, text or a date before publishing, or leave the column out".into()
            }
            StoreError::Secret { path, problem } if problem.starts_with("others") => {
                format!("chmod 600 {}", path.display()).into()
            }
            StoreError::Private { path, problem } if problem.starts_with("others") => {
                format!("chmod 600 {}", path.display()).into()
            }
            StoreError::Private { problem, .. } if problem.starts_with("another run") => {
                "wait until it has ended".into()
            }
            StoreError::Private { .. } => Remedy::from("name the right file with ").knob(Knob::Series, ""),
            StoreError::Secret { .. } => Remedy::from("name the right file with ").knob(Knob::Key, ""),
            StoreError::Digits { .. } => {
                "round it before publishing, turn it into text, or leave the column out".into()
            }
            StoreError::Exists { .. } => Remedy::from("choose another name, or replace it with ").knob(Knob::Force, ""),
            StoreError::NotARelease { .. } => "choose another name, or move them away".into(),
            StoreError::NotAFolder { path } => match path.parent().filter(|_| path.ends_with(MANIFEST)) {
                Some(folder) if folder.as_os_str().is_empty() => "name the folder that it is in: .".into(),
                Some(folder) => format!("name the folder that it is in: {}", folder.display()).into(),
                None => "name the folder that publish wrote; to see what a table itself satisfies, profile it".into(),
            },
            StoreError::Release { error, .. } => error.hint(),
            StoreError::TooLarge { needed, .. } => more(*needed),
            // The full size is unknown until it is unpacked.
            StoreError::TooMuchText { memory, .. } => more(memory.bytes().saturating_mul(2)),
            StoreError::Hash { .. } | StoreError::Mismatch { .. } | StoreError::Swollen { .. } => {
                "the release was changed after it was published: get it again from its publisher".into()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_name_knobs_and_no_door() {
        let io = |kind: io::ErrorKind, path: &str| StoreError::Io {
            action: "write to",
            path: path.into(),
            source: kind.into(),
        };
        let exists = StoreError::Exists { path: "release".into() };
        assert_eq!(exists.to_string(), "release exists already");
        assert_eq!(exists.hint(), "choose another name, or replace it with `force`");
        assert_eq!(exists.hint().knobs().collect::<Vec<_>>(), [(Knob::Force, "")]);
        let full = io(io::ErrorKind::StorageFull, "release");
        assert_eq!(full.hint(), "free some space, or name another place with `out`");
        assert_eq!(io(io::ErrorKind::ReadOnlyFilesystem, "r").hint().knobs().collect::<Vec<_>>(), [(Knob::Out, "")]);
        assert_eq!(io(io::ErrorKind::NotFound, "somewhere/release.json").hint(), "name the folder of a release");
        assert_eq!(io(io::ErrorKind::NotFound, "a.csv").hint(), "check the path");
    }

    #[test]
    fn other_formats_are_named_with_a_way_out() {
        let foreign = |format| StoreError::Foreign { path: "a".into(), format };
        let json = foreign(ForeignFormat::Json);
        assert_eq!(json.to_string(), "a: this is JSON, but tables are read from CSV or Parquet");
        let hint = "save it as CSV or Parquet and name that file, for example with pandas: read_json(…).to_csv(…, index=False)";
        assert_eq!(json.hint(), hint);
        let workbook = foreign(ForeignFormat::Workbook);
        let text = "a: this is an Excel workbook (.xlsx), but tables are read from CSV or Parquet";
        assert_eq!(workbook.to_string(), text);
        assert_eq!(workbook.hint(), "save the sheet as CSV (UTF-8) in the program that made it, and name that file");
    }

    #[test]
    fn a_file_is_no_release() {
        let error = |path: &str| StoreError::NotAFolder { path: path.into() };
        assert_eq!(error("a.csv").to_string(), "a.csv is a file, but a release is a folder");
        let hint = "name the folder that publish wrote; to see what a table itself satisfies, profile it";
        assert_eq!(error("a.csv").hint(), hint);
        assert_eq!(error("out/release.json").hint(), "name the folder that it is in: out");
        assert_eq!(error("release.json").hint(), "name the folder that it is in: .");
    }

    #[test]
    fn errors_of_columns_get_the_name_of_their_file() {
        let of = |error| StoreError::of_arrow("a.parquet", error).to_string();
        assert_eq!(of(TableError::NoRows.into()), "a.parquet: the table has no rows");
        let time = ArrowTableError::ColumnType { column: "at".into(), found: "Time64(ns)".into() };
        assert_eq!(of(time), "a.parquet: column `at` has the type Time64(ns)");
        let columns = ArrowTableError::Columns { found: vec!["a".into()], expected: vec!["b".into()] };
        let text = "a.parquet: not a readable Parquet file: a batch has the columns a, the schema says b";
        assert_eq!(of(columns), text);
    }
}

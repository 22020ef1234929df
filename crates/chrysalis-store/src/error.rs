use std::io;
use std::path::PathBuf;

use chrysalis_release::ReleaseError;
use chrysalis_table::TableError;
use thiserror::Error;

use crate::MANIFEST;

/// What can go wrong between memory and disk.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The operating system said no.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was attempted.
        action: &'static str,
        /// With which file or folder.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// The table in a file.
    #[error("{path}: {error}")]
    Table {
        /// The file, or `standard input`.
        path: String,
        /// What is wrong.
        error: TableError,
    },
    /// A Parquet file that is none, or is broken.
    #[error("{path}: not a readable Parquet file: {problem}")]
    Parquet {
        /// The file.
        path: String,
        /// What is wrong.
        problem: String,
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
    /// Something is already there.
    #[error("{} exists already", path.display())]
    Exists {
        /// The place.
        path: PathBuf,
    },
    /// `--force` on something that is more than a release.
    #[error("{} holds other things than a release, so it is not replaced", path.display())]
    NotARelease {
        /// The place.
        path: PathBuf,
    },
    /// The manifest.
    #[error("{path}: {error}")]
    Release {
        /// The folder.
        path: String,
        /// What is wrong.
        error: ReleaseError,
    },
    /// A file that is not the one that was published.
    #[error("{file} has another SHA-256 than the manifest says")]
    Hash {
        /// The file.
        file: String,
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
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            StoreError::Io { source, action, path } => match source.kind() {
                io::ErrorKind::NotFound if path.ends_with(MANIFEST) => {
                    "name the folder that `chrysalis publish --out` wrote".into()
                }
                io::ErrorKind::NotFound => "check the path".into(),
                io::ErrorKind::PermissionDenied => "check who may read and write there".into(),
                io::ErrorKind::StorageFull => "free some space, or name another place with --out".into(),
                io::ErrorKind::ReadOnlyFilesystem => "name another place with --out".into(),
                _ if *action == "read" => "check that the file is whole and readable".into(),
                _ => "check the disk, or name another place".into(),
            },
            StoreError::Table { error, .. } => error.hint(),
            StoreError::Parquet { .. } => "check that the file was written whole".into(),
            StoreError::ColumnType { .. } => {
                "turn it into numbers, text or a date before publishing, or leave the column out".into()
            }
            StoreError::Exists { .. } => "choose another name, or replace it with --force".into(),
            StoreError::NotARelease { .. } => "choose another name, or move them away".into(),
            StoreError::Release { error, .. } => error.hint(),
            StoreError::Hash { .. } | StoreError::Mismatch { .. } => {
                "the release was changed after it was published: get it again from its publisher".into()
            }
        }
    }
}

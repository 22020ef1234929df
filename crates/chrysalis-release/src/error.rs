use chrysalis_table::{Memory, Remedy};
use thiserror::Error;

use crate::Form;

/// What can be wrong with a release.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReleaseError {
    /// The manifest is not JSON of the right shape.
    #[error("the manifest cannot be read: {0}")]
    Manifest(#[from] serde_json::Error),
    /// A manifest that is too large for the allowed memory.
    #[error("the manifest has {found}, but with {memory} of memory at most {allowed} are read")]
    TooLarge {
        /// How much there is.
        found: String,
        /// How much there may be.
        allowed: String,
        /// The allowed memory.
        memory: Memory,
        /// The memory that would be enough, in bytes.
        needed: u64,
    },
    /// A list that is longer than it can be.
    #[error("the manifest lists {found} {what}, but there can be at most {allowed}")]
    Excess {
        /// What is listed.
        what: String,
        /// How many there are.
        found: u64,
        /// How many there may be.
        allowed: u64,
    },
    /// It is some other JSON file.
    #[error("the manifest's format is `{found}`, not `chrysalis-release`")]
    Format {
        /// The format it names.
        found: String,
    },
    /// A version from the future.
    #[error("the release has version {found}, this program reads versions 1 and 2")]
    Version {
        /// The version it names.
        found: u32,
    },
    /// Something that a reader must understand, and this one does not.
    #[error("the release needs the feature `{name}`, which this program does not know")]
    Feature {
        /// The name of the feature.
        name: String,
    },
    /// A form that this program does not know.
    #[error("the release was made by the method `{name}`, which this program does not know")]
    Method {
        /// The name of the method.
        name: String,
    },
    /// A promise that cannot be checked.
    #[error("the manifest promises `{principle}`, which cannot be checked: {problem}")]
    Promise {
        /// The principle as written.
        principle: String,
        /// Why it cannot be checked.
        problem: String,
    },
    /// A file outside the release.
    #[error("the manifest points to `{file}`, which is not a plain file name")]
    UnsafeFile {
        /// The path.
        file: String,
    },
    /// Two things with one name.
    #[error("the manifest names the {what} `{name}` twice")]
    Twice {
        /// What they are.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A table that should be there.
    #[error("the release has no table `{table}`")]
    MissingTable {
        /// Its name.
        table: String,
    },
    /// A column that should be there.
    #[error("table `{table}` has no column `{column}`")]
    MissingColumn {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
    /// A form without groups, where groups are needed.
    #[error("a release by the method `{method}` has no groups")]
    NoGroups {
        /// The method.
        method: Form,
    },
    /// A reader that takes every value for somebody's.
    #[error(
        "{counterfeits} of the sensitive values that the release shows are counterfeit, which this does not allow for"
    )]
    Counterfeits {
        /// How many there are.
        counterfeits: u64,
    },
    /// A statement that cannot be true.
    #[error("the manifest says {0}")]
    Nonsense(String),
}

impl ReleaseError {
    /// What the user can do about it.
    pub fn hint(&self) -> Remedy {
        match self {
            ReleaseError::Version { .. } | ReleaseError::Feature { .. } | ReleaseError::Method { .. } => {
                "use a newer chrysalis".into()
            }
            ReleaseError::Manifest(_) | ReleaseError::Format { .. } => {
                "name the folder of a release, which holds its `release.json`".into()
            }
            ReleaseError::TooLarge { needed, .. } => Memory::more(*needed, 1),
            ReleaseError::Counterfeits { .. } => {
                "ask the release questions, or use a release of the series that shows no counterfeits".into()
            }
            ReleaseError::NoGroups { .. } => "use a release by another method".into(),
            ReleaseError::Excess { .. }
            | ReleaseError::UnsafeFile { .. }
            | ReleaseError::Twice { .. }
            | ReleaseError::MissingTable { .. }
            | ReleaseError::MissingColumn { .. }
            | ReleaseError::Promise { .. }
            | ReleaseError::Nonsense(_) => {
                "the release was changed after it was published: get it again from its publisher".into()
            }
        }
    }
}

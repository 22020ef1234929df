use thiserror::Error;

/// What can be wrong with a release that somebody hands in.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReleaseError {
    /// The manifest is no JSON of the right shape.
    #[error("the manifest cannot be read: {0}")]
    Manifest(#[from] serde_json::Error),
    /// It is some other JSON file.
    #[error("the manifest's format is `{found}`, not `chrysalis-release`")]
    Format {
        /// What stands there.
        found: String,
    },
    /// A version from the future.
    #[error("the release has version {found}, this program reads version {known}")]
    Version {
        /// What stands there.
        found: u32,
        /// What is known.
        known: u32,
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
    /// A promise nobody knows.
    #[error("the manifest says {0}")]
    Nonsense(String),
}

impl ReleaseError {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            ReleaseError::Version { .. } => "use a newer chrysalis".into(),
            ReleaseError::Manifest(_) | ReleaseError::Format { .. } => {
                "name the folder that holds `release.json`, as `chrysalis publish --out` wrote it".into()
            }
            _ => "the release was changed after it was published: get it again from its publisher".into(),
        }
    }
}

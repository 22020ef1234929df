use chrysalis_table::{Knob, Remedy};
use thiserror::Error;

/// Why a release could not be loaded. No message holds a password.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The address names no database we know.
    #[error("cannot understand the address of the database: {problem}")]
    Address {
        /// What is wrong with it, without repeating it.
        problem: String,
    },
    /// The server cannot be reached, or does not let us in.
    #[error("cannot connect to {place}: {problem}")]
    Connect {
        /// The server and database, without the password.
        place: String,
        /// What it said.
        problem: String,
        /// What can be done about it.
        hint: &'static str,
    },
    /// The file cannot be opened or written.
    #[error("cannot write {place}: {problem}")]
    File {
        /// The file.
        place: String,
        /// What SQLite said.
        problem: String,
    },
    /// Another table has that name.
    #[error("{place} already has a table `{table}` that was not loaded from a release")]
    Taken {
        /// The database.
        place: String,
        /// The table.
        table: String,
    },
    /// A name that the database cannot hold.
    #[error("{what} `{name}` {problem}")]
    Name {
        /// What has that name.
        what: &'static str,
        /// The name.
        name: String,
        /// Why it cannot be kept.
        problem: String,
    },
    /// The database refused a step.
    #[error("{place} refused to {step}: {problem}")]
    Refused {
        /// The database.
        place: String,
        /// What was attempted.
        step: String,
        /// What it said.
        problem: String,
    },
}

impl LoadError {
    /// What the user can do about it.
    pub fn hint(&self) -> Remedy {
        match self {
            LoadError::Address { .. } => {
                "write postgres://user@host:5432/database (the password may stand in PGPASSWORD) or sqlite:release.db"
                    .into()
            }
            LoadError::Connect { hint, .. } => (*hint).into(),
            LoadError::File { .. } => "check the path, and who may write there".into(),
            LoadError::Taken { .. } => {
                Remedy::from("rename or drop that table, load into another database, or with PostgreSQL into another ")
                    .knob(Knob::Schema, "")
            }
            LoadError::Name { .. } => "rename the column before publishing".into(),
            LoadError::Refused { .. } => {
                "nothing was changed; check the rights of the user and the space on the disk".into()
            }
        }
    }
}

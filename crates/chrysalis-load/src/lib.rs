//! A release in a database: creates and fills the release's tables, so that rewritten questions can run there.
//!
//! Everything happens in one transaction: the tables appear whole or not at all, and loading again replaces them. Only
//! tables that were loaded from a release are ever replaced; somebody else's table with the same name is an error.
//!
//! Passwords never reach a message: a [`Target`] describes itself without them.

mod database;
mod error;
mod postgres;
mod rows;
mod schema;
mod sqlite;
mod target;

pub use database::Database;
pub use error::LoadError;
pub use target::Target;

use chrysalis_release::Release;
use chrysalis_table::Progress;

/// What was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadSummary {
    /// Every table with its number of rows, in the manifest's order.
    pub tables: Vec<(String, u64)>,
}

/// Creates and fills the release's tables. `progress` is told of every row; if it does not return, nothing is changed.
pub fn load(release: &Release, target: &Target, progress: Progress<'_>) -> Result<LoadSummary, LoadError> {
    let schema = schema::DatabaseSchema::of(release)?;
    match target {
        Target::Postgres(server) => postgres::load(&schema, server, progress)?,
        Target::Sqlite(file) => sqlite::load(&schema, file, progress)?,
    }
    Ok(LoadSummary {
        tables: schema.tables.iter().map(|table| (table.name.to_owned(), table.rows.rows() as u64)).collect(),
    })
}

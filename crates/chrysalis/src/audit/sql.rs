//! The audit as SQL, for a release in a folder.

use std::path::Path;

use chrysalis_audit_sql::{Dialect, Statement, setup, statements};
use chrysalis_store::read_manifest_within;
use chrysalis_table::Memory;

use crate::Error;

/// Statements that check a release in a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlAudit {
    /// Statements that make the tables visible in databases that read files; none for others, which the tables must be
    /// loaded into.
    pub setup: Vec<String>,
    /// One statement per promise and check, and what cannot be decided in SQL.
    pub statements: Vec<Statement>,
}

/// Writes the audit of a release as SQL. Only its manifest is read; one that would take more memory than allowed is
/// refused.
pub fn audit_as_sql(folder: &Path, dialect: Dialect, memory: Memory) -> Result<SqlAudit, Error> {
    let manifest = read_manifest_within(folder, memory)?;
    Ok(SqlAudit { setup: setup(&manifest, folder, dialect), statements: statements(&manifest, dialect) })
}

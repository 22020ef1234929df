//! The audit as SQL, for a release in a folder.

use std::path::Path;

use chrysalis_audit_sql::{Dialect, Statement, setup, setup_people, statements, statements_with_people};
use chrysalis_store::read_manifest_within;
use chrysalis_table::{Knob, Memory, Remedy};

use crate::{Error, population};

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
/// refused. `people` is a table of those who could be in the data, which promises about them are judged by.
pub fn audit_as_sql(folder: &Path, dialect: Dialect, people: Option<&Path>, memory: Memory) -> Result<SqlAudit, Error> {
    let manifest = read_manifest_within(folder, memory)?;
    let mut views = setup(&manifest, folder, dialect);
    let Some(file) = people else {
        return Ok(SqlAudit { setup: views, statements: statements(&manifest, dialect) });
    };
    population::check_form_of(&manifest)?;
    if !manifest.promises.iter().any(|promise| promise.principle().needs_population()) {
        let message =
            "a table of the population has no effect on the statements: the release promises nothing about it";
        return Err(Error::request(message, Remedy::from("leave ").knob(Knob::PopulationTable, "").words(" out")));
    }
    views.extend(setup_people(&manifest, file, dialect));
    Ok(SqlAudit { setup: views, statements: statements_with_people(&manifest, dialect) })
}

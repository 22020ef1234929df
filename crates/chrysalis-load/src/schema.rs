//! Which tables there will be, with which columns, keys and indexes.

use std::collections::BTreeSet;

use chrysalis_release::{Release, TableEntry};
use chrysalis_table::Table;

use crate::LoadError;

/// The tables of a release, ready to be created.
pub(crate) struct DatabaseSchema<'a> {
    pub(crate) tables: Vec<TableSchema<'a>>,
}

/// One table.
pub(crate) struct TableSchema<'a> {
    pub(crate) name: &'a str,
    pub(crate) rows: &'a Table,
    /// Columns that tell any two rows apart and are never missing; empty when there are none.
    pub(crate) primary_key: Vec<String>,
    /// Columns that rewritten questions join by.
    pub(crate) index: Vec<String>,
}

impl<'a> DatabaseSchema<'a> {
    pub(crate) fn of(release: &'a Release) -> Result<Self, LoadError> {
        let layout = release.manifest.layout();
        let table = |(entry, rows): (&'a TableEntry, &'a Table)| {
            let plain = TableSchema::new(&entry.name, rows)?;
            Ok(match layout.table(&entry.name) {
                Some(known) => plain.keyed(known),
                // A forged manifest may list tables that its form does not have.
                None => plain,
            })
        };
        Ok(DatabaseSchema {
            tables: release.manifest.tables.iter().zip(&release.tables).map(table).collect::<Result<_, _>>()?,
        })
    }

    /// One table that belongs to no release.
    pub(crate) fn of_table(name: &'a str, rows: &'a Table) -> Result<Self, LoadError> {
        Ok(DatabaseSchema { tables: vec![TableSchema::new(name, rows)?] })
    }
}

impl<'a> TableSchema<'a> {
    /// A table without keys and indexes.
    fn new(name: &'a str, rows: &'a Table) -> Result<Self, LoadError> {
        check_names(name, rows)?;
        Ok(TableSchema { name, rows, primary_key: Vec::new(), index: Vec::new() })
    }

    /// With the keys and indexes that a table of its form has.
    fn keyed(self, known: &chrysalis_release::TableLayout) -> Self {
        // A forged manifest may list such a table without its columns.
        let there =
            |columns: &[String]| columns.iter().filter(|name| self.rows.column(name).is_some()).cloned().collect();
        TableSchema { primary_key: there(&known.key), index: there(&known.index), ..self }
    }
}

/// Refuses names that databases cannot keep: they take `Age` and `age` for one column, cut long names short, and hold
/// no zero byte.
fn check_names(table: &str, rows: &Table) -> Result<(), LoadError> {
    let refuse = |what, name: &str, problem: &str| {
        Err(LoadError::Name { what, name: name.to_owned(), problem: problem.to_owned() })
    };
    let mut seen = BTreeSet::new();
    let names = rows.columns().iter().map(|column| ("column", column.name()));
    for (what, name) in std::iter::once(("table", table)).chain(names) {
        if name.is_empty() || name.contains('\0') {
            return refuse(what, name, "is not a name that a database can hold");
        }
        if name.len() > MAX_NAME {
            return refuse(what, name, "is longer than the 63 bytes PostgreSQL keeps");
        }
        if what == "column" && !seen.insert(name.to_lowercase()) {
            return refuse(what, name, "differs from another column only in upper and lower case");
        }
    }
    Ok(())
}

/// PostgreSQL cuts off longer names.
const MAX_NAME: usize = 63;

/// A name between double quotes, as standard SQL writes names that must stay as they are.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Several names with commas between them.
pub(crate) fn list(names: &[String]) -> String {
    names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
}

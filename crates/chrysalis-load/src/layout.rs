//! Which tables there will be, with which columns, keys and indexes.

use std::collections::BTreeSet;

use chrysalis_release::{GROUP_ID, Release, RoleName, anatomy, angelized, generalized, permuted, shuffled};
use chrysalis_table::Table;

use crate::LoadError;

/// The tables of a release, ready to be created.
pub(crate) struct Layout<'a> {
    pub(crate) tables: Vec<TableLayout<'a>>,
}

/// One table.
pub(crate) struct TableLayout<'a> {
    pub(crate) name: &'a str,
    pub(crate) rows: &'a Table,
    /// Columns that tell any two rows apart and are never missing; empty when there are none.
    pub(crate) primary_key: Vec<&'a str>,
    /// Columns that rewritten questions join by.
    pub(crate) index: Vec<&'a str>,
}

impl<'a> Layout<'a> {
    pub(crate) fn of(release: &'a Release) -> Result<Self, LoadError> {
        let entries = release.manifest.tables.iter().zip(&release.tables);
        let tables = entries.map(|(entry, rows)| table(release, &entry.name, rows)).collect::<Result<_, _>>()?;
        Ok(Layout { tables })
    }

    /// One table that belongs to no release.
    pub(crate) fn of_table(name: &'a str, rows: &'a Table) -> Result<Self, LoadError> {
        check_names(name, rows)?;
        Ok(Layout { tables: vec![TableLayout { name, rows, primary_key: Vec::new(), index: Vec::new() }] })
    }
}

fn table<'a>(release: &'a Release, name: &'a str, rows: &'a Table) -> Result<TableLayout<'a>, LoadError> {
    check_names(name, rows)?;
    let mut layout = TableLayout { name, rows, primary_key: Vec::new(), index: Vec::new() };
    let id = if rows.column(angelized::BATCH_ID).is_some() && release.manifest.method == "angel" {
        angelized::BATCH_ID
    } else {
        GROUP_ID
    };
    match name {
        shuffled::HELP => layout.primary_key = vec![GROUP_ID, shuffled::HELP_COLUMNS[1]],
        anatomy::SENSITIVE_TABLE | permuted::SENSITIVE_TABLE | angelized::BATCH_TABLE => {
            let sensitive = release.manifest.with_role(RoleName::Sensitive).next();
            match sensitive.filter(|attribute| !attribute.domain.missing) {
                Some(attribute) => layout.primary_key = vec![id, &attribute.name],
                // A key holds no missing values.
                None => layout.index = vec![id],
            }
        }
        generalized::MEMBERS => layout.index = generalized::MEMBERS_COLUMNS[..2].to_vec(),
        _ => layout.index = vec![id],
    }
    // A forged manifest may name a table so without its columns.
    layout.primary_key.retain(|column| rows.column(column).is_some());
    layout.index.retain(|column| rows.column(column).is_some());
    Ok(layout)
}

/// Databases take `Age` and `age` for one column, cut long names short, and hold no zero byte.
fn check_names(table: &str, rows: &Table) -> Result<(), LoadError> {
    let refuse = |what, name: &str, problem: &str| {
        Err(LoadError::Name { what, name: name.to_owned(), problem: problem.to_owned() })
    };
    let mut seen = BTreeSet::new();
    let names = rows.columns().iter().map(|column| ("column", column.name()));
    for (what, name) in std::iter::once(("table", table)).chain(names) {
        if name.is_empty() || name.contains('\0') {
            return refuse(what, name, "is no name a database can hold");
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

/// PostgreSQL cuts longer names off.
const MAX_NAME: usize = 63;

/// A name between double quotes, as standard SQL writes names that must stay as they are.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Several names with commas between them.
pub(crate) fn list(names: &[&str]) -> String {
    names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
}

//! Tables that consist of several files, one after the other.

use std::collections::BTreeMap;

use chrysalis_release::{PartEntry, TableEntry};
use chrysalis_table::{Column, ColumnRequest, DictionaryChunk, Kind, Table, TableError, Value};
use rayon::prelude::*;

use crate::StoreError;

/// Reads the parts of a table in parallel. `read` returns the wanted columns of one part.
pub(crate) fn read(
    entry: &TableEntry,
    wanted: &[ColumnRequest],
    read: impl Fn(&PartEntry) -> Result<Table, StoreError> + Sync + Send,
) -> Result<Table, StoreError> {
    // Almost every table is one file, whose columns are taken as they are.
    if let [part] = entry.parts.as_slice() {
        return read(part);
    }
    if entry.rows > u64::from(u32::MAX) {
        let error = TableError::TooManyRows { limit: u64::from(u32::MAX) };
        return Err(StoreError::Table { path: entry.name.clone(), error });
    }
    let tables: Vec<Result<Table, StoreError>> = entry.parts.par_iter().map(read).collect();
    // The error of the first part that has one, whatever thread met it.
    let tables: Vec<Table> = tables.into_iter().collect::<Result<_, _>>()?;
    Ok(concatenated(wanted, &tables))
}

/// The rows of tables that all have the wanted columns, in their order.
fn concatenated(wanted: &[ColumnRequest], tables: &[Table]) -> Table {
    let columns = wanted.par_iter().enumerate().map(|(at, request)| {
        let columns: Vec<&Column> = tables.iter().map(|table| &table.columns()[at]).collect();
        joined(request, &columns)
    });
    Table::new(columns.collect())
}

/// Joins several columns of the same kind. All their values together are the dictionary, in which equal ones become
/// one.
fn joined(request: &ColumnRequest, columns: &[&Column]) -> Column {
    let kind = request.kind.or_else(|| columns.first().map(|column| column.domain().kind())).unwrap_or(Kind::Category);
    let mut dictionary: Vec<Option<Value>> = Vec::new();
    let mut chunks = Vec::with_capacity(columns.len());
    for column in columns {
        let domain = column.domain();
        let start = dictionary.len() as u32;
        dictionary.extend((0..domain.len() as u32).map(|code| domain.value(code).cloned()));
        let to_dictionary = (start..dictionary.len() as u32).collect();
        chunks.push(DictionaryChunk { codes: column.codes().clone(), to_dictionary });
    }
    let order = match kind {
        Kind::Ordinal => {
            let ranks = request.ranks();
            dictionary.iter().map(|value| rank(&ranks, value.as_ref())).collect()
        }
        Kind::Integer | Kind::Real | Kind::Date | Kind::DateTime | Kind::Category => Vec::new(),
    };
    Column::from_dictionary(&request.name, kind, dictionary, &order, chunks)
}

/// PROOF: a value that is not in the order was refused when its part was read.
fn rank(ranks: &BTreeMap<&str, usize>, value: Option<&Value>) -> usize {
    let text = value.map(ToString::to_string).unwrap_or_default();
    ranks.get(text.as_str()).copied().unwrap_or(0)
}

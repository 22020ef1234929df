use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema};
use chrysalis_table::{Codes, Column, ColumnRequest, Progress, Table, TableError, resolve};
use rayon::prelude::*;

use crate::{ArrowTableError, ColumnReader, ROWS_PER_BATCH, kind_of};

/// The names of a schema's columns, each of which must occur only once.
pub fn header(schema: &Schema) -> Result<Vec<String>, ArrowTableError> {
    let header: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let twice = header.iter().enumerate().find(|(at, column)| header[..*at].contains(column));
    match twice {
        Some((_, column)) => Err(TableError::DuplicateColumn { column: column.clone() }.into()),
        None => Ok(header),
    }
}

/// Reads the wanted columns of a stream of batches, in the order they are asked for, and reports how many rows are
/// done. A stream without rows is refused, as an empty file is.
pub fn read(
    schema: &Schema,
    batches: impl IntoIterator<Item = Result<RecordBatch, ArrowError>>,
    wanted: &[ColumnRequest],
    progress: Progress<'_>,
) -> Result<Table, ArrowTableError> {
    let mut reader = TableReader::new(schema, wanted)?;
    for batch in batches {
        reader.add(&batch?, progress)?;
    }
    let table = reader.finish(progress)?;
    if table.rows() == 0 { Err(TableError::NoRows.into()) } else { Ok(table) }
}

/// Like [`read`], for callers that are handed one batch at a time. Without rows the result is a table without rows.
pub struct TableReader<'a> {
    header: Vec<String>,
    places: Vec<usize>,
    columns: Vec<ColumnReader<'a>>,
}

impl<'a> TableReader<'a> {
    /// Looks for the wanted columns in a schema, and refuses columns whose type has no kind.
    pub fn new(schema: &Schema, wanted: &'a [ColumnRequest]) -> Result<Self, ArrowTableError> {
        let header = header(schema)?;
        let places = resolve(&header, wanted)?;
        let mut fields = places.iter().map(|&place| schema.field(place));
        if let Some(field) = fields.find(|field| kind_of(field.data_type()).is_none()) {
            let (column, found) = (field.name().clone(), field.data_type().to_string());
            return Err(ArrowTableError::ColumnType { column, found });
        }
        Ok(TableReader { header, places, columns: wanted.iter().map(ColumnReader::new).collect() })
    }

    /// Adds a batch, all columns in parallel, and reports how many rows are done.
    pub fn add(&mut self, batch: &RecordBatch, progress: Progress<'_>) -> Result<(), ArrowTableError> {
        let schema = batch.schema_ref();
        let names = || schema.fields().iter().map(|field| field.name());
        if !names().eq(&self.header) {
            let found = names().cloned().collect();
            return Err(ArrowTableError::Columns { found, expected: self.header.clone() });
        }
        // A frame may come as one batch of all its rows.
        for start in (0..batch.num_rows()).step_by(ROWS_PER_BATCH) {
            let n_rows = ROWS_PER_BATCH.min(batch.num_rows() - start);
            let add = |(column, &place): (&mut ColumnReader<'_>, &usize)| {
                column.add(&batch.column(place).slice(start, n_rows))
            };
            let added: Vec<_> = self.columns.par_iter_mut().zip(&self.places).map(add).collect();
            // The first error in the order of columns, whatever thread met it.
            added.into_iter().collect::<Result<(), _>>()?;
            progress(n_rows as u64);
        }
        Ok(())
    }

    /// Takes the rows that were added away, by column: see [`ColumnReader::take`].
    pub fn take(&mut self) -> Vec<Codes> {
        self.columns.iter_mut().map(ColumnReader::take).collect()
    }

    /// The dictionaries of all columns: see [`ColumnReader::entries`].
    pub fn entries(self) -> Result<Vec<Column>, ArrowTableError> {
        self.columns.into_par_iter().map(ColumnReader::entries).collect::<Vec<_>>().into_iter().collect()
    }

    /// The table.
    pub fn finish(self, progress: Progress<'_>) -> Result<Table, ArrowTableError> {
        let finish = |column: ColumnReader<'_>| {
            progress(0);
            column.finish()
        };
        let columns: Vec<_> = self.columns.into_par_iter().map(finish).collect();
        Ok(Table::new(columns.into_iter().collect::<Result<_, _>>()?))
    }
}

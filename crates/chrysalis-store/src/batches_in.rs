//! Record batches in: tables that other programs hold in memory.

use chrysalis_arrow::{ArrowTableError, RecordBatchReader, TableReader, header, kind_of, read};
use chrysalis_table::{Codes, Column, ColumnRequest, Progress, Table, TableError};

use crate::StoreError;

/// What pandas calls an index that has no name.
const INDEX: &str = "__index_level_";

pub(crate) struct BatchesInput {
    name: String,
    batches: Box<dyn RecordBatchReader + Send>,
    header: Vec<String>,
}

impl BatchesInput {
    pub(crate) fn new(name: &str, batches: Box<dyn RecordBatchReader + Send>) -> Result<Self, StoreError> {
        let mut header = header(&batches.schema()).map_err(|error| failed(name, error))?;
        header.retain(|column| !column.starts_with(INDEX));
        Ok(BatchesInput { name: name.to_owned(), batches, header })
    }

    pub(crate) fn header(&self) -> &[String] {
        &self.header
    }

    /// The columns whose types are not read, with these types.
    pub(crate) fn unreadable(&self) -> Vec<(String, String)> {
        let schema = self.batches.schema();
        let fields = schema.fields().iter().filter(|field| kind_of(field.data_type()).is_none());
        fields.map(|field| (field.name().clone(), field.data_type().to_string())).collect()
    }

    /// Reads the wanted columns batch by batch: see [`crate::Input::read_pieces`].
    pub(crate) fn read_pieces(
        self,
        wanted: &[ColumnRequest],
        each: &mut dyn FnMut(Vec<Codes>) -> Result<(), StoreError>,
        progress: Progress<'_>,
    ) -> Result<Vec<Column>, StoreError> {
        let arrow_error = |error| failed(&self.name, error);
        let schema = self.batches.schema();
        let mut reader = TableReader::new(&schema, wanted).map_err(arrow_error)?;
        let mut rows = 0;
        for batch in self.batches {
            let batch = batch.map_err(|error| failed(&self.name, error.into()))?;
            rows += batch.num_rows();
            reader.add(&batch, progress).map_err(arrow_error)?;
            each(reader.take())?;
        }
        if rows == 0 {
            return Err(arrow_error(TableError::NoRows.into()));
        }
        reader.entries().map_err(arrow_error)
    }

    /// Reads the wanted columns, and reports how many rows are done.
    pub(crate) fn read(self, wanted: &[ColumnRequest], progress: Progress<'_>) -> Result<Table, StoreError> {
        let schema = self.batches.schema();
        read(&schema, self.batches, wanted, progress).map_err(|error| failed(&self.name, error))
    }
}

/// What is wrong with the table itself is said as it is of files.
fn failed(name: &str, error: ArrowTableError) -> StoreError {
    match error {
        ArrowTableError::Table(error) => StoreError::Table { path: name.to_owned(), error },
        error => StoreError::Batches { name: name.to_owned(), error },
    }
}

#[cfg(test)]
mod tests {
    use chrysalis_arrow::batches;
    use chrysalis_table::{Column, no_progress};

    use super::*;
    use crate::Input;

    fn owned(table: &Table) -> Box<dyn RecordBatchReader + Send> {
        let (schema, all): (_, Vec<_>) = (batches(table).schema(), batches(table).collect());
        Box::new(chrysalis_arrow::RecordBatchIterator::new(all, schema))
    }

    #[test]
    fn a_table_in_memory_is_read_like_a_file_and_the_index_of_pandas_is_left_out() {
        let ages = Column::integers("age", &[3, 1, 3]);
        let table = Table::new(vec![ages.clone(), Column::integers("__index_level_0__", &[0, 1, 2])]);
        let input = Input::of_batches("the table", owned(&table)).unwrap();
        assert_eq!(input.header(), ["age"]);
        assert!(input.unreadable().is_empty() && input.delimiter().is_none());
        let read = input.read_with(&[ColumnRequest::named("age")], &no_progress).unwrap();
        assert_eq!(read, Table::new(vec![ages]));
        let input = Input::of_batches("the table", owned(&table)).unwrap();
        let error = input.read(&[ColumnRequest::named("sex")]).unwrap_err();
        assert!(error.to_string().starts_with("the table: there is no column `sex`"), "{error}");
        let empty = Table::new(vec![Column::integers("age", &[])]);
        let error = Input::of_batches("the table", owned(&empty)).unwrap().read(&[ColumnRequest::named("age")]);
        assert!(error.unwrap_err().to_string().starts_with("the table: "));
    }
}

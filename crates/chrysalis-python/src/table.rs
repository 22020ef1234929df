//! A table on its way to Python.

use std::sync::{Arc, OnceLock};

use chrysalis::arrow::{RecordBatch, RecordBatchReader, Schema, batches};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::stream::capsule;

/// A table that speaks Arrow.
#[pyclass(frozen, module = "chrysalis._native")]
pub(crate) struct Table {
    content: Content,
    batches: OnceLock<Vec<RecordBatch>>,
}

enum Content {
    /// Columns of codes, which become arrays when somebody asks.
    Codes(Arc<chrysalis::Table>),
    /// One batch.
    Batch(RecordBatch),
}

impl Table {
    pub(crate) fn of(table: Arc<chrysalis::Table>) -> Table {
        Table { content: Content::Codes(table), batches: OnceLock::new() }
    }

    pub(crate) fn of_batch(batch: RecordBatch) -> Table {
        Table { content: Content::Batch(batch), batches: OnceLock::new() }
    }

    fn schema(&self) -> Arc<Schema> {
        match &self.content {
            Content::Codes(table) => RecordBatchReader::schema(&batches(table)),
            Content::Batch(batch) => batch.schema(),
        }
    }

    fn batches(&self) -> Vec<RecordBatch> {
        match &self.content {
            // None of its batches is an error.
            Content::Codes(table) => self.batches.get_or_init(|| batches(table).flatten().collect()).clone(),
            Content::Batch(batch) => vec![batch.clone()],
        }
    }
}

#[pymethods]
impl Table {
    /// The Arrow C stream interface. The schema is the table's own, whatever was requested.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let made = py.detach(|| self.batches());
        capsule(py, self.schema(), made)
    }

    /// How many rows it has.
    #[getter]
    fn num_rows(&self) -> usize {
        match &self.content {
            Content::Codes(table) => table.rows(),
            Content::Batch(batch) => batch.num_rows(),
        }
    }

    /// The names of its columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema().fields().iter().map(|field| field.name().clone()).collect()
    }
}

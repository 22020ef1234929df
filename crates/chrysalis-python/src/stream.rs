//! Tables in and out through the Arrow C stream interface, which pandas, polars, pyarrow, DuckDB and others speak.
//! Nothing is turned into text, and no column is copied on the way in.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use chrysalis::arrow::{RecordBatch, RecordBatchIterator, RecordBatchReader, Schema};
use chrysalis::store::Input;
use chrysalis::{AttributeDraft, Draft, Error, Memory, TaxonomyDraft, files};
use pyo3::exceptions::{PyNotImplementedError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors::refused;

/// The name that the interface prescribes for the capsule.
const NAME: &std::ffi::CStr = c"arrow_array_stream";

/// A table as a caller names it: a file, or something that speaks Arrow.
pub(crate) enum Given {
    /// A file, or a spec (`.toml`).
    File(String),
    /// Batches.
    Batches(Box<dyn RecordBatchReader + Send>),
}

impl Given {
    /// Takes what a caller passed as `name`.
    pub(crate) fn new(table: &Bound<'_, PyAny>, name: &str) -> PyResult<Given> {
        let py = table.py();
        if let Ok(path) = table.extract::<PathBuf>() {
            return Ok(Given::File(path.display().to_string()));
        }
        if is_of_spark(table)? {
            let message = format!("`{name}` is a data frame of Spark, whose rows are spread over a cluster");
            let remedy =
                "publish it there with `chrysalis.spark.publish`, or bring all rows to this machine: `.toArrow()`";
            return Err(refused(py, message, remedy));
        }
        // A lazy frame of polars has not computed anything yet.
        if !table.hasattr("__arrow_c_stream__")? {
            let class = table.get_type().name()?.to_string();
            let remedy = match table.hasattr("collect")? {
                true => "call `.collect()` first",
                false => "pass a table of pandas, polars, pyarrow or DuckDB, or the path of a file",
            };
            return Err(refused(py, format!("`{name}` is of type {class}, which is no table"), remedy));
        }
        // A series speaks Arrow, too, but it is one column without a name of its own.
        if table.hasattr("to_frame")? {
            let message = format!("`{name}` is one column, and no table");
            return Err(refused(py, message, "call `.to_frame()` first"));
        }
        reader(table).map(|reader| Given::Batches(Box::new(reader)))
    }

    /// What is said of it: a spec says more than where the table is. `said` wins.
    pub(crate) fn draft(&self, said: Draft) -> Result<Draft, Error> {
        self.draft_within(said, None)
    }

    /// The same, with taxonomies that may take this much memory.
    pub(crate) fn draft_within(&self, said: Draft, memory: Option<Memory>) -> Result<Draft, Error> {
        match self {
            Given::File(file) => said.or(files::draft(file)?).read_taxonomies_within(memory),
            Given::Batches(_) => said.read_taxonomies_within(memory),
        }
    }

    /// The same, where memory is limited for the table as well: then it need not be that taxonomies are read from files.
    pub(crate) fn draft_in(&self, said: Draft, memory: Option<Memory>) -> Result<Draft, Error> {
        let mut draft = match self {
            Given::File(file) => said.or(files::draft(file)?),
            Given::Batches(_) => said,
        };
        // Exactly, without rounding it to what people read.
        draft.memory = memory.map(|memory| format!("{}kB", memory.bytes().div_ceil(1000))).or(draft.memory);
        let is_file = |said: &AttributeDraft| matches!(said.taxonomy, Some(TaxonomyDraft::File(_)));
        let has_files = draft.attributes.values().any(is_file);
        draft.read_taxonomies_within(memory.filter(|_| has_files))
    }

    /// Brings all batches of a table here, so that it can be opened several times; they are shared, not copied.
    pub(crate) fn gathered(self) -> Result<Gathered, Error> {
        match self {
            Given::File(file) => Ok(Gathered::File(file)),
            Given::Batches(batches) => {
                let schema = batches.schema();
                let batches = batches.collect::<Result<Vec<RecordBatch>, _>>();
                let remedy = "check what the table was made from";
                let batches =
                    batches.map_err(|error| Error::request(format!("the table cannot be read: {error}"), remedy));
                Ok(Gathered::Batches(schema, batches?))
            }
        }
    }

    /// Opens it.
    pub(crate) fn open(self, draft: &Draft, name: &str) -> Result<Input, Error> {
        match self {
            Given::File(_) => draft.open(),
            Given::Batches(batches) => draft.open_batches(name, batches),
        }
    }
}

/// A table that can be opened several times.
pub(crate) enum Gathered {
    File(String),
    Batches(Arc<Schema>, Vec<RecordBatch>),
}

impl Gathered {
    /// As it was given.
    pub(crate) fn given(&self) -> Given {
        match self {
            Gathered::File(file) => Given::File(file.clone()),
            Gathered::Batches(schema, batches) => {
                let batches = batches.clone().into_iter().map(Ok);
                Given::Batches(Box::new(RecordBatchIterator::new(batches, Arc::clone(schema))))
            }
        }
    }
}

/// Whether a table is of Spark: to read it here would bring all its rows to one machine, unasked.
fn is_of_spark(table: &Bound<'_, PyAny>) -> PyResult<bool> {
    for class in table.get_type().mro() {
        let module = class.getattr("__module__").and_then(|module| module.extract::<String>());
        if module.is_ok_and(|module| module == "pyspark" || module.starts_with("pyspark.")) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Takes over the stream of a table.
#[allow(unsafe_code, reason = "the interface hands over a pointer")]
fn reader(table: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    let py = table.py();
    let failed = |error: &dyn std::fmt::Display| {
        refused(
            py,
            format!("the table cannot be read as Arrow: {error}"),
            "give every column one type, for example with `.astype(str)`",
        )
    };
    // What cannot be written as Arrow (mixed columns, two columns of one name) is said in different classes of errors.
    let capsule = table.call_method0("__arrow_c_stream__").map_err(|error| {
        let is_about_data = error.is_instance_of::<PyValueError>(py)
            || error.is_instance_of::<PyTypeError>(py)
            || error.is_instance_of::<PyNotImplementedError>(py);
        if !is_about_data {
            return error;
        }
        let said = error.value(py);
        // An error of pyarrow may come in two parts.
        let parts = said.getattr("args").and_then(|args| args.extract::<Vec<String>>());
        let told = failed(&parts.map_or_else(|_| said.to_string(), |parts| parts.join("; ")));
        told.set_cause(py, Some(error));
        told
    })?;
    let capsule = capsule.cast::<PyCapsule>().map_err(|_| failed(&"it gives no capsule"))?;
    let pointer = capsule.pointer_checked(Some(NAME))?;
    // SAFETY: a capsule of this name holds an initialized `ArrowArrayStream` (the interface says so, and `pointer_checked`
    // compares the name). It is moved out, which marks the one in the capsule as released, as a consumer must. Python's
    // lock is held, so nobody else takes it meanwhile.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr().cast()) };
    RecordBatchStreamReader::try_new(stream).map_err(|error| failed(&error))
}

/// Hands batches to whoever asks.
pub(crate) fn capsule(
    py: Python<'_>,
    schema: Arc<Schema>,
    batches: Vec<RecordBatch>,
) -> PyResult<Bound<'_, PyCapsule>> {
    let reader = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), NAME)
}

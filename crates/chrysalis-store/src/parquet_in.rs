//! Parquet in: every wanted column is decoded on its own, all of them in parallel, into a dictionary and codes.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};

use arrow_array::ArrayRef;
use bytes::Bytes;
use chrysalis_arrow::{ArrowTableError, ColumnReader, ROWS_PER_BATCH, header};
use chrysalis_table::{Column, ColumnRequest, Progress, Stopped, Table, TableError, resolve};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::reader::ChunkReader;
use rayon::prelude::*;

use crate::StoreError;

pub(crate) struct ParquetInput {
    name: String,
    bytes: Handle,
    metadata: ArrowReaderMetadata,
    header: Vec<String>,
}

/// Columns are read in parallel, so each opens the file for itself: clones of one handle would share its place.
enum Handle {
    File(PathBuf),
    Bytes(Bytes),
}

impl ParquetInput {
    pub(crate) fn from_file(name: String, path: &Path) -> Result<Self, StoreError> {
        let metadata = guarded(&name, || ArrowReaderMetadata::load(&File::open(path)?, options()))?;
        Self::new(name, Handle::File(path.to_owned()), metadata)
    }

    pub(crate) fn from_bytes(name: String, bytes: Bytes) -> Result<Self, StoreError> {
        let metadata = guarded(&name, || ArrowReaderMetadata::load(&bytes, options()))?;
        Self::new(name, Handle::Bytes(bytes), metadata)
    }

    fn new(name: String, bytes: Handle, metadata: ArrowReaderMetadata) -> Result<Self, StoreError> {
        let header = header(metadata.schema()).map_err(|error| StoreError::of_arrow(&name, error))?;
        Ok(ParquetInput { name, bytes, metadata, header })
    }

    pub(crate) fn header(&self) -> &[String] {
        &self.header
    }

    pub(crate) fn read(
        self,
        wanted: &[ColumnRequest],
        allow_empty: bool,
        progress: Progress<'_>,
    ) -> Result<Table, StoreError> {
        let table_error = |error| StoreError::Table { path: self.name.clone(), error };
        let places = resolve(&self.header, wanted).map_err(table_error)?;
        let columns: Vec<Column> = wanted
            .par_iter()
            .zip(places)
            .map(|(request, place)| self.read_column(request, place, progress))
            .collect::<Result<_, _>>()?;
        let rows = columns.first().map_or(0, |column| column.codes().len());
        if columns.iter().any(|column| column.codes().len() != rows) {
            return Err(StoreError::Parquet { path: self.name, problem: "its columns differ in length".into() });
        }
        if rows == 0 && !allow_empty {
            return Err(table_error(TableError::NoRows));
        }
        Ok(Table::new(columns))
    }

    fn read_column(&self, request: &ColumnRequest, place: usize, progress: Progress<'_>) -> Result<Column, StoreError> {
        let arrow_error = |error: ArrowTableError| StoreError::of_arrow(&self.name, error);
        let mut column = ColumnReader::new(request);
        self.each_batch(place, |array| {
            progress(0);
            column.add(array).map_err(arrow_error)
        })?;
        progress(0);
        column.finish().map_err(arrow_error)
    }

    fn each_batch(
        &self,
        place: usize,
        mut each: impl FnMut(&ArrayRef) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mask = || ProjectionMask::roots(self.metadata.parquet_schema(), [place]);
        let metadata = self.metadata.clone();
        let mut reader = guarded(&self.name, || match &self.bytes {
            Handle::File(path) => {
                batches(ParquetRecordBatchReaderBuilder::new_with_metadata(File::open(path)?, metadata), mask())
            }
            Handle::Bytes(bytes) => {
                batches(ParquetRecordBatchReaderBuilder::new_with_metadata(bytes.clone(), metadata), mask())
            }
        })?;
        loop {
            let batch = guarded(&self.name, || reader.next().transpose().map_err(ParquetError::from))?;
            match batch {
                Some(batch) => each(batch.column(0))?,
                None => return Ok(()),
            }
        }
    }
}

fn batches<T: ChunkReader + 'static>(
    builder: ParquetRecordBatchReaderBuilder<T>,
    mask: ProjectionMask,
) -> Result<ParquetRecordBatchReader, ParquetError> {
    builder.with_projection(mask).with_batch_size(ROWS_PER_BATCH).build()
}

fn options() -> ArrowReaderOptions {
    // What the writer says about Arrow types is a hint at best: the Parquet types are enough.
    ArrowReaderOptions::new().with_skip_arrow_metadata(true)
}

/// Runs a step of the Parquet reader. A broken file may make it panic, which is the file's fault and no crash of ours.
fn guarded<T>(name: &str, step: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, StoreError> {
    let problem = |problem: String| StoreError::Parquet { path: name.to_owned(), problem };
    match catch_unwind(AssertUnwindSafe(step)) {
        Ok(result) => result.map_err(|error| problem(error.to_string())),
        // Work that is stopped from outside unwinds, too, and is no fault of the file.
        Err(payload) if Stopped::is(&*payload) => resume_unwind(payload),
        Err(_) => Err(problem("its pages contradict each other".into())),
    }
}

#[cfg(test)]
mod tests {
    use chrysalis_table::{Counted, Watch};

    use super::*;

    struct Done;

    impl Watch for Done {
        fn phase(&self, _: &'static str, _: Option<u64>, _: Counted) {}
        fn advance(&self, _: u64) {}
        fn stopped(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_stop_is_not_taken_for_a_broken_file() {
        let watch: &dyn Watch = &Done;
        let stopped = Stopped::catch(|| {
            guarded("a.parquet", || {
                watch.pause();
                Ok(())
            })
        });
        assert_eq!(stopped.map(|result| result.is_ok()), Err(Stopped));
        let broken = guarded::<()>("a.parquet", || panic!("index out of bounds"));
        let error = broken.unwrap_err().to_string();
        assert_eq!(error, "a.parquet: not a readable Parquet file: its pages contradict each other");
    }
}

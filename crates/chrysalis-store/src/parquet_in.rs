//! Parquet in: every wanted column is decoded on its own, all of them in parallel, into a dictionary and codes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use bytes::Bytes;
use chrysalis_arrow::{ArrowTableError, ColumnReader, ROWS_PER_BATCH, header, kind_of};
use chrysalis_table::{Codes, Column, ColumnRequest, Memory, Progress, Stopped, Table, TableError, resolve};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Type;
use parquet::column::page::{Page, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;
use rayon::prelude::*;

use crate::StoreError;
use crate::limits::Declared;
use crate::parquet_pages::Claims;

pub(crate) struct ParquetInput {
    name: String,
    bytes: Handle,
    metadata: ArrowReaderMetadata,
    header: Vec<String>,
    /// What its manifest declares, if it belongs to a release.
    declared: Option<Declared>,
}

/// Columns are read in parallel, so each opens the file for itself: clones of one handle would share its position.
enum Handle {
    File(PathBuf),
    Bytes(Bytes),
}

impl ParquetInput {
    pub(crate) fn from_file(name: String, path: &Path, declared: Option<Declared>) -> Result<Self, StoreError> {
        if let Some(declared) = &declared {
            check_footer(&name, path, declared)?;
        }
        let metadata = guarded(&name, || ArrowReaderMetadata::load(&File::open(path)?, options()))?;
        if let Some(declared) = &declared {
            check_rows(&name, &metadata, declared)?;
        }
        Self::new(name, Handle::File(path.to_owned()), metadata, declared)
    }

    pub(crate) fn from_bytes(name: String, bytes: Bytes) -> Result<Self, StoreError> {
        let metadata = guarded(&name, || ArrowReaderMetadata::load(&bytes, options()))?;
        Self::new(name, Handle::Bytes(bytes), metadata, None)
    }

    fn new(
        name: String,
        bytes: Handle,
        metadata: ArrowReaderMetadata,
        declared: Option<Declared>,
    ) -> Result<Self, StoreError> {
        let header = header(metadata.schema()).map_err(|error| StoreError::of_arrow(&name, error))?;
        Ok(ParquetInput { name, bytes, metadata, header, declared })
    }

    pub(crate) fn header(&self) -> &[String] {
        &self.header
    }

    /// The columns whose types are not read, with these types.
    pub(crate) fn unreadable(&self) -> Vec<(String, String)> {
        let fields = self.metadata.schema().fields().iter().filter(|field| kind_of(field.data_type()).is_none());
        fields.map(|field| (field.name().clone(), field.data_type().to_string())).collect()
    }

    pub(crate) fn read(
        self,
        wanted: &[ColumnRequest],
        allow_empty: bool,
        progress: Progress<'_>,
    ) -> Result<Table, StoreError> {
        let table_error = |error| StoreError::Table { path: self.name.clone(), error };
        let places = resolve(&self.header, wanted).map_err(table_error)?;
        self.check_pages(&places)?;
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

    /// Reads the wanted columns batch by batch: see [`crate::Input::read_pieces`].
    pub(crate) fn read_pieces(
        self,
        wanted: &[ColumnRequest],
        allow_empty: bool,
        each: &mut dyn FnMut(Vec<Codes>) -> Result<(), StoreError>,
        progress: Progress<'_>,
    ) -> Result<Vec<Column>, StoreError> {
        let arrow_error = |error: ArrowTableError| StoreError::of_arrow(&self.name, error);
        let table_error = |error| StoreError::Table { path: self.name.clone(), error };
        let places = resolve(&self.header, wanted).map_err(table_error)?;
        let mut columns: Vec<ColumnReader<'_>> = wanted.iter().map(ColumnReader::new).collect();
        let mut reader = self.batches_of(&places, ROWS_PER_BATCH)?;
        // The batches have every column once, in the order of the file.
        let mut in_file = places.clone();
        in_file.sort_unstable();
        in_file.dedup();
        let mut rows = 0;
        while let Some(batch) = guarded(&self.name, || reader.next().transpose().map_err(ParquetError::from))? {
            rows += batch.num_rows();
            let add = |(column, place): (&mut ColumnReader<'_>, &usize)| {
                let at = in_file.binary_search(place).unwrap_or(0);
                column.add(batch.column(at)).map(|()| column.take())
            };
            let codes: Vec<_> = columns.par_iter_mut().zip(&places).map(add).collect();
            each(codes.into_iter().collect::<Result<_, _>>().map_err(arrow_error)?)?;
            progress(batch.num_rows() as u64);
        }
        if rows == 0 && !allow_empty {
            return Err(table_error(TableError::NoRows));
        }
        let entries: Vec<_> = columns.into_par_iter().map(ColumnReader::entries).collect();
        entries.into_iter().collect::<Result<_, _>>().map_err(arrow_error)
    }

    fn batches_of(&self, places: &[usize], rows: usize) -> Result<ParquetRecordBatchReader, StoreError> {
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), places.iter().copied());
        let metadata = self.metadata.clone();
        guarded(&self.name, || match &self.bytes {
            Handle::File(path) => {
                batches(ParquetRecordBatchReaderBuilder::new_with_metadata(File::open(path)?, metadata), mask, rows)
            }
            Handle::Bytes(bytes) => {
                batches(ParquetRecordBatchReaderBuilder::new_with_metadata(bytes.clone(), metadata), mask, rows)
            }
        })
    }

    fn read_column(&self, request: &ColumnRequest, place: usize, progress: Progress<'_>) -> Result<Column, StoreError> {
        let arrow_error = |error: ArrowTableError| StoreError::of_arrow(&self.name, error);
        let mut column = ColumnReader::new(request);
        let (mut rows, mut bytes) = (0, 0);
        self.each_batch(place, |array| {
            progress(0);
            rows += array.len() as u64;
            bytes += array.get_buffer_memory_size() as u64;
            if let Some(declared) = &self.declared {
                check_read(&self.name, rows, bytes, declared)?;
            }
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
        let mut reader = self.batches_of(&[place], self.rows_at_once(place)?)?;
        loop {
            let batch = guarded(&self.name, || reader.next().transpose().map_err(ParquetError::from))?;
            match batch {
                Some(batch) => each(batch.column(0))?,
                None => return Ok(()),
            }
        }
    }

    /// Compares what the pages of some columns claim with what is declared.
    fn check_pages(&self, places: &[usize]) -> Result<(), StoreError> {
        let (Some(declared), Handle::File(path)) = (&self.declared, &self.bytes) else { return Ok(()) };
        let file = File::open(path).map_err(|source| StoreError::Io { action: "read", path: path.clone(), source })?;
        let mut claims = Claims::default();
        for group in self.metadata.metadata().row_groups() {
            for &place in places {
                claims.add(&file, &self.name, group, group.column(place), declared)?;
            }
        }
        Ok(())
    }

    /// How many rows of a column are decoded together. Every row may have the longest value of a dictionary.
    fn rows_at_once(&self, place: usize) -> Result<usize, StoreError> {
        let (Some(_), Handle::File(path)) = (&self.declared, &self.bytes) else { return Ok(ROWS_PER_BATCH) };
        let mut longest = 1;
        for group in self.metadata.metadata().row_groups() {
            let chunk = group.column(place);
            let own = match chunk.column_type() {
                Type::BYTE_ARRAY => longest_entry(&self.name, path, group, chunk)?,
                Type::FIXED_LEN_BYTE_ARRAY => u64::try_from(chunk.column_descr().type_length()).unwrap_or(0),
                Type::BOOLEAN | Type::INT32 | Type::INT64 | Type::INT96 | Type::FLOAT | Type::DOUBLE => 1,
            };
            longest = longest.max(own);
        }
        Ok(Declared::rows_at_once(longest).min(ROWS_PER_BATCH))
    }
}

/// The length of the longest text of a column's dictionary; 0 if it has none.
fn longest_entry(
    name: &str,
    path: &Path,
    group: &RowGroupMetaData,
    chunk: &ColumnChunkMetaData,
) -> Result<u64, StoreError> {
    if chunk.dictionary_page_offset().is_none() {
        return Ok(0);
    }
    guarded(name, || {
        let rows = usize::try_from(group.num_rows())?;
        let mut pages = SerializedPageReader::new(Arc::new(File::open(path)?), chunk, rows, None)?;
        let Some(Page::DictionaryPage { buf, .. }) = pages.get_next_page()? else { return Ok(0) };
        let (mut rest, mut longest) = (&buf[..], 0);
        while let Some((length, after)) = rest.split_first_chunk::<4>() {
            let length = u32::from_le_bytes(*length);
            longest = longest.max(u64::from(length));
            rest = after.get(length as usize..).unwrap_or_default();
        }
        Ok(longest)
    })
}

/// Checks the length of the footer, which is given at the end of the file: decoded, the footer takes many times that.
fn check_footer(name: &str, path: &Path, declared: &Declared) -> Result<(), StoreError> {
    let read = || -> io::Result<u64> {
        let (mut file, mut end) = (File::open(path)?, [0; 8]);
        file.seek(SeekFrom::End(-8))?;
        file.read_exact(&mut end)?;
        let [a, b, c, d, ..] = end;
        Ok(u64::from(u32::from_le_bytes([a, b, c, d])))
    };
    // A file that is too short is refused with a better reason by the reader.
    let Ok(length) = read() else { return Ok(()) };
    if length <= declared.most_footer() {
        return Ok(());
    }
    Err(declared.swollen(name, format!("has a footer of {}", Memory::of(length))))
}

/// Checks that there are as many rows as declared, at most one row group more than rows, and only flat columns: a
/// repeated column can have any number of values in a row.
fn check_rows(name: &str, metadata: &ArrowReaderMetadata, declared: &Declared) -> Result<(), StoreError> {
    let broken = |problem: &str| StoreError::Parquet { path: name.to_owned(), problem: problem.to_owned() };
    let file = metadata.metadata();
    let rows = file.file_metadata().num_rows();
    if u64::try_from(rows) != Ok(declared.rows) {
        let (found, expected) = (format!("{rows} rows"), declared.rows.to_string());
        return Err(StoreError::Mismatch { file: name.to_owned(), found, expected });
    }
    let n_groups = file.num_row_groups();
    if n_groups as u64 > declared.rows.saturating_add(1) {
        return Err(declared.swollen(name, format!("has {n_groups} row groups")));
    }
    let sum = file.row_groups().iter().try_fold(0_i64, |sum, group| sum.checked_add(group.num_rows().max(0)));
    if sum != Some(rows) {
        return Err(broken("its row groups do not have the number of rows that it says"));
    }
    let schema = file.file_metadata().schema_descr();
    let is_flat = schema.columns().iter().all(|column| column.max_rep_level() == 0 && column.max_def_level() <= 1);
    if !is_flat || schema.num_columns() != metadata.schema().fields().len() {
        return Err(broken("its columns are not plain ones"));
    }
    if file.row_groups().iter().any(|group| group.num_columns() != schema.num_columns()) {
        return Err(broken("its row groups differ in their columns"));
    }
    Ok(())
}

/// Checks what was read of a column so far.
fn check_read(name: &str, rows: u64, bytes: u64, declared: &Declared) -> Result<(), StoreError> {
    if rows > declared.rows {
        let (found, expected) = (format!("more than {} rows", declared.rows), declared.rows.to_string());
        return Err(StoreError::Mismatch { file: name.to_owned(), found, expected });
    }
    declared.check_text(name, bytes)
}

fn batches<T: ChunkReader + 'static>(
    builder: ParquetRecordBatchReaderBuilder<T>,
    mask: ProjectionMask,
    rows: usize,
) -> Result<ParquetRecordBatchReader, ParquetError> {
    builder.with_projection(mask).with_batch_size(rows).build()
}

fn options() -> ArrowReaderOptions {
    // The writer's Arrow types are a hint at best: the Parquet types are enough.
    ArrowReaderOptions::new().with_skip_arrow_metadata(true)
}

/// Runs a step of the Parquet reader. If a broken file makes it panic, that is reported as the file's fault.
fn guarded<T>(name: &str, step: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, StoreError> {
    let problem = |problem: String| StoreError::Parquet { path: name.to_owned(), problem };
    match catch_unwind(AssertUnwindSafe(step)) {
        Ok(result) => result.map_err(|error| problem(error.to_string())),
        // Work that is stopped from outside unwinds, too, and that is not the file's fault.
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

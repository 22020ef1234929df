//! Parquet in: every wanted column is decoded on its own, all of them in parallel, into a dictionary and codes.

use std::fs::File;
use std::hash::Hash;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use bytes::Bytes;
use chrysalis_table::{Codes, Column, ColumnRequest, Date, Kind, Table, TableError, Value, resolve};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
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

const ROWS_PER_BATCH: usize = 65_536;
/// Numbers below this have a slot of their own.
const SMALL: usize = 1 << 22;
/// A slot that has no code yet. PROOF: rows, and so codes, stay below it.
const NO_CODE: u32 = u32::MAX;

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
        let header: Vec<String> = metadata.schema().fields().iter().map(|field| field.name().clone()).collect();
        let twice = header.iter().enumerate().find(|(at, column)| header[..*at].contains(column));
        if let Some((_, column)) = twice {
            let error = TableError::DuplicateColumn { column: column.clone() };
            return Err(StoreError::Table { path: name, error });
        }
        Ok(ParquetInput { name, bytes, metadata, header })
    }

    pub(crate) fn header(&self) -> &[String] {
        &self.header
    }

    pub(crate) fn read(self, wanted: &[ColumnRequest], allow_empty: bool) -> Result<Table, StoreError> {
        let table_error = |error| StoreError::Table { path: self.name.clone(), error };
        let places = resolve(&self.header, wanted).map_err(table_error)?;
        let columns: Vec<Column> = wanted
            .par_iter()
            .zip(places)
            .map(|(request, place)| self.read_column(request, place))
            .collect::<Result<_, _>>()?;
        let rows = columns.first().map_or(0, |column| column.codes().len());
        if columns.iter().any(|column| column.codes().len() != rows) {
            return Err(StoreError::Parquet { path: self.name, problem: "its columns differ in length".into() });
        }
        if rows == 0 && !allow_empty {
            return Err(table_error(TableError::NoRows));
        }
        if rows > u32::MAX as usize {
            return Err(table_error(TableError::TooManyRows { limit: u32::MAX as usize }));
        }
        Ok(Table::new(columns))
    }

    fn read_column(&self, request: &ColumnRequest, place: usize) -> Result<Column, StoreError> {
        let mut gathered = Gathered::default();
        let wrong_type = |array: &ArrayRef| StoreError::ColumnType {
            path: self.name.clone(),
            column: request.name.clone(),
            found: array.data_type().to_string(),
        };
        self.each_batch(place, |array| if gathered.add(array) { Ok(()) } else { Err(wrong_type(array)) })?;
        gathered.finish(request).map_err(|error| StoreError::Table { path: self.name.clone(), error })
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
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(step)) {
        Ok(result) => result.map_err(|error| problem(error.to_string())),
        Err(_) => Err(problem("its pages contradict each other".into())),
    }
}

/// Distinct values in order of appearance, and the rows' codes batch by batch.
#[derive(Default)]
struct Gathered {
    kind: Option<Kind>,
    dictionary: Vec<Option<Value>>,
    /// Codes of small numbers, by number: looking up is cheaper than hashing, and most numbers are ids, years or days.
    small: Vec<u32>,
    integers: HashMap<i64, u32, FixedState>,
    reals: HashMap<u64, u32, FixedState>,
    texts: HashMap<Box<str>, u32, FixedState>,
    missing: Option<u32>,
    codes: Vec<Codes>,
    /// The codes of a batch, before it is known how wide they are; kept, because fresh memory costs more than filling it.
    batch: Vec<u32>,
}

impl Gathered {
    /// Adds a batch; `false` when its type is none of ours.
    fn add(&mut self, array: &ArrayRef) -> bool {
        match array.data_type() {
            DataType::Int8 => self.integers(array.as_primitive::<Int8Type>().iter().map(|v| v.map(i64::from))),
            DataType::Int16 => self.integers(array.as_primitive::<Int16Type>().iter().map(|v| v.map(i64::from))),
            DataType::Int32 => self.integers(array.as_primitive::<Int32Type>().iter().map(|v| v.map(i64::from))),
            DataType::Int64 => {
                let numbers = array.as_primitive::<Int64Type>();
                if numbers.null_count() == 0 {
                    self.whole_numbers(numbers.values());
                } else {
                    self.integers(numbers.iter());
                }
            }
            DataType::UInt8 => self.integers(array.as_primitive::<UInt8Type>().iter().map(|v| v.map(i64::from))),
            DataType::UInt16 => self.integers(array.as_primitive::<UInt16Type>().iter().map(|v| v.map(i64::from))),
            DataType::UInt32 => self.integers(array.as_primitive::<UInt32Type>().iter().map(|v| v.map(i64::from))),
            DataType::UInt64 => {
                let values = array.as_primitive::<UInt64Type>();
                if values.iter().flatten().any(|value| i64::try_from(value).is_err()) {
                    return false;
                }
                self.integers(values.iter().map(|v| v.and_then(|v| i64::try_from(v).ok())));
            }
            DataType::Float32 => self.reals(array.as_primitive::<Float32Type>().iter().map(|v| v.map(f64::from))),
            DataType::Float64 => self.reals(array.as_primitive::<Float64Type>().iter()),
            DataType::Decimal128(_, scale) => {
                let scale = 10f64.powi(i32::from(*scale));
                self.reals(array.as_primitive::<Decimal128Type>().iter().map(|v| v.map(|v| v as f64 / scale)));
            }
            DataType::Date32 => self.dates(array.as_primitive::<Date32Type>().iter()),
            DataType::Utf8 => self.texts(array.as_string::<i32>().iter()),
            DataType::LargeUtf8 => self.texts(array.as_string::<i64>().iter()),
            DataType::Utf8View => self.texts(array.as_string_view().iter()),
            DataType::Boolean => {
                let values = array.as_boolean().iter();
                self.texts(values.map(|value| value.map(|value| if value { "true" } else { "false" })));
            }
            DataType::Null => self.texts((0..array.len()).map(|_| None::<&str>)),
            _ => return false,
        }
        true
    }

    fn integers(&mut self, values: impl Iterator<Item = Option<i64>>) {
        self.kind = Some(Kind::Integer);
        let mut codes = self.empty_batch();
        codes.extend(values.map(|value| self.number(value, Value::Integer)));
        self.push(codes);
    }

    /// Integers none of which is missing. Where all are small, that is decided once and not for each of them.
    fn whole_numbers(&mut self, values: &[i64]) {
        let ends = values.iter().fold((0, 0), |(least, most), &value| (value.min(least), value.max(most)));
        let (0, Ok(most)) = (ends.0, usize::try_from(ends.1)) else {
            return self.integers(values.iter().copied().map(Some));
        };
        if most >= SMALL {
            return self.integers(values.iter().copied().map(Some));
        }
        self.kind = Some(Kind::Integer);
        self.make_room(most);
        let mut codes = self.empty_batch();
        codes.extend(values.iter().map(|&value| {
            // PROOF: no value is negative, and there is room for the greatest.
            let slot = &mut self.small[value as usize];
            if *slot == NO_CODE {
                self.dictionary.push(Some(Value::Integer(value)));
                *slot = self.dictionary.len() as u32 - 1;
            }
            *slot
        }));
        self.push(codes);
    }

    /// Slots for the numbers up to one.
    fn make_room(&mut self, at: usize) {
        if at >= self.small.len() {
            self.small.resize((at + 1).next_power_of_two(), NO_CODE);
        }
    }

    fn dates(&mut self, values: impl Iterator<Item = Option<i32>>) {
        self.kind = Some(Kind::Date);
        // PROOF: every number that comes in here was an i32.
        let date = |day: i64| Value::Date(Date(day as i32));
        let mut codes = self.empty_batch();
        codes.extend(values.map(|value| self.number(value.map(i64::from), date)));
        self.push(codes);
    }

    fn number(&mut self, value: Option<i64>, make: impl Fn(i64) -> Value) -> u32 {
        let Some(value) = value else { return missing(&mut self.missing, &mut self.dictionary) };
        let Some(at) = usize::try_from(value).ok().filter(|at| *at < SMALL) else {
            return intern(&mut self.integers, value, &mut self.dictionary, || make(value));
        };
        self.make_room(at);
        if self.small[at] == NO_CODE {
            self.dictionary.push(Some(make(value)));
            self.small[at] = self.dictionary.len() as u32 - 1;
        }
        self.small[at]
    }

    /// What is not a finite number is missing: databases write it where they have none.
    fn reals(&mut self, values: impl Iterator<Item = Option<f64>>) {
        self.kind = Some(Kind::Real);
        let mut codes = self.empty_batch();
        codes.extend(values.map(|value| match value.filter(|value| value.is_finite()).map(|value| value + 0.0) {
            Some(value) => intern(&mut self.reals, value.to_bits(), &mut self.dictionary, || Value::Real(value)),
            None => missing(&mut self.missing, &mut self.dictionary),
        }));
        self.push(codes);
    }

    fn texts<'a>(&mut self, values: impl Iterator<Item = Option<&'a str>>) {
        self.kind = Some(Kind::Category);
        let mut codes = self.empty_batch();
        for value in values {
            codes.push(match value.filter(|text| !text.is_empty()) {
                None => missing(&mut self.missing, &mut self.dictionary),
                Some(text) => match self.texts.get(text) {
                    Some(&code) => code,
                    None => intern(&mut self.texts, text.into(), &mut self.dictionary, || Value::Text(text.into())),
                },
            });
        }
        self.push(codes);
    }

    fn empty_batch(&mut self) -> Vec<u32> {
        let mut codes = std::mem::take(&mut self.batch);
        codes.clear();
        codes
    }

    fn push(&mut self, codes: Vec<u32>) {
        self.codes.push(Codes::collect(self.dictionary.len(), codes.iter().copied()));
        self.batch = codes;
    }

    fn finish(self, request: &ColumnRequest) -> Result<Column, TableError> {
        let found = self.kind.unwrap_or(Kind::Category);
        let kind = request.kind.unwrap_or(found);
        let dictionary = self.dictionary.into_iter();
        let dictionary: Vec<Option<Value>> = dictionary
            .map(|value| match value {
                // Days of no year with four digits have no text that could be read again.
                Some(value) if kind != found || kind == Kind::Date => convert(request, kind, &value).map(Some),
                value => Ok(value),
            })
            .collect::<Result<_, _>>()?;
        let order = if kind == Kind::Ordinal { ranks(request, &dictionary)? } else { Vec::new() };
        Ok(Column::from_entries(&request.name, kind, dictionary, &order, self.codes))
    }
}

fn intern<K: Hash + Eq>(
    index: &mut HashMap<K, u32, FixedState>,
    key: K,
    dictionary: &mut Vec<Option<Value>>,
    value: impl FnOnce() -> Value,
) -> u32 {
    *index.entry(key).or_insert_with(|| {
        dictionary.push(Some(value()));
        dictionary.len() as u32 - 1
    })
}

fn missing(known: &mut Option<u32>, dictionary: &mut Vec<Option<Value>>) -> u32 {
    *known.get_or_insert_with(|| {
        dictionary.push(None);
        dictionary.len() as u32 - 1
    })
}

fn convert(request: &ColumnRequest, kind: Kind, value: &Value) -> Result<Value, TableError> {
    let text = value.to_string();
    Value::parse(kind, &text).ok_or_else(|| TableError::WrongKind {
        column: request.name.clone(),
        value: text.chars().take(40).collect(),
        kind,
    })
}

fn ranks(request: &ColumnRequest, dictionary: &[Option<Value>]) -> Result<Vec<usize>, TableError> {
    let rank = |value: &Option<Value>| match value {
        None => Ok(0),
        Some(value) => {
            let text = value.to_string();
            request.order.iter().position(|known| *known == text).ok_or_else(|| TableError::NotInOrder {
                column: request.name.clone(),
                value: text.chars().take(40).collect(),
            })
        }
    };
    dictionary.iter().map(rank).collect()
}

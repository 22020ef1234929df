//! Parquet out, without the channels the format offers: no statistics, no key-value metadata, no program version.
//! Dictionaries are in order of first appearance, which is a fact about the published rows alone: those are in
//! canonical order before they get here.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, Date32Array, Float64Array, Int32Array, Int64Array, StringArray};
use arrow_schema::{DataType, Field, Schema};
use chrysalis_release::GROUP_ID;
use chrysalis_release::angelized::BATCH_ID;
use chrysalis_table::{Code, Column, Kind, Table, Value};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, ArrowWriterOptions, compute_leaves};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use rayon::prelude::*;

const ROWS_PER_GROUP: usize = 1 << 20;
/// Rows turned into Arrow arrays at a time.
const ROWS_PER_BATCH: usize = 1 << 16;

pub(crate) fn write(table: &Table, out: impl Write + Send) -> Result<(), ParquetError> {
    let fields: Vec<Field> = table.columns().iter().map(field).collect();
    let properties = WriterProperties::builder()
        .set_created_by("chrysalis".to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_statistics_enabled(EnabledStatistics::None)
        .build();
    let options = ArrowWriterOptions::new()
        .with_properties(properties)
        .with_skip_arrow_metadata(true)
        .with_schema_root("chrysalis".to_owned());
    let schema = Arc::new(Schema::new(fields.clone()));
    let (mut file, factory) = ArrowWriter::try_new_with_options(out, schema, options)?.into_serialized_writer()?;
    for (index, start) in (0..table.rows()).step_by(ROWS_PER_GROUP).enumerate() {
        let end = table.rows().min(start + ROWS_PER_GROUP);
        let writers = factory.create_column_writers(index)?;
        let chunks: Vec<ArrowColumnChunk> = (table.columns(), &fields, writers)
            .into_par_iter()
            .map(|(column, field, writer)| encode(column, field, writer, start, end))
            .collect::<Result<_, _>>()?;
        let mut group = file.next_row_group()?;
        for chunk in chunks {
            chunk.append_to_row_group(&mut group)?;
        }
        group.close()?;
    }
    file.close()?;
    Ok(())
}

fn field(column: &Column) -> Field {
    let data_type = match column.domain().kind() {
        Kind::Integer if is_id(column) => DataType::Int32,
        Kind::Integer => DataType::Int64,
        Kind::Real => DataType::Float64,
        Kind::Date => DataType::Date32,
        Kind::Ordinal | Kind::Category => DataType::Utf8,
    };
    Field::new(column.name(), data_type, true)
}

/// Whether a column numbers groups. Databases group and join by it, and nobody sums it up, so it takes half the bytes.
fn is_id(column: &Column) -> bool {
    let fits = |value: &Value| matches!(value, Value::Integer(id) if i32::try_from(*id).is_ok());
    [GROUP_ID, BATCH_ID].contains(&column.name()) && column.domain().bounds().is_some_and(|(a, b)| fits(a) && fits(b))
}

fn encode(
    column: &Column,
    field: &Field,
    mut writer: ArrowColumnWriter,
    start: usize,
    end: usize,
) -> Result<ArrowColumnChunk, ParquetError> {
    let values = Values::of(column);
    for from in (start..end).step_by(ROWS_PER_BATCH) {
        let codes = (from..end.min(from + ROWS_PER_BATCH)).map(|row| column.code(row) as usize);
        for leaf in compute_leaves(field, &values.array(codes))? {
            writer.write(&leaf)?;
        }
    }
    writer.close()
}

/// The typed value behind every code of a column.
enum Values<'a> {
    Ids(Vec<Option<i32>>),
    Integers(Vec<Option<i64>>),
    Reals(Vec<Option<f64>>),
    Dates(Vec<Option<i32>>),
    Texts(Vec<Option<&'a str>>),
}

impl<'a> Values<'a> {
    fn of(column: &'a Column) -> Self {
        match column.domain().kind() {
            Kind::Integer if is_id(column) => Values::Ids(lookup(column, |value| match value {
                Value::Integer(id) => i32::try_from(*id).ok(),
                _ => None,
            })),
            Kind::Integer => Values::Integers(lookup(column, |value| match value {
                Value::Integer(number) => Some(*number),
                _ => None,
            })),
            Kind::Real => Values::Reals(lookup(column, |value| match value {
                Value::Real(number) => Some(*number),
                _ => None,
            })),
            Kind::Date => Values::Dates(lookup(column, |value| match value {
                Value::Date(date) => Some(date.0),
                _ => None,
            })),
            Kind::Ordinal | Kind::Category => Values::Texts(lookup(column, |value| match value {
                Value::Text(text) => Some(&**text),
                _ => None,
            })),
        }
    }

    fn array(&self, codes: impl Iterator<Item = usize>) -> ArrayRef {
        match self {
            Values::Ids(values) => Arc::new(Int32Array::from_iter(codes.map(|code| values[code]))),
            Values::Integers(values) => Arc::new(Int64Array::from_iter(codes.map(|code| values[code]))),
            Values::Reals(values) => Arc::new(Float64Array::from_iter(codes.map(|code| values[code]))),
            Values::Dates(values) => Arc::new(Date32Array::from_iter(codes.map(|code| values[code]))),
            Values::Texts(values) => Arc::new(StringArray::from_iter(codes.map(|code| values[code]))),
        }
    }
}

/// Values of one domain share a variant, so the arms for others above never speak.
fn lookup<'a, T>(column: &'a Column, typed: impl Fn(&'a Value) -> Option<T>) -> Vec<Option<T>> {
    let domain = column.domain();
    (0..domain.len() as Code).map(|code| domain.value(code).and_then(&typed)).collect()
}

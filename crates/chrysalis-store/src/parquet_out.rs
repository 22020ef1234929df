//! Parquet out, without the channels the format offers: no statistics, no key-value metadata, no program version.
//! Dictionaries are in order of first appearance, which is a fact about the published rows alone: those are in
//! canonical order before they get here.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, Date32Array, Float64Array, Int64Array, StringArray};
use arrow_schema::{DataType, Field, Schema};
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
        Kind::Integer => DataType::Int64,
        Kind::Real => DataType::Float64,
        Kind::Date => DataType::Date32,
        Kind::Ordinal | Kind::Category => DataType::Utf8,
    };
    Field::new(column.name(), data_type, true)
}

fn encode(
    column: &Column,
    field: &Field,
    mut writer: ArrowColumnWriter,
    start: usize,
    end: usize,
) -> Result<ArrowColumnChunk, ParquetError> {
    for from in (start..end).step_by(ROWS_PER_BATCH) {
        let array = array(column, from, end.min(from + ROWS_PER_BATCH));
        for leaf in compute_leaves(field, &array)? {
            writer.write(&leaf)?;
        }
    }
    writer.close()
}

fn array(column: &Column, from: usize, to: usize) -> ArrayRef {
    let (domain, codes) = (column.domain(), column.codes());
    let code = |row: usize| codes.get(row);
    let rows = (from..to).map(code);
    match domain.kind() {
        Kind::Integer => {
            let values = lookup(column, |value| if let Value::Integer(number) = value { *number } else { 0 });
            Arc::new(Int64Array::from_iter(rows.map(|code| values[code as usize])))
        }
        Kind::Real => {
            let values = lookup(column, |value| if let Value::Real(number) = value { *number } else { 0.0 });
            Arc::new(Float64Array::from_iter(rows.map(|code| values[code as usize])))
        }
        Kind::Date => {
            let values = lookup(column, |value| if let Value::Date(date) = value { date.0 } else { 0 });
            Arc::new(Date32Array::from_iter(rows.map(|code| values[code as usize])))
        }
        Kind::Ordinal | Kind::Category => Arc::new(StringArray::from_iter(rows.map(|code| match domain.value(code) {
            Some(Value::Text(text)) => Some(&**text),
            _ => None,
        }))),
    }
}

/// The typed value behind every code; values of one domain share a variant, so the other arms never speak.
fn lookup<T>(column: &Column, value: impl Fn(&Value) -> T) -> Vec<Option<T>> {
    (0..column.domain().len() as Code).map(|code| column.domain().value(code).map(&value)).collect()
}

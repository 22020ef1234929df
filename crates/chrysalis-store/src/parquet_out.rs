//! Parquet out, without the channels the format offers: no statistics, no key-value metadata, no program version.
//! Dictionaries are in order of first appearance, which is a fact about the published rows alone: those are in
//! canonical order before they get here.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, Date32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, StringArray};
use arrow_schema::{DataType, Field, Schema};
use chrysalis_release::GROUP_ID;
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
        Kind::Integer => id_type(column).unwrap_or(DataType::Int64),
        Kind::Real => DataType::Float64,
        Kind::Date => DataType::Date32,
        Kind::Ordinal | Kind::Category => DataType::Utf8,
    };
    Field::new(column.name(), data_type, true)
}

/// The type of a column that numbers groups: databases group and join by it, and nobody computes with it, so it takes as few
/// bytes as its greatest number needs. All tables of a release number the same groups.
fn id_type(column: &Column) -> Option<DataType> {
    // PROOF: forms that number groups refuse a column of this name in the input.
    let is_id = column.name() == GROUP_ID;
    let Some((Value::Integer(0..), Value::Integer(greatest))) = column.domain().bounds().filter(|_| is_id) else {
        return None;
    };
    let types =
        [(i8::MAX.into(), DataType::Int8), (i16::MAX.into(), DataType::Int16), (i32::MAX.into(), DataType::Int32)];
    types.into_iter().find(|(end, _): &(i64, DataType)| greatest <= end).map(|(_, data_type)| data_type)
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
        for leaf in compute_leaves(field, &values.array(field.data_type(), codes))? {
            writer.write(&leaf)?;
        }
    }
    writer.close()
}

/// The typed value behind every code of a column.
enum Values<'a> {
    Integers(Vec<Option<i64>>),
    Reals(Vec<Option<f64>>),
    Dates(Vec<Option<i32>>),
    Texts(Vec<Option<&'a str>>),
}

impl<'a> Values<'a> {
    fn of(column: &'a Column) -> Self {
        match column.domain().kind() {
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

    fn array(&self, data_type: &DataType, codes: impl Iterator<Item = usize>) -> ArrayRef {
        match (self, data_type) {
            // PROOF: the type was chosen so that every id fits.
            (Values::Integers(ids), DataType::Int8) => {
                Arc::new(Int8Array::from_iter(codes.map(|code| ids[code].map(|id| id as i8))))
            }
            (Values::Integers(ids), DataType::Int16) => {
                Arc::new(Int16Array::from_iter(codes.map(|code| ids[code].map(|id| id as i16))))
            }
            (Values::Integers(ids), DataType::Int32) => {
                Arc::new(Int32Array::from_iter(codes.map(|code| ids[code].map(|id| id as i32))))
            }
            (Values::Integers(values), _) => Arc::new(Int64Array::from_iter(codes.map(|code| values[code]))),
            (Values::Reals(values), _) => Arc::new(Float64Array::from_iter(codes.map(|code| values[code]))),
            (Values::Dates(values), _) => Arc::new(Date32Array::from_iter(codes.map(|code| values[code]))),
            (Values::Texts(values), _) => Arc::new(StringArray::from_iter(codes.map(|code| values[code]))),
        }
    }
}

/// Values of one domain share a variant, so the arms for others above never speak.
fn lookup<'a, T>(column: &'a Column, typed: impl Fn(&'a Value) -> Option<T>) -> Vec<Option<T>> {
    let domain = column.domain();
    (0..domain.len() as Code).map(|code| domain.value(code).and_then(&typed)).collect()
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Int8Type, Int16Type, Int32Type, Int64Type};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;

    /// The type and the numbers of a column that was written.
    fn written(name: &str, numbers: &[i64]) -> (DataType, Vec<i64>) {
        let mut bytes = Vec::new();
        write(&Table::new(vec![Column::integers(name, numbers)]), &mut bytes).unwrap();
        let builder = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).unwrap();
        let data_type = builder.schema().field(0).data_type().clone();
        let batch = builder.build().unwrap().next().unwrap().unwrap();
        let array = batch.column(0);
        let numbers = match data_type {
            DataType::Int8 => array.as_primitive::<Int8Type>().values().iter().map(|&id| id.into()).collect(),
            DataType::Int16 => array.as_primitive::<Int16Type>().values().iter().map(|&id| id.into()).collect(),
            DataType::Int32 => array.as_primitive::<Int32Type>().values().iter().map(|&id| id.into()).collect(),
            _ => array.as_primitive::<Int64Type>().values().to_vec(),
        };
        (data_type, numbers)
    }

    #[test]
    fn ids_take_as_few_bytes_as_the_greatest_needs_and_numbers_all_of_theirs() {
        for (greatest, data_type) in [
            (127, DataType::Int8),
            (128, DataType::Int16),
            (32_767, DataType::Int16),
            (32_768, DataType::Int32),
            (2_147_483_647, DataType::Int32),
            (2_147_483_648, DataType::Int64),
        ] {
            let numbers = vec![1, greatest, 1];
            assert_eq!(written(GROUP_ID, &numbers), (data_type, numbers.clone()));
            assert_eq!(written("age", &numbers), (DataType::Int64, numbers));
        }
        assert_eq!(written(GROUP_ID, &[-1, 5]), (DataType::Int64, vec![-1, 5]));
    }
}

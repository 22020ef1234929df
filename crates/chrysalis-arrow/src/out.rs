use std::ops::Range;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Date32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, RecordBatch,
    RecordBatchOptions, RecordBatchReader, StringArray, TimestampMicrosecondArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use chrysalis_table::{Code, Column, Kind, Table, Value};

use crate::ROWS_PER_BATCH;

/// A column's field in a schema. Any column may have missing values, whether or not it has some here.
pub fn field(column: &Column) -> Field {
    let data_type = match column.domain().kind() {
        Kind::Integer => DataType::Int64,
        Kind::Real => DataType::Float64,
        Kind::Date => DataType::Date32,
        Kind::DateTime => DataType::Timestamp(TimeUnit::Microsecond, None),
        Kind::Ordinal | Kind::Category => DataType::Utf8,
    };
    Field::new(column.name(), data_type, true)
}

/// The columns of a table.
pub fn schema(table: &Table) -> SchemaRef {
    Arc::new(Schema::new(table.columns().iter().map(field).collect::<Vec<_>>()))
}

/// Some rows of a column. For more than one stretch use a [`ColumnWriter`], which looks at the domain once.
///
/// # Panics
/// When the column has fewer rows.
pub fn array(column: &Column, rows: Range<usize>) -> ArrayRef {
    ColumnWriter::new(column).array(rows)
}

/// A table as record batches, in its row order. A table without rows has none.
pub fn batches(table: &Table) -> Batches<'_> {
    let columns = table.columns().iter().map(ColumnWriter::new).collect();
    Batches { schema: schema(table), columns, rows: 0..table.rows() }
}

/// The batches of a table. None of them is an error, but everything that takes batches expects a `Result`.
pub struct Batches<'a> {
    schema: SchemaRef,
    columns: Vec<ColumnWriter<'a>>,
    rows: Range<usize>,
}

impl Iterator for Batches<'_> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rows.is_empty() {
            return None;
        }
        let rows = self.rows.start..self.rows.end.min(self.rows.start + ROWS_PER_BATCH);
        self.rows.start = rows.end;
        let arrays = self.columns.iter().map(|column| column.array(rows.clone())).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        Some(RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options))
    }
}

impl RecordBatchReader for Batches<'_> {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// Turns stretches of one column into arrays.
pub struct ColumnWriter<'a> {
    column: &'a Column,
    field: Field,
    values: Values<'a>,
}

impl<'a> ColumnWriter<'a> {
    /// For any column, with the type that [`field`] gives it.
    pub fn new(column: &'a Column) -> Self {
        ColumnWriter { column, field: field(column), values: Values::of(column) }
    }

    /// For a column of ids: if none is negative, they take only as many bytes as the largest needs.
    pub fn narrow(column: &'a Column) -> Self {
        let plain = ColumnWriter::new(column);
        match narrow_type(column) {
            Some(data_type) => ColumnWriter { field: plain.field.with_data_type(data_type), ..plain },
            None => plain,
        }
    }

    /// The column's field in a schema.
    pub fn field(&self) -> &Field {
        &self.field
    }

    /// Some of its rows.
    ///
    /// # Panics
    /// When the column has fewer rows.
    pub fn array(&self, rows: Range<usize>) -> ArrayRef {
        self.values.array(self.field.data_type(), rows.map(|row| self.column.code(row) as usize))
    }
}

fn narrow_type(column: &Column) -> Option<DataType> {
    let Some((Value::Integer(0..), Value::Integer(greatest))) = column.domain().bounds() else {
        return None;
    };
    let types =
        [(i8::MAX.into(), DataType::Int8), (i16::MAX.into(), DataType::Int16), (i32::MAX.into(), DataType::Int32)];
    types.into_iter().find(|(end, _): &(i64, DataType)| greatest <= end).map(|(_, data_type)| data_type)
}

/// The typed value behind every code of a column.
enum Values<'a> {
    Integers(Vec<Option<i64>>),
    Reals(Vec<Option<f64>>),
    Dates(Vec<Option<i32>>),
    DateTimes(Vec<Option<i64>>),
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
            Kind::DateTime => Values::DateTimes(lookup(column, |value| match value {
                Value::DateTime(moment) => Some(moment.0),
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
            // PROOF: the type was chosen so that every number fits.
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
            (Values::DateTimes(values), _) => {
                Arc::new(TimestampMicrosecondArray::from_iter(codes.map(|code| values[code])))
            }
            (Values::Texts(values), _) => Arc::new(StringArray::from_iter(codes.map(|code| values[code]))),
        }
    }
}

/// Values of one domain share a variant, so the arms for other variants above are never reached.
fn lookup<'a, T>(column: &'a Column, typed: impl Fn(&'a Value) -> Option<T>) -> Vec<Option<T>> {
    let domain = column.domain();
    (0..domain.len() as Code).map(|code| domain.value(code).and_then(&typed)).collect()
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Int8Type, Int16Type, Int32Type, Int64Type};

    use super::*;

    fn written(writer: &ColumnWriter<'_>, rows: usize) -> (DataType, Vec<i64>) {
        let array = writer.array(0..rows);
        assert_eq!(array.data_type(), writer.field().data_type());
        let numbers = match array.data_type() {
            DataType::Int8 => array.as_primitive::<Int8Type>().values().iter().map(|&id| id.into()).collect(),
            DataType::Int16 => array.as_primitive::<Int16Type>().values().iter().map(|&id| id.into()).collect(),
            DataType::Int32 => array.as_primitive::<Int32Type>().values().iter().map(|&id| id.into()).collect(),
            _ => array.as_primitive::<Int64Type>().values().to_vec(),
        };
        (writer.field().data_type().clone(), numbers)
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
            let column = Column::integers("n", &numbers);
            assert_eq!(written(&ColumnWriter::narrow(&column), 3), (data_type, numbers.clone()));
            assert_eq!(written(&ColumnWriter::new(&column), 3), (DataType::Int64, numbers));
        }
        let column = Column::integers("n", &[-1, 5]);
        assert_eq!(written(&ColumnWriter::narrow(&column), 2), (DataType::Int64, vec![-1, 5]));
    }

    #[test]
    fn a_table_comes_in_batches_and_an_empty_one_in_none() {
        let numbers: Vec<i64> = (0..ROWS_PER_BATCH as i64 + 10).collect();
        let table = Table::new(vec![Column::integers("n", &numbers)]);
        let lengths: Vec<usize> = batches(&table).map(|batch| batch.unwrap().num_rows()).collect();
        assert_eq!(lengths, [ROWS_PER_BATCH, 10]);
        let empty = Table::new(vec![Column::integers("n", &[])]);
        let mut none = batches(&empty);
        assert_eq!(none.schema().field(0).data_type(), &DataType::Int64);
        assert!(none.next().is_none());
    }
}

//! Parquet out, without the channels the format offers: no statistics, no key-value metadata, no program version.
//! Dictionaries are in order of first appearance, which depends on the published rows alone: those are in canonical
//! order before they get here.

use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use arrow_schema::Schema;
use chrysalis_arrow::{ColumnWriter, ROWS_PER_BATCH};
use chrysalis_release::GROUP_ID;
use chrysalis_table::{Column, Progress, Table};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, ArrowWriterOptions, compute_leaves};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use rayon::prelude::*;

const ROWS_PER_GROUP: usize = 1 << 20;

/// Writes a table, and reports how many rows are done.
pub(crate) fn write(table: &Table, out: impl Write + Send, progress: Progress<'_>) -> Result<(), ParquetError> {
    let prepared = |column| {
        progress(0);
        column_writer(column)
    };
    let columns: Vec<ColumnWriter<'_>> = table.columns().par_iter().map(prepared).collect();
    let schema = Schema::new(columns.iter().map(|column| column.field().clone()).collect::<Vec<_>>());
    let properties = WriterProperties::builder()
        .set_created_by("chrysalis".to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_statistics_enabled(EnabledStatistics::None)
        .build();
    let options = ArrowWriterOptions::new()
        .with_properties(properties)
        .with_skip_arrow_metadata(true)
        .with_schema_root("chrysalis".to_owned());
    let (mut file, factory) =
        ArrowWriter::try_new_with_options(out, Arc::new(schema), options)?.into_serialized_writer()?;
    for (index, start) in (0..table.rows()).step_by(ROWS_PER_GROUP).enumerate() {
        let rows = start..table.rows().min(start + ROWS_PER_GROUP);
        let writers = factory.create_column_writers(index)?;
        let chunks: Vec<ArrowColumnChunk> = (&columns, writers)
            .into_par_iter()
            .map(|(column, writer)| encode(column, writer, rows.clone(), progress))
            .collect::<Result<_, _>>()?;
        let mut group = file.next_row_group()?;
        for chunk in chunks {
            chunk.append_to_row_group(&mut group)?;
            progress(0);
        }
        group.close()?;
        progress(rows.len() as u64);
    }
    file.close()?;
    Ok(())
}

/// Databases group and join by the group id, and nobody computes with it, so it takes as few bytes as it needs. All
/// tables of a release number the same groups.
fn column_writer(column: &Column) -> ColumnWriter<'_> {
    // PROOF: forms that number groups refuse a column of this name in the input.
    if column.name() == GROUP_ID { ColumnWriter::narrow(column) } else { ColumnWriter::new(column) }
}

fn encode(
    column: &ColumnWriter<'_>,
    mut writer: ArrowColumnWriter,
    rows: Range<usize>,
    progress: Progress<'_>,
) -> Result<ArrowColumnChunk, ParquetError> {
    for start in rows.clone().step_by(ROWS_PER_BATCH) {
        progress(0);
        let array = column.array(start..rows.end.min(start + ROWS_PER_BATCH));
        for leaf in compute_leaves(column.field(), &array)? {
            writer.write(&leaf)?;
        }
    }
    writer.close()
}

#[cfg(test)]
mod tests {
    use arrow_schema::DataType;
    use chrysalis_table::no_progress;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;

    /// The type of a column that was written.
    fn written(name: &str, numbers: &[i64]) -> DataType {
        let mut bytes = Vec::new();
        write(&Table::new(vec![Column::integers(name, numbers)]), &mut bytes, &no_progress).unwrap();
        let builder = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).unwrap();
        builder.schema().field(0).data_type().clone()
    }

    #[test]
    fn only_ids_of_groups_take_as_few_bytes_as_the_greatest_needs() {
        for (greatest, data_type) in [(127, DataType::Int8), (128, DataType::Int16), (2_147_483_648, DataType::Int64)] {
            assert_eq!(written(GROUP_ID, &[1, greatest]), data_type);
            assert_eq!(written("age", &[1, greatest]), DataType::Int64);
        }
    }
}

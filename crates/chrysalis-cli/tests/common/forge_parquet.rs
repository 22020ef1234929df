//! Parquet files with the same table, written as no honest writer would.

#![allow(dead_code, reason = "every test file uses a part of this")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::arrow_writer::{ArrowWriterOptions, compute_leaves};
use parquet::basic::{Compression, Encoding, PageType, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::file::metadata::{ColumnChunkMetaData, PageEncodingStats};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};

/// A text column, and the change to its dictionary.
pub(crate) type Dictionary<'a> = Option<(&'a str, &'a dyn Fn(&mut Vec<String>))>;

/// The table of a file, written again with other properties, or with another dictionary for one text column.
///
/// Without any change, the bytes are those of the file.
pub(crate) fn rewritten(
    file: &[u8],
    properties: impl FnOnce(WriterPropertiesBuilder) -> WriterPropertiesBuilder,
    rows_per_group: usize,
    dictionary: Dictionary<'_>,
) -> Vec<u8> {
    let table = read(file);
    let properties = properties(
        WriterProperties::builder()
            .set_created_by("chrysalis".to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).unwrap()))
            .set_statistics_enabled(EnabledStatistics::None),
    );
    let options = ArrowWriterOptions::new()
        .with_properties(properties.build())
        .with_skip_arrow_metadata(true)
        .with_schema_root("chrysalis".to_owned());
    let mut out = Vec::new();
    let (mut writer, factory) =
        ArrowWriter::try_new_with_options(&mut out, table.schema(), options).unwrap().into_serialized_writer().unwrap();
    for (group, start) in (0..table.num_rows()).step_by(rows_per_group).enumerate() {
        let rows = table.slice(start, rows_per_group.min(table.num_rows() - start));
        let columns = factory.create_column_writers(group).unwrap();
        let schema = writer.schema_descr().clone();
        let mut row_group = writer.next_row_group().unwrap();
        for (at, mut column) in columns.into_iter().enumerate() {
            let (field, array) = (rows.schema().field(at).clone(), rows.column(at));
            if let Some((_, change)) = dictionary.filter(|(name, _)| name == field.name()) {
                let values: Vec<String> =
                    array.as_string::<i32>().iter().map(|text| text.unwrap().to_owned()).collect();
                let (bytes, close) = with_dictionary(&values, change, schema.column(at));
                row_group.append_column(&Bytes::from(bytes), close).unwrap();
                continue;
            }
            for leaf in compute_leaves(&field, array).unwrap() {
                column.write(&leaf).unwrap();
            }
            column.close().unwrap().append_to_row_group(&mut row_group).unwrap();
        }
        row_group.close().unwrap();
    }
    writer.close().unwrap();
    out
}

fn read(file: &[u8]) -> RecordBatch {
    let builder = ParquetRecordBatchReaderBuilder::try_new(Bytes::copy_from_slice(file)).unwrap();
    let schema = Arc::clone(builder.schema());
    let batches: Vec<RecordBatch> = builder.with_batch_size(1 << 20).build().unwrap().map(Result::unwrap).collect();
    let plain = arrow_schema::Schema::new(schema.fields().iter().map(|it| it.as_ref().clone()).collect::<Vec<_>>());
    let [batch] = batches.as_slice() else { panic!("{} batches", batches.len()) };
    RecordBatch::try_new(Arc::new(plain), batch.columns().to_vec()).unwrap()
}

/// A column chunk of two pages: a dictionary in any order, with anything in it, and the rows' indices into it.
fn with_dictionary(
    values: &[String],
    change: &dyn Fn(&mut Vec<String>),
    column: parquet::schema::types::ColumnDescPtr,
) -> (Vec<u8>, ColumnCloseResult) {
    let mut entries: Vec<String> = Vec::new();
    for value in values {
        if !entries.contains(value) {
            entries.push(value.clone());
        }
    }
    change(&mut entries);
    let plain: Vec<u8> =
        entries.iter().flat_map(|text| [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()).collect();
    let places: Vec<usize> =
        values.iter().map(|value| entries.iter().position(|entry| entry == value).unwrap()).collect();
    let width = (usize::BITS - (entries.len() - 1).leading_zeros()).max(1) as usize;
    let mut data = levels(values.len());
    data.push(width as u8);
    data.extend(packed(&places, width));
    let pack = |bytes: &[u8]| Bytes::from(zstd::bulk::compress(bytes, 1).unwrap());
    let dictionary = Page::DictionaryPage {
        buf: pack(&plain),
        num_values: entries.len() as u32,
        encoding: Encoding::PLAIN,
        is_sorted: false,
    };
    let rows = Page::DataPage {
        buf: pack(&data),
        num_values: values.len() as u32,
        encoding: Encoding::RLE_DICTIONARY,
        def_level_encoding: Encoding::RLE,
        rep_level_encoding: Encoding::RLE,
        statistics: None,
    };
    let mut sink = TrackedWrite::new(Vec::new());
    let mut pages = SerializedPageWriter::new(&mut sink);
    let first = pages.write_page(CompressedPage::new(dictionary, plain.len())).unwrap();
    let second = pages.write_page(CompressedPage::new(rows, data.len())).unwrap();
    let (length, unpacked) =
        (first.bytes_written + second.bytes_written, first.uncompressed_size + second.uncompressed_size);
    let stats = |page_type, encoding| PageEncodingStats { page_type, encoding, count: 1 };
    let metadata = ColumnChunkMetaData::builder(column)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).unwrap()))
        .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY])
        .set_page_encoding_stats(vec![
            stats(PageType::DICTIONARY_PAGE, Encoding::PLAIN),
            stats(PageType::DATA_PAGE, Encoding::RLE_DICTIONARY),
        ])
        .set_num_values(values.len() as i64)
        .set_total_compressed_size(length as i64)
        .set_total_uncompressed_size(unpacked as i64)
        .set_dictionary_page_offset(Some(0))
        .set_data_page_offset(first.bytes_written as i64)
        .build()
        .unwrap();
    let close = ColumnCloseResult {
        bytes_written: length,
        rows_written: values.len() as u64,
        metadata,
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    };
    (sink.into_inner().unwrap(), close)
}

/// Every row has a value: one run of ones, preceded by its length.
fn levels(rows: usize) -> Vec<u8> {
    let mut run = varint((rows as u64) << 1);
    run.push(1);
    [&(run.len() as u32).to_le_bytes()[..], &run].concat()
}

/// Numbers of `width` bits, packed eight at a time.
fn packed(numbers: &[usize], width: usize) -> Vec<u8> {
    let groups = numbers.len().div_ceil(8);
    let mut bytes = vec![0; groups * width];
    for (at, number) in numbers.iter().enumerate() {
        for bit in (0..width).filter(|bit| number >> bit & 1 == 1) {
            let place = at * width + bit;
            bytes[place / 8] |= 1 << (place % 8);
        }
    }
    [varint((groups as u64) << 1 | 1), bytes].concat()
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// The file with bytes inserted before its footer, where no reader looks.
pub(crate) fn with_gap(file: &[u8], message: &[u8]) -> Vec<u8> {
    let end = file.len() - 8;
    let footer = u32::from_le_bytes(file[end..end + 4].try_into().unwrap()) as usize;
    [&file[..end - footer], message, &file[end - footer..]].concat()
}

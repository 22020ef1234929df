//! Messages in Parquet files, outside the rows.

use ::parquet::arrow::ArrowWriter;
use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use ::parquet::arrow::arrow_writer::ArrowWriterOptions;
use ::parquet::basic::{Compression, Type, ZstdLevel};
use ::parquet::column::page::{CompressedPage, Page, PageWriter};
use ::parquet::column::writer::ColumnCloseResult;
use ::parquet::file::metadata::{KeyValue, SortingColumn};
use ::parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion};
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use bytes::Bytes;
use chrysalis::store::Format;
use rand::RngExt;
use rand::rngs::ChaCha20Rng;
use serde_json::json;

use super::{Finish, Lie, alone};
use crate::people::pick;
use crate::release::{After, Fake};

pub(super) const LIES: &[Lie] = &[
    alone("channel: Parquet metadata", metadata),
    alone("channel: Parquet metadata, encoding unknown", metadata_elsewhere),
    alone("channel: dictionary entry that nobody has", unused_entry),
    alone("channel: entry that nobody has, encoding unknown", unused_entry_elsewhere),
    alone("channel: bytes before the footer", gap),
    alone("channel: bytes before the footer, encoding unknown", gap_elsewhere),
    alone("channel: statistics", statistics),
    alone("channel: name of the program", created_by),
    alone("channel: name of the schema", schema_root),
    alone("channel: order that columns claim", sorting),
    alone("channel: pages cut otherwise", pages),
    alone("channel: row groups cut otherwise", row_groups),
    alone("channel: columns coded otherwise", coded),
    alone("channel: Bloom filters", bloom),
];

fn change(
    fake: &mut Fake<'_>,
    rng: &mut ChaCha20Rng,
    change: impl Fn(&[u8]) -> Option<Vec<u8>> + 'static,
) -> Option<Finish> {
    (fake.honest.format == Format::Parquet).then_some(())?;
    let at = pick(rng, fake.sheets.len())?;
    fake.after.push(After::Bytes(at, Box::new(change)));
    Some(Finish::AsItIs)
}

/// Declares a byte layout that this version cannot reproduce.
fn elsewhere(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) {
    fake.json["encoding"] = json!(rng.random_range(50..100));
}

/// The properties with which the program writes files.
fn properties() -> WriterPropertiesBuilder {
    WriterProperties::builder()
        .set_created_by("chrysalis".to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).unwrap()))
        .set_statistics_enabled(EnabledStatistics::None)
}

/// The same rows, written with other settings.
fn rewritten(
    bytes: &[u8],
    properties: WriterPropertiesBuilder,
    root: &str,
    message: Option<KeyValue>,
) -> Option<Vec<u8>> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::copy_from_slice(bytes)).ok()?;
    let schema = reader.schema().clone();
    let options = ArrowWriterOptions::new()
        .with_properties(properties.build())
        .with_skip_arrow_metadata(true)
        .with_schema_root(root.to_owned());
    let mut out = Vec::new();
    let mut writer = ArrowWriter::try_new_with_options(&mut out, schema, options).ok()?;
    for batch in reader.build().ok()? {
        writer.write(&batch.ok()?).ok()?;
    }
    message.into_iter().for_each(|message| writer.append_key_value_metadata(message));
    writer.close().ok()?;
    Some(out)
}

fn message() -> KeyValue {
    KeyValue::new("note".to_owned(), "Bob has HIV".to_owned())
}

/// A file has room for names and values that readers of rows never see.
fn metadata(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    change(fake, rng, |bytes| rewritten(bytes, properties(), "chrysalis", Some(message())))
}

/// The same in a byte layout that cannot be reproduced: everything outside the rows is checked all the same.
fn metadata_elsewhere(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    elsewhere(fake, rng);
    metadata(fake, rng)
}

/// No row refers to the dictionary entry.
fn unused_entry(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let column = rng.random_range(0..20);
    change(fake, rng, move |bytes| with_unused_entry(bytes, column).ok()?)
}

/// The same in a byte layout that cannot be reproduced.
fn unused_entry_elsewhere(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    elsewhere(fake, rng);
    unused_entry(fake, rng)
}

/// Copies all pages, with one more value in the dictionary of a column.
fn with_unused_entry(bytes: &[u8], column: usize) -> ::parquet::errors::Result<Option<Vec<u8>>> {
    let reader = SerializedFileReader::new(Bytes::copy_from_slice(bytes))?;
    let schema = reader.metadata().file_metadata().schema_descr().root_schema_ptr();
    let mut out = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut out, schema, properties().build().into())?;
    let mut is_done = false;
    for at in 0..reader.num_row_groups() {
        let group = reader.get_row_group(at)?;
        let mut rows = writer.next_row_group()?;
        for place in 0..group.num_columns() {
            let known = group.metadata().column(place).clone();
            let (kind, n_values, n_rows) = (known.column_type(), known.num_values(), group.metadata().num_rows());
            let mut sink = TrackedWrite::new(Vec::new());
            let mut pages = SerializedPageWriter::new(&mut sink);
            let (mut dictionary, mut data, mut packed, mut unpacked) = (None, None, 0, 0);
            let mut source = group.get_column_page_reader(place)?;
            while let Some(page) = source.get_next_page()? {
                let is_here = place == column % group.num_columns() && page.is_dictionary_page();
                is_done |= is_here;
                let page = if is_here { with_entry(page, kind) } else { page };
                let size = page.buffer().len();
                let spec = pages.write_page(CompressedPage::new(compressed(page), size))?;
                let offset = spec.offset as i64;
                match spec.page_type {
                    ::parquet::basic::PageType::DICTIONARY_PAGE => dictionary = Some(offset),
                    _ => data = data.or(Some(offset)),
                }
                packed += spec.compressed_size as i64;
                unpacked += spec.uncompressed_size as i64;
            }
            pages.close()?;
            let chunk = Bytes::from(sink.into_inner()?);
            let metadata = known
                .into_builder()
                .set_dictionary_page_offset(dictionary)
                .set_data_page_offset(data.unwrap_or(0))
                .set_total_compressed_size(packed)
                .set_total_uncompressed_size(unpacked)
                .set_offset_index_offset(None)
                .set_offset_index_length(None)
                .set_num_values(n_values)
                .build()?;
            let close = ColumnCloseResult {
                bytes_written: packed as u64,
                rows_written: n_rows as u64,
                metadata,
                bloom_filter: None,
                column_index: None,
                offset_index: None,
            };
            rows.append_column(&chunk, close)?;
        }
        rows.close()?;
    }
    writer.close()?;
    Ok(is_done.then_some(out))
}

/// A dictionary with one more value.
fn with_entry(page: Page, kind: Type) -> Page {
    let Page::DictionaryPage { buf, num_values, encoding, is_sorted } = page else { return page };
    let mut bytes = buf.to_vec();
    match kind {
        Type::BYTE_ARRAY => {
            let text = b"Bob has HIV";
            bytes.extend((text.len() as u32).to_le_bytes());
            bytes.extend(text);
        }
        Type::INT32 | Type::FLOAT => bytes.extend(1_234_567_i32.to_le_bytes()),
        _ => bytes.extend(1_234_567_i64.to_le_bytes()),
    }
    Page::DictionaryPage { buf: bytes.into(), num_values: num_values + 1, encoding, is_sorted }
}

fn compressed(page: Page) -> Page {
    let pack = |bytes: &[u8]| Bytes::from(zstd::bulk::compress(bytes, 1).unwrap());
    match page {
        Page::DictionaryPage { buf, num_values, encoding, is_sorted } => {
            Page::DictionaryPage { buf: pack(&buf), num_values, encoding, is_sorted }
        }
        Page::DataPage { buf, num_values, encoding, def_level_encoding, rep_level_encoding, statistics } => {
            let buf = pack(&buf);
            Page::DataPage { buf, num_values, encoding, def_level_encoding, rep_level_encoding, statistics }
        }
        page @ Page::DataPageV2 { .. } => page,
    }
}

/// Where the footer begins. It says where every page is, but nothing about the bytes between the last page and itself.
fn footer(bytes: &[u8]) -> Option<usize> {
    let end = bytes.len().checked_sub(8)?;
    let length = u32::from_le_bytes(bytes.get(end..end + 4)?.try_into().ok()?);
    end.checked_sub(length as usize)
}

/// Bytes in this gap are never read.
fn gap(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    change(fake, rng, |bytes| {
        let at = footer(bytes)?;
        Some([&bytes[..at], b"Bob has HIV", &bytes[at..]].concat())
    })
}

/// The same in a byte layout that cannot be reproduced.
fn gap_elsewhere(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    elsewhere(fake, rng);
    gap(fake, rng)
}

/// Least and greatest values, which readers of rows ignore and which may be anything.
fn statistics(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let level = if rng.random_range(0..2) == 0 { EnabledStatistics::Chunk } else { EnabledStatistics::Page };
    change(fake, rng, move |bytes| rewritten(bytes, properties().set_statistics_enabled(level), "chrysalis", None))
}

/// Text of any length.
fn created_by(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    change(fake, rng, |bytes| rewritten(bytes, properties().set_created_by("Bob has HIV".into()), "chrysalis", None))
}

/// Text of any length.
fn schema_root(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    change(fake, rng, |bytes| rewritten(bytes, properties(), "Bob has HIV", None))
}

/// Columns may claim an order, and readers of rows ignore it.
fn sorting(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let order = SortingColumn { column_idx: 0, descending: rng.random_range(0..2) == 0, nulls_first: false };
    change(fake, rng, move |bytes| {
        rewritten(bytes, properties().set_sorting_columns(Some(vec![order.clone()])), "chrysalis", None)
    })
}

/// Where pages are cut can carry a message.
fn pages(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let rows = rng.random_range(3..9);
    change(fake, rng, move |bytes| {
        let properties = properties().set_data_page_row_count_limit(rows).set_write_batch_size(rows);
        rewritten(bytes, properties, "chrysalis", None)
    })
}

/// Where row groups are cut can carry a message.
fn row_groups(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let rows = rng.random_range(1..9);
    change(fake, rng, move |bytes| {
        rewritten(bytes, properties().set_max_row_group_row_count(Some(rows)), "chrysalis", None)
    })
}

/// Which columns have dictionaries, how each is compressed, and the kind of its pages can carry a message.
fn coded(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let way = rng.random_range(0..3);
    change(fake, rng, move |bytes| {
        let properties = match way {
            0 => properties().set_dictionary_enabled(false),
            1 => properties().set_compression(Compression::UNCOMPRESSED),
            _ => properties().set_writer_version(WriterVersion::PARQUET_2_0),
        };
        rewritten(bytes, properties, "chrysalis", None)
    })
}

/// Bits outside the pages.
fn bloom(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    change(fake, rng, |bytes| rewritten(bytes, properties().set_bloom_filter_enabled(true), "chrysalis", None))
}

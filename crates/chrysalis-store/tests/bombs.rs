//! Files that unpack to more than a manifest declares, and manifests that declare more than is allowed: refused before
//! they cost anything. Limits are values, so the bombs here are small.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use chrysalis_release::{Manifest, Release};
use chrysalis_store::{MANIFEST, StoreError, read_columns_within, read_manifest_within, read_release_within};
use chrysalis_table::Memory;
use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use parquet::basic::Encoding;
use parquet::file::properties::{WriterProperties, WriterVersion};
use sha2::{Digest, Sha256};

const ALLOWED: Memory = Memory::of(1_000_000_000);

/// A release whose one table is a file of these bytes, with the right hash.
fn release(folder: &Path, file: &str, bytes: &[u8], rows: u64) {
    fs::write(folder.join(file), bytes).unwrap();
    let sha256: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let manifest = format!(
        r#"{{"format": "chrysalis-release", "version": 2, "features": [], "encoding": 1, "method": "generalize",
            "partitioner": "mondrian", "rows": {rows}, "groups": 1, "promises": [], "attributes": [], "quasi_identifiers": [],
            "tables": [{{"name": "generalized", "rows": {rows},
                         "columns": [{{"name": "id", "kind": "integer"}}, {{"name": "text", "kind": "category"}}],
                         "parts": [{{"file": "{file}", "rows": {rows}, "sha256": "{sha256}"}}]}}]}}"#
    );
    fs::write(folder.join(MANIFEST), manifest).unwrap();
}

fn read(folder: &Path, memory: Memory) -> Result<Release, StoreError> {
    read_release_within(folder, memory)
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text).unwrap();
    packed.finish().unwrap()
}

/// Checks the error for a file, both when the whole release is read and when one column is.
#[track_caller]
fn check(file: &str, bytes: &[u8], rows: u64, memory: Memory, expected: &str) -> StoreError {
    let folder = tempfile::tempdir().unwrap();
    release(folder.path(), file, bytes, rows);
    let error = read(folder.path(), memory).unwrap_err();
    let shown = |error: &StoreError| error.to_string().replace(&format!("{}", folder.path().display()), "R");
    assert_eq!(shown(&error), expected);
    let manifest = read_manifest_within(folder.path(), memory).unwrap();
    let wanted = [("generalized".to_owned(), vec!["text".to_owned()])];
    let again = read_columns_within(folder.path(), manifest, &wanted, memory).unwrap_err();
    assert_eq!(shown(&again), expected);
    error
}

#[test]
fn packed_rows_beyond_the_declared_ones_stop_the_reader() {
    let text = format!("id,text\n{}", "1,a\n".repeat(3_000_000));
    let zstd = zstd::encode_all(text.as_bytes(), 1).unwrap();
    let gz = gzip(text.as_bytes());
    check("t.csv.gz", &gz, 5, ALLOWED, "R/t.csv.gz has more than 5 rows, the manifest says 5");
    check("t.csv.zst", &zstd, 5, ALLOWED, "R/t.csv.zst has more than 5 rows, the manifest says 5");
    let error = check("t.csv", text.as_bytes(), 0, ALLOWED, "R/t.csv has more than 0 rows, the manifest says 0");
    assert_eq!(error.hint(), "the release was changed after it was published: get it again from its publisher");
    // Several members are one file, and an honest one is read.
    let folder = tempfile::tempdir().unwrap();
    let members = [gzip(b"id,text\n1,a\n"), gzip(b""), gzip(b"2,b\n")].concat();
    release(folder.path(), "t.csv.gz", &members, 2);
    assert_eq!(read(folder.path(), ALLOWED).unwrap().tables[0].rows(), 2);
}

#[test]
fn text_that_so_few_rows_cannot_need_stops_the_reader() {
    // Blank lines are no rows, and one field may be as long as a file.
    let blank = gzip(format!("id,text\n{}", "\n".repeat(40 << 20)).as_bytes());
    let said = "unpacks to 33.6 MB or more, which 2 rows of 2 columns cannot need";
    check("t.csv.gz", &blank, 2, ALLOWED, &format!("R/t.csv.gz {said}"));
    let long = gzip(format!("id,text\n1,{}\n", "x".repeat(40 << 20)).as_bytes());
    check("t.csv.gz", &long, 2, ALLOWED, &format!("R/t.csv.gz {said}"));
    let header = gzip(format!("id,{}\n", "x".repeat(40 << 20)).as_bytes());
    check("t.csv.gz", &header, 2, ALLOWED, &format!("R/t.csv.gz {said}"));
    let columns = gzip(format!("id,{}\n", "x,".repeat(1 << 20)).as_bytes());
    let folder = tempfile::tempdir().unwrap();
    release(folder.path(), "t.csv.gz", &columns, 2);
    let error = read(folder.path(), ALLOWED).unwrap_err().to_string();
    assert!(error.contains("the header names column `x` twice"), "{error}");
    // If the rows could need it, the allowed memory decides.
    let rows = 100_000;
    let many = gzip(format!("id,text\n{}", format!("1,{}\n", "y".repeat(200)).repeat(rows)).as_bytes());
    let memory = Memory::of(10_000_000);
    let said = "R/t.csv.gz unpacks to 10 MB or more, but only 10 MB of memory is allowed";
    let error = check("t.csv.gz", &many, rows as u64, memory, said);
    assert_eq!(error.hint(), "if you trust where it comes from, allow more with `memory = 100MB`");
    let folder = tempfile::tempdir().unwrap();
    release(folder.path(), "t.csv.gz", &many, rows as u64);
    assert_eq!(read(folder.path(), Memory::of(100_000_000)).unwrap().tables[0].rows(), rows);
}

/// What the declared rows would need is known before a file is opened.
#[test]
fn declared_rows_that_do_not_fit_are_refused_before_a_file_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    release(folder.path(), "t.csv", b"id,text\n", 210_000_000);
    fs::remove_file(folder.path().join("t.csv")).unwrap();
    let error = read(folder.path(), Memory::default()).unwrap_err();
    let said = "its tables declare 210000000 rows, which would need about 16.8 GB of memory, but only 2 GB is allowed";
    assert_eq!(error.to_string(), format!("{}: {said}", folder.path().display()));
    // With enough memory, it goes on to open the file, which is missing.
    assert!(matches!(read(folder.path(), Memory::of(17_000_000_000)).unwrap_err(), StoreError::Io { .. }));
}

fn parquet(texts: &[&str], properties: WriterProperties) -> Vec<u8> {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..texts.len() as i64));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
    let batch = RecordBatch::try_from_iter([("id", ids), ("text", texts)]).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// The type of a page and the field of its own header, as Thrift's compact protocol writes them.
const DATA_PAGE: (u8, u8) = (0, 0x2c);
const DICTIONARY_PAGE: (u8, u8) = (4, 0x4c);

/// The last page of this type, of the column `text`, then says that it holds 63 values.
fn claiming_63(bytes: &[u8], (kind, field): (u8, u8)) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let starts = |at: &usize| {
        let b = &bytes[*at..];
        b.len() > 8 && b[..2] == [0x15, kind] && b[2] == 0x15 && b[4] == 0x15 && b[6..9] == [field, 0x15, 4]
    };
    let page = (0..bytes.len()).rfind(starts).expect("a page of two values");
    bytes[page + 8] = 63 << 1;
    bytes
}

#[test]
fn parquet_that_claims_more_than_declared_is_refused_by_its_claims() {
    let plain = || WriterProperties::builder().set_compression(parquet::basic::Compression::SNAPPY);
    // A million rows in a few kilobytes of runs.
    let runs = parquet(&vec!["a"; 1_000_000], plain().build());
    check("t.parquet", &runs, 5, ALLOWED, "R/t.parquet has 1000000 rows, the manifest says 5");
    // One text of forty megabytes.
    let long = "x".repeat(40 << 20);
    let dictionary = parquet(&["a", long.as_str()], plain().set_dictionary_enabled(true).build());
    let folder = tempfile::tempdir().unwrap();
    release(folder.path(), "t.parquet", &dictionary, 2);
    let error = read(folder.path(), ALLOWED).unwrap_err().to_string();
    assert!(error.ends_with("MB or more, which 2 rows of 2 columns cannot need"), "{error}");
    // Prefixes of the previous value say a lot in no bytes.
    let delta = plain()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::DELTA_BYTE_ARRAY);
    let delta = parquet(&["aaaa", "aaab"], delta.set_column_encoding("id".into(), Encoding::PLAIN).build());
    let said = "R/t.parquet: not a readable Parquet file: a page has the encoding 7, which releases do not use";
    check("t.parquet", &delta, 2, ALLOWED, said);
    // A footer that is far too long.
    let mut footer = runs.clone();
    let end = footer.len() - 8;
    footer[end..end + 4].copy_from_slice(&400_000_000_u32.to_le_bytes());
    let said = "R/t.parquet has a footer of 400 MB, which 5 rows of 2 columns cannot need";
    check("t.parquet", &footer, 5, ALLOWED, said);
    // Pages that claim more than they can hold.
    let small = parquet(&["a", "b"], plain().set_dictionary_enabled(true).build());
    let said = "R/t.parquet has a dictionary that claims 63 entries, which 2 rows of 2 columns cannot need";
    check("t.parquet", &claiming_63(&small, DICTIONARY_PAGE), 2, ALLOWED, said);
    let said =
        "R/t.parquet has 2 pages that claim 63 values in a group of 2 rows, which 2 rows of 2 columns cannot need";
    check("t.parquet", &claiming_63(&small, DATA_PAGE), 2, ALLOWED, said);
    // The same rows, declared as they are, are read.
    let folder = tempfile::tempdir().unwrap();
    release(folder.path(), "t.parquet", &runs, 1_000_000);
    assert_eq!(read(folder.path(), ALLOWED).unwrap().tables[0].rows(), 1_000_000);
}

/// Any row could have the one long text of the dictionary: unpacked all at once, that would be a thousand times the
/// file.
#[test]
fn a_long_text_in_many_rows_is_decoded_a_few_rows_at_a_time() {
    let long = "x".repeat(1 << 20);
    let mut texts = vec!["a"; 4_000];
    texts.extend([long.as_str(); 20]);
    let bytes = parquet(&texts, WriterProperties::builder().build());
    let folder = tempfile::tempdir().unwrap();
    release(folder.path(), "t.parquet", &bytes, texts.len() as u64);
    let table = &read(folder.path(), ALLOWED).unwrap().tables[0];
    let column = table.column("text").unwrap();
    let back: Vec<usize> = (0..table.rows()).map(|row| column.domain().text(column.code(row)).len()).collect();
    assert_eq!(back, texts.iter().map(|text| text.len()).collect::<Vec<_>>());
}

#[test]
fn a_manifest_is_refused_by_its_size_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(MANIFEST), " ".repeat(40_000)).unwrap();
    let error = read_manifest_within(folder.path(), Memory::of(1_000_000)).unwrap_err();
    let said = "the manifest has 40 kB, but with 1 MB of memory at most 31.3 kB are read";
    assert_eq!(error.to_string(), format!("{}: {said}", folder.path().join(MANIFEST).display()));
    assert_eq!(error.hint(), "if you trust where it comes from, allow more with `memory = 100MB`");
    assert!(Manifest::most_bytes(Memory::default()) > 60_000_000);
}

//! A table that is read piece by piece is the table that is read at once.

#![allow(clippy::unwrap_used, reason = "tests")]

use bytes::Bytes;
use chrysalis_store::{Input, StoreError};
use chrysalis_table::{Codes, Column, ColumnRequest, CsvOptions, Kind, Table, TextReading, no_progress};
use proptest::prelude::*;

/// Puts pieces together.
fn pieced(input: Input, wanted: &[ColumnRequest]) -> Result<(Table, usize), StoreError> {
    let (mut rows, mut n) = (vec![Vec::new(); wanted.len()], 0);
    let mut each = |piece: Vec<Codes>| {
        n += 1;
        rows.iter_mut().zip(piece).for_each(|(all, codes)| all.extend(codes.iter()));
        Ok(())
    };
    let entries = input.read_pieces(wanted, &mut each, &no_progress)?;
    let column = |(entries, rows): (&Column, &Vec<u32>)| {
        let codes = rows.iter().map(|&entry| entries.code(entry as usize));
        let codes = Codes::collect(entries.domain().len(), codes);
        Column::new(entries.name(), std::sync::Arc::clone(entries.domain()), codes)
    };
    Ok((Table::new(entries.iter().zip(&rows).map(column).collect()), n))
}

fn csv(rows: &[(i64, String, f64)]) -> Bytes {
    let lines = rows.iter().map(|(number, word, real)| format!("{number},\"{word}\",{real}\n"));
    Bytes::from("a,b,c\n".to_owned() + &lines.collect::<String>())
}

fn wanted() -> Vec<ColumnRequest> {
    ["c", "a", "b"].map(ColumnRequest::named).to_vec()
}

proptest! {
    #[test]
    fn csv_in_pieces_of_any_length(
        rows in prop::collection::vec((any::<i64>(), "[a-c,\n]{0,3}", -9.0..9.0_f64), 1..60), piece_len in 1_usize..200,
    ) {
        let options = CsvOptions { piece_len, reading: TextReading { recognizes: true, ..TextReading::default() }, ..CsvOptions::default() };
        let input = || Input::of_bytes("t.csv".into(), csv(&rows), &options).unwrap();
        let whole = input().read(&wanted()).unwrap();
        prop_assert_eq!(pieced(input(), &wanted()).unwrap().0, whole);
    }
}

#[test]
fn parquet_and_batches_in_pieces() {
    let numbers: Vec<i64> = (0..150_000).map(|row| row * 7 % 1_000).collect();
    let words: Vec<String> = numbers.iter().map(|number| format!("w{}", number % 300)).collect();
    let reals: Vec<f64> = numbers.iter().map(|number| *number as f64 / 8.0).collect();
    let table = Table::new(vec![
        Column::integers("a", &numbers),
        Column::texts("b", words.iter().map(String::as_str)),
        Column::reals("c", &reals),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    chrysalis_store::write_tables(&[(path.as_path(), &table)], chrysalis_store::Format::Parquet, false, &no_progress)
        .unwrap();
    let input = || {
        let source = chrysalis_store::Source::Path(path.clone());
        Input::open(&source, &CsvOptions::default()).unwrap()
    };
    let (found, pieces) = pieced(input(), &wanted()).unwrap();
    assert_eq!(found, input().read(&wanted()).unwrap());
    assert!(pieces > 1, "{pieces} pieces");
}

#[test]
fn errors_are_those_of_reading_at_once() {
    for text in ["a,b,c\n", "a,b,c\n1,2\n", "a,b,c\n1,\"x\n", "a,b\n1,2\n"] {
        let options = CsvOptions { piece_len: 4, ..CsvOptions::default() };
        let input = || Input::of_bytes("t.csv".into(), Bytes::from(text), &options).unwrap();
        let expected = input().read(&wanted()).unwrap_err().to_string();
        assert_eq!(pieced(input(), &wanted()).unwrap_err().to_string(), expected);
    }
    let options = CsvOptions { piece_len: 4, ..CsvOptions::default() };
    let input = || Input::of_bytes("t.csv".into(), csv(&[(1, "x".into(), 0.5)]), &options).unwrap();
    let wanted = [ColumnRequest::of_kind("b", Kind::Integer)];
    let expected = input().read(&wanted).unwrap_err().to_string();
    assert_eq!(pieced(input(), &wanted).unwrap_err().to_string(), expected);
}

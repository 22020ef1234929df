//! CSV reading as its users meet it: text in, columns or a message out.

#![allow(clippy::unwrap_used, reason = "tests")]

use chrysalis_table::{ColumnRequest, CsvOptions, CsvReader, Kind, MissingPolicy, Table, TableError};
use proptest::prelude::*;

fn read_all(bytes: &[u8], options: &CsvOptions) -> Result<Table, TableError> {
    let reader = CsvReader::open(bytes, options)?;
    let wanted: Vec<ColumnRequest> = reader.header().iter().map(ColumnRequest::named).collect();
    reader.read(&wanted)
}

fn cells(table: &Table) -> Vec<Vec<String>> {
    let row = |row| table.columns().iter().map(|column| column.domain().text(column.code(row)).into_owned()).collect();
    (0..table.rows()).map(row).collect()
}

fn check(text: &str, expected: &[&[&str]]) {
    for piece_len in [1, 3, 7, 1 << 20] {
        let table = read_all(text.as_bytes(), &CsvOptions { piece_len, ..CsvOptions::default() }).unwrap();
        assert_eq!(cells(&table), expected, "{text:?} in pieces of {piece_len}");
    }
}

fn check_error(bytes: &[u8], message: &str) {
    for piece_len in [1, 1 << 20] {
        let error = read_all(bytes, &CsvOptions { piece_len, ..CsvOptions::default() }).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(!error.hint().is_empty());
    }
}

#[test]
fn plain_quoted_and_odd_fields_are_read() {
    check("a,b\n1,x\n2,y\n", &[&["1", "x"], &["2", "y"]]);
    check("a,b\r\n1,x\r\n2,y", &[&["1", "x"], &["2", "y"]]);
    check("\u{feff}a;b\n1;x\n", &[&["1", "x"]]);
    check("a,b\n\"x,\ny\",\"say \"\"hi\"\"\"\n", &[&["x,\ny", "say \"hi\""]]);
    check("a,b\n 7 , x y \n", &[&["7", "x y"]]);
    check("a,b\n\n1,\n\n,2\n", &[&["1", ""], &["", "2"]]);
    check("a,b\nan unusually long value,5\" pipe\n", &[&["an unusually long value", "5\" pipe"]]);
    check("\"a\",\"b c\"\n\"\",1\n", &[&["", "1"]]);
    check("a\tb\n\"q\"tail\t1\n", &[&["qtail", "1"]]);
}

#[test]
fn broken_files_get_a_sentence() {
    check_error(b"", "the file is empty");
    check_error(b"\n\n", "the file is empty");
    check_error(b"a,b\n", "the table has no rows");
    check_error(b"a,b\n1,2\n1,2,3\n", "line 3 has 3 fields, the header has 2");
    check_error(b"a,b\n\"x\ny\",2\n1\n", "line 4 has 1 fields, the header has 2");
    check_error(b"a,a\n1,2\n", "the header names column `a` twice");
    check_error(b"a,,c\n1,2,3\n", "column 2 of the header has no name");
    check_error(b"a,b\n1,\"x\n", "the quoted field that starts on line 2 is never closed");
    check_error(b"a,b\n1,2\n1,\x00\n", "line 3 holds bytes that are not text");
    check_error(b"a,b\n1,2\n1,\xff\xfe\n", "line 3 holds bytes that are not text");
    check_error(b"\x01\x02\x03,\x04\n", "line 1 holds bytes that are not text");
    check_error(b"\xff\xfe\0\0a\0\0\0", "the file is encoded as UTF-32");
    check_error(b"\xff\xfea\0\n\0b", "reading failed: it is not UTF-16");
}

#[test]
fn kinds_are_inferred_or_enforced_and_equal_numbers_become_one() {
    let table = read_all(b"i,r,d,z,w\n3,1.0,2024-05-01,01,x\n-4,1,2023-01-01,10,\n", &CsvOptions::default()).unwrap();
    let kinds: Vec<Kind> = table.columns().iter().map(|column| column.domain().kind()).collect();
    assert_eq!(kinds, [Kind::Integer, Kind::Real, Kind::Date, Kind::Category, Kind::Category]);
    assert_eq!(table.column("r").unwrap().domain().len(), 1);
    let open = || CsvReader::open(&b"a,g\n1,low\nx,high\n"[..], &CsvOptions::default()).unwrap();
    let error = open().read(&[ColumnRequest::of_kind("a", Kind::Integer)]).unwrap_err();
    assert_eq!(error.to_string(), "`x` in column `a` is not an integer");
    let ordinal = |order: &[&str]| ColumnRequest {
        name: "g".into(),
        kind: Some(Kind::Ordinal),
        order: order.iter().map(|&word| word.to_owned()).collect(),
    };
    let table = open().read(&[ordinal(&["low", "middle", "high"])]).unwrap();
    assert_eq!(table.columns()[0].codes().iter().collect::<Vec<_>>(), [0, 1]);
    let error = open().read(&[ordinal(&["low"])]).unwrap_err();
    assert_eq!(error.to_string(), "`high` in column `g` is not in its order");
}

#[test]
fn missing_values_follow_the_policy() {
    let table = || read_all(b"a,b\n1,x\n,y\n3,\n", &CsvOptions::default()).unwrap();
    assert_eq!(table().with_missing(MissingPolicy::AsValue).unwrap().1, 0);
    let (kept, n_dropped) = table().with_missing(MissingPolicy::Drop).unwrap();
    assert_eq!((cells(&kept), n_dropped), (vec![vec!["1".to_owned(), "x".to_owned()]], 2));
    assert_eq!(kept.columns()[0].domain().len(), 1, "values of dropped rows leave the domain");
    let error = table().with_missing(MissingPolicy::Error).unwrap_err();
    assert_eq!(error.to_string(), "column `a` has 1 missing values, the first in row 2");
}

#[test]
fn debug_output_shows_the_shape_and_no_values() {
    let table = read_all(b"name\nsecret\n", &CsvOptions::default()).unwrap();
    assert_eq!(format!("{table:?}"), "Table(1 rows, [Column(name: category, 1 values, 1 rows)])");
}

fn quoted(field: &str) -> String {
    format!("\"{}\"", field.replace('"', "\"\""))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the piece size, a written table reads back cell by cell.
    #[test]
    fn tables_read_back_in_any_pieces(
        rows in prop::collection::vec(prop::collection::vec("[a-c,\"\n ;é]{0,12}", 3), 1..20),
        piece_len in 1usize..64,
    ) {
        let mut text = "p,q,r\n".to_owned();
        for row in &rows {
            text.push_str(&row.iter().map(|field| quoted(field)).collect::<Vec<_>>().join(","));
            text.push('\n');
        }
        let options = CsvOptions { piece_len, delimiter: Some(b','), ..CsvOptions::default() };
        let table = read_all(text.as_bytes(), &options).unwrap();
        prop_assert_eq!(cells(&table), rows);
    }

    /// Hostile bytes end in a table or a message, never in a panic.
    #[test]
    fn any_bytes_are_a_table_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200), piece_len in 1usize..64) {
        let _ = read_all(&bytes, &CsvOptions { piece_len, ..CsvOptions::default() });
    }
}

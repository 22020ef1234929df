//! Files that people really have, each read or refused: one line of the table per file.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::sync::{Arc, Mutex};

use ::parquet::data_type::{BoolType, ByteArrayType, Int32Type, Int64Type};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;
use chrysalis::table::{Counted, Kind};
use chrysalis::{AttributeDraft, Draft, KindText, Watch, files};

/// Keeps the notes.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Watch for Notes {
    fn phase(&self, _: &'static str, _: Option<u64>, _: Counted) {}

    fn advance(&self, _: u64) {}

    fn note(&self, sentence: &str) {
        self.0.lock().unwrap().push(sentence.to_owned());
    }
}

/// What comes of a file: per column its name, kind and values in the order of their rows, then notes; or the error.
fn outcome(bytes: &[u8], name: &str, draft: Draft) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    let hidden = |text: String| text.replace(&format!("{}/", folder.path().display()), "");
    let draft = Draft { input: Some(path), ..draft };
    let notes = Notes::default();
    let read = draft.open().and_then(|input| {
        let wanted = files::requests(&input, &draft, &notes)?;
        files::read(input, &wanted, "read", &notes)
    });
    let table = match read {
        Ok(read) => read,
        Err(error) => return hidden(format!("error: {error}")),
    };
    let notes = notes.0.into_inner().unwrap();
    let columns = table.columns().iter().map(|column| {
        let values: Vec<_> = (0..table.rows()).map(|row| column.domain().text(column.code(row))).collect();
        format!("{} {}: {}", column.name(), column.domain().kind(), values.join(" "))
    });
    let columns: Vec<String> = columns.collect();
    hidden([columns, notes].concat().join(" | "))
}

fn plain() -> Draft {
    Draft::default()
}

fn utf_16(text: &str) -> Vec<u8> {
    "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

/// The values of a Parquet column.
enum Values {
    Truths(Vec<bool>),
    Short(Vec<i32>),
    Whole(Vec<i64>),
    Bytes(Vec<&'static str>),
}

/// A Parquet file with columns of these types, as the format's own description writes them.
fn parquet(columns: &[(&str, Values)]) -> Vec<u8> {
    let fields: String = columns.iter().map(|(field, _)| format!("required {field};\n")).collect();
    let schema = parse_message_type(&format!("message table {{\n{fields}}}")).unwrap();
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::default()).unwrap();
    let mut rows = file.next_row_group().unwrap();
    for (_, values) in columns {
        let mut column = rows.next_column().unwrap().unwrap();
        match values {
            Values::Truths(values) => column.typed::<BoolType>().write_batch(values, None, None).unwrap(),
            Values::Short(values) => column.typed::<Int32Type>().write_batch(values, None, None).unwrap(),
            Values::Whole(values) => column.typed::<Int64Type>().write_batch(values, None, None).unwrap(),
            Values::Bytes(values) => {
                let values: Vec<_> = values.iter().map(|&text| text.into()).collect();
                column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap()
            }
        };
        column.close().unwrap();
    }
    rows.close().unwrap();
    file.close().unwrap();
    bytes
}

#[test]
fn awkward_files_are_read_or_refused() {
    let kind = |column: &str, kind: Kind| {
        let said = AttributeDraft { kind: Some(KindText(kind)), ..AttributeDraft::default() };
        Draft { attributes: [(column.to_owned(), said)].into(), ..plain() }
    };
    let moment = 1_709_301_900;
    let na = |texts: &[&str]| Draft { na: Some(texts.iter().map(|&text| text.to_owned()).collect()), ..plain() };
    let encoding = |name: &str| Draft { encoding: Some(name.to_owned()), ..plain() };
    let dates = |format: &str| Draft { date_format: Some(format.to_owned()), ..plain() };
    let index = "t.csv: the first column has no name: it is taken for an index, and left out";
    let refused = |format: &str| format!("error: {format}, but tables are read from CSV or Parquet");
    let cases: Vec<(&str, Vec<u8>, Draft, String)> = vec![
        (
            "pandas, with its index",
            b",age,sex\n0,21,F\n1,34,M\n".into(),
            plain(),
            format!("age integer: 21 34 | sex category: F M | {index}"),
        ),
        (
            "R, with row names",
            b"\"age\",\"sex\"\n\"1\",21,\"F\"\n\"2\",34,\"M\"\n".into(),
            plain(),
            format!("age integer: 21 34 | sex category: F M | {index}"),
        ),
        (
            "a delimiter too many",
            b"age,sex\n21,F,\n34,M,\n".into(),
            plain(),
            "error: t.csv: line 2 has 3 fields, the header has 2".into(),
        ),
        (
            "a second column without a name",
            b"age,\n21,F\n".into(),
            plain(),
            "error: t.csv: column 2 of the header has no name".into(),
        ),
        ("NA as words", b"age,sex\nNA,F\n34,NA\n".into(), plain(), "age category: NA 34 | sex category: F NA".into()),
        (
            "NA as missing",
            b"age,sex\nNA,F\n34,?\n".into(),
            na(&["NA", "?"]),
            "age integer:  34 | sex category: F ".into(),
        ),
        (
            "NaN and NULL as missing",
            b"a,b\nNaN,1\n2.5,NULL\n".into(),
            na(&["NaN", "NULL"]),
            "a real:  2.5 | b integer: 1 ".into(),
        ),
        (
            "Excel in German",
            "alter;kosten\r\n21;1.234,50\r\n34;7,25\r\n".into(),
            plain(),
            "alter integer: 21 34 | kosten real: 1234.5 7.25".into(),
        ),
        ("thousands with commas", b"cost\n\"1,234,567\"\n12\n".into(), plain(), "cost integer: 1234567 12".into()),
        ("thousands with spaces", "cost\n1\u{202f}234\n12\n".into(), plain(), "cost integer: 1234 12".into()),
        (
            "a thousand, or one and a bit",
            b"cost\n\"1,234\"\n\"2,500\"\n".into(),
            plain(),
            "cost category: 1,234 2,500".into(),
        ),
        (
            "dates with points",
            b"born\n14.04.1965\n3.4.2001\n".into(),
            plain(),
            "born date: 1965-04-14 2001-04-03".into(),
        ),
        (
            "dates as in America",
            b"born\n4/14/1965\n3/4/2001\n".into(),
            plain(),
            "born date: 1965-04-14 2001-03-04".into(),
        ),
        (
            "dates that two ways fit",
            b"born\n3/4/2001\n5/6/2001\n".into(),
            plain(),
            "born category: 3/4/2001 5/6/2001".into(),
        ),
        (
            "the same, with a format",
            b"born\n3/4/2001\n5/6/2001\n".into(),
            dates("%d/%m/%Y"),
            "born date: 2001-04-03 2001-06-05".into(),
        ),
        (
            "Latin-1, not named",
            b"city\nK\xf6ln\n".into(),
            plain(),
            "error: t.csv: line 2 holds bytes that are not text".into(),
        ),
        ("Latin-1, named", b"city\nK\xf6ln\n".into(), encoding("latin-1"), "city category: Köln".into()),
        (
            "UTF-16, by its mark",
            utf_16("city\tage\r\nKöln\t21\r\n"),
            plain(),
            "city category: Köln | age integer: 21".into(),
        ),
        (
            "UTF-16, cut off",
            utf_16("city\nKöln\n")[..17].to_vec(),
            plain(),
            "error: t.csv: reading failed: it is not UTF-16".into(),
        ),
        (
            "bands of ages",
            b"age\n[50-60)\n[0-10)\n[10-20)\n".into(),
            plain(),
            "age ordinal: [50-60) [0-10) [10-20)".into(),
        ),
        ("booleans as words", b"well\nTRUE\nFALSE\n".into(), plain(), "well category: TRUE FALSE".into()),
        (
            "timestamps",
            b"seen\n2024-03-01T14:05:00\n1969-12-31 23:59:59.5\n2024-03-01T14:05Z\n".into(),
            plain(),
            "seen datetime: 2024-03-01T14:05:00 1969-12-31T23:59:59.5 2024-03-01T14:05:00".into(),
        ),
        (
            "timestamps with zones, as databases write them",
            b"seen\n2024-03-01 14:05:00+02\n2024-07-01 14:05:00+00\n".into(),
            plain(),
            "seen datetime: 2024-03-01T12:05:00 2024-07-01T14:05:00".into(),
        ),
        (
            "some timestamps with a zone, some without",
            b"seen\n2024-03-01T14:05:00+02:00\n2024-03-01T14:05:00\n".into(),
            plain(),
            "seen category: 2024-03-01T14:05:00+02:00 2024-03-01T14:05:00".into(),
        ),
        (
            "timestamps with points",
            b"seen\n14.04.1965 13:30\n3.4.2001 07:05\n".into(),
            plain(),
            "seen datetime: 1965-04-14T13:30:00 2001-04-03T07:05:00".into(),
        ),
        (
            "timestamps in a format",
            b"seen\n3/4/2001 01:30 PM\n5/6/2001 07:05 AM\n".into(),
            dates("%m/%d/%Y %I:%M %p"),
            "seen datetime: 2001-03-04T13:30:00 2001-05-06T07:05:00".into(),
        ),
        (
            "timestamps of no day and no hour",
            b"seen\n2024-13-45T99:99\n".into(),
            plain(),
            "seen category: 2024-13-45T99:99".into(),
        ),
        (
            "the same, said to be timestamps",
            b"seen\n2024-13-45T99:99\n".into(),
            kind("seen", Kind::DateTime),
            "error: t.csv: `2024-13-45T99:99` in column `seen` is not a datetime (YYYY-MM-DDTHH:MM:SS)".into(),
        ),
        (
            "dates beside timestamps",
            b"seen\n2024-03-01\n2024-03-01T14:05:00\n".into(),
            plain(),
            "seen category: 2024-03-01 2024-03-01T14:05:00".into(),
        ),
        (
            "the same, said to be timestamps",
            b"seen\n2024-03-01\n2024-03-01T14:05:00\n".into(),
            kind("seen", Kind::DateTime),
            "seen datetime: 2024-03-01T00:00:00 2024-03-01T14:05:00".into(),
        ),
        (
            "Parquet booleans",
            parquet(&[("boolean well", Values::Truths(vec![true, false]))]),
            plain(),
            "well category: true false".into(),
        ),
        (
            "Parquet decimals",
            parquet(&[
                ("int64 paid (DECIMAL(12,2))", Values::Whole(vec![123_450, -5])),
                ("int32 visits (DECIMAL(9,0))", Values::Short(vec![12, 7])),
            ]),
            plain(),
            "paid real: 1234.5 -0.05 | visits integer: 12 7".into(),
        ),
        (
            "Parquet decimals with more digits than a real keeps",
            parquet(&[("int64 paid (DECIMAL(18,4))", Values::Whole(vec![123_456_789_012_345_678]))]),
            plain(),
            "error: t.csv: column `paid` of type Decimal128(18, 4) has numbers with more digits than a real keeps"
                .into(),
        ),
        (
            "Parquet timestamps of all units",
            parquet(&[
                ("int64 ms (TIMESTAMP(MILLIS,false))", Values::Whole(vec![moment * 1_000, -1])),
                ("int64 us (TIMESTAMP(MICROS,true))", Values::Whole(vec![moment * 1_000_000, -1])),
                ("int64 ns (TIMESTAMP(NANOS,false))", Values::Whole(vec![moment * 1_000_000_000, -1_000])),
            ]),
            plain(),
            "ms datetime: 2024-03-01T14:05:00 1969-12-31T23:59:59.999 \
             | us datetime: 2024-03-01T14:05:00 1969-12-31T23:59:59.999999 \
             | ns datetime: 2024-03-01T14:05:00 1969-12-31T23:59:59.999999"
                .into(),
        ),
        (
            "Parquet timestamps finer than a microsecond",
            parquet(&[("int64 ns (TIMESTAMP(NANOS,false))", Values::Whole(vec![1]))]),
            plain(),
            "error: t.csv: column `ns` of type Timestamp(ns) has moments finer than a microsecond".into(),
        ),
        (
            "Parquet columns of bytes that nobody named",
            parquet(&[
                ("binary photo", Values::Bytes(vec!["?", "!"])),
                ("binary city (UTF8)", Values::Bytes(vec!["Köln", "Ulm"])),
            ]),
            plain(),
            "city category: Köln Ulm | t.csv: column `photo` has the type Binary, which is not read: it is left out"
                .into(),
        ),
        (
            "Parquet columns of bytes that the owner named",
            parquet(&[("binary photo", Values::Bytes(vec!["?", "!"]))]),
            kind("photo", Kind::Category),
            "error: t.csv: column `photo` has the type Binary".into(),
        ),
        (
            "an Excel workbook",
            b"PK\x03\x04".into(),
            plain(),
            refused("t.csv: this is a zip file, as Excel workbooks are"),
        ),
        ("JSON", b"[{\"age\": 1}]".into(), plain(), refused("t.csv: this is JSON")),
        ("zip codes keep their zeros", b"zip\n01234\n98765\n".into(), plain(), "zip category: 01234 98765".into()),
    ];
    let mut wrong = Vec::new();
    for (name, bytes, draft, expected) in cases {
        let found = outcome(&bytes, "t.csv", draft);
        if found != expected {
            wrong.push(format!("{name}:\n  expected {expected}\n  found    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // By name, whatever is in them.
    assert_eq!(outcome(b"PK\x03\x04", "t.xlsx", plain()), refused("t.xlsx: this is an Excel workbook (.xlsx)"));
    assert_eq!(outcome(b"age\n1\n", "t.json", plain()), refused("t.json: this is JSON"));
}

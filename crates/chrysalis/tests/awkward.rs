//! Files that people really have, each read or refused: one line of the table per file.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;

use chrysalis::table::ColumnRequest;
use chrysalis::{Draft, Unwatched, files};

/// What comes of a file: per column its name, kind and values in the order of their rows, then notes; or the error.
fn outcome(bytes: &[u8], name: &str, draft: Draft) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    let hidden = |text: String| text.replace(&format!("{}/", folder.path().display()), "");
    let draft = Draft { input: Some(path), ..draft };
    let read = draft.open().and_then(|input| {
        let wanted: Vec<ColumnRequest> = input.header().iter().map(ColumnRequest::named).collect();
        let notes = input.notes();
        Ok((files::read(input, &wanted, "read", &Unwatched)?, notes))
    });
    let (table, notes) = match read {
        Ok(read) => read,
        Err(error) => return hidden(format!("error: {error}")),
    };
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

#[test]
fn awkward_files_are_read_or_refused() {
    let na = |texts: &[&str]| Draft { na: Some(texts.iter().map(|&text| text.to_owned()).collect()), ..plain() };
    let encoding = |name: &str| Draft { encoding: Some(name.to_owned()), ..plain() };
    let dates = |format: &str| Draft { date_format: Some(format.to_owned()), ..plain() };
    let index = "t.csv: the first column has no name: it is taken for an index, and left out";
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
    assert!(outcome(b"PK\x03\x04", "t.xlsx", plain()).contains("an Excel workbook (.xlsx)"));
    assert!(outcome(b"[{\"age\": 1}]", "t.json", plain()).contains("JSON"));
}

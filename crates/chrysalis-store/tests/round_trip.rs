//! What is written reads back, in both formats; what was changed on the way is refused.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use chrysalis_release::{
    Attribute, ColumnEntry, DomainEntry, FORMAT, Manifest, Published, Release, RoleName, TableEntry, VERSION,
};
use chrysalis_store::{
    Format, Input, MANIFEST, Source, StoreError, read_columns, read_manifest, read_release, write_release,
};
use chrysalis_table::{Codes, Column, ColumnRequest, CsvOptions, Date, Domain, Kind, Table, Value};

/// A column with every kind of trouble a kind can have.
fn column(name: &str, kind: Kind, values: Vec<Value>, has_missing: bool, rows: usize, step: usize) -> Column {
    let domain = Domain::new(kind, values, has_missing);
    let n = domain.len();
    let codes = Codes::collect(n, (0..rows).map(|row| (row * step % n) as u32));
    Column::new(name, Arc::new(domain), codes)
}

fn table(rows: usize) -> Table {
    let text = |text: &str| Value::Text(text.into());
    let words = ["\"q\"", "a,b", "line\nbreak", "plain", " spaced ", "{F,M}", "é"];
    let mut words: Vec<Value> = words.iter().map(|word| text(word)).collect();
    words.sort();
    Table::new(vec![
        column(
            "i",
            Kind::Integer,
            vec![Value::Integer(i64::MIN), Value::Integer(0), Value::Integer(i64::MAX)],
            true,
            rows,
            1,
        ),
        column("r", Kind::Real, vec![Value::Real(-0.1), Value::Real(1e-300), Value::Real(1e300)], true, rows, 3),
        column("d", Kind::Date, vec![Value::Date(Date(-1)), Value::Date(Date(20_000))], false, rows, 1),
        column("o", Kind::Ordinal, vec![text("low"), text("high")], true, rows, 1),
        column("c", Kind::Category, words, true, rows, 3),
    ])
}

fn release(rows: usize) -> Release {
    let table = table(rows);
    let kinds = table.columns().iter();
    let columns = kinds.map(|column| ColumnEntry { name: column.name().into(), kind: column.domain().kind().into() });
    let entry = TableEntry {
        name: "generalized".into(),
        file: String::new(),
        rows: rows as u64,
        columns: columns.collect(),
        sha256: String::new(),
    };
    let ordinal = Attribute {
        name: "o".into(),
        role: RoleName::Other,
        kind: Kind::Ordinal.into(),
        published: Published::Exact,
        domain: DomainEntry::of(table.column("o").unwrap().domain(), None),
        taxonomy: None,
        categories: None,
        weights: None,
    };
    let manifest = Manifest {
        format: FORMAT.into(),
        version: VERSION,
        method: "generalize".into(),
        partitioner: "mondrian".into(),
        rows: rows as u64,
        groups: 1,
        guarantees: vec![],
        attributes: vec![ordinal],
        quasi_identifiers: vec![],
        tables: vec![entry],
        suppressed: 0,
        reproducible: false,
    };
    Release { manifest, tables: vec![table] }
}

/// More rows than one row group has, so that columns are read side by side from several places.
#[test]
fn tables_of_every_kind_read_back_in_both_formats() {
    for (rows, format) in [(1_100_000, Format::Parquet), (1_000, Format::Csv), (0, Format::Parquet), (0, Format::Csv)] {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("release");
        let release = release(rows);
        let manifest = write_release(&release, &out, format, false).unwrap();
        let back = read_release(&out).unwrap();
        assert_eq!(back.manifest, manifest);
        if rows > 0 {
            assert_eq!(back.tables, release.tables, "{format:?}");
        }
        assert_eq!(names(folder.path()), ["release"], "nothing is left beside it");
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_release_is_not_overwritten_unless_forced_and_only_a_release_is() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("release");
    write_release(&release(10), &out, Format::Csv, false).unwrap();
    let again = write_release(&release(20), &out, Format::Csv, false).unwrap_err();
    assert!(matches!(again, StoreError::Exists { .. }), "{again}");
    assert_eq!(read_release(&out).unwrap().manifest.rows, 10);
    write_release(&release(20), &out, Format::Parquet, true).unwrap();
    assert_eq!(read_release(&out).unwrap().manifest.rows, 20);
    assert_eq!(names(&out), ["generalized.parquet", MANIFEST], "nothing of the old release is left");
    let precious = folder.path().join("precious");
    fs::create_dir(&precious).unwrap();
    fs::write(precious.join("thesis.tex"), "years of work").unwrap();
    let refused = write_release(&release(5), &precious, Format::Csv, true).unwrap_err();
    assert!(matches!(refused, StoreError::NotARelease { .. }), "{refused}");
    assert_eq!(names(folder.path()), ["precious", "release"]);
}

#[test]
fn the_same_release_has_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    for format in [Format::Parquet, Format::Csv] {
        let bytes = |name: &str| {
            let out = folder.path().join(name);
            write_release(&release(5_000), &out, format, true).unwrap();
            let entry = read_release(&out).unwrap().manifest.tables.remove(0);
            (fs::read(out.join(&entry.file)).unwrap(), fs::read(out.join(MANIFEST)).unwrap())
        };
        assert!(bytes("one") == bytes("two"), "{format:?}");
    }
}

#[test]
fn a_changed_file_a_link_and_a_missing_file_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("release");
    let write = || write_release(&release(10), &out, Format::Csv, true).unwrap();
    write();
    let file = out.join("generalized.csv");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("plain", "other")).unwrap();
    assert!(matches!(read_release(&out).unwrap_err(), StoreError::Hash { .. }));
    write();
    let elsewhere = folder.path().join("elsewhere.csv");
    fs::rename(&file, &elsewhere).unwrap();
    assert!(matches!(read_release(&out).unwrap_err(), StoreError::Io { .. }));
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    let error = read_release(&out).unwrap_err();
    assert!(error.to_string().contains("not a plain file name"), "{error}");
}

#[test]
fn parquet_from_other_writers_is_read_by_its_own_types_or_by_ours() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("release");
    write_release(&release(100), &out, Format::Parquet, false).unwrap();
    let open = || Input::open(&Source::Path(out.join("generalized.parquet")), &CsvOptions::default()).unwrap();
    assert_eq!(open().header(), ["i", "r", "d", "o", "c"]);
    let plain = open().read(&[ColumnRequest::named("o"), ColumnRequest::named("d")]).unwrap();
    assert_eq!(plain.columns()[0].domain().kind(), Kind::Category, "Parquet knows no order");
    assert_eq!(plain.columns()[1].domain().kind(), Kind::Date);
    let as_words = open().read(&[ColumnRequest::of_kind("i", Kind::Category)]).unwrap();
    assert_eq!(as_words.columns()[0].domain().text(1), i64::MIN.to_string().as_str());
    let error = open().read(&[ColumnRequest::of_kind("c", Kind::Integer)]).unwrap_err();
    assert!(error.to_string().contains("in column `c` is not an integer"), "{error}");
}

/// Releases that version 1 wrote stay readable. The files are never regenerated.
#[test]
fn frozen_releases_of_version_1_are_read() {
    for name in ["parquet", "csv"] {
        let release =
            read_release(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/frozen/v1")).join(name).as_path());
        let release = release.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((release.manifest.rows, release.manifest.groups), (9, 2));
        assert_eq!(release.table("generalized").unwrap().rows(), 9);
        assert_eq!(release.table("members").unwrap().rows(), 2);
    }
}

#[test]
fn only_the_columns_that_are_wanted_are_read_and_their_files_verified() {
    for format in [Format::Csv, Format::Parquet] {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("release");
        let manifest = write_release(&release(100), &out, format, false).unwrap();
        assert_eq!(read_manifest(&out).unwrap(), manifest);
        let wanted = |columns: &[&str]| {
            [("generalized".to_owned(), columns.iter().map(|&column| column.to_owned()).collect::<Vec<_>>())]
        };
        let whole = read_release(&out).unwrap();
        let some = read_columns(&out, manifest.clone(), &wanted(&["o", "i"])).unwrap();
        let names: Vec<&str> = some.tables[0].columns().iter().map(Column::name).collect();
        assert_eq!(names, ["i", "o"]);
        for name in names {
            assert_eq!(some.tables[0].column(name), whole.tables[0].column(name));
        }
        assert_eq!(read_columns(&out, manifest.clone(), &[]).unwrap().tables[0].rows(), 0);
        let file = out.join(&manifest.tables[0].file);
        let mut bytes = fs::read(&file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&file, bytes).unwrap();
        let refused = read_columns(&out, manifest, &wanted(&["i"]));
        assert!(matches!(refused, Err(StoreError::Hash { .. })), "{refused:?}");
    }
}

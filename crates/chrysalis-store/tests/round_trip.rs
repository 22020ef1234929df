//! Releases that are written read back, in both formats; releases that were changed on the way are refused.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chrysalis_release::{
    Attribute, ColumnEntry, DomainEntry, ENCODING, Form, Manifest, PartEntry, Published, Release, RoleName, TableEntry,
    VERSION,
};
use chrysalis_store::{
    Format, Input, MANIFEST, Source, StoreError, read_columns, read_manifest, read_release, stray_files,
};
use chrysalis_table::{
    Codes, Column, ColumnRequest, Counted, CsvOptions, Date, DateTime, Domain, Kind, Stopped, Table, Value, Watch,
    no_progress,
};

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
        column(
            "t",
            Kind::DateTime,
            vec![Value::DateTime(DateTime(-1)), Value::DateTime(DateTime::LAST)],
            true,
            rows,
            1,
        ),
        column("o", Kind::Ordinal, vec![text("low"), text("high")], true, rows, 1),
        column("c", Kind::Category, words, true, rows, 3),
    ])
}

fn release(rows: usize) -> Release {
    let table = table(rows);
    let kinds = table.columns().iter();
    let columns = kinds.map(|column| ColumnEntry { name: column.name().into(), kind: column.domain().kind().into() });
    let entry = TableEntry { name: "generalized".into(), rows: rows as u64, columns: columns.collect(), parts: vec![] };
    let ordinal = Attribute {
        name: "o".into(),
        role: RoleName::Other,
        kind: Kind::Ordinal.into(),
        published: Published::Exact,
        domain: DomainEntry::of(table.column("o").unwrap().domain(), None),
        taxonomy: None,
        categories: None,
        weights: None,
        ordinary: None,
        near: None,
        prepared: None,
        weight: false,
    };
    let manifest = Manifest {
        version: VERSION,
        encoding: ENCODING,
        method: Form::Generalize,
        partitioner: "mondrian".into(),
        rows: rows as u64,
        groups: 1,
        promises: vec![],
        attributes: vec![ordinal],
        together: Vec::new(),
        quasi_identifiers: vec![],
        tables: vec![entry],
        persons: None,
        suppressed: 0,
        reproducible: false,
        transparent: false,
        series: None,
        accepted: Vec::new(),
    };
    Release { manifest, tables: vec![table] }
}

fn write_release(release: &Release, out: &Path, format: Format, force: bool) -> Result<Manifest, StoreError> {
    chrysalis_store::write_release(release, out, format, force, &no_progress)
}

/// More rows than one row group has, so that columns are read in parallel from several row groups.
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
            let manifest = read_release(&out).unwrap().manifest;
            let files: Vec<Vec<u8>> = manifest.files().map(|file| fs::read(out.join(file)).unwrap()).collect();
            (files, fs::read(out.join(MANIFEST)).unwrap())
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
    assert_eq!(open().header(), ["i", "r", "d", "t", "o", "c"]);
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
        let file = out.join(&manifest.tables[0].parts[0].file);
        let mut bytes = fs::read(&file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&file, bytes).unwrap();
        let refused = read_columns(&out, manifest, &wanted(&["i"]));
        assert!(matches!(refused, Err(StoreError::Hash { .. })), "{refused:?}");
    }
}

#[test]
fn what_is_written_is_version_2_with_one_part_per_table() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("release");
    let mut old = release(10);
    (old.manifest.version, old.manifest.encoding) = (1, 0);
    let manifest = write_release(&old, &out, Format::Csv, false).unwrap();
    assert_eq!((manifest.version, manifest.encoding), (VERSION, ENCODING));
    let [part] = manifest.tables[0].parts.as_slice() else { panic!("{:?}", manifest.tables[0].parts) };
    assert_eq!((part.file.as_str(), part.rows, part.sha256.len()), ("generalized.csv", 10, 64));
    let json = fs::read_to_string(out.join(MANIFEST)).unwrap();
    assert!(json.contains("\"version\": 2") && json.contains("\"features\": []"), "{json}");
    assert_eq!(stray_files(&out, &manifest).unwrap(), Vec::<String>::new());
    fs::write(out.join("notes.txt"), "").unwrap();
    fs::create_dir(out.join("more")).unwrap();
    assert_eq!(stray_files(&out, &manifest).unwrap(), ["more/", "notes.txt"]);
}

/// Writes the rows as several releases inside `folder` and puts these together as the parts of one.
fn in_parts(folder: &Path, lengths: &[usize], format: Format) -> Release {
    let whole = release(lengths.iter().sum());
    let out = folder.join("parts");
    fs::create_dir(&out).unwrap();
    let mut manifest = whole.manifest.clone();
    let mut start = 0;
    for (at, &rows) in lengths.iter().enumerate() {
        let wanted: Vec<u32> = (start as u32..(start + rows) as u32).collect();
        start += rows;
        let part = Release { manifest: manifest.clone(), tables: vec![whole.tables[0].gather(&wanted)] };
        let alone = folder.join(format!("part-{at}"));
        let written = write_release(&part, &alone, format, false).unwrap();
        let PartEntry { file, rows, sha256 } = written.tables[0].parts[0].clone();
        fs::rename(alone.join(&file), out.join(format!("{at}-{file}"))).unwrap();
        manifest.tables[0].parts.push(PartEntry { file: format!("{at}-{file}"), rows, sha256 });
    }
    // The writer of manifests lists the feature if a table has more than one part. A table without parts needs it, too.
    let json = manifest.to_json().unwrap().replace("\"features\": []", "\"features\": [\"parts\"]");
    fs::write(out.join(MANIFEST), json).unwrap();
    Release { manifest, ..whole }
}

/// The parts have values of their own, so their dictionaries must be merged; some have no rows at all.
#[test]
fn a_table_of_several_parts_is_read_as_one() {
    for format in [Format::Csv, Format::Parquet] {
        for lengths in [&[400usize, 600][..], &[1, 0, 2, 500, 1], &[0, 0], &[]] {
            let folder = tempfile::tempdir().unwrap();
            let expected = in_parts(folder.path(), lengths, format);
            let out = folder.path().join("parts");
            let back = read_release(&out).unwrap();
            assert_eq!(back.manifest, expected.manifest);
            let names: Vec<&str> = back.tables[0].columns().iter().map(Column::name).collect();
            let kinds: Vec<Kind> = back.tables[0].columns().iter().map(|column| column.domain().kind()).collect();
            assert_eq!(names, ["i", "r", "d", "t", "o", "c"]);
            assert_eq!(kinds, Kind::ALL);
            if back.tables[0].rows() > 0 {
                assert!(back.tables == expected.tables, "{format:?} {lengths:?}");
            }
            let wanted = [("generalized".to_owned(), vec!["o".to_owned()])];
            let some = read_columns(&out, back.manifest.clone(), &wanted).unwrap();
            assert_eq!(some.tables[0].columns(), [back.tables[0].column("o").unwrap().clone()]);
            // The rows of several parts are written again as one part.
            let again = folder.path().join("again");
            let manifest = write_release(&back, &again, format, false).unwrap();
            assert_eq!(manifest.tables[0].parts.len(), 1);
            assert!(read_release(&again).unwrap().tables == back.tables);
            // And replaced as a whole, with all its files.
            write_release(&release(3), &out, format, true).unwrap();
            assert_eq!(read_release(&out).unwrap().manifest.rows, 3);
        }
    }
}

#[test]
fn every_part_is_verified() {
    let folder = tempfile::tempdir().unwrap();
    let release = in_parts(folder.path(), &[40, 60], Format::Csv);
    let out = folder.path().join("parts");
    assert_eq!(stray_files(&out, &release.manifest).unwrap(), Vec::<String>::new());
    let files: Vec<String> = release.manifest.files().map(str::to_owned).collect();
    for file in &files {
        let text = fs::read_to_string(out.join(file)).unwrap();
        fs::write(out.join(file), text.replace("plain", "other")).unwrap();
        let changed = read_release(&out).unwrap_err();
        assert!(matches!(&changed, StoreError::Hash { file: found } if found.ends_with(file)), "{changed}");
        fs::write(out.join(file), text).unwrap();
    }
    let mut manifest = release.manifest.clone();
    (manifest.tables[0].parts[0].rows, manifest.tables[0].parts[1].rows) = (41, 59);
    fs::write(out.join(MANIFEST), manifest.to_json().unwrap()).unwrap();
    let counted = read_release(&out).unwrap_err();
    assert!(counted.to_string().ends_with("has 40 rows, the manifest says 41"), "{counted}");
    // No two tables, and no two parts, may share a file.
    manifest = release.manifest;
    manifest.tables[0].parts[1] = manifest.tables[0].parts[0].clone();
    fs::write(out.join(MANIFEST), manifest.to_json().unwrap()).unwrap();
    assert!(matches!(read_release(&out).unwrap_err(), StoreError::Release { .. }));
}

/// Ends of ranges have the order of their attribute, even if a column does not have all its values.
#[test]
fn ordinal_columns_have_the_order_of_the_attribute_that_stands_in_them() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("release");
    let mut release = release(4);
    let text = |text: &str| Value::Text(text.into());
    let words = |name: &str, words: [&str; 2]| column(name, Kind::Ordinal, words.map(text).to_vec(), false, 4, 1);
    let columns = vec![
        column("group_id", Kind::Integer, vec![Value::Integer(1)], false, 4, 1),
        words("pain_min", ["none", "mild"]),
        words("pain_max", ["mild", "awful"]),
        words("size", ["small", "large"]),
    ];
    let attribute = |name: &str, role: RoleName, values: &[&str]| Attribute {
        name: name.into(),
        role,
        domain: DomainEntry::of(
            &Domain::new(Kind::Ordinal, values.iter().map(|value| text(value)).collect(), false),
            None,
        ),
        ..release.manifest.attributes[0].clone()
    };
    release.manifest.attributes = vec![
        attribute("pain", RoleName::Quasi, &["none", "mild", "awful"]),
        attribute("size", RoleName::Other, &["small", "large"]),
    ];
    let entry = |column: &Column| ColumnEntry { name: column.name().into(), kind: column.domain().kind().into() };
    release.manifest.tables[0].columns = columns.iter().map(entry).collect();
    release.tables = vec![Table::new(columns)];
    write_release(&release, &out, Format::Parquet, false).unwrap();
    assert!(read_release(&out).unwrap().tables == release.tables);
}

/// Stops once it has been asked `left` times.
struct Impatient {
    left: AtomicU64,
}

impl Watch for Impatient {
    fn phase(&self, _: &'static str, _: Option<u64>, _: Counted) {}

    fn advance(&self, _: u64) {}

    fn stopped(&self) -> bool {
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
    }
}

/// Wherever it is stopped, the place is as it was, and nothing lies beside it.
#[test]
fn a_stopped_write_leaves_nothing_behind() {
    for format in [Format::Parquet, Format::Csv] {
        let folder = tempfile::tempdir().unwrap();
        let (fresh, kept) = (folder.path().join("fresh"), folder.path().join("kept"));
        write_release(&release(10), &kept, format, false).unwrap();
        let release = release(200_000);
        let mut n_stops = 0;
        for pauses in 0.. {
            let watch = Impatient { left: AtomicU64::new(pauses) };
            let watch: &dyn Watch = &watch;
            let write = |out: &Path, force| {
                Stopped::catch(|| chrysalis_store::write_release(&release, out, format, force, &|n| watch.tell(n)))
            };
            if let Ok(written) = write(&fresh, false) {
                written.unwrap();
                break;
            }
            assert!(write(&kept, true).is_err());
            n_stops += 1;
            assert_eq!(names(folder.path()), ["kept"], "after {pauses} pauses");
        }
        assert!(n_stops > 10, "{n_stops}");
        assert_eq!(read_release(&kept).unwrap().manifest.rows, 10);
        assert_eq!(read_release(&fresh).unwrap().manifest.rows, 200_000);
    }
}

#[test]
fn progress_sums_up_to_the_rows_of_all_tables() {
    for format in [Format::Parquet, Format::Csv] {
        let folder = tempfile::tempdir().unwrap();
        let told = AtomicU64::new(0);
        let progress = |n| {
            told.fetch_add(n, Ordering::Relaxed);
        };
        let out = folder.path().join("release");
        chrysalis_store::write_release(&release(70_000), &out, format, false, &progress).unwrap();
        assert_eq!(told.into_inner(), 70_000, "{format:?}");
    }
}

/// Both formats stop while they are read.
#[test]
fn a_table_that_is_read_can_be_stopped() {
    let folder = tempfile::tempdir().unwrap();
    for (format, file) in [(Format::Parquet, "generalized.parquet"), (Format::Csv, "generalized.csv")] {
        let out = folder.path().join(file);
        write_release(&release(100_000), &out, format, false).unwrap();
        let input = Input::open(&Source::Path(out.join(file)), &CsvOptions::default()).unwrap();
        let watch = Impatient { left: AtomicU64::new(3) };
        let watch: &dyn Watch = &watch;
        let wanted = [ColumnRequest::named("i"), ColumnRequest::named("c")];
        let ended = Stopped::catch(|| input.read_with(&wanted, &|n| watch.tell(n)).map(|table| table.rows()));
        assert!(ended.is_err(), "{ended:?}");
    }
}

/// The next run that writes to a folder, whatever it writes, removes what a killed run left there.
#[test]
fn the_next_run_removes_what_a_killed_one_left() {
    let folder = tempfile::tempdir().unwrap();
    let abandon = || {
        let stale = folder.path().join(".chrysalis-Ab12Cd");
        fs::create_dir(&stale).unwrap();
        fs::write(stale.join("generalized.parquet"), "half").unwrap();
        fs::write(folder.path().join(".chrysalis-Ef34Gh"), "half").unwrap();
    };
    abandon();
    write_release(&release(10), &folder.path().join("release"), Format::Csv, false).unwrap();
    assert_eq!(names(folder.path()), ["release"]);
    abandon();
    chrysalis_store::write_file(&folder.path().join("page.html"), b"<p>", false).unwrap();
    assert_eq!(names(folder.path()), ["page.html", "release"]);
    abandon();
    chrysalis_store::write_folder(&folder.path().join("example"), |path| fs::write(path.join("a"), "a")).unwrap();
    assert_eq!(names(folder.path()), ["example", "page.html", "release"]);
}

/// Several runs that write to one folder at once, each cleaning up before it writes.
#[test]
fn concurrent_writers_keep_their_folders() {
    let folder = tempfile::tempdir().unwrap();
    let release = release(2_000);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (folder, release) = (&folder, &release);
            scope.spawn(move || {
                for _ in 0..5 {
                    let out = folder.path().join(format!("release-{writer}"));
                    write_release(release, &out, Format::Csv, true).unwrap();
                    assert!(read_release(&out).unwrap().tables == release.tables);
                }
            });
        }
    });
    assert_eq!(names(folder.path()), ["release-0", "release-1", "release-2", "release-3"]);
}

//! Tables that are read are written again with the same bytes, so that an auditor can tell whether a file holds
//! anything besides its table.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrysalis_release::{
    Attribute, ColumnEntry, DomainEntry, ENCODING, Form, Manifest, Published, Release, RoleName, TableEntry, VERSION,
};
use chrysalis_store::{FilesReport, Format, MANIFEST, look_at_files, read_release, write_release};
use chrysalis_table::{Codes, Column, Date, DateTime, Domain, Kind, Table, Value, no_progress};
use proptest::prelude::*;

/// A release of one table, each column of which is an attribute.
fn release(table: Table) -> Release {
    let columns = table.columns().iter();
    let columns = columns.map(|column| ColumnEntry { name: column.name().into(), kind: column.domain().kind().into() });
    let rows = table.rows() as u64;
    let entry = TableEntry { name: "generalized".into(), rows, columns: columns.collect(), parts: vec![] };
    let attribute = |column: &Column| Attribute {
        name: column.name().into(),
        role: RoleName::Other,
        kind: column.domain().kind().into(),
        published: Published::Exact,
        domain: DomainEntry::of(column.domain(), None),
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
        rows,
        groups: 1,
        promises: vec![],
        attributes: table.columns().iter().map(attribute).collect(),
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

/// Writes a release, reads it, and looks at its files.
fn seen(release: &Release, format: Format) -> FilesReport {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("release");
    write_release(release, &out, format, false, &no_progress).unwrap();
    look_at_files(&out, &read_release(&out).unwrap(), &no_progress).unwrap()
}

fn fine() -> FilesReport {
    FilesReport { written_again: 1, ..FilesReport::default() }
}

fn column(name: &str, kind: Kind, values: Vec<Value>, has_missing: bool, codes: &[u32]) -> Column {
    let domain = Domain::new(kind, values, has_missing);
    let n = domain.len() as u32;
    let column = Column::new(name, Arc::new(domain), Codes::collect(n as usize, codes.iter().map(|code| code % n)));
    // A domain has only values that occur.
    column.gather(&(0..codes.len() as u32).collect::<Vec<_>>())
}

/// All kinds, several row groups, more values than a dictionary holds, and no rows at all.
#[test]
fn tables_of_every_kind_and_length_are_written_again_as_they_were() {
    let text = |text: &str| Value::Text(text.into());
    for (rows, format) in
        [(1_100_000, Format::Parquet), (70_000, Format::Csv), (1, Format::Csv), (0, Format::Parquet), (0, Format::Csv)]
    {
        let mixed: Vec<u32> = (0..rows as u32).map(|row| row.wrapping_mul(2_654_435_761) >> 7).collect();
        let many = (0..400_000).map(|number| Value::Real(f64::from(number) / 3.0)).collect();
        let table = Table::new(vec![
            column("group_id", Kind::Integer, (1..=40_000).map(Value::Integer).collect(), false, &mixed),
            column("r", Kind::Real, many, true, &mixed),
            column("d", Kind::Date, vec![Value::Date(Date(-1)), Value::Date(Date(20_000))], false, &mixed),
            column(
                "t",
                Kind::DateTime,
                vec![Value::DateTime(DateTime(-1)), Value::DateTime(DateTime(0))],
                true,
                &mixed,
            ),
            column("o", Kind::Ordinal, vec![text("low"), text("high")], true, &mixed),
            column("c", Kind::Category, vec![text(" b"), text("a,b"), text("é")], true, &mixed),
        ]);
        assert_eq!(seen(&release(table), format), fine(), "{rows} rows of {format:?}");
    }
}

/// A zero that has lost its sign would come back as another number.
#[test]
fn no_zero_has_a_sign() {
    let table = || Table::new(vec![Column::reals("mean", &[0.0, -0.0, 1.5])]);
    for format in [Format::Csv, Format::Parquet] {
        assert_eq!(seen(&release(table()), format), fine());
    }
    assert_eq!(table().columns()[0].domain().len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn any_words_and_numbers_are_written_again_as_they_were(
        words in prop::collection::btree_set("[ab ,;|\t\"\n\r'é\u{feff}\u{a0}0-9?-]{1,6}", 1..6),
        reals in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::ZERO | prop::num::f64::SUBNORMAL, 1..6),
        codes in prop::collection::vec(0u32..12, 0..40),
        has_missing in any::<bool>(),
        only_words in any::<bool>(),
    ) {
        let mut reals: Vec<f64> = reals.iter().map(|number| number + 0.0).collect();
        reals.sort_by(f64::total_cmp);
        reals.dedup();
        let words: Vec<Value> = words.iter().map(|word| Value::Text(word.as_str().into())).collect();
        let mut columns = vec![column("word", Kind::Category, words, has_missing, &codes)];
        if !only_words {
            columns.push(column("number", Kind::Real, reals.into_iter().map(Value::Real).collect(), has_missing, &codes));
        }
        let release = release(Table::new(columns));
        for format in [Format::Csv, Format::Parquet] {
            prop_assert_eq!(seen(&release, format), fine());
        }
    }
}

fn frozen(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../chrysalis-cli/tests/frozen/v1").join(name).join("release")
}

/// The layout has not changed since version 1, whose files are never regenerated: a change of any byte shows up here,
/// and calls for the next number of `ENCODING`.
#[test]
fn tables_of_version_1_are_written_with_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let names =
        ["generalize-real", "permute", "anatomy-cost", "angel-cost", "butterfly-cost", "anatomy", "angel", "shuffle"];
    let mut n_files = 0;
    for name in names {
        let old = read_release(&frozen(name)).unwrap();
        let is_csv = old.manifest.files().any(|file| file.ends_with(".csv"));
        let format = if is_csv { Format::Csv } else { Format::Parquet };
        let out = folder.path().join(name);
        write_release(&old, &out, format, false, &no_progress).unwrap();
        for file in old.manifest.files() {
            assert!(fs::read(out.join(file)).unwrap() == fs::read(frozen(name).join(file)).unwrap(), "{name}: {file}");
            n_files += 1;
        }
    }
    assert_eq!((n_files, ENCODING), (20, 1));
}

/// Parts are compared with the writer's output one by one, each with a dictionary of its own.
#[test]
fn every_part_of_a_table_is_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let whole = Table::new(vec![
        Column::integers("group_id", &(1..=300).collect::<Vec<_>>()),
        Column::texts("c", (0..300).map(|row| if row < 100 { "a" } else { "b" })),
    ]);
    for format in [Format::Csv, Format::Parquet] {
        let out = folder.path().join(format!("{format:?}"));
        let mut manifest = write_release(&release(whole.clone()), &out, format, false, &no_progress).unwrap();
        let written = out.join(&manifest.tables[0].parts[0].file);
        let ending = written.extension().unwrap().to_str().unwrap().to_owned();
        fs::remove_file(written).unwrap();
        manifest.tables[0].parts.clear();
        for (at, rows) in [0..120u32, 120..300].into_iter().enumerate() {
            let part = release(whole.gather(&rows.collect::<Vec<_>>()));
            let beside = folder.path().join(format!("part-{format:?}-{at}"));
            let mut written = write_release(&part, &beside, format, false, &no_progress).unwrap();
            let mut part = written.tables[0].parts.remove(0);
            let file = format!("generalized-{}.{ending}", at + 1);
            fs::copy(beside.join(&part.file), out.join(&file)).unwrap();
            part.file = file;
            manifest.tables[0].parts.push(part);
        }
        let write = |manifest: &Manifest| fs::write(out.join(MANIFEST), manifest.to_json().unwrap()).unwrap();
        write(&manifest);
        let look = || look_at_files(&out, &read_release(&out).unwrap(), &no_progress).unwrap();
        assert_eq!(look(), FilesReport { written_again: 2, ..FilesReport::default() });
        fs::rename(out.join(format!("generalized-2.{ending}")), out.join(format!("generalized-3.{ending}"))).unwrap();
        manifest.tables[0].parts[1].file = format!("generalized-3.{ending}");
        write(&manifest);
        let found = look().findings;
        assert_eq!(found, [format!("the writer would not call a file of `generalized` `generalized-3.{ending}`")]);
    }
}

//! Parquet files, in the writer's layout and in others.

use std::fs;
use std::path::Path;

use parquet::file::metadata::KeyValue;
use parquet::file::properties::EnabledStatistics;
use serde_json::{Value, json};

use super::{Ground, detail};
use crate::common::run;
use crate::forge::{self, Forger};
use crate::forge_parquet::{rewritten, with_gap};

/// A change to a Parquet file, what the bytes reveal, and whether the structure reveals it as well.
type Trick<'a> = (&'a str, Box<dyn Fn(&[u8]) -> Vec<u8>>, &'a str, bool);

fn parquet_tricks() -> Vec<Trick<'static>> {
    let all = 1 << 20;
    let dictionary =
        |change: fn(&mut Vec<String>)| move |file: &[u8]| rewritten(file, |it| it, 1 << 20, Some(("sex", &change)));
    vec![
        (
            "metadata",
            Box::new(move |file| {
                let said = vec![KeyValue::new("for".to_owned(), "you".to_owned())];
                rewritten(file, |it| it.set_key_value_metadata(Some(said)), all, None)
            }),
            "key-value metadata",
            true,
        ),
        (
            "a writer's name",
            Box::new(move |file| rewritten(file, |it| it.set_created_by("chrysalis for you".to_owned()), all, None)),
            "another name of its writer",
            true,
        ),
        (
            "statistics",
            Box::new(move |file| rewritten(file, |it| it.set_statistics_enabled(EnabledStatistics::Chunk), all, None)),
            "statistics",
            true,
        ),
        (
            "statistics of pages",
            Box::new(move |file| {
                let set = EnabledStatistics::Page;
                rewritten(file, |it| it.set_statistics_enabled(set).set_write_page_header_statistics(true), all, None)
            }),
            "column indexes",
            true,
        ),
        (
            "Bloom filters",
            Box::new(move |file| rewritten(file, |it| it.set_bloom_filter_enabled(true), all, None)),
            "Bloom filters",
            true,
        ),
        ("a gap", Box::new(|file| with_gap(file, b"who reads this")), "bytes that belong to nothing", true),
        ("a byte behind the magic", Box::new(|file| [file, b"xPAR1"].concat()), "", true),
        (
            "an entry that no row has",
            Box::new(dictionary(|entries| entries.push("for you".to_owned()))),
            "dictionary entries that no row has, or repeated ones",
            true,
        ),
        (
            "an entry twice",
            Box::new(dictionary(|entries| entries.push(entries[0].clone()))),
            "dictionary entries that no row has, or repeated ones",
            true,
        ),
        (
            "a dictionary in another order",
            Box::new(dictionary(|entries| entries.reverse())),
            "pages, row groups or dictionaries are laid out differently",
            false,
        ),
        (
            "small pages",
            Box::new(move |file| {
                rewritten(file, |it| it.set_data_page_row_count_limit(100).set_write_batch_size(100), all, None)
            }),
            "pages, row groups or dictionaries are laid out differently",
            false,
        ),
        (
            "small row groups",
            Box::new(|file| rewritten(file, |it| it, 100, None)),
            "pages, row groups or dictionaries are laid out differently",
            false,
        ),
        (
            "no dictionary",
            Box::new(move |file| rewritten(file, |it| it.set_dictionary_enabled(false), all, None)),
            "pages, row groups or dictionaries are laid out differently",
            false,
        ),
        (
            "another compression",
            Box::new(move |file| {
                let zstd = parquet::basic::ZstdLevel::try_new(19).unwrap();
                rewritten(file, |it| it.set_compression(parquet::basic::Compression::ZSTD(zstd)), all, None)
            }),
            "pages, row groups or dictionaries are laid out differently",
            false,
        ),
    ]
}

#[test]
fn parquet_that_says_more_than_its_table_is_found() {
    let ground = Ground::new(&["anatomy"], "parquet");
    let sound = fs::read(ground.path("anatomy/qit.parquet")).unwrap();
    assert!(rewritten(&sound, |it| it, 1 << 20, None) == sound, "the forger writes as the writer does");
    for (what, change, words, shows_in_structure) in parquet_tricks() {
        let forger = ground.forger("anatomy");
        forger.replace("qit.parquet", &change(&forger.bytes("qit.parquet")));
        if words.is_empty() {
            run(ground.folder.path(), "audit forged").expect(2);
            continue;
        }
        let findings = ground.findings("", 4);
        let start = "`qit.parquet` does not have the bytes that the writer would write: ";
        let is_told =
            findings.iter().any(|(by, finding)| by == "files" && finding.starts_with(start) && finding.contains(words));
        assert!(is_told && findings.len() == 1, "{what}: {findings:?}");
        // The same under an encoding that this version cannot write: only the structure can reveal it.
        for encoding in [json!(7), Value::Null] {
            forger.say(|manifest| match &encoding {
                Value::Null => drop(manifest.as_object_mut().unwrap().shift_remove("encoding")),
                number => manifest["encoding"] = number.clone(),
            });
            let findings = ground.findings("", if shows_in_structure { 4 } else { 0 });
            let told = format!("`qit.parquet` holds more than its table: {words}");
            let is_told =
                findings.iter().any(|(_, finding)| finding.contains(words) && finding.starts_with(&told[..42]));
            assert_eq!(is_told, shows_in_structure, "{what}: {findings:?}");
        }
    }
}

/// Where bytes cannot be compared, the report says so, and what was checked instead.
#[test]
fn the_report_says_where_bytes_were_not_compared() {
    let ground = Ground::new(&["anatomy"], "parquet");
    let line = |encoding: Value| {
        ground.forger("anatomy").say(|manifest| match encoding {
            Value::Null => drop(manifest.as_object_mut().unwrap().shift_remove("encoding")),
            number => manifest["encoding"] = number,
        });
        detail(ground.folder.path(), "audit forged", "files")
    };
    let looked = "looked for metadata, statistics, indexes, filters, idle dictionary entries and bytes that belong to \
                  nothing, and found none; how rows are cut into pages, and the order of dictionaries, could still \
                  reveal something";
    let fine =
        "2 tables, named by the manifest, and nothing else; the bytes of Parquet files were NOT compared, because";
    assert_eq!(line(json!(7)), format!("{fine} this program does not write the encoding 7: {looked}"));
    assert_eq!(line(Value::Null), format!("{fine} the manifest names no encoding: {looked}"));
    let frozen = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/frozen/v1");
    let parquet = detail(&frozen, "audit permute/release", "files");
    assert_eq!(parquet, format!("{fine} version 1 names no encoding: {looked}"));
    let csv = detail(&frozen, "audit anatomy/release", "files");
    assert!(csv.ends_with("canonical: every table has the bytes that the writer would write"), "{csv}");
}

/// Version 1 has no encoding to hide behind: its manifest and its CSV are compared with the writer's.
#[test]
fn releases_of_version_1_are_looked_at_as_closely() {
    let frozen = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/frozen/v1");
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground { folder };
    let forger = |name: &str| Forger::copy(&frozen.join(name).join("release"), &ground.path("forged"));
    let replace = |forger: &Forger, file: &str, bytes: &[u8]| {
        fs::write(forger.folder.join(file), bytes).unwrap();
        forger.say(|manifest| {
            let tables = manifest["tables"].as_array_mut().unwrap().iter_mut();
            tables
                .filter(|table| table["file"] == file)
                .for_each(|table| table["sha256"] = json!(forge::sha256(bytes)));
        });
    };
    let blank = forger("anatomy");
    replace(&blank, "qit.csv", blank.text("qit.csv").replacen(',', ", ", 1).as_bytes());
    assert!(ground.findings("", 4)[0].1.ends_with("there are blanks around a cell, in line 1"));
    let spelled = forger("permute");
    spelled.spell(|text| text.replacen("\"version\": 1", "\"version\":  1", 1));
    assert!(ground.findings("", 4)[0].1.ends_with("is not written as the writer would write it, from line 3 on"));
    for (what, change, words, shows) in
        parquet_tricks().into_iter().filter(|(_, _, words, shows)| *shows && !words.is_empty())
    {
        let forged = forger("permute");
        replace(&forged, "pqt.parquet", &change(&forged.bytes("pqt.parquet")));
        let findings = ground.findings("", if shows { 4 } else { 0 });
        assert!(findings.iter().any(|(_, finding)| finding.contains(words)), "{what}: {findings:?}");
    }
}

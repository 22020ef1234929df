//! Files and ids.

use std::io::Write;

use serde_json::json;

use super::Ground;
use crate::common::run;
use crate::forge::{self, Forger};

#[test]
fn ids_other_than_the_numbers_from_1_on_are_found() {
    let names = ["generalize", "anatomy", "permute", "shuffle", "angel", "butterfly"];
    let ground = Ground::new(&names, "csv");
    let tables = |name: &str| -> Vec<String> {
        let manifest = ground.forger(name).manifest();
        let files =
            manifest["tables"].as_array().unwrap().iter().map(|it| it["parts"][0]["file"].as_str().unwrap().to_owned());
        files.filter(|file| file != "members.csv").collect()
    };
    for name in names {
        let word = if name == "angel" { "batch" } else { "group" };
        // Every id is shifted, or only the last one.
        for what in ["moved", "last"] {
            let lie = |forger: &Forger| {
                let n = forger.manifest()["groups"].as_u64().unwrap();
                for file in tables(name) {
                    let mut changed = forge::parse_csv(&forger.text(&file));
                    let at = changed[0].iter().position(|it| *it == format!("{word}_id")).unwrap();
                    for row in &mut changed[1..] {
                        let id: u64 = row[at].parse().unwrap();
                        row[at] = if what == "moved" {
                            id + 7
                        } else if id == n {
                            n + 1
                        } else {
                            id
                        }
                        .to_string();
                    }
                    forger.replace(&file, forge::to_csv(&changed).as_bytes());
                }
            };
            ground.found(name, &format!("{name}, {what}"), lie, "ids", &format!("the {word} ids of `"));
        }
    }
}

#[test]
fn csv_that_says_more_than_its_table_is_found() {
    let ground = Ground::new(&["anatomy"], "csv");
    let replace = |change: &dyn Fn(String) -> Vec<u8>| {
        let forger = ground.forger("anatomy");
        forger.replace("qit.csv", &change(forger.text("qit.csv")));
        ground.findings("", 4)
    };
    let third = |text: &str, from: &str, to: &str| {
        let mut lines: Vec<String> = text.lines().map(|line| format!("{line}\n")).collect();
        lines[2] = lines[2].replacen(from, to, 1);
        lines.concat().into_bytes()
    };
    let gzip = |text: String| {
        let mut packed =
            flate2::GzBuilder::new().comment("who reads this").write(Vec::new(), flate2::Compression::fast());
        packed.write_all(text.as_bytes()).unwrap();
        packed.finish().unwrap()
    };
    let cases: [(&str, &dyn Fn(String) -> Vec<u8>, &str); 9] = [
        ("a blank before a cell", &|text| third(&text, ",", ", "), "there are blanks around a cell, in line 3"),
        ("a blank after a cell", &|text| third(&text, ",", " ,"), "there are blanks around a cell, in line 3"),
        ("a tab", &|text| third(&text, ",", "\t,"), "there are blanks around a cell, in line 3"),
        (
            "quotes",
            &|text| format!("\"{}", text.replacen(',', "\",", 1)).into_bytes(),
            "a cell has quotes that it does not need, in line 1",
        ),
        ("line ends", &|text| text.replacen('\n', "\r\n", 1).into_bytes(), "lines end differently, in line 1"),
        ("no last line end", &|text| text.trim_end().as_bytes().to_vec(), "the file ends too soon, in line 401"),
        ("a byte order mark", &|text| format!("\u{feff}{text}").into_bytes(), "it begins with a byte order mark"),
        ("gzip", &gzip, "it is packed by gzip, which has room for names and comments"),
        ("zstd", &|text| zstd::encode_all(text.as_bytes(), 1).unwrap(), "it is packed by zstd"),
    ];
    for (what, change, words) in cases {
        let findings = replace(change);
        let sentence = format!("`qit.csv` does not have the bytes that the writer would write: {words}");
        assert!(
            findings.len() == 1 && findings[0].0 == "files" && findings[0].1.starts_with(&sentence),
            "{what}: {findings:?}"
        );
    }
    // A number may be spelled in many ways: 007 is 7.
    let findings = replace(&|text| {
        let mut cells = forge::parse_csv(&text);
        cells[1][0] = format!("0{}", cells[1][0]);
        forge::to_csv(&cells).into_bytes()
    });
    assert!(findings[0].1.ends_with("a cell is spelled differently, in line 2"), "{findings:?}");
}

#[test]
fn files_and_hashes_have_the_names_that_the_writer_gives_them() {
    let ground = Ground::new(&["anatomy"], "csv");
    let rename = |forger: &Forger| forger.rename("st.csv", "st-for-you.csv");
    ground.found("anatomy", "a name", rename, "files", "the writer would not call a file of `st` `st-for-you.csv`");
    let shout = |forger: &Forger| {
        forger.say(|manifest| {
            let part = forge::part_of(manifest, "st.csv");
            part["sha256"] = json!(part["sha256"].as_str().unwrap().to_uppercase());
        });
    };
    ground.found(
        "anatomy",
        "a hash",
        shout,
        "files",
        "the hash of `st.csv` is not spelled as the writer would spell it",
    );
}

#[test]
fn a_manifest_is_written_in_one_way_only() {
    let ground = Ground::new(&["anatomy"], "csv");
    let spelled: [(&str, &dyn Fn(String) -> String, usize); 7] = [
        ("blanks", &|text| text.replacen("\"version\": 2", "\"version\":  2", 1), 3),
        ("blanks at the end", &|text| format!("{text} "), 0),
        ("tabs", &|text| text.replacen("  \"version\"", "\t\"version\"", 1), 3),
        ("no line end", &|text| text.trim_end().to_owned(), 0),
        (
            "another order",
            &|text| text.replacen("\"version\": 2,\n  \"features\": [],", "\"features\": [],\n  \"version\": 2,", 1),
            3,
        ),
        ("an escape", &|text| text.replacen("\"anatomy\"", "\"\\u0061natomy\"", 1), 6),
        (
            "nothing said at length",
            &|text| text.replacen("\"rows\": 400,", "\"rows\": 400,\n  \"suppressed\": 0,", 1),
            9,
        ),
    ];
    for (what, change, line) in spelled {
        let words = format!("`release.json` is not written as the writer would write it, from line {line}");
        let words = if line == 0 { "`release.json` is not written as the writer would write it" } else { &words };
        ground.found("anatomy", what, |forger| forger.spell(change), "files", words);
    }
    // A manifest with unknown fields is not even read.
    let forger = ground.forger("anatomy");
    forger.spell(|text| text.replacen("\"rows\": 400,", "\"rows\": 400,\n  \"note\": \"for you\",", 1));
    let refused = run(ground.folder.path(), "audit forged").expect(2);
    assert!(refused.stderr.contains("unknown field `note`"), "{refused}");
}

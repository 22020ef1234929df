//! Files that are small on disk and huge when read, at full size: each is refused with one sentence that says what was
//! found, what was allowed and what to do, and the program never takes 500 MB for that.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use common::{Outcome, Release};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

/// The most memory that a refusal may take.
const MOST: u64 = 500_000_000;
/// The rows of the table that once took an audit to 5.7 GB.
const ROWS: u64 = 210_000_000;
/// The lines of the taxonomy that once took 4.6 GB.
const LINES: usize = 2_000_000;

/// Runs a command and returns its output and peak memory: the kernel keeps the high-water mark, so polling every two
/// milliseconds misses at most the growth of the last two. 0 if the system does not report it.
fn run(folder: &Path, line: &str) -> (Outcome, u64) {
    let mut command = common::chrysalis(folder);
    command.args(common::split(line));
    let (out, err) = (folder.join("stdout"), folder.join("stderr"));
    command.stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
    let mut child = command.spawn().unwrap();
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        peak = fs::read_to_string(&status_file).ok().and_then(|status| high_water_mark(&status)).unwrap_or(0).max(peak);
        std::thread::sleep(Duration::from_millis(2));
    };
    let read = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    let (command, code, seconds) = (format!("chrysalis {line}"), status.code(), 0.0);
    (Outcome { command, code, stdout: read(&out), stderr: read(&err), seconds }, peak)
}

fn high_water_mark(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kibibytes| kibibytes * 1024)
}

/// The command must be refused in little memory, with this error and this hint; `…` stands for anything.
#[track_caller]
fn refused(folder: &Path, line: &str, error: &str, hint: &str) {
    let (outcome, peak) = run(folder, line);
    let complaint = outcome.complaint(&[2]);
    assert!(complaint.is_none(), "{}", complaint.unwrap_or_default());
    let expected = format!("error: {error}\nhint: {hint}\n");
    let mut rest = outcome.stderr.as_str();
    for (at, piece) in expected.split('…').enumerate() {
        match rest.find(piece) {
            Some(found) if at > 0 || found == 0 => rest = &rest[found + piece.len()..],
            _ => panic!("expected {expected}{outcome}"),
        }
    }
    assert!(rest.is_empty(), "expected {expected}{outcome}");
    assert!(peak < MOST, "{} MB\n{outcome}", peak / 1_000_000);
}

const CHANGED: &str = "the release was changed after it was published: get it again from its publisher";
const MORE: &str = "if you trust where it comes from, allow more with --memory …GB";
const QUASI: &str = "--quasi age,sex --sensitive disease";

/// Every command that reads a release.
fn readers() -> Vec<&'static str> {
    let mut lines = vec![
        "audit release",
        "query release 'SELECT COUNT(*) FROM microdata WHERE age > 40'",
        "rewrite release 'SELECT COUNT(*) FROM microdata WHERE age > 40 GROUP BY age' --dialect sqlite",
        "evaluate release --microdata hospital/patients.csv",
    ];
    if cfg!(feature = "databases") {
        lines.push("load release sqlite:release.db");
    }
    lines
}

/// An honest release of 300 patients as CSV, in `release`.
fn ground() -> tempfile::TempDir {
    let ground = tempfile::tempdir().unwrap();
    common::run(ground.path(), "example --rows 300 --out hospital").expect(0);
    let line = format!("publish hospital/patients.csv {QUASI} --require k=5 --format csv --seed 1 --out release");
    common::run(ground.path(), &line).expect(0);
    ground
}

/// The table of the release with its first row repeated, as complete gzip members, which may be concatenated.
fn repeated(table: &str, rows: u64) -> Vec<u8> {
    let (header, rest) = table.split_once('\n').unwrap();
    let row = format!("{}\n", rest.lines().next().unwrap());
    let gzip = |text: &str| {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text.as_bytes()).unwrap();
        packed.finish().unwrap()
    };
    let many = 1_000_000;
    assert_eq!(rows % many, 0);
    let member = gzip(&row.repeat(many as usize));
    let mut bytes = gzip(&format!("{header}\n"));
    (0..rows / many).for_each(|_| bytes.extend_from_slice(&member));
    bytes
}

#[test]
fn two_hundred_million_packed_rows_are_refused() {
    let ground = ground();
    let release = Release::at(ground.path().join("release"));
    let table = fs::read_to_string(release.folder.join("generalized.csv")).unwrap();
    let gzip = repeated(&table, ROWS);
    let text = format!("{}\n{}", table.lines().next().unwrap(), table.lines().nth(1).unwrap());
    release.forge("generalized.csv", &gzip);
    for line in readers() {
        refused(ground.path(), line, "release/generalized.csv has more than 300 rows, the manifest says 300", CHANGED);
    }
    // The manifest declares all of them, and is right.
    let mut manifest = release.manifest();
    manifest["rows"] = json!(ROWS);
    manifest["tables"][0]["rows"] = json!(ROWS);
    manifest["tables"][0]["parts"][0]["rows"] = json!(ROWS);
    release.write_manifest(&manifest);
    let said = "release: its tables declare 210000… rows, which would need about 1… GB of memory, but only 2 GB is \
                allowed";
    for line in readers() {
        refused(ground.path(), line, said, MORE);
    }
    // As zstd it is smaller still.
    drop(gzip);
    let row = format!("{}\n", text.lines().nth(1).unwrap()).repeat(1 << 20);
    let mut zstd = zstd::Encoder::new(Vec::new(), 1).unwrap();
    zstd.write_all(format!("{}\n", text.lines().next().unwrap()).as_bytes()).unwrap();
    (0..64).for_each(|_| zstd.write_all(row.as_bytes()).unwrap());
    manifest["rows"] = json!(300);
    manifest["tables"][0]["rows"] = json!(300);
    manifest["tables"][0]["parts"][0]["rows"] = json!(300);
    release.write_manifest(&manifest);
    release.forge("generalized.csv", &zstd.finish().unwrap());
    let said = "release/generalized.csv has more than 300 rows, the manifest says 300";
    refused(ground.path(), "audit release", said, CHANGED);
}

#[test]
fn a_manifest_of_a_hundred_megabytes_is_refused() {
    let ground = ground();
    let release = Release::at(ground.path().join("release"));
    let sound = release.manifest();
    // Words that no row has, in the domain of a quasi column.
    let mut manifest = sound.clone();
    let values: Vec<Value> = (0..5_000_000).map(|at| json!(format!("word {at:09}"))).collect();
    let at = sound["attributes"].as_array().unwrap().iter().position(|it| it["name"] == "sex").unwrap();
    manifest["attributes"][at]["domain"]["values"] = Value::Array(values);
    release.write_manifest(&manifest);
    drop(manifest);
    let size = fs::metadata(release.folder.join("release.json")).unwrap().len();
    assert!(size > 80_000_000, "{size}");
    let said = "release/release.json: the manifest has … MB, but with 2 GB of memory at most 62.5 MB are read";
    for line in readers() {
        refused(ground.path(), line, said, MORE);
    }
    // A manifest that is small enough to be read lists more values than its rows can have.
    let mut manifest = sound.clone();
    manifest["attributes"][at]["domain"]["values"] =
        Value::Array((0..2_000_000).map(|at| json!(format!("word {at:09}"))).collect());
    release.write_manifest(&manifest);
    let said = "release/release.json: the manifest lists 2000000 values of `sex`, but there can be at most 1300";
    refused(ground.path(), "audit release", said, CHANGED);
    // The same with a taxonomy inside the manifest.
    let mut manifest = sound;
    let at = manifest["attributes"].as_array().unwrap().iter().position(|it| it["role"] == "sensitive").unwrap();
    let line = |at: usize| json!([format!("v{at}"), format!("g{}", at / 1000), "*"]);
    manifest["attributes"][at]["taxonomy"] = Value::Array((0..LINES / 4).map(line).collect());
    release.write_manifest(&manifest);
    drop(manifest);
    let said = "release/release.json: the manifest lists 500000 lines in the taxonomy of `disease`, but there can be at most \
         10…";
    refused(ground.path(), "audit release", said, CHANGED);
}

#[test]
fn a_taxonomy_of_two_million_lines_is_refused() {
    let ground = ground();
    let mut text = String::new();
    (0..LINES).for_each(|at| text.push_str(&format!("value {at};group {};*\n", at / 1000)));
    fs::write(ground.path().join("tree.csv"), &text).unwrap();
    let said = "tree.csv: 2000001 lines of a taxonomy would take about 2.3 GB of memory, but only 2 GB is allowed";
    let hint = "if you trust where it comes from, allow more with --memory 2.3GB";
    for line in [
        format!("publish hospital/patients.csv {QUASI} --taxonomy disease=tree.csv --require k=5 --out other"),
        format!("profile hospital/patients.csv {QUASI} --taxonomy disease=tree.csv"),
        "taxonomy tree.csv".to_owned(),
    ] {
        refused(ground.path(), &line, said, hint);
    }
    // With enough memory allowed the answer is a different one, and a line takes no more memory than estimated.
    let line = format!("profile hospital/patients.csv {QUASI} --taxonomy disease=tree.csv --memory 2.3GB");
    let (outcome, peak) = run(ground.path(), &line);
    assert!(outcome.stderr.contains("has no line in the taxonomy"), "{outcome}");
    assert!(peak < MOST, "{} MB\n{outcome}", peak / 1_000_000);
    // A level for every word of a book.
    fs::write(ground.path().join("deep.csv"), format!("{}*\n", "a;".repeat(5_000_000))).unwrap();
    let said = "deep.csv: the taxonomy has 5000001 levels, but at most 64 are allowed";
    refused(ground.path(), "taxonomy deep.csv", said, "leave some levels out");
}

/// Files of a gigabyte that take no space on disk.
#[test]
fn files_of_a_gigabyte_are_no_specs_and_no_questions() {
    let ground = ground();
    let sparse = |name: &str| File::create(ground.path().join(name)).unwrap().set_len(1 << 30).unwrap();
    for name in ["spec.toml", "questions.sql", "tree.csv", "table.csv"] {
        sparse(name);
    }
    let said = "cannot read spec.toml: it has more than 8 MB, more than any spec";
    refused(ground.path(), "publish spec.toml --out r", said, "check that the path names the right text file");
    let said = "questions.sql is larger than 16 MB";
    refused(ground.path(), "query release --file questions.sql", said, "name a file of questions, or split it");
    let said = "tree.csv has more than 125 MB, the largest taxonomy that is read with 2 GB of memory";
    let hint = "if you trust where it comes from, allow more with --memory 4GB";
    refused(ground.path(), "taxonomy tree.csv", said, hint);
    let said = "table.csv: the record that starts on line 1 is longer than 67108864 bytes";
    refused(ground.path(), "profile table.csv", said, "look for a quote that is opened and never closed");
    fs::write(
        ground.path().join("wide.csv"),
        format!("c{}\n", (0..2_000_000).map(|at| format!(",c{at}")).collect::<String>()),
    )
    .unwrap();
    let said = "wide.csv: the header has more than 20000 columns";
    let hint = "check that the first line holds names, and name the delimiter with --delimiter";
    refused(ground.path(), "profile wide.csv", said, hint);
    // Nested brackets are no manifest.
    let nested = "[".repeat(50_000_000);
    fs::write(ground.path().join("release/release.json"), nested).unwrap();
    let said = "release/release.json: the manifest cannot be read: …";
    refused(ground.path(), "audit release", said, "name the folder of a release, which holds its `release.json`");
}

/// A knob without effect is an error, and so is an invalid amount.
#[test]
fn memory_is_asked_for_where_it_matters() {
    let ground = ground();
    let check = |line: &str, expected: &str| {
        let outcome = common::run(ground.path(), line);
        assert!(outcome.stderr.contains(expected), "{outcome}");
        assert!(outcome.complaint(&[2]).is_none(), "{outcome}");
    };
    let none = "`memory` has no effect, because no taxonomy is read from a file";
    check(&format!("profile hospital/patients.csv {QUASI} --memory 4GB"), none);
    check("audit release --memory 4", "expected an amount such as 500MB, 2GB or 1.5GB, found `4`");
    check("example --out e --memory 4GB", "unexpected argument '--memory'");
    check("taxonomy --propose --data hospital/patients.csv --column age --memory 4GB", "cannot be used with");
    check("audit release --memory 10kB", "but with 10 kB of memory at most 312 bytes are read");
    for line in readers() {
        common::run(ground.path(), &format!("{line} --memory 1GB")).expect(0);
    }
}

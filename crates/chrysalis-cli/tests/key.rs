//! The owner's key: it is made for the owner alone, and no byte of it gets out.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Prepares with the key: words and dates.
const KEYED: &str = "--prepare zip_code=pseudonym --prepare admission_date=shift --person patient_id";

#[test]
fn no_byte_of_the_key_gets_out() {
    let ground = tempfile::tempdir().unwrap();
    let at = ground.path();
    common::run(at, "example --rows 1000 --out ward").expect(0);
    let quasi = "--quasi age,zip_code,admission_date --sensitive disease --require k=5 --require l=2";
    let mut said = Vec::new();
    for (format, output) in [("csv", "table"), ("parquet", "json")] {
        let line =
            format!("publish ward/patients.csv {quasi} {KEYED} --format {format} --out {format} --output {output} -v");
        said.push(common::run(at, &line).expect(0));
        let line =
            format!("audit {format} --microdata ward/patients.csv --key ward/chrysalis.key --person patient_id -v");
        said.push(common::run(at, &line).expect(0));
        let line = format!(
            "evaluate {format} --microdata ward/patients.csv --key ward/chrysalis.key --person patient_id --queries 50 -v"
        );
        said.push(common::run(at, &line).expect(0));
    }
    said.push(common::run(at, &format!("profile ward/patients.csv {KEYED} -v")).expect(0));
    let spec = "input = 'patients.csv'
[release]
require = ['l=2']
[[compare.runs]]
method = 'anatomy'
";
    fs::write(at.join("ward/one.toml"), spec).unwrap();
    let quasi = "--quasi age,zip_code,admission_date --sensitive disease";
    let compare = format!("compare ward/one.toml {quasi} {KEYED} --queries 20 --report c.html --output csv -v");
    said.push(common::run(at, &compare).expect(0));
    let path = at.join("ward/chrysalis.key");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let digits = fs::read_to_string(&path).unwrap().trim().to_owned();
    assert_eq!(digits.len(), 64);
    let bytes: Vec<u8> = (0..32).map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap()).collect();
    // A quarter of it would be bad enough.
    let needles: Vec<&[u8]> = bytes.chunks(8).chain(digits.as_bytes().chunks(16)).collect();
    let leaks = |text: &[u8]| needles.iter().any(|needle| text.windows(needle.len()).any(|window| window == *needle));
    assert!(leaks(&fs::read(&path).unwrap()), "the search finds what is there");
    let files: Vec<_> = common::listing(at).into_iter().filter(|(name, _)| name != "ward/chrysalis.key").collect();
    assert!(files.iter().any(|(name, _)| name == "csv/release.json") && files.iter().any(|(name, _)| name == "c.html"));
    for (name, bytes) in &files {
        assert!(!leaks(bytes), "{name} has a part of the key");
        assert!(!name.ends_with(".key"), "{name}");
    }
    for outcome in &said {
        assert!(!leaks(outcome.stdout.as_bytes()) && !leaks(outcome.stderr.as_bytes()), "{outcome}");
    }
    // The first publication makes it and says where; no other does.
    let makes: Vec<bool> =
        said.iter().map(|outcome| outcome.stderr.contains("made the key ward/chrysalis.key")).collect();
    assert_eq!(makes.iter().filter(|makes| **makes).count(), 1);
    assert!(makes[0]);
    let summary = &said[0].stdout;
    assert!(summary.contains("prepared     zip_code pseudonym (1,000 rows)"), "{summary}");
    assert!(summary.contains("patient_id (tells persons apart)"), "{summary}");
    assert_eq!(said[3].json()["prepared"][0]["preparation"], "pseudonym");
    // The page of a comparison says how to publish one of its runs, with the same preparations.
    let page = fs::read_to_string(at.join("c.html")).unwrap();
    assert!(page.contains("--prepare admission_date=shift --prepare zip_code=pseudonym --person patient_id"));
}

#[test]
fn a_key_that_is_none_is_refused() {
    let ground = tempfile::tempdir().unwrap();
    let at = ground.path();
    common::run(at, "example --rows 200 --out ward").expect(0);
    let publish = |more: &str| {
        let line =
            format!("publish ward/patients.csv --quasi age,zip_code --sensitive disease --require k=2 {more} --out r");
        common::run(at, &line)
    };
    let refused = |more: &str, error: &str, hint: &str| {
        let outcome = publish(more).expect(2);
        assert!(outcome.complaint(&[2]).is_none(), "{outcome}");
        assert!(outcome.stderr.contains(error) && outcome.stderr.contains(hint), "{outcome}");
        assert!(!at.join("r").exists());
    };
    let pseudonym = "--prepare zip_code=pseudonym --key k";
    fs::write(at.join("k"), "00".repeat(32)).unwrap();
    fs::set_permissions(at.join("k"), fs::Permissions::from_mode(0o644)).unwrap();
    refused(pseudonym, "k is not used as a key: others than its owner may read or change it", "chmod 600 k");
    fs::set_permissions(at.join("k"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(at.join("k"), "00".repeat(31)).unwrap();
    refused(pseudonym, "k is not a key: expected one line of at least 64 hexadecimal digits", "--key");
    refused("--prepare zip_code=pseudonym --key r/k", "the key r/k would be part of the release", "--key");
    refused("--prepare zip_code=pseudonym --key nowhere/k", "a key cannot be made: cannot write nowhere/k", "--key");
    refused("--key k", "`key` has no effect: no column is prepared with it", "--prepare COLUMN=pseudonym");
    refused("--prepare zip_code=blur", "`blur` is not a preparation", "--help");
    refused("--prepare zip_code", "expected COLUMN=", "--help");
}

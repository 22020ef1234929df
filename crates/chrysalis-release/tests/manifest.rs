//! The manifest: what is refused, with which words, and the schema that ships with the project.

#![allow(clippy::unwrap_used, reason = "tests")]

use chrysalis_release::Manifest;

const GOOD: &str = r#"{
  "format": "chrysalis-release", "version": 1, "method": "generalize", "partitioner": "mondrian",
  "rows": 2, "groups": 1, "guarantees": ["k=2"],
  "attributes": [{"name": "age", "role": "quasi", "kind": "integer", "published": "generalized", "domain": {"min": 1, "max": 9}}],
  "quasi_identifiers": [["age"]],
  "tables": [{"name": "generalized", "file": "generalized.csv", "rows": 2, "columns": [{"name": "group_id", "kind": "integer"}], "sha256": "00"}]
}"#;

#[track_caller]
fn check_error(from: &str, to: &str, message: &str) {
    assert!(GOOD.contains(from), "nothing to replace");
    let error = Manifest::parse(GOOD.replace(from, to).as_bytes()).unwrap_err();
    assert!(error.to_string().starts_with(message), "{error}");
    assert!(!error.hint().is_empty());
}

#[test]
fn a_manifest_reads_back_as_it_was_written() {
    let manifest = Manifest::parse(GOOD.as_bytes()).unwrap();
    assert_eq!(Manifest::parse(manifest.to_json().unwrap().as_bytes()).unwrap(), manifest);
    assert!(!manifest.to_json().unwrap().contains("reproducible"), "false is not written");
}

#[test]
fn hostile_manifests_are_refused_by_name() {
    check_error("chrysalis-release", "other", "the manifest's format is `other`, not `chrysalis-release`");
    check_error("\"version\": 1", "\"version\": 2", "the release has version 2, this program reads version 1");
    check_error("\"version\": 1", "\"version\": 1e99", "the release has version 0");
    for file in ["../x.csv", "/etc/passwd", "a/b.csv", ".hidden", "", "c:x", "a\\\\b"] {
        check_error("generalized.csv", file, "the manifest points to `");
    }
    check_error("[\"age\"]", "[\"sex\"]", "the manifest says `sex` is a quasi-identifier, but lists no such attribute");
    check_error("\"rows\": 2, \"groups\"", "\"rows\": -2, \"groups\"", "the manifest cannot be read: ");
    check_error(
        "\"rows\": 2, \"groups\"",
        "\"seed\": 7, \"rows\": 2, \"groups\"",
        "the manifest cannot be read: unknown field `seed`",
    );
    check_error(
        "\"min\": 1",
        "\"values\": [1], \"counts\": [1, 2]",
        "the manifest says `age` has 1 values, but another number of counts",
    );
    let table = &GOOD[GOOD.find("{\"name\": \"generalized\"").unwrap()..GOOD.rfind(']').unwrap()];
    check_error(table, &format!("{table}, {table}"), "the manifest names the table `generalized` twice");
    assert!(Manifest::parse(b"\xff").is_err());
    assert!(Manifest::parse("[".repeat(100_000).as_bytes()).is_err());
}

/// The shipped schema is the one the code implies. `CHRYSALIS_BLESS=1` rewrites it after a change of the format.
#[test]
fn the_shipped_schema_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/release.schema.json");
    let expected = format!("{}\n", serde_json::to_string_pretty(&Manifest::schema()).unwrap());
    if std::env::var_os("CHRYSALIS_BLESS").is_some() {
        std::fs::write(path, &expected).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), expected, "run with CHRYSALIS_BLESS=1 and look at the change");
}

//! The manifest: what is refused, with which words, in both versions, and the schemas that ship with the project.

#![allow(clippy::unwrap_used, reason = "tests")]

use chrysalis_release::Manifest;
use chrysalis_table::Memory;

/// Version 1, as it was written before promises had a scope and tables had parts.
const VERSION_1: &str = r#"{
  "format": "chrysalis-release", "version": 1, "method": "generalize", "partitioner": "mondrian",
  "rows": 2, "groups": 1, "guarantees": ["k=2"],
  "attributes": [{"name": "age", "role": "quasi", "kind": "integer", "published": "generalized", "domain": {"min": 1, "max": 9}}],
  "quasi_identifiers": [["age"]],
  "tables": [{"name": "generalized", "file": "generalized.csv", "rows": 2, "columns": [{"name": "group_id", "kind": "integer"}], "sha256": "00"}]
}"#;

/// The same release in version 2, its table in two files.
const VERSION_2: &str = r#"{
  "format": "chrysalis-release", "version": 2, "features": ["parts"], "encoding": 1,
  "method": "generalize", "partitioner": "mondrian", "rows": 2, "groups": 1,
  "promises": [{"principle": "k=2", "of": "group", "unit": "rows"}],
  "attributes": [{"name": "age", "role": "quasi", "kind": "integer", "published": "generalized", "domain": {"min": 1, "max": 9}}],
  "quasi_identifiers": [["age"]],
  "tables": [{"name": "generalized", "rows": 2, "columns": [{"name": "group_id", "kind": "integer"}],
              "parts": [{"file": "generalized-1.csv", "rows": 1, "sha256": "00"}, {"file": "generalized-2.csv", "rows": 1, "sha256": "01"}]}]
}"#;

#[track_caller]
fn refused(good: &str, from: &str, to: &str, message: &str) {
    assert!(good.contains(from), "nothing to replace");
    let error = Manifest::parse(good.replace(from, to).as_bytes()).unwrap_err();
    assert!(error.to_string().starts_with(message), "{error}");
    assert!(!error.hint().is_empty());
}

#[track_caller]
fn check_error(from: &str, to: &str, message: &str) {
    refused(VERSION_1, from, to, message);
}

/// Whatever version was read, version 2 is written, and says the same.
#[test]
fn a_manifest_reads_back_as_it_was_written() {
    for text in [VERSION_1, VERSION_2] {
        let manifest = Manifest::parse(text.as_bytes()).unwrap();
        let written = manifest.to_json().unwrap();
        let mut again = Manifest::parse(written.as_bytes()).unwrap();
        assert_eq!(again.version, 2);
        again.version = manifest.version;
        assert_eq!(again, manifest);
        assert_eq!(manifest.guarantees(), ["k=2"]);
        assert!(!written.contains("reproducible"), "false is not written");
        assert_eq!(
            written.contains("\"parts\"\n"),
            text == VERSION_2,
            "the feature is listed where it is used: {written}"
        );
    }
}

#[test]
fn hostile_manifests_of_version_2_are_refused_by_name() {
    let check_error = |from: &str, to: &str, message: &str| refused(VERSION_2, from, to, message);
    check_error("\"parts\"]", "\"telepathy\"]", "the release needs the feature `telepathy`");
    check_error(
        "[\"parts\"]",
        "[]",
        "the manifest says `generalized` has 2 parts, but the feature `parts` is not listed",
    );
    check_error(
        "\"rows\": 1, \"sha256\": \"01\"",
        "\"rows\": 3, \"sha256\": \"01\"",
        "the manifest says `generalized` has 2 rows",
    );
    check_error("generalized-2.csv", "generalized-1.csv", "the manifest names the file `generalized-1.csv` twice");
    check_error("generalized-2.csv", "../generalized.csv", "the manifest points to `../generalized.csv`");
    check_error("\"k=2\"", "\"k=zwei\"", "the manifest promises `k=zwei`");
    check_error(
        "\"encoding\": 1,",
        "\"encoding\": 1, \"telepathy\": 1,",
        "the manifest cannot be read: unknown field `telepathy`",
    );
    let series = |entry: &str, message: &str| {
        check_error("\"encoding\": 1,", &format!("\"encoding\": 1, \"series\": {entry},"), message);
    };
    series("1", "the manifest cannot be read: invalid type: integer `1`");
    series("{\"number\": 1}", "the manifest says ");
    series("{\"number\": 2}", "the manifest says ");
    check_error("\"generalize\"", "\"telepathy\"", "the release was made by the method `telepathy`");
}

/// Columns that are shown together: one way to write every choice, and only for columns and forms that can do it.
#[test]
fn columns_shown_together_are_sensitive_and_in_order() {
    let sensitive = |name: &str| {
        format!(
            "{{\"name\": \"{name}\", \"role\": \"sensitive\", \"kind\": \"integer\", \"published\": \"permuted\", \"domain\": {{}}}}"
        )
    };
    let all: Vec<String> = ["a", "b", "c", "d"].map(sensitive).to_vec();
    let good = VERSION_2
        .replace("\"max\": 9}}]", &format!("\"max\": 9}}}}, {}]", all.join(", ")))
        .replace("[\"parts\"]", "[\"parts\", \"several-sensitive\", \"together\"]")
        .replace("\"quasi_identifiers\"", "\"together\": [[\"a\", \"c\"], [\"b\", \"d\"]], \"quasi_identifiers\"");
    let manifest = Manifest::parse(good.as_bytes()).unwrap();
    assert_eq!(manifest.together_sets(), [[1, 3], [2, 4]]);
    assert_eq!(Manifest::parse(manifest.to_json().unwrap().as_bytes()).unwrap(), manifest);
    let sets = "[[\"a\", \"c\"], [\"b\", \"d\"]]";
    let check_error = |to: &str, message: &str| refused(&good, sets, to, message);
    check_error("[[\"a\", \"age\"]]", "the manifest says `a, age` are shown together, but are not all sensitive");
    check_error("[[\"a\", \"e\"]]", "the manifest says `a, e` are shown together, but are not all sensitive");
    for wrong in ["[[\"a\"]]", "[[]]", "[[\"c\", \"a\"]]", "[[\"a\", \"a\"]]", "[[\"a\", \"c\"], [\"c\", \"d\"]]"] {
        check_error(wrong, "the manifest says `");
    }
    check_error(
        "[[\"b\", \"d\"], [\"a\", \"c\"]]",
        "the manifest says sets of columns that are shown together are not in",
    );
    refused(&good, ", \"together\"]", "]", "the manifest says it needs the feature `together`, which it does not list");
    refused(&good, "\"generalize\"", "\"butterfly\"", "the manifest");
}

#[test]
fn hostile_manifests_are_refused_by_name() {
    check_error("chrysalis-release", "other", "the manifest's format is `other`, not `chrysalis-release`");
    check_error("\"version\": 1", "\"version\": 3", "the release has version 3, this program reads versions 1 and 2");
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
        "the manifest says `age` has 1 values, but a different number of counts",
    );
    let table = &VERSION_1[VERSION_1.find("{\"name\": \"generalized\"").unwrap()..VERSION_1.rfind(']').unwrap()];
    check_error(table, &format!("{table}, {table}"), "the manifest names the table `generalized` twice");
    assert!(Manifest::parse(b"\xff").is_err());
    assert!(Manifest::parse("[".repeat(100_000).as_bytes()).is_err());
}

/// The shipped schemas are the ones the code implies. `CHRYSALIS_BLESS=1` rewrites them after a change of the format.
#[test]
fn the_shipped_schemas_are_up_to_date() {
    for (version, file) in [(1, "release-1.schema.json"), (2, "release.schema.json")] {
        let path = format!("{}/../../schema/{file}", env!("CARGO_MANIFEST_DIR"));
        let expected = format!("{}\n", serde_json::to_string_pretty(&Manifest::schema(version).unwrap()).unwrap());
        if std::env::var_os("CHRYSALIS_BLESS").is_some() {
            std::fs::write(&path, &expected).unwrap();
        }
        let shipped = std::fs::read_to_string(&path).unwrap();
        assert_eq!(shipped, expected, "{file}: run with CHRYSALIS_BLESS=1 and look at the change");
    }
    assert_eq!(Manifest::schema(3), None);
}

/// Old releases of version 2 may lack it; then it is unknown how the tables were written.
#[test]
fn an_encoding_may_be_absent() {
    let manifest = Manifest::parse(VERSION_2.replace(" \"encoding\": 1,", "").as_bytes()).unwrap();
    assert_eq!(manifest.encoding, 0);
    assert!(!manifest.to_json().unwrap().contains("encoding"));
}

/// A manifest is rewritten in exactly one way, by the writer of its own version.
#[test]
fn a_manifest_is_written_again_in_its_own_version() {
    for text in [VERSION_1, VERSION_2] {
        let manifest = Manifest::parse(text.as_bytes()).unwrap();
        let written = manifest.rewritten(text.as_bytes()).unwrap();
        assert!(written.contains(&format!("\"version\": {}", manifest.version)), "{written}");
        let again = Manifest::parse(written.as_bytes()).unwrap();
        assert_eq!(again, manifest);
        assert_eq!(again.rewritten(written.as_bytes()).unwrap(), written);
        let spelled = text.replace("\"k=2\"", "\"k=02\"").replace("\"min\": 1,", "\"min\":1,");
        let spelled_again = Manifest::parse(spelled.as_bytes()).and_then(|it| it.rewritten(spelled.as_bytes()));
        assert_eq!(spelled_again.unwrap(), written, "one spelling");
    }
}

/// Version 2 with a sensitive attribute of `n` values, in a table of `rows` rows.
fn with_values(n: usize, rows: u64, more: &str) -> String {
    let list = |text: &dyn Fn(usize) -> String| (0..n).map(text).collect::<Vec<_>>().join(",");
    let (values, counts) = (list(&|at| (at * 3).to_string()), list(&|_| "1".to_owned()));
    let attribute = format!(
        r#"{{"name": "pay", "role": "sensitive", "kind": "integer", "published": "exact",
            "domain": {{"min": 0, "max": 9, "values": [{values}], "counts": [{counts}]}}{more}}}"#
    );
    VERSION_2.replace(r#""attributes": ["#, &format!(r#""attributes": [{attribute}, "#)).replacen(
        r#""rows": 2"#,
        &format!(r#""rows": {rows}"#),
        1,
    )
}

#[track_caller]
fn refused_within(text: &str, memory: u64, message: &str, hint: &str) {
    let error = Manifest::parse_within(text.as_bytes(), Memory::of(memory)).unwrap_err();
    assert_eq!(error.to_string(), message);
    assert_eq!(error.hint(), *hint);
}

#[test]
fn a_manifest_that_is_too_large_for_the_memory_is_refused() {
    let text = with_values(20_000, 20_000, "");
    assert!(Manifest::parse(text.as_bytes()).is_ok());
    let more = "if you trust where it comes from, allow more with `memory = 100MB`";
    let entries = text.matches(',').count();
    let said = format!("the manifest has {entries} entries, but with 10 MB of memory at most 19531 are read");
    refused_within(&text, 10_000_000, &said, more);
    let said = "the manifest has 20 kB, but with 600 kB of memory at most 18.8 kB are read";
    refused_within(&" ".repeat(20_000), 600_000, said, more);
    assert!(Manifest::parse_within(text.as_bytes(), Memory::of(100_000_000)).is_ok());
}

/// Lists may be as long as the table they describe, and a thousand entries more for good measure.
#[test]
fn lists_that_no_table_fills_are_refused() {
    let changed = "the release was changed after it was published: get it again from its publisher";
    let check = |text: &str, message: &str| refused_within(text, 2_000_000_000, message, changed);
    check(&with_values(1_003, 2, ""), "the manifest lists 1003 values of `pay`, but there can be at most 1002");
    assert!(Manifest::parse(with_values(1_002, 2, "").as_bytes()).is_ok());
    let lines = |n: usize| vec![r#"["1","*"]"#; n].join(",");
    let taxonomy = |n: usize| with_values(2, 2, &format!(r#", "taxonomy": [{}]"#, lines(n)));
    check(&taxonomy(1_003), "the manifest lists 1003 lines in the taxonomy of `pay`, but there can be at most 1002");
    let words = |n: usize| vec![r#""w""#; n].join(",");
    let categories = with_values(2, 2, &format!(r#", "categories": [[{}]]"#, words(1_003)));
    check(&categories, "the manifest lists 1003 values in the categories of `pay`, but there can be at most 1002");
    let weights = with_values(2, 2, &format!(r#", "weights": [{}]"#, words(1_003)));
    check(&weights, "the manifest lists 1003 weights of `pay`, but there can be at most 1002");
    let sets = vec![r#"["age"]"#; 20_001].join(",");
    let sets = VERSION_2.replace(r#"[["age"]]"#, &format!("[{sets}]"));
    check(&sets, "the manifest lists 20001 quasi-identifiers, but there can be at most 20000");
}

#[test]
fn values_are_told_apart_by_their_texts() {
    let twice = |values: &str, name: &str| {
        let domain = format!(r#""domain": {{"values": [{values}]}}"#);
        let text = VERSION_2.replace(r#""domain": {"min": 1, "max": 9}"#, &domain);
        let found = Manifest::parse(text.as_bytes()).map(|_| ()).map_err(|error| error.to_string());
        let expected = match name {
            "" => Ok(()),
            name => Err(format!("the manifest names the value `{name}` twice")),
        };
        assert_eq!(found, expected, "{values}");
    };
    twice(r#"1, 1.0, "1", null, true, -1, 18446744073709551615, 1e300, "a""#, "");
    twice(r#"1, 2, 1"#, "1");
    twice(r#""b", 7, "b""#, "\"b\"");
    twice(r#"null, 3, null"#, "null");
    twice(r#"0.5, "x", 0.5"#, "0.5");
    twice(r#"18446744073709551615, 18446744073709551615"#, "18446744073709551615");
}

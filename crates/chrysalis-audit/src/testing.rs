//! What the tests of several modules share.

use chrysalis_release::{ColumnEntry, Form, Manifest, PartEntry, Promise, Release, ReleaseError, RoleName, TableEntry};
use chrysalis_table::{Column, Table, Unwatched};
use serde_json::json;

use crate::{AuditError, AuditReport, Check};

/// An unwatched audit of releases made by hand, which lets ids with gaps and idle words in the manifest pass.
pub(crate) fn audit(release: &Release, microdata: Option<&Table>) -> Result<AuditReport, AuditError> {
    crate::judged(release, microdata, None, &Unwatched)
}

/// Promises that nobody has checked: they are read from a manifest, as those of a forger would be.
pub(crate) fn promises(form: Form, sensitive: Option<&str>, guarantees: &[&str]) -> Vec<Promise> {
    parsed(form, sensitive, guarantees).unwrap()
}

/// The same, if a reader accepts them.
pub(crate) fn parsed(form: Form, sensitive: Option<&str>, guarantees: &[&str]) -> Result<Vec<Promise>, ReleaseError> {
    let attribute =
        |name: &str| json!({"name": name, "role": "sensitive", "kind": "category", "published": "exact", "domain": {}});
    let manifest = json!({
        "format": "chrysalis-release",
        "version": 1,
        "method": form.name(),
        "partitioner": "column",
        "rows": 0,
        "groups": 0,
        "guarantees": guarantees,
        "attributes": sensitive.map(attribute).into_iter().collect::<Vec<_>>(),
        "quasi_identifiers": [],
        "tables": [],
    });
    Ok(Manifest::parse(manifest.to_string().as_bytes())?.promises)
}

/// Gives a manifest other promises, about the attribute that it calls sensitive.
pub(crate) fn promise(manifest: &mut Manifest, guarantees: &[&str]) {
    let sensitive = manifest.with_role(RoleName::Sensitive).next().map(|attribute| attribute.name.clone());
    manifest.promises = promises(manifest.method, sensitive.as_deref(), guarantees);
}

/// How a manifest lists a table.
pub(crate) fn entry(name: &str, table: &Table) -> TableEntry {
    let column = |column: &Column| ColumnEntry { name: column.name().into(), kind: column.domain().kind().into() };
    let rows = table.rows() as u64;
    TableEntry {
        name: name.to_owned(),
        rows,
        columns: table.columns().iter().map(column).collect(),
        parts: vec![PartEntry { file: format!("{name}.csv"), rows, sha256: String::new() }],
    }
}

/// The check of that name.
pub(crate) fn check<'a>(report: &'a AuditReport, name: &str) -> &'a Check {
    report.checks.iter().find(|check| check.name == name).unwrap()
}

/// Asserts that these findings are there, and that all checks without one of them are fine.
pub(crate) fn expect(report: &AuditReport, findings: &[(&str, &str)]) {
    assert!(!report.ok());
    for (name, sentence) in findings {
        let check = check(report, name);
        assert!(!check.ok && check.findings.iter().any(|finding| finding == sentence), "{name}: {:?}", check.findings);
        assert!(check.detail.contains(sentence));
    }
    for check in report.checks.iter().filter(|check| findings.iter().all(|(name, _)| *name != check.name)) {
        assert!(check.ok, "{}: {}", check.name, check.detail);
    }
}

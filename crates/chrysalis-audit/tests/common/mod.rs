//! The shared data sets, if they are there, and manifest entries of tables.

// Clippy recognizes tests by their attribute, which helpers lack. No test uses all helpers.
#![allow(clippy::unwrap_used, clippy::print_stdout, dead_code)]

use std::path::PathBuf;

use chrysalis_audit::{AuditReport, Check};
use chrysalis_release::{ColumnEntry, Form, Manifest, PartEntry, Promise, TableEntry};
use chrysalis_table::{Column, ColumnRequest, CsvOptions, CsvReader, Table};
use serde_json::json;

/// All columns of a shared file; `None`, and a line that says so, where it is absent.
pub(crate) fn table(file: &str) -> Option<Table> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("CHRYSALIS_DATA").map_or_else(beside, PathBuf::from);
    let Ok(bytes) = std::fs::File::open(folder.join(file)) else {
        println!("skipped: `{file}` is not here; set CHRYSALIS_DATA to the folder that holds it");
        return None;
    };
    let reader = CsvReader::open(flate2::read::MultiGzDecoder::new(bytes), &CsvOptions::default()).unwrap();
    let wanted: Vec<ColumnRequest> = reader.header().iter().map(ColumnRequest::named).collect();
    Some(reader.read(&wanted).unwrap())
}

/// Promises that nobody has checked, read from a manifest.
pub(crate) fn promises(form: Form, sensitive: &str, guarantees: &[&str]) -> Vec<Promise> {
    let attribute =
        json!({"name": sensitive, "role": "sensitive", "kind": "integer", "published": "exact", "domain": {}});
    let manifest = json!({
        "format": "chrysalis-release",
        "version": 1,
        "method": form.name(),
        "partitioner": "column",
        "rows": 0,
        "groups": 0,
        "guarantees": guarantees,
        "attributes": [attribute],
        "quasi_identifiers": [],
        "tables": [],
    });
    Manifest::parse(manifest.to_string().as_bytes()).unwrap().promises
}

/// Whether nothing is wrong with a release made by hand, apart from its ids and idle words.
pub(crate) fn is_sound(report: &AuditReport) -> bool {
    let is_fine = |check: &Check| check.ok || check.name == "ids" || check.name == "manifest";
    report.principles.iter().all(|result| result.holds) && report.checks.iter().all(is_fine)
}

/// How a manifest lists a table.
pub(crate) fn entry(name: &str, table: &Table) -> TableEntry {
    let column = |column: &Column| ColumnEntry { name: column.name().into(), kind: column.domain().kind().into() };
    let rows = table.rows() as u64;
    TableEntry {
        name: name.to_owned(),
        rows,
        columns: table.columns().iter().map(column).collect(),
        parts: vec![PartEntry { file: format!("{name}.parquet"), rows, sha256: String::new() }],
    }
}

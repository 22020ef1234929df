//! A form, a principle and an SQL function that exist only for this test work at every door once they are where
//! CONTRIBUTING.md says.
//!
//! `cargo test -p chrysalis-door --features toy-form,toy-principle,toy-function --test toys`

#![cfg(all(feature = "toy-form", feature = "toy-principle", feature = "toy-function"))]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;

use chrysalis::store::{Format, read_release, write_release};
use chrysalis::table::{Column, Table, no_progress};
use chrysalis::{Analyst, Dialect, Draft, Evidence, Release, Seed, Unwatched};
use serde_json::json;

fn people() -> Table {
    let ages: Vec<i64> = (0..40).map(|row| 20 + row % 20).collect();
    let wages: Vec<i64> = (0..40).map(|row| 100 + row * 3 % 7).collect();
    Table::new(vec![Column::integers("age", &ages), Column::integers("wage", &wages)])
}

fn published(release: serde_json::Value) -> chrysalis::Published {
    let draft = json!({ "quasi": ["age"], "sensitive": "wage", "release": release });
    let draft: Draft = serde_json::from_value(draft).unwrap();
    let recipe = draft.check(&["age".to_owned(), "wage".to_owned()]).unwrap();
    chrysalis::publish(people(), &recipe, Seed::Secret, &Unwatched).unwrap()
}

/// The release after writing and reading it again.
fn stored(release: &Release, folder: &Path) -> Release {
    let out = folder.join("release");
    write_release(release, &out, Format::Csv, false, &no_progress).unwrap();
    read_release(&out).unwrap()
}

#[test]
fn toys_are_published_audited_evaluated_and_asked() {
    let made = published(json!({ "method": "toy", "require": ["toy=3"] }));
    let manifest = &made.release.manifest;
    assert_eq!(manifest.guarantees(), ["toy=3"]);
    let folder = tempfile::tempdir().unwrap();
    let written = stored(&made.release, folder.path());
    assert_eq!((written.manifest.method, written.manifest.guarantees()), (manifest.method, manifest.guarantees()));

    let microdata = people();
    let with = Evidence { microdata: Some(&microdata), ..Evidence::default() };
    let audit = chrysalis::audit(&made.release, with, &Unwatched).unwrap();
    assert!(audit.ok(), "{audit:?}");

    let analyst = Analyst::open(made.release).unwrap();
    let answer = analyst.ask("SELECT TOY(wage), MAX(wage) FROM microdata WHERE age < 30").unwrap();
    let [toy, max] = &answer.answer.rows[0].aggregates[..] else { panic!("two aggregates") };
    assert_eq!((toy.estimate, toy.lower, toy.upper), (max.estimate, max.lower, max.upper));
    let error = analyst.rewrite("SELECT TOY(wage) FROM microdata", Dialect::DuckDb).unwrap_err();
    assert_eq!(error.message, "TOY cannot be rewritten as SQL");
}

/// The audit judges the toys on its own: it catches a release that breaks the toy principle.
#[test]
fn a_broken_toy_promise_is_found() {
    let made = published(json!({ "method": "toy", "require": ["toy=3"] }));
    let folder = tempfile::tempdir().unwrap();
    stored(&made.release, folder.path());
    let manifest = folder.path().join("release/release.json");
    let forged = std::fs::read_to_string(&manifest).unwrap().replace("toy=3", "toy=8");
    std::fs::write(&manifest, forged).unwrap();
    let release = read_release(&folder.path().join("release")).unwrap();
    assert!(!chrysalis::audit(&release, Evidence::default(), &Unwatched).unwrap().ok());
}

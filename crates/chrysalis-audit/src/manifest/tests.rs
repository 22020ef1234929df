//! Honest releases made by hand, which are then made to say something more.

use chrysalis_release::{Accepted, Form, Release};
use chrysalis_table::{Column, Table, Unwatched};
use serde_json::json;

use super::{is_plain_fraction, is_plain_number};
use crate::attack::tests::{verbatim, words};
use crate::{Check, audit};

/// Six people in two groups.
fn honest() -> Release {
    let people = Table::new(vec![
        Column::integers("age", &[20, 30, 40, 50, 60, 70]),
        words("sex", "s", &[1, 2, 1, 2, 1, 2]),
        words("disease", "d", &[1, 2, 3, 1, 2, 3]),
    ]);
    let mut release = verbatim(Form::Anatomy, &people, &[1, 1, 1, 2, 2, 2], &["k=3", "l=3"]);
    release.manifest.accepted = Vec::new();
    release
}

fn check(release: &Release, name: &str) -> Check {
    let report = audit(release, None, &Unwatched).unwrap();
    report.checks.into_iter().find(|check| check.name == name).unwrap()
}

#[test]
fn an_honest_manifest_says_nothing_more_than_it_must() {
    let release = honest();
    let report = audit(&release, None, &Unwatched).unwrap();
    assert!(report.ok(), "{report:?}");
    assert_eq!(check(&release, "ids").detail, "group ids are the numbers from 1 to 2");
    assert_eq!(check(&release, "manifest").detail, "nothing beyond what the form and the tables call for");
}

#[test]
fn every_idle_word_is_found() {
    type Edit<'a> = (&'a dyn Fn(&mut Release), &'a str);
    let cases: [Edit<'_>; 11] = [
        (&|it| it.manifest.promises.extend_from_within(..), "a promise is made twice"),
        (
            &|it| it.manifest.suppressed = 3,
            "3 rows are said to be suppressed, but this form by `column` suppresses none",
        ),
        (&|it| it.manifest.partitioner = "secret".into(), "no partitioner named `secret` forms groups of this form"),
        (&|it| it.manifest.accepted = vec![Accepted::Disclosure], "disclosure is accepted, but nothing is disclosed"),
        (&|it| it.manifest.accepted = vec![Accepted::Disclosure; 2], "a risk is accepted twice"),
        (&|it| it.manifest.attributes.swap(1, 2), "the attributes are not listed in the order that publishing uses"),
        (
            &|it| it.manifest.attributes[0].domain.min = Some(json!(19)),
            "the domain of `age` is not the one that is published",
        ),
        (
            &|it| it.manifest.attributes[0].domain.min = Some(json!(20.0)),
            "the domain of `age` is not the one that is published",
        ),
        (
            &|it| it.manifest.attributes[1].domain.counts = Some(vec![3, 3]),
            "the domain of `sex` is not the one that is published",
        ),
        (&|it| it.manifest.attributes[1].domain.missing = true, "the domain of `sex` is not the one that is published"),
        (
            &|it| it.manifest.attributes[2].weights = Some(vec!["1".into()]),
            "`disease` has categories without weights, or weights without categories",
        ),
    ];
    for (lie, words) in cases {
        let mut release = honest();
        lie(&mut release);
        let found = check(&release, "manifest");
        assert!(found.findings.iter().any(|finding| finding == words), "{words}: {:?}", found.findings);
    }
}

#[test]
fn numbers_are_spelled_in_one_way() {
    assert!(is_plain_fraction("36/49") && is_plain_fraction("1") && is_plain_fraction("1/2"));
    assert!(!is_plain_fraction("72/98") && !is_plain_fraction("0.5") && !is_plain_fraction("01"));
    assert!(is_plain_number("1000") && is_plain_number("0.5") && is_plain_number("1/3"));
    assert!(!is_plain_number("1/2") && !is_plain_number("0.50") && !is_plain_number("01000"));
}

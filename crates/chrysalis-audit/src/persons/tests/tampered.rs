//! What somebody who changes what a release says about persons is caught by.

use chrysalis_release::{Form, Release};

use super::{clinic, set, with_persons};
use crate::attack::tests::verbatim;
use crate::testing::{audit, check, expect};

fn release() -> Release {
    let clinic = clinic();
    with_persons(verbatim(Form::Anatomy, &clinic.people, &clinic.groups, &["k=3", "l=1.5"]), &clinic, true)
}

/// Changes the numbers of some columns, and expects these findings of the check `persons`, and nothing else.
fn expect_persons(changes: &[(&str, &str, &[i64])], findings: &[&str]) {
    let mut release = release();
    changes.iter().for_each(|(table, column, numbers)| set(&mut release, table, column, numbers));
    let report = audit(&release, None).unwrap();
    assert_eq!(check(&report, "persons").findings, findings);
}

#[test]
fn an_honest_release_passes() {
    let report = audit(&release(), None).unwrap();
    assert!(report.ok(), "{report:?}");
}

#[test]
fn persons_of_groups() {
    expect_persons(
        &[("groups", "persons", &[4, 4])],
        &[
            "group 1: its 4 persons cannot have equally many of its 6 rows",
            "`groups` has 8 persons, the manifest says 7",
        ],
    );
    expect_persons(
        &[("groups", "persons", &[3, 3])],
        &[
            "group 2: its 3 persons cannot have equally many of its 4 rows",
            "`groups` has 6 persons, the manifest says 7",
        ],
    );
    // A person moved from one group to another.
    expect_persons(&[("groups", "persons", &[2, 5])], &["group 2: 5 persons, where it has 4 rows"]);
    expect_persons(
        &[("groups", "persons", &[0, 7])],
        &["group 1: 0 persons, where it has 6 rows", "group 2: 7 persons, where it has 4 rows"],
    );
    // Six persons with a row each would be possible, but then nobody has a value twice.
    let mut release = release();
    release.manifest.persons =
        release.manifest.persons.map(|persons| chrysalis_release::Persons { count: 10, ..persons });
    set(&mut release, "groups", "persons", &[6, 4]);
    expect(
        &audit(&release, None).unwrap(),
        &[
            ("persons", "group 1: 2 persons of 1 row cannot have 3 rows with one value"),
            ("persons", "group 1: 6 persons, but all its values together are had by 5"),
        ],
    );
}

#[test]
fn lines_of_the_table_of_groups() {
    expect_persons(
        &[("groups", "group_id", &[1, 1])],
        &[
            "`groups` lists group 1 2 times",
            "`groups` does not list group 2",
            "group 1: its 4 persons cannot have equally many of its 6 rows",
        ],
    );
    expect_persons(
        &[("groups", "group_id", &[2, 1])],
        &[
            "the lines of `groups` are not in the order of their ids",
            "group 2: its 3 persons cannot have equally many of its 4 rows",
            "group 1: its 4 persons cannot have equally many of its 6 rows",
        ],
    );
    let mut release = release();
    let at = release.manifest.tables.iter().position(|entry| entry.name == "groups").unwrap();
    release.tables[at] = release.tables[at].gather(&[1]);
    release.manifest.tables[at].rows = 1;
    let report = audit(&release, None).unwrap();
    let findings = &check(&report, "persons").findings;
    assert_eq!(findings[0], "`groups` does not list group 1");
    assert!(findings.contains(&"`groups` has 4 persons, the manifest says 7".to_owned()), "{findings:?}");
    set(&mut release, "groups", "group_id", &[9]);
    let report = audit(&release, None).unwrap();
    assert!(check(&report, "persons").findings.contains(&"`groups` lists group 9, which has no rows".to_owned()));
}

/// Values are listed by name: cold, cough and flu of group 1, then cold, cough, flu and gout of group 2.
#[test]
fn persons_beside_counts() {
    let wrong = |persons: &[i64], finding: &str| expect_persons(&[("st", "persons", persons)], &[finding]);
    wrong(&[3, 1, 2, 1, 1, 1, 1], "group 1: 3 persons are said to have a value that occurs in 2 rows");
    wrong(&[2, 0, 2, 1, 1, 1, 1], "group 1: 0 persons are said to have a value that occurs in 1 row");
    wrong(&[2, 1, 1, 1, 1, 1, 1], "group 1: 1 person of 2 rows cannot have 3 rows with one value");
    let findings = [
        "group 2: 0 persons are said to have a value that occurs in 1 row",
        "group 2: 4 persons, but all its values together are had by 3",
    ];
    expect_persons(&[("st", "persons", &[2, 1, 2, 1, 1, 1, 0])], &findings);
    // What the tables cannot contradict, the promise may: l=1.5 lets two of three persons have a value.
    let mut release = release();
    set(&mut release, "st", "persons", &[2, 1, 3, 1, 1, 1, 1]);
    let report = audit(&release, None).unwrap();
    assert!(report.checks.iter().all(|check| check.ok));
    assert!(report.principles[1].is_broken() && !report.ok());
}

#[test]
fn a_stray_column_or_table_is_found() {
    let clinic = clinic();
    let mut plain = verbatim(Form::Anatomy, &clinic.people, &clinic.groups, &["k=3"]);
    let of_persons = release();
    plain.tables.push(of_persons.tables[2].clone());
    plain.manifest.tables.push(of_persons.manifest.tables[2].clone());
    expect(&audit(&plain, None).unwrap(), &[("tables", "table `groups` does not belong to this form")]);
    let mut known = release();
    known.manifest.persons =
        known.manifest.persons.map(|persons| chrysalis_release::Persons { rows_known: false, ..persons });
    expect(
        &audit(&known, None).unwrap(),
        &[
            ("tables", "column `persons` of `st` belongs to no attribute"),
            (
                "persons",
                "the rows of a person can be counted in a release by anatomy, but the manifest does not reckon with that",
            ),
        ],
    );
}

//! What promises about persons mean, form by form.

use chrysalis_release::Form;

use super::{Clinic, clinic, with_persons};
use crate::attack::tests::{angel, finding, generalized, verbatim};
use crate::testing::{audit, check};
use crate::{AuditReport, PrincipleResult};

fn anatomy(promises: &[&str]) -> AuditReport {
    let clinic = clinic();
    let release = verbatim(Form::Anatomy, &clinic.people, &clinic.groups, promises);
    audit(&with_persons(release, &clinic, true), None).unwrap()
}

fn boxes(clinic: &Clinic, rows_known: bool, promises: &[&str]) -> AuditReport {
    let clinic = &clinic.sorted();
    let release = generalized(Form::Generalize, &clinic.people, &clinic.groups, promises);
    audit(&with_persons(release, clinic, rows_known), None).unwrap()
}

fn told(result: &PrincipleResult) -> (Option<bool>, &str, Option<i64>) {
    let holds = if result.untold.is_some() { None } else { Some(result.holds) };
    (holds, result.worst_text.as_str(), result.worst_group)
}

#[test]
fn shares_are_of_persons_where_the_tables_show_them() {
    let report = anatomy(&["k=3", "l=1.5", "l=1.6", "alpha-k=0.7,3", "beta=0.75", "beta=0.7", "distinct-l=3"]);
    let expected = [
        (Some(true), "3 persons", Some(1)),
        // Two of three persons have the flu, in three of six rows.
        (Some(true), "1.5", Some(1)),
        (Some(false), "1.5", Some(1)),
        (Some(true), "share 2/3, 3 persons", Some(1)),
        // One of four persons has gout, and one of all seven.
        (Some(true), "0.75", Some(2)),
        (Some(false), "0.75", Some(2)),
        (Some(true), "3 values, 3 persons", Some(1)),
    ];
    let found: Vec<_> = report.principles.iter().map(told).collect();
    assert_eq!(found, expected);
    assert_eq!(
        check(&report, "persons").detail,
        "7 persons with 10 rows in 2 groups; all persons of a group have equally many rows"
    );
    assert!(report.checks.iter().all(|check| check.ok), "{:?}", report.checks);
    // Six rows are not six persons.
    assert!(!anatomy(&["k=4"]).ok());
}

#[test]
fn rows_bound_shares_where_the_tables_show_no_persons() {
    let report = boxes(&clinic(), false, &["k=3", "l=1", "l=1.5", "others-l=2"]);
    let found: Vec<_> = report.principles.iter().map(told).collect();
    // Three rows with flu can be all three persons.
    let expected = [
        (Some(true), "3 persons", Some(1)),
        (Some(true), "1", Some(1)),
        (Some(false), "1", Some(1)),
        (Some(false), "share 1 of a value that is not ordinary", Some(1)),
    ];
    assert_eq!(found, expected);
    let words = "the tables do not show how many persons have a value, so every row counts as another person's";
    assert_eq!(report.principles[1].measured, words);
    assert!(report.checks.iter().all(|check| check.ok), "{:?}", report.checks);
    assert_eq!(check(&report, "persons").detail, "7 persons with 10 rows in 2 groups");
}

#[test]
fn what_persons_have_cannot_be_told_from_the_tables() {
    let report = boxes(&clinic(), false, &["k=3", "t=0.9", "beta=3", "entropy-l=2", "recursive-l=3,2"]);
    assert_eq!(told(&report.principles[0]).0, Some(true));
    for result in &report.principles[1..] {
        assert_eq!(told(result), (None, "cannot tell", None), "{result:?}");
        let why = "it counts what each person has, which the tables do not show";
        assert_eq!(result.untold.as_deref(), Some(why));
        assert!(!result.is_broken() && !result.holds);
    }
    assert!(report.ok() && report.untold().count() == 4);
    // No distribution over three values reaches four.
    let report = boxes(&clinic(), false, &["entropy-l=3.5"]);
    assert_eq!(told(&report.principles[0]), (Some(false), "3 values", Some(1)));
    // Of group 2 all is known, and there the values are even; group 1 is open.
    let report = anatomy(&["entropy-l=2", "t=0.9"]);
    assert_eq!((told(&report.principles[0]).0, told(&report.principles[1]).0), (None, None));
}

/// Everybody has one row: then persons are rows, and all can be told.
#[test]
fn one_row_per_person_is_the_ordinary_case() {
    let by_row = Clinic { persons: (1..=10).collect(), ..clinic() };
    let promises = ["k=4", "l=2", "beta=2", "t=0.4", "entropy-l=2.5", "recursive-l=2,2", "distinct-l=3"];
    for (is_anatomy, rows_known) in [(true, true), (false, true), (false, false)] {
        let clinic = if is_anatomy { &by_row } else { &by_row.sorted() };
        let release = match is_anatomy {
            true => verbatim(Form::Anatomy, &clinic.people, &clinic.groups, &promises),
            false => generalized(Form::Generalize, &clinic.people, &clinic.groups, &promises),
        };
        let plain = audit(&release, None).unwrap();
        let counted = audit(&with_persons(release, clinic, rows_known), None).unwrap();
        assert!(counted.ok(), "{counted:?}");
        for (plain, counted) in plain.principles.iter().zip(&counted.principles) {
            assert_eq!(
                (plain.holds, plain.worst, plain.worst_group),
                (counted.holds, counted.worst, counted.worst_group)
            );
            assert_eq!(counted.untold, None);
        }
        assert_eq!(plain.attacks.linking, counted.attacks.linking);
        assert_eq!(plain.attacks.row_linking, counted.attacks.row_linking);
        let rows =
            |report: &AuditReport| report.disclosure.as_ref().map(|found| (found.certain_rows, found.disclosed_rows));
        assert_eq!(rows(&plain), rows(&counted));
    }
}

#[test]
fn attacks_are_on_persons() {
    let report = anatomy(&["k=3"]);
    let linking = report.attacks.linking.unwrap();
    assert_eq!((linking.confidence_text.as_str(), linking.group, linking.rows), ("2/3", Some(1), 5));
    let sentence = "An attacker who finds a person's group and bets that the person has its most frequent `disease` is right \
                    in at most 66.7 % (2/3) of cases; 5 rows are open to a bet this good.";
    assert_eq!(finding(&report.attacks.findings, "linking").sentence, sentence);
    let report = boxes(&clinic(), false, &["k=3"]);
    let linking = report.attacks.linking.unwrap();
    assert_eq!((linking.confidence_text.as_str(), linking.group), ("1", Some(1)));
    let sentence = &finding(&report.attacks.findings, "linking").sentence;
    assert!(sentence.ends_with("this is the most that it can be, if every row is another person's."), "{sentence}");
    let row = report.attacks.row_linking.unwrap();
    assert_eq!((row.delta_text.as_str(), row.group), ("1/3", Some(1)));
    let background = finding(&report.attacks.findings, "background");
    assert!(
        background.sentence.ends_with("about persons with several rows an attacker can be surer."),
        "{background:?}"
    );
    assert!(!finding(&report.attacks.findings, "minimality").was_run);
}

/// A value that all persons of a group have is certain, although the group has others.
#[test]
fn a_value_that_everybody_has_is_certain() {
    let base = clinic();
    let values = ["flu", "cold", "flu", "gout", "flu", "cough", "flu", "cold", "cough", "gout"];
    let people = chrysalis_table::Table::new(vec![
        base.people.columns()[0].clone(),
        chrysalis_table::Column::texts("disease", values.into_iter()),
    ]);
    let clinic = Clinic { people, ..base };
    let rows = |report: &AuditReport| {
        let found = report.disclosure.as_ref().unwrap();
        (found.certain_rows, found.disclosed_rows)
    };
    let release = verbatim(Form::Anatomy, &clinic.people, &clinic.groups, &["k=3"]);
    let report = audit(&with_persons(release, &clinic, true), None).unwrap();
    assert_eq!(rows(&report), (6, 6));
    assert!(report.disclosure.unwrap().rule.ends_with("; a value that all persons of a group have is certain"));
    // Without persons beside values nobody sees it.
    let report = boxes(&clinic, false, &["k=3"]);
    assert_eq!(rows(&report), (0, 0));
    let rule = &report.disclosure.as_ref().unwrap().rule;
    assert!(rule.ends_with("but how many have one is not shown, so there may be more"), "{rule}");
    // With two rows each and five of six rows, nobody is without it.
    let values = ["flu", "flu", "flu", "flu", "flu", "cough", "flu", "cold", "cough", "gout"];
    let people = chrysalis_table::Table::new(vec![
        clinic.people.columns()[0].clone(),
        chrysalis_table::Column::texts("disease", values.into_iter()),
    ]);
    let clinic = Clinic { people, ..clinic };
    assert_eq!(rows(&boxes(&clinic, false, &["k=3"])), (0, 0));
    assert_eq!(rows(&boxes(&clinic, true, &["k=3"])), (6, 0));
}

/// Rows of a bucket count as persons of their batches.
#[test]
fn buckets_count_persons() {
    let clinic = clinic();
    // Persons 1 and 2 and 4 to 5 in one bucket, the others in another.
    let buckets = [1, 1, 1, 1, 2, 2, 1, 1, 2, 2];
    let release = |promises: &[&str], buckets: &[i64]| {
        let release = angel(&clinic.people, &clinic.groups, buckets, promises);
        audit(&with_persons(release, &clinic, true), None).unwrap()
    };
    let report = release(&["k=3", "l=1.5"], &buckets);
    let found: Vec<_> = report.principles.iter().map(told).collect();
    assert_eq!(found, [(Some(true), "3 persons", None), (Some(true), "1.5", Some(1))]);
    assert!(check(&report, "persons").ok, "{:?}", check(&report, "persons"));
    assert!(!release(&["k=4"], &buckets).ok());
    // A person with a row in each bucket.
    let report = release(&["k=2"], &[1, 1, 1, 2, 2, 2, 1, 1, 2, 2]);
    let expected = "batch 1: 3 of its rows show the same cells in `gt`, which persons of 2 rows each cannot";
    assert_eq!(check(&report, "persons").findings, [expected, expected]);
    // In bucket 1: half of its persons are of batch 1, where 2/3 have the flu, half of batch 2, where 1/4 do.
    let linking = release(&["k=3"], &buckets).attacks.linking.unwrap();
    assert_eq!(linking.confidence_text, "11/24");
}

/// To a user, persons of several groups look the same.
#[test]
fn classes_of_users_count_persons() {
    let base = clinic();
    let people = chrysalis_table::Table::new(vec![
        base.people.columns()[0].clone(),
        chrysalis_table::Column::integers("zip", &[5; 10]),
        base.people.columns()[1].clone(),
    ]);
    let clinic = Clinic { people, ..base };
    let mut release = generalized(Form::Butterfly, &clinic.people, &clinic.groups, &["k=3", "l=2"]);
    release.manifest.quasi_identifiers = vec![vec!["age".into()], vec!["zip".into()]];
    let report = audit(&with_persons(release, &clinic, true), None).unwrap();
    let found: Vec<_> = report.principles.iter().map(told).collect();
    let expected = [
        (Some(true), "3 persons for age", None),
        (Some(true), "7 persons for zip", None),
        (Some(false), "1 for age", None),
        (Some(false), "1.75 for zip", None),
    ];
    assert_eq!(found, expected);
    assert!(check(&report, "persons").ok);
}

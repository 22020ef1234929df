//! Releases about persons beside the microdata, with the column that tells persons apart.

use chrysalis_release::{Form, Release};
use chrysalis_table::{Column, Table, Unwatched};

use super::{Clinic, clinic, set, with_persons};
use crate::attack::tests::{angel, generalized, verbatim};
use crate::testing::check;
use crate::{AuditReport, PrincipleResult};

/// The people with the number of their person.
fn with_ids(clinic: &Clinic) -> Table {
    let ids = Column::integers("id", &clinic.persons);
    Table::new(clinic.people.columns().iter().cloned().chain([ids]).collect())
}

fn audit(release: &Release, microdata: &Table) -> AuditReport {
    crate::judged(release, Some(microdata), Some("id"), &Unwatched).unwrap()
}

fn boxes(clinic: &Clinic, promises: &[&str]) -> Release {
    with_persons(generalized(Form::Generalize, &clinic.people, &clinic.groups, promises), clinic, false)
}

fn anatomy(clinic: &Clinic) -> Release {
    with_persons(verbatim(Form::Anatomy, &clinic.people, &clinic.groups, &["k=3", "l=1.5"]), clinic, true)
}

fn told(result: &PrincipleResult) -> (bool, Option<&str>, &str) {
    (result.holds, result.untold.as_deref(), result.worst_text.as_str())
}

#[test]
fn honest_releases_pass_in_every_form() {
    let clinic = clinic();
    let buckets = [1, 1, 1, 1, 2, 2, 1, 1, 2, 2];
    let sorted = clinic.sorted();
    let (known, by_value) = (with_ids(&clinic), with_ids(&sorted));
    let permuted = with_persons(verbatim(Form::Permute, &clinic.people, &clinic.groups, &["k=3"]), &clinic, true);
    let angel = with_persons(angel(&clinic.people, &clinic.groups, &buckets, &["k=3"]), &clinic, true);
    let butterfly = generalized(Form::Butterfly, &sorted.people, &sorted.groups, &["k=3"]);
    let all = [
        (anatomy(&clinic), &known),
        (permuted, &known),
        (angel, &known),
        (boxes(&sorted, &["k=3"]), &by_value),
        (with_persons(butterfly, &sorted, true), &by_value),
    ];
    for (release, microdata) in &all {
        let report = audit(release, microdata);
        let found = check(&report, "persons");
        assert!(found.ok && found.detail.contains("; all rows of each fit one "), "{:?}", found);
        // Columns that were permuted by hand are not sorted.
        let failed = report.checks.iter().find(|check| !check.ok && check.name != "row order");
        assert!(failed.is_none() && report.principles.iter().all(|result| result.holds), "{failed:?}");
    }
}

/// Masses: flu 3/2, cold 1 and cough 1/2 of three persons, beside one of each disease of four.
#[test]
fn the_microdata_tell_what_each_person_has() {
    let clinic = clinic().sorted();
    let promises = ["t=0.2", "t=0.19", "entropy-l=2.7", "entropy-l=2.8", "recursive-l=1.1,2", "recursive-l=1,2"];
    let release = boxes(&clinic, &promises);
    assert_eq!(crate::testing::audit(&release, None).unwrap().untold().count(), 6);
    let report = audit(&release, &with_ids(&clinic));
    let found: Vec<_> = report.principles.iter().map(told).collect();
    assert_eq!(found[..2], [(true, None, "4/21"), (false, None, "4/21")]);
    assert_eq!((found[2].0, found[3].0, found[4].0, found[5].0), (true, false, true, false), "{found:?}");
    // Beta is about shares, which only persons beside counts would show.
    let report = audit(&boxes(&clinic, &["k=3", "beta=9"]), &with_ids(&clinic));
    assert_eq!(report.untold().count(), 1);
}

#[test]
fn a_person_in_two_groups_is_found() {
    let clinic = clinic().sorted();
    // The forger says that one row of person 3 is the second row of person 7.
    let forged =
        Clinic { people: clinic.people.clone(), groups: clinic.groups.clone(), persons: clinic.persons.clone() };
    let at =
        (0..10).find(|&row| forged.people.columns()[0].domain().text(forged.people.columns()[0].code(row)) == "29");
    let at = at.unwrap();
    let mut forged = forged;
    (forged.groups[at], forged.persons[at]) = (2, 7);
    let forged = forged.sorted();
    let report = audit(&boxes(&forged, &["k=3"]), &with_ids(&clinic));
    let expected = "1 person of the microdata fits no group with all their rows at once: these are in several groups, or were \
                    changed";
    assert_eq!(check(&report, "persons").findings[0], expected);
    assert!(crate::testing::audit(&boxes(&forged, &["k=3"]), None).unwrap().ok());
}

#[test]
fn persons_are_compared_with_the_microdata() {
    let honest = clinic();
    let fewer = Clinic { persons: vec![1, 1, 2, 2, 3, 3, 4, 5, 6, 6], ..clinic() };
    let report = audit(&anatomy(&honest), &with_ids(&fewer));
    let findings = &check(&report, "persons").findings;
    assert_eq!(findings[0], "the microdata have 6 persons, the release 7");
    assert_eq!(findings[1], "2 persons of the microdata have 1 row, in the release 4");
    // Persons of other numbers: everybody is there, but they have other rows.
    let other = Clinic { persons: vec![1, 2, 2, 2, 3, 3, 4, 5, 6, 7], ..clinic() };
    let report = audit(&anatomy(&honest), &with_ids(&other));
    let findings = &check(&report, "persons").findings;
    let expected = [
        "5 persons of the microdata have 1 row, in the release 4",
        "1 person of the microdata has 2 rows, in the release 3",
        "1 person of the microdata has 3 rows, in the release 0",
    ];
    assert_eq!(findings[..3], expected);
}

#[test]
fn numbers_that_the_tables_cannot_contradict_are_compared() {
    let clinic = clinic();
    let mut release = anatomy(&clinic);
    set(&mut release, "st", "persons", &[2, 1, 3, 1, 1, 1, 1]);
    let report = audit(&release, &with_ids(&clinic));
    let expected = ["group 1: other numbers of its persons have the values of `disease` than the release says"];
    assert_eq!(check(&report, "persons").findings, expected);
    let clinic = clinic.sorted();
    let mut release = boxes(&clinic, &["k=3"]);
    set(&mut release, "groups", "persons", &[4, 3]);
    assert!(crate::testing::audit(&release, None).unwrap().ok());
    let report = audit(&release, &with_ids(&clinic));
    let expected = ["group 2 has 3 persons, but 4 persons of the microdata fit no other"];
    assert_eq!(check(&report, "persons").findings, expected);
}

#[test]
fn rows_that_the_owner_left_out_are_said() {
    let clinic = clinic();
    let known = with_ids(&clinic);
    // Person 2 has a third row.
    let more = Table::new(vec![
        Column::integers("age", &[20, 21, 24, 25, 28, 29, 40, 50, 60, 70, 26]),
        Column::texts(
            "disease",
            ["flu", "cold", "flu", "flu", "cough", "cold", "flu", "cold", "cough", "gout", "flu"].into_iter(),
        ),
        Column::integers("id", &[1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 2]),
    ]);
    let report = audit(&anatomy(&clinic), &more);
    let found = check(&report, "persons");
    assert!(found.ok, "{found:?}");
    assert!(found.detail.contains("1 row of the microdata is left out"), "{found:?}");
    let faithful = check(&report, "faithful");
    assert!(faithful.ok && faithful.detail.contains("more cannot be compared"), "{faithful:?}");
    assert!(report.ok());
    // A value that the microdata do not have so often.
    let less = more.gather(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 10]);
    assert_eq!(less.rows(), known.rows() + 1);
    let ids = Column::integers("id", &[1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 2]);
    let less = Table::new(less.columns()[..2].iter().cloned().chain([ids]).collect());
    let report = audit(&anatomy(&clinic), &less);
    let expected = [
        "1 values of `age` occur more often than in the microdata",
        "1 values of `disease` occur more often than in the microdata",
    ];
    assert_eq!(check(&report, "faithful").findings, expected);
}

#[test]
fn the_column_of_persons_must_be_there() {
    let clinic = clinic();
    let error = crate::judged(&anatomy(&clinic), Some(&clinic.people), Some("id"), &Unwatched).unwrap_err();
    assert_eq!(error.to_string(), "the microdata has no column `id`");
}

/// Each of several sensitive columns is judged by the same persons.
#[test]
fn several_sensitive_columns_share_their_persons() {
    let clinic = clinic();
    let costs = Column::texts("cost", ["a", "b", "b", "c", "a", "c", "a", "b", "c", "d"].into_iter());
    let of_costs =
        Clinic { people: Table::new(vec![clinic.people.columns()[0].clone(), costs.clone()]), ..super::clinic() };
    let [one, two] = [&clinic, &of_costs].map(|clinic| {
        with_persons(verbatim(Form::Anatomy, &clinic.people, &clinic.groups, &["k=3", "l=1.5", "t=0.5"]), clinic, true)
    });
    let mut release = one.clone();
    release.manifest.attributes.push(two.manifest.attributes[1].clone());
    release.manifest.promises.extend(two.manifest.promises[1..].iter().cloned());
    release.tables = vec![one.tables[0].clone(), one.tables[1].clone(), two.tables[1].clone(), one.tables[2].clone()];
    let names = ["qit", "st_disease", "st_cost", "groups"];
    release.manifest.tables =
        names.iter().zip(&release.tables).map(|(name, table)| crate::testing::entry(name, table)).collect();
    let columns = clinic.people.columns().iter().cloned();
    let microdata = Table::new(columns.chain([costs, Column::integers("id", &clinic.persons)]).collect());
    let report = crate::audit(&release, None, &Unwatched).unwrap();
    // What persons have of each column cannot be told.
    let found: Vec<_> =
        report.principles.iter().map(|result| (result.principle.as_str(), result.untold.is_some())).collect();
    let expected = [
        ("k=3", false),
        ("disease:l=1.5", false),
        ("disease:t=0.5", true),
        ("cost:l=1.5", false),
        ("cost:t=0.5", true),
    ];
    assert_eq!(found, expected);
    let report = crate::audit_persons(&release, &microdata, "id", &Unwatched).unwrap();
    assert!(report.principles.iter().all(|result| result.holds), "{:?}", report.principles);
    let failed: Vec<_> = report.checks.iter().filter(|check| !check.ok).collect();
    assert!(failed.is_empty(), "{failed:?}");
    let mut tampered = release;
    set(&mut tampered, "st_cost", "persons", &[3, 2, 2, 1, 1, 1, 1]);
    let report = crate::audit(&tampered, None, &Unwatched).unwrap();
    let findings = &check(&report, "persons").findings;
    assert!(findings.iter().all(|finding| finding.starts_with("`cost`: ")) && findings.len() == 1, "{findings:?}");
}

//! Releases that make no sense give an error or a finding, never a panic.

use super::*;
use crate::RowLinkingOver;
use crate::testing::parsed;

fn refused(release: &Release, message: &str) {
    let error = audit(release, None).unwrap_err();
    assert_eq!(error.to_string(), message);
    assert!(!error.hint().is_empty());
}

/// The eight with their salaries exchanged between neighbours.
fn swapped(guarantees: &[&str]) -> (Release, Table) {
    let people = with_last(Column::integers("salary", &[1, 2, 3, 4, 5, 6, 7, 8]));
    let rows = with_last(Column::integers("salary", &[2, 1, 4, 3, 6, 5, 8, 7]));
    let rows = sorted(rows, &["age", "sex", "city", "salary"]);
    (release_of(Form::RankSwap, &people, vec![("swapped", rows)], guarantees), people)
}

fn with_last(column: Column) -> Table {
    let mut columns = microdata().columns()[..3].to_vec();
    columns.push(column);
    Table::new(columns)
}

#[test]
fn values_that_were_not_swapped_are_noticed() {
    let (mut release, people) = swapped(&[]);
    let check = |release: &Release| {
        let report = audit(release, Some(&people)).unwrap();
        report.checks.into_iter().find(|check| check.name == "swapped").unwrap()
    };
    assert_eq!(check(&release).detail, "0 of 8 rows show a combination of values that somebody has");
    release.tables[0] = sorted(people.clone(), &["age", "sex", "city", "salary"]);
    assert_eq!(check(&release).findings, ["all of 8 rows show their own values: nothing was exchanged"]);
    let equal = with_last(Column::integers("salary", &[1, 1, 3, 4, 5, 6, 7, 8]));
    release.tables[0] = sorted(equal, &["age", "sex", "city", "salary"]);
    assert_eq!(check(&release).detail, "cannot tell: rows with equal values of `salary` may change places unseen");
}

#[test]
fn swapped_values_promise_nothing() {
    let (release, people) = swapped(&[]);
    let report = audit(&release, Some(&people)).unwrap();
    assert!(report.ok(), "{report:?}");
    assert_eq!((report.rows, report.groups, report.attacks.linking.as_ref()), (8, 0, None));
    assert_eq!(report.attacks.row_linking.as_ref().unwrap().over, RowLinkingOver::ExactValues);
    let error = parsed(Form::RankSwap, None, &["k=1"]).unwrap_err();
    let problem = "a release by method `rank-swap` has no groups";
    assert_eq!(error.to_string(), format!("the manifest promises `k=1`, which cannot be checked: {problem}"));
    let (mut release, people) = swapped(&[]);
    let other = Column::texts("sex", ["M", "F", "F", "F", "F", "M", "M", "M"].into_iter());
    release.tables[0] = with_column(&release.tables[0], other);
    let sentence = "2 rows of the microdata have no published row with their quasi values";
    expect(&audit(&release, Some(&people)).unwrap(), &[("faithful", sentence)]);
    let (mut release, people) = swapped(&[]);
    release.tables[0] = with_column(&release.tables[0], Column::integers("salary", &[2, 1, 4, 3, 6, 5, 8, 8]));
    expect(
        &audit(&release, Some(&people)).unwrap(),
        &[
            ("sensitive values", "a value of `salary` occurs 2 times, the manifest says 1"),
            ("faithful", "2 values of `salary` occur a different number of times in the microdata"),
        ],
    );
}

#[test]
fn every_attribute_may_be_permuted_without_a_sensitive_one() {
    let mut release = permute();
    release.manifest.attributes.pop();
    release.manifest.tables.pop();
    release.tables.pop();
    promise(&mut release.manifest, &["k=2"]);
    let report = audit(&release, Some(&people_of_permute())).unwrap();
    assert!(report.ok(), "{report:?}");
    assert_eq!((report.attacks.linking, report.utility), (None, None));
    release.manifest.promises = promises(Form::Permute, Some("disease"), &["l=2"]);
    refused(&release, "the manifest promises `l=2`, which cannot be checked: the release has no sensitive attribute");
    promise(&mut release.manifest, &["k=3"]);
    assert!(!audit(&release, None).unwrap().ok());
}

#[test]
fn tables_columns_and_attributes_that_lack_are_named() {
    let without = |release: &Release, at: usize, name: &str| {
        let mut release = release.clone();
        let columns = release.tables[at].columns().iter().filter(|column| column.name() != name).cloned().collect();
        release.tables[at] = Table::new(columns);
        release
    };
    for name in ["age", "sex", "city", "group_id"] {
        refused(&without(&anatomy(), 0, name), &format!("table `qit` has no column `{name}`"));
    }
    for name in ["group_id", "disease", "count"] {
        refused(&without(&anatomy(), 1, name), &format!("table `st` has no column `{name}`"));
        refused(&without(&permute(), 1, name), &format!("table `pst` has no column `{name}`"));
    }
    let mut release = anatomy();
    release.manifest.tables[1].name = "sa".into();
    refused(&release, "the release has no table `st`");
    let mut release = anatomy();
    release.manifest.attributes[3].kind = KindName::Integer;
    refused(&release, "column `disease` of table `st` is category, not integer");
    let mut release = anatomy();
    release.tables[0] = Table::new(Vec::new());
    refused(&release, "the release has no rows");
    let mut release = anatomy();
    release.manifest.attributes.pop();
    refused(&release, "a release by method `anatomy` needs a sensitive attribute, but the manifest has none");
    let mut release = anatomy();
    release.manifest.method = Form::Shuffle;
    release.manifest.tables[0].name = "permuted".into();
    refused(&release, "the manifest describes `disease` badly: a help table needs numbers");
    let mut release = anatomy();
    release.manifest.method = Form::Permute;
    (release.manifest.tables[0].name, release.manifest.tables[1].name) = ("pqt".into(), "pst".into());
    refused(
        &release,
        "the manifest describes `city` badly: a permuted release shows quasi and sensitive attributes only",
    );
}

#[test]
fn missing_ids_counts_and_values_are_noticed() {
    let missing = |numbers: &[i64], name: &str| {
        let texts: Vec<String> = numbers.iter().map(|n| if *n < 0 { String::new() } else { n.to_string() }).collect();
        let chunk = chrysalis_table::DictionaryChunk {
            codes: chrysalis_table::Codes::collect(texts.len(), 0..texts.len() as u32),
            to_dictionary: (0..texts.len() as u32).collect(),
        };
        let values = texts.iter().map(|text| text.parse().ok().map(Value::Integer)).collect();
        Column::from_dictionary(name, Kind::Integer, values, &[], vec![chunk])
    };
    let mut release = anatomy();
    release.tables[0] = with_column(&release.tables[0], missing(&[-1, -1, -1, 5, 5, 9, 9, 9], "group_id"));
    let report = audit(&release, Some(&microdata())).unwrap();
    let findings = &check(&report, "groups").findings;
    assert!(findings.contains(&"3 rows have no group id".to_owned()), "{findings:?}");
    assert!(findings.contains(&"group (missing) is in `qit`, but not in `st`".to_owned()), "{findings:?}");
    let mut release = anatomy();
    release.tables[1] = with_column(&release.tables[1], missing(&[1, 1, 1, -1, 1, 1, 2], "count"));
    let report = audit(&release, Some(&microdata())).unwrap();
    let sentence = "group 5: a count of (missing), where the release has 8 rows";
    assert_eq!(check(&report, "counts").findings, [sentence]);
    let mut release = anatomy();
    release.tables[0] = with_column(&release.tables[0], missing(&[-1, 25, 29, 31, 33, 38, 38, 45], "age"));
    let report = audit(&release, Some(&microdata())).unwrap();
    let sentence = "`age` is missing in some rows, but its domain has no missing value";
    assert!(check(&report, "values").findings.contains(&sentence.to_owned()));
}

#[test]
fn nonsense_in_the_manifest_is_no_reason_to_panic() {
    for mut release in [anatomy(), permute()] {
        (release.manifest.rows, release.manifest.groups) = (u64::MAX, u64::MAX);
        release.manifest.attributes.iter_mut().for_each(|attribute| attribute.domain = DomainEntry::default());
        let report = audit(&release, Some(&microdata())).unwrap();
        for name in ["tables", "groups", "values", "sensitive values"] {
            assert!(!check(&report, name).ok, "{name}");
        }
    }
    // Nothing but group ids: everyone is alike, and present for certain.
    let mut release = permute();
    release.manifest.attributes.drain(..2);
    release.tables[0] = Table::new(vec![Column::integers("group_id", &GROUPS)]);
    release.manifest.tables[0] = entry("pqt", &release.tables[0]);
    release.manifest.quasi_identifiers.clear();
    let report = audit(&release, Some(&microdata())).unwrap();
    assert!(report.ok(), "{report:?}");
    assert_eq!(report.attacks.row_linking.unwrap().delta, 1.0);
}

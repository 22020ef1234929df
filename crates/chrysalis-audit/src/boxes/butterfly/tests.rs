//! A butterfly made by hand, then tampered with; and butterfly tables II and III.

use chrysalis_release::{ENCODING, Form, Manifest, Release, RoleName, VERSION};
use chrysalis_table::{Column, Table};
use chrysalis_testkit::papers;

use super::super::tests::attribute;
use crate::testing::{audit, entry, promises};
use crate::{AuditReport, intersect};

/// Rows of `generalized`: `group_id`, the range of `a`, the labels of `b` and `c`, and the value of `s`.
type Rows = Vec<(i64, (i64, i64), &'static str, &'static str, &'static str)>;

/// Everybody is between 30 and 33: the body. `b` and `c` are wings of two classes each.
fn rows() -> Rows {
    vec![
        (1, (30, 33), "b1", "c1", "flu"),
        (2, (30, 33), "b1", "c2", "cold"),
        (3, (30, 33), "b2", "c1", "cold"),
        (4, (30, 33), "b2", "c2", "flu"),
    ]
}

fn microdata() -> Table {
    let words = |name: &str, words: [&'static str; 4]| Column::texts(name, words.into_iter());
    Table::new(vec![
        Column::integers("a", &[30, 31, 32, 33]),
        words("b", ["b1", "b1", "b2", "b2"]),
        words("c", ["c1", "c2", "c1", "c2"]),
        words("s", ["flu", "cold", "cold", "flu"]),
    ])
}

fn release_of(rows: &Rows) -> Release {
    let table = Table::new(vec![
        Column::integers("group_id", &rows.iter().map(|row| row.0).collect::<Vec<_>>()),
        Column::integers("a_min", &rows.iter().map(|row| row.1.0).collect::<Vec<_>>()),
        Column::integers("a_max", &rows.iter().map(|row| row.1.1).collect::<Vec<_>>()),
        Column::texts("b", rows.iter().map(|row| row.2)),
        Column::texts("c", rows.iter().map(|row| row.3)),
        Column::texts("s", rows.iter().map(|row| row.4)),
    ]);
    let words = |name: &str, words: [&'static str; 4]| Column::texts(name, words.into_iter());
    let members = Table::new(vec![
        words("attribute", ["b", "b", "c", "c"]),
        words("label", ["b1", "b2", "c1", "c2"]),
        words("value", ["b1", "b2", "c1", "c2"]),
    ]);
    let source = microdata();
    let roles = [("a", RoleName::Quasi), ("b", RoleName::Quasi), ("c", RoleName::Quasi), ("s", RoleName::Sensitive)];
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    Release {
        manifest: Manifest {
            version: VERSION,
            encoding: ENCODING,
            method: Form::Butterfly,
            partitioner: "body-first".into(),
            rows: rows.len() as u64,
            groups: 4,
            promises: promises(Form::Butterfly, Some("s"), &["k=2", "distinct-l=2"]),
            attributes: roles.map(|(name, role)| attribute(role, source.column(name).unwrap())).to_vec(),
            together: Vec::new(),
            quasi_identifiers: vec![owned(&["a", "b"]), owned(&["a", "c"])],
            tables: vec![entry("generalized", &table), entry("members", &members)],
            persons: None,
            suppressed: 0,
            reproducible: false,
            transparent: false,
            series: None,
            accepted: vec![chrysalis_release::Accepted::Disclosure],
        },
        tables: vec![table, members],
    }
}

fn report(release: &Release) -> AuditReport {
    audit(release, Some(&microdata())).unwrap()
}

#[track_caller]
fn expect(report: &AuditReport, check: &str, sentence: &str) {
    let found = report.checks.iter().find(|known| known.name == check).unwrap();
    assert!(!found.ok && found.detail.contains(sentence), "{check}: {}", found.detail);
}

#[test]
fn every_promise_is_judged_for_every_user() {
    let report = report(&release_of(&rows()));
    assert!(report.ok(), "{report:?}");
    let found: Vec<(&str, &str)> =
        report.principles.iter().map(|result| (result.principle.as_str(), result.worst_text.as_str())).collect();
    let expected =
        [("k=2", "2 for a, b"), ("k=2", "2 for a, c"), ("distinct-l=2", "2 for a, b"), ("distinct-l=2", "2 for a, c")];
    assert_eq!(found, expected);
    assert_eq!(report.attacks.linking.as_ref().unwrap().confidence, 0.5);
}

#[test]
fn two_users_together_may_learn_everything() {
    let report = report(&release_of(&rows()));
    let [pooling] = &report.attacks.pooling[..] else { panic!("{:?}", report.attacks.pooling) };
    assert_eq!(pooling.attributes, ["a", "b", "c"]);
    assert_eq!((pooling.classes, pooling.smallest, pooling.promised, pooling.rows_below), (4, 1, 2, 4));
    assert_eq!(pooling.confidence, Some(1.0));
}

#[test]
fn a_promise_that_one_user_breaks_is_broken() {
    let mut release = release_of(&rows());
    release.manifest.quasi_identifiers = vec![vec!["a".into(), "b".into()], vec!["b".into(), "c".into()]];
    let report = report(&release);
    let holds: Vec<bool> = report.principles.iter().map(|result| result.holds).collect();
    assert_eq!(holds, [true, false, true, false], "{:?}", report.principles);
    assert_eq!(report.principles[1].worst_text, "1 for b, c");
}

#[test]
fn a_body_that_differs_gives_its_users_away() {
    let mut rows = rows();
    rows[0].1 = (30, 30);
    let report = report(&release_of(&rows));
    assert!(report.principles.iter().all(|result| !result.holds), "{:?}", report.principles);
}

#[test]
fn ids_that_tell_more_than_labels_are_found() {
    let mut rows = rows();
    rows[1].3 = "c1";
    rows[1].4 = "flu";
    let report = report(&release_of(&rows));
    expect(&report, "quasi-identifiers", "4 group ids tell 3 different rows of cells apart");
    expect(&report, "faithful", "occur a different number of times");
}

#[test]
fn a_manifest_without_quasi_identifiers_promises_nothing_that_could_be_checked() {
    for sets in [vec![], vec![Vec::new()]] {
        let mut release = release_of(&rows());
        release.manifest.quasi_identifiers = sets;
        let report = report(&release);
        expect(&report, "quasi-identifiers", "names no quasi-identifier");
        assert!(!report.ok());
    }
}

#[test]
fn cells_that_cover_nobody_are_not_faithful() {
    let mut rows = rows();
    rows.iter_mut().for_each(|row| row.1 = (31, 33));
    expect(&report(&release_of(&rows)), "faithful", "covered by no published row");
}

/// Butterfly tables II and III as releases: the column that one table generalizes, the other shows as it is.
fn accidents(path: &str, label: &str, exact: &str) -> Release {
    let (rows, source) = (papers::table(path), papers::table("butterfly/table-1.csv"));
    let labels: Vec<String> = papers::cells(&rows, &[label]).into_iter().map(|row| row[0].clone()).collect();
    let mut order: Vec<usize> = (0..4).collect();
    let key = |row: usize| (labels[row].clone(), papers::cells(&rows, &[exact, "faulty"])[row].clone());
    order.sort_by_key(|&row| key(row));
    let order: Vec<u32> = order.into_iter().map(|row| row as u32).collect();
    let rows = rows.gather(&order);
    let rename = |column: &str, name: &str| {
        let column = rows.column(column).unwrap();
        Column::new(name, column.domain().clone(), column.codes().clone())
    };
    let mut ids: Vec<i64> = Vec::new();
    for row in papers::cells(&rows, &[label]) {
        ids.push(if row[0] == labels[0] { 1 } else { 2 });
    }
    let flip = if ids[0] == 2 { 3 } else { 0 };
    let ids: Vec<i64> = ids.into_iter().map(|id| if flip > 0 { flip - id } else { id }).collect();
    let table = Table::new(vec![
        Column::integers("group_id", &ids),
        rename("age", "age_min"),
        rename("age", "age_max"),
        rename(label, label),
        rename("postcode", "postcode_min"),
        rename("postcode", "postcode_max"),
        rename(exact, exact),
        rename("faulty", "faulty"),
    ]);
    let leaves = papers::text(&format!("butterfly/{label}.taxonomy.csv"));
    let mut lines: Vec<(&str, &str)> = leaves
        .lines()
        .filter_map(|line| line.split_once(';'))
        .map(|(leaf, rest)| (rest.split(';').next().unwrap(), leaf))
        .collect();
    lines.sort_unstable();
    let members = Table::new(vec![
        Column::texts("attribute", lines.iter().map(|_| label)),
        Column::texts("label", lines.iter().map(|line| line.0)),
        Column::texts("value", lines.iter().map(|line| line.1)),
    ]);
    let of = |name: &str, role| attribute(role, source.column(name).unwrap());
    let quasi = ["age", label, "postcode"];
    let mut attributes: Vec<_> = quasi.iter().map(|name| of(name, RoleName::Quasi)).collect();
    attributes.extend([of(exact, RoleName::Other), of("faulty", RoleName::Sensitive)]);
    Release {
        manifest: Manifest {
            method: Form::Generalize,
            groups: 2,
            promises: promises(Form::Generalize, Some("faulty"), &["k=2"]),
            attributes,
            together: Vec::new(),
            quasi_identifiers: vec![quasi.iter().map(|&name| name.to_owned()).collect()],
            tables: vec![entry("generalized", &table), entry("members", &members)],
            ..release_of(&self::rows()).manifest
        },
        tables: vec![table, members],
    }
}

#[test]
fn butterfly_tables_2_and_3_together_reveal_the_family_doctor() {
    let (two, three) = (
        accidents("butterfly/table-2.csv", "vehicle", "occupation"),
        accidents("butterfly/table-3.csv", "occupation", "vehicle"),
    );
    let source = papers::table("butterfly/table-1.csv");
    for release in [&two, &three] {
        let report = audit(release, Some(&source)).unwrap();
        assert!(report.ok(), "each is 2-anonymous: {report:?}");
    }
    for people in [Some(&source), None] {
        let (check, found) = intersect(&two, &three, "table III", people).unwrap();
        assert!(!check.ok, "{found:?}");
        assert_eq!(found.fewest, Some(1), "{found:?}");
    }
}

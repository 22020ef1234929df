//! Angel table 7, then tampered with.

use chrysalis_release::{ENCODING, Form, Manifest, Release, RoleName, VERSION};
use chrysalis_table::{Column, Table};
use chrysalis_testkit::papers;

use super::super::tests::attribute;
use crate::AuditReport;
use crate::testing::{audit, entry, promises};

fn microdata() -> Table {
    papers::table("angel/table-2a.csv")
}

fn members() -> Table {
    let texts = |name: &str, texts: [&'static str; 2]| Column::texts(name, texts.into_iter());
    Table::new(vec![texts("attribute", ["sex", "sex"]), texts("label", ["F", "M"]), texts("value", ["F", "M"])])
}

/// Sorts rows by batch, then by their cells, as a publisher would.
fn ordered(table: &Table, keys: &[&str]) -> Table {
    let columns: Vec<&Column> = keys.iter().map(|name| table.column(name).unwrap()).collect();
    let mut rows: Vec<u32> = (0..table.rows() as u32).collect();
    rows.sort_by_key(|&row| columns.iter().map(|column| column.code(row as usize)).collect::<Vec<_>>());
    table.gather(&rows)
}

fn release_of(tables: Vec<(&str, Table)>) -> Release {
    let source = microdata();
    let roles = [
        ("age", RoleName::Quasi),
        ("sex", RoleName::Quasi),
        ("zipcode", RoleName::Quasi),
        ("disease", RoleName::Sensitive),
    ];
    Release {
        manifest: Manifest {
            version: VERSION,
            encoding: ENCODING,
            method: Form::Angel,
            partitioner: "column".into(),
            rows: 6,
            groups: 3,
            promises: promises(Form::Angel, Some("disease"), &["l=2", "k=2"]),
            attributes: roles.map(|(name, role)| attribute(role, source.column(name).unwrap())).to_vec(),
            together: Vec::new(),
            quasi_identifiers: vec![vec!["age".into(), "sex".into(), "zipcode".into()]],
            tables: tables.iter().map(|(name, table)| entry(name, table)).collect(),
            persons: None,
            suppressed: 0,
            reproducible: false,
            transparent: false,
            series: None,
            accepted: vec![chrysalis_release::Accepted::Disclosure],
        },
        tables: tables.into_iter().map(|(_, table)| table).collect(),
    }
}

fn table_7() -> Vec<(&'static str, Table)> {
    let table = |path, keys: &[&str]| ordered(&papers::table(path), keys);
    vec![
        ("bt", table("angel/table-7a.csv", &["batch_id", "disease"])),
        ("gt", table("angel/table-7b.csv", &["batch_id", "age_min", "age_max", "sex", "zipcode_min", "zipcode_max"])),
        ("gt_zipcode", table("angel/table-7c.csv", &["batch_id", "zipcode_min", "zipcode_max"])),
        ("members", members()),
    ]
}

/// The release with one column of one table replaced.
fn with(table: &str, column: &str, numbers: &[i64]) -> Release {
    let mut tables = table_7();
    let (_, changed) = tables.iter_mut().find(|(name, _)| *name == table).unwrap();
    let columns = changed.columns().iter().map(|known| match known.name() == column {
        true => Column::integers(column, numbers),
        false => known.clone(),
    });
    *changed = Table::new(columns.collect());
    release_of(tables)
}

fn report(release: &Release) -> AuditReport {
    audit(release, Some(&microdata())).unwrap()
}

#[track_caller]
fn check_found(release: &Release, name: &str, sentence: &str) {
    let report = report(release);
    assert!(!report.ok());
    let check = report.checks.iter().find(|check| check.name == name).unwrap();
    assert!(check.findings.iter().any(|finding| finding == sentence), "{:?}", report.checks);
}

#[test]
fn angel_table_7_keeps_its_promises() {
    let report = report(&release_of(table_7()));
    assert!(report.ok(), "{:?}", report.checks);
    assert_eq!((report.rows, report.groups), (6, 3));
    let levels: Vec<(&str, &str)> =
        report.principles.iter().map(|result| (result.principle.as_str(), result.worst_text.as_str())).collect();
    assert_eq!(levels, [("l=2", "2"), ("k=2", "2")]);
    // Equation 2: bucket [78k, 80k] has both its rows in batch 3; half of them have the flu.
    let linking = report.attacks.linking.unwrap();
    assert_eq!((linking.confidence_text.as_str(), linking.rows), ("0.5", 12));
}

#[test]
fn a_batch_that_is_not_diverse_breaks_the_promise() {
    let mut release = with("bt", "count", &[1, 1, 1, 1, 1, 1]);
    let values = ["pneumonia", "flu", "bronchitis", "bronchitis", "flu", "pneumonia"];
    // Batch 2 lists one value with both its rows.
    let ids = Column::integers("batch_id", &[1, 1, 2, 3, 3]);
    let diseases = Column::texts("disease", [values[1], values[0], values[2], values[2], values[1]].into_iter());
    release.tables[0] = Table::new(vec![ids, diseases, Column::integers("count", &[1, 1, 2, 1, 1])]);
    let report = report(&release);
    let result = report.principles.iter().find(|result| result.principle == "l=2").unwrap();
    assert!(!result.holds);
    assert_eq!((result.worst_text.as_str(), result.worst_group), ("1", Some(2)));
}

/// Batch 1 has zip codes up to 58000 in `gt`, and of 78000 and more in the marginal.
#[test]
fn rows_of_a_batch_are_the_same_people_in_every_table() {
    let check = |release: &Release| {
        let report = audit(release, None).unwrap();
        report.checks.into_iter().find(|check| check.name == "marginals").unwrap()
    };
    assert_eq!(check(&release_of(table_7())).detail, "the rows of a batch can be the same people in every table");
    let exchanged = with("gt_zipcode", "batch_id", &[1, 3, 2, 2, 3, 1]);
    let found = check(&exchanged);
    let said =
        |id: u32| format!("the rows of batch {id} in `gt_zipcode` cannot be those of the same people as in `gt`");
    assert_eq!(found.findings, [said(1), said(3)]);
}

#[test]
fn a_bucket_of_one_row_breaks_k() {
    let release = with("gt_zipcode", "zipcode_max", &[12000, 60000, 12000, 60000, 80000, 81000]);
    let report = report(&release);
    let result = report.principles.iter().find(|result| result.principle == "k=2").unwrap();
    assert!(!result.holds);
    assert_eq!(result.worst_text, "1");
}

/// Promises may be about the rows of buckets, or about the rows and values of batches; there is nothing else.
#[test]
fn promises_are_held_against_what_they_are_made_of() {
    let judged = |from: &str, to: &str| {
        let mut release = release_of(table_7());
        let text = release.manifest.to_json().unwrap().split_whitespace().collect::<String>();
        assert!(text.contains(from), "{text}");
        release.manifest = Manifest::parse(text.replace(from, to).as_bytes()).map_err(|error| error.to_string())?;
        audit(&release, None).map(|report| report.principles).map_err(|error| error.to_string())
    };
    let (l, k) = (r#""principle":"l=2","about":"disease","of":"batch""#, r#""principle":"k=2","of":"bucket""#);
    // Three batches of two rows each.
    let of_batches = judged(k, r#""principle":"k=3","of":"batch""#).unwrap();
    assert_eq!((of_batches[1].holds, of_batches[1].worst_group), (false, Some(1)));
    assert_eq!(judged(k, r#""principle":"k=2","of":"batch""#).unwrap()[1].worst_text, "2");
    let unusable = |principle: &str, problem: &str| {
        Err(format!("the manifest promises `{principle}`, which cannot be checked: {problem}"))
    };
    let of_buckets = judged(l, r#""principle":"l=2","about":"disease","of":"bucket""#);
    assert_eq!(of_buckets, unusable("l=2", "buckets have no sensitive values of their own"));
    let of_groups = judged(k, r#""principle":"k=2","of":"group""#);
    assert_eq!(of_groups, unusable("k=2", "a release by method `angel` has no groups"));
}

#[test]
fn batches_must_have_the_same_size_in_every_table() {
    let release = with("gt_zipcode", "batch_id", &[1, 1, 1, 2, 3, 3]);
    check_found(&release, "batches", "batch 1 has 3 rows in `gt_zipcode`, but 2 sensitive values in `bt`");
    check_found(&release, "batches", "batch 2 has 1 rows in `gt_zipcode`, but 2 sensitive values in `bt`");
}

#[test]
fn counts_must_be_possible() {
    check_found(&with("bt", "count", &[1, 1, 0, 1, 1, 1]), "counts", "batch 2 has a count of 0");
    check_found(&with("bt", "count", &[1, 1, 7, 1, 1, 1]), "counts", "batch 2 has a count of 7");
}

#[test]
fn rows_out_of_order_are_found() {
    let mut tables = table_7();
    tables[1].1 = tables[1].1.gather(&[5, 4, 3, 2, 1, 0]);
    let report = report(&release_of(tables));
    assert!(!report.checks.iter().find(|check| check.name == "row order").unwrap().ok);
}

#[test]
fn ranges_that_nobody_fits_are_unfaithful() {
    let release = with("gt_zipcode", "zipcode_min", &[10001, 58000, 10001, 58000, 78000, 78000]);
    check_found(&release, "faithful", "1 rows of the microdata find no row of `gt_zipcode` of their own");
}

/// Everybody fits somewhere, but people with the flu do not fit the rows of batches that have it.
#[test]
fn batches_with_other_values_are_unfaithful() {
    let release = with("gt", "batch_id", &[2, 2, 1, 1, 3, 3]);
    let report = report(&release);
    let check = report.checks.iter().find(|check| check.name == "faithful").unwrap();
    assert!(
        check.findings.iter().any(|it| it.ends_with("find no row of `gt` whose batch has their sensitive value")),
        "{check:?}"
    );
}

/// Every table is a truthful picture on its own, but they tie people to different batches.
#[test]
fn tables_that_contradict_each_other_are_found() {
    let whole = report(&release_of(table_7()));
    let check = whole.checks.iter().find(|check| check.name == "intersection").unwrap();
    assert_eq!(
        check.detail,
        "2 generalized tables joined for 6 people: everybody keeps at least 2 sensitive values (6 people are left \
         with one batch); nobody's value is more likely than 0.5, however they are joined"
    );
    // Batch 3, alone in its bucket, swaps ids with batch 1 in one table only.
    let release = with("gt_zipcode", "batch_id", &[3, 3, 2, 2, 1, 1]);
    let report = report(&release);
    let check = report.checks.iter().find(|check| check.name == "intersection").unwrap();
    assert!(check.findings.iter().any(|it| it.ends_with("that every table allows")), "{check:?}");
}

#[test]
fn nobody_keeps_no_number_of_values() {
    let nobody = microdata().gather(&[]);
    let report = audit(&release_of(table_7()), Some(&nobody)).unwrap();
    let check = report.checks.iter().find(|check| check.name == "intersection").unwrap();
    assert!(check.ok && check.detail.contains("joined for nobody"), "{check:?}");
    assert!(!report.ok(), "the release shows six people who are not there");
}

#[test]
fn tables_that_are_missing_or_stray_are_named() {
    let mut tables = table_7();
    tables.remove(1);
    assert_eq!(audit(&release_of(tables), None).unwrap_err().to_string(), "the release has no table `gt`");
    let mut tables = table_7();
    tables.remove(0);
    assert_eq!(audit(&release_of(tables), None).unwrap_err().to_string(), "the release has no table `bt`");
    let mut tables = table_7();
    tables.push(("extra", members()));
    check_found(&release_of(tables), "tables", "table `extra` does not belong to this form");
}

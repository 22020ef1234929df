//! Releases that make no sense give an error or a finding, never a panic.

use super::*;
use crate::AuditError;

fn refused(release: &Release, message: &str) {
    let error = audit(release, Some(&microdata())).unwrap_err();
    assert_eq!(error.to_string(), message);
    assert!(!error.hint().is_empty());
}

#[test]
fn promises_are_measured_exactly() {
    let measured = |promise: &str| {
        let mut release = release();
        super::promise(&mut release.manifest, &[promise]);
        let result = audit(&release, None).unwrap().principles.remove(0);
        (result.holds, result.worst_text, result.worst_group)
    };
    let expected = |holds, text: &str, group| (holds, text.to_owned(), Some(group));
    assert_eq!(measured("k=3"), expected(false, "2", 5));
    assert_eq!(measured("l=1.5"), expected(true, "1.5", 9));
    assert_eq!(measured("l=1.6"), expected(false, "1.5", 9));
    assert_eq!(measured("entropy-l=2"), expected(false, "1.889881575", 9));
    assert_eq!(measured("entropy-l=1.8"), expected(true, "1.889881575", 9));
    assert_eq!(measured("recursive-l=2,2"), expected(false, "2", 9));
    assert_eq!(measured("recursive-l=2.1,2"), expected(true, "2", 9));
    assert_eq!(measured("recursive-l=9,3"), expected(false, "unbounded", 5));
    assert_eq!(measured("alpha-k=2/3,2"), expected(true, "share 2/3, 2 rows", 9));
    assert_eq!(measured("alpha-k=0.7,3"), expected(false, "share 2/3, 2 rows", 5));
    assert_eq!(measured("beta=5/3"), expected(true, "5/3", 3));
    assert_eq!(measured("beta=1.6"), expected(false, "5/3", 3));
    assert_eq!(measured("t=0.2"), expected(false, "5/24", 3));
    assert_eq!(measured("t=5/24"), expected(true, "5/24", 3));
}

#[test]
fn categories_taxonomies_and_numbers_are_taken_from_the_manifest() {
    let mut release = release();
    let disease = release.manifest.attributes.last_mut().unwrap();
    disease.categories = Some(vec![vec!["gastritis".into()], vec!["cold".into(), "flu".into()]]);
    disease.weights = Some(vec!["0".into(), "1".into()]);
    let line = |leaf: &str, group: &str| vec![leaf.to_owned(), group.to_owned(), "*".to_owned()];
    disease.taxonomy = Some(vec![line("cold", "airways"), line("flu", "airways"), line("gastritis", "stomach")]);
    let all = ["distinct-l-alpha=2,2", "entropy-l-alpha=2,2", "recursive-l-alpha=3,2,2", "t=0.2"];
    promise(&mut release.manifest, &all);
    let report = audit(&release, None).unwrap();
    let texts: Vec<_> = report.principles.iter().map(|p| (p.holds, p.worst_text.as_str())).collect();
    assert_eq!(
        texts,
        [
            (true, "2 values, weight 2"),
            (false, "2 values, weight 2, entropy 1"),
            (false, "2 values, weight 2, ratio unbounded"),
            (false, "5/24"),
        ]
    );

    let mut columns = release.tables[0].columns().to_vec();
    columns[5] = Column::integers("disease", &[1, 9, 4, 1, 4, 2, 2, 8]);
    release.tables[0] = Table::new(columns);
    let disease = release.manifest.attributes.last_mut().unwrap();
    *disease = attribute(RoleName::Sensitive, release.tables[0].column("disease").unwrap());
    promise(&mut release.manifest, &["ke=2,3", "ke=2,4", "ke=3,3"]);
    let report = audit(&release, None).unwrap();
    let texts: Vec<_> = report.principles.iter().map(|p| (p.holds, p.worst_text.as_str(), p.worst)).collect();
    assert_eq!(
        texts,
        [(true, "2 values, span 3", 2.0), (false, "2 values, span 3", 3.0), (false, "2 values, span 3", 2.0)]
    );
}

#[test]
fn other_methods_and_promises_are_refused() {
    // Unknown methods and principles are refused when the manifest is read, before there is anything to audit.
    let refused_by_reading = |from: &str, to: &str, message: &str| {
        let text = release().manifest.to_json().unwrap();
        assert!(text.contains(from), "{text}");
        let error = Manifest::parse(text.replace(from, to).as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), message);
    };
    let unknown = "the release was made by the method `moth`, which this program does not know";
    refused_by_reading("\"generalize\"", "\"moth\"", unknown);
    let unusable = "the manifest promises";
    let nonsense = format!("{unusable} `love=1`, which cannot be checked: `love=1` is not a principle");
    refused_by_reading("\"k=2\"", "\"love=1\"", &nonsense);
    let promising = |promise: &str| {
        let mut release = release();
        super::promise(&mut release.manifest, &["k=2", "distinct-l=2", promise]);
        release
    };
    refused(
        &promising("ke=2,3"),
        &format!("{unusable} `ke=2,3`, which cannot be checked: the sensitive attribute is not numeric"),
    );
    refused(
        &promising("distinct-l-alpha=2,1"),
        &format!(
            "{unusable} `distinct-l-alpha=2,1`, which cannot be checked: the sensitive attribute has no categories \
             with weights"
        ),
    );
    let mut open = promising("l=2");
    open.manifest.attributes.pop();
    let problem = "the release has no sensitive attribute";
    let error = audit(&open, None).unwrap_err();
    assert_eq!(error.to_string(), format!("{unusable} `distinct-l=2`, which cannot be checked: {problem}"));
    promise(&mut open.manifest, &["k=2"]);
    let report = audit(&open, None).unwrap();
    assert_eq!((report.principles[0].holds, report.attacks.linking), (true, None));
}

/// Promises as a forger may write them: of groups that the form does not have, or about another attribute.
#[test]
fn promises_about_something_else_are_refused() {
    let forged = |from: &str, to: &str, problem: &str| {
        let text = release().manifest.to_json().unwrap();
        assert!(text.contains(from), "{text}");
        let error = Manifest::parse(text.replace(from, to).as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), format!("the manifest promises `{problem}"));
    };
    for (scope, name) in [("batch", "batches"), ("bucket", "buckets"), ("user", "users")] {
        let problem = format!("k=2`, which cannot be checked: a release by method `generalize` has no {name}");
        forged("\"of\": \"group\"", &format!("\"of\": \"{scope}\""), &problem);
    }
    let problem = "distinct-l=2`, which cannot be checked: it is about `city`, which is not a sensitive attribute";
    forged("\"about\": \"disease\"", "\"about\": \"city\"", problem);
    let problem = "distinct-l=2`, which cannot be checked: it does not say which attribute it is about";
    forged("\"about\": \"disease\",", "", problem);
    let problem = "k=2`, which cannot be checked: it counts rows, so it is about no attribute";
    forged("\"principle\": \"k=2\",", "\"principle\": \"k=2\", \"about\": \"disease\",", problem);
}

#[test]
fn missing_tables_and_columns_and_wrong_kinds_are_refused() {
    let mut release = release();
    release.manifest.tables[1].name = "something".into();
    refused(&release, "the release has no table `members`");
    release.manifest.tables[0].name = "else".into();
    refused(&release, "the release has no table `generalized`");
    let without = |name: &str| {
        let mut release = super::release();
        let columns = release.tables[0].columns().iter().filter(|column| column.name() != name).cloned().collect();
        release.tables[0] = Table::new(columns);
        release
    };
    for name in ["group_id", "age_min", "age_max", "sex", "city", "disease"] {
        refused(&without(name), &format!("table `generalized` has no column `{name}`"));
    }
    let mut release = super::release();
    release.manifest.attributes[0].kind = KindName::Real;
    refused(&release, "column `age_min` of table `generalized` is integer, not real");
    let mut release = super::release();
    release.tables[0] = Table::new(Vec::new());
    refused(&release, "the release has no rows");
    release.tables.clear();
    refused(&release, "the release has no table `generalized`");
    let mut release = super::release();
    release.manifest.attributes[2].role = RoleName::Sensitive;
    let problem = "a release has one sensitive attribute, this is another";
    refused(&release, &format!("the manifest describes `disease` badly: {problem}"));
}

#[test]
fn an_attribute_described_badly_is_refused_or_found() {
    let mut release = release();
    release.manifest.attributes[3].taxonomy = Some(vec![vec!["flu".into(), "*".into()]]);
    let error = audit(&release, None).unwrap_err();
    assert!(matches!(&error, AuditError::Attribute { attribute, .. } if attribute == "disease"), "{error}");
    let mut release = super::release();
    release.manifest.attributes[3].categories = Some(Vec::new());
    refused(&release, "the manifest describes `disease` badly: 0 categories, 0 weights");
    let mut release = super::release();
    release.manifest.attributes[0].domain = DomainEntry::default();
    expect(&report(&release), &[("ranges", "the manifest gives no domain for `age`")]);
    let mut release = super::release();
    release.manifest.attributes[3].domain.counts = None;
    let sentence = "the manifest does not say how often the values of `disease` occur";
    expect(&report(&release), &[("sensitive values", sentence)]);
    let mut release = super::release();
    let domain = &mut release.manifest.attributes[3].domain;
    domain.values.as_mut().unwrap().swap(0, 1);
    domain.counts.as_mut().unwrap().swap(0, 1);
    let listed = "the manifest lists the values of `disease` in a different order";
    expect(&report(&release), &[("sensitive values", listed)]);
    let mut release = super::release();
    release.manifest.attributes[3].domain.counts = Some(vec![u64::MAX; 3]);
    assert!(!report(&release).ok());
    let mut release = super::release();
    (release.manifest.rows, release.manifest.groups) = (u64::MAX, u64::MAX);
    assert!(!report(&release).ok());
}

#[test]
fn microdata_must_have_the_columns_and_kinds() {
    let of = |columns: Vec<Column>| audit(&release(), Some(&Table::new(columns))).unwrap_err();
    let all = microdata().columns().to_vec();
    let error = of(all[1..].to_vec());
    assert_eq!(error.to_string(), "the microdata has no column `age`");
    assert_eq!(error.hint(), "the columns are sex, city, disease");
    let mut wrong = all;
    wrong[0] = Column::texts("age", ["a"; 8].into_iter());
    let error = of(wrong);
    assert_eq!(error.to_string(), "column `age` of the microdata is category, but integer in the release");
    assert_eq!(error.hint(), "read this column as integer; if another release reads it otherwise, check each alone");
}

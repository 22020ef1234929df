//! The papers' worked generalizations, typed by hand from print, against what `publish` writes.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::Release;

struct Case {
    table: &'static str,
    flags: &'static str,
    /// The printed table, and which of its columns a release must show alike.
    printed: &'static str,
    columns: &'static [&'static str],
    /// Labels that print differently: (paper's, ours).
    labels: &'static [(&'static str, &'static str)],
}

/// Publishes, audits, and compares the groups as multisets: printed group ids are not ours.
fn check(case: &Case) {
    let folder = tempfile::tempdir().unwrap();
    let papers = common::papers().canonicalize().unwrap();
    let path = |name: &str| papers.join(name).display().to_string();
    let flags: String = case.flags.replace("papers/", &format!("{}/", papers.display()));
    let line = format!("publish {} {flags} --format csv --seed 1 --out release", path(case.table));
    common::run(folder.path(), &line).expect(0);
    common::run(folder.path(), &format!("audit release --microdata {}", path(case.table))).expect(0);

    let found = Release::at(folder.path().join("release")).cells("generalized.csv");
    let printed = common::parse_csv(&std::fs::read_to_string(path(case.printed)).unwrap());
    let ours = groups(&found, case.columns, &[]);
    let theirs = groups(&printed, case.columns, case.labels);
    assert_eq!(ours, theirs, "{} is not {}", case.table, case.printed);
}

/// The groups of a table, each as its sorted rows; rows of the same printed cells are a group when no id is there.
fn groups(table: &[Vec<String>], columns: &[&str], labels: &[(&str, &str)]) -> Vec<Vec<Vec<String>>> {
    let place = |name: &str| table[0].iter().position(|column| column == name);
    let shown: Vec<usize> =
        columns.iter().map(|name| place(name).unwrap_or_else(|| panic!("no column {name}"))).collect();
    let label = |cell: &String| {
        labels.iter().find(|(theirs, _)| theirs == cell).map_or_else(|| cell.clone(), |(_, ours)| (*ours).to_owned())
    };
    let mut groups = std::collections::BTreeMap::<String, Vec<Vec<String>>>::new();
    for row in &table[1..] {
        let group = place("group_id").map_or_else(String::new, |at| row[at].clone());
        groups.entry(group).or_default().push(shown.iter().map(|&at| label(&row[at])).collect());
    }
    let mut groups: Vec<_> = groups.into_values().collect();
    groups.iter_mut().for_each(|rows| rows.sort());
    groups.sort();
    groups
}

#[test]
fn pa_table_1_with_its_groups_becomes_table_2() {
    check(&Case {
        table: "pa/table-1.csv",
        flags: "--quasi age,sex --sensitive disease --partitioner column --group-column group_id --require l=4",
        printed: "pa/table-2.csv",
        columns: &["age_min", "age_max", "sex", "disease"],
        labels: &[("F/M", "{F,M}")],
    });
}

#[test]
fn pa_example_4_ncp_of_table_2_is_13_5() {
    let folder = tempfile::tempdir().unwrap();
    let table = common::papers().join("pa/table-1.csv").canonicalize().unwrap();
    let line = format!(
        "publish {} --quasi age,sex --sensitive disease --partitioner column --group-column group_id --require l=4 \
         --out release --output json",
        table.display()
    );
    let summary = common::run(folder.path(), &line).expect(0).json();
    assert_eq!(summary["ncp_sum"], 13.5, "{summary}");
    assert_eq!(summary["ncp"], 0.75, "{summary}");
}

#[test]
fn angel_table_1_with_its_groups_becomes_table_1b() {
    check(&Case {
        table: "angel/table-1.csv",
        flags: "--quasi age,sex --sensitive disease --partitioner column --group-column group_id --require l=2",
        printed: "angel/table-1b.csv",
        columns: &["age_min", "age_max", "sex", "disease"],
        labels: &[("*", "{F,M}")],
    });
}

#[test]
fn lalpha_table_1_with_its_groups_becomes_table_5() {
    // Ages are ranges in our releases; the labels <30, 3* and >40 are not compared.
    check(&Case {
        table: "lalpha/table-1.csv",
        flags: "--quasi age,country,zip_code --sensitive disease --partitioner column --group-column group_id \
                --kind zip_code=category --taxonomy country=papers/lalpha/country.taxonomy.csv \
                --taxonomy zip_code=papers/lalpha/zip_code.taxonomy.csv --require distinct-l=2",
        printed: "lalpha/table-5.csv",
        columns: &["country", "zip_code", "disease"],
        labels: &[],
    });
}

#[test]
fn ke_figure_1_with_its_groups_becomes_figure_2() {
    // Gender is `*` in print even where a group has one; ages are taken from the decades.
    check(&Case {
        table: "ke/figure-1.csv",
        flags: "--quasi age,zipcode --sensitive salary --partitioner column --group-column group_id \
                --kind zipcode=category --taxonomy zipcode=papers/ke/zipcode.taxonomy.csv --require ke=3,2000",
        printed: "ke/figure-2.csv",
        columns: &["zipcode", "salary"],
        labels: &[],
    });
}

#[test]
fn butterfly_table_1_becomes_table_ii() {
    check_rows("vehicle", "occupation", "butterfly/table-2.csv");
}

#[test]
fn butterfly_table_1_becomes_table_iii() {
    check_rows("occupation", "vehicle", "butterfly/table-3.csv");
}

/// Tables II and III print no group ids, so their rows are compared as one multiset.
fn check_rows(generalized: &str, other: &str, printed: &str) {
    let folder = tempfile::tempdir().unwrap();
    let papers = common::papers().canonicalize().unwrap().join("butterfly");
    let papers = papers.display();
    let line = format!(
        "publish {papers}/table-1.csv --quasi age,{generalized},postcode --other {other} --sensitive faulty --require k=2 \
         --taxonomy {generalized}={papers}/{generalized}.taxonomy.csv --format csv --seed 1 --out release"
    );
    common::run(folder.path(), &line).expect(0);
    let columns = [generalized, other, "faulty"];
    let mut found = Release::at(folder.path().join("release")).cells("generalized.csv");
    found[0][0] = "ours".to_owned();
    let text = std::fs::read_to_string(common::papers().join(printed)).unwrap();
    assert_eq!(groups(&found, &columns, &[]), groups(&common::parse_csv(&text), &columns, &[]));
}

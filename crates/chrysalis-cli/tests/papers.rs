//! The papers' worked generalizations, typed by hand from print, compared with what `publish` writes.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::Release;

struct Case {
    table: &'static str,
    flags: &'static str,
    /// The printed table, and the columns that a release must show identically.
    printed: &'static str,
    columns: &'static [&'static str],
    /// Labels that are printed differently: (paper's, ours).
    labels: &'static [(&'static str, &'static str)],
}

/// Publishes, audits, and compares the groups as multisets, because printed group ids differ from ours.
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

/// The groups of a table, each as its sorted rows; without an id, rows with the same printed cells form a group.
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
    // Gender is printed as `*` even where a group has only one; ages are taken from the decades.
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
        "publish {papers}/table-1.csv --quasi age,{generalized},postcode --other {other} --sensitive faulty --require k=2 --accept disclosure \
         --taxonomy {generalized}={papers}/{generalized}.taxonomy.csv --format csv --seed 1 --out release"
    );
    common::run(folder.path(), &line).expect(0);
    let columns = [generalized, other, "faulty"];
    let mut found = Release::at(folder.path().join("release")).cells("generalized.csv");
    found[0][0] = "ours".to_owned();
    let text = std::fs::read_to_string(common::papers().join(printed)).unwrap();
    assert_eq!(groups(&found, &columns, &[]), groups(&common::parse_csv(&text), &columns, &[]));
}

const DISEASES: &str = "--categories disease=HIV|Cancer;Phthisis|Hepatitis;Obesity|Asthma;Flu|Indigestion";

/// Publishes lalpha table 1 with groups given by row numbers from 1, and returns the groups and the audit's report.
fn lalpha_grouped(groups: &[&[usize]], flags: &str) -> (Vec<Vec<Vec<String>>>, serde_json::Value) {
    let folder = tempfile::tempdir().unwrap();
    let papers = common::papers().canonicalize().unwrap().join("lalpha");
    let mut table = common::parse_csv(&std::fs::read_to_string(papers.join("table-1.csv")).unwrap());
    let at = table[0].iter().position(|name| name == "group_id").unwrap();
    for (id, rows) in groups.iter().enumerate() {
        rows.iter().for_each(|&row| table[row][at] = (id + 1).to_string());
    }
    let text: Vec<String> = table.iter().map(|row| row.join(",")).collect();
    std::fs::write(folder.path().join("table.csv"), text.join("\n")).unwrap();
    let papers = papers.display();
    let line = format!(
        "publish table.csv --quasi age,country,zip_code --sensitive disease --partitioner column --group-column group_id \
         --kind zip_code=category --taxonomy country={papers}/country.taxonomy.csv \
         --taxonomy zip_code={papers}/zip_code.taxonomy.csv {DISEASES} {flags} --format csv --seed 1 --out release"
    );
    common::run(folder.path(), &line).expect(0);
    let found = Release::at(folder.path().join("release")).cells("generalized.csv");
    let report = common::run(folder.path(), "audit release --output json").expect(0).json();
    (groups_of_countries(&found), report)
}

/// Country and disease only: the paper prints 14*** where 142** is the lowest label, and ages under labels of its own.
fn groups_of_countries(table: &[Vec<String>]) -> Vec<Vec<Vec<String>>> {
    groups(table, &["country", "disease"], &[])
}

fn lalpha_printed(name: &str) -> Vec<Vec<Vec<String>>> {
    let text = std::fs::read_to_string(common::papers().join("lalpha").join(name)).unwrap();
    groups_of_countries(&common::parse_csv(&text))
}

/// The rows open to the similarity attack: in total, and by category.
fn similar(report: &serde_json::Value) -> (u64, Vec<u64>) {
    let attack = &report["attacks"]["similarity"];
    let of = attack["by_category"].as_array().unwrap().iter().map(|of| of["rows"].as_u64().unwrap()).collect();
    (attack["rows"].as_u64().unwrap(), of)
}

#[test]
fn lalpha_table_2_is_2_anonymous_and_gives_most_people_away() {
    let groups: [&[usize]; 5] = [&[1, 2], &[3, 4], &[5, 6, 7, 8], &[9, 12], &[10, 11]];
    let (mut found, report) = lalpha_grouped(&groups, "--require k=2 --accept disclosure");
    // The paper prints America even where a whole group is from one country, so only diseases are compared.
    let mut printed = lalpha_printed("table-2.csv");
    for table in [&mut found, &mut printed] {
        table.iter_mut().flatten().for_each(|row| drop(row.remove(0)));
        table.sort();
    }
    assert_eq!(found, printed);
    assert_eq!(similar(&report), (8, vec![4, 0, 0, 4]));
}

#[test]
fn lalpha_table_5_has_four_rows_of_its_first_and_all_of_its_third_group_open_to_the_similarity_attack() {
    let groups: [&[usize]; 3] = [&[1, 2, 3, 4], &[5, 6, 7, 8], &[9, 10, 11, 12]];
    let (found, report) = lalpha_grouped(&groups, "--require distinct-l=2");
    assert_eq!(found, lalpha_printed("table-5.csv"));
    assert_eq!(similar(&report), (8, vec![4, 0, 0, 4]));
    assert_eq!(report["attacks"]["similarity"]["groups"], 2);
}

#[test]
fn lalpha_table_6_is_distinct_3_1_and_closed_to_the_similarity_attack() {
    let groups: [&[usize]; 3] = [&[1, 2, 3, 9], &[5, 6, 7, 8], &[4, 10, 11, 12]];
    let (found, report) = lalpha_grouped(&groups, "--weights uniform --require distinct-l-alpha=3,1");
    assert_eq!(found, lalpha_printed("table-6.csv"));
    assert_eq!(similar(&report), (0, vec![0; 4]));
}

#[test]
fn lalpha_table_7_is_entropy_2_2() {
    let groups: [&[usize]; 3] = [&[1, 2, 9, 10], &[5, 6, 7, 8], &[3, 4, 11, 12]];
    let (found, report) = lalpha_grouped(&groups, "--require entropy-l-alpha=2,2");
    assert_eq!(found, lalpha_printed("table-7.csv"));
    assert_eq!(similar(&report), (0, vec![0; 4]));
}

#[test]
fn lalpha_table_8a_becomes_table_8b_from_the_top_down() {
    check(&Case {
        table: "lalpha/table-8a.csv",
        flags: "--quasi zip_code --sensitive disease --taxonomy zip_code=papers/lalpha/table-8-zip_code.taxonomy.csv \
                --categories disease=HIV;Flu --require distinct-l-alpha=2,1 --partitioner top-down",
        printed: "lalpha/table-8b.csv",
        columns: &["zip_code", "disease"],
        labels: &[],
    });
}

#[test]
fn categories_and_weights_can_be_given_as_flags_with_every_form_and_partitioner() {
    let folder = tempfile::tempdir().unwrap();
    let table = common::papers().join("lalpha/table-1.csv").canonicalize().unwrap();
    let cases = [
        ("generalize", "compact"),
        ("generalize", "mondrian"),
        ("generalize", "top-down"),
        ("anatomy", "nearby"),
        ("anatomy", "anatomize"),
        ("permute", "similar"),
    ];
    for (at, (method, partitioner)) in cases.into_iter().enumerate() {
        let line = format!(
            "publish {} --quasi age,country --sensitive disease --method {method} --partitioner {partitioner} {DISEASES} \
             --weights sensitivity(2) --require entropy-l-alpha=2,1 --seed 1 --out release-{at}",
            table.display()
        );
        common::run(folder.path(), &line).expect(0);
        let report = common::run(folder.path(), &format!("audit release-{at} --output json")).expect(0).json();
        // The entropy over categories is at least ln 2, so no group lies in a single category. (distinct-l-alpha=2,1
        // lets some through.)
        assert_eq!(similar(&report), (0, vec![0; 4]), "{method} {partitioner}");
    }
    let line = format!(
        "publish {} --quasi age --sensitive disease {DISEASES} --weights 0,1/4,1/2 --require distinct-l-alpha=2,1 --out no",
        table.display()
    );
    common::run(folder.path(), &line).expect(2);
    let line = format!(
        "publish {} --quasi age --sensitive disease --categories country=USA;China --require k=2 --out no",
        table.display()
    );
    let refused = common::run(folder.path(), &line).expect(2);
    assert!(refused.stderr.contains("`country` has categories but no role"), "{}", refused.stderr);
    let publish = format!("publish {} --quasi age --sensitive disease --require k=2 --out no", table.display());
    let refused = common::run(folder.path(), &format!("{publish} --weights uniform")).expect(2);
    assert!(refused.stderr.contains("weights are for categories, but column `disease` has none"), "{}", refused.stderr);
    let refused = common::run(folder.path(), &format!("{publish} --partitioner compact --relaxed")).expect(2);
    assert!(
        refused.stderr.contains("`relaxed` goes with the partitioner mondrian, not with compact"),
        "{}",
        refused.stderr
    );
}

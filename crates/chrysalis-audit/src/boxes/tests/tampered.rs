//! Every alteration of a release is noticed, whatever the hashes say.

use super::*;

#[test]
fn an_honest_release_passes_with_levels_and_the_attack() {
    let report = report(&release());
    assert!(report.ok(), "{report:?}");
    assert_eq!((report.rows, report.groups), (8, 3));
    let levels: Vec<_> = report.principles.iter().map(|p| (p.worst_text.as_str(), p.worst_group)).collect();
    assert_eq!(levels, [("2", Some(5)), ("2", Some(5))]);
    let linking = report.attacks.linking.as_ref().unwrap();
    assert_eq!((linking.confidence_text.as_str(), linking.group, linking.rows), ("2/3", Some(9), 2));
    let details: Vec<&str> = report.checks.iter().map(|check| check.detail.as_str()).collect();
    assert_eq!(
        details,
        [
            "8 rows, 4 attributes",
            "3 groups by group id, 3 different rows of cells",
            "3 different ranges",
            "3 labels, 4 members",
            "3 values of `disease`, each as often as the manifest says",
            "canonical: nothing of the input's order is left",
            "each of 8 rows of the microdata has a published row of its own",
        ]
    );
}

#[test]
fn an_altered_quasi_cell_is_noticed() {
    let mut rows = rows();
    rows[3].age.1 = Some(32);
    expect(
        &report(&with_rows(&rows)),
        &[
            ("groups", "rows of group 5 differ in `age_max`, so they do not hide each other"),
            ("faithful", "1 rows of the microdata are covered by no published row"),
        ],
    );
}

#[test]
fn a_whole_group_moved_is_noticed_with_the_microdata_only() {
    let mut rows = rows();
    rows.iter_mut().filter(|row| row.group == 5).for_each(|row| row.age = (Some(31), Some(32)));
    let release = with_rows(&rows);
    assert!(audit(&release, None).unwrap().ok());
    expect(&report(&release), &[("faithful", "1 rows of the microdata are covered by no published row")]);
}

#[test]
fn a_value_stands_for_itself_alone() {
    let mut release = release();
    let members = release.manifest.tables.iter().position(|table| table.name == "members").unwrap();
    let lines = [("sex", "F", "F"), ("sex", "F", "M"), ("sex", "M", "M"), ("sex", "{F,M}", "F"), ("sex", "{F,M}", "M")];
    let column = |name: &str, texts: Vec<&'static str>| Column::texts(name, texts.into_iter());
    release.tables[members] = Table::new(vec![
        column("attribute", lines.map(|line| line.0).to_vec()),
        column("label", lines.map(|line| line.1).to_vec()),
        column("value", lines.map(|line| line.2).to_vec()),
    ]);
    let report = report(&release);
    let check = report.checks.iter().find(|check| check.name == "labels").unwrap();
    assert_eq!(check.findings, ["label `F` of `sex` does not stand for `M`, which is among its members"]);
}

/// A wider range is still true of its members, but its ends could carry information.
#[test]
fn a_range_that_ends_where_nobody_stands_is_noticed() {
    let mut rows = rows();
    rows.iter_mut().filter(|row| row.group == 5).for_each(|row| row.age.0 = Some(26));
    let report = report(&with_rows(&rows));
    let check = report.checks.iter().find(|check| check.name == "faithful").unwrap();
    assert!(check.detail.contains("1 ends of ranges of `age` are values that nobody has"), "{check:?}");
}

#[test]
fn an_altered_sensitive_value_is_noticed() {
    let mut rows = rows();
    rows[4].disease = "cold";
    let report = report(&with_rows(&rows));
    expect(
        &report,
        &[
            ("sensitive values", "a value of `disease` occurs 3 times, the manifest says 4"),
            ("faithful", "2 values of `disease` occur a different number of times in the microdata"),
        ],
    );
    assert!(!report.principles[1].holds);
    assert_eq!((report.principles[1].worst, report.principles[1].worst_group), (1.0, Some(5)));
}

#[test]
fn two_sensitive_values_exchanged_between_groups_are_noticed() {
    let mut rows = rows();
    (rows[2].disease, rows[7].disease) = ("cold", "flu");
    let report = report(&with_rows(&rows));
    expect(&report, &[("faithful", "2 rows of the microdata are covered by no published row")]);
}

#[test]
fn an_unknown_sensitive_value_is_noticed() {
    let mut rows = rows();
    rows[4].disease = "plague";
    let report = report(&with_rows(&rows));
    expect(
        &report,
        &[
            ("sensitive values", "a value of `disease` that is not in the domain occurs 1 times"),
            ("faithful", "1 rows of the microdata are covered by no published row"),
        ],
    );
}

#[test]
fn a_row_moved_to_another_group_is_noticed() {
    let mut rows = rows();
    let moved = Row { group: 5, ..rows.remove(5) };
    rows.insert(3, moved);
    let report = report(&with_rows(&rows));
    expect(&report, &[("groups", "rows of group 5 differ in `sex`, so they do not hide each other")]);
}

#[test]
fn a_deleted_row_is_noticed() {
    let mut rows = rows();
    rows.remove(6);
    expect(
        &report(&with_rows(&rows)),
        &[
            ("tables", "`generalized` has 7 rows, the manifest says 8"),
            ("tables", "`generalized` has 7 rows, the manifest lists 8"),
            ("sensitive values", "a value of `disease` occurs 3 times, the manifest says 4"),
            ("faithful", "the microdata have 8 rows, the release 7"),
            ("faithful", "1 rows of the microdata are covered, but find no published row of their own"),
        ],
    );
}

#[test]
fn rows_out_of_order_are_noticed() {
    let mut rows = rows();
    rows.swap(0, 1);
    let sentence = |table: &str| {
        format!("1 rows of `{table}` come before one that should precede them, which could reveal the input's order")
    };
    expect(&report(&with_rows(&rows)), &[("row order", sentence("generalized").as_str())]);
    let mut release = release();
    let rows: Vec<u32> = vec![0, 1, 3, 2];
    release.tables[1] = release.tables[1].gather(&rows);
    expect(&report(&release), &[("row order", sentence("members").as_str())]);
}

#[test]
fn groups_are_counted_and_must_have_ids() {
    let mut release = release();
    release.manifest.groups = 4;
    expect(&report(&release), &[("groups", "there are 3 group ids, the manifest says 4")]);
    let mut columns = release.tables[0].columns().to_vec();
    columns[0] = integers("group_id", &[None, None, None, Some(5), Some(5), Some(9), Some(9), Some(9)]);
    release.tables[0] = Table::new(columns);
    let report = report(&release);
    let sentences = [("groups", "3 rows have no group id"), ("groups", "there are 2 group ids, the manifest says 4")];
    expect(&report, &sentences);
}

#[test]
fn members_must_say_what_labels_stand_for() {
    let noticed = |rows: &[(&str, &str, &str)], findings: &[(&str, &str)]| {
        let mut release = release();
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        release.tables[1] = members(&rows);
        release.manifest.tables[1].rows = rows.len() as u64;
        expect(&audit(&release, None).unwrap(), findings);
    };
    noticed(&MEMBERS[1..], &[("labels", "label `F` of `sex` has no members")]);
    let with = |row| MEMBERS.iter().copied().chain([row]).collect::<Vec<_>>();
    noticed(&with(("sex", "F", "X")), &[("labels", "label `F` of `sex` stands for `X`, which is not in the domain")]);
    noticed(&with(("sex", "*", "F")), &[("labels", "label `*` of `sex` is in `members`, but not used")]);
    noticed(&with(("age", "*", "F")), &[("labels", "`members` mentions `age`, which has no labels")]);
    noticed(&with(("sex", "F", "F")), &[("labels", "1 rows of `members` repeat another")]);

    // A label that names its values must have exactly those members; the microdata are not needed to check that.
    let lacking = ("labels", "label `{F,M}` of `sex` stands for `M` too, which is not among its members");
    noticed(&MEMBERS[..3], &[lacking]);
    noticed(
        &with(("sex", "{F,M}", "")),
        &[("labels", "label `{F,M}` of `sex` does not stand for ``, which is among its members")],
    );

    let mut release = release();
    release.tables[1] = members(&MEMBERS[..3]);
    release.manifest.tables[1].rows = 3;
    let uncovered = ("faithful", "1 rows of the microdata are covered by no published row");
    expect(&report(&release), &[lacking, uncovered]);
}

#[test]
fn ranges_must_make_sense() {
    let noticed = |age: (Option<i64>, Option<i64>), sentence: &str| {
        let mut rows = rows();
        rows.iter_mut().filter(|row| row.group == 5).for_each(|row| row.age = age);
        expect(&audit(&with_rows(&rows), None).unwrap(), &[("ranges", sentence)]);
    };
    noticed((Some(33), Some(31)), "group 5: the range of `age` ends before it begins");
    noticed((Some(50), Some(60)), "group 5: the range of `age` lies outside its domain");
    noticed((Some(1), Some(20)), "group 5: the range of `age` lies outside its domain");
    noticed((Some(31), None), "group 5: `age` has no upper end");
    noticed((None, Some(31)), "group 5: `age` may be missing, but its domain has no missing value");
    // An interval that is aligned to its width may reach beyond the domain.
    let mut rows = rows();
    rows.iter_mut().filter(|row| row.group == 9).for_each(|row| row.age = (Some(35), Some(49)));
    assert!(report(&with_rows(&rows)).ok());
}

#[test]
fn what_nobody_described_must_not_be_published() {
    let mut release = release();
    let mut columns = release.tables[0].columns().to_vec();
    columns.push(Column::integers("row_number", &[1, 2, 3, 4, 5, 6, 7, 8]));
    release.tables[0] = Table::new(columns);
    expect(
        &audit(&release, None).unwrap(),
        &[
            ("tables", "column `row_number` of `generalized` belongs to no attribute"),
            ("tables", "the columns of `generalized` are not those the manifest lists"),
        ],
    );
    let mut release = super::release();
    release.manifest.tables.push(entry("extra", &release.tables[1]));
    release.tables.push(release.tables[1].clone());
    expect(&audit(&release, None).unwrap(), &[("tables", "table `extra` does not belong to this form")]);
    release.tables.pop();
    expect(&audit(&release, None).unwrap(), &[("tables", "the release has 2 tables, the manifest lists 3")]);
    let mut release = super::release();
    release.manifest.quasi_identifiers = vec![vec!["age".into()]];
    expect(&audit(&release, None).unwrap(), &[("tables", "`sex` is quasi, but in no quasi-identifier")]);
    release.manifest.quasi_identifiers = vec![vec!["age".into(), "sex".into()]];
    release.manifest.attributes[2].role = RoleName::Identifier;
    let sentence = "`city` is an identifier and must not be published";
    assert!(check(&audit(&release, None).unwrap(), "tables").findings.contains(&sentence.to_owned()));
}

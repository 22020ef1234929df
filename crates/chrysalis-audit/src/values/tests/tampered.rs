//! Every alteration of a release is noticed, whatever the hashes say.

use super::*;

fn judged(release: &Release) -> AuditReport {
    let people = if release.manifest.method == Form::Permute { people_of_permute() } else { microdata() };
    audit(release, Some(&people)).unwrap()
}

fn both() -> [Release; 2] {
    [anatomy(), permute()]
}

#[test]
fn honest_releases_pass() {
    let report = judged(&anatomy());
    assert!(report.ok(), "{report:?}");
    let names: Vec<&str> = report.checks.iter().map(|check| check.name).collect();
    assert_eq!(names, ["tables", "groups", "counts", "values", "sensitive values", "row order", "faithful"]);
    assert_eq!(check(&report, "groups").detail, "3 groups by group id, of the same size in both tables");
    assert_eq!(check(&report, "counts").detail, "7 counts, all positive, none twice");
    assert_eq!(
        check(&report, "faithful").detail,
        "each of 8 people can be given a group such that every group has the values it shows: an assignment was found"
    );
    let linking = report.attacks.linking.as_ref().unwrap();
    assert_eq!((linking.confidence_text.as_str(), linking.group, linking.rows), ("2/3", Some(9), 2));
    let report = judged(&permute());
    assert!(report.ok(), "{report:?}");
    // Two of three are 38, and three of three are M.
    let linked = report.attacks.row_linking.unwrap();
    assert_eq!((linked.delta_text.as_str(), linked.group), ("2/3", Some(9)));
}

#[test]
fn a_changed_count_is_noticed() {
    for (mut release, (main, side)) in both().into_iter().zip([("qit", "st"), ("pqt", "pst")]) {
        let mut changed = LINES;
        changed[6].2 = 3;
        release.tables[1] = lines(&changed);
        let sizes = format!("group 9 has 3 rows in `{main}`, but 4 sensitive values in `{side}`");
        expect(
            &judged(&release),
            &[
                ("groups", sizes.as_str()),
                ("sensitive values", "a value of `disease` occurs 5 times, the manifest says 4"),
                ("faithful", "1 values of `disease` occur a different number of times in the microdata"),
                ("faithful", "groups have other sizes in the two tables, so nobody can be assigned to them"),
            ],
        );
    }
}

#[test]
fn a_changed_sensitive_value_is_noticed() {
    for mut release in both() {
        let mut changed = LINES;
        changed[4].1 = "gastritis";
        release.tables[1] = lines(&changed);
        expect(
            &judged(&release),
            &[
                ("sensitive values", "a value of `disease` occurs 3 times, the manifest says 4"),
                ("sensitive values", "a value of `disease` occurs 2 times, the manifest says 1"),
                ("faithful", "2 values of `disease` occur a different number of times in the microdata"),
            ],
        );
        changed[4].1 = "plague";
        release.tables[1] = lines(&changed);
        let sentence = "a value of `disease` that is not in the domain occurs 1 times";
        let faithful = "2 values of `disease` occur a different number of times in the microdata";
        expect(&judged(&release), &[("sensitive values", sentence), ("faithful", faithful)]);
    }
}

#[test]
fn sensitive_values_exchanged_between_groups_are_noticed_with_the_microdata() {
    let mut changed = LINES;
    (changed[2].1, changed[4].1) = ("flu", "gastritis");
    changed[1].2 = 2;
    let changed: Vec<Line> = changed.iter().enumerate().filter(|(at, _)| *at != 2).map(|(_, line)| *line).collect();
    for (mut release, what) in both().into_iter().zip(["quasi and other values", "values of `age`"]) {
        release.tables[1] = lines(&changed);
        release.manifest.tables[1].rows = 6;
        assert!(audit(&release, None).unwrap().ok());
        let report = judged(&release);
        let finding = &check(&report, "faithful").findings[0];
        assert!(finding.contains("that no assignment of people to groups can give it"), "{what}: {finding}");
    }
}

#[test]
fn a_moved_row_is_noticed() {
    // One row from group 9 to group 5: sizes no longer agree.
    let moved = rows_with(&[3, 3, 3, 5, 5, 9, 9, 5]);
    let mut release = anatomy();
    release.tables[0] = moved;
    let report = judged(&release);
    expect(
        &report,
        &[
            ("groups", "group 5 has 3 rows in `qit`, but 2 sensitive values in `st`"),
            ("groups", "group 9 has 2 rows in `qit`, but 3 sensitive values in `st`"),
            ("faithful", "groups have other sizes in the two tables, so nobody can be assigned to them"),
        ],
    );
    // Two rows exchanged between groups: everything agrees, but the gastritis is no longer where it belongs.
    release.tables[0] = rows_with(&[3, 3, 5, 3, 5, 9, 9, 9]);
    assert!(audit(&release, None).unwrap().ok());
    let report = judged(&release);
    assert!(!check(&report, "faithful").ok);
}

#[test]
fn a_changed_quasi_value_is_noticed() {
    for mut release in both() {
        let ages = [21, 25, 29, 31, 33, 38, 40, 45];
        release.tables[0] = with_column(&release.tables[0], Column::integers("age", &ages));
        let values = "2 values of `age` occur a different number of times in the microdata";
        expect(&judged(&release), &[("faithful", values)]);
        let ages = [21, 25, 29, 31, 33, 38, 38, 46];
        release.tables[0] = with_column(&release.tables[0], Column::integers("age", &ages));
        let outside = "a value of `age` that is not in the domain occurs 1 times";
        expect(&judged(&release), &[("values", outside), ("faithful", values)]);
    }
    // Two cities exchanged: every column is right, the rows are not.
    let mut release = anatomy();
    let ages = Column::integers("age", &[21, 25, 29, 31, 33, 38, 38, 45]);
    let cities = Column::texts("city", ["Ulm", "Bonn", "Ulm", "Bonn", "Ulm", "Bonn", "Bonn", "Ulm"].into_iter());
    release.tables[0] = with_column(&with_column(&release.tables[0], ages), cities);
    let sentence = "2 rows of the microdata have no published row with their quasi values";
    expect(&judged(&release), &[("faithful", sentence)]);
}

#[test]
fn a_missing_group_is_noticed() {
    let mut release = anatomy();
    release.tables[1] = lines(&LINES[..5]);
    release.manifest.tables[1].rows = 5;
    let report = judged(&release);
    expect(
        &report,
        &[
            ("groups", "group 9 is in `qit`, but not in `st`"),
            ("sensitive values", "a value of `disease` occurs 2 times, the manifest says 4"),
            ("faithful", "2 values of `disease` occur a different number of times in the microdata"),
        ],
    );
    let mut release = anatomy();
    release.tables[0] = release.tables[0].gather(&[0, 1, 2, 3, 4]);
    release.manifest.groups = 3;
    let report = judged(&release);
    assert!(check(&report, "groups").findings.contains(&"group 9 is in `st`, but not in `qit`".to_owned()));
    assert!(check(&report, "groups").findings.contains(&"there are 2 group ids, the manifest says 3".to_owned()));
    assert!(check(&report, "tables").findings.contains(&"`qit` has 5 rows, the manifest says 8".to_owned()));
}

#[test]
fn rows_out_of_order_are_noticed() {
    let sentence = |table: &str| {
        format!("1 rows of `{table}` come before one that should precede them, which could reveal the input's order")
    };
    for (release, names) in both().into_iter().zip([["qit", "st"], ["pqt", "pst"]]) {
        for (at, name) in names.into_iter().enumerate() {
            let mut rows: Vec<u32> = (0..release.tables[at].rows() as u32).collect();
            rows.swap(3, 4);
            let mut release = release.clone();
            release.tables[at] = release.tables[at].gather(&rows);
            expect(&judged(&release), &[("row order", sentence(name).as_str())]);
        }
    }
}

#[test]
fn impossible_and_repeated_counts_are_noticed() {
    let counts = |at: usize, count: i64| {
        let mut changed = LINES;
        changed[at].2 = count;
        let mut release = anatomy();
        release.tables[1] = lines(&changed);
        judged(&release)
    };
    for count in [0, -1, i64::MIN, 9, i64::from(u32::MAX) + 1, i64::MAX] {
        let report = counts(1, count);
        let sentence = format!("group 3: a count of {count}, where the release has 8 rows");
        assert_eq!(check(&report, "counts").findings, [sentence]);
        assert!(!check(&report, "groups").ok && !check(&report, "sensitive values").ok);
    }
    let mut release = anatomy();
    let mut changed = LINES.to_vec();
    changed[6].2 = 1;
    changed.push((9, "flu", 1));
    release.tables[1] = lines(&changed);
    release.manifest.tables[1].rows = 8;
    expect(&judged(&release), &[("counts", "group 9 lists a value twice")]);
}

#[test]
fn attributes_must_be_shown_as_the_form_does() {
    for (mut release, word) in both().into_iter().zip(["permuted", "exact"]) {
        let wrong = if word == "exact" { Published::Exact } else { Published::Permuted };
        release.manifest.attributes[0].published = wrong;
        let sentence = format!("the manifest says that `age` is {word}, which does not fit this form");
        expect(&judged(&release), &[("tables", sentence.as_str())]);
    }
    for (mut release, wrong) in both().into_iter().zip([Published::Generalized, Published::Permuted]) {
        release.manifest.attributes.last_mut().unwrap().published = wrong;
        let word = format!("{wrong:?}").to_lowercase();
        let sentence = format!("the manifest says that `disease` is {word}, which does not fit this form");
        expect(&judged(&release), &[("tables", sentence.as_str())]);
    }
}

#[test]
fn what_nobody_described_must_not_be_published() {
    let mut release = anatomy();
    let mut columns = release.tables[1].columns().to_vec();
    columns.push(Column::integers("row", &[1, 2, 3, 4, 5, 6, 7]));
    release.tables[1] = Table::new(columns);
    release.manifest.tables[1] = entry("st", &release.tables[1]);
    expect(&judged(&release), &[("tables", "column `row` of `st` belongs to no attribute")]);
    let mut release = anatomy();
    release.manifest.tables.push(entry("members", &release.tables[1]));
    release.tables.push(release.tables[1].clone());
    expect(&judged(&release), &[("tables", "table `members` does not belong to this form")]);
}

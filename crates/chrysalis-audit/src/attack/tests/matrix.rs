//! Every attack on every form says something: a finding, or why it was not run.

use std::sync::atomic::{AtomicU64, Ordering};

use chrysalis_table::{Counted, Stopped, Watch};

use super::*;
use crate::testing::audit;
use crate::{AuditReport, LearnedOver, RowLinkingOver};

/// 48 people: a number, a word, and one of six values that is correlated with the word.
fn people() -> (Table, Vec<u64>) {
    let sensitive: Vec<u64> = (0..48).map(|row| row % 6).collect();
    let word: Vec<u64> = (0..48).map(|row| if mixed(row, 10) < 7 { row % 6 } else { mixed(row + 99, 6) }).collect();
    let ages: Vec<i64> = (0..48).map(|row| 20 + mixed(row + 7, 40) as i64).collect();
    let table =
        Table::new(vec![Column::integers("age", &ages), words("job", "j", &word), words("disease", "d", &sensitive)]);
    (table, sensitive)
}

fn forms() -> (Table, Vec<Release>) {
    let (table, sensitive) = people();
    let groups = dealt(&sensitive, 3);
    let buckets: Vec<i64> = (0..48).map(|row| row / 4).collect();
    let mut butterfly = generalized(Form::Butterfly, &table, &groups, &["k=3"]);
    butterfly.manifest.quasi_identifiers = vec![vec!["age".into()], vec!["job".into()]];
    let releases = vec![
        verbatim(Form::Anatomy, &table, &groups, &["l=3"]),
        verbatim(Form::Permute, &table, &groups, &["l=3"]),
        generalized(Form::Generalize, &table, &groups, &["l=3"]),
        butterfly,
        angel(&table, &groups, &buckets, &["l=3", "k=4"]),
    ];
    (table, releases)
}

const ALWAYS: [&str; 10] = [
    "linking",
    "row_linking",
    "presence",
    "similarity",
    "background",
    "learned",
    "minimality",
    "republishing",
    "subtraction",
    "extremes",
];

fn check(report: &AuditReport, method: &str) {
    let names: Vec<&str> = report.attacks.findings.iter().map(|finding| finding.attack).collect();
    assert_eq!(names[..10], ALWAYS, "{method}");
    assert!(names.contains(&"bystander"), "{method}");
    for finding in &report.attacks.findings {
        let text = &finding.sentence;
        assert!(text.len() > 20 && text.ends_with('.') && !text.contains("NaN"), "{method} {}: {text}", finding.attack);
        assert!(finding.was_run || finding.prevention.is_empty());
        assert!(finding.worst_groups.len() <= 5 && finding.worst_groups.is_sorted_by(|a, b| a.level >= b.level));
    }
    let run = |attack: &str| finding(&report.attacks.findings, attack).was_run;
    assert!(run("linking") && run("row_linking") && run("presence") && run("background") && run("learned"), "{method}");
    assert!(!run("similarity") && !run("minimality"), "{method}: no categories, and not by mondrian");
    assert!(!run("republishing") && run("subtraction"), "{method}: groups come with the table");
    assert!(report.attacks.background.is_some() && report.attacks.learned.is_some());
}

#[test]
fn every_attack_says_something_about_every_form() {
    let (table, releases) = forms();
    for release in &releases {
        let method = release.manifest.method.name();
        let alone = audit(release, None).unwrap();
        check(&alone, method);
        let learned = alone.attacks.learned.unwrap();
        assert_eq!((learned.over, learned.tried, learned.scored), (LearnedOver::Rows, 48, None), "{method}");
        let known = audit(release, Some(&table)).unwrap();
        check(&known, method);
        let learned = known.attacks.learned.unwrap();
        let scored = learned.scored.unwrap();
        assert_eq!((learned.over, scored.people), (LearnedOver::People, 48), "{method}");
        assert!(scored.right > 0.0 && scored.right <= 48.0 && scored.right_from_truth.is_some(), "{method}");
        let pooled = known.attacks.findings.iter().any(|finding| finding.attack == "pooling");
        assert_eq!(pooled, method == "butterfly");
    }
}

#[test]
fn ranges_hide_one_in_their_rows_unless_they_show_one_value() {
    let (table, releases) = forms();
    let linked = audit(&releases[2], Some(&table)).unwrap().attacks.row_linking.unwrap();
    assert_eq!((linked.delta_text.as_str(), linked.over), ("1/3", RowLinkingOver::Covered));
    let linked = audit(&releases[4], None).unwrap().attacks.row_linking.unwrap();
    assert_eq!((linked.delta_text.as_str(), linked.group), ("0.25", None));
    // Two people with the same quasi values share a group: each of them is certainly in the data, and either row may be
    // theirs.
    let twins = Table::new(vec![
        Column::integers("age", &[30, 30, 40, 50]),
        words("job", "j", &[1, 1, 2, 3]),
        words("disease", "d", &[1, 2, 1, 2]),
    ]);
    let report = audit(&generalized(Form::Generalize, &twins, &[1, 1, 2, 2], &["l=2"]), None).unwrap();
    let linked = report.attacks.row_linking.unwrap();
    assert_eq!((linked.delta, linked.group), (0.5, Some(1)));
    // Ages from 30 to 50, three jobs: one combination, and eleven ages with two jobs, of 63.
    let there = report.attacks.presence.unwrap();
    assert_eq!((there.certain_rows, there.certain_group), (2, Some(1)));
    assert!((there.covered - 23.0 / 63.0).abs() < 1e-12, "{}", there.covered);
    assert_eq!(
        finding(&report.attacks.findings, "presence").sentence,
        "Not protected: an attacker can assume that everybody whom a group covers is in the data, and how often that \
         is right cannot be bounded without knowing who is not. The groups cover at most 36.5 % of the combinations \
         of quasi values that the manifest allows; the fewer, the surer. 2 rows show one value per quasi attribute: \
         anybody with these values is certain to be in the data."
    );
    assert_eq!(
        finding(&report.attacks.findings, "row_linking").sentence,
        "An attacker who knows all quasi values of a person finds rows that could be the person's: as far as the \
         ranges and labels tell, no row is theirs with a probability above 50.0 %."
    );
}

/// Presence is reported for every form, and never as protected.
#[test]
fn no_form_claims_to_hide_who_is_there() {
    let (table, releases) = forms();
    for release in &releases {
        let method = release.manifest.method;
        for microdata in [None, Some(&table)] {
            let report = audit(release, microdata).unwrap();
            let there = report.attacks.presence.as_ref().unwrap();
            assert!(there.covered > 0.0 && there.covered <= 1.0, "{method}: {there:?}");
            let found = finding(&report.attacks.findings, "presence");
            assert!(found.sentence.starts_with("Not protected: "), "{method}: {}", found.sentence);
            assert!(found.prevention.starts_with("no way of showing people helps"), "{method}");
            let is_exact = report.attacks.row_linking.unwrap().over == RowLinkingOver::ExactValues;
            assert_eq!(there.certain_rows == 48, is_exact, "{method}: {there:?}");
        }
    }
    // Where no more than one column differs in a group, permuting it changes nothing.
    let alike = Table::new(vec![
        Column::integers("age", &[30, 30, 41, 42, 43]),
        words("job", "j", &[1, 1, 2, 2, 3]),
        words("disease", "d", &[1, 2, 1, 2, 3]),
    ]);
    let report = audit(&verbatim(Form::Permute, &alike, &[1, 1, 2, 2, 3], &["k=1"]), None).unwrap();
    let there = report.attacks.presence.unwrap();
    assert_eq!((there.certain_rows, there.certain_group), (5, Some(1)));
    let sentence = &finding(&report.attacks.findings, "presence").sentence;
    assert!(
        sentence.ends_with(
            "5 rows are in groups in which at most one quasi column has different values: anybody with these values \
             is certain to be in the data."
        ),
        "{sentence}"
    );
    let sentence = &finding(&report.attacks.findings, "row_linking").sentence;
    assert_eq!(
        sentence,
        "Where the values of a group are combined at random, any given row of it has all quasi values of a person \
         with a probability of at most 100.0 %. That some row of the group has them can be likelier, even certain."
    );
}

#[test]
fn levels_of_buckets_are_fractions_and_not_sums_of_floats() {
    // Ten rows of ten batches in one bucket, all with one value: certain, although ten tenths add up to less.
    let people = Table::new(vec![Column::integers("age", &[30; 10]), words("disease", "d", &[1; 10])]);
    let release = angel(&people, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], &[1; 10], &[]);
    let report = audit(&release, None).unwrap();
    let worst = &finding(&report.attacks.findings, "linking").worst_groups[0];
    assert_eq!((worst.level, worst.level_text.as_str(), worst.rows), (1.0, "1", 10));
}

#[test]
fn nobody_learns_from_rows_that_look_alike() {
    // Behind ranges and labels all rows of a group look the same: beliefs are the group's own shares.
    let (_, releases) = forms();
    let learned = audit(&releases[2], None).unwrap().attacks.learned.unwrap();
    assert!((learned.lift - 1.0).abs() < 1e-4 && learned.above_promise == 0, "{learned:?}");
}

#[test]
fn without_a_sensitive_attribute_only_presence_is_left() {
    let (table, _) = people();
    let mut release = generalized(Form::Generalize, &table, &[1; 48], &["k=3"]);
    release.manifest.attributes.pop();
    let columns = release.tables[0].columns()[..4].to_vec();
    release.tables[0] = Table::new(columns);
    let report = audit(&release, None).unwrap();
    let run: Vec<&str> =
        report.attacks.findings.iter().filter(|finding| finding.was_run).map(|finding| finding.attack).collect();
    assert_eq!(run, ["row_linking", "presence"]);
    assert_eq!(report.attacks.findings.len(), 11);
}

#[test]
fn releases_whose_tables_disagree_do_not_stop_an_attack() {
    let (table, _) = forms();
    let (_, sensitive) = people();
    let groups = dealt(&sensitive, 3);
    // Some rows are in groups without sensitive values, and some values in groups without rows.
    for form in [Form::Anatomy, Form::Permute] {
        let mut release = verbatim(form, &table, &groups, &["l=3"]);
        let far: Vec<i64> = groups.iter().map(|group| group + 8).collect();
        release.tables[1] = counted(&table, &far, "group_id");
        let report = audit(&release, Some(&table)).unwrap();
        assert!(!report.ok() && report.attacks.findings.len() == 11);
    }
    let mut release = angel(&table, &groups, &groups, &["l=3"]);
    release.tables[0] = counted(&table, &groups.iter().map(|group| group * 2).collect::<Vec<_>>(), "batch_id");
    assert!(!audit(&release, Some(&table)).unwrap().ok());
    // Ranges that end before they begin, labels that stand for nothing, and people the release has never heard of.
    let mut release = generalized(Form::Generalize, &table, &groups, &["l=3"]);
    let swap = |column: &Column| match column.name() {
        "age_min" => Column::integers("age_min", &[90; 48]),
        _ => column.clone(),
    };
    release.tables[0] = Table::new(release.tables[0].columns().iter().map(swap).collect());
    release.tables[1] = release.tables[1].gather(&[0]);
    let strangers =
        Table::new(vec![Column::integers("age", &[1, 2]), words("job", "x", &[1, 2]), words("disease", "x", &[1, 2])]);
    let report = audit(&release, Some(&strangers)).unwrap();
    assert!(!report.ok());
    assert_eq!(report.attacks.learned.unwrap().tried, 0);
}

#[test]
fn two_anatomies_with_other_groups_tell_more_than_one() {
    let table = Table::new(vec![Column::integers("age", &[20, 30, 40, 50]), words("disease", "d", &[1, 2, 3, 4])]);
    let one = verbatim(Form::Anatomy, &table, &[1, 1, 2, 2], &["l=2"]);
    let other = verbatim(Form::Anatomy, &table, &[1, 2, 1, 2], &["l=2"]);
    // The person aged 20 has d1 or d2 here and d1 or d3 there.
    let (check, found) = crate::intersect(&one, &other, "other", Some(&table)).unwrap();
    assert!(!check.ok);
    assert_eq!((found.fewest, found.narrowed, found.people), (Some(1), 4, 4));
    let finding = found.finding();
    assert!(finding.was_run && finding.sentence.contains("4 keep fewer than the 2 values promised"), "{finding:?}");
    assert!(!finding.prevention.is_empty());
    let (check, found) = crate::intersect(&one, &one, "itself", Some(&table)).unwrap();
    assert!(check.ok && found.fewest == Some(2) && found.finding().prevention.is_empty());
    // With ranges of the same groups nothing is gained either.
    let ranges = generalized(Form::Generalize, &table, &[1, 1, 2, 2], &["l=2"]);
    let (check, found) = crate::intersect(&ranges, &one, "anatomy", Some(&table)).unwrap();
    assert!(check.ok && found.fewest == Some(2), "{found:?}");
}

/// Stops the work once it has been asked `times` times.
struct Until {
    times: u64,
    asked: AtomicU64,
}

impl Until {
    fn asked(times: u64) -> Until {
        Until { times, asked: AtomicU64::new(0) }
    }
}

impl Watch for Until {
    fn phase(&self, _: &'static str, _: Option<u64>, _: Counted) {}

    fn advance(&self, _: u64) {}

    fn stopped(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.times
    }
}

#[test]
fn audits_and_intersections_of_every_form_end_where_they_are_stopped() {
    let (table, releases) = forms();
    for release in &releases {
        let patient = Until::asked(u64::MAX);
        crate::audit(release, Some(&table), &patient).unwrap();
        let pauses = patient.asked.into_inner();
        assert!(pauses > 30, "{}: {pauses}", release.manifest.method);
        for times in [0, pauses / 3, pauses * 2 / 3] {
            let ended = Stopped::catch(|| crate::audit(release, Some(&table), &Until::asked(times)).is_ok());
            assert_eq!(ended, Err(Stopped), "{}, {times} of {pauses}", release.manifest.method);
        }
        let others = [("itself", release)];
        let ended = Stopped::catch(|| crate::intersect_all(release, &others, Some(&table), &Until::asked(3)).is_ok());
        assert_eq!(ended, Err(Stopped), "{}", release.manifest.method);
    }
}

//! The attacks on the papers' small tables, worked out by hand.

use chrysalis_testkit::papers;

use super::*;
use crate::testing::audit;

/// pa Table 1 under the groups of Table 3.
fn pa(form: Form) -> Release {
    let table = papers::table("pa/table-1.csv");
    let people = Table::new(["age", "sex", "disease"].map(|name| table.column(name).unwrap().clone()).to_vec());
    verbatim(form, &people, &[1, 1, 1, 1, 1, 2, 2, 2, 2], &["l=4"])
}

#[test]
fn pa_table_3_once_one_or_two_diseases_are_ruled_out() {
    for form in [Form::Anatomy, Form::Permute] {
        let background = audit(&pa(form), None).unwrap().attacks.background.unwrap();
        let found: Vec<(u64, &str, Option<i64>, u64)> = background
            .steps
            .iter()
            .map(|step| (step.values, step.confidence_text.as_str(), step.group, step.rows))
            .collect();
        // Group 2 has four diseases once each: 1/3 with one of the others ruled out, 1/2 with two. l − 2 is two.
        assert_eq!((background.l, found), (4, vec![(1, "1/3", Some(2), 4), (2, "0.5", Some(2), 4)]));
    }
}

#[test]
fn lalpha_table_5_is_lost_once_one_disease_is_ruled_out() {
    let table = papers::table("lalpha/table-5.csv");
    let groups: Vec<i64> = (0..12).map(|row| row / 4 + 1).collect();
    let source = papers::table("lalpha/table-1.csv");
    let people = Table::new(vec![source.column("age").unwrap().clone(), table.column("disease").unwrap().clone()]);
    let report = audit(&generalized(Form::Generalize, &people, &groups, &["distinct-l=2"]), None).unwrap();
    let background = report.attacks.background.unwrap();
    assert_eq!((background.l, background.steps.len()), (2, 1));
    let counts = |group: usize| {
        let mut codes: Vec<u32> = (0..4).map(|row| people.columns()[1].code(group * 4 + row)).collect();
        codes.sort_unstable();
        codes.chunk_by(|a, b| a == b).map(<[u32]>::len).collect::<Vec<_>>()
    };
    // Where a group has two diseases, ruling out one leaves the other.
    let lost: usize = (0..3).filter(|&group| counts(group).len() == 2).map(|_| 4).sum();
    assert!(lost > 0);
    assert_eq!((background.steps[0].confidence_text.as_str(), background.steps[0].rows), ("1", lost as u64));
    let finding = finding(&report.attacks.findings, "background");
    assert!(finding.prevention.contains("distinct-l=3"), "{}", finding.prevention);
}

#[test]
fn angel_table_1_in_pairs_is_lost_to_background_and_not_to_linking() {
    let table = papers::table("angel/table-1.csv");
    let names: Vec<&str> = table.columns().iter().map(Column::name).collect();
    let quasi: Vec<&str> = names.iter().copied().filter(|name| ["age", "sex", "zipcode"].contains(name)).collect();
    let columns = quasi.iter().chain(&["disease"]).map(|name| table.column(name).unwrap().clone()).collect();
    let people = Table::new(columns);
    let n = people.rows() as i64;
    // Batches {Alan, Carrie}, {Bob, Daisy}, …; buckets {Alan, Bob}, {Carrie, Daisy}, ….
    let batches: Vec<i64> = (0..n).map(|row| row / 4 * 2 + row % 2).collect();
    let buckets: Vec<i64> = (0..n).map(|row| row / 2).collect();
    let report = audit(&angel(&people, &batches, &buckets, &["k=2"]), None).unwrap();
    let linking = report.attacks.linking.unwrap();
    assert!(linking.confidence <= 0.75, "{linking:?}");
    assert_eq!(report.attacks.row_linking.unwrap().delta_text, "0.5");
    assert_eq!(report.attacks.background.unwrap().steps[0].confidence, 1.0);
}

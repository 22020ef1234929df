//! Groups of a release by mondrian that betray why they were not cut.

use chrysalis_release::Release;
use chrysalis_table::{Column, Table};

use crate::attack::tests::{finding, generalized, words};
use crate::audit;

fn by_mondrian(people: &Table, groups: &[i64], guarantees: &[&str]) -> Release {
    let mut release = generalized("generalize", people, groups, guarantees);
    release.manifest.partitioner = "mondrian".into();
    release
}

/// In the spirit of Wong et al. 2007, Table 2: two people of one age, three of another, and one with HIV among them.
///
/// With `alpha-k=0.5,2` the ages could be parted unless that leaves HIV alone too frequent: HIV, HIV, flu, cold, cough.
/// Parting fails exactly when both people of the first age have HIV (share 1), or one age has a value in more than half.
fn people() -> Table {
    Table::new(vec![Column::integers("age", &[30, 30, 40, 40, 40]), words("disease", "d", &[1, 1, 2, 3, 4])])
}

#[test]
fn who_would_have_been_parted_is_betrayed() {
    let report = audit(&by_mondrian(&people(), &[7; 5], &["alpha-k=0.5,2"]), Some(&people())).unwrap();
    assert!(report.ok(), "{report:?}");
    let found = report.attacks.minimality.unwrap();
    // Of the 60 ways to hand out d1, d1, d2, d3, d4, a cut fails if the two have d1 twice (6 ways: 3! for the others), or if
    // the three have d1 twice (3 places, times the 3! ways of the others: 18). Then each of the two has d1 in 6 of 24 ways,
    // and each of the three in 12 of 24: above the 2/5 of the group, not above the promised half.
    assert_eq!((found.groups, found.people, found.skipped), (1, 5, 0));
    assert_eq!((found.confidence_text.as_str(), found.group), ("0.5", Some(7)));
    assert_eq!((found.narrowed, found.above_promise, found.right), (3, 0, 0));
}

#[test]
fn a_promise_on_groups_is_broken_by_what_was_not_cut() {
    // Four people of two ages, d1, d1, d2, d3 and distinct-l=2 with k=2: they were not parted, so two of one age have d1.
    let table = Table::new(vec![Column::integers("age", &[30, 30, 40, 40]), words("disease", "d", &[1, 1, 2, 3])]);
    let report = audit(&by_mondrian(&table, &[1; 4], &["k=2", "l=2", "distinct-l=2"]), Some(&table)).unwrap();
    let found = report.attacks.minimality.unwrap();
    // d1, d1 to one age and d2, d3 to the other, or the reverse: 4 ways, and everybody has d1 in half of them.
    assert_eq!((found.confidence_text.as_str(), found.narrowed), ("0.5", 0));
    // With a fifth person who must stay with the first two, more ways are left for the one side than for the other.
    let table = Table::new(vec![
        Column::integers("age", &[30, 30, 40, 40, 40, 40]),
        words("disease", "d", &[1, 1, 1, 2, 2, 3]),
    ]);
    let report = audit(&by_mondrian(&table, &[1; 6], &["l=2"]), Some(&table)).unwrap();
    let found = report.attacks.minimality.unwrap();
    // 60 ways. Parted unless the two are alike (d1 d1: 4!/2! = 12 ways for the rest d1 d2 d2 d3; d2 d2: 4 ways for d1 d1 d1 d3),
    // or the four have d1 three times: two of d2, d2, d3 to the pair, 3 ordered pairs of different values (d2 d3, d3 d2 and,
    // already counted, d2 d2): 2·4 = 8 ways. 24 ways are left; the pair has d1 in 12 of them, the four in (12 + 12 + 24)/96.
    assert_eq!((found.groups, found.confidence_text.as_str()), (1, "0.5"));
    assert_eq!((found.narrowed, found.above_promise), (0, 0));
}

#[test]
fn certainty_is_found_where_only_one_way_is_left() {
    // l=2 and k=2; ages 30, 30, 40, 40 with d1, d1, d2, d2 are parted unless both ages are of one disease each. A third
    // attribute parts them the other way round, so that only crosswise ways are left.
    let table = Table::new(vec![
        Column::integers("age", &[30, 30, 40, 40]),
        Column::integers("zip", &[1, 2, 1, 2]),
        words("disease", "d", &[1, 2, 2, 1]),
    ]);
    // Cutting by age gives {d1, d2}, {d2, d1}: allowed by l=2, so such a group would have been cut, and is not replayed.
    let report = audit(&by_mondrian(&table, &[1; 4], &["l=2"]), Some(&table)).unwrap();
    let minimality = finding(&report.attacks.findings, "minimality");
    assert!(!minimality.was_run && minimality.sentence.contains("none of 1 group could be replayed"), "{minimality:?}");
}

#[test]
fn what_cannot_be_replayed_is_said() {
    let check = |release: &Release, microdata: Option<&Table>, sentence: &str| {
        let report = audit(release, microdata).unwrap();
        let found = finding(&report.attacks.findings, "minimality");
        assert!(!found.was_run && found.sentence.contains(sentence), "{}", found.sentence);
        assert_eq!(report.attacks.minimality, None);
    };
    let table = people();
    check(&by_mondrian(&table, &[7; 5], &["l=2"]), None, "name the source with --microdata");
    check(&by_mondrian(&table, &[7; 5], &["k=2"]), Some(&table), "the promises do not look at sensitive values");
    check(&by_mondrian(&table, &[7; 5], &["t=0.9"]), Some(&table), "decided by more than the counts");
    check(&generalized("generalize", &table, &[7; 5], &["l=2"]), Some(&table), "this release is by `column`");
}

#[test]
fn an_attribute_with_a_taxonomy_is_not_cut_by_its_order() {
    // The label says more than its members' values do: it comes from a taxonomy that the attacker cannot see here.
    let mut release = by_mondrian(&people(), &[7; 5], &["alpha-k=0.5,2"]);
    let wide = |column: &Column| match column.name() {
        "age_max" => Column::integers("age_max", &[49; 5]),
        _ => column.clone(),
    };
    release.tables[0] = Table::new(release.tables[0].columns().iter().map(wide).collect());
    let found = audit(&release, Some(&people())).unwrap().attacks.minimality.unwrap();
    assert_eq!((found.confidence_text.as_str(), found.narrowed), ("0.4", 0));
}

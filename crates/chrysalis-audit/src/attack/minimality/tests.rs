//! Groups of a release by mondrian that betray why they were not cut.

use std::sync::atomic::{AtomicU64, Ordering};

use chrysalis_release::{Form, Release};
use chrysalis_table::{Column, Table};

use super::{BLOCK, within};
use crate::attack::tests::{angel, finding, generalized, verbatim, words};
use crate::testing::audit;

fn by_mondrian(people: &Table, groups: &[i64], guarantees: &[&str]) -> Release {
    let mut release = generalized(Form::Generalize, people, groups, guarantees);
    release.manifest.partitioner = "mondrian".into();
    release
}

/// In the spirit of Wong et al. 2007, Table 2: two people of one age and three of another, with HIV, HIV, flu, cold and
/// cough.
///
/// With `alpha-k=0.5,2` the ages can be separated unless that makes HIV too frequent in one of them: where both people
/// of the first age have it (share 1), or two of the second (share 2/3).
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
    // Two people of one age, three of another, d1 three times, d2, d3; l=1.5 allows a share of two thirds. Separating
    // the ages fails only if both of the two have d1 (6 ways for d1, d2, d3 among the three), or all of the three do (2
    // ways for d2, d3).
    let table =
        Table::new(vec![Column::integers("age", &[30, 30, 40, 40, 40]), words("disease", "d", &[1, 1, 1, 2, 3])]);
    let report = audit(&by_mondrian(&table, &[1; 5], &["l=1.5"]), Some(&table)).unwrap();
    assert!(report.ok(), "{report:?}");
    let found = report.attacks.minimality.unwrap();
    // Each of the two has d1 in 6 of 8 ways, beyond the promise and beyond the 3/5 of the group, and does have it.
    assert_eq!((found.confidence_text.as_str(), found.group), ("0.75", Some(1)));
    assert_eq!((found.narrowed, found.above_promise, found.right), (2, 2, 2));
    let finding = finding(&report.attacks.findings, "minimality");
    assert!(finding.sentence.contains("2 of them beyond the promised 66.7 %"), "{}", finding.sentence);
    assert_eq!((finding.worst_groups[0].id, finding.worst_groups[0].level), (Some(1), 0.75));
}

#[test]
fn groups_that_stay_even_betray_nobody() {
    // Four people of two ages, d1, d1, d2, d3, l=2: they were not separated, so the two of one age have d1. Which age
    // stays open.
    let table = Table::new(vec![Column::integers("age", &[30, 30, 40, 40]), words("disease", "d", &[1, 1, 2, 3])]);
    let report = audit(&by_mondrian(&table, &[1; 4], &["k=2", "l=2", "distinct-l=2"]), Some(&table)).unwrap();
    let found = report.attacks.minimality.unwrap();
    assert_eq!((found.groups, found.confidence_text.as_str(), found.narrowed), (1, "0.5", 0));
}

#[test]
fn a_group_that_could_have_been_cut_is_not_replayed() {
    // Cutting by age gives d1, d2 and d2, d1, which l=2 allows: mondrian would not have left this group whole.
    let table = Table::new(vec![
        Column::integers("age", &[30, 30, 40, 40]),
        Column::integers("zip", &[1, 2, 1, 2]),
        words("disease", "d", &[1, 2, 2, 1]),
    ]);
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
    check(&by_mondrian(&table, &[7; 5], &["l=2"]), None, "the microdata are needed for that");
    check(&by_mondrian(&table, &[7; 5], &["k=2"]), Some(&table), "the promises do not look at sensitive values");
    check(&by_mondrian(&table, &[7; 5], &["t=0.9"]), Some(&table), "decided by more than the counts");
    let diseases = Column::texts("disease", ["flu", "Flu", "cold", "cough", "HIV"].into_iter());
    let alike = Table::new(vec![table.columns()[0].clone(), diseases]);
    check(
        &by_mondrian(&alike, &[7; 5], &["l=2"]),
        Some(&alike),
        "values that look alike or are near each other count as one here, or some are missing, and only counts of values \
         are replayed",
    );
    check(
        &generalized(Form::Generalize, &table, &[7; 5], &["l=2"]),
        Some(&table),
        "this release is by `column`; whether",
    );
}

#[test]
fn whether_groups_betray_anything_depends_on_who_formed_them() {
    let table = people();
    let check = |mut release: Release, partitioner: &str, beginning: &str| {
        release.manifest.partitioner = partitioner.into();
        let report = audit(&release, Some(&table)).unwrap();
        let found = finding(&report.attacks.findings, "minimality");
        assert!(!found.was_run && found.sentence.starts_with(beginning), "{partitioner}: {}", found.sentence);
    };
    let blind = |name: &str| format!("Does not apply: `{name}` forms groups without looking at quasi values");
    let by_both =
        |name: &str| format!("Not replayed: only mondrian's cuts are replayed group by group. `{name}` forms groups");
    for form in [Form::Anatomy, Form::Permute] {
        let release = || verbatim(form, &table, &[7; 5], &["l=2"]);
        check(release(), "mondrian", "Not replayed: groups were cut by mondrian");
        for partitioner in ["compact", "full-domain", "top-down", "nearby", "similar"] {
            check(release(), partitioner, &by_both(partitioner));
        }
        for partitioner in ["column", "sequential"] {
            check(release(), partitioner, "Not replayed: only mondrian's cuts are replayed group by group, and this");
        }
        check(release(), "min-max-exact", &blind("min-max-exact"));
    }
    check(generalized(Form::Generalize, &table, &[7; 5], &["l=2"]), "anatomize", &blind("anatomize"));
    let batches = || angel(&table, &[7; 5], &[1; 5], &["l=2"]);
    check(batches(), "mondrian", "Not replayed: groups were cut by mondrian");
    check(batches(), "nearby", "Not replayed: depending on quasi and sensitive values together, batches by `nearby`");
}

#[test]
fn groups_that_are_given_up_use_the_budget_up() {
    let calls = AtomicU64::new(0);
    let give_up = |_: usize| {
        calls.fetch_add(1, Ordering::Relaxed);
        (200_000, None::<usize>)
    };
    let groups: Vec<usize> = (0..1000).collect();
    assert!(within(&groups, 5_000_000, give_up).is_empty());
    assert_eq!(calls.into_inner(), 2 * BLOCK as u64, "25 groups use it up, a block is not stopped half way");
    // Results come in order until the budget is used up.
    let every_third = |group: usize| (1000, group.is_multiple_of(3).then_some(group));
    let found = within(&groups, 100_000, every_third);
    assert_eq!(found, (0..7 * BLOCK).step_by(3).collect::<Vec<_>>());
}

#[test]
fn an_attribute_with_a_taxonomy_is_not_cut_by_its_order() {
    // The range is wider than its members' values: it comes from a taxonomy that the attacker cannot see here.
    let mut release = by_mondrian(&people(), &[7; 5], &["alpha-k=0.5,2"]);
    let wide = |column: &Column| match column.name() {
        "age_max" => Column::integers("age_max", &[49; 5]),
        _ => column.clone(),
    };
    release.tables[0] = Table::new(release.tables[0].columns().iter().map(wide).collect());
    let found = audit(&release, Some(&people())).unwrap().attacks.minimality.unwrap();
    assert_eq!((found.confidence_text.as_str(), found.narrowed), ("0.4", 0));
}

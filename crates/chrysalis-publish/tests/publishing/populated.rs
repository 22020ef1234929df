//! `k-map` with partitioners that know nothing of the population: groups are merged until enough people are under their
//! labels, in the judgement of the audit, which looks every person up in the published labels.

use chrysalis_audit::AuditReport;
use chrysalis_criteria::{PrincipleSpec, Requirement};
use chrysalis_publish::method::{Anatomy, Generalize, Outcome};
use chrysalis_publish::partitioner::{Compact, Mondrian, Nearby, Sequential, TopDown};
use chrysalis_publish::{Job, Microdata, Partition, Partitioner, PublishError};
use chrysalis_table::{Table, Unwatched, no_progress};
use chrysalis_testkit::required;
use chrysalis_testkit::strategies::tables;
use proptest::prelude::*;

use crate::common::{as_sets, in_threads, microdata, rng, specs};

fn publish(data: &Microdata, require: &[Requirement], by: &dyn Partitioner) -> Result<Outcome, PublishError> {
    Job::new(data, require, by, &mut rng(3), &Unwatched).run(&Generalize)
}

fn judged(outcome: &Outcome, population: &Table) -> AuditReport {
    let mut report = chrysalis_audit::audit(&outcome.release, None, &Unwatched).unwrap();
    chrysalis_audit::measure_population(&mut report, &outcome.release, population, &Unwatched).unwrap();
    report
}

/// All rows as one group.
fn whole(rows: usize) -> Partition {
    Partition::new((0..rows as u32).collect(), &[rows as u32])
}

const N_PARTITIONERS: usize = 6;

fn partitioner(at: usize) -> &'static dyn Partitioner {
    const ALL: [&dyn Partitioner; N_PARTITIONERS] =
        [&Compact, &Mondrian { relaxed: false }, &Mondrian { relaxed: true }, &TopDown, &Nearby, &Sequential];
    ALL[at]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 120 } else { 500 }))]

    #[test]
    fn every_group_has_enough_people_or_no_grouping_has(
        table in tables(1..=40),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 1..60),
        asked in prop::sample::select(vec![
            vec!["k-map=1"],
            vec!["k-map=2"],
            vec!["k-map=4"],
            vec!["k-map=7", "k=2"],
            vec!["k-map=3", "distinct-l=2"],
            vec!["k-map=5", "l=1.5"],
            vec!["k-map=25"],
        ]),
        by in 0..N_PARTITIONERS,
    ) {
        let people: Vec<u32> = picks.iter().map(|pick| pick.index(table.table.rows()) as u32).collect();
        let population = table.table.gather(&people);
        let data = microdata(&table).within(population.clone());
        let specs: Vec<PrincipleSpec> = specs(&asked);
        let require = required(&specs);
        if data.goal(&require).is_err() {
            return Ok(());
        }
        let k: u64 = asked[0].trim_start_matches("k-map=").parse().unwrap();
        match publish(&data, &require, partitioner(by)) {
            Ok(outcome) => {
                let report = judged(&outcome, &population);
                let failed: Vec<_> = report.checks.iter().filter(|check| !check.ok).collect();
                prop_assert!(failed.is_empty(), "{:?}", failed);
                prop_assert!(report.promises_hold() && report.untold().count() == 0, "{:?}", report.principles);
                let again = in_threads(1, || publish(&data, &require, partitioner(by)).unwrap());
                prop_assert_eq!(&again.release.tables, &outcome.release.tables, "threads matter");
            }
            Err(error) => {
                prop_assert!(error.is_infeasible(), "{}", error);
                // Not even all rows together have enough.
                let one = publish(&microdata(&table), &required(&specs_of_k()), &whole(data.rows())).unwrap();
                let found = judged(&one, &population).attacks.presence.unwrap().population.unwrap();
                prop_assert!(found.under < k, "{} of {k}: {error}", found.under);
            }
        }
    }

    /// Where everybody is in the population, a k that every group has leaves groups as they are.
    #[test]
    fn groups_that_pass_stay_as_they_are(table in tables(1..=40)) {
        let data = microdata(&table).within(table.table.clone());
        let goal = data.goal(&required(&specs(&["k=2"])));
        let Ok(goal) = goal else { return Ok(()) };
        let plain = Mondrian::default().partition(&data, &goal, &mut rng(3), &no_progress).unwrap();
        let require = required(&specs(&["k=2", "k-map=2"]));
        let mut rng = rng(3);
        let mut job = Job::new(&data, &require, &Mondrian { relaxed: false }, &mut rng, &Unwatched);
        let found = job.group(chrysalis_release::Scope::Group).unwrap();
        prop_assert_eq!(as_sets(found.partition()), as_sets(&plain));
    }
}

fn specs_of_k() -> Vec<PrincipleSpec> {
    specs(&["k=1"])
}

/// A group that was given is judged as it is, and a form that shows values as they are promises nothing about labels.
#[test]
fn given_groups_are_judged_and_other_forms_refused() {
    let ages = chrysalis_table::Column::integers("age", &[20, 21, 50, 51]);
    let table = Table::new(vec![ages]);
    let attributes = [crate::common::quasi("age", None)];
    let data = Microdata::new(table.clone(), &attributes).unwrap().within(table.gather(&[0, 0, 1, 2]));
    let require = required(&specs(&["k-map=2"]));
    let given = Partition::new(vec![0, 1, 2, 3], &[2, 2]);
    let error = publish(&data, &require, &given).unwrap_err();
    assert!(error.is_infeasible() && error.to_string().contains("a group that was given fails it"), "{error}");
    let outcome = publish(&data, &require, &whole(4)).unwrap();
    assert!(judged(&outcome, &table.gather(&[0, 0, 1, 2])).promises_hold());
    let merged = publish(&data, &require, &Mondrian::default()).unwrap();
    assert!(judged(&merged, &table.gather(&[0, 0, 1, 2])).promises_hold());
    let refused = Job::new(&data, &require, &given, &mut rng(1), &Unwatched).run(&Anatomy);
    assert!(refused.is_err());
    let share = required(&specs(&["delta-presence=0,0.9"]));
    let error = publish(&data, &share, &Mondrian::default()).unwrap_err();
    assert!(error.to_string().contains("may be lost when groups are merged"), "{error}");
}

/// Without a taxonomy, the label of two words may be a third word of the table.
#[test]
fn a_word_that_is_written_like_a_set_of_others_is_told_from_the_set() {
    let words = ["Flu", "HIV", "{Flu,HIV}", "{Flu,HIV}"];
    let table = Table::new(vec![chrysalis_table::Column::texts("word", words.into_iter())]);
    let data = Microdata::new(table.clone(), &[crate::common::quasi("word", None)]).unwrap();
    let groups = Partition::new(vec![0, 1, 2, 3], &[2, 2]);
    let outcome = publish(&data, &required(&specs(&["k=2"])), &groups).unwrap();
    let report = chrysalis_audit::audit(&outcome.release, Some(&table), &Unwatched).unwrap();
    let failed: Vec<_> = report.checks.iter().filter(|check| !check.ok).collect();
    assert!(failed.is_empty(), "{failed:?}");
}

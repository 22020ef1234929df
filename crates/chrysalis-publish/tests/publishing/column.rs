//! Groups that come in a column of the input: kept as they are, or refused by name.

use std::collections::BTreeSet;

use crate::common::{as_sets, attributes, plain, specs};
use chrysalis_criteria::PrincipleSpec;
use chrysalis_publish::partitioner::ByColumn;
use chrysalis_publish::{Partition, PublishError};
use chrysalis_table::{Column, Table};
use chrysalis_testkit::strategies::{column_of, fixed, principles_for, tables_of};
use chrysalis_testkit::{oracle, papers};
use proptest::prelude::*;

fn by_column(table: &Table, column: &str, sensitive: &str, principles: &[&str]) -> Result<Partition, PublishError> {
    let data = plain(table.clone(), &["age"], Some(sensitive));
    crate::common::partition(&ByColumn { column: column.into() }, &data, &specs(principles), 1)
}

/// Checks that the groups of a column are refused with this message.
fn check(table: &Table, column: &str, sensitive: &str, principles: &[&str], message: &str) {
    let error = by_column(table, column, sensitive, principles).unwrap_err();
    assert_eq!(error.to_string(), message);
    assert_eq!(error.hint(), "merge it with another group, or choose a weaker principle");
    assert!(error.is_infeasible());
}

#[test]
fn failing_groups_are_named_and_counted() {
    let pa = papers::table("pa/table-1.csv");
    check(
        &pa,
        "group_id",
        "disease",
        &["k=5"],
        "cannot keep k=5: group `2` of column `group_id` fails it (1 of 2 groups do)",
    );
    check(
        &pa,
        "name",
        "disease",
        &["distinct-l=2"],
        "cannot keep distinct-l=2: group `Alex` of column `name` fails it (9 of 9 groups do)",
    );
    let ke = papers::table("ke/figure-1.csv");
    check(
        &ke,
        "group_id",
        "salary",
        &["ke=3,10000"],
        "cannot keep ke=3,10000: group `1` of column `group_id` fails it (1 of 3 groups do)",
    );
}

#[test]
fn a_missing_group_is_a_group_and_has_a_name() {
    let table = Table::new(vec![
        Column::integers("age", &[1, 2, 3]),
        Column::texts("s", ["x", "y", "z"].into_iter()),
        Column::texts("g", ["", "one", "one"].into_iter()),
    ]);
    let message = "cannot keep k=2: group `(missing)` of column `g` fails it (1 of 2 groups do)";
    check(&table, "g", "s", &["k=2"], message);
    let expected = BTreeSet::from([BTreeSet::from([0]), BTreeSet::from([1, 2])]);
    assert_eq!(as_sets(&by_column(&table, "g", "s", &["k=1"]).unwrap()), expected);
}

#[test]
fn what_the_whole_table_fails_is_infeasible_before_any_group_is_looked_at() {
    let error = by_column(&papers::table("pa/table-1.csv"), "group_id", "disease", &["k=10"]).unwrap_err();
    assert_eq!(error.to_string(), "cannot reach k=10: the table has 9 rows, a group needs 10");
    assert_eq!(error.hint(), "the strongest that this table allows is k=9");
}

#[test]
fn papers_partitions_are_taken_over() {
    let check_groups = |path: &str, column: &str, sensitive: &str, principle: &str| {
        let table = papers::table(path);
        let groups = as_sets(&by_column(&table, column, sensitive, &[principle]).unwrap());
        let expected = papers::groups(&table, column).into_iter().map(|rows| rows.into_iter().collect());
        assert_eq!(groups, expected.collect(), "{path}");
    };
    check_groups("pa/table-1.csv", "group_id", "disease", "l=4");
    check_groups("ke/figure-1.csv", "group_id", "salary", "ke=3,2000");
    check_groups("lalpha/table-1.csv", "group_id", "disease", "distinct-l=2");
    check_groups("angel/table-1.csv", "batch_id", "disease", "l=2");
    check_groups("angel/table-1.csv", "bucket_id", "disease", "k=2");
}

#[test]
fn a_column_that_was_not_read_is_our_fault() {
    let error = by_column(&papers::table("pa/table-1.csv"), "nothing", "disease", &["k=2"]).unwrap_err();
    assert_eq!(error.to_string(), "internal error: group column `nothing` was not read");
    assert!(!error.is_infeasible());
}

proptest! {
    #![proptest_config(fixed(300))]

    /// Groups are published exactly when all of them satisfy every principle, by the oracle.
    #[test]
    fn groups_stand_exactly_when_all_of_them_pass(
        (data, group, specs) in (1..=20usize).prop_flat_map(|n| {
            let kinds = Just(chrysalis_table::Kind::Ordinal);
            (tables_of(n), column_of("g", kinds, n)).prop_flat_map(|(data, group)| {
                let specs: BoxedStrategy<Vec<PrincipleSpec>> = principles_for(&data.sensitive);
                (Just(data), Just(group), specs)
            })
        })
    ) {
        let mut columns = data.table.columns().to_vec();
        columns.push(group);
        let table = Table::new(columns);
        let microdata = chrysalis_publish::Microdata::new(table.clone(), &attributes(&data)).unwrap();
        let result = crate::common::partition(&ByColumn { column: "g".into() }, &microdata, &specs, 1);
        let groups = papers::groups(&table, "g");
        let column = data.sensitive.under(&specs);
        let passes = |rows: &Vec<u32>| specs.iter().all(|spec| oracle::holds(spec, &column, &data.counts(rows)));
        let n_failed = groups.iter().filter(|rows| !passes(rows)).count();
        match result {
            Ok(result) => {
                prop_assert_eq!(n_failed, 0);
                prop_assert_eq!(as_sets(&result), groups.into_iter().map(|rows| rows.into_iter().collect()).collect());
            }
            Err(PublishError::GroupFails { n_failing, n_groups, .. }) => {
                prop_assert_eq!((n_failing, n_groups), (n_failed, groups.len()));
            }
            Err(error) => prop_assert!(error.is_infeasible() && n_failed > 0, "{}", error),
        }
    }
}

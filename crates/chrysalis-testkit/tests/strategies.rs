//! Random inputs are worth their time only when they reach every corner.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;

use chrysalis_criteria::PrincipleSpec;
use chrysalis_table::Kind;
use chrysalis_testkit::strategies::{NAMES, RandomTable, fixed, principles_for, tables};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Draws a few hundred tables with principles.
fn draws() -> Vec<(RandomTable, Vec<PrincipleSpec>)> {
    let mut runner = TestRunner::new(fixed(1));
    let with_principles = tables(5..=12).prop_flat_map(|data| {
        let specs = principles_for(&data.sensitive);
        (Just(data), specs)
    });
    (0..300).map(|_| with_principles.new_tree(&mut runner).unwrap().current()).collect()
}

fn check<T: Ord + std::fmt::Debug>(found: impl Iterator<Item = T>, expected: impl Iterator<Item = T>) {
    assert_eq!(found.collect::<BTreeSet<_>>(), expected.collect::<BTreeSet<_>>());
}

#[test]
fn tables_have_columns_of_every_kind_with_and_without_taxonomies_and_missing_values() {
    let mut met = BTreeSet::new();
    for (data, _) in draws() {
        let columns = data.attributes();
        met.extend(columns.iter().map(|(column, taxonomy)| {
            (column.domain().kind().name(), taxonomy.is_some(), column.domain().has_missing())
        }));
    }
    let kinds = Kind::ALL.iter().map(|kind| kind.name());
    let flags = [(false, false), (false, true), (true, false), (true, true)];
    check(met.into_iter(), kinds.flat_map(|kind| flags.map(|(tree, missing)| (kind, tree, missing))));
}

#[test]
fn every_principle_is_drawn_and_binds() {
    let mut met = BTreeSet::new();
    for (data, specs) in draws() {
        for spec in specs {
            assert!(data.sensitive.bind(&spec).is_ok(), "{spec}");
            met.insert(spec.to_string().split('=').next().unwrap().to_owned());
        }
    }
    check(met.into_iter(), NAMES.iter().map(|&name| name.to_owned()));
}

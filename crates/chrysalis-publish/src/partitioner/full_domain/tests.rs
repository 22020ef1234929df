//! Groups that are rolled up equal those from counting rows anew.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use chrysalis_criteria::Rational;
use chrysalis_table::{Column, Role, SaCounts, Table};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

use super::contents::{GroupContents, Needs};
use super::judge::Problem;
use super::key::{Key, Wide, slots};
use super::lattice::Node;
use super::levels::Axis;
use super::tuples::exact;
use super::{FullDomain, Metric, Stop, lattice};
use crate::{AttributeSpec, Microdata, Partitioner, TaxonomySource};

const ROWS: i64 = 6_000;

/// Columns with 40, 1, 5, 19, 3 and 2 values; slots of 6, 0, 3, 5, 2 and 1 bits have room for more labels than there are.
fn people(n_ills: i64) -> Microdata {
    let number = |row: i64, salt: i64| (row * 7_919 + salt * 104_729).rem_euclid(10_007 + salt);
    let column = |name: &str, salt: i64, n: i64| {
        Column::integers(name, &(0..ROWS).map(|row| number(row, salt) % n).collect::<Vec<_>>())
    };
    let sizes = [("a", 40, Some(vec![4.0, 8.0])), ("b", 1, None), ("c", 5, None), ("d", 19, Some(vec![3.0, 6.0]))];
    let sizes: Vec<_> = sizes.into_iter().chain([("e", 3, None), ("f", 2, None)]).collect();
    let mut columns: Vec<Column> = (1..).zip(&sizes).map(|(salt, (name, n, _))| column(name, salt, *n)).collect();
    columns.push(column("ill", 9, n_ills));
    let quasi = |(name, _, widths): (&str, i64, Option<Vec<f64>>)| AttributeSpec {
        taxonomy: widths.map(TaxonomySource::Intervals),
        ..AttributeSpec::new(name, Role::QuasiIdentifier)
    };
    let mut attributes: Vec<AttributeSpec> = sizes.into_iter().map(quasi).collect();
    attributes.push(AttributeSpec::new("ill", Role::Sensitive));
    Microdata::new(Table::new(columns), &attributes).unwrap()
}

/// For every group of a node its rows, and its sensitive values with their counts.
type Found = BTreeMap<Vec<u32>, (u32, BTreeMap<u32, u64>)>;

fn counted(data: &Microdata, problem: &Problem<'_>, node: Node) -> Found {
    let mut found = Found::new();
    for row in 0..data.rows() {
        let label = |(axis, (column, _)): (usize, (&Column, _))| {
            let level = problem.lattice.level(node, axis);
            let code = column.code(row);
            if level == 0 { code } else { problem.axes[axis].up(0, level)[code as usize] }
        };
        let group = found.entry(data.quasi().enumerate().map(label).collect()).or_default();
        group.0 += 1;
        *group.1.entry(data.sensitive().unwrap().code(row)).or_default() += 1;
    }
    found
}

/// Rolls up from the exact groups and from those in the middle to all nodes above.
fn check<K: Key>(data: &Microdata, goal: &str) {
    let goal = data.goal(&[goal.parse().unwrap()]).unwrap();
    let axes = Axis::all(data);
    let n_labels: Vec<usize> = axes.iter().map(|axis| axis.n_labels(0)).collect();
    let n_values = data.sensitive_counts().domain_len();
    let problem = Problem {
        lattice: lattice(&axes).unwrap(),
        slots: slots::<K>(&n_labels).unwrap(),
        axes,
        goal: &goal,
        metric: Metric::Loss,
        population: None,
        rows: data.rows() as u64,
        limit: 0,
        n_values,
        needs: Needs::of(&goal, n_values),
    };
    let lattice = &problem.lattice;
    let bottom = exact::<K>(data, &problem).0;
    let middle = bottom.above(&problem, lattice.with(lattice.with(lattice.bottom(), 0, 1), 3, 1));
    for node in lattice.all() {
        let expected = counted(data, &problem, node);
        for source in [&bottom, &middle].into_iter().filter(|source| lattice.is_below(source.node, node)) {
            let groups = source.above(&problem, node);
            assert_eq!(groups.keys.len(), expected.len());
            for (at, (&key, &size)) in groups.keys.iter().zip(&groups.sizes).enumerate() {
                let (rows, values) = &expected[&problem.slots.iter().map(|&slot| key.get(slot)).collect::<Vec<u32>>()];
                assert_eq!(size, *rows);
                match &groups.contents {
                    GroupContents::Nothing => assert_eq!(problem.needs, Needs::Sizes),
                    GroupContents::Sets(sets) => assert_eq!(sets.n_distinct(at) as usize, values.len()),
                    GroupContents::Values(contents) => {
                        let mut counts = SaCounts::new(n_values);
                        contents.add_to(at, &mut counts);
                        assert_eq!(counts.iter().collect::<BTreeMap<_, _>>(), *values);
                    }
                }
            }
        }
    }
}

#[test]
fn groups_rolled_up_are_those_counted_anew() {
    let few = people(7);
    check::<u64>(&few, "k=2");
    check::<u128>(&few, "distinct-l=3");
    check::<Wide>(&few, "t=0.5");
    // More values than one word has bits, and so many that counts of all of them would take too much room.
    let many = people(150);
    check::<u64>(&many, "distinct-l=3");
    check::<u64>(&many, "l=2");
}

#[test]
fn a_goal_is_given_no_more_than_it_looks_at() {
    let needs = |goal: &str, n_ills: i64| {
        let data = people(n_ills);
        Needs::of(&data.goal(&[goal.parse().unwrap()]).unwrap(), n_ills as usize)
    };
    assert_eq!(needs("k=3", 7), Needs::Sizes);
    assert_eq!(needs("distinct-l=3", 64), Needs::Distinct { rows: 3, distinct: 3, words: 1 });
    assert_eq!(needs("distinct-l=3", 65), Needs::Distinct { rows: 3, distinct: 3, words: 2 });
    assert_eq!(needs("distinct-l=3", 300), Needs::Counts);
    assert_eq!(needs("ke=3,2", 7), Needs::Counts, "a span needs to know which values");
    assert_eq!(needs("t=0.5", 7), Needs::Counts);
}

#[test]
fn progress_tells_of_every_combination_once_when_the_result_is_proven() {
    let data = people(7);
    let n_nodes = u64::try_from(FullDomain::n_nodes(&data).unwrap()).unwrap();
    // Stops once this much progress was reported.
    let told = |enough: u64| {
        let n_told = Arc::new(AtomicU64::new(0));
        let counter = n_told.clone();
        let stop = Stop::when(move || counter.load(Relaxed) >= enough);
        let goal = data.goal(&["k=20".parse().unwrap()]).unwrap();
        let search = FullDomain { stop, suppress: Rational::new(1, 20), ..FullDomain::default() };
        let progress = |n: u64| {
            n_told.fetch_add(n, Relaxed);
        };
        let partition = search.partition(&data, &goal, &mut ChaCha20Rng::seed_from_u64(1), &progress).unwrap();
        (n_told.load(Relaxed), partition.recoding().unwrap().search.proven)
    };
    assert_eq!(told(u64::MAX), (n_nodes, true));
    assert_eq!(told(0), (0, false));
    let (n_told, proven) = told(1);
    assert!(0 < n_told && n_told < n_nodes && !proven, "{n_told}");
}

//! `compact` and `top-down`: what they promise holds for random tables, and they lose no more than what they start from.

use crate::common::{as_sets, in_threads, microdata, partition, plain, rng, specs};
use chrysalis_criteria::PrincipleSpec;
use chrysalis_publish::method::Generalize;
use chrysalis_publish::partitioner::{Compact, FullDomain, Mondrian, TopDown};
use chrysalis_publish::{Job, Microdata, Partition, Partitioner};
use chrysalis_table::{Column, Table, Unwatched};
use chrysalis_testkit::oracle;
use chrysalis_testkit::required;
use chrysalis_testkit::strategies::{RandomTable, fixed, principles_for, tables};
use proptest::prelude::*;

fn all_hold(data: &RandomTable, specs: &[PrincipleSpec], rows: &[u32]) -> bool {
    let column = data.sensitive.under(specs);
    specs.iter().all(|spec| oracle::holds(spec, &column, &data.counts(rows)))
}

/// Checks that the groups are a disjoint cover and that each satisfies every principle. Returns the partition, if there
/// is one.
fn check(
    data: &RandomTable,
    specs: &[PrincipleSpec],
    partitioner: &dyn Partitioner,
) -> Result<Option<Partition>, TestCaseError> {
    let rows: Vec<u32> = (0..data.table.rows() as u32).collect();
    let Ok(result) = partition(partitioner, &microdata(data), specs, 1) else {
        prop_assert!(!all_hold(data, specs, &rows), "refused, but the whole table satisfies {specs:?}");
        return Ok(None);
    };
    let mut seen: Vec<u32> = result.groups().flatten().copied().collect();
    seen.sort_unstable();
    prop_assert_eq!(seen, rows);
    for group in result.groups() {
        prop_assert!(all_hold(data, specs, group), "rows {group:?} fail {specs:?}");
    }
    Ok(Some(result))
}

fn ncp(data: &Microdata, partition: &Partition) -> f64 {
    Job::new(data, &[], partition, &mut rng(1), &Unwatched).run(&Generalize).unwrap().ncp.sum
}

fn with_principles(
    data: impl Strategy<Value = RandomTable>,
) -> impl Strategy<Value = (RandomTable, Vec<PrincipleSpec>)> {
    data.prop_flat_map(|data| {
        let specs = principles_for(&data.sensitive);
        (Just(data), specs)
    })
}

/// 4,000 people with many equal rows: numbers, words and a taxonomy by prefix.
fn people(with_labels: bool) -> Microdata {
    let number = |row: usize, salt: usize| (row * 2_654_435_761 + salt * 40_503) % 1_000_003;
    let ages: Vec<i64> =
        (0..4_000).map(|row| 20 + (number(row, 1) % 400 * (number(row, 2) % 20) / 150) as i64).collect();
    let towns: Vec<String> =
        (0..4_000).map(|row| format!("{:03}", number(row, 3) % 41 * (number(row, 4) % 9))).collect();
    let jobs: Vec<String> = (0..4_000).map(|row| format!("j{}", number(row, 5) % 7)).collect();
    let ills: Vec<String> = (0..4_000).map(|row| format!("i{}", number(row, 6) % 6)).collect();
    let table = Table::new(vec![
        Column::integers("age", &ages),
        Column::texts("town", towns.iter().map(String::as_str)),
        Column::texts("job", jobs.iter().map(String::as_str)),
        Column::texts("ill", ills.iter().map(String::as_str)),
    ]);
    if !with_labels {
        return plain(table, &["age", "town", "job"], Some("ill"));
    }
    use chrysalis_publish::{AttributeSpec, TaxonomySource};
    let attributes = [
        crate::common::quasi("age", Some(TaxonomySource::Intervals(vec![5.0, 10.0, 20.0]))),
        crate::common::quasi("town", Some(TaxonomySource::Prefix)),
        crate::common::quasi("job", None),
        AttributeSpec::new("ill", chrysalis_table::Role::Sensitive),
    ];
    Microdata::new(table, &attributes).unwrap()
}

const GOALS: [&[&str]; 5] = [&["k=5"], &["k=12"], &["k=4", "distinct-l=3"], &["l=3"], &["entropy-l=2", "t=0.4"]];

proptest! {
    #![proptest_config(fixed(300))]

    #[test]
    fn compact_groups_cover_satisfy_and_lose_no_more_than_mondrian((data, specs) in with_principles(tables(1..=40))) {
        let Some(result) = check(&data, &specs, &Compact)? else { return Ok(()) };
        let bound = microdata(&data);
        let cut = partition(&Mondrian::default(), &bound, &specs, 1).unwrap();
        prop_assert!(ncp(&bound, &result) <= ncp(&bound, &cut) + 1e-6);
    }

    #[test]
    fn top_down_groups_cover_and_satisfy((data, specs) in with_principles(tables(1..=40))) {
        check(&data, &specs, &TopDown)?;
    }

    #[test]
    fn top_down_loses_no_more_than_full_domain_without_suppression((data, specs) in with_principles(tables(1..=60))) {
        let Some(result) = check(&data, &specs, &TopDown)? else { return Ok(()) };
        let bound = microdata(&data);
        let full = partition(&FullDomain::default(), &bound, &specs, 1).unwrap();
        prop_assert!(full.recoding().unwrap().search.proven);
        prop_assert!(ncp(&bound, &result) <= ncp(&bound, &full) + 1e-9 * bound.rows() as f64);
    }
}

#[test]
fn top_down_loses_no_more_than_full_domain_on_a_table_with_many_equal_rows() {
    let data = people(true);
    for goal in GOALS {
        let loss = |partitioner: &dyn Partitioner| ncp(&data, &partition(partitioner, &data, &specs(goal), 1).unwrap());
        let (local, full) = (loss(&TopDown), loss(&FullDomain::default()));
        assert!(local <= full * (1.0 + 1e-9), "{goal:?}: {local}, full-domain {full}");
    }
}

#[test]
fn compact_loses_less_than_mondrian_on_a_table_with_many_equal_rows() {
    for with_labels in [false, true] {
        let data = people(with_labels);
        for goal in GOALS {
            let cut = ncp(&data, &partition(&Mondrian::default(), &data, &specs(goal), 1).unwrap());
            let result = partition(&Compact, &data, &specs(goal), 1).unwrap();
            let bound = data.goal(&required(&specs(goal))).unwrap();
            let sensitive = data.sensitive().unwrap().codes();
            for group in result.groups() {
                let codes = group.iter().map(|&row| sensitive.get(row as usize));
                let counts = chrysalis_table::SaCounts::of(6, codes);
                assert!(chrysalis_criteria::Principle::holds(&bound, &counts), "{goal:?}");
            }
            let loss = ncp(&data, &result);
            assert!(loss <= cut * (1.0 + 1e-9), "{goal:?} {with_labels}: {loss} after {cut}");
            if goal.len() == 1 && goal[0].starts_with('k') {
                assert!(loss < cut, "{goal:?} {with_labels}: {loss} after {cut}");
            }
        }
    }
}

#[test]
fn groups_do_not_depend_on_the_number_of_threads() {
    let data = people(true);
    let both: [&(dyn Partitioner + Sync); 2] = [&Compact, &TopDown];
    for partitioner in both {
        for goal in [&["k=5"][..], &["k=4", "distinct-l=3"]] {
            let run = |n: usize| in_threads(n, || as_sets(&partition(partitioner, &data, &specs(goal), 7).unwrap()));
            assert_eq!(run(1), run(3), "{} {goal:?}", partitioner.name());
        }
    }
}

#[test]
fn top_down_loses_no_more_than_one_vector_of_levels_for_all() {
    // Prefixes of one letter for all rows: the only full-domain generalization with groups of two.
    let words = ["ab", "ac", "bb", "bc", "bd"];
    let table = Table::new(vec![Column::texts("zip", words.into_iter())]);
    let attributes = [crate::common::quasi("zip", Some(chrysalis_publish::TaxonomySource::Prefix))];
    let data = Microdata::new(table, &attributes).unwrap();
    let result = partition(&TopDown, &data, &specs(&["k=2"]), 1).unwrap();
    let expected = [[0, 1].into(), [2, 3, 4].into()].into();
    assert_eq!(as_sets(&result), expected);
}

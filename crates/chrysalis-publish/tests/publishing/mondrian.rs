//! Mondrian against the oracle: what it promises holds for random tables, and no heuristic beats the optimum.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{as_sets, in_threads, microdata, partition, plain, specs};
use chrysalis_criteria::PrincipleSpec;
use chrysalis_publish::Partition;
use chrysalis_publish::partitioner::Mondrian;
use chrysalis_table::{Column, Table};
use chrysalis_testkit::strategies::{RandomTable, fixed, principles_for, tables, tables_of};
use chrysalis_testkit::{SensitiveColumn, oracle};
use proptest::prelude::*;

const STRICT: Mondrian = Mondrian { relaxed: false };
const RELAXED: Mondrian = Mondrian { relaxed: true };

fn all_hold(data: &RandomTable, specs: &[PrincipleSpec], rows: &[u32]) -> bool {
    let column = data.sensitive.under(specs);
    specs.iter().all(|spec| oracle::holds(spec, &column, &data.counts(rows)))
}

/// Checks that the groups are a disjoint cover and that each satisfies every principle. Returns the partition, if there
/// is one.
fn check(data: &RandomTable, specs: &[PrincipleSpec], mondrian: Mondrian) -> Result<Option<Partition>, TestCaseError> {
    let rows: Vec<u32> = (0..data.table.rows() as u32).collect();
    let result = match partition(&mondrian, &microdata(data), specs, 1) {
        Ok(result) => result,
        Err(error) => {
            prop_assert!(error.is_infeasible(), "{error}");
            prop_assert!(!all_hold(data, specs, &rows), "{error}, but the whole table satisfies {specs:?}");
            return Ok(None);
        }
    };
    prop_assert!(all_hold(data, specs, &rows), "published although the whole table fails {specs:?}");
    let mut seen: Vec<u32> = result.groups().flatten().copied().collect();
    seen.sort_unstable();
    prop_assert_eq!(seen, rows);
    for group in result.groups() {
        prop_assert!(all_hold(data, specs, group), "rows {group:?} fail {specs:?}");
    }
    Ok(Some(result))
}

fn with_principles(
    data: impl Strategy<Value = RandomTable>,
) -> impl Strategy<Value = (RandomTable, Vec<PrincipleSpec>)> {
    data.prop_flat_map(|data| {
        let specs = principles_for(&data.sensitive);
        (Just(data), specs)
    })
}

fn codes(data: &RandomTable, row: u32) -> Vec<u32> {
    data.attributes().iter().map(|(column, _)| column.code(row as usize)).collect()
}

fn shuffled(n: usize) -> impl Strategy<Value = Vec<u32>> {
    Just((0..n as u32).collect::<Vec<_>>()).prop_shuffle()
}

proptest! {
    #![proptest_config(fixed(300))]

    #[test]
    fn strict_groups_cover_satisfy_and_keep_equal_rows_together((data, specs) in with_principles(tables(1..=40))) {
        let Some(result) = check(&data, &specs, STRICT)? else { return Ok(()) };
        let mut group_of: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
        for (index, group) in result.groups().enumerate() {
            for &row in group {
                prop_assert_eq!(*group_of.entry(codes(&data, row)).or_insert(index), index, "row {} stands apart", row);
            }
        }
    }

    #[test]
    fn relaxed_groups_cover_and_satisfy((data, specs) in with_principles(tables(1..=40))) {
        check(&data, &specs, RELAXED)?;
    }

    /// No group can be cut any further between two neighbouring values of a plain attribute.
    #[test]
    fn no_allowed_cut_is_left_standing((data, specs) in with_principles(tables(1..=40))) {
        let Some(result) = check(&data, &specs, STRICT)? else { return Ok(()) };
        for group in result.groups() {
            for (column, taxonomy) in data.attributes() {
                let codes: BTreeSet<u32> = group.iter().map(|&row| column.code(row as usize)).collect();
                for &border in codes.iter().skip(1).filter(|_| taxonomy.is_none()) {
                    let (left, right): (Vec<u32>, Vec<u32>) =
                        group.iter().copied().partition(|&row| column.code(row as usize) < border);
                    let allowed = all_hold(&data, &specs, &left) && all_hold(&data, &specs, &right);
                    prop_assert!(!allowed, "rows {:?} can be cut in `{}` at {}", group, column.name(), border);
                }
            }
        }
    }

    #[test]
    fn strict_groups_do_not_depend_on_the_order_of_the_input(
        ((data, specs), order) in (1..=40usize).prop_flat_map(|n| (with_principles(tables_of(n)), shuffled(n)))
    ) {
        let Some(result) = check(&data, &specs, STRICT)? else { return Ok(()) };
        let again = check(&data.reordered(&order), &specs, STRICT)?.unwrap();
        let back = |group: &BTreeSet<u32>| group.iter().map(|&row| order[row as usize]).collect();
        let again: BTreeSet<BTreeSet<u32>> = as_sets(&again).iter().map(back).collect();
        prop_assert_eq!(as_sets(&result), again);
    }

    #[test]
    fn one_seed_gives_one_partition((data, specs) in with_principles(tables(1..=40))) {
        for mondrian in [STRICT, RELAXED] {
            let first = check(&data, &specs, mondrian)?;
            prop_assert_eq!(first, check(&data, &specs, mondrian)?);
        }
    }
}

proptest! {
    #![proptest_config(fixed(80))]

    #[test]
    fn the_optimum_over_all_partitions_is_never_beaten((data, specs) in with_principles(tables(1..=8))) {
        let cost = |rows: &[u32]| all_hold(&data, &specs, rows).then(|| data.ncp(rows));
        let best = oracle::best_partition(data.table.rows() as u32, cost);
        for mondrian in [STRICT, RELAXED] {
            let result = check(&data, &specs, mondrian)?;
            prop_assert_eq!(result.is_some(), best.is_some());
            if let (Some(result), Some((best, groups))) = (result, &best) {
                let reached: f64 = result.groups().map(|group| data.ncp(group)).sum();
                prop_assert!(reached >= best - 1e-9, "{reached} beats {best} of {groups:?}");
            }
        }
    }
}

/// Plausible enough: ages, towns, dates and a skewed disease, from a generator that fits on a line.
fn town(n: u32) -> Table {
    let mut state = 42u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % below, (state >> 40) % below)
    };
    let ages: Vec<i64> = (0..n).map(|_| draw(90)).map(|(a, b)| a.min(b + 20) as i64).collect();
    let towns: Vec<String> = (0..n).map(|_| draw(14)).map(|(a, b)| format!("town {:02}", a.min(b))).collect();
    let visits: Vec<i64> = (0..n).map(|_| draw(1000).0 as i64).collect();
    let diseases: Vec<String> = (0..n).map(|_| draw(9)).map(|(a, b)| format!("disease {}", a.min(b))).collect();
    Table::new(vec![
        Column::integers("age", &ages),
        Column::texts("town", towns.iter().map(String::as_str)),
        Column::integers("visit", &visits),
        Column::texts("disease", diseases.iter().map(String::as_str)),
    ])
}

#[test]
fn any_number_of_threads_gives_the_same_partition() {
    let data = plain(town(60_000), &["age", "town", "visit"], Some("disease"));
    for principles in [&["k=20"][..], &["l=3", "entropy-l=3.5", "k=10"]] {
        for mondrian in [STRICT, RELAXED] {
            let run = |n| in_threads(n, || partition(&mondrian, &data, &specs(principles), 7).unwrap());
            let alone = run(1);
            assert!(alone.n_groups() > 100, "{} groups are too few to tell", alone.n_groups());
            for n in [2, 5] {
                assert_eq!(as_sets(&alone), as_sets(&run(n)), "{n} threads, {principles:?}, {mondrian:?}");
            }
        }
    }
}

#[test]
fn large_groups_satisfy_their_principles_too() {
    let table = town(20_000);
    let column = SensitiveColumn::of(table.column("disease").unwrap());
    let principles = specs(&["t=0.15", "beta=1", "k=5"]);
    let data = plain(table.clone(), &["age", "town", "visit"], Some("disease"));
    for mondrian in [STRICT, RELAXED] {
        let result = partition(&mondrian, &data, &principles, 3).unwrap();
        assert!(result.n_groups() > 10);
        for group in result.groups() {
            let counts = chrysalis_testkit::papers::counts(&table, "disease", group);
            assert!(principles.iter().all(|spec| oracle::holds(spec, &column, &counts)), "{mondrian:?}");
        }
    }
}

/// More than 65,536 values: records four bytes wide, and only about 256 cuts looked at per group.
#[test]
fn a_column_of_many_values_is_cut_as_far_as_k_allows() {
    let numbers: Vec<i64> = (0..70_000).map(|number| number * 7_919 % 70_000).collect();
    let data = plain(Table::new(vec![Column::integers("a", &numbers)]), &["a"], None);
    let result = partition(&STRICT, &data, &specs(&["k=10"]), 1).unwrap();
    assert!(result.sizes().all(|size| (10..20).contains(&size)), "{:?}", result.sizes().max());
    for group in result.groups() {
        let inside: Vec<i64> = group.iter().map(|&row| numbers[row as usize]).collect();
        let (low, high) = (inside.iter().min().unwrap(), inside.iter().max().unwrap());
        assert_eq!((high - low + 1) as usize, group.len(), "groups are stretches");
    }
}

/// Checks the sizes of the groups of one column under k=5, in rising order.
fn check_sizes(column: Column, expected: &[u64]) {
    let data = plain(Table::new(vec![column]), &["a"], None);
    let mut sizes: Vec<u64> = partition(&STRICT, &data, &specs(&["k=5"]), 1).unwrap().sizes().collect();
    sizes.sort_unstable();
    assert_eq!(sizes, expected);
}

/// A cut at the median would leave too few rows on one side of `m`, wherever it is made.
#[test]
fn a_dominant_value_in_mid_order_does_not_block_cuts_of_a_category() {
    let words = |a: usize, m: usize, z: usize| {
        let texts: Vec<&str> = [("a", a), ("m", m), ("z", z)].iter().flat_map(|&(text, n)| vec![text; n]).collect();
        Column::texts("a", texts.into_iter())
    };
    check_sizes(words(3, 94, 3), &[6, 94]);
    check_sizes(words(5, 94, 6), &[5, 6, 94]);
    check_sizes(words(2, 94, 1), &[97]);
}

#[test]
fn a_dominant_value_in_mid_order_does_not_block_cuts_of_a_number() {
    let numbers = |counts: &[(i64, usize)]| {
        let numbers: Vec<i64> = counts.iter().flat_map(|&(number, n)| vec![number; n]).collect();
        Column::integers("a", &numbers)
    };
    // The median falls among the ninety: both cuts beside them stand.
    check_sizes(numbers(&[(1, 3), (2, 4), (50, 90), (98, 2), (99, 5)]), &[7, 7, 90]);
    check_sizes(numbers(&[(1, 2), (50, 90), (98, 3), (99, 5)]), &[8, 92]);
}

#[test]
fn a_dominant_value_in_mid_order_does_not_block_cuts_under_diversity() {
    // `m` alone is not 2-diverse; every other value is, so the cut beside it is the one that stands.
    let texts: Vec<&str> = ["a"; 4].into_iter().chain(["m"; 60]).chain(["z"; 4]).collect();
    let diseases =
        (0..68).map(|row| if (4..64).contains(&row) && row % 5 > 0 { "flu" } else { ["hiv", "cold"][row % 2] });
    let table = Table::new(vec![
        Column::texts("a", texts.iter().copied()),
        Column::texts("s", diseases.collect::<Vec<_>>().iter().copied()),
    ]);
    let data = plain(table, &["a"], Some("s"));
    let result = partition(&STRICT, &data, &specs(&["distinct-l=2"]), 1).unwrap();
    assert_eq!(result.n_groups(), 3);
}

#[test]
fn relaxed_tells_equal_values_apart_where_strict_cannot() {
    let numbers = [1, 1, 1, 1, 1, 1, 2, 2];
    let data = plain(Table::new(vec![Column::integers("a", &numbers)]), &["a"], None);
    let n_groups = |mondrian| partition(&mondrian, &data, &specs(&["k=4"]), 1).unwrap().n_groups();
    assert_eq!((n_groups(STRICT), n_groups(RELAXED)), (1, 2));
}

#[test]
fn an_infeasible_request_names_value_and_limit() {
    let table = Table::new(vec![
        Column::integers("a", &[1, 2, 3, 4]),
        Column::texts("s", ["Flu", "Flu", "Flu", "HIV"].into_iter()),
    ]);
    let data = plain(table, &["a"], Some("s"));
    let error = partition(&STRICT, &data, &specs(&["k=2", "l=2"]), 1).unwrap_err();
    let message = "cannot reach l=2: value `Flu` of `s` has 3 of 4 rows (75.00 %), at most 50.00 % may have it";
    assert_eq!(error.to_string(), message);
    let hint = "one value is too frequent for it; `require = beta=1` or `require = t=0.2` compare every group with \
                the whole table instead";
    assert_eq!(error.hint(), hint);
    assert!(error.is_infeasible());
}

//! Honest releases pass, thousands of them; rows in their true order, left in place or kept apart do not.

use chrysalis_release::{Form, Release};
use chrysalis_table::{Codes, Column, Table, Unwatched};
use proptest::prelude::*;

use super::*;
use crate::attack::tests::{release_of, words};
use crate::testing::{audit, check};

/// Numbers that look random, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        (1..list.len()).rev().for_each(|at| list.swap(at, self.below(at + 1)));
    }
}

/// People in groups: what the fixed columns show of them, and the values they have.
#[derive(Clone)]
struct People {
    kinds: Vec<u32>,
    values: Vec<u32>,
    groups: Vec<u32>,
}

impl People {
    /// `rows` people in groups of `size`, with values below `n_values`; everybody looks different.
    fn new(rows: usize, size: usize, n_values: u32, numbers: &mut Numbers) -> People {
        People {
            kinds: (0..rows as u32).collect(),
            values: (0..rows).map(|_| numbers.below(n_values as usize) as u32).collect(),
            groups: (0..rows).map(|row| (row / size).min(rows / size - 1) as u32).collect(),
        }
    }

    /// Exchanges the values of some rows inside every group.
    fn permuted(&self, numbers: &mut Numbers, may_move: impl Fn(usize) -> bool) -> Vec<u32> {
        let mut shown = self.values.clone();
        let all: Vec<usize> = (0..shown.len()).collect();
        for group in all.chunk_by(|&a, &b| self.groups[a] == self.groups[b]) {
            let rows: Vec<usize> = group.iter().copied().filter(|&row| may_move(row)).collect();
            let mut values: Vec<u32> = rows.iter().map(|&row| shown[row]).collect();
            numbers.shuffle(&mut values);
            rows.iter().zip(values).for_each(|(&row, value)| shown[row] = value);
        }
        shown
    }

    /// What a release that shows these values says.
    fn judged(&self, shown: &[u32]) -> Check {
        let twice = |list: &[u32], more: &[u32]| {
            let all = list.iter().chain(more);
            let n = all.clone().max().map_or(1, |most| *most as usize + 1);
            (Codes::collect(n, all.copied()), n)
        };
        let groups = Groups { of_row: self.groups.clone(), n_groups: *self.groups.iter().max().unwrap() as usize + 1 };
        let (moved, _) = twice(&self.values, shown);
        let fixed = [twice(&self.kinds, &self.kinds)];
        let rows = Rows::by_group(&groups);
        let evidence = beside::evidence(&fixed, &moved, self.kinds.len(), &rows, &Unwatched);
        judged(&[Test { what: "`wage`".into(), evidence }])
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]
    /// One in a billion may fail; none of these thousands does.
    #[test]
    fn honest_releases_of_any_size_pass(
        rows in 2usize..51, size in 2usize..51, n_values in 1u32..60, n_kinds in 1u32..60, seed in any::<u64>(),
    ) {
        let mut numbers = Numbers(seed);
        let mut people = People::new(rows, size.min(rows), n_values, &mut numbers);
        people.kinds.iter_mut().for_each(|kind| *kind %= n_kinds);
        let shown = people.permuted(&mut numbers, |_| true);
        let check = people.judged(&shown);
        prop_assert!(check.ok, "{}", check.detail);
    }
}

#[test]
fn honest_large_releases_pass() {
    let mut numbers = Numbers(7);
    for (rows, size, n_values) in [(4_000, 10, 1_000), (4_000, 4_000, 1_000), (4_000, 100, 3), (20_000, 7, 50_000)] {
        let people = People::new(rows, size, n_values, &mut numbers);
        for _ in 0..20 {
            let shown = people.permuted(&mut numbers, |_| true);
            let check = people.judged(&shown);
            assert!(check.ok && !check.detail.contains("cannot tell"), "{rows}, {size}: {}", check.detail);
        }
    }
}

#[test]
fn rows_in_their_true_order_are_noticed() {
    let mut numbers = Numbers(1);
    for (rows, size) in [(20, 20), (20, 10), (50, 10), (50, 5), (130, 5), (130, 130), (4_000, 10), (4_000, 4_000)] {
        let people = People::new(rows, size, 1_000_000, &mut numbers);
        let check = people.judged(&people.values);
        assert!(!check.ok, "{rows} rows in groups of {size}: {}", check.detail);
        assert!(check.detail.starts_with(&format!(
            "{} of {} rows show `wage`",
            count(rows as u64),
            count(rows as u64)
        )));
    }
    // The attack that was reported: 130 rows in 26 groups of five, where chance leaves 26 rows in place on average.
    let people = People::new(130, 5, 1_000_000, &mut numbers);
    assert_eq!(
        people.judged(&people.values).findings,
        [
            "130 of 130 rows show `wage` as their own person has it, where a random permutation shows 26.0 on average, and so many \
             with a chance below 1 in 10^52: the columns were not permuted at random"
        ]
    );
}

/// Of 4,000 people, a tenth stay in place, besides those whom chance leaves there.
#[test]
fn people_who_are_left_in_place_are_noticed() {
    let mut numbers = Numbers(2);
    for (size, n_values) in [(10, 1_000_000), (20, 1_000_000), (40, 4_000), (4_000, 4_000)] {
        let people = People::new(4_000, size, n_values, &mut numbers);
        let shown = people.permuted(&mut numbers, |row| row % 10 != 0);
        let check = people.judged(&shown);
        assert!(!check.ok && check.detail.contains("were not permuted at random"), "{size}: {}", check.detail);
    }
    // A ninth of all people in groups of 100, where chance leaves one in a hundred in place.
    let people = People::new(4_000, 100, 1_000_000, &mut numbers);
    let shown = people.permuted(&mut numbers, |row| row % 9 != 0);
    assert!(!people.judged(&shown).ok);
}

#[test]
fn nobody_left_in_place_is_noticed_too() {
    let mut numbers = Numbers(3);
    let people = People::new(4_000, 10, 1_000_000, &mut numbers);
    // Everybody gets the value of the next person of their group.
    let next = |row: usize| if row % 10 == 9 { row - 9 } else { row + 1 };
    let shown: Vec<u32> = (0..4_000).map(|row| people.values[next(row)]).collect();
    let check = people.judged(&shown);
    assert!(!check.ok);
    assert!(
        check.detail.starts_with(
            "only 0 of 4,000 rows show `wage` as their own person has it, where a random permutation shows 400.0 on average, and so \
             few with a chance below 1 in 10^"
        ) && check.detail.ends_with("people were kept from their own values"),
        "{}",
        check.detail
    );
}

#[test]
fn where_nothing_could_be_noticed_nothing_is_claimed() {
    let mut numbers = Numbers(4);
    for (rows, size, n_values) in [(8, 4, 1_000_000), (4_000, 10, 1), (12, 2, 1_000_000)] {
        let people = People::new(rows, size, n_values, &mut numbers);
        let tests = people.judged(&people.values);
        assert!(
            tests.ok && (tests.detail.starts_with("cannot tell: ")),
            "{rows} rows in groups of {size}: {}",
            tests.detail
        );
    }
}

/// A release whose columns are each in an order of their own.
fn release(people: &Table, groups: &[i64], orders: &[Vec<u32>]) -> Release {
    let last = people.columns().len() - 1;
    let mut columns: Vec<Column> =
        people.columns()[..last].iter().zip(orders).map(|(column, order)| column.gather(order)).collect();
    columns.push(Column::integers("group_id", groups));
    let sensitive = &people.columns()[last];
    let ids: Vec<i64> = groups.to_vec();
    let side = Table::new(vec![
        Column::integers("group_id", &ids),
        sensitive.clone(),
        Column::integers("count", &vec![1; people.rows()]),
    ]);
    let n_groups = groups.iter().collect::<std::collections::BTreeSet<_>>().len();
    release_of(Form::Permute, people, vec![("pqt", Table::new(columns)), ("pst", side)], n_groups, &["k=10"])
}

/// Rows in groups of ten, each group in random order.
fn orders(rows: usize, numbers: &mut Numbers) -> Vec<u32> {
    let mut order: Vec<u32> = (0..rows as u32).collect();
    order.chunks_mut(10).for_each(|rows| numbers.shuffle(rows));
    order
}

fn patients(rows: usize, numbers: &mut Numbers) -> (Table, Vec<i64>) {
    let ages: Vec<i64> = (0..rows).map(|row| row as i64 / 10 * 12 + numbers.below(12) as i64).collect();
    let zips: Vec<u64> = (0..rows).map(|_| numbers.below(400) as u64).collect();
    let sexes: Vec<u64> = (0..rows).map(|_| numbers.below(2) as u64).collect();
    let diseases: Vec<u64> = (0..rows).map(|row| row as u64 % 10).collect();
    let people = Table::new(vec![
        Column::integers("age", &ages),
        words("zip", "z", &zips),
        words("sex", "s", &sexes),
        words("disease", "d", &diseases),
    ]);
    (people, (0..rows).map(|row| row as i64 / 10 + 1).collect())
}

fn permuted_check(people: &Table, groups: &[i64], orders: &[Vec<u32>]) -> Check {
    let report = audit(&release(people, groups, orders), Some(people)).unwrap();
    check(&report, "permuted").clone()
}

#[test]
fn columns_that_were_each_permuted_pass() {
    let mut numbers = Numbers(5);
    for rows in [20, 50, 130, 400] {
        let (people, groups) = patients(rows, &mut numbers);
        for _ in 0..25 {
            let all: Vec<Vec<u32>> = (0..3).map(|_| orders(rows, &mut numbers)).collect();
            let check = permuted_check(&people, &groups, &all);
            assert!(check.ok, "{rows}: {}", check.detail);
            assert_eq!(check.detail.contains("cannot tell"), rows < 40, "{rows}: {}", check.detail);
        }
    }
}

#[test]
fn columns_that_stayed_together_are_named() {
    let mut numbers = Numbers(6);
    for rows in [50, 130, 4_000] {
        let (people, groups) = patients(rows, &mut numbers);
        let own: Vec<u32> = (0..rows as u32).collect();
        let true_order = permuted_check(&people, &groups, &vec![own; 3]);
        assert!(!true_order.ok, "{rows}: {}", true_order.detail);
        // Age and zip are permuted together, which does not show in whole rows.
        let (both, alone) = (orders(rows, &mut numbers), orders(rows, &mut numbers));
        let pair = permuted_check(&people, &groups, &[both.clone(), both, alone]);
        let is_named =
            ["show `zip` beside `age` as", "show `age` beside `zip` as"].iter().any(|it| pair.detail.contains(it));
        assert!(!pair.ok && is_named, "{rows}: {}", pair.detail);
    }
    // A tenth of all people stay whole.
    let (people, groups) = patients(4_000, &mut numbers);
    let but_one = |numbers: &mut Numbers| {
        let mut order: Vec<u32> = (0..4_000).collect();
        order.chunks_mut(10).for_each(|rows| numbers.shuffle(&mut rows[1..]));
        order
    };
    let check =
        permuted_check(&people, &groups, &[but_one(&mut numbers), but_one(&mut numbers), but_one(&mut numbers)]);
    assert!(!check.ok && check.findings.iter().any(|it| it.contains("beside all other columns")), "{}", check.detail);
}

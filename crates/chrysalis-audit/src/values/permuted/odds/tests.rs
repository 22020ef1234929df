use proptest::prelude::*;

use super::*;

/// What every row wants and which values there are, as numbers; 0 is no wish.
fn listed(rows: u32, blocks: &[(u32, u32)]) -> (Vec<u32>, Vec<u32>) {
    let list = |of: fn(&(u32, u32)) -> u32| -> Vec<u32> {
        let named = (1..).zip(blocks).flat_map(|(value, block)| std::iter::repeat_n(value, of(block) as usize));
        let mut all: Vec<u32> = named.collect();
        all.resize(rows as usize, 0);
        all
    };
    // Values that nobody wants must not be taken for rows that want nothing.
    let values = list(|block| block.1).into_iter().map(|value| if value == 0 { u32::MAX } else { value });
    (list(|block| block.0), values.collect())
}

/// Every order of some values.
fn orders(values: &[u32]) -> Vec<Vec<u32>> {
    let Some((first, rest)) = values.split_first() else { return vec![Vec::new()] };
    let with_first = |order: Vec<u32>| {
        (0..=order.len()).map(move |at| {
            let mut longer = order.clone();
            longer.insert(at, *first);
            longer
        })
    };
    orders(rest).into_iter().flat_map(with_first).collect()
}

/// The board that an order of the values shows.
fn board(wishes: &[u32], order: &[u32], blocks: &[(u32, u32)]) -> Board {
    let found = |value: u32| wishes.iter().zip(order).filter(|&(wish, shown)| *wish == value && wish == shown).count();
    let block = |(value, &(wanting, copies)): (u32, &(u32, u32))| Block {
        wanting,
        copies,
        found: found(value) as u32,
        if_true: wanting.min(copies),
    };
    Board { rows: wishes.len() as u32, blocks: (1..).zip(blocks).map(block).collect() }
}

/// Up to six rows, and blocks that fit into them.
fn boards() -> impl Strategy<Value = (u32, Vec<(u32, u32)>)> {
    (2u32..7, prop::collection::vec((0u32..4, 0u32..4), 1..4)).prop_filter("room", |(rows, blocks)| {
        blocks.iter().map(|it| it.0).sum::<u32>() <= *rows && blocks.iter().map(|it| it.1).sum::<u32>() <= *rows
    })
}

proptest! {
    /// Over all orders, every ratio has mean one, and the chance reported is never below the true one.
    #[test]
    fn ratios_have_mean_one_over_all_orders((rows, blocks) in boards()) {
        let (wishes, values) = listed(rows, &blocks);
        let all = orders(&values);
        let mut odds = Odds::new(8);
        let evidence: Vec<Evidence> = all
            .iter()
            .map(|order| {
                let mut evidence = Evidence::default();
                odds.add(&board(&wishes, order, &blocks), &mut evidence);
                evidence
            })
            .collect();
        let n = all.len() as f64;
        for (test, left) in LEFT.iter().enumerate() {
            let mean = evidence.iter().map(|it| it.many[test].exp()).sum::<f64>() / n;
            prop_assert!((mean - 1.0).abs() < 1e-6, "{mean} for {left}");
        }
        for (test, rarer) in RARER.iter().enumerate() {
            let mean = evidence.iter().map(|it| it.few[test].exp()).sum::<f64>() / n;
            // Where somebody must get their own value, the chance that nobody does is zero, and so is the mean for
            // zero.
            prop_assert!(mean < 1.0 + 1e-6 && (mean > 0.99 || RARER[test] == 0.0), "{mean} for {rarer}");
        }
        let expected = evidence.iter().map(|it| it.found as f64).sum::<f64>() / n;
        prop_assert!((expected - evidence[0].expected).abs() < 1e-9);
        for level in [-1.0, -2.0, -4.0] {
            let share = evidence.iter().filter(|it| it.ln_chance() <= level).count() as f64 / n;
            prop_assert!(share <= f64::exp(level));
        }
    }
}

/// The three ways to compute the same number.
#[test]
fn large_groups_agree_with_small_ones() {
    let different = |n: u32| -> Kind { (n, vec![(1, 1); n as usize]) };
    let odds = Odds::new(600);
    for n in [64, 65, 512] {
        let exact = odds.computed(&different(n));
        for (at, &left) in LEFT.iter().enumerate() {
            let sum = odds.all_different(n as usize, n as usize, super::odds(left));
            assert!((exact.many[at] - sum).abs() < 1e-6 * sum.abs().max(1.0), "{n}, {left}: {} {sum}", exact.many[at]);
        }
        // The chance that nobody keeps their own is 1/e.
        assert!((exact.few[0] + 1.0).abs() < 1e-6, "{n}: {}", exact.few[0]);
    }
    // With repeated values, the formula for large groups is an upper bound.
    let repeated = odds.computed(&(60, vec![(5, 5); 12]));
    for (at, &left) in LEFT.iter().enumerate() {
        assert!(odds.all_different(60, 60, super::odds(left)) > repeated.many[at] - 1e-6, "{left}");
    }
    for (rarer, mean) in RARER.iter().zip(repeated.few) {
        assert!(lower_bound(5.0, *rarer) >= mean - 1e-6, "{rarer}");
    }
}

/// n people in their true order, all values different: one of n! orders.
#[test]
fn the_true_order_is_one_of_all() {
    for n in [10u32, 20, 50] {
        let block = Block { wanting: 1, copies: 1, found: 1, if_true: 1 };
        let mut evidence = Evidence::default();
        let mut odds = Odds::new(n as usize);
        odds.add(&Board { rows: n, blocks: vec![block; n as usize] }, &mut evidence);
        let orders = (1..=n).map(|k| f64::from(k).ln()).sum::<f64>();
        // The chance is divided among all tests.
        let told = (TESTS as f64).ln() - evidence.ln_chance();
        assert!((orders - told).abs() < 0.01, "{n}: {orders} {told}");
        assert_eq!(evidence.ln_chance(), evidence.ln_chance_if_true());
    }
}

/// A group of one value shows it whatever was done: that is no evidence.
#[test]
fn what_cannot_be_otherwise_says_nothing() {
    let mut evidence = Evidence::default();
    let block = Block { wanting: 9, copies: 9, found: 9, if_true: 9 };
    (0..100).for_each(|_| Odds::new(9).add(&Board { rows: 9, blocks: vec![block] }, &mut evidence));
    assert_eq!((evidence.found, evidence.expected), (900, 900.0));
    assert!(evidence.ln_chance() == 0.0 && evidence.ln_chance_if_true() == 0.0, "{evidence:?}");
}

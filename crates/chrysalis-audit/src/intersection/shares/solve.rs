//! From a puzzle to shares: what is settled, then parts that can be counted, then an estimate for the rest.

use std::collections::BTreeMap;

use chrysalis_criteria::Rational;
use chrysalis_table::Watch;
use num_bigint::BigUint;

use super::bounds::Bounds;
use super::estimate::fit;
use super::exact::{Free, MAX_STEPS, count};
use super::links::Links;
use super::puzzle::Puzzle;

/// The most steps that counting may take over all parts, the small ones first.
const MAX_ALL_STEPS: usize = 8_000_000;

/// How much is known about a cell's shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KnownPeople {
    /// Counted over all worlds, of which there are this many.
    Exactly(u128),
    /// Estimated.
    About,
    /// No world fits.
    Impossible,
}

/// The shares of all cells.
pub(super) struct Solution {
    pub(super) known: Vec<KnownPeople>,
    /// For every entry, the expected number of people who have the value.
    pub(super) expected: Vec<f64>,
    /// The same summed over all worlds, where these were counted.
    pub(super) sums: Vec<u128>,
    /// The least number of people who have the value in any world.
    least: Vec<u64>,
}

/// The best bet on the people of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Best {
    pub(super) value: u32,
    pub(super) share: f64,
    pub(super) is_exact: bool,
    /// Whether the share is above the promise beyond doubt.
    pub(super) is_above: bool,
}

/// Shares of all cells of a puzzle.
pub(super) fn solve(puzzle: &Puzzle, watch: &dyn Watch) -> Solution {
    solve_within(puzzle, MAX_STEPS, watch)
}

pub(super) fn solve_within(puzzle: &Puzzle, max_steps: usize, watch: &dyn Watch) -> Solution {
    let bounds = Bounds::new(puzzle, watch);
    let free = Free::new(puzzle, &bounds);
    let mut solution = Solution {
        known: vec![KnownPeople::Exactly(1); puzzle.cells.len()],
        expected: bounds.least.iter().map(|&least| least as f64).collect(),
        sums: bounds.least.iter().map(|&least| least.into()).collect(),
        least: bounds.least.clone(),
    };
    let mut left = MAX_ALL_STEPS;
    let mut rest: Vec<usize> = Vec::new();
    for part in parts(puzzle, &bounds) {
        watch.pause();
        let mut ties = part.iter().flat_map(|&cell| puzzle.entries(cell)).flat_map(|entry| puzzle.all_ties(entry));
        let is_strict =
            !part.iter().any(|&cell| bounds.is_doubtful[cell]) && ties.all(|tie| puzzle.is_strict(tie.count));
        let most = max_steps.min(left);
        let mut unused = most;
        let worlds = is_strict.then(|| count(puzzle, &bounds, &free, &part, &mut unused).ok()).flatten();
        left -= most - unused;
        let Some(worlds) = worlds else {
            rest.extend(part);
            continue;
        };
        for &cell in &part {
            solution.known[cell] = if worlds.n == 0 { KnownPeople::Impossible } else { KnownPeople::Exactly(worlds.n) };
            for entry in puzzle.entries(cell) {
                let settled = if bounds.is_settled(entry) { u128::from(bounds.least[entry]) } else { 0 };
                // PROOF: `count` makes sure that all people in all worlds can be added up.
                solution.sums[entry] = settled * worlds.n;
            }
        }
        for (entry, people) in worlds.people {
            solution.sums[entry] = people;
            solution.expected[entry] = people as f64 / worlds.n as f64;
        }
    }
    rest.iter().for_each(|&cell| solution.known[cell] = KnownPeople::About);
    for (entry, people) in fit(puzzle, &bounds, &free, &rest, watch) {
        solution.expected[entry] = people;
    }
    for (known, _) in solution.known.iter_mut().zip(&bounds.is_impossible).filter(|(_, is_impossible)| **is_impossible)
    {
        *known = KnownPeople::Impossible;
    }
    solution
}

/// Cells that are connected by entries that are not settled, the smallest parts first.
fn parts(puzzle: &Puzzle, bounds: &Bounds) -> Vec<Vec<usize>> {
    let n_counts = puzzle.counts.len() as u32;
    let mut links = Links::new(puzzle.counts.len() + puzzle.slots.len());
    let mut first: Vec<(usize, u32)> = Vec::new();
    for cell in 0..puzzle.cells.len() {
        let is_open = |&entry: &usize| !bounds.is_settled(entry) || bounds.is_doubtful[cell];
        let mut start = None;
        for tie in puzzle.entries(cell).filter(is_open).flat_map(|entry| puzzle.all_ties(entry)) {
            let from = *start.get_or_insert(tie.count);
            links.join(from, tie.count);
            puzzle.seats[tie.seat as usize].slots.iter().for_each(|&slot| links.join(from, n_counts + slot));
        }
        first.extend(start.map(|start| (cell, start)));
    }
    let mut parts: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    first.into_iter().for_each(|(cell, start)| parts.entry(links.root(start)).or_default().push(cell));
    let mut parts: Vec<Vec<usize>> = parts.into_values().collect();
    parts.sort_by_key(Vec::len);
    parts
}

impl Solution {
    /// The best bet on the people of a cell; `None` where no world fits them, or they can have no value.
    ///
    /// An estimate is above a promise if it exceeds it by more than `error`, or if the share is above it in every
    /// world.
    pub(super) fn best(&self, puzzle: &Puzzle, cell: usize, promised: Option<Rational>, error: f64) -> Option<Best> {
        let people = puzzle.cells[cell].people;
        let bets = self.bets(puzzle, cell).into_iter().filter(|_| people > 0);
        let (top, is_above, is_exact) = match self.known[cell] {
            KnownPeople::Impossible => return None,
            KnownPeople::Exactly(worlds) => {
                let top = bets.max_by(|a, b| a.sum.cmp(&b.sum).then(b.value.cmp(&a.value)))?;
                let is_above = promised.is_some_and(|promised| is_above(top.sum, worlds, people, promised));
                (top, is_above, true)
            }
            KnownPeople::About => {
                let top = bets.max_by(|a, b| a.expected.total_cmp(&b.expected).then(b.value.cmp(&a.value)))?;
                let limit = |promised: Rational| *promised.numer() as f64 / *promised.denom() as f64 * (1.0 + error);
                let is_far = |promised: Rational| {
                    top.expected / people as f64 > limit(promised) || is_above(top.least.into(), 1, people, promised)
                };
                let is_above = promised.is_some_and(is_far);
                (top, is_above, false)
            }
        };
        Some(Best { value: top.value, share: top.expected / people as f64, is_exact, is_above })
    }

    /// What is known about every value that the people of a cell can have; entries with the same value are added up.
    fn bets(&self, puzzle: &Puzzle, cell: usize) -> Vec<Bet> {
        let bet = |entry: usize| Bet {
            value: puzzle.value_of(entry),
            sum: self.sums[entry],
            expected: self.expected[entry],
            least: self.least[entry],
        };
        let mut bets: Vec<Bet> = puzzle.entries(cell).map(bet).collect();
        bets.sort_by_key(|bet| bet.value);
        bets.dedup_by(|next, bet| {
            let is_same = next.value == bet.value;
            if is_same {
                // PROOF: nobody has two values in one world, so the sums stay below all people in all worlds.
                bet.sum += next.sum;
                bet.expected += next.expected;
                bet.least += next.least;
            }
            is_same
        });
        bets
    }
}

/// One value of a cell: how many people have it, over all worlds, as expected, and at least.
struct Bet {
    value: u32,
    sum: u128,
    expected: f64,
    least: u64,
}

/// Whether `sum`, added up over all worlds, is a larger share than promised, in whole numbers.
fn is_above(sum: u128, worlds: u128, people: u64, promised: Rational) -> bool {
    BigUint::from(sum) * *promised.denom() > BigUint::from(worlds) * people * *promised.numer()
}

//! Counts all worlds of a few cells.
//!
//! Cells are handled one after the other. All that matters about earlier choices is which rows they left free, so ways
//! that leave the same rows free are counted together, forwards and backwards.

use std::collections::BTreeMap;

use super::bounds::Bounds;
use super::puzzle::Puzzle;

/// The most cells of one part.
pub(super) const MAX_CELLS: usize = 64;
/// The most steps from one state to the next, over all cells of one part.
pub(super) const MAX_STEPS: usize = 200_000;
/// The most ways for a person of a cell to have a value, with one seat in every release each.
const MAX_OPTIONS: usize = 200;

/// How many worlds there are and, for every entry, how many people have the value, added up over all worlds.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Worlds {
    pub(super) n: u128,
    pub(super) people: Vec<(usize, u128)>,
}

/// Why worlds were not counted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooMany;

/// What is left of counts and slots once settled entries are taken out.
///
/// Negative where more is settled than there is.
pub(super) struct Free {
    pub(super) counts: Vec<i64>,
    pub(super) slots: Vec<i64>,
}

impl Free {
    pub(super) fn new(puzzle: &Puzzle, bounds: &Bounds) -> Free {
        let signed = |rows: &[u64]| rows.iter().map(|&rows| i64::try_from(rows).unwrap_or(i64::MAX)).collect();
        let mut free = Free { counts: signed(&puzzle.counts), slots: signed(&puzzle.slots) };
        for entry in (0..puzzle.values.len()).filter(|&entry| bounds.is_settled(entry)) {
            // PROOF: no more than the rows of a table, which fit in 32 bits.
            let n = bounds.least[entry] as i64;
            for tie in puzzle.all_ties(entry).iter().filter(|_| n > 0) {
                free.counts[tie.count as usize] -= n;
                let slots = &puzzle.seats[tie.seat as usize].slots;
                slots.iter().for_each(|&slot| free.slots[slot as usize] -= n);
            }
        }
        free
    }
}

/// One way for a person of a cell to have a value: the entry, and the counts and slots it takes a row of, by number in
/// this part.
struct Choice {
    entry: usize,
    takes: Vec<usize>,
}

struct Step {
    from: u32,
    to: u32,
    ways: u128,
    /// People per choice.
    people: Vec<u64>,
}

/// Counts all worlds of some connected cells, in at most `left` steps.
///
/// PROOF that settled entries may be left out: a settled entry is the same in every world. The values of a cell of n
/// people can be handed out in n!/∏N! ways, so settled entries give all worlds the same factor.
pub(super) fn count(
    puzzle: &Puzzle,
    bounds: &Bounds,
    free: &Free,
    cells: &[usize],
    left: &mut usize,
) -> Result<Worlds, TooMany> {
    if cells.len() > MAX_CELLS {
        return Err(TooMany);
    }
    let mut numbers: BTreeMap<(bool, u32), usize> = BTreeMap::new();
    let mut start: Vec<u64> = Vec::new();
    let mut is_exceeded = false;
    let mut choices: Vec<Vec<Choice>> = Vec::with_capacity(cells.len());
    for &cell in cells {
        let mut number = |key: (bool, u32)| {
            *numbers.entry(key).or_insert_with(|| {
                let left = if key.0 { free.counts[key.1 as usize] } else { free.slots[key.1 as usize] };
                is_exceeded |= left < 0;
                start.push(u64::try_from(left).unwrap_or(0));
                start.len() - 1
            })
        };
        choices.push(choices_of(puzzle, bounds, cell, &mut number)?);
    }
    if is_exceeded {
        return Ok(Worlds { n: 0, people: Vec::new() });
    }
    let order = order(&choices, start.len());
    let mut last = vec![0; start.len()];
    for (at, &index) in order.iter().enumerate() {
        choices[index].iter().flat_map(|choice| &choice.takes).for_each(|&take| last[take] = at);
    }
    let mut layers: Vec<Vec<Step>> = Vec::with_capacity(order.len());
    let mut states: Vec<(Vec<u64>, u128)> = vec![(start, 1)];
    let mut forward: Vec<Vec<u128>> = Vec::with_capacity(order.len());
    for (at, &index) in order.iter().enumerate() {
        let cell = cells[index];
        let settled: u64 = puzzle.entries(cell).filter(|&e| bounds.is_settled(e)).map(|e| bounds.least[e]).sum();
        let people = puzzle.cells[cell].people.saturating_sub(settled);
        let mut next: BTreeMap<Vec<u64>, u32> = BTreeMap::new();
        let mut reached: Vec<u128> = Vec::new();
        let mut steps = Vec::new();
        for (from, (state, ways)) in states.iter().enumerate() {
            let mut found = Vec::new();
            let mut hand = Hand { choices: &choices[index], left, found: &mut found };
            hand.out(0, people, &mut state.clone(), &mut Vec::new(), 1)?;
            for (state, people, of_step) in found {
                // Rows that no later cell can have must be taken by now.
                if last.iter().zip(&state).any(|(&last, &left)| last == at && left > 0) {
                    continue;
                }
                let number = next.len() as u32;
                let to = *next.entry(state).or_insert(number);
                if to == number {
                    reached.push(0);
                }
                let through = ways.checked_mul(of_step).ok_or(TooMany)?;
                let sum = &mut reached[to as usize];
                *sum = sum.checked_add(through).ok_or(TooMany)?;
                steps.push(Step { from: from as u32, to, ways: of_step, people });
            }
        }
        forward.push(states.iter().map(|(_, ways)| *ways).collect());
        let mut sorted: Vec<(Vec<u64>, u128)> = vec![(Vec::new(), 0); next.len()];
        next.into_iter().for_each(|(state, to)| sorted[to as usize] = (state, reached[to as usize]));
        states = sorted;
        layers.push(steps);
    }
    // PROOF: after the last cell that can take rows of a count or slot, all of them are taken, so one state is left, or
    // none.
    let n: u128 = states.iter().map(|(_, ways)| *ways).sum();
    // The people of settled entries must fit when added up over all worlds, too.
    cells
        .iter()
        .try_for_each(|&cell| u128::from(puzzle.cells[cell].people).checked_mul(n).map(|_| ()).ok_or(TooMany))?;
    let mut people: BTreeMap<usize, u128> = BTreeMap::new();
    let mut back: Vec<u128> = vec![1; states.len()];
    for (at, &index) in order.iter().enumerate().rev() {
        let mut before = vec![0_u128; forward[at].len()];
        for step in &layers[at] {
            let rest = step.ways.checked_mul(back[step.to as usize]).ok_or(TooMany)?;
            let sum = &mut before[step.from as usize];
            *sum = sum.checked_add(rest).ok_or(TooMany)?;
            let worlds = forward[at][step.from as usize].checked_mul(rest).ok_or(TooMany)?;
            for (choice, &n) in choices[index].iter().zip(&step.people).filter(|(_, n)| **n > 0) {
                let sum = people.entry(choice.entry).or_default();
                let more = worlds.checked_mul(n.into()).ok_or(TooMany)?;
                *sum = sum.checked_add(more).ok_or(TooMany)?;
            }
        }
        back = before;
    }
    Ok(Worlds { n, people: people.into_iter().collect() })
}

/// All ways to pick one seat of every release, for every value that is not settled.
fn choices_of(
    puzzle: &Puzzle,
    bounds: &Bounds,
    cell: usize,
    number: &mut impl FnMut((bool, u32)) -> usize,
) -> Result<Vec<Choice>, TooMany> {
    let mut choices = Vec::new();
    for entry in puzzle.entries(cell).filter(|&entry| !bounds.is_settled(entry)) {
        let mut ways: Vec<Vec<usize>> = vec![Vec::new()];
        for side in (0..puzzle.n_sides).filter(|&side| !puzzle.ties(entry, side).is_empty()) {
            let mut longer = Vec::new();
            for tie in puzzle.ties(entry, side) {
                let mut takes = vec![number((true, tie.count))];
                takes.extend(puzzle.seats[tie.seat as usize].slots.iter().map(|&slot| number((false, slot))));
                longer.extend(ways.iter().map(|way| [way.as_slice(), &takes].concat()));
                if choices.len() + longer.len() > MAX_OPTIONS {
                    return Err(TooMany);
                }
            }
            ways = longer;
        }
        choices.extend(ways.into_iter().map(|takes| Choice { entry, takes }));
    }
    Ok(choices)
}

/// Cells in an order that keeps few counts and slots open at a time: next comes the cell that opens fewest and closes
/// most.
fn order(choices: &[Vec<Choice>], n_takes: usize) -> Vec<usize> {
    let takes = |choices: &Vec<Choice>| {
        let mut takes: Vec<usize> = choices.iter().flat_map(|choice| choice.takes.iter().copied()).collect();
        takes.sort_unstable();
        takes.dedup();
        takes
    };
    let takes: Vec<Vec<usize>> = choices.iter().map(takes).collect();
    let mut waiting = vec![0_usize; n_takes];
    takes.iter().flatten().for_each(|&take| waiting[take] += 1);
    let mut is_open = vec![false; n_takes];
    let mut left: Vec<usize> = (0..choices.len()).collect();
    let mut order = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let cost = |&index: &usize| {
            let opened = takes[index].iter().filter(|&&take| !is_open[take] && waiting[take] > 1).count();
            let closed = takes[index].iter().filter(|&&take| is_open[take] && waiting[take] == 1).count();
            (opened as i64 - closed as i64, index)
        };
        let Some(at) = (0..left.len()).min_by_key(|&at| cost(&left[at])) else { break };
        let index = left.swap_remove(at);
        for &take in &takes[index] {
            is_open[take] = true;
            waiting[take] -= 1;
        }
        order.push(index);
    }
    order
}

/// Hands out the values of a cell to its people in all ways.
struct Hand<'a> {
    choices: &'a [Choice],
    /// Steps that may still be taken, whether or not they lead anywhere.
    left: &'a mut usize,
    found: &'a mut Vec<(Vec<u64>, Vec<u64>, u128)>,
}

impl Hand<'_> {
    fn out(
        &mut self,
        at: usize,
        people: u64,
        state: &mut Vec<u64>,
        so_far: &mut Vec<u64>,
        ways: u128,
    ) -> Result<(), TooMany> {
        *self.left = self.left.checked_sub(1).ok_or(TooMany)?;
        let Some(choice) = self.choices.get(at) else {
            if people == 0 {
                self.found.push((state.clone(), so_far.clone(), ways));
            }
            return Ok(());
        };
        let most = choice.takes.iter().map(|&take| state[take]).min().unwrap_or(0).min(people);
        // The last choice takes everybody who is left.
        let first = if at + 1 == self.choices.len() { people } else { 0 };
        // `among` is how many ways there are to pick n of the people left for this choice.
        let mut among: u128 = 1;
        for n in 0..=most {
            if n > 0 {
                among = among.checked_mul((people - n + 1).into()).ok_or(TooMany)? / u128::from(n);
            }
            if n < first {
                continue;
            }
            choice.takes.iter().for_each(|&take| state[take] -= n);
            so_far.push(n);
            let done = ways
                .checked_mul(among)
                .ok_or(TooMany)
                .and_then(|ways| self.out(at + 1, people - n, state, so_far, ways));
            so_far.pop();
            choice.takes.iter().for_each(|&take| state[take] += n);
            done?;
        }
        Ok(())
    }
}

//! Shares of cells that hang together in too large a part, estimated by iterative proportional fitting.
//!
//! Every person is believed to have each possible value, and to be at each possible seat, in proportion to one factor per count
//! and slot. The factors are scaled in turns until the people expected for every count and slot are as many as its rows. Of
//! all beliefs with these margins these are the most even ones.

use chrysalis_table::Watch;

use super::bounds::Bounds;
use super::exact::Free;
use super::puzzle::{Puzzle, Tie};

/// Rounds, if it does not come near enough before.
const MAX_ROUNDS: usize = 300;
/// Ties that are looked at over all rounds.
const MAX_LOOKS: usize = 1_000_000_000;
/// How far the people expected for a count may be from its rows.
const NEAR: f64 = 1e-4;
/// Factors stay within this and its inverse.
const LARGEST: f64 = 1e100;

/// Expected people of every entry of some cells; settled entries have what is settled.
pub(super) fn fit(
    puzzle: &Puzzle,
    bounds: &Bounds,
    free: &Free,
    cells: &[usize],
    watch: &dyn Watch,
) -> Vec<(usize, f64)> {
    let mut fitting = Fitting::new(puzzle, bounds, free, cells);
    let looks = fitting.open.iter().flatten().map(|&entry| puzzle.all_ties(entry).len()).sum::<usize>().max(1);
    for _ in 0..MAX_ROUNDS.min(MAX_LOOKS / looks).max(1) {
        let off = (0..puzzle.n_sides).map(|side| fitting.scale(side, watch)).fold(0.0, f64::max);
        if off < NEAR {
            break;
        }
    }
    fitting.expected(bounds, cells)
}

struct Fitting<'a> {
    puzzle: &'a Puzzle,
    /// The entries of every cell that are not settled, and the people who have them.
    open: Vec<Vec<usize>>,
    people: Vec<f64>,
    /// What counts and slots are to come to, and their factors.
    wanted_counts: Vec<f64>,
    wanted_slots: Vec<f64>,
    counts: Vec<f64>,
    slots: Vec<f64>,
    has_slots: Vec<bool>,
}

impl<'a> Fitting<'a> {
    fn new(puzzle: &'a Puzzle, bounds: &Bounds, free: &Free, cells: &[usize]) -> Fitting<'a> {
        let open = |&cell: &usize| puzzle.entries(cell).filter(|&entry| !bounds.is_settled(entry)).collect();
        let settled = |cell: usize| {
            let entries = puzzle.entries(cell).filter(|&entry| bounds.is_settled(entry));
            entries.map(|entry| bounds.least[entry]).sum::<u64>()
        };
        let wanted = |rows: &[i64]| rows.iter().map(|&rows| rows.max(0) as f64).collect::<Vec<_>>();
        let mut wanted_counts = wanted(&free.counts);
        for (&count, by) in &puzzle.stretched {
            wanted_counts[count as usize] *= by;
        }
        let mut has_slots = vec![false; puzzle.n_sides];
        for seat in puzzle.seats.iter().filter(|seat| !seat.slots.is_empty()) {
            has_slots[seat.side as usize] = true;
        }
        Fitting {
            puzzle,
            open: cells.iter().map(open).collect(),
            people: cells.iter().map(|&cell| puzzle.cells[cell].people.saturating_sub(settled(cell)) as f64).collect(),
            counts: vec![1.0; wanted_counts.len()],
            wanted_counts,
            slots: vec![1.0; free.slots.len()],
            wanted_slots: wanted(&free.slots),
            has_slots,
        }
    }

    fn weight(&self, tie: &Tie) -> f64 {
        let slots = &self.puzzle.seats[tie.seat as usize].slots;
        self.counts[tie.count as usize] * slots.iter().map(|&slot| self.slots[slot as usize]).product::<f64>()
    }

    /// How likely an entry is in a release; 1 where its cell is not in it.
    fn factor(&self, entry: usize, side: usize) -> f64 {
        match self.puzzle.ties(entry, side) {
            [] => 1.0,
            ties => ties.iter().map(|tie| self.weight(tie)).sum(),
        }
    }

    /// Scales the counts of a release, then its slots; by how much they were off.
    fn scale(&mut self, side: usize, watch: &dyn Watch) -> f64 {
        let off = self.scale_some(side, false, watch);
        if self.has_slots[side] { off.max(self.scale_some(side, true, watch)) } else { off }
    }

    fn scale_some(&mut self, side: usize, is_slots: bool, watch: &dyn Watch) -> f64 {
        let mut now = vec![0.0; if is_slots { self.slots.len() } else { self.counts.len() }];
        for (step, (open, &people)) in self.open.iter().zip(&self.people).enumerate() {
            watch.pause_at(step);
            let here: Vec<f64> = open.iter().map(|&entry| self.factor(entry, side)).collect();
            let beliefs = self.beliefs(open, |at, other| (other == side).then(|| here[at]));
            for ((&entry, belief), here) in open.iter().zip(beliefs).zip(here) {
                for tie in self.puzzle.ties(entry, side) {
                    let share = people * belief * self.weight(tie) / here;
                    match is_slots {
                        false => now[tie.count as usize] += share,
                        true => {
                            let slots = &self.puzzle.seats[tie.seat as usize].slots;
                            slots.iter().for_each(|&slot| now[slot as usize] += share);
                        }
                    }
                }
            }
        }
        let (factors, wanted) = match is_slots {
            true => (&mut self.slots, &self.wanted_slots),
            false => (&mut self.counts, &self.wanted_counts),
        };
        let mut off: f64 = 0.0;
        for ((factor, &now), &wanted) in factors.iter_mut().zip(&now).zip(wanted) {
            if now > 0.0 {
                off = off.max((now - wanted).abs() / wanted.max(1.0));
                *factor = (*factor * wanted / now).clamp(1.0 / LARGEST, LARGEST);
            }
        }
        off
    }

    /// What a person of a cell is believed to have, adding up to one.
    fn beliefs(&self, open: &[usize], known: impl Fn(usize, usize) -> Option<f64>) -> Vec<f64> {
        let belief = |(at, &entry): (usize, &usize)| {
            let sides = 0..self.puzzle.n_sides;
            sides.map(|side| known(at, side).unwrap_or_else(|| self.factor(entry, side))).product::<f64>()
        };
        let mut beliefs: Vec<f64> = open.iter().enumerate().map(belief).collect();
        let sum: f64 = beliefs.iter().sum();
        let even = 1.0 / open.len().max(1) as f64;
        beliefs.iter_mut().for_each(|belief| *belief = if sum > 0.0 { *belief / sum } else { even });
        beliefs
    }

    fn expected(&self, bounds: &Bounds, cells: &[usize]) -> Vec<(usize, f64)> {
        let mut expected = Vec::new();
        for ((open, &people), &cell) in self.open.iter().zip(&self.people).zip(cells) {
            let settled = self.puzzle.entries(cell).filter(|&entry| bounds.is_settled(entry));
            expected.extend(settled.map(|entry| (entry, bounds.least[entry] as f64)));
            for (&entry, belief) in open.iter().zip(self.beliefs(open, |_, _| None)) {
                let (least, most) = (bounds.least[entry] as f64, bounds.most[entry] as f64);
                expected.push((entry, (people * belief).clamp(least, most)));
            }
        }
        expected
    }
}

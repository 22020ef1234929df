//! Shares of cells in parts that are too large to count, estimated by iterative proportional fitting.
//!
//! Every person is believed to have each possible value, and to be at each possible seat, in proportion to one factor
//! per count and slot. The factors are scaled in turn until as many people are expected for every count and slot as it
//! has rows. Of all beliefs with these margins, these are the most even.

use chrysalis_table::Watch;

use super::bounds::Bounds;
use super::exact::Free;
use super::puzzle::{Puzzle, Tie};

/// The most rounds, if the fit is not near enough before.
const MAX_ROUNDS: usize = 300;
/// The most ties that are examined over all rounds.
const MAX_LOOKS: usize = 1_000_000_000;
/// How far the people expected for a count may be from its rows.
const NEAR: f64 = 1e-4;
/// Factors stay within this and its inverse.
const LARGEST: f64 = 1e100;

/// The expected people of every entry of some cells; for settled entries, the settled number.
pub(super) fn fit(
    puzzle: &Puzzle,
    bounds: &Bounds,
    free: &Free,
    cells: &[usize],
    watch: &dyn Watch,
) -> Vec<(usize, f64)> {
    let mut fitting = Fitting::new(puzzle, bounds, free, cells);
    let looks = fitting.open.iter().map(|&entry| puzzle.all_ties(entry).len()).sum::<usize>().max(1);
    for _ in 0..MAX_ROUNDS.min(MAX_LOOKS / looks).max(1) {
        let mut off: f64 = 0.0;
        for side in 0..puzzle.n_sides {
            off = off.max(fitting.scale(side, Margin::Counts, watch));
            if fitting.has_slots[side] {
                off = off.max(fitting.scale(side, Margin::Slots, watch));
            }
        }
        if off < NEAR {
            break;
        }
    }
    fitting.expected(bounds, cells)
}

/// What is scaled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Margin {
    Counts,
    Slots,
}

struct Fitting<'a> {
    puzzle: &'a Puzzle,
    /// The entries of all cells that are not settled, where those of every cell begin, and how many of its people have
    /// one of them.
    open: Vec<usize>,
    starts: Vec<usize>,
    people: Vec<f64>,
    /// How many people counts and slots should have, and their factors.
    wanted_counts: Vec<f64>,
    wanted_slots: Vec<f64>,
    counts: Vec<f64>,
    slots: Vec<f64>,
    /// The product of the factors of each seat's slots.
    seats: Vec<f64>,
    /// How likely every open entry is in every release; 1 where its cell is not in it.
    likely: Vec<f64>,
    has_slots: Vec<bool>,
}

impl<'a> Fitting<'a> {
    fn new(puzzle: &'a Puzzle, bounds: &Bounds, free: &Free, cells: &[usize]) -> Fitting<'a> {
        let (mut open, mut starts, mut people) = (Vec::new(), vec![0], Vec::with_capacity(cells.len()));
        for &cell in cells {
            open.extend(puzzle.entries(cell).filter(|&entry| !bounds.is_settled(entry)));
            starts.push(open.len());
            let settled = puzzle.entries(cell).filter(|&entry| bounds.is_settled(entry));
            let settled: u64 = settled.map(|entry| bounds.least[entry]).sum();
            people.push(puzzle.cells[cell].people.saturating_sub(settled) as f64);
        }
        let wanted = |rows: &[i64]| rows.iter().map(|&rows| rows.max(0) as f64).collect::<Vec<_>>();
        let mut wanted_counts = wanted(&free.counts);
        for (&count, by) in &puzzle.stretched {
            wanted_counts[count as usize] *= by;
        }
        let mut has_slots = vec![false; puzzle.n_sides];
        for seat in puzzle.seats.iter().filter(|seat| !seat.slots.is_empty()) {
            has_slots[seat.side as usize] = true;
        }
        let mut fitting = Fitting {
            puzzle,
            starts,
            people,
            counts: vec![1.0; wanted_counts.len()],
            wanted_counts,
            slots: vec![1.0; free.slots.len()],
            wanted_slots: wanted(&free.slots),
            seats: vec![1.0; puzzle.seats.len()],
            likely: vec![1.0; open.len() * puzzle.n_sides],
            open,
            has_slots,
        };
        (0..puzzle.n_sides).for_each(|side| fitting.weigh(side));
        fitting
    }

    fn weight(&self, tie: &Tie) -> f64 {
        self.counts[tie.count as usize] * self.seats[tie.seat as usize]
    }

    /// How likely every entry is in a release, by its factors.
    fn weigh(&mut self, side: usize) {
        for (at, &entry) in self.open.iter().enumerate() {
            let ties = self.puzzle.ties(entry, side);
            if !ties.is_empty() {
                let sum: f64 = ties.iter().map(|tie| self.weight(tie)).sum();
                self.likely[at * self.puzzle.n_sides + side] = sum;
            }
        }
    }

    /// How likely a person of a cell is believed to have each open entry, adding up to one.
    fn believe(&self, cell: usize, beliefs: &mut Vec<f64>) {
        let (from, to) = (self.starts[cell], self.starts[cell + 1]);
        let n_sides = self.puzzle.n_sides;
        beliefs.clear();
        beliefs.extend((from..to).map(|at| self.likely[at * n_sides..][..n_sides].iter().product::<f64>()));
        let sum: f64 = beliefs.iter().sum();
        let even = 1.0 / (to - from).max(1) as f64;
        beliefs.iter_mut().for_each(|belief| *belief = if sum > 0.0 { *belief / sum } else { even });
    }

    /// Scales the counts or the slots of a release; returns by how much they were off.
    fn scale(&mut self, side: usize, margin: Margin, watch: &dyn Watch) -> f64 {
        let mut now = vec![0.0; if margin == Margin::Slots { self.slots.len() } else { self.counts.len() }];
        let mut beliefs = Vec::new();
        for (cell, &people) in self.people.iter().enumerate() {
            watch.pause_at(cell);
            self.believe(cell, &mut beliefs);
            for (at, belief) in (self.starts[cell]..).zip(&beliefs) {
                let likely = self.likely[at * self.puzzle.n_sides + side];
                let each = if likely > 0.0 { people * belief / likely } else { 0.0 };
                for tie in self.puzzle.ties(self.open[at], side) {
                    let share = each * self.weight(tie);
                    match margin {
                        Margin::Counts => now[tie.count as usize] += share,
                        Margin::Slots => {
                            let slots = &self.puzzle.seats[tie.seat as usize].slots;
                            slots.iter().for_each(|&slot| now[slot as usize] += share);
                        }
                    }
                }
            }
        }
        let (factors, wanted) = match margin {
            Margin::Slots => (&mut self.slots, &self.wanted_slots),
            Margin::Counts => (&mut self.counts, &self.wanted_counts),
        };
        let mut off: f64 = 0.0;
        for ((factor, &now), &wanted) in factors.iter_mut().zip(&now).zip(wanted) {
            if now > 0.0 {
                off = off.max((now - wanted).abs() / wanted.max(1.0));
                *factor = (*factor * wanted / now).clamp(1.0 / LARGEST, LARGEST);
            }
        }
        if margin == Margin::Slots {
            for (weight, seat) in self.seats.iter_mut().zip(&self.puzzle.seats) {
                *weight = seat.slots.iter().map(|&slot| self.slots[slot as usize]).product();
            }
        }
        self.weigh(side);
        off
    }

    fn expected(&self, bounds: &Bounds, cells: &[usize]) -> Vec<(usize, f64)> {
        let (mut expected, mut beliefs) = (Vec::new(), Vec::new());
        for (at, (&people, &cell)) in self.people.iter().zip(cells).enumerate() {
            let settled = self.puzzle.entries(cell).filter(|&entry| bounds.is_settled(entry));
            expected.extend(settled.map(|entry| (entry, bounds.least[entry] as f64)));
            self.believe(at, &mut beliefs);
            for (&entry, belief) in self.open[self.starts[at]..].iter().zip(&beliefs) {
                let (least, most) = (bounds.least[entry] as f64, bounds.most[entry] as f64);
                expected.push((entry, (people * belief).clamp(least, most)));
            }
        }
        expected
    }
}

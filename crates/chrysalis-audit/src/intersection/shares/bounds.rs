//! The least and the most people of a cell who can have a value, in whole numbers.

use chrysalis_table::Watch;

use super::links::Links;
use super::puzzle::Puzzle;

/// The most rounds of drawing conclusions. Each looks at everything once; hardly any table needs ten.
const MAX_ROUNDS: usize = 100;

/// For every entry, the least and the most people of its cell who have the value.
pub(super) struct Bounds {
    pub(super) least: Vec<u64>,
    pub(super) most: Vec<u64>,
    /// Cells that no number of people fits.
    pub(super) is_impossible: Vec<bool>,
    /// Cells that are connected with an impossible one: nothing is certain about them.
    pub(super) is_doubtful: Vec<bool>,
}

impl Bounds {
    /// A cell cannot have those rows of a block that others must have, and must have those that others cannot.
    pub(super) fn new(puzzle: &Puzzle, watch: &dyn Watch) -> Bounds {
        let n = puzzle.values.len();
        let mut bounds = Bounds {
            least: vec![0; n],
            most: vec![0; n],
            is_impossible: vec![false; puzzle.cells.len()],
            is_doubtful: vec![false; puzzle.cells.len()],
        };
        let is_bound: Vec<bool> = (0..puzzle.cells.len()).map(|cell| is_bound(puzzle, cell)).collect();
        for (cell, known) in puzzle.cells.iter().enumerate() {
            bounds.most[puzzle.entries(cell)].fill(known.people);
        }
        for round in 0..MAX_ROUNDS {
            watch.pause();
            if !bounds.conclude(puzzle, &is_bound) || round + 1 == MAX_ROUNDS {
                break;
            }
        }
        bounds.doubt(puzzle);
        bounds
    }

    /// One round; false where nothing new was found.
    fn conclude(&mut self, puzzle: &Puzzle, is_bound: &[bool]) -> bool {
        let mut totals = vec![(0_u64, 0_u64); puzzle.counts.len()];
        for entry in 0..puzzle.values.len() {
            for tie in puzzle.all_ties(entry) {
                let total = &mut totals[tie.count as usize];
                *total = (total.0 + self.least[entry], total.1 + self.most[entry]);
            }
        }
        let mut is_new = false;
        for cell in (0..puzzle.cells.len()).filter(|&cell| is_bound[cell]) {
            if self.is_impossible[cell] {
                continue;
            }
            let (people, entries) = (puzzle.cells[cell].people, puzzle.entries(cell));
            let least: u64 = self.least[entries.clone()].iter().sum();
            let most: u64 = self.most[entries.clone()].iter().sum();
            if people < least || most < people {
                self.is_impossible[cell] = true;
                is_new = true;
                continue;
            }
            for entry in entries {
                // PROOF: totals from before this round count others for no more than they must have, or no less than
                // they can have, so conclusions from them are true.
                let (mut low, mut high) = (self.least[entry], self.most[entry]);
                high = high.min(people.saturating_sub(least - self.least[entry]));
                low = low.max(people.saturating_sub(most - self.most[entry]));
                for tie in puzzle.all_ties(entry) {
                    let (count, total) = (puzzle.counts[tie.count as usize], totals[tie.count as usize]);
                    high = high.min(count.saturating_sub(total.0 - self.least[entry]));
                    low = low.max(count.saturating_sub(total.1 - self.most[entry]));
                }
                if (low, high) != (self.least[entry], self.most[entry]) {
                    is_new = true;
                    if low > high {
                        self.is_impossible[cell] = true;
                        break;
                    }
                    (self.least[entry], self.most[entry]) = (low, high);
                }
            }
        }
        is_new
    }

    /// If a cell is impossible, conclusions about everything connected with it are worthless.
    fn doubt(&mut self, puzzle: &Puzzle) {
        if !self.is_impossible.contains(&true) {
            return;
        }
        let mut links = Links::new(puzzle.counts.len());
        let mut first = vec![None; puzzle.cells.len()];
        for (cell, first) in first.iter_mut().enumerate() {
            for tie in puzzle.entries(cell).flat_map(|entry| puzzle.all_ties(entry)) {
                links.join(*first.get_or_insert(tie.count), tie.count);
            }
        }
        let mut is_spoilt = vec![false; puzzle.counts.len()];
        let roots: Vec<Option<u32>> = first.iter().map(|first| first.map(|count| links.root(count))).collect();
        for (root, _) in roots.iter().zip(&self.is_impossible).filter(|(_, is_impossible)| **is_impossible) {
            root.iter().for_each(|&root| is_spoilt[root as usize] = true);
        }
        for (cell, root) in roots.iter().enumerate() {
            if root.is_some_and(|root| is_spoilt[root as usize]) {
                self.is_doubtful[cell] = true;
                self.least[puzzle.entries(cell)].fill(0);
                self.most[puzzle.entries(cell)].fill(puzzle.cells[cell].people);
            }
        }
    }

    /// Whether it is certain how many people have the value.
    pub(super) fn is_settled(&self, entry: usize) -> bool {
        self.least[entry] == self.most[entry]
    }
}

/// Whether the counts of a cell's blocks bind it: its place is certain, and its blocks have no more people than rows.
fn is_bound(puzzle: &Puzzle, cell: usize) -> bool {
    let mut ties = puzzle.entries(cell).flat_map(|entry| puzzle.all_ties(entry));
    puzzle.cells[cell].is_placed && ties.all(|tie| !puzzle.stretched.contains_key(&tie.count))
}

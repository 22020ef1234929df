//! Step 2: cells that lack a few rows are completed with rows that groups can spare.

use chrysalis_criteria::Principle;
use chrysalis_table::SaCounts;

use super::atoms::Piece;
use super::cells::Tuples;
use crate::partitioner::ladder::Ladder;

/// A group of rows that share a label in every attribute.
pub(super) struct Cell {
    pub(super) pieces: Vec<Piece>,
    /// The penalty of a row under the labels that the pieces shared when the cell was formed.
    width: f64,
    size: u32,
}

/// The most that completing a cell may cost for every row that it places, in penalty of a row. Rows that are not placed
/// here cost more later: about this much, on tables of people with k from 5 to 50.
const PRICE: f64 = 0.1;
/// A cell must have at least one in this many of the rows that it needs.
const LEAST_SHARE: u32 = 2;
/// The most words that the sets of tuples under all labels may take; beyond that, no cell is completed.
const MOST_WORDS: usize = 1 << 22;
/// The most words that are looked at in all.
const MOST_LOOKS: usize = 50_000_000;

/// Which rows groups can spare, and under which labels these are.
pub(super) struct Spare<'a> {
    tuples: &'a Tuples<'a>,
    ladders: &'a [Ladder],
    goal: &'a dyn Principle,
    least: u32,
    n_values: usize,
    n_words: usize,
    /// Per attribute, level and rank: the set that holds the tuples under the rank's label.
    set_of: Vec<Vec<Vec<u32>>>,
    /// A bit for every tuple, set after set.
    bits: Vec<u64>,
    /// Tuples in groups that can spare rows.
    spare: Vec<u64>,
    /// The groups of every tuple.
    homes: Vec<Vec<u32>>,
    n_looks: usize,
}

/// Rows of one group that a cell could take, and what each of them would cost there.
#[derive(Clone, Copy)]
struct Offer {
    pay: f64,
    home: u32,
    tuple: u32,
}

impl<'a> Spare<'a> {
    pub(super) fn new(tuples: &'a Tuples<'a>, ladders: &'a [Ladder], goal: &'a dyn Principle, n_values: usize) -> Self {
        let n = tuples.counts.len();
        let n_words = n.div_ceil(64);
        let mut n_sets = 0;
        let mut number = |step: &Vec<(u32, f64)>| -> Vec<u32> {
            let mut labels: Vec<u32> = step.iter().map(|(label, _)| *label).collect();
            labels.sort_unstable();
            labels.dedup();
            let first = n_sets;
            n_sets += labels.len();
            let place = |label: u32| labels.binary_search(&label).unwrap_or(0);
            step.iter().map(|(label, _)| (first + place(*label)) as u32).collect()
        };
        let set_of: Vec<Vec<Vec<u32>>> =
            ladders.iter().map(|ladder| ladder.steps.iter().map(&mut number).collect()).collect();
        let is_bearable = n_sets.saturating_mul(n_words) <= MOST_WORDS;
        let mut spare = Spare {
            tuples,
            ladders,
            goal,
            least: u32::try_from(goal.least_size()).unwrap_or(u32::MAX).max(1),
            n_values,
            n_words,
            set_of,
            bits: vec![0; if is_bearable { n_sets * n_words } else { 0 }],
            spare: vec![0; n_words],
            homes: vec![Vec::new(); n],
            n_looks: if is_bearable { MOST_LOOKS } else { 0 },
        };
        if is_bearable {
            spare.fill();
        }
        spare
    }

    fn fill(&mut self) {
        let Tuples { stride, cells, .. } = *self.tuples;
        for (tuple, record) in cells.chunks_exact(stride.max(1)).enumerate() {
            for (levels, &rank) in self.set_of.iter().zip(record) {
                for sets in levels {
                    self.bits[sets[rank as usize] as usize * self.n_words + tuple / 64] |= 1 << (tuple % 64);
                }
            }
        }
    }

    /// Cells with fewer rows are not worth looking at.
    pub(super) fn fewest(&self) -> u32 {
        if self.bits.is_empty() { self.least } else { self.least.div_ceil(LEAST_SHARE) }
    }

    fn record(&self, tuple: u32) -> &[u32] {
        let stride = self.tuples.stride;
        &self.tuples.cells[tuple as usize * stride..(tuple as usize + 1) * stride]
    }

    /// Records a new group of whole tuples under the labels of some levels.
    pub(super) fn add(&mut self, group: &[u32], levels: &[u8], cells: &mut Vec<Cell>) {
        let pieces: Vec<Piece> =
            group.iter().map(|&atom| Piece { atom, count: self.tuples.counts[atom as usize] }).collect();
        self.push(pieces, levels, cells);
    }

    fn push(&mut self, pieces: Vec<Piece>, levels: &[u8], cells: &mut Vec<Cell>) {
        let (id, size) = (cells.len() as u32, pieces.iter().map(|piece| piece.count).sum());
        let width = self.width(&pieces, levels);
        pieces.iter().for_each(|piece| self.homes[piece.atom as usize].push(id));
        cells.push(Cell { pieces, width, size });
        self.note(id, cells);
    }

    /// The penalty of the lowest labels that pieces share, which are no higher than these levels.
    fn width(&self, pieces: &[Piece], levels: &[u8]) -> f64 {
        let first = self.record(pieces[0].atom);
        let part = |at: usize| {
            let steps = &self.ladders[at].steps;
            let is_shared = |level: &usize| {
                let label = steps[*level][first[at] as usize].0;
                pieces.iter().all(|piece| steps[*level][self.record(piece.atom)[at] as usize].0 == label)
            };
            let highest = levels[at] as usize;
            steps[(0..highest).find(is_shared).unwrap_or(highest)][first[at] as usize].1
        };
        (0..levels.len()).map(part).sum()
    }

    /// Marks the tuples of a group as spare, or no longer so.
    fn note(&mut self, group: u32, cells: &[Cell]) {
        for piece in &cells[group as usize].pieces {
            let is_spare = self.homes[piece.atom as usize].iter().any(|&home| cells[home as usize].size > self.least);
            let word = &mut self.spare[piece.atom as usize / 64];
            let bit = 1 << (piece.atom % 64);
            *word = if is_spare { *word | bit } else { *word & !bit };
        }
    }

    /// Makes a group of tuples under the labels of some levels that do not pass by themselves, with rows that other
    /// groups can spare. Returns whether this was possible within the price limit.
    pub(super) fn complete(&mut self, own: &[u32], levels: &[u8], cells: &mut Vec<Cell>) -> bool {
        let size: u32 = own.iter().map(|&tuple| self.tuples.counts[tuple as usize]).sum();
        if size.saturating_mul(LEAST_SHARE) < self.least || self.n_looks < self.n_words * levels.len() {
            return false;
        }
        let offers = self.offers(own[0], levels, cells);
        let most = PRICE * f64::from(size);
        let taken = if self.goal.is_size_only() {
            self.cheapest(offers, size, most, cells)
        } else {
            self.fitting(offers, own, most, cells)
        };
        let Some(taken) = taken else { return false };
        let mut pieces: Vec<Piece> =
            own.iter().map(|&atom| Piece { atom, count: self.tuples.counts[atom as usize] }).collect();
        for (offer, n) in taken {
            take(&mut cells[offer.home as usize], offer.tuple, n);
            if cells[offer.home as usize].pieces.iter().all(|piece| piece.atom != offer.tuple) {
                self.homes[offer.tuple as usize].retain(|&home| home != offer.home);
            }
            self.note(offer.home, cells);
            match pieces.iter_mut().find(|piece| piece.atom == offer.tuple) {
                Some(piece) => piece.count += n,
                None => pieces.push(Piece { atom: offer.tuple, count: n }),
            }
        }
        self.push(pieces, levels, cells);
        true
    }

    /// The rows that groups can spare under the labels that a tuple has at some levels, the cheapest first.
    fn offers(&mut self, tuple: u32, levels: &[u8], cells: &[Cell]) -> Vec<Offer> {
        let record = self.record(tuple).to_vec();
        let step = |at: usize| &self.ladders[at].steps[levels[at] as usize];
        let width: f64 = (0..levels.len()).map(|at| step(at)[record[at] as usize].1).sum();
        self.n_looks -= self.n_words * levels.len();
        let mut found = self.spare.clone();
        for (at, &level) in levels.iter().enumerate() {
            let set = self.set_of[at][level as usize][record[at] as usize] as usize;
            let bits = &self.bits[set * self.n_words..(set + 1) * self.n_words];
            found.iter_mut().zip(bits).for_each(|(word, bits)| *word &= bits);
        }
        let mut offers = Vec::new();
        for (at, mut word) in found.into_iter().enumerate() {
            while word != 0 {
                let tuple = at as u32 * 64 + word.trailing_zeros();
                word &= word - 1;
                let homes = self.homes[tuple as usize].iter().filter(|&&home| cells[home as usize].size > self.least);
                offers.extend(homes.map(|&home| Offer { pay: width - cells[home as usize].width, home, tuple }));
            }
        }
        offers.sort_unstable_by(|a, b| a.pay.total_cmp(&b.pay).then(a.home.cmp(&b.home)).then(a.tuple.cmp(&b.tuple)));
        offers
    }

    /// The cheapest rows that make the cell large enough, where size is all that matters.
    fn cheapest(&self, offers: Vec<Offer>, size: u32, most: f64, cells: &[Cell]) -> Option<Vec<(Offer, u32)>> {
        let mut lacking = self.least - size.min(self.least);
        let (mut taken, mut paid): (Vec<(Offer, u32)>, f64) = (Vec::new(), 0.0);
        for offer in offers {
            let home = &cells[offer.home as usize];
            let given: u32 = taken.iter().filter(|(other, _)| other.home == offer.home).map(|(_, n)| n).sum();
            let n = count_of(home, offer.tuple).min(home.size - self.least - given).min(lacking);
            if n == 0 {
                continue;
            }
            lacking -= n;
            paid += f64::from(n) * offer.pay;
            taken.push((offer, n));
            if lacking == 0 || paid > most {
                break;
            }
        }
        (lacking == 0 && paid <= most).then_some(taken)
    }

    /// Takes rows one by one until the principles hold. Once there are enough rows, takes those whose value is rarest
    /// so far.
    fn fitting(&self, mut offers: Vec<Offer>, own: &[u32], most: f64, cells: &[Cell]) -> Option<Vec<(Offer, u32)>> {
        let mut counts = SaCounts::new(self.n_values);
        let value = |tuple: u32| self.tuples.values[tuple as usize];
        own.iter().for_each(|&tuple| counts.add_many(value(tuple), self.tuples.counts[tuple as usize]));
        let (mut taken, mut paid): (Vec<(Offer, u32)>, f64) = (Vec::new(), 0.0);
        while counts.total() < u64::from(self.least) || !self.goal.holds(&counts) {
            let is_large = counts.total() >= u64::from(self.least);
            let rarity = |offer: &Offer| if is_large { counts.count(value(offer.tuple)) } else { 0 };
            // Of equally rare ones the first, which is the cheapest.
            let next = (0..offers.len()).min_by_key(|&at| rarity(&offers[at]))?;
            let offer = offers[next];
            if !self.can_give(offer, &taken, cells) {
                offers.remove(next);
                continue;
            }
            paid += offer.pay;
            if paid > most {
                return None;
            }
            counts.add(value(offer.tuple));
            match taken.iter_mut().find(|(other, _)| (other.home, other.tuple) == (offer.home, offer.tuple)) {
                Some((_, n)) => *n += 1,
                None => taken.push((offer, 1)),
            }
        }
        Some(taken)
    }

    /// Whether a group still passes once it has given one row more than those that are already taken.
    fn can_give(&self, offer: Offer, taken: &[(Offer, u32)], cells: &[Cell]) -> bool {
        let home = &cells[offer.home as usize];
        let mut rest = SaCounts::new(self.n_values);
        for piece in &home.pieces {
            let is_it = |other: &Offer| (other.home, other.tuple) == (offer.home, piece.atom);
            let given: u32 = taken.iter().filter(|(other, _)| is_it(other)).map(|(_, n)| n).sum();
            let given = given + u32::from(piece.atom == offer.tuple);
            if given > piece.count {
                return false;
            }
            rest.add_many(self.tuples.values[piece.atom as usize], piece.count - given);
        }
        rest.total() >= u64::from(self.least) && self.goal.holds(&rest)
    }
}

fn count_of(cell: &Cell, tuple: u32) -> u32 {
    cell.pieces.iter().find(|piece| piece.atom == tuple).map_or(0, |piece| piece.count)
}

fn take(cell: &mut Cell, tuple: u32, n: u32) {
    cell.size -= n;
    cell.pieces.iter_mut().filter(|piece| piece.atom == tuple).for_each(|piece| piece.count -= n);
    cell.pieces.retain(|piece| piece.count > 0);
}

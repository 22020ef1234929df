//! Whether every row of the microdata finds a published row of its own.
//!
//! A class is some rows with the same values; a slot is some published rows with the same cells. A class may go to any
//! slot whose box covers it, as far as the slot has room. Most classes have only one slot to go to, and nothing needs
//! to be searched. For the rest: fill what is open, then look for augmenting paths, breadth first, in phases. Within a
//! phase no slot is met by two large searches, so a phase costs no more than one look at everything. A phase in which
//! every search fails has met all slots that can be reached, and all of them are full: what is left over then is left
//! over in every assignment (Berge).

use rayon::prelude::*;

use super::index::{Boxes, Index, Mark};

/// Rows with the same values: one rank per axis, and how many there are.
pub(super) struct Class {
    pub(super) point: Vec<u32>,
    pub(super) rows: u32,
}

/// Classes with this many choices are all alike.
const MANY: u32 = 16;

/// How a best assignment comes out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Rows that no published row covers, full or not.
    pub(super) uncovered: u64,
    /// Rows that find no place in a best assignment, those not covered included.
    pub(super) left_over: u64,
}

struct Matching<'a> {
    classes: &'a [Class],
    index: Index<'a>,
    room: Vec<u32>,
    /// Which classes a slot holds, and how many rows of each.
    held: Vec<Vec<(u32, u32)>>,
    left: Vec<u32>,
}

/// Assigns as many rows as possible. `room` says how many published rows every box stands for.
pub(super) fn assign(classes: &[Class], boxes: &Boxes<'_>, room: Vec<u32>) -> Outcome {
    let left: Vec<u32> = classes.iter().map(|class| class.rows).collect();
    let mut matching = Matching { classes, index: Index::new(boxes), held: vec![Vec::new(); room.len()], room, left };
    let choices = matching.choices();
    let uncovered = choices.iter().zip(classes).filter(|(n, _)| **n == 0).map(|(_, class)| u64::from(class.rows)).sum();
    // Who has one choice goes first, then those with few: most of what is certain follows from that alone.
    let mut order: Vec<u32> = (0..classes.len() as u32).collect();
    order.sort_by_key(|&class| choices[class as usize]);
    order.into_iter().for_each(|class| matching.fill(class));
    let mut search = Search::new(classes.len(), boxes.n);
    let left0: u64 = matching.left.iter().map(|&r| u64::from(r)).sum();
    let t = std::time::Instant::now();
    let mut log = Vec::new();
    loop { let tt = std::time::Instant::now(); let r0=search.round; let go = search.phase(&mut matching); log.push((search.round-r0, tt.elapsed().as_millis(), matching.left.iter().map(|&r| u64::from(r)).sum::<u64>())); if !go {break} }
    if classes.len() > 8000 { eprintln!("classes {} many {} slots {} left {left0} {:?} {log:?}", classes.len(), choices.iter().filter(|n| **n>=MANY).count(), boxes.n, t.elapsed()); }
    Outcome { uncovered, left_over: matching.left.iter().map(|&rows| u64::from(rows)).sum() }
}

impl Matching<'_> {
    /// How many slots cover each class, counted up to a few.
    fn choices(&self) -> Vec<u32> {
        let count = |class: &Class| {
            let mut n = 0;
            self.index.visit(Mark::Unseen, &class.point, |_| {
                n += 1;
                n < MANY
            });
            n
        };
        self.classes.par_iter().with_min_len(256).map(count).collect()
    }

    /// Fills open slots with what is left of a class, tight ones first: fewer others could use them.
    fn fill(&mut self, class: u32) {
        let mut open = Vec::new();
        self.index.visit(Mark::Open, &self.classes[class as usize].point, |slot| {
            open.push((self.index.tightness(slot), slot));
            true
        });
        open.sort_unstable();
        for (_, slot) in open {
            self.place(class, slot, self.left[class as usize].min(self.room[slot as usize]));
            if self.left[class as usize] == 0 {
                return;
            }
        }
    }

    /// Moves rows from those left of a class into the room of a slot.
    fn place(&mut self, class: u32, slot: u32, rows: u32) {
        if rows > 0 {
            self.left[class as usize] -= rows;
            self.room[slot as usize] -= rows;
            self.held[slot as usize].push((class, rows));
        }
        if self.room[slot as usize] == 0 {
            self.index.set(Mark::Open, slot, false);
        }
    }
}

/// A search that met fewer slots than this forgets them when it succeeds, so that others can use the same way.
const SMALL: usize = 32;

/// Breadth-first search for a way to make room.
struct Search {
    /// In which search a class was last met.
    met: Vec<u32>,
    round: u32,
    /// Where a class that was met is held: slot and position in its list.
    home: Vec<(u32, u32)>,
    /// From which class a slot was reached.
    reached_from: Vec<u32>,
    queue: Vec<u32>,
    /// Slots met by the search at hand, after those of earlier searches of the phase.
    seen: Vec<u32>,
}

impl Search {
    fn new(n_classes: usize, n_slots: usize) -> Search {
        Search {
            met: vec![0; n_classes],
            round: 0,
            home: vec![(0, 0); n_classes],
            reached_from: vec![0; n_slots],
            queue: Vec::new(),
            seen: Vec::new(),
        }
    }

    /// Searches from every class that has rows left; tells whether any search made room.
    fn phase(&mut self, matching: &mut Matching<'_>) -> bool {
        let mut success = false;
        for class in 0..matching.classes.len() as u32 {
            while matching.left[class as usize] > 0 && self.augment(matching, class) {
                success = true;
            }
        }
        self.forget(matching, 0);
        success
    }

    /// Forgets all slots met after the first few.
    fn forget(&mut self, matching: &mut Matching<'_>, first: usize) {
        self.seen.drain(first..).for_each(|slot| matching.index.set(Mark::Unseen, slot, true));
    }

    /// Finds room for at least one more row of a class, or finds none among the slots not yet met in this phase.
    fn augment(&mut self, matching: &mut Matching<'_>, source: u32) -> bool {
        self.round += 1;
        let first = self.seen.len();
        self.queue.clear();
        self.queue.push(source);
        self.met[source as usize] = self.round;
        let mut next = 0;
        while let Some(&class) = self.queue.get(next) {
            next += 1;
            let point = &matching.classes[class as usize].point;
            if let Some(slot) = matching.index.first(Mark::Open, point) {
                self.shift(matching, source, class, slot);
                if self.seen.len() - first < SMALL {
                    self.forget(matching, first);
                }
                return true;
            }
            self.expand(matching, class);
        }
        false
    }

    /// Meets every new slot that covers a class, and the classes held there.
    fn expand(&mut self, matching: &mut Matching<'_>, class: u32) {
        let first = self.seen.len();
        matching.index.visit(Mark::Unseen, &matching.classes[class as usize].point, |slot| {
            self.seen.push(slot);
            true
        });
        for &slot in &self.seen[first..] {
            matching.index.set(Mark::Unseen, slot, false);
            self.reached_from[slot as usize] = class;
            for (position, &(held, _)) in (0..).zip(&matching.held[slot as usize]) {
                if self.met[held as usize] != self.round {
                    self.met[held as usize] = self.round;
                    self.home[held as usize] = (slot, position);
                    self.queue.push(held);
                }
            }
        }
    }

    /// Moves rows along the path from an open slot back to the source, as many as every step allows.
    fn shift(&self, matching: &mut Matching<'_>, source: u32, last: u32, open: u32) {
        let mut rows = matching.left[source as usize].min(matching.room[open as usize]);
        let mut class = last;
        while class != source {
            let (home, position) = self.home[class as usize];
            rows = rows.min(matching.held[home as usize][position as usize].1);
            class = self.reached_from[home as usize];
        }
        let (mut class, mut to) = (last, open);
        matching.room[open as usize] -= rows;
        while class != source {
            let (home, position) = self.home[class as usize];
            let held = &mut matching.held[home as usize];
            // PROOF: a path passes through a slot once, so the positions noted for other slots stay good.
            held[position as usize].1 -= rows;
            if held[position as usize].1 == 0 {
                held.swap_remove(position as usize);
            }
            matching.held[to as usize].push((class, rows));
            (to, class) = (home, self.reached_from[home as usize]);
        }
        matching.held[to as usize].push((source, rows));
        matching.left[source as usize] -= rows;
        if matching.room[open as usize] == 0 {
            matching.index.set(Mark::Open, open, false);
        }
    }
}

//! Whether every row of the microdata finds a published row of its own.
//!
//! A class is the rows of the microdata with the same values; a slot is some published rows that people can be assigned
//! to. A class may go to any slot with a box that covers it, as long as the slot has room. Usually a slot is the
//! published rows with the same cells, and has one box. Most classes have only one slot to go to, and nothing needs to
//! be searched. For the rest: fill open slots, then look for augmenting paths in phases. In a phase, a tree grows
//! breadth-first from every class that has rows left; no two trees share a slot, so a phase looks at everything at most
//! once. A tree that reaches an open slot moves rows along the path back and is done. A phase in which no tree does so
//! has met all slots that can be reached, and all of them are full: rows that are left over then are left over in every
//! assignment (Berge).

use chrysalis_table::Watch;
use rayon::prelude::*;

use super::index::{Boxes, Index, Mark};

/// Rows with the same values: one rank per axis, and how many there are.
pub(super) struct Class {
    pub(super) point: Vec<u32>,
    pub(super) rows: u32,
}

/// Choices are counted up to this number.
const MANY: u32 = 16;

/// The result of a best assignment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MatchingResult {
    /// Rows that no published row covers, full or not.
    pub(super) uncovered: u64,
    /// Rows that find no place in a best assignment, including those not covered.
    pub(super) left_over: u64,
}

/// Where rows can go: the room in every slot, and the slots behind every box.
pub(super) struct Slots {
    room: Vec<u32>,
    /// Where the slots of a box begin in `of_box`, and one past the last.
    starts: Vec<u32>,
    of_box: Vec<u32>,
}

impl Slots {
    /// One slot per box.
    pub(super) fn of_boxes(room: Vec<u32>) -> Slots {
        let n = room.len() as u32;
        Slots { room, starts: (0..=n).collect(), of_box: (0..n).collect() }
    }

    /// Boxes may share slots; `of_box` lists the slots behind every box.
    pub(super) fn shared<'a>(room: Vec<u32>, of_box: impl Iterator<Item = &'a [u32]>) -> Slots {
        let mut slots = Slots { room, starts: vec![0], of_box: Vec::new() };
        for list in of_box {
            slots.of_box.extend_from_slice(list);
            slots.starts.push(slots.of_box.len() as u32);
        }
        slots
    }

    fn behind(&self, index: u32) -> std::ops::Range<usize> {
        self.starts[index as usize] as usize..self.starts[index as usize + 1] as usize
    }
}

struct Matching<'a> {
    classes: &'a [Class],
    index: Index<'a>,
    slots: Slots,
    /// Per box, the first of its slots that may have room: a slot that is full stays full.
    next_open: Vec<u32>,
    /// Which classes a slot holds, and how many rows of each.
    held: Vec<Vec<(u32, u32)>>,
    left: Vec<u32>,
}

/// Assigns as many rows as possible.
pub(super) fn assign(classes: &[Class], boxes: &Boxes<'_>, slots: Slots, watch: &dyn Watch) -> MatchingResult {
    let left: Vec<u32> = classes.iter().map(|class| class.rows).collect();
    let index = Index::new(boxes, watch);
    let (held, next_open) = (vec![Vec::new(); slots.room.len()], slots.starts.clone());
    let mut matching = Matching { classes, index, slots, next_open, held, left };
    let choices = matching.choices(watch);
    let uncovered = choices.iter().zip(classes).filter(|(n, _)| **n == 0).map(|(_, class)| u64::from(class.rows)).sum();
    // Classes with one choice go first, then those with few: that alone settles most of what is certain.
    let mut order: Vec<u32> = (0..classes.len() as u32).collect();
    order.sort_by_key(|&class| choices[class as usize]);
    for class in order {
        watch.pause();
        matching.fill(class);
    }
    let mut search = Search::new(classes.len(), matching.held.len());
    while search.phase(&mut matching, watch) {}
    MatchingResult { uncovered, left_over: matching.left.iter().map(|&rows| u64::from(rows)).sum() }
}

impl Matching<'_> {
    /// How many boxes cover each class, counted up to [`MANY`].
    fn choices(&self, watch: &dyn Watch) -> Vec<u32> {
        let count = |class: &Class| {
            watch.pause();
            let mut n = 0;
            self.index.visit(Mark::Unseen, &class.point, |_| {
                n += 1;
                n < MANY
            });
            n
        };
        self.classes.par_iter().with_min_len(256).map(count).collect()
    }

    /// Fills open slots with the rows left of a class, slots of tight boxes first: fewer other classes could use them.
    fn fill(&mut self, class: u32) {
        let mut open = Vec::new();
        self.index.visit(Mark::Open, &self.classes[class as usize].point, |index| {
            open.push((self.index.tightness(index), index));
            true
        });
        open.sort_unstable();
        for (_, index) in open {
            while let Some(slot) = self.open_behind(index) {
                if self.left[class as usize] == 0 {
                    return;
                }
                let rows = self.left[class as usize].min(self.slots.room[slot as usize]);
                self.left[class as usize] -= rows;
                self.slots.room[slot as usize] -= rows;
                self.held[slot as usize].push((class, rows));
            }
        }
    }

    /// A slot with room behind this box; if there is none, the box is marked as no longer open.
    fn open_behind(&mut self, index: u32) -> Option<u32> {
        let end = self.slots.behind(index).end;
        let next = &mut self.next_open[index as usize];
        while (*next as usize) < end {
            let slot = self.slots.of_box[*next as usize];
            if self.slots.room[slot as usize] > 0 {
                return Some(slot);
            }
            *next += 1;
        }
        self.index.set(Mark::Open, index, false);
        None
    }

    /// A slot with room that a class can go to.
    fn open_for(&mut self, class: u32) -> Option<u32> {
        while let Some(index) = self.index.first(Mark::Open, &self.classes[class as usize].point) {
            if let Some(slot) = self.open_behind(index) {
                return Some(slot);
            }
        }
        None
    }
}

/// Trees of alternating paths.
struct Search {
    phase: u32,
    /// In which phase a class was last met.
    met: Vec<u32>,
    /// The class from which the tree of a class that was met grows.
    root: Vec<u32>,
    /// In which phase the tree of a root was last done.
    done: Vec<u32>,
    /// Where a class that was met is held: slot and position in its list.
    home: Vec<(u32, u32)>,
    /// From which class a slot was reached.
    reached_from: Vec<u32>,
    /// In which phase a slot was last reached.
    reached: Vec<u32>,
    queue: Vec<u32>,
    /// Boxes that were met.
    seen: Vec<u32>,
}

impl Search {
    fn new(n_classes: usize, n_slots: usize) -> Search {
        Search {
            phase: 0,
            met: vec![0; n_classes],
            root: vec![0; n_classes],
            done: vec![0; n_classes],
            home: vec![(0, 0); n_classes],
            reached_from: vec![0; n_slots],
            reached: vec![0; n_slots],
            queue: Vec::new(),
            seen: Vec::new(),
        }
    }

    /// Grows a tree from every class that has rows left; says whether any tree found room.
    fn phase(&mut self, matching: &mut Matching<'_>, watch: &dyn Watch) -> bool {
        self.phase += 1;
        self.queue.clear();
        for class in (0..matching.classes.len() as u32).filter(|&class| matching.left[class as usize] > 0) {
            self.meet(class, class);
        }
        let mut success = false;
        let mut next = 0;
        while let Some(&class) = self.queue.get(next) {
            watch.pause();
            next += 1;
            let root = self.root[class as usize];
            if self.done[root as usize] == self.phase {
                continue;
            }
            match matching.open_for(class) {
                None => self.expand(matching, class),
                Some(slot) => {
                    self.shift(matching, root, class, slot);
                    self.done[root as usize] = self.phase;
                    success = true;
                }
            }
        }
        self.seen.drain(..).for_each(|index| matching.index.set(Mark::Unseen, index, true));
        success
    }

    fn meet(&mut self, class: u32, root: u32) {
        self.met[class as usize] = self.phase;
        self.root[class as usize] = root;
        self.queue.push(class);
    }

    /// Meets every new slot that a class can go to, and the classes held there.
    fn expand(&mut self, matching: &mut Matching<'_>, class: u32) {
        let first = self.seen.len();
        matching.index.visit(Mark::Unseen, &matching.classes[class as usize].point, |index| {
            self.seen.push(index);
            true
        });
        for place in first..self.seen.len() {
            let index = self.seen[place];
            matching.index.set(Mark::Unseen, index, false);
            for &slot in &matching.slots.of_box[matching.slots.behind(index)] {
                if std::mem::replace(&mut self.reached[slot as usize], self.phase) == self.phase {
                    continue;
                }
                self.reached_from[slot as usize] = class;
                for (position, &(held, _)) in (0..).zip(&matching.held[slot as usize]) {
                    if self.met[held as usize] != self.phase {
                        self.home[held as usize] = (slot, position);
                        self.meet(held, self.root[class as usize]);
                    }
                }
            }
        }
    }

    /// Moves rows along the path from an open slot back to the source, as many as every step allows.
    fn shift(&self, matching: &mut Matching<'_>, source: u32, last: u32, open: u32) {
        let mut rows = matching.left[source as usize].min(matching.slots.room[open as usize]);
        let mut class = last;
        while class != source {
            let (home, position) = self.home[class as usize];
            rows = rows.min(matching.held[home as usize][position as usize].1);
            class = self.reached_from[home as usize];
        }
        let (mut class, mut to) = (last, open);
        matching.slots.room[open as usize] -= rows;
        while class != source {
            let (home, position) = self.home[class as usize];
            let held = &mut matching.held[home as usize];
            // PROOF: a slot belongs to one tree, a path passes through it once, and the tree is done afterwards. So no
            // position noted for this slot is used again, and those noted for others stay valid.
            held[position as usize].1 -= rows;
            if held[position as usize].1 == 0 {
                held.swap_remove(position as usize);
            }
            matching.held[to as usize].push((class, rows));
            (to, class) = (home, self.reached_from[home as usize]);
        }
        matching.held[to as usize].push((source, rows));
        matching.left[source as usize] -= rows;
    }
}

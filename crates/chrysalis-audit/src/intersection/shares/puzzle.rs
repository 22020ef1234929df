//! What every world must fit, in numbers: who can be where, and how many people there are.
//!
//! People who can be in the same places of every release are one *cell*: they look alike, so their shares are equal.
//! People of a release who are not known are cells too, which are in that release alone.

use std::collections::BTreeMap;

use chrysalis_table::Watch;

use super::super::views::{Block, Place};
use super::links::Links;

/// The most pairs of a seat and a value, over all cells: as many as fit into memory beside a large table.
const MAX_TIES: usize = 10_000_000;

/// One release, as far as it says who can have which value.
#[derive(Clone, Debug, Default)]
pub(super) struct Side {
    pub(super) blocks: Vec<Block>,
    pub(super) places: Vec<Place>,
    /// Where columns are permuted: how many rows of a block have a value of a column, by block, column and value.
    pub(super) margins: BTreeMap<(u32, u32, u32), u64>,
    pub(super) is_permuted: bool,
}

/// People who cannot be told apart by what all releases show of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Likes {
    pub(in super::super) people: u64,
    /// Where they can be, in every release.
    pub(in super::super) places: Vec<Vec<u32>>,
    /// Their values of permuted columns as (column, value), in every release.
    pub(in super::super) margins: Vec<Vec<(u32, u32)>>,
}

/// Where the people of a cell can be: in a block, taking a row of each of these slots.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Seat {
    pub(super) side: u32,
    block: u32,
    pub(super) slots: Vec<u32>,
}

/// Having a value at a seat takes one of the rows of this count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tie {
    pub(super) count: u32,
    pub(super) seat: u32,
}

/// People who can be in the same places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) people: u64,
    /// Whether they are known people, and not merely rows that somebody must have.
    pub(super) is_known: bool,
    /// Whether it is certain where they are, in every release.
    pub(super) is_placed: bool,
    /// The first entry of the cell; the last is the one before the next cell's first.
    start: usize,
}

/// All cells, with what the releases show.
#[derive(Clone, Debug, Default)]
pub(super) struct Puzzle {
    pub(super) n_sides: usize,
    /// How many rows of a block have a value, for all values of all blocks of all releases.
    pub(super) counts: Vec<u64>,
    /// For counts of blocks that more people fit than they have rows: the factor to multiply the count by.
    pub(super) stretched: BTreeMap<u32, f64>,
    /// The rows of every slot: rows of a kind that only some people can have.
    pub(super) slots: Vec<u64>,
    pub(super) seats: Vec<Seat>,
    pub(super) cells: Vec<Cell>,
    /// The value of every entry; a cell has one entry per value that its people can have.
    pub(super) values: Vec<u32>,
    /// Where values are told apart by the set that they are shown in: the value itself, by the number of the pair.
    pub(super) plain: Option<Vec<u32>>,
    /// Where the ties of every entry and release begin, and one past the last.
    starts: Vec<u32>,
    ties: Vec<Tie>,
    /// The cell of every kind of people.
    pub(super) cell_of: Vec<u32>,
    /// Counts of blocks about which the releases say more than is considered here: shares that depend on them are
    /// estimates.
    loose: Vec<bool>,
}

impl Puzzle {
    /// `None` where people could be in too many places. Every kind must fit a place of every release.
    pub(super) fn new(sides: &[Side], kinds: &[Likes], watch: &dyn Watch) -> Option<Puzzle> {
        let mut puzzle = Puzzle { n_sides: sides.len(), ..Puzzle::default() };
        let mut first_count: Vec<Vec<u32>> = Vec::with_capacity(sides.len());
        for side in sides {
            let mut of_side = Vec::with_capacity(side.blocks.len());
            for block in &side.blocks {
                of_side.push(puzzle.counts.len() as u32);
                puzzle.counts.extend(block.values.iter().map(|(_, count)| count));
            }
            first_count.push(of_side);
        }
        puzzle.loose = vec![false; puzzle.counts.len()];
        let mut seating = Seating::default();
        let mut of_kind: Vec<Vec<Vec<u32>>> = vec![Vec::with_capacity(sides.len()); kinds.len()];
        let mut strangers: BTreeMap<Vec<Vec<u32>>, u64> = BTreeMap::new();
        for (at, side) in sides.iter().enumerate() {
            let rooms = Rooms::new(side, at, kinds);
            for (step, (kind, known)) in kinds.iter().zip(&mut of_kind).enumerate() {
                watch.pause_at(step);
                let margins = kind.margins.get(at).map_or(&[][..], Vec::as_slice);
                known.push(kind.places[at].iter().map(|&place| seating.seat(&rooms, place, margins)).collect());
            }
            for (places, people) in rooms.strangers() {
                let mut seats = vec![Vec::new(); sides.len()];
                seats[at] = places.iter().map(|&place| seating.seat(&rooms, place, &[])).collect();
                seats[at].sort_unstable();
                *strangers.entry(seats).or_default() += people;
            }
            for (block, &first) in first_count[at].iter().enumerate() {
                let counts = first as usize..first as usize + side.blocks[block].values.len();
                if let Some(by) = rooms.stretch[block] {
                    puzzle.stretched.extend(counts.clone().map(|count| (count as u32, by)));
                }
                puzzle.loose[counts].fill(rooms.is_loose[block]);
            }
        }
        let mut alike: BTreeMap<&Vec<Vec<u32>>, u64> = BTreeMap::new();
        kinds.iter().zip(&of_kind).for_each(|(kind, seats)| *alike.entry(seats).or_default() += kind.people);
        let number: BTreeMap<&Vec<Vec<u32>>, u32> = alike.keys().copied().zip(0..).collect();
        puzzle.cell_of = of_kind.iter().map(|seats| number[seats]).collect();
        let known = alike.into_iter().map(|(seats, people)| (seats, people, true));
        let strangers = strangers.iter().map(|(seats, &people)| (seats, people, false));
        puzzle.starts.push(0);
        for (step, (seats, people, is_known)) in known.chain(strangers).enumerate() {
            watch.pause_at(step);
            puzzle.add(sides, &first_count, &seating.seats, (seats, people, is_known))?;
        }
        puzzle.slots = seating.slots;
        puzzle.seats = seating.seats;
        Some(puzzle)
    }

    /// Adds a cell, with every value that some seat of every release allows.
    fn add(
        &mut self,
        sides: &[Side],
        first_count: &[Vec<u32>],
        seats: &[Seat],
        (own, people, is_known): (&[Vec<u32>], u64, bool),
    ) -> Option<()> {
        let mut found: Vec<Vec<(u32, Tie)>> = Vec::with_capacity(own.len());
        for (at, own) in own.iter().enumerate() {
            let mut ties: Vec<(u32, Tie)> = Vec::new();
            for &seat in own {
                let block = seats[seat as usize].block as usize;
                let values = (first_count[at][block]..).zip(&sides[at].blocks[block].values);
                ties.extend(values.map(|(count, &(value, _))| (value, Tie { count, seat })));
                if ties.len() > MAX_TIES {
                    return None;
                }
            }
            ties.sort_by_key(|(value, tie)| (*value, tie.seat));
            found.push(ties);
        }
        let is_placed = own.iter().all(|seats| seats.len() <= 1);
        self.cells.push(Cell { people, is_known, is_placed, start: self.values.len() });
        let mut at: Vec<&[(u32, Tie)]> = found.iter().map(Vec::as_slice).filter(|ties| !ties.is_empty()).collect();
        // The next value that all releases allow, as long as there is one.
        while let Some(value) = at.iter().map(|ties| ties.first().map(|tie| tie.0)).max().flatten() {
            at.iter_mut().for_each(|ties| *ties = &ties[ties.partition_point(|tie| tie.0 < value)..]);
            if at.iter().any(|ties| ties.is_empty()) {
                break;
            }
            if at.iter().any(|ties| ties.first().is_some_and(|tie| tie.0 != value)) {
                continue;
            }
            self.values.push(value);
            let mut left = at.iter_mut();
            for ties in &found {
                if let Some(here) = (!ties.is_empty()).then(|| left.next()).flatten() {
                    let n = here.partition_point(|tie| tie.0 == value);
                    self.ties.extend(here[..n].iter().map(|tie| tie.1));
                    *here = &here[n..];
                }
                self.starts.push(self.ties.len() as u32);
            }
        }
        (self.ties.len() <= MAX_TIES).then_some(())
    }

    /// The value of an entry, whatever the set that it is shown in.
    pub(super) fn value_of(&self, entry: usize) -> u32 {
        let value = self.values[entry];
        self.plain.as_ref().map_or(value, |plain| plain[value as usize])
    }

    /// The entries of a cell.
    pub(super) fn entries(&self, cell: usize) -> std::ops::Range<usize> {
        self.cells[cell].start..self.cells.get(cell + 1).map_or(self.values.len(), |next| next.start)
    }

    /// How an entry can come about in a release; empty where its cell is not in that release.
    pub(super) fn ties(&self, entry: usize, side: usize) -> &[Tie] {
        let at = entry * self.n_sides + side;
        &self.ties[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// How an entry can come about, in all releases.
    pub(super) fn all_ties(&self, entry: usize) -> &[Tie] {
        let at = entry * self.n_sides;
        &self.ties[self.starts[at] as usize..self.starts[at + self.n_sides] as usize]
    }

    /// Whether everything that the releases say about a count is considered.
    pub(super) fn is_strict(&self, count: u32) -> bool {
        !self.loose[count as usize] && !self.stretched.contains_key(&count)
    }
}

/// Seats and slots, numbered as they come up.
#[derive(Default)]
struct Seating {
    seats: Vec<Seat>,
    numbers: BTreeMap<Seat, u32>,
    slots: Vec<u64>,
    /// The slot of a place, or of a block, a column and a value.
    slot_of: BTreeMap<(u32, u32, u32, u32), u32>,
}

impl Seating {
    fn seat(&mut self, rooms: &Rooms<'_>, place: u32, margins: &[(u32, u32)]) -> u32 {
        let known = rooms.side.places[place as usize];
        let block = known.block as usize;
        let mut slots = Vec::new();
        if rooms.is_open[place as usize] && !rooms.is_loose[block] && rooms.stretch[block].is_none() {
            if rooms.side.is_permuted {
                for &(column, value) in margins {
                    let rows = rooms.side.margins.get(&(known.block, column, value)).copied().unwrap_or(0);
                    slots.push(self.slot((rooms.at, known.block, column, value), rows));
                }
            } else if known.rows < rooms.rows[block] {
                slots.push(self.slot((rooms.at, place, 0, 0), known.rows));
            }
        }
        slots.sort_unstable();
        let seat = Seat { side: rooms.at, block: known.block, slots };
        let next = self.seats.len() as u32;
        let number = *self.numbers.entry(seat.clone()).or_insert(next);
        if number == next {
            self.seats.push(seat);
        }
        number
    }

    fn slot(&mut self, key: (u32, u32, u32, u32), rows: u64) -> u32 {
        let next = self.slots.len() as u32;
        let slot = *self.slot_of.entry(key).or_insert(next);
        if slot == next {
            self.slots.push(rows);
        }
        slot
    }
}

/// Rooms: places that are linked by people who can be in several of them, with their rows and people.
struct Rooms<'a> {
    side: &'a Side,
    at: u32,
    /// Rows of every block.
    rows: Vec<u64>,
    /// Whether people who can be in a place can also be elsewhere.
    is_open: Vec<bool>,
    is_loose: Vec<bool>,
    stretch: Vec<Option<f64>>,
    /// By room: its places, rows and people.
    rooms: BTreeMap<u32, (Vec<u32>, u64, u64)>,
}

impl<'a> Rooms<'a> {
    fn new(side: &'a Side, at: usize, kinds: &[Likes]) -> Rooms<'a> {
        let mut links = Links::new(side.places.len());
        let mut is_touched = vec![false; side.blocks.len()];
        let mut is_open = vec![false; side.places.len()];
        for places in kinds.iter().map(|kind| &kind.places[at]) {
            for &place in places {
                links.join(places[0], place);
                is_touched[side.places[place as usize].block as usize] = true;
                is_open[place as usize] |= places.len() > 1;
            }
        }
        let mut rooms: BTreeMap<u32, (Vec<u32>, u64, u64)> = BTreeMap::new();
        for (place, known) in (0..).zip(&side.places) {
            if is_touched[known.block as usize] {
                let room = rooms.entry(links.root(place)).or_default();
                room.0.push(place);
                room.1 += known.rows;
            }
        }
        for kind in kinds {
            if let Some(room) = kind.places[at].first().and_then(|&place| rooms.get_mut(&links.root(place))) {
                room.2 += kind.people;
            }
        }
        let mut is_loose = vec![false; side.blocks.len()];
        let mut stretch = vec![None; side.blocks.len()];
        for (places, rows, people) in rooms.values() {
            for &place in places {
                let block = side.places[place as usize].block as usize;
                // It is not known which values belong together in rows that no known person has.
                is_loose[block] |= side.is_permuted && is_open[place as usize] && rows != people;
                if people > rows && *rows > 0 {
                    stretch[block] = Some(*people as f64 / *rows as f64);
                }
            }
        }
        let rows = side.blocks.iter().map(Block::rows).collect();
        Rooms { side, at: at as u32, rows, is_open, is_loose, stretch, rooms }
    }

    /// Rows that no known person has: in which places they can be, and how many there are.
    fn strangers(&self) -> impl Iterator<Item = (&[u32], u64)> + '_ {
        let rooms = self.rooms.values().filter(|(_, rows, people)| rows > people);
        rooms.map(|(places, rows, people)| (places.as_slice(), rows - people))
    }
}

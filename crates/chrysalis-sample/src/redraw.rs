//! One round over some groups: which row has which dealt values, and in which cells drawn values lie (spec, step 4).

use std::ops::Range;

use rand::rngs::ChaCha8Rng;
use rand::{Rng, RngExt};

use crate::axis::Part;
use crate::deck::{Boxed, Deck, Listed, Source};
use crate::model::{Model, Rows};
use crate::tight::{Holders, required};

/// Rows of a group that are looked at together; larger groups are cut at other places in every round.
const CHUNK: usize = 2048;
/// Exchanges that are tried per row and block.
const EXCHANGES: usize = 2;

/// A world in the making.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// By block: for every row, the place whose values it has.
    pub(crate) places: Vec<Vec<u32>>,
    /// By column: the cell of every row, for columns that are shown as ranges and labels.
    pub(crate) cells: Vec<Vec<u16>>,
}

/// The part of a state that belongs to some groups, and the same rows as a model sees them.
pub(crate) struct Redrawn {
    pub(crate) state: State,
    pub(crate) rows: Rows,
}

/// How rows count when a model is fitted.
#[derive(Clone, Copy)]
pub(crate) struct Counting<'a> {
    /// How often every group counts.
    pub(crate) of_group: &'a [u32],
    /// The share of rows that count as if they were drawn evenly.
    pub(crate) even: f64,
}

/// What a round over groups needs.
pub(crate) struct Round<'a> {
    pub(crate) deck: &'a Deck,
    pub(crate) model: &'a Model,
    /// For the first round, in which nothing is exchanged: classes alone are drawn.
    pub(crate) is_first: bool,
}

impl State {
    /// Evenly: values dealt at random, every point of a label equally likely (spec, step 2).
    pub(crate) fn even(deck: &Deck, groups: Range<usize>, rng: &mut ChaCha8Rng) -> State {
        let rows = deck.groups.rows(groups.start).start..deck.groups.rows(groups.end - 1).end;
        let mut places = vec![Vec::with_capacity(rows.len()); deck.n_blocks];
        for block in &mut places {
            for group in groups.clone() {
                let from = block.len();
                block.extend(deck.groups.rows(group).map(|row| row as u32));
                shuffle(&mut block[from..], rng);
            }
        }
        let mut parts = Vec::new();
        let cells = deck.attributes.iter().map(|attribute| match &attribute.source {
            Source::Listed(_) => Vec::new(),
            Source::Boxed(boxed) => rows
                .clone()
                .map(|row| {
                    boxed.axis.cover(boxed.label(row), &mut parts);
                    parts[pick(&parts, |part| part.points, rng)].cell
                })
                .collect(),
        });
        State { cells: cells.collect(), places }
    }
}

impl Round<'_> {
    /// Redraws the groups of a piece, from their state before, whose lists begin at row `first`.
    pub(crate) fn redraw(
        &self,
        groups: Range<usize>,
        before: &State,
        counting: Option<Counting<'_>>,
        rng: &mut ChaCha8Rng,
    ) -> Redrawn {
        let deck = self.deck;
        let mut rows = Rows { cells: vec![Vec::new(); deck.attributes.len()], ..Rows::default() };
        let first = deck.groups.rows(groups.start).start;
        let mut state = before.clone();
        let mut work = Work::new(self, first);
        for group in groups {
            let weight = counting.map_or(1, |counting| counting.of_group[group]);
            if weight == 0 {
                continue;
            }
            let of_group = deck.groups.rows(group);
            for chunk in chunks(of_group.clone(), rng) {
                // Step 1. Only whole groups are known to have the ends of their labels.
                work.is_whole = chunk.len() == of_group.len() && !self.is_first;
                work.weigh(chunk.clone(), &state);
                if !self.is_first {
                    work.redraw_tight(chunk.clone(), &mut state, rng);
                    (0..deck.n_blocks).for_each(|block| work.exchange(block, chunk.clone(), &mut state, rng));
                }
                work.classify(chunk.clone(), &mut state, rng);
                if let Some(counting) = counting {
                    work.count(chunk, of_group.clone(), &state, (counting, weight), &mut rows, rng);
                }
            }
        }
        Redrawn { state, rows }
    }
}

/// Scratch space, and the steps of a round on one stretch of rows.
struct Work<'a> {
    round: &'a Round<'a>,
    n_classes: usize,
    /// The first row of the state's lists.
    first: usize,
    /// Row by row, how likely each class is; not normalized.
    weights: Vec<f32>,
    classes: Vec<u8>,
    /// By block, the columns that are dealt as one.
    blocks: Vec<Vec<(usize, &'a Listed)>>,
    ratio: Vec<f32>,
    parts: Vec<Part>,
    mass: Vec<f32>,
    /// Whether the stretch is a whole group.
    is_whole: bool,
}

impl<'a> Work<'a> {
    fn new(round: &'a Round<'a>, first: usize) -> Self {
        let mut blocks: Vec<Vec<(usize, &Listed)>> = vec![Vec::new(); round.deck.n_blocks];
        for (column, attribute) in round.deck.attributes.iter().enumerate() {
            if let Source::Listed(listed) = &attribute.source
                && let Some(block) = listed.block
            {
                blocks[block].push((column, listed));
            }
        }
        let n_classes = round.model.n_classes;
        Work {
            round,
            n_classes,
            first,
            weights: Vec::new(),
            classes: Vec::new(),
            blocks,
            ratio: vec![0.0; n_classes],
            parts: Vec::new(),
            mass: vec![0.0; n_classes],
            is_whole: false,
        }
    }

    /// Whether a column's cells are drawn under what its labels say about the whole group.
    fn is_tight(&self, boxed: &Boxed) -> bool {
        boxed.is_tight && self.is_whole
    }

    /// Step 4a: the weights of all classes for every row, given what is known of the row and dealt to it.
    fn weigh(&mut self, rows: Range<usize>, state: &State) {
        let (deck, model) = (self.round.deck, self.round.model);
        self.weights.clear();
        let mut boxes = vec![0.0; self.n_classes];
        let mut last: Option<usize> = None;
        for row in rows {
            let is_same = |last: usize| {
                deck.attributes.iter().all(|attribute| match &attribute.source {
                    Source::Boxed(boxed) => boxed.of[last] == boxed.of[row],
                    Source::Listed(_) => true,
                })
            };
            if last.is_none_or(|last| !is_same(last)) {
                boxes.copy_from_slice(&model.classes);
                self.weigh_boxes(row, &mut boxes);
                last = Some(row);
            }
            let from = self.weights.len();
            self.weights.extend_from_slice(&boxes);
            let weights = &mut self.weights[from..];
            for (column, attribute) in deck.attributes.iter().enumerate() {
                let cell = match &attribute.source {
                    Source::Listed(listed) => {
                        listed.cell(listed.block.map_or(row, |block| state.places[block][row - self.first] as usize))
                    }
                    Source::Boxed(boxed) if boxed.is_tight && self.is_whole => state.cells[column][row - self.first],
                    Source::Boxed(_) => continue,
                };
                times(weights, model.shares(column, cell));
            }
        }
    }

    /// The probability of a row's labels in every class.
    fn weigh_boxes(&mut self, row: usize, weights: &mut [f32]) {
        let model = self.round.model;
        for (column, attribute) in self.round.deck.attributes.iter().enumerate() {
            let Source::Boxed(boxed) = &attribute.source else { continue };
            if self.is_tight(boxed) {
                continue;
            }
            boxed.axis.cover(boxed.label(row), &mut self.parts);
            self.mass.fill(0.0);
            for part in &self.parts {
                let shares = model.shares(column, part.cell);
                self.mass.iter_mut().zip(shares).for_each(|(mass, share)| *mass += share * part.fraction);
            }
            times(weights, &self.mass);
        }
    }

    /// Step 4b: two rows of a group exchange their places of a block, by Metropolis' rule.
    fn exchange(&mut self, block: usize, rows: Range<usize>, state: &mut State, rng: &mut ChaCha8Rng) {
        let n_rows = rows.len();
        if n_rows < 2 {
            return;
        }
        let model = self.round.model;
        let from = rows.start - self.first;
        let places = &mut state.places[block][from..from + n_rows];
        for step in 0..n_rows * EXCHANGES {
            let a = step % n_rows;
            let b = (a + 1 + below(n_rows - 1, rng)) % n_rows;
            let (at_a, at_b) = (places[a] as usize, places[b] as usize);
            self.ratio.fill(1.0);
            let mut is_same = true;
            for (column, listed) in &self.blocks[block] {
                let (of_a, of_b) = (listed.cell(at_a), listed.cell(at_b));
                if of_a != of_b {
                    is_same = false;
                    let (of_a, of_b) = (model.shares(*column, of_a), model.shares(*column, of_b));
                    self.ratio.iter_mut().zip(of_a).zip(of_b).for_each(|((ratio, a), b)| *ratio *= b / a);
                }
            }
            if is_same {
                places.swap(a, b);
                continue;
            }
            if self.is_exchanged(a, b, rng) {
                places.swap(a, b);
            }
        }
    }

    /// Whether two rows exchange cells by Metropolis' rule; `ratio` is by how much the first gains in every class, and
    /// the other loses. Their weights follow.
    fn is_exchanged(&mut self, a: usize, b: usize, rng: &mut ChaCha8Rng) -> bool {
        let of = |row: usize| row * self.n_classes..(row + 1) * self.n_classes;
        let (mut old_a, mut new_a, mut old_b, mut new_b) = (0.0_f32, 0.0_f32, 0.0_f32, 0.0_f32);
        for (weight, ratio) in self.weights[of(a)].iter().zip(&self.ratio) {
            old_a += weight;
            new_a += weight * ratio;
        }
        for (weight, ratio) in self.weights[of(b)].iter().zip(&self.ratio) {
            old_b += weight;
            new_b += weight / ratio;
        }
        let odds = f64::from(new_a) / f64::from(old_a) * (f64::from(new_b) / f64::from(old_b));
        let is_exchanged = unit(rng) < odds;
        if is_exchanged {
            self.weights[of(a)].iter_mut().zip(&self.ratio).for_each(|(weight, ratio)| *weight *= ratio);
            self.weights[of(b)].iter_mut().zip(&self.ratio).for_each(|(weight, ratio)| *weight /= ratio);
            rescale(&mut self.weights[of(a)]);
            rescale(&mut self.weights[of(b)]);
        }
        is_exchanged
    }

    /// Step 4b for labels that were made from the values of the group: every end and member keeps a row that has it.
    fn redraw_tight(&mut self, rows: Range<usize>, state: &mut State, rng: &mut ChaCha8Rng) {
        let model = self.round.model;
        let from = rows.start - self.first;
        let mut needed = Vec::new();
        for (column, attribute) in self.round.deck.attributes.iter().enumerate() {
            let Source::Boxed(boxed) = &attribute.source else { continue };
            if !self.is_tight(boxed) {
                continue;
            }
            let label = boxed.label(rows.start);
            boxed.axis.cover(label, &mut self.parts);
            if self.parts.len() < 2 {
                continue;
            }
            required(label, &self.parts, &mut needed);
            let cells = &mut state.cells[column][from..from + rows.len()];
            let before = cells.to_vec();
            let mut holders = Holders::new(&needed, cells, rng);
            for (at, &old) in before.iter().enumerate() {
                self.follow(at, model.shares(column, old), model.shares(column, cells[at]));
            }
            for (at, cell) in cells.iter_mut().enumerate() {
                let old = *cell;
                if holders.as_ref().is_some_and(|holders| holders.is_needed(old)) {
                    continue;
                }
                let new = self.redrawn(at, column, old, rng);
                if let Some(holders) = &mut holders {
                    holders.moved(old, new);
                }
                self.follow(at, model.shares(column, old), model.shares(column, new));
                *cell = new;
            }
            for a in 0..cells.len() {
                let b = (a + 1 + below(cells.len() - 1, rng)) % cells.len();
                if cells[a] != cells[b] {
                    let (of_a, of_b) = (model.shares(column, cells[a]), model.shares(column, cells[b]));
                    self.ratio.iter_mut().zip(of_a).zip(of_b).for_each(|((ratio, a), b)| *ratio = b / a);
                    if self.is_exchanged(a, b, rng) {
                        cells.swap(a, b);
                    }
                }
            }
        }
    }

    /// The weights of a row after one of its cells changed.
    fn follow(&mut self, at: usize, old: &[f32], new: &[f32]) {
        if !std::ptr::eq(old, new) {
            let weights = &mut self.weights[at * self.n_classes..(at + 1) * self.n_classes];
            weights.iter_mut().zip(old).zip(new).for_each(|((weight, old), new)| *weight *= new / old);
            rescale(weights);
        }
    }

    /// A cell inside the label for a row, given all its other cells.
    fn redrawn(&mut self, at: usize, column: usize, old: u16, rng: &mut ChaCha8Rng) -> u16 {
        let model = self.round.model;
        let weights = &self.weights[at * self.n_classes..(at + 1) * self.n_classes];
        let shares = model.shares(column, old);
        self.mass.iter_mut().zip(weights).zip(shares).for_each(|((mass, weight), share)| *mass = weight / share);
        let likelihood = |part: &Part| {
            let shares = model.shares(column, part.cell);
            part.fraction * self.mass.iter().zip(shares).map(|(mass, share)| mass * share).sum::<f32>()
        };
        let likelihoods: Vec<f32> = self.parts.iter().map(likelihood).collect();
        self.parts[pick(&likelihoods, |&it| it, rng)].cell
    }

    /// Steps 4c and 4d: a class for every row, then its cells inside its labels.
    fn classify(&mut self, rows: Range<usize>, state: &mut State, rng: &mut ChaCha8Rng) {
        let model = self.round.model;
        self.classes.clear();
        for weights in self.weights.chunks_exact(self.n_classes) {
            // PROOF: there are at most 255 classes.
            self.classes.push(pick(weights, |&weight| weight, rng) as u8);
        }
        if self.round.is_first {
            return;
        }
        for (column, attribute) in self.round.deck.attributes.iter().enumerate() {
            let Source::Boxed(boxed) = &attribute.source else { continue };
            if self.is_tight(boxed) {
                continue;
            }
            let mut last = None;
            for (row, &class) in rows.clone().zip(&self.classes) {
                if last != Some(boxed.of[row]) {
                    boxed.axis.cover(boxed.label(row), &mut self.parts);
                    last = Some(boxed.of[row]);
                }
                let share = |part: &Part| model.shares(column, part.cell)[usize::from(class)] * part.fraction;
                state.cells[column][row - self.first] = self.parts[pick(&self.parts, share, rng)].cell;
            }
        }
    }

    /// Step 4e: the rows as the next model sees them, some of them as if they were drawn evenly.
    fn count(
        &mut self,
        rows: Range<usize>,
        of_group: Range<usize>,
        state: &State,
        (counting, weight): (Counting<'_>, u32),
        counted: &mut Rows,
        rng: &mut ChaCha8Rng,
    ) {
        let (deck, model) = (self.round.deck, self.round.model);
        let mut places = vec![0; deck.n_blocks];
        for (at, row) in rows.enumerate() {
            let is_even = unit(rng) < counting.even;
            self.mass.copy_from_slice(&model.classes);
            for (block, place) in places.iter_mut().enumerate() {
                *place = match is_even {
                    true => of_group.start + below(of_group.len(), rng),
                    false => state.places[block][row - self.first] as usize,
                };
            }
            for (column, attribute) in deck.attributes.iter().enumerate() {
                let cell = match &attribute.source {
                    Source::Listed(listed) => listed.cell(listed.block.map_or(row, |block| places[block])),
                    Source::Boxed(boxed) if is_even => {
                        boxed.axis.cover(boxed.label(row), &mut self.parts);
                        self.parts[pick(&self.parts, |part| part.points, rng)].cell
                    }
                    Source::Boxed(_) => state.cells[column][row - self.first],
                };
                counted.cells[column].push(cell);
                if is_even {
                    times(&mut self.mass, model.shares(column, cell));
                }
            }
            let class = if is_even { pick(&self.mass, |&weight| weight, rng) as u8 } else { self.classes[at] };
            counted.classes.push(class);
            counted.weights.push(weight as f32);
        }
    }
}

impl Listed {
    fn cell(&self, place: usize) -> u16 {
        self.cell_of[self.codes.get(place) as usize]
    }
}

/// Multiplies weights, and keeps them from vanishing.
fn times(weights: &mut [f32], shares: &[f32]) {
    weights.iter_mut().zip(shares).for_each(|(weight, share)| *weight *= share);
    rescale(weights);
}

fn rescale(weights: &mut [f32]) {
    let most = weights.iter().fold(0.0_f32, |most, &weight| most.max(weight));
    if most > 0.0 && !(1e-12..1e12).contains(&most) {
        let factor = 1.0 / most;
        // What vanishes beside the greatest weight stays a little above zero, so that no ratio is undefined.
        weights.iter_mut().for_each(|weight| *weight = (*weight * factor).max(1e-24));
    }
}

/// Stretches of the rows of a group, cut at random.
fn chunks(rows: Range<usize>, rng: &mut ChaCha8Rng) -> Vec<Range<usize>> {
    if rows.len() <= CHUNK {
        return vec![rows];
    }
    let mut cuts = vec![rows.start];
    cuts.extend((rows.start + 1 + below(CHUNK, rng)..rows.end).step_by(CHUNK));
    cuts.push(rows.end);
    cuts.windows(2).map(|ends| ends[0]..ends[1]).collect()
}

/// One of some items, as likely as they are heavy; the first if all weigh nothing.
pub(crate) fn pick<T>(items: &[T], weight: impl Fn(&T) -> f32, rng: &mut ChaCha8Rng) -> usize {
    if items.len() < 2 {
        return 0;
    }
    let total: f32 = items.iter().map(&weight).sum();
    let mut left = unit(rng) as f32 * total;
    for (at, item) in items.iter().enumerate() {
        let own = weight(item);
        if left < own {
            return at;
        }
        left -= own;
    }
    // Rounding: the last that weighs anything.
    items.iter().rposition(|item| weight(item) > 0.0).unwrap_or(0)
}

/// A number from 0 to below 1.
fn unit(rng: &mut ChaCha8Rng) -> f64 {
    f64::from(rng.next_u32()) / 4_294_967_296.0
}

/// A number below `n`, which is not zero.
pub(crate) fn below(n: usize, rng: &mut ChaCha8Rng) -> usize {
    rng.random_range(0..n)
}

fn shuffle(items: &mut [u32], rng: &mut ChaCha8Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(last + 1, rng));
    }
}

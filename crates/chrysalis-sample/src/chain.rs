//! The rounds in which a world is drawn: redraw every group from the model, fit the model to what was drawn (spec).

use std::ops::Range;

use chrysalis_release::EstimateMode;
use chrysalis_table::Progress;
use rand::rngs::ChaCha8Rng;
use rand::{CryptoRng, SeedableRng};
use rayon::prelude::*;

use crate::Draw;
use crate::deck::Deck;
use crate::model::{Model, Rows};
use crate::redraw::{Counting, Redrawn, Round, State, below};

/// Rounds in which the model is fitted.
const ROUNDS: u64 = 60;
/// Rounds over all groups with the last model.
const LAST_ROUNDS: u64 = 12;
/// The model is fitted to at most about this many rows.
const MOST_FITTED: usize = 100_000;
/// Rows of a piece of work.
const PIECE: usize = 4096;
/// The most classes of a model.
const MOST_CLASSES: usize = 48;

/// How many steps the progress of a world adds up to: the rows of all rounds.
pub(crate) fn steps(deck: &Deck, draw: Draw) -> u64 {
    match draw.estimate {
        EstimateMode::Even => deck.groups.n_rows() as u64,
        EstimateMode::Learned => deck.groups.n_rows() as u64 * (ROUNDS + LAST_ROUNDS + 1),
    }
}

/// Draws a world.
pub(crate) fn run(deck: &Deck, draw: Draw, rng: &mut dyn CryptoRng, progress: Progress<'_>) -> State {
    let mut chain = Chain::new(deck, rng, progress);
    let even: Vec<State> = chain.each(|groups, rng, _| State::even(deck, groups, rng));
    if draw.estimate == EstimateMode::Even || deck.groups.n_rows() == 0 {
        return joined(deck, even);
    }
    let of_group = chain.chosen(draw.bootstrap);
    // Step 3. How strongly what is learned is drawn back towards what is even.
    let mean = deck.groups.n_rows() as f64 / deck.groups.len().max(1) as f64;
    let lambda = (12.0 / mean).min(0.5);
    let counting = Counting { of_group: &of_group, even: lambda / (1.0 + lambda) };
    let mut model = chain.start(&even, counting);
    let mut states = even;
    for round in 0..ROUNDS {
        let all = Round { deck, model: &model, is_first: round == 0 };
        let drawn: Vec<Redrawn> = chain.each(|groups, rng, at| all.redraw(groups, &states[at], Some(counting), rng));
        let (after, rows): (Vec<State>, Vec<Rows>) = drawn.into_iter().map(|it| (it.state, it.rows)).unzip();
        states = after;
        model = Model::fitted(model.n_classes, &rows, &Model::sizes(deck));
    }
    // Step 5. All groups, also those that the model was not fitted to.
    let last = Round { deck, model: &model, is_first: false };
    for _ in 0..LAST_ROUNDS {
        states = chain.each(|groups, rng, at| last.redraw(groups, &states[at], None, rng).state);
    }
    joined(deck, states)
}

/// Work on pieces of the deck, each with random numbers of its own, so that threads change nothing.
struct Chain<'a> {
    deck: &'a Deck,
    pieces: Vec<Range<usize>>,
    seed: [u8; 32],
    done: u64,
    progress: Progress<'a>,
}

impl<'a> Chain<'a> {
    fn new(deck: &'a Deck, rng: &mut dyn CryptoRng, progress: Progress<'a>) -> Self {
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        let (mut pieces, mut from) = (Vec::new(), 0);
        for group in 0..deck.groups.len() {
            let rows = deck.groups.rows(from).start..deck.groups.rows(group).end;
            if rows.len() >= PIECE || group + 1 == deck.groups.len() {
                pieces.push(from..group + 1);
                from = group + 1;
            }
        }
        Chain { deck, pieces, seed, done: 0, progress }
    }

    /// Random numbers that nothing else gets.
    fn numbers(&self, piece: u32) -> ChaCha8Rng {
        let mut seed = self.seed;
        let own = self.done.to_le_bytes().into_iter().chain(piece.to_le_bytes());
        seed.iter_mut().zip(own).for_each(|(byte, own)| *byte ^= own);
        ChaCha8Rng::from_seed(seed)
    }

    fn each<T: Send>(&mut self, work: impl Fn(Range<usize>, &mut ChaCha8Rng, usize) -> T + Sync) -> Vec<T> {
        self.done += 1;
        let (chain, deck) = (&*self, self.deck);
        let one = |(at, groups): (usize, &Range<usize>)| {
            let found = work(groups.clone(), &mut chain.numbers(at as u32), at);
            (chain.progress)((deck.groups.rows(groups.end - 1).end - deck.groups.rows(groups.start).start) as u64);
            found
        };
        self.pieces.par_iter().enumerate().map(one).collect()
    }

    /// How often every group counts when models are fitted: drawn with replacement for a bootstrap; only some of the
    /// groups of a large table.
    fn chosen(&mut self, bootstrap: bool) -> Vec<u32> {
        self.done += 1;
        let mut rng = self.numbers(u32::MAX);
        let n_groups = self.deck.groups.len();
        let mut of_group = vec![0_u32; n_groups];
        let mut order: Vec<usize> = (0..n_groups).collect();
        let mut rows = 0;
        for at in 0..n_groups {
            if rows >= MOST_FITTED {
                break;
            }
            let group = match bootstrap {
                true => below(n_groups, &mut rng),
                false => {
                    order.swap(at, at + below(n_groups - at, &mut rng));
                    order[at]
                }
            };
            of_group[group] += 1;
            rows += self.deck.groups.rows(group).len();
        }
        of_group
    }

    /// The first model: the whole table, leaning towards some of its rows.
    fn start(&mut self, even: &[State], counting: Counting<'_>) -> Model {
        let sizes = Model::sizes(self.deck);
        let one = Model::flat(&sizes);
        let round = Round { deck: self.deck, model: &one, is_first: true };
        let rows: Vec<Rows> = self.each(|groups, rng, at| round.redraw(groups, &even[at], Some(counting), rng).rows);
        let n_rows: usize = rows.iter().map(|part| part.weights.len()).sum();
        let n_classes = (((n_rows as f64).sqrt() / 3.0) as usize).clamp(1, MOST_CLASSES);
        let mut rng = self.numbers(u32::MAX);
        let seeds: Vec<usize> = (0..n_classes).map(|_| below(n_rows.max(1), &mut rng)).collect();
        Model::around(&seeds, &rows, &sizes)
    }
}

fn joined(deck: &Deck, pieces: Vec<State>) -> State {
    let mut all = State { places: vec![Vec::new(); deck.n_blocks], cells: vec![Vec::new(); deck.attributes.len()] };
    for piece in pieces {
        all.places.iter_mut().zip(piece.places).for_each(|(all, own)| all.extend(own));
        all.cells.iter_mut().zip(piece.cells).for_each(|(all, own)| all.extend(own));
    }
    all
}

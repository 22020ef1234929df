//! Butterflies: rows that share the attributes that several users know, with classes of their own for the attributes
//! that only one user knows. See `spec.md` for the steps that the comments number.

mod nearest;
mod search;
mod space;
#[cfg(test)]
mod tests;
mod wing;

use std::fmt;
use std::ops::Range;

use chrysalis_criteria::Principle;
use chrysalis_table::{Codes, Column, Progress};
use rand::CryptoRng;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::compact::{Refined, Refiner};
use super::mondrian::records::{Rank, Records, Slice};
use crate::method::sort_by_codes;
use crate::quasi_identifiers::BodyAndWings;
use crate::{Microdata, Partition};
use search::{Best, Search};
use space::Space;

/// The tree of groups in which butterflies are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hierarchy {
    /// The paper's: `mondrian` over all attributes.
    Union,
    /// `mondrian` over the attributes of the body alone.
    BodyFirst,
}

impl fmt::Display for Hierarchy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Hierarchy::Union => "union",
            Hierarchy::BodyFirst => "body-first",
        })
    }
}

/// How the inner nodes of a hierarchy were treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Inner nodes.
    pub nodes: u64,
    /// Passed over because the body alone would lose at least as much as the children do.
    pub passed_by_body: u64,
    /// Passed over because body and lower bound (theorem 4) together would.
    pub passed_by_bound: u64,
    /// Butterflies that were built.
    pub built: u64,
    /// Of these, those that lost less than the children.
    pub kept: u64,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.nodes += other.nodes;
        self.passed_by_body += other.passed_by_body;
        self.passed_by_bound += other.passed_by_bound;
        self.built += other.built;
        self.kept += other.kept;
    }
}

/// Butterflies and their classes.
#[derive(Clone, Debug)]
pub(crate) struct Flight {
    /// Rows that share the body.
    pub(crate) butterflies: Partition,
    /// Per set that no other set contains: the classes of its wing. `None` if all its attributes are in the body.
    pub(crate) wings: Vec<Option<Partition>>,
    /// Where they were found.
    pub(crate) hierarchy: Hierarchy,
    /// How its inner nodes were treated.
    pub(crate) tally: Tally,
    /// The loss of every attribute in the union run, in the order of body and wings.
    pub(crate) union_loss: Vec<f64>,
    /// The loss of every hierarchy that was tried.
    pub(crate) tried: Vec<(Hierarchy, f64)>,
}

/// Finds butterflies in both hierarchies, or in the one that `only` names, and keeps the better result. The union run
/// is made in any case. The caller has made sure that the whole table satisfies the goal. `progress` counts every row
/// once per hierarchy that is searched.
pub(crate) fn find(
    data: &Microdata,
    parts: &BodyAndWings,
    goal: &dyn Principle,
    only: Option<Hierarchy>,
    rng: &mut dyn CryptoRng,
    progress: Progress<'_>,
) -> Flight {
    let space = Space::new(data, parts, goal);
    let widest = space.widest();
    let rows = shuffled(data, rng);
    let seed = rng.next_u64();
    if widest <= 1 << 8 {
        find_in::<u8>(&space, parts, rows, only, seed, progress)
    } else if widest <= 1 << 16 {
        find_in::<u16>(&space, parts, rows, only, seed, progress)
    } else {
        find_in::<u32>(&space, parts, rows, only, seed, progress)
    }
}

/// All rows in random order.
///
/// LEAK: this order decides which of several equal rows fill up a class of rare values. It follows the values, then the
/// generator, never the order of the input.
fn shuffled(data: &Microdata, rng: &mut dyn CryptoRng) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..data.rows() as u32).collect();
    let columns: Vec<&Codes> = data.table().columns().iter().map(Column::codes).collect();
    sort_by_codes(&mut rows, &columns);
    rows.shuffle(rng);
    rows
}

fn find_in<T: Rank>(
    space: &Space<'_>,
    parts: &BodyAndWings,
    rows: Vec<u32>,
    only: Option<Hierarchy>,
    seed: u64,
    progress: Progress<'_>,
) -> Flight {
    let records = |rows| Records::<T>::of(space.columns.iter().copied(), space.sensitive, &space.axes, rows);
    let mut all = records(rows);
    let mut all = all.all();
    // Step 1.
    let floors = nearest::floors(space, &all);
    let search = |hierarchy| Search::new(space, hierarchy, &floors, progress);
    let finished = |hierarchy, best: Best, rows: Vec<u32>| {
        let (wings, gain) = wings(&search(hierarchy), space, parts, &records(rows.clone()).all(), &best, seed);
        FinishedButterflies { hierarchy, loss: best.loss - gain, best, rows, wings }
    };
    // Step 2.
    let union = search(Hierarchy::Union).run(&mut all);
    let union_loss = union.plain.clone();
    let mut winner = finished(Hierarchy::Union, union, all.rows().to_vec());
    let mut tried = vec![(Hierarchy::Union, winner.loss)];
    if only != Some(Hierarchy::Union) {
        // Step 3.
        let best = search(Hierarchy::BodyFirst).run(&mut all);
        let other = finished(Hierarchy::BodyFirst, best, all.rows().to_vec());
        tried.push((Hierarchy::BodyFirst, other.loss));
        // Step 7.
        if other.loss < winner.loss || only == Some(Hierarchy::BodyFirst) {
            winner = other;
        }
    }
    let FinishedButterflies { hierarchy, best, rows, wings, .. } = winner;
    let sizes: Vec<u32> = best.butterflies.iter().map(|place| place.len() as u32).collect();
    Flight { butterflies: Partition::new(rows, &sizes), wings, hierarchy, tally: best.tally, union_loss, tried }
}

/// The butterflies of one hierarchy, with their classes.
struct FinishedButterflies {
    hierarchy: Hierarchy,
    best: Best,
    rows: Vec<u32>,
    wings: Vec<Option<Partition>>,
    loss: f64,
}

/// Step 6. The classes of every wing, butterfly after butterfly, and how much loss exchanging rows has saved.
fn wings<T: Rank>(
    search: &Search<'_>,
    space: &Space<'_>,
    parts: &BodyAndWings,
    records: &Slice<'_, T>,
    best: &Best,
    seed: u64,
) -> (Vec<Option<Partition>>, f64) {
    let mut wings = vec![None; parts.wings.len()];
    let mut gain = 0.0;
    for (at, wing) in space.wings.iter().enumerate() {
        let columns = &space.columns[wing.cells.clone()];
        let refiner = Refiner::new(columns, &wing.axes, space.sensitive, space.goal, space.n_sensitive);
        let refined = |place: &Range<usize>| {
            let (rows, sizes) = search.wing(at, records, place.clone());
            refiner.refine(Refined { rows, sizes, gain: 0.0 }, seed ^ place.start as u64)
        };
        let of_each: Vec<Refined> = best.butterflies.par_iter().map(refined).collect();
        let rows = of_each.iter().flat_map(|it| &it.rows).copied().collect();
        let sizes: Vec<u32> = of_each.iter().flat_map(|it| &it.sizes).copied().collect();
        gain += of_each.iter().map(|it| it.gain).sum::<f64>();
        wings[wing.set] = Some(Partition::new(rows, &sizes));
    }
    (wings, gain)
}

//! Whether an insider's bets are won, given the people of the microdata.

use chrysalis_table::{Code, Column, Table, Watch};
use rayon::prelude::*;

use super::margins::Margin;
use super::pairing::Pairing;
use super::{InsiderScore, rounded};
use crate::Groups;
use crate::attack::Places;

/// The most people bet on; of more, so many are picked evenly.
const MOST_PEOPLE: usize = 20_000;
/// Nobody is bet on whom more groups may hold: an insider knows the person's group.
const MOST_PLACES: usize = 64;
/// Values whose shares are this close to the largest count as equally likely.
const TIED: f64 = 1.0 - 1e-9;
const STRETCH: usize = 256;

/// Finds the groups that the people of some rows may be in.
pub(crate) type Locate<'a> = dyn Fn(&[usize]) -> Places + Sync + 'a;

/// The people who are bet on, and where they may be.
pub(super) struct Insiders<'a> {
    microdata: &'a Table,
    /// Rows of the microdata, each with the place of its kind in `places`.
    people: Vec<(usize, usize)>,
    places: Places,
}

impl<'a> Insiders<'a> {
    /// `quasi` are the attributes by which people are found; `locate` numbers groups as the margins do.
    pub(super) fn new(microdata: &'a Table, quasi: &[&str], locate: &Locate<'_>, watch: &dyn Watch) -> Insiders<'a> {
        let columns: Vec<&Column> = quasi.iter().filter_map(|name| microdata.column(name)).collect();
        let kinds = Groups::of_columns(&columns, microdata.rows(), watch);
        let step = microdata.rows().div_ceil(MOST_PEOPLE).max(1);
        // Of every kind that was picked, the first row, and its place among the kinds.
        let mut place_of: Vec<Option<usize>> = vec![None; kinds.n_groups];
        let (mut rows, mut people) = (Vec::new(), Vec::new());
        for row in (0..microdata.rows()).step_by(step) {
            let place = *place_of[kinds.of_row[row] as usize].get_or_insert_with(|| {
                rows.push(row);
                rows.len() - 1
            });
            people.push((row, place));
        }
        watch.pause();
        Insiders { microdata, people, places: locate(&rows) }
    }

    /// What somebody believes who knows from the microdata how often values go together.
    pub(super) fn taught<'b>(&self, pairing: &Pairing<'b>, watch: &dyn Watch) -> Option<Pairing<'b>> {
        let [one, other] = [0, 1].map(|side: usize| pairing.sides[side].margin);
        let (one_column, other_column) =
            (self.microdata.column(&one.attribute.name)?, self.microdata.column(&other.attribute.name)?);
        let (one_codes, other_codes) = (published(one_column, one), published(other_column, other));
        let pair = |row: usize| {
            Some((one_codes[one_column.code(row) as usize]?, other_codes[other_column.code(row) as usize]?))
        };
        Some(pairing.taught((0..self.microdata.rows()).filter_map(pair), watch))
    }

    /// Bets on one attribute of people whose other attribute is known. `taught` is what somebody believes who knows
    /// beforehand how often values go together.
    pub(super) fn score(
        &self,
        [pairing, taught]: [&Pairing<'_>; 2],
        known: usize,
        watch: &dyn Watch,
    ) -> Option<InsiderScore> {
        let [own, other] = [known, 1 - known].map(|side| pairing.sides[side].margin);
        let (own_column, other_column) =
            (self.microdata.column(&own.attribute.name)?, self.microdata.column(&other.attribute.name)?);
        let (own_codes, other_codes) = (published(own_column, own), published(other_column, other));
        let of_stretch = |people: &[(usize, usize)]| {
            watch.pause();
            let mut sums = (0_u64, [0.0; 3]);
            for &(row, place) in people {
                let own = own_codes[own_column.code(row) as usize];
                let truth = other_codes[other_column.code(row) as usize];
                let (Some(own), Some(places)) = (own, self.places.get(place)) else { continue };
                if places.is_empty() || places.len() > MOST_PLACES {
                    continue;
                }
                let Some([with, without]) = beliefs(pairing, known, own, places) else { continue };
                let told = beliefs(taught, known, own, places).map(|[with, _]| with).unwrap_or_default();
                sums.0 += 1;
                sums.1.iter_mut().zip([with, without, told]).for_each(|(sum, bet)| *sum += won(&bet, truth));
            }
            sums
        };
        let all: Vec<(u64, [f64; 3])> = self.people.par_chunks(STRETCH).map(of_stretch).collect();
        let people = all.iter().map(|(people, _)| people).sum();
        let [right, from_groups, from_truth] =
            [0, 1, 2].map(|at: usize| all.iter().map(|(_, won)| won[at]).sum::<f64>());
        let lift = if from_groups > 0.0 { right / from_groups } else { 1.0 };
        (people > 0).then(|| InsiderScore {
            people,
            right: rounded(right),
            right_from_groups: rounded(from_groups),
            right_from_truth: rounded(from_truth),
            lift: rounded(lift),
        })
    }
}

/// The codes by which the release knows the values of a column of the microdata.
fn published(column: &Column, margin: &Margin<'_>) -> Vec<Option<Code>> {
    let codes = 0..column.domain().len() as Code;
    codes.map(|code| margin.domain.code_of(column.domain().value(code))).collect()
}

/// What is believed about a person with this value who may be in these groups: with the value, and from the groups
/// alone. `None` where none of the groups has the value.
fn beliefs(pairing: &Pairing<'_>, known: usize, own: Code, places: &[(u32, f32)]) -> Option<[Vec<(Code, f64)>; 2]> {
    let (own_values, other_values) = (&pairing.sides[known].margin.values, &pairing.sides[1 - known].margin.values);
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for &(group, weight) in places {
        let (group, weight) = (group as usize, f64::from(weight));
        let Some(rows) = (group < pairing.n_groups()).then(|| pairing.rows(group)).flatten() else { continue };
        let values = own_values.group(group).values;
        let Ok(at) = values.binary_search_by_key(&own, |&(code, _)| code) else { continue };
        let share = |count: u32| f64::from(count) / rows as f64;
        let believed = pairing.believed_values(known, group, pairing.class(known, own));
        with.extend(believed.iter().map(|(code, belief)| (*code, weight * share(values[at].1) * belief)));
        let others = other_values.group(group).values.iter();
        without.extend(others.map(|&(code, count)| (code, weight * share(count))));
    }
    (!with.is_empty()).then(|| [with, without].map(summed))
}

/// Weights of the same value, added up.
fn summed(mut weights: Vec<(Code, f64)>) -> Vec<(Code, f64)> {
    weights.sort_by_key(|&(code, _)| code);
    weights.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        kept.1 += if is_same { next.1 } else { 0.0 };
        is_same
    });
    weights
}

/// The chance that a bet on the likeliest value wins, if the likeliest ones share it.
fn won(weights: &[(Code, f64)], truth: Option<Code>) -> f64 {
    let most = weights.iter().map(|(_, weight)| *weight).fold(0.0, f64::max);
    let tied = || weights.iter().filter(|(_, weight)| *weight >= most * TIED);
    let is_right = tied().any(|(code, _)| Some(*code) == truth);
    if is_right { 1.0 / tied().count() as f64 } else { 0.0 }
}

//! Releases that should have been permuted and were not.

use std::collections::BTreeMap;

use chrysalis::Form;
use rand::RngExt;
use rand::rngs::ChaCha20Rng;
use rand::seq::IndexedRandom;

use super::{Finish, Lie, held};
use crate::release::Fake;
use crate::truth::chance_of_matches;

pub(super) const LIES: &[Lie] = &[
    held("shuffled values beside their owners", values_beside_owners),
    held("half of the groups not shuffled", half_beside_owners),
    held("columns not permuted", columns_together),
    held("two columns permuted as one", pair_together),
    held("values not swapped", not_swapped),
];

/// A permutation leaves as many matches as this at most once in ten trillion times. An audit whose false alarms, over
/// all its checks, are rarer than one in a billion must notice that.
const NEVER: f64 = 1e-13;

/// Everyone's row of the microdata, by weight, which is unique.
fn owners(fake: &Fake<'_>) -> BTreeMap<String, Vec<String>> {
    let people = &fake.honest.people;
    let weight = people.at("weight");
    people.rows.iter().map(|row| (row[weight].clone(), row.clone())).collect()
}

/// Puts a column of some groups back beside the weights it belongs to. Returns the probability that a permutation
/// leaves as many matches.
fn put_beside(fake: &mut Fake<'_>, name: &str, is_chosen: impl Fn(&str) -> bool) -> Option<f64> {
    let (owners, own) = (owners(fake), fake.honest.people.at(name));
    let (weight, at, id) = (fake.rows().at("weight"), fake.rows().at(name), fake.id()?);
    let mut groups: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    let mut matches = 0;
    for row in &mut fake.rows_mut().rows {
        let truth = &owners[&row[weight]][own];
        if is_chosen(&row[id]) {
            row[at] = truth.clone();
        }
        matches += usize::from(row[at] == *truth);
        *groups.entry(row[id].clone()).or_default().entry(truth.clone()).or_default() += 1;
    }
    let groups: Vec<Vec<u64>> = groups.into_values().map(|counts| counts.into_values().collect()).collect();
    chance_of_matches(&groups, matches)
}

/// Every value is beside the person it belongs to.
fn values_beside_owners(fake: &mut Fake<'_>, _: &mut ChaCha20Rng) -> Option<Finish> {
    (fake.form() == Form::Shuffle).then_some(())?;
    let name = fake.sensitive();
    (put_beside(fake, &name, |_| true)? < NEVER).then_some(Finish::Mend)
}

/// In half of the groups, every value is beside the person it belongs to.
fn half_beside_owners(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    (fake.form() == Form::Shuffle).then_some(())?;
    let name = fake.sensitive();
    let chosen: Vec<String> = fake.groups().into_keys().filter(|_| rng.random_range(0..2) == 0).collect();
    (put_beside(fake, &name, |id| chosen.iter().any(|it| it == id))? < NEVER).then_some(Finish::Mend)
}

/// Every row is a real person's row.
fn columns_together(fake: &mut Fake<'_>, _: &mut ChaCha20Rng) -> Option<Finish> {
    (fake.form() == Form::Permute).then_some(())?;
    let names = fake.with_role("quasi").into_iter().filter(|name| name != "weight");
    let mut least: f64 = 1.0;
    for name in names {
        least = least.min(put_beside(fake, &name, |_| true)?);
    }
    (least < NEVER).then_some(Finish::Mend)
}

/// One column is beside the weights it belongs to; all others are permuted.
fn pair_together(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    (fake.form() == Form::Permute && fake.with_role("quasi").len() > 2).then_some(())?;
    let mut names = fake.with_role("quasi");
    names.retain(|name| name != "weight");
    let name = names.choose(rng)?.clone();
    (put_beside(fake, &name, |_| true)? < NEVER).then_some(Finish::Mend)
}

/// No value was exchanged, although all are different and everyone has neighbours to exchange with.
fn not_swapped(fake: &mut Fake<'_>, _: &mut ChaCha20Rng) -> Option<Finish> {
    (fake.form() == Form::RankSwap).then_some(())?;
    let (owners, name) = (owners(fake), fake.sensitive());
    let mut values = fake.honest.people.column(&name);
    values.sort_unstable();
    values.windows(2).all(|pair| pair[0] != pair[1]).then_some(())?;
    let (weight, at) = (fake.rows().at("weight"), fake.rows().at(&name));
    let own = fake.honest.people.at(&name);
    for row in &mut fake.rows_mut().rows {
        row[at] = owners[&row[weight]][own].clone();
    }
    Some(Finish::Mend)
}

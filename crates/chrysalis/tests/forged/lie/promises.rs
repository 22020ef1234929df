//! Releases that promise more than they keep.

use chrysalis::table::Kind;
use rand::rngs::ChaCha20Rng;
use serde_json::{Value as Json, json};

use super::{Finish, Lie, alone};
use crate::people::pick;
use crate::release::Fake;
use crate::truth::{self, Counts};

pub(super) const LIES: &[Lie] = &[
    alone("promise: k raised", k),
    alone("promise: l raised", l),
    alone("promise: distinct-l raised", distinct_l),
    alone("promise: entropy-l raised", entropy_l),
    alone("promise: recursive-l raised", recursive_l),
    alone("promise: t lowered", t),
    alone("promise: beta lowered", beta),
    alone("promise: alpha-k lowered", alpha_k),
    alone("promise: ke widened", ke),
    alone("promise: weight raised", weight),
    alone("promise: by a form that makes none", by_rank_swap),
    alone("promise: about another column", about_another),
    alone("promise: of other groups", of_other_groups),
    alone("promise: t through a padded taxonomy", padded_taxonomy),
];

/// A promise in the terms of the form at hand.
pub(super) fn promise(fake: &Fake<'_>, principle: &str) -> Json {
    let shape = fake.form().shape();
    let counts_rows = principle.starts_with("k=");
    let of = match (shape.has_users, shape.marginals.is_some()) {
        (true, _) => "user",
        (false, true) if counts_rows => "bucket",
        (false, true) => "batch",
        (false, false) => "group",
    };
    match counts_rows {
        true => json!({"principle": principle, "of": of, "unit": "rows"}),
        false => json!({"principle": principle, "about": fake.sensitive(), "of": of, "unit": "rows"}),
    }
}

/// Adds a promise, in place of a weaker one of the same kind.
fn add(fake: &mut Fake<'_>, principle: String) -> Option<Finish> {
    if !fake.form().shape().may_promise {
        return None;
    }
    let name = principle.split('=').next()?.to_owned();
    let promise = promise(fake, &principle);
    let promises = fake.json["promises"].as_array_mut()?;
    let is_same = |known: &Json| known["principle"].as_str().is_some_and(|text| text.split('=').next() == Some(&name));
    match promises.iter().position(is_same) {
        Some(at) => promises[at] = promise,
        None => promises.push(promise),
    }
    Some(Finish::AsItIs)
}

fn fewest_distinct(fake: &Fake<'_>) -> Option<u64> {
    fake.units().iter().map(|unit| unit.len() as u64).min()
}

/// The smallest group (or bucket, or class of a user) has one row fewer than is promised.
fn k(fake: &mut Fake<'_>, _: &mut ChaCha20Rng) -> Option<Finish> {
    let k = fake.sizes().into_iter().min()? + 1;
    add(fake, format!("k={k}"))
}

/// In some group, the most frequent value has more than 1/l of the rows: c · l > n.
fn l(fake: &mut Fake<'_>, _: &mut ChaCha20Rng) -> Option<Finish> {
    let l = fake.units().iter().map(|unit| truth::size(unit) / truth::most(unit)).min()? + 1;
    add(fake, format!("l={l}"))
}

/// Some group has one distinct value fewer than is promised.
fn distinct_l(fake: &mut Fake<'_>, _: &mut ChaCha20Rng) -> Option<Finish> {
    let l = fewest_distinct(fake)? + 1;
    add(fake, format!("distinct-l={l}"))
}

/// The entropy of m values is at most ln m.
fn entropy_l(fake: &mut Fake<'_>, _: &mut ChaCha20Rng) -> Option<Finish> {
    let l = fewest_distinct(fake)? + 1;
    add(fake, format!("entropy-l={l}"))
}

/// With fewer than l values, the sum of the l-th and all rarer counts is 0, and no count is below that.
fn recursive_l(fake: &mut Fake<'_>, _: &mut ChaCha20Rng) -> Option<Finish> {
    let l = fewest_distinct(fake)? + 1;
    add(fake, format!("recursive-l=3,{l}"))
}

/// Whether the shares of some group differ from those of the whole table.
fn has_another_distribution(fake: &Fake<'_>) -> bool {
    let mut whole = Counts::new();
    // Every user sees all rows, so the shares of the whole table are the same over all of a user's classes together.
    let units = fake.units();
    units.iter().flatten().for_each(|(value, n)| *whole.entry(value.clone()).or_default() += n);
    let total: u64 = whole.values().sum();
    let differs = |unit: &Counts| {
        let n = truth::size(unit);
        whole.iter().any(|(value, count)| unit.get(value).copied().unwrap_or(0) * total != count * n)
    };
    units.iter().any(differs)
}

/// A group whose shares differ from the table's has a positive distance from it: here at least 1 / (400 · 400 · 400),
/// by any of the three distances.
fn t(fake: &mut Fake<'_>, _: &mut ChaCha20Rng) -> Option<Finish> {
    has_another_distribution(fake).then_some(())?;
    add(fake, "t=0.000000001".to_owned())
}

/// If shares differ, one of them exceeds the table's by at least 1 / (400 · 400).
fn beta(fake: &mut Fake<'_>, _: &mut ChaCha20Rng) -> Option<Finish> {
    has_another_distribution(fake).then_some(())?;
    add(fake, "beta=0.000000001".to_owned())
}

/// Of at most 400 values, the most frequent one has a share of at least 1/400.
fn alpha_k(fake: &mut Fake<'_>, _: &mut ChaCha20Rng) -> Option<Finish> {
    add(fake, "alpha-k=0.001,1".to_owned())
}

/// Some group has a narrower range than is promised.
fn ke(fake: &mut Fake<'_>, _: &mut ChaCha20Rng) -> Option<Finish> {
    let head = fake.head_of(&fake.sensitive());
    (head.kind == Kind::Integer).then_some(())?;
    let spans = fake.units().into_iter().map(|unit| truth::span(&head, &unit) as u64).min()?;
    add(fake, format!("ke=2,{}", spans + 1))
}

/// No value weighs more than 1, so a group of n rows weighs at most n.
fn weight(fake: &mut Fake<'_>, _: &mut ChaCha20Rng) -> Option<Finish> {
    fake.attribute(&fake.sensitive()).get("categories")?;
    let alpha = fake.units().iter().map(truth::size).min()? + 1;
    add(fake, format!("distinct-l-alpha=1,{alpha}"))
}

/// A form without groups cannot promise anything about every group.
fn by_rank_swap(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    (!fake.form().shape().may_promise).then_some(())?;
    let principle = ["k=2", "l=2", "distinct-l=2"][pick(rng, 3)?];
    fake.json["promises"] = json!([promise(fake, principle)]);
    Some(Finish::AsItIs)
}

/// Only the sensitive column is protected.
fn about_another(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let quasi = fake.with_role("quasi");
    let promises = fake.json["promises"].as_array_mut()?;
    let promise = promises.iter_mut().find(|promise| promise.get("about").is_some())?;
    promise["about"] = json!(quasi[pick(rng, quasi.len())?]);
    Some(Finish::AsItIs)
}

/// The form has no such groups.
fn of_other_groups(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let promises = fake.json["promises"].as_array_mut()?;
    let at = pick(rng, promises.len())?;
    let others: &[&str] = match promises[at]["of"].as_str()? {
        "group" => &["batch", "bucket", "user"],
        "user" => &["batch", "bucket", "group"],
        _ => &["user", "group"],
    };
    promises[at]["of"] = json!(others[pick(rng, others.len())?]);
    Some(Finish::AsItIs)
}

/// Sixty levels with a single node each say nothing about distances between values. Without them all values are at
/// distance 1, so the distance of a group from the table is half the sum of the differences of shares.
fn padded_taxonomy(fake: &mut Fake<'_>, _: &mut ChaCha20Rng) -> Option<Finish> {
    let name = fake.sensitive();
    (fake.kind_of(&name) == Kind::Category && fake.form().shape().may_promise).then_some(())?;
    let mut whole = Counts::new();
    let units = fake.units();
    units.iter().flatten().for_each(|(value, n)| *whole.entry(value.clone()).or_default() += n);
    let total: u64 = whole.values().sum();
    let distance = |unit: &Counts| -> f64 {
        let n = truth::size(unit) as f64;
        let part = |value: &String| unit.get(value).copied().unwrap_or(0) as f64 / n;
        whole.iter().map(|(value, count)| (part(value) - *count as f64 / total as f64).abs()).sum::<f64>() / 2.0
    };
    units.iter().any(|unit| distance(unit) > 0.05).then_some(())?;
    let levels = || (1..=60).map(|level| format!("level {level}")).chain(["*".to_owned()]);
    let lines: Vec<Vec<String>> =
        whole.keys().map(|value| std::iter::once(value.clone()).chain(levels()).collect()).collect();
    fake.attribute_mut(&name)["taxonomy"] = json!(lines);
    add(fake, "t=0.02".to_owned())
}

//! Things that a manifest says twice, in another order, or where they mean nothing: room for messages.

use chrysalis::table::Kind;
use rand::RngExt;
use rand::rngs::ChaCha20Rng;
use rand::seq::IndexedRandom;
use serde_json::{Value as Json, json};

use super::{Finish, Lie, alone};
use crate::people::pick;
use crate::release::{After, Fake};

pub(super) const LIES: &[Lie] = &[
    alone("idle: counts of a quasi column", counts_of_quasi),
    alone("idle: values of numbers, ends of words", domain_of_another_kind),
    alone("idle: ends spelled as another kind", ends_spelled),
    alone("idle: taxonomy of a quasi column", taxonomy_of_quasi),
    alone("idle: categories of a quasi column", categories_of_quasi),
    alone("idle: a promise twice", promise_twice),
    alone("idle: a quasi-identifier twice", user_twice),
    alone("idle: a name twice in a quasi-identifier", name_twice),
    alone("idle: an acceptance twice", acceptance_twice),
    alone("idle: a feature twice", feature_twice),
    alone("idle: tables in another order", table_order),
    alone("idle: attributes in another order", attribute_order),
    alone("idle: a table in parts of its own choice", parts),
];

/// A quasi attribute of a wanted kind.
fn any_quasi<'a>(
    fake: &'a mut Fake<'_>,
    rng: &mut ChaCha20Rng,
    is_wanted: impl Fn(Kind) -> bool,
) -> Option<&'a mut Json> {
    let names: Vec<String> = fake.with_role("quasi").into_iter().filter(|name| is_wanted(fake.kind_of(name))).collect();
    Some(fake.attribute_mut(names.choose(rng)?))
}

fn is_word(kind: Kind) -> bool {
    matches!(kind, Kind::Category | Kind::Ordinal)
}

/// Only sensitive values have counts, and these are made up.
fn counts_of_quasi(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let domain = &mut any_quasi(fake, rng, is_word)?["domain"];
    let n = domain["values"].as_array()?.len();
    domain["counts"] = (0..n).map(|at| json!(1_000_000 + at)).collect();
    Some(Finish::AsItIs)
}

/// Numbers have ends and words have values, not the other way round.
fn domain_of_another_kind(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let attribute = any_quasi(fake, rng, |_| true)?;
    let kind: Kind = attribute["kind"].as_str()?.parse().ok()?;
    match kind {
        Kind::Integer | Kind::Real => attribute["domain"]["values"] = json!([1, 2, 3]),
        Kind::Date => attribute["domain"]["values"] = json!(["1950-01-01", "1951-01-01"]),
        Kind::DateTime => attribute["domain"]["values"] = json!(["1950-01-01T10:00:00", "1951-01-01T10:00:00"]),
        Kind::Ordinal | Kind::Category => attribute["domain"]["min"] = json!("Bob has HIV"),
    }
    Some(Finish::AsItIs)
}

/// The ends of an integer column must be integers, not text or reals.
fn ends_spelled(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let end = &mut any_quasi(fake, rng, |kind| kind == Kind::Integer)?["domain"]["min"];
    let number = end.as_i64()?;
    *end = if rng.random_range(0..2) == 0 { json!(number.to_string()) } else { json!(number as f64) };
    Some(Finish::AsItIs)
}

/// Only a sensitive column has a taxonomy in the manifest.
fn taxonomy_of_quasi(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    any_quasi(fake, rng, |_| true)?["taxonomy"] = json!([["Bob", "has HIV", "*"]]);
    Some(Finish::AsItIs)
}

/// Only a sensitive column has categories.
fn categories_of_quasi(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let attribute = any_quasi(fake, rng, |_| true)?;
    attribute["categories"] = json!([["Bob"], ["has HIV"]]);
    attribute["weights"] = json!(["0", "1"]);
    Some(Finish::AsItIs)
}

/// Repeats an entry of a list.
fn twice(list: &mut Json, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let list = list.as_array_mut()?;
    let entry = list.choose(rng)?.clone();
    let at = rng.random_range(0..=list.len());
    list.insert(at, entry);
    Some(Finish::AsItIs)
}

/// A promise is made by saying it once.
fn promise_twice(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    twice(&mut fake.json["promises"], rng)
}

/// A user is described by one list of columns.
fn user_twice(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    twice(&mut fake.json["quasi_identifiers"], rng)
}

/// A column that a user knows is named once.
fn name_twice(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    twice(&mut fake.json["quasi_identifiers"][0], rng)
}

/// A risk is accepted by naming it once.
fn acceptance_twice(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    twice(fake.json.get_mut("accepted")?, rng)
}

/// A feature that a reader must support is named once.
fn feature_twice(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let mut features = fake.json["features"].clone();
    twice(&mut features, rng)?;
    fake.after.push(After::Text(Box::new(move |text| {
        let mut json: Json = serde_json::from_str(text).unwrap();
        json["features"] = features.clone();
        format!("{}\n", serde_json::to_string_pretty(&json).unwrap())
    })));
    Some(Finish::AsItIs)
}

/// The form determines the order of its tables.
fn table_order(fake: &mut Fake<'_>, _: &mut ChaCha20Rng) -> Option<Finish> {
    (fake.sheets.len() > 1).then_some(())?;
    fake.after.push(After::Json(Box::new(|json| json["tables"].as_array_mut().unwrap().reverse())));
    Some(Finish::AsItIs)
}

/// Columns must be in the order of the attributes, and here they are not.
fn attribute_order(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let attributes = fake.json["attributes"].as_array_mut()?;
    let quasi: Vec<usize> = (0..attributes.len()).filter(|&at| attributes[at]["role"] == "quasi").collect();
    let (one, other) = (*quasi.choose(rng)?, *quasi.choose(rng)?);
    (one != other).then_some(())?;
    attributes.swap(one, other);
    Some(Finish::AsItIs)
}

/// How a table is split into files, and what those are called, is not the publisher's choice: an empty file could carry
/// a message in its name.
fn parts(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    (fake.honest.format == chrysalis::store::Format::Csv).then_some(())?;
    let at = pick(rng, fake.sheets.len())?;
    let names: Vec<String> = fake.sheets[at].heads.iter().map(|head| head.name.clone()).collect();
    let (file, bytes) = ("bob-has-hiv.csv", format!("{}\n", names.join(",")).into_bytes());
    let hash = crate::release::hash(&bytes);
    fake.after.push(After::Add(file.to_owned(), bytes));
    fake.after.push(After::Json(Box::new(move |json| {
        let part = json!({"file": file, "rows": 0, "sha256": hash});
        json["tables"][at]["parts"].as_array_mut().unwrap().push(part);
        json["features"].as_array_mut().unwrap().push(json!("parts"));
    })));
    Some(Finish::AsItIs)
}

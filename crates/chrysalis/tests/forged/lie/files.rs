//! Messages in the folder and in the text of the manifest.

use rand::RngExt;
use rand::rngs::ChaCha20Rng;
use rand::seq::IndexedRandom;
use serde_json::{Map, Value as Json, json};

use super::{Finish, Lie, alone};
use crate::people::pick;
use crate::release::{After, Fake};

pub(super) const LIES: &[Lie] = &[
    alone("channel: a file more", extra_file),
    alone("channel: a file under another name", file_renamed),
    alone("channel: blanks in the manifest", blanks),
    alone("channel: fields in another order", field_order),
    alone("channel: an unknown field", unknown_field),
    alone("channel: escapes in the manifest", escapes),
    alone("channel: capitals in a hash", capitals),
    alone("channel: numbers in another spelling", numbers),
    alone("channel: a default spelled out", defaults),
];

/// The manifest does not name the file.
fn extra_file(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let names = ["people.csv", ".hidden", "README", "notes/", "release.json.bak", "_SUCCESS"];
    fake.after.push(After::Add((*names.choose(rng)?).to_owned(), b"Bob has HIV".to_vec()));
    Some(Finish::AsItIs)
}

/// A table's file must have the table's name.
fn file_renamed(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let at = pick(rng, fake.sheets.len())?;
    let file = fake.json["tables"][at]["parts"][0]["file"].as_str()?;
    let name = match rng.random_range(0..2) {
        0 => format!("bob-has-hiv-{file}"),
        _ => file.to_uppercase(),
    };
    fake.after.push(After::Rename(at, name));
    Some(Finish::AsItIs)
}

fn text(fake: &mut Fake<'_>, change: impl Fn(&str) -> String + 'static) -> Option<Finish> {
    fake.after.push(After::Text(Box::new(change)));
    Some(Finish::AsItIs)
}

/// Blanks mean nothing to a reader, so their number can carry a message.
fn blanks(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    match rng.random_range(0..4) {
        0 => text(fake, |text| format!("{text}\n  \n")),
        1 => text(fake, |text| text.replacen(": ", ":  ", 1)),
        2 => text(fake, |text| text.trim_end().to_owned()),
        _ => text(fake, |text| serde_json::from_str::<Json>(text).unwrap().to_string()),
    }
}

/// Fields may be in any order, so the order can carry a message.
fn field_order(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let inside = rng.random_range(0..2) == 0;
    text(fake, move |text| {
        let mut json: Json = serde_json::from_str(text).unwrap();
        let place = if inside { &mut json["attributes"][0] } else { &mut json };
        let fields = place.as_object().unwrap().clone();
        *place = Json::Object(fields.into_iter().rev().collect::<Map<String, Json>>());
        format!("{}\n", serde_json::to_string_pretty(&json).unwrap())
    })
}

/// An unknown field means nothing to a reader, so it can carry a message.
fn unknown_field(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let place = rng.random_range(0..4);
    text(fake, move |text| {
        let mut json: Json = serde_json::from_str(text).unwrap();
        let field = match place {
            0 => &mut json["note"],
            1 => &mut json["attributes"][0]["note"],
            2 => &mut json["tables"][0]["note"],
            _ => &mut json["tables"][0]["parts"][0]["note"],
        };
        *field = json!("Bob has HIV");
        format!("{}\n", serde_json::to_string_pretty(&json).unwrap())
    })
}

/// A letter may be written as an escape, so the choice of letters can carry a message.
fn escapes(fake: &mut Fake<'_>, _: &mut ChaCha20Rng) -> Option<Finish> {
    text(fake, |text| text.replacen("chrysalis-release", "chrysalis-relea\\u0073e", 1))
}

/// A hash in capitals is the same hash, so the choice of capitals can carry a message.
fn capitals(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let at = pick(rng, fake.sheets.len())?;
    fake.after.push(After::Json(Box::new(move |json| {
        let hash = &mut json["tables"][at]["parts"][0]["sha256"];
        *hash = json!(hash.as_str().unwrap().to_uppercase());
    })));
    Some(Finish::AsItIs)
}

/// `60`, `6e1` and `60.0` are the same number, so the choice can carry a message.
fn numbers(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let (rows, kind) = (fake.json["rows"].as_u64()?, rng.random_range(0..2));
    let has_real = fake.with_role("quasi").iter().find(|name| *name == "weight").cloned();
    match (kind, has_real) {
        (0, Some(_)) => text(fake, |text| text.replacen(".25", ".250", 1)),
        _ => text(fake, move |text| text.replacen(&format!("\"rows\": {rows}"), &format!("\"rows\": {rows}.0"), 1)),
    }
}

/// An absent field means the same as its default spelled out.
fn defaults(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let fields = [("suppressed", json!(0)), ("reproducible", json!(false)), ("accepted", json!([]))];
    let (name, value) = fields.choose(rng)?.clone();
    fake.json.get(name).is_none().then_some(())?;
    text(fake, move |text| {
        let mut json: Json = serde_json::from_str(text).unwrap();
        json[name] = value.clone();
        format!("{}\n", serde_json::to_string_pretty(&json).unwrap())
    })
}

//! What tests of releases by cells have in common: people, and how they are published.

#![allow(dead_code, reason = "every test uses some of it")]

use std::path::Path;

use bytes::Bytes;
use chrysalis::cells::{Place, publish_by_cells_of};
use chrysalis::report::PublishReport;
use chrysalis::store::Input;
use chrysalis::table::{CsvOptions, Table};
use chrysalis::{Draft, Error, Manifest, Seed, Unwatched};
use rand::rngs::ChaCha20Rng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use serde_json::{Value as Json, json};

/// People whose sensitive values depend on what is known of them, so that cells differ from the whole table.
pub(crate) struct People {
    pub(crate) rows: Vec<[String; 7]>,
}

pub(crate) const HEADER: [&str; 7] = ["age", "sex", "ward", "since", "disease", "cost", "kept"];

impl People {
    pub(crate) fn draw(seed: u64, rows: usize) -> People {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let wards = ["north", "south", "east", "west", "centre", "hill", "lake", "wood"];
        let diseases = ["flu", "cold", "ulcer", "asthma", "gout", "angina", "migraine", "otitis"];
        let mut row = |_| {
            let age: i64 = rng.random_range(0..90).min(rng.random_range(0..110));
            let ward = rng.random_range(0..8).min(rng.random_range(0..8));
            let tilt = usize::from(age > 50) * 2;
            let disease = (rng.random_range(0..6) + tilt) % 8;
            let cost = 100 * rng.random_range(1..60) + age;
            let since = format!("20{:02}-0{}-11", rng.random_range(10..25), rng.random_range(1..9));
            [
                if rng.random_range(0..50) == 0 { String::new() } else { age.to_string() },
                ["F", "M"][rng.random_range(0..2)].to_owned(),
                wards[ward].to_owned(),
                since,
                diseases[disease].to_owned(),
                cost.to_string(),
                ["a", "b"][rng.random_range(0..2)].to_owned(),
            ]
        };
        People { rows: (0..rows).map(&mut row).collect() }
    }

    pub(crate) fn csv(&self) -> Bytes {
        let lines = self.rows.iter().map(|row| row.join(","));
        let lines: Vec<String> = std::iter::once(HEADER.join(",")).chain(lines).collect();
        (lines.join("\n") + "\n").into()
    }

    pub(crate) fn shuffled(&self, seed: u64) -> People {
        let mut rows = self.rows.clone();
        rows.shuffle(&mut ChaCha20Rng::seed_from_u64(seed));
        People { rows }
    }

    pub(crate) fn input(&self, piece_len: usize) -> Input {
        let options = CsvOptions { piece_len, ..CsvOptions::default() };
        Input::of_bytes("people.csv".to_owned(), self.csv(), &options).unwrap()
    }

    pub(crate) fn table(&self, draft: &Draft) -> Table {
        let recipe = draft.check(&HEADER.map(str::to_owned)).unwrap();
        self.input(1 << 20).read(recipe.requests()).unwrap()
    }
}

pub(crate) fn draft(method: &str, sensitive: Json, require: &[&str], more: Json) -> Draft {
    let mut draft = json!({
        "quasi": ["age", "sex", "ward", "since"], "sensitive": sensitive,
        "release": {"method": method, "require": require, "format": "csv"},
    });
    for (key, value) in more.as_object().unwrap() {
        match value.as_object() {
            Some(inner) => inner.iter().for_each(|(name, value)| draft[key][name] = value.clone()),
            None => draft[key] = value.clone(),
        }
    }
    serde_json::from_value(draft).unwrap()
}

pub(crate) fn by_cells(
    people: &People,
    piece_len: usize,
    draft: &Draft,
    most_rows: u64,
    out: &Path,
) -> Result<(Manifest, PublishReport), Error> {
    let recipe = draft.check(&HEADER.map(str::to_owned)).unwrap();
    let place = Place { out, force: false };
    publish_by_cells_of(people.input(piece_len), &recipe, most_rows, place, Seed::Fixed(7), &Unwatched)
}

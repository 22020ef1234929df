//! Messages about columns with known values: a sensitive one with a single value, a quasi one that names people.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Mutex;

use chrysalis::table::{Column, Table};
use chrysalis::{Counted, Draft, Error, Seed, Watch, publish};
use serde_json::json;

/// Records the notes it receives.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Watch for Notes {
    fn phase(&self, _: &'static str, _: Option<u64>, _: Counted) {}

    fn advance(&self, _: u64) {}

    fn note(&self, sentence: &str) {
        self.0.lock().unwrap().push(sentence.to_owned());
    }
}

const ROWS: i64 = 24;

/// The notes when a table of 24 people is published.
fn told(quasi: Vec<Column>, sensitive: Column) -> Result<Vec<String>, Error> {
    let names: Vec<String> = quasi.iter().map(|column| column.name().to_owned()).collect();
    let draft = json!({"quasi": names, "sensitive": "s", "release": {"require": ["k=2", "l=2"]}});
    let draft: Draft = serde_json::from_value(draft).unwrap();
    let header: Vec<String> = names.iter().cloned().chain(["s".to_owned()]).collect();
    let table = Table::new(quasi.into_iter().chain([sensitive]).collect());
    let notes = Notes::default();
    publish(table, &draft.check(&header)?, Seed::Fixed(1), &notes)?;
    Ok(notes.0.into_inner().unwrap())
}

fn words(name: &str, word: impl Fn(i64) -> String) -> Column {
    let words: Vec<String> = (0..ROWS).map(word).collect();
    Column::texts(name, words.iter().map(String::as_str))
}

fn numbers(name: &str, number: impl Fn(i64) -> i64) -> Column {
    Column::integers(name, &(0..ROWS).map(number).collect::<Vec<_>>())
}

fn several() -> Column {
    words("s", |row| format!("v{}", row % 4))
}

#[test]
fn a_sensitive_column_with_one_value_is_refused() {
    let error = told(vec![numbers("age", |row| 20 + row / 2)], words("s", |_| "flu".to_owned())).unwrap_err();
    assert!(error.message.starts_with("every row has the same value of `s`, so nothing about it can be "), "{error}");
    assert!(error.remedy.to_string().starts_with("name another column with `sensitive`"), "{}", error.remedy);
    assert!(told(vec![numbers("age", |row| 20 + row / 2)], several()).is_ok());
}

#[test]
fn an_identifier_among_the_quasi_columns_is_told() {
    let is_told = |column: Column| {
        let start = format!("`{}` looks like an identifier: ", column.name());
        let told = told(vec![numbers("age", |row| 20 + row / 2), column], several()).unwrap();
        told.iter().any(|note| note.starts_with(&start))
    };
    assert!(is_told(numbers("patient_id", |row| 1000 + 7 * row)));
    assert!(is_told(words("code", |row| format!("P{row}"))));
    // Two rows share a number; then more than one row in ten does.
    assert!(is_told(numbers("patient_id", |row| row.max(1))));
    assert!(!is_told(numbers("patient_id", |row| row.max(3))));
    // In a small table, everyone may have a different age.
    assert!(!is_told(numbers("age_in_months", |row| 240 + 11 * row)));
    assert!(!is_told(words("sex", |row| if row % 2 == 0 { "F" } else { "M" }.to_owned())));
}

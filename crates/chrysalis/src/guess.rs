//! What columns may be, guessed from their names and values. The owner decides.

use chrysalis_table::{Column, Kind, Role};

/// Parts of names that tell of something private, the most private first.
const SENSITIVE: [&str; 16] = [
    "disease",
    "diagnos",
    "hiv",
    "illness",
    "symptom",
    "condition",
    "treatment",
    "salary",
    "income",
    "wage",
    "debt",
    "cost",
    "capital",
    "religion",
    "crime",
    "occupation",
];
/// Parts of names that tell of something that names a person.
const IDENTIFIER: [&str; 8] = ["name", "ssn", "email", "e_mail", "phone", "passport", "address", "iban"];

/// How private a column sounds: 0 the most, `None` not at all.
pub fn privacy_rank(column: &Column) -> Option<usize> {
    let name = column.name().to_lowercase();
    SENSITIVE.iter().position(|word| name.contains(word))
}

/// A guess from names and numbers; the owner decides.
pub fn suggest(column: &Column, rows: usize) -> Role {
    let name = column.name().to_lowercase();
    let (n_values, kind) = (column.domain().len(), column.domain().kind());
    let is_id = name == "id" || name.ends_with("_id") || name.starts_with("id_");
    let names_a_person = is_id || IDENTIFIER.iter().any(|word| name.contains(word));
    let mostly_unique = rows >= 20 && n_values * 10 >= rows * 9 && kind != Kind::Real;
    if mostly_unique || (names_a_person && n_values * 2 > rows) {
        Role::Identifier
    } else if privacy_rank(column).is_some() {
        Role::Sensitive
    } else if kind == Kind::Real || n_values > 1_000 || n_values <= 1 {
        Role::Other
    } else {
        Role::QuasiIdentifier
    }
}

//! A table as the page needs it: columns with guesses, and the choices to begin with.

use chrysalis::guess::{GuessedRole, suggest_all};
use chrysalis::table::Column;
use serde_json::{Value, json};

use crate::error::shown;
use crate::tables::{Loaded, SAMPLE};

/// What a page shows of a table: never a row, and never a word from it.
pub(crate) fn table(loaded: &Loaded, notes: &[String]) -> Value {
    let columns = loaded.table.columns().iter().zip(suggest_all(&loaded.table)).map(|(column, guess)| {
        let domain = column.domain();
        json!({
            "name": column.name(),
            "kind": domain.kind().name(),
            "distinct": domain.values().len(),
            "missing": if domain.has_missing() { column.histogram()[0] } else { 0 },
            "range": range(column),
            "guess": guess.role.name(),
            "repeated": if guess.role == GuessedRole::Person { repeated(column) } else { 0 },
            "reason": guess.reason,
        })
    });
    json!({
        "name": loaded.name,
        "rows": loaded.table.rows(),
        "sample": loaded.table.rows().min(SAMPLE),
        "columns": columns.collect::<Vec<_>>(),
        "draft": draft(loaded),
        "unclear": loaded.unclear.as_ref().map(shown),
        "notes": notes,
    })
}

/// Rows whose value other rows have as well: those of people with several rows, if the column numbers people.
fn repeated(column: &Column) -> u64 {
    let counts = column.histogram();
    counts.iter().skip(usize::from(column.domain().has_missing())).filter(|&&rows| rows > 1).sum()
}

/// The ends of numbers and dates.
fn range(column: &Column) -> Option<[String; 2]> {
    let domain = column.domain();
    let (low, high) = domain.bounds().filter(|_| domain.kind().has_distances())?;
    Some([low.to_string(), high.to_string()])
}

/// The page is not told where a file is: it does not choose that.
fn draft(loaded: &Loaded) -> Value {
    let mut draft = json!(loaded.first);
    if let Some(members) = draft.as_object_mut() {
        for name in ["input", "delimiter", "encoding", "na", "date_format"] {
            members.remove(name);
        }
    }
    draft
}

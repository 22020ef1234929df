//! Whether a database says what our answer says.

use std::path::Path;

use chrysalis_load::Target;
use chrysalis_query::{AggregateAnswer, Answer, Explanation};
use chrysalis_table::{DateTime, Value};
use serde_json::Value as Json;

pub(crate) fn sqlite(file: &Path) -> Target {
    Target::parse(&format!("sqlite:{}", file.display()), None, None).unwrap()
}

pub(crate) fn ask_postgres(client: &mut postgres::Client, statement: &str) -> Result<Vec<Vec<Json>>, String> {
    let messages = client.simple_query(statement).map_err(|error| match error.as_db_error() {
        Some(said) => said.to_string(),
        None => error.to_string(),
    })?;
    let rows = messages.into_iter().filter_map(|message| match message {
        postgres::SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let cell = |text: Option<&str>| text.map_or(Json::Null, |text| Json::String(text.to_owned()));
    Ok(rows.map(|row| (0..row.len()).map(|at| cell(row.get(at))).collect()).collect())
}

/// Whether an engine's rows say what our answer says.
pub(crate) fn compare(answer: &Answer, rows: &[Vec<Json>]) -> Result<(), String> {
    if rows.len() != answer.rows.len() {
        return Err(format!("{} rows, not {}", rows.len(), answer.rows.len()));
    }
    for (ours, theirs) in answer.rows.iter().zip(rows) {
        let (keys, numbers) = theirs.split_at(answer.keys.len());
        if !same_keys(&ours.group, keys) {
            return Err(format!("the keys {keys:?}, not {:?}", ours.group));
        }
        for (aggregate, numbers) in ours.aggregates.iter().zip(numbers.chunks(4)) {
            same_numbers(aggregate, numbers, slack(&ours.because))
                .map_err(|problem| format!("{:?} {}: {problem}", ours.group, aggregate.name))?;
        }
    }
    Ok(())
}

pub(crate) fn same_keys(ours: &[Option<Value>], theirs: &[Json]) -> bool {
    ours.iter().zip(theirs).all(|(ours, theirs)| match (ours.as_ref().map(ToString::to_string), theirs) {
        (None, Json::Null) => true,
        (Some(ours), Json::String(text)) if ours == *text => true,
        // Databases write a blank where we write a T, and some write more decimals.
        (Some(ours), Json::String(text)) if DateTime::parse(&ours).is_some() => {
            DateTime::parse(text) == DateTime::parse(&ours)
        }
        (Some(ours), theirs) => number(theirs).is_some_and(|theirs| ours.parse() == Ok(theirs)),
        _ => false,
    })
}

pub(crate) fn number(json: &Json) -> Option<f64> {
    match json {
        Json::String(text) => text.parse().ok(),
        json => json.as_f64(),
    }
}

/// How far estimates may differ, relatively. SQL computes with 1 − ρ, which has no more than 16 digits: where a row
/// matches with a tiny chance ρ, such as that of one microsecond, fewer digits are left.
pub(crate) fn slack(because: &Explanation) -> f64 {
    let share = because.expected / because.rows.max(1) as f64;
    (1e-15 / share.max(1e-15)).clamp(1e-9, 1e-3)
}

pub(crate) fn same_numbers(ours: &AggregateAnswer, theirs: &[Json], slack: f64) -> Result<(), String> {
    let known = [ours.estimate, ours.lower, ours.upper].into_iter().flatten();
    let scale = known.fold(1e-3, |most: f64, x| most.max(x.abs()));
    let pairs = [ours.estimate, ours.lower, ours.upper, ours.std_error].into_iter().zip(theirs);
    for ((ours, theirs), name) in pairs.zip(["estimate", "lower", "upper", "std_error"]) {
        let is_same = match (ours, number(theirs)) {
            (None, None) => true,
            // A variance computed as a difference of squares may be off in their last digits.
            (Some(a), Some(b)) if name == "std_error" && (a * a - b * b).abs() <= 1e-14 * scale * scale => true,
            (Some(a), Some(b)) if name == "estimate" || name == "std_error" => {
                (a - b).abs() <= slack * a.abs().max(scale)
            }
            (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(scale),
            _ => false,
        };
        if !is_same {
            return Err(format!("{name} is {theirs}, not {ours:?}"));
        }
    }
    Ok(())
}

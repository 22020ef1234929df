//! Values of knobs as users write them.

use std::collections::BTreeMap;
use std::time::Duration;

use chrysalis_criteria::{Rational, parse_rational};
use chrysalis_evaluate::EvaluateError;
use chrysalis_evaluate::workload::Family;
use chrysalis_publish::partitioner::Metric;
use chrysalis_release::Preparation;
use chrysalis_store::Format;
use chrysalis_table::{DateFormat, Encoding, MissingPolicy};

use crate::{IntervalsDraft, UnitText};

/// A share of the rows, as an exact number.
pub fn share(text: &str) -> Result<Rational, String> {
    let number = parse_rational(text).filter(|share| *share <= Rational::from_integer(1));
    number.ok_or_else(|| "expected a number from 0 to 1, such as 0.05".to_owned())
}

/// What full-domain minimizes.
pub fn metric(text: &str) -> Result<Metric, String> {
    text.parse()
}

/// The levels of columns, such as `age=1,zip=2`.
pub fn levels(text: &str) -> Result<BTreeMap<String, usize>, String> {
    let wrong = || "expected columns with their levels, such as age=1,zip_code=2".to_owned();
    let mut levels = BTreeMap::new();
    for part in text.split(',') {
        let (name, number) = part.rsplit_once('=').ok_or_else(wrong)?;
        let (name, level) = (name.trim(), number.trim().parse().map_err(|_| wrong())?);
        if name.is_empty() {
            return Err(wrong());
        }
        if levels.insert(name.to_owned(), level).is_some() {
            return Err(format!("the level of `{name}` is given twice"));
        }
    }
    Ok(levels)
}

/// A span of time.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse().ok().filter(|seconds: &f64| *seconds >= 0.0);
    let duration = number.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.ok_or_else(|| "expected a number of seconds, such as 10 or 0.5".to_owned())
}

/// A kind of random questions.
pub fn workload(text: &str) -> Result<Family, String> {
    text.parse().map_err(|error: EvaluateError| format!("{error}; {}", error.hint()))
}

/// The byte between fields.
pub fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        _ if matches!(text, "tab" | "\\t") => Ok(b'\t'),
        [byte] if !matches!(byte, b'"' | b'\n' | b'\r' | 0) => Ok(*byte),
        _ => Err("expected one character, such as `,`, `;`, `|` or `tab`".into()),
    }
}

/// How a text file is encoded.
pub fn encoding(text: &str) -> Result<Encoding, String> {
    text.parse()
}

/// How dates are written.
pub fn date_format(text: &str) -> Result<DateFormat, String> {
    text.parse()
}

/// Interval widths, or calendar units, with commas between them.
pub fn intervals(text: &str) -> Result<IntervalsDraft, String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let numbers: Vec<f64> = parts.iter().filter_map(|part| part.parse().ok()).collect();
    if numbers.len() == parts.len() {
        return Ok(IntervalsDraft::Widths(numbers));
    }
    let units = parts.iter().filter(|part| part.parse::<f64>().is_err());
    let units: Vec<UnitText> = units.map(|part| part.parse().map(UnitText)).collect::<Result<_, _>>()?;
    if numbers.is_empty() {
        return Ok(IntervalsDraft::Units(units));
    }
    Err("intervals are either numbers or calendar units, not both".into())
}

/// The policy for rows that lack a value.
pub fn missing(text: &str) -> Result<MissingPolicy, String> {
    match text {
        "as-value" => Ok(MissingPolicy::AsValue),
        "drop" => Ok(MissingPolicy::Drop),
        "error" => Ok(MissingPolicy::Error),
        _ => Err("expected as-value, drop or error".into()),
    }
}

/// One step in the preparation of a column.
pub fn preparation(text: &str) -> Result<Preparation, String> {
    text.parse()
}

/// How tables are written.
pub fn format(text: &str) -> Result<Format, String> {
    match text {
        "parquet" => Ok(Format::Parquet),
        "csv" => Ok(Format::Csv),
        _ => Err("expected parquet or csv".into()),
    }
}

/// The names in a list such as `a, b`.
pub fn names(text: &str) -> Vec<String> {
    text.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

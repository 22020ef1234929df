//! Values of flags as people write them.

use std::path::PathBuf;
use std::time::Duration;

use chrysalis_criteria::{Rational, parse_rational};
use chrysalis_evaluate::EvaluateError;
use chrysalis_evaluate::workload::Family;
use chrysalis_publish::partitioner::Metric;
use chrysalis_store::Format;
use chrysalis_table::{Kind, MissingPolicy};
pub(super) fn threads(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| (1..=1024).contains(n)).ok_or_else(|| "expected a number from 1 to 1024".to_owned())
}

/// A share of the rows, exactly.
pub(crate) fn share(text: &str) -> Result<Rational, String> {
    let number = parse_rational(text).filter(|share| *share <= Rational::from_integer(1));
    number.ok_or_else(|| "expected a number from 0 to 1, such as 0.05".to_owned())
}

pub(crate) fn metric(text: &str) -> Result<Metric, String> {
    text.parse()
}

pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse().ok().filter(|seconds: &f64| *seconds >= 0.0);
    let duration = number.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.ok_or_else(|| "expected a number of seconds, such as 10 or 0.5".to_owned())
}

pub(crate) fn workload(text: &str) -> Result<Family, String> {
    text.parse().map_err(|error: EvaluateError| format!("{error}; {}", error.hint()))
}

pub(crate) fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        _ if matches!(text, "tab" | "\\t") => Ok(b'\t'),
        [byte] if !matches!(byte, b'"' | b'\n' | b'\r' | 0) => Ok(*byte),
        _ => Err("expected one character, such as `,`, `;`, `|` or `tab`".into()),
    }
}

pub(crate) fn missing(text: &str) -> Result<MissingPolicy, String> {
    match text {
        "as-value" => Ok(MissingPolicy::AsValue),
        "drop" => Ok(MissingPolicy::Drop),
        "error" => Ok(MissingPolicy::Error),
        _ => Err("expected as-value, drop or error".into()),
    }
}

pub(crate) fn format(text: &str) -> Result<Format, String> {
    match text {
        "parquet" => Ok(Format::Parquet),
        "csv" => Ok(Format::Csv),
        _ => Err("expected parquet or csv".into()),
    }
}

/// `column=rest`.
fn pair(text: &str) -> Result<(String, &str), String> {
    let (column, rest) = text.split_once('=').ok_or("expected COLUMN=…")?;
    if column.is_empty() || rest.is_empty() { Err("expected COLUMN=…".into()) } else { Ok((column.to_owned(), rest)) }
}

pub(super) fn kind_of(text: &str) -> Result<(String, Kind), String> {
    let (column, kind) = pair(text)?;
    Ok((column, kind.parse()?))
}

pub(super) fn list_of(text: &str) -> Result<(String, Vec<String>), String> {
    let (column, values) = pair(text)?;
    Ok((column, values.split(',').map(|value| value.trim().to_owned()).collect()))
}

pub(super) fn categories_of(text: &str) -> Result<(String, Vec<Vec<String>>), String> {
    let (column, categories) = pair(text)?;
    let values = |category: &str| category.split('|').map(|value| value.trim().to_owned()).collect();
    Ok((column, categories.split(';').map(values).collect()))
}

pub(super) fn path_of(text: &str) -> Result<(String, PathBuf), String> {
    let (column, path) = pair(text)?;
    Ok((column, path.into()))
}

pub(super) fn widths_of(text: &str) -> Result<(String, Vec<f64>), String> {
    let (column, widths) = pair(text)?;
    let widths = widths.split(',').map(|width| width.trim().parse().map_err(|_| format!("`{width}` is not a number")));
    Ok((column, widths.collect::<Result<_, _>>()?))
}

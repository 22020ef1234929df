//! Values of flags as people write them: checked here, so that a mistake is shown beside its flag, and passed on as they are.

use std::collections::BTreeMap;
use std::path::PathBuf;

use chrysalis::table::Kind;
use chrysalis::{EstimateMode, IntervalsDraft, Memory, values};

pub(super) fn threads(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| (1..=1024).contains(n)).ok_or_else(|| "expected a number from 1 to 1024".to_owned())
}

/// The text, if it can be read.
fn checked<T>(text: &str, read: fn(&str) -> Result<T, String>) -> Result<String, String> {
    read(text).map(|_| text.to_owned())
}

pub(super) fn share(text: &str) -> Result<String, String> {
    checked(text, values::share)
}

pub(super) fn metric(text: &str) -> Result<String, String> {
    checked(text, values::metric)
}

/// The levels of columns.
pub(super) type Levels = BTreeMap<String, usize>;

pub(super) fn levels(text: &str) -> Result<Levels, String> {
    values::levels(text)
}

pub(super) fn seconds(text: &str) -> Result<String, String> {
    checked(text, values::seconds)
}

pub(super) fn memory(text: &str) -> Result<Memory, String> {
    text.parse()
}

pub(super) fn workload(text: &str) -> Result<String, String> {
    checked(text, values::workload)
}

pub(super) fn estimates(text: &str) -> Result<EstimateMode, String> {
    text.parse()
}

pub(super) fn delimiter(text: &str) -> Result<String, String> {
    checked(text, values::delimiter)
}

pub(super) fn encoding(text: &str) -> Result<String, String> {
    checked(text, values::encoding)
}

pub(super) fn date_format(text: &str) -> Result<String, String> {
    checked(text, values::date_format)
}

pub(super) fn missing(text: &str) -> Result<String, String> {
    // Only `risk` understands it; all others refuse it, with the values that they take.
    if text == chrysalis::WILDCARD { Ok(text.to_owned()) } else { checked(text, values::missing) }
}

pub(super) fn format(text: &str) -> Result<String, String> {
    checked(text, values::format)
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

/// A column and one of its values; `None` for `none`.
pub(super) fn ordinary_of(text: &str) -> Result<Option<(String, String)>, String> {
    if text == "none" {
        return Ok(None);
    }
    let (column, value) = pair(text).map_err(|problem| format!("{problem} or none"))?;
    Ok(Some((column, value.to_owned())))
}

pub(super) fn width_of(text: &str) -> Result<(String, String), String> {
    let (column, width) = pair(text)?;
    Ok((column, width.to_owned()))
}

pub(super) fn step_of(text: &str) -> Result<(String, String), String> {
    let (column, step) = pair(text)?;
    Ok((column, checked(step, values::preparation)?))
}

pub(super) fn path_of(text: &str) -> Result<(String, PathBuf), String> {
    let (column, path) = pair(text)?;
    Ok((column, path.into()))
}

pub(super) fn intervals_of(text: &str) -> Result<(String, IntervalsDraft), String> {
    let (column, intervals) = pair(text)?;
    Ok((column, values::intervals(intervals)?))
}

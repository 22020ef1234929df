//! Splits records into fields. Spaces around an unquoted field do not belong to it; a quoted empty field is missing,
//! too.

use std::collections::BTreeSet;

use super::dictionary::{LocalColumn, ParsedColumn};
use super::pieces::after_quoted;
use crate::TableError;

/// More columns than any real table has. Each one costs a few kilobytes for every piece that is read.
const MAX_COLUMNS: usize = 20_000;

/// Which fields of a record are wanted, and where they go.
pub(super) struct FieldSelection {
    delimiter: u8,
    /// For every field of the header: the wanted columns it feeds.
    targets: Vec<Vec<usize>>,
    n_wanted: usize,
}

impl FieldSelection {
    pub(super) fn new(delimiter: u8, n_fields: usize, wanted: &[usize]) -> Self {
        let mut targets = vec![Vec::new(); n_fields];
        for (column, &field) in wanted.iter().enumerate() {
            targets[field].push(column);
        }
        FieldSelection { delimiter, targets, n_wanted: wanted.len() }
    }
}

/// A piece after parsing.
pub(super) struct ParsedPiece {
    pub(super) columns: Vec<ParsedColumn>,
    pub(super) rows: usize,
}

/// Whether the first record has one field more than the header, and begins with a name as R writes them: quoted, or the
/// number 1. An empty field at its end is a delimiter too many instead.
pub(super) fn begins_with_row_name(bytes: &[u8], delimiter: u8, n_names: usize) -> bool {
    let mut at = 0;
    while let Some(next) = bytes.get(at..).filter(|rest| !rest.is_empty()).and_then(|_| after_blank_line(bytes, at)) {
        at = next;
    }
    let (start, mut scratch, mut n_fields) = (at, Vec::new(), 0);
    while let Some(field) = next_field(bytes, at, delimiter, &mut scratch) {
        let text = field.text(bytes, &scratch);
        let is_name = n_fields > 0 || bytes.get(start) == Some(&b'"') || text == b"1";
        if !is_name || field.ends_record && text.is_empty() {
            return false;
        }
        (at, n_fields) = (field.next, n_fields + 1);
        if field.ends_record {
            return n_fields == n_names + 1;
        }
    }
    false
}

/// The names in a header record. The first may be empty if `may_have_index`.
pub(super) fn header(record: &[u8], delimiter: u8, may_have_index: bool) -> Result<Vec<String>, TableError> {
    let not_text = || TableError::NotText { line: 1 };
    let mut names: Vec<String> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut scratch = Vec::new();
    let mut at = 0;
    loop {
        if names.len() == MAX_COLUMNS {
            return Err(TableError::TooManyColumns { limit: MAX_COLUMNS });
        }
        let field = next_field(record, at, delimiter, &mut scratch).ok_or(TableError::OpenQuote { line: 1 })?;
        let name = std::str::from_utf8(field.text(record, &scratch)).map_err(|_| not_text())?;
        if name.chars().any(char::is_control) {
            return Err(not_text());
        }
        if name.is_empty() && !(may_have_index && names.is_empty() && !field.ends_record) {
            return Err(TableError::UnnamedColumn { position: names.len() + 1 });
        }
        if !seen.insert(name.to_owned()) {
            return Err(TableError::DuplicateColumn { column: name.to_owned() });
        }
        names.push(name.to_owned());
        at = field.next;
        if field.ends_record {
            return Ok(names);
        }
    }
}

/// Parses whole records that start on `first_line`.
pub(super) fn piece(bytes: &[u8], first_line: u64, selection: &FieldSelection) -> Result<ParsedPiece, TableError> {
    let line_at = |at: usize| first_line + memchr::memchr_iter(b'\n', &bytes[..at.min(bytes.len())]).count() as u64;
    if let Some(at) = memchr::memchr(0, bytes) {
        return Err(TableError::NotText { line: line_at(at) });
    }
    let estimate = bytes.len() / (4 * selection.targets.len());
    let mut columns: Vec<LocalColumn> = (0..selection.n_wanted).map(|_| LocalColumn::new(estimate)).collect();
    let mut scratch = Vec::new();
    let mut rows = 0;
    let mut at = 0;
    while at < bytes.len() {
        if let Some(next) = after_blank_line(bytes, at) {
            at = next;
            continue;
        }
        let start = at;
        let mut n_fields = 0;
        loop {
            let field = next_field(bytes, at, selection.delimiter, &mut scratch)
                .ok_or_else(|| TableError::OpenQuote { line: line_at(start) })?;
            for &target in selection.targets.get(n_fields).map_or(&[][..], Vec::as_slice) {
                let column = &mut columns[target];
                let pushed = match field.in_scratch {
                    true => column.push(&scratch, 0, scratch.len()),
                    false => column.push(bytes, field.start, field.end),
                };
                if !pushed {
                    return Err(TableError::NotText { line: line_at(start) });
                }
            }
            n_fields += 1;
            at = field.next;
            if field.ends_record {
                break;
            }
        }
        if n_fields != selection.targets.len() {
            return Err(TableError::Ragged {
                line: line_at(start),
                found: n_fields,
                expected: selection.targets.len(),
            });
        }
        rows += 1;
    }
    Ok(ParsedPiece { columns: columns.into_iter().map(LocalColumn::parsed).collect(), rows })
}

fn after_blank_line(bytes: &[u8], at: usize) -> Option<usize> {
    match &bytes[at..] {
        [b'\n', ..] => Some(at + 1),
        [b'\r', b'\n', ..] => Some(at + 2),
        _ => None,
    }
}

/// A field: a stretch of the input, or unescaped text in the scratch buffer.
struct Field {
    start: usize,
    end: usize,
    in_scratch: bool,
    next: usize,
    ends_record: bool,
}

impl Field {
    fn text<'a>(&self, bytes: &'a [u8], scratch: &'a [u8]) -> &'a [u8] {
        if self.in_scratch { scratch } else { &bytes[self.start..self.end] }
    }
}

/// The field that begins at `at`; `None` when its quote is never closed.
#[inline]
fn next_field(bytes: &[u8], at: usize, delimiter: u8, scratch: &mut Vec<u8>) -> Option<Field> {
    if bytes.get(at) == Some(&b'"') {
        return quoted_field(bytes, at, delimiter, scratch);
    }
    let mut end = at;
    while let Some(&byte) = bytes.get(end) {
        if byte == delimiter || byte == b'\n' {
            break;
        }
        end += 1;
    }
    let ends_record = bytes.get(end) != Some(&delimiter);
    let (start, trimmed) = trim(bytes, at, end);
    Some(Field { start, end: trimmed, in_scratch: false, next: end + 1, ends_record })
}

fn trim(bytes: &[u8], mut start: usize, mut end: usize) -> (usize, usize) {
    let is_blank = |byte: u8| matches!(byte, b' ' | b'\t' | b'\r');
    while start < end && is_blank(bytes[start]) {
        start += 1;
    }
    while start < end && is_blank(bytes[end - 1]) {
        end -= 1;
    }
    (start, end)
}

#[cold]
fn quoted_field(bytes: &[u8], at: usize, delimiter: u8, scratch: &mut Vec<u8>) -> Option<Field> {
    let close = after_quoted(bytes, at + 1)?;
    let end = memchr::memchr2(delimiter, b'\n', &bytes[close..]).map_or(bytes.len(), |n| close + n);
    let ends_record = bytes.get(end) != Some(&delimiter);
    let inner = &bytes[at + 1..close - 1];
    let (tail_start, tail_end) = trim(bytes, close, end);
    let field = Field { start: at + 1, end: close - 1, in_scratch: false, next: end + 1, ends_record };
    if tail_start == tail_end && memchr::memchr(b'"', inner).is_none() {
        return Some(field);
    }
    // A doubled quote stands for one; text after the closing quote belongs to the field, as in other readers.
    scratch.clear();
    let mut rest = inner;
    while let Some(quote) = memchr::memchr(b'"', rest) {
        scratch.extend_from_slice(&rest[..=quote]);
        rest = &rest[(quote + 2).min(rest.len())..];
    }
    scratch.extend_from_slice(rest);
    scratch.extend_from_slice(&bytes[tail_start..tail_end]);
    Some(Field { in_scratch: true, ..field })
}

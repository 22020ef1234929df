//! Reports as tables for people, JSON for programs, CSV for spreadsheets.

use std::io::{self, Write};

use chrysalis::words::{csv_line, flatten};
use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use serde::Serialize;

use crate::args::Output;
use crate::failure::Failure;

/// The same content in three forms.
pub(crate) struct Report {
    /// For programs.
    pub(crate) json: serde_json::Value,
    /// For people: text blocks, printed with an empty line between them.
    pub(crate) blocks: Vec<String>,
    /// For spreadsheets: a header and rows.
    pub(crate) rows: Vec<Vec<String>>,
}

impl Report {
    /// A report whose JSON is that of a value.
    pub(crate) fn new(blocks: Vec<String>, value: &impl Serialize, rows: Vec<Vec<String>>) -> Result<Self, Failure> {
        let json = serde_json::to_value(value).map_err(|error| Failure::internal(error.to_string()))?;
        Ok(Report { json, blocks, rows })
    }

    /// A report whose rows for spreadsheets are the leaves of its JSON.
    pub(crate) fn flattened(blocks: Vec<String>, value: &impl Serialize) -> Result<Self, Failure> {
        let mut report = Report::new(blocks, value, Vec::new())?;
        let header = vec!["name".to_owned(), "value".to_owned()];
        report.rows = std::iter::once(header).chain(flatten("", &report.json)).collect();
        Ok(report)
    }

    /// Prints to standard output.
    pub(crate) fn print(&self, output: Output) -> Result<(), Failure> {
        let text = match output {
            Output::Table => format!("{}\n", printable(&self.blocks.join("\n\n"))),
            Output::Json => format!("{}\n", self.json),
            Output::Csv => self.rows.iter().map(|row| csv_line(row)).collect(),
        };
        write(&text)
    }
}

/// Writes a result to standard output. It is no error if the reader has gone away.
pub(crate) fn write(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::unprinted(&error)),
        _ => Ok(()),
    }
}

/// Writes out control characters from data or file names, such as terminal escape sequences.
pub(crate) fn printable(text: &str) -> String {
    let is_safe = |letter: char| letter == '\n' || !letter.is_control();
    if text.chars().all(is_safe) {
        return text.to_owned();
    }
    text.chars()
        .map(|letter| if is_safe(letter) { letter.to_string() } else { letter.escape_default().to_string() })
        .collect()
}

/// A line above, below, and under the header.
const RULED: TableStyle = TableStyle::new()
    .top_border(LineStyle::none().fill('─').junction('─'))
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

/// A table with a header; columns that hold numbers are aligned right.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table.load_style(RULED).set_content_arrangement(ContentArrangement::Dynamic);
    if table.width().is_none() {
        // Not a terminal: lines may be as long as necessary.
        table.set_content_arrangement(ContentArrangement::Disabled);
    }
    let is_number = |text: &str| text.chars().next().is_some_and(|first| first.is_ascii_digit() || first == '-');
    let is_right = |at: usize| !rows.is_empty() && rows.iter().all(|row| row[at].is_empty() || is_number(&row[at]));
    let alignment: Vec<CellAlignment> =
        (0..header.len()).map(|at| if is_right(at) { CellAlignment::Right } else { CellAlignment::Left }).collect();
    table.set_header(header.iter().zip(&alignment).map(|(text, side)| Cell::new(text).set_alignment(*side)));
    for row in rows {
        table.add_row(row.iter().zip(&alignment).map(|(text, side)| Cell::new(text).set_alignment(*side)));
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// `name   value` lines, aligned.
pub(crate) fn facts(facts: &[(&str, String)]) -> String {
    let width = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let line = |(name, value): &(&str, String)| format!("  {name:width$}  {value}");
    facts.iter().map(line).collect::<Vec<_>>().join("\n")
}

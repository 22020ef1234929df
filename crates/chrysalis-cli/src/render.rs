//! Reports as tables for people, JSON for programs, CSV for spreadsheets.

use std::io::{self, Write};

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

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

/// Writes a result to standard output. A reader that went away is no error.
pub(crate) fn write(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::unprinted(&error)),
        _ => Ok(()),
    }
}

/// Control characters from data or file names, such as a terminal's escape sequences, written out.
pub(crate) fn printable(text: &str) -> String {
    let is_safe = |letter: char| letter == '\n' || !letter.is_control();
    if text.chars().all(is_safe) {
        return text.to_owned();
    }
    text.chars()
        .map(|letter| if is_safe(letter) { letter.to_string() } else { letter.escape_default().to_string() })
        .collect()
}

pub(crate) fn csv_line(fields: &[String]) -> String {
    let quoted = |field: &String| {
        if field.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", field.replace('"', "\"\""))
        } else {
            field.clone()
        }
    };
    let mut line = fields.iter().map(quoted).collect::<Vec<_>>().join(",");
    line.push('\n');
    line
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
        // Not a terminal: lines as long as they need to be.
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

/// `1234567` as `1,234,567`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 row`, `2,000 rows`.
pub(crate) fn counted(number: u64, thing: &str) -> String {
    let ending = match number {
        1 => "",
        _ if thing.ends_with('s') => "es",
        _ => "s",
    };
    format!("{} {thing}{ending}", count(number))
}

/// Enough digits to tell two releases apart, and no more.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 {
        "0".into()
    } else if value.abs() < 0.000_05 {
        format!("{value:.0e}")
    } else if value.abs() >= 1000.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.4}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped_by_three() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(count(number), text);
        }
    }

    #[test]
    fn csv_fields_are_quoted_where_needed() {
        assert_eq!(csv_line(&["a,b".into(), "c\"d".into(), "e".into()]), "\"a,b\",\"c\"\"d\",e\n");
    }
}

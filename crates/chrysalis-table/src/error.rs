use thiserror::Error;

use crate::{CalendarUnit, Kind, Knob, Memory, Remedy, edits};

/// What can be wrong with an input table.
///
/// Messages name columns, lines and at most one value; never the values of one person together.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TableError {
    /// The file is empty, or all its lines are blank.
    #[error("the file is empty")]
    Empty,
    /// A header, and then nothing.
    #[error("the table has no rows")]
    NoRows,
    /// A record with too few or too many fields.
    #[error("line {line} has {found} fields, the header has {expected}")]
    Ragged {
        /// Line where the record starts, from 1.
        line: u64,
        /// Fields found.
        found: usize,
        /// Fields in the header.
        expected: usize,
    },
    /// Bytes that are not text.
    #[error("line {line} holds bytes that are not text")]
    NotText {
        /// Line, from 1.
        line: u64,
    },
    /// A byte order mark of an encoding that is not read.
    #[error("the file is encoded as {encoding}")]
    Encoding {
        /// The encoding's name.
        encoding: &'static str,
    },
    /// A record that does not end.
    #[error("the record that starts on line {line} is longer than {limit} bytes")]
    LongRecord {
        /// Line, from 1.
        line: u64,
        /// What is allowed.
        limit: usize,
    },
    /// A quoted field that is still open at the end of the file.
    #[error("the quoted field that starts on line {line} is never closed")]
    OpenQuote {
        /// Line of the record, from 1.
        line: u64,
    },
    /// Two columns with one name.
    #[error("the header names column `{column}` twice")]
    DuplicateColumn {
        /// The name.
        column: String,
    },
    /// A column without a name.
    #[error("column {position} of the header has no name")]
    UnnamedColumn {
        /// From 1.
        position: usize,
    },
    /// A column that does not exist.
    #[error("there is no column `{column}`; the columns are {}", list(columns))]
    UnknownColumn {
        /// The name that was asked for.
        column: String,
        /// The names that exist.
        columns: Vec<String>,
    },
    /// A value that does not have the kind its column was given.
    #[error("`{value}` in column `{column}` is not {}", article(*kind))]
    WrongKind {
        /// The column.
        column: String,
        /// The value, shortened.
        value: String,
        /// The kind it should have.
        kind: Kind,
    },
    /// An ordinal value that the order leaves out.
    #[error("`{value}` in column `{column}` is not in its order")]
    NotInOrder {
        /// The column.
        column: String,
        /// The value, shortened.
        value: String,
    },
    /// A missing value where none is allowed.
    #[error("column `{column}` has {count} missing values, the first in row {row}")]
    MissingValue {
        /// The column.
        column: String,
        /// Row, from 1, header not counted.
        row: usize,
        /// How many.
        count: usize,
    },
    /// More rows than allowed.
    #[error("the table has more than {limit} rows")]
    TooManyRows {
        /// What is allowed.
        limit: u64,
    },
    /// More text than allowed.
    #[error("the text of the table has more than {}", Memory::of(*limit))]
    TooMuchText {
        /// How many bytes are allowed.
        limit: u64,
    },
    /// A header with more columns than any real table has.
    #[error("the header has more than {limit} columns")]
    TooManyColumns {
        /// What is allowed.
        limit: usize,
    },
    /// The bytes could not be read.
    #[error("reading failed: {0}")]
    Io(#[from] std::io::Error),
}

impl TableError {
    /// What the user can do about it.
    pub fn hint(&self) -> Remedy {
        match self {
            TableError::Empty | TableError::NoRows => "check that the export that made it succeeded".into(),
            TableError::Ragged { .. } => {
                Remedy::from("check quotes and delimiter on that line, or name the delimiter with ")
                    .knob(Knob::Delimiter, "")
            }
            TableError::NotText { .. } => Remedy::from("if it is text in another encoding, name that with ")
                .knob(Knob::Encoding, "latin-1")
                .words("; else check that it is a CSV or Parquet file at all"),
            TableError::Encoding { .. } => "save it as UTF-8".into(),
            TableError::LongRecord { .. } | TableError::OpenQuote { .. } => {
                "look for a quote that is opened and never closed".into()
            }
            TableError::DuplicateColumn { .. } => "rename one of the two".into(),
            TableError::UnnamedColumn { .. } => "give every column a name in the first line".into(),
            TableError::UnknownColumn { column, columns }
                if column.split(',').all(|part| columns.iter().any(|known| known == part.trim())) =>
            {
                "these are several columns: name each on its own".into()
            }
            TableError::UnknownColumn { column, columns } => match nearest(column, columns) {
                Some(name) => format!("did you mean `{name}`?").into(),
                None => "names are case-sensitive; check the spelling".into(),
            },
            TableError::WrongKind { kind: Kind::Date, .. } => Remedy::from("say how dates are written, such as with ")
                .knob(Knob::DateFormat, "%d/%m/%Y")
                .words(", correct the value, or leave the kind out to have it inferred"),
            TableError::WrongKind { kind: Kind::DateTime, .. } => {
                Remedy::from("say how dates and times are written, such as with ")
                    .knob(Knob::DateFormat, "%d/%m/%Y %H:%M")
                    .words(", correct the value, or leave the kind out to have it inferred")
            }
            TableError::WrongKind { .. } => "correct the value, or leave the kind out to have it inferred".into(),
            TableError::NotInOrder { .. } => "add it to `order`, from lowest to highest".into(),
            TableError::MissingValue { .. } => Remedy::from("fill them in, or use ")
                .knob(Knob::Missing, "as-value")
                .words(" or ")
                .knob(Knob::Missing, "drop"),
            TableError::TooManyRows { .. } | TableError::TooMuchText { .. } => "split the table".into(),
            TableError::TooManyColumns { .. } => {
                Remedy::from("check that the first line holds names, and name the delimiter with ")
                    .knob(Knob::Delimiter, "")
            }
            TableError::Io(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                "the file is cut off: copy it again".into()
            }
            TableError::Io(_) => "check that the file is whole and readable".into(),
        }
    }
}

/// What can be wrong with a taxonomy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TaxonomyError {
    /// No line at all.
    #[error("the taxonomy is empty")]
    Empty,
    /// A line with fewer or more levels than the first.
    #[error("line {line} (`{leaf}`) has {found} levels, line 1 has {expected}")]
    Ragged {
        /// Line, from 1.
        line: usize,
        /// The value the line is about.
        leaf: String,
        /// Levels found.
        found: usize,
        /// Levels of the first line.
        expected: usize,
    },
    /// More lines than there is memory for.
    #[error(
        "{lines} lines of a taxonomy would take about {} of memory, but only {allowed} is allowed",
        Memory::of(*bytes)
    )]
    TooLarge {
        /// How many lines there are.
        lines: u64,
        /// What they would take.
        bytes: u64,
        /// What is allowed.
        allowed: Memory,
    },
    /// More levels than are allowed.
    #[error("the taxonomy has {found} levels, but at most {limit} are allowed")]
    TooDeep {
        /// Levels found.
        found: usize,
        /// Levels allowed.
        limit: usize,
    },
    /// A level without a label.
    #[error("line {line} has an empty label at level {level}")]
    EmptyLabel {
        /// Line, from 1.
        line: usize,
        /// Level, from 1.
        level: usize,
    },
    /// A label with control characters.
    #[error("line {line} has control characters at level {level}")]
    NotText {
        /// Line, from 1.
        line: usize,
        /// Level, from 1.
        level: usize,
    },
    /// A value with two lines.
    #[error("line {line} repeats `{leaf}` of line {first}")]
    Duplicate {
        /// The later line.
        line: usize,
        /// The earlier line.
        first: usize,
        /// The value.
        leaf: String,
    },
    /// Two labels that each lie above the other.
    #[error("line {line}: `{label}` lies above `{below}`, which lies above `{label}` elsewhere")]
    Cycle {
        /// Line, from 1.
        line: usize,
        /// A label of the cycle.
        label: String,
        /// Another label of the cycle.
        below: String,
    },
    /// A label with two parents.
    #[error("line {line} puts `{label}` under `{parent}`, line {first} under `{other}`")]
    TwoParents {
        /// The later line.
        line: usize,
        /// The earlier line.
        first: usize,
        /// The label.
        label: String,
        /// Its parent on the later line.
        parent: String,
        /// Its parent on the earlier line.
        other: String,
    },
    /// A label that is both a value and a group of values.
    #[error("line {line}: `{label}` is a value and also a group of other values")]
    LeafIsGroup {
        /// Line, from 1.
        line: usize,
        /// The label.
        label: String,
    },
    /// No common root.
    #[error("line {line} ends in `{root}`, line 1 in `{expected}`")]
    TwoRoots {
        /// Line, from 1.
        line: usize,
        /// Its root.
        root: String,
        /// The root of the first line.
        expected: String,
    },
    /// A value of the table that has no line.
    #[error("value `{value}` has no line in the taxonomy")]
    MissingLeaf {
        /// The value.
        value: String,
    },
    /// A leaf that cannot be a value of an ordered column.
    #[error("line {line}: `{leaf}` is not {}", article(*kind))]
    WrongKind {
        /// Line, from 1.
        line: usize,
        /// The leaf.
        leaf: String,
        /// The column's kind.
        kind: Kind,
    },
    /// A label over an ordered column that is not a range.
    #[error("`{label}` is not a range: it leaves out values between its smallest and its largest")]
    NotARange {
        /// The label.
        label: String,
    },
    /// Widths that do not nest.
    #[error("interval widths must grow, each a multiple of the one before: {width} does not follow {before}")]
    Widths {
        /// The offending width.
        width: String,
        /// The one before it.
        before: String,
    },
    /// Calendar units of which one does not consist of the one before.
    #[error("calendar units must nest, each in the one after it: {}", units_sentence(*before, *unit))]
    Units {
        /// The offending unit.
        unit: CalendarUnit,
        /// The one before it.
        before: CalendarUnit,
    },
    /// A unit that holds a single date.
    #[error("dates have no intervals shorter than two days, so `{unit}` would change nothing")]
    OneDay {
        /// The unit.
        unit: CalendarUnit,
    },
    /// Calendar units over anything but dates and datetimes.
    #[error("calendar units need a column of dates or datetimes, but this one is {}", article(*kind))]
    NoCalendar {
        /// The column's kind.
        kind: Kind,
    },
    /// Intervals over words.
    #[error("intervals need an ordered column, but this one is {}", article(*kind))]
    NoIntervals {
        /// The column's kind.
        kind: Kind,
    },
    /// A value that no taxonomy file can hold.
    #[error("value `{value}` cannot be in a taxonomy file, because of `;` or blanks at its ends")]
    Unwritable {
        /// The value.
        value: String,
    },
    /// A value that is not what its column is said to be.
    #[error("value `{value}` is not {}", article(*kind))]
    NotOfKind {
        /// The value.
        value: String,
        /// The kind.
        kind: Kind,
    },
    /// Prefixes over words that look masked already.
    #[error("prefix masking cannot tell value `{value}` from a masked one")]
    Masked {
        /// The value.
        value: String,
    },
    /// Prefixes over words of several lengths.
    #[error("prefix masking needs values of one length: `{value}` has {found} characters, `{other}` has {expected}")]
    PrefixLength {
        /// A value.
        value: String,
        /// Its length.
        found: usize,
        /// Another value.
        other: String,
        /// Its length.
        expected: usize,
    },
}

impl TaxonomyError {
    /// What the user can do about it.
    pub fn hint(&self) -> Remedy {
        match self {
            TaxonomyError::Empty => "write one line per value: `value;group;…;*`".into(),
            TaxonomyError::TooLarge { bytes, .. } => Memory::more(*bytes, 1),
            TaxonomyError::Ragged { .. } => "repeat a label to fill a level: `value;value;*`".into(),
            TaxonomyError::TooDeep { .. } => "leave some levels out".into(),
            TaxonomyError::EmptyLabel { .. } => "every level needs a label; the last one is `*`".into(),
            TaxonomyError::NotText { .. } => "check that the file is a text file".into(),
            TaxonomyError::Duplicate { .. } => "keep one of the two lines".into(),
            TaxonomyError::Cycle { .. } | TaxonomyError::TwoParents { .. } => {
                "a label stands for one set of values: rename one of the two".into()
            }
            TaxonomyError::LeafIsGroup { .. } => "rename the group".into(),
            TaxonomyError::TwoRoots { .. } => "end every line with the same label, usually `*`".into(),
            TaxonomyError::MissingLeaf { value } => format!("add a line `{value};…;*`").into(),
            TaxonomyError::WrongKind { .. } => "correct the leaf, or make the column a category".into(),
            TaxonomyError::NotARange { .. } => "group neighbouring values only".into(),
            TaxonomyError::Widths { .. } => "for example 5,10,20,40".into(),
            TaxonomyError::Units { .. } => "for example day,month,year, or day,week".into(),
            TaxonomyError::OneDay { .. } => "leave it out; the first unit may be week, month, quarter or year".into(),
            TaxonomyError::NoCalendar { .. } => "give the widths as numbers, such as 5,10,20".into(),
            TaxonomyError::NoIntervals { .. } => "use a taxonomy file or prefix masking".into(),
            TaxonomyError::Unwritable { .. } => "clean the column first".into(),
            TaxonomyError::NotOfKind { .. } => "leave the kind out to have it inferred".into(),
            TaxonomyError::Masked { .. } => "use a taxonomy file, or clean the column".into(),
            TaxonomyError::PrefixLength { .. } => "pad the codes to one length, or use a taxonomy file".into(),
        }
    }
}

fn list(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let mut text = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}

fn units_sentence(before: CalendarUnit, unit: CalendarUnit) -> String {
    match before {
        before if before == unit => format!("`{unit}` is there twice"),
        CalendarUnit::Week => format!("a week may lie in two {unit}s"),
        before => format!("a {before} does not lie within one {unit}"),
    }
}

fn article(kind: Kind) -> String {
    match kind {
        Kind::Integer => "an integer".into(),
        Kind::Ordinal => "an ordinal".into(),
        Kind::Date => "a date (YYYY-MM-DD)".into(),
        Kind::DateTime => "a datetime (YYYY-MM-DDTHH:MM:SS)".into(),
        _ => format!("a {kind}"),
    }
}

/// The known name closest to what was typed, if it is close enough to be a slip.
fn nearest<'a>(typed: &str, names: &'a [String]) -> Option<&'a String> {
    let allowed = typed.chars().count() / 3;
    names.iter().map(|name| (edits(typed, name), name)).filter(|(n, _)| *n <= allowed).min().map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_column_lists_what_there_is_and_guesses() {
        let columns = vec!["age".to_owned(), "work_class".to_owned()];
        let error = TableError::UnknownColumn { column: "workclass".into(), columns };
        assert_eq!(error.to_string(), "there is no column `workclass`; the columns are `age`, `work_class`");
        assert_eq!(error.hint(), "did you mean `work_class`?");
        let columns = vec!["age".to_owned(), "sex".to_owned()];
        let error = TableError::UnknownColumn { column: "age, sex".into(), columns };
        assert_eq!(error.hint(), "these are several columns: name each on its own");
    }
}

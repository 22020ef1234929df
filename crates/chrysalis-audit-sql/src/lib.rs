//! The audit as SQL: whoever trusts only their own database can check a release there.
//!
//! [`statements`] reads the manifest of a release and writes one statement per promise and check. Each returns the
//! groups that break it, and no row when all is well. Every statement says in words what it decides, and whether it
//! decides it exactly: shares, distances and weights are compared as whole numbers, multiplied crosswise; where a
//! database has only floating point (logarithms, sums of reals), the statement errs on the side of complaint. What no
//! statement over the tables can decide is listed, too, with the reason, so that nothing is left out silently.
//!
//! What counts as one value (words that look alike, numbers that are near each other), and which values are ordinary,
//! follows from the manifest's list of values, and the statement `check/sensitive values` makes sure that the list is that
//! of the tables. Nothing is shared with `chrysalis-audit` or with a publisher: this is the same judgement, reached a
//! third time by other means.
//!
//! The crate decides nothing and runs nothing. Its tests run every statement in SQLite, DuckDB and PostgreSQL, on honest
//! and on tampered releases, and compare what they return with the findings of the audit.

mod boxes;
mod counting;
mod disclosure;
mod domains;
mod frame;
mod help;
mod labels;
mod persons;
mod promise;
mod seen;
mod series;
mod setup;
mod structure;
mod values;

pub use chrysalis_dialect::Dialect;
pub use setup::{setup, setup_people};

use chrysalis_release::Manifest;
use serde::Serialize;

use frame::Frame;

/// One statement, or what is said in place of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Statement {
    /// Which promise or check it is: `promise/l=4`, `check/groups/sizes`, `disclosure`. Names are unique.
    pub name: String,
    /// What it decides and what a returned row means, in words; or why no statement can decide it.
    pub about: String,
    /// The promise that it is about, if it is about one.
    pub promise: Option<String>,
    /// How far it can be relied on.
    pub decides: Decides,
    /// The statement, without a semicolon; none where SQL cannot decide.
    pub sql: Option<String>,
}

/// How far a statement can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Decides {
    /// It returns rows exactly if something is wrong.
    #[serde(rename = "exactly")]
    Exactly,
    /// It returns rows if something is wrong, and may do so in doubt.
    #[serde(rename = "errs towards complaint")]
    ErrsTowardsComplaint,
    /// There is no statement.
    #[serde(rename = "cannot be decided in SQL")]
    Nothing,
}

impl Decides {
    /// As it is written in JSON.
    pub fn words(self) -> &'static str {
        match self {
            Decides::Exactly => "exactly",
            Decides::ErrsTowardsComplaint => "errs towards complaint",
            Decides::Nothing => "cannot be decided in SQL",
        }
    }
}

/// The name of the table of the people who could be in the data. It has their quasi attributes, under the names that the
/// release gives them.
pub const PEOPLE: &str = "population";

/// The statements that check a release, promises first, for a database that holds its tables under their names.
pub fn statements(manifest: &Manifest, dialect: Dialect) -> Vec<Statement> {
    all_statements(&Frame::new(manifest, dialect, false))
}

/// The same for a database that also holds the table [`PEOPLE`], so that promises about these people are decided, too.
pub fn statements_with_people(manifest: &Manifest, dialect: Dialect) -> Vec<Statement> {
    all_statements(&Frame::new(manifest, dialect, true))
}

fn all_statements(frame: &Frame<'_>) -> Vec<Statement> {
    let mut all = promise::statements(frame);
    all.extend(disclosure::statements(frame));
    all.extend(structure::statements(frame));
    all.extend(series::statements(frame));
    all.extend(boxes::statements(frame));
    all.extend(labels::statements(frame));
    all.extend(values::statements(frame));
    all.extend(help::statements(frame));
    all.extend(persons::statements(frame));
    all.extend(domains::statements(frame));
    all.extend(structure::left_out(frame));
    all
}

impl Statement {
    /// The statement with its explanation as a comment above it, as a file of statements has it.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for line in wrapped(&format!("{}: {}", self.name, self.about)) {
            text.push_str(&format!("-- {line}\n"));
        }
        match &self.sql {
            Some(sql) => text.push_str(&format!("-- Decided {}.\n{sql};\n", self.decides_words())),
            None => text.push_str("-- This cannot be decided in SQL.\n"),
        }
        text
    }

    fn decides_words(&self) -> &'static str {
        match self.decides {
            Decides::Exactly => "exactly",
            _ if self.name == labels::MEANING => "from how labels are written: in doubt it complains",
            Decides::ErrsTowardsComplaint | Decides::Nothing => "in floating point: in doubt it complains",
        }
    }
}

/// The width of comments.
const WIDTH: usize = 110;

/// Breaks text into lines between words. No word of a manifest can end a comment.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word: String = word.chars().filter(|letter| !letter.is_control()).collect();
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

//! What the user can do about an error, whichever door shows it.
//!
//! A library does not know whether it was called from a command line, from Python or from a page. So it names the
//! [`Knob`] to turn, and the door that shows the error spells it: `--quasi a,b`, `quasi=["a", "b"]`, or the label of a
//! field.

use std::fmt;

/// Everything that a request can set. Doors spell the knobs; specs have them as keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are those of the knobs, and the catalogue says what each does")]
pub enum Knob {
    Quasi,
    Sensitive,
    Other,
    Weight,
    Method,
    Require,
    Partitioner,
    Relaxed,
    Transparent,
    GroupColumn,
    BucketColumn,
    Marginal,
    Together,
    Collude,
    Suppress,
    Metric,
    Levels,
    TimeLimit,
    Taxonomy,
    Intervals,
    Prefix,
    Categories,
    Weights,
    Ordinary,
    Near,
    Accept,
    Delimiter,
    Encoding,
    Na,
    DateFormat,
    Missing,
    Kind,
    Order,
    Prepare,
    Person,
    RowsKnown,
    RowsPerPerson,
    Series,
    ValuesChange,
    OnlyNew,
    After,
    Like,
    Key,
    Format,
    Seed,
    Force,
    Out,
    Microdata,
    PopulationTable,
    With,
    WithMicrodata,
    Workload,
    Queries,
    Selectivity,
    Dimensions,
    Attributes,
    Table,
    Tables,
    File,
    Runs,
    Schema,
    Data,
    Report,
    Memory,
    Population,
    Fraction,
    Threshold,
    MaxSize,
    Rows,
}

impl Knob {
    /// All of them.
    pub const ALL: [Knob; 69] = [
        Knob::Quasi,
        Knob::Sensitive,
        Knob::Other,
        Knob::Weight,
        Knob::Method,
        Knob::Require,
        Knob::Partitioner,
        Knob::Relaxed,
        Knob::Transparent,
        Knob::GroupColumn,
        Knob::BucketColumn,
        Knob::Marginal,
        Knob::Together,
        Knob::Collude,
        Knob::Suppress,
        Knob::Metric,
        Knob::Levels,
        Knob::TimeLimit,
        Knob::Taxonomy,
        Knob::Intervals,
        Knob::Prefix,
        Knob::Categories,
        Knob::Weights,
        Knob::Ordinary,
        Knob::Near,
        Knob::Accept,
        Knob::Delimiter,
        Knob::Encoding,
        Knob::Na,
        Knob::DateFormat,
        Knob::Missing,
        Knob::Kind,
        Knob::Order,
        Knob::Prepare,
        Knob::Person,
        Knob::RowsKnown,
        Knob::RowsPerPerson,
        Knob::Series,
        Knob::ValuesChange,
        Knob::OnlyNew,
        Knob::After,
        Knob::Like,
        Knob::Key,
        Knob::Format,
        Knob::Seed,
        Knob::Force,
        Knob::Out,
        Knob::Microdata,
        Knob::PopulationTable,
        Knob::With,
        Knob::WithMicrodata,
        Knob::Workload,
        Knob::Queries,
        Knob::Selectivity,
        Knob::Dimensions,
        Knob::Attributes,
        Knob::Table,
        Knob::Tables,
        Knob::File,
        Knob::Runs,
        Knob::Schema,
        Knob::Data,
        Knob::Report,
        Knob::Memory,
        Knob::Population,
        Knob::Fraction,
        Knob::Threshold,
        Knob::MaxSize,
        Knob::Rows,
    ];

    /// Its name in lower case, words joined by underscores.
    pub fn name(self) -> &'static str {
        match self {
            Knob::Quasi => "quasi",
            Knob::Sensitive => "sensitive",
            Knob::Other => "other",
            Knob::Weight => "weight",
            Knob::Method => "method",
            Knob::Require => "require",
            Knob::Partitioner => "partitioner",
            Knob::Relaxed => "relaxed",
            Knob::Transparent => "transparent",
            Knob::GroupColumn => "group_column",
            Knob::BucketColumn => "bucket_column",
            Knob::Marginal => "marginal",
            Knob::Together => "together",
            Knob::Collude => "collude",
            Knob::Suppress => "suppress",
            Knob::Metric => "metric",
            Knob::Levels => "levels",
            Knob::TimeLimit => "time_limit",
            Knob::Taxonomy => "taxonomy",
            Knob::Intervals => "intervals",
            Knob::Prefix => "prefix",
            Knob::Categories => "categories",
            Knob::Weights => "weights",
            Knob::Ordinary => "ordinary",
            Knob::Near => "near",
            Knob::Accept => "accept",
            Knob::Delimiter => "delimiter",
            Knob::Encoding => "encoding",
            Knob::Na => "na",
            Knob::DateFormat => "date_format",
            Knob::Missing => "missing",
            Knob::Kind => "kind",
            Knob::Order => "order",
            Knob::Prepare => "prepare",
            Knob::Person => "person",
            Knob::RowsKnown => "rows_known",
            Knob::RowsPerPerson => "rows_per_person",
            Knob::Series => "series",
            Knob::ValuesChange => "values_change",
            Knob::OnlyNew => "only_new",
            Knob::After => "after",
            Knob::Like => "like",
            Knob::Key => "key",
            Knob::Format => "format",
            Knob::Seed => "seed",
            Knob::Force => "force",
            Knob::Out => "out",
            Knob::Microdata => "microdata",
            Knob::PopulationTable => "population_table",
            Knob::With => "with",
            Knob::WithMicrodata => "with_microdata",
            Knob::Workload => "workload",
            Knob::Queries => "queries",
            Knob::Selectivity => "selectivity",
            Knob::Dimensions => "dimensions",
            Knob::Attributes => "attributes",
            Knob::Table => "table",
            Knob::Tables => "tables",
            Knob::File => "file",
            Knob::Runs => "runs",
            Knob::Schema => "schema",
            Knob::Data => "data",
            Knob::Report => "report",
            Knob::Memory => "memory",
            Knob::Population => "population",
            Knob::Fraction => "fraction",
            Knob::Threshold => "threshold",
            Knob::MaxSize => "max_size",
            Knob::Rows => "rows",
        }
    }
}

impl fmt::Display for Knob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What to do about an error, or any message that mentions a knob.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remedy {
    pieces: Vec<RemedyPiece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum RemedyPiece {
    Words(String),
    /// A knob and the value to set it to; an empty value names the knob alone.
    Knob(Knob, String),
    /// Words and a knob behind them, for doors that have it.
    Where(String, Knob, String),
    /// Where all knobs are explained.
    Manual,
}

/// How a door spells what a remedy names.
pub trait Spelling {
    /// A knob with the value to give it; the value is empty where the knob stands alone.
    fn knob(&self, knob: Knob, value: &str) -> String;

    /// The place where all knobs are explained.
    fn manual(&self) -> String;

    /// Whether the door has this knob.
    fn has(&self, _knob: Knob) -> bool {
        true
    }
}

/// The spelling without a door: `quasi = a,b`.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl Spelling for Plain {
    fn knob(&self, knob: Knob, value: &str) -> String {
        match value {
            "" => format!("`{knob}`"),
            value => format!("`{knob} = {value}`"),
        }
    }

    fn manual(&self) -> String {
        "the manual".to_owned()
    }
}

impl Remedy {
    /// An empty remedy: nothing can be done, or nothing needs to be said.
    pub fn none() -> Self {
        Remedy::default()
    }

    /// A remedy that begins with a knob and a value for it.
    pub fn set(knob: Knob, value: impl Into<String>) -> Self {
        Remedy { pieces: vec![RemedyPiece::Knob(knob, value.into())] }
    }

    /// Appends a knob and a value for it.
    #[must_use]
    pub fn knob(mut self, knob: Knob, value: impl Into<String>) -> Self {
        self.pieces.push(RemedyPiece::Knob(knob, value.into()));
        self
    }

    /// Appends words.
    #[must_use]
    pub fn words(mut self, words: impl Into<String>) -> Self {
        self.pieces.push(RemedyPiece::Words(words.into()));
        self
    }

    /// Appends words and a knob behind them, which doors without this knob leave out.
    #[must_use]
    pub fn where_there_is(mut self, words: impl Into<String>, knob: Knob, value: impl Into<String>) -> Self {
        self.pieces.push(RemedyPiece::Where(words.into(), knob, value.into()));
        self
    }

    /// Appends the place where all knobs are explained.
    #[must_use]
    pub fn manual(mut self) -> Self {
        self.pieces.push(RemedyPiece::Manual);
        self
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The knobs it names, in order.
    pub fn knobs(&self) -> impl Iterator<Item = (Knob, &str)> {
        self.pieces.iter().filter_map(|piece| match piece {
            RemedyPiece::Words(_) | RemedyPiece::Manual => None,
            RemedyPiece::Knob(knob, value) | RemedyPiece::Where(_, knob, value) => Some((*knob, value.as_str())),
        })
    }

    /// The text, with every knob spelled by the door that shows it.
    pub fn spelled(&self, door: &dyn Spelling) -> String {
        let piece = |piece: &RemedyPiece| match piece {
            RemedyPiece::Words(words) => words.clone(),
            RemedyPiece::Knob(knob, value) => door.knob(*knob, value),
            RemedyPiece::Where(words, knob, value) if door.has(*knob) => format!("{words}{}", door.knob(*knob, value)),
            RemedyPiece::Where(..) => String::new(),
            RemedyPiece::Manual => door.manual(),
        };
        self.pieces.iter().map(piece).collect()
    }
}

impl From<&str> for Remedy {
    fn from(words: &str) -> Self {
        Remedy::none().words(words)
    }
}

impl From<String> for Remedy {
    fn from(words: String) -> Self {
        Remedy::none().words(words)
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spelled(&Plain))
    }
}

impl PartialEq<str> for Remedy {
    fn eq(&self, text: &str) -> bool {
        self.spelled(&Plain) == text
    }
}

impl PartialEq<&str> for Remedy {
    fn eq(&self, text: &&str) -> bool {
        *self == **text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Flags;

    impl Spelling for Flags {
        fn knob(&self, knob: Knob, value: &str) -> String {
            format!("--{knob} {value}").trim_end().to_owned()
        }

        fn manual(&self) -> String {
            "--help".to_owned()
        }

        fn has(&self, knob: Knob) -> bool {
            knob != Knob::File
        }
    }

    #[test]
    fn every_door_spells_a_remedy_in_its_own_way() {
        let remedy =
            Remedy::from("name columns with ").knob(Knob::Quasi, "a,b").words(", or leave ").knob(Knob::Relaxed, "");
        assert_eq!(remedy, "name columns with `quasi = a,b`, or leave `relaxed`");
        assert_eq!(remedy.spelled(&Flags), "name columns with --quasi a,b, or leave --relaxed");
        assert_eq!(Remedy::from("see ").manual().spelled(&Flags), "see --help");
        assert_eq!(remedy.knobs().collect::<Vec<_>>(), [(Knob::Quasi, "a,b"), (Knob::Relaxed, "")]);
        let remedy = Remedy::from("ask one").where_there_is(", or use ", Knob::File, "");
        assert_eq!(
            (remedy.to_string().as_str(), remedy.spelled(&Flags).as_str()),
            ("ask one, or use `file`", "ask one")
        );
    }

    #[test]
    fn no_two_knobs_share_a_name() {
        let mut names: Vec<&str> = Knob::ALL.map(Knob::name).to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Knob::ALL.len());
    }
}

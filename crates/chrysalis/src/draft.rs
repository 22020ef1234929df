//! What an owner asks for, before any table has been looked at.
//!
//! Flags, a `chrysalis.toml`, the runs of a comparison, the releases of an experiment, keywords of a call and fields of
//! a form all become [`Draft`]s. One function merges drafts ([`Draft::or`]), and one checks the result
//! ([`Draft::check`](crate::Recipe)). A knob that was not turned is absent.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use chrysalis_criteria::Weights;
use chrysalis_publish::TaxonomySource;
use chrysalis_table::{CalendarUnit, Kind, Role, TaxonomyFile};
use serde::{Deserialize, Serialize, Serializer};

use crate::Error;

/// Every knob, all of them optional.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Draft {
    /// The table, as a path. In a spec it is relative to the spec.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<PathBuf>,
    /// The byte between CSV fields: `,`, `;`, `|` or `tab`; detected when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<String>,
    /// How a CSV file is encoded: `utf-8`, `latin-1`, `utf-16` or `utf-16be`; when absent, a byte order mark tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// Texts of a CSV file that stand for a missing value, such as `NA`, beside the empty one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub na: Option<Vec<String>>,
    /// How dates in a CSV file are written, such as `%d/%m/%Y`; when absent, they are recognized where only one way fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_format: Option<String>,
    /// What becomes of rows that lack a value: `as-value`, `drop` or `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// The column that says whose a row is, if persons may have several rows: promises are then about persons, and dates
    /// are moved by person (`prepare = ["shift"]`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// Whether attackers know how many rows each person has: then only persons with equally many rows share a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_known: Option<bool>,
    /// The most rows that a person keeps; surplus rows are dropped at random.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_per_person: Option<u64>,
    /// How much memory publishing may take, such as `2GB`: a table that needs more is published cell by cell, and its rows
    /// wait on disk beside the release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// The ledger of a series of releases, a file of the owner's that remembers who was published; made on first use. In a
    /// spec it is relative to the spec.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<PathBuf>,
    /// Whether people of a series whose value left their signature are given another one; otherwise they stop the release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values_change: Option<bool>,
    /// Whether only people are published whom the ledger does not know, under any principle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_new: Option<bool>,
    /// Earlier releases of the same people: the new one is refused if it tells too much beside them. In a spec they are
    /// relative to the spec.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Vec<PathBuf>>,
    /// An earlier release: its groups are kept wherever they satisfy what is required now, and its labels with them. Where
    /// people may be in both, that implies `after`. In a spec it is relative to the spec.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub like: Option<PathBuf>,
    /// The file with the owner's key, for pseudonyms and shifts; made on first use. In a spec it is relative to the spec.
    /// When absent, `chrysalis.key` beside the table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<PathBuf>,
    /// Columns an attacker may know, in the order in which they are published; several lists for several users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quasi: Option<QuasiDraft>,
    /// The column whose values nobody may learn about a person; a list of several columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitive: Option<SensitiveDraft>,
    /// Columns to keep as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<Vec<String>>,
    /// The column that says how many people of the population a row stands for (a survey weight). It is kept as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<String>,
    /// The weight of each category of the only sensitive column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<WeightsDraft>,
    /// Ordinary values of the only sensitive column; an empty list if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ordinary: Option<Vec<String>>,
    /// What each of several users knows, if roles say which columns are quasi.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quasi_identifiers: Vec<Vec<String>>,
    /// Columns, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, AttributeDraft>,
    /// What to publish.
    pub release: ReleaseDraft,
    /// Which releases to compare.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compare: Option<CompareDraft>,
}

/// One list of names, or several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "expected a list of columns, or one such list per user")]
pub enum QuasiDraft {
    /// What everybody may know.
    One(Vec<String>),
    /// What each user may know.
    Several(Vec<Vec<String>>),
}

impl QuasiDraft {
    /// One list per user.
    pub fn sets(&self) -> Vec<Vec<String>> {
        match self {
            QuasiDraft::One(names) => vec![names.clone()],
            QuasiDraft::Several(sets) => sets.clone(),
        }
    }
}

/// One column, or several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "expected the name of a column, or a list of names")]
pub enum SensitiveDraft {
    /// One column.
    One(String),
    /// Several columns.
    Several(Vec<String>),
}

impl SensitiveDraft {
    /// The names, if there are any.
    pub fn of(names: &[String]) -> Option<SensitiveDraft> {
        match names {
            [] => None,
            [only] => Some(SensitiveDraft::One(only.clone())),
            several => Some(SensitiveDraft::Several(several.to_vec())),
        }
    }

    /// The names.
    pub fn names(&self) -> Vec<String> {
        match self {
            SensitiveDraft::One(name) => vec![name.clone()],
            SensitiveDraft::Several(names) => names.clone(),
        }
    }
}

/// One column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct AttributeDraft {
    /// `identifier`, `quasi`, `sensitive` or `other`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleText>,
    /// `integer`, `real`, `date`, `datetime`, `ordinal` or `category`; inferred when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<KindText>,
    /// The values of an ordinal column, from lowest to highest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<String>,
    /// What is done to the column before anything else, in this order: `round:100`, `top:90`, `bottom:18`, `date:year`
    /// (or `quarter`, `month`, `week`), `prefix:3`, `pseudonym`, `shift` (or `shift:7`). Everything else that is said of
    /// the column refers to the prepared values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prepare: Vec<String>,
    /// A taxonomy: a file of lines `value;group;…;*`, or such lines themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taxonomy: Option<TaxonomyDraft>,
    /// Publish an ordered column in intervals of these widths, each a multiple of the one before (days for dates,
    /// seconds for datetimes); or a column of dates or datetimes in these calendar units, each within the next: `hour`,
    /// `day`, `week`, `month`, `quarter`, `year`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intervals: Option<IntervalsDraft>,
    /// Publish codes such as zip codes masked from the right.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub prefix: bool,
    /// Categories of the sensitive column, most sensitive first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub categories: Option<Vec<Vec<String>>>,
    /// The weight of each category.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<WeightsDraft>,
    /// Ordinary values of the sensitive column, which anybody may know about a person; an empty list if there are none.
    /// When absent, any value that at least half of all rows have is ordinary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ordinary: Option<Vec<String>>,
    /// Numbers of the sensitive column closer together than this count as one. When absent, the e of `ke`, or a
    /// hundredth of the width between the 5th and the 95th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near: Option<Number>,
}

/// What to publish.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ReleaseDraft {
    /// How the groups are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// How the groups are formed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partitioner: Option<String>,
    /// Let mondrian put equal values on both sides of a cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relaxed: Option<bool>,
    /// Choose groups so that the choice itself says nothing about who has which value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transparent: Option<bool>,
    /// The column that holds the groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_column: Option<String>,
    /// The columns that hold the buckets: of all quasi columns, then of every marginal, in their order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket_columns: Option<Vec<String>>,
    /// Quasi columns that get a table of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marginals: Option<Vec<Vec<String>>>,
    /// Sensitive columns that are shown together, so that combinations of their values stay; all others are shown apart.
    /// Nothing is promised about combinations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub together: Option<Vec<Vec<String>>>,
    /// What every group must satisfy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub require: Option<Vec<String>>,
    /// Risks that are accepted by name: `disclosure`, `identifying=COLUMN`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accept: Option<Vec<String>>,
    /// How many users may pool what they know; 1 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collude: Option<usize>,
    /// How tables are written: `parquet` or `csv`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// The share of rows that full-domain may suppress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppress: Option<Number>,
    /// A table of the people who could be in the data, for principles about them; it is never published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub population_table: Option<PathBuf>,
    /// What full-domain minimizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// Columns whose level full-domain must not choose: 0 for exact values, 1 for the next level, and so on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<BTreeMap<String, usize>>,
    /// After this many seconds, full-domain takes the best result so far; 60 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<Number>,
}

/// Which releases to compare, and what to ask them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct CompareDraft {
    /// The releases; if none is listed, a set that shows what the methods are like.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<RunDraft>,
    /// The kind of questions that every release is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// How many questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queries: Option<usize>,
    /// The share of the space of values that a question covers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selectivity: Option<f64>,
    /// How many attributes a question has conditions on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<usize>,
}

/// One release, or several that differ in what varies. Settings that it leaves out come from `release`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunDraft {
    /// What it is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Values for `{name}` in the other texts; every combination is a run.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub vary: BTreeMap<String, Vec<Number>>,
    /// What to publish.
    #[serde(flatten)]
    pub release: ReleaseDraft,
}

/// Written by hand, because serde cannot combine flattened fields with the refusal of unknown ones.
impl<'de> Deserialize<'de> for RunDraft {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let mut fields = serde_json::Map::<String, serde_json::Value>::deserialize(deserializer)?;
        let name = fields.remove("name").map(serde_json::from_value).transpose().map_err(D::Error::custom)?;
        let vary = fields.remove("vary").map(serde_json::from_value).transpose().map_err(D::Error::custom)?;
        let release = serde_json::from_value(fields.into()).map_err(D::Error::custom)?;
        Ok(RunDraft { name, vary: vary.unwrap_or_default(), release })
    }
}

/// A taxonomy by its file, or as lines from leaf to root.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "expected the name of a file, or its lines")]
pub enum TaxonomyDraft {
    /// A file that is yet to be read. In a spec it is relative to the spec.
    File(PathBuf),
    /// Its lines.
    Lines(Vec<Vec<String>>),
    /// Its lines, after the file was read: kept once, however often the draft is copied.
    #[serde(skip_deserializing, serialize_with = "as_lines")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Vec<String>>"))]
    Read(Arc<TaxonomyFile>),
}

fn as_lines<S: Serializer>(file: &Arc<TaxonomyFile>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(file.lines())
}

/// A number as it is written; exact if it is in quotes or short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "expected a number")]
pub enum Number {
    /// In quotes.
    Text(String),
    /// Whole.
    Whole(i64),
    /// Any other.
    Real(f64),
}

impl Number {
    /// As it is written.
    pub fn text(&self) -> String {
        match self {
            Number::Text(text) => text.clone(),
            Number::Whole(number) => number.to_string(),
            Number::Real(number) => number.to_string(),
        }
    }
}

/// Widths, or units of the calendar.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(
    untagged,
    expecting = "expected numbers such as [5, 10, 20], or units out of \"hour\", \"day\", \"week\", \"month\", \
                 \"quarter\" and \"year\""
)]
pub enum IntervalsDraft {
    /// Widths.
    Widths(Vec<f64>),
    /// Calendar units.
    Units(Vec<UnitText>),
}

impl IntervalsDraft {
    /// The parts as they are written.
    pub fn texts(&self) -> Vec<String> {
        match self {
            IntervalsDraft::Widths(widths) => widths.iter().map(ToString::to_string).collect(),
            IntervalsDraft::Units(units) => units.iter().map(|unit| unit.0.to_string()).collect(),
        }
    }

    pub(crate) fn source(&self) -> TaxonomySource {
        match self {
            IntervalsDraft::Widths(widths) => TaxonomySource::Intervals(widths.clone()),
            IntervalsDraft::Units(units) => TaxonomySource::Calendar(units.iter().map(|unit| unit.0).collect()),
        }
    }
}

/// A name, or one number per category.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "expected a name such as \"uniform\", or a list of numbers")]
pub enum WeightsDraft {
    /// `uniform`, `sensitivity(2)`, or numbers with commas between them.
    Name(String),
    /// Exact numbers in quotes.
    Texts(Vec<String>),
    /// Numbers.
    Numbers(Vec<f64>),
}

impl WeightsDraft {
    pub(crate) fn weights(&self) -> Result<Weights, Error> {
        Ok(match self {
            WeightsDraft::Name(text) if text.contains(',') => Weights::parse_custom(text.split(',').map(str::trim))?,
            WeightsDraft::Name(name) => Weights::parse(name)?,
            WeightsDraft::Texts(texts) => Weights::parse_custom(texts.iter().map(String::as_str))?,
            WeightsDraft::Numbers(numbers) => {
                let texts: Vec<String> = numbers.iter().map(ToString::to_string).collect();
                Weights::parse_custom(texts.iter().map(String::as_str))?
            }
        })
    }
}

/// A name out of a few, as JSON and TOML write it.
macro_rules! named {
    ($(#[$doc:meta])* $text:ident($value:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(try_from = "String", into = "String")]
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        pub struct $text(pub $value);

        impl TryFrom<String> for $text {
            type Error = String;
            fn try_from(text: String) -> Result<Self, String> {
                text.parse().map($text)
            }
        }

        impl From<$text> for String {
            fn from(text: $text) -> String {
                text.0.name().to_owned()
            }
        }
    };
}

named!(
    /// A role by name.
    RoleText(Role)
);
named!(
    /// A kind by name.
    KindText(Kind)
);
named!(
    /// A calendar unit by name.
    UnitText(CalendarUnit)
);

impl Draft {
    /// The JSON schema of a draft, which is also that of a `chrysalis.toml`.
    #[cfg(feature = "schema")]
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Draft).to_value()
    }

    /// This draft where it says something, `base` elsewhere.
    ///
    /// A list of columns wins as a whole: other columns that `base` gives the same role by name lose it, and a column
    /// in one of the lists has the role of that list. If this draft chooses another method or partitioner, the settings
    /// that `base` has because of its own choice are dropped: its knobs, and taxonomies that would have no effect.
    #[must_use]
    pub fn or(self, base: Draft) -> Draft {
        let mut base = base;
        let was_keyed = base.says_keyed();
        base.give_way_to(&self);
        if self.like.is_some() && base.like.is_none() {
            base.release.give_way_to_like();
        }
        let chooses = self.release.method.is_some() || self.release.partitioner.is_some();
        let over = chooses.then(|| self.release.clone().over(&base.release).ok()).flatten();
        let release = over.unwrap_or_else(|| self.release.clone().or(base.release.clone()));
        base.forget_taxonomies_idle_in(&release);
        let mut attributes = base.attributes;
        for (name, own) in self.attributes {
            let known = attributes.remove(&name).unwrap_or_default();
            attributes.insert(name, own.or(known));
        }
        // A draft that lists quasi columns also decides what users know.
        let quasi_identifiers = match self.quasi_identifiers.is_empty() && self.quasi.is_none() {
            true => base.quasi_identifiers,
            false => self.quasi_identifiers,
        };
        let mut merged = Draft {
            input: self.input.or(base.input),
            delimiter: self.delimiter.or(base.delimiter),
            encoding: self.encoding.or(base.encoding),
            na: self.na.or(base.na),
            date_format: self.date_format.or(base.date_format),
            missing: self.missing.or(base.missing),
            person: self.person.or(base.person),
            rows_known: self.rows_known.or(base.rows_known),
            rows_per_person: self.rows_per_person.or(base.rows_per_person),
            memory: self.memory.or(base.memory),
            series: self.series.or(base.series),
            values_change: self.values_change.or(base.values_change),
            only_new: self.only_new.or(base.only_new),
            after: self.after.or(base.after),
            like: self.like.or(base.like),
            key: self.key.clone(),
            quasi: self.quasi.or(base.quasi),
            sensitive: self.sensitive.or(base.sensitive),
            other: self.other.or(base.other),
            weight: self.weight.or(base.weight),
            weights: self.weights.or(base.weights),
            ordinary: self.ordinary.or(base.ordinary),
            quasi_identifiers,
            attributes,
            release,
            compare: self.compare.map(|own| own.or(base.compare.clone().unwrap_or_default())).or(base.compare),
        };
        // A key that `base` has for its own preparations is dropped with these.
        merged.key = merged.key.take().or(base.key.filter(|_| !was_keyed || merged.says_keyed()));
        merged
    }

    /// Drops everything that contradicts the lists of columns in `over`.
    fn give_way_to(&mut self, over: &Draft) {
        let quasi = over.quasi.as_ref().map(QuasiDraft::sets).map(|sets| sets.concat());
        let lists: [(Role, Option<Vec<String>>); 3] = [
            (Role::QuasiIdentifier, quasi),
            (Role::Sensitive, over.sensitive.as_ref().map(SensitiveDraft::names)),
            (Role::Other, over.other.clone()),
        ];
        let is_listed =
            |name: &String| lists.iter().any(|(_, names)| names.as_ref().is_some_and(|it| it.contains(name)));
        let is_listed = |name: &String| is_listed(name) || over.weight.as_ref() == Some(name);
        for (role, _) in lists.iter().filter(|(_, names)| names.is_some()) {
            let is_displaced = |attribute: &AttributeDraft| attribute.role.is_some_and(|known| known.0 == *role);
            self.attributes.retain(|name, attribute| is_listed(name) || !is_displaced(attribute));
        }
        for (name, attribute) in &mut self.attributes {
            if is_listed(name) {
                attribute.role = None;
            }
        }
        if lists[0].1.is_some() {
            self.quasi = None;
        }
        if lists[1].1.is_some() {
            self.release.together = None;
        }
    }
}

impl AttributeDraft {
    /// This one where it says something, `base` elsewhere. A taxonomy of any kind replaces any other.
    fn or(self, base: AttributeDraft) -> AttributeDraft {
        let has_taxonomy = self.taxonomy.is_some() || self.intervals.is_some() || self.prefix;
        AttributeDraft {
            role: self.role.or(base.role),
            kind: self.kind.or(base.kind),
            order: if self.order.is_empty() { base.order } else { self.order },
            prepare: if self.prepare.is_empty() { base.prepare } else { self.prepare },
            taxonomy: self.taxonomy.or(base.taxonomy.filter(|_| !has_taxonomy)),
            intervals: self.intervals.or(base.intervals.filter(|_| !has_taxonomy)),
            prefix: self.prefix || base.prefix && !has_taxonomy,
            categories: self.categories.or(base.categories),
            weights: self.weights.or(base.weights),
            ordinary: self.ordinary.or(base.ordinary),
            near: self.near.or(base.near),
        }
    }
}

impl ReleaseDraft {
    /// This one where it says something, `base` elsewhere.
    #[must_use]
    pub fn or(self, base: ReleaseDraft) -> ReleaseDraft {
        ReleaseDraft {
            method: self.method.or(base.method),
            partitioner: self.partitioner.or(base.partitioner),
            relaxed: self.relaxed.or(base.relaxed),
            transparent: self.transparent.or(base.transparent),
            group_column: self.group_column.or(base.group_column),
            bucket_columns: self.bucket_columns.or(base.bucket_columns),
            marginals: self.marginals.or(base.marginals),
            together: self.together.or(base.together),
            require: self.require.or(base.require),
            accept: self.accept.or(base.accept),
            collude: self.collude.or(base.collude),
            format: self.format.or(base.format),
            suppress: self.suppress.or(base.suppress),
            population_table: self.population_table.or(base.population_table),
            metric: self.metric.or(base.metric),
            levels: self.levels.or(base.levels),
            time_limit: self.time_limit.or(base.time_limit),
        }
    }
}

impl CompareDraft {
    fn or(self, base: CompareDraft) -> CompareDraft {
        CompareDraft {
            runs: if self.runs.is_empty() { base.runs } else { self.runs },
            workload: self.workload.or(base.workload),
            queries: self.queries.or(base.queries),
            selectivity: self.selectivity.or(base.selectivity),
            dimensions: self.dimensions.or(base.dimensions),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(text: &str) -> Draft {
        toml::from_str(text).unwrap()
    }

    #[track_caller]
    fn check(over: &str, base: &str, expected: &str) {
        assert_eq!(draft(over).or(draft(base)), draft(expected));
    }

    #[test]
    fn what_is_said_wins_and_the_rest_stays() {
        check(
            "missing = 'drop'\n[release]\nrequire = ['l=6']",
            "input = 'a.csv'\nmissing = 'error'\n[release]\nmethod = 'anatomy'\nrequire = ['k=2']",
            "input = 'a.csv'\nmissing = 'drop'\n[release]\nmethod = 'anatomy'\nrequire = ['l=6']",
        );
        check(
            "[attributes.age]\nkind = 'integer'\nintervals = [5.0]",
            "[attributes.age]\nrole = 'quasi'\ntaxonomy = 'age.csv'",
            "[attributes.age]\nrole = 'quasi'\nkind = 'integer'\nintervals = [5.0]",
        );
    }

    #[test]
    fn a_list_of_columns_takes_the_place_of_roles() {
        check(
            "quasi = ['sex', 'disease']",
            "[attributes.age]\nrole = 'quasi'\nprefix = true\n[attributes.disease]\nrole = 'sensitive'\n[attributes.sex]\nrole = 'quasi'",
            "quasi = ['sex', 'disease']\n[attributes.disease]\n[attributes.sex]",
        );
        check(
            "sensitive = 'cost'",
            "[attributes.disease]\nrole = 'sensitive'\n[attributes.cost]\nrole = 'other'\nkind = 'integer'",
            "sensitive = 'cost'\n[attributes.cost]\nkind = 'integer'",
        );
    }

    #[test]
    fn what_fits_a_method_that_was_replaced_is_left_behind() {
        let base = "[release]\npartitioner = 'full-domain'\nsuppress = 0.1\nrequire = ['k=2']\n\
                    [attributes.age]\nintervals = [5.0]\n[attributes.zip]\nprefix = true";
        check(
            "[release]\npartitioner = 'mondrian'",
            base,
            "[release]\npartitioner = 'mondrian'\nrequire = ['k=2']\n\
             [attributes.age]\nintervals = [5.0]\n[attributes.zip]\nprefix = true",
        );
        check(
            "[release]\nmethod = 'shuffle'",
            base,
            "[release]\nmethod = 'shuffle'\nrequire = ['k=2']\n[attributes.age]\n[attributes.zip]\nkind = 'category'",
        );
        // A mistake within one draft stays a mistake.
        let wrong = "[release]\nmethod = 'shuffle'\nsuppress = 0.1\n[attributes.age]\nintervals = [5.0]";
        check(
            "[release]\nmethod = 'permute'\npartitioner = 'anatomize'",
            wrong,
            &wrong.replace("'shuffle'", "'permute'\npartitioner = 'anatomize'"),
        );
    }

    #[test]
    fn a_key_goes_with_the_preparations_that_need_it() {
        let base = "key = 'a.key'\nperson = 'id'\n[attributes.mrn]\nrole = 'quasi'\nprepare = ['pseudonym']\n\
                    [attributes.day]\nrole = 'other'\nprepare = ['shift']";
        check(
            "[attributes.age]\nprepare = ['top:90']",
            base,
            &format!("{base}\n[attributes.age]\nprepare = ['top:90']"),
        );
        check(
            "[attributes.mrn]\nprepare = ['prefix:3']\n[attributes.day]\nprepare = ['date:year']",
            base,
            "person = 'id'\n[attributes.mrn]\nrole = 'quasi'\nprepare = ['prefix:3']\n[attributes.day]\nrole = 'other'\n\
             prepare = ['date:year']",
        );
        check(
            "other = []\nkey = 'b.key'",
            base,
            "other = []\nkey = 'b.key'\nperson = 'id'\n[attributes.mrn]\nrole = 'quasi'\nprepare = ['pseudonym']",
        );
        // A mistake within one draft stays a mistake.
        check("missing = 'drop'", "key = 'a.key'\nperson = 'id'", "missing = 'drop'\nkey = 'a.key'\nperson = 'id'");
    }

    #[test]
    fn a_draft_is_the_same_in_toml_and_in_json() {
        let text = "quasi = [['a', 'b'], ['c']]\nsensitive = 's'\n[attributes.s]\nkind = 'integer'\nweights = 'uniform'\n\
                    [release]\nmethod = 'butterfly'\nsuppress = 0.05\n[[compare.runs]]\nname = 'x'\nvary = { l = [2, 4] }\nrequire = ['l={l}']";
        let draft = draft(text);
        assert_eq!(serde_json::from_value::<Draft>(serde_json::to_value(&draft).unwrap()).unwrap(), draft);
        assert_eq!(toml::from_str::<Draft>(&toml::to_string(&draft).unwrap()).unwrap(), draft);
        assert!(toml::from_str::<Draft>("[[compare.runs]]\nmehtod = 'x'").is_err(), "unknown fields are refused");
        assert_eq!(Draft::schema()["title"], "Draft");
    }
}

use chrysalis_criteria::Rational;

use crate::attack::{
    Background, Extremes, Finding, Insider, Learned, Minimality, Replay, Republishing, Subtraction, Together,
};
use crate::counting::Reading;
use crate::disclosure::{Bystander, Disclosure};

/// What an audit found. Everything is collected; nothing stops at the first finding.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditReport {
    /// Which values counted when promises were measured.
    pub reading: Reading,
    /// Every promised principle, in the manifest's order.
    pub principles: Vec<PrincipleResult>,
    /// Everything else that was checked.
    pub checks: Vec<Check>,
    /// What an attacker can do with the release.
    pub attacks: Attacks,
    /// What the release gives away whatever it promises; absent where there are no groups, or nothing is sensitive.
    pub disclosure: Option<Disclosure>,
    /// How much accuracy the release costs; absent for forms that pa does not measure.
    pub utility: Option<Utility>,
    /// Rows that were published.
    pub rows: u64,
    /// Groups that they are in: distinct group ids; 0 for a form without groups.
    pub groups: u64,
    /// If several attributes are sensitive: what was found about each. `attacks` and `utility` are then those of the
    /// attribute whose values are guessed best, and `disclosure` counts rows that any of them gives away.
    pub columns: Vec<ColumnReport>,
}

/// What was found about one of several sensitive attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnReport {
    /// The attribute.
    pub column: String,
    /// What an attacker can learn about it.
    pub attacks: Attacks,
    /// What the release gives away of it whatever it promises.
    pub disclosure: Option<Disclosure>,
    /// How much accuracy the release costs, as far as it is about this attribute.
    pub utility: Option<Utility>,
}

impl AuditReport {
    /// Whether every promise holds, nothing was found, and nothing is disclosed that the owner did not accept.
    pub fn ok(&self) -> bool {
        self.promises_hold() && self.disclosure.as_ref().is_none_or(Disclosure::ok)
    }

    /// Whether no promise is broken and every check passes, whatever is disclosed. Promises of which nobody can tell are
    /// [`untold`](Self::untold).
    pub fn promises_hold(&self) -> bool {
        !self.principles.iter().any(PrincipleResult::is_broken) && self.checks.iter().all(|check| check.ok)
    }

    /// The promises of which nobody can tell whether they hold.
    pub fn untold(&self) -> impl Iterator<Item = &PrincipleResult> {
        self.principles.iter().filter(|principle| principle.untold.is_some())
    }
}

/// One promise, and how well it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct PrincipleResult {
    /// The principle as the manifest writes it.
    pub principle: String,
    /// Whether it is known to hold in every group.
    pub holds: bool,
    /// Why nobody can tell whether it holds, in a sentence; absent where it is known to hold or not to hold.
    pub untold: Option<String>,
    /// The worst level of any group, in the unit of the principle's first parameter; of a part that fails, if one does.
    ///
    /// Infinite where no parameter would do, such as for a recursive c with an empty tail.
    pub worst: f64,
    /// The same exactly, with all parts of the principle: `3/7`, `4 values, span 120`.
    pub worst_text: String,
    /// The id of the group where the worst level is reached; the lowest such id. Absent only where it has none.
    pub worst_group: Option<i64>,
    /// What counts as one value, by which distance and with which weights it was measured, in words; empty where the principle says
    /// it all.
    pub measured: String,
}

impl PrincipleResult {
    /// Whether it is known not to hold in some group.
    pub fn is_broken(&self) -> bool {
        !self.holds && self.untold.is_none()
    }
}

/// Something that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What: `tables`, `groups`, `ranges`, `labels`, `values`, `counts`, `sensitive values`, `help`, `row order`,
    /// `suppressed`, `batches`, `buckets`, `quasi-identifiers`, `marginals`, `intersection`, `faithful`, `permuted`,
    /// `swapped`, `apart`, `together`, `persons`, `ids`, `manifest`, `series`, `sequence`, `signatures`, `subtraction`;
    /// the hall adds `files` and `roles`.
    pub name: &'static str,
    /// Whether all is well.
    pub ok: bool,
    /// In one line: what was found to be fine, or the findings.
    pub detail: String,
    /// One sentence each; at most five of a kind, then how many more there are.
    pub findings: Vec<String>,
}

/// What an attacker can do with a release.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attacks {
    /// Linking a known person to a sensitive value; absent where nothing sensitive is published, or without groups.
    pub linking: Option<Linking>,
    /// Telling which row belongs to a known person.
    pub row_linking: Option<RowLinking>,
    /// Finding out whether a known person is in the data at all.
    pub presence: Option<Presence>,
    /// Learning how sensitive a person's value is; absent where the manifest has no categories, or without groups.
    pub similarity: Option<Similarity>,
    /// Joining the release with others; one entry per other release, and one for all where there are several.
    pub intersection: Vec<Intersection>,
    /// What several releases of a series leave to everybody, if the tables of all months were given.
    pub series: Option<SeriesLeft>,
    /// Joining the generalized tables of one release through its batches; absent where there is one such table, and without
    /// the microdata.
    pub joining: Option<Joining>,
    /// Users of a butterfly release who pool what they know; one entry per pair of quasi-identifiers.
    pub pooling: Vec<Pooling>,
    /// Ruling out values that a person cannot have; absent where nothing sensitive is published, or without groups.
    pub background: Option<Background>,
    /// Learning across groups what people with a sensitive value are like; absent where it was not run.
    pub learned: Option<Learned>,
    /// Knowing the columns that are kept as they are; absent where there are none.
    pub bystander: Option<Bystander>,
    /// Knowing one sensitive attribute and betting on another; absent where fewer than two are sensitive, and where it
    /// was not run.
    pub insider: Option<Insider>,
    /// Replaying the algorithm on small groups; absent where it was not run.
    pub minimality: Option<Minimality>,
    /// Publishing again after two members of a group exchanged their values; absent where it was not run. This crate
    /// never runs it, because it cannot publish.
    pub replay: Option<Replay>,
    /// Publishing the same table again and again; absent where that gives the same groups, and where nothing is sensitive.
    pub republishing: Option<Republishing>,
    /// Subtracting the counts of two releases; absent where nothing sensitive is published.
    pub subtraction: Option<Subtraction>,
    /// Knowing who has the smallest or largest value; absent where nothing can be said.
    pub extremes: Option<Extremes>,
    /// Knowing one of two columns that are shown together; one entry per column that is known and column that is learned.
    pub together: Vec<Together>,
    /// All of them in words, in a fixed order; also why an attack was not run.
    pub findings: Vec<Finding>,
}

/// An attacker finds the rows that cover a person in every generalized table of a release, and keeps those whose
/// batches all tables allow (angel). Values stay hidden by their batches; k is promised for the buckets of each table
/// alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joining {
    /// Tables that were joined.
    pub tables: u64,
    /// People who were tried.
    pub people: u64,
    /// Rows that every bucket is promised to have; 1 where nothing is promised.
    pub promised: u64,
    /// Rows that the worst off keep, in the table where they are fewest.
    pub fewest: u64,
    /// People who keep fewer rows than promised for buckets.
    pub narrowed: u64,
    /// People who keep one row.
    pub alone: u64,
}

/// Two users pool what they know about a person, which no release promises to withstand unless it was made for
/// colluding users.
#[derive(Clone, Debug, PartialEq)]
pub struct Pooling {
    /// The attributes that they know together.
    pub attributes: Vec<String>,
    /// Classes of rows that look the same to them.
    pub classes: u64,
    /// Rows of the smallest class.
    pub smallest: u64,
    /// The k that was promised to each of them; 1 if none was.
    pub promised: u64,
    /// Rows in smaller classes.
    pub rows_below: u64,
    /// The chance of guessing a person's sensitive value right in the worst class; absent where nothing sensitive is published.
    pub confidence: Option<f64>,
}

/// An attacker finds a person in several releases of the same data and keeps only values that all of them allow.
#[derive(Clone, Debug, PartialEq)]
pub struct Intersection {
    /// The other release or releases, as the caller names them.
    pub with: String,
    /// What is counted.
    pub left: IntersectionLeft,
    /// How many of these the releases promise to everybody.
    pub promised: u64,
    /// The fewest that anybody keeps; absent where the releases have nobody in common.
    pub fewest: Option<u64>,
    /// People who keep fewer than promised.
    pub narrowed: u64,
    /// People who were tried.
    pub people: u64,
    /// People of the microdata to whom the releases leave nothing: one of the releases is not of the same data.
    pub contradicted: u64,
    /// Who was tried.
    pub over: IntersectionOver,
    /// By how many sensitive values the counts of both releases differ: those that came plus those that went. Absent
    /// where there are several others, or one protects no column.
    pub counts_differ_by: Option<u64>,
    /// How likely everybody's value is over all worlds that fit the releases, or why that was not counted.
    pub shares: Result<Shares, NotCounted>,
}

/// An attacker has several releases of a series, and knows who was there in which.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesLeft {
    /// Everybody who was ever there, and fits the groups of every release that they are in.
    pub people: u64,
    /// How many sensitive values are promised to each.
    pub promised: u64,
    /// The fewest that somebody keeps; absent where nobody fits.
    pub fewest: Option<u64>,
    /// People who keep fewer than promised.
    pub narrowed: u64,
    /// How likely everybody's value is over all worlds that fit all releases, or why that was not counted.
    pub shares: Result<Shares, NotCounted>,
    /// What knowing how signatures are chosen adds at least; absent without all releases from the first one on.
    pub replay: Option<SeriesReplay>,
}

/// What whoever knows how the signatures of a series are chosen can tell at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesReplay {
    /// People who stand beside a value that was new to the series, so few that one of them is surer to have it than promised.
    pub people: u64,
    /// The fewest of whom one must have such a value; absent where there are none.
    pub fewest: Option<u64>,
}

/// An estimated share counts as above the promise if it exceeds it by more than this many percent of it. Of random
/// people who count as above, 99 in 100 are, once all worlds are counted (see `intersection/spec.md`).
pub const SHARE_ERROR_PERCENT: u64 = 10;

/// Bets on people's values over all worlds that fit several releases: those in which every group of every release has
/// the values that it shows, all equally likely.
#[derive(Clone, Debug, PartialEq)]
pub struct Shares {
    /// The largest share of a value that one of the releases allows in its groups; absent where none bounds it.
    pub promised: Option<Rational>,
    /// The largest share that somebody's value has; absent where nobody is in all releases.
    pub largest: Option<f64>,
    /// Whether that was counted, and not estimated.
    pub is_largest_exact: bool,
    /// People whose shares are known: those whom all releases can hold.
    pub people: u64,
    /// How many of them have estimated shares.
    pub estimated: u64,
    /// People with a value whose share is above the promise. Estimates count only if they exceed it by more than
    /// [`SHARE_ERROR_PERCENT`].
    pub above: u64,
    /// How many of these do have that value; absent without the microdata.
    pub right: Option<u64>,
    /// People who fit each release, but whom no world fits together with the others.
    pub impossible: u64,
    /// Who was tried.
    pub over: SharesOver,
}

/// Over whom shares were counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharesOver {
    /// The people of the microdata.
    People,
    /// The rows of a release that shows quasi values as they are.
    Rows,
}

/// Why shares were not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotCounted {
    /// It cannot be told: no release shows people.
    NobodyKnown,
    /// It cannot be told: too many groups may hold the same people.
    TooManyOverlaps,
    /// It does not apply: a release protects no column.
    NothingProtected,
}

/// What an intersection attack counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntersectionLeft {
    /// The sensitive values that all releases allow a person.
    Values,
    /// The people who share a person's groups in all releases, where one of these protects no column.
    People,
}

/// Over whom an intersection attack was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntersectionOver {
    /// The people of the microdata.
    People,
    /// One conceivable person wherever groups of all releases meet.
    Conceivable,
}

/// An attacker finds a person's group and all its values lie in one category (lalpha, section 2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Similarity {
    /// Rows in such groups.
    pub rows: u64,
    /// Such groups.
    pub groups: u64,
    /// Every category of the manifest, most sensitive first.
    pub by_category: Vec<SimilarityOf>,
}

/// The part of one category in the similarity attack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimilarityOf {
    /// The values of the category.
    pub values: Vec<String>,
    /// Rows in groups that lie in it.
    pub rows: u64,
    /// Groups that lie in it.
    pub groups: u64,
}

/// An attacker knows all quasi values of a person and asks which row is theirs, given that they are in some group.
///
/// Behind ranges and labels δ = 1/n: any of the n rows of a group may be theirs. Where columns were permuted δ = Π n_i
/// / n^d (pa, Lemma 1), where n_i of the n rows have the person's value of attribute i: the chance that one given row
/// has all of them if values are combined at random. Whether the person is in the data at all is [`Presence`].
#[derive(Clone, Debug, PartialEq)]
pub struct RowLinking {
    /// The largest δ.
    pub delta: f64,
    /// The same as an exact fraction.
    pub delta_text: String,
    /// The group where it is reached; the lowest id where there are several. Absent where there are no groups.
    pub group: Option<i64>,
    /// Over whom the maximum was taken.
    pub over: RowLinkingOver,
}

/// Over whom the chance of a row was maximised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowLinkingOver {
    /// Nobody needs to be tried: quasi values are published as they are, so a person who looks like nobody else is
    /// found.
    ExactValues,
    /// Every row that could be put together from the values of a group: no person can be worse off.
    Conceivable,
    /// The people of the microdata, each in every group that has all their values.
    People,
    /// Ranges and labels: any row of a group that covers a person could be theirs, so the chance is one over the rows
    /// of the group.
    Covered,
}

/// An attacker knows all quasi values of a person and asks whether the person is in the data at all.
///
/// Nothing protects against that, and nothing bounds it, because a release does not know who could have been in the
/// data and is not. What can be said is where presence is certain, and how little the groups cover.
#[derive(Clone, Debug, PartialEq)]
pub struct Presence {
    /// Rows that show somebody's quasi values for certain: exact values, one value per attribute, or permuted columns of
    /// which no more than one has different values in the group.
    pub certain_rows: u64,
    /// A group that has such rows; the lowest id where there are several. Absent where there are no groups.
    pub certain_group: Option<i64>,
    /// At most this share of the combinations of quasi values that the manifest allows is covered by some group, from 0
    /// to 1: the smaller it is, the surer a bet that a covered person is in the data.
    pub covered: f64,
    /// Measured against a table of the people who could be in the data, where there is one.
    pub population: Option<PopulationPresence>,
}

/// Presence, measured against a table of the people who could be in the data.
#[derive(Clone, Debug, PartialEq)]
pub struct PopulationPresence {
    /// The people of the table.
    pub people: u64,
    /// Those under no group's labels: they are not in the data.
    pub outside: u64,
    /// The largest share of the people under a group's labels who are in the group.
    pub share: f64,
    /// The same as an exact fraction.
    pub share_text: String,
    /// The group where it is reached; the lowest id where there are several.
    pub group: Option<i64>,
    /// Its rows.
    pub rows: u64,
    /// The people under its labels.
    pub under: u64,
    /// Groups with more rows than people under their labels: then the table does not hold everybody.
    pub too_small: u64,
}

/// What pa measures about a release.
#[derive(Clone, Debug, PartialEq)]
pub struct Utility {
    /// The reconstruction error (pa eq. 6 and 9), expected over the worlds that the release leaves open.
    ///
    /// That is pa's sum over the people themselves where no more than one quasi attribute repeats values in a group,
    /// as in pa Table 4, and for exact quasi values; elsewhere the sum depends on who is who.
    pub rce: f64,
    /// pa's lower bound for the frequency l-diversity that was promised; absent where there is no such promise, where
    /// it is broken, and where the theorem does not hold because a group repeats a sensitive value (errata pa-thm2).
    pub rce_bound: Option<f64>,
}

/// An attacker knows all quasi values of everyone, finds a person's group and bets on its most frequent value.
#[derive(Clone, Debug, PartialEq)]
pub struct Linking {
    /// The chance of being right in the worst group.
    pub confidence: f64,
    /// The same as an exact fraction.
    pub confidence_text: String,
    /// The worst group; the lowest id where there are several. Absent only where the group has no id.
    pub group: Option<i64>,
    /// Rows whose sensitive value is guessed with that chance, over all groups.
    pub rows: u64,
}

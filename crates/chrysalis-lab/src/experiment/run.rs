//! One run: which table, which release, which questions.

use std::collections::BTreeMap;
use std::path::PathBuf;

use chrysalis::{Error, IntervalsDraft, KindText, ReleaseDraft};
use chrysalis_evaluate::workload::{Family, Workload};
use serde::Deserialize;

/// Everything that one release and its measures depend on.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExperimentRun {
    pub(super) data: Data,
    #[serde(default)]
    pub(super) release: ReleaseDraft,
    pub(super) workload: Option<WorkloadSetup>,
    #[serde(default)]
    pub(super) compare: Compare,
    /// The divisor of CAVG if no `k=` is promised.
    pub(super) least_group: Option<u64>,
    #[serde(default = "one")]
    pub(super) seed: u64,
}

fn one() -> u64 {
    1
}

/// A table and its roles.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Data {
    /// A file of the data folder.
    pub(super) file: Option<PathBuf>,
    /// The made-up hospital.
    #[serde(default)]
    pub(super) hospital: bool,
    /// Only this many rows: the first ones, or a random sample.
    pub(super) rows: Option<u64>,
    #[serde(default)]
    pub(super) sample: bool,
    #[serde(default)]
    pub(super) quasi: Vec<String>,
    /// Only this many of the quasi attributes, from the first on.
    pub(super) attributes: Option<usize>,
    /// For butterflies: what every user knows.
    #[serde(default)]
    pub(super) quasi_identifiers: Vec<Vec<String>>,
    pub(super) sensitive: Option<String>,
    #[serde(default)]
    pub(super) kinds: BTreeMap<String, KindText>,
    /// Files of the data folder.
    #[serde(default)]
    pub(super) taxonomies: BTreeMap<String, PathBuf>,
    #[serde(default)]
    pub(super) intervals: BTreeMap<String, IntervalsDraft>,
    #[serde(default)]
    pub(super) prefixes: Vec<String>,
    /// Categories of the sensitive attribute, most sensitive first.
    pub(super) categories: Option<Vec<Vec<String>>>,
    pub(super) weights: Option<String>,
    pub(super) missing: Option<String>,
    /// Rows with a greater number are left out.
    #[serde(default)]
    pub(super) at_most: BTreeMap<String, f64>,
    /// Columns that are made up.
    #[serde(default)]
    pub(super) columns: Vec<MadeUp>,
}

/// A made-up column: words, integers, numbers that follow another column, or row numbers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MadeUp {
    pub(super) name: String,
    /// Words, all equally likely.
    #[serde(default)]
    pub(super) words: Vec<String>,
    /// Integers in this range, all equally likely.
    pub(super) between: Option<(i64, i64)>,
    /// 0, 1, 2 and so on: every row has its own number, so that questions can pick single rows.
    #[serde(default)]
    pub(super) numbered: bool,
    /// The made-up column of numbers that these follow …
    pub(super) follows: Option<String>,
    /// … and how far they stray from it.
    #[serde(default)]
    pub(super) variance: f64,
}

/// The workload.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WorkloadSetup {
    family: String,
    queries: usize,
    selectivity: f64,
    dimensions: Option<usize>,
    /// The only quasi attributes with conditions; empty means any.
    #[serde(default)]
    pub(super) attributes: Vec<String>,
    /// For ke's constrained questions: the share of a group's rows that are picked; `selectivity` is then the share of
    /// groups.
    pub(super) rows_of_groups: Option<f64>,
    #[serde(default)]
    unordered: Vec<String>,
    #[serde(default = "one")]
    pub(super) seed: u64,
}

impl WorkloadSetup {
    pub(super) fn workload(&self) -> Result<Workload, Error> {
        Ok(Workload {
            family: self.family.parse::<Family>()?,
            queries: self.queries,
            selectivity: self.selectivity,
            dimensions: self.dimensions,
            unordered: self.unordered.clone(),
        })
    }
}

/// The attributes over which KL-divergence is measured, and the table to rebuild them from.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Compare {
    #[serde(default)]
    pub(super) attributes: Vec<String>,
    /// Only this many of them, from the first on.
    pub(super) first: Option<usize>,
    pub(super) table: Option<String>,
}

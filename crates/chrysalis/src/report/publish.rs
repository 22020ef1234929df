use chrysalis_criteria::loss::average_group_size;
use chrysalis_publish::Recoding;
use chrysalis_publish::method::{ButterflyFacts, Outcome, UserFacts};
use chrysalis_publish::partitioner::LikeFacts;
use chrysalis_release::{Form, RoleName};
use serde::Serialize;

use super::ordered;
use crate::{PreparedColumn, Recipe, ReleaseRecord};

/// What a publication did, and what it cost.
#[derive(Clone, Debug, Serialize)]
pub struct PublishReport {
    /// Where the release was written; set by a door that writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out: Option<String>,
    /// How groups are shown.
    pub method: Form,
    /// The partitioner that formed them.
    pub partitioner: String,
    /// The principles that hold, as users write them.
    pub guarantees: Vec<String>,
    /// For each of them: which values count as one, and by which distance and with which weights it was judged, unless
    /// its text says so.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "ordered")]
    pub measured: Vec<(String, String)>,
    /// Rows published.
    pub rows: u64,
    /// Groups in the release.
    pub groups: u64,
    /// Rows of the smallest group.
    pub smallest_group: u64,
    /// Rows of the largest group.
    pub largest_group: u64,
    /// Where promises are about persons: how many there are, and how many are in the groups with the fewest and the most.
    #[serde(flatten)]
    pub persons: Option<PersonsReport>,
    /// For a release of a series: who stays, who is new, and what that took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<SeriesStep>,
    /// What earlier releases and this one tell together; absent if none were named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<AfterReport>,
    /// Where groups are those of an earlier release: how much of them is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub like: Option<LikeReport>,
    /// Rows dropped because their persons had too many; absent if no limit was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surplus_rows: Option<u64>,
    /// Rows that lacked a value.
    pub dropped_rows: u64,
    /// Columns that are not published.
    pub dropped_columns: Vec<DroppedColumn>,
    /// What was done to columns before anything else, step by step.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prepared: Vec<PreparedColumn>,
    /// The loss per cell, from 0 to 1.
    pub ncp: f64,
    /// The total loss.
    pub ncp_sum: f64,
    /// The loss per cell of every quasi attribute; empty if their values are exact.
    #[serde(serialize_with = "ordered")]
    pub ncp_by_attribute: Vec<(String, f64)>,
    /// Σ n² over groups.
    pub discernibility: u64,
    /// (rows / groups) / k, if a k is promised.
    pub average_group_size: Option<f64>,
    /// Rows whose sensitive value follows from the release; absent if there are no groups to infer that from.
    pub certain_rows: Option<u64>,
    /// Those of them whose value is not an ordinary one.
    pub disclosed_rows: Option<u64>,
    /// The risks that the owner accepted, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<String>,
    /// Whether a fixed seed was used.
    pub reproducible: bool,
    /// How long it took; set by a door that has a clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// How long each phase took.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "ordered")]
    pub phases: Vec<(String, f64)>,
    /// For groups that follow from taxonomy levels.
    #[serde(flatten)]
    pub recoding: Option<RecodingReport>,
    /// For forms with buckets: the buckets of every table.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "ordered")]
    pub buckets: Vec<(String, BucketReport)>,
    /// For forms with buckets: whether batches and buckets are the groups of the simple generalization.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_simple_generalization: Option<bool>,
    /// For forms with several tables of buckets: what remains after joining them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joined: Option<JoinedReport>,
    /// For forms with users.
    #[serde(flatten)]
    pub butterflies: Option<ButterflyReport>,
    /// What the owner should know, in sentences.
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// The persons of a release.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PersonsReport {
    /// How many there are.
    pub persons: u64,
    /// Persons in the group with the fewest.
    pub fewest_persons: u64,
    /// Persons in the group with the most.
    pub most_persons: u64,
    /// The most rows that one of them has.
    pub most_rows_per_person: u64,
    /// Whether promises hold against attackers who know how many rows each person has.
    pub rows_known: bool,
}

/// A release that follows others without a ledger.
#[derive(Clone, Debug, Serialize)]
pub struct AfterReport {
    /// How many earlier releases were named.
    pub releases: u64,
    /// People who fit a group of one of them, and so were taken to have been there.
    pub known: u64,
    /// The largest share that one value has over all worlds that agree with all releases; absent where nobody was there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest: Option<String>,
}

/// How much of an earlier release's groups is left in a release that is like it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LikeReport {
    /// Different groups of the earlier release, by their labels.
    pub groups: u64,
    /// Those whose labels a group of the new one shows as they were.
    pub kept: u64,
    /// Those in which nobody is.
    pub empty: u64,
    /// Rows that none of them covers.
    pub outside: u64,
}

impl From<LikeFacts> for LikeReport {
    fn from(facts: LikeFacts) -> Self {
        let LikeFacts { boxes, kept, empty, outside } = facts;
        LikeReport { groups: boxes, kept, empty, outside }
    }
}

/// One release of a series.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SeriesStep {
    /// Its number, from 1 on.
    pub number: u64,
    /// People who were in an earlier release as well.
    pub stay: u64,
    /// People who were not.
    pub newcomers: u64,
    /// People whose value left their signature, and who were given another one.
    pub changed: u64,
    /// Rows that were left out, because their people were published before.
    pub left_out: u64,
    /// Values that are shown and that nobody has.
    pub counterfeits: u64,
    /// How many more newcomers with one and the same value, at least, would have found a place without counterfeits.
    pub room: u64,
}

impl From<&ReleaseRecord> for SeriesStep {
    fn from(record: &ReleaseRecord) -> Self {
        SeriesStep {
            number: record.number,
            stay: record.stay,
            newcomers: record.newcomers,
            changed: record.changed,
            left_out: record.left_out,
            counterfeits: record.counterfeits,
            room: record.room,
        }
    }
}

/// A column that is not published.
#[derive(Clone, Debug, Serialize)]
pub struct DroppedColumn {
    /// Its name.
    pub name: String,
    /// Why it is not published.
    pub reason: &'static str,
}

/// The taxonomy levels at which columns are shown, and how far the search for them went.
#[derive(Clone, Debug, Serialize)]
pub struct RecodingReport {
    /// Rows that are shown fully generalized because their own groups failed.
    pub suppressed_rows: u64,
    /// The level of every quasi attribute.
    #[serde(serialize_with = "ordered")]
    pub levels: Vec<(String, LevelReport)>,
    /// The metric that was minimized.
    pub metric: &'static str,
    /// What these levels cost by this metric.
    pub cost: f64,
    /// Combinations of levels that were checked.
    pub nodes_checked: u64,
    /// All combinations of levels.
    pub nodes: u64,
    /// Whether it is proven that no combination is better.
    pub proven_optimal: bool,
}

/// One level.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LevelReport {
    /// 0 for exact values.
    pub level: usize,
    /// The lowest level at which all values look the same.
    pub top: usize,
}

/// The buckets of one table.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BucketReport {
    /// How many buckets there are.
    pub buckets: u64,
    /// Rows of the smallest.
    pub smallest_bucket: u64,
    /// Rows of the largest.
    pub largest_bucket: u64,
}

/// How well people are still hidden after tables are joined by their batches.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct JoinedReport {
    /// The fewest rows that remain possible for anyone.
    pub fewest_rows: u64,
    /// People for whom fewer rows remain than the least size of a bucket.
    pub people_below_k: u64,
}

/// What every user sees, and what a single class for all users would have cost.
#[derive(Clone, Debug, Serialize)]
pub struct ButterflyReport {
    /// The number of butterflies.
    pub butterflies: u64,
    /// One for each quasi-identifier that is not contained in another.
    pub quasi_identifiers: Vec<ClassReport>,
    /// The total loss of the union run.
    pub union_ncp_sum: f64,
    /// The loss of the union run per cell of every quasi attribute.
    #[serde(serialize_with = "ordered")]
    pub union_ncp_by_attribute: Vec<(String, f64)>,
    /// The share of that loss which butterflies save.
    pub saved: f64,
    /// What became of the nodes of the hierarchy.
    pub nodes: NodesReport,
}

/// What one user sees.
#[derive(Clone, Debug, Serialize)]
pub struct ClassReport {
    /// The attributes that the user knows.
    pub attributes: Vec<String>,
    /// The most classes that the user can distinguish.
    pub classes: u64,
    /// Rows of the smallest.
    pub smallest_class: u64,
    /// Rows of the largest.
    pub largest_class: u64,
}

/// Nodes of a hierarchy of butterflies.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct NodesReport {
    /// All nodes that were considered.
    pub looked_at: u64,
    /// Skipped because the body alone loses too much.
    pub passed_by_body: u64,
    /// Skipped because of the lower bound.
    pub passed_by_bound: u64,
    /// Built.
    pub built: u64,
    /// Kept.
    pub kept: u64,
}

impl PublishReport {
    pub(crate) fn new(outcome: &Outcome, recipe: &Recipe, dropped_rows: u64) -> Self {
        let manifest = &outcome.release.manifest;
        let rows = manifest.rows as f64;
        let dropped = recipe.dropped.iter();
        let buckets = outcome.angelization.iter().flat_map(|angel| &angel.buckets);
        PublishReport {
            out: None,
            method: manifest.method,
            partitioner: manifest.partitioner.clone(),
            guarantees: manifest.guarantees(),
            measured: Vec::new(),
            rows: manifest.rows,
            groups: manifest.groups,
            smallest_group: outcome.group_sizes.0,
            largest_group: outcome.group_sizes.1,
            persons: outcome.persons.map(|facts| PersonsReport {
                persons: facts.count,
                fewest_persons: facts.group_persons.0,
                most_persons: facts.group_persons.1,
                most_rows_per_person: facts.most_rows,
                rows_known: facts.rows_known,
            }),
            series: None,
            after: None,
            like: outcome.like.map(LikeReport::from),
            surplus_rows: None,
            dropped_rows,
            dropped_columns: dropped
                .map(|dropped| DroppedColumn { name: dropped.name.clone(), reason: dropped.reason.name() })
                .collect(),
            prepared: Vec::new(),
            ncp: outcome.ncp.mean(),
            ncp_sum: outcome.ncp.sum,
            ncp_by_attribute: per_cell(&outcome.ncp_by_attribute, rows),
            discernibility: u64::try_from(outcome.discernibility).unwrap_or(u64::MAX),
            average_group_size: average(outcome),
            certain_rows: outcome.disclosure.as_ref().map(|found| found.certain_rows),
            disclosed_rows: outcome.disclosure.as_ref().map(|found| found.disclosed_rows),
            accepted: manifest.accepted.iter().map(ToString::to_string).collect(),
            reproducible: manifest.reproducible,
            seconds: None,
            phases: Vec::new(),
            recoding: outcome.recoding.as_ref().map(|recoding| recoded(recoding, outcome)),
            buckets: buckets
                .map(|facts| {
                    let (smallest_bucket, largest_bucket) = facts.sizes;
                    let report = BucketReport { buckets: facts.buckets, smallest_bucket, largest_bucket };
                    (facts.table.clone(), report)
                })
                .collect(),
            is_simple_generalization: outcome.angelization.as_ref().map(|angel| angel.is_simple),
            joined: outcome
                .angelization
                .as_ref()
                .and_then(|angel| angel.joined)
                .map(|facts| JoinedReport { fewest_rows: facts.fewest, people_below_k: facts.narrowed }),
            butterflies: outcome.butterflies.as_ref().map(|facts| butterflies(facts, outcome)),
            notes: Vec::new(),
        }
    }
}

fn per_cell(sums: &[(String, f64)], rows: f64) -> Vec<(String, f64)> {
    sums.iter().map(|(name, sum)| (name.clone(), sum / rows)).collect()
}

/// CAVG needs a k, the least size of a group. Where rows look alike by bucket, the buckets are the groups.
fn average(outcome: &Outcome) -> Option<f64> {
    let manifest = &outcome.release.manifest;
    let buckets = outcome.angelization.as_ref().and_then(|angel| angel.buckets.first());
    let groups = buckets.map_or(manifest.groups, |facts| facts.buckets);
    manifest.promised_k().map(|k| average_group_size(manifest.rows, groups, k))
}

fn recoded(recoding: &Recoding, outcome: &Outcome) -> RecodingReport {
    let manifest = &outcome.release.manifest;
    let levels = manifest.with_role(RoleName::Quasi).zip(&recoding.levels);
    let search = &recoding.search;
    RecodingReport {
        suppressed_rows: manifest.suppressed,
        levels: levels
            .map(|(attribute, shown)| (attribute.name.clone(), LevelReport { level: shown.level, top: shown.top }))
            .collect(),
        metric: search.metric,
        cost: search.cost,
        nodes_checked: search.checked,
        nodes: u64::try_from(search.nodes).unwrap_or(u64::MAX),
        proven_optimal: search.proven,
    }
}

fn butterflies(facts: &ButterflyFacts, outcome: &Outcome) -> ButterflyReport {
    let user = |user: &UserFacts| ClassReport {
        attributes: user.attributes.clone(),
        classes: user.classes,
        smallest_class: user.sizes.0,
        largest_class: user.sizes.1,
    };
    let (union, tally) = (facts.union_loss(), &facts.tally);
    ButterflyReport {
        butterflies: facts.butterflies,
        quasi_identifiers: facts.users.iter().map(user).collect(),
        union_ncp_sum: union,
        union_ncp_by_attribute: per_cell(&facts.union_by_attribute, outcome.release.manifest.rows as f64),
        saved: if union > 0.0 { (union - outcome.ncp.sum) / union } else { 0.0 },
        nodes: NodesReport {
            looked_at: tally.nodes,
            passed_by_body: tally.passed_by_body,
            passed_by_bound: tally.passed_by_bound,
            built: tally.built,
            kept: tally.kept,
        },
    }
}

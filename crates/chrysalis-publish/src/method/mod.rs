//! Publications: what is shown of a partition. One folder each, with its `spec.md`.

mod anatomy;
mod angel;
mod butterfly;
mod frame;
mod generalize;
mod permute;
mod rank_swap;
mod shuffle;
pub(crate) mod together;
#[cfg(feature = "toy-form")]
mod toy;

use chrysalis_criteria::loss::{Ncp, discernibility};
use chrysalis_release::{Form, Release};

use crate::partitioner::{KeptLabels, LikeFacts};
use crate::{Disclosure, Job, Microdata, Partition, PublishError, Recoding, SeriesGroups};

pub use anatomy::Anatomy;
pub use angel::{Angel, Angelization, BucketFacts, Fallback, JoinedFacts};
pub use butterfly::{Butterfly, ButterflyFacts, UserFacts};
pub(crate) use frame::{ids as group_numbers, sort_by_codes};
pub use generalize::Generalize;
pub(crate) use generalize::{node_ends, node_ncp, shown_ends};
pub use permute::Permute;
pub use rank_swap::RankSwap;
pub use shuffle::Shuffle;
#[cfg(feature = "toy-form")]
pub use toy::Toy;

/// A way to show groups.
///
/// # Contract
/// A method asks the job for groups, or forms its own and has them checked. A release promises only what was checked in
/// the groups that it shows. It depends on the data as a multiset of rows, on the groups and on the job's random
/// generator, never on the order of the input or the number of threads.
pub trait Method {
    /// The form of the release.
    fn form(&self) -> Form;

    /// Checks, before any work is done, whether this form can show these data.
    fn check(&self, data: &Microdata) -> Result<(), PublishError>;

    /// Makes the release.
    fn publish(&self, job: &mut Job<'_>) -> Result<Outcome, PublishError>;
}

/// A release, and what the owner wants to know about it.
#[derive(Debug)]
pub struct Outcome {
    /// What may be published.
    pub release: Release,
    /// The penalty of what is shown.
    pub ncp: Ncp,
    /// The penalty per quasi attribute, summed over rows; empty where quasi values are exact.
    pub ncp_by_attribute: Vec<(String, f64)>,
    /// Σ n² over groups.
    pub discernibility: u128,
    /// The sizes of the smallest and the largest group.
    pub group_sizes: (u64, u64),
    /// Where persons may have several rows: facts about persons.
    pub persons: Option<PersonsFacts>,
    /// For groups that follow from levels of taxonomies: the levels, and how far the search went.
    pub recoding: Option<Recoding>,
    /// For groups like those of an earlier release: how much of these is left.
    pub like: Option<LikeFacts>,
    /// For angel: facts about its buckets.
    pub angelization: Option<Angelization>,
    /// For butterfly: facts about its butterflies.
    pub butterflies: Option<ButterflyFacts>,
    /// For a release of a series: its groups, and the signatures that they keep.
    pub series: Option<SeriesGroups>,
    /// What the release gives away, regardless of its promises; `None` for forms without groups, where this cannot be
    /// counted.
    pub disclosure: Option<Disclosure>,
}

/// The persons of a table, who may have several rows each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PersonsFacts {
    /// How many there are.
    pub count: u64,
    /// The most rows that one of them has.
    pub most_rows: u64,
    /// The numbers of persons in the groups with the fewest and the most.
    pub group_persons: (u64, u64),
    /// Whether promises hold against attackers who know how many rows each person has.
    pub rows_known: bool,
}

impl Outcome {
    fn new(
        release: Release,
        partition: &Partition,
        ncp_by_attribute: Vec<(String, f64)>,
        disclosure: Option<Disclosure>,
    ) -> Self {
        let n_quasi = release.manifest.quasi_identifiers.iter().map(Vec::len).sum::<usize>();
        let sizes = || partition.sizes();
        Outcome {
            ncp: Ncp {
                // The fold starts from 0.0 because the sum of no floats would be negative zero.
                sum: ncp_by_attribute.iter().fold(0.0, |sum, (_, ncp)| sum + ncp),
                cells: (partition.n_rows() * n_quasi) as u64,
            },
            ncp_by_attribute,
            discernibility: discernibility(sizes()),
            group_sizes: (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0)),
            recoding: partition.recoding().cloned(),
            like: partition.kept().map(KeptLabels::facts),
            release,
            persons: None,
            series: None,
            angelization: None,
            butterflies: None,
            disclosure,
        }
    }
}

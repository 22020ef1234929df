//! Publications: what is shown of a partition. One folder each, with its `spec.md`.

mod anatomy;
mod angel;
mod butterfly;
mod frame;
mod generalize;
mod permute;
mod rank_swap;
mod shuffle;
#[cfg(feature = "toy-form")]
mod toy;

use chrysalis_criteria::loss::{Ncp, discernibility};
use chrysalis_release::{Form, Release};

use crate::{Disclosure, Job, Microdata, Partition, PublishError, Recoding};

pub use anatomy::Anatomy;
pub use angel::{Angel, Angelization, BucketFacts, Fallback, JoinedFacts};
pub use butterfly::{Butterfly, ButterflyFacts, UserFacts};
pub(crate) use frame::sort_by_codes;
pub use generalize::Generalize;
pub(crate) use generalize::node_ncp;
pub use permute::Permute;
pub use rank_swap::RankSwap;
pub use shuffle::Shuffle;
#[cfg(feature = "toy-form")]
pub use toy::Toy;

/// A way to show groups.
///
/// # Contract
/// A method asks the job for groups, or forms its own and has them checked; a release promises what the groups that it shows
/// were seen to satisfy. The release depends on the data as sets of rows, on the groups and on what the job's generator yields;
/// never on the order of the input nor on the number of threads.
pub trait Method {
    /// What comes out.
    fn form(&self) -> Form;

    /// Finds out, before any work is done, whether this form can show these data.
    fn check(&self, data: &Microdata) -> Result<(), PublishError>;

    /// Makes the release.
    fn publish(&self, job: &mut Job<'_>) -> Result<Outcome, PublishError>;
}

/// A release, and what the owner wants to know about it.
#[derive(Debug)]
pub struct Outcome {
    /// What may be published.
    pub release: Release,
    /// What it costs.
    pub ncp: Ncp,
    /// The penalty per quasi attribute, summed over rows; empty where quasi values are exact.
    pub ncp_by_attribute: Vec<(String, f64)>,
    /// Σ n² over groups.
    pub discernibility: u128,
    /// The smallest and the largest group.
    pub group_sizes: (u64, u64),
    /// For groups that follow from levels of taxonomies: which, and how far the search went.
    pub recoding: Option<Recoding>,
    /// For angel: what its buckets are.
    pub angelization: Option<Angelization>,
    /// For butterfly: what its butterflies are.
    pub butterflies: Option<ButterflyFacts>,
    /// What it gives away, whatever is promised; `None` where there are no groups from which that could be told.
    pub disclosure: Option<Disclosure>,
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
                // From 0, so that no loss at all is not the negative zero.
                sum: ncp_by_attribute.iter().fold(0.0, |sum, (_, ncp)| sum + ncp),
                cells: (partition.n_rows() * n_quasi) as u64,
            },
            ncp_by_attribute,
            discernibility: discernibility(sizes()),
            group_sizes: (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0)),
            recoding: partition.recoding().cloned(),
            release,
            angelization: None,
            butterflies: None,
            disclosure,
        }
    }
}

//! Publications: what is shown of a partition. One folder each, with its `spec.md`.

mod anatomy;
mod angel;
mod butterfly;
mod frame;
mod generalize;
mod permute;
mod rank_swap;
mod shuffle;

use chrysalis_criteria::loss::{Ncp, discernibility};
use chrysalis_release::Release;
use rand::CryptoRng;

use crate::{Microdata, Partition, PublishError};

pub use anatomy::Anatomy;
pub use angel::{Angel, Angelization, BucketFacts, Fallback};
pub use butterfly::{Butterflies, Butterfly, ButterflyFacts, UserFacts};
pub use frame::Origin;
pub(crate) use frame::sort_by_codes;
pub use generalize::Generalize;
pub(crate) use generalize::node_ncp;
pub use permute::Permute;
pub use rank_swap::RankSwap;
pub use shuffle::Shuffle;

/// Shows a partition.
///
/// # Contract
/// Every group of the partition satisfies the principles of `origin`. The release depends on the data as sets of rows,
/// on the partition and on what `rng` yields; never on the order of the input nor on the number of threads.
pub trait Publisher {
    /// The method's name on the command line and in manifests.
    fn name(&self) -> &'static str;

    /// Finds out, before any work is done, whether this form can show these data.
    fn check(&self, data: &Microdata) -> Result<(), PublishError>;

    /// Makes the release.
    fn publish(
        &self,
        data: &Microdata,
        partition: &Partition,
        origin: Origin<'_>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Outcome, PublishError>;
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
    /// For angel: what its buckets are.
    pub angelization: Option<Angelization>,
    /// For butterfly: what its butterflies are.
    pub butterflies: Option<ButterflyFacts>,
}

impl Outcome {
    fn new(release: Release, partition: &Partition, ncp_by_attribute: Vec<(String, f64)>) -> Self {
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
            release,
            angelization: None,
            butterflies: None,
        }
    }
}

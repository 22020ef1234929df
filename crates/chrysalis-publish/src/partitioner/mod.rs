//! Algorithms that form groups in which every principle holds. One folder each, with its `spec.md`.

mod anatomize;
mod column;
mod contiguous;
mod mondrian;
mod nearby;
mod sequential;
mod similar;

use chrysalis_criteria::Principle;
use chrysalis_table::Progress;
use rand::CryptoRng;

use crate::{Microdata, Partition, PublishError};

pub use anatomize::Anatomize;
pub use column::ByColumn;
pub use contiguous::BySensitive;
pub(crate) use contiguous::Sorted;
pub use mondrian::Mondrian;
pub use nearby::Nearby;
pub use sequential::Sequential;
pub use similar::Similar;

/// Forms groups.
///
/// # Contract
/// The caller has made sure that the whole table satisfies `goal` (see [`Microdata::goal`]). The groups are disjoint,
/// cover every row, and each satisfies `goal`. The result depends on the data, the goal and what `rng` yields, never
/// on the number of threads. `progress` is told how many more rows have found their group.
pub trait Partitioner {
    /// The name on the command line and in manifests.
    fn name(&self) -> &'static str;

    /// Forms the groups.
    fn partition(
        &self,
        data: &Microdata,
        goal: &dyn Principle,
        rng: &mut dyn CryptoRng,
        progress: Progress<'_>,
    ) -> Result<Partition, PublishError>;
}

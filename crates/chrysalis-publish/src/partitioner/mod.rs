//! Algorithms that form groups in which every principle holds. One folder each, with its `spec.md`.

mod anatomize;
mod blocks;
pub(crate) mod butterfly;
mod column;
mod compact;
mod contiguous;
mod dealing;
mod full_domain;
mod ladder;
mod like;
mod mondrian;
mod nearby;
pub(crate) mod populated;
mod sequential;
mod similar;
mod stir;
mod top_down;
mod transparent;

use chrysalis_criteria::Principle;
use chrysalis_table::{Counted, Progress};
use rand::CryptoRng;

use crate::{Microdata, Partition, PublishError};

pub use anatomize::Anatomize;
pub use butterfly::{Hierarchy, Tally};
pub use column::ByColumn;
pub use compact::Compact;
pub(crate) use compact::compact_by_density;
pub use contiguous::BySensitive;
pub(crate) use contiguous::SortedRows;
pub(crate) use full_domain::population_holds_in as population_holds_at_levels;
pub use full_domain::{FullDomain, Metric, Stop};
pub(crate) use like::KeptColumn;
pub use like::{EarlierBoxes, KeptLabels, Like, LikeFacts};
pub use mondrian::Mondrian;
pub(crate) use mondrian::{Cuts, cut_by_density, ranks, shallow};
pub use nearby::Nearby;
pub(crate) use nearby::{Point, points};
pub use sequential::Sequential;
pub use similar::Similar;
pub use top_down::TopDown;
pub use transparent::Transparent;

/// Forms groups.
///
/// # Contract
/// The caller has made sure that the whole table satisfies `goal` (see [`Microdata::goal`]). The groups are disjoint,
/// cover every row, and each satisfies `goal`. The result depends on the data, the goal and what `rng` yields, never
/// on the number of threads. `progress` is told how many more rows have found their group (for `full-domain`: how many
/// more combinations of levels were judged).
pub trait Partitioner {
    /// The name in requests and manifests.
    fn name(&self) -> &'static str;

    /// The total that the progress of [`Partitioner::partition`] adds up to, and what it counts.
    fn total(&self, data: &Microdata) -> Result<(u64, Counted), PublishError> {
        Ok((data.rows() as u64, Counted::Rows))
    }

    /// Whether its groups were formed elsewhere, of rows: where persons may have several, all others get a table with
    /// one row per person.
    fn takes_rows(&self) -> bool {
        false
    }

    /// Whether it shows every column at one level for the whole table: then it cannot form groups of different persons
    /// one after the other.
    fn is_of_whole_columns(&self) -> bool {
        false
    }

    /// Forms the groups.
    fn partition(
        &self,
        data: &Microdata,
        goal: &dyn Principle,
        rng: &mut dyn CryptoRng,
        progress: Progress<'_>,
    ) -> Result<Partition, PublishError>;
}

/// For methods that form their own groups, or none, and never ask for any.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Partitioner for Nobody {
    fn name(&self) -> &'static str {
        "none"
    }

    fn partition(
        &self,
        _: &Microdata,
        _: &dyn Principle,
        _: &mut dyn CryptoRng,
        _: Progress<'_>,
    ) -> Result<Partition, PublishError> {
        Err(PublishError::Internal("a method that forms no groups by itself was given no partitioner".into()))
    }
}

/// Groups that are already formed.
impl Partitioner for Partition {
    fn name(&self) -> &'static str {
        "given"
    }

    fn takes_rows(&self) -> bool {
        true
    }

    fn partition(
        &self,
        _: &Microdata,
        _: &dyn Principle,
        _: &mut dyn CryptoRng,
        _: Progress<'_>,
    ) -> Result<Partition, PublishError> {
        Ok(self.clone())
    }
}

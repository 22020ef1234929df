//! The library's reports, as values: each of them can be turned into JSON, and a door renders it for people.

mod answer;
mod audit;
mod publish;

pub use answer::{AnswerReport, short};
pub use audit::AuditOutcome;
pub use publish::{
    AfterReport, BucketReport, ButterflyReport, ClassReport, DroppedColumn, JoinedReport, LevelReport, LikeReport,
    NodesReport, PublishReport, RecodingReport, SeriesStep,
};

use serde::{Serialize, Serializer};

/// Serializes pairs as a map, in their order.
pub(crate) fn ordered<S: Serializer, V: Serialize>(pairs: &[(String, V)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
}

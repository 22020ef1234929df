//! The owner's side: microdata in, a release out.
//!
//! Three choices make a release. A *principle* says what every group must satisfy ([`chrysalis_criteria`]), a
//! [`Partitioner`] forms groups that do, and a *method* ([`method`]) decides what is shown of them. They are
//! orthogonal: any principle works with any partitioner that supports it, any partition can be shown in any form that
//! fits. A [`Job`] holds the three together: the method asks it for groups, and a release promises only what was
//! checked in these groups.
//!
//! Randomness is a parameter everywhere: a `&mut dyn CryptoRng`, which `chrysalis::Seed` makes, by default from the
//! operating system's randomness. Results do not depend on the number of threads.

mod after;
pub mod cells;
mod disclosure;
mod error;
mod job;
pub mod method;
mod microdata;
mod partition;
pub mod partitioner;
mod quasi_identifiers;
mod series;

pub use after::{AfterFacts, judge_after};
pub use disclosure::Disclosure;
pub use error::PublishError;
pub use job::{Grouping, Job};
pub use microdata::{AttributeSpec, Microdata, PersonsSpec, SensitiveColumn, TaxonomySource};
pub use partition::{Partition, Recoding, SearchReport, ShownLevel};
pub use partitioner::Partitioner;
pub use quasi_identifiers::QuasiIdentifiers;
pub use series::{Past, SeriesFacts, SeriesGroups};

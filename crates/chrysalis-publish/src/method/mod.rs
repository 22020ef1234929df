//! Publications: what is shown of a partition. One folder each, with its `spec.md`.

mod generalize;

pub(crate) use generalize::node_ncp;
pub use generalize::{Generalize, Outcome};

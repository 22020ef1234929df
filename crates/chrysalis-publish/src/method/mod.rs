//! Publications: what is shown of a partition. One folder each, with its `spec.md`.

mod generalize;

pub use generalize::{Generalize, Outcome};
pub(crate) use generalize::node_ncp;

//! Tables larger than memory, and more machines than one; see `spec.md` for the steps that the comments number.
//!
//! A [`CellPlan`] is a shallow tree of cuts over the quasi columns. Every cell is published on its own by the ordinary
//! method, bound to what the whole table has, with a random stream of its own. One machine and a cluster call the same
//! functions: what travels between them (surveys, plans, counts, facts) is serializable and can be merged in any order.

mod again;
mod blocks;
mod bytes;
mod cell;
mod counts;
mod judge;
mod merged;
mod numbers;
mod plan;
mod rows;
mod secret;
mod survey;
mod tree;
mod whole;

pub use blocks::{Block, block_len, decode, encode};
pub use cell::{CellFacts, CellRelease, CellSpec, check_form, numbered, publish_cell};
pub use counts::CellCounts;
pub(crate) use counts::counted;
pub use merged::merged;
pub use numbers::GroupNumbers;
use plan::Tried;
pub use plan::{CellPlan, Sides};
pub use secret::Secret;
pub use survey::Survey;
pub use whole::{Whole, WholeColumn};

//! Slow and obviously right: definitions written down a second time, every partition of a few rows, and every world of
//! a few people.

mod loss;
mod partitions;
mod persons;
mod principle;
mod transport;
mod worlds;

pub use loss::{cell_ncp, group_ncp};
pub use partitions::{best_partition, for_each_partition, members};
pub use persons::{Odds, RowsOf, RowsOfPerson, ValueShown, holds_of_persons, worlds_of_persons};
pub use principle::{different, distance, holds, largest_share, readings, weaker, weight};
pub use transport::least_cost;
pub use worlds::{ReleaseSeen, worlds};

//! What a partition costs in utility. Losses are floats; sums run in a fixed order.

mod group_sizes;
mod ncp;

pub use group_sizes::{average_group_size, discernibility};
pub use ncp::{Ncp, range_ncp, set_ncp};

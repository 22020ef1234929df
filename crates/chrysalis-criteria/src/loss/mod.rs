//! What a partition costs in utility. Losses are floats; sums run in a fixed order.

mod group_sizes;
mod kl_divergence;
mod ncp;
mod rce;

pub use group_sizes::{average_group_size, discernibility};
pub use kl_divergence::kl_divergence;
pub use ncp::{Ncp, range_ncp, set_ncp};
pub use rce::{Rce, RceGroup, reconstruction_error};

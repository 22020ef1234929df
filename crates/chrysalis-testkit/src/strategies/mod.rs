//! Random inputs, all of them small and skewed, so that they reach thresholds and failures shrink to something
//! readable.

mod columns;
mod principles;
mod tables;
mod taxonomies;

use proptest::test_runner::{Config, RngSeed};

pub use columns::{column_of, groups, sensitive_columns};
pub use principles::{NAMES, demanding, principle, principles_for, rational};
pub use tables::{RandomTable, tables, tables_of};
pub use taxonomies::taxonomy_over;

/// The configuration of every property test: a fixed seed, no files left behind.
pub fn fixed(cases: u32) -> Config {
    Config { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(20), ..Config::default() }
}

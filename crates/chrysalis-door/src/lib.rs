//! A door that exists for tests: it may use `chrysalis` and nothing else of ours (`cargo xtask check-deps`), so that what a
//! real one needs is known to be there. It also keeps the house rules that no compiler keeps: `tests/house.rs`.
//!
//! It deliberately has no code of its own. What is convenient for a door belongs into the hall.

pub use chrysalis;

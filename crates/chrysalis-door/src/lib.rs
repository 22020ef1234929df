//! A door that exists only for tests: it may use `chrysalis` and no other crate of ours (`cargo xtask check-deps`),
//! which proves that `chrysalis` has everything a real door needs. It also enforces the house rules that no compiler
//! checks: `tests/house.rs`.
//!
//! It deliberately has no code of its own. Anything convenient for a door belongs in the hall.

pub use chrysalis;

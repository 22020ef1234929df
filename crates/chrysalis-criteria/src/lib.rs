//! What a group must satisfy, and what a partition costs.
//!
//! A [`PrincipleSpec`] is what a user wrote (`l=4`). Bound to a sensitive column it becomes a [`Principle`], which
//! decides group after group without ever failing or rounding: privacy is decided in integers and exact rationals.
//! A [loss](mod@loss) is an ordinary floating-point number.

mod alike;
mod categories;
mod error;
mod held;
mod laws;
pub mod loss;
mod near;
pub mod principle;
mod rational;
mod requirement;
mod spec;

pub use alike::Alike;
pub use categories::{Categories, Weights};
pub use error::CriteriaError;
pub use held::HeldPrinciples;
pub use laws::Laws;
pub use near::Near;
pub use principle::{
    All, Belongings, Clashes, Limit, Minimum, OneOfPersons, OneOfSeveral, PopulationGoal, Principle, Sees, Sensitive,
    spans,
};
pub use rational::{Rational, parse_rational, show_rational};
pub use requirement::Requirement;
pub use spec::{PopulationSpec, PrincipleSpec};

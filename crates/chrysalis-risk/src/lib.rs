//! How easily rows of a table can be found again by somebody who knows some of its columns.
//!
//! The measures are those of the field, as ARX and sdcMicro have them: prosecutor, journalist and marketer risk, sample
//! uniques, population uniques by the models of Zayatz, Pitman and the shifted negative binomial, minimal unique sets
//! with SUDA scores, and individual risk from survey weights. `spec.md` has every formula; the code uses its numbers.
//!
//! Nothing here protects anything, and no figure is a promise: estimates of a population are models, and whoever knows
//! other columns than the named ones finds other rows. What is decided exactly are counts: classes, uniques, minimal
//! unique sets.

mod error;
mod individual;
mod keys;
mod measure;
pub mod population;
mod report;
mod special;
pub mod suda;
mod wildcard;

pub use error::RiskError;
pub use individual::{approximate_risk, exact_risk};
pub use measure::measure;
pub use population::{Histogram, Model, PopulationUniques};
pub use report::{Asked, Basis, ColumnRisk, Individual, Measured, Population, RowRisk, Spread, Suda, UniqueSet};

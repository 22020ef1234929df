use chrysalis_table::{Knob, Remedy};
use thiserror::Error;

/// Why a table's risk cannot be measured.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RiskError {
    /// Nothing to measure.
    #[error("{what} has no rows")]
    NoRows {
        /// The table.
        what: &'static str,
    },
    /// Rows are counted in 32 bits.
    #[error("{rows} rows are more than the {most} that risk can be measured of", most = u32::MAX)]
    TooManyRows {
        /// Rows of the table and of the population together.
        rows: usize,
    },
    /// No columns to measure.
    #[error("no quasi columns are named")]
    NoColumns,
    /// Sets of columns are kept in 64 bits.
    #[error("{columns} quasi columns are more than the 64 that risk can be measured of")]
    TooManyColumns {
        /// How many there are.
        columns: usize,
    },
    /// A limit that no set of columns can have.
    #[error(
        "minimal unique sets of up to {limit} columns were asked for, but the number of quasi columns is {columns}"
    )]
    Limit {
        /// What was asked.
        limit: usize,
        /// How many columns there are.
        columns: usize,
    },
    /// A share that is no share.
    #[error("the threshold {threshold} is not between 0 and 1")]
    Threshold {
        /// What was asked, as it was written.
        threshold: String,
    },
    /// A population that is smaller than the sample.
    #[error("the population has {population} rows, but the table has {rows}: a table is at most the whole population")]
    SmallPopulation {
        /// Size of the population, as it was written or summed.
        population: String,
        /// Rows of the table.
        rows: usize,
    },
}

impl RiskError {
    /// What to do about it.
    pub fn hint(&self) -> Remedy {
        match self {
            RiskError::NoRows { .. } | RiskError::TooManyRows { .. } => "name another table".into(),
            RiskError::NoColumns => {
                Remedy::from("name the columns that an attacker may know: ").knob(Knob::Quasi, "a,b,…")
            }
            RiskError::TooManyColumns { .. } => Remedy::from("name fewer columns with ").knob(Knob::Quasi, ""),
            RiskError::Limit { columns, .. } => {
                Remedy::from("use ").knob(Knob::MaxSize, columns.to_string()).words(" or less, or leave it out")
            }
            RiskError::Threshold { .. } => Remedy::from("use a share such as ").knob(Knob::Threshold, "0.2"),
            RiskError::SmallPopulation { .. } => "say how many people the rows were drawn from".into(),
        }
    }
}

//! What is asked, and what is told.

use std::fmt;

use chrysalis_table::Column;

use crate::keys::Keys;
use crate::measure::{Class, Dis};
use crate::population::PopulationUniques;
use crate::suda::Found;

/// What is known of the population that a table was drawn from.
#[derive(Clone, Copy, Debug)]
pub enum Population<'a> {
    /// Nothing.
    Unknown,
    /// Its size.
    Size(f64),
    /// How many people every row stands for.
    Weights(&'a [f64]),
    /// All of it: its quasi columns, in the order of those of the table and of the same kinds.
    Table(&'a [&'a Column]),
}

/// What is to be measured.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The columns that an attacker may know.
    pub quasi: &'a [&'a Column],
    /// What is known of the population.
    pub population: Population<'a>,
    /// Whether a missing value matches anything.
    pub wildcard: bool,
    /// Rows with a risk above this are at risk.
    pub threshold: f64,
    /// The most columns that a minimal unique set may have; `None`: all.
    pub max_size: Option<usize>,
}

/// Where the numbers of people behind classes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The table itself is the population.
    Sample,
    /// They are counted in a table of the population.
    PopulationTable,
    /// They are estimated from the size of the population.
    Size,
    /// They are estimated from survey weights.
    Weights,
}

impl Basis {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Basis::Sample => "sample",
            Basis::PopulationTable => "population_table",
            Basis::Size => "population_size",
            Basis::Weights => "weights",
        }
    }
}

/// Risks of all rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The mean over rows.
    pub mean: f64,
    /// The largest.
    pub max: f64,
    /// The least.
    pub min: f64,
    /// The share of rows that have the largest.
    pub share_at_max: f64,
    /// The share of rows that have the least.
    pub share_at_min: f64,
    /// The share of rows above the threshold.
    pub records_at_risk: f64,
}

/// Risk if every row stands for several people.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Individual {
    /// By sdcMicro's formulas, approximate for classes of more than two rows.
    pub approximate: Spread,
    /// Without approximation.
    pub exact: Spread,
}

/// Minimal uniques, summed up.
#[derive(Clone, Debug, PartialEq)]
pub struct Suda {
    /// The largest size that was searched for.
    pub max_size: usize,
    /// M of the score.
    pub m: usize,
    /// Rows that have at least one minimal unique.
    pub rows: u64,
    /// How many minimal uniques of 1, 2, … columns there are.
    pub by_size: Vec<u64>,
    /// The mean score of a row.
    pub mean: f64,
    /// The largest.
    pub max: f64,
    /// The mean and the largest DIS-SUDA score, if the sampling fraction is known.
    pub dis: Option<(f64, f64)>,
    /// Sets of columns that are minimal uniques of most rows.
    pub sets: Vec<UniqueSet>,
}

/// A set of columns that is a minimal unique of some rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UniqueSet {
    /// Places of the columns in the list of quasi columns.
    pub columns: Vec<usize>,
    /// How many rows.
    pub rows: u64,
}

/// One quasi column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnRisk {
    /// Its name.
    pub name: String,
    /// How many values it has, a missing one included unless it is a wildcard.
    pub distinct: u64,
    /// Rows that lack a value.
    pub missing: u64,
    /// Rows that have a value of their own.
    pub unique_rows: u64,
    /// Distinct values per row.
    pub distinction: f64,
    /// The share of pairs of rows that the column tells apart.
    pub separation: f64,
    /// Minimal uniques that it is part of.
    pub minimal_uniques: u64,
    /// How many columns these have on average.
    pub mean_size: Option<f64>,
    /// Their part of the sum of all SUDA scores. Parts add up to more than one: a set counts for each of its columns.
    pub suda_contribution: Option<f64>,
}

/// What was measured.
///
/// `Debug` prints the shape only: a row of microdata never reaches a log.
pub struct Measured {
    /// Rows of the table.
    pub rows: u64,
    /// Distinct combinations of quasi values.
    pub classes: u64,
    /// Distinct combinations per row, and the share of pairs of rows that are told apart; `None` with wildcards.
    pub distinction: Option<f64>,
    /// The share of pairs of rows that quasi columns tell apart; `None` with wildcards.
    pub separation: Option<f64>,
    /// The attacker knows that somebody is in the table.
    pub prosecutor: Spread,
    /// The attacker does not know who is in the table.
    pub journalist: Spread,
    /// ARX's success rate of the journalist.
    pub journalist_success: f64,
    /// Where the numbers of people behind classes come from.
    pub basis: Basis,
    /// The share of rows that an attacker finds who links the whole table.
    pub marketer: f64,
    /// Rows that match no other row, as a share.
    pub sample_uniques: f64,
    /// Size of the population, if it is known.
    pub population: Option<f64>,
    /// Estimates of population uniques, if the population's size is known.
    pub population_uniques: Option<PopulationUniques>,
    /// The share of a population table that is unique in it.
    pub measured_uniques: Option<f64>,
    /// Rows of the table that more rows have in common than the population table has: it lacks some of them.
    pub not_in_population: u64,
    /// Individual risk, if every row stands for several people.
    pub individual: Option<Individual>,
    /// Minimal uniques.
    pub suda: Suda,
    /// The quasi columns.
    pub columns: Vec<ColumnRisk>,
    pub(crate) keys: Keys,
    pub(crate) classed: Vec<Class>,
    pub(crate) found: Found,
    pub(crate) dis: Option<Dis>,
}

/// What is known of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowRisk {
    /// Rows that it matches, itself included.
    pub class: u64,
    /// 1 / `class`.
    pub prosecutor: f64,
    /// 1 / people who match it, counted or expected.
    pub journalist: f64,
    /// Its SUDA score.
    pub suda: f64,
    /// Its DIS-SUDA score, if the sampling fraction is known.
    pub dis_suda: Option<f64>,
    /// Its minimal uniques, each as the places of quasi columns, smallest first.
    pub minimal_uniques: Vec<Vec<usize>>,
}

impl fmt::Debug for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Measured({} rows, {} classes, {} columns)", self.rows, self.classes, self.columns.len())
    }
}

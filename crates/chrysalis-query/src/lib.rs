//! The analyst's side: questions over a release, answered with an estimate and with bounds that are certain to hold.
//!
//! A question goes through three stages. `chrysalis-sql` turns text into a [`Question`], which knows nothing of any
//! release. [`Plan::new`] binds it to a manifest: names become attributes, conditions become sets of values, and a
//! question that cannot be answered is refused with a reason. A [`Plan`] is then answered from the tables
//! ([`OpenRelease`]), or turned into SQL by `chrysalis-sql` for a database that holds them. Both follow `spec.md`, so
//! each is the other's referee.
//!
//! This crate cannot name microdata: it sees releases only, and opens no file.

mod aggregate;
mod answer;
mod boxes;
mod code_test;
mod error;
mod estimate;
mod field;
mod gather;
pub mod inquiry;
mod learned;
mod like;
mod listed;
mod notes;
mod open_release;
mod plan;
pub mod question;
pub mod statement;
pub mod tables;
mod term;
mod tree;
pub mod value_set;
mod versions;

pub use answer::{AggregateAnswer, Answer, AnswerRow, Explanation};
pub use boxes::{Cell, MAX_BOXES, boxes};
pub use error::{Position, QueryError};
pub use field::Field;
pub use inquiry::{Inquiry, Reply};
pub use open_release::OpenRelease;
pub(crate) use plan::askable;
pub use plan::{NeededColumns, Plan, PlannedAggregate, QuasiCondition};
pub use question::Question;
pub use statement::Statement;
pub use tables::Tables;
pub use tree::Tree;
pub use versions::{OfRelease, Versioned};

pub use chrysalis_release::EstimateMode;

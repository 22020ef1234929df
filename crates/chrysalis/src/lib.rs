//! Chrysalis, the library behind every door: publish a table about people without giving away who is who, check a
//! release, and get trustworthy numbers out of it.
//!
//! A [`Draft`] says what the owner wants: it holds every knob, all of them optional. Checked against the columns of a
//! table, it becomes a [`Recipe`], which [`publish`] carries out. [`audit`] judges a release from its own tables, an
//! [`Analyst`] asks it questions in SQL, [`sample()`] draws rows from it, [`evaluate()`] compares it with the microdata,
//! [`profile()`] tells what any table satisfies today, and [`risk()`] how easily its rows are found again. Results are
//! values that turn into JSON ([`report`]). Failures are one [`Error`] type,
//! whose remedy names a knob and leaves it to the door to spell it.
//!
//! A door (a command line, Python, a page) parses, calls and renders. It knows no algorithm, no check and no JSON shape.
//!
//! # Example
//!
//! ```
//! use chrysalis::{Analyst, Draft, Evidence, Seed, Unwatched, audit, publish};
//! use chrysalis::table::{Column, Table};
//!
//! let table = Table::new(vec![
//!     Column::integers("age", &[23, 27, 35, 59, 61, 65, 65, 70]),
//!     Column::texts("disease", ["flu", "cold", "flu", "cold", "ulcer", "flu", "ulcer", "cold"].into_iter()),
//! ]);
//! let draft: Draft = serde_json::from_value(serde_json::json!({
//!     "quasi": ["age"], "sensitive": "disease", "release": {"method": "anatomy", "require": ["l=2"]},
//! }))?;
//! let recipe = draft.check(&["age".to_owned(), "disease".to_owned()])?;
//! let made = publish(table.clone(), &recipe, Seed::Secret, &Unwatched)?;
//! let with = Evidence { microdata: Some(&table), ..Evidence::default() };
//! assert!(audit(&made.release, with, &Unwatched)?.ok());
//! let answer = Analyst::open(made.release)?.ask("SELECT COUNT(*) FROM microdata WHERE age > 50 AND disease = 'flu'")?;
//! let count = &answer.answer.rows[0].aggregates[0];
//! assert!(count.lower <= Some(1.0) && Some(1.0) <= count.upper);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod after;
mod analyst;
mod assumptions;
mod audit;
pub mod catalogue;
pub mod cells;
pub mod certificate;
mod chain;
mod compare;
mod disclosure;
mod draft;
mod error;
mod evaluate;
mod evaluate_series;
mod exposure;
pub mod files;
mod found_again;
pub mod guess;
mod like;
mod partitioner;
mod persons;
mod population;
mod prepare;
mod price;
mod profile;
mod public_table;
mod publish;
mod recipe;
mod replay;
pub mod report;
mod risk;
mod sample;
mod seed;
mod series;
mod spec_text;
pub mod taxonomy;
pub mod values;
mod weight;
pub mod words;

pub use analyst::{Analyst, Keeper, Questions};
pub use audit::{Evidence, KnownLedger, SqlAudit, ToAudit, audit, audit_as_sql};
pub use chain::in_order;
pub use chrysalis_evaluate::Subspace;
pub use chrysalis_query::{EstimateMode, Tables};
pub use compare::{Comparison, Numbers, QuestionPlan, TableShape, Trial, compare};
pub use draft::{
    AttributeDraft, CompareDraft, Draft, IntervalsDraft, KindText, Number, QuasiDraft, ReleaseDraft, RoleText,
    RunDraft, SensitiveDraft, TaxonomyDraft, UnitText, WeightsDraft,
};
pub use error::{Error, Fault};
pub use evaluate::{EvaluateReport, Measures, evaluate, finite, rows_json};
pub use evaluate_series::{ReleaseWorth, SeriesWorth};
pub use exposure::{Exposure, SizeBand, exposure};
pub use found_again::{FoundAgain, RowsFoundAgain};
pub use prepare::{Key, MicrodataPlan, PreparedColumn};
pub use price::{Feasibility, Price, price};
pub use profile::{ColumnReport, ProfileReport, advice, anonymity, profile};
pub use publish::{Published, publish, publish_to_compare};
pub use recipe::{DroppedColumn, DroppedReason, Recipe};
pub use risk::{
    Basis, ColumnRisk, RiskDraft, RiskReport, RowRisk, Spread, WILDCARD, read_for_risk, read_population,
    read_population_of, risk,
};
pub use sample::{MOST_WORLDS, SampleReport, Sampled, Sampling, sample};
pub use seed::Seed;
pub use series::{OpenLedger, ReleaseRecord, Remembered, SeriesPlan, SeriesReport, Unfinished, read_ledger};
pub use spec_text::{AtDoor, commented_spec};

pub use chrysalis_arrow as arrow;
pub use chrysalis_audit_sql::{Decides, Statement as AuditStatement};
pub use chrysalis_release::{Form, Manifest, PartEntry, Release};
pub use chrysalis_sql::Dialect;
pub use chrysalis_store as store;
pub use chrysalis_table as table;
pub use chrysalis_table::{Counted, Knob, Memory, Progress, Remedy, Spelling, Stopped, Table, Unwatched, Watch};

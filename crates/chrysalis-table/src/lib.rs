//! Tables of people, as every other crate of Chrysalis sees them.
//!
//! A column is a sorted [`Domain`] of distinct values plus one small integer, a [`Code`], per row. Algorithms work on
//! codes; text appears only where data is read, written, or named in a message. Nothing here opens a file: readers
//! take anything that implements [`std::io::Read`].
//!
//! # Glossary
//!
//! One idea, one word; a paper's own word is used only beside the code that follows that paper.
//!
//! | word | meaning |
//! |---|---|
//! | microdata | the source table, one row per person, with a [`Role`] for every column |
//! | domain | the distinct values of a column that occur, in order; a missing value comes first |
//! | code | the position of a value in its domain |
//! | quasi-identifier | columns an attacker may know about a person from elsewhere |
//! | sensitive | the column an attacker wants to learn |
//! | group | rows that hide each other (papers: QI-group, equivalence class, bucket, batch) |
//! | partition | disjoint groups that cover every row |
//! | principle | a condition on the sensitive values of one group |
//! | release | what is published: tables and a manifest |
//! | loss | how much utility a release costs |
//!
//! # Example
//!
//! ```
//! use chrysalis_table::{ColumnRequest, CsvOptions, CsvReader, Kind};
//!
//! let text = "age,sex\n34,F\n29,M\n34,\n";
//! let reader = CsvReader::open(text.as_bytes(), &CsvOptions::default())?;
//! let table = reader.read(&[ColumnRequest::named("age"), ColumnRequest::named("sex")])?;
//! let age = &table.columns()[0];
//! assert_eq!(age.domain().kind(), Kind::Integer);
//! assert_eq!(age.domain().text(age.code(1)), "29");
//! assert!(table.columns()[1].domain().has_missing());
//! # Ok::<(), chrysalis_table::TableError>(())
//! ```

mod calendar;
mod codes;
mod column;
mod coverage;
mod csv;
mod datetime;
mod domain;
mod edits;
mod error;
pub mod exact;
mod fold;
mod kind;
mod memory;
mod proposal;
mod reading;
mod remedy;
mod sa_counts;
mod table;
mod taxonomy;
mod taxonomy_file;
mod value;
mod watch;

pub use calendar::CalendarUnit;
pub use codes::{Code, Codes};
pub use column::{Column, DictionaryChunk};
pub use coverage::Coverage;
pub use csv::{CsvOptions, CsvReader, Encoding};
pub use datetime::DateTime;
pub use domain::Domain;
pub use edits::edits;
pub use error::{TableError, TaxonomyError};
pub use fold::folded;
pub use kind::{Kind, Role};
pub use memory::Memory;
pub use proposal::{Grouping, propose};
pub use reading::{DateFormat, TextReading, order_of_bands};
pub use remedy::{Knob, Plain, Remedy, Spelling};
pub use sa_counts::SaCounts;
pub use table::{ColumnRequest, MissingPolicy, Table, resolve};
pub use taxonomy::{Node, NodeId, Taxonomy};
pub use taxonomy_file::TaxonomyFile;
pub use value::{Date, Value};
pub use watch::{Counted, Progress, Stopped, Unwatched, Watch, no_progress, pause_at};

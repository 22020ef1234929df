//! Record batches in and out: the one entry for tables in the memory of other programs.
//!
//! Parquet files, Python frames and Spark partitions all hand over the same thing, batches of Arrow arrays. Here they
//! become a [`Table`](chrysalis_table::Table) of codes, and a table becomes batches again. Values are looked up in a
//! dictionary as they come, so memory follows the codes, and the rows of a batch are forgotten once they are added.
//!
//! Which kind an Arrow column becomes:
//!
//! | Arrow type | kind |
//! |---|---|
//! | signed and unsigned integers | integer; a column with one above 2⁶³−1 is refused |
//! | `Float32`, `Float64` | real; what is not finite is missing, as databases write it |
//! | decimals without decimal places | integer; a column with one beyond 64 bits is refused |
//! | decimals with decimal places | real; a column with one that has more digits than a real keeps is refused |
//! | `Date32`, `Date64` | date |
//! | `Timestamp` of any unit | datetime; in UTC if it has a zone; one finer than a microsecond is refused |
//! | `Utf8`, `LargeUtf8`, `Utf8View`, `Boolean`, `Null` | category; an empty text is missing |
//! | a dictionary of one of these | that of its values; those that no row has do not become part of the domain |
//!
//! This crate deliberately does no more. It opens no file and knows nothing of Parquet. Unlike the CSV reader, it
//! guesses no kind from texts: a program that writes `"12"` as text has decided. Lists, structs, bytes and durations
//! are refused by the name of their column, because what they should become is the owner's decision.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//!
//! use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchReader, StringArray};
//! use chrysalis_arrow::{batches, read};
//! use chrysalis_table::{ColumnRequest, Kind, no_progress};
//!
//! let age: ArrayRef = Arc::new(Int64Array::from(vec![34, 29, 34]));
//! let sex: ArrayRef = Arc::new(StringArray::from(vec![Some("F"), Some("M"), None]));
//! let batch = RecordBatch::try_from_iter([("age", age), ("sex", sex)])?;
//!
//! let wanted = [ColumnRequest::named("sex"), ColumnRequest::named("age")];
//! let table = read(&batch.schema(), [Ok(batch)], &wanted, &no_progress)?;
//! assert_eq!(table.rows(), 3);
//! assert!(table.columns()[0].domain().has_missing());
//! let age = &table.columns()[1];
//! assert_eq!((age.domain().kind(), age.domain().text(age.code(1)).as_ref()), (Kind::Integer, "29"));
//!
//! let back = batches(&table);
//! let again = read(&back.schema(), back, &wanted, &no_progress)?;
//! assert_eq!(again, table);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod column_in;
mod error;
mod out;
mod table_in;

pub use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
pub use arrow_schema::{ArrowError, Schema};
pub use column_in::{ColumnReader, kind_of};
pub use error::ArrowTableError;
pub use out::{Batches, ColumnWriter, array, batches, field, schema};
pub use table_in::{TableReader, header, read};

/// Rows that are turned into codes or arrays at a time, that is, between two places to stop.
pub const ROWS_PER_BATCH: usize = 1 << 16;

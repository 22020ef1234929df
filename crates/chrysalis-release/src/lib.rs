//! What a release is: plain tables and a manifest that says what they are and what they promise.
//!
//! A [`Release`] is a value. It holds no reference back to the data, no seed and no original row order. How it gets
//! to disk and back is the store's business; what is in it is decided here, so that the publisher, the analyst's side
//! and the audit mean the same thing.
//!
//! A published table is an ordinary [`Table`]: any SQL engine reads it, and so does this crate.

mod error;
mod estimate;
mod form;
mod label;
mod layout;
mod manifest;
mod one_column;
mod preparation;
mod promise;
mod together;
pub mod view;

pub use error::ReleaseError;
pub use estimate::EstimateMode;
pub use form::Form;
pub use label::set_label;
pub use layout::{
    BATCH_ID, COUNT, COUNTERFEITS, Cell, ColumnLayout, Detail, GROUP_ID, GROUPS, HELP_COLUMNS, Holds, Layout,
    MEMBERS_COLUMNS, Needs, PERSONS, Shape, TableLayout, Values, marginal_table, max_column, min_column,
};
pub use manifest::{
    Accepted, Attribute, ColumnEntry, DomainEntry, ENCODING, FORMAT, KindName, Manifest, PartEntry, Persons, Published,
    RoleName, SeriesEntry, TableEntry, VERSION,
};
pub use preparation::{Bound, Decimal, Period, Preparation, PreparedValues};
pub use promise::{Promise, Scope, Unit};
pub use view::View;

use chrysalis_table::Table;

/// A manifest with its tables, in the manifest's order.
#[derive(Clone, Debug)]
pub struct Release {
    /// What the tables are and what they promise.
    pub manifest: Manifest,
    /// One per entry of `manifest.tables`.
    pub tables: Vec<Table>,
}

impl Release {
    /// The table of that name.
    pub fn table(&self, name: &str) -> Result<&Table, ReleaseError> {
        let index = self.manifest.tables.iter().position(|entry| entry.name == name);
        index
            .and_then(|index| self.tables.get(index))
            .ok_or_else(|| ReleaseError::MissingTable { table: name.to_owned() })
    }
}

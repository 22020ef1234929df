//! What a release is: plain tables and a manifest that says what they are and what they promise.
//!
//! A [`Release`] is a value. It holds no reference back to the data, no seed and no original row order. How it gets
//! to disk and back is the store's business; what is in it is decided here, so that the publisher, the analyst's side
//! and the audit speak of the same thing.
//!
//! A published table is an ordinary [`Table`]: any SQL engine reads it, and so does this crate.

pub mod anatomy;
pub mod angelized;
mod error;
pub mod generalized;
mod label;
mod manifest;
pub mod permuted;
pub mod shuffled;
pub mod swapped;

pub use error::ReleaseError;
pub use label::set_label;
pub use manifest::{
    Attribute, ColumnEntry, DomainEntry, FORMAT, KindName, Manifest, Published, RoleName, TableEntry, VERSION,
};

use chrysalis_table::Table;

/// The column that says which rows stand together.
pub const GROUP_ID: &str = "group_id";

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

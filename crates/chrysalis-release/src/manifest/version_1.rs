//! Version 1 of the format: read, and rewritten only to check that its own writer produced the same text.

use serde::{Deserialize, Serialize};

use super::{Attribute, ColumnEntry, Manifest, PartEntry, TableEntry};
use crate::{Form, Promise, ReleaseError};

/// `release.json`, version 1.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Manifest"))]
#[serde(deny_unknown_fields)]
pub(super) struct Wire {
    /// Always `chrysalis-release`.
    format: String,
    /// Version of the format, 1.
    version: u32,
    /// The publication method, such as `generalize`.
    method: Form,
    /// The partitioner that formed the groups, such as `mondrian`.
    partitioner: String,
    /// Rows published.
    rows: u64,
    /// Groups they are in; for angel, batches.
    groups: u64,
    /// The principles that hold in every group, as written on the command line. For angel `k=` holds in every bucket (rows
    /// of one table with the same labels), all others in every batch.
    pub(super) guarantees: Vec<String>,
    /// The attributes that were published, in order.
    attributes: Vec<Attribute>,
    /// The sets of attributes an attacker may know.
    quasi_identifiers: Vec<Vec<String>>,
    /// The files.
    tables: Vec<Table>,
    /// Rows that are shown fully generalized because their own groups failed; all of them are one group. Absent when 0.
    #[serde(default)]
    suppressed: u64,
    /// Present and true when a fixed seed was used: such a release is for experiments only.
    #[serde(default)]
    reproducible: bool,
}

/// One file of the release.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TableEntry"))]
#[serde(deny_unknown_fields)]
struct Table {
    /// The table's name.
    name: String,
    /// Its file, beside the manifest.
    file: String,
    /// Its number of rows.
    rows: u64,
    /// Its columns, in order.
    columns: Vec<ColumnEntry>,
    /// SHA-256 of the file, in hexadecimal.
    sha256: String,
}

impl Wire {
    /// The text as version 1 wrote it: without fields that are 0 or false.
    pub(super) fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut value = serde_json::to_value(self)?;
        if let Some(fields) = value.as_object_mut() {
            let is_idle = |name: &str| {
                (name == "suppressed" && self.suppressed == 0) || (name == "reproducible" && !self.reproducible)
            };
            fields.retain(|name, _| !is_idle(name));
        }
        Ok(format!("{}\n", serde_json::to_string_pretty(&value)?))
    }
}

impl TryFrom<Wire> for Manifest {
    type Error = ReleaseError;

    fn try_from(wire: Wire) -> Result<Self, ReleaseError> {
        let table = |table: Table| TableEntry {
            parts: vec![PartEntry { file: table.file, rows: table.rows, sha256: table.sha256 }],
            name: table.name,
            rows: table.rows,
            columns: table.columns,
        };
        if wire
            .attributes
            .iter()
            .any(|attribute| attribute.ordinary.is_some() || attribute.near.is_some() || attribute.weight)
        {
            return Err(ReleaseError::Nonsense("version 1 has no ordinary values, `near` widths or weights".into()));
        }
        if wire.attributes.iter().any(|attribute| attribute.prepared.is_some()) {
            return Err(ReleaseError::Nonsense("version 1 has no prepared columns".into()));
        }
        Ok(Manifest {
            accepted: Vec::new(),
            version: wire.version,
            encoding: 0,
            method: wire.method,
            partitioner: wire.partitioner,
            rows: wire.rows,
            groups: wire.groups,
            promises: Promise::from_version_1(&wire.guarantees, wire.method, &wire.attributes)?,
            attributes: wire.attributes,
            together: Vec::new(),
            quasi_identifiers: wire.quasi_identifiers,
            tables: wire.tables.into_iter().map(table).collect(),
            persons: None,
            suppressed: wire.suppressed,
            reproducible: wire.reproducible,
            transparent: false,
            series: None,
        })
    }
}

//! Version 2 of the format: the one that is written.

use serde::{Deserialize, Serialize};

use super::{
    Attribute, ColumnEntry, FORMAT, Manifest, PARTS, PartEntry, Persons, SeriesEntry, TableEntry, VERSION, is_zero,
};
use crate::promise::PromiseEntry;
use crate::{Form, ReleaseError};

/// `release.json`, version 2.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Manifest"))]
#[serde(deny_unknown_fields)]
pub(super) struct Wire {
    /// Always `chrysalis-release`.
    format: String,
    /// Version of the format, 2.
    version: u32,
    /// What a reader must understand beyond this version; it refuses a name that it does not know. `parts`: some tables
    /// are several files. `accepted`, `ordinary`, `near`, `prepared`: the fields of these names.
    /// `several-sensitive`: more than one attribute is sensitive. `persons`: persons may have several rows, and promises
    /// count persons. `datetime`: some column has dates with times. `together`: the field of this name. `weight`: some
    /// column holds survey weights. `transparent`, `series`: the fields of these names.
    features: Vec<String>,
    /// The number of the byte layout in which tables were written, so that an auditor can write the same bytes again. Where
    /// it is absent, nobody can.
    #[serde(default, skip_serializing_if = "is_zero")]
    encoding: u32,
    /// How groups are shown.
    method: Form,
    /// The partitioner that formed the groups, such as `mondrian`.
    partitioner: String,
    /// Rows published.
    rows: u64,
    /// Groups they are in; for angel, batches.
    groups: u64,
    /// What holds in every group, and what a group is.
    promises: Vec<PromiseEntry>,
    /// The attributes that were published, in order.
    attributes: Vec<Attribute>,
    /// The sets of sensitive attributes whose values are shown in combination; all others are shown apart, and so are the
    /// sets. Nothing is promised about combinations. Needs the feature `together`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    together: Vec<Vec<String>>,
    /// The sets of attributes an attacker may know.
    quasi_identifiers: Vec<Vec<String>>,
    /// The tables.
    tables: Vec<Table>,
    /// Present where promises count persons, who may have several rows each. Needs the feature `persons`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    persons: Option<Persons>,
    /// Rows that are shown fully generalized because their own groups failed; all of them are one group. Absent when 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    suppressed: u64,
    /// Present and true when a fixed seed was used: such a release is for experiments only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    reproducible: bool,
    /// Present and true when the likelihood of the release is equal over all worlds that it allows, so that the choice of
    /// groups says nothing about who has which value. Needs the feature `transparent`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    transparent: bool,
    /// Present where the release belongs to a series: every group shows m or more values, all equally often, and a
    /// person's group shows the same ones in all its releases. Values that nobody has are counterfeit, and counted by group
    /// in a table of their own. Needs the feature `series`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    series: Option<SeriesEntry>,
    /// The risks that the owner accepted by name: `disclosure`, or `identifying=` and a column. Needs the feature `accepted`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    accepted: Vec<String>,
}

/// One table of the release.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TableEntry"))]
#[serde(deny_unknown_fields)]
struct Table {
    /// The table's name.
    name: String,
    /// Its number of rows.
    rows: u64,
    /// Its columns, in order.
    columns: Vec<ColumnEntry>,
    /// Its files, one after the other.
    parts: Vec<PartEntry>,
}

impl From<&Manifest> for Wire {
    fn from(manifest: &Manifest) -> Self {
        let table = |table: &TableEntry| Table {
            name: table.name.clone(),
            rows: table.rows,
            columns: table.columns.clone(),
            parts: table.parts.clone(),
        };
        Wire {
            format: FORMAT.to_owned(),
            version: VERSION,
            features: manifest.features().into_iter().map(str::to_owned).collect(),
            encoding: manifest.encoding,
            method: manifest.method,
            partitioner: manifest.partitioner.clone(),
            rows: manifest.rows,
            groups: manifest.groups,
            promises: manifest.promises.iter().map(PromiseEntry::from).collect(),
            attributes: manifest.attributes.clone(),
            together: manifest.together.clone(),
            quasi_identifiers: manifest.quasi_identifiers.clone(),
            tables: manifest.tables.iter().map(table).collect(),
            persons: manifest.persons,
            suppressed: manifest.suppressed,
            reproducible: manifest.reproducible,
            transparent: manifest.transparent,
            series: manifest.series.clone(),
            accepted: manifest.accepted.iter().map(ToString::to_string).collect(),
        }
    }
}

impl TryFrom<Wire> for Manifest {
    type Error = ReleaseError;

    fn try_from(wire: Wire) -> Result<Self, ReleaseError> {
        let has_parts = wire.features.iter().any(|feature| feature == PARTS);
        if let Some(table) = wire.tables.iter().find(|table| table.parts.len() != 1 && !has_parts) {
            let n = table.parts.len();
            return Err(ReleaseError::Nonsense(format!(
                "`{}` has {n} parts, but the feature `{PARTS}` is not listed",
                table.name
            )));
        }
        let table = |table: Table| TableEntry {
            name: table.name,
            rows: table.rows,
            columns: table.columns,
            parts: table.parts,
        };
        let features = wire.features;
        let accepted = wire.accepted.iter().map(|text| text.parse().map_err(ReleaseError::Nonsense));
        let manifest = Manifest {
            accepted: accepted.collect::<Result<_, _>>()?,
            version: wire.version,
            encoding: wire.encoding,
            method: wire.method,
            partitioner: wire.partitioner,
            rows: wire.rows,
            groups: wire.groups,
            promises: wire.promises.into_iter().map(TryInto::try_into).collect::<Result<_, _>>()?,
            attributes: wire.attributes,
            together: wire.together,
            quasi_identifiers: wire.quasi_identifiers,
            tables: wire.tables.into_iter().map(table).collect(),
            persons: wire.persons,
            suppressed: wire.suppressed,
            reproducible: wire.reproducible,
            transparent: wire.transparent,
            series: wire.series,
        };
        // Every needed feature must be listed, so that a reader that does not know it can tell.
        match manifest.features().iter().find(|needed| !features.iter().any(|listed| listed == *needed)) {
            Some(missing) => {
                Err(ReleaseError::Nonsense(format!("it needs the feature `{missing}`, which it does not list")))
            }
            None => Ok(manifest),
        }
    }
}

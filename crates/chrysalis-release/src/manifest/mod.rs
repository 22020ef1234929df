//! `release.json`: what the tables are and what they promise.
//!
//! In memory there is one [`Manifest`]; on disk there is one shape per version of the format. Readers know all
//! versions, the writer writes the last one. A version never gets another field silently: a new field comes with a name
//! in `features`, and a reader refuses the names that it does not know.

mod attribute;
mod head;
mod limits;
mod version_1;
mod version_2;

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

pub use attribute::{Attribute, ColumnEntry, DomainEntry, KindName, Published, RoleName};
use chrysalis_criteria::PrincipleSpec;
use chrysalis_table::Memory;
use head::Head;

use crate::{Form, Promise, ReleaseError};

/// The value of `format` in every manifest.
pub const FORMAT: &str = "chrysalis-release";
/// The version this program writes.
pub const VERSION: u32 = 2;
/// The byte layout this program writes tables in. Any change that alters a byte of a written table takes the next
/// number: a test of the store compares the bytes of some tables with frozen files.
pub const ENCODING: u32 = 1;

/// The feature of releases in which some table consists of several files.
const PARTS: &str = "parts";
/// The feature of releases whose owner accepted a risk by name.
const ACCEPTED: &str = "accepted";
/// The feature of releases whose owner says which sensitive values are ordinary.
const ORDINARY: &str = "ordinary";
/// The feature of releases whose owner says how close numbers must be to count as one.
const NEAR: &str = "near";
/// The feature of releases in which some column was prepared before it was published.
const PREPARED: &str = "prepared";
/// The feature of releases with several sensitive attributes.
const SEVERAL: &str = "several-sensitive";
/// The feature of releases in which a person may have several rows.
const PERSONS: &str = "persons";
/// The feature of releases with a column of dates with times.
const DATETIME: &str = "datetime";
/// The feature of releases that show some sensitive attributes together.
const TOGETHER: &str = "together";
/// The feature of releases with a column of survey weights.
const WEIGHT: &str = "weight";
/// The feature of releases whose groups were chosen so that the choice itself says nothing.
const TRANSPARENT: &str = "transparent";
/// The feature of releases that belong to a series.
const SERIES: &str = "series";
/// What this program understands beyond the fields of a version.
const FEATURES: [&str; 12] =
    [PARTS, ACCEPTED, ORDINARY, NEAR, PREPARED, SEVERAL, PERSONS, DATETIME, TOGETHER, WEIGHT, TRANSPARENT, SERIES];

/// What a release says about itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// The version of the format in which it was written, or will be.
    pub version: u32,
    /// The byte layout of its tables; 0 if that is unknown, as in version 1.
    pub encoding: u32,
    /// How groups are shown.
    pub method: Form,
    /// The partitioner that formed the groups, such as `mondrian`.
    pub partitioner: String,
    /// Rows published.
    pub rows: u64,
    /// Groups of these rows; batches, if the form has them.
    pub groups: u64,
    /// What holds in every group.
    pub promises: Vec<Promise>,
    /// The attributes that were published, in order.
    pub attributes: Vec<Attribute>,
    /// The sets of sensitive attributes that are shown together; the others are shown apart.
    pub together: Vec<Vec<String>>,
    /// The sets of attributes an attacker may know.
    pub quasi_identifiers: Vec<Vec<String>>,
    /// The tables.
    pub tables: Vec<TableEntry>,
    /// Where promises count persons, who may have several rows each: how many there are.
    pub persons: Option<Persons>,
    /// Rows that are shown fully generalized because their own groups failed; all of them are one group.
    pub suppressed: u64,
    /// Whether a fixed seed was used: such a release is for experiments only.
    pub reproducible: bool,
    /// Whether it is promised that the choice of groups says nothing about who has which value.
    pub transparent: bool,
    /// For a release of a series: which one it is. Its groups show counterfeit values where they need them.
    pub series: Option<SeriesEntry>,
    /// The risks that the owner accepted, by name.
    pub accepted: Vec<Accepted>,
}

/// The persons of a release, who may have several rows each. All rows of a person are in one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Persons {
    /// How many there are.
    pub count: u64,
    /// Whether promises also hold against attackers who know how many rows each person has: then all persons of a group
    /// have equally many rows.
    pub rows_known: bool,
}

/// Which release of a series this is.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SeriesEntry {
    /// Its number, from 1 on.
    pub number: u64,
    /// SHA-256 of the manifest of the release before, in hexadecimal; the first release has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<String>,
}

impl SeriesEntry {
    /// Only the first release follows no other.
    fn check(&self) -> Result<(), ReleaseError> {
        let is_hash = |text: &String| {
            text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        };
        match (self.number, &self.previous) {
            (1, None) => Ok(()),
            (2.., Some(previous)) if is_hash(previous) => Ok(()),
            (number, _) => {
                let text = format!("it is release {number} of a series, but does not say which one it follows");
                Err(ReleaseError::Nonsense(text))
            }
        }
    }
}

/// A risk that an owner accepts by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// Rows whose sensitive value can be inferred: `disclosure`.
    Disclosure,
    /// A column that is kept as it is although it looks as if it identifies people: `identifying=COLUMN`.
    Identifying(String),
}

impl fmt::Display for Accepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Accepted::Disclosure => f.write_str("disclosure"),
            Accepted::Identifying(column) => write!(f, "identifying={column}"),
        }
    }
}

impl FromStr for Accepted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            None if text == "disclosure" => Ok(Accepted::Disclosure),
            Some(("identifying", column)) if !column.is_empty() => Ok(Accepted::Identifying(column.to_owned())),
            _ => Err(format!("expected `disclosure` or `identifying=COLUMN`, found `{text}`")),
        }
    }
}

/// One table of the release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableEntry {
    /// The table's name.
    pub name: String,
    /// Its number of rows.
    pub rows: u64,
    /// Its columns, in order.
    pub columns: Vec<ColumnEntry>,
    /// Its files, one after the other; none before they are written.
    pub parts: Vec<PartEntry>,
}

/// One file of a table.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PartEntry {
    /// The file, beside the manifest.
    pub file: String,
    /// Its number of rows.
    pub rows: u64,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
}

impl Manifest {
    /// Reads and checks a manifest. All later code may rely on what is checked here.
    pub fn parse(bytes: &[u8]) -> Result<Manifest, ReleaseError> {
        Manifest::parse_within(bytes, Memory::default())
    }

    /// Like [`Manifest::parse`], but refuses a manifest that would take more memory than allowed.
    pub fn parse_within(bytes: &[u8], memory: Memory) -> Result<Manifest, ReleaseError> {
        limits::check_text(bytes, memory)?;
        let head: Head = serde_json::from_slice(bytes)?;
        let format = head.format.as_ref().and_then(|format| format.as_str()).unwrap_or_default();
        if format != FORMAT {
            return Err(ReleaseError::Format { found: format.chars().take(40).collect() });
        }
        check_features(&head)?;
        check_method(&head)?;
        let manifest: Manifest = match head.version.as_ref().and_then(serde_json::Value::as_u64).unwrap_or(0) {
            1 => serde_json::from_slice::<version_1::Wire>(bytes)?.try_into()?,
            2 => serde_json::from_slice::<version_2::Wire>(bytes)?.try_into()?,
            version => return Err(ReleaseError::Version { found: u32::try_from(version).unwrap_or(u32::MAX) }),
        };
        limits::check_lists(&manifest)?;
        Manifest::check(&manifest)?;
        Ok(manifest)
    }

    /// Reads what [`Manifest::to_json`] wrote a moment before for this program alone. Nothing is limited or checked, so this is
    /// for nothing that came from elsewhere.
    pub fn parse_own(bytes: &[u8]) -> Result<Manifest, ReleaseError> {
        serde_json::from_slice::<version_2::Wire>(bytes)?.try_into()
    }

    /// The manifest as it is written, in the last version of the format.
    pub fn to_json(&self) -> Result<String, ReleaseError> {
        let mut text = serde_json::to_string_pretty(&version_2::Wire::from(self))?;
        text.push('\n');
        Ok(text)
    }

    /// The text that the writer of its version would have produced instead of the one it was read from.
    ///
    /// LEAK: blanks, the order of fields, escapes and the spelling of numbers can carry anything, and no reader sees
    /// them.
    pub fn rewritten(&self, read_from: &[u8]) -> Result<String, ReleaseError> {
        if self.version == VERSION {
            return self.to_json();
        }
        let mut wire = serde_json::from_slice::<version_1::Wire>(read_from)?;
        wire.guarantees = self.guarantees();
        Ok(wire.to_json()?)
    }

    /// The attribute of that name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    /// The attributes with a role, in order.
    pub fn with_role(&self, role: RoleName) -> impl Iterator<Item = &Attribute> {
        self.attributes.iter().filter(move |attribute| attribute.role == role)
    }

    /// The survey weight, if there is one.
    pub fn weight(&self) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.weight)
    }

    /// Whether the owner accepted that rows are disclosed.
    pub fn accepts_disclosure(&self) -> bool {
        self.accepted.contains(&Accepted::Disclosure)
    }

    /// The features that its fields need.
    fn features(&self) -> Vec<&'static str> {
        let needed = [
            (PARTS, self.tables.iter().any(|table| table.parts.len() > 1)),
            (ACCEPTED, !self.accepted.is_empty()),
            (ORDINARY, self.attributes.iter().any(|attribute| attribute.ordinary.is_some())),
            (NEAR, self.attributes.iter().any(|attribute| attribute.near.is_some())),
            (PREPARED, self.attributes.iter().any(|attribute| attribute.prepared.is_some())),
            (SEVERAL, self.has_several_sensitive()),
            (PERSONS, self.persons.is_some()),
            (DATETIME, self.attributes.iter().any(|attribute| attribute.kind == KindName::DateTime)),
            (TOGETHER, !self.together.is_empty()),
            (WEIGHT, self.weight().is_some()),
            (TRANSPARENT, self.transparent),
            (SERIES, self.series.is_some()),
        ];
        needed.into_iter().filter(|(_, is_needed)| *is_needed).map(|(name, _)| name).collect()
    }

    /// All files of all tables.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.tables.iter().flat_map(|table| &table.parts).map(|part| part.file.as_str())
    }

    /// The JSON schema of `release.json`, for a version of the format that this program reads.
    #[cfg(feature = "schema")]
    pub fn schema(version: u32) -> Option<serde_json::Value> {
        match version {
            1 => {
                let mut schema = schemars::schema_for!(version_1::Wire).to_value();
                // These fields came after version 1.
                if let Some(fields) = schema["$defs"]["Attribute"]["properties"].as_object_mut() {
                    fields.retain(|name, _| ![ORDINARY, NEAR, PREPARED, WEIGHT].contains(&name.as_str()));
                }
                if let Some(kinds) = schema["$defs"]["KindName"]["oneOf"].as_array_mut() {
                    kinds.retain(|kind| kind["const"] != DATETIME);
                }
                Some(schema)
            }
            2 => Some(schemars::schema_for!(version_2::Wire).to_value()),
            _ => None,
        }
    }

    fn check(&self) -> Result<(), ReleaseError> {
        self.check_promises()?;
        once("table", self.tables.iter().map(|table| &table.name))?;
        once("file", self.tables.iter().flat_map(|table| &table.parts).map(|part| &part.file))?;
        once("attribute", self.attributes.iter().map(|attribute| &attribute.name))?;
        for table in &self.tables {
            once("column", table.columns.iter().map(|column| &column.name))?;
            if let Some(part) = table.parts.iter().find(|part| !is_plain_file(&part.file)) {
                return Err(ReleaseError::UnsafeFile { file: part.file.clone() });
            }
            if table.parts.iter().try_fold(0, |sum: u64, part| sum.checked_add(part.rows)) != Some(table.rows) {
                let text = format!("`{}` has {} rows, but its parts have a different number", table.name, table.rows);
                return Err(ReleaseError::Nonsense(text));
            }
        }
        self.check_together()?;
        let quasi: BTreeSet<&String> = self.with_role(RoleName::Quasi).map(|attribute| &attribute.name).collect();
        for name in self.quasi_identifiers.iter().flatten() {
            if !quasi.contains(name) {
                return Err(ReleaseError::Nonsense(format!(
                    "`{name}` is a quasi-identifier, but lists no such attribute"
                )));
            }
        }
        if let Some(name) = self.accepted.iter().find_map(|accepted| match accepted {
            Accepted::Identifying(name) if !self.with_role(RoleName::Other).any(|other| other.name == *name) => {
                Some(name)
            }
            Accepted::Identifying(_) | Accepted::Disclosure => None,
        }) {
            return Err(ReleaseError::Nonsense(format!("it accepts `{name}`, which it does not keep as it is")));
        }
        if let Some(persons) = self.persons {
            let shape = self.method.shape();
            if !shape.may_promise || persons.count > self.rows || persons.count < self.groups {
                let text = format!("it counts {} persons, which its {} rows cannot be", persons.count, self.rows);
                return Err(ReleaseError::Nonsense(text));
            }
        }
        self.series.as_ref().map_or(Ok(()), SeriesEntry::check)?;
        let promises_m = self.promises.iter().any(|promise| promise.principle().needs_series());
        let has_one_sensitive = self.with_role(RoleName::Sensitive).count() == 1;
        let fits = self.persons.is_none() && self.method.shape().may_follow && has_one_sensitive;
        // Groups of k people are the only other promise that counterfeits leave as it is.
        let is_size = |promise: &Promise| matches!(promise.principle(), PrincipleSpec::KAnonymity { .. });
        let may_stand = |promise: &Promise| promise.principle().needs_series() || is_size(promise);
        let is_alone = self.promises.iter().all(may_stand);
        if promises_m != self.series.is_some() || promises_m && !(fits && is_alone) {
            let text = "a release of a series promises `m=` and nothing else but `k=`, and no other release does";
            return Err(ReleaseError::Nonsense(text.into()));
        }
        if self.attributes.iter().filter(|attribute| attribute.weight).count() > 1 {
            return Err(ReleaseError::Nonsense("it has more than one weight".into()));
        }
        for attribute in &self.attributes {
            attribute.check()?;
            attribute.domain.check_once()?;
            let n_values = attribute.domain.values.as_ref().map_or(0, Vec::len);
            if attribute.domain.counts.as_ref().is_some_and(|counts| counts.len() != n_values) {
                let text = format!("`{}` has {n_values} values, but a different number of counts", attribute.name);
                return Err(ReleaseError::Nonsense(text));
            }
        }
        Ok(())
    }
}

/// A reader that lacks a feature must not guess what the rest means.
fn check_features(head: &Head) -> Result<(), ReleaseError> {
    let names = head.features.as_ref().and_then(|features| features.as_array()).into_iter().flatten();
    for name in names.filter_map(|name| name.as_str()) {
        if !FEATURES.contains(&name) {
            return Err(ReleaseError::Feature { name: name.chars().take(40).collect() });
        }
    }
    Ok(())
}

fn check_method(head: &Head) -> Result<(), ReleaseError> {
    match head.method.as_ref().and_then(|method| method.as_str()) {
        Some(name) if Form::named(name).is_none() => {
            Err(ReleaseError::Method { name: name.chars().take(40).collect() })
        }
        _ => Ok(()),
    }
}

fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}

fn once<'a>(what: &'static str, names: impl Iterator<Item = &'a String>) -> Result<(), ReleaseError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(ReleaseError::Twice { what, name: name.clone() });
        }
    }
    Ok(())
}

/// Whether a file lies beside the manifest: no folder, no drive, no way up, nothing hidden.
fn is_plain_file(file: &str) -> bool {
    !file.is_empty() && !file.starts_with('.') && !file.contains(['/', '\\', ':', '\0'])
}

use std::collections::BTreeSet;

use chrysalis_table::{Domain, Kind, Role, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ReleaseError;

/// The value of `format` in every manifest.
pub const FORMAT: &str = "chrysalis-release";
/// The version this program writes and reads.
pub const VERSION: u32 = 1;

/// `release.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Always `chrysalis-release`.
    pub format: String,
    /// Version of the format, 1.
    pub version: u32,
    /// The publication method, such as `generalize`.
    pub method: String,
    /// The partitioner that formed the groups, such as `mondrian`.
    pub partitioner: String,
    /// Rows published.
    pub rows: u64,
    /// Groups they stand in; for angel, batches.
    pub groups: u64,
    /// The principles that hold in every group, as written on the command line. For angel `k=` holds in every bucket (rows
    /// of one table with the same labels), all others in every batch.
    pub guarantees: Vec<String>,
    /// The attributes that were published, in order.
    pub attributes: Vec<Attribute>,
    /// The sets of attributes an attacker may know.
    pub quasi_identifiers: Vec<Vec<String>>,
    /// The files.
    pub tables: Vec<TableEntry>,
    /// Rows that are shown fully generalized because their own groups failed; all of them are one group. Absent when 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub suppressed: u64,
    /// Present and true when a fixed seed was used: such a release is for experiments only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reproducible: bool,
}

/// One attribute of the published table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attribute {
    /// Its name in the microdata.
    pub name: String,
    /// Its role.
    pub role: RoleName,
    /// What its values are.
    pub kind: KindName,
    /// The form in which it is published.
    pub published: Published,
    /// Which values there are.
    pub domain: DomainEntry,
    /// For a sensitive attribute with a taxonomy: one line per value, leaf to root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taxonomy: Option<Vec<Vec<String>>>,
    /// For (l,α)-diversity: the categories, most sensitive first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub categories: Option<Vec<Vec<String>>>,
    /// The weight of each category, as exact fractions such as `36/49`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<String>>,
}

/// The values of an attribute.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DomainEntry {
    /// Smallest value, for numbers and dates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<serde_json::Value>,
    /// Largest value, for numbers and dates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<serde_json::Value>,
    /// All values in order, for words and for the sensitive attribute. The missing value is `null` and comes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<serde_json::Value>>,
    /// For the sensitive attribute: how often each of `values` occurs in the whole table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Vec<u64>>,
    /// Whether some rows have no value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
}

/// How an attribute is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Published {
    /// As it was.
    Exact,
    /// Exact values, permuted inside their group.
    Permuted,
    /// As ranges or labels.
    Generalized,
}

/// One file of the release.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableEntry {
    /// The table's name.
    pub name: String,
    /// Its file, beside the manifest.
    pub file: String,
    /// Its number of rows.
    pub rows: u64,
    /// Its columns, in order.
    pub columns: Vec<ColumnEntry>,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
}

/// One column of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ColumnEntry {
    /// The column's name.
    pub name: String,
    /// What its values are.
    pub kind: KindName,
}

/// A [`Role`] as it is written in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RoleName {
    /// Names a person; never published.
    Identifier,
    /// May be known to an attacker.
    Quasi,
    /// What an attacker wants to learn.
    Sensitive,
    /// Kept as it is.
    Other,
}

impl From<Role> for RoleName {
    fn from(role: Role) -> Self {
        match role {
            Role::Identifier => RoleName::Identifier,
            Role::QuasiIdentifier => RoleName::Quasi,
            Role::Sensitive => RoleName::Sensitive,
            Role::Other => RoleName::Other,
        }
    }
}

/// A [`Kind`] as it is written in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KindName {
    /// Whole numbers.
    Integer,
    /// Numbers.
    Real,
    /// Dates.
    Date,
    /// Words with an order.
    Ordinal,
    /// Words.
    Category,
}

impl From<Kind> for KindName {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Integer => KindName::Integer,
            Kind::Real => KindName::Real,
            Kind::Date => KindName::Date,
            Kind::Ordinal => KindName::Ordinal,
            Kind::Category => KindName::Category,
        }
    }
}

impl From<KindName> for Kind {
    fn from(kind: KindName) -> Self {
        match kind {
            KindName::Integer => Kind::Integer,
            KindName::Real => Kind::Real,
            KindName::Date => Kind::Date,
            KindName::Ordinal => Kind::Ordinal,
            KindName::Category => Kind::Category,
        }
    }
}

impl DomainEntry {
    /// Describes a domain: ends for numbers and dates, all values for words and wherever counts are given.
    pub fn of(domain: &Domain, counts: Option<Vec<u64>>) -> Self {
        let is_range = matches!(domain.kind(), Kind::Integer | Kind::Real | Kind::Date);
        let ends = domain.bounds().filter(|_| is_range);
        let missing = domain.has_missing().then_some(serde_json::Value::Null);
        let values = || missing.into_iter().chain(domain.values().iter().map(json)).collect();
        DomainEntry {
            min: ends.map(|(low, _)| json(low)),
            max: ends.map(|(_, high)| json(high)),
            values: (!is_range || counts.is_some()).then(values),
            counts,
            missing: domain.has_missing(),
        }
    }

    /// The words of an ordinal attribute, from lowest to highest.
    pub fn order(&self) -> Vec<String> {
        let values = self.values.iter().flatten();
        values.filter_map(|value| value.as_str().map(str::to_owned)).collect()
    }
}

fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Integer(number) => (*number).into(),
        Value::Real(number) => (*number).into(),
        Value::Date(_) | Value::Text(_) => value.to_string().into(),
    }
}

impl Manifest {
    /// Reads and checks a manifest. Everything later may rely on what is checked here.
    pub fn parse(bytes: &[u8]) -> Result<Manifest, ReleaseError> {
        let loose: serde_json::Value = serde_json::from_slice(bytes)?;
        let format = loose.get("format").and_then(|format| format.as_str()).unwrap_or_default();
        if format != FORMAT {
            return Err(ReleaseError::Format { found: format.chars().take(40).collect() });
        }
        let version = loose.get("version").and_then(serde_json::Value::as_u64).unwrap_or(0);
        if version != u64::from(VERSION) {
            let found = u32::try_from(version).unwrap_or(u32::MAX);
            return Err(ReleaseError::Version { found, known: VERSION });
        }
        // From the text again, not from `loose`, so that an error has a line and a column.
        let manifest: Manifest = serde_json::from_slice(bytes)?;
        manifest.check()?;
        Ok(manifest)
    }

    /// The manifest as it is written.
    pub fn to_json(&self) -> Result<String, ReleaseError> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }

    /// The attribute of that name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    /// The attributes with a role, in order.
    pub fn with_role(&self, role: RoleName) -> impl Iterator<Item = &Attribute> {
        self.attributes.iter().filter(move |attribute| attribute.role == role)
    }

    /// The JSON schema of `release.json`.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Manifest).to_value()
    }

    fn check(&self) -> Result<(), ReleaseError> {
        once("table", self.tables.iter().map(|table| &table.name))?;
        once("file", self.tables.iter().map(|table| &table.file))?;
        once("attribute", self.attributes.iter().map(|attribute| &attribute.name))?;
        for table in &self.tables {
            once("column", table.columns.iter().map(|column| &column.name))?;
            if !is_plain_file(&table.file) {
                return Err(ReleaseError::UnsafeFile { file: table.file.clone() });
            }
        }
        for name in self.quasi_identifiers.iter().flatten() {
            if self.attribute(name).is_none_or(|attribute| attribute.role != RoleName::Quasi) {
                return Err(ReleaseError::Nonsense(format!(
                    "`{name}` is a quasi-identifier, but lists no such attribute"
                )));
            }
        }
        for attribute in &self.attributes {
            let values = attribute.domain.values.iter().flatten();
            let texts: Vec<String> = values.map(ToString::to_string).collect();
            once("value", texts.iter())?;
            let n_values = attribute.domain.values.as_ref().map_or(0, Vec::len);
            if attribute.domain.counts.as_ref().is_some_and(|counts| counts.len() != n_values) {
                let text = format!("`{}` has {n_values} values, but another number of counts", attribute.name);
                return Err(ReleaseError::Nonsense(text));
            }
        }
        Ok(())
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
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

/// A name beside the manifest: no folder, no drive, no way up, nothing hidden.
fn is_plain_file(file: &str) -> bool {
    !file.is_empty() && !file.starts_with('.') && !file.contains(['/', '\\', ':', '\0'])
}

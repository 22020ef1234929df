use std::cmp::Ordering;

use chrysalis_table::{Code, Domain, Kind, Role, Value};
use serde::{Deserialize, Serialize};

use crate::{Preparation, PreparedValues, ReleaseError};

/// One attribute of the published table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// For a sensitive attribute: the values that the owner calls ordinary. If absent, any value that at least half of
    /// all rows have is ordinary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordinary: Option<Vec<serde_json::Value>>,
    /// For a sensitive attribute of numbers or dates: values closer together than this count as one, as the owner says; an exact
    /// number such as `1000` or `1/3`, of days for dates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near: Option<String>,
    /// What was done to the column before it was published, step by step: `top:90`, `date:year`, `pseudonym`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepared: Option<Vec<String>>,
    /// Present and true for the survey weight: how many people of the population a row stands for. It is kept as it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub weight: bool,
}

impl Attribute {
    /// The steps in which it was prepared; none if it was not.
    pub fn preparations(&self) -> Result<Vec<Preparation>, ReleaseError> {
        let wrong = |problem| ReleaseError::Nonsense(format!("`{}` was prepared, but {problem}", self.name));
        let steps = self.prepared.as_ref().map(|texts| Preparation::parse_all(texts.iter()));
        Ok(steps.transpose().map_err(wrong)?.unwrap_or_default())
    }

    /// Checks how it was prepared: by steps that are known, go together and fit what its values are.
    fn check_prepared(&self) -> Result<(), ReleaseError> {
        let steps = self.preparations()?;
        let wrong = |what: String| Err(ReleaseError::Nonsense(format!("`{}` {what}", self.name)));
        // LEAK: one preparation can be written in several ways, and the choice among them could say something.
        if let Some((text, step)) =
            self.prepared.iter().flatten().zip(&steps).find(|(text, step)| step.to_string() != **text)
        {
            return wrong(format!("was prepared by `{text}`, which is written `{step}`"));
        }
        let kind = Kind::from(self.kind);
        // Prepared numbers and dates may be shown as words, but words are no numbers.
        let fits = |step: &&Preparation| step.is_for().are(kind) || PreparedValues::Words.are(kind);
        match steps.iter().find(|step| !fits(step)) {
            Some(step) => wrong(format!("was prepared by `{step}`, which is for {}, but it is {kind}", step.is_for())),
            None => Ok(()),
        }
    }

    /// Checks that a survey weight is kept as it is, and holds numbers of which none is missing or negative.
    fn check_weight(&self) -> Result<(), ReleaseError> {
        let is_number = Kind::from(self.kind).is_numeric();
        let is_negative = self.domain.min.as_ref().and_then(serde_json::Value::as_f64).is_none_or(|min| min < 0.0);
        let problem = match self.weight {
            true if self.role != RoleName::Other => "is a weight, but it is not kept as it is",
            true if !is_number => "is a weight, but it holds no numbers",
            true if self.domain.missing => "is a weight, but some rows lack it",
            true if is_negative => "is a weight, but it does not begin at 0 or above",
            _ => return Ok(()),
        };
        Err(ReleaseError::Nonsense(format!("`{}` {problem}", self.name)))
    }

    /// Checks what the owner says about sensitive values, which no other attribute may have, and about preparation.
    pub(super) fn check(&self) -> Result<(), ReleaseError> {
        self.check_prepared()?;
        self.check_weight()?;
        let name = &self.name;
        let wrong = |what: &str| Err(ReleaseError::Nonsense(format!("`{name}` {what}")));
        let is_said = self.ordinary.is_some() || self.near.is_some();
        if is_said && self.role != RoleName::Sensitive {
            return wrong("is not sensitive, but has ordinary values or a `near` width");
        }
        let known = self.ordinary.is_some().then(|| self.domain.sorted());
        let is_known = |value: &serde_json::Value| {
            known.as_ref().is_some_and(|known| known.binary_search_by(|known| compare(known, value)).is_ok())
        };
        if self.ordinary.iter().flatten().any(|value| !is_known(value)) {
            return wrong("calls a value ordinary that it does not have");
        }
        if self.near.as_ref().is_some_and(|text| chrysalis_criteria::parse_rational(text).is_none()) {
            return wrong("has a `near` width that is not a number");
        }
        if self.near.is_some() && !Kind::from(self.kind).has_distances() {
            return wrong("has a `near` width, but neither numbers nor dates");
        }
        Ok(())
    }
}

/// The values of an attribute.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Published {
    /// As it was.
    Exact,
    /// Exact values, permuted inside their group.
    Permuted,
    /// As ranges or labels.
    Generalized,
}

/// One column of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ColumnEntry {
    /// The column's name.
    pub name: String,
    /// What its values are.
    pub kind: KindName,
}

/// A [`Role`] as it is written in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum KindName {
    /// Whole numbers.
    Integer,
    /// Numbers.
    Real,
    /// Dates.
    Date,
    /// Dates with a time of day.
    DateTime,
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
            Kind::DateTime => KindName::DateTime,
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
            KindName::DateTime => Kind::DateTime,
            KindName::Ordinal => Kind::Ordinal,
            KindName::Category => Kind::Category,
        }
    }
}

impl DomainEntry {
    /// Describes a domain: ends for numbers and dates, all values for words and wherever counts are given.
    pub fn of(domain: &Domain, counts: Option<Vec<u64>>) -> Self {
        let is_range = domain.kind().has_distances();
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

    /// Some values of a domain, as they are written in `values`.
    pub fn values_of(domain: &Domain, codes: &[Code]) -> Vec<serde_json::Value> {
        codes.iter().map(|&code| domain.value(code).map_or(serde_json::Value::Null, json)).collect()
    }

    /// The values in an order that puts equal ones next to each other.
    fn sorted(&self) -> Vec<&serde_json::Value> {
        let mut values: Vec<&serde_json::Value> = self.values.iter().flatten().collect();
        values.sort_unstable_by(|a, b| compare(a, b));
        values
    }

    /// Checks that no value is listed twice.
    pub(super) fn check_once(&self) -> Result<(), ReleaseError> {
        let sorted = self.sorted();
        match sorted.windows(2).find(|pair| compare(pair[0], pair[1]).is_eq()) {
            Some(pair) => Err(ReleaseError::Twice { what: "value", name: pair[0].to_string() }),
            None => Ok(()),
        }
    }

    /// The words of an ordinal attribute, from lowest to highest.
    pub fn order(&self) -> Vec<String> {
        let values = self.values.iter().flatten();
        values.filter_map(|value| value.as_str().map(str::to_owned)).collect()
    }
}

/// Orders by JSON type, then by content; values are equal if their texts are. Strings and integers are compared without
/// making texts, because there may be millions of them.
fn compare(a: &serde_json::Value, b: &serde_json::Value) -> Ordering {
    use serde_json::Value::{Number, String};
    match (a, b) {
        (String(a), String(b)) => a.cmp(b),
        (Number(a), Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a.cmp(&b),
            (None, None) => a.to_string().cmp(&b.to_string()),
            (a, b) => a.cmp(&b),
        },
        (String(_), _) | (_, Number(_)) => Ordering::Greater,
        (_, String(_)) | (Number(_), _) => Ordering::Less,
        _ => a.to_string().cmp(&b.to_string()),
    }
}

fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Integer(number) => (*number).into(),
        Value::Real(number) => (*number).into(),
        Value::Date(_) | Value::DateTime(_) | Value::Text(_) => value.to_string().into(),
    }
}

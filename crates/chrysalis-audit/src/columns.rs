//! Published columns, and the values that a manifest names.

use std::collections::BTreeMap;

use chrysalis_release::{Attribute, Manifest, ReleaseError, RoleName};
use chrysalis_table::{Code, Column, Date, DateTime, Kind, Table, Value};

use crate::AuditError;

/// A column of a published table, of the kind that the manifest says.
pub(crate) fn find<'a>(
    table: &'a Table,
    table_name: &str,
    name: &str,
    expected: Kind,
) -> Result<&'a Column, AuditError> {
    let column = table
        .column(name)
        .ok_or_else(|| ReleaseError::MissingColumn { table: table_name.to_owned(), column: name.to_owned() })?;
    let found = column.domain().kind();
    if found == expected {
        return Ok(column);
    }
    Err(AuditError::WrongKind { table: table_name.to_owned(), column: name.to_owned(), found, expected })
}

/// The sensitive attribute, if there is one. Of several, each is judged by itself ([`several`](crate::several)).
pub(crate) fn only_sensitive(manifest: &Manifest) -> Result<Option<&Attribute>, AuditError> {
    let mut sensitive = manifest.with_role(RoleName::Sensitive);
    let first = sensitive.next();
    if let Some(attribute) = sensitive.next() {
        let problem = "a release has one sensitive attribute, this is another".to_owned();
        return Err(AuditError::Attribute { attribute: attribute.name.clone(), problem });
    }
    Ok(first)
}

/// The id behind every code of a column of group ids.
pub(crate) fn group_ids(column: &Column) -> Vec<Option<i64>> {
    let domain = column.domain();
    let id = |code: Code| match domain.value(code) {
        Some(Value::Integer(id)) => Some(*id),
        _ => None,
    };
    (0..domain.len() as Code).map(id).collect()
}

/// The places of an ordered attribute's values on a line, the missing value before all others.
pub(crate) struct Positions {
    kind: Kind,
    rank_of_word: BTreeMap<String, i64>,
}

impl Positions {
    pub(crate) fn of(attribute: &Attribute) -> Positions {
        let words = attribute.domain.order().into_iter();
        Positions { kind: attribute.kind.into(), rank_of_word: words.zip(0..).collect() }
    }

    /// Where a value lies. Words that the manifest does not know lie beyond all others.
    pub(crate) fn of_value(&self, value: Option<&Value>) -> Option<i64> {
        Some(match value? {
            Value::Integer(number) => *number,
            // The order of `total_cmp`, as an integer.
            Value::Real(number) => {
                let bits = number.to_bits() as i64;
                bits ^ (((bits >> 63) as u64) >> 1) as i64
            }
            Value::Date(Date(days)) => i64::from(*days),
            Value::DateTime(DateTime(microseconds)) => *microseconds,
            Value::Text(word) => self.rank_of_word.get(word.as_ref()).copied().unwrap_or(i64::MAX),
        })
    }

    /// The place of every code of a column.
    pub(crate) fn of_column(&self, column: &Column) -> Vec<Option<i64>> {
        let domain = column.domain();
        (0..domain.len() as Code).map(|code| self.of_value(domain.value(code))).collect()
    }

    /// The place of a value of the manifest; `None` if it is not a value of the attribute.
    pub(crate) fn of_json(&self, value: &serde_json::Value) -> Option<i64> {
        self.of_value(from_json(self.kind, value).as_ref())
    }
}

/// A value as a manifest writes it.
pub(crate) fn from_json(kind: Kind, value: &serde_json::Value) -> Option<Value> {
    match kind {
        Kind::Integer => value.as_i64().map(Value::Integer),
        Kind::Real => value.as_f64().filter(|number| number.is_finite()).map(|number| Value::Real(number + 0.0)),
        Kind::Date => value.as_str().and_then(Date::parse).map(Value::Date),
        Kind::DateTime => value.as_str().and_then(DateTime::parse).map(Value::DateTime),
        Kind::Ordinal | Kind::Category => value.as_str().map(|text| Value::Text(text.into())),
    }
}

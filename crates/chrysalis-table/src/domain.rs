use std::borrow::Cow;

use crate::{Code, Kind, Value};

/// The distinct values of a column that occur, in order.
///
/// A missing value is a value of its own and sorts before all others: where it occurs, its code is 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    kind: Kind,
    values: Vec<Value>,
    has_missing: bool,
}

impl Domain {
    /// A domain of values that are already distinct and in order.
    ///
    /// Ordinals come in their given order; everything else must ascend, which debug builds check.
    pub fn new(kind: Kind, values: Vec<Value>, has_missing: bool) -> Self {
        debug_assert!(kind == Kind::Ordinal || values.is_sorted_by(|a, b| a < b));
        Domain { kind, values, has_missing }
    }

    /// What the values are.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Number of codes, the missing value included.
    pub fn len(&self) -> usize {
        self.values.len() + usize::from(self.has_missing)
    }

    /// Whether no row has any value, not even a missing one.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether some row has no value; its code is then 0.
    pub fn has_missing(&self) -> bool {
        self.has_missing
    }

    /// The values without the missing one, in order.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// The value behind a code; `None` is the missing value.
    pub fn value(&self, code: Code) -> Option<&Value> {
        let index = code as usize;
        if self.has_missing { index.checked_sub(1).map(|index| &self.values[index]) } else { Some(&self.values[index]) }
    }

    /// The text of a code as it is written to files; empty for the missing value.
    pub fn text(&self, code: Code) -> Cow<'_, str> {
        match self.value(code) {
            None => Cow::Borrowed(""),
            Some(Value::Text(text)) => Cow::Borrowed(text),
            Some(value) => Cow::Owned(value.to_string()),
        }
    }

    /// The text of a code for messages, where an empty word would be overlooked.
    pub fn display(&self, code: Code) -> Cow<'_, str> {
        if self.value(code).is_none() { Cow::Borrowed("(missing)") } else { self.text(code) }
    }

    /// Where a code lies on a line: the number itself, days for dates, seconds for datetimes, the rank for words.
    ///
    /// `None` for the missing value, which lies nowhere.
    pub fn position(&self, code: Code) -> Option<f64> {
        let value = self.value(code)?;
        Some(value.number().unwrap_or_else(|| f64::from(code)))
    }

    /// The code of a value, if it occurs.
    pub fn code_of(&self, value: Option<&Value>) -> Option<Code> {
        let shift = usize::from(self.has_missing);
        let index = match value {
            None => return self.has_missing.then_some(0),
            Some(value) if self.kind == Kind::Ordinal => self.values.iter().position(|known| known == value)?,
            Some(value) => self.values.binary_search(value).ok()?,
        };
        Code::try_from(index + shift).ok()
    }

    /// The first and last value, if there is one besides the missing one.
    pub fn bounds(&self) -> Option<(&Value, &Value)> {
        Some((self.values.first()?, self.values.last()?))
    }
}

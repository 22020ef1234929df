use std::collections::HashMap;
use std::sync::Arc;

use chrysalis_table::{Date, DateTime, Domain, Kind, Value};

use crate::{Attribute, Published, RoleName};

/// An attribute of a release.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: RoleName,
    /// What its values are.
    pub kind: Kind,
    /// How it is shown.
    pub published: Published,
    /// For ordinals and categories: all words, in their order.
    pub words: Arc<[Box<str>]>,
    /// Whether some rows have no value.
    pub has_missing: bool,
    /// The smallest value, for numbers and dates.
    pub min: Option<Value>,
    /// The largest value, for numbers and dates.
    pub max: Option<Value>,
    /// Whether it is the survey weight.
    pub is_weight: bool,
    ranks: Arc<HashMap<Box<str>, usize>>,
}

impl Field {
    /// Reads what a manifest says about an attribute.
    pub fn new(attribute: &Attribute) -> Self {
        let kind = Kind::from(attribute.kind);
        let is_words = matches!(kind, Kind::Ordinal | Kind::Category);
        let listed = attribute.domain.order().into_iter().filter(|_| is_words);
        let words: Arc<[Box<str>]> = listed.map(String::into_boxed_str).collect();
        let end = |number: Option<f64>, whole: Option<i64>, text: Option<&str>| match kind {
            Kind::Integer => whole.map(Value::Integer),
            Kind::Real => number.map(Value::Real),
            Kind::Date => text.and_then(Date::parse).map(Value::Date),
            Kind::DateTime => text.and_then(DateTime::parse).map(Value::DateTime),
            Kind::Ordinal | Kind::Category => None,
        };
        let min = attribute.domain.min.as_ref();
        let max = attribute.domain.max.as_ref();
        Field {
            name: attribute.name.clone(),
            role: attribute.role,
            kind,
            published: attribute.published,
            ranks: Arc::new((0..).zip(words.iter()).map(|(rank, word)| (word.clone(), rank)).collect()),
            words,
            has_missing: attribute.domain.missing,
            is_weight: attribute.weight,
            min: min.and_then(|min| end(min.as_f64(), min.as_i64(), min.as_str())),
            max: max.and_then(|max| end(max.as_f64(), max.as_i64(), max.as_str())),
        }
    }

    /// The place of a word among the listed ones.
    pub fn rank(&self, word: &str) -> Option<usize> {
        self.ranks.get(word).copied()
    }

    /// The place of every value of a domain among the listed words.
    pub(super) fn ranks_of(&self, domain: &Domain) -> Vec<Option<usize>> {
        let rank = |value: &Value| if let Value::Text(word) = value { self.rank(word) } else { None };
        domain.values().iter().map(rank).collect()
    }
}

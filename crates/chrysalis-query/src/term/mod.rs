//! Terms: expressions over the columns of one person, bound to a release (step 3a of `spec.md`).
//!
//! A term is a function of the values of its attributes. Most have one attribute; such a term is decided once for each
//! of the attribute's values, and a condition on it, or a GROUP BY of it, becomes sets of these values.

mod bind;
mod classes;
mod eval;

use std::collections::HashMap;
use std::sync::Arc;

use chrysalis_table::{Date, DateTime};

pub(crate) use bind::{TermBinder, question_inside};
pub(crate) use classes::{classes, is_monotone, truth};
pub(crate) use eval::compared;

use crate::question::Comparison;
use crate::statement::{Arithmetic, ScalarFunction};
use crate::value_set::ValueSet;
use crate::{Field, QueryError};

/// A value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// NULL.
    Null,
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Real(f64),
    /// A text.
    Text(Box<str>),
    /// TRUE or FALSE.
    Boolean(bool),
    /// A date.
    Date(Date),
    /// A datetime.
    Moment(DateTime),
}

/// A column of a public table, by the values of an attribute.
#[derive(Debug, PartialEq)]
pub struct Lookup {
    /// By the attribute's value as text.
    pub values: HashMap<String, Scalar>,
}

/// A bound expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// An attribute, by its place among all.
    Attribute(usize),
    /// A constant.
    Constant(Scalar),
    /// A column of a joined table; NULL where it has no such row.
    Lookup(usize, Arc<Lookup>),
    /// A test of an attribute against constants: TRUE in the first set, FALSE in the second, else UNKNOWN.
    Test(usize, Box<(ValueSet, ValueSet)>),
    /// `-x`.
    Negate(Box<Term>),
    /// `x + y` and the like.
    Arithmetic(Box<Term>, Arithmetic, Box<Term>),
    /// `x < y` and the like.
    Compare(Box<Term>, Comparison, Box<Term>),
    /// All hold.
    And(Vec<Term>),
    /// At least one holds.
    Or(Vec<Term>),
    /// The inner condition does not hold.
    Not(Box<Term>),
    /// `x IS NULL`.
    IsNull(Box<Term>),
    /// `CASE WHEN condition THEN x … ELSE y END`.
    Case(Vec<(Term, Term)>, Option<Box<Term>>),
    /// A function of values.
    Call(ScalarFunction, Vec<Term>),
}

impl Term {
    /// The values of a term of one attribute, each with the attribute's values behind it.
    pub fn classes(&self, field: usize, fields: &[Field]) -> Result<Vec<(Scalar, ValueSet)>, QueryError> {
        classes(self, field, fields)
    }

    /// The values of its only attribute for which a condition is TRUE, and those for which it is FALSE.
    pub fn truth(&self, field: usize, fields: &[Field]) -> Result<(ValueSet, ValueSet), QueryError> {
        truth(self, field, fields)
    }

    fn children(&self) -> Vec<&Term> {
        match self {
            Term::Attribute(_) | Term::Constant(_) | Term::Lookup(..) | Term::Test(..) => Vec::new(),
            Term::Negate(x) | Term::Not(x) | Term::IsNull(x) => vec![x],
            Term::Arithmetic(x, _, y) | Term::Compare(x, _, y) => vec![x, y],
            Term::And(parts) | Term::Or(parts) | Term::Call(_, parts) => parts.iter().collect(),
            Term::Case(branches, otherwise) => {
                branches.iter().flat_map(|(when, then)| [when, then]).chain(otherwise.as_deref()).collect()
            }
        }
    }

    /// The attributes it depends on, ascending.
    pub fn fields(&self) -> Vec<usize> {
        let mut fields: Vec<usize> = match self {
            Term::Attribute(field) | Term::Lookup(field, _) | Term::Test(field, _) => vec![*field],
            other => other.children().into_iter().flat_map(Term::fields).collect(),
        };
        fields.sort_unstable();
        fields.dedup();
        fields
    }

    /// Whether it is a condition.
    pub fn is_condition(&self) -> bool {
        match self {
            Term::Test(..) | Term::Compare(..) | Term::And(_) | Term::Or(_) | Term::Not(_) | Term::IsNull(_) => true,
            Term::Constant(scalar) => matches!(scalar, Scalar::Boolean(_) | Scalar::Null),
            Term::Case(branches, otherwise) => {
                branches.iter().map(|(_, then)| then).chain(otherwise.as_deref()).all(Term::is_condition)
            }
            _ => false,
        }
    }
}

impl Scalar {
    /// The number, if it is one. A truth value counts as 1 or 0.
    pub fn number(&self) -> Option<f64> {
        match self {
            Scalar::Integer(number) => Some(*number as f64),
            Scalar::Real(number) => Some(*number),
            Scalar::Boolean(truth) => Some(f64::from(u8::from(*truth))),
            _ => None,
        }
    }

    /// A text that is the same for equal values only.
    pub fn key(&self) -> String {
        match self {
            Scalar::Null => String::new(),
            Scalar::Integer(number) => format!("n{}", *number as f64),
            Scalar::Real(number) => format!("n{}", number + 0.0),
            Scalar::Text(text) => format!("t{text}"),
            Scalar::Boolean(truth) => format!("b{truth}"),
            Scalar::Date(date) => format!("d{}", date.0),
            Scalar::Moment(moment) => format!("m{}", moment.0),
        }
    }

    /// As a value of an answer; `None` is NULL.
    pub fn value(&self) -> Option<chrysalis_table::Value> {
        use chrysalis_table::Value;
        Some(match self {
            Scalar::Null => return None,
            Scalar::Integer(number) => Value::Integer(*number),
            Scalar::Real(number) if number.fract() == 0.0 && number.abs() < 9e15 => Value::Integer(*number as i64),
            Scalar::Real(number) => Value::Real(*number),
            Scalar::Text(text) => Value::Text(text.clone()),
            Scalar::Boolean(truth) => Value::Text(truth.to_string().into()),
            Scalar::Date(date) => Value::Date(*date),
            Scalar::Moment(moment) => Value::DateTime(*moment),
        })
    }
}

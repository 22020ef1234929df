//! Terms evaluated for one person, in SQL's three-valued logic.

use std::cmp::Ordering;

use chrysalis_table::{Date, Value};

use super::{Scalar, Term};
use crate::Field;
use crate::question::Comparison;
use crate::statement::{Arithmetic, DatePart, ScalarFunction};

/// The values of a person's attributes.
pub(crate) type Person<'a> = dyn Fn(usize) -> Option<Value> + 'a;

impl Term {
    /// Its value for a person.
    pub(crate) fn eval(&self, person: &Person<'_>, fields: &[Field]) -> Scalar {
        let eval = |term: &Term| term.eval(person, fields);
        match self {
            Term::Attribute(field) => Scalar::of(person(*field)),
            Term::Constant(scalar) => scalar.clone(),
            Term::Lookup(field, lookup) => {
                let found = person(*field).and_then(|value| lookup.values.get(&value.to_string()).cloned());
                found.unwrap_or(Scalar::Null)
            }
            Term::Test(field, sets) => {
                let value = person(*field);
                let is_in = |set| fields[*field].contains(set, value.as_ref());
                match (is_in(&sets.0), is_in(&sets.1)) {
                    (true, _) => Scalar::Boolean(true),
                    (_, true) => Scalar::Boolean(false),
                    _ => Scalar::Null,
                }
            }
            Term::Negate(inner) => match eval(inner) {
                Scalar::Integer(number) => number.checked_neg().map_or(Scalar::Null, Scalar::Integer),
                Scalar::Real(number) => Scalar::Real(-number),
                _ => Scalar::Null,
            },
            Term::Arithmetic(a, operator, b) => operator.apply(&eval(a), &eval(b)),
            Term::Compare(a, comparison, b) => compared(*comparison, &eval(a), &eval(b)),
            Term::And(parts) => joined(parts.iter().map(eval), false),
            Term::Or(parts) => joined(parts.iter().map(eval), true),
            Term::Not(inner) => match eval(inner) {
                Scalar::Boolean(truth) => Scalar::Boolean(!truth),
                _ => Scalar::Null,
            },
            Term::IsNull(inner) => Scalar::Boolean(eval(inner) == Scalar::Null),
            Term::Case(branches, otherwise) => {
                let chosen = branches.iter().find(|(when, _)| eval(when) == Scalar::Boolean(true));
                chosen.map(|(_, then)| then).or(otherwise.as_deref()).map_or(Scalar::Null, eval)
            }
            Term::Call(function, given) => call(*function, &given.iter().map(eval).collect::<Vec<_>>()),
        }
    }
}

impl Scalar {
    pub(crate) fn of(value: Option<Value>) -> Self {
        match value {
            None => Scalar::Null,
            Some(Value::Integer(number)) => Scalar::Integer(number),
            Some(Value::Real(number)) => Scalar::Real(number),
            Some(Value::Date(date)) => Scalar::Date(date),
            Some(Value::DateTime(moment)) => Scalar::Moment(moment),
            Some(Value::Text(text)) => Scalar::Text(text),
        }
    }

    /// The order of two values, if they can be compared.
    pub(crate) fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Scalar::Text(a), Scalar::Text(b)) => Some(a.cmp(b)),
            (Scalar::Integer(a), Scalar::Integer(b)) => Some(a.cmp(b)),
            (Scalar::Boolean(a), Scalar::Boolean(b)) => Some(a.cmp(b)),
            (Scalar::Date(a), Scalar::Date(b)) => Some(a.0.cmp(&b.0)),
            (Scalar::Moment(a), Scalar::Moment(b)) => Some(a.0.cmp(&b.0)),
            _ => self.number()?.partial_cmp(&other.number()?),
        }
    }
}

pub(crate) fn compared(comparison: Comparison, a: &Scalar, b: &Scalar) -> Scalar {
    let Some(order) = a.order(b) else { return Scalar::Null };
    Scalar::Boolean(match comparison {
        Comparison::Equal => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    })
}

/// AND, which one FALSE decides, or OR, which one TRUE decides.
fn joined(parts: impl Iterator<Item = Scalar>, decides: bool) -> Scalar {
    let mut result = Scalar::Boolean(!decides);
    for part in parts {
        match part {
            Scalar::Boolean(truth) if truth == decides => return Scalar::Boolean(decides),
            Scalar::Boolean(_) => {}
            _ => result = Scalar::Null,
        }
    }
    result
}

/// A finite number, or NULL: what no double can hold is no number of an answer.
fn real(number: f64) -> Scalar {
    if number.is_finite() { Scalar::Real(number) } else { Scalar::Null }
}

impl Arithmetic {
    /// On whole numbers `+`, `-`, `*`, `//` and `%` stay whole where the result fits 64 bits; division by 0 is NULL.
    pub(crate) fn apply(self, a: &Scalar, b: &Scalar) -> Scalar {
        if let (Scalar::Integer(a), Scalar::Integer(b)) = (a, b) {
            let whole = match self {
                Arithmetic::Add => a.checked_add(*b),
                Arithmetic::Subtract => a.checked_sub(*b),
                Arithmetic::Multiply => a.checked_mul(*b),
                Arithmetic::DivideWhole => a.checked_div(*b),
                Arithmetic::Remainder => a.checked_rem(*b),
                Arithmetic::Divide => None,
            };
            if let Some(whole) = whole {
                return Scalar::Integer(whole);
            }
        }
        let (Some(a), Some(b)) = (a.number(), b.number()) else { return Scalar::Null };
        match self {
            Arithmetic::Add => real(a + b),
            Arithmetic::Subtract => real(a - b),
            Arithmetic::Multiply => real(a * b),
            Arithmetic::Divide if b != 0.0 => real(a / b),
            Arithmetic::DivideWhole if b != 0.0 => real((a / b).trunc()),
            Arithmetic::Remainder if b != 0.0 => real(a % b),
            _ => Scalar::Null,
        }
    }
}

fn call(function: ScalarFunction, given: &[Scalar]) -> Scalar {
    let first = given.first().unwrap_or(&Scalar::Null);
    let on_reals = |f: fn(f64) -> f64| match first {
        Scalar::Integer(number) => Scalar::Integer(*number),
        other => other.number().map_or(Scalar::Null, |number| real(f(number))),
    };
    match function {
        ScalarFunction::Abs => match first {
            Scalar::Integer(number) => number.checked_abs().map_or(Scalar::Null, Scalar::Integer),
            other => other.number().map_or(Scalar::Null, |number| real(number.abs())),
        },
        ScalarFunction::Floor => on_reals(f64::floor),
        ScalarFunction::Ceil => on_reals(f64::ceil),
        ScalarFunction::Round => match given.get(1) {
            None => on_reals(f64::round),
            Some(digits) => match (first.number(), digits.number()) {
                (Some(number), Some(digits)) if digits.abs() <= 15.0 => {
                    let scale = 10_f64.powi(digits as i32);
                    real((number * scale).round() / scale)
                }
                _ => Scalar::Null,
            },
        },
        ScalarFunction::Sqrt => first.number().filter(|x| *x >= 0.0).map_or(Scalar::Null, |x| real(x.sqrt())),
        ScalarFunction::Coalesce => given.iter().find(|x| **x != Scalar::Null).cloned().unwrap_or(Scalar::Null),
        ScalarFunction::NullIf => {
            let is_equal = given.get(1).is_some_and(|other| first.order(other) == Some(Ordering::Equal));
            if is_equal { Scalar::Null } else { first.clone() }
        }
        ScalarFunction::Lower | ScalarFunction::Upper => match first {
            Scalar::Text(text) if function == ScalarFunction::Lower => Scalar::Text(text.to_lowercase().into()),
            Scalar::Text(text) => Scalar::Text(text.to_uppercase().into()),
            _ => Scalar::Null,
        },
        // As in DuckDB and PostgreSQL, the nearest whole number; halves go to the even one.
        ScalarFunction::ToInteger => match first {
            Scalar::Integer(number) => Scalar::Integer(*number),
            other => match other.number().map(f64::round_ties_even) {
                Some(number) if number.abs() < 9e18 => Scalar::Integer(number as i64),
                _ => Scalar::Null,
            },
        },
        ScalarFunction::ToReal => first.number().map_or(Scalar::Null, Scalar::Real),
        ScalarFunction::Part(part) => match first {
            Scalar::Date(date) => part_of(part, *date, 0),
            Scalar::Moment(moment) => {
                let hour = moment.0.rem_euclid(86_400_000_000) / 3_600_000_000;
                part_of(part, moment.date(), hour)
            }
            _ => Scalar::Null,
        },
    }
}

fn part_of(part: DatePart, date: Date, hour: i64) -> Scalar {
    let Some((year, month, day)) = date.parts() else { return Scalar::Null };
    // 1970-01-01 was a Thursday.
    let weekday = (i64::from(date.0) + 4).rem_euclid(7);
    Scalar::Integer(match part {
        DatePart::Year => i64::from(year),
        DatePart::Quarter => i64::from((month - 1) / 3 + 1),
        DatePart::Month => i64::from(month),
        DatePart::Day => i64::from(day),
        DatePart::DayOfWeek => weekday,
        DatePart::IsoDayOfWeek => (weekday + 6) % 7 + 1,
        DatePart::DayOfYear => match Date::from_parts(year, 1, 1) {
            Some(first) => i64::from(date.0) - i64::from(first.0) + 1,
            None => return Scalar::Null,
        },
        DatePart::Hour => hour,
    })
}

impl Term {
    /// Its value for a row of a public table; attributes are the places of columns.
    pub(crate) fn of_row(&self, table: &crate::tables::PublicTable, row: usize) -> Scalar {
        // PROOF: terms of public tables have neither tests nor lookups, so no field is needed.
        self.eval(&|column| table.columns[column].cells[row].value(), &[])
    }
}

//! Value sets as conditions: words become lists, numbers and dates comparisons, so that no engine's own idea of
//! collation, patterns or missing values matters.

use chrysalis_table::{Date, Kind};

use super::Dialect;
use super::expr::{X, all, any, int, number};
use crate::value_set::{RealEnd, ValueSet, Values};
use crate::{Field, Tree};

/// Whether a column's value is in the set. UNKNOWN for a missing value stands for no: nothing is ever negated.
pub(super) fn is_in(dialect: Dialect, column: &X, field: &Field, set: &ValueSet) -> X {
    let literal = |place: i64| match field.kind {
        // PROOF: `between` asks for days of four-digit years only.
        Kind::Date => dialect.date(&Date(i32::try_from(place).unwrap_or(0)).to_string()),
        _ => int(place),
    };
    let limits = if field.kind == Kind::Date { DAYS } else { (i64::MIN, i64::MAX) };
    let mut parts: Vec<X> = match &set.values {
        Values::Integers(ranges) => {
            ranges.closed().filter_map(|ends| between(column, ends, limits, &literal)).collect()
        }
        Values::Reals(ranges) => ranges.ends().map(|ends| stretch(column, ends)).collect(),
        Values::Words(words) => listed(dialect, column, field, words),
    };
    if set.missing && field.has_missing {
        parts.push(column.clone().missing());
    }
    any(parts)
}

/// The days that are written with four-digit years.
const DAYS: (i64, i64) = (-719_528, 2_932_896);

fn listed(dialect: Dialect, column: &X, field: &Field, words: &[bool]) -> Vec<X> {
    let texts = |wanted: bool| -> Vec<X> {
        let chosen = words.iter().zip(field.words.iter()).filter(|(is_in, _)| **is_in == wanted);
        chosen.map(|(_, word)| dialect.text(word)).collect()
    };
    if words.iter().all(|is_in| *is_in) {
        return vec![column.clone().present()];
    }
    let chosen = texts(true);
    if chosen.is_empty() { Vec::new() } else { vec![column.clone().one_of(chosen)] }
}

/// Whole numbers and days; nothing where no value of the kind can be.
fn between(
    column: &X,
    (low, high): (Option<i64>, Option<i64>),
    (first, last): (i64, i64),
    literal: &dyn Fn(i64) -> X,
) -> Option<X> {
    if low.is_some_and(|low| low > last) || high.is_some_and(|high| high < first) {
        return None;
    }
    let (low, high) = (low.filter(|low| *low > first), high.filter(|high| *high < last));
    Some(match (low, high) {
        (Some(low), Some(high)) if low == high => column.clone().eq(literal(low)),
        (None, None) => column.clone().present(),
        (low, high) => {
            let from = low.map(|low| column.clone().at_least(literal(low)));
            let to = high.map(|high| column.clone().at_most(literal(high)));
            all(from.into_iter().chain(to).collect())
        }
    })
}

fn stretch(column: &X, (low, high): (Option<RealEnd>, Option<RealEnd>)) -> X {
    let from = low.map(|end| match end.is_closed {
        true => column.clone().at_least(number(end.at)),
        false => column.clone().greater(number(end.at)),
    });
    let to = high.map(|end| match end.is_closed {
        true => column.clone().at_most(number(end.at)),
        false => column.clone().less(number(end.at)),
    });
    let ends: Vec<X> = from.into_iter().chain(to).collect();
    if ends.is_empty() { column.clone().present() } else { all(ends) }
}

/// Whether a row satisfies a condition; `column` gives the column of an attribute.
pub(super) fn holds(dialect: Dialect, tree: &Tree, fields: &[Field], column: &dyn Fn(usize) -> X) -> X {
    let parts = |parts: &[Tree]| parts.iter().map(|part| holds(dialect, part, fields, column)).collect();
    match tree {
        Tree::In { field, set } => is_in(dialect, &column(*field), &fields[*field], set),
        Tree::All(inner) => all(parts(inner)),
        Tree::Any(inner) => any(parts(inner)),
    }
}

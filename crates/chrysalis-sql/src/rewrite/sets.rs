//! Value sets as conditions: sets of words become lists, sets of numbers, dates and datetimes become comparisons, so that
//! no engine's own idea of collation, patterns or missing values matters.

use chrysalis_table::{Date, DateTime, Kind};

use super::Dialect;
use super::expr::{X, all, any, int, number};
use chrysalis_query::value_set::{RealEnd, ValueSet, Values};
use chrysalis_query::{Field, Tree};

/// Whether a column's value is in the set. UNKNOWN for a missing value counts as no: nothing is ever negated.
pub(super) fn is_in(dialect: Dialect, column: &X, field: &Field, set: &ValueSet) -> X {
    let literal = |place: i64| match field.kind {
        // PROOF: `whole` and `between` pass only days and moments of four-digit years.
        Kind::Date => dialect.date(&Date(i32::try_from(place).unwrap_or(0)).to_string()),
        Kind::DateTime => dialect.datetime(DateTime(place)),
        _ => int(place),
    };
    let limits = match field.kind {
        Kind::Date => DAYS,
        Kind::DateTime => (DateTime::FIRST.0, DateTime::LAST.0),
        _ => (i64::MIN, i64::MAX),
    };
    let mut parts: Vec<X> = match &set.values {
        Values::Integers(ranges) => whole(column, &ranges.closed().collect::<Vec<_>>(), limits, &literal),
        Values::Reals(ranges) => ranges.ends().map(|ends| stretch(column, ends)).collect(),
        Values::Words(words) => listed(dialect, column, field, words),
    };
    if set.missing && field.has_missing {
        parts.push(column.clone().missing());
    }
    any(parts)
}

/// The days whose years have four digits.
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

/// The ends of a stretch of integers or days; `None` where it is unbounded.
type Ends = (Option<i64>, Option<i64>);

/// More than `MANY` stretches are many, and a stretch of up to `SHORT` numbers is short.
const MANY: usize = 8;
const SHORT: i64 = 8;

/// Integers and days: single ones go into a list, which a database looks up in one step, and stretches become
/// comparisons. Comparing a row with many stretches one by one would be slow, so if there are many, the short ones are
/// listed, too.
fn whole(column: &X, stretches: &[Ends], limits: (i64, i64), literal: &dyn Fn(i64) -> X) -> Vec<X> {
    let longest = if stretches.len() > MANY { SHORT } else { 1 };
    let (mut parts, mut listed) = (Vec::new(), Vec::new());
    for &ends in stretches {
        match ends {
            (Some(low), Some(high)) if high.saturating_sub(low) < longest => {
                listed.extend((low..=high).filter(|place| (limits.0..=limits.1).contains(place)));
            }
            ends => parts.extend(between(column, ends, limits, literal)),
        }
    }
    match listed.as_slice() {
        [] => {}
        [only] => parts.push(column.clone().eq(literal(*only))),
        many => parts.push(column.clone().one_of(many.iter().map(|place| literal(*place)).collect())),
    }
    parts
}

/// The condition for a stretch; `None` if no value of the kind can lie in it.
fn between(column: &X, (low, high): Ends, (first, last): (i64, i64), literal: &dyn Fn(i64) -> X) -> Option<X> {
    if low.is_some_and(|low| low > last) || high.is_some_and(|high| high < first) {
        return None;
    }
    let (low, high) = (low.filter(|low| *low > first), high.filter(|high| *high < last));
    Some(match (low, high) {
        (None, None) => column.clone().present(),
        (Some(low), None) => column.clone().at_least(literal(low)),
        (None, Some(high)) => column.clone().at_most(literal(high)),
        (Some(low), Some(high)) => column.clone().between(literal(low), literal(high)),
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

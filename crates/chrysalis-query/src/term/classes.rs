//! A term's values, each with the set of the attribute's values behind it (step 3a of `spec.md`).

use std::collections::HashMap;

use chrysalis_table::{Kind, Value};

use super::{Scalar, Term};
use crate::statement::ScalarFunction;
use crate::value_set::{Cut, Ranges, RealCut, ValueSet, Values};
use crate::{Field, QueryError};

/// The most values of an attribute that are looked at one by one.
const MAX_POINTS: i128 = 1 << 21;
/// The most values that a term may have.
pub(crate) const MAX_CLASSES: usize = 10_000;

/// The values of a term of one attribute, each with the attribute's values behind it, in ascending order of the first of
/// these; the missing value first. The sets are disjoint, and together they are everything.
///
/// Outside the attribute's least and greatest value, where no person is, a term keeps its value at the end.
pub(crate) fn classes(term: &Term, at: usize, fields: &[Field]) -> Result<Vec<(Scalar, ValueSet)>, QueryError> {
    let field = &fields[at];
    let mut classes = Classes { field, places: HashMap::new(), found: Vec::new() };
    let value = |value: Option<Value>| term.eval(&|_| value.clone(), fields);
    if field.has_missing {
        classes.add(value(None), field.only(None))?;
    }
    match field.kind {
        Kind::Ordinal | Kind::Category => {
            for word in field.words.iter() {
                let word = Value::Text(word.clone());
                classes.add(value(Some(word.clone())), field.only(Some(&word)))?;
            }
        }
        Kind::Integer | Kind::Date | Kind::DateTime => {
            let (Some(low), Some(high)) = (whole(&field.min), whole(&field.max)) else { return Ok(classes.finish()) };
            let value = |place: i128| value(Value::from_whole(field.kind, place as i64));
            let step = if field.kind == Kind::DateTime { granularity(term) } else { 1 };
            let ends = |from: i128, to: i128| {
                let from = if from <= low { i128::FIRST } else { from };
                let to = if to > high { i128::LAST } else { to };
                ValueSet { values: Values::Integers(Ranges::between(from, to)), missing: false }
            };
            if (high - low) / step > MAX_POINTS {
                let steps = monotone_steps(term, low, high, value, |a, b| a + (b - a) / 2, field)?;
                for (scalar, from, to) in steps {
                    classes.add(scalar, ends(from, to + 1))?;
                }
                return Ok(classes.finish());
            }
            // Runs of equal values become one range.
            let first = low.div_euclid(step) * step;
            let (mut run, mut start, mut place) = (value(low), first, first + step);
            while place <= high {
                let next = value(place);
                if next != run {
                    classes.add(std::mem::replace(&mut run, next), ends(start, place))?;
                    start = place;
                }
                place += step;
            }
            classes.add(run, ends(start, place.max(high + 1)))?;
        }
        Kind::Real => {
            let end = |value: &Option<Value>| value.as_ref().and_then(Value::number);
            let (Some(low), Some(high)) = (end(&field.min), end(&field.max)) else { return Ok(classes.finish()) };
            let value = |place: i128| value(Some(Value::Real(float_at(place))));
            let steps = monotone_steps(term, place_of(low), place_of(high), value, |a, b| a + (b - a) / 2, field)?;
            for (scalar, from, to) in steps {
                let from = if from <= place_of(low) { RealCut::FIRST } else { RealCut::before(float_at(from)) };
                let to = if to >= place_of(high) { RealCut::LAST } else { RealCut::after(float_at(to)) };
                let values = Values::Reals(Ranges::between(from, to));
                classes.add(scalar, ValueSet { values, missing: false })?;
            }
        }
    }
    Ok(classes.finish())
}

/// The attribute's values for which a condition is TRUE, and those for which it is FALSE.
pub(crate) fn truth(term: &Term, at: usize, fields: &[Field]) -> Result<(ValueSet, ValueSet), QueryError> {
    if let Term::Test(_, sets) = term {
        return Ok((**sets).clone());
    }
    let field = &fields[at];
    let (mut yes, mut no) = (field.nothing(), field.nothing());
    let is_wide = matches!(field.kind, Kind::Real)
        || whole(&field.min).zip(whole(&field.max)).is_some_and(|(low, high)| high - low > MAX_POINTS);
    if let (true, Term::Compare(a, comparison, b)) = (is_wide, term) {
        use crate::question::Comparison::{Equal, GreaterOrEqual, LessOrEqual, NotEqual};
        if matches!(comparison, Equal | NotEqual) {
            let half = |comparison| truth(&Term::Compare(a.clone(), comparison, b.clone()), at, fields);
            let (above, below) = (half(GreaterOrEqual)?, half(LessOrEqual)?);
            let equal = (above.0.intersection(&below.0), above.1.union(&below.1));
            return Ok(if *comparison == Equal { equal } else { (equal.1, equal.0) });
        }
    }
    if let Term::IsNull(inner) = term
        && is_monotone(inner)
    {
        // Between two ends where it is a number, a term that only rises or falls is one.
        let is_null = |value: Option<Value>| inner.eval(&|_| value.clone(), fields) == Scalar::Null;
        let ends = [&field.min, &field.max];
        if ends.iter().all(|end| end.is_none() || !is_null((*end).clone())) {
            let of_missing = if is_null(None) { &mut yes } else { &mut no };
            of_missing.missing = true;
            let no = no.union(&field.everything(false));
            return Ok((yes, no));
        }
    }
    for (value, set) in classes(term, at, fields)? {
        match value {
            Scalar::Boolean(true) => yes = yes.union(&set),
            Scalar::Boolean(false) => no = no.union(&set),
            Scalar::Null => {}
            _ => {
                let problem = "a value stands where a condition is expected";
                return Err(QueryError::question(None, problem, "compare it with something"));
            }
        }
    }
    Ok((yes, no))
}

fn whole(value: &Option<Value>) -> Option<i128> {
    value.as_ref().and_then(Value::whole).map(i128::from)
}

/// How long a datetime can go on without changing what the term makes of it, in microseconds.
fn granularity(term: &Term) -> i128 {
    const HOUR: i128 = 3_600_000_000;
    match term {
        Term::Attribute(_) | Term::Lookup(..) | Term::Test(..) => 1,
        Term::Call(ScalarFunction::Part(part), given) if matches!(given.as_slice(), [Term::Attribute(_)]) => {
            if *part == crate::statement::DatePart::Hour { HOUR } else { 24 * HOUR }
        }
        other => other.children().into_iter().map(granularity).min().unwrap_or(24 * HOUR),
    }
}

struct Classes<'a> {
    field: &'a Field,
    places: HashMap<String, usize>,
    found: Vec<(Scalar, Vec<ValueSet>)>,
}

impl Classes<'_> {
    fn add(&mut self, value: Scalar, set: ValueSet) -> Result<(), QueryError> {
        let place = *self.places.entry(value.key()).or_insert(self.found.len());
        if place == self.found.len() {
            if place == MAX_CLASSES {
                let problem = format!("an expression over `{}` has more than {MAX_CLASSES} values", self.field.name);
                return Err(QueryError::unanswerable(
                    None,
                    problem,
                    "make it coarser, or narrow the column with WHERE",
                ));
            }
            self.found.push((value, Vec::new()));
        }
        self.found[place].1.push(set);
        Ok(())
    }

    fn finish(self) -> Vec<(Scalar, ValueSet)> {
        let union = |sets: Vec<ValueSet>| {
            let mut all = self.field.nothing();
            let (mut integers, mut reals) = (Vec::new(), Vec::new());
            for set in sets {
                all.missing |= set.missing;
                match (set.values, &mut all.values) {
                    (Values::Integers(ranges), _) => integers.extend_from_slice(ranges.ranges()),
                    (Values::Reals(ranges), _) => reals.extend_from_slice(ranges.ranges()),
                    (Values::Words(words), Values::Words(all)) => {
                        all.iter_mut().zip(words).for_each(|(all, word)| *all |= word);
                    }
                    (Values::Words(_), _) => {}
                }
            }
            match &mut all.values {
                Values::Integers(ranges) => *ranges = Ranges::union_of(integers),
                Values::Reals(ranges) => *ranges = Ranges::union_of(reals),
                Values::Words(_) => {}
            }
            all
        };
        self.found.into_iter().map(|(value, sets)| (value, union(sets))).collect()
    }
}

/// The constant pieces of a term that only rises or only falls, found by bisection: value, first and last place.
fn monotone_steps(
    term: &Term,
    low: i128,
    high: i128,
    value: impl Fn(i128) -> Scalar,
    middle: impl Fn(i128, i128) -> i128,
    field: &Field,
) -> Result<Vec<(Scalar, i128, i128)>, QueryError> {
    if !is_monotone(term) {
        let problem = format!("`{}` has too many values to decide an expression over it for each of them", field.name);
        let hint = "use an expression that only rises or falls with the column, such as FLOOR(column / 10), or plain comparisons";
        return Err(QueryError::unanswerable(None, problem, hint));
    }
    let (mut steps, mut from) = (Vec::new(), low);
    while from <= high {
        let here = value(from);
        let (mut same, mut other) = (from, high + 1);
        while other - same > 1 {
            let between = middle(same, other);
            if value(between) == here { same = between } else { other = between }
        }
        steps.push((here, from, same));
        if steps.len() > MAX_CLASSES {
            let problem = format!("an expression over `{}` has more than {MAX_CLASSES} values", field.name);
            return Err(QueryError::unanswerable(None, problem, "make it coarser, or narrow the column with WHERE"));
        }
        from = same + 1;
    }
    Ok(steps)
}

/// Whether a term only rises or only falls with its attribute: every operation on the way does, also when it rounds.
pub(crate) fn is_monotone(term: &Term) -> bool {
    use crate::question::Comparison::{Equal, NotEqual};
    use crate::statement::Arithmetic::{Add, Divide, DivideWhole, Multiply, Subtract};
    let is_constant = |term: &Term| matches!(term, Term::Constant(Scalar::Integer(_) | Scalar::Real(_)));
    match term {
        Term::Attribute(_) => true,
        Term::Constant(scalar) => scalar.number().is_some(),
        Term::Negate(inner) => is_monotone(inner),
        Term::Arithmetic(a, Add | Subtract | Multiply, b) => {
            (is_monotone(a) && is_constant(b)) || (is_constant(a) && is_monotone(b))
        }
        Term::Arithmetic(a, Divide | DivideWhole, b) => is_monotone(a) && is_constant(b),
        Term::Compare(a, comparison, b) => {
            let one = (is_monotone(a) && is_constant(b)) || (is_constant(a) && is_monotone(b));
            one && !matches!(comparison, Equal | NotEqual)
        }
        Term::Call(function, given) => {
            use ScalarFunction::{Ceil, Floor, Round, ToInteger, ToReal};
            matches!(function, Floor | Ceil | Round | ToInteger | ToReal) && given.len() == 1 && is_monotone(&given[0])
        }
        _ => false,
    }
}

/// The place of a double in the order of all doubles.
fn place_of(number: f64) -> i128 {
    let bits = (number + 0.0).to_bits() as i64;
    i128::from(if bits < 0 { i64::MIN - bits } else { bits })
}

fn float_at(place: i128) -> f64 {
    let place = place as i64;
    f64::from_bits(if place < 0 { (i64::MIN - place) as u64 } else { place as u64 })
}

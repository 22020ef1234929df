//! An attribute as a question sees it, and the value sets that tests on it are reduced to.

use std::ops::Deref;

use chrysalis_release::{Attribute, view};
use chrysalis_table::{Date, DateTime, Kind, Value};

use crate::question::{Comparison, Constant, Predicate, Test};
use crate::value_set::{Cut, Ranges, RealCut, ValueSet, Values};
use crate::{QueryError, like};

/// An attribute of a release, with the value sets that conditions on it are reduced to.
#[derive(Clone, Debug)]
pub struct Field(view::Field);

impl Deref for Field {
    type Target = view::Field;

    fn deref(&self) -> &view::Field {
        &self.0
    }
}

/// The values for which a test is TRUE, and those for which it is FALSE. For a value in neither it is UNKNOWN.
pub(crate) struct TruthSets {
    pub(crate) yes: ValueSet,
    pub(crate) no: ValueSet,
}

/// A constant as a value of the attribute's kind.
pub(crate) enum TypedConstant {
    Null,
    /// For integers, dates and datetimes: the constant lies at this whole number, or between this one and the next.
    Integer {
        floor: i128,
        is_whole: bool,
    },
    Real(f64),
    Word(Box<str>),
}

impl Field {
    pub(crate) fn new(attribute: &Attribute) -> Self {
        Field(view::Field::new(attribute))
    }

    /// Whether a value, or the missing value, is in a set of this attribute's values.
    pub fn contains(&self, set: &ValueSet, value: Option<&Value>) -> bool {
        match (value, &set.values) {
            (None, _) => set.missing,
            (Some(Value::Integer(number)), Values::Integers(ranges)) => ranges.contains(*number),
            (Some(Value::Date(date)), Values::Integers(ranges)) => ranges.contains(i64::from(date.0)),
            (Some(Value::DateTime(moment)), Values::Integers(ranges)) => ranges.contains(moment.0),
            (Some(Value::Real(number)), Values::Reals(ranges)) => ranges.contains(*number),
            (Some(Value::Text(word)), Values::Words(words)) => self.rank(word).is_some_and(|rank| words[rank]),
            _ => false,
        }
    }

    /// Every value, with or without the missing one.
    pub fn everything(&self, missing: bool) -> ValueSet {
        let values = match self.kind {
            Kind::Integer | Kind::Date | Kind::DateTime => Values::Integers(Ranges::all()),
            Kind::Real => Values::Reals(Ranges::all()),
            Kind::Ordinal | Kind::Category => Values::Words(vec![true; self.words.len()]),
        };
        ValueSet { values, missing }
    }

    /// The empty set.
    pub fn nothing(&self) -> ValueSet {
        self.everything(true).complement()
    }

    /// Whether every value this attribute has is in the set.
    pub fn is_full(&self, set: &ValueSet) -> bool {
        set.has_every_value() && (set.missing || !self.has_missing)
    }

    /// The set of a single value, or of the missing value.
    pub fn only(&self, value: Option<&Value>) -> ValueSet {
        let mut set = self.nothing();
        match (value, &mut set.values) {
            (None, _) => set.missing = true,
            (Some(Value::Integer(number)), Values::Integers(ranges)) => *ranges = one(i128::from(*number)),
            (Some(Value::Date(date)), Values::Integers(ranges)) => *ranges = one(i128::from(date.0)),
            (Some(Value::DateTime(moment)), Values::Integers(ranges)) => *ranges = one(i128::from(moment.0)),
            (Some(Value::Real(number)), Values::Reals(ranges)) => {
                *ranges = Ranges::between(RealCut::before(*number), RealCut::after(*number));
            }
            (Some(Value::Text(word)), Values::Words(words)) => {
                self.rank(word).into_iter().for_each(|rank| words[rank] = true);
            }
            _ => {}
        }
        set
    }

    /// Decides a test for every possible value. A missing value gives UNKNOWN, except for IS NULL.
    pub(crate) fn decide(&self, test: &Test) -> Result<TruthSets, QueryError> {
        let yes = match &test.predicate {
            Predicate::IsNull => {
                return Ok(TruthSets { yes: self.only(None), no: self.everything(false) });
            }
            Predicate::Compare(comparison, constant) => match self.compare(*comparison, constant, test)? {
                Some(set) => set,
                None => return Ok(TruthSets { yes: self.nothing(), no: self.nothing() }),
            },
            Predicate::Between(low, high) => return self.between(low, high, test),
            Predicate::In(list) => {
                let (yes, has_null) = self.any_of(list, test)?;
                if has_null {
                    return Ok(TruthSets { yes, no: self.nothing() });
                }
                yes
            }
            Predicate::Like { pattern, escape } => match pattern {
                Some(pattern) => self.like(pattern, *escape, test)?,
                None => return Ok(TruthSets { yes: self.nothing(), no: self.nothing() }),
            },
        };
        Ok(TruthSets { no: yes.complement().without_missing(), yes })
    }

    /// `low <= value AND value <= high`, in three-valued logic.
    fn between(&self, low: &Constant, high: &Constant, test: &Test) -> Result<TruthSets, QueryError> {
        let above = self.compare(Comparison::GreaterOrEqual, low, test)?;
        let below = self.compare(Comparison::LessOrEqual, high, test)?;
        let no = |set: &Option<ValueSet>| match set {
            Some(set) => set.complement().without_missing(),
            None => self.nothing(),
        };
        let no = no(&above).union(&no(&below));
        let yes = match (above, below) {
            (Some(above), Some(below)) => above.intersection(&below),
            _ => self.nothing(),
        };
        Ok(TruthSets { yes, no })
    }

    /// The values equal to one of the constants, and whether one of the constants is NULL.
    fn any_of(&self, list: &[Constant], test: &Test) -> Result<(ValueSet, bool), QueryError> {
        let mut set = self.nothing();
        let (mut integers, mut reals, mut has_null) = (Vec::new(), Vec::new(), false);
        for constant in list {
            match self.known(constant, test)? {
                TypedConstant::Null => has_null = true,
                TypedConstant::Integer { floor, is_whole: true } => integers.push((floor, floor + 1)),
                TypedConstant::Integer { .. } => {}
                TypedConstant::Real(number) => reals.push((RealCut::before(number), RealCut::after(number))),
                TypedConstant::Word(word) => {
                    if let (Some(rank), Values::Words(words)) = (self.rank(&word), &mut set.values) {
                        words[rank] = true;
                    }
                }
            }
        }
        match &mut set.values {
            Values::Integers(ranges) => *ranges = Ranges::union_of(integers),
            Values::Reals(ranges) => *ranges = Ranges::union_of(reals),
            Values::Words(_) => {}
        }
        Ok((set, has_null))
    }

    /// The values for which the comparison is TRUE; `None` when it is UNKNOWN for all of them.
    fn compare(
        &self,
        comparison: Comparison,
        constant: &Constant,
        test: &Test,
    ) -> Result<Option<ValueSet>, QueryError> {
        let values = match self.known(constant, test)? {
            TypedConstant::Null => return Ok(None),
            TypedConstant::Integer { floor, is_whole } => {
                // The cut below the constant, and the cut above it.
                let (before, through) = (if is_whole { floor } else { floor + 1 }, floor + 1);
                Values::Integers(side(comparison, before, through))
            }
            TypedConstant::Real(number) => {
                Values::Reals(side(comparison, RealCut::before(number), RealCut::after(number)))
            }
            TypedConstant::Word(word) => Values::Words(self.compare_words(comparison, &word, test)?),
        };
        Ok(Some(ValueSet { values, missing: false }))
    }

    /// Categories compare byte by byte, ordinals by the order they were given.
    fn compare_words(&self, comparison: Comparison, word: &str, test: &Test) -> Result<Vec<bool>, QueryError> {
        let holds = |ordering: std::cmp::Ordering| match comparison {
            Comparison::Equal => ordering.is_eq(),
            Comparison::NotEqual => ordering.is_ne(),
            Comparison::Less => ordering.is_lt(),
            Comparison::LessOrEqual => ordering.is_le(),
            Comparison::Greater => ordering.is_gt(),
            Comparison::GreaterOrEqual => ordering.is_ge(),
        };
        let by_equality = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        if self.kind == Kind::Category || by_equality {
            return Ok(self.words.iter().map(|known| holds((**known).cmp(word))).collect());
        }
        let Some(rank) = self.rank(word) else {
            let shown: String = word.chars().take(40).collect();
            let problem = format!("`{}` has no value '{shown}' to compare with", self.name);
            return Err(QueryError::question(test.at, problem, format!("its values are, in order: {}", self.listed())));
        };
        Ok((0..self.words.len()).map(|known| holds(known.cmp(&rank))).collect())
    }

    fn like(&self, pattern: &str, escape: Option<char>, test: &Test) -> Result<ValueSet, QueryError> {
        if !matches!(self.kind, Kind::Ordinal | Kind::Category) {
            let problem = format!("LIKE asks about words, but `{}` holds values of kind {}", self.name, self.kind);
            return Err(QueryError::question(test.at, problem, "use =, <, >, BETWEEN or IN"));
        }
        let pattern = like::Pattern::new(pattern, escape).map_err(|problem| {
            QueryError::question(test.at, problem, "write the escape letter before %, _ or itself")
        })?;
        let words = self.words.iter().map(|word| pattern.matches(word)).collect();
        Ok(ValueSet { values: Values::Words(words), missing: false })
    }

    /// Interprets a constant as a value of this attribute.
    pub(crate) fn known(&self, constant: &Constant, test: &Test) -> Result<TypedConstant, QueryError> {
        let wrong = |expected: &str| {
            let problem = format!("{constant} is not a value of `{}`, which is of kind {}", self.name, self.kind);
            Err(QueryError::question(test.at, problem, expected))
        };
        let whole = |number: i128| TypedConstant::Integer { floor: number, is_whole: true };
        match (self.kind, constant) {
            (_, Constant::Null) => Ok(TypedConstant::Null),
            (Kind::Integer, Constant::Integer(number)) => Ok(whole(clipped(*number))),
            (Kind::Integer, Constant::Real(number)) => Ok(between_integers(*number)),
            (Kind::Integer, Constant::Text(text)) => match (text.trim().parse::<i64>(), finite(text)) {
                (Ok(number), _) => Ok(whole(i128::from(number))),
                (_, Some(number)) => Ok(between_integers(number)),
                _ => wrong("compare it with a number, such as 42"),
            },
            (Kind::Real, Constant::Integer(number)) => Ok(TypedConstant::Real(*number as f64)),
            (Kind::Real, Constant::Real(number)) => Ok(TypedConstant::Real(*number)),
            (Kind::Real, Constant::Text(text)) => match finite(text) {
                Some(number) => Ok(TypedConstant::Real(number)),
                None => wrong("compare it with a number, such as 4.2"),
            },
            (Kind::Date, Constant::Text(text)) => match Date::parse(text.trim()) {
                Some(date) => Ok(whole(i128::from(date.0))),
                None => wrong("write a date as 'YYYY-MM-DD', such as '2024-02-29'"),
            },
            // As in databases, a date stands for the moment at which it begins.
            (Kind::DateTime, Constant::Text(text)) => match DateTime::parse_or_midnight(text.trim()) {
                Some(moment) => Ok(whole(i128::from(moment.0))),
                None => wrong("write a datetime as 'YYYY-MM-DDTHH:MM:SS', such as '2024-02-29T14:05:00'"),
            },
            (Kind::Ordinal | Kind::Category, Constant::Text(text)) => Ok(TypedConstant::Word(text.as_str().into())),
            (Kind::Ordinal | Kind::Category, Constant::Boolean(truth)) => {
                Ok(TypedConstant::Word(truth.to_string().into()))
            }
            (Kind::Integer | Kind::Real, _) => wrong("compare it with a number"),
            (Kind::Date, _) => wrong("write a date as 'YYYY-MM-DD', in single quotes"),
            (Kind::DateTime, _) => wrong("write a datetime as 'YYYY-MM-DDTHH:MM:SS', in single quotes"),
            (Kind::Ordinal | Kind::Category, _) => wrong("write words in single quotes, even those made of digits"),
        }
    }

    /// The first few words, for messages.
    fn listed(&self) -> String {
        let mut shown: Vec<&str> = self.words.iter().take(20).map(|word| &**word).collect();
        if self.words.len() > shown.len() {
            shown.push("…");
        }
        shown.join(", ")
    }
}

fn one(number: i128) -> Ranges<i128> {
    Ranges::between(number, number + 1)
}

/// The values on one side of a constant, which lies between two cuts.
fn side<C: Cut>(comparison: Comparison, before: C, through: C) -> Ranges<C> {
    match comparison {
        Comparison::Equal => Ranges::between(before, through),
        Comparison::NotEqual => Ranges::between(before, through).complement(),
        Comparison::Less => Ranges::between(C::FIRST, before),
        Comparison::LessOrEqual => Ranges::between(C::FIRST, through),
        Comparison::Greater => Ranges::between(through, C::LAST),
        Comparison::GreaterOrEqual => Ranges::between(before, C::LAST),
    }
}

/// A number beyond 64 bits is smaller or greater than all values; by how much does not matter.
fn clipped(number: i128) -> i128 {
    number.clamp(i128::FIRST - 2, i128::LAST + 1)
}

fn between_integers(number: f64) -> TypedConstant {
    let floor = number.floor();
    // A cast from a float saturates.
    TypedConstant::Integer { floor: clipped(floor as i128), is_whole: floor == number }
}

fn finite(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

//! Notes on what a question asks for and a release does not have: a misspelt word, a number beyond all others. The
//! answer is right all the same, but seldom what the analyst meant.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use chrysalis_table::{Value, edits};

use crate::QueryError;
use crate::field::{Field, TypedConstant};
use crate::question::{Comparison, Condition, Constant, Predicate, Test};

/// A question may list many constants.
const MAX_NOTES: usize = 5;
/// An attribute may have many words, and a word may be long.
const MAX_WORDS: usize = 10_000;
const MAX_LETTERS: usize = 60;

/// Something a test asks for in vain.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Miss {
    /// A word that the attribute does not have.
    Word(Box<str>),
    /// A number or date beyond the attribute's smallest or largest.
    Beyond,
    /// NULL, which nothing equals.
    Null,
}

/// What the analyst who asks this should know, in sentences.
pub(crate) fn notes(
    condition: &Condition,
    fields: &[Field],
    find: &dyn Fn(&Test) -> Result<usize, QueryError>,
) -> Result<Vec<String>, QueryError> {
    let (mut misses, mut seen) = (Vec::new(), BTreeSet::new());
    each_test(condition, &mut |test| {
        let field = find(test)?;
        let found = fields[field].misses(test)?.into_iter().map(|miss| (field, miss));
        misses.extend(found.filter(|miss| seen.insert(miss.clone())));
        Ok(())
    })?;
    let mut notes: Vec<String> = misses.iter().take(MAX_NOTES).map(|(field, miss)| fields[*field].note(miss)).collect();
    if misses.len() > MAX_NOTES {
        notes.push(format!("and {} more that the release does not have", misses.len() - MAX_NOTES));
    }
    Ok(notes)
}

fn each_test(condition: &Condition, visit: &mut dyn FnMut(&Test) -> Result<(), QueryError>) -> Result<(), QueryError> {
    match condition {
        Condition::Test(test) => visit(test),
        Condition::Not(inner) => each_test(inner, visit),
        Condition::All(parts) | Condition::Any(parts) => parts.iter().try_for_each(|part| each_test(part, visit)),
    }
}

impl Field {
    fn misses(&self, test: &Test) -> Result<Vec<Miss>, QueryError> {
        let beyond = |is_beyond: bool| if is_beyond { vec![Miss::Beyond] } else { Vec::new() };
        let side = |constant: &Constant| Ok::<_, QueryError>(self.side(&self.known(constant, test)?));
        Ok(match &test.predicate {
            Predicate::IsNull | Predicate::Like { .. } => Vec::new(),
            Predicate::Compare(_, Constant::Null) => vec![Miss::Null],
            Predicate::Compare(Comparison::Equal | Comparison::NotEqual, constant) => {
                self.missed(constant, test)?.into_iter().collect()
            }
            Predicate::Compare(Comparison::Less | Comparison::LessOrEqual, constant) => beyond(side(constant)?.is_lt()),
            Predicate::Compare(Comparison::Greater | Comparison::GreaterOrEqual, constant) => {
                beyond(side(constant)?.is_gt())
            }
            Predicate::Between(low, high) => beyond(side(low)?.is_gt() || side(high)?.is_lt()),
            Predicate::In(list) => {
                let misses = list.iter().map(|constant| self.missed(constant, test));
                misses.filter_map(Result::transpose).collect::<Result<_, _>>()?
            }
        })
    }

    /// What a constant misses, if no value equals it.
    fn missed(&self, constant: &Constant, test: &Test) -> Result<Option<Miss>, QueryError> {
        Ok(match self.known(constant, test)? {
            TypedConstant::Word(word) => {
                let is_unknown = !self.words.is_empty() && self.rank(&word).is_none();
                is_unknown.then_some(Miss::Word(word))
            }
            known => self.side(&known).is_ne().then_some(Miss::Beyond),
        })
    }

    /// Where a number or a date lies: below all values, above them, or in between.
    fn side(&self, known: &TypedConstant) -> Ordering {
        let Some((min, max)) = self.min.as_ref().zip(self.max.as_ref()) else { return Ordering::Equal };
        let (is_below, is_above) = match (known, min, max) {
            (TypedConstant::Integer { floor, is_whole }, min, max) => {
                let (Some(min), Some(max)) = (whole(min), whole(max)) else { return Ordering::Equal };
                (*floor < min, *floor > max || (*floor == max && !is_whole))
            }
            (TypedConstant::Real(number), Value::Real(min), Value::Real(max)) => (number < min, number > max),
            _ => (false, false),
        };
        match (is_below, is_above) {
            (true, _) => Ordering::Less,
            (_, true) => Ordering::Greater,
            _ => Ordering::Equal,
        }
    }

    fn note(&self, miss: &Miss) -> String {
        let name = &self.name;
        match miss {
            Miss::Word(word) => {
                let shown: String = word.chars().take(MAX_LETTERS).collect();
                let similar = self.similar(word).map(|similar| format!("; did you mean '{similar}'?"));
                format!("no such value of `{name}`: '{shown}'{}", similar.unwrap_or_default())
            }
            Miss::Null => format!("a comparison of `{name}` with NULL is never true; write IS NULL or IS NOT NULL"),
            Miss::Beyond => {
                let end = |value: &Option<Value>| value.as_ref().map_or_else(String::new, Value::to_string);
                format!("`{name}` goes from {} to {} in this release", end(&self.min), end(&self.max))
            }
        }
    }

    /// The word closest to what was typed, if it is close enough to be a typo; at least one letter of it must be right.
    fn similar(&self, typed: &str) -> Option<&str> {
        similar(typed, self.words.iter().map(|word| &**word))
    }
}

/// The word closest to what was typed, if it is close enough to be a typo.
pub(crate) fn similar<'w>(typed: &str, words: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    let length = |word: &str| word.chars().count();
    let n = length(typed);
    let allowed = (n / 3).max(1);
    if n > MAX_LETTERS {
        return None;
    }
    let words = words.take(MAX_WORDS);
    let near = words.filter(|word| length(word).abs_diff(n) <= allowed).map(|word| (edits(typed, word), word));
    near.filter(|(n_edits, word)| *n_edits <= allowed && *n_edits < n.max(length(word))).min().map(|(_, word)| word)
}

/// An integer, a date as days, or a datetime as microseconds.
fn whole(value: &Value) -> Option<i128> {
    value.whole().map(i128::from)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::question::ColumnName;

    fn fields() -> Vec<Field> {
        let field = |name: &str, kind: &str, domain: serde_json::Value| {
            let attribute =
                json!({"name": name, "role": "quasi", "kind": kind, "published": "exact", "domain": domain});
            Field::new(&serde_json::from_value(attribute).unwrap())
        };
        vec![
            field("sex", "category", json!({"values": ["F", "M"]})),
            field("disease", "category", json!({"values": ["asthma", "cancer", "flu"]})),
            field("age", "integer", json!({"min": 17, "max": 90})),
            field("weight", "real", json!({"min": 40.5, "max": 99.0})),
            field("born", "date", json!({"min": "1950-01-01", "max": "2007-12-31"})),
        ]
    }

    fn notes_of(column: &str, predicate: Predicate) -> Vec<String> {
        let column = ColumnName { text: column.into(), is_quoted: false, at: None };
        let test = Condition::Test(Test { column, predicate, at: None });
        let fields = fields();
        let find = |test: &Test| Ok(fields.iter().position(|field| field.name == test.column.text).unwrap());
        notes(&Condition::Not(Box::new(test)), &fields, &find).unwrap()
    }

    fn text(text: &str) -> Constant {
        Constant::Text(text.into())
    }

    #[test]
    fn a_misspelt_value_is_told_with_a_similar_one() {
        let check = |column: &str, typed: &str, expected: &str| {
            let expected: Vec<&str> = Some(expected).into_iter().filter(|text| !text.is_empty()).collect();
            for comparison in [Comparison::Equal, Comparison::NotEqual] {
                assert_eq!(notes_of(column, Predicate::Compare(comparison, text(typed))), expected);
            }
            assert_eq!(notes_of(column, Predicate::In(vec![text(typed), text(typed), Constant::Null])), expected);
        };
        check("sex", "F", "");
        check("sex", "Fe", "no such value of `sex`: 'Fe'; did you mean 'F'?");
        check("sex", "f", "no such value of `sex`: 'f'; did you mean 'F'?");
        check("sex", "X", "no such value of `sex`: 'X'");
        check("disease", "Astma", "no such value of `disease`: 'Astma'; did you mean 'asthma'?");
        check("disease", "malaria", "no such value of `disease`: 'malaria'");
        assert!(notes_of("disease", Predicate::Compare(Comparison::Less, text("b"))).is_empty());
        assert!(notes_of("disease", Predicate::IsNull).is_empty());
        assert_eq!(
            notes_of("disease", Predicate::Compare(Comparison::NotEqual, Constant::Null)),
            ["a comparison of `disease` with NULL is never true; write IS NULL or IS NOT NULL"]
        );
    }

    #[test]
    fn numbers_and_dates_beyond_all_others_are_told() {
        let age = ["`age` goes from 17 to 90 in this release"];
        let number = Constant::Integer;
        for outside in [16, 91, i128::MAX] {
            assert_eq!(notes_of("age", Predicate::Compare(Comparison::Equal, number(outside))), age);
            assert_eq!(notes_of("age", Predicate::In(vec![number(20), number(outside)])), age);
        }
        assert_eq!(notes_of("age", Predicate::Compare(Comparison::Equal, Constant::Real(90.5))), age);
        assert_eq!(notes_of("age", Predicate::Compare(Comparison::Greater, number(99))), age);
        assert_eq!(notes_of("age", Predicate::Compare(Comparison::LessOrEqual, number(3))), age);
        assert_eq!(notes_of("age", Predicate::Between(number(100), number(200))), age);
        for fine in [
            Predicate::Compare(Comparison::Equal, number(17)),
            Predicate::Compare(Comparison::Less, number(200)),
            Predicate::Compare(Comparison::Greater, number(0)),
            Predicate::Between(number(0), number(200)),
        ] {
            assert!(notes_of("age", fine).is_empty());
        }
        let weight = Predicate::Compare(Comparison::Equal, Constant::Real(99.5));
        assert_eq!(notes_of("weight", weight), ["`weight` goes from 40.5 to 99 in this release"]);
        let born = Predicate::Compare(Comparison::GreaterOrEqual, text("2010-01-01"));
        assert_eq!(notes_of("born", born), ["`born` goes from 1950-01-01 to 2007-12-31 in this release"]);
    }

    #[test]
    fn a_long_list_has_few_notes() {
        let list = (0..100).map(|n| text(&format!("malaria {n}"))).collect();
        let notes = notes_of("disease", Predicate::In(list));
        assert_eq!(notes.len(), 6);
        assert_eq!(notes[5], "and 95 more that the release does not have");
    }
}

//! What each step does to the values of a column. Everything but a shift maps distinct values, whatever the rows.

use chrysalis_release::{Bound, Decimal, Period, Preparation};
use chrysalis_table::exact::{self, BigRational};
use chrysalis_table::{Code, Codes, Column, Date, Kind, TableError, Value};
use rayon::prelude::*;

use super::key::{Key, Keyed};
use crate::Error;

/// Carries out a step that is no shift. Also says how many rows have another value afterwards.
pub(super) fn mapped(column: &Column, step: Preparation, key: Option<&Key>) -> Result<(Column, u64), Error> {
    let kind = column.domain().kind();
    let kind = if matches!(step, Preparation::Prefix(_) | Preparation::Pseudonym) { Kind::Category } else { kind };
    let pseudonyms = match (step, key) {
        (Preparation::Pseudonym, Some(key)) => Some(key.pseudonyms()?),
        (Preparation::Pseudonym, None) => return Err(Error::internal("a pseudonym was asked for without a key")),
        _ => None,
    };
    let map = |value: &Value| one(value, step, pseudonyms.as_ref()).ok_or_else(|| beyond(column.name(), step));
    let values = column.domain().values().par_iter().map(map).collect::<Result<Vec<Value>, Error>>()?;
    Ok(replaced(column, kind, values, &[]))
}

/// The error for a result that cannot be written.
fn beyond(column: &str, step: Preparation) -> Error {
    let problem = match step {
        Preparation::Round(_) => "would make a number too large",
        _ => "would move a date out of the years 0 to 9999",
    };
    Error::request(format!("`{step}` {problem} in column `{column}`"), "correct such values, or make them missing")
}

/// Replaces every value of the domain. Also says how many rows have another value afterwards.
fn replaced(column: &Column, kind: Kind, values: Vec<Value>, order: &[usize]) -> (Column, u64) {
    let domain = column.domain();
    let missing = usize::from(domain.has_missing());
    let rows = column.histogram();
    let is_changed = |(at, value): &(usize, &Value)| domain.values()[*at] != **value;
    let changed = values.iter().enumerate().filter(is_changed).map(|(at, _)| rows[at + missing]).sum();
    let dictionary = std::iter::repeat_n(None, missing).chain(values.into_iter().map(Some)).collect();
    (Column::from_entries(column.name(), kind, dictionary, order, vec![column.codes().clone()]), changed)
}

/// The value that takes the place of another; `None` if it cannot be written.
fn one(value: &Value, step: Preparation, pseudonyms: Option<&Keyed>) -> Option<Value> {
    Some(match (step, value) {
        (Preparation::Round(width), Value::Integer(number)) => Value::Integer(rounded(*number, width.whole()?)?),
        (Preparation::Round(width), Value::Real(number)) => {
            Value::Real(rounded_real(*number, width).filter(|number| number.is_finite())?)
        }
        (Preparation::Top(Bound::Number(most)), Value::Integer(number)) => Value::Integer((*number).min(most.whole()?)),
        (Preparation::Top(Bound::Number(most)), Value::Real(number)) => Value::Real(number.min(most.float()) + 0.0),
        (Preparation::Top(Bound::Date(last)), Value::Date(date)) => Value::Date((*date).min(last)),
        (Preparation::Bottom(Bound::Number(least)), Value::Integer(number)) => {
            Value::Integer((*number).max(least.whole()?))
        }
        (Preparation::Bottom(Bound::Number(least)), Value::Real(number)) => {
            Value::Real(number.max(least.float()) + 0.0)
        }
        (Preparation::Bottom(Bound::Date(first)), Value::Date(date)) => Value::Date((*date).max(first)),
        (Preparation::Date(period), Value::Date(date)) => Value::Date(Period::first_day(period, *date)?),
        (Preparation::Prefix(length), value) => {
            Value::Text(value.to_string().chars().take(usize::from(length)).collect())
        }
        (Preparation::Pseudonym, value) => Value::Text(pseudonyms?.pseudonym(&value.to_string()).into()),
        _ => return None,
    })
}

/// The multiple of `width` next to a number; halfway it goes away from zero.
fn rounded(number: i64, width: i64) -> Option<i64> {
    i64::try_from(nearest(i128::from(number), i128::from(width))?).ok()
}

fn nearest(number: i128, width: i128) -> Option<i128> {
    let multiples = number.unsigned_abs().checked_add(width.unsigned_abs() / 2)? / width.unsigned_abs();
    let size = i128::try_from(multiples.checked_mul(width.unsigned_abs())?).ok()?;
    // An odd width has no halfway between whole numbers; for an even one, half of it was added.
    Some(if number < 0 { -size } else { size })
}

/// The same for a real number, which is taken for the decimal number that it is written as: 0.15 lies halfway between
/// 0.1 and 0.2, although the float for it lies below.
fn rounded_real(number: f64, width: Decimal) -> Option<f64> {
    let text = number.to_string();
    Some(quickly_rounded(&text, width).or_else(|| exactly_rounded(&text, width))? + 0.0)
}

/// With 128 bits, if they are enough.
fn quickly_rounded(text: &str, width: Decimal) -> Option<f64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits: i128 = format!("{whole}{decimals}").parse().ok()?;
    let scale = (decimals.len() as u32).max(width.decimals());
    let number = digits.checked_mul(10i128.checked_pow(scale - decimals.len() as u32)?)?;
    let width = i128::from(width.mantissa()).checked_mul(10i128.checked_pow(scale - width.decimals())?)?;
    // Twice both, so that half a width is a whole number.
    let twice = nearest(number.checked_mul(2)?, width.checked_mul(2)?)?;
    format!("{}e-{scale}", twice / 2).parse().ok()
}

/// With as many bits as it takes.
fn exactly_rounded(text: &str, width: Decimal) -> Option<f64> {
    let fraction = |text: &str| -> Option<BigRational> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        format!("{whole}{decimals}/1{}", "0".repeat(decimals.len())).parse().ok()
    };
    let width = fraction(&width.to_string())?;
    Some(exact::to_float(&((fraction(text)? / &width).round() * width)))
}

/// Moves dates: every row by the days of its person. `person` has one code per row, `days` one number per code.
pub(super) fn shifted(
    column: &Column,
    step: Preparation,
    person: &Column,
    days: &[i32],
) -> Result<(Column, u64), Error> {
    let domain = column.domain();
    let missing = Code::from(domain.has_missing());
    let dates: Vec<i32> =
        domain.values().iter().map(|value| if let Value::Date(date) = value { date.0 } else { 0 }).collect();
    let Some((first, last)) = dates.first().zip(dates.last()) else { return Ok((column.clone(), 0)) };
    // Days that cannot be written would need slots for millions of years.
    if Date(*first).parts().is_none() || Date(*last).parts().is_none() {
        return Err(beyond(column.name(), step));
    }
    let (least, most) = (days.iter().min().copied().unwrap_or(0), days.iter().max().copied().unwrap_or(0));
    let (from, to) = (first + least.min(0), last + most.max(0));
    // A slot for every day that can come out, and one for missing values.
    let mut slots: Vec<Code> = vec![0; (to - from) as usize + 2];
    let slot = |row: usize, code: Code| match code.checked_sub(missing) {
        None => 0,
        Some(at) => (dates[at as usize] + days[person.code(row) as usize] - from) as usize + 1,
    };
    let mut changed = 0;
    for (row, code) in column.codes().iter().enumerate() {
        slots[slot(row, code)] = 1;
        changed += u64::from(code >= missing && days[person.code(row) as usize] != 0);
    }
    let found = slots.iter().enumerate().skip(1).filter(|(_, found)| **found == 1);
    let values: Vec<Value> = found.map(|(at, _)| Value::Date(Date(from + at as i32 - 1))).collect();
    let is_written = |value: &Value| matches!(value, Value::Date(date) if date.parts().is_some());
    if !values.iter().all(is_written) {
        return Err(beyond(column.name(), step));
    }
    let dictionary =
        std::iter::repeat_n(None, missing as usize).chain(values.into_iter().map(Some)).collect::<Vec<_>>();
    for (code, slot) in (missing..).zip(slots.iter_mut().skip(1).filter(|found| **found == 1)) {
        *slot = code;
    }
    slots[0] = 0;
    let codes = column.codes().iter().enumerate().map(|(row, code)| slots[slot(row, code)]);
    let codes = Codes::collect(dictionary.len(), codes);
    Ok((Column::from_entries(column.name(), Kind::Date, dictionary, &[], vec![codes]), changed))
}

/// The same values as words, or as words in an order.
pub(super) fn as_words(column: &Column, kind: Kind, order: &[String]) -> Result<Column, TableError> {
    let domain = column.domain();
    let texts: Vec<String> = domain.values().iter().map(ToString::to_string).collect();
    let rank = |text: &String| {
        order.iter().position(|known| known == text).ok_or_else(|| TableError::NotInOrder {
            column: column.name().to_owned(),
            value: text.chars().take(40).collect(),
        })
    };
    let mut ranks = vec![0; usize::from(domain.has_missing())];
    if kind == Kind::Ordinal {
        ranks.extend(texts.iter().map(rank).collect::<Result<Vec<usize>, _>>()?);
    }
    let values = texts.into_iter().map(|text| Value::Text(text.into())).collect();
    Ok(replaced(column, kind, values, &ranks).0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn step(text: &str) -> Preparation {
        text.parse().unwrap()
    }

    /// The texts of all rows after a step, and how many rows it changed.
    #[track_caller]
    fn check(column: &Column, text: &str, expected: &[&str], changed: u64) {
        let (found, n) = mapped(column, step(text), None).unwrap();
        let texts: Vec<String> =
            (0..found.codes().len()).map(|row| found.domain().text(found.code(row)).into()).collect();
        assert_eq!((texts.iter().map(String::as_str).collect::<Vec<_>>(), n), (expected.to_vec(), changed), "{text}");
        assert!(found.domain().values().is_sorted_by(|a, b| a < b), "{text}: a domain is in order");
        assert_eq!(found.histogram().iter().filter(|n| **n == 0).count(), 0, "{text}: all values occur");
    }

    fn dates(texts: &[&str]) -> Column {
        let of = |text: &&str| {
            Some(*text).filter(|text| !text.is_empty()).map(|text| Value::parse(Kind::Date, text).unwrap())
        };
        let codes = Codes::collect(texts.len(), 0..texts.len() as Code);
        Column::from_entries("date", Kind::Date, texts.iter().map(of).collect(), &[], vec![codes])
    }

    #[test]
    fn integers_go_to_the_nearest_multiple_and_halfway_away_from_zero() {
        let column = Column::integers("cost", &[149, 150, 151, -149, -150, -151, 0, 50, -50, 100, 49]);
        let expected = ["100", "200", "200", "-100", "-200", "-200", "0", "100", "-100", "100", "0"];
        check(&column, "round:100", &expected, 9);
        check(&column, "round:7", &["147", "147", "154", "-147", "-147", "-154", "0", "49", "-49", "98", "49"], 9);
        check(&column, "round:1", &["149", "150", "151", "-149", "-150", "-151", "0", "50", "-50", "100", "49"], 0);
        let error = mapped(&Column::integers("cost", &[i64::MAX]), step("round:10"), None).unwrap_err();
        assert_eq!(error.message, "`round:10` would make a number too large in column `cost`");
        assert_eq!(rounded(i64::MIN, 1), Some(i64::MIN));
        assert_eq!(rounded(i64::MAX, i64::MAX), Some(i64::MAX));
    }

    #[test]
    fn reals_are_rounded_as_they_are_written() {
        let column = Column::reals("x", &[0.15, 0.25, 0.149, -0.15, -0.04, 1e300, 5e-324]);
        let huge = 1e300.to_string();
        check(&column, "round:0.1", &["0.2", "0.3", "0.1", "-0.2", "0", &huge, "0"], 6);
        check(&Column::reals("x", &[2.5, 3.74, -1.25]), "round:0.5", &["2.5", "3.5", "-1.5"], 2);
        check(&Column::reals("x", &[2.5, 3.5, -2.5]), "round:1", &["3", "4", "-3"], 3);
        check(&Column::reals("x", &[1250.0, 1249.99]), "round:500", &["1500", "1000"], 2);
    }

    #[test]
    fn values_beyond_an_end_become_the_end() {
        let ages = Column::integers("age", &[17, 18, 90, 91, 104, -3]);
        check(&ages, "top:90", &["17", "18", "90", "90", "90", "-3"], 2);
        check(&ages, "bottom:18", &["18", "18", "90", "91", "104", "18"], 2);
        check(&ages, "top:200", &["17", "18", "90", "91", "104", "-3"], 0);
        check(&ages, "bottom:-3", &["17", "18", "90", "91", "104", "-3"], 0);
        check(&Column::reals("x", &[1.5, -0.5]), "top:0.75", &["0.75", "-0.5"], 1);
        check(&Column::reals("x", &[1.5, -0.5]), "bottom:0", &["1.5", "0"], 1);
        let days = dates(&["2019-05-01", "2021-03-04", "", "2020-12-31"]);
        check(&days, "top:2020-12-31", &["2019-05-01", "2020-12-31", "", "2020-12-31"], 1);
        check(&days, "bottom:2020-01-01", &["2020-01-01", "2021-03-04", "", "2020-12-31"], 1);
    }

    #[test]
    fn dates_become_the_first_day_of_their_period() {
        let days = dates(&["2024-02-29", "2021-01-03", "", "2024-01-01"]);
        check(&days, "date:year", &["2024-01-01", "2021-01-01", "", "2024-01-01"], 2);
        check(&days, "date:quarter", &["2024-01-01", "2021-01-01", "", "2024-01-01"], 2);
        check(&days, "date:month", &["2024-02-01", "2021-01-01", "", "2024-01-01"], 2);
        check(&days, "date:week", &["2024-02-26", "2020-12-28", "", "2024-01-01"], 2);
        assert_eq!(mapped(&days, step("date:year"), None).unwrap().0.domain().kind(), Kind::Date);
        let error = mapped(&dates(&["0000-01-01"]), step("date:week"), None).unwrap_err();
        assert_eq!(error.message, "`date:week` would move a date out of the years 0 to 9999 in column `date`");
    }

    #[test]
    fn a_prefix_counts_characters() {
        let words = Column::texts("code", ["E11.9", "E1", "", "Öl", "ÖlÖl", "日本語"].into_iter());
        check(&words, "prefix:2", &["E1", "E1", "", "Öl", "Öl", "日本"], 3);
        check(&words, "prefix:1", &["E", "E", "", "Ö", "Ö", "日"], 5);
        check(&words, "prefix:9", &["E11.9", "E1", "", "Öl", "ÖlÖl", "日本語"], 0);
    }

    #[test]
    fn missing_values_stay_missing() {
        let key = Key::parse(&"07".repeat(32)).unwrap();
        let words = Column::texts("mrn", ["a", "", "b", "a"].into_iter());
        let (found, changed) = mapped(&words, Preparation::Pseudonym, Some(&key)).unwrap();
        assert_eq!((found.domain().len(), changed, found.code(1)), (3, 3, 0));
        assert_eq!(found.code(0), found.code(3));
        assert!(found.domain().values().iter().all(|value| value.to_string().len() == 26));
    }

    #[test]
    fn every_row_moves_with_its_person() {
        let days = dates(&["2024-02-28", "2024-03-01", "", "2023-12-31", "2024-02-28"]);
        let person = Column::texts("person", ["ann", "ann", "bob", "bob", "bob"].into_iter());
        let (found, changed) = shifted(&days, Preparation::Shift(1), &person, &[1, -30]).unwrap();
        let texts: Vec<String> = (0..5).map(|row| found.domain().text(found.code(row)).into()).collect();
        assert_eq!(texts, ["2024-02-29", "2024-03-02", "", "2023-12-01", "2024-01-29"]);
        assert_eq!(changed, 4);
        let error = shifted(&dates(&["9999-12-31"; 1]), step("shift"), &Column::texts("p", ["a"].into_iter()), &[1]);
        let message = "`shift` would move a date out of the years 0 to 9999 in column `date`";
        assert_eq!(error.unwrap_err().message, message);
    }

    #[test]
    fn values_become_words_in_an_order() {
        let ages = Column::integers("age", &[30, 9, 100]);
        let words = as_words(&ages, Kind::Category, &[]).unwrap();
        let texts: Vec<String> = words.domain().values().iter().map(ToString::to_string).collect();
        assert_eq!((words.domain().kind(), texts), (Kind::Category, vec!["100".into(), "30".into(), "9".into()]));
        assert_eq!(words.domain().text(words.code(1)), "9");
        let order: Vec<String> = ["100", "9", "30"].map(str::to_owned).to_vec();
        let ordered = as_words(&ages, Kind::Ordinal, &order).unwrap();
        let texts: Vec<String> = ordered.domain().values().iter().map(ToString::to_string).collect();
        assert_eq!((ordered.domain().kind(), &texts), (Kind::Ordinal, &order));
        assert!(as_words(&ages, Kind::Ordinal, &order[1..]).is_err());
    }

    proptest! {
        /// Twice the same rounding, by different means.
        #[test]
        fn few_bits_round_as_many_do(number in -1e12f64..1e12, width in 1i64..1_000_000, decimals in 1usize..6) {
            let text = number.to_string();
            let digits = format!("{width:07}");
            let (whole, part) = digits.split_at(7 - decimals);
            let width: Decimal = format!("{whole}.{part}").parse().unwrap();
            let exact = exactly_rounded(&text, width);
            prop_assert!(exact.is_some());
            if let Some(quick) = quickly_rounded(&text, width) {
                prop_assert_eq!(Some(quick), exact);
            }
            // Never farther than half a width, but for the last bits.
            prop_assert!((exact.unwrap() - number).abs() <= width.float() / 2.0 * 1.000_001 + number.abs() * 1e-15);
        }

        /// A shift changes no interval between dates of one person.
        #[test]
        fn intervals_within_a_person_are_kept(
            rows in prop::collection::vec((-700_000i32..2_000_000, 0u32..6), 1..40),
            days in prop::collection::vec(-183i32..=183, 6),
        ) {
            let texts: Vec<String> = rows.iter().map(|(day, _)| Date(*day).to_string()).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let column = dates(&texts);
            let names: Vec<String> = rows.iter().map(|(_, person)| person.to_string()).collect();
            let person = Column::texts("person", names.iter().map(String::as_str));
            let of = |code: usize| days[person.domain().text(code as Code).parse::<usize>().unwrap()];
            let by_code: Vec<i32> = (0..person.domain().len()).map(of).collect();
            let (found, _) = shifted(&column, Preparation::Shift(1), &person, &by_code).unwrap();
            let day = |row: usize| found.domain().value(found.code(row)).and_then(Value::number).unwrap() as i32;
            for (a, (before_a, of_a)) in rows.iter().enumerate() {
                prop_assert_eq!(day(a), before_a + days[*of_a as usize]);
                for (b, (before_b, of_b)) in rows.iter().enumerate() {
                    prop_assert!(of_a != of_b || day(a) - day(b) == before_a - before_b);
                }
            }
        }
    }
}

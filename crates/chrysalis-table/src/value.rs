use std::cmp::Ordering;
use std::fmt;

use chrono::{Datelike, NaiveDate};

use crate::{DateTime, Kind};

/// A calendar date, as days since 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(pub i32);

impl Date {
    pub(crate) const EPOCH_FROM_CE: i32 = 719_163;

    /// Reads `YYYY-MM-DD`; nothing else, so that 03/04 is never guessed at.
    pub fn parse(text: &str) -> Option<Date> {
        let bytes = text.as_bytes();
        if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
            return None;
        }
        let number = |range: std::ops::Range<usize>| -> Option<u32> {
            bytes[range]
                .iter()
                .try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + u32::from(byte - b'0')))
        };
        Date::from_parts(i32::try_from(number(0..4)?).ok()?, number(5..7)?, number(8..10)?)
    }

    /// The date of a year, month and day; `None` if there is no such day, or if the year has more than four digits.
    pub fn from_parts(year: i32, month: u32, day: u32) -> Option<Date> {
        let date = NaiveDate::from_ymd_opt(year, month, day).filter(|_| (0..=9999).contains(&year))?;
        Some(Date(date.num_days_from_ce() - Self::EPOCH_FROM_CE))
    }

    /// Year, month and day; `None` for a day outside the years of four digits, which cannot be written.
    pub fn parts(self) -> Option<(i32, u32, u32)> {
        let date = self.0.checked_add(Self::EPOCH_FROM_CE).and_then(NaiveDate::from_num_days_from_ce_opt)?;
        (0..=9999).contains(&date.year()).then(|| (date.year(), date.month(), date.day()))
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.checked_add(Self::EPOCH_FROM_CE).and_then(NaiveDate::from_num_days_from_ce_opt) {
            Some(date) => write!(f, "{}", date.format("%Y-%m-%d")),
            None => write!(f, "day {}", self.0),
        }
    }
}

/// One value of a domain. Values of one domain are all of the same variant.
#[derive(Clone, Debug)]
pub enum Value {
    /// A whole number.
    Integer(i64),
    /// A finite number, never negative zero.
    Real(f64),
    /// A date.
    Date(Date),
    /// A date with a time of day.
    DateTime(DateTime),
    /// A word, for ordinals and categories.
    Text(Box<str>),
}

impl Value {
    /// Reads a value of the given kind from its text; `None` if the text is not of that kind.
    pub fn parse(kind: Kind, text: &str) -> Option<Value> {
        match kind {
            Kind::Integer => text.parse().ok().map(Value::Integer),
            Kind::Real => parse_real(text).map(Value::Real),
            Kind::Date => Date::parse(text).map(Value::Date),
            Kind::DateTime => DateTime::parse(text).map(Value::DateTime),
            Kind::Ordinal | Kind::Category => Some(Value::Text(text.into())),
        }
    }

    /// The number behind an integer, a real, a date (in days) or a datetime (in seconds).
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Integer(number) => Some(*number as f64),
            Value::Real(number) => Some(*number),
            Value::Date(date) => Some(f64::from(date.0)),
            Value::DateTime(moment) => Some(moment.seconds()),
            Value::Text(_) => None,
        }
    }

    /// The whole number behind an integer, a date (in days) or a datetime (in microseconds): between two such values
    /// there are only finitely many others.
    pub fn whole(&self) -> Option<i64> {
        match self {
            Value::Integer(number) => Some(*number),
            Value::Date(date) => Some(i64::from(date.0)),
            Value::DateTime(moment) => Some(moment.0),
            Value::Real(_) | Value::Text(_) => None,
        }
    }

    /// The value of a kind behind a whole number; `None` for kinds that have none, and for days that no date has.
    pub fn from_whole(kind: Kind, number: i64) -> Option<Value> {
        match kind {
            Kind::Integer => Some(Value::Integer(number)),
            Kind::Date => i32::try_from(number).ok().map(|days| Value::Date(Date(days))),
            Kind::DateTime => Some(Value::DateTime(DateTime(number))),
            Kind::Real | Kind::Ordinal | Kind::Category => None,
        }
    }

    /// The narrowest kind that fits all these texts, for columns whose kind is not given.
    ///
    /// A leading zero or plus sign makes a code, not a number: `01234` and `1234` are different zip codes.
    pub(crate) fn infer<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Kind {
        let mut texts = texts.peekable();
        if texts.peek().is_none() {
            return Kind::Category;
        }
        let all = |test: fn(&str) -> bool| texts.clone().all(test);
        if all(|text| looks_numeric(text) && text.parse::<i64>().is_ok()) {
            Kind::Integer
        } else if all(|text| looks_numeric(text) && !is_long_integer(text) && parse_real(text).is_some()) {
            Kind::Real
        } else if all(|text| Date::parse(text).is_some()) {
            Kind::Date
        } else if all(|text| DateTime::parse(text).is_some()) {
            Kind::DateTime
        } else {
            Kind::Category
        }
    }
}

/// Digits, point, sign and exponent only (no `inf`, no `nan`), and no leading zero before another digit.
fn looks_numeric(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let plain = digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'-' | b'+'));
    let leading_zero = digits.len() > 1 && digits[0] == b'0' && digits[1].is_ascii_digit();
    plain && !leading_zero && digits.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.')
}

/// A whole number that does not fit 64 bits would lose digits as a real: it stays a word.
fn is_long_integer(text: &str) -> bool {
    text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<i64>().is_err()
}

fn parse_real(text: &str) -> Option<f64> {
    let number: f64 = text.parse().ok()?;
    number.is_finite().then_some(number + 0.0)
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(number) => write!(f, "{number}"),
            Value::Real(number) => write!(f, "{number}"),
            Value::Date(date) => write!(f, "{date}"),
            Value::DateTime(moment) => write!(f, "{moment}"),
            Value::Text(text) => f.write_str(text),
        }
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Value::Integer(a), Value::Integer(b)) => a.cmp(b),
            (Value::Real(a), Value::Real(b)) => a.total_cmp(b),
            (Value::Date(a), Value::Date(b)) => a.cmp(b),
            (Value::DateTime(a), Value::DateTime(b)) => a.cmp(b),
            (Value::Text(a), Value::Text(b)) => a.cmp(b),
            // Values of one domain share a variant; the rest only makes the order total.
            _ => self.variant().cmp(&other.variant()),
        }
    }
}

impl Value {
    fn variant(&self) -> u8 {
        match self {
            Value::Integer(_) => 0,
            Value::Real(_) => 1,
            Value::Date(_) => 2,
            Value::DateTime(_) => 3,
            Value::Text(_) => 4,
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Value {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_read_back_as_they_were_written() {
        for text in ["1970-01-01", "2024-02-29", "0001-01-01", "9999-12-31", "1899-03-04"] {
            assert_eq!(Date::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Date::parse("1970-01-02"), Some(Date(1)));
        for text in ["2023-02-29", "2024-13-01", "24-01-01", "2024/01/01", "2024-1-01", "+024-01-01", ""] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_kind_is_inferred_from_all_values() {
        let check = |texts: &[&str], kind| assert_eq!(Value::infer(texts.iter().copied()), kind, "{texts:?}");
        check(&["1", "-20", "0"], Kind::Integer);
        check(&["1", "2.5", "1e3", "-.5"], Kind::Real);
        check(&["2024-01-01", "1999-12-31"], Kind::Date);
        check(&["2024-01-01T12:30:00", "1999-12-31 23:59"], Kind::DateTime);
        check(&["2024-01-01T12:30:00", "1999-12-31"], Kind::Category);
        check(&["2024-13-45T99:99"], Kind::Category);
        check(&["2024-01-01T12:30:00", "2024-01-01T12:30:00+02:00"], Kind::Category);
        check(&["01234", "1234"], Kind::Category);
        check(&["+5"], Kind::Category);
        check(&["inf", "1"], Kind::Category);
        check(&["NaN"], Kind::Category);
        check(&["12345678901234567890"], Kind::Category);
        check(&["1", "x"], Kind::Category);
        check(&["1-2"], Kind::Category);
        check(&[], Kind::Category);
    }
}

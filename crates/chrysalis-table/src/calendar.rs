//! Calendar units, which intervals of dates and moments may have instead of a width.

use std::fmt;
use std::str::FromStr;

use chrono::{Datelike, Days, Months, NaiveDate};

use crate::datetime::calendar_day;
use crate::{Date, DateTime, Kind, Value};

/// A unit of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CalendarUnit {
    /// From one full hour to the next.
    Hour,
    /// A calendar day.
    Day,
    /// From Monday to Sunday.
    Week,
    /// A calendar month.
    Month,
    /// January to March, April to June, and so on.
    Quarter,
    /// A calendar year.
    Year,
}

impl CalendarUnit {
    /// All of them.
    pub const ALL: [CalendarUnit; 6] = [
        CalendarUnit::Hour,
        CalendarUnit::Day,
        CalendarUnit::Week,
        CalendarUnit::Month,
        CalendarUnit::Quarter,
        CalendarUnit::Year,
    ];

    /// The word in specs and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            CalendarUnit::Hour => "hour",
            CalendarUnit::Day => "day",
            CalendarUnit::Week => "week",
            CalendarUnit::Month => "month",
            CalendarUnit::Quarter => "quarter",
            CalendarUnit::Year => "year",
        }
    }

    /// Whether every one of these lies in a single one of the other, longer unit. Weeks lie in no longer unit.
    pub(crate) fn nests_in(self, longer: CalendarUnit) -> bool {
        (self as u8) < (longer as u8) && self != CalendarUnit::Week
    }

    /// Whether a single value of a kind fills the unit.
    pub(crate) fn is_one_value(self, kind: Kind) -> bool {
        kind == Kind::Date && matches!(self, CalendarUnit::Hour | CalendarUnit::Day)
    }

    /// The unit that a date or a moment lies in: its label, and its first and last value.
    pub(crate) fn around(self, value: &Value) -> Option<(String, Value, Value)> {
        match value {
            Value::Date(date) => {
                let (label, first, last) = self.days(*date)?;
                Some((label, Value::Date(first), Value::Date(last)))
            }
            Value::DateTime(moment) if self == CalendarUnit::Hour => {
                let hour = 3_600 * DateTime::SECOND;
                let first = DateTime(moment.0.checked_sub(moment.0.rem_euclid(hour))?);
                let label = first.to_string().get(..13)?.to_owned();
                Some((label, Value::DateTime(first), Value::DateTime(first.after(hour - 1)?)))
            }
            Value::DateTime(moment) => {
                let (label, first, last) = self.days(moment.date())?;
                let last = DateTime::midnight(last).after(DateTime::DAY - 1)?;
                Some((label, Value::DateTime(DateTime::midnight(first)), Value::DateTime(last)))
            }
            Value::Integer(_) | Value::Real(_) | Value::Text(_) => None,
        }
    }

    /// The days of the unit around a day. Those before the year 0000 and after 9999, which have no text, are left out.
    fn days(self, date: Date) -> Option<(String, Date, Date)> {
        let day = calendar_day(date)?;
        let first_of = |month: u32| NaiveDate::from_ymd_opt(day.year(), month, 1);
        let (label, first, next) = match self {
            CalendarUnit::Hour | CalendarUnit::Day => (date.to_string(), day, day.succ_opt()?),
            CalendarUnit::Week => {
                let week = day.iso_week();
                let monday = day.checked_sub_days(Days::new(day.weekday().num_days_from_monday().into()))?;
                (format!("{:04}-W{:02}", week.year(), week.week()), monday, monday.checked_add_days(Days::new(7))?)
            }
            CalendarUnit::Month => {
                let first = first_of(day.month())?;
                (format!("{:04}-{:02}", day.year(), day.month()), first, first.checked_add_months(Months::new(1))?)
            }
            CalendarUnit::Quarter => {
                let first = first_of(day.month0() / 3 * 3 + 1)?;
                let label = format!("{:04}-Q{}", day.year(), day.month0() / 3 + 1);
                (label, first, first.checked_add_months(Months::new(3))?)
            }
            CalendarUnit::Year => {
                (format!("{:04}", day.year()), first_of(1)?, NaiveDate::from_ymd_opt(day.year() + 1, 1, 1)?)
            }
        };
        let days = |day: NaiveDate| day.num_days_from_ce() - Date::EPOCH_FROM_CE;
        let first = Date(days(first)).max(DateTime::FIRST.date());
        Some((label, first, Date(days(next) - 1).min(DateTime::LAST.date())))
    }
}

impl fmt::Display for CalendarUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for CalendarUnit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        CalendarUnit::ALL
            .into_iter()
            .find(|unit| unit.name() == text)
            .ok_or_else(|| format!("`{text}` is neither a number nor hour, day, week, month, quarter or year"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(kind: Kind, text: &str, unit: CalendarUnit, expected: &str) {
        let (label, first, last) = unit.around(&Value::parse(kind, text).unwrap()).unwrap();
        assert_eq!(format!("{label}: {first} to {last}"), expected);
    }

    #[test]
    fn units_around_a_day() {
        let check = |text: &str, unit, expected: &str| check(Kind::Date, text, unit, expected);
        check("2024-02-29", CalendarUnit::Month, "2024-02: 2024-02-01 to 2024-02-29");
        check("2023-02-01", CalendarUnit::Month, "2023-02: 2023-02-01 to 2023-02-28");
        check("2024-12-31", CalendarUnit::Month, "2024-12: 2024-12-01 to 2024-12-31");
        check("2024-05-01", CalendarUnit::Quarter, "2024-Q2: 2024-04-01 to 2024-06-30");
        check("2024-05-01", CalendarUnit::Year, "2024: 2024-01-01 to 2024-12-31");
        // The first of January 2021 was a Friday of the last week of 2020.
        check("2021-01-01", CalendarUnit::Week, "2020-W53: 2020-12-28 to 2021-01-03");
        check("1965-04-14", CalendarUnit::Week, "1965-W15: 1965-04-12 to 1965-04-18");
        check("9999-12-31", CalendarUnit::Year, "9999: 9999-01-01 to 9999-12-31");
        check("9999-12-31", CalendarUnit::Week, "9999-W52: 9999-12-27 to 9999-12-31");
        check("0001-01-01", CalendarUnit::Quarter, "0001-Q1: 0001-01-01 to 0001-03-31");
    }

    #[test]
    fn units_around_a_moment() {
        let check = |text: &str, unit, expected: &str| check(Kind::DateTime, text, unit, expected);
        check(
            "2024-03-01T14:05:00",
            CalendarUnit::Hour,
            "2024-03-01T14: 2024-03-01T14:00:00 to 2024-03-01T14:59:59.999999",
        );
        check(
            "1969-12-31T23:59:59.5",
            CalendarUnit::Day,
            "1969-12-31: 1969-12-31T00:00:00 to 1969-12-31T23:59:59.999999",
        );
        check("2024-03-01T14:05:00", CalendarUnit::Month, "2024-03: 2024-03-01T00:00:00 to 2024-03-31T23:59:59.999999");
        check(
            "9999-12-31T23:59:59.999999",
            CalendarUnit::Hour,
            "9999-12-31T23: 9999-12-31T23:00:00 to 9999-12-31T23:59:59.999999",
        );
        check("0000-01-01T00:00:00", CalendarUnit::Week, "-001-W52: 0000-01-01T00:00:00 to 0000-01-02T23:59:59.999999");
    }

    proptest! {
        #[test]
        fn units_hold_their_values_and_nest(micros in DateTime::FIRST.0..=DateTime::LAST.0) {
            let value = Value::DateTime(DateTime(micros));
            for unit in CalendarUnit::ALL {
                let (_, first, last) = unit.around(&value).unwrap();
                prop_assert!(first <= value && value <= last);
                for longer in CalendarUnit::ALL.into_iter().filter(|longer| unit.nests_in(*longer)) {
                    prop_assert_eq!(longer.around(&first).unwrap(), longer.around(&last).unwrap());
                }
                // Both ends lie in the same unit, and their neighbours do not.
                prop_assert_eq!(unit.around(&first).unwrap(), unit.around(&last).unwrap());
                if let Value::DateTime(last) = last && let Some(next) = last.after(1) {
                    prop_assert_ne!(unit.around(&Value::DateTime(next)).unwrap().0, unit.around(&value).unwrap().0);
                }
            }
        }
    }
}

//! A moment on somebody's clock, to the microsecond.

use std::fmt;

use chrono::{Datelike, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime};

use crate::Date;

/// A date with a time of day, as microseconds since 1970-01-01T00:00:00 on the same clock. It has no time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateTime(pub i64);

/// What a text says about its clock.
enum Zone {
    /// Nothing.
    Unwritten,
    /// `Z`: it shows UTC.
    Utc,
    /// It is this many minutes ahead of UTC.
    Offset(i64),
}

impl DateTime {
    /// The first moment that can be written and read again: the year 0000 begins.
    pub const FIRST: DateTime = DateTime(-62_167_219_200_000_000);
    /// The last one: the year 9999 ends.
    pub const LAST: DateTime = DateTime(253_402_300_799_999_999);
    /// Microseconds of a second.
    pub const SECOND: i64 = 1_000_000;
    /// Microseconds of a day.
    pub const DAY: i64 = 86_400 * Self::SECOND;

    /// Reads `2024-03-01T14:05:00`, with a blank instead of the `T`, without seconds, with up to six decimals of a
    /// second, and with a `Z` at its end. Nothing else: an offset from UTC would give two clocks in one column.
    pub fn parse(text: &str) -> Option<DateTime> {
        match DateTime::parse_zoned(text)? {
            (moment, Zone::Unwritten | Zone::Utc) => Some(moment),
            (_, Zone::Offset(_)) => None,
        }
    }

    /// Reads a moment, or a date, which stands for the moment at which it begins.
    pub fn parse_or_midnight(text: &str) -> Option<DateTime> {
        DateTime::parse(text).or_else(|| Date::parse(text).map(DateTime::midnight))
    }

    /// Like [`DateTime::parse`], and also with an offset from UTC, such as `+02:00`, `+0200` or `+02`. The moment is
    /// what is written, before the offset is taken off.
    fn parse_zoned(text: &str) -> Option<(DateTime, Zone)> {
        let date = Date::parse(text.get(..10)?)?;
        let time = text.get(10..)?.strip_prefix(['T', ' '])?;
        let (time, zone) = match time.find(['Z', '+', '-']) {
            None => (time, Zone::Unwritten),
            Some(at) if &time[at..] == "Z" => (&time[..at], Zone::Utc),
            Some(at) => (&time[..at], Zone::Offset(offset(&time[at..])?)),
        };
        Some((DateTime::midnight(date).after(time_of_day(time)?)?, zone))
    }

    /// Like [`DateTime::parse_zoned`], in UTC; `None` without a zone.
    pub(crate) fn parse_utc(text: &str) -> Option<DateTime> {
        match DateTime::parse_zoned(text)? {
            (moment, Zone::Utc) => Some(moment),
            (moment, Zone::Offset(minutes)) => moment.after(-minutes * 60 * Self::SECOND),
            (_, Zone::Unwritten) => None,
        }
    }

    /// The moment at which a day begins.
    pub fn midnight(date: Date) -> DateTime {
        // PROOF: 31 bits of days times 37 bits of microseconds would not fit, but days of four-digit years do; other
        // days have no text that can be read again, and come out as a moment that has none, either.
        DateTime(i64::from(date.0).saturating_mul(Self::DAY))
    }

    /// This moment and some microseconds, if it can be written.
    pub(crate) fn after(self, microseconds: i64) -> Option<DateTime> {
        self.0.checked_add(microseconds).map(DateTime).filter(|moment| moment.is_writable())
    }

    /// Whether its year has four digits, so that its text can be read again.
    pub fn is_writable(self) -> bool {
        (Self::FIRST..=Self::LAST).contains(&self)
    }

    /// The day it lies in.
    pub fn date(self) -> Date {
        // PROOF: 64 bits of microseconds are less than 31 bits of days.
        Date(self.0.div_euclid(Self::DAY) as i32)
    }

    /// Seconds since 1970-01-01T00:00:00.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / Self::SECOND as f64
    }

    pub(crate) fn from_naive(moment: NaiveDateTime) -> Option<DateTime> {
        // A clock that goes finer than microseconds would be cut off.
        let is_fine = !moment.and_utc().timestamp_subsec_nanos().is_multiple_of(1_000);
        (0..=9999)
            .contains(&moment.year())
            .then(|| DateTime(moment.and_utc().timestamp_micros()))
            .filter(|moment| !is_fine && moment.is_writable())
    }

    /// A moment in UTC.
    pub(crate) fn from_zoned(moment: chrono::DateTime<FixedOffset>) -> Option<DateTime> {
        DateTime::from_naive(moment.naive_utc())
    }
}

/// `HH:MM`, `HH:MM:SS` or `HH:MM:SS.ffffff`, as microseconds since midnight.
pub(crate) fn time_of_day(text: &str) -> Option<i64> {
    let (clock, decimals) = text.split_once('.').map_or((text, None), |(clock, rest)| (clock, Some(rest)));
    let parts: Vec<&str> = clock.split(':').collect();
    let (hour, minute, second) = match parts.as_slice() {
        [hour, minute] if decimals.is_none() => (hour, minute, &"00"),
        [hour, minute, second] => (hour, minute, second),
        _ => return None,
    };
    let time = NaiveTime::from_hms_opt(two_digits(hour)?, two_digits(minute)?, two_digits(second)?)?;
    let seconds = i64::from(chrono::Timelike::num_seconds_from_midnight(&time));
    Some(seconds * DateTime::SECOND + decimals.map_or(Some(0), microseconds)?)
}

/// The decimals of a second. More than six must be zeros: nothing is cut off.
fn microseconds(decimals: &str) -> Option<i64> {
    if decimals.is_empty() || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (kept, rest) = decimals.split_at(decimals.len().min(6));
    let number: i64 = kept.parse().ok()?;
    // PROOF: at most six digits are kept.
    rest.bytes().all(|byte| byte == b'0').then(|| number * 10_i64.pow(6 - kept.len() as u32))
}

fn two_digits(text: &str) -> Option<u32> {
    let is_plain = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_plain { text.parse().ok() } else { None }
}

/// `+02`, `+0200` or `+02:00`, in minutes.
fn offset(text: &str) -> Option<i64> {
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match digits.len() {
        2 => (digits, "00"),
        4 => digits.split_at_checked(2)?,
        _ => digits.split_once(':')?,
    };
    let (hours, minutes) = (two_digits(hours)?, two_digits(minutes)?);
    (hours <= 18 && minutes < 60).then(|| sign * i64::from(hours * 60 + minutes))
}

impl fmt::Display for DateTime {
    /// `2024-03-01T14:05:00`, with as many decimals of a second as it has.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_writable() {
            return write!(f, "microsecond {}", self.0);
        }
        let within = self.0.rem_euclid(Self::DAY);
        let (seconds, rest) = (within / Self::SECOND, within % Self::SECOND);
        let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        write!(f, "{}T{hour:02}:{minute:02}:{second:02}", self.date())?;
        if rest == 0 {
            return Ok(());
        }
        write!(f, ".{}", format!("{rest:06}").trim_end_matches('0'))
    }
}

/// The days of a calendar, for [`crate::CalendarUnit`].
pub(crate) fn calendar_day(date: Date) -> Option<NaiveDate> {
    date.0.checked_add(Date::EPOCH_FROM_CE).and_then(NaiveDate::from_num_days_from_ce_opt)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn moments_read_back_as_they_were_written() {
        for text in [
            "1970-01-01T00:00:00",
            "2024-02-29T23:59:59.999999",
            "0000-01-01T00:00:00",
            "0001-01-01T00:00:00",
            "9999-12-31T23:59:59.999999",
            "1969-12-31T23:59:59.5",
            "1899-03-04T05:06:07.000001",
        ] {
            assert_eq!(DateTime::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(DateTime::parse("0000-01-01T00:00:00"), Some(DateTime::FIRST));
        assert_eq!(DateTime::parse("9999-12-31T23:59:59.999999"), Some(DateTime::LAST));
        assert_eq!(DateTime::parse("1970-01-02T00:00:01"), Some(DateTime(86_401_000_000)));
        assert_eq!(DateTime::parse("1969-12-31T23:59:59.999999"), Some(DateTime(-1)));
    }

    #[test]
    fn other_spellings_mean_the_same_moment() {
        let moment = DateTime::parse("2024-03-01T14:05:00").unwrap();
        for text in [
            "2024-03-01 14:05:00",
            "2024-03-01T14:05",
            "2024-03-01 14:05",
            "2024-03-01T14:05:00Z",
            "2024-03-01T14:05Z",
            "2024-03-01 14:05:00.000",
            "2024-03-01T14:05:00.000000000Z",
        ] {
            assert_eq!(DateTime::parse(text), Some(moment), "{text}");
        }
        assert_eq!(DateTime::parse_or_midnight("2024-03-01"), DateTime::parse("2024-03-01T00:00:00"));
        for text in ["2024-03-01T16:05:00+02:00", "2024-03-01 14:05:00+00", "2024-03-01T09:35:00-0430"] {
            assert_eq!((DateTime::parse(text), DateTime::parse_utc(text)), (None, Some(moment)), "{text}");
        }
        assert_eq!(DateTime::parse_utc("2024-03-01T14:05:00Z"), Some(moment));
        assert_eq!(DateTime::parse_utc("2024-03-01T14:05:00"), None, "on which clock?");
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for text in [
            "2024-13-45T99:99",
            "2024-02-30T10:00",
            "2024-03-01",
            "2024-03-01T",
            "2024-03-01T14",
            "2024-03-01T24:00:00",
            "2024-03-01T14:60",
            "2024-03-01T14:05:60",
            "2024-03-01T14:05.5",
            "2024-03-01T14:05:00.",
            "2024-03-01T14:05:00.1234567",
            "2024-03-01T14:05:00.-1",
            "2024-03-01t14:05:00",
            "2024-03-01  14:05:00",
            "2024-03-01T14:05:00 Z",
            "2024-03-01T14:05:00ZZ",
            "2024-03-01T1:05:00",
            "2024-03-01T+1:05:00",
            "10000-01-01T00:00:00",
            "-001-01-01T00:00:00",
            "2024-03-0１T14:05",
            "",
        ] {
            assert_eq!(DateTime::parse(text), None, "{text}");
            assert_eq!(DateTime::parse_utc(text), None, "{text}");
        }
        for text in ["2024-03-01T14:05:00+19:00", "2024-03-01T14:05:00+2:00", "2024-03-01T14:05:00+02:60"] {
            assert_eq!(DateTime::parse_utc(text), None, "{text}");
        }
        // In UTC these would lie outside the years of four digits.
        assert_eq!(DateTime::parse_utc("9999-12-31T23:30:00-01:00"), None);
        assert_eq!(DateTime::parse_utc("0000-01-01T00:30:00+01:00"), None);
    }

    #[test]
    fn what_has_no_text_says_so() {
        assert_eq!(DateTime(i64::MAX).to_string(), "microsecond 9223372036854775807");
        assert_eq!(DateTime(DateTime::FIRST.0 - 1).to_string(), "microsecond -62167219200000001");
        assert_eq!(DateTime::midnight(Date(i32::MIN)).0, i64::from(i32::MIN).saturating_mul(DateTime::DAY));
    }

    proptest! {
        #[test]
        fn every_moment_has_one_text_that_means_it(micros in DateTime::FIRST.0..=DateTime::LAST.0) {
            let moment = DateTime(micros);
            let text = moment.to_string();
            prop_assert_eq!(DateTime::parse(&text), Some(moment));
            prop_assert_eq!(moment.date().to_string(), &text[..10]);
        }

        #[test]
        fn texts_are_in_the_order_of_moments(a in DateTime::FIRST.0..=DateTime::LAST.0, apart in 0..10_000_000_i64) {
            let b = a.saturating_add(apart).min(DateTime::LAST.0);
            prop_assert_eq!(DateTime(a).to_string().cmp(&DateTime(b).to_string()), a.cmp(&b));
        }

        #[test]
        fn no_text_makes_it_panic(text in "[0-9]{0,5}[-T :.Zz+é\u{0}]{0,3}[0-9TZ:.+-]{0,20}", any in any::<String>()) {
            for text in [text, any] {
                if let Some(moment) = DateTime::parse_or_midnight(&text).or(DateTime::parse_utc(&text)) {
                    prop_assert_eq!(DateTime::parse(&moment.to_string()), Some(moment));
                }
            }
        }
    }
}

//! What was done to a column before it was published, as owners and manifests write it: `top:90`, `date:year`.
//!
//! Here is only how preparations are written and which of them go together; the hall carries them out.

use std::fmt;
use std::str::FromStr;

use chrysalis_table::{Date, Kind};

/// One step in the preparation of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preparation {
    /// `round:100`: the nearest multiple; what lies halfway goes away from zero.
    Round(Decimal),
    /// `top:90`: greater values become this one.
    Top(Bound),
    /// `bottom:18`: smaller values become this one.
    Bottom(Bound),
    /// `date:year`: the first day of the period that a date is in.
    Date(Period),
    /// `prefix:3`: the first characters of a text.
    Prefix(u16),
    /// `pseudonym`: a text that only the owner of a key can connect with the value.
    Pseudonym,
    /// `shift`, `shift:7`: dates are moved by a secret number of days that a person's rows share, a multiple of this.
    Shift(u16),
}

/// What a preparation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreparedValues {
    /// Integers and reals.
    Numbers,
    /// Dates.
    Dates,
    /// Texts, whatever they mean.
    Words,
}

impl PreparedValues {
    /// Whether columns of this kind have such values.
    pub fn are(self, kind: Kind) -> bool {
        match self {
            PreparedValues::Numbers => kind.is_numeric(),
            PreparedValues::Dates => kind == Kind::Date,
            PreparedValues::Words => matches!(kind, Kind::Ordinal | Kind::Category),
        }
    }
}

impl fmt::Display for PreparedValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PreparedValues::Numbers => "numbers",
            PreparedValues::Dates => "dates",
            PreparedValues::Words => "words",
        })
    }
}

/// The end of a range: a number or a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// For columns of numbers.
    Number(Decimal),
    /// For columns of dates.
    Date(Date),
}

/// A period of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// From 1 January.
    Year,
    /// From 1 January, April, July or October.
    Quarter,
    /// From the first of a month.
    Month,
    /// From Monday, as in ISO 8601.
    Week,
}

impl Period {
    const ALL: [Period; 4] = [Period::Year, Period::Quarter, Period::Month, Period::Week];

    fn name(self) -> &'static str {
        match self {
            Period::Year => "year",
            Period::Quarter => "quarter",
            Period::Month => "month",
            Period::Week => "week",
        }
    }

    /// The first day of the period that a date is in; `None` if that day cannot be written, or the date itself.
    pub fn first_day(self, date: Date) -> Option<Date> {
        let (year, month, _) = date.parts()?;
        match self {
            Period::Year => Date::from_parts(year, 1, 1),
            Period::Quarter => Date::from_parts(year, month - (month - 1) % 3, 1),
            Period::Month => Date::from_parts(year, month, 1),
            // 1970-01-01, day 0, was a Thursday.
            Period::Week => Some(Date(date.0 - (date.0 + 3).rem_euclid(7))).filter(|first| first.parts().is_some()),
        }
    }
}

/// A number as people write it, kept exactly: `mantissa / 10^decimals`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    mantissa: i64,
    decimals: u32,
}

/// The most digits of a [`Decimal`], so that it fits 64 bits.
const MOST_DIGITS: usize = 18;

impl Decimal {
    /// All its digits, as one whole number.
    pub fn mantissa(self) -> i64 {
        self.mantissa
    }

    /// How many of the digits stand behind the point.
    pub fn decimals(self) -> u32 {
        self.decimals
    }

    /// The whole number that it is, if it is one.
    pub fn whole(self) -> Option<i64> {
        (self.decimals == 0).then_some(self.mantissa)
    }

    /// The float next to it.
    pub fn float(self) -> f64 {
        // The text of a number can always be read, and reading rounds once.
        self.to_string().parse().unwrap_or(f64::NAN)
    }
}

impl FromStr for Decimal {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
        let (whole, decimals) = digits.split_once('.').unwrap_or((digits, "0"));
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let decimals = if is_digits(decimals) { decimals.trim_end_matches('0') } else { return Err(()) };
        if !is_digits(whole) || whole.len() + decimals.len() > MOST_DIGITS {
            return Err(());
        }
        let mantissa: i64 = format!("{whole}{decimals}").parse().map_err(drop)?;
        Ok(Decimal { mantissa: sign * mantissa, decimals: decimals.len() as u32 })
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.decimals == 0 {
            return write!(f, "{}", self.mantissa);
        }
        let power = 10u64.pow(self.decimals);
        let (size, sign) = (self.mantissa.unsigned_abs(), if self.mantissa < 0 { "-" } else { "" });
        write!(f, "{sign}{}.{:0width$}", size / power, size % power, width = self.decimals as usize)
    }
}

/// The longest prefix that is worth asking for.
const MOST_PREFIX: u16 = 1_000;
/// The longest step by which dates are moved: with longer ones too few shifts are possible.
const MOST_STEP: u16 = 30;

impl Preparation {
    /// How preparations are written.
    pub const SPELLINGS: &'static str = "round:N, top:N, bottom:N, date:year, date:quarter, date:month, date:week, prefix:N, pseudonym, shift or shift:7";

    /// What it is for.
    pub fn is_for(self) -> PreparedValues {
        match self {
            Preparation::Round(_) | Preparation::Top(Bound::Number(_)) | Preparation::Bottom(Bound::Number(_)) => {
                PreparedValues::Numbers
            }
            Preparation::Top(Bound::Date(_))
            | Preparation::Bottom(Bound::Date(_))
            | Preparation::Date(_)
            | Preparation::Shift(_) => PreparedValues::Dates,
            Preparation::Prefix(_) | Preparation::Pseudonym => PreparedValues::Words,
        }
    }

    /// Whether its result depends on a key.
    pub fn is_keyed(self) -> bool {
        matches!(self, Preparation::Pseudonym | Preparation::Shift(_))
    }

    /// The word before the colon.
    pub fn name(self) -> &'static str {
        match self {
            Preparation::Round(_) => "round",
            Preparation::Top(_) => "top",
            Preparation::Bottom(_) => "bottom",
            Preparation::Date(_) => "date",
            Preparation::Prefix(_) => "prefix",
            Preparation::Pseudonym => "pseudonym",
            Preparation::Shift(_) => "shift",
        }
    }

    /// Reads the steps of one column, which are carried out in this order.
    pub fn parse_all<'a>(texts: impl Iterator<Item = &'a String>) -> Result<Vec<Preparation>, String> {
        let steps = texts.map(|text| text.parse()).collect::<Result<Vec<Preparation>, String>>()?;
        let Some((first, rest)) = steps.split_first() else { return Err("no preparation is listed".to_owned()) };
        for (at, step) in rest.iter().enumerate() {
            if let Some(before) = steps[..=at].iter().find(|before| before.name() == step.name()) {
                return Err(format!("`{before}` and `{step}` are both listed, but one of them is enough"));
            }
            if step.is_for() != first.is_for() {
                let (a, b) = (first.is_for(), step.is_for());
                return Err(format!("`{first}` is for {a} and `{step}` for {b}: they do not go together"));
            }
            // LEAK: dates that are known to be the first of a month, or to be one date for many people, would tell by
            // how much they were moved.
            if matches!(step, Preparation::Shift(_)) {
                return Err(format!(
                    "`{step}` comes after `{first}`, and dates that are alike tell how they were moved"
                ));
            }
        }
        Ok(steps)
    }
}

impl fmt::Display for Preparation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        match self {
            Preparation::Round(number)
            | Preparation::Top(Bound::Number(number))
            | Preparation::Bottom(Bound::Number(number)) => write!(f, "{name}:{number}"),
            Preparation::Top(Bound::Date(date)) | Preparation::Bottom(Bound::Date(date)) => write!(f, "{name}:{date}"),
            Preparation::Date(period) => write!(f, "{name}:{}", period.name()),
            Preparation::Prefix(length) => write!(f, "{name}:{length}"),
            Preparation::Pseudonym | Preparation::Shift(1) => f.write_str(name),
            Preparation::Shift(step) => write!(f, "{name}:{step}"),
        }
    }
}

impl FromStr for Preparation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once(':').map_or((text, None), |(name, value)| (name, Some(value)));
        let shown: String = text.chars().take(40).collect();
        let wrong = |expected: &str| Err(format!("`{shown}` is not a preparation: expected {expected}"));
        let whole = |most: u16| {
            let number = value.filter(|value| value.bytes().all(|byte| byte.is_ascii_digit()));
            number.and_then(|number| number.parse().ok()).filter(|number| (1..=most).contains(number))
        };
        let bound = || match value.map(|value| (Date::parse(value), value.parse())) {
            Some((Some(date), _)) => Some(Bound::Date(date)),
            Some((None, Ok(number))) => Some(Bound::Number(number)),
            _ => None,
        };
        Ok(match name {
            "round" => match value.map(str::parse) {
                Some(Ok(number)) if Decimal::mantissa(number) > 0 => Preparation::Round(number),
                _ => return wrong("a number above 0, such as `round:100` or `round:0.5`"),
            },
            "top" | "bottom" => match bound() {
                Some(bound) if name == "top" => Preparation::Top(bound),
                Some(bound) => Preparation::Bottom(bound),
                None => return wrong(&format!("a number or a date, such as `{name}:90` or `{name}:2020-12-31`")),
            },
            "date" => match Period::ALL.into_iter().find(|period| Some(period.name()) == value) {
                Some(period) => Preparation::Date(period),
                None => return wrong("`date:year`, `date:quarter`, `date:month` or `date:week`"),
            },
            "prefix" => match whole(MOST_PREFIX) {
                Some(length) => Preparation::Prefix(length),
                None => return wrong("a number of characters, such as `prefix:3`"),
            },
            "pseudonym" if value.is_none() => Preparation::Pseudonym,
            "shift" => match (value, whole(MOST_STEP)) {
                (None, _) => Preparation::Shift(1),
                (Some(_), Some(step)) => Preparation::Shift(step),
                _ => return wrong("`shift`, or a number of days up to 30, such as `shift:7`, which keeps weekdays"),
            },
            _ => return wrong(Preparation::SPELLINGS),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn every_preparation_is_written_in_one_way() {
        let all = [
            "round:100",
            "round:0.5",
            "top:90",
            "top:-3.25",
            "top:2020-12-31",
            "bottom:18",
            "bottom:1900-01-01",
            "date:year",
            "date:quarter",
            "date:month",
            "date:week",
            "prefix:3",
            "pseudonym",
            "shift",
            "shift:7",
        ];
        for text in all {
            assert_eq!(text.parse::<Preparation>().unwrap().to_string(), text);
        }
        for (text, canonical) in
            [("shift:1", "shift"), ("top:090.50", "top:90.5"), ("round:5.0", "round:5"), ("top:-0", "top:0")]
        {
            assert_eq!(text.parse::<Preparation>().unwrap().to_string(), canonical);
        }
    }

    #[test]
    fn what_cannot_be_read_says_what_is_expected() {
        let wrong = |text: &str| text.parse::<Preparation>().unwrap_err();
        assert!(wrong("median").ends_with(
            "expected round:N, top:N, bottom:N, date:year, date:quarter, date:month, \
                                           date:week, prefix:N, pseudonym, shift or shift:7"
        ));
        for text in [
            "",
            "round",
            "round:",
            "round:0",
            "round:-5",
            "round:1e3",
            "round:1_0",
            "round:1234567890123456789",
            "top:x",
            "top:2020-13-01",
            "top:.5",
            "top:5.",
            "date",
            "date:day",
            "prefix",
            "prefix:0",
            "prefix:+3",
            "prefix:1001",
            "pseudonym:3",
            "shift:0",
            "shift:31",
            "shift:-7",
            "Top:90",
            " top:90",
        ] {
            assert!(wrong(text).contains("is not a preparation: expected "), "{text}");
        }
    }

    #[test]
    fn steps_that_do_not_go_together_are_refused() {
        let all = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            Preparation::parse_all(texts.iter())
        };
        assert_eq!(all(&["bottom:18", "top:90", "round:5"]).unwrap().len(), 3);
        assert_eq!(all(&["shift:7", "date:month"]).unwrap().len(), 2);
        assert_eq!(all(&["prefix:6", "pseudonym"]).unwrap().len(), 2);
        assert_eq!(all(&[]).unwrap_err(), "no preparation is listed");
        assert_eq!(
            all(&["top:90", "top:80"]).unwrap_err(),
            "`top:90` and `top:80` are both listed, but one of them is enough"
        );
        assert_eq!(
            all(&["round:5", "pseudonym"]).unwrap_err(),
            "`round:5` is for numbers and `pseudonym` for words: they do not go together"
        );
        assert_eq!(
            all(&["top:90", "bottom:1900-01-01"]).unwrap_err(),
            "`top:90` is for numbers and `bottom:1900-01-01` for dates: they do not go together"
        );
        assert_eq!(
            all(&["date:month", "shift"]).unwrap_err(),
            "`shift` comes after `date:month`, and dates that are alike tell how they were moved"
        );
    }

    /// Typed from a calendar.
    #[test]
    fn periods_begin_on_their_first_day() {
        let check = |period: Period, date: &str, first: &str| {
            let found = period.first_day(Date::parse(date).unwrap()).unwrap();
            assert_eq!(found.to_string(), first, "{date}");
        };
        check(Period::Year, "2024-02-29", "2024-01-01");
        check(Period::Quarter, "2024-02-29", "2024-01-01");
        check(Period::Quarter, "2024-03-31", "2024-01-01");
        check(Period::Quarter, "2024-04-01", "2024-04-01");
        check(Period::Quarter, "2023-12-31", "2023-10-01");
        check(Period::Month, "2024-02-29", "2024-02-01");
        // Week 53 of 2020 ends on 2021-01-03; week 1 of 2025 begins in 2024.
        check(Period::Week, "2021-01-03", "2020-12-28");
        check(Period::Week, "2021-01-04", "2021-01-04");
        check(Period::Week, "2025-01-01", "2024-12-30");
        check(Period::Week, "2024-02-29", "2024-02-26");
        check(Period::Week, "1969-12-31", "1969-12-29");
        check(Period::Week, "1900-01-01", "1900-01-01");
        // The Monday before it lies in the year before 0, which is not written.
        assert_eq!(Period::Week.first_day(Date::parse("0000-01-01").unwrap()), None);
    }

    #[test]
    fn decimals_are_kept_exactly() {
        let check = |text: &str, mantissa, decimals, float: f64| {
            let read: Decimal = text.parse().unwrap();
            assert_eq!((read.mantissa(), read.decimals(), read.float()), (mantissa, decimals, float), "{text}");
        };
        check("90", 90, 0, 90.0);
        check("-0.125", -125, 3, -0.125);
        check("0.1", 1, 1, 0.1);
        check("2.50", 25, 1, 2.5);
        assert_eq!(
            ("90".parse::<Decimal>().unwrap().whole(), "0.5".parse::<Decimal>().unwrap().whole()),
            (Some(90), None)
        );
    }
}

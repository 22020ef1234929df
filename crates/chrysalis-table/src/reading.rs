//! What texts mean beyond their plain reading: signs for a missing value, numbers with separators, dates as people write
//! them, and bands of numbers.
//!
//! A column is read in one way. Where several ways fit all of its texts, none is taken: the texts stay words.

use std::fmt;
use std::str::FromStr;

use chrono::format::{Fixed, Item, Numeric, StrftimeItems};
use chrono::{Datelike, NaiveDate, NaiveDateTime};

use crate::datetime::time_of_day;
use crate::{Date, DateTime, Kind, Value};

/// How texts are read. By default they are read plainly, as the tables of a release are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextReading {
    /// Whether separators in numbers, other dates than `YYYY-MM-DD`, times with a zone, and bands are recognized.
    pub recognizes: bool,
    /// Texts that stand for a missing value, beside the empty one.
    pub na: Vec<String>,
    /// How dates, or dates with times, are written, for columns in which all texts are such dates.
    pub date_format: Option<DateFormat>,
}

impl TextReading {
    /// Whether a text stands for a missing value.
    pub fn is_missing(&self, text: &str) -> bool {
        text.is_empty() || self.na.iter().any(|na| na == text)
    }
}

/// A date format in the words of `strftime`, such as `%d/%m/%Y`, or `%d/%m/%Y %H:%M` for dates with times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DateFormat {
    text: String,
    clock: Clock,
}

/// What a format says about the time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clock {
    None,
    Time,
    /// A time and its offset from UTC, which is taken off.
    Zoned,
}

impl FromStr for DateFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut clock = Clock::None;
        for item in StrftimeItems::new(text) {
            clock = match part(&item) {
                Part::Unknown => return Err(PARTS.into()),
                Part::ZoneName => return Err("names of time zones are not understood: use %z for +02:00".into()),
                Part::Zone => Clock::Zoned,
                Part::Time if clock == Clock::None => Clock::Time,
                Part::Time | Part::Other => clock,
            };
        }
        let format = DateFormat { text: text.to_owned(), clock };
        // A format that leaves out a part reads nothing. Seconds since 1970, `%s`, cannot be negative.
        let example = NaiveDate::from_ymd_opt(1985, 4, 14).and_then(|date| date.and_hms_opt(13, 30, 0));
        let example = example.map(|moment| match clock {
            Clock::None => moment.date().format(text).to_string(),
            Clock::Time | Clock::Zoned => moment.and_utc().format(text).to_string(),
        });
        let kind = if clock == Clock::None { Kind::Date } else { Kind::DateTime };
        match example.and_then(|written| format.read(kind, &written)) {
            Some(_) => Ok(format),
            None if clock == Clock::None => Err(PARTS.into()),
            None => Err("expected year, month, day, hour and minute, such as %d/%m/%Y %H:%M".into()),
        }
    }
}

const PARTS: &str = "expected year, month and day, such as %d/%m/%Y or %m/%d/%Y";

/// What an item of a format stands for.
enum Part {
    Time,
    Zone,
    ZoneName,
    Other,
    Unknown,
}

fn part(item: &Item<'_>) -> Part {
    match item {
        Item::Error => Part::Unknown,
        Item::Numeric(
            Numeric::Hour
            | Numeric::Hour12
            | Numeric::Minute
            | Numeric::Second
            | Numeric::Nanosecond
            | Numeric::Timestamp,
            _,
        ) => Part::Time,
        Item::Fixed(Fixed::TimezoneName) => Part::ZoneName,
        Item::Fixed(
            Fixed::TimezoneOffset
            | Fixed::TimezoneOffsetColon
            | Fixed::TimezoneOffsetDoubleColon
            | Fixed::TimezoneOffsetTripleColon
            | Fixed::TimezoneOffsetColonZ
            | Fixed::TimezoneOffsetZ
            | Fixed::RFC2822
            | Fixed::RFC3339,
        ) => Part::Zone,
        // Of these only the names of months and weekdays belong to a date. What is left are decimals of a second, noon
        // and a kind of offset that has no name in the library.
        Item::Fixed(
            Fixed::ShortMonthName | Fixed::LongMonthName | Fixed::ShortWeekdayName | Fixed::LongWeekdayName,
        ) => Part::Other,
        Item::Fixed(_) => Part::Time,
        _ => Part::Other,
    }
}

impl fmt::Display for DateFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl DateFormat {
    /// The kind of what it reads.
    fn kind(&self) -> Kind {
        if self.clock == Clock::None { Kind::Date } else { Kind::DateTime }
    }

    /// A date as a datetime is the moment at which it begins. A datetime is never cut down to a date.
    fn read(&self, kind: Kind, text: &str) -> Option<Value> {
        match (self.clock, kind) {
            (Clock::None, Kind::Date) => self.date(text).map(Value::Date),
            (Clock::None, Kind::DateTime) => self.date(text).map(DateTime::midnight).map(Value::DateTime),
            (Clock::Time, Kind::DateTime) => {
                let moment = NaiveDateTime::parse_from_str(text, &self.text).ok()?;
                DateTime::from_naive(moment).map(Value::DateTime)
            }
            (Clock::Zoned, Kind::DateTime) => {
                let moment = chrono::DateTime::parse_from_str(text, &self.text).ok()?;
                DateTime::from_zoned(moment).map(Value::DateTime)
            }
            _ => None,
        }
    }

    fn date(&self, text: &str) -> Option<Date> {
        date(NaiveDate::parse_from_str(text, &self.text).ok()?)
    }
}

/// Years of four digits, as far as dates can be written and read again.
fn date(found: NaiveDate) -> Option<Date> {
    (0..=9999).contains(&found.year()).then(|| Date(found.num_days_from_ce() - Date::EPOCH_FROM_CE))
}

/// How the texts of one column are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    /// Digits in groups of three with a separator, and a decimal point.
    Grouped(char),
    /// A decimal comma, and perhaps points between groups of three digits.
    Comma,
    /// Year, month and day at these places, with a separator; a time may follow after a blank.
    Written([usize; 3], char),
    Format(DateFormat),
    /// Every moment has an offset from UTC, which is taken off.
    Zoned,
    /// Moments beside dates, which stand for their midnight.
    Midnight,
}

/// Separators between groups of digits: comma, spaces (plain, fixed and narrow) and apostrophes.
const SEPARATORS: [char; 6] = [',', ' ', '\u{a0}', '\u{202f}', '\'', '’'];

/// Dates that people write: where year, month and day are, and what stands between. With points the day comes first.
const WRITTEN: [([usize; 3], char); 6] =
    [([2, 1, 0], '.'), ([2, 1, 0], '/'), ([2, 0, 1], '/'), ([0, 1, 2], '/'), ([2, 1, 0], '-'), ([2, 0, 1], '-')];

impl Style {
    /// The kind of a column and how its texts are read. `texts` has those that are not missing.
    pub(crate) fn infer(reading: &TextReading, texts: &[&str]) -> (Kind, Style) {
        let kind = Value::infer(texts.iter().copied());
        if kind != Kind::Category || texts.is_empty() {
            return (kind, Style::Plain);
        }
        let fits = |format: &&DateFormat| all(texts, |text| format.read(format.kind(), text));
        if let Some(format) = reading.date_format.as_ref().filter(fits) {
            return (format.kind(), Style::Format(format.clone()));
        }
        if !reading.recognizes {
            return (kind, Style::Plain);
        }
        let fitting = |kind: Kind| Style::of(reading, kind, texts).filter(|style| *style != Style::Plain);
        if let Some(style) = fitting(Kind::Real) {
            let is_whole = all(texts, |text| style.parse(Kind::Integer, text));
            return (if is_whole { Kind::Integer } else { Kind::Real }, style);
        }
        if let Some(style) = fitting(Kind::Date) {
            return (Kind::Date, style);
        }
        // A date beside moments may be a day whose time nobody knows: only the owner can say that midnight is meant.
        if let Some(style) = fitting(Kind::DateTime).filter(|style| *style != Style::Midnight) {
            return (Kind::DateTime, style);
        }
        match bands(texts) {
            Some(_) => (Kind::Ordinal, Style::Plain),
            None => (Kind::Category, Style::Plain),
        }
    }

    /// How texts of a known kind are read; `None` if in several ways, or in none.
    pub(crate) fn of(reading: &TextReading, kind: Kind, texts: &[&str]) -> Option<Style> {
        if all(texts, |text| Value::parse(kind, text)) {
            return Some(Style::Plain);
        }
        let styles: Vec<Style> = match kind {
            Kind::Date | Kind::DateTime if reading.date_format.is_some() => {
                reading.date_format.iter().cloned().map(Style::Format).collect()
            }
            Kind::Integer | Kind::Real if reading.recognizes => {
                SEPARATORS.into_iter().map(Style::Grouped).chain([Style::Comma]).collect()
            }
            Kind::Date if reading.recognizes => written_styles().collect(),
            Kind::DateTime if reading.recognizes => written_styles().chain([Style::Zoned, Style::Midnight]).collect(),
            _ => Vec::new(),
        };
        let mut fitting = styles.into_iter().filter(|style| all(texts, |text| style.parse(kind, text)));
        let style = fitting.next()?;
        // Two ways to read a column would give two different tables.
        let is_alone = fitting.all(|other| texts.iter().all(|text| other.parse(kind, text) == style.parse(kind, text)));
        is_alone.then_some(style)
    }

    /// Reads one text.
    pub(crate) fn parse(&self, kind: Kind, text: &str) -> Option<Value> {
        match self {
            Style::Plain => Value::parse(kind, text),
            Style::Grouped(separator) => number(kind, text, *separator, '.'),
            Style::Comma => number(kind, text, '.', ','),
            Style::Format(format) => format.read(kind, text),
            Style::Written(places, separator) if kind == Kind::DateTime => {
                let (date, time) = text.split_once(' ')?;
                let moment = DateTime::midnight(written(date, *places, *separator)?).after(time_of_day(time)?);
                moment.map(Value::DateTime)
            }
            Style::Written(places, separator) => written(text, *places, *separator).map(Value::Date),
            Style::Zoned => DateTime::parse_utc(text).map(Value::DateTime),
            Style::Midnight => DateTime::parse_or_midnight(text).map(Value::DateTime),
        }
    }
}

fn written_styles() -> impl Iterator<Item = Style> {
    WRITTEN.into_iter().map(|(places, separator)| Style::Written(places, separator))
}

fn all<T>(texts: &[&str], read: impl Fn(&str) -> Option<T>) -> bool {
    texts.iter().all(|text| read(text).is_some())
}

/// A number with a separator between groups of three digits, or without, and with this sign before its decimals.
fn number(kind: Kind, text: &str, separator: char, point: char) -> Option<Value> {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let (whole, decimals) = digits.split_once(point).map_or((digits, None), |(whole, rest)| (whole, Some(rest)));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut groups = whole.split(separator);
    let first = groups.next().filter(|first| is_digits(first))?;
    let mut plain = format!("{sign}{first}");
    for group in groups {
        if group.len() != 3 || first.len() > 3 || !is_digits(group) {
            return None;
        }
        plain.push_str(group);
    }
    // A leading zero makes a code, not a number.
    let is_code = whole.len() > 1 && first.starts_with('0');
    if is_code || decimals.is_some_and(|decimals| !is_digits(decimals)) {
        return None;
    }
    if let Some(decimals) = decimals {
        plain.push('.');
        plain.push_str(decimals);
    }
    Value::parse(kind, &plain)
}

/// A date of three numbers, with a year of four digits.
fn written(text: &str, [year, month, day]: [usize; 3], separator: char) -> Option<Date> {
    let parts: Vec<&str> = text.split(separator).collect();
    let part = |at: usize| parts.get(at).filter(|part| part.bytes().all(|byte| byte.is_ascii_digit())).copied();
    let (year, month, day) = (part(year)?, part(month)?, part(day)?);
    let is_short = |part: &str| (1..=2).contains(&part.len());
    if parts.len() != 3 || year.len() != 4 || !is_short(month) || !is_short(day) {
        return None;
    }
    date(NaiveDate::from_ymd_opt(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)?)
}

/// The order of different bands such as `[40-50)`, `40-49`, `<5` or `90+`, which tell it themselves: for each text its rank.
/// `None` if some text is no band, or if bands overlap.
pub fn order_of_bands(texts: &[&str]) -> Option<Vec<usize>> {
    bands_with(texts, 0)
}

/// The order of bands such as `[40-50)`, `40-49`, `<5` or `90+`: for each text its rank. `None` if some text is no band,
/// if there are fewer than two ranges, or if bands overlap.
pub(crate) fn bands(texts: &[&str]) -> Option<Vec<usize>> {
    bands_with(texts, 2)
}

fn bands_with(texts: &[&str], least: usize) -> Option<Vec<usize>> {
    let found: Vec<(f64, f64)> = texts.iter().map(|text| band(text)).collect::<Option<_>>()?;
    let n_ranges = found.iter().filter(|(low, high)| low.is_finite() && high.is_finite() && low < high).count();
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by(|&a, &b| found[a].partial_cmp(&found[b]).unwrap_or(std::cmp::Ordering::Equal));
    let is_apart = |pair: &[usize]| found[pair[0]].1 <= found[pair[1]].0 && found[pair[0]] != found[pair[1]];
    if n_ranges < least || !order.windows(2).all(is_apart) {
        return None;
    }
    let mut ranks = vec![0; found.len()];
    order.into_iter().enumerate().for_each(|(rank, at)| ranks[at] = rank);
    Some(ranks)
}

/// The ends of a band.
fn band(text: &str) -> Option<(f64, f64)> {
    let end = |text: &str| {
        let text = text.trim();
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let is_code = text.len() > 1 && text.starts_with('0') && !text.starts_with("0.");
        text.parse::<f64>().ok().filter(|_| is_plain && !is_code)
    };
    for sign in ["<=", "≤", "<"] {
        if let Some(rest) = text.strip_prefix(sign) {
            return Some((f64::NEG_INFINITY, end(rest)?));
        }
    }
    for sign in [">=", "≥", ">"] {
        if let Some(rest) = text.strip_prefix(sign) {
            return Some((end(rest)?, f64::INFINITY));
        }
    }
    if let Some(rest) = text.strip_suffix('+') {
        return Some((end(rest)?, f64::INFINITY));
    }
    let inner = text.strip_prefix(['[', '(']).unwrap_or(text);
    let inner = inner.strip_suffix([']', ')']).unwrap_or(inner);
    let (low, high) = inner.split_once(['-', '–'])?;
    let (low, high) = (end(low)?, end(high)?);
    (low <= high).then_some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recognizing() -> TextReading {
        TextReading { recognizes: true, ..TextReading::default() }
    }

    /// The kind that is inferred, and how the first text is read.
    #[track_caller]
    fn check(texts: &[&str], kind: Kind, first: &str) {
        let (found, style) = Style::infer(&recognizing(), texts);
        assert_eq!(found, kind, "{texts:?}");
        assert_eq!(style.parse(found, texts[0]).unwrap().to_string(), first, "{texts:?}");
    }

    #[test]
    fn numbers_with_separators_are_read_in_the_only_way_that_fits() {
        check(&["1,234,567", "12"], Kind::Integer, "1234567");
        check(&["1,234.5", "-12"], Kind::Real, "1234.5");
        check(&["3,5", "12", "-0,25"], Kind::Real, "3.5");
        check(&["1.234,50", "7"], Kind::Real, "1234.5");
        check(&["1.234.567", "7"], Kind::Integer, "1234567");
        check(&["12 345", "7"], Kind::Integer, "12345");
        check(&["12\u{202f}345", "7"], Kind::Integer, "12345");
        check(&["12'345.50", "7"], Kind::Real, "12345.5");
        // Plain numbers stay what they were.
        check(&["1.234", "2.5"], Kind::Real, "1.234");
        // A thousand, or one and a bit: nobody can tell.
        check(&["1,234", "2,500"], Kind::Category, "1,234");
        check(&["1,2,3", "4"], Kind::Category, "1,2,3");
        check(&["01,5", "2,5"], Kind::Category, "01,5");
        check(&["1,23", "x"], Kind::Category, "1,23");
    }

    #[test]
    fn dates_are_read_in_the_only_way_that_fits() {
        check(&["14.04.1965", "3.4.2001"], Kind::Date, "1965-04-14");
        check(&["4/14/1965", "3/4/2001"], Kind::Date, "1965-04-14");
        check(&["14/4/1965", "3/4/2001"], Kind::Date, "1965-04-14");
        check(&["1965/04/14"], Kind::Date, "1965-04-14");
        check(&["14-04-1965"], Kind::Date, "1965-04-14");
        // The third of April, or the fourth of March.
        check(&["3/4/2001", "5/6/2001"], Kind::Category, "3/4/2001");
        // Both ways give the same days.
        check(&["3/3/2001"], Kind::Date, "2001-03-03");
        check(&["14/4/65"], Kind::Category, "14/4/65");
        check(&["31/2/2001"], Kind::Category, "31/2/2001");
        let reading = TextReading { date_format: Some("%m/%d/%Y".parse().unwrap()), ..TextReading::default() };
        let (kind, style) = Style::infer(&reading, &["3/4/2001"]);
        assert_eq!((kind, style.parse(kind, "3/4/2001").unwrap().to_string().as_str()), (Kind::Date, "2001-03-04"));
    }

    #[test]
    fn moments_are_read_in_the_only_way_that_fits() {
        check(&["2024-03-01T14:05:00", "2024-03-01 14:05"], Kind::DateTime, "2024-03-01T14:05:00");
        check(&["14.04.1965 13:30", "3.4.2001 07:05:09.25"], Kind::DateTime, "1965-04-14T13:30:00");
        check(&["4/14/1965 13:30", "3/4/2001 07:05"], Kind::DateTime, "1965-04-14T13:30:00");
        check(&["3/4/2001 13:30", "5/6/2001 07:05"], Kind::Category, "3/4/2001 13:30");
        check(&["2024-03-01T14:05:00+02:00", "2024-03-01T14:05:00Z"], Kind::DateTime, "2024-03-01T12:05:00");
        check(&["2024-03-01 14:05:00+00", "2023-07-01 14:05:00-05"], Kind::DateTime, "2024-03-01T14:05:00");
        // One clock is known and the other is not.
        check(&["2024-03-01T14:05:00+02:00", "2024-03-01T14:05:00"], Kind::Category, "2024-03-01T14:05:00+02:00");
        // Nobody says that midnight is meant.
        check(&["2024-03-01T14:05:00", "2024-03-02"], Kind::Category, "2024-03-01T14:05:00");
        check(&["2024-13-45T99:99"], Kind::Category, "2024-13-45T99:99");
        check(&["14.04.1965 25:30"], Kind::Category, "14.04.1965 25:30");
        check(&["2024-03-01T14:05:00.123456789"], Kind::Category, "2024-03-01T14:05:00.123456789");
        let texts = ["2024-03-02", "2024-03-01T14:05:00"];
        let style = Style::of(&recognizing(), Kind::DateTime, &texts).unwrap();
        assert_eq!(style.parse(Kind::DateTime, texts[0]).unwrap().to_string(), "2024-03-02T00:00:00");
        assert_eq!(Style::of(&recognizing(), Kind::Date, &texts), None, "a time is never cut off");
    }

    #[test]
    fn formats_may_have_a_time_and_a_zone() {
        let check = |format: &str, text: &str, expected: Option<(Kind, &str)>| {
            let reading = TextReading { date_format: Some(format.parse().unwrap()), ..TextReading::default() };
            let (kind, style) = Style::infer(&reading, &[text]);
            let found = style.parse(kind, text).unwrap().to_string();
            assert_eq!((kind, found.as_str()), expected.unwrap_or((Kind::Category, text)), "{format}: {text}");
        };
        check("%d.%m.%Y %H:%M", "14.04.1965 13:30", Some((Kind::DateTime, "1965-04-14T13:30:00")));
        check("%d.%m.%Y %H:%M", "14.04.1965", None);
        check("%m/%d/%Y %I:%M %p", "4/3/2001 01:30 PM", Some((Kind::DateTime, "2001-04-03T13:30:00")));
        check("%Y-%m-%dT%H:%M:%S%.f%z", "2024-03-01T14:05:00.5+0200", Some((Kind::DateTime, "2024-03-01T12:05:00.5")));
        check("%Y-%m-%dT%H:%M:%S%.f", "2024-03-01T14:05:00.0000005", None);
        check("%d %B %Y", "14 April 1965", Some((Kind::Date, "1965-04-14")));
        let dates = TextReading { date_format: Some("%d/%m/%Y".parse().unwrap()), ..TextReading::default() };
        let style = Style::of(&dates, Kind::DateTime, &["3/4/2001"]).unwrap();
        assert_eq!(style.parse(Kind::DateTime, "3/4/2001").unwrap().to_string(), "2001-04-03T00:00:00");
        let times = TextReading { date_format: Some("%d/%m/%Y %H:%M".parse().unwrap()), ..TextReading::default() };
        assert_eq!(Style::of(&times, Kind::Date, &["3/4/2001 10:00"]), None, "a time is never cut off");
    }

    #[test]
    fn formats_have_every_part() {
        for text in ["%d/%m/%Y", "%Y%m%d", "%d %B %Y", "%d.%m.%Y %H:%M", "%FT%T%.f", "%FT%T%:z", "%s", "%c"] {
            let format = text.parse::<DateFormat>();
            assert_eq!(format.map(|format| format.to_string()), Ok(text.to_owned()), "{text}");
        }
        for text in ["%d/%m", "dd/mm/yyyy", "%q", "", "%d/%m/%Y %H", "%H:%M", "%d/%m/%Y %M", "%Y-%m-%d %z"] {
            assert!(text.parse::<DateFormat>().is_err(), "{text}");
        }
        let problem = "%d/%m/%Y %H:%M %Z".parse::<DateFormat>().unwrap_err();
        assert_eq!(problem, "names of time zones are not understood: use %z for +02:00");
    }

    #[test]
    fn nothing_is_recognized_unless_asked() {
        let check = |texts: &[&str]| {
            assert_eq!(Style::infer(&TextReading::default(), texts), (Kind::Category, Style::Plain), "{texts:?}");
        };
        check(&["3,5"]);
        check(&["14.04.1965"]);
        check(&["40-49", "50-59"]);
    }

    #[test]
    fn bands_are_ordered_by_their_ends() {
        assert_eq!(bands(&["[50-60)", "[0-10)", "[10-20)"]), Some(vec![2, 0, 1]));
        assert_eq!(bands(&["90+", "<5", "5-17", "18-89"]), Some(vec![3, 0, 1, 2]));
        assert_eq!(bands(&[">8", "7-8", "1–6"]), Some(vec![2, 1, 0]));
        // Ranges that overlap, codes, months and plain words.
        assert_eq!(bands(&["40-50", "45-55"]), None);
        assert_eq!(bands(&["001-139", "140-239"]), None);
        assert_eq!(bands(&["2020-01", "2020-02"]), None);
        assert_eq!(bands(&["40-49", "old"]), None);
        assert_eq!(bands(&["<5", ">5"]), None);
    }
}

//! The differences between databases, and nothing else.

use std::fmt;
use std::str::FromStr;

use chrysalis_table::DateTime;
use sqlparser::ast::{
    DataType, DateTimeField, ExactNumberInfo, Expr, ExtractSyntax, Ident, TimezoneInfo, TypedString, Value as Literal,
};

use crate::expr::{X, call, case, cast, int, number, word};

/// A database that statements can be written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// PostgreSQL.
    Postgres,
    /// DuckDB.
    DuckDb,
    /// SQLite, with its mathematical functions.
    Sqlite,
    /// Spark SQL.
    Spark,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Dialect; 4] = [Dialect::Postgres, Dialect::DuckDb, Dialect::Sqlite, Dialect::Spark];

    /// The word used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Postgres => "postgres",
            Dialect::DuckDb => "duckdb",
            Dialect::Sqlite => "sqlite",
            Dialect::Spark => "spark",
        }
    }

    /// A column of one of the release's tables, by the table's short name.
    pub fn column(self, table: &str, name: &str) -> X {
        let quoted = Ident::with_quote(self.name_quote(), self.escaped_name(name));
        X(Expr::CompoundIdentifier(vec![Ident::new(table), quoted]))
    }

    /// The quotation mark around names that must stay as they are.
    pub fn name_quote(self) -> char {
        if self == Dialect::Spark { '`' } else { '"' }
    }

    /// A name as it is written inside quotes. The printer does not escape doubled quotes again.
    pub fn escaped_name(self, name: &str) -> String {
        let quote = self.name_quote();
        name.replace(quote, &format!("{quote}{quote}"))
    }

    /// Text as it is written inside quotes.
    pub(crate) fn escaped_text(self, text: &str) -> String {
        match self {
            Dialect::Spark => text.replace('\\', "\\\\").replace('\'', "\\'"),
            _ => text.replace('\'', "''"),
        }
    }

    /// A text literal.
    pub fn text(self, text: &str) -> X {
        X(Expr::Value(Literal::SingleQuotedString(self.escaped_text(text)).into()))
    }

    /// A date. SQLite stores dates as text.
    pub fn date(self, date: &str) -> X {
        if self == Dialect::Sqlite {
            return self.text(date);
        }
        let value = Literal::SingleQuotedString(date.to_owned()).into();
        X(Expr::TypedString(TypedString { data_type: DataType::Date, value, uses_odbc_syntax: false }))
    }

    /// The days from 1970-01-01 to a date.
    pub fn days(self, date: X) -> X {
        match self {
            Dialect::Postgres | Dialect::DuckDb => self.double(date - self.date(EPOCH)),
            Dialect::Sqlite => call("julianday", vec![date]) - number(JULIAN_EPOCH),
            Dialect::Spark => self.double(call("DATEDIFF", vec![date, self.date(EPOCH)])),
        }
    }

    /// The date that many days after 1970-01-01.
    pub fn date_of(self, days: X) -> X {
        match self {
            Dialect::Postgres | Dialect::DuckDb => self.date(EPOCH) + cast(days, DataType::Integer(None)),
            Dialect::Sqlite => call("date", vec![days + number(JULIAN_EPOCH)]),
            Dialect::Spark => call("DATE_ADD", vec![self.date(EPOCH), cast(days, DataType::Int(None))]),
        }
    }

    /// A datetime. SQLite stores datetimes as text; Spark's other timestamps are moments of its own time zone.
    pub fn datetime(self, moment: DateTime) -> X {
        let data_type = match self {
            Dialect::Sqlite => return self.text(&moment.to_string()),
            Dialect::Postgres | Dialect::DuckDb => DataType::Timestamp(None, TimezoneInfo::None),
            Dialect::Spark => DataType::TimestampNtz(None),
        };
        let value = Literal::SingleQuotedString(moment.to_string()).into();
        X(Expr::TypedString(TypedString { data_type, value, uses_odbc_syntax: false }))
    }

    /// The microseconds from 1970-01-01T00:00:00 to a datetime.
    pub fn microseconds(self, moment: X) -> X {
        match self {
            Dialect::Postgres => {
                let seconds = X(Expr::Extract {
                    field: DateTimeField::Epoch,
                    syntax: ExtractSyntax::From,
                    expr: Box::new(moment.0),
                });
                // Before version 14 the seconds are a float.
                self.double(call("ROUND", vec![seconds * int(DateTime::SECOND)]))
            }
            Dialect::DuckDb => self.double(call("EPOCH_US", vec![moment])),
            Dialect::Sqlite => {
                let seconds = call("strftime", vec![self.text("%s"), part(&moment, 1, Some(19))]);
                let decimals = part(&moment, 21, None).followed_by(self.text("000000"));
                let decimals = self.integer(part(&decimals, 1, Some(6)));
                self.double(self.integer(seconds) * int(DateTime::SECOND) + decimals)
            }
            Dialect::Spark => {
                let days = call("DATEDIFF", vec![cast(moment.clone(), DataType::Date), self.date(EPOCH)]);
                let seconds = call("DATE_PART", vec![self.text("SECOND"), moment.clone()]);
                let parts = days * int(DateTime::DAY)
                    + call("HOUR", vec![moment.clone()]) * int(3_600 * DateTime::SECOND)
                    + call("MINUTE", vec![moment]) * int(60 * DateTime::SECOND)
                    + self.integer(seconds * int(DateTime::SECOND));
                self.double(parts)
            }
        }
    }

    /// The datetime that many microseconds after 1970-01-01T00:00:00.
    pub fn datetime_of(self, microseconds: X) -> X {
        let whole = self.integer(microseconds);
        match self {
            Dialect::Postgres => {
                let unit = cast(self.text("1 microsecond"), DataType::Interval { fields: None, precision: None });
                self.datetime(DateTime(0)) + whole * unit
            }
            Dialect::DuckDb => call("MAKE_TIMESTAMP", vec![whole]),
            Dialect::Sqlite => {
                let second = || int(DateTime::SECOND);
                // Division rounds towards zero, but a moment before 1970 lies after the second that it belongs to.
                let decimals = (whole.clone().modulo(second()) + second()).modulo(second());
                let seconds = (whole - decimals.clone()) / second();
                let format = self.text("%Y-%m-%dT%H:%M:%S");
                let clock = call("strftime", vec![format, seconds, self.text("unixepoch")]);
                let digits = part(&self.text("000000").followed_by(decimals.clone()), -6, None);
                let digits = self.text(".").followed_by(call("rtrim", vec![digits, self.text("0")]));
                clock.followed_by(case(decimals.eq(int(0)), self.text(""), digits))
            }
            Dialect::Spark => {
                let decimal = DataType::Decimal(ExactNumberInfo::PrecisionAndScale(18, 0));
                let seconds = cast(whole, decimal) / int(DateTime::SECOND);
                self.datetime(DateTime(0)) + call("MAKE_DT_INTERVAL", vec![int(0), int(0), int(0), seconds])
            }
        }
    }

    /// A number as an integer type.
    pub fn integer(self, number: X) -> X {
        cast(number, if self == Dialect::Sqlite { DataType::Integer(None) } else { DataType::BigInt(None) })
    }

    /// Anything as a text.
    pub fn as_text(self, x: X) -> X {
        cast(x, if self == Dialect::Spark { DataType::String(None) } else { DataType::Text })
    }

    /// Anything as a date, or as a datetime. SQLite has texts for both.
    pub fn as_moment(self, x: X, is_date: bool) -> X {
        match self {
            Dialect::Sqlite => self.as_text(x),
            _ if is_date => cast(x, DataType::Date),
            Dialect::Postgres | Dialect::DuckDb => cast(x, DataType::Timestamp(None, TimezoneInfo::None)),
            Dialect::Spark => cast(x, DataType::TimestampNtz(None)),
        }
    }

    /// A whole number in a type that holds products of four counts; SQLite has none.
    pub fn wide(self, number: X) -> X {
        match self {
            Dialect::Postgres => cast(number, DataType::Numeric(ExactNumberInfo::None)),
            Dialect::DuckDb => cast(number, DataType::HugeInt),
            Dialect::Spark => cast(number, DataType::Decimal(ExactNumberInfo::PrecisionAndScale(38, 0))),
            Dialect::Sqlite => number,
        }
    }

    /// Where a text begins in another, counted from 1; 0 where it is not in it.
    pub fn position(self, within: X, text: X) -> X {
        match self {
            Dialect::Postgres => call("STRPOS", vec![within, text]),
            Dialect::DuckDb | Dialect::Sqlite | Dialect::Spark => call("INSTR", vec![within, text]),
        }
    }

    /// A number in double precision.
    pub fn double(self, number: X) -> X {
        let double = match self {
            Dialect::Spark => DataType::Double(ExactNumberInfo::None),
            _ => DataType::DoublePrecision,
        };
        cast(number, double)
    }

    /// The larger of two numbers, neither of which is NULL.
    pub fn greatest(self, a: X, b: X) -> X {
        call(if self == Dialect::Sqlite { "max" } else { "GREATEST" }, vec![a, b])
    }

    /// The smaller of two numbers, neither of which is NULL.
    pub fn least(self, a: X, b: X) -> X {
        call(if self == Dialect::Sqlite { "min" } else { "LEAST" }, vec![a, b])
    }

    /// A number clamped to a range.
    pub fn clamped(self, number: X, low: X, high: X) -> X {
        self.greatest(low, self.least(number, high))
    }

    /// Whether `help` has an index on groups and hits: `chrysalis load` creates one, files have none.
    pub fn has_index(self) -> bool {
        matches!(self, Dialect::Postgres | Dialect::Sqlite)
    }

    /// Whether columns have types.
    pub fn has_types(self) -> bool {
        self != Dialect::Sqlite
    }

    /// Whether the database has `VAR_POP`.
    pub fn has_variance(self) -> bool {
        self != Dialect::Sqlite
    }

    /// Whether the database has `MIN_BY` and `MAX_BY`.
    pub fn has_first(self) -> bool {
        matches!(self, Dialect::DuckDb | Dialect::Spark)
    }

    /// Words compared byte by byte, whatever the database's own collation.
    pub fn bytewise(self, words: X) -> X {
        match self {
            Dialect::Postgres => X(Expr::Collate { expr: Box::new(words.0), collation: word("\"C\"") }),
            _ => words,
        }
    }
}

/// Some letters of a text, in SQLite; counted from 1, or from the end.
fn part(text: &X, from: i64, length: Option<i64>) -> X {
    call("substr", [text.clone(), int(from)].into_iter().chain(length.map(int)).collect())
}

const EPOCH: &str = "1970-01-01";
/// The Julian date at which 1970-01-01 began.
const JULIAN_EPOCH: f64 = 2_440_587.5;

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Dialect {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Dialect::ALL
            .into_iter()
            .find(|dialect| dialect.name() == text)
            .ok_or_else(|| "expected postgres, duckdb, sqlite or spark".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::col;

    #[track_caller]
    fn check(x: impl Fn(Dialect) -> X, expected: [&str; 4]) {
        for (dialect, expected) in Dialect::ALL.into_iter().zip(expected) {
            assert_eq!(x(dialect).0.to_string(), expected, "{dialect}");
        }
    }

    #[test]
    fn a_datetime_is_written_as_each_database_reads_it() {
        check(
            |dialect| dialect.datetime(DateTime(-500_000)),
            [
                "TIMESTAMP '1969-12-31T23:59:59.5'",
                "TIMESTAMP '1969-12-31T23:59:59.5'",
                "'1969-12-31T23:59:59.5'",
                "TIMESTAMP_NTZ '1969-12-31T23:59:59.5'",
            ],
        );
    }

    #[test]
    fn datetimes_are_counted_in_microseconds() {
        check(
            |dialect| dialect.microseconds(col("x")),
            [
                "CAST(ROUND((EXTRACT(EPOCH FROM x)) * 1000000) AS DOUBLE PRECISION)",
                "CAST(EPOCH_US(x) AS DOUBLE PRECISION)",
                "CAST(CAST(strftime('%s', substr(x, 1, 19)) AS INTEGER) * 1000000 + CAST(substr(substr(x, 21) || \
                 '000000', 1, 6) AS INTEGER) AS DOUBLE PRECISION)",
                "CAST(DATEDIFF(CAST(x AS DATE), DATE '1970-01-01') * 86400000000 + HOUR(x) * 3600000000 + MINUTE(x) * \
                 60000000 + CAST(DATE_PART('SECOND', x) * 1000000 AS BIGINT) AS DOUBLE)",
            ],
        );
        check(
            |dialect| dialect.datetime_of(col("k")),
            [
                "TIMESTAMP '1970-01-01T00:00:00' + CAST(k AS BIGINT) * CAST('1 microsecond' AS INTERVAL)",
                "MAKE_TIMESTAMP(CAST(k AS BIGINT))",
                "strftime('%Y-%m-%dT%H:%M:%S', (CAST(k AS INTEGER) - (CAST(k AS INTEGER) % 1000000 + 1000000) % 1000000) \
                 / 1000000, 'unixepoch') || (CASE WHEN (CAST(k AS INTEGER) % 1000000 + 1000000) % 1000000 = 0 THEN '' \
                 ELSE '.' || rtrim(substr('000000' || ((CAST(k AS INTEGER) % 1000000 + 1000000) % 1000000), -6), '0') \
                 END)",
                "TIMESTAMP_NTZ '1970-01-01T00:00:00' + MAKE_DT_INTERVAL(0, 0, 0, CAST(CAST(k AS BIGINT) AS DECIMAL(18,0)) \
                 / 1000000)",
            ],
        );
    }
}

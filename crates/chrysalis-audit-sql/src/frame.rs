//! A manifest, and the parts that all statements are made of.

use chrysalis_criteria::Rational;
use chrysalis_dialect::Dialect;
use chrysalis_dialect::expr::{X, all, case, cases, col, count_distinct, int, null, number, sum};
use chrysalis_dialect::select::{Ctes, Rows, without_repeated_names};
use chrysalis_release::{Attribute, Cell, Layout, Manifest, RoleName, TableLayout, Values};
use chrysalis_table::{Date, DateTime, Kind};
use serde_json::Value as Json;

use crate::{Decides, Statement};

/// A release as its manifest describes it, and the database that statements are for.
pub(crate) struct Frame<'a> {
    pub(crate) manifest: &'a Manifest,
    pub(crate) layout: Layout,
    pub(crate) dialect: Dialect,
    /// Whether there is a table of the people who could be in the data.
    pub(crate) has_people: bool,
}

impl<'a> Frame<'a> {
    pub(crate) fn new(manifest: &'a Manifest, dialect: Dialect, has_people: bool) -> Frame<'a> {
        Frame { manifest, layout: manifest.layout(), dialect, has_people }
    }

    /// A column of a table, by the table's short name.
    pub(crate) fn column(&self, alias: &str, name: &str) -> X {
        self.dialect.column(alias, name)
    }

    /// The rows of a table under a short name.
    pub(crate) fn rows(&self, table: &str, alias: &str) -> Rows {
        Rows::of_table(self.dialect, table, alias)
    }

    /// The table with a row per row of the microdata, and all quasi attributes.
    pub(crate) fn people(&self) -> &TableLayout {
        // PROOF: every layout begins with the table of people, or has it after the batches.
        self.layout.people().next().unwrap_or(&self.layout.tables[0])
    }

    /// The column that says which rows share their sensitive values.
    pub(crate) fn id(&self) -> Option<&'static str> {
        self.layout.shape.group_id
    }

    /// The places of the attributes with a role.
    pub(crate) fn with_role(&self, role: RoleName) -> impl Iterator<Item = usize> + '_ {
        (0..self.manifest.attributes.len()).filter(move |&at| self.manifest.attributes[at].role == role)
    }

    pub(crate) fn attribute(&self, at: usize) -> &'a Attribute {
        &self.manifest.attributes[at]
    }

    pub(crate) fn has_several(&self) -> bool {
        self.manifest.has_several_sensitive()
    }

    /// The name of a check about a sensitive attribute, which says which if there are several.
    pub(crate) fn named(&self, name: &str, attribute: &str) -> String {
        if self.has_several() { format!("{name}/{attribute}") } else { name.to_owned() }
    }

    /// Whether sensitive values are counted in a table of their own.
    pub(crate) fn is_counted(&self) -> bool {
        matches!(self.layout.shape.values, Values::Counted(_))
    }

    /// A count that can be true: at least one, and no more than there are rows.
    pub(crate) fn is_possible(&self, count: X) -> X {
        count.between(int(1), int(self.manifest.rows))
    }

    /// A value of the manifest as a literal.
    pub(crate) fn literal(&self, kind: Kind, json: &Json) -> X {
        match (kind, json) {
            (_, Json::Null) => self.missing(kind),
            (Kind::Integer, json) => json.as_i64().map_or_else(|| self.missing(kind), int),
            (Kind::Real, json) => self.real(json.as_f64().unwrap_or(0.0)),
            (Kind::Date, json) => {
                let date = json.as_str().and_then(Date::parse);
                date.map_or_else(|| self.missing(kind), |date| self.dialect.date(&date.to_string()))
            }
            (Kind::DateTime, json) => {
                let moment = json.as_str().and_then(DateTime::parse);
                moment.map_or_else(|| self.missing(kind), |moment| self.dialect.datetime(moment))
            }
            (Kind::Ordinal | Kind::Category, json) => self.dialect.text(json.as_str().unwrap_or_default()),
        }
    }

    /// A number in double precision.
    pub(crate) fn real(&self, real: f64) -> X {
        self.dialect.double(number(real))
    }

    /// NULL of a kind, so that a list of nothing else has the right type.
    pub(crate) fn missing(&self, kind: Kind) -> X {
        match kind {
            Kind::Integer => self.dialect.integer(null()),
            Kind::Real => self.dialect.double(null()),
            Kind::Ordinal | Kind::Category => self.dialect.as_text(null()),
            Kind::Date | Kind::DateTime => self.dialect.as_moment(null(), kind == Kind::Date),
        }
    }

    /// An exact number for every value that has one: days of dates, microseconds of datetimes, ranks of words. Reals stay
    /// what they are. NULL where the value is missing; words that the manifest does not know come after all others.
    pub(crate) fn place(&self, attribute: &Attribute, x: X) -> X {
        match Kind::from(attribute.kind) {
            Kind::Integer | Kind::Real => x,
            Kind::Date => self.dialect.integer(self.dialect.days(x)),
            Kind::DateTime => self.dialect.integer(self.dialect.microseconds(x)),
            Kind::Ordinal | Kind::Category => {
                let words = attribute.domain.order();
                let ranks =
                    (0_i64..).zip(&words).map(|(rank, word)| (x.clone().eq(self.dialect.text(word)), int(rank)));
                let unknown = (x.clone().present(), int(words.len() as i64));
                cases(ranks.chain([unknown]).collect(), None)
            }
        }
    }

    /// The place of a value of the manifest.
    pub(crate) fn place_of(&self, kind: Kind, json: &Json) -> Option<X> {
        match kind {
            Kind::Integer => json.as_i64().map(int),
            Kind::Real => json.as_f64().filter(|real| real.is_finite()).map(|real| self.real(real)),
            Kind::Date => json.as_str().and_then(Date::parse).map(|date| int(date.0)),
            Kind::DateTime => json.as_str().and_then(DateTime::parse).map(|moment| int(moment.0)),
            Kind::Ordinal | Kind::Category => None,
        }
    }

    /// The first and the last place of an ordered attribute's domain.
    pub(crate) fn ends(&self, attribute: &Attribute) -> (Option<X>, Option<X>) {
        let (kind, domain) = (Kind::from(attribute.kind), &attribute.domain);
        match kind {
            Kind::Ordinal | Kind::Category => match domain.order().len() as i64 {
                0 => (None, None),
                n => (Some(int(0)), Some(int(n - 1))),
            },
            Kind::Integer | Kind::Real | Kind::Date | Kind::DateTime => {
                let place = |end: &Option<Json>| end.as_ref().and_then(|end| self.place_of(kind, end));
                (place(&domain.min), place(&domain.max))
            }
        }
    }

    /// The columns of a table that show its quasi attributes as ranges and labels.
    pub(crate) fn cells<'t>(
        &self,
        table: &'t TableLayout,
        is_known: impl Fn(usize) -> bool + 't,
    ) -> impl Iterator<Item = &'t str> + 't {
        let is_cell = move |cell: Cell| match cell {
            Cell::Low(at) | Cell::High(at) | Cell::Label(at) => is_known(at),
            _ => false,
        };
        table.columns.iter().filter(move |column| is_cell(column.cell)).map(|column| column.name.as_str())
    }
}

/// The name of a table's column with some content.
pub(crate) fn column_of(table: &TableLayout, cell: Cell) -> Option<&str> {
    table.columns.iter().find(|column| column.cell == cell).map(|column| column.name.as_str())
}

/// One if it holds, else zero.
pub(crate) fn flag(condition: X) -> X {
    case(condition, int(1), int(0))
}

/// How many different values a column has in a group of rows, a missing one among them.
pub(crate) fn n_different(x: X) -> X {
    count_distinct(x.clone()) + call_max(flag(x.missing()))
}

/// `MAX(x)`.
pub(crate) fn call_max(x: X) -> X {
    chrysalis_dialect::expr::call("MAX", vec![x])
}

/// `MIN(x)`.
pub(crate) fn call_min(x: X) -> X {
    chrysalis_dialect::expr::call("MIN", vec![x])
}

/// Whether two values are equal, or both missing.
pub(crate) fn same(a: X, b: X) -> X {
    a.clone().eq(b.clone()).or(all(vec![a.missing(), b.missing()]))
}

/// How many rows of a CTE a condition holds for, by a column that counts them.
pub(crate) fn sum_if(condition: X, n: X) -> X {
    sum(case(condition, n, int(0)))
}

/// The numerator and the denominator of a parameter.
pub(crate) fn parts(number: &Rational) -> (X, X) {
    (int(*number.numer()), int(*number.denom()))
}

/// Everything of a CTE.
pub(crate) fn columns_of(cte: &str, names: &[&str]) -> Rows {
    names.iter().fold(Rows::of(cte), |rows, name| rows.item(col(&format!("{cte}.{name}")), name))
}

/// A statement about something other than a promise.
pub(crate) fn check(name: impl Into<String>, about: impl Into<String>, ctes: Ctes, rows: Rows) -> Statement {
    Statement {
        name: name.into(),
        about: about.into(),
        promise: None,
        decides: Decides::Exactly,
        sql: Some(format!("{:#}", without_repeated_names(ctes.finish(rows, Vec::new())))),
    }
}

/// What is said where no statement can decide.
pub(crate) fn undecided(name: impl Into<String>, why: impl Into<String>) -> Statement {
    Statement { name: name.into(), about: why.into(), promise: None, decides: Decides::Nothing, sql: None }
}

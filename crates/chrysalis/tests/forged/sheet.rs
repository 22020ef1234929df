//! Published tables as text that a liar can edit, and back.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrysalis::table::{Codes, Column, Domain, Kind, Table, Value};

/// One column of a sheet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Head {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// The words of an ordinal column, from the lowest to the highest.
    pub(crate) order: Vec<String>,
}

/// One table. An empty cell is a missing value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sheet {
    pub(crate) name: String,
    pub(crate) heads: Vec<Head>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Sheet {
    pub(crate) fn of(name: &str, table: &Table, order_of: impl Fn(&str) -> Vec<String>) -> Sheet {
        let head = |column: &Column| {
            let kind = column.domain().kind();
            let order = if kind == Kind::Ordinal { order_of(column.name()) } else { Vec::new() };
            Head { name: column.name().to_owned(), kind, order }
        };
        let cell = |column: &Column, row: usize| {
            let code = column.code(row);
            column.domain().value(code).map_or_else(String::new, ToString::to_string)
        };
        let row = |row: usize| table.columns().iter().map(|column| cell(column, row)).collect();
        Sheet {
            name: name.to_owned(),
            heads: table.columns().iter().map(head).collect(),
            rows: (0..table.rows()).map(row).collect(),
        }
    }

    pub(crate) fn find(&self, column: &str) -> Option<usize> {
        self.heads.iter().position(|head| head.name == column)
    }

    pub(crate) fn at(&self, column: &str) -> usize {
        self.find(column).unwrap_or_else(|| panic!("`{}` has no column `{column}`", self.name))
    }

    /// Every distinct text of a column, from the lowest to the highest; missing comes first.
    pub(crate) fn ranked(&self, at: usize) -> Vec<String> {
        let mut texts: Vec<String> = self.rows.iter().map(|row| row[at].clone()).collect();
        texts.sort_unstable();
        texts.dedup();
        texts.sort_by(|a, b| self.heads[at].compare(a, b));
        texts
    }

    /// Sorts rows by some columns, of which the first matters most.
    pub(crate) fn sort_by(&mut self, columns: &[usize]) {
        let ranks: Vec<BTreeMap<String, usize>> =
            columns.iter().map(|&at| self.ranked(at).into_iter().zip(0..).collect()).collect();
        let key = |row: &Vec<String>| -> Vec<usize> {
            columns.iter().zip(&ranks).map(|(&at, ranks)| ranks[&row[at]]).collect()
        };
        self.rows.sort_by_cached_key(key);
    }

    pub(crate) fn table(&self) -> Table {
        Table::new((0..self.heads.len()).map(|at| self.column(at)).collect())
    }

    fn column(&self, at: usize) -> Column {
        let head = &self.heads[at];
        let ranked = self.ranked(at);
        let has_missing = ranked.first().is_some_and(String::is_empty);
        let parse = |text: &String| {
            Value::parse(head.kind, text).unwrap_or_else(|| panic!("`{text}` in `{}` is no {:?}", head.name, head.kind))
        };
        let values: Vec<Value> = ranked.iter().filter(|text| !text.is_empty()).map(parse).collect();
        let codes: BTreeMap<&String, u32> = ranked.iter().zip(0..).collect();
        let codes = Codes::collect(ranked.len(), self.rows.iter().map(|row| codes[&row[at]]));
        Column::new(&head.name, Arc::new(Domain::new(head.kind, values, has_missing)), codes)
    }
}

impl Head {
    /// Compares two texts of this column.
    pub(crate) fn compare(&self, a: &str, b: &str) -> std::cmp::Ordering {
        match (a.is_empty(), b.is_empty()) {
            (true, true) => return std::cmp::Ordering::Equal,
            (true, false) => return std::cmp::Ordering::Less,
            (false, true) => return std::cmp::Ordering::Greater,
            (false, false) => {}
        }
        match self.kind {
            Kind::Integer | Kind::Real | Kind::Date | Kind::DateTime => self.place(a).total_cmp(&self.place(b)),
            Kind::Ordinal => self.place(a).total_cmp(&self.place(b)).then_with(|| a.cmp(b)),
            Kind::Category => a.cmp(b),
        }
    }

    /// The place of a text in an ordered column; words without a rank come last.
    pub(crate) fn place(&self, text: &str) -> f64 {
        match self.kind {
            Kind::Ordinal => {
                self.order.iter().position(|word| word == text).map_or(f64::INFINITY, |place| place as f64)
            }
            kind => Value::parse(kind, text).and_then(|value| value.number()).unwrap_or(f64::NAN),
        }
    }
}

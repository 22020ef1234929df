//! Public tables that a question may join or look into: small, known to everybody, given along with the question.

use std::collections::BTreeMap;

use crate::question::ColumnName;
use crate::statement::{Expr, TableColumn};
use crate::term::{Scalar, Term, TermBinder};
use crate::{Position, QueryError};

/// Public tables by their names.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    tables: BTreeMap<String, PublicTable>,
}

/// One public table.
#[derive(Clone, Debug)]
pub struct PublicTable {
    name: String,
    pub(crate) columns: Vec<PublicColumn>,
}

#[derive(Clone, Debug)]
pub(crate) struct PublicColumn {
    pub(crate) name: String,
    pub(crate) cells: Vec<Scalar>,
}

/// The most cells of a public table.
pub const MAX_CELLS: usize = 1_000_000;

impl Tables {
    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tables.values().map(|table| table.name.as_str())
    }

    /// Adds a table. A column whose cells are all whole numbers, or all numbers, holds numbers; an empty cell is NULL.
    pub fn add(&mut self, name: &str, header: Vec<String>, rows: Vec<Vec<String>>) -> Result<(), QueryError> {
        let refuse = |problem: String, hint: &str| Err(QueryError::question(None, problem, hint.to_owned()));
        if self.tables.keys().any(|known| known.eq_ignore_ascii_case(name)) {
            return refuse(format!("two public tables are called `{name}`"), "give each a name of its own");
        }
        if header.len().saturating_mul(rows.len()) > MAX_CELLS {
            let problem = format!("the public table `{name}` has more than {MAX_CELLS} cells");
            return refuse(problem, "give only the columns and rows that questions need");
        }
        for (at, column) in header.iter().enumerate() {
            if header[..at].iter().any(|other| other.eq_ignore_ascii_case(column)) {
                return refuse(format!("the public table `{name}` has two columns `{column}`"), "rename one of them");
            }
        }
        if let Some(at) = rows.iter().position(|row| row.len() != header.len()) {
            let problem = format!(
                "line {} of the public table `{name}` has {} cells, and its header {}",
                at + 2,
                rows[at].len(),
                header.len()
            );
            return refuse(problem, "give every line as many cells as the header");
        }
        let columns = header.into_iter().enumerate().map(|(at, name)| {
            let texts: Vec<&str> = rows.iter().map(|row| row[at].trim()).collect();
            PublicColumn { name, cells: typed(&texts) }
        });
        let table = PublicTable { name: name.to_owned(), columns: columns.collect() };
        self.tables.insert(name.to_owned(), table);
        Ok(())
    }

    pub(crate) fn named(&self, name: &str, at: Option<Position>) -> Result<&PublicTable, QueryError> {
        let found = self.tables.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, table)| table);
        found.ok_or_else(|| {
            let shown: String = name.chars().take(60).collect();
            let problem = format!("there is no public table `{shown}`");
            let hint = if self.tables.is_empty() {
                chrysalis_table::Remedy::from("give it along with the question, with ")
                    .knob(chrysalis_table::Knob::Tables, "")
            } else {
                let names: Vec<&str> = self.tables.keys().map(String::as_str).collect();
                chrysalis_table::Remedy::from(format!("the public tables are: {}", names.join(", ")))
            };
            QueryError::question(at, problem, hint)
        })
    }
}

fn typed(texts: &[&str]) -> Vec<Scalar> {
    let filled = || texts.iter().filter(|text| !text.is_empty());
    let finite = |text: &str| text.parse().ok().filter(|number: &f64| number.is_finite());
    let is_whole = filled().all(|text| text.parse::<i64>().is_ok_and(|number| number.to_string() == **text));
    let is_real = filled().all(|text| finite(text).is_some());
    let cell = |text: &&str| match text {
        &"" => Scalar::Null,
        text if is_whole => text.parse().map_or(Scalar::Null, Scalar::Integer),
        text if is_real => finite(text).map_or(Scalar::Null, Scalar::Real),
        text => Scalar::Text((**text).into()),
    };
    texts.iter().map(cell).collect()
}

/// The place of a column in a table.
pub(crate) fn column_of(table: &PublicTable, column: &ColumnName) -> Result<usize, QueryError> {
    let exact = table.columns.iter().position(|known| known.name == column.text);
    let alike = || table.columns.iter().position(|known| known.name.eq_ignore_ascii_case(&column.text));
    exact.or_else(|| alike().filter(|_| !column.is_quoted)).ok_or_else(|| {
        let shown: String = column.text.chars().take(60).collect();
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let problem = format!("the public table `{}` has no column `{shown}`", table.name);
        QueryError::question(column.at, problem, format!("it has {}", names.join(", ")))
    })
}

impl PublicTable {
    /// A row of the table must be found by its value in this column.
    pub(crate) fn check_unique(&self, column: usize, at: Option<Position>) -> Result<(), QueryError> {
        let mut lines: BTreeMap<String, usize> = BTreeMap::new();
        for (row, cell) in self.columns[column].cells.iter().enumerate() {
            if *cell == Scalar::Null {
                continue;
            }
            if let Some(first) = lines.insert(cell.key(), row) {
                let shown = cell.value().map(|value| value.to_string()).unwrap_or_default();
                let shown: String = shown.chars().take(40).collect();
                let name = &self.columns[column].name;
                let problem = format!(
                    "`{}.{name}` has '{shown}' in line {} and again in line {}, so people would be counted twice",
                    self.name,
                    first + 2,
                    row + 2
                );
                return Err(QueryError::question(at, problem, "join on a column whose values are unique in the table"));
            }
        }
        Ok(())
    }

    /// The cells of a column in the rows that satisfy a condition.
    pub(crate) fn selected(&self, source: &TableColumn) -> Result<Vec<Scalar>, QueryError> {
        let place = column_of(self, &source.column)?;
        let cells = &self.columns[place].cells;
        let Some(condition) = &source.condition else { return Ok(cells.clone()) };
        let term = self.term(condition)?;
        let is_in = |row: &usize| term.of_row(self, *row) == Scalar::Boolean(true);
        Ok((0..cells.len()).filter(is_in).map(|row| cells[row].clone()).collect())
    }

    /// A condition on the columns of this table; attributes are the places of columns.
    fn term(&self, expr: &Expr) -> Result<Term, QueryError> {
        let find = |column: &ColumnName| column_of(self, column);
        let none = Tables::default();
        let binder = TermBinder { fields: &[], tables: &none, alias: &self.name, find: &find, joins: Vec::new() };
        binder.of_table(expr)
    }
}

//! What cells must know of the whole table: the values of every column, and how often each occurs.

use std::sync::Arc;

use chrysalis_table::{Code, Codes, Column, Domain, Kind, Remedy, Table, Value};
use serde::{Deserialize, Serialize};

use crate::PublishError;

/// The columns of a table that is too large to be held, as far as histograms go.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Whole {
    /// Number of rows.
    pub rows: u64,
    columns: Vec<WholeColumn>,
}

/// One column: its values in order, and how often each occurs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WrittenColumn", into = "WrittenColumn")]
pub struct WholeColumn {
    name: String,
    domain: Arc<Domain>,
    counts: Vec<u64>,
    /// For ordinals: all words that there may be, from lowest to highest; empty if those that occur are all.
    order: Vec<String>,
}

impl Whole {
    /// A table without rows. `order` says for every column which words it may have, if it is an ordinal and that is
    /// known.
    pub fn new(columns: impl IntoIterator<Item = (String, Kind, Vec<String>)>) -> Self {
        let column = |(name, kind, order)| WholeColumn {
            name,
            domain: Arc::new(Domain::new(kind, Vec::new(), false)),
            counts: Vec::new(),
            order,
        };
        Whole { rows: 0, columns: columns.into_iter().map(column).collect() }
    }

    /// A table with no more columns than these, and their rows.
    pub fn of(table: &Table) -> Self {
        let column = |column: &Column| WholeColumn {
            name: column.name().to_owned(),
            domain: Arc::clone(column.domain()),
            counts: column.histogram(),
            order: Vec::new(),
        };
        Whole { rows: table.rows() as u64, columns: table.columns().iter().map(column).collect() }
    }

    /// Adds the rows of a table, which must have all of these columns.
    pub fn add(&mut self, table: &Table) -> Result<(), PublishError> {
        for known in &mut self.columns {
            let column = table.column(&known.name).ok_or_else(|| lacking(&known.name))?;
            known.add(column.domain(), &column.histogram())?;
        }
        self.rows += table.rows() as u64;
        Ok(())
    }

    /// Adds the rows of another table with the same columns.
    pub fn merge(&mut self, other: &Whole) -> Result<(), PublishError> {
        for (known, other) in self.columns.iter_mut().zip(&other.columns) {
            known.add(&other.domain, &other.counts)?;
        }
        self.rows += other.rows;
        Ok(())
    }

    /// The columns.
    pub fn columns(&self) -> &[WholeColumn] {
        &self.columns
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&WholeColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The same rows with the domains of the whole table, so that codes mean the same in every part.
    pub fn recoded(&self, table: &Table) -> Result<Table, PublishError> {
        let columns = self.columns.iter().map(|known| {
            let column = table.column(&known.name).ok_or_else(|| lacking(&known.name))?;
            known.recoded(column)
        });
        Ok(Table::new(columns.collect::<Result<_, _>>()?))
    }

    /// For every code of a column of some rows, its code in the whole table.
    pub(super) fn codes_of(&self, column: Option<&Column>, name: &str) -> Result<Vec<Code>, PublishError> {
        let (column, known) = column.zip(self.column(name)).ok_or_else(|| lacking(name))?;
        known.codes_of(column.domain())
    }

    /// The columns of a table that are these.
    pub(super) fn of_table<'a>(&self, table: &'a Table) -> Result<Vec<&'a Column>, PublishError> {
        self.columns.iter().map(|known| table.column(&known.name).ok_or_else(|| lacking(&known.name))).collect()
    }

    /// Refuses more rows of one sensitive value than principles can count.
    pub(super) fn check_counts(&self, sensitive: &[String]) -> Result<(), PublishError> {
        let is_over = |column: &&WholeColumn| column.counts.iter().any(|&count| count > u64::from(u32::MAX));
        let Some(column) = sensitive.iter().filter_map(|name| self.column(name)).find(is_over) else { return Ok(()) };
        let problem = format!("a value of `{}` stands in more than {} rows", column.name, u32::MAX);
        Err(PublishError::remedied(problem, Remedy::from("split the table, and publish each part on its own")))
    }

    /// A table with these columns and domains, and no rows.
    pub(crate) fn without_rows(&self) -> Table {
        let column = |known: &WholeColumn| {
            Column::new(&*known.name, Arc::clone(&known.domain), Codes::with_capacity(known.domain.len(), 0))
        };
        Table::new(self.columns.iter().map(column).collect())
    }
}

impl WholeColumn {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its values.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// How often each occurs, by code.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    fn add(&mut self, domain: &Arc<Domain>, counts: &[u64]) -> Result<(), PublishError> {
        if !Arc::ptr_eq(&self.domain, domain) && *self.domain != **domain {
            self.widen(domain)?;
        }
        for (code, count) in (0..).zip(counts) {
            let own = match Arc::ptr_eq(&self.domain, domain) {
                true => Some(code),
                false => self.domain.code_of(domain.value(code)),
            };
            let own = own.ok_or_else(|| changed(&self.name))?;
            self.counts[own as usize] += count;
        }
        Ok(())
    }

    /// Takes the values of another domain in as well.
    fn widen(&mut self, other: &Arc<Domain>) -> Result<(), PublishError> {
        if self.domain.is_empty() {
            (self.domain, self.counts) = (Arc::clone(other), vec![0; other.len()]);
            return Ok(());
        }
        if self.domain.kind() != other.kind() {
            let (name, one, another) = (&self.name, self.domain.kind(), other.kind());
            return Err(PublishError::request(format!("`{name}` is {one} in some rows and {another} in others")));
        }
        let known = |domain: &Domain| domain.values().to_vec();
        let mut values: Vec<Value> = known(&self.domain).into_iter().chain(known(other)).collect();
        if self.domain.kind() == Kind::Ordinal {
            let ranks = self.ranks(&values).ok_or_else(|| {
                PublishError::request(format!("the words of `{}` have an order that nobody gave", self.name))
            })?;
            let mut ranked: Vec<(usize, Value)> = ranks.into_iter().zip(values).collect();
            ranked.sort_by_key(|(a, _)| *a);
            values = ranked.into_iter().map(|(_, value)| value).collect();
        } else {
            values.sort_unstable();
        }
        values.dedup();
        let has_missing = self.domain.has_missing() || other.has_missing();
        let domain = Arc::new(Domain::new(self.domain.kind(), values, has_missing));
        let mut counts = vec![0; domain.len()];
        for (code, count) in (0..).zip(&self.counts) {
            let place = domain.code_of(self.domain.value(code)).ok_or_else(|| changed(&self.name))?;
            counts[place as usize] = *count;
        }
        (self.domain, self.counts) = (domain, counts);
        Ok(())
    }

    /// The places of words in their order: the one that was given, or that of bands such as `10-19`, which order themselves.
    fn ranks(&self, values: &[Value]) -> Option<Vec<usize>> {
        let words: Vec<String> = values.iter().map(Value::to_string).collect();
        let given = |word: &String| self.order.iter().position(|known| known == word);
        words.iter().map(given).collect::<Option<Vec<usize>>>().or_else(|| {
            let mut once: Vec<&str> = words.iter().map(String::as_str).collect();
            once.sort_unstable();
            once.dedup();
            let ranks = chrysalis_table::order_of_bands(&once)?;
            words.iter().map(|word| Some(ranks[once.binary_search(&word.as_str()).ok()?])).collect()
        })
    }

    fn codes_of(&self, domain: &Arc<Domain>) -> Result<Vec<Code>, PublishError> {
        let codes = 0..domain.len() as Code;
        if Arc::ptr_eq(&self.domain, domain) {
            return Ok(codes.collect());
        }
        let found: Option<Vec<Code>> = codes.map(|code| self.domain.code_of(domain.value(code))).collect();
        found.ok_or_else(|| changed(&self.name))
    }

    fn recoded(&self, column: &Column) -> Result<Column, PublishError> {
        if Arc::ptr_eq(&self.domain, column.domain()) {
            return Ok(column.clone());
        }
        let code_of = self.codes_of(column.domain())?;
        let codes = column.codes().iter().map(|code| code_of[code as usize]);
        Ok(Column::new(&*self.name, Arc::clone(&self.domain), Codes::collect(self.domain.len(), codes)))
    }
}

fn lacking(column: &str) -> PublishError {
    PublishError::Internal(format!("column `{column}` was not read"))
}

fn changed(column: &str) -> PublishError {
    PublishError::request(format!("`{column}` has values that it did not have before: the table changed meanwhile"))
}

/// A column as it is written: values as text.
#[derive(Serialize, Deserialize)]
struct WrittenColumn {
    name: String,
    kind: String,
    missing: bool,
    values: Vec<String>,
    counts: Vec<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    order: Vec<String>,
}

impl From<WholeColumn> for WrittenColumn {
    fn from(column: WholeColumn) -> Self {
        let domain = &column.domain;
        WrittenColumn {
            kind: domain.kind().to_string(),
            missing: domain.has_missing(),
            values: domain.values().iter().map(Value::to_string).collect(),
            name: column.name,
            counts: column.counts,
            order: column.order,
        }
    }
}

impl TryFrom<WrittenColumn> for WholeColumn {
    type Error = String;

    fn try_from(written: WrittenColumn) -> Result<Self, String> {
        let wrong = || format!("`{}` is not written as a column of a plan is", written.name);
        let kind: Kind = written.kind.parse().map_err(|_| wrong())?;
        let values: Option<Vec<Value>> = written.values.iter().map(|text| Value::parse(kind, text)).collect();
        let values = values.ok_or_else(wrong)?;
        let is_sorted = kind == Kind::Ordinal || values.is_sorted_by(|a, b| a < b);
        if !is_sorted || written.counts.len() != values.len() + usize::from(written.missing) {
            return Err(wrong());
        }
        let domain = Arc::new(Domain::new(kind, values, written.missing));
        Ok(WholeColumn { name: written.name, domain, counts: written.counts, order: written.order })
    }
}

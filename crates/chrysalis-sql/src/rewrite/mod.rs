//! A plan as one SQL statement over the release's tables (ke 5.2; steps are those of `chrysalis-query`'s `spec.md`).
//!
//! The statement is built as a tree and printed; no text is glued together. It is a chain of CTEs, of which only those
//! that the aggregates need are written:
//!
//! 1. `hits`: per group and key values, what is known about the number of hits (step 6): `e0` expected, `l0` least,
//!    `u0` most, `v0` variance; the digit is the condition's. Exact forms have `e0` alone. Where other sensitive columns
//!    have a say, `hits_0` has this, and `hits` the hits that are left when they had it (step 6a).
//! 2. `sizes`: per group its size `n`, how many of its sensitive values count (`cw` for the WHERE clause, `ca` without
//!    missing ones), their sum and their spread.
//! 3. `cells`: both together, with the least and most values hit (`lo…`, `hi…`).
//! 4. `pool`: the values of the cells with their ranks, for bounds of SUM, AVG, MIN and MAX.
//! 5. Parts of the answer, each with the key columns, merged by key.
//!
//! A shuffled release asked without a condition on the sensitive column needs none of 2 to 4, because its help table
//! has the answers (for MIN and MAX, if no two groups' values overlap).

mod beside;
mod cells;
mod extremes;
mod group_boxes;
mod help;
mod hits;
mod inquiry;
mod numbers;
mod original;
mod parts;
mod permuted;
mod pool;
mod row_boxes;
mod sets;
#[cfg(test)]
mod tests;
mod weights;

use chrysalis_release::{Detail, Release, RoleName, max_column, min_column};
use chrysalis_table::{Kind, Value};

pub use chrysalis_dialect::Dialect;
pub use original::original;

use chrysalis_dialect::{expr, select};

use chrysalis_query::question::Function;
use chrysalis_query::{Field, Inquiry, Plan, QueryError};
use expr::{X, col};
use select::{Ctes, Rows};

/// Turns a plan into a statement for a database that holds the release's tables.
pub fn rewrite(plan: &Plan, release: &Release, dialect: Dialect) -> Result<String, QueryError> {
    let (writer, source) = written(plan, release, dialect)?;
    let (rows, order) = parts::answer(&writer, &source);
    Ok(format!("{:#}", writer.ctes.finish(rows, order)))
}

/// The answer of a plan as part of a larger statement; [`parts::raw`] names its columns.
fn nested(plan: &Plan, release: &Release, dialect: Dialect) -> Result<(Ctes, Rows), QueryError> {
    let (writer, source) = written(plan, release, dialect)?;
    let rows = parts::raw(&writer, &source);
    Ok((writer.ctes, rows))
}

/// Everything before the answer of a plan.
fn written<'a>(
    plan: &'a Plan,
    release: &'a Release,
    dialect: Dialect,
) -> Result<(Writer<'a>, parts::Source), QueryError> {
    if let Some(aggregate) = plan.aggregates.iter().find(|aggregate| !aggregate.function.is_rewritten()) {
        return refused(format!("{} cannot be rewritten as SQL", aggregate.function.name().to_uppercase()));
    }
    let mut writer = Writer::new(plan, release, dialect)?;
    if plan.weight().is_some() {
        weights::check(&writer)?;
    }
    let source = parts::source(&mut writer)?;
    Ok((writer, source))
}

/// Turns an inquiry into a statement.
///
/// # Errors
/// Where SQL is not written for something that it asks; the message says for what, and why.
pub fn rewrite_inquiry(inquiry: &Inquiry, release: &Release, dialect: Dialect) -> Result<String, QueryError> {
    match inquiry.plan() {
        Some(plan) if !weights::is_mixed(plan) => rewrite(plan, release, dialect),
        Some(_) => inquiry::write(&inquiry.in_atoms(), release, dialect),
        None => inquiry::write(inquiry, release, dialect),
    }
}

/// The columns of the release that [`rewrite_inquiry`] itself reads.
pub fn looked_at_by(inquiry: &Inquiry) -> Vec<(String, Vec<String>)> {
    let parts = inquiry.combos.iter().flat_map(|combo| &combo.parts);
    inquiry.plan().into_iter().chain(parts.map(|part| &part.plan)).flat_map(looked_at).collect()
}

/// The error for a question that a release answers, but for which no SQL is written.
fn refused<T>(problem: impl Into<String>) -> Result<T, QueryError> {
    Err(QueryError::Question { at: None, problem: problem.into(), hint: "ask the release itself".into() })
}

/// The columns of the release that [`rewrite`] itself reads: how often values repeat, and where ranges end.
pub fn looked_at(plan: &Plan) -> Vec<(String, Vec<String>)> {
    let mut wanted: Vec<(String, Vec<String>)> = Vec::new();
    if let Some(table) = plan.help_table().filter(|_| asks(plan, &EXTREMES)) {
        wanted.push((table, help::ENDS.map(str::to_owned).to_vec()));
    }
    let has_numbers = asks(plan, &NUMERIC);
    if let Some((table, count)) = plan.counted_values().filter(|_| has_numbers) {
        wanted.push((table, vec![count.to_owned()]));
    }
    if plan.shape.detail.is_labelled() {
        let keys = plan.keys.iter().filter(|key| Some(**key) != plan.sensitive_key()).map(|&key| &plan.fields[key]);
        let ends = |field: &Field| [min_column(&field.name), max_column(&field.name)];
        let columns: Vec<String> = keys.filter(|field| field.kind != Kind::Category).flat_map(ends).collect();
        if !columns.is_empty() {
            wanted.push((plan.table.clone(), columns));
        }
    }
    wanted
}

fn asks(plan: &Plan, functions: &[Function]) -> bool {
    plan.aggregates.iter().any(|aggregate| functions.contains(&aggregate.function))
}

/// A statement under construction.
struct Writer<'a> {
    plan: &'a Plan,
    release: &'a Release,
    dialect: Dialect,
    /// Whether the help table has the expectations of MIN and MAX.
    finds_extremes: bool,
    ctes: Ctes,
}

/// Which sensitive values count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CountedValues {
    /// The values that the WHERE clause admits.
    Where,
    /// The same without the missing value, for aggregates over the sensitive column.
    Present,
}

impl CountedValues {
    fn letter(self) -> char {
        match self {
            CountedValues::Where => 'w',
            CountedValues::Present => 'a',
        }
    }
}

impl<'a> Writer<'a> {
    fn new(plan: &'a Plan, release: &'a Release, dialect: Dialect) -> Result<Self, QueryError> {
        if !plan.sets_asked().is_empty() {
            return refused("the question is about columns that are shown together, which is not rewritten as SQL");
        }
        let finds_extremes = help::finds_extremes(plan, release);
        Ok(Writer { plan, release, dialect, finds_extremes, ctes: Ctes::default() })
    }

    fn fields(&self) -> &'a [Field] {
        &self.plan.fields
    }

    /// A column of one of the release's tables, by the table's short name.
    fn column(&self, table: &str, name: &str) -> X {
        self.dialect.column(table, name)
    }

    /// The position among the keys of the sensitive attribute that is asked about.
    fn sensitive_key(&self) -> Option<usize> {
        self.plan.keys.iter().position(|key| Some(*key) == self.plan.sensitive)
    }

    /// The keys on the quasi side: their positions among all keys, and their attributes.
    fn quasi_keys(&self) -> Vec<(usize, usize)> {
        let keys = self.plan.keys.iter().copied().enumerate();
        keys.filter(|(_, field)| self.fields()[*field].role != RoleName::Sensitive).collect()
    }

    /// The columns of all keys in a CTE.
    fn keys(&self, table: &str) -> Vec<X> {
        (0..self.plan.keys.len()).map(|at| col(&format!("{table}.k{at}"))).collect()
    }

    /// The columns of all keys with their names.
    fn key_items(&self, table: &str) -> Vec<(X, String)> {
        (0..self.plan.keys.len()).map(|at| (col(&format!("{table}.k{at}")), format!("k{at}"))).collect()
    }

    /// The column of the table `alias` that says which rows share their sensitive values.
    fn group(&self, alias: &str) -> X {
        self.column(alias, self.plan.group_id())
    }

    /// The table of bounds.
    fn help(&self) -> String {
        // PROOF: only called where there is one.
        self.plan.help_table().unwrap_or_default()
    }

    /// The table that says which values labels have.
    fn members(&self) -> &'static str {
        // PROOF: every form with labels has one.
        self.plan.shape.members.unwrap_or_default()
    }

    /// Whether the number of hits in a group is certain.
    fn is_exact(&self) -> bool {
        self.plan.shape.detail == Detail::Exact && !self.is_thinned()
    }

    /// Whether it matters which rows are hit: if every row is, the values asked about tell everything. In a release of a
    /// series they do not, because nobody may have some of them (step 6c).
    fn has_hits(&self) -> bool {
        // A condition that never holds names no attribute.
        let has_condition = self.plan.conditions.iter().any(|condition| condition.tree.is_some());
        has_condition || !self.plan.quasi_fields().is_empty() || self.is_thinned() || self.plan.is_of_series
    }

    fn asks(&self, functions: &[Function]) -> bool {
        asks(self.plan, functions)
    }

    /// An aggregate's condition and the sensitive values that count for it.
    fn pair(&self, aggregate: &chrysalis_query::PlannedAggregate) -> (usize, CountedValues) {
        let is_sensitive = aggregate.field.is_some() && aggregate.field == self.plan.sensitive;
        let has_missing = self.plan.sensitive.is_some_and(|field| self.fields()[field].has_missing);
        (aggregate.condition, if is_sensitive && has_missing { CountedValues::Present } else { CountedValues::Where })
    }

    /// The distinct pairs of all aggregates; the first is that of `COUNT(*)`.
    fn pairs(&self) -> Vec<(usize, CountedValues)> {
        let mut pairs = vec![(0, CountedValues::Where)];
        pairs.extend(self.plan.aggregates.iter().map(|aggregate| self.pair(aggregate)));
        if self.asks(&NUMERIC) {
            pairs.push((0, self.present()));
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// How to count the values of the sensitive column that are not missing.
    fn present(&self) -> CountedValues {
        let has_missing = self.plan.sensitive.is_some_and(|field| self.fields()[field].has_missing);
        if has_missing { CountedValues::Present } else { CountedValues::Where }
    }

    /// Whether every sensitive value counts.
    fn is_full(&self, counted: CountedValues) -> bool {
        if self.sensitive_key().is_some() {
            return false;
        }
        let Some(field) = self.plan.sensitive.map(|field| &self.fields()[field]) else { return true };
        let is_full = self.plan.sensitive_set.as_ref().is_none_or(|set| field.is_full(set));
        is_full && (counted == CountedValues::Where || !field.has_missing)
    }

    /// Whether the number of values hit is certain: either the hits are and all values count, or every row is hit.
    fn is_certain(&self) -> bool {
        (self.is_exact() && self.is_full(self.present())) || !self.has_hits()
    }

    /// The columns that hold a count: one if it is certain, otherwise also its bounds.
    fn count_ends(&self, counted: CountedValues) -> &'static [char] {
        let is_certain = (self.is_exact() && self.is_full(counted)) || !self.has_hits();
        if is_certain { &['e'] } else { &['e', 'l', 'u'] }
    }

    /// Whether groups are so small that most of them may be skipped once the hits are known.
    fn has_small_groups(&self) -> bool {
        let manifest = &self.release.manifest;
        manifest.rows <= manifest.groups.saturating_mul(SMALL)
    }

    /// Whether the answer comes from rows of the help table, which has no rows for 0 hits.
    fn is_helped(&self) -> bool {
        self.plan.shape.help.is_some()
            && self.has_hits()
            && self.is_certain()
            && (!self.asks(&EXTREMES) || self.finds_extremes)
    }

    /// Whether sensitive values matter at all.
    fn needs_values(&self) -> bool {
        self.sensitive_key().is_some()
            || self.asks(&NUMERIC)
            || self.pairs().iter().any(|(_, counted)| !self.is_full(*counted))
    }

    /// The least and the greatest number of the sensitive column, if known.
    fn sensitive_ends(&self) -> (Option<f64>, Option<f64>) {
        let field = self.plan.sensitive.map(|field| &self.fields()[field]);
        let end = |value: Option<&Value>| value.and_then(Value::number);
        (end(field.and_then(|field| field.min.as_ref())), end(field.and_then(|field| field.max.as_ref())))
    }

    /// A date as a number of days, a datetime as one of microseconds, a word of an ordinal as its rank, and a number as
    /// it is.
    fn place(&self, field: &Field, x: X) -> X {
        match field.kind {
            Kind::Date => self.dialect.days(x),
            Kind::DateTime => self.dialect.microseconds(x),
            Kind::Ordinal => {
                let words = (0_i64..).zip(field.words.iter());
                let ranks = words.map(|(rank, word)| (x.clone().eq(self.dialect.text(word)), expr::int(rank)));
                self.dialect.double(expr::cases(ranks.collect(), None))
            }
            _ => self.dialect.double(x),
        }
    }
}

/// The average size up to which groups count as small.
const SMALL: u64 = 64;

/// The functions that need the order of values.
const EXTREMES: [Function; 2] = [Function::Min, Function::Max];

/// The functions that need numbers.
const NUMERIC: [Function; 4] = [Function::Sum, Function::Avg, Function::Min, Function::Max];

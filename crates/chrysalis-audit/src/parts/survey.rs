//! The first pass over the parts: which values the whole table has, and how often it has those that are sensitive.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrysalis_release::{Attribute, Cell, Holds, KindName, Layout, Manifest, Release, RoleName, Values};
use chrysalis_table::{Code, Codes, Column, Domain, Kind, Memory, Table, Value};

use super::in_one_piece;
use crate::AuditError;

/// About what a value takes while values are collected.
const BYTES_PER_VALUE: u64 = 96;

/// Collects the values of a release part by part.
///
/// A part alone does not show what is ordinary, which numbers are near each other, or how far a group is from the whole
/// table. So its parts are read twice: first for this, then to be judged ([`PartsAudit`](crate::PartsAudit)).
#[derive(Clone, Debug)]
pub struct Survey {
    layout: Layout,
    attributes: Vec<Attribute>,
    columns: BTreeMap<usize, Seen>,
    memory: Memory,
}

/// What was seen of one attribute.
#[derive(Clone, Debug, Default)]
struct Seen {
    values: BTreeMap<Value, u64>,
    /// How often a value is missing, if it ever is.
    missing: Option<u64>,
}

impl Survey {
    /// A survey of no parts.
    ///
    /// Refuses what cannot be judged part by part, and later more different values than fit into a part of the memory.
    pub fn new(manifest: &Manifest, memory: Memory) -> Result<Survey, AuditError> {
        super::check(manifest)?;
        let layout = manifest.layout();
        let columns = shown(&layout).map(|(_, _, at)| (at, Seen::default())).collect();
        Ok(Survey { layout, attributes: manifest.attributes.clone(), columns, memory: memory.part(4) })
    }

    /// The tables and the columns of them that are looked at.
    pub fn wanted(&self) -> Vec<(String, Vec<String>)> {
        let mut wanted: Vec<(String, Vec<String>)> = Vec::new();
        for (table, column, _) in shown(&self.layout) {
            match wanted.iter_mut().find(|(known, _)| known == table) {
                Some((_, columns)) => columns.push(column.to_owned()),
                None => wanted.push((table.to_owned(), vec![column.to_owned()])),
            }
        }
        for table in self.layout.tables.iter().filter(|table| table.holds == Holds::Values) {
            let count = table.columns.iter().find(|column| column.cell == Cell::Count);
            if let Some(((_, columns), count)) = wanted.iter_mut().find(|(name, _)| *name == table.name).zip(count) {
                columns.push(count.name.clone());
            }
        }
        wanted
    }

    /// Adds one part, of which the [wanted](Self::wanted) columns are there.
    pub fn add(&mut self, part: &Release) -> Result<(), AuditError> {
        let people = part.manifest.tables.iter().find(|entry| entry.name == self.layout.shape.people);
        let rows = people.map_or(0, |entry| entry.rows);
        for table in &self.layout.tables {
            let Ok(found) = part.table(&table.name) else { continue };
            for shown in &table.columns {
                let (Cell::Value(at), Some(column)) = (shown.cell, found.column(&shown.name)) else { continue };
                let attribute = &self.attributes[at];
                let domain = column.domain();
                if domain.kind() != Kind::from(attribute.kind) {
                    return Err(AuditError::WrongKind {
                        table: table.name.clone(),
                        column: shown.name.clone(),
                        found: domain.kind(),
                        expected: attribute.kind.into(),
                    });
                }
                // Combinations of values are counted elsewhere, by the values that they consist of.
                let is_counted = attribute.role == RoleName::Sensitive
                    && self.layout.values_of(at).is_none_or(|of| of.name == table.name);
                let counts = match (is_counted, table.columns.iter().find(|it| it.cell == Cell::Count)) {
                    (false, _) => vec![0; domain.len()],
                    (true, None) => column.histogram(),
                    (true, Some(count)) => summed(column, found.column(&count.name), rows),
                };
                self.columns.entry(at).or_default().add(domain, &counts);
            }
        }
        let n_values: usize = self.columns.values().map(|seen| seen.values.len()).sum();
        if !self.memory.allows(BYTES_PER_VALUE.saturating_mul(n_values as u64)) {
            return Err(in_one_piece("its columns have more different values than fit into a quarter of the memory"));
        }
        Ok(())
    }

    /// The values of an attribute in all parts so far, and how often it is missing.
    pub(super) fn counts(&self, at: usize) -> Option<(&BTreeMap<Value, u64>, Option<u64>)> {
        self.columns.get(&at).map(|seen| (&seen.values, seen.missing))
    }

    /// The same survey before its first part.
    pub(super) fn emptied(&self) -> Survey {
        let columns = self.columns.keys().map(|&at| (at, Seen::default())).collect();
        Survey { layout: self.layout.clone(), attributes: self.attributes.clone(), columns, memory: self.memory }
    }

    pub(super) fn finish(&self) -> Result<Whole, AuditError> {
        let mut columns = BTreeMap::new();
        for (&at, seen) in &self.columns {
            let attribute = &self.attributes[at];
            let mut values: Vec<(&Value, u64)> = seen.values.iter().map(|(value, count)| (value, *count)).collect();
            if attribute.kind == KindName::Ordinal {
                let order = attribute.domain.order();
                let rank: BTreeMap<&str, usize> = order.iter().map(String::as_str).zip(0..).collect();
                values.sort_by_key(|(value, _)| rank.get(value.to_string().as_str()).copied());
            }
            let counts = seen.missing.into_iter().chain(values.iter().map(|(_, count)| *count)).collect::<Vec<u64>>();
            let rows = counts.iter().fold(0, |sum: u64, count| sum.saturating_add(*count));
            if u32::try_from(rows).is_err() {
                let rows = usize::try_from(rows).unwrap_or(usize::MAX);
                return Err(AuditError::TooManyRows { what: "the release", rows });
            }
            let values = values.into_iter().map(|(value, _)| value.clone()).collect();
            let domain = Domain::new(attribute.kind.into(), values, seen.missing.is_some());
            columns.insert(attribute.name.clone(), WholeColumn { domain: Arc::new(domain), counts });
        }
        Ok(Whole { columns })
    }
}

impl Seen {
    fn add(&mut self, domain: &Domain, counts: &[u64]) {
        for (code, &count) in (0..).zip(counts) {
            match domain.value(code) {
                None => *self.missing.get_or_insert(0) += count,
                Some(value) => match self.values.get_mut(value) {
                    Some(known) => *known += count,
                    None => {
                        self.values.insert(value.clone(), count);
                    }
                },
            }
        }
    }
}

/// Every column that shows an attribute's values as they are: its table, its name and the attribute's place.
fn shown(layout: &Layout) -> impl Iterator<Item = (&str, &str, usize)> {
    layout.tables.iter().flat_map(|table| {
        table.columns.iter().filter_map(|column| match column.cell {
            Cell::Value(at) => Some((table.name.as_str(), column.name.as_str(), at)),
            _ => None,
        })
    })
}

/// How often every value occurs where a column says how often; counts that no group can have are left out.
fn summed(values: &Column, count: Option<&Column>, rows: u64) -> Vec<u64> {
    let mut sums = vec![0; values.domain().len()];
    let Some(count) = count else { return sums };
    let domain = count.domain();
    let possible = |code: Code| match domain.value(code) {
        Some(Value::Integer(count)) => u64::try_from(*count).ok().filter(|count| *count <= rows).unwrap_or(0),
        _ => 0,
    };
    let of_code: Vec<u64> = (0..domain.len() as Code).map(possible).collect();
    values.codes().iter().zip(count.codes().iter()).for_each(|(value, count)| {
        sums[value as usize] += of_code[count as usize];
    });
    sums
}

/// The values of the whole table, as its parts have shown them.
#[derive(Clone, Debug)]
pub(super) struct Whole {
    columns: BTreeMap<String, WholeColumn>,
}

/// Those of one attribute.
#[derive(Clone, Debug)]
pub(super) struct WholeColumn {
    pub(super) domain: Arc<Domain>,
    /// How often each occurs, if the attribute is sensitive.
    pub(super) counts: Vec<u64>,
}

impl Whole {
    pub(super) fn column(&self, name: &str) -> Option<&WholeColumn> {
        self.columns.get(name)
    }

    /// The same part, with the values of the whole table as the domains of its columns.
    pub(super) fn recoded(&self, part: Release) -> Result<Release, AuditError> {
        let Release { manifest, tables } = part;
        let layout = manifest.layout();
        let table = |(entry, table): (&chrysalis_release::TableEntry, Table)| {
            let Some(known) = layout.table(&entry.name) else { return Ok(table) };
            let columns = table.into_columns().into_iter().map(|column| {
                let shown = known.columns.iter().find(|it| it.name == column.name());
                match shown.map(|it| it.cell) {
                    Some(Cell::Value(at)) => self.recoded_column(&manifest.attributes[at].name, column),
                    _ => Ok(column),
                }
            });
            Ok::<Table, AuditError>(Table::new(columns.collect::<Result<_, AuditError>>()?))
        };
        let tables = manifest.tables.iter().zip(tables).map(table).collect::<Result<_, AuditError>>()?;
        Ok(Release { manifest, tables })
    }

    fn recoded_column(&self, attribute: &str, column: Column) -> Result<Column, AuditError> {
        let Some(WholeColumn { domain, .. }) = self.columns.get(attribute) else { return Ok(column) };
        if Arc::ptr_eq(domain, column.domain()) {
            return Ok(column);
        }
        let own = column.domain();
        let code = |code: Code| domain.code_of(own.value(code));
        let codes: Option<Vec<Code>> = (0..own.len() as Code).map(code).collect();
        let changed = || in_one_piece("its files changed while they were read");
        let codes = codes.ok_or_else(changed)?;
        let codes = Codes::collect(domain.len(), column.codes().iter().map(|code| codes[code as usize]));
        Ok(Column::new(column.name(), Arc::clone(domain), codes))
    }
}

/// Whether the values of groups are counted in tables of their own.
pub(super) fn has_counts(values: Values) -> bool {
    match values {
        Values::Counted(_) => true,
        Values::Beside | Values::Swapped => false,
    }
}

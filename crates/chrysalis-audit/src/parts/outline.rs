//! A release in few rows: some of every part, so that together they show every value, range end and label that any row
//! shows. What a manifest says about its columns, and what labels stand for, can be checked on it.

use std::collections::BTreeMap;

use chrysalis_release::{Cell, KindName, Layout, Manifest, Release};
use chrysalis_table::{Column, DictionaryChunk, Kind, Table, Value, Watch};

use crate::Groups;

/// Some rows of every table, part after part.
#[derive(Debug, Default)]
pub(super) struct Outline {
    tables: Vec<Vec<Table>>,
}

/// So many rows of a table may wait before they are brought together.
const MOST_ROWS: usize = 1 << 16;

impl Outline {
    /// Adds a part of a release, or a table that has no parts, the first time.
    pub(super) fn add(&mut self, part: &Release, is_divided: impl Fn(&str) -> bool, watch: &dyn Watch) {
        let (manifest, layout) = (&part.manifest, part.manifest.layout());
        self.tables.resize(manifest.tables.len(), Vec::new());
        for ((entry, table), known) in manifest.tables.iter().zip(&part.tables).zip(&mut self.tables) {
            watch.pause();
            if !is_divided(&entry.name) {
                if known.is_empty() {
                    known.push(table.clone());
                }
                continue;
            }
            known.push(table.gather(&telling_rows(manifest, &layout, &entry.name, table, watch)));
            if known.len() > 2 && known.iter().map(Table::rows).sum::<usize>() > MOST_ROWS {
                let all = joined(manifest, &layout, &entry.name, known);
                *known = vec![all.gather(&telling_rows(manifest, &layout, &entry.name, &all, watch))];
            }
        }
    }

    /// The release that they make.
    pub(super) fn release(&self, manifest: &Manifest) -> Release {
        let layout = manifest.layout();
        let tables = manifest.tables.iter().zip(&self.tables);
        let tables = tables.map(|(entry, parts)| joined(manifest, &layout, &entry.name, parts)).collect();
        Release { manifest: manifest.clone(), tables }
    }
}

/// Rows that together have every value, range and label of a table.
fn telling_rows(manifest: &Manifest, layout: &Layout, name: &str, table: &Table, watch: &dyn Watch) -> Vec<u32> {
    let shown = layout.table(name).map_or(&[][..], |table| &table.columns);
    let mut rows: Vec<u32> = Vec::new();
    let column = |cell: Cell| table.column(&shown.iter().find(|it| it.cell == cell)?.name);
    for shown in shown {
        let found = match shown.cell {
            // Whether all words of an order are covered takes both ends at once; elsewhere each end counts alone.
            Cell::Low(at) if manifest.attributes[at].kind == KindName::Ordinal => {
                let ends: Option<Vec<&Column>> = [Cell::Low(at), Cell::High(at)].map(column).into_iter().collect();
                ends.map(|ends| Groups::of_columns(&ends, table.rows(), watch).some_rows())
            }
            Cell::High(at) if manifest.attributes[at].kind == KindName::Ordinal => None,
            Cell::Value(_) | Cell::Low(_) | Cell::High(_) | Cell::Label(_) => column(shown.cell).map(first_rows),
            Cell::GroupId | Cell::Count | Cell::Persons | Cell::Hits | Cell::Bound(_) | Cell::Member => None,
        };
        rows.extend(found.into_iter().flatten().map(|row| row as u32));
    }
    rows.sort_unstable();
    rows.dedup();
    if rows.is_empty() && table.rows() > 0 {
        rows.push(0);
    }
    rows
}

/// The first row of every value that occurs.
fn first_rows(column: &Column) -> Vec<usize> {
    let mut is_known = vec![false; column.domain().len()];
    let is_new = |(_, code): &(usize, u32)| !std::mem::replace(&mut is_known[*code as usize], true);
    column.codes().iter().enumerate().filter(is_new).map(|(row, _)| row).collect()
}

/// The rows of tables that have the same columns, one table after the other.
fn joined(manifest: &Manifest, layout: &Layout, name: &str, tables: &[Table]) -> Table {
    let [first, others @ ..] = tables else { return Table::default() };
    if others.is_empty() {
        return first.clone();
    }
    let shown = layout.table(name).map_or(&[][..], |table| &table.columns);
    let columns = first.columns().iter().enumerate().map(|(at, column)| {
        let cell = shown.iter().find(|it| it.name == column.name()).map(|it| it.cell);
        let order = match cell {
            Some(Cell::Value(at) | Cell::Low(at) | Cell::High(at)) => manifest.attributes[at].domain.order(),
            _ => Vec::new(),
        };
        let columns: Vec<&Column> = tables.iter().filter_map(|table| table.columns().get(at)).collect();
        one_after_the_other(&columns, &order)
    });
    Table::new(columns.collect())
}

/// `order` is that of ordinal values.
fn one_after_the_other(columns: &[&Column], order: &[String]) -> Column {
    let (name, kind) = columns.first().map_or(("", Kind::Category), |column| (column.name(), column.domain().kind()));
    let mut dictionary: Vec<Option<Value>> = Vec::new();
    let mut chunks = Vec::with_capacity(columns.len());
    for column in columns {
        let (domain, start) = (column.domain(), dictionary.len() as u32);
        dictionary.extend((0..domain.len() as u32).map(|code| domain.value(code).cloned()));
        let to_dictionary = (start..dictionary.len() as u32).collect();
        chunks.push(DictionaryChunk { codes: column.codes().clone(), to_dictionary });
    }
    let rank_of: BTreeMap<&str, usize> = order.iter().map(String::as_str).zip(0..).collect();
    let rank = |value: &Option<Value>| {
        let text = value.as_ref().map(ToString::to_string).unwrap_or_default();
        rank_of.get(text.as_str()).copied().unwrap_or(usize::MAX)
    };
    let ranks = if kind == Kind::Ordinal { dictionary.iter().map(rank).collect() } else { Vec::new() };
    Column::from_dictionary(name, kind, dictionary, &ranks, chunks)
}

//! A published cell as bytes, to wait for the numbers of its groups: a head in JSON, then the codes of all columns.

use std::sync::Arc;

use chrysalis_table::{Codes, Column, Domain, Kind, Table, Value, each_width};
use serde::{Deserialize, Serialize};

use super::{CellFacts, CellRelease};
use crate::PublishError;

/// Everything but codes.
#[derive(Serialize, Deserialize)]
struct Head {
    facts: CellFacts,
    tables: Vec<HeadTable>,
}

#[derive(Serialize, Deserialize)]
struct HeadTable {
    name: String,
    rows: usize,
    columns: Vec<HeadColumn>,
}

/// A column: its values are written as text.
#[derive(Serialize, Deserialize)]
struct HeadColumn {
    name: String,
    kind: String,
    missing: bool,
    values: Vec<String>,
    /// Bytes of a code.
    width: usize,
}

impl CellRelease {
    /// As bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, PublishError> {
        let column = |column: &Column| HeadColumn {
            name: column.name().to_owned(),
            kind: column.domain().kind().to_string(),
            missing: column.domain().has_missing(),
            values: column.domain().values().iter().map(Value::to_string).collect(),
            width: width(column.codes()),
        };
        let table = |(name, table): &(String, Table)| HeadTable {
            name: name.clone(),
            rows: table.rows(),
            columns: table.columns().iter().map(column).collect(),
        };
        let head = Head { facts: self.facts.clone(), tables: self.tables.iter().map(table).collect() };
        let head = serde_json::to_vec(&head).map_err(|error| PublishError::Internal(error.to_string()))?;
        let mut bytes = (head.len() as u64).to_le_bytes().to_vec();
        bytes.extend(head);
        for column in self.tables.iter().flat_map(|(_, table)| table.columns()) {
            each_width!(column.codes(), codes => bytes.extend(codes.iter().flat_map(|code| code.to_le_bytes())));
        }
        Ok(bytes)
    }

    /// From the bytes of [`CellRelease::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PublishError> {
        let wrong = |why: &str| PublishError::Internal(format!("a published cell is not as it was put aside: {why}"));
        let split = bytes
            .split_first_chunk()
            .and_then(|(length, rest)| rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?));
        let (head, rest) = split.ok_or_else(|| wrong("it ends early"))?;
        let head: Head = serde_json::from_slice(head).map_err(|error| wrong(&error.to_string()))?;
        read(head, rest).ok_or_else(|| wrong("its columns do not fit"))
    }
}

fn read(Head { facts, tables }: Head, mut rest: &[u8]) -> Option<CellRelease> {
    let mut made = Vec::with_capacity(tables.len());
    for table in tables {
        let mut columns = Vec::with_capacity(table.columns.len());
        for column in &table.columns {
            let domain = domain(column)?;
            let (codes, after) = read_codes(rest, column.width, table.rows)?;
            rest = after;
            if codes.iter().any(|code| code as usize >= domain.len()) {
                return None;
            }
            columns.push(Column::new(&*column.name, Arc::new(domain), codes));
        }
        made.push((table.name, Table::new(columns)));
    }
    rest.is_empty().then_some(CellRelease { facts, tables: made })
}

fn domain(column: &HeadColumn) -> Option<Domain> {
    let kind: Kind = column.kind.parse().ok()?;
    let values: Vec<Value> = column.values.iter().map(|text| Value::parse(kind, text)).collect::<Option<_>>()?;
    let is_sorted = kind == Kind::Ordinal || values.is_sorted_by(|a, b| a < b);
    is_sorted.then(|| Domain::new(kind, values, column.missing))
}

/// How many bytes a code takes.
pub(super) fn width(codes: &Codes) -> usize {
    match codes {
        Codes::U8(_) => 1,
        Codes::U16(_) => 2,
        Codes::U32(_) => 4,
    }
}

/// The codes of some rows, each of so many bytes, and what follows them.
pub(super) fn read_codes(bytes: &[u8], width: usize, rows: usize) -> Option<(Codes, &[u8])> {
    let (own, after) = bytes.split_at_checked(rows.checked_mul(width)?)?;
    let codes = match width {
        1 => Codes::U8(own.to_vec()),
        2 => Codes::U16(own.as_chunks().0.iter().map(|code| u16::from_le_bytes(*code)).collect()),
        4 => Codes::U32(own.as_chunks().0.iter().map(|code| u32::from_le_bytes(*code)).collect()),
        _ => return None,
    };
    Some((codes, after))
}

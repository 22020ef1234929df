//! Rows on their way to their cells, as bytes: codes of the whole table, column after column.

use std::sync::Arc;

use chrysalis_table::{Codes, Column, Table};
use rayon::prelude::*;

use super::bytes::{read_codes, width};
use super::{CellPlan, Whole, WholeColumn};
use crate::PublishError;

/// Some rows of one cell.
///
/// LEAK: these are the owner's microdata. Whoever keeps them does so where nobody else can read them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The cell.
    pub cell: u32,
    /// How many rows.
    pub rows: u32,
    /// The number of rows, then the codes of each column. Blocks one after the other are a list of blocks.
    pub bytes: Vec<u8>,
}

impl CellPlan {
    /// Step 3: the rows of a table by cell, in the order of cells; cells without rows have no block.
    pub fn blocks(&self, table: &Table) -> Result<Vec<Block>, PublishError> {
        let cells = self.route(table)?;
        self.blocks_of(table, &cells)
    }

    /// The same where the cells of the rows are known already.
    pub fn blocks_of(&self, table: &Table, cells: &[u32]) -> Result<Vec<Block>, PublishError> {
        let table = self.whole().recoded(table)?;
        let mut rows: Vec<Vec<u32>> = vec![Vec::new(); self.n_cells()];
        (0_u32..).zip(cells).for_each(|(row, &cell)| rows[cell as usize].push(row));
        let block = |(cell, rows): (usize, &Vec<u32>)| Block {
            cell: cell as u32,
            rows: rows.len() as u32,
            bytes: encoded(&table, rows),
        };
        Ok(rows.par_iter().enumerate().filter(|(_, rows)| !rows.is_empty()).map(block).collect())
    }
}

/// How many bytes a block of so many rows has after their number.
pub fn block_len(whole: &Whole, rows: u32) -> usize {
    let width = |column: &WholeColumn| width(&Codes::with_capacity(column.domain().len(), 0));
    rows as usize * whole.columns().iter().map(width).sum::<usize>()
}

/// A block of all rows of a table that has the domains of the whole one.
pub fn encode(table: &Table) -> Vec<u8> {
    encoded(table, &(0..table.rows() as u32).collect::<Vec<u32>>())
}

fn encoded(table: &Table, rows: &[u32]) -> Vec<u8> {
    let mut bytes = (rows.len() as u32).to_le_bytes().to_vec();
    for column in table.columns() {
        match column.codes() {
            Codes::U8(codes) => bytes.extend(rows.iter().map(|&row| codes[row as usize])),
            Codes::U16(codes) => bytes.extend(rows.iter().flat_map(|&row| codes[row as usize].to_le_bytes())),
            Codes::U32(codes) => bytes.extend(rows.iter().flat_map(|&row| codes[row as usize].to_le_bytes())),
        }
    }
    bytes
}

/// The rows of blocks, one after the other.
pub fn decode(whole: &Whole, blocks: &[u8]) -> Result<Table, PublishError> {
    let wrong = || PublishError::Internal("rows came back from their cell changed".into());
    let mut columns: Vec<Codes> =
        whole.columns().iter().map(|known| Codes::with_capacity(known.domain().len(), 0)).collect();
    let mut rest = blocks;
    while !rest.is_empty() {
        let (head, mut after) = rest.split_first_chunk::<4>().ok_or_else(wrong)?;
        let rows = u32::from_le_bytes(*head) as usize;
        for codes in &mut columns {
            let (own, others) = read_codes(after, width(codes), rows).ok_or_else(wrong)?;
            match (codes, own) {
                (Codes::U8(codes), Codes::U8(own)) => codes.extend(own),
                (Codes::U16(codes), Codes::U16(own)) => codes.extend(own),
                (Codes::U32(codes), Codes::U32(own)) => codes.extend(own),
                _ => return Err(wrong()),
            }
            after = others;
        }
        rest = after;
    }
    let column = |(known, codes): (&WholeColumn, Codes)| {
        let is_known = codes.iter().all(|code| (code as usize) < known.domain().len());
        is_known.then(|| Column::new(known.name(), Arc::clone(known.domain()), codes)).ok_or_else(wrong)
    };
    Ok(Table::new(whole.columns().iter().zip(columns).map(column).collect::<Result<_, _>>()?))
}

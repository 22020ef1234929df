use chrysalis_table::{Column, Taxonomy, each_width};
use rayon::prelude::*;

use crate::Microdata;
use crate::method::node_ncp;

/// A row as a point. Coordinates are positions on the quasi attributes, scaled so that the domain of each is one
/// [`UNIT`] long: the distance of two points is then what it would cost, in NCP, to put them into one box.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point<const D: usize> {
    pub(crate) at: [u16; D],
    /// The sensitive code.
    pub(crate) value: u32,
    pub(crate) row: u32,
}

/// The width of a domain. A missing value lies one unit below all others, so two of them fit 16 bits.
const UNIT: f64 = 32_000.0;

impl<const D: usize> Point<D> {
    /// The sum of the distances on every attribute.
    pub(super) fn distance(&self, other: &Self) -> u32 {
        let mut sum = 0u32;
        for axis in 0..D {
            sum += u32::from(self.at[axis].abs_diff(other.at[axis]));
        }
        sum
    }
}

/// Step 2. All rows, in the given order.
#[allow(clippy::unnecessary_cast, reason = "each_width! repeats the loop for every width of code, u32 among them")]
pub(crate) fn points<const D: usize>(data: &Microdata, rows: &[u32]) -> Vec<Point<D>> {
    let axes: Vec<(&Column, Vec<u16>)> =
        data.quasi().take(D).map(|(column, taxonomy)| (column, positions(column, taxonomy))).collect();
    let sensitive = data.sensitive();
    let mut points = vec![Point { at: [0; D], value: 0, row: 0 }; rows.len()];
    let chunk = 1 << 14;
    points.par_chunks_mut(chunk).zip(rows.par_chunks(chunk)).for_each(|(points, rows)| {
        for (point, &row) in points.iter_mut().zip(rows) {
            point.row = row;
        }
        for (axis, (column, positions)) in axes.iter().enumerate() {
            each_width!(column.codes(), codes => {
                for point in points.iter_mut() {
                    point.at[axis] = positions[codes[point.row as usize] as usize];
                }
            });
        }
        if let Some(column) = sensitive {
            each_width!(column.codes(), codes => {
                for point in points.iter_mut() {
                    point.value = codes[point.row as usize] as u32;
                }
            });
        }
    });
    points
}

/// Where each code lies: numbers by value, categories by code, and categories with a taxonomy by leaf, where
/// neighbouring leaves are as far apart as their common label costs.
fn positions(column: &Column, taxonomy: Option<&Taxonomy>) -> Vec<u16> {
    let domain = column.domain();
    let shares: Vec<Option<f64>> = match taxonomy {
        Some(tree) if !domain.kind().is_ordered() => leaf_positions(column, tree),
        _ => (0..domain.len() as u32).map(|code| domain.position(code)).collect(),
    };
    let known = || shares.iter().flatten().copied();
    let (first, last) = (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    let width = if last > first { last - first } else { 1.0 };
    let shift = if domain.has_missing() { UNIT } else { 0.0 };
    let place = |share: &Option<f64>| share.map_or(0.0, |share| shift + UNIT * (share - first) / width);
    // PROOF: between 0 and two units, which 16 bits hold.
    shares.iter().map(|share| place(share).round() as u16).collect()
}

fn leaf_positions(column: &Column, tree: &Taxonomy) -> Vec<Option<f64>> {
    let domain = column.domain();
    let mut positions = vec![None; domain.len()];
    let mut position = 0.0;
    for rank in 0..domain.len() as u32 {
        if rank > 0 {
            position += node_ncp(domain, tree, tree.node(tree.common_ancestor(rank - 1..=rank)));
        }
        let code = tree.code_at(rank);
        positions[code as usize] = domain.value(code).map(|_| position);
    }
    positions
}

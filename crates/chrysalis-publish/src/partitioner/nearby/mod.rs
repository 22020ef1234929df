//! Groups of rows that lie close together; see `spec.md` for the steps that the comments number.

mod curve;
mod deal;
mod exchange;
mod mending;
mod merging;
mod missing;
mod points;
mod rounds;
mod swaps;

use chrysalis_criteria::Principle;
use chrysalis_table::{Progress, SaCounts};
use rand::CryptoRng;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::anatomize::stretches;
use super::dealing::Dealing;
use super::stir::Lots;
use super::{Compact, Mondrian, Partitioner};
use crate::{Microdata, Partition, PublishError};
pub(super) use merging::merged_until_all_hold;
pub(crate) use points::{Point, points};

/// Forms groups of l rows with distinct sensitive values whose quasi values lie close together.
///
/// # Guarantees
/// Every principle, in every group. For `l=` alone with a whole l, groups of l to 2l − 1 rows with distinct values.
/// # Cost
/// O(n log n); about half a microsecond a row.
/// # Paper
/// Ours. It gets from the order of a curve what pa's `similar` seeks by dividing, and never has to stop early.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nearby;

/// Groups of at most this many rows mostly have equal quasi values; for these `compact` finds better cells than
/// `mondrian`.
const SMALL_GROUP: u64 = 3;

impl Partitioner for Nearby {
    fn name(&self) -> &'static str {
        "nearby"
    }

    fn partition(
        &self,
        data: &Microdata,
        goal: &dyn Principle,
        rng: &mut dyn CryptoRng,
        progress: Progress<'_>,
    ) -> Result<Partition, PublishError> {
        // Step 1.
        let cells = if goal.is_size_only() {
            Partition::new((0..data.rows() as u32).collect(), &[data.rows() as u32])
        } else if goal.beside_ordinary().map_or(goal.least_size(), |(size, _)| size) <= SMALL_GROUP {
            Compact.partition(data, goal, rng, &|_| progress(0))?
        } else {
            Mondrian::default().partition(data, goal, rng, &|_| progress(0))?
        };
        let sizes: Vec<u32> = cells.sizes().map(|size| size as u32).collect();
        let mut rows = cells.into_rows();
        let mut rest = &mut rows[..];
        for &size in &sizes {
            let (cell, after) = rest.split_at_mut(size as usize);
            // LEAK: which of several equal rows comes first must not depend on where they stood in the input.
            cell.shuffle(rng);
            rest = after;
            progress(0);
        }
        let lots = Lots::new(rng);
        let partition = match data.quasi().len() {
            0..=8 => run::<8>(data, goal, &rows, &sizes, &lots, progress),
            9..=16 => run::<16>(data, goal, &rows, &sizes, &lots, progress),
            17..=32 => run::<32>(data, goal, &rows, &sizes, &lots, progress),
            33..=64 => run::<64>(data, goal, &rows, &sizes, &lots, progress),
            n => {
                return Err(PublishError::request(format!("`nearby` takes up to 64 quasi columns, but {n} are named")));
            }
        };
        progress(data.rows() as u64);
        Ok(partition)
    }
}

fn run<const D: usize>(
    data: &Microdata,
    goal: &dyn Principle,
    rows: &[u32],
    cells: &[u32],
    lots: &Lots,
    progress: Progress<'_>,
) -> Partition {
    let n_values = data.sensitive_counts().domain_len();
    let dealing = Dealing::of(goal, n_values);
    // Step 2.
    let mut points: Vec<Point<D>> = points(data, rows);
    let mut rest = &mut points[..];
    let mut cell_points = Vec::with_capacity(cells.len());
    for &size in cells {
        let (cell, after) = rest.split_at_mut(size as usize);
        cell_points.push(cell);
        rest = after;
    }
    let sizes: Vec<Vec<u32>> = cell_points
        .into_par_iter()
        .map_init(
            || SaCounts::new(n_values),
            |counts, cell| {
                progress(0);
                groups_of_cell(goal, &dealing, cell, counts, data.is_combined())
            },
        )
        .collect();
    let mut sizes = sizes.concat();
    // Step 6.
    if goal.is_size_only() {
        points.iter_mut().for_each(|point| point.value = 0);
    }
    rounds::improve(&mut points, &mut sizes, goal, data, lots, progress);
    Partition::new(points.iter().map(|point| point.row).collect(), &sizes)
}

/// Forms the groups of a cell: reorders its points group after group, and returns the sizes.
fn groups_of_cell<const D: usize>(
    goal: &dyn Principle,
    dealing: &Dealing,
    points: &mut [Point<D>],
    counts: &mut SaCounts,
    has_several: bool,
) -> Vec<u32> {
    // Step 3.
    curve::order(points, None);
    // Step 4.
    counts.clear();
    points.iter().for_each(|point| counts.add(point.value));
    let size = dealing.group_size(goal, counts);
    let sizes = if goal.is_size_only() {
        stretches(points.len(), size)
    } else if size > 1 {
        missing::deal(points, size, dealing)
    } else {
        vec![1; points.len()]
    };
    // Step 4a.
    let sizes = if has_several { mending::mend(goal, dealing, points, &sizes, counts) } else { sizes };
    // Step 5.
    let codes: Vec<u32> = points.iter().map(|point| point.value).collect();
    let merged = merged_until_all_hold(goal, counts, &codes, &sizes);
    let squares = |sizes: &[u32]| sizes.iter().map(|&size| u64::from(size).pow(2)).sum::<u64>();
    // Rows with ordinary values may stand alone, and may as well make up groups with others.
    if let Some((size, _)) = goal.beside_ordinary()
        && (2..=points.len() as u64).contains(&size)
    {
        let mut dealt = points.to_vec();
        let sizes = missing::deal(&mut dealt, size as usize, dealing);
        let codes: Vec<u32> = dealt.iter().map(|point| point.value).collect();
        let sizes = merged_until_all_hold(goal, counts, &codes, &sizes);
        if squares(&sizes) < squares(&merged) {
            points.copy_from_slice(&dealt);
            return sizes;
        }
    }
    let is_large = merged.iter().any(|&size| size as usize > exchange::most_rows(goal));
    if has_several
        && is_large
        && let Some((order, pooled)) = mending::pooled(goal, points, &sizes, counts)
        && squares(&pooled) < squares(&merged)
    {
        points.copy_from_slice(&order);
        return pooled;
    }
    merged
}

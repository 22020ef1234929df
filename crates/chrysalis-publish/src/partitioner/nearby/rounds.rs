use chrysalis_criteria::Principle;
use chrysalis_table::{Progress, SaCounts};
use rayon::prelude::*;

use super::points::Point;
use super::{curve, exchange, swaps};

/// Groups are improved in blocks of at least so many rows and groups.
const ROWS_PER_BLOCK: usize = 512;
const GROUPS_PER_BLOCK: usize = 8;
/// Small tables get more rounds: about so many rows are looked at in all.
const ROWS_IN_ALL: usize = 4_000_000;

/// In tables of more rows, groups so small that they come from `compact`'s cells are left as they are.
const ROWS_FOR_SMALL_GROUPS: usize = 250_000;

/// Neighbouring groups: their points and their sizes.
type Block<'a, const D: usize> = (&'a mut [Point<D>], &'a mut [u32]);

/// Step 6. Neighbouring groups exchange rows where that brings both closer together.
///
/// The points have `n_axes` coordinates that count, and sensitive codes below `n_values`.
pub(super) fn improve<const D: usize>(
    points: &mut Vec<Point<D>>,
    sizes: &mut Vec<u32>,
    goal: &dyn Principle,
    n_values: usize,
    n_axes: usize,
    progress: Progress<'_>,
) {
    if goal.least_size() <= super::SMALL_GROUP && !goal.is_size_only() && points.len() > ROWS_FOR_SMALL_GROUPS {
        return;
    }
    let n_rounds = (ROWS_IN_ALL / points.len().max(1)).clamp(2, 8);
    for round in 0..n_rounds {
        // Another curve brings other groups together: first the one through their centres, then one for each attribute.
        if round > 0 {
            reorder(points, sizes, (round > 1 && n_axes > 0).then(|| round % n_axes));
        }
        let scratch = || (swaps::Scratch::new(), SaCounts::new(n_values));
        blocks(points, sizes).into_par_iter().with_min_len(16).for_each_init(
            scratch,
            |(scratch, counts), (points, sizes)| {
                progress(0);
                swaps::improve(points, sizes, scratch);
                if !goal.is_size_only() {
                    exchange::improve(points, sizes, goal, counts);
                }
            },
        );
    }
}

/// Stretches of groups, each with its points.
fn blocks<'a, const D: usize>(points: &'a mut [Point<D>], sizes: &'a mut [u32]) -> Vec<Block<'a, D>> {
    let mut blocks = Vec::new();
    let (mut rest, mut rest_sizes) = (points, sizes);
    while !rest_sizes.is_empty() {
        let (mut n_groups, mut n_rows) = (0, 0);
        while n_groups < rest_sizes.len() && (n_groups < GROUPS_PER_BLOCK || n_rows < ROWS_PER_BLOCK) {
            n_rows += rest_sizes[n_groups] as usize;
            n_groups += 1;
        }
        let (block, others) = rest.split_at_mut(n_rows);
        let (block_sizes, other_sizes) = rest_sizes.split_at_mut(n_groups);
        blocks.push((block, block_sizes));
        (rest, rest_sizes) = (others, other_sizes);
    }
    blocks
}

/// Puts the groups in the order of a curve through their centres.
fn reorder<const D: usize>(points: &mut Vec<Point<D>>, sizes: &mut Vec<u32>, last: Option<usize>) {
    let starts: Vec<u32> = sizes
        .iter()
        .scan(0, |start, size| {
            *start += size;
            Some(*start - size)
        })
        .collect();
    let members = |group: u32| {
        let start = starts[group as usize] as usize;
        &points[start..start + sizes[group as usize] as usize]
    };
    let centre = |group: u32| {
        let mut sums = [0u64; D];
        for point in members(group) {
            sums.iter_mut().zip(point.at).for_each(|(sum, at)| *sum += u64::from(at));
        }
        // PROOF: a mean of 16-bit numbers has 16 bits.
        let at = sums.map(|sum| (sum / u64::from(sizes[group as usize])) as u16);
        Point { at, value: 0, row: group }
    };
    let mut centres: Vec<Point<D>> = (0..sizes.len() as u32).into_par_iter().map(centre).collect();
    curve::order(&mut centres, last);
    let mut moved = Vec::with_capacity(points.len());
    centres.iter().for_each(|centre| moved.extend_from_slice(members(centre.row)));
    let moved_sizes = centres.iter().map(|centre| sizes[centre.row as usize]).collect();
    (*points, *sizes) = (moved, moved_sizes);
}

use chrysalis_criteria::Principle;
use chrysalis_table::{Progress, SaCounts};
use rayon::prelude::*;

use super::points::Point;
use super::{curve, exchange, swaps};
use crate::Microdata;
use crate::partitioner::blocks::blocks;
use crate::partitioner::stir::{Cost, HEAT, Lots, Member, Stirrer, rounds_and_sweeps};

/// Groups are improved in blocks of at least this many.
const GROUPS_PER_BLOCK: usize = 8;
/// Small tables get more rounds: about this many rows are looked at in all.
const ROWS_IN_ALL: usize = 4_000_000;

/// In tables with more rows, groups small enough to come from `compact`'s cells are left as they are.
const ROWS_FOR_SMALL_GROUPS: usize = 250_000;

/// Step 6. Neighbouring groups exchange rows if that makes both more compact.
///
/// Points are rows of `data`, or its persons.
pub(super) fn improve<const D: usize>(
    points: &mut Vec<Point<D>>,
    sizes: &mut Vec<u32>,
    goal: &dyn Principle,
    data: &Microdata,
    lots: &Lots,
    progress: Progress<'_>,
) {
    let (n_values, n_axes, whole_rows) = (data.sensitive_counts().domain_len(), data.quasi().len(), data.whole_rows());
    if goal.least_size() <= super::SMALL_GROUP && !goal.is_size_only() && whole_rows > ROWS_FOR_SMALL_GROUPS {
        return;
    }
    let n_rounds = (ROWS_IN_ALL / whole_rows.max(1)).clamp(2, 8);
    for round in 0..n_rounds {
        // Another curve brings other groups together: first the one through their centres, then one for each attribute.
        if round > 0 {
            reorder(points, sizes, (round > 1 && n_axes > 0).then(|| round % n_axes));
        }
        let scratch = || (swaps::Scratch::new(), SaCounts::new(n_values));
        blocks(points, sizes, GROUPS_PER_BLOCK).into_par_iter().with_min_len(16).for_each_init(
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
    if !goal.is_size_only() {
        stir(points, sizes, goal, data, lots, progress);
    }
}

/// Step 7. Rows change places at random, where that costs little.
fn stir<const D: usize>(
    points: &mut Vec<Point<D>>,
    sizes: &mut Vec<u32>,
    goal: &dyn Principle,
    data: &Microdata,
    lots: &Lots,
    progress: Progress<'_>,
) {
    let (n_values, n_axes) = (data.sensitive_counts().domain_len(), data.quasi().len());
    let (n_rounds, sweeps) = rounds_and_sweeps(sizes.iter().copied(), data.whole_rows());
    let heat = HEAT * mean_cost(points, sizes, exchange::most_rows(goal));
    let stirrer = Stirrer { goal, keeps_apart: true, heat, sweeps, slack: f64::INFINITY };
    for round in 0..n_rounds {
        // A single round keeps the order as it is.
        if n_rounds > 1 {
            reorder(points, sizes, (round > 0 && n_axes > 0).then(|| round % n_axes));
        }
        blocks(points, sizes, GROUPS_PER_BLOCK).into_par_iter().enumerate().with_min_len(16).for_each_init(
            || SaCounts::new(n_values),
            |counts, (block, (points, sizes))| {
                progress(0);
                stirrer.stir(points, sizes, &MeanDistance, counts, &mut lots.of(round, block));
            },
        );
    }
}

/// At most this many groups are sampled for the average cost of a row.
const SAMPLE: usize = 4_096;

/// The average cost of a row, from a sample of the groups that have no more rows than that.
fn mean_cost<const D: usize>(points: &[Point<D>], sizes: &[u32], most_rows: usize) -> f64 {
    let step = sizes.len() / SAMPLE + 1;
    let (mut start, mut n, mut sum) = (0, 0, 0.0);
    for (at, &size) in sizes.iter().enumerate() {
        let group = &points[start..start + size as usize];
        start += size as usize;
        if at % step == 0 && group.len() <= most_rows {
            let pairs = group.iter().enumerate().flat_map(|(at, p)| group[..at].iter().map(move |q| p.distance(q)));
            sum += pairs.map(f64::from).sum::<f64>() / f64::from(size);
            n += size;
        }
    }
    sum / f64::from(n.max(1))
}

/// The sum over all groups of the mean distance between a member and the group.
struct MeanDistance;

impl<const D: usize> Member for Point<D> {
    fn value(&self) -> u32 {
        self.value
    }
}

impl<const D: usize> Cost<Point<D>> for MeanDistance {
    fn rise(&self, first: &[Point<D>], a: usize, second: &[Point<D>], b: usize) -> f64 {
        let rise = |group: &[Point<D>], at: usize, coming: &Point<D>| {
            let going = &group[at];
            let (mut before, mut after) = (0u64, 0u64);
            for (_, other) in group.iter().enumerate().filter(|(other, _)| *other != at) {
                before += u64::from(going.distance(other));
                after += u64::from(coming.distance(other));
            }
            (after as f64 - before as f64) / group.len() as f64
        };
        rise(first, a, &second[b]) + rise(second, b, &first[a])
    }
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

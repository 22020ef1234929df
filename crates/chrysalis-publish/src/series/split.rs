use chrysalis_table::Progress;
use rayon::prelude::*;

use super::divide::Bucket;
use crate::partitioner::{Point, points};
use crate::{Microdata, Partition, PublishError};

/// Fewer points than this are not worth another task.
const POINTS_PER_TASK: usize = 4_096;

/// Groups, the signature of each, and how often it shows each value of that.
pub(super) struct Split {
    pub(super) partition: Partition,
    pub(super) of_group: Vec<u32>,
    pub(super) times: Vec<u32>,
}

/// Step 4. Groups of at least `k` people who lie close together.
pub(super) fn split(
    data: &Microdata,
    buckets: &[Bucket],
    k: u64,
    progress: Progress<'_>,
) -> Result<Split, PublishError> {
    let k = usize::try_from(k).unwrap_or(usize::MAX);
    let groups = match data.quasi().len() {
        0..=8 => run::<8>(data, buckets, k, progress),
        9..=16 => run::<16>(data, buckets, k, progress),
        17..=32 => run::<32>(data, buckets, k, progress),
        33..=64 => run::<64>(data, buckets, k, progress),
        n => return Err(PublishError::request(format!("a series takes up to 64 quasi columns, but {n} are named"))),
    };
    let (mut rows, mut sizes) = (Vec::with_capacity(data.rows()), Vec::new());
    let (mut of_group, mut times) = (Vec::new(), Vec::new());
    for (bucket, groups) in buckets.iter().zip(groups) {
        of_group.extend(std::iter::repeat_n(bucket.signature, groups.sizes.len()));
        rows.extend(groups.rows);
        sizes.extend(groups.sizes);
        times.extend(groups.times);
    }
    Ok(Split { partition: Partition::new(rows, &sizes), of_group, times })
}

/// Rows, group after group.
#[derive(Default)]
struct Groups {
    rows: Vec<u32>,
    sizes: Vec<u32>,
    times: Vec<u32>,
}

fn run<const D: usize>(data: &Microdata, buckets: &[Bucket], k: usize, progress: Progress<'_>) -> Vec<Groups> {
    let of_bucket = |bucket: &Bucket| {
        let rows: Vec<u32> = bucket.rows.concat();
        let mut all = points::<D>(data, &rows);
        let mut rest = &mut all[..];
        let mut lists = Vec::with_capacity(bucket.rows.len());
        for rows in &bucket.rows {
            let (list, after) = rest.split_at_mut(rows.len());
            lists.push(list);
            rest = after;
        }
        let groups = halved(lists, bucket.groups, k);
        progress(0);
        groups
    };
    buckets.par_iter().map(of_bucket).collect()
}

/// Cuts people in two again and again, until every part is one group, or its halves would have fewer than k people: on the
/// attribute on which they differ most, and those of every value where it is in two halves. A part of several groups that is
/// not cut further is one that shows every value as many times.
///
/// Some value has as many points as there are groups, so no group comes out empty.
fn halved<const D: usize>(lists: Vec<&mut [Point<D>]>, n_groups: usize, k: usize) -> Groups {
    let whole = |lists: &[&mut [Point<D>]]| {
        let rows: Vec<u32> = lists.iter().flat_map(|list| list.iter().map(|point| point.row)).collect();
        // PROOF: rows are numbered in 32 bits, and some value has as many of them as there are groups.
        Groups { sizes: vec![rows.len() as u32], rows, times: vec![n_groups as u32] }
    };
    if n_groups <= 1 {
        return whole(&lists);
    }
    let n_left = n_groups / 2;
    let n_points: usize = lists.iter().map(|list| list.len()).sum();
    // What rounding left over goes on to the next value, so that counterfeits spread over both halves.
    let mut over = 0;
    let middle = |list: &&mut [Point<D>]| {
        let exact = list.len() * n_left + over;
        let middle = (exact / n_groups).max(list.len().saturating_sub(n_groups - n_left)).min(n_left.min(list.len()));
        over = exact.saturating_sub(middle * n_groups);
        middle
    };
    let middles: Vec<usize> = lists.iter().map(middle).collect();
    let on_left: usize = middles.iter().sum();
    if on_left.min(n_points - on_left) < k {
        return whole(&lists);
    }
    let axis = widest(&lists);
    let (mut left, mut right) = (Vec::with_capacity(lists.len()), Vec::with_capacity(lists.len()));
    for (list, middle) in lists.into_iter().zip(middles) {
        if middle > 0 && middle < list.len() {
            list.select_nth_unstable_by_key(middle, |point| point.at[axis]);
        }
        let (first, second) = list.split_at_mut(middle);
        left.push(first);
        right.push(second);
    }
    let (left, right) = if n_points >= 2 * POINTS_PER_TASK {
        rayon::join(|| halved(left, n_left, k), || halved(right, n_groups - n_left, k))
    } else {
        (halved(left, n_left, k), halved(right, n_groups - n_left, k))
    };
    let mut all = left;
    all.rows.extend(right.rows);
    all.sizes.extend(right.sizes);
    all.times.extend(right.times);
    all
}

/// The attribute with the largest variance.
fn widest<const D: usize>(lists: &[&mut [Point<D>]]) -> usize {
    let (mut sums, mut squares, mut n) = ([0i64; D], [0i64; D], 0i64);
    for point in lists.iter().flat_map(|list| list.iter()) {
        for axis in 0..D {
            let at = i64::from(point.at[axis]);
            sums[axis] += at;
            squares[axis] += at * at;
        }
        n += 1;
    }
    let spread = |axis: usize| {
        // PROOF: coordinates have 16 bits and points 32, so the products fit 128 bits.
        i128::from(squares[axis]) * i128::from(n) - i128::from(sums[axis]) * i128::from(sums[axis])
    };
    (0..D).rev().max_by_key(|&axis| spread(axis)).unwrap_or(0)
}

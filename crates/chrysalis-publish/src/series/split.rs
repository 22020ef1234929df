use chrysalis_table::Progress;
use rayon::prelude::*;

use super::divide::Bucket;
use crate::partitioner::{Point, points};
use crate::{Microdata, Partition, PublishError};

/// Fewer points than this are not worth another task.
const POINTS_PER_TASK: usize = 4_096;

/// Step 4. Groups of people who lie close together, and the signature of each.
pub(super) fn split(
    data: &Microdata,
    buckets: &[Bucket],
    progress: Progress<'_>,
) -> Result<(Partition, Vec<u32>), PublishError> {
    let groups = match data.quasi().len() {
        0..=8 => run::<8>(data, buckets, progress),
        9..=16 => run::<16>(data, buckets, progress),
        17..=32 => run::<32>(data, buckets, progress),
        33..=64 => run::<64>(data, buckets, progress),
        n => return Err(PublishError::request(format!("a series takes up to 64 quasi columns, but {n} are named"))),
    };
    let (mut rows, mut sizes, mut of_group) = (Vec::with_capacity(data.rows()), Vec::new(), Vec::new());
    for (bucket, groups) in buckets.iter().zip(groups) {
        of_group.extend(std::iter::repeat_n(bucket.signature, groups.sizes.len()));
        rows.extend(groups.rows);
        sizes.extend(groups.sizes);
    }
    Ok((Partition::new(rows, &sizes), of_group))
}

/// Rows, group after group.
#[derive(Default)]
struct Groups {
    rows: Vec<u32>,
    sizes: Vec<u32>,
}

fn run<const D: usize>(data: &Microdata, buckets: &[Bucket], progress: Progress<'_>) -> Vec<Groups> {
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
        let groups = halved(lists, bucket.groups);
        progress(0);
        groups
    };
    buckets.par_iter().map(of_bucket).collect()
}

/// Cuts people in two again and again, until every part is one group: on the attribute on which they differ most, and
/// those of every value where it is in two halves.
///
/// Some value has as many points as there are groups, so no group comes out empty.
fn halved<const D: usize>(lists: Vec<&mut [Point<D>]>, n_groups: usize) -> Groups {
    if n_groups <= 1 {
        let rows: Vec<u32> = lists.iter().flat_map(|list| list.iter().map(|point| point.row)).collect();
        // PROOF: a group has at most a row per value, and codes have 32 bits.
        return Groups { sizes: vec![rows.len() as u32], rows };
    }
    let n_left = n_groups / 2;
    let axis = widest(&lists);
    let n_points: usize = lists.iter().map(|list| list.len()).sum();
    let (mut left, mut right) = (Vec::with_capacity(lists.len()), Vec::with_capacity(lists.len()));
    // What rounding left over goes on to the next value, so that counterfeits spread over both halves.
    let mut over = 0;
    for list in lists {
        let exact = list.len() * n_left + over;
        let middle = (exact / n_groups).max(list.len().saturating_sub(n_groups - n_left)).min(n_left.min(list.len()));
        over = exact.saturating_sub(middle * n_groups);
        if middle > 0 && middle < list.len() {
            list.select_nth_unstable_by_key(middle, |point| point.at[axis]);
        }
        let (first, second) = list.split_at_mut(middle);
        left.push(first);
        right.push(second);
    }
    let (left, right) = if n_points >= 2 * POINTS_PER_TASK {
        rayon::join(|| halved(left, n_left), || halved(right, n_groups - n_left))
    } else {
        (halved(left, n_left), halved(right, n_groups - n_left))
    };
    let mut all = left;
    all.rows.extend(right.rows);
    all.sizes.extend(right.sizes);
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

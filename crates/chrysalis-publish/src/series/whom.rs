use chrysalis_table::{Code, Column, Progress};

use super::divide::Bucket;
use super::{Family, Past};
use crate::partitioner::{Point, points};
use crate::{Microdata, PublishError};

/// Fewer points than this are not worth another task.
const POINTS_PER_TASK: usize = 4_096;

/// How often what buckets lack and what newcomers can give are brought together: less often for few newcomers.
const ROUNDS: usize = 8;
const ROUNDS_FOR_FEW: usize = 3;
const FEW: usize = 400;

/// How often an interval is halved to find by how much they are to be raised or lowered.
const HALVINGS: usize = 16;

/// Which part of what all buckets together lack of a value counts besides what one bucket lacks. With all of it, buckets that
/// share values answer each other, and nothing settles.
const TOGETHER: f64 = 0.3;

/// Step 3c. Newcomers with the same value change places between buckets, so that people with different values of a
/// signature are found in the same places. No bucket's numbers change.
pub(super) fn settle(
    data: &Microdata,
    (column, past): (&Column, &Past),
    buckets: &mut [Bucket],
    family: &Family,
    progress: Progress<'_>,
) -> Result<(), PublishError> {
    match data.quasi().len() {
        0..=8 => run::<8>(data, (column, past), buckets, family, progress),
        9..=16 => run::<16>(data, (column, past), buckets, family, progress),
        17..=32 => run::<32>(data, (column, past), buckets, family, progress),
        33..=64 => run::<64>(data, (column, past), buckets, family, progress),
        // The split refuses that many.
        _ => return Ok(()),
    }
    Ok(())
}

fn run<const D: usize>(
    data: &Microdata,
    (column, past): (&Column, &Past),
    buckets: &mut [Bucket],
    family: &Family,
    progress: Progress<'_>,
) {
    let all = points::<D>(data, &(0..data.rows() as u32).collect::<Vec<u32>>());
    let of_rows = |rows: &[u32]| -> Vec<Point<D>> { rows.iter().map(|&row| all[row as usize]).collect() };
    let mut values: Vec<OneValue<D>> = (0..column.domain().len()).map(|_| OneValue::default()).collect();
    for (at, bucket) in (0_u32..).zip(buckets.iter_mut()) {
        for (rows, &value) in bucket.rows.iter_mut().zip(family.values(bucket.signature)) {
            let (fresh, stay): (Vec<u32>, Vec<u32>) =
                rows.iter().partition(|&&row| past.of_row[row as usize].is_none());
            let takes = fresh.len();
            let value = &mut values[value as usize];
            value.newcomers.extend(of_rows(&fresh));
            value.shares.push(Share { bucket: at, there: of_rows(&stay), takes });
            *rows = stay;
        }
    }
    for (row, at) in place(values, progress) {
        let value: Code = column.code(row as usize);
        let bucket = &mut buckets[at as usize];
        // PROOF: people are only placed in buckets that take people of their value.
        if let Some(place) = family.place(bucket.signature, value) {
            bucket.rows[place].push(row);
        }
    }
}

/// The people of one value in some part of the space of quasi values.
struct OneValue<const D: usize> {
    newcomers: Vec<Point<D>>,
    /// In the order of the buckets.
    shares: Vec<Share<D>>,
}

impl<const D: usize> Default for OneValue<D> {
    fn default() -> Self {
        OneValue { newcomers: Vec::new(), shares: Vec::new() }
    }
}

/// Those of them who are in one bucket, and how many newcomers it takes.
struct Share<const D: usize> {
    bucket: u32,
    there: Vec<Point<D>>,
    takes: usize,
}

impl<const D: usize> OneValue<D> {
    /// Where only one bucket takes newcomers, it takes them all.
    fn close(&mut self, placed: &mut Vec<(u32, u32)>) {
        let mut takers = self.shares.iter_mut().filter(|share| share.takes > 0);
        if let (Some(share), None) = (takers.next(), takers.next()) {
            placed.extend(self.newcomers.iter().map(|point| (point.row, share.bucket)));
            share.there.append(&mut self.newcomers);
            share.takes = 0;
        }
    }

    /// Newcomers who are all alike go anywhere.
    fn deal(self, placed: &mut Vec<(u32, u32)>) {
        let buckets = self.shares.iter().flat_map(|share| std::iter::repeat_n(share.bucket, share.takes));
        placed.extend(self.newcomers.iter().map(|point| point.row).zip(buckets));
    }

    /// The two parts, where the first has `lower` of the newcomers of each share.
    fn cut(self, lower: &[usize], is_low: impl Fn(&Point<D>) -> bool) -> (Self, Self) {
        let (newcomers, others) = self.newcomers.into_iter().partition(&is_low);
        let (mut low, mut high) = (Vec::with_capacity(lower.len()), Vec::with_capacity(lower.len()));
        for (share, &lower) in self.shares.into_iter().zip(lower) {
            let (below, above) = share.there.into_iter().partition(&is_low);
            low.push(Share { bucket: share.bucket, there: below, takes: lower });
            high.push(Share { bucket: share.bucket, there: above, takes: share.takes - lower });
        }
        (OneValue { newcomers, shares: low }, OneValue { newcomers: others, shares: high })
    }
}

/// A bucket for every newcomer: cuts the space in two again and again, and says how many newcomers of each bucket and value
/// are on either side, until only one bucket is left for those of a value.
fn place<const D: usize>(mut values: Vec<OneValue<D>>, progress: Progress<'_>) -> Vec<(u32, u32)> {
    let mut placed = Vec::new();
    values.iter_mut().for_each(|value| value.close(&mut placed));
    let takers = values.iter().flat_map(|value| &value.shares).filter(|share| share.takes > 0);
    let mut open: Vec<u32> = takers.map(|share| share.bucket).collect();
    open.sort_unstable();
    open.dedup();
    // Buckets that take nobody any more have no wishes.
    values.iter_mut().for_each(|value| value.shares.retain(|share| open.binary_search(&share.bucket).is_ok()));
    values.retain(|value| !value.shares.is_empty());
    let Some((axis, mean)) = widest(&values) else {
        values.into_iter().for_each(|value| value.deal(&mut placed));
        return placed;
    };
    progress(0);
    let is_low = |point: &Point<D>| point.at[axis] <= mean;
    let lower = lower(&values, &open, is_low);
    let n_points: usize = values.iter().map(|value| value.newcomers.len()).sum();
    let parts = values.into_iter().zip(&lower).map(|(value, lower)| value.cut(lower, is_low));
    let (low, high): (Vec<_>, Vec<_>) = parts.unzip();
    let (low, high) = if n_points >= POINTS_PER_TASK {
        rayon::join(|| place(low, progress), || place(high, progress))
    } else {
        (place(low, progress), place(high, progress))
    };
    placed.extend(low);
    placed.extend(high);
    placed
}

/// How many newcomers each share has in the lower part: so many that all values of a bucket have about as many people there,
/// and that all buckets together show about as many of a value as have it there.
fn lower<const D: usize>(values: &[OneValue<D>], open: &[u32], is_low: impl Fn(&Point<D>) -> bool) -> Vec<Vec<usize>> {
    let count = |points: &[Point<D>]| points.iter().filter(|point| is_low(point)).count();
    let low: Vec<usize> = values.iter().map(|value| count(&value.newcomers)).collect();
    let of_shares = |value: &OneValue<D>| value.shares.iter().map(|share| count(&share.there) as f64).collect();
    let there: Vec<Vec<f64>> = values.iter().map(of_shares).collect();
    // PROOF: shares whose bucket is not open were left out.
    let place = |share: &Share<D>| open.binary_search(&share.bucket).unwrap_or(0);
    let places: Vec<Vec<usize>> = values.iter().map(|value| value.shares.iter().map(place).collect()).collect();
    let evenly = |(value, &low): (&OneValue<D>, &usize)| {
        let ratio = low as f64 / value.newcomers.len().max(1) as f64;
        value.shares.iter().map(|share| share.takes as f64 * ratio).collect()
    };
    let mut wishes: Vec<Vec<f64>> = values.iter().zip(&low).map(evenly).collect();
    let mut n_values = vec![0.0; open.len()];
    places.iter().flatten().for_each(|&place| n_values[place] += 1.0);
    let n_newcomers: usize = values.iter().map(|value| value.newcomers.len()).sum();
    let rounds = if n_newcomers > FEW { ROUNDS } else { ROUNDS_FOR_FEW };
    for _ in 0..rounds {
        // What every bucket shows of each of its values.
        let mut shown = vec![0.0; open.len()];
        let both = || places.iter().zip(&there).zip(&wishes);
        for ((places, there), wishes) in both() {
            for ((&place, there), wish) in places.iter().zip(there).zip(wishes) {
                shown[place] += (there + wish) / n_values[place];
            }
        }
        // What all of them show too little of a value, as the mean over the values of each.
        let mut short = vec![0.0; open.len()];
        for ((places, there), wishes) in both() {
            let each = places.iter().zip(there).zip(wishes);
            let lacking: f64 = each.map(|((&place, there), wish)| there + wish - shown[place]).sum();
            places.iter().for_each(|&place| short[place] += lacking / n_values[place]);
        }
        for (at, value) in values.iter().enumerate().filter(|(_, value)| !value.newcomers.is_empty()) {
            let lacks = |(&place, there): (&usize, &f64)| shown[place] + TOGETHER * short[place] - there;
            let lacks: Vec<f64> = places[at].iter().zip(&there[at]).map(lacks).collect();
            wishes[at] = fulfilled(&lacks, &value.shares, low[at] as f64);
        }
    }
    values.iter().zip(&wishes).zip(&low).map(|((value, wishes), &low)| whole(wishes, &value.shares, low)).collect()
}

/// What shares lack, all raised or lowered by one number so that they sum to `total`, or hardly less; none below 0 or above
/// what it takes.
fn fulfilled<const D: usize>(lacks: &[f64], shares: &[Share<D>], total: f64) -> Vec<f64> {
    let given = |lack: f64, share: &Share<D>, more: f64| (lack + more).clamp(0.0, share.takes as f64);
    let (mut least, mut most) = (0.0_f64, 0.0_f64);
    for (lack, share) in lacks.iter().zip(shares) {
        (least, most) = (least.min(-lack), most.max(share.takes as f64 - lack));
    }
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(least, most);
        let sum: f64 = lacks.iter().zip(shares).map(|(&lack, share)| given(lack, share, middle)).sum();
        if sum < total {
            least = middle;
        } else {
            most = middle;
        }
    }
    lacks.iter().zip(shares).map(|(&lack, share)| given(lack, share, least)).collect()
}

/// Whole numbers near these that sum to `total`, none above what its share takes: those with the largest fractions go up.
fn whole<const D: usize>(wishes: &[f64], shares: &[Share<D>], total: usize) -> Vec<usize> {
    // A cast from a float saturates.
    let mut all: Vec<usize> =
        wishes.iter().zip(shares).map(|(wish, share)| (*wish as usize).min(share.takes)).collect();
    let mut lacking = total.saturating_sub(all.iter().sum());
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|&a, &b| wishes[b].fract().total_cmp(&wishes[a].fract()));
    // PROOF: wishes sum to no more than the total, and shares take as many newcomers as there are, no fewer than it.
    while lacking > 0 {
        for &at in &order {
            if lacking > 0 && all[at] < shares[at].takes {
                (all[at], lacking) = (all[at] + 1, lacking - 1);
            }
        }
    }
    all
}

/// The attribute on which newcomers vary most, and their mean there, rounded down; `None` if they are all alike.
fn widest<const D: usize>(values: &[OneValue<D>]) -> Option<(usize, u16)> {
    let (mut sums, mut squares, mut n) = ([0_i64; D], [0_i64; D], 0_i64);
    for point in values.iter().flat_map(|value| &value.newcomers) {
        for axis in 0..D {
            let at = i64::from(point.at[axis]);
            sums[axis] += at;
            squares[axis] += at * at;
        }
        n += 1;
    }
    // PROOF: coordinates have 16 bits and points 32, so the products fit 128 bits.
    let spread =
        |axis: usize| i128::from(squares[axis]) * i128::from(n) - i128::from(sums[axis]) * i128::from(sums[axis]);
    let axis = (0..D).rev().max_by_key(|&axis| spread(axis)).filter(|&axis| spread(axis) > 0)?;
    // PROOF: a mean of 16-bit numbers has 16 bits, and lies below the largest of them if they differ.
    Some((axis, (sums[axis] / n) as u16))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Somebody at a place, the first axis only.
    fn somebody(row: u32, at: u16) -> Point<8> {
        Point { at: [at, 0, 0, 0, 0, 0, 0, 0], value: 0, row }
    }

    /// In one bucket people of the first value are at 0, in the other at 900; so newcomers with the second value go where
    /// they are near to them.
    #[test]
    fn newcomers_go_where_their_value_is_missing() {
        let share = |bucket, there: Vec<Point<8>>, takes| Share { bucket, there, takes };
        let stay = |bucket, at| share(bucket, vec![somebody(9, at), somebody(9, at + 1)], 0);
        let first = OneValue { newcomers: Vec::new(), shares: vec![stay(0, 0), stay(1, 900)] };
        let newcomers = vec![somebody(0, 901), somebody(1, 1), somebody(2, 0), somebody(3, 900)];
        let second = OneValue { newcomers, shares: vec![share(0, Vec::new(), 2), share(1, Vec::new(), 2)] };
        let mut placed = place(vec![first, second], &|_| ());
        placed.sort_unstable();
        assert_eq!(placed, [(0, 1), (1, 0), (2, 0), (3, 1)]);
    }

    proptest! {
        /// Everybody gets one place, and every bucket as many people as it takes.
        #[test]
        fn every_bucket_gets_what_it_takes(
            shares in prop::collection::vec(
                prop::collection::btree_map(0u32..6, (prop::collection::vec(0u16..9, 0..6), 0usize..6), 0..5), 1..6),
            places in prop::collection::vec(0u16..9, 150),
        ) {
            let mut rows = 0_u32..;
            let mut values = Vec::new();
            let mut expected = std::collections::BTreeMap::new();
            for shares in &shares {
                let share = |(&bucket, (there, takes)): (&u32, &(Vec<u16>, usize))| {
                    let there = there.iter().map(|&at| somebody(u32::MAX, at)).collect();
                    Share { bucket, there, takes: *takes }
                };
                let shares: Vec<Share<8>> = shares.iter().map(share).collect();
                let n: usize = shares.iter().map(|share| share.takes).sum();
                let newcomers: Vec<Point<8>> =
                    rows.by_ref().take(n).map(|row| somebody(row, places[row as usize])).collect();
                for share in shares.iter().filter(|share| share.takes > 0) {
                    expected.insert((values.len(), share.bucket), share.takes);
                }
                values.push(OneValue { newcomers, shares });
            }
            let value_of: Vec<usize> =
                values.iter().enumerate().flat_map(|(at, value)| vec![at; value.newcomers.len()]).collect();
            let mut placed = place(values, &|_| ());
            placed.sort_unstable();
            prop_assert_eq!(placed.iter().map(|(row, _)| *row).collect::<Vec<_>>(), (0..value_of.len() as u32).collect::<Vec<_>>());
            let mut found = std::collections::BTreeMap::new();
            for (row, bucket) in placed {
                *found.entry((value_of[row as usize], bucket)).or_insert(0) += 1;
            }
            prop_assert_eq!(found, expected);
        }
    }
}

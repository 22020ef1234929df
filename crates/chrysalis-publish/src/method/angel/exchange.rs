//! Better batches: rows change places between batches as long as the reconstruction gains.
//!
//! The paper asks for better angelization "directly, without resorting to simple generalization". With the buckets
//! fixed, the remaining error is −Σ ln f(x) over the rows, where f is the mixture of the batches in a row's bucket
//! (equation 2). A row that moves to a batch with more of its bucket's values makes those values likelier in the
//! bucket.

use std::ops::Range;

use chrysalis_criteria::Principle;
use chrysalis_table::{Column, Watch};
use rand::CryptoRng;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::chunk::ExchangeChunk;
use crate::Partition;

/// Rows per chunk. Chunks of the table are worked on independently.
const CHUNK: usize = 100_000;
/// How many exchanges are tried in all, then the fewest and the most tries per row. A try takes about half a
/// microsecond.
const TRIES: u64 = 12_000_000;
const TRIES_PER_ROW: (u64, u64) = (1, 120);
/// Tables with more rows get fewer tries in all, so that publishing keeps pace with reading.
const MANY_ROWS: u64 = 400_000;

/// Batches of the same sizes that still satisfy the goal, and reconstruct at least as well.
pub(super) fn improved(
    sensitive: &Column,
    goal: &dyn Principle,
    batches: &Partition,
    buckets: &Partition,
    rng: &mut dyn CryptoRng,
    watch: &dyn Watch,
) -> Partition {
    let sizes: Vec<u32> = batches.sizes().map(|size| size as u32).collect();
    let mut slots: Vec<u32> = batches.groups().flatten().copied().collect();
    let mut by_bucket: Vec<u32> = Vec::with_capacity(slots.len());
    let mut ends = Vec::with_capacity(buckets.n_groups());
    for bucket in buckets.groups() {
        let start = by_bucket.len();
        by_bucket.extend_from_slice(bucket);
        // LEAK: which row is looked at first must not depend on the order of the input.
        by_bucket[start..].shuffle(rng);
        ends.push(by_bucket.len());
    }
    let mut places = vec![0; slots.len()];
    (0u32..).zip(&by_bucket).for_each(|(place, &row)| places[row as usize] = place);
    let n = slots.len().max(1) as u64;
    let tries = (TRIES * n.min(MANY_ROWS) / n / n).clamp(TRIES_PER_ROW.0, TRIES_PER_ROW.1);
    // Batches that cross the border of a chunk wait for a second round with other borders, if there is one.
    let has_one_round = slots.len() <= CHUNK + CHUNK / 2 || n > MANY_ROWS;
    let shifts: &[usize] = if has_one_round { &[0] } else { &[0, CHUNK / 2] };
    for &shift in shifts {
        let whole =
            Whole { sensitive, sizes: &sizes, slots: &slots, by_bucket: &by_bucket, places: &places, ends: &ends };
        let chunks = whole.chunks(shift);
        let touching = whole.touching(&chunks);
        let budget = tries / shifts.len() as u64;
        let moved: Vec<Vec<(u32, u32)>> = chunks
            .par_iter()
            .zip(&touching)
            .map(|(chunk, batches)| whole.work(chunk.clone(), batches, goal, budget.max(1), watch))
            .collect();
        moved.into_iter().flatten().for_each(|(slot, row)| slots[slot as usize] = row);
    }
    Partition::new(slots, &sizes)
}

/// The table as it is before a round.
struct Whole<'a> {
    sensitive: &'a Column,
    /// The sizes of the batches.
    sizes: &'a [u32],
    /// Rows, batch after batch.
    slots: &'a [u32],
    /// Rows, bucket after bucket.
    by_bucket: &'a [u32],
    /// The position of every row in `by_bucket`.
    places: &'a [u32],
    /// Where each bucket ends in `by_bucket`.
    ends: &'a [usize],
}

impl Whole<'_> {
    /// Runs of whole buckets with about the same number of rows. They depend on the table alone.
    fn chunks(&self, shift: usize) -> Vec<Range<usize>> {
        if self.slots.len() <= CHUNK + CHUNK / 2 {
            return vec![0..self.ends.len(); 1];
        }
        let (mut chunks, mut from) = (Vec::new(), 0);
        let mut border = if shift > 0 { shift } else { CHUNK };
        for (bucket, &end) in self.ends.iter().enumerate() {
            if end >= border || bucket + 1 == self.ends.len() {
                chunks.push(from..bucket + 1);
                from = bucket + 1;
                border = end + CHUNK;
            }
        }
        chunks
    }

    /// For every chunk, the batches with a row in it, as ranges of slots.
    fn touching(&self, chunks: &[Range<usize>]) -> Vec<Vec<Range<u32>>> {
        let ends: Vec<u32> = chunks.iter().map(|chunk| self.ends[chunk.end - 1] as u32).collect();
        let mut touching = vec![Vec::new(); chunks.len()];
        let (mut first, mut touched) = (0, Vec::new());
        for &size in self.sizes {
            let slots = first..first + size;
            let members = &self.slots[slots.start as usize..slots.end as usize];
            touched.extend(members.iter().map(|&row| ends.partition_point(|&end| end <= self.places[row as usize])));
            touched.sort_unstable();
            touched.dedup();
            touched.drain(..).for_each(|chunk| touching[chunk].push(slots.clone()));
            first += size;
        }
        touching
    }

    /// Improves the batches that lie wholly in these buckets. Returns their slots, with the rows that these hold
    /// afterwards.
    fn work(
        &self,
        buckets: Range<usize>,
        batches: &[Range<u32>],
        goal: &dyn Principle,
        tries_per_row: u64,
        watch: &dyn Watch,
    ) -> Vec<(u32, u32)> {
        watch.pause();
        let start = if buckets.start == 0 { 0 } else { self.ends[buckets.start - 1] };
        let rows = &self.by_bucket[start..self.ends[buckets.end - 1]];
        let ends: Vec<usize> = self.ends[buckets].iter().map(|end| end - start).collect();
        let codes = self.sensitive.codes();
        let values: Vec<u32> = rows.iter().map(|&row| codes.get(row as usize)).collect();
        let mut chunk = ExchangeChunk::new(values, &ends, self.sensitive.domain().len());
        let mut own = Vec::new();
        for slots in batches {
            let members = &self.slots[slots.start as usize..slots.end as usize];
            let places = members.iter().filter_map(|&row| self.places[row as usize].checked_sub(start as u32));
            let inside: Vec<u32> = places.filter(|&place| (place as usize) < rows.len()).collect();
            let is_own = inside.len() == members.len();
            chunk.add(&inside, members.iter().map(|&row| codes.get(row as usize)).collect(), is_own);
            own.extend(is_own.then_some(slots.start));
        }
        chunk.improve(goal, tries_per_row * rows.len() as u64, watch);
        let batches = own.iter().zip(chunk.batches());
        batches.flat_map(|(&first, members)| (first..).zip(members.iter().map(|&at| rows[at as usize]))).collect()
    }
}

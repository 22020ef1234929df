//! pa's partitioner, algorithms 1 and 2; see `spec.md` for the steps that the comments number.

mod side;

use chrysalis_criteria::Principle;
use chrysalis_table::{Progress, SaCounts};
use rand::rngs::ChaCha20Rng;
use rand::seq::SliceRandom;
use rand::{CryptoRng, SeedableRng};

use super::Partitioner;
use super::anatomize::sensitive_codes;
use super::dealing::Dealing;
use super::nearby::merged_until_all_hold;
use crate::{Microdata, Partition, PublishError};
use side::{Ranks, Side};

/// Divides the table by NCP as long as both parts stay eligible, then deals each part by sensitive value.
///
/// # Guarantees
/// Every principle, in every group.
/// # Cost
/// O(n log n) on average, five passes per division at most.
/// # Paper
/// pa, algorithms 1 and 2 (errata pa-alg1, pa-alg1-size).
#[derive(Clone, Copy, Debug)]
pub struct Similar {
    /// How many times a division is tried, each time with the rows in another order (the paper's k).
    pub n_tries: usize,
}

impl Default for Similar {
    fn default() -> Self {
        Similar { n_tries: 5 }
    }
}

/// Parts with fewer rows than this are not worth another task.
const ROWS_PER_TASK: usize = 4_096;

impl Partitioner for Similar {
    fn name(&self) -> &'static str {
        "similar"
    }

    fn partition(
        &self,
        data: &Microdata,
        goal: &dyn Principle,
        rng: &mut dyn CryptoRng,
        progress: Progress<'_>,
    ) -> Result<Partition, PublishError> {
        let all: Vec<u32> = (0..data.rows() as u32).collect();
        let n_values = data.sensitive_counts().domain_len();
        let dealing = Dealing::of(goal, n_values);
        let size = dealing.group_size(goal, data.sensitive_counts());
        let codes = sensitive_codes(data, &all);
        let ranks = Ranks::new(data);
        let context = SplitContext { ranks: &ranks, codes: &codes, goal, size, n_tries: self.n_tries, progress };
        let mut rows = all;
        let mut scratch = Scratch::new(&ranks, n_values);
        let parts = context.divide(&mut rows, ChaCha20Rng::from_rng(rng), &mut scratch);
        let sizes = context.deal(&mut rows, &parts, &dealing);
        // Algorithm 1 keeps l= in every group; other principles may ask for more.
        let codes: Vec<u32> = rows.iter().map(|&row| codes[row as usize]).collect();
        Ok(Partition::new(rows, &merged_until_all_hold(goal, &mut SaCounts::new(n_values), &codes, &sizes)))
    }
}

struct SplitContext<'a> {
    ranks: &'a Ranks,
    codes: &'a [u32],
    goal: &'a dyn Principle,
    size: usize,
    n_tries: usize,
    progress: Progress<'a>,
}

struct Scratch {
    sides: [Side; 2],
    counts: [SaCounts; 2],
    goes_second: Vec<bool>,
    parked: Vec<u32>,
}

impl Scratch {
    fn new(ranks: &Ranks, n_values: usize) -> Self {
        Scratch {
            sides: [Side::new(ranks), Side::new(ranks)],
            counts: [SaCounts::new(n_values), SaCounts::new(n_values)],
            goes_second: Vec::new(),
            parked: Vec::new(),
        }
    }
}

impl SplitContext<'_> {
    /// Algorithm 2. Puts the rows of each part side by side, and returns the sizes of the parts.
    fn divide(&self, mut rows: &mut [u32], mut rng: ChaCha20Rng, scratch: &mut Scratch) -> Vec<u32> {
        let mut sizes = Vec::new();
        let mut right_sizes: Vec<Vec<u32>> = Vec::new();
        loop {
            let Some(border) = (0..self.n_tries).find_map(|_| self.try_division(rows, &mut rng, scratch)) else {
                (self.progress)(rows.len() as u64);
                sizes.push(rows.len() as u32);
                break;
            };
            let (left, right) = rows.split_at_mut(border);
            // Each part draws from a generator of its own, so that threads do not matter.
            let other = ChaCha20Rng::from_rng(&mut rng);
            if left.len().min(right.len()) >= ROWS_PER_TASK {
                let mut scratch_right = Scratch::new(self.ranks, scratch.counts[0].domain_len());
                let (a, b) =
                    rayon::join(|| self.divide(left, rng, scratch), || self.divide(right, other, &mut scratch_right));
                sizes.extend(a);
                sizes.extend(b);
                break;
            } else if left.len() <= right.len() {
                sizes.extend(self.divide(left, other, scratch));
                rows = right;
            } else {
                right_sizes.push(self.divide(right, other, scratch));
                rows = left;
            }
        }
        sizes.extend(right_sizes.into_iter().rev().flatten());
        sizes
    }

    /// One try at two parts (lines 4 to 8). Returns where the second begins, if both are eligible.
    fn try_division(&self, rows: &mut [u32], rng: &mut ChaCha20Rng, scratch: &mut Scratch) -> Option<usize> {
        if rows.len() < 2 * self.size {
            return None;
        }
        // Line 4.
        rows.shuffle(rng);
        let Scratch { sides: [first, second], counts: [in_first, in_second], goes_second, parked } = scratch;
        // Lines 5 and 6. The artificial tuples: the largest and the smallest rank of every attribute in this part.
        let (lowest, highest) = self.ranks.extremes(rows);
        first.restart(self.ranks, &highest);
        second.restart(self.ranks, &lowest);
        in_first.clear();
        in_second.clear();
        goes_second.clear();
        // Line 7.
        for &row in rows.iter() {
            let record = self.ranks.record(row);
            let is_second = first.increase(self.ranks, record) >= second.increase(self.ranks, record);
            let (side, counts) =
                if is_second { (&mut *second, &mut *in_second) } else { (&mut *first, &mut *in_first) };
            side.add(self.ranks, record);
            counts.add(self.codes[row as usize]);
            goes_second.push(is_second);
        }
        // Line 8.
        if !self.is_eligible(in_first) || !self.is_eligible(in_second) {
            return None;
        }
        parked.clear();
        let mut border = 0;
        for at in 0..rows.len() {
            if goes_second[at] {
                parked.push(rows[at]);
            } else {
                rows[border] = rows[at];
                border += 1;
            }
        }
        rows[border..].copy_from_slice(parked);
        Some(border)
    }

    /// Theorem 3: at most n/l rows share a value (errata pa-alg1); the part must also satisfy the goal.
    fn is_eligible(&self, part: &SaCounts) -> bool {
        part.total() >= self.size as u64
            && (self.goal.is_size_only() || part.max() * self.size as u64 <= part.total())
            && self.goal.holds(part)
    }

    /// Algorithm 1 for every part: sorts it by sensitive value, deals it to ⌊n/l⌋ groups, and returns their sizes. Rows
    /// without a value protect nobody, and n does not count them.
    fn deal(&self, rows: &mut [u32], parts: &[u32], dealing: &Dealing) -> Vec<u32> {
        let mut sizes = Vec::with_capacity(rows.len() / self.size);
        let mut sorted: Vec<u32> = Vec::new();
        let mut start = 0;
        for &n in parts {
            let part = &mut rows[start..start + n as usize];
            start += n as usize;
            sorted.clear();
            sorted.extend_from_slice(part);
            // Stable: rows of one value stay in the random order of the last shuffle.
            sorted.sort_by_key(|&row| dealing.class(self.codes[row as usize]));
            let n_missing = part.iter().filter(|&&row| dealing.is_missing(self.codes[row as usize])).count();
            let n_groups = ((part.len() - n_missing) / self.size).max(1);
            let mut at = 0;
            for group in 0..n_groups {
                for &row in sorted.iter().skip(group).step_by(n_groups) {
                    part[at] = row;
                    at += 1;
                }
                sizes.push((part.len() - group).div_ceil(n_groups) as u32);
            }
        }
        sizes
    }
}

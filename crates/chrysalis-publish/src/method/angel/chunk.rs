//! A chunk of the table in which rows change places between batches.

use chrysalis_criteria::Principle;
use chrysalis_table::{SaCounts, Watch};

/// Stands in for a batch that reaches beyond this chunk and stays as it is.
const FIXED: u32 = u32::MAX;
/// An exchange must raise the log-likelihood by more than this, so that rounding does not make rows wander.
const WORTHWHILE: f32 = 1e-3;
/// Passes over all rows, for each kind of exchange.
const PASSES: usize = 8;
/// How many other rows of its bucket a row looks at to find batches.
const MATES: u32 = 40;
/// How many batches a row looks at for an exchange with a row of another value: those with the most rows of its bucket.
const NEAREST: usize = 3;

/// A sensitive value of a bucket.
#[derive(Clone, Copy)]
struct Entry {
    value: u32,
    /// Rows of the bucket that have the value.
    count: f32,
    /// The expected number of such rows: the sum, over the bucket's rows, of the value's share in the row's batch.
    expected: f32,
}

/// The buckets of a chunk and their batches. Rows are numbered bucket after bucket.
pub(super) struct ExchangeChunk {
    values: Vec<u32>,
    bucket: Vec<u32>,
    /// Where the rows of each bucket begin, and where those of the last one end.
    starts: Vec<u32>,
    /// The same for the entries of each bucket.
    entry_starts: Vec<u32>,
    entries: Vec<Entry>,
    /// The batch of every row.
    batch: Vec<u32>,
    members: Vec<Vec<u32>>,
    /// The values of every batch, ascending, with their share.
    shares: Vec<Vec<(u32, f32)>>,
    counts: [SaCounts; 2],
    changes: Vec<(u32, f32)>,
}

impl ExchangeChunk {
    pub(super) fn new(values: Vec<u32>, ends: &[usize], n_values: usize) -> Self {
        let (mut bucket, mut entries) = (Vec::with_capacity(values.len()), Vec::new());
        let (mut starts, mut entry_starts) = (vec![0], vec![0]);
        let mut sorted = Vec::new();
        for (at, &end) in (0u32..).zip(ends) {
            sorted.clear();
            sorted.extend_from_slice(&values[bucket.len()..end]);
            sorted.sort_unstable();
            let runs = sorted.chunk_by(|a, b| a == b);
            entries.extend(runs.map(|run| Entry { value: run[0], count: run.len() as f32, expected: 0.0 }));
            bucket.resize(end, at);
            starts.push(end as u32);
            entry_starts.push(entries.len() as u32);
        }
        let counts = [SaCounts::new(n_values), SaCounts::new(n_values)];
        let batch = vec![FIXED; values.len()];
        let (members, shares, changes) = (Vec::new(), Vec::new(), Vec::new());
        ExchangeChunk { values, bucket, starts, entry_starts, entries, batch, members, shares, counts, changes }
    }

    /// Adds a batch: `rows` are its rows in this chunk, and `all` the values of all its rows. Only a batch that lies
    /// wholly in this chunk (`is_own`) may be changed.
    pub(super) fn add(&mut self, rows: &[u32], all: Vec<u32>, is_own: bool) {
        let shares = shares(all);
        for &row in rows {
            let entries = &mut self.entries[range(&self.entry_starts, self.bucket[row as usize])];
            each_change(entries, &shares, 1.0, |entry, change| entry.expected += change);
        }
        if is_own {
            rows.iter().for_each(|&row| self.batch[row as usize] = self.members.len() as u32);
            self.members.push(rows.to_vec());
            self.shares.push(shares);
        }
    }

    /// The rows of the chunk's own batches, in the order they were added.
    pub(super) fn batches(&self) -> &[Vec<u32>] {
        &self.members
    }

    /// First exchanges rows with the same value, which changes no batch's values, then rows with different values.
    pub(super) fn improve(&mut self, goal: &dyn Principle, mut tries: u64, watch: &dyn Watch) {
        for is_general in [false, true] {
            for _ in 0..PASSES {
                let n_before = self.values.len();
                let mut n_exchanged = 0;
                for row in 0..n_before as u32 {
                    watch.pause_at(row as usize);
                    if tries == 0 {
                        return;
                    }
                    n_exchanged += usize::from(self.better_place(row, is_general, goal, &mut tries));
                }
                // So few exchanges are not worth another pass over all rows.
                if n_exchanged * 200 < n_before {
                    break;
                }
            }
        }
    }

    /// Makes the exchange of a row that gains most, among the batches that hold rows of its bucket. Returns whether
    /// there was one.
    fn better_place(&mut self, row: u32, is_general: bool, goal: &dyn Principle, tries: &mut u64) -> bool {
        let (own, bucket) = (self.batch[row as usize], self.bucket[row as usize]);
        if own == FIXED {
            return false;
        }
        let mut near: Vec<(u32, u32)> = Vec::new();
        let (start, end) = (self.starts[bucket as usize], self.starts[bucket as usize + 1]);
        // In a large bucket not every row is looked at: the next few will do, because rows are in random order.
        for step in 1..(end - start).min(MATES + 1) {
            let other = start + (row - start + step) % (end - start);
            let batch = self.batch[other as usize];
            match near.iter_mut().find(|(known, _)| *known == batch) {
                Some((_, n)) => *n += 1,
                None if batch != own && batch != FIXED => near.push((batch, 1)),
                None => {}
            }
        }
        if is_general {
            near.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
            near.truncate(NEAREST);
        }
        let mut best = (WORTHWHILE, None);
        for (batch, _) in near {
            for at in 0..self.members[batch as usize].len() {
                let other = self.members[batch as usize][at];
                let is_same = self.values[other as usize] == self.values[row as usize];
                if self.bucket[other as usize] == bucket || !is_same && !is_general {
                    continue;
                }
                if *tries == 0 {
                    break;
                }
                // An exchange of different values concerns all rows of both batches.
                let n_concerned =
                    if is_same { 0 } else { self.members[own as usize].len() + self.members[batch as usize].len() };
                *tries = tries.saturating_sub(1 + n_concerned as u64 / 8);
                if is_same {
                    let gain = self.gain_of_same(row, other);
                    best = if gain > best.0 { (gain, Some(other)) } else { best };
                } else {
                    // Principles may be slow to check, so they come last.
                    let gain = self.gain_of_others(row, other);
                    if gain > best.0 && self.may_exchange(goal, row, other) {
                        best = (gain, Some(other));
                    }
                }
            }
        }
        if let Some(other) = best.1 {
            self.exchange(row, other);
        }
        best.1.is_some()
    }

    /// What the log-likelihood gains when two rows of the same value change places.
    fn gain_of_same(&self, row: u32, other: u32) -> f32 {
        let (from, to) = (self.batch[row as usize] as usize, self.batch[other as usize] as usize);
        let (from, to) = (&self.shares[from], &self.shares[to]);
        let entries = |row: u32| &self.entries[range(&self.entry_starts, self.bucket[row as usize])];
        gain(entries(row), from, to) + gain(entries(other), to, from)
    }

    /// Whether both batches satisfy the goal after two rows have changed places.
    fn may_exchange(&mut self, goal: &dyn Principle, row: u32, other: u32) -> bool {
        let batches = [self.batch[row as usize], self.batch[other as usize]];
        for (counts, (batch, (leaves, comes))) in
            self.counts.iter_mut().zip(batches.into_iter().zip([(row, other), (other, row)]))
        {
            counts.clear();
            let stay = self.members[batch as usize].iter().filter(|&&member| member != leaves);
            stay.chain([&comes]).for_each(|&member| counts.add(self.values[member as usize]));
        }
        self.counts.iter().all(|counts| goal.holds(counts))
    }

    /// The gain for two rows of different values, which also changes the values that both batches show for all their
    /// rows.
    fn gain_of_others(&mut self, row: u32, other: u32) -> f32 {
        let (from, to) = (self.batch[row as usize] as usize, self.batch[other as usize] as usize);
        let mut changes = std::mem::take(&mut self.changes);
        changes.clear();
        let (value, new) = (self.values[row as usize], self.values[other as usize]);
        for (batch, stays_without, loses, wins) in [(from, row, value, new), (to, other, new, value)] {
            let share = 1.0 / self.members[batch].len() as f32;
            for &member in self.members[batch].iter().filter(|&&member| member != stays_without) {
                let entries = range(&self.entry_starts, self.bucket[member as usize]);
                for (value, change) in [(loses, -share), (wins, share)] {
                    if let Ok(at) = self.entries[entries.clone()].binary_search_by_key(&value, |entry| entry.value) {
                        changes.push(((entries.start + at) as u32, change));
                    }
                }
            }
        }
        // The two rows themselves: each leaves its batch as it is now for the other batch as it will be.
        for (mover, (left, joined), (loses, wins)) in
            [(row, (from, to), (new, value)), (other, (to, from), (value, new))]
        {
            let entries = range(&self.entry_starts, self.bucket[mover as usize]);
            let (first, share) = (entries.start as u32, 1.0 / self.members[joined].len() as f32);
            each_index(&self.entries[entries.clone()], &self.shares[left], |at, share| {
                changes.push((first + at, -share))
            });
            each_index(&self.entries[entries.clone()], &self.shares[joined], |at, share| {
                changes.push((first + at, share))
            });
            for (value, change) in [(loses, -share), (wins, share)] {
                if let Ok(at) = self.entries[entries.clone()].binary_search_by_key(&value, |entry| entry.value) {
                    changes.push((first + at as u32, change));
                }
            }
        }
        changes.sort_unstable_by_key(|(entry, _)| *entry);
        let of_entry = |run: &[(u32, f32)]| {
            let entry = self.entries[run[0].0 as usize];
            worth(entry, run.iter().map(|(_, change)| change).sum())
        };
        let gain = changes.chunk_by(|a, b| a.0 == b.0).map(of_entry).sum();
        self.changes = changes;
        gain
    }

    fn exchange(&mut self, row: u32, other: u32) {
        let batches = [self.batch[row as usize], self.batch[other as usize]];
        for batch in batches {
            self.count(batch, -1.0);
        }
        for (batch, (leaves, comes)) in batches.into_iter().zip([(row, other), (other, row)]) {
            let members = &mut self.members[batch as usize];
            members.iter_mut().filter(|member| **member == leaves).for_each(|member| *member = comes);
            self.batch[comes as usize] = batch;
        }
        for batch in batches {
            let members = self.members[batch as usize].iter().map(|&member| self.values[member as usize]).collect();
            self.shares[batch as usize] = shares(members);
            self.count(batch, 1.0);
        }
    }

    /// Adds the contribution of a batch to the buckets of its rows, or takes it away if `sign` is −1.
    fn count(&mut self, batch: u32, sign: f32) {
        for &member in &self.members[batch as usize] {
            let entries = &mut self.entries[range(&self.entry_starts, self.bucket[member as usize])];
            each_change(entries, &self.shares[batch as usize], sign, |entry, change| entry.expected += change);
        }
    }
}

fn range(starts: &[u32], at: u32) -> std::ops::Range<usize> {
    starts[at as usize] as usize..starts[at as usize + 1] as usize
}

/// Values and their shares, ascending.
fn shares(mut values: Vec<u32>) -> Vec<(u32, f32)> {
    values.sort_unstable();
    let size = values.len() as f32;
    values.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as f32 / size)).collect()
}

/// How the log-likelihood of an entry's rows changes when the expected number of its value changes.
fn worth(entry: Entry, change: f32) -> f32 {
    // A row's own batch always has its value, so the expected number stays positive; the clamps guard against rounding.
    let after = (entry.expected + change).max(f32::MIN_POSITIVE);
    entry.count * (after / entry.expected.max(f32::MIN_POSITIVE)).ln()
}

/// Calls `found` with the index of every entry whose value a batch has, and with the value's share.
fn each_index(entries: &[Entry], shares: &[(u32, f32)], mut found: impl FnMut(u32, f32)) {
    let mut rest = shares.iter().peekable();
    for (at, entry) in (0u32..).zip(entries) {
        while rest.next_if(|(value, _)| *value < entry.value).is_some() {}
        if let Some((_, share)) = rest.next_if(|(value, _)| *value == entry.value) {
            found(at, *share);
        }
    }
}

fn each_change(entries: &mut [Entry], shares: &[(u32, f32)], sign: f32, mut change: impl FnMut(&mut Entry, f32)) {
    let mut rest = shares.iter().peekable();
    for entry in entries {
        while rest.next_if(|(value, _)| *value < entry.value).is_some() {}
        if let Some((_, share)) = rest.next_if(|(value, _)| *value == entry.value) {
            change(entry, sign * share);
        }
    }
}

/// The gain of a bucket when one of its rows moves from one batch to another.
fn gain(entries: &[Entry], from: &[(u32, f32)], to: &[(u32, f32)]) -> f32 {
    let (mut left, mut joined) = (from.iter().peekable(), to.iter().peekable());
    let mut gain = 0.0;
    for entry in entries {
        while left.next_if(|(value, _)| *value < entry.value).is_some() {}
        while joined.next_if(|(value, _)| *value < entry.value).is_some() {}
        let lost = left.next_if(|(value, _)| *value == entry.value).map_or(0.0, |(_, share)| *share);
        let won = joined.next_if(|(value, _)| *value == entry.value).map_or(0.0, |(_, share)| *share);
        if lost != won {
            gain += worth(*entry, won - lost);
        }
    }
    gain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Σ ln f(x) over all rows, from the definition.
    fn likelihood(values: &[u32], ends: &[usize], batches: &[Vec<u32>]) -> f64 {
        let share = |row: u32, value: u32| {
            let batch = batches.iter().find(|batch| batch.contains(&row)).unwrap();
            batch.iter().filter(|&&member| values[member as usize] == value).count() as f64 / batch.len() as f64
        };
        let (mut sum, mut start) = (0.0, 0);
        for &end in ends {
            for &value in &values[start..end] {
                let expected: f64 = (start..end).map(|other| share(other as u32, value)).sum();
                sum += (expected / (end - start) as f64).ln();
            }
            start = end;
        }
        sum
    }

    proptest! {
        // Three of four drawn pairs share a batch or a place, and are drawn again.
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            cases: 300,
            max_global_rejects: 50_000,
            ..ProptestConfig::default()
        })]

        #[test]
        fn gains_are_what_the_likelihood_gains(
            values in prop::collection::vec(0u32..4, 6..14),
            cut in any::<prop::sample::Index>(),
            of_batch in prop::collection::vec(0usize..3, 14),
            pair in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        ) {
            let n = values.len();
            let ends = [1 + cut.index(n - 1), n];
            let mut batches: Vec<Vec<u32>> = vec![Vec::new(); 3];
            (0..n).for_each(|row| batches[of_batch[row]].push(row as u32));
            batches.retain(|batch| !batch.is_empty());
            let mut chunk = ExchangeChunk::new(values.clone(), &ends, 4);
            for batch in &batches {
                chunk.add(batch, batch.iter().map(|&row| values[row as usize]).collect(), true);
            }
            let (row, other) = (pair.0.index(n) as u32, pair.1.index(n) as u32);
            let is_same_place = chunk.bucket[row as usize] == chunk.bucket[other as usize];
            prop_assume!(chunk.batch[row as usize] != chunk.batch[other as usize] && !is_same_place);
            let is_same = values[row as usize] == values[other as usize];
            let gain = if is_same { chunk.gain_of_same(row, other) } else { chunk.gain_of_others(row, other) };
            let before = likelihood(&values, &ends, chunk.batches());
            chunk.exchange(row, other);
            let after = likelihood(&values, &ends, chunk.batches());
            prop_assert!((f64::from(gain) - (after - before)).abs() < 1e-4, "{} is not {}", gain, after - before);
        }
    }
}

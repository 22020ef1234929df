use std::cmp::Reverse;
use std::collections::BinaryHeap;

use chrysalis_table::{Code, Column};

use super::Family;
use super::divide::Bucket;

/// Signatures of the past that newcomers are offered, the most populous first.
const OFFERED: usize = 256;

/// With more values than this, neighbours are not looked for: every step looks at all of them.
const MOST_ORDERED: usize = 1_024;

/// Newcomers who are left, by value, while every value has at most one in m of them: then groups of m and more
/// different values can be formed of them all.
pub(super) struct Rest {
    counts: Vec<u64>,
    total: u64,
    m: u64,
}

impl Rest {
    pub(super) fn of(newcomers: &[Vec<u32>], m: u64) -> Self {
        let counts: Vec<u64> = newcomers.iter().map(|rows| rows.len() as u64).collect();
        Rest { total: counts.iter().sum(), counts, m }
    }

    fn most(&self) -> u64 {
        self.counts.iter().copied().max().unwrap_or(0)
    }

    /// How many more with the most frequent value there could be.
    pub(super) fn room(&self) -> u64 {
        self.total.saturating_sub(self.m * self.most()) / (self.m - 1).max(1)
    }

    /// Step 3a. Where a value is too frequent, counterfeits of other values join: those that stand beside it in the
    /// bucket with most people, then the most frequent ones.
    pub(super) fn pad(&mut self, buckets: &[Bucket], family: &Family, column: &Column) {
        let groups = self.most();
        let mut lacking = (self.m * groups).saturating_sub(self.total);
        if lacking == 0 {
            return;
        }
        let heavy = self.counts.iter().position(|&count| count == groups).unwrap_or(0) as Code;
        let has_it = |bucket: &&Bucket| family.place(bucket.signature, heavy).is_some();
        let bucket = buckets.iter().filter(has_it).max_by_key(|bucket| (bucket.len(), Reverse(bucket.signature)));
        let beside = bucket.map_or(&[][..], |bucket| family.values(bucket.signature));
        let histogram = column.histogram();
        let mut others: Vec<Code> = (Code::from(column.domain().has_missing())..self.counts.len() as Code).collect();
        others.sort_by_key(|&value| Reverse(histogram[value as usize]));
        // PROOF: the domain has at least m values, so there is a place for every counterfeit.
        for &value in beside.iter().chain(&others) {
            let count = &mut self.counts[value as usize];
            let n = (groups - *count).min(lacking);
            (*count, self.total, lacking) = (*count + n, self.total + n, lacking - n);
        }
    }

    /// Step 3. Signatures, and the number of groups of newcomers that each is to show.
    ///
    /// `alike` has the values in an order in which neighbours are those of people who look alike.
    pub(super) fn hand_out(mut self, buckets: &[Bucket], alike: &[Code], family: &mut Family) -> Vec<(u32, usize)> {
        let mut all = Vec::new();
        let mut offered: Vec<&Bucket> = buckets.iter().filter(|bucket| bucket.groups > 0).collect();
        offered.sort_by_key(|bucket| (Reverse(bucket.groups), bucket.signature));
        offered.truncate(OFFERED);
        let (total, size) = (self.total, |bucket: &&Bucket| (bucket.groups * bucket.rows.len()) as u64);
        let people: u64 = offered.iter().map(size).sum();
        // Signatures of the past first take newcomers in proportion to their people, then as many as they can.
        for is_first in [true, false] {
            for bucket in &offered {
                let values = family.values(bucket.signature);
                let share = bucket.groups as u64 * total / people.max(1);
                let groups = self.fitting(values).min(if is_first { share } else { u64::MAX });
                if groups > 0 {
                    values.iter().for_each(|&value| self.counts[value as usize] -= groups);
                    self.total -= groups * values.len() as u64;
                    all.push((bucket.signature, groups as usize));
                }
            }
        }
        // Later signatures would be many and small, and whoever leaves them would have to be replaced by counterfeits.
        let alike = if offered.is_empty() { alike } else { &[] };
        self.hand_out_anew(alike, family, &mut all);
        all
    }

    /// The most groups with these values after which every value still has at most one in m of the rest.
    fn fitting(&self, values: &[Code]) -> u64 {
        let (mut least, mut most_inside, mut most_outside) = (u64::MAX, 0, 0);
        let mut inside = values.iter().peekable();
        for (value, &count) in (0..).zip(&self.counts) {
            if inside.next_if(|&&next| next == value).is_some() {
                (least, most_inside) = (least.min(count), most_inside.max(count));
            } else {
                most_outside = most_outside.max(count);
            }
        }
        let size = values.len() as u64;
        // PROOF: the rest keeps m · most <= total, so no difference is below 0.
        let outside = (self.total - self.m * most_outside) / size;
        let inside = match size.checked_sub(self.m) {
            Some(more) if more > 0 => (self.total - self.m * most_inside) / more,
            _ => u64::MAX,
        };
        least.min(outside).min(inside)
    }

    /// Groups of m values whose people look alike, those at one end of the order; where the rest allows none, or does not
    /// divide by m, of the most frequent values. In both cases as many at a time as the rest allows.
    ///
    /// PROOF: with g = total / m, rounded down, no value has more than g. If the total is m·g, at most m values have g,
    /// so x >= 1 groups of the m most frequent values leave none with more than g − x. Otherwise one larger group takes
    /// in what is over: at most total / g values have g, and all of these are in it. A step at an end uses up a value, or
    /// brings one to the limit, where it stays; so there are few of them.
    fn hand_out_anew(mut self, alike: &[Code], family: &mut Family, all: &mut Vec<(u32, usize)>) {
        let mut left: Vec<Code> = if alike.len() <= MOST_ORDERED { alike.to_vec() } else { Vec::new() };
        let counts = self.counts.iter().zip(0..).filter(|(count, _)| **count > 0);
        let mut heap: BinaryHeap<(u64, Reverse<Code>)> =
            counts.map(|(&count, value): (_, Code)| (count, Reverse(value))).collect();
        while self.total > 0 {
            let (groups, over) = (self.total / self.m, self.total % self.m);
            let at_end = if over == 0 { self.at_an_end(&mut left) } else { None };
            let (n, values) = at_end.unwrap_or_else(|| {
                let chosen: Vec<Code> = (0..self.m + over).map_while(|_| self.next(&mut heap)).collect();
                let next = self.next(&mut heap);
                let count = |value: Option<&Code>| value.map_or(0, |&value| self.counts[value as usize]);
                let (least, most) = (count(chosen.last()), count(next.as_ref()));
                heap.extend(next.map(|value| (most, Reverse(value))));
                (if over > 0 { 1 } else { least.min(groups - most) }, chosen)
            });
            for &value in &values {
                let count = &mut self.counts[value as usize];
                *count -= n;
                heap.extend((*count > 0).then_some((*count, Reverse(value))));
            }
            self.total -= n * values.len() as u64;
            all.push((family.signature(values), n as usize));
        }
    }

    /// The last m or the first m of the values that are left, if the rest allows a group of them, and how many.
    fn at_an_end(&self, left: &mut Vec<Code>) -> Option<(u64, Vec<Code>)> {
        left.retain(|&value| self.counts[value as usize] > 0);
        let m = usize::try_from(self.m).ok()?;
        let ends = [left.get(left.len().checked_sub(m)?..)?, left.get(..m)?];
        let allowed = |end: &[Code]| {
            let mut values = end.to_vec();
            values.sort_unstable();
            Some((self.fitting(&values), values)).filter(|(groups, _)| *groups > 0)
        };
        ends.into_iter().find_map(allowed)
    }

    /// The most frequent value of a heap, whose entries may be out of date.
    fn next(&self, heap: &mut BinaryHeap<(u64, Reverse<Code>)>) -> Option<Code> {
        loop {
            let (count, Reverse(value)) = heap.pop()?;
            if count == self.counts[value as usize] {
                return Some(value);
            }
        }
    }
}

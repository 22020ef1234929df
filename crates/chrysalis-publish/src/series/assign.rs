use std::cmp::Reverse;
use std::collections::BinaryHeap;

use chrysalis_table::{Code, Column};

use super::Family;
use super::divide::Bucket;

/// Signatures of the past that newcomers are offered, the most populous first.
const OFFERED: usize = 256;

/// With more values than this, neighbours are not looked for: every step looks at all of them.
const MOST_ORDERED: usize = 1_024;

/// Values are rare if they have less than this share of the people that values have on average: three in ten.
const RARE: (u64, u64) = (3, 10);

/// In the first release, what is left of a value is little if it is less than one in this many of that average.
const LITTLE: u64 = 6;

/// New signatures for a rare value take others of which this many times as many are left, or else this many.
const PLENTY: [u64; 3] = [3, 2, 1];

/// The same where little is left of a value in the first release.
const PLENTY_FOR_LITTLE: [u64; 2] = [5, 1];

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
    /// `alike` has the values in an order in which neighbours are those of people who look alike, `people` how many have
    /// each value.
    pub(super) fn hand_out(
        mut self,
        buckets: &[Bucket],
        alike: &[Code],
        people: &[u64],
        family: &mut Family,
    ) -> Vec<(u32, usize)> {
        let mut all = Vec::new();
        let mut offered: Vec<&Bucket> = buckets.iter().filter(|bucket| bucket.groups > 0).collect();
        offered.sort_by_key(|bucket| (Reverse(bucket.groups), bucket.signature));
        offered.truncate(OFFERED);
        let alike = if alike.len() <= MOST_ORDERED { alike } else { &[] };
        let average = people.iter().sum::<u64>() / people.iter().filter(|&&n| n > 0).count().max(1) as u64;
        if !offered.is_empty() {
            self.hand_out_rare(&offered, alike, (people, average), family, &mut all);
        }
        let (total, size) = (self.total, |bucket: &&Bucket| (bucket.groups * bucket.rows.len()) as u64);
        let all_people: u64 = offered.iter().map(size).sum();
        // Signatures of the past first take newcomers in proportion to their people, then as many as they can.
        for is_first in [true, false] {
            for bucket in &offered {
                let share = bucket.groups as u64 * total / all_people.max(1);
                let values = family.values(bucket.signature);
                let groups = self.fitting(values).min(if is_first { share } else { u64::MAX });
                self.take(values, groups);
                all.extend((groups > 0).then_some((bucket.signature, groups as usize)));
            }
        }
        let little = if offered.is_empty() { average / LITTLE } else { 0 };
        self.hand_out_anew(alike, little, family, &mut all);
        all
    }

    /// Rare values come first, the rarest of them before the others: for each the signature with most groups that takes
    /// at least half of what is left of it, otherwise the one with most groups that takes any, otherwise a new one.
    ///
    /// A rare value that is in many small signatures would need a counterfeit wherever somebody leaves.
    fn hand_out_rare(
        &mut self,
        offered: &[&Bucket],
        alike: &[Code],
        (people, average): (&[u64], u64),
        family: &mut Family,
        all: &mut Vec<(u32, usize)>,
    ) {
        let mut rare: Vec<Code> =
            alike.iter().copied().filter(|&value| people[value as usize] * RARE.1 < RARE.0 * average).collect();
        rare.sort_by_key(|&value| (people[value as usize], value));
        for value in rare {
            while self.counts[value as usize] > 0 {
                let left = self.counts[value as usize];
                let fits = |bucket: &&&Bucket| {
                    let groups = self.fitting(family.values(bucket.signature)).min(left);
                    (groups > 0).then_some((groups * 2 >= left, bucket.groups, Reverse(bucket.signature), groups))
                };
                let has_it = |bucket: &&&Bucket| family.place(bucket.signature, value).is_some();
                let best = offered.iter().filter(has_it).filter_map(|bucket| fits(&bucket)).max();
                let (signature, groups) = match best {
                    Some((.., Reverse(signature), groups)) => (signature, groups),
                    None => {
                        let new = PLENTY.iter().find_map(|&plenty| self.around(value, plenty, alike));
                        let Some((values, groups)) = new else { break };
                        (family.signature(values), groups.min(left))
                    }
                };
                self.take(family.values(signature), groups);
                all.push((signature, groups as usize));
            }
        }
    }

    /// A value and the nearest others of which `plenty` times as many are left, if the rest allows groups of them, and how
    /// many.
    fn around(&self, value: Code, plenty: u64, alike: &[Code]) -> Option<(Vec<Code>, u64)> {
        let left = self.counts[value as usize];
        let own = alike.iter().position(|&other| other == value)?;
        let has_plenty = |other: &Code| self.counts[*other as usize] >= (plenty * left).max(1) && *other != value;
        let mut others: Vec<(usize, Code)> = (0..)
            .zip(alike)
            .filter(|(_, other)| has_plenty(other))
            .map(|(at, &other)| (own.abs_diff(at), other))
            .collect();
        others.sort_by_key(|(distance, _)| *distance);
        let n = usize::try_from(self.m).ok()?.checked_sub(1)?;
        let mut values: Vec<Code> = others.get(..n)?.iter().map(|(_, other)| *other).collect();
        values.push(value);
        values.sort_unstable();
        let groups = self.fitting(&values);
        (groups > 0).then_some((values, groups))
    }

    /// Takes one newcomer of each value away for every group.
    fn take(&mut self, values: &[Code], groups: u64) {
        values.iter().for_each(|&value| self.counts[value as usize] -= groups);
        self.total -= groups * values.len() as u64;
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
    /// divide by m, of the most frequent values. In both cases as many at a time as the rest allows. Values of which less
    /// than `little` is left come first, after one step: with neighbours of which there is more, so that none of them ends
    /// in several small signatures.
    ///
    /// PROOF: with g = total / m, rounded down, no value has more than g. If the total is m·g, at most m values have g,
    /// so x >= 1 groups of the m most frequent values leave none with more than g − x. Otherwise one larger group takes
    /// in what is over: at most total / g values have g, and all of these are in it. A step at an end uses up a value, or
    /// brings one to the limit, where it stays; so there are few of them.
    fn hand_out_anew(mut self, alike: &[Code], little: u64, family: &mut Family, all: &mut Vec<(u32, usize)>) {
        let mut left: Vec<Code> = alike.to_vec();
        let counts = self.counts.iter().zip(0..).filter(|(count, _)| **count > 0);
        let mut heap: BinaryHeap<(u64, Reverse<Code>)> =
            counts.map(|(&count, value): (_, Code)| (count, Reverse(value))).collect();
        let mut is_first = true;
        while self.total > 0 {
            let (groups, over) = (self.total / self.m, self.total % self.m);
            left.retain(|&value| self.counts[value as usize] > 0);
            let alike = if over > 0 {
                None
            } else {
                let of_little = if is_first { None } else { self.of_little(little, &left) };
                of_little.or_else(|| self.at_an_end(&left))
            };
            is_first = false;
            let (values, n) = alike.unwrap_or_else(|| {
                let chosen: Vec<Code> = (0..self.m + over).map_while(|_| self.next(&mut heap)).collect();
                let next = self.next(&mut heap);
                let count = |value: Option<&Code>| value.map_or(0, |&value| self.counts[value as usize]);
                let (least, most) = (count(chosen.last()), count(next.as_ref()));
                heap.extend(next.map(|value| (most, Reverse(value))));
                (chosen, if over > 0 { 1 } else { least.min(groups - most) })
            });
            self.take(&values, n);
            let count = |&value: &Code| (self.counts[value as usize], Reverse(value));
            heap.extend(values.iter().map(count).filter(|(count, _)| *count > 0));
            all.push((family.signature(values), n as usize));
        }
    }

    /// All that is left of the value of which least is left, if it is less than `little`, and values near to it.
    fn of_little(&self, little: u64, left: &[Code]) -> Option<(Vec<Code>, u64)> {
        let value = *left.iter().min_by_key(|&&value| (self.counts[value as usize], value))?;
        let count = self.counts[value as usize];
        if count >= little {
            return None;
        }
        let uses_up = |plenty: u64| self.around(value, plenty, left).filter(|(_, groups)| *groups >= count);
        PLENTY_FOR_LITTLE.into_iter().find_map(uses_up).map(|(values, _)| (values, count))
    }

    /// The last m or the first m of the values that are left, if the rest allows a group of them, and how many.
    fn at_an_end(&self, left: &[Code]) -> Option<(Vec<Code>, u64)> {
        let m = usize::try_from(self.m).ok()?;
        let ends = [left.get(left.len().checked_sub(m)?..)?, left.get(..m)?];
        let allowed = |end: &[Code]| {
            let mut values = end.to_vec();
            values.sort_unstable();
            let groups = self.fitting(&values);
            (groups > 0).then_some((values, groups))
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

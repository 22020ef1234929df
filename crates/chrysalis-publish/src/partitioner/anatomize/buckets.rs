use rand::seq::SliceRandom;
use rand::{CryptoRng, RngExt};

/// Rows by sensitive value, the fullest bucket first.
///
/// Buckets only ever lose one row at a time. Of several equally full buckets the last ones give rows, which keeps the
/// order without a search or a heap.
pub(super) struct Buckets {
    places: Vec<u32>,
    /// For each bucket, where its remaining rows end.
    ends: Vec<u32>,
    /// The numbers of remaining rows, from most to fewest.
    left: Vec<u32>,
    /// The bucket at each position of `left`.
    order: Vec<u32>,
    /// For every number of rows, how many buckets have at least that many.
    n_at_least: Vec<u32>,
}

impl Buckets {
    pub(super) fn new(codes: &[u32], n_values: usize, rng: &mut dyn CryptoRng) -> Self {
        let mut counts = vec![0u32; n_values];
        codes.iter().for_each(|&code| counts[code as usize] += 1);
        let mut ends: Vec<u32> = Vec::with_capacity(n_values);
        let mut end = 0;
        for &count in &counts {
            ends.push(end);
            end += count;
        }
        let mut places = vec![0; codes.len()];
        for (place, &code) in (0u32..).zip(codes) {
            places[ends[code as usize] as usize] = place;
            ends[code as usize] += 1;
        }
        let mut order: Vec<u32> = (0..n_values as u32).filter(|&value| counts[value as usize] > 0).collect();
        order.shuffle(rng);
        order.sort_by_key(|&value| std::cmp::Reverse(counts[value as usize]));
        let left: Vec<u32> = order.iter().map(|&value| counts[value as usize]).collect();
        let mut n_at_least = vec![0u32; left.first().map_or(0, |&most| most as usize) + 2];
        left.iter().for_each(|&size| n_at_least[size as usize] += 1);
        for size in (0..n_at_least.len() - 1).rev() {
            n_at_least[size] += n_at_least[size + 1];
        }
        Buckets { places, ends, left, order, n_at_least }
    }

    /// How many buckets still have rows.
    pub(super) fn n_filled(&self) -> usize {
        self.n_at_least.get(1).map_or(0, |&n| n as usize)
    }

    /// Takes one row from each of the `l` fullest buckets; ties are broken at random.
    pub(super) fn take_from_largest(&mut self, l: usize, rng: &mut dyn CryptoRng, taken: &mut Vec<u32>) {
        let least = self.left[l - 1] as usize;
        let (run_start, run_end) = (self.n_at_least[least + 1] as usize, self.n_at_least[least] as usize);
        (0..run_start).for_each(|at| self.take(at, taken));
        // Of equally full buckets the last ones give rows, so that the buckets that shrink follow those that do not.
        for at in (run_end - (l - run_start)..run_end).rev() {
            if run_end - run_start > l - run_start {
                let other = rng.random_range(run_start..=at);
                self.order.swap(at, other);
            }
            self.take(at, taken);
        }
    }

    fn take(&mut self, at: usize, taken: &mut Vec<u32>) {
        let end = &mut self.ends[self.order[at] as usize];
        *end -= 1;
        taken.push(self.places[*end as usize]);
        self.n_at_least[self.left[at] as usize] -= 1;
        self.left[at] -= 1;
    }

    /// The remaining rows.
    pub(super) fn into_leftovers(self) -> Vec<u32> {
        let part = |(&value, &left): (&u32, &u32)| {
            let end = self.ends[value as usize] as usize;
            &self.places[end - left as usize..end]
        };
        self.order.iter().zip(&self.left).flat_map(part).copied().collect()
    }
}

//! Which positions are still free, and the n-th free one in a range: a Fenwick tree, so that each operation takes
//! O(log n).

use std::ops::Range;

/// Positions from 0 on, all of them free at first.
pub(super) struct Free {
    /// The entry at index `at - 1` counts the free positions among the last `at & -at` of the first `at` positions.
    sums: Vec<u32>,
    n_places: usize,
}

impl Free {
    pub(super) fn new(n_places: usize) -> Self {
        let lowest_bit = |at: usize| (at & at.wrapping_neg()) as u32;
        Free { sums: (1..=n_places).map(lowest_bit).collect(), n_places }
    }

    /// How many positions before `at` are free.
    fn before(&self, mut at: usize) -> u32 {
        let mut sum = 0;
        while at > 0 {
            sum += self.sums[at - 1];
            at &= at - 1;
        }
        sum
    }

    pub(super) fn count(&self, places: &Range<usize>) -> u32 {
        self.before(places.end) - self.before(places.start)
    }

    /// Takes a position that is free.
    pub(super) fn take(&mut self, place: usize) {
        let mut at = place + 1;
        while at <= self.n_places {
            self.sums[at - 1] -= 1;
            at += at & at.wrapping_neg();
        }
    }

    /// The free position in a range that has `skip` free ones before it in the range. The range must have more than
    /// `skip`.
    pub(super) fn nth(&self, places: &Range<usize>, skip: u32) -> usize {
        let mut left = self.before(places.start) + skip;
        let mut at = 0;
        let mut step = (self.n_places + 1).next_power_of_two() / 2;
        while step > 0 {
            if at + step <= self.n_places && self.sums[at + step - 1] <= left {
                at += step;
                left -= self.sums[at - 1];
            }
            step /= 2;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_places_are_counted_and_found_as_a_list_does() {
        for n in [1, 2, 7, 8, 9, 40] {
            let (mut free, mut list) = (Free::new(n), (0..n).collect::<Vec<_>>());
            for round in 0..n {
                for range in [0..n, n / 3..n, n / 3..(n / 2).max(n / 3)] {
                    let inside: Vec<usize> = list.iter().copied().filter(|place| range.contains(place)).collect();
                    assert_eq!(free.count(&range) as usize, inside.len());
                    for (skip, place) in (0..).zip(inside) {
                        assert_eq!(free.nth(&range, skip), place);
                    }
                }
                free.take(list.remove(round * 5 % list.len()));
            }
        }
    }
}

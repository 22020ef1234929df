//! Long sums that keep their precision.

/// Neumaier's sum: the rounding errors are summed separately.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    sum: f64,
    dropped: f64,
}

impl Sum {
    pub(super) fn add(&mut self, number: f64) {
        let sum = self.sum + number;
        self.dropped +=
            if self.sum.abs() >= number.abs() { (self.sum - sum) + number } else { (number - sum) + self.sum };
        self.sum = sum;
    }

    pub(super) fn merge(&mut self, other: Sum) {
        self.add(other.sum);
        self.add(other.dropped);
    }

    pub(super) fn value(self) -> f64 {
        self.sum + self.dropped
    }
}

/// A lower bound of a sum: the sum itself as long as it is exact, otherwise rounded down.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bound {
    sum: Sum,
    has_rounded: bool,
    /// How many numbers were added, and the sum of their absolute values.
    n: f64,
    size: f64,
}

impl Bound {
    /// Adds a number `times` times.
    pub(super) fn add(&mut self, number: f64, times: u32) {
        let (product, rest) = exact_product(number, f64::from(times));
        self.add_one(product);
        if rest != 0.0 {
            self.add_one(rest);
        }
    }

    fn add_one(&mut self, number: f64) {
        let dropped = self.sum.dropped;
        self.sum.add(number);
        self.has_rounded |= self.sum.dropped != dropped;
        self.n += 1.0;
        self.size += number.abs();
    }

    pub(super) fn merge(&mut self, other: Bound) {
        let (n, size) = (self.n + other.n, self.size + other.size);
        self.add_one(other.sum.sum);
        self.add_one(other.sum.dropped);
        *self = Bound { has_rounded: self.has_rounded || other.has_rounded, n: n + 2.0, size, ..*self };
    }

    /// The sum if it is exact, otherwise a number below it.
    pub(super) fn at_least(self) -> f64 {
        if self.has_rounded { (self.sum.value() - self.slack()).next_down() } else { self.sum.value() }
    }

    /// A number not above the sum divided by a number of rows.
    pub(super) fn share_at_least(self, count: u64) -> f64 {
        let (sum, count) = (self.at_least(), count as f64);
        let share = sum / count;
        let is_exact = exact_product(share, count) == (sum, 0.0);
        if is_exact { share } else { share.next_down() }
    }

    /// The error of Neumaier's sum itself: terms of second order.
    fn slack(self) -> f64 {
        2.0 * self.n * f64::EPSILON * f64::EPSILON * self.size
    }
}

/// The product of two numbers and its rounding error (Dekker's product).
fn exact_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    let split = |x: f64| {
        let large = 134_217_729.0 * x;
        let high = large - (large - x);
        (high, x - high)
    };
    let ((a_high, a_low), (b_high, b_low)) = (split(a), split(b));
    (product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low)
}

#[cfg(test)]
mod tests {
    use super::{Bound, Sum};

    fn of(numbers: impl Iterator<Item = (f64, u32)>) -> Bound {
        let mut bound = Bound::default();
        numbers.for_each(|(number, times)| bound.add(number, times));
        bound
    }

    #[test]
    fn whole_numbers_and_halves_are_summed_exactly() {
        let bound = of([(0.5, 3), (1e14, 9), (-7.0, 2)].into_iter());
        assert_eq!(bound.at_least(), 9e14 - 12.5);
        assert_eq!(bound.share_at_least(2), 4.5e14 - 6.25);
        assert!(of([(1.0, 1)].into_iter()).share_at_least(3) < 1.0 / 3.0);
    }

    #[test]
    fn what_is_rounded_lies_between_its_neighbours() {
        // The double nearest to 0.1 is slightly above 0.1, so ten of them are slightly more than 1, and the double
        // nearest to that sum is 1.
        for numbers in [vec![(0.1, 1); 10], vec![(0.1, 10)], vec![(0.1, 4), (0.1, 6)]] {
            let least = of(numbers.iter().copied()).at_least();
            let most = -of(numbers.iter().map(|&(number, times)| (-number, times))).at_least();
            assert!(least <= 1.0 && 1.0 < most, "{least} {most}");
            assert!(most - least < 1e-15);
        }
    }

    #[test]
    fn parts_are_merged_without_loss() {
        let numbers = || (0..1_000).map(|number| (f64::from(number) * 0.37 - 100.0, 3));
        let (whole, mut left) = (of(numbers()), of(numbers().take(300)));
        left.merge(of(numbers().skip(300)));
        assert!((left.at_least() - whole.at_least()).abs() / whole.at_least() < 1e-15);
    }

    #[test]
    fn small_numbers_survive_large_ones() {
        let mut sum = Sum::default();
        for number in [1.0, 1e100, 1.0, -1e100] {
            sum.add(number);
        }
        assert_eq!(sum.value(), 2.0);
    }
}

//! Long sums that keep their digits.

/// Neumaier's sum: what rounding drops is kept beside it.
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

#[cfg(test)]
mod tests {
    use super::Sum;

    #[test]
    fn small_numbers_survive_large_ones() {
        let mut sum = Sum::default();
        for number in [1.0, 1e100, 1.0, -1e100] {
            sum.add(number);
        }
        assert_eq!(sum.value(), 2.0);
    }
}

//! When numbers or dates are so close together that they count as one value.

use chrysalis_table::exact::{self, BigRational};
use chrysalis_table::{Domain, Value};
use num_bigint::BigInt;

use crate::{Rational, spans};

/// How far apart two numbers of a column must be to count as different; for dates in days, for datetimes in seconds.
#[derive(Clone, Debug, PartialEq)]
pub enum Near {
    /// Any two different values are different.
    Nothing,
    /// At least this far.
    Width(Rational),
    /// At least a hundredth of the width between these two.
    Hundredth(Value, Value),
}

impl Near {
    /// The default: a hundredth of the width between the 5th and the 95th percentile of a column of numbers or dates
    /// (of the values present, by rank rounded up).
    pub fn usual(domain: &Domain, histogram: &[u64]) -> Near {
        if !domain.kind().has_distances() {
            return Near::Nothing;
        }
        let present = || (0u32..).zip(histogram).filter_map(|(code, &n)| Some((domain.value(code)?, n)));
        let total: u64 = present().map(|(_, n)| n).sum();
        let at = |percent: u64| {
            let rank = (total * percent).div_ceil(100).max(1);
            let mut below = 0;
            present().find(|(_, n)| {
                below += n;
                below >= rank
            })
        };
        match (at(5), at(95)) {
            (Some((low, _)), Some((high, _))) if low != high => Near::Hundredth(low.clone(), high.clone()),
            _ => Near::Nothing,
        }
    }

    /// Whether all values from `low` to `high` count as one, because they are closer together than this. Exact.
    pub fn is_one(&self, low: &Value, high: &Value) -> bool {
        match self {
            Near::Nothing => low == high,
            Near::Width(width) => low == high || !spans(low, high, *width),
            Near::Hundredth(from, to) => low == high || is_below_a_hundredth((low, high), (from, to)),
        }
    }

    /// The width as a number, for messages.
    pub fn width(&self) -> f64 {
        match self {
            Near::Nothing => 0.0,
            Near::Width(width) => *width.numer() as f64 / *width.denom() as f64,
            Near::Hundredth(from, to) => to.number().zip(from.number()).map_or(0.0, |(to, from)| (to - from) / 100.0),
        }
    }

    /// This width rounded up to two digits, as text; `None` if any two different values count as different.
    pub fn rounded_up(&self) -> Option<String> {
        let width = self.width();
        if *self == Near::Nothing || !width.is_finite() || width <= 0.0 {
            return None;
        }
        let exponent = width.log10().floor() as i32 - 1;
        let unit = 10f64.powi(exponent);
        let digits = (width / unit - 1e-9).ceil();
        let text = if exponent >= 0 {
            format!("{:.0}", digits * unit)
        } else {
            format!("{:.*}", exponent.unsigned_abs() as usize, digits * unit)
        };
        Some(if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text })
    }
}

/// 100·(high − low) < to − from, exactly.
fn is_below_a_hundredth((low, high): (&Value, &Value), (from, to): (&Value, &Value)) -> bool {
    match (low, high, from, to) {
        // PROOF: a difference of 64-bit numbers has 65 bits, a hundred 7.
        (Value::Integer(low), Value::Integer(high), Value::Integer(from), Value::Integer(to)) => {
            (i128::from(*high) - i128::from(*low)) * 100 < i128::from(*to) - i128::from(*from)
        }
        (Value::Date(low), Value::Date(high), Value::Date(from), Value::Date(to)) => {
            (i64::from(high.0) - i64::from(low.0)) * 100 < i64::from(to.0) - i64::from(from.0)
        }
        (Value::DateTime(low), Value::DateTime(high), Value::DateTime(from), Value::DateTime(to)) => {
            (i128::from(high.0) - i128::from(low.0)) * 100 < i128::from(to.0) - i128::from(from.0)
        }
        (Value::Real(low), Value::Real(high), Value::Real(from), Value::Real(to)) => {
            // Far from the line floats decide: each side is off by less than one part in 2^50.
            let (left, right) = ((high - low) * 100.0, to - from);
            if left.is_finite() && right.is_finite() && (left - right).abs() > right.abs() * 1e-12 {
                return left < right;
            }
            let exact = |a: &f64, b: &f64| exact::from_float(*a).zip(exact::from_float(*b));
            let difference = |pair: Option<(BigRational, BigRational)>| pair.map(|(high, low)| high - low);
            let (left, right) = (difference(exact(high, low)), difference(exact(to, from)));
            // In doubt, they count as one.
            left.zip(right).is_none_or(|(left, right)| left * BigRational::from_integer(BigInt::from(100)) < right)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use chrysalis_table::Column;

    use super::*;

    fn usual(numbers: &[i64]) -> Near {
        let column = Column::integers("wage", numbers);
        let histogram: Vec<u64> = column.histogram();
        Near::usual(column.domain(), &histogram)
    }

    #[test]
    fn a_hundredth_between_the_percentiles() {
        let numbers: Vec<i64> = (1..=100).map(|n| n * 1_000).collect();
        let near = usual(&numbers);
        assert_eq!(near, Near::Hundredth(Value::Integer(5_000), Value::Integer(95_000)));
        let check = |low: i64, high: i64| near.is_one(&Value::Integer(low), &Value::Integer(high));
        assert!(check(7, 7) && check(0, 899) && !check(0, 900) && !check(-1, 899));
        assert_eq!((near.width(), near.rounded_up().as_deref()), (900.0, Some("900")));
        assert_eq!(usual(&[5; 30]), Near::Nothing);
        assert_eq!(usual(&[]), Near::Nothing);
    }

    #[test]
    fn widths_are_strict_and_rounded_upwards() {
        let near = Near::Width(Rational::new(5, 2));
        let real = |low: f64, high: f64| near.is_one(&Value::Real(low), &Value::Real(high));
        assert!(real(0.0, 2.4999) && !real(0.0, 2.5) && real(1.0, 1.0));
        let up = |width: Rational| Near::Width(width).rounded_up();
        assert_eq!(up(Rational::new(1_234, 1)).as_deref(), Some("1300"));
        assert_eq!(up(Rational::new(12, 1000)).as_deref(), Some("0.012"));
        assert_eq!(up(Rational::new(121, 10_000)).as_deref(), Some("0.013"));
        assert_eq!(Near::Nothing.rounded_up(), None);
        let days = |n: i32| Value::Date(chrysalis_table::Date(n));
        assert!(near.is_one(&days(10), &days(12)) && !near.is_one(&days(10), &days(13)));
        let hundredth = Near::Hundredth(days(0), days(1_000));
        assert!(hundredth.is_one(&days(0), &days(9)) && !hundredth.is_one(&days(0), &days(10)));
        // Two and a half seconds.
        let moment = |micros: i64| Value::DateTime(chrysalis_table::DateTime(micros));
        assert!(near.is_one(&moment(-1), &moment(2_499_998)) && !near.is_one(&moment(-1), &moment(2_499_999)));
        let hundredth = Near::Hundredth(moment(-500_000), moment(500_000));
        assert!(hundredth.is_one(&moment(0), &moment(9_999)) && !hundredth.is_one(&moment(0), &moment(10_000)));
        assert_eq!(hundredth.rounded_up().as_deref(), Some("0.01"));
        let texts = Column::texts("t", ["a", "b"].into_iter());
        assert_eq!(Near::usual(texts.domain(), &[50, 50]), Near::Nothing);
    }
}

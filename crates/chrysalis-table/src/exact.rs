//! Exact fractions of any size, and floats as such.

use num_bigint::{BigInt, BigUint, Sign};
use num_rational::Ratio;
use num_traits::{ToPrimitive, Zero};

/// A fraction of whole numbers of any size.
pub type BigRational = Ratio<BigInt>;

/// Bits of a quotient: more than a float has, so that one bit below them decides how to round.
const QUOTIENT_BITS: i64 = 66;

/// The fraction that a float is; `None` for infinities and NaN.
pub fn from_float(number: f64) -> Option<BigRational> {
    if !number.is_finite() {
        return None;
    }
    let bits = number.to_bits();
    let (exponent, fraction) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
    let (mantissa, exponent) = match exponent {
        0 => (fraction, -1074),
        exponent => (fraction | 1 << 52, exponent as i32 - 1075),
    };
    let sign = if number < 0.0 { Sign::Minus } else { Sign::Plus };
    let mantissa = BigInt::from_biguint(sign, mantissa.into());
    let power = BigInt::from(1) << exponent.unsigned_abs();
    Some(if exponent < 0 { Ratio::new(mantissa, power) } else { Ratio::from_integer(mantissa * power) })
}

/// The float next to a fraction, infinite beyond the greatest; below the least normal number it may be the one beside that.
pub fn to_float(fraction: &BigRational) -> f64 {
    let (above, below) = (fraction.numer().magnitude(), fraction.denom().magnitude());
    if above.is_zero() {
        return 0.0;
    }
    let shift = QUOTIENT_BITS - (above.bits() as i64 - below.bits() as i64);
    let scaled = |number: &BigUint, by: i64| number << by.max(0) as u64;
    let (above, below) = (scaled(above, shift), scaled(below, -shift));
    let quotient = &above / &below;
    let is_inexact = &quotient * &below != above;
    // The last bit stands for all that follow it.
    let quotient = quotient.to_u128().unwrap_or(u128::MAX) | u128::from(is_inexact);
    let half = i32::try_from(-shift / 2).unwrap_or(if shift > 0 { i32::MIN } else { i32::MAX });
    let rest = i32::try_from(-shift - i64::from(half)).unwrap_or(half);
    let size = quotient as f64 * 2f64.powi(half) * 2f64.powi(rest);
    if fraction.numer().sign() == Sign::Minus { -size } else { size }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ratio(above: i64, below: i64) -> BigRational {
        Ratio::new(above.into(), below.into())
    }

    #[test]
    fn floats_are_the_fractions_they_are() {
        assert_eq!(from_float(0.5), Some(ratio(1, 2)));
        assert_eq!(from_float(-3.0), Some(ratio(-3, 1)));
        assert_eq!(from_float(-0.0), Some(ratio(0, 1)));
        assert_eq!(from_float(0.1), Some(ratio(3_602_879_701_896_397, 36_028_797_018_963_968)));
        assert_eq!(from_float(f64::from_bits(1)), Some(Ratio::new(1.into(), BigInt::from(1) << 1074)));
        assert_eq!((from_float(f64::NAN), from_float(f64::NEG_INFINITY)), (None, None));
    }

    #[test]
    fn fractions_beyond_all_floats_are_infinite_or_nothing() {
        let large = BigRational::from_integer(BigInt::from(1) << 5000);
        assert_eq!((to_float(&large), to_float(&-large.clone())), (f64::INFINITY, f64::NEG_INFINITY));
        assert_eq!(to_float(&large.recip()), 0.0);
        // 2^53 + 1 lies halfway between two floats; the least bit more decides.
        let halfway = BigRational::from_integer(BigInt::from((1i64 << 53) + 1));
        assert_eq!(to_float(&halfway), 9_007_199_254_740_992.0);
        assert_eq!(to_float(&(halfway + from_float(1e-300).unwrap())), 9_007_199_254_740_994.0);
    }

    proptest! {
        #[test]
        fn there_and_back(bits in any::<u64>()) {
            let number = f64::from_bits(bits);
            let back = from_float(number).map(|exact| to_float(&exact));
            prop_assert_eq!(back, number.is_finite().then_some(number));
        }

        /// The processor divides and rounds once.
        #[test]
        fn quotients_round_as_division_does(above in -1i64 << 53..1i64 << 53, below in 1i64..1 << 53) {
            prop_assert_eq!(to_float(&ratio(above, below)), above as f64 / below as f64);
        }
    }
}

//! How far apart numbers must be to count as different, decided exactly.

use chrysalis_criteria::{PrincipleSpec, parse_rational};
use chrysalis_release::{Attribute, Manifest};
use chrysalis_table::exact::{self, BigRational};
use chrysalis_table::{Code, Domain, Value};
use num_bigint::BigInt;
use num_traits::Zero;

use crate::AuditError;
use crate::promise::show;

/// Numbers, or dates by days, that are less than this apart count as one.
#[derive(Clone, Debug)]
pub(crate) struct Width {
    pub(crate) exact: BigRational,
    pub(crate) float: f64,
}

impl Width {
    pub(crate) fn new(exact: BigRational) -> Width {
        let float = exact::to_float(&exact);
        Width { exact, float }
    }

    /// The largest e that is promised, else the width that the owner names, else a hundredth of the range from the 5th
    /// to the 95th percentile; `None` where any two values are different.
    pub(crate) fn of(
        manifest: &Manifest,
        attribute: &Attribute,
        domain: &Domain,
        whole: &[u64],
    ) -> Result<Option<Width>, AuditError> {
        if !domain.kind().has_distances() {
            return Ok(None);
        }
        let ratio = |number: num_rational::Ratio<u64>| {
            BigRational::new(BigInt::from(*number.numer()), BigInt::from(*number.denom()))
        };
        let promised = manifest.promises.iter().filter_map(|promise| match promise.principle() {
            PrincipleSpec::Ke { e, .. } => Some(ratio(*e)),
            _ => None,
        });
        if let Some(e) = promised.max() {
            return Ok(Some(e).filter(|e| !e.is_zero()).map(Width::new));
        }
        if let Some(text) = &attribute.near {
            let bad = || AuditError::Attribute {
                attribute: attribute.name.clone(),
                problem: "has a `near` width that is not a number".to_owned(),
            };
            let width = parse_rational(text).map(ratio).ok_or_else(bad)?;
            return Ok(Some(width).filter(|width| !width.is_zero()).map(Width::new));
        }
        // The values that occur, ascending, and how many rows have each.
        let present: Vec<(Code, u64)> =
            (0..).zip(whole.iter().copied()).filter(|&(code, n)| n > 0 && domain.value(code).is_some()).collect();
        let total: u64 = present.iter().map(|(_, n)| n).sum();
        let at = |percent: u64| {
            let rank = (percent * total).div_ceil(100).max(1);
            let mut sum = 0;
            let found = present.iter().find(|(_, n)| {
                sum += n;
                sum >= rank
            });
            found.and_then(|(code, _)| domain.value(*code)).and_then(exact)
        };
        let width = at(95).zip(at(5)).map(|(high, low)| (high - low) / BigInt::from(100));
        Ok(width.filter(|width| !width.is_zero()).map(Width::new))
    }

    /// Whether two values of a domain, the smaller one first, count as one. The missing value is near nothing.
    pub(crate) fn is_near(&self, domain: &Domain, first: Code, last: Code) -> bool {
        let (Some(low), Some(high)) = (domain.value(first), domain.value(last)) else { return false };
        let far = low.number().zip(high.number()).map(|(low, high)| high - low - self.float);
        // Rounding errors are below one part in 2^50 of the numbers themselves.
        let size = low.number().map_or(0.0, f64::abs).max(high.number().map_or(0.0, f64::abs)).max(self.float);
        match far {
            Some(far) if far.is_finite() && far.abs() > size * 1e-12 => far < 0.0,
            // In doubt, the two count as one.
            _ => exact(low).zip(exact(high)).is_none_or(|(low, high)| high - low < self.exact),
        }
    }

    /// `4.5`, `12`.
    pub(crate) fn shown(&self) -> String {
        let text = show(&self.exact);
        if text.contains('/') { format!("{:.4}", self.float) } else { text }
    }
}

/// The number behind a value, or the day, or the second of a datetime.
pub(crate) fn exact(value: &Value) -> Option<BigRational> {
    match value {
        Value::Integer(number) => Some(BigRational::from_integer(BigInt::from(*number))),
        Value::Real(number) => exact::from_float(*number),
        Value::Date(date) => Some(BigRational::from_integer(BigInt::from(date.0))),
        Value::DateTime(moment) => {
            Some(BigRational::new(BigInt::from(moment.0), BigInt::from(chrysalis_table::DateTime::SECOND)))
        }
        Value::Text(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use chrysalis_table::Column;

    use super::*;

    #[test]
    fn reals_are_decided_exactly() {
        let column = Column::reals("x", &[0.1, 0.3, 0.7]);
        let between = exact::from_float(0.3).unwrap() - exact::from_float(0.1).unwrap();
        assert!(!Width::new(between.clone()).is_near(column.domain(), 0, 1));
        let hair = BigRational::new(1.into(), BigInt::from(10).pow(40));
        assert!(Width::new(between + hair).is_near(column.domain(), 0, 1));
    }
}

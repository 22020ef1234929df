use std::fmt;

use chrysalis_table::exact::{BigRational, from_float};
use chrysalis_table::{Code, DateTime, SaCounts, Value};
use num_bigint::{BigInt, BigUint};

use super::{Limit, Minimum, Principle, Sensitive, column_name, safe};
use crate::{CriteriaError, Laws, PrincipleSpec, Rational, show_rational};

/// (k,e)-anonymity: a group has at least k distinct numbers, and they span at least e.
///
/// # Guarantees
/// A person's number is one of k different ones and cannot be pinned to a range shorter than e.
/// # Against whom
/// An attacker who links by the quasi-identifier.
/// # Cost
/// Linear in the values present. A missing value neither counts nor adds to the span. Numbers that are near each other
/// count as different: the span keeps a group from being a single number.
/// # Paper
/// ke, definition 1: k distinct values, not k rows.
#[derive(Debug)]
pub(super) struct KeAnonymity {
    k: u64,
    e: Rational,
    values: Vec<Option<Value>>,
}

impl KeAnonymity {
    pub(super) fn bind(k: u64, e: Rational, sensitive: &Sensitive<'_>) -> Result<Self, CriteriaError> {
        let kind = sensitive.domain.kind();
        if !kind.is_numeric() {
            let text = format!("ke={k},{}", show_rational(e));
            return Err(CriteriaError::NotNumeric { text, column: sensitive.name.to_owned(), kind });
        }
        let codes = 0..sensitive.domain.len() as u32;
        Ok(KeAnonymity { k, e, values: codes.map(|code| sensitive.domain.value(code).cloned()).collect() })
    }

    /// Distinct numbers, and the smallest and largest of them.
    fn extent(&self, group: &SaCounts) -> (u64, Option<(&Value, &Value)>) {
        let codes = group.iter().map(|(code, _)| code).filter(|&code| self.values[code as usize].is_some());
        let n = codes.clone().count() as u64;
        let value = |code: Option<u32>| code.and_then(|code| self.values[code as usize].as_ref());
        (n, value(codes.clone().min()).zip(value(codes.max())))
    }
}

/// high − low ≥ e, exactly; for dates in days, for datetimes in seconds.
pub fn spans(low: &Value, high: &Value, e: Rational) -> bool {
    let (p, q) = (i128::from(*e.numer()), i128::from(*e.denom()));
    match (low, high) {
        // PROOF: a difference of 64-bit numbers has 65 bits, the denominator 30.
        (Value::Integer(low), Value::Integer(high)) => (i128::from(*high) - i128::from(*low)) * q >= p,
        (Value::Date(low), Value::Date(high)) => (i128::from(high.0) - i128::from(low.0)) * q >= p,
        // PROOF: microseconds of a second have 20 bits more, and a numerator has no more than 64.
        (Value::DateTime(low), Value::DateTime(high)) => {
            (i128::from(high.0) - i128::from(low.0)) * q >= p * i128::from(DateTime::SECOND)
        }
        (Value::Real(low), Value::Real(high)) => {
            // Far from the line floats decide: the difference and the quotient are off by less than one part in 2^50.
            let (difference, line) = (high - low, p as f64 / q as f64);
            if (difference - line).abs() > line * 1e-12 && difference.is_finite() {
                return difference > line;
            }
            let e = BigRational::new(BigInt::from(BigUint::from(*e.numer())), BigInt::from(BigUint::from(*e.denom())));
            from_float(*high).zip(from_float(*low)).is_some_and(|(high, low)| high - low >= e)
        }
        _ => false,
    }
}

impl Principle for KeAnonymity {
    fn laws(&self) -> Laws {
        Laws { monotone: true, scale_free: true }
    }

    fn holds(&self, group: &SaCounts) -> bool {
        let (distinct, extent) = self.extent(group);
        distinct >= self.k && extent.is_some_and(|(low, high)| spans(low, high, self.e))
    }

    fn least_size(&self) -> u64 {
        self.k
    }

    fn minimum(&self) -> Option<Minimum> {
        Some(Minimum { rows: self.k, distinct: self.k, span: Some(self.e), apart: 1 })
    }

    /// Rows with fewer than k numbers, and rows whose numbers span less than e; those without a number may all come
    /// together.
    fn safe_size(&self, rows: &SaCounts) -> Option<u64> {
        let mut there: Vec<(Code, u64)> = rows.iter().filter(|it| self.values[it.0 as usize].is_some()).collect();
        there.sort_unstable();
        let value = |at: usize| self.values[there[at].0 as usize].as_ref();
        let (mut low, mut sum, mut narrow) = (0, 0, 0);
        for high in 0..there.len() {
            sum += there[high].1;
            while low < high && value(low).zip(value(high)).is_some_and(|(low, high)| spans(low, high, self.e)) {
                sum -= there[low].1;
                low += 1;
            }
            narrow = narrow.max(sum);
        }
        let missing = rows.total() - there.iter().map(|it| it.1).sum::<u64>();
        let few = safe::more_than_most_frequent(there.iter().map(|it| it.1).collect(), self.k.saturating_sub(1));
        let narrow = if self.e > Rational::from(0) { narrow + 1 } else { 1 };
        Some(few.max(narrow) + missing)
    }

    fn limit(&self, whole: &SaCounts, sensitive: Option<&Sensitive<'_>>) -> Limit {
        let column = column_name(sensitive);
        let (distinct, extent) = self.extent(whole);
        let span = extent.and_then(|(low, high)| Some(high.number()? - low.number()?)).unwrap_or(0.0);
        let reason = if distinct < self.k {
            let numbers = if distinct == 1 { "number" } else { "numbers" };
            format!("{column} has {distinct} distinct {numbers}, a group needs {}", self.k)
        } else {
            format!("the numbers of {column} span {span}, a group needs {}", show_rational(self.e))
        };
        let spans_e = |e: Rational| extent.is_some_and(|(low, high)| spans(low, high, e));
        // The difference is rounded: it may lie slightly above a whole number that the values do not span.
        let whole_span = Rational::from(span.floor() as u64);
        let candidates = [self.e, whole_span, Rational::from((span.floor() as u64).saturating_sub(1))];
        let e = candidates.into_iter().find(|&e| spans_e(e)).unwrap_or(Rational::from(0));
        // Without a span it takes two numbers to promise anything.
        let least = if e == Rational::from(0) { 2 } else { 1 };
        let possible = (distinct > 0).then(|| PrincipleSpec::Ke { k: self.k.max(least).min(distinct), e });
        let instead = format!("{column} has too few numbers to hide one among others: leave it out");
        Limit::new(reason, possible, instead)
    }
}

impl fmt::Display for KeAnonymity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ke={},{}", self.k, show_rational(self.e))
    }
}

//! Which values of a sensitive column count as one, and which count as none.
//!
//! Diversity is worth no more than the differences between values. `HIV`, `HIV ` and `hiv` are one disease, 1000 and
//! 1003 one salary, and a row without a value hides nobody else's. Which values count as one is decided once per
//! column; principles then ask about groups.

use std::collections::BTreeMap;

use chrysalis_table::exact::{BigRational, from_float};
use chrysalis_table::{Code, DateTime, Domain, SaCounts, Value, folded};
use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};

use crate::{Near, Rational};

/// Which values of a column count as one. In [`Alike::default`] every value counts by itself, and none is missing.
#[derive(Clone, Debug, Default)]
pub struct Alike {
    /// For every code, the first one that looks like it; empty if no two look alike.
    first: Vec<Code>,
    /// The code of rows without a value. Texts without a visible character look like it.
    missing: Option<Code>,
    /// For every code, the first one that is far enough above it; empty if all neighbours are far enough apart.
    reach: Vec<Code>,
    near: Option<Near>,
}

/// The most frequent value of a group, where values may count as one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Heaviest {
    pub(crate) count: u64,
    /// The first and last code of a stretch of numbers; twice the same code for a value and all that look like it.
    pub(crate) ends: Option<(Code, Code)>,
}

impl Alike {
    /// Which values count as one in a column whose numbers (or dates) are different if they are at least `near` apart.
    pub fn new(domain: &Domain, near: &Near) -> Self {
        let missing = domain.has_missing().then_some(0);
        if domain.kind().has_distances() {
            let reach = reach(domain, near);
            let is_needed = (0..).zip(&reach).any(|(code, &next): (Code, _)| next > code + 1);
            let near = is_needed.then(|| near.clone());
            return Alike { first: Vec::new(), missing, reach: if is_needed { reach } else { Vec::new() }, near };
        }
        let mut first_of: BTreeMap<String, Code> = BTreeMap::new();
        let folded = |code: Code| folded(&domain.text(code)).into_owned();
        let first: Vec<Code> =
            (0..domain.len() as Code).map(|code| *first_of.entry(folded(code)).or_insert(code)).collect();
        let is_needed = (0..).zip(&first).any(|(code, &first): (Code, _)| first != code);
        let missing = first_of.get("").copied();
        Alike { first: if is_needed { first } else { Vec::new() }, missing, reach: Vec::new(), near: None }
    }

    /// The same for combinations of the values of several columns, of which this column's value is `value_of`: those
    /// whose values are of one class count as one.
    pub(crate) fn of_combinations(&self, value_of: &[Code]) -> Alike {
        let classes = self.classes();
        let mut first_of: BTreeMap<Code, Code> = BTreeMap::new();
        let class = |value: Code| classes.get(value as usize).copied().unwrap_or(value);
        let first = (0..).zip(value_of).map(|(at, &value): (Code, _)| *first_of.entry(class(value)).or_insert(at));
        let first: Vec<Code> = first.collect();
        let missing = (0..).zip(value_of).find(|(_, value)| self.is_missing(**value)).map(|(at, _): (Code, _)| at);
        Alike { first, missing, reach: Vec::new(), near: None }
    }

    /// Whether every value counts by itself, and no row lacks one.
    pub fn is_plain(&self) -> bool {
        self.first.is_empty() && self.reach.is_empty() && self.missing.is_none()
    }

    /// The first code that looks like this one.
    pub fn first(&self, code: Code) -> Code {
        self.first.get(code as usize).copied().unwrap_or(code)
    }

    /// Whether the code means that there is no value.
    pub fn is_missing(&self, code: Code) -> bool {
        self.missing.is_some_and(|missing| self.first(code) == missing)
    }

    /// For every code, the first higher one that counts as a different value; empty if no two numbers are near each
    /// other.
    pub fn reach(&self) -> &[Code] {
        &self.reach
    }

    /// Sets of codes that look alike, two or more in each. Codes that look like a missing value form such a set, too.
    pub fn sets(&self) -> Vec<Vec<Code>> {
        let mut sets: BTreeMap<Code, Vec<Code>> = BTreeMap::new();
        (0..).zip(&self.first).for_each(|(code, &first)| sets.entry(first).or_default().push(code));
        sets.into_values().filter(|set| set.len() > 1).collect()
    }

    /// In words, the rules by which values do not simply count by themselves.
    pub(crate) fn words(&self) -> Vec<String> {
        let looks = (!self.first.is_empty()).then(|| "values that look alike count as one".to_owned());
        let near =
            self.near.as_ref().map(|near| format!("values less than {} apart count as one", shown(near.width())));
        let missing = self.missing.map(|_| "missing values protect nobody".to_owned());
        looks.into_iter().chain(near).chain(missing).collect()
    }

    /// Rows of a group without a value.
    pub fn missing(&self, group: &SaCounts) -> u64 {
        match self.missing {
            None => 0,
            Some(code) if self.first.is_empty() => group.count(code),
            Some(_) => group.iter().filter(|(code, _)| self.is_missing(*code)).map(|(_, count)| count).sum(),
        }
    }

    /// How many rows have each value, those that look alike taken together; missing values are not counted.
    pub(crate) fn counts(&self, group: &SaCounts) -> Vec<u64> {
        let present = group.iter().filter(|(code, _)| !self.is_missing(*code));
        summed(present.map(|(code, count)| (self.first(code), count)).collect()).into_iter().map(|it| it.1).collect()
    }

    /// The largest number of rows whose values count as one; missing values are not counted.
    pub fn most(&self, group: &SaCounts) -> u64 {
        if self.is_plain() { group.max() } else { self.heaviest(group, |_| true).count }
    }

    /// The same together with the codes, among codes that satisfy `counts`. Missing values are never counted.
    pub(crate) fn heaviest(&self, group: &SaCounts, counts: impl Fn(Code) -> bool) -> Heaviest {
        let present = |(code, _): &(Code, u64)| counts(*code) && !self.is_missing(*code);
        if !self.reach.is_empty() {
            return self.heaviest_stretch(&ascending(group).into_iter().filter(present).collect::<Vec<_>>());
        }
        let mut classes: Vec<(Code, u64)> =
            group.iter().filter(present).map(|(code, count)| (self.first(code), count)).collect();
        if !self.first.is_empty() {
            classes = summed(classes);
        }
        let most = classes.into_iter().max_by_key(|&(code, count)| (count, std::cmp::Reverse(code)));
        most.map_or_else(Heaviest::default, |(code, count)| Heaviest { count, ends: Some((code, code)) })
    }

    /// The stretch of numbers, all near its first one, that has the most rows. Two pointers: linear in the values.
    fn heaviest_stretch(&self, values: &[(Code, u64)]) -> Heaviest {
        let (mut low, mut sum) = (0, 0);
        let mut most = Heaviest::default();
        for &(code, count) in values {
            sum += count;
            while self.reach[values[low].0 as usize] <= code {
                sum -= values[low].1;
                low += 1;
            }
            if sum > most.count {
                most = Heaviest { count: sum, ends: Some((values[low].0, code)) };
            }
        }
        most
    }

    /// How many different values a group has; for numbers, the most that are pairwise far enough apart. Missing values
    /// are not counted, except that a group of them alone has one value.
    pub fn distinct(&self, group: &SaCounts) -> u64 {
        if self.is_plain() {
            return group.distinct() as u64;
        }
        let is_there = |code: &Code| !self.is_missing(*code);
        let n = if self.reach.is_empty() {
            let mut codes: Vec<Code> =
                group.iter().map(|(code, _)| code).filter(is_there).map(|code| self.first(code)).collect();
            if !self.first.is_empty() {
                codes.sort_unstable();
                codes.dedup();
            }
            codes.len() as u64
        } else {
            // PROOF: taking the smallest value far enough above the last one never leaves fewer for the rest.
            let mut next = 0;
            let codes = ascending(group).into_iter().map(|(code, _)| code).filter(is_there);
            codes.fold(0, |n, code| {
                if code < next {
                    return n;
                }
                next = self.reach[code as usize];
                n + 1
            })
        };
        n.max(u64::from(group.total() > 0))
    }

    /// The class of every code; codes of one class are best dealt to different groups. Empty if every code is a class
    /// of its own. Numbers are cut, from the smallest up, into stretches of values that are near each other.
    pub fn classes(&self) -> Vec<Code> {
        if self.reach.is_empty() {
            return self.first.clone();
        }
        let mut start = 0;
        let mut classes = vec![0; self.reach.len()];
        for code in 0..self.reach.len() as Code {
            if self.is_missing(code) || self.is_missing(start) || self.reach[start as usize] <= code {
                start = code;
            }
            classes[code as usize] = start;
        }
        classes
    }

    /// The ways in which values are merged for principles that look at all frequencies; such a principle must hold in
    /// each layout. Values that look alike are merged. Numbers are put into bins as wide as `near`, and in a second
    /// layout into the same bins shifted by half their width, so numbers less than half of `near` apart share a bin in
    /// at least one of the two. Empty if every value counts by itself.
    pub(crate) fn layouts(&self, domain: &Domain) -> Vec<Vec<Code>> {
        match &self.near {
            Some(near) => [false, true].map(|is_moved| bins(domain, near, is_moved)).to_vec(),
            None if self.first.is_empty() => Vec::new(),
            None => vec![self.first.clone()],
        }
    }

    /// The frequencies of a group's values, once for every reading: in each layout, with missing values as one value,
    /// and without them.
    pub(crate) fn readings(&self, layouts: &[Vec<Code>], group: &SaCounts) -> Vec<Vec<u64>> {
        let in_layout = |layout: Option<&Vec<Code>>| {
            let place = |code: Code| layout.map_or(code, |layout| layout[code as usize]);
            let (missing, there): (Vec<_>, Vec<_>) = group.iter().partition(|(code, _)| self.is_missing(*code));
            let placed = there.into_iter().map(|(code, count)| (place(code), count)).collect();
            let there: Vec<u64> = summed(placed).into_iter().map(|(_, count)| count).collect();
            let missing: u64 = missing.into_iter().map(|(_, count)| count).sum();
            if missing == 0 {
                return vec![there];
            }
            let with = there.iter().copied().chain([missing]).collect();
            if there.is_empty() { vec![with] } else { vec![with, there] }
        };
        match layouts {
            [] => in_layout(None),
            layouts => layouts.iter().flat_map(|layout| in_layout(Some(layout))).collect(),
        }
    }
}

/// `4.5`, `12`.
fn shown(width: f64) -> String {
    let text = format!("{width:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Adds up the counts of equal codes; the codes ascend.
fn summed(mut counts: Vec<(Code, u64)>) -> Vec<(Code, u64)> {
    counts.sort_unstable();
    counts.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        if is_same {
            kept.1 += next.1;
        }
        is_same
    });
    counts
}

/// The codes of a group with their counts, ascending: found by scanning the domain if many of its codes occur, sorted
/// otherwise.
fn ascending(group: &SaCounts) -> Vec<(Code, u64)> {
    if group.distinct() * 16 >= group.domain_len() {
        let all = (0..group.domain_len() as Code).map(|code| (code, group.count(code)));
        return all.filter(|(_, count)| *count > 0).collect();
    }
    let mut codes: Vec<(Code, u64)> = group.iter().collect();
    codes.sort_unstable();
    codes
}

/// For every code, the first higher one that is not near it. Two pointers: linear in the domain.
fn reach(domain: &Domain, near: &Near) -> Vec<Code> {
    let n = domain.len() as Code;
    let mut high = 0;
    (0..n)
        .map(|code| {
            high = high.max(code + 1);
            let Some(low) = domain.value(code) else { return code + 1 };
            while high < n && domain.value(high).is_some_and(|value| near.is_one(low, value)) {
                high += 1;
            }
            high
        })
        .collect()
}

/// The bin of every code: ⌊(value − smallest)/near⌋, or with bins shifted by half their width; numbered without gaps. A
/// missing value has a bin of its own.
fn bins(domain: &Domain, near: &Near, is_moved: bool) -> Vec<Code> {
    let mut bins = Vec::with_capacity(domain.len());
    let mut before: Option<i128> = None;
    let mut number: Code = 0;
    for code in 0..domain.len() as Code {
        let place = domain.value(code).and_then(|value| place(value, domain.values().first()?, near, is_moved));
        if code > 0 && (place != before || place.is_none()) {
            number += 1;
        }
        before = place;
        bins.push(number);
    }
    bins
}

/// ⌊(value − from)/near⌋, or ⌊(value − from)/near + ½⌋. Exact.
fn place(value: &Value, from: &Value, near: &Near, is_moved: bool) -> Option<i128> {
    let whole = |value: &Value| value.whole().map(i128::from);
    // A width is in seconds, and a datetime in microseconds.
    let unit = if matches!(value, Value::DateTime(_)) { i128::from(DateTime::SECOND) } else { 1 };
    if let (Some(value), Some(from)) = (whole(value), whole(from)) {
        let (p, q) = match near {
            Near::Nothing => return None,
            Near::Width(width) => (i128::from(*width.numer()) * unit, i128::from(*width.denom())),
            Near::Hundredth(low, high) => (whole(high)? - whole(low)?, 100),
        };
        // PROOF: a difference of 64-bit numbers has 65 bits, a denominator 30, and we double it once.
        let steps = (value - from) * q * 2 + if is_moved { p } else { 0 };
        return steps.checked_div_euclid(2 * p);
    }
    let (Value::Real(value), Value::Real(from)) = (value, from) else { return None };
    let half = if is_moved { 0.5 } else { 0.0 };
    let steps = (value - from) / near.width() + half;
    // Far from the line floats decide: the difference, the width and the quotient together are off by less than one
    // part in 2^49.
    if steps.is_finite() && steps < 1e12 && (steps - steps.round()).abs() > (steps + 1.0) * 1e-14 {
        return Some(steps.floor() as i128);
    }
    let width = match near {
        Near::Nothing => return None,
        Near::Width(width) => big(*width),
        Near::Hundredth(Value::Real(low), Value::Real(high)) => {
            (from_float(*high)? - from_float(*low)?) / BigInt::from(100)
        }
        Near::Hundredth(..) => return None,
    };
    if width.is_zero() {
        return None;
    }
    let half = if is_moved { BigRational::new(1.into(), 2.into()) } else { BigRational::from_integer(0.into()) };
    let steps = (from_float(*value)? - from_float(*from)?) / width + half;
    // Values beyond 128 bits share a bin: coarser is safe.
    Some(steps.floor().to_integer().to_i128().unwrap_or(i128::MAX))
}

fn big(number: Rational) -> BigRational {
    BigRational::new(BigInt::from(*number.numer()), BigInt::from(*number.denom()))
}

#[cfg(test)]
mod tests {
    use chrysalis_table::Column;
    use proptest::prelude::*;

    use super::*;

    fn of(numbers: &[i64], near: Rational) -> (Alike, Vec<Vec<Code>>, Vec<i64>) {
        let column = Column::integers("s", numbers);
        let alike = Alike::new(column.domain(), &Near::Width(near));
        let layouts = alike.layouts(column.domain());
        let whole = |value: &Value| if let Value::Integer(number) = value { *number } else { 0 };
        (alike, layouts, column.domain().values().iter().map(whole).collect())
    }

    proptest! {
        /// Conversely, no bin holds two numbers that are at least `near` apart.
        #[test]
        fn numbers_less_than_half_of_near_apart_share_a_bin_one_way_or_the_other(
            numbers in prop::collection::vec(-50i64..50, 1..20),
            p in 1u64..40,
            q in 1u64..4,
        ) {
            let near = Rational::new(p, q);
            let (alike, layouts, values) = of(&numbers, near);
            let below = |distance: i64, factor: u64| (distance as u64) * factor * near.denom() < *near.numer();
            for (a, &low) in values.iter().enumerate() {
                for (b, &high) in values.iter().enumerate().skip(a) {
                    let shared = layouts.iter().filter(|layout| layout[a] == layout[b]).count();
                    if alike.is_plain() {
                        prop_assert!(a == b || !below(high - low, 1));
                    } else {
                        prop_assert!(!below(high - low, 2) || shared > 0, "{low} and {high} within {near}");
                        prop_assert!(below(high - low, 1) || shared == 0, "{low} and {high} within {near}");
                    }
                }
            }
        }

        #[test]
        fn reals_and_integers_have_the_same_bins(
            numbers in prop::collection::vec(-50i64..50, 2..20),
            p in 1u64..40,
            q in 1u64..4,
        ) {
            let near = Near::Width(Rational::new(p, q));
            let integers = Column::integers("s", &numbers);
            let reals = Column::reals("s", &numbers.iter().map(|&number| number as f64).collect::<Vec<_>>());
            for is_moved in [false, true] {
                prop_assert_eq!(bins(integers.domain(), &near, is_moved), bins(reals.domain(), &near, is_moved));
            }
        }
    }

    #[test]
    fn near_that_parts_all_values_changes_nothing() {
        assert!(of(&[1, 2, 3, 9], Rational::new(1, 1)).0.is_plain());
        assert!(of(&[1, 2, 3, 9], Rational::new(0, 1)).0.is_plain());
        assert!(!of(&[1, 2, 3, 9], Rational::new(3, 2)).0.is_plain());
        let words = Column::texts("s", ["a", "b"].into_iter());
        assert!(Alike::new(words.domain(), &Near::Nothing).is_plain());
        let alike = Column::texts("s", ["a", "A", "", " "].into_iter());
        let found = Alike::new(alike.domain(), &Near::Nothing);
        assert_eq!(found.sets(), [vec![0, 1], vec![2, 3]]);
        assert!(found.is_missing(0) && found.is_missing(1) && !found.is_missing(2));
    }
}

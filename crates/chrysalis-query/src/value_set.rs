//! Sets of values of one attribute, which conditions on it are reduced to (step 3 of `spec.md`).

use std::cmp::Ordering;

/// Some of an attribute's values, and whether the missing value is among them.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueSet {
    /// The values.
    pub values: Values,
    /// Whether a missing value matches.
    pub missing: bool,
}

/// Values other than the missing one.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Integers, and dates as days since 1970-01-01. The cut `n` lies just before `n`.
    Integers(Ranges<i128>),
    /// Finite numbers.
    Reals(Ranges<RealCut>),
    /// Words: for each of the attribute's listed values, whether it is in the set.
    Words(Vec<bool>),
}

/// A place between values, where a range can begin or end.
pub trait Cut: Copy + Ord {
    /// Before all values.
    const FIRST: Self;
    /// After all values.
    const LAST: Self;
}

impl Cut for i128 {
    const FIRST: i128 = i64::MIN as i128;
    const LAST: i128 = i64::MAX as i128 + 1;
}

/// Just before or just after a number.
#[derive(Clone, Copy, Debug)]
pub struct RealCut {
    /// The number; infinite at the ends of the line.
    pub at: f64,
    /// Whether the number lies before the cut.
    pub after: bool,
}

impl RealCut {
    /// Just before a number. Negative zero is zero.
    pub fn before(number: f64) -> Self {
        RealCut { at: number + 0.0, after: false }
    }

    /// Just after a number.
    pub fn after(number: f64) -> Self {
        RealCut { at: number + 0.0, after: true }
    }
}

impl Cut for RealCut {
    const FIRST: RealCut = RealCut { at: f64::NEG_INFINITY, after: true };
    const LAST: RealCut = RealCut { at: f64::INFINITY, after: false };
}

impl Ord for RealCut {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at.total_cmp(&other.at).then(self.after.cmp(&other.after))
    }
}

impl PartialOrd for RealCut {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RealCut {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for RealCut {}

/// Disjoint ranges in ascending order, none empty, no two touching. Each runs from a cut to a later cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranges<C> {
    ranges: Vec<(C, C)>,
}

impl<C: Cut> Ranges<C> {
    /// No value.
    pub fn none() -> Self {
        Ranges { ranges: Vec::new() }
    }

    /// Every value.
    pub fn all() -> Self {
        Ranges { ranges: vec![(C::FIRST, C::LAST)] }
    }

    /// From one cut to another; empty if the second is not after the first.
    pub fn between(from: C, to: C) -> Self {
        Ranges::union_of(vec![(from, to)])
    }

    /// The union of these ranges.
    pub fn union_of(mut ranges: Vec<(C, C)>) -> Self {
        let clipped = ranges.iter_mut().map(|(from, to)| ((*from).max(C::FIRST), (*to).min(C::LAST)));
        let mut ranges: Vec<(C, C)> = clipped.filter(|(from, to)| from < to).collect();
        ranges.sort_unstable();
        let mut merged: Vec<(C, C)> = Vec::with_capacity(ranges.len());
        for (from, to) in ranges {
            match merged.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => merged.push((from, to)),
            }
        }
        Ranges { ranges: merged }
    }

    /// The ranges, in order.
    pub fn ranges(&self) -> &[(C, C)] {
        &self.ranges
    }

    /// Whether it contains no value.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Whether it contains every value.
    pub fn is_all(&self) -> bool {
        self.ranges == [(C::FIRST, C::LAST)]
    }

    /// The values in either.
    pub fn union(&self, other: &Self) -> Self {
        Ranges::union_of(self.ranges.iter().chain(&other.ranges).copied().collect())
    }

    /// The values not in it.
    pub fn complement(&self) -> Self {
        let starts = std::iter::once(C::FIRST).chain(self.ranges.iter().map(|(_, to)| *to));
        let ends = self.ranges.iter().map(|(from, _)| *from).chain([C::LAST]);
        Ranges { ranges: starts.zip(ends).filter(|(from, to)| from < to).collect() }
    }

    /// The values in both.
    pub fn intersection(&self, other: &Self) -> Self {
        let (mut at, mut ranges) = (0, Vec::new());
        for &(from, to) in &self.ranges {
            while other.ranges.get(at).is_some_and(|range| range.1 <= from) {
                at += 1;
            }
            for &(start, end) in other.ranges[at..].iter().take_while(|(start, _)| *start < to) {
                ranges.push((from.max(start), to.min(end)));
            }
        }
        Ranges { ranges }
    }

    /// Whether some range overlaps the stretch between the two cuts.
    pub fn touches(&self, from: C, to: C) -> bool {
        let first = self.ranges.partition_point(|range| range.1 <= from);
        from < to && self.ranges.get(first).is_some_and(|range| range.0 < to)
    }
}

impl Ranges<i128> {
    /// Whether it contains a number.
    pub fn contains(&self, number: i64) -> bool {
        self.touches(i128::from(number), i128::from(number) + 1)
    }

    /// The first and last number of each range; `None` where it is unbounded.
    pub fn closed(&self) -> impl Iterator<Item = (Option<i64>, Option<i64>)> {
        self.ranges.iter().map(|&(from, to)| {
            let low = (from > i128::FIRST).then(|| i64::try_from(from).ok()).flatten();
            let high = (to < i128::LAST).then(|| i64::try_from(to - 1).ok()).flatten();
            (low, high)
        })
    }
}

/// One end of a range of reals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RealEnd {
    /// The number.
    pub at: f64,
    /// Whether the number itself belongs to the range.
    pub is_closed: bool,
}

impl Ranges<RealCut> {
    /// Whether it contains a number.
    pub fn contains(&self, number: f64) -> bool {
        self.touches(RealCut::before(number), RealCut::after(number))
    }

    /// The two ends of each range; `None` where it is unbounded.
    pub fn ends(&self) -> impl Iterator<Item = (Option<RealEnd>, Option<RealEnd>)> {
        self.ranges.iter().map(|&(from, to)| {
            let low = RealEnd { at: from.at, is_closed: !from.after };
            let high = RealEnd { at: to.at, is_closed: to.after };
            ((from > RealCut::FIRST).then_some(low), (to < RealCut::LAST).then_some(high))
        })
    }
}

impl Values {
    fn combine(
        &self,
        other: &Self,
        integers: fn(&Ranges<i128>, &Ranges<i128>) -> Ranges<i128>,
        reals: fn(&Ranges<RealCut>, &Ranges<RealCut>) -> Ranges<RealCut>,
        words: fn(bool, bool) -> bool,
    ) -> Self {
        match (self, other) {
            (Values::Integers(a), Values::Integers(b)) => Values::Integers(integers(a, b)),
            (Values::Reals(a), Values::Reals(b)) => Values::Reals(reals(a, b)),
            (Values::Words(a), Values::Words(b)) => {
                Values::Words(a.iter().zip(b).map(|(a, b)| words(*a, *b)).collect())
            }
            // PROOF: sets of one attribute share a variant, and only such sets are ever combined.
            _ => self.clone(),
        }
    }
}

impl ValueSet {
    /// The values in either.
    pub fn union(&self, other: &Self) -> Self {
        let values = self.values.combine(&other.values, Ranges::union, Ranges::union, |a, b| a | b);
        ValueSet { values, missing: self.missing | other.missing }
    }

    /// The values in both.
    pub fn intersection(&self, other: &Self) -> Self {
        let values = self.values.combine(&other.values, Ranges::intersection, Ranges::intersection, |a, b| a & b);
        ValueSet { values, missing: self.missing & other.missing }
    }

    /// The values not in it; the missing value changes sides as well.
    pub fn complement(&self) -> Self {
        let values = match &self.values {
            Values::Integers(ranges) => Values::Integers(ranges.complement()),
            Values::Reals(ranges) => Values::Reals(ranges.complement()),
            Values::Words(words) => Values::Words(words.iter().map(|is_in| !is_in).collect()),
        };
        ValueSet { values, missing: !self.missing }
    }

    /// The same without the missing value.
    pub fn without_missing(mut self) -> Self {
        self.missing = false;
        self
    }

    /// Whether nothing matches, not even a missing value.
    pub fn is_empty(&self) -> bool {
        !self.missing && self.has_no_value()
    }

    fn has_no_value(&self) -> bool {
        match &self.values {
            Values::Integers(ranges) => ranges.is_empty(),
            Values::Reals(ranges) => ranges.is_empty(),
            Values::Words(words) => !words.contains(&true),
        }
    }

    /// Whether every value matches, leaving the missing one aside.
    pub fn has_every_value(&self) -> bool {
        match &self.values {
            Values::Integers(ranges) => ranges.is_all(),
            Values::Reals(ranges) => ranges.is_all(),
            Values::Words(words) => !words.contains(&false),
        }
    }
}

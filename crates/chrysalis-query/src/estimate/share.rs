//! How much of a label a value set covers.

use chrysalis_release::view::Label;

use crate::value_set::{Ranges, RealCut, ValueSet, Values};

/// The part of a label that lies in a set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Share {
    /// The covered points or length, divided by all of the label's.
    pub(crate) share: f64,
    /// Whether label and set have a value in common at all.
    pub(crate) touches: bool,
}

/// A value set with running sums, so that each label costs no more than a search.
pub(crate) struct Measure<'a> {
    set: &'a ValueSet,
    /// For integers: the number of points of the set before each range. For words: the number of words in the set
    /// before each rank.
    points: Vec<i128>,
    lengths: Lengths,
}

impl<'a> Measure<'a> {
    pub(crate) fn new(set: &'a ValueSet) -> Self {
        let mut lengths = Lengths::default();
        let points = match &set.values {
            // Points are counted in integers: an open range has more points than a float can represent exactly.
            Values::Integers(ranges) => running(ranges.ranges().iter().map(|(from, to)| to - from)),
            Values::Words(words) => running(words.iter().map(|&is_in| i128::from(is_in))),
            Values::Reals(ranges) => {
                lengths = Lengths::new(ranges);
                Vec::new()
            }
        };
        Measure { set, points, lengths }
    }

    /// Whether the label has a value in the set.
    pub(crate) fn touches(&self, label: &Label) -> bool {
        self.of(label).touches
    }

    /// Step 6, generalize.
    pub(crate) fn of(&self, label: &Label) -> Share {
        let (total, inside, touches) = match (label, &self.set.values) {
            (Label::Points { ends: Some((low, high)), .. }, Values::Integers(ranges)) => {
                let (from, to) = (i128::from(*low), i128::from(*high) + 1);
                let inside = self.points_before(ranges, to) - self.points_before(ranges, from);
                ((to - from) as f64, inside as f64, inside > 0)
            }
            (Label::Points { ends: Some((low, high)), .. }, Values::Words(_)) => {
                // PROOF: ranks are positions among the listed words.
                let (from, to) = (*low as usize, *high as usize + 1);
                let inside = self.points[to] - self.points[from];
                ((to - from) as f64, inside as f64, inside > 0)
            }
            (Label::Stretch { ends: Some((low, high)), .. }, Values::Reals(ranges)) => {
                let touches = ranges.touches(RealCut::before(*low), RealCut::after(*high));
                if low == high {
                    (1.0, f64::from(u8::from(touches)), touches)
                } else {
                    (length(*low, *high), self.lengths.between(*low, *high), touches)
                }
            }
            (Label::Members { ranks, .. }, Values::Words(words)) => {
                let inside = ranks.iter().filter(|&&rank| words[rank]).count() as f64;
                (ranks.len() as f64, inside, inside > 0.0)
            }
            _ => (0.0, 0.0, false),
        };
        let missing = f64::from(u8::from(label.has_missing()));
        let covers_missing = label.has_missing() && self.set.missing;
        let inside = inside + f64::from(u8::from(covers_missing));
        let total = total + missing;
        Share { share: if total > 0.0 { inside / total } else { 0.0 }, touches: touches || covers_missing }
    }

    fn points_before(&self, ranges: &Ranges<i128>, cut: i128) -> i128 {
        let at = ranges.ranges().partition_point(|range| range.1 <= cut);
        self.points[at] + ranges.ranges().get(at).map_or(0, |range| (cut - range.0).max(0))
    }
}

/// The lengths of disjoint ranges of reals.
///
/// Only lengths inside the label are added up, and no sum is subtracted from another, so a distant range, however long,
/// costs a short one no precision.
#[derive(Default)]
struct Lengths {
    ends: Vec<(f64, f64)>,
    /// A tree of sums: leaf `i` is at `ends.len() + i`, and node `k` is the sum of the nodes `2k` and `2k + 1`.
    sums: Vec<f64>,
}

impl Lengths {
    fn new(ranges: &Ranges<RealCut>) -> Self {
        let ends: Vec<(f64, f64)> = ranges.ranges().iter().map(|(from, to)| (from.at, to.at)).collect();
        let mut sums = vec![0.0; ends.len()];
        sums.extend(ends.iter().map(|(from, to)| to - from));
        for node in (1..ends.len()).rev() {
            sums[node] = sums[2 * node] + sums[2 * node + 1];
        }
        Lengths { ends, sums }
    }

    /// The length covered between two numbers, in the unit of [`length`].
    fn between(&self, low: f64, high: f64) -> f64 {
        let first = self.ends.partition_point(|range| range.1 <= low);
        let end = self.ends.partition_point(|range| range.0 < high);
        let scale = unit(low, high);
        let clipped = |at: usize| self.ends[at].1.min(high) * scale - self.ends[at].0.max(low) * scale;
        match end.saturating_sub(first) {
            0 => 0.0,
            1 => clipped(first),
            _ if scale < 1.0 => (first..end).map(clipped).sum(),
            _ => clipped(first) + self.whole(first + 1, end - 1) + clipped(end - 1),
        }
    }

    /// The sum of the lengths of the ranges from `first` up to, but not including, `end`.
    fn whole(&self, first: usize, end: usize) -> f64 {
        let (mut from, mut to) = (first + self.ends.len(), end + self.ends.len());
        let mut sum = 0.0;
        while from < to {
            if from % 2 == 1 {
                sum += self.sums[from];
                from += 1;
            }
            if to % 2 == 1 {
                to -= 1;
                sum += self.sums[to];
            }
            (from, to) = (from / 2, to / 2);
        }
        sum
    }
}

/// The unit of the length between two numbers: the length of the longest stretches overflows, but half of it does not.
fn unit(low: f64, high: f64) -> f64 {
    if (high - low).is_finite() { 1.0 } else { 0.5 }
}

fn length(low: f64, high: f64) -> f64 {
    let unit = unit(low, high);
    high * unit - low * unit
}

/// The sum of the numbers before each number, followed by the sum of all.
fn running<T: Copy + Default + std::ops::Add<Output = T>>(numbers: impl Iterator<Item = T>) -> Vec<T> {
    let mut sums = vec![T::default()];
    for number in numbers {
        sums.push(sums[sums.len() - 1] + number);
    }
    sums
}

/// How many points a label has, the missing value included. For reals it is the length, or 1 for a single point.
pub(crate) fn n_points(label: &Label) -> f64 {
    let points = match label {
        Label::Points { ends, .. } => ends.map_or(0.0, |(low, high)| (i128::from(high) - i128::from(low) + 1) as f64),
        Label::Members { ranks, .. } => ranks.len() as f64,
        Label::Stretch { ends, .. } => {
            ends.map_or(0.0, |(low, high)| if low == high { 1.0 } else { length(low, high) })
        }
    };
    points + f64::from(u8::from(label.has_missing()))
}

#[cfg(test)]
mod tests {
    use chrysalis_table::exact::{self, BigRational};
    use num_traits::Zero;
    use proptest::prelude::*;

    use super::*;
    use crate::value_set::Cut;

    /// Any finite number, of a few magnitudes near 1 more often than of others.
    fn number() -> impl Strategy<Value = f64> {
        let magnitude = prop_oneof![Just(0), Just(17), -3..4i32, -320..308i32];
        (magnitude, 1.0..1.7f64, prop::bool::ANY).prop_map(|(magnitude, digits, is_negative)| {
            let size = digits * 10f64.powi(magnitude);
            if is_negative { -size } else { size }
        })
    }

    fn exact(number: f64) -> BigRational {
        exact::from_float(number).unwrap()
    }

    /// The share of a label that lies in a set, without rounding.
    fn exact_share(ranges: &Ranges<RealCut>, (low, high): (f64, f64)) -> BigRational {
        let length = |(from, to): &(RealCut, RealCut)| {
            let (from, to) = (from.at.max(low), to.at.min(high));
            if from < to { exact(to) - exact(from) } else { BigRational::zero() }
        };
        let inside: BigRational = ranges.ranges().iter().map(length).sum();
        inside / (exact(high) - exact(low))
    }

    proptest! {
        #[test]
        fn shares_are_exact_to_the_last_digits_at_every_magnitude(
            cuts in prop::collection::vec((number(), prop::bool::ANY), 0..9),
            ends in (number(), number()),
        ) {
            let mut cuts: Vec<RealCut> = cuts.into_iter().map(|(at, after)| RealCut { at: at + 0.0, after }).collect();
            cuts.sort();
            let ranges = Ranges::union_of(cuts.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect());
            let (low, high) = (ends.0.min(ends.1), ends.0.max(ends.1));
            prop_assume!(low < high);
            let label = Label::Stretch { ends: Some((low, high)), missing: false };
            for ranges in [ranges.complement(), ranges] {
                let truth = exact_share(&ranges, (low, high));
                let set = ValueSet { values: Values::Reals(ranges), missing: false };
                let found = Measure::new(&set).of(&label).share;
                let off = exact::to_float(&(exact(found) - &truth)).abs();
                // A few rounding errors of half a unit in the last place each; a share too small for a normal double
                // may come out as 0.
                let allowed = exact::to_float(&truth) * 1e-14 + f64::MIN_POSITIVE;
                prop_assert!(off <= allowed, "{found} is off by {off:e}");
            }
        }
    }

    /// Many ranges inside one label: the tree adds them up and leaves out those outside the label.
    #[test]
    fn many_ranges_add_up_whatever_lies_beyond() {
        let holes: Vec<(RealCut, RealCut)> =
            (0..1000).map(|at| (RealCut::before(f64::from(at)), RealCut::after(f64::from(at) + 0.5))).collect();
        let far = [(RealCut::before(-1e300), RealCut::before(-1e299)), (RealCut::before(1e17), RealCut::LAST)];
        let ranges = Ranges::union_of(holes.into_iter().chain(far).collect());
        let set = ValueSet { values: Values::Reals(ranges), missing: false };
        let measure = Measure::new(&set);
        let share = |low: f64, high: f64| measure.of(&Label::Stretch { ends: Some((low, high)), missing: false }).share;
        assert_eq!(share(0.0, 1000.0), 0.5);
        assert_eq!(share(0.25, 3.25), 0.5);
        assert_eq!(share(7.0, 7.5), 1.0);
        assert_eq!(share(7.5, 8.0), 0.0);
        assert!((share(-f64::MAX, f64::MAX) - 0.5).abs() < 1e-8);
        assert_eq!(share(999.5, 1e17), 0.0);
    }
}

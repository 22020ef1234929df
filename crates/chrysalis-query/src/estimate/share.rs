//! How much of a label a value set covers.

use chrysalis_release::view::Label;

use crate::value_set::{Ranges, RealCut, ValueSet, Values};

/// The part of a label that lies in a set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Share {
    /// Covered points or length, over all of the label's.
    pub(super) share: f64,
    /// Whether they have a value in common at all.
    pub(super) touches: bool,
}

/// A value set with running sums, so that each label costs a search and no more.
pub(super) struct Measure<'a> {
    set: &'a ValueSet,
    /// For whole numbers: the points of the set before each range; for words: the words in the set before each rank.
    points: Vec<i128>,
    /// For reals: the ranges, cut down to where labels are, and the length of the set before each.
    clipped: Ranges<RealCut>,
    lengths: Vec<f64>,
}

impl<'a> Measure<'a> {
    pub(super) fn new(set: &'a ValueSet, labels: &[Label]) -> Self {
        let (mut clipped, mut lengths) = (Ranges::none(), Vec::new());
        let points = match &set.values {
            // Whole numbers stay whole: an open range has more points than a float can count.
            Values::Integers(ranges) => running(ranges.ranges().iter().map(|(from, to)| to - from)),
            Values::Words(words) => running(words.iter().map(|&is_in| i128::from(is_in))),
            Values::Reals(ranges) => {
                let ends = || labels.iter().filter_map(stretch);
                let low = ends().map(|(low, _)| low).fold(f64::INFINITY, f64::min);
                let high = ends().map(|(_, high)| high).fold(f64::NEG_INFINITY, f64::max);
                clipped = ranges.intersection(&Ranges::between(RealCut::before(low), RealCut::after(high)));
                lengths = running(clipped.ranges().iter().map(|(from, to)| to.at - from.at));
                Vec::new()
            }
        };
        Measure { set, points, clipped, lengths }
    }

    /// Step 6, generalize.
    pub(super) fn of(&self, label: &Label) -> Share {
        let (total, inside, touches) = match (label, &self.set.values) {
            (Label::Points { ends: Some((low, high)), .. }, Values::Integers(ranges)) => {
                let (from, to) = (i128::from(*low), i128::from(*high) + 1);
                let inside = self.points_before(ranges, to) - self.points_before(ranges, from);
                ((to - from) as f64, inside as f64, inside > 0)
            }
            (Label::Points { ends: Some((low, high)), .. }, Values::Words(_)) => {
                // PROOF: ranks are places among the listed words.
                let (from, to) = (*low as usize, *high as usize + 1);
                let inside = self.points[to] - self.points[from];
                ((to - from) as f64, inside as f64, inside > 0)
            }
            (Label::Stretch { ends: Some((low, high)), .. }, Values::Reals(ranges)) => {
                let touches = ranges.touches(RealCut::before(*low), RealCut::after(*high));
                if low == high {
                    (1.0, f64::from(u8::from(touches)), touches)
                } else {
                    (high - low, (self.length_before(*high) - self.length_before(*low)).max(0.0), touches)
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

    fn length_before(&self, number: f64) -> f64 {
        let ranges = self.clipped.ranges();
        let at = ranges.partition_point(|range| range.1.at <= number);
        self.lengths[at] + ranges.get(at).map_or(0.0, |range| (number - range.0.at).max(0.0))
    }
}

fn stretch(label: &Label) -> Option<(f64, f64)> {
    if let Label::Stretch { ends, .. } = label { *ends } else { None }
}

/// The sum before each number, and that of all at the end.
fn running<T: Copy + Default + std::ops::Add<Output = T>>(numbers: impl Iterator<Item = T>) -> Vec<T> {
    let mut sums = vec![T::default()];
    for number in numbers {
        sums.push(sums[sums.len() - 1] + number);
    }
    sums
}

/// How many points a label has, the missing value included; reals have none to count.
pub(super) fn n_points(label: &Label) -> f64 {
    let points = match label {
        Label::Points { ends, .. } => ends.map_or(0.0, |(low, high)| (i128::from(high) - i128::from(low) + 1) as f64),
        Label::Members { ranks, .. } => ranks.len() as f64,
        Label::Stretch { ends, .. } => ends.map_or(0.0, |(low, high)| if low == high { 1.0 } else { high - low }),
    };
    points + f64::from(u8::from(label.has_missing()))
}

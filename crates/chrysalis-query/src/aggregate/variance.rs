//! VAR and STDDEV (step 9c of `spec.md`).

use super::Estimate;
use super::choice::{Chosen, Pick, hits, is_exact, least_average};

/// Parts of the range of possible means, and rounds of the search for the best centre.
const PARTS: u32 = 16;
const ROUNDS: u32 = 24;

impl Estimate {
    /// The standard deviation of a variance.
    pub(super) fn root(self) -> Self {
        let root = |x: Option<f64>| x.map(|x| x.max(0.0).sqrt());
        let std_error = self
            .std_error
            .zip(root(self.estimate))
            .map(|(error, root)| if root > 0.0 { error / (2.0 * root) } else { 0.0 });
        Estimate { estimate: root(self.estimate), lower: root(self.lower), upper: root(self.upper), std_error }.inside()
    }
}

pub(super) fn variance(groups: &[Chosen], is_sample: bool) -> Estimate {
    let (least, most) = hits(groups);
    let needed = if is_sample { 2 } else { 1 };
    if most < needed {
        return Estimate::default();
    }
    let expected = |number: &dyn Fn(&Pick) -> f64| groups.iter().map(|group| group.expected(number)).sum::<f64>();
    let count = expected(&|_| 1.0);
    let factor = |n: f64| if is_sample { n / (n - 1.0) } else { 1.0 };
    let centre = (count > 0.0).then(|| expected(&Pick::middle) / count);
    let plain = centre.map(|centre| expected(&|pick| (pick.middle() - centre).powi(2)) / count);
    let scale = if count > 1.0 || !is_sample { factor(count) } else { 1.0 };
    let estimate = plain.map(|plain| plain * scale);
    if is_exact(groups) {
        return Estimate {
            estimate,
            lower: estimate.map(down),
            upper: estimate.map(up),
            std_error: estimate.map(|_| 0.0),
        };
    }
    let deviation = |(centre, plain): (f64, f64)| {
        let off = |pick: &Pick| (pick.middle() - centre).powi(2) - plain;
        groups.iter().map(|group| group.variance(off)).sum::<f64>().max(0.0).sqrt() / count * scale
    };
    let (Some(low), Some(high)) =
        (least_average(groups, |pick| pick.low), least_average(groups, |pick| -pick.high).map(|least| -least))
    else {
        return Estimate::default();
    };
    let lower = down(least_variance(groups, low, high) * factor(most as f64)).max(0.0);
    let upper = up(greatest_variance(groups, low, high) * factor((least as f64).max(needed as f64)));
    let std_error = centre.zip(plain).map(deviation);
    Estimate { estimate, lower: Some(lower), upper: Some(upper), std_error }.inside()
}

/// Squares and their averages round; this is more than they can.
fn down(x: f64) -> f64 {
    x - x.abs() * 1e-11
}

fn up(x: f64) -> f64 {
    x + x.abs() * 1e-11
}

/// By how much a distance to a centre between these may be off, because the centre is rounded: a few units in its last
/// place, and more than these.
fn rounding(low: f64, high: f64) -> f64 {
    low.abs().max(high.abs()) * 1e-14
}

/// PROOF: the variance is the average of the squared distances to the mean, which lies in one of the parts of
/// `low..=high`. In a part [a, b] no squared distance is less than that to the part, and the average of squared distances
/// to its middle exceeds the variance by no more than the square of half its length. Where every distance is off by no more
/// than some length, so is the root of the average of their squares.
fn least_variance(groups: &[Chosen], low: f64, high: f64) -> f64 {
    let off = rounding(low, high);
    let shrunk = |square: f64| (square.sqrt() - off).max(0.0).powi(2);
    let parts = if low < high { PARTS } else { 1 };
    let cut = |at: u32| low + (high - low) * f64::from(at) / f64::from(parts);
    (0..parts)
        .map(|at| {
            let (from, to) = (cut(at), if at + 1 == parts { high } else { cut(at + 1) });
            let (middle, half) = (from / 2.0 + to / 2.0, (to - from) / 2.0);
            let to_part = |pick: &Pick| (pick.low - to).max(from - pick.high).max(0.0).powi(2);
            let to_middle = |pick: &Pick| (pick.low - middle).max(middle - pick.high).max(0.0).powi(2);
            let one = shrunk(least_average(groups, to_part).unwrap_or(0.0));
            let two = shrunk(least_average(groups, to_middle).unwrap_or(0.0)) - (half + off).powi(2) * (1.0 + 1e-11);
            one.max(two)
        })
        .fold(f64::INFINITY, f64::min)
}

/// PROOF: whatever the centre, the variance is no more than the average of the squared distances to it.
fn greatest_variance(groups: &[Chosen], low: f64, high: f64) -> f64 {
    let off = rounding(low, high);
    let about = |centre: f64| {
        let far = |pick: &Pick| -((pick.high - centre).abs().max((pick.low - centre).abs()).powi(2));
        least_average(groups, far).map_or(0.0, |least| ((-least).max(0.0).sqrt() + off).powi(2))
    };
    // The greatest of convex functions is convex, so its least value is found by thirds.
    let (mut from, mut to) = (low, high);
    let mut best = about(from).min(about(to));
    for _ in 0..ROUNDS {
        let (a, b) = (from + (to - from) / 3.0, to - (to - from) / 3.0);
        let (of_a, of_b) = (about(a), about(b));
        best = best.min(of_a).min(of_b);
        if of_a < of_b { to = b } else { from = a }
    }
    best
}

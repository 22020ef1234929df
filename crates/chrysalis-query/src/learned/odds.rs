//! Which rows of a group have which values, where both are known and only their pairing is not (step 6 of `spec.md`).

use std::collections::BTreeMap;

/// Rounds of expectation-maximization. They stop when the answer moves by less than a ten-thousandth.
const ROUNDS: usize = 30;

/// Sums over all possible numbers of pairs are taken up to this many; beyond, the most likely one stands for the mean.
const FEW: f64 = 24.0;

/// A group as far as pairing goes: of `n` rows, `h` match one condition and `c` another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Margins {
    pub(super) n: f64,
    pub(super) h: f64,
    pub(super) c: f64,
}

/// All groups of a release, as far as it matters here.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Everywhere {
    /// Rows of groups in which both kinds of rows occur, and how many of them satisfy the sensitive condition.
    pub(super) rows: f64,
    pub(super) satisfying: f64,
}

/// How much likelier a row that matches is to satisfy the sensitive condition than one that does not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Odds {
    ratio: f64,
    /// How far the estimate is trusted: 0 keeps even odds.
    trust: f64,
    /// The variance of the difference between the two probabilities.
    variance: f64,
}

impl Odds {
    /// Nothing is known.
    pub(super) const EVEN: Odds = Odds { ratio: 1.0, trust: 0.0, variance: 0.0 };

    /// Learns the ratio from groups with hits; `all` also counts those without.
    pub(super) fn learn(groups: impl Iterator<Item = Margins>, all: Everywhere) -> Odds {
        let mut merged: BTreeMap<[u64; 3], f64> = BTreeMap::new();
        for group in groups.filter(|group| group.c > 0.0 && group.c < group.n) {
            // Numbers that are not whole are rounded to sixteenths: the ratio hardly depends on them.
            let key = [group.n, group.h, group.c].map(|number| (number * 16.0).round() as u64);
            *merged.entry(key).or_default() += 1.0;
        }
        let groups: Vec<(Margins, f64)> = merged
            .into_iter()
            .map(|(key, times)| {
                let [n, h, c] = key.map(|number| number as f64 / 16.0);
                (Margins { n, h, c }, times)
            })
            .collect();
        let sum = |of: &dyn Fn(&Margins) -> f64| groups.iter().map(|(group, times)| of(group) * times).sum::<f64>();
        let hits = sum(&|group| group.h);
        let others = all.rows - hits;
        if !(hits > 0.0 && others > 0.0 && all.satisfying > 0.0 && all.satisfying < all.rows) {
            return Odds::EVEN;
        }
        let even = sum(&|group| group.h * group.c / group.n);
        let (mut ratio, mut found) = (1.0, even);
        for _ in 0..ROUNDS {
            let inside = (found / hits).clamp(1e-9, 1.0 - 1e-9);
            let outside = ((all.satisfying - found) / others).clamp(1e-9, 1.0 - 1e-9);
            ratio = inside * (1.0 - outside) / (outside * (1.0 - inside));
            let next = sum(&|group| group.paired(ratio));
            let moved = (next - found).abs();
            found = next;
            if moved <= 1e-4 * found.max(1e-9) {
                break;
            }
        }
        // The difference between the two probabilities, and its variance, as of a regression of c/n on h/n.
        let difference = found / hits - (all.satisfying - found) / others;
        let (mean, share) = (all.satisfying / all.rows, hits / all.rows);
        let rows_with_hits = sum(&|group| group.n);
        let leverage =
            sum(&|group| group.n * (group.h / group.n - share).powi(2)) + (all.rows - rows_with_hits) * share * share;
        if leverage <= 0.0 {
            return Odds::EVEN;
        }
        let variance = mean * (1.0 - mean) / leverage;
        let trust = (1.0 - variance / (difference * difference)).max(0.0);
        Odds { ratio, trust: if trust.is_finite() { trust } else { 0.0 }, variance }
    }

    /// How many rows of a group are expected to match and to satisfy the sensitive condition.
    pub(super) fn paired(&self, group: Margins) -> f64 {
        let even = group.h * group.c / group.n;
        if self.trust == 0.0 { even } else { even + self.trust * (group.paired(self.ratio) - even) }
    }

    /// The standard error of the sum over groups that comes from not knowing the ratio; `spread` is Σ h(n−h)/n over
    /// groups in which the pairing matters.
    pub(super) fn error(&self, spread: f64) -> f64 {
        spread * self.variance.sqrt()
    }
}

impl Margins {
    /// The mean number of pairs if one row is `ratio` times as likely as another: of Fisher's noncentral
    /// hypergeometric distribution.
    fn paired(&self, ratio: f64) -> f64 {
        let Margins { n, h, c } = *self;
        let (least, most) = ((h + c - n).max(0.0), h.min(c));
        if most - least <= 0.0 {
            return most;
        }
        let is_whole = [n, h, c].iter().all(|number| number.fract() == 0.0);
        if is_whole && most - least <= FEW {
            return self.exactly(ratio, least, most);
        }
        // Cornfield: ratio·(h−j)(c−j) = j(n−h−c+j).
        let (a, b, d) = (1.0 - ratio, n - h - c + ratio * (h + c), -ratio * h * c);
        let root = (b * b - 4.0 * a * d).max(0.0).sqrt();
        // The numerically stable form; b may be negative only together with a.
        let pairs = if b >= 0.0 { -2.0 * d / (b + root) } else { (root - b) / (2.0 * a) };
        if pairs.is_finite() { pairs.clamp(least, most) } else { h * c / n }
    }

    fn exactly(&self, ratio: f64, least: f64, most: f64) -> f64 {
        let Margins { n, h, c } = *self;
        let (mut weight, mut total, mut sum, mut pairs) = (1.0, 0.0, 0.0, least);
        loop {
            total += weight;
            sum += weight * pairs;
            if pairs >= most {
                break;
            }
            weight *= ratio * (h - pairs) * (c - pairs) / ((pairs + 1.0) * (n - h - c + pairs + 1.0));
            pairs += 1.0;
            // Only proportions matter.
            if weight > 1e200 {
                (weight, total, sum) = (weight * 1e-200, total * 1e-200, sum * 1e-200);
            }
        }
        (sum / total).clamp(least, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_odds_give_the_mean_over_all_worlds() {
        for (n, h, c) in [(4.0, 1.0, 2.0), (9.0, 4.0, 3.0), (100.0, 60.0, 70.0), (7.5, 2.5, 3.0)] {
            let pairs = Margins { n, h, c }.paired(1.0);
            assert!((pairs - h * c / n).abs() < 1e-9, "{pairs}");
        }
    }

    /// Two of four rows match, two satisfy: 1·1, 4·3 and 1·9 worlds with 0, 1 and 2 pairs at a ratio of 3.
    #[test]
    fn a_group_worked_out_by_hand() {
        let pairs = Margins { n: 4.0, h: 2.0, c: 2.0 }.paired(3.0);
        assert!((pairs - (12.0 + 2.0 * 9.0) / 22.0).abs() < 1e-12, "{pairs}");
    }

    #[test]
    fn the_most_likely_number_is_close_to_the_mean_in_large_groups() {
        let group = Margins { n: 60.0, h: 24.0, c: 30.0 };
        let exact = group.exactly(2.5, 0.0, 24.0);
        let likely = Margins { h: 24.0 + 1e-9, ..group }.paired(2.5);
        assert!((exact - likely).abs() < 0.1, "{exact} {likely}");
    }

    /// Groups of two, one value each: pairs are certain to follow from how the margins vary together.
    #[test]
    fn what_goes_together_across_groups_is_found() {
        let group = |h: f64, c: f64| Margins { n: 4.0, h, c };
        let all = Everywhere { rows: 1_200.0, satisfying: 600.0 };
        let mut groups = vec![group(3.0, 3.0); 100];
        groups.extend(vec![group(1.0, 1.0); 100]);
        groups.extend(vec![group(2.0, 2.0); 100]);
        let together = Odds::learn(groups.iter().copied(), all);
        assert!(together.paired(group(2.0, 2.0)) > 1.5);
        let apart = Odds::learn(groups.iter().map(|it| Margins { h: 4.0 - it.h, ..*it }), all);
        assert!(apart.paired(group(2.0, 2.0)) < 0.5);
        let unrelated = (0..300).map(|at| group(f64::from(at % 3) + 1.0, f64::from(at / 3 % 3) + 1.0));
        let none = Odds::learn(unrelated, all);
        assert!((none.paired(group(2.0, 2.0)) - 1.0).abs() < 0.05);
    }
}

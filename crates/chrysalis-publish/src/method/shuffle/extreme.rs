//! Mean and variance of the least and of the greatest of some values drawn from a group without replacement.

/// Mean and variance of a random number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Moments {
    pub(super) mean: f64,
    pub(super) variance: f64,
}

/// A value is left out once it can add no more than this share of what the second value adds to the variance.
const FORGOTTEN: f64 = 1e-34;

/// The moments of the least of 1, 2, … up to all values drawn. `runs` are the distinct values, ascending, with how
/// often each occurs.
pub(super) fn least(runs: &[(f64, usize)]) -> Vec<Moments> {
    let n: usize = runs.iter().map(|(_, times)| times).sum();
    // For every value but the last: how many values are greater, and the chance that all drawn values are.
    let mut chances: Vec<(usize, f64)> = Vec::with_capacity(runs.len());
    let mut greater = n;
    for (_, times) in &runs[..runs.len().saturating_sub(1)] {
        greater -= times;
        chances.push((greater, 1.0));
    }
    // How much more than the second value any other may weigh: distances from the first value count squared.
    let weight = match runs {
        [first, second, .., last] => ((last.0 - first.0) / (second.0 - first.0)).powi(2),
        _ => 1.0,
    };
    let mut all = Vec::with_capacity(n);
    for drawn in 0..n {
        let left = (n - drawn) as f64;
        for (greater, chance) in &mut chances {
            *chance *= greater.saturating_sub(drawn) as f64 / left;
        }
        // PROOF: the greater the value, the smaller its chance and the faster it falls.
        let first = chances.first().map_or(0.0, |(_, chance)| *chance);
        while chances.last().is_some_and(|(_, chance)| *chance <= first * FORGOTTEN / weight) {
            chances.pop();
        }
        all.push(moments(runs, &chances));
    }
    all
}

/// The moments of the greatest: those of the least of the negated values.
pub(super) fn greatest(runs: &[(f64, usize)]) -> Vec<Moments> {
    let negated: Vec<(f64, usize)> = runs.iter().rev().map(|(value, times)| (-value, *times)).collect();
    // Subtracting from 0.0 keeps a mean from being negative zero.
    least(&negated).into_iter().map(|moments| Moments { mean: 0.0 - moments.mean, ..moments }).collect()
}

/// From the chances that the least drawn value is greater than each of the first values. If it is greater than the last
/// of those, it counts as the value after it.
fn moments(runs: &[(f64, usize)], chances: &[(usize, f64)]) -> Moments {
    let Some((first, _)) = runs.first() else { return Moments { mean: 0.0, variance: 0.0 } };
    let steps = runs.windows(2).map(|pair| pair[1].0 - pair[0].0);
    let mean = first + steps.zip(chances).map(|(step, (_, chance))| step * chance).sum::<f64>();
    let mut before = 1.0;
    let mut variance = 0.0;
    for (value, chance) in runs.iter().zip(chances.iter().map(|(_, chance)| *chance).chain([0.0])) {
        variance += (before - chance) * (value.0 - mean).powi(2);
        before = chance;
    }
    Moments { mean, variance }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every choice of `h` of the values, by the bits of a number.
    fn by_hand(values: &[f64], h: u32, pick: fn(f64, f64) -> f64) -> Moments {
        let chosen = (0..1_u32 << values.len()).filter(|set| set.count_ones() == h);
        let extreme = |set: u32| {
            let members = values.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1).map(|(_, value)| *value);
            members.reduce(pick).unwrap()
        };
        let extremes: Vec<f64> = chosen.map(extreme).collect();
        let n = extremes.len() as f64;
        let mean = extremes.iter().sum::<f64>() / n;
        Moments { mean, variance: extremes.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n }
    }

    #[test]
    fn all_choices_are_equally_likely() {
        let groups: [&[(f64, usize)]; 4] = [
            &[(5.0, 1)],
            &[(-2.0, 4)],
            &[(-3.0, 2), (0.0, 1), (0.5, 3)],
            &[(-1e6, 1), (1.0, 1), (2.0, 2), (3.0, 1), (4.0, 1), (1e6, 4)],
        ];
        for runs in groups {
            let values: Vec<f64> = runs.iter().flat_map(|&(value, times)| vec![value; times]).collect();
            let (low, high) = (least(runs), greatest(runs));
            assert_eq!((low.len(), high.len()), (values.len(), values.len()));
            for h in 1..=values.len() {
                for (ours, pick) in [(low[h - 1], f64::min as fn(f64, f64) -> f64), (high[h - 1], f64::max)] {
                    let theirs = by_hand(&values, h as u32, pick);
                    let scale = theirs.variance.sqrt().max(theirs.mean.abs());
                    assert!((ours.mean - theirs.mean).abs() <= 1e-12 * scale, "{runs:?}, {h}: {ours:?}, {theirs:?}");
                    let off = (ours.variance - theirs.variance).abs();
                    assert!(off <= 1e-12 * theirs.variance.max(scale), "{runs:?}, {h}: {ours:?}, {theirs:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_far_away_matters_however_unlikely() {
        // 77 of 1..100 and 10¹³..10¹³+99: the chance that none is among the first hundred, C(100,77)/C(200,77), is
        // below 10⁻²⁹.
        let runs: Vec<(f64, usize)> =
            (1..=100).map(f64::from).chain((0..100).map(|at| 1e13 + f64::from(at))).map(|it| (it, 1)).collect();
        let mut chance = 1.0;
        let (mut mean, mut square) = (0.0, 0.0);
        for (rank, (value, _)) in runs.iter().enumerate() {
            let hit = 77.0 / (200.0 - rank as f64);
            mean += chance * hit.min(1.0) * (value - 1.0);
            square += chance * hit.min(1.0) * (value - 1.0).powi(2);
            chance *= (1.0 - hit).max(0.0);
        }
        let ours = least(&runs)[76];
        assert!((ours.mean / (1.0 + mean) - 1.0).abs() < 1e-12, "{ours:?}, {mean}");
        assert!((ours.variance / (square - mean * mean) - 1.0).abs() < 1e-9, "{ours:?}, {square}");
    }

    #[test]
    fn what_is_all_but_certain_is_still_told() {
        // Of 1,000 zeros and as many ones, 100 draws miss all zeros with a chance of C(1000,100)/C(2000,100).
        let chance = (0..100).map(|i| f64::from(1000 - i) / f64::from(2000 - i)).product::<f64>();
        let ours = least(&[(0.0, 1000), (1.0, 1000)])[99];
        assert!(ours.mean > 0.0 && (ours.mean / chance - 1.0).abs() < 1e-12, "{ours:?}, {chance}");
        assert_eq!(least(&[(0.0, 1000), (1.0, 1000)])[1000], Moments { mean: 0.0, variance: 0.0 });
    }
}

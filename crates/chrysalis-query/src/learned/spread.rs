//! A distribution over an attribute's atoms, found by shrunk expectation-maximization (step 4 of `spec.md`).

use chrysalis_table::Progress;

use super::atoms::Run;
use super::grid::Grid;

/// How strongly every round is drawn towards the even distribution.
const SHRINKAGE: f64 = 0.25;

/// With this shrinkage a round leaves at most 4/5 of the distance to the fixed point.
const ROUNDS: usize = 12;

/// Rounds that start from a distribution that is close already.
const MORE_ROUNDS: usize = 4;

/// A learned distribution, and what follows from it for every unit.
#[derive(Debug)]
pub(super) struct Spread {
    /// The mass that was spread.
    total: f64,
    /// The share of each atom.
    shares: Vec<f64>,
    /// Per class of units: the share of each atom times the chance of such a label.
    weighted: Vec<Vec<f64>>,
    /// Per unit: the sum of these over the label.
    weights: Vec<f64>,
}

impl Spread {
    /// Learns from masses per unit, starting from the distribution of other masses if there is one; `None` if there is
    /// nothing to learn from.
    pub(super) fn learn(
        grid: &Grid,
        (free, pinned): (&[f64], &[f64]),
        start: Option<&Spread>,
        progress: Progress<'_>,
    ) -> Option<Spread> {
        let total = free.iter().chain(pinned).sum::<f64>();
        if grid.atoms.len() < 2 || !(total.is_finite() && total > 0.0) {
            return None;
        }
        let fixed = fixed(grid, pinned, total);
        let even = even(grid, free, total, &fixed);
        let shares = start.map_or(&even, |start| &start.shares).clone();
        let mut spread = Spread { total, shares, weighted: Vec::new(), weights: Vec::new() };
        spread.weigh(grid);
        for _ in 0..if start.is_some() { MORE_ROUNDS } else { ROUNDS } {
            progress(0);
            let found = spread.expectation(grid, free, &fixed);
            for ((share, found), even) in spread.shares.iter_mut().zip(found).zip(&even) {
                *share = (found + SHRINKAGE * even) / (1.0 + SHRINKAGE);
            }
            spread.weigh(grid);
        }
        Some(spread)
    }

    /// The number of rows in each atom.
    pub(super) fn rows(&self) -> impl Iterator<Item = f64> {
        self.shares.iter().map(|share| share * self.total)
    }

    fn weigh(&mut self, grid: &Grid) {
        self.weighted = grid.chances.iter().map(|chances| product(&self.shares, chances)).collect();
        let sums: Vec<Vec<f64>> = self.weighted.iter().map(|weighted| running(weighted)).collect();
        let weight = |unit: &super::grid::Unit| {
            let sums = &sums[unit.class as usize];
            let runs = &grid.labels[unit.label as usize].runs;
            runs.iter().map(|run| run.share * (sums[run.to as usize] - sums[run.from as usize])).sum()
        };
        self.weights = grid.units.iter().map(weight).collect();
    }

    /// Where the rows are, given the distribution: every unit's free mass in proportion to it, the fixed masses as
    /// they are.
    fn expectation(&self, grid: &Grid, free: &[f64], fixed: &[f64]) -> Vec<f64> {
        let n = self.shares.len();
        let mut steps = vec![vec![0.0; n + 1]; self.weighted.len()];
        for ((unit, &mass), &weight) in grid.units.iter().zip(free).zip(&self.weights) {
            if mass > 0.0 && weight > 0.0 {
                let factor = mass / self.total / weight;
                let steps = &mut steps[unit.class as usize];
                for run in &grid.labels[unit.label as usize].runs {
                    steps[run.from as usize] += factor * run.share;
                    steps[run.to as usize] -= factor * run.share;
                }
            }
        }
        let mut found = fixed.to_vec();
        for (steps, weighted) in steps.iter().zip(&self.weighted) {
            let mut factor = 0.0;
            for ((found, step), weighted) in found.iter_mut().zip(steps).zip(weighted) {
                factor += step;
                // Rounding may leave a little below nothing where a label ended.
                *found += weighted * f64::max(factor, 0.0);
            }
        }
        found
    }

    /// For every unit: which share of its free rows satisfies a condition that holds in these shares of the atoms.
    pub(super) fn shares(&self, grid: &Grid, of_atoms: &[f64], even: &[f64]) -> Vec<f64> {
        let means = self.means(grid, of_atoms);
        let share = |(unit, mean): (&super::grid::Unit, Option<f64>)| {
            let even = even[unit.label as usize];
            // Where nothing matches, or everything, the label says so exactly.
            if even <= 0.0 || even >= 1.0 { even } else { mean.map_or(even, |mean| mean.clamp(0.0, 1.0)) }
        };
        grid.units.iter().zip(means).map(share).collect()
    }

    /// For every unit: the mean over its free rows of a number that each atom has; `None` where rows are spread evenly.
    pub(super) fn means(&self, grid: &Grid, of_atoms: &[f64]) -> Vec<Option<f64>> {
        let sums: Vec<Vec<f64>> = self.weighted(of_atoms).iter().map(|weighted| running(weighted)).collect();
        let mean = |(unit, &weight): (&super::grid::Unit, &f64)| {
            let part = &grid.labels[unit.label as usize];
            let sums = &sums[unit.class as usize];
            let inside = |run: &Run| run.share * (sums[run.to as usize] - sums[run.from as usize]);
            (!part.is_narrow && weight > 0.0).then(|| part.runs.iter().map(inside).sum::<f64>() / weight)
        };
        grid.units.iter().zip(&self.weights).map(mean).collect()
    }

    /// Per class of units: the weight of each atom, times a number that the atom has.
    pub(super) fn weighted(&self, of_atoms: &[f64]) -> Vec<Vec<f64>> {
        self.weighted.iter().map(|weighted| product(weighted, of_atoms)).collect()
    }
}

/// The shares of pinned masses.
fn fixed(grid: &Grid, pinned: &[f64], total: f64) -> Vec<f64> {
    let mut fixed = vec![0.0; grid.atoms.len()];
    for (unit, mass) in grid.units.iter().zip(pinned).filter(|(_, mass)| **mass > 0.0) {
        let pins = &grid.labels[unit.label as usize].pins;
        pins.iter().for_each(|&pin| fixed[pin as usize] += mass / total / pins.len() as f64);
    }
    fixed
}

/// The even distribution: every unit's free mass in proportion to the size of the atoms.
fn even(grid: &Grid, free: &[f64], total: f64, fixed: &[f64]) -> Vec<f64> {
    let sizes = running(&grid.atoms.sizes);
    let mut steps = vec![0.0; grid.atoms.len() + 1];
    for (unit, mass) in grid.units.iter().zip(free).filter(|(_, mass)| **mass > 0.0) {
        let runs = &grid.labels[unit.label as usize].runs;
        let size: f64 = runs.iter().map(|run| run.share * (sizes[run.to as usize] - sizes[run.from as usize])).sum();
        if size > 0.0 {
            for run in runs {
                steps[run.from as usize] += mass / total / size * run.share;
                steps[run.to as usize] -= mass / total / size * run.share;
            }
        }
    }
    let mut factor = 0.0;
    let share = |((step, size), fixed): ((&f64, &f64), &f64)| {
        factor += step;
        fixed + f64::max(factor, 0.0) * size
    };
    steps.iter().zip(&grid.atoms.sizes).zip(fixed).map(share).collect()
}

fn product(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a * b).collect()
}

/// The sum of the numbers before each number, followed by the sum of all.
pub(super) fn running(numbers: &[f64]) -> Vec<f64> {
    let mut sums = Vec::with_capacity(numbers.len() + 1);
    let mut sum = 0.0;
    sums.push(sum);
    for number in numbers {
        sum += number;
        sums.push(sum);
    }
    sums
}

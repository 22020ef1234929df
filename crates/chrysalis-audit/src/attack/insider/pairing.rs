//! How two sensitive attributes go together: learned over all groups, and fitted to the values of each.

use rayon::prelude::*;

use chrysalis_table::{Code, Watch};

use super::margins::Margin;
use crate::attack::shown::pool;
use crate::measure::GroupCounts;

/// Rounds of learning, and of fitting inside a group; see `../spec.md`, insider.
const ROUNDS: usize = 4;
const SWEEPS: usize = 4;
/// Stretches of groups that are summed apart, so that sums do not depend on the number of threads.
const STRETCHES: usize = 16;
/// How many times its standard error, squared, an association must exceed to count at all.
const NOISE: f64 = 3.0;
/// Rows paired by chance that every class gets, for each class of the other side.
const ADDED: f64 = 0.25;
/// Rows that a class of numbers has at least, on average, and the most classes.
const ROWS_PER_CLASS: u64 = 10;
const MOST_CLASSES: u64 = 256;
/// No association is stronger than this, or weaker than its inverse.
const STRONGEST: f64 = 1e6;

/// One of two sides: an attribute whose values are pooled into classes.
#[derive(Clone)]
pub(super) struct Side<'a> {
    pub(super) margin: &'a Margin<'a>,
    class_of: Vec<u32>,
    n_classes: usize,
    classes: GroupCounts,
    /// Where the factors of every group begin.
    starts: Vec<usize>,
    /// Per group and class that it has, what the fit multiplies the class by.
    factors: Vec<f64>,
}

impl<'a> Side<'a> {
    fn new(margin: &'a Margin<'a>) -> Side<'a> {
        let (class_of, n_classes) = pooled(margin.values.whole(), margin.domain.kind().is_ordered());
        let n_groups = margin.values.sizes().len();
        let lines = (0..n_groups).flat_map(|group| {
            let values = margin.values.group(group).values.iter();
            values.map(move |&(code, count)| (group as u32, code, count))
        });
        let lines = lines.map(|(group, code, count)| (group, class_of[code as usize], count)).collect();
        let classes = GroupCounts::from_counts(n_groups, n_classes, lines);
        let mut starts = Vec::with_capacity(n_groups + 1);
        let mut next = 0;
        for group in 0..n_groups {
            starts.push(next);
            next += classes.group(group).values.len();
        }
        starts.push(next);
        Side { margin, class_of, n_classes, classes, starts, factors: Vec::new() }
    }

    fn n_of(&self, group: usize) -> usize {
        self.starts[group + 1] - self.starts[group]
    }
}

/// Puts values into classes. Numbers that hardly repeat say nothing one by one, so neighbours are taken together.
fn pooled(weights: &[u64], is_ordered: bool) -> (Vec<u32>, usize) {
    let total: u64 = weights.iter().sum();
    let n_classes = (total / ROWS_PER_CLASS).clamp(2, MOST_CLASSES);
    if !is_ordered || weights.len() as u64 <= n_classes {
        return pool(weights, is_ordered);
    }
    let (mut before, mut class, mut last) = (0, 0, 0);
    let of_value = |&weight: &u64| {
        let at = (u128::from(before) * u128::from(n_classes) / u128::from(total.max(1))) as u64;
        (class, last) = if at > last { (class + 1, at) } else { (class, last) };
        before += weight;
        class
    };
    let class_of: Vec<u32> = weights.iter().map(of_value).collect();
    (class_of, class as usize + 1)
}

/// Two attributes, and what is believed about their pairs.
pub(super) struct Pairing<'a> {
    pub(super) sides: [Side<'a>; 2],
    /// For every class of the first and of the second, the logarithm of how much more often they are believed to go together than
    /// by chance.
    weights: Vec<f64>,
}

/// What one group adds: pairs believed, and the factors of its classes.
struct Fitted {
    pairs: Vec<f64>,
    factors: [Vec<f64>; 2],
}

impl<'a> Pairing<'a> {
    /// Learns from all groups how two attributes go together; `None` where that takes too long.
    pub(super) fn learned(
        [one, other]: [&'a Margin<'a>; 2],
        most_cells: u64,
        watch: &dyn Watch,
    ) -> Option<Pairing<'a>> {
        watch.pause();
        let sides = [Side::new(one), Side::new(other)];
        let n_groups = sides[0].starts.len() - 1;
        let cells = |group: usize| sides[0].n_of(group) as u64 * sides[1].n_of(group) as u64;
        if (0..n_groups).map(cells).sum::<u64>() > most_cells {
            return None;
        }
        let weights = vec![0.0; sides[0].n_classes * sides[1].n_classes];
        let mut pairing = Pairing { sides, weights };
        let mut trust = Vec::new();
        for round in 0..=ROUNDS {
            let fitted = pairing.fitted(watch);
            if round == 0 {
                trust = pairing.trust(&fitted.pairs, watch);
            }
            if round < ROUNDS {
                pairing.weigh(&fitted.pairs, &trust);
            }
            let [first, second] = fitted.factors;
            (pairing.sides[0].factors, pairing.sides[1].factors) = (first, second);
        }
        Some(pairing)
    }

    /// The same for somebody who knows beforehand how often values go together, each pair as (one, other).
    pub(super) fn taught(&self, pairs: impl Iterator<Item = (Code, Code)>, watch: &dyn Watch) -> Pairing<'a> {
        let width = self.sides[1].n_classes;
        let mut counts = vec![0.0; self.weights.len()];
        for (one, other) in pairs {
            counts[self.class(0, one) as usize * width + self.class(1, other) as usize] += 1.0;
        }
        let mut taught = Pairing { sides: self.sides.clone(), weights: self.weights.clone() };
        taught.weigh(&counts, &vec![1.0; counts.len()]);
        let [first, second] = taught.fitted(watch).factors;
        (taught.sides[0].factors, taught.sides[1].factors) = (first, second);
        taught
    }

    pub(super) fn n_groups(&self) -> usize {
        self.sides[0].starts.len() - 1
    }

    /// The rows of a group; `None` where its attributes do not agree on that, so that nothing can be fitted.
    pub(super) fn rows(&self, group: usize) -> Option<u64> {
        let [a, b] = [0, 1].map(|side: usize| self.sides[side].classes.sizes()[group]);
        (a == b && a > 0).then_some(a)
    }

    /// The association of two classes where a group has `rows` rows. Scaling alone is too timid in small groups (see
    /// `learned`), hence the power.
    fn kernel(&self, (one, other): (u32, u32), rows: u64) -> f64 {
        let power = if rows > 1 { rows as f64 / (rows - 1) as f64 } else { 1.0 };
        (power * self.weights[one as usize * self.sides[1].n_classes + other as usize]).exp()
    }

    /// Pairs believed over all groups, and the factors of all classes.
    fn fitted(&self, watch: &dyn Watch) -> Fitted {
        let n = self.n_groups();
        let of_stretch = |at: usize| {
            let groups = n * at / STRETCHES..n * (at + 1) / STRETCHES;
            let mut all = Fitted { pairs: vec![0.0; self.weights.len()], factors: [Vec::new(), Vec::new()] };
            for group in groups {
                watch.pause_at(group);
                self.fit(group, &mut all);
            }
            all
        };
        let stretches: Vec<Fitted> = (0..STRETCHES).into_par_iter().map(of_stretch).collect();
        let mut all = Fitted { pairs: vec![0.0; self.weights.len()], factors: [Vec::new(), Vec::new()] };
        for Fitted { pairs, factors: [one, other] } in stretches {
            all.pairs.iter_mut().zip(pairs).for_each(|(sum, pairs)| *sum += pairs);
            all.factors[0].extend(one);
            all.factors[1].extend(other);
        }
        all
    }

    /// Scales the associations of a group's classes so that they have the group's counts (iterative proportional
    /// fitting).
    fn fit(&self, group: usize, all: &mut Fitted) {
        let [ones, others] = [0, 1].map(|side: usize| self.sides[side].classes.group(group).values);
        let counts = |values: &[(Code, u32)]| values.iter().map(|&(_, count)| f64::from(count)).collect::<Vec<_>>();
        let (mut of_one, mut of_other) = (counts(ones), counts(others));
        if let Some(rows) = self.rows(group) {
            let kernel: Vec<f64> = ones
                .iter()
                .flat_map(|&(one, _)| others.iter().map(move |&(other, _)| self.kernel((one, other), rows)))
                .collect();
            let ratio = |wanted: u32, found: f64| if found > 0.0 { f64::from(wanted) / found } else { 0.0 };
            for _ in 0..SWEEPS {
                for ((factor, line), &(_, count)) in of_one.iter_mut().zip(kernel.chunks(others.len())).zip(ones) {
                    *factor = ratio(count, line.iter().zip(&of_other).map(|(weight, other)| weight * other).sum());
                }
                let mut sums = vec![0.0; others.len()];
                for (factor, line) in of_one.iter().zip(kernel.chunks(others.len())) {
                    sums.iter_mut().zip(line).for_each(|(sum, weight)| *sum += weight * factor);
                }
                for ((factor, sum), &(_, count)) in of_other.iter_mut().zip(sums).zip(others) {
                    *factor = ratio(count, sum);
                }
            }
            let width = self.sides[1].n_classes;
            for ((&(one, _), factor), line) in ones.iter().zip(&of_one).zip(kernel.chunks(others.len())) {
                for ((&(other, _), weight), by) in others.iter().zip(line).zip(&of_other) {
                    all.pairs[one as usize * width + other as usize] += factor * weight * by;
                }
            }
        }
        all.factors[0].append(&mut of_one);
        all.factors[1].append(&mut of_other);
    }

    /// For every pair of classes, from 0 to 1, how far their association stands out from noise. `chance` is how often they would
    /// meet if values were paired at random inside groups: where a class has no bearing on another, that differs from
    /// what the whole table suggests by a standard error of √(p(1 − p)·Σ n·(share of the class − its share of all)²).
    fn trust(&self, chance: &[f64], watch: &dyn Watch) -> Vec<f64> {
        watch.pause();
        let [one, other] = [0, 1].map(|side: usize| self.spread(side));
        let total: f64 = one.iter().map(|(rows, _)| rows).sum();
        let mut trust = Vec::with_capacity(chance.len());
        for (at, (rows, spread)) in one.iter().enumerate() {
            for (by, (rows_of_other, spread_of_other)) in other.iter().enumerate() {
                let share = |rows: f64| rows / total.max(1.0);
                let noise = |rows: f64, spread: f64| share(rows) * (1.0 - share(rows)) * spread;
                let noise = noise(*rows_of_other, *spread).max(noise(*rows, *spread_of_other));
                let found = chance[at * other.len() + by] - rows * share(*rows_of_other);
                let z = if noise > 0.0 { found * found / noise } else { 0.0 };
                trust.push(if z > NOISE { 1.0 - NOISE / z } else { 0.0 });
            }
        }
        trust
    }

    /// For every class of a side, its rows, and how unevenly groups share them.
    fn spread(&self, side: usize) -> Vec<(f64, f64)> {
        let side = &self.sides[side];
        let fit = || (0..self.n_groups()).filter_map(|group| Some((group, self.rows(group)? as f64)));
        let total: f64 = fit().map(|(_, rows)| rows).sum();
        let (mut sums, mut squares) = (vec![0.0; side.n_classes], vec![0.0; side.n_classes]);
        for (group, rows) in fit() {
            for &(class, count) in side.classes.group(group).values {
                sums[class as usize] += f64::from(count);
                squares[class as usize] += f64::from(count) * f64::from(count) / rows;
            }
        }
        // Σ n·(c/n − p)² = Σ c²/n − N·p².
        let spread = |(sum, square): (f64, f64)| (sum, f64::max(0.0, square - sum * sum / total.max(1.0)));
        sums.into_iter().zip(squares).map(spread).collect()
    }

    /// New weights from the pairs believed. Every class gets some rows more that are paired by chance.
    fn weigh(&mut self, pairs: &[f64], trust: &[f64]) {
        let width = self.sides[1].n_classes;
        let total: f64 = pairs.iter().sum();
        let mut of_other = vec![0.0; width];
        for line in pairs.chunks(width.max(1)) {
            of_other.iter_mut().zip(line).for_each(|(sum, pairs)| *sum += pairs);
        }
        let lines = pairs.chunks(width.max(1)).zip(trust.chunks(width.max(1)));
        for ((pairs, trust), weights) in lines.zip(self.weights.chunks_mut(width.max(1))) {
            let own: f64 = pairs.iter().sum();
            for (((pairs, trust), all), weight) in pairs.iter().zip(trust).zip(&of_other).zip(weights) {
                let by_chance = all / total.max(1.0);
                let added = ADDED * width as f64;
                let ratio = (pairs + added * by_chance) / ((own + added) * by_chance);
                let ratio = if ratio.is_finite() { ratio.clamp(1.0 / STRONGEST, STRONGEST) } else { 1.0 };
                *weight = (1.0 + trust * (ratio - 1.0)).ln();
            }
        }
    }

    /// What somebody believes who knows that a member of a group has value `code` of side `known`: the classes of the
    /// other side, each with its share. Nothing where the group does not have the value.
    pub(super) fn believed(&self, known: usize, group: usize, class: u32) -> Vec<(u32, f64)> {
        let Some(rows) = self.rows(group) else { return Vec::new() };
        let other = &self.sides[1 - known];
        let factors = &other.factors[other.starts[group]..other.starts[group + 1]];
        let weight = |other: u32| self.kernel(if known == 0 { (class, other) } else { (other, class) }, rows);
        let classes = other.classes.group(group).values.iter().zip(factors);
        let mut believed: Vec<(u32, f64)> = classes.map(|(&(of, _), factor)| (of, weight(of) * factor)).collect();
        let sum: f64 = believed.iter().map(|(_, share)| share).sum();
        if sum.is_finite() && sum > 0.0 {
            believed.iter_mut().for_each(|(_, share)| *share /= sum);
            return believed;
        }
        other.classes.group(group).values.iter().map(|&(of, count)| (of, f64::from(count) / rows as f64)).collect()
    }

    /// The same for values: a class is divided among its values as the group has them.
    pub(super) fn believed_values(&self, known: usize, group: usize, class: u32) -> Vec<(Code, f64)> {
        let other = &self.sides[1 - known];
        let believed = self.believed(known, group, class);
        let classes = other.classes.group(group).values;
        let of_value = |&(code, count): &(Code, u32)| {
            let at = classes.binary_search_by_key(&other.class_of[code as usize], |&(class, _)| class).ok()?;
            let (_, share) = believed.get(at)?;
            Some((code, share * f64::from(count) / f64::from(classes[at].1)))
        };
        other.margin.values.group(group).values.iter().filter_map(of_value).collect()
    }

    /// The class of a value, and the classes of one side that a group has, with their rows.
    pub(super) fn class(&self, side: usize, code: Code) -> u32 {
        self.sides[side].class_of[code as usize]
    }

    pub(super) fn classes(&self, side: usize, group: usize) -> &[(u32, u32)] {
        self.sides[side].classes.group(group).values
    }
}

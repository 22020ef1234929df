//! How likely every value of an attribute is for people with some sensitive value, learned from a release alone.

use chrysalis_table::{Codes, Domain};
use rayon::prelude::*;

use super::super::shown::{ShownAttribute, pool};
use super::super::view::AttackerView;
use super::crowd::{Crowd, Likelihoods};
use crate::measure::{Group, GroupCounts};

/// How often beliefs and likelihoods are worked out from each other. On CENSUS three rounds win the most bets and are
/// about as sure as they are right; with more, beliefs reinforce themselves.
pub(super) const ROUNDS: usize = 3;
/// The most numbers in all tables of cells together.
const MOST_NUMBERS: usize = 4_000_000;
/// The most numbers in all sums that are worked out in parallel.
const MOST_SUMS: usize = 32_000_000;
/// Tasks of a round; fixed, so that sums do not depend on the number of threads.
const STRETCHES: usize = 16;

/// Log-likelihoods, one line per bin or cell and one column per class of sensitive values.
pub(super) struct Model {
    pub(super) class_of: Vec<u32>,
    pub(super) n_classes: usize,
    /// Per attribute in use: its index in the view, and its tables.
    pub(super) tables: Vec<LikelihoodTable>,
}

pub(super) struct LikelihoodTable {
    pub(super) attribute: usize,
    pub(super) bins: Vec<f32>,
    pub(super) cells: Vec<f32>,
}

impl Model {
    /// A model that knows nothing yet: every likelihood is one.
    pub(super) fn new(sample: &GroupCounts, domain: &Domain, quasi: &[ShownAttribute<'_>]) -> Model {
        let (class_of, n_classes) = pool(sample.whole(), domain.kind().is_ordered());
        let mut used: Vec<usize> = (0..quasi.len()).collect();
        let numbers = |used: &[usize]| used.iter().map(|&at| quasi[at].n_cells() * n_classes).sum::<usize>();
        while numbers(&used) > MOST_NUMBERS {
            // The attribute with the most different labels tells least about each of them.
            let most = used.iter().copied().max_by_key(|&at| quasi[at].n_cells());
            used.retain(|&at| Some(at) != most);
        }
        let table = |attribute: usize| LikelihoodTable {
            attribute,
            bins: vec![0.0; quasi[attribute].n_bins * n_classes],
            cells: vec![0.0; quasi[attribute].n_cells() * n_classes],
        };
        Model { class_of, n_classes, tables: used.into_iter().map(table).collect() }
    }

    /// Learns from a release: beliefs from likelihoods, likelihoods from beliefs, a few times.
    pub(super) fn trained(view: &AttackerView<'_>, crowd: &Crowd) -> Model {
        let mut model = Model::new(view.target.sample, view.target.domain, &view.quasi);
        for _ in 0..ROUNDS {
            view.target.watch.pause();
            let sums = model.sums(view, crowd);
            model.learn(&view.quasi, &sums);
        }
        model
    }

    /// Learns from people whose sensitive values are known: (kind, class, number of people), and the bin of every kind
    /// per attribute.
    pub(super) fn of_truth(
        view: &AttackerView<'_>,
        people: impl Iterator<Item = (usize, u32, f64)>,
        bins: &[Codes],
    ) -> Model {
        let mut model = Model::new(view.target.sample, view.target.domain, &view.quasi);
        let mut sums: Vec<Vec<f64>> = model.tables.iter().map(|table| vec![0.0; table.bins.len()]).collect();
        for (kind, class, rows) in people {
            for (table, sums) in model.tables.iter().zip(&mut sums) {
                sums[bins[table.attribute].get(kind) as usize * model.n_classes + class as usize] += rows;
            }
        }
        for (table, sums) in model.tables.iter_mut().zip(&sums) {
            table.bins = smoothed(sums, model.n_classes);
        }
        model
    }

    /// What is seen of published rows: cells.
    pub(super) fn of_cells<'a>(&'a self, quasi: &'a [ShownAttribute<'a>]) -> Likelihoods<'a> {
        self.evidence(self.tables.iter().map(|table| (&quasi[table.attribute].cells, table.cells.as_slice())).collect())
    }

    /// What is known of people: bins, per attribute of the view.
    pub(super) fn of_bins<'a>(&'a self, bins: &'a [Codes]) -> Likelihoods<'a> {
        self.evidence(self.tables.iter().map(|table| (&bins[table.attribute], table.bins.as_slice())).collect())
    }

    fn evidence<'a>(&'a self, seen: Vec<(&'a Codes, &'a [f32])>) -> Likelihoods<'a> {
        let (codes, tables) = seen.into_iter().unzip();
        Likelihoods { codes, tables, class_of: &self.class_of, n_classes: self.n_classes }
    }

    /// How often every class is believed to be behind every cell, per attribute.
    fn sums(&self, view: &AttackerView<'_>, crowd: &Crowd) -> Vec<Vec<f64>> {
        let n_numbers: usize = self.tables.iter().map(|table| table.cells.len()).sum();
        let n = (MOST_SUMS / n_numbers.max(1)).clamp(1, STRETCHES);
        let whole = self.of_cells(&view.quasi);
        // Columns that were permuted on their own say nothing about each other's rows.
        let parts: Vec<Likelihoods<'_>> = if view.is_joint {
            vec![whole]
        } else {
            let alone = |(&codes, &table)| self.evidence(vec![(codes, table)]);
            whole.codes.iter().zip(&whole.tables).map(alone).collect()
        };
        let of_stretch = |groups: std::ops::Range<usize>| {
            let mut sums: Vec<Vec<f64>> = self.tables.iter().map(|table| vec![0.0; table.cells.len()]).collect();
            let mut beliefs = Vec::new();
            for group in groups {
                view.target.watch.pause();
                let (members, values) = (crowd.members(group), view.target.sample.group(group));
                let mut at = 0;
                for part in &parts {
                    part.together(values, members, &mut beliefs);
                    let sums = &mut sums[at..at + part.codes.len()];
                    self.add(part, members.0, values, &beliefs, sums);
                    at += part.codes.len();
                }
            }
            sums
        };
        let all: Vec<Vec<Vec<f64>>> = crowd.stretches(n).into_par_iter().map(of_stretch).collect();
        let add = |mut a: Vec<Vec<f64>>, b: Vec<Vec<f64>>| {
            a.iter_mut().flatten().zip(b.iter().flatten()).for_each(|(a, b)| *a += b);
            a
        };
        all.into_iter().reduce(add).unwrap_or_default()
    }

    fn add(&self, seen: &Likelihoods<'_>, members: &[u32], group: Group<'_>, beliefs: &[f32], sums: &mut [Vec<f64>]) {
        if group.values.is_empty() {
            return;
        }
        for (line, &member) in beliefs.chunks_exact(group.values.len()).zip(members) {
            for (codes, sums) in seen.codes.iter().zip(&mut *sums) {
                let at = codes.get(member as usize) as usize * self.n_classes;
                let sums = &mut sums[at..at + self.n_classes];
                for (share, &(code, _)) in line.iter().zip(group.values) {
                    sums[self.class_of[code as usize] as usize] += f64::from(*share);
                }
            }
        }
    }

    /// Likelihoods from sums. The sum of a range or label is divided among its bins in proportion to their likelihoods.
    fn learn(&mut self, quasi: &[ShownAttribute<'_>], sums: &[Vec<f64>]) {
        let n_classes = self.n_classes;
        self.tables.par_iter_mut().zip(sums).for_each(|(table, sums)| {
            let shown = &quasi[table.attribute];
            let mut of_bins = vec![0.0; table.bins.len()];
            for cell in 0..shown.n_cells() {
                let bins = shown.bins_of(cell);
                for class in 0..n_classes {
                    let sum = sums[cell * n_classes + class];
                    let likely = |bin: u32| f64::from(table.bins[bin as usize * n_classes + class]).exp();
                    let total: f64 = bins.iter().map(|&bin| likely(bin)).sum();
                    for &bin in bins {
                        of_bins[bin as usize * n_classes + class] += sum * likely(bin) / total;
                    }
                }
            }
            table.bins = smoothed(&of_bins, n_classes);
            for cell in 0..shown.n_cells() {
                let bins = shown.bins_of(cell);
                for class in 0..n_classes {
                    let likely = |bin: &u32| table.bins[*bin as usize * n_classes + class];
                    table.cells[cell * n_classes + class] = match bins {
                        [bin] => likely(bin),
                        bins => bins.iter().map(|bin| likely(bin).exp()).sum::<f32>().ln(),
                    };
                }
            }
        });
    }
}

/// ln P(bin | class), with as many rows added to every class as there are bins, spread like the whole table, so that
/// rarity does not look like evidence.
fn smoothed(sums: &[f64], n_classes: usize) -> Vec<f32> {
    let n_bins = sums.len() / n_classes.max(1);
    let mut of_class = vec![0.0; n_classes];
    let mut of_bin = vec![0.0; n_bins];
    for (bin, line) in sums.chunks_exact(n_classes.max(1)).enumerate() {
        of_class.iter_mut().zip(line).for_each(|(total, sum)| *total += sum);
        of_bin[bin] = line.iter().sum();
    }
    let total: f64 = of_bin.iter().sum::<f64>().max(1.0);
    let added = n_bins as f64;
    let likely = |(at, sum): (usize, &f64)| {
        // A bin that no cell stands for must not make a logarithm infinite.
        let expected = (of_bin[at / n_classes] / total).max(1e-9);
        ((sum + added * expected) / (of_class[at % n_classes] + added)).ln() as f32
    };
    sums.iter().enumerate().map(likely).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likelihoods_lean_towards_the_whole_table() {
        // Two bins, two classes; class 1 was seen twice, both times in bin 1.
        let found = smoothed(&[6.0, 0.0, 2.0, 2.0], 2);
        let expected = [(6.0 + 2.0 * 0.6) / 10.0, 1.2 / 4.0, (2.0 + 0.8) / 10.0, 2.8 / 4.0];
        for (found, expected) in found.iter().zip(expected) {
            assert!((f64::from(found.exp()) - expected).abs() < 1e-6, "{found} {expected}");
        }
    }
}

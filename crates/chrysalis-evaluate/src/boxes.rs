//! Ranges and labels: angel's equation 7.

use chrysalis_release::View;
use chrysalis_table::{Code, Column};

use crate::coverage::{Coverage, Label};
use crate::permuted::summed;
use crate::tree::Tree;
use crate::universe::{Universe, translated};
use crate::{EvaluateError, Reconstruction, opened};

/// Boxes of the quasi space, each with the mass that the release puts there.
pub(crate) struct Boxes {
    tree: Tree,
    /// Labels by attribute.
    labels: Vec<Vec<Label>>,
    boxes: Vec<Mass>,
    rows: f64,
}

/// The mass in one box.
struct Mass {
    /// One label per attribute.
    labels: Vec<u32>,
    /// How many points of the quasi space it covers.
    points: f64,
    /// For each sensitive value, as a code of the microdata: how many rows are expected to have it.
    values: Vec<(Code, f64)>,
}

impl Boxes {
    pub(crate) fn new(view: &View, table: &str, universe: &Universe<'_>) -> Result<Self, EvaluateError> {
        let attributes = universe.fields.iter().zip(&universe.columns);
        let coverages: Vec<Coverage> =
            attributes.map(|(&field, column)| Coverage::new(view, table, field, column)).collect::<Result<_, _>>()?;
        let groups = Distributions::new(view, universe.sensitive)?;
        let mut order: Vec<u32> = (0..groups.of_row.len() as u32).collect();
        let key = |row: u32| coverages.iter().map(move |coverage| coverage.of_row[row as usize]);
        order.sort_unstable_by(|&a, &b| {
            key(a).cmp(key(b)).then(groups.of_row[a as usize].cmp(&groups.of_row[b as usize]))
        });
        let mut mixture = vec![0.0; universe.sensitive.domain().len()];
        let mass = |run: &[u32]| {
            let labels: Vec<u32> = key(run[0]).collect();
            let points = coverages.iter().zip(&labels).map(|(coverage, &label)| coverage.labels[label as usize].points);
            Mass { points: points.product(), values: groups.mixed(run, &mut mixture), labels }
        };
        let boxes: Vec<Mass> = order.chunk_by(|&a, &b| key(a).eq(key(b))).map(mass).collect();
        let labels: Vec<Vec<Label>> = coverages.into_iter().map(|coverage| coverage.labels).collect();
        let side = |mass: &Mass| -> Vec<(u32, u32)> {
            mass.labels.iter().zip(&labels).map(|(&label, labels)| labels[label as usize].ends).collect()
        };
        let tree = Tree::new(labels.len(), boxes.iter().flat_map(side).collect());
        Ok(Boxes { tree, labels, boxes, rows: groups.of_row.len() as f64 })
    }
}

impl Reconstruction for Boxes {
    fn shares(&self, point: &[u32], values: &[u32]) -> Vec<f64> {
        let mut shares = vec![0.0; values.len()];
        self.tree.visit(point, |index| {
            let mass = &self.boxes[index as usize];
            let covers = |((at, &label), labels): ((&u32, &u32), &Vec<Label>)| labels[label as usize].covers(*at);
            if !point.iter().zip(&mass.labels).zip(&self.labels).all(covers) {
                return;
            }
            add(&mut shares, values, &mass.values, 1.0 / mass.points / self.rows);
        });
        shares
    }
}

/// Adds to the shares of some values those of a group or box, times a weight. Both lists are ascending. The loop runs
/// over the shorter one, so neither a point with many values nor a group with many makes the other expensive.
pub(crate) fn add(shares: &mut [f64], values: &[Code], own: &[(Code, f64)], weight: f64) {
    if own.len() < values.len() {
        for (code, share) in own {
            if let Ok(at) = values.binary_search(code) {
                shares[at] += weight * share;
            }
        }
        return;
    }
    for (share, value) in shares.iter_mut().zip(values) {
        if let Ok(at) = own.binary_search_by_key(value, |(code, _)| *code) {
            *share += weight * own[at].1;
        }
    }
}

/// The sensitive values of every group.
pub(crate) struct Distributions {
    /// The group of every row, group by group.
    pub(crate) of_row: Vec<u32>,
    /// By group: codes of the microdata, ascending, each with its share of the group.
    pub(crate) shares: Vec<Vec<(Code, f64)>>,
}

impl Distributions {
    /// Codes are those of `sensitive`. Values not in the microdata are left out, so shares may sum to less than 1.
    pub(crate) fn new(view: &View, sensitive: &Column) -> Result<Self, EvaluateError> {
        let values = opened::values(view)?;
        let codes = translated(&values.domain, sensitive);
        let shares = |group: usize| {
            // In a series, any of the values that a group shows may be nobody's.
            let (own, size) = (values.group(group), f64::from(view.shown.size(group)));
            let known = own.codes.iter().zip(own.counts);
            let counted = known.filter_map(|(&code, &count)| Some((codes[code as usize]?, f64::from(count))));
            summed(counted.collect()).into_iter().map(|(code, count)| (code, count / size)).collect()
        };
        Ok(Distributions {
            of_row: view.groups.of_rows_in_order(),
            shares: (0..view.groups.len()).map(shares).collect(),
        })
    }

    /// How many of some rows are expected to have each value (equation 2, times the rows). `room` must be all zeros,
    /// and is again afterwards.
    fn mixed(&self, rows: &[u32], room: &mut [f64]) -> Vec<(Code, f64)> {
        let mut codes: Vec<Code> = Vec::new();
        for run in rows.chunk_by(|&a, &b| self.of_row[a as usize] == self.of_row[b as usize]) {
            for &(code, share) in &self.shares[self.of_row[run[0] as usize] as usize] {
                if room[code as usize] == 0.0 {
                    codes.push(code);
                }
                room[code as usize] += run.len() as f64 * share;
            }
        }
        codes.sort_unstable();
        codes.into_iter().map(|code| (code, std::mem::take(&mut room[code as usize]))).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::add;

    proptest! {
        #[test]
        fn shares_are_added_by_value_whichever_list_is_longer(
            values in prop::collection::btree_set(0u32..30, 0..25),
            own in prop::collection::btree_map(0u32..30, 0.0..1.0f64, 0..25),
            weight in 0.0..1.0f64,
        ) {
            let values: Vec<u32> = values.into_iter().collect();
            let before = |value: u32| f64::from(value) / 7.0;
            let mut shares: Vec<f64> = values.iter().map(|&value| before(value)).collect();
            add(&mut shares, &values, &own.clone().into_iter().collect::<Vec<_>>(), weight);
            for (value, share) in values.iter().zip(shares) {
                prop_assert_eq!(share, before(*value) + own.get(value).map_or(0.0, |own| weight * own));
            }
        }
    }
}

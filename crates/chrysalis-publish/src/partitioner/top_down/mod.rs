//! Specialization from the top; see `spec.md` for the steps that the comments number.

mod full;
mod node;

use chrysalis_criteria::Principle;
use chrysalis_table::{Codes, Progress, SaCounts};
use rand::CryptoRng;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::Partitioner;
use super::ladder::Ladder;
use super::mondrian::axis::Axis;
use crate::{Microdata, Partition, PublishError};
use node::Node;

/// Starts fully generalized and goes down one taxonomy level at a time while every group passes.
///
/// # Guarantees
/// Every principle, in every group. No more penalty than full-domain generalization without suppression, where the best
/// levels for all rows are found within 10,000 combinations.
/// # Cost
/// O(n) for every level and attribute.
/// # Paper
/// lalpha, algorithm 1, for any number of attributes.
#[derive(Clone, Copy, Debug, Default)]
pub struct TopDown;

/// Smaller nodes are not worth another task.
const ROWS_PER_TASK: usize = 4_096;

/// What all nodes share.
pub(super) struct SearchContext<'a> {
    ladders: Vec<Ladder>,
    /// Per attribute, the rank of every row.
    ranks: Vec<Vec<u32>>,
    sensitive: Option<&'a Codes>,
    goal: &'a dyn Principle,
    n_values: usize,
    progress: Progress<'a>,
}

impl Partitioner for TopDown {
    fn name(&self) -> &'static str {
        "top-down"
    }

    fn partition(
        &self,
        data: &Microdata,
        goal: &dyn Principle,
        rng: &mut dyn CryptoRng,
        progress: Progress<'_>,
    ) -> Result<Partition, PublishError> {
        // LEAK: which of several equal rows stay behind must not depend on where they stood in the input.
        let mut rows: Vec<u32> = (0..data.rows() as u32).collect();
        rows.shuffle(rng);
        let axes: Vec<Axis> = data.quasi().map(|(column, taxonomy)| Axis::new(column, taxonomy)).collect();
        let ranks = data.quasi().zip(&axes);
        let context = SearchContext {
            ladders: axes.iter().map(Ladder::new).collect(),
            ranks: ranks
                .map(|((column, _), axis)| column.codes().iter().map(|code| axis.rank(code)).collect())
                .collect(),
            sensitive: data.sensitive().filter(|_| !goal.is_size_only()).map(|column| column.codes()),
            goal,
            n_values: data.sensitive_counts().domain_len(),
            progress,
        };
        // Step 1.
        let top: Vec<u8> = context.ladders.iter().map(|ladder| ladder.steps.len() as u8 - 1).collect();
        let from_top = context.specialize(Node::new(rows.clone(), top));
        // Step 6.
        let cells = full::nodes(data, &context, &rows, rng);
        let from_full: Vec<Vec<u32>> = cells.into_par_iter().flat_map_iter(|cell| context.specialize(cell)).collect();
        let cost = |groups: &[Vec<u32>]| groups.iter().map(|group| context.cost(&axes, group)).sum::<f64>();
        let is_better = !from_full.is_empty() && cost(&from_full) < cost(&from_top);
        let groups = if is_better { from_full } else { from_top };
        (context.progress)(data.rows() as u64);
        let sizes: Vec<u32> = groups.iter().map(|group| group.len() as u32).collect();
        Ok(Partition::new(groups.into_iter().flatten().collect(), &sizes))
    }
}

impl SearchContext<'_> {
    fn value(&self, row: u32) -> u32 {
        self.sensitive.map_or(0, |codes| codes.get(row as usize))
    }

    fn counts(&self, rows: &[u32]) -> SaCounts {
        SaCounts::of(self.n_values, rows.iter().map(|&row| self.value(row)))
    }

    /// The label of a row in an attribute at a level, and what it costs.
    fn label(&self, attribute: usize, level: u8, row: u32) -> (u32, f64) {
        self.ladders[attribute].steps[level as usize][self.ranks[attribute][row as usize] as usize]
    }

    /// The cost and the rows of every label at a level, in the order of labels.
    fn children(&self, attribute: usize, level: u8, rows: &[u32]) -> Vec<(f64, Vec<u32>)> {
        let mut keyed: Vec<(u32, u32, f64, u32)> = (0u32..)
            .zip(rows)
            .map(|(place, &row)| {
                let (label, cost) = self.label(attribute, level, row);
                (label, place, cost, row)
            })
            .collect();
        keyed.sort_unstable_by_key(|&(label, place, _, _)| (label, place));
        let runs = keyed.chunk_by(|a, b| a.0 == b.0);
        runs.map(|run| (run[0].2, run.iter().map(|&(_, _, _, row)| row).collect())).collect()
    }

    /// The lowest levels at which rows share the label of every attribute.
    fn shared_levels(&self, rows: &[u32]) -> Vec<u8> {
        let is_shared = |attribute: usize, level: u8| {
            let mut labels = rows.iter().map(|&row| self.label(attribute, level, row).0);
            let first = labels.next();
            labels.all(|label| Some(label) == first)
        };
        let lowest = |(attribute, ladder): (usize, &Ladder)| {
            // At the top all rows share the label.
            let top = ladder.steps.len() as u8 - 1;
            (0..top).find(|&level| is_shared(attribute, level)).unwrap_or(top)
        };
        self.ladders.iter().enumerate().map(lowest).collect()
    }

    /// Steps 2 to 5: takes a node down as far as possible, and returns its groups.
    fn specialize(&self, mut node: Node) -> Vec<Vec<u32>> {
        let mut groups = Vec::new();
        while let Some(children) = node.step(self) {
            (self.progress)(0);
            if node.rows.len() + children.iter().map(|child| child.rows.len()).sum::<usize>() >= ROWS_PER_TASK {
                groups.par_extend(children.into_par_iter().flat_map_iter(|child| self.specialize(child)));
            } else {
                groups.extend(children.into_iter().flat_map(|child| self.specialize(child)));
            }
            if node.rows.is_empty() {
                return groups;
            }
        }
        groups.push(node.rows);
        groups
    }

    /// The penalty of a group as it will be published.
    fn cost(&self, axes: &[Axis], group: &[u32]) -> f64 {
        let width = |(axis, ranks): (&Axis, &Vec<u32>)| {
            let mut seen: Vec<u32> = group.iter().map(|&row| ranks[row as usize]).collect();
            seen.sort_unstable();
            seen.dedup();
            seen.first().zip(seen.last()).map_or(0.0, |(&first, &last)| axis.width(first, last, seen.len()))
        };
        axes.iter().zip(&self.ranks).map(width).sum::<f64>() * group.len() as f64
    }
}

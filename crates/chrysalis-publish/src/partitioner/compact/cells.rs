//! Step 2: groups of rows that share a label in every attribute, from fine labels to coarse ones.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use chrysalis_criteria::Principle;
use chrysalis_table::SaCounts;

use super::spare::{Cell, Spare};
use crate::partitioner::ladder::Ladder;
use crate::partitioner::mondrian::axis::Axis;

/// Distinct records with the number of rows behind them.
pub(super) struct Tuples<'a> {
    pub(super) stride: usize,
    pub(super) cells: &'a [u32],
    pub(super) counts: &'a [u32],
    pub(super) values: &'a [u32],
}

/// One level per attribute, and what that costs.
#[derive(PartialEq)]
struct Vector {
    cost: f64,
    levels: Vec<u8>,
    /// Attributes before this one are not coarsened any more, so that every vector comes once.
    from: usize,
}

impl Eq for Vector {}
impl PartialOrd for Vector {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Vector {
    /// The cheapest is the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.cost.total_cmp(&self.cost).then_with(|| other.levels.cmp(&self.levels))
    }
}

impl Vector {
    /// Queues all vectors that follow from this one.
    fn push_coarser(&self, ladders: &[Ladder], means: &[Vec<f64>], queue: &mut BinaryHeap<Vector>) {
        for at in self.from..ladders.len() {
            let level = self.levels[at] as usize;
            if level + 1 < ladders[at].steps.len() {
                let mut levels = self.levels.clone();
                levels[at] += 1;
                let cost = self.cost + means[at][level + 1] - means[at][level];
                queue.push(Vector { cost, levels, from: at });
            }
        }
    }
}

/// At most this many vectors of levels are looked at. Tuples are looked at `MOST_LOOKS` times in all, or
/// `MOST_LOOKS_EACH` times each if that is more.
const MOST_VECTORS: usize = 6_000;
const MOST_LOOKS: usize = 8_000_000;
const MOST_LOOKS_EACH: usize = 40;
/// Mean penalties are computed anew once the remaining tuples are less than this share of what they were.
const REFRESH: f64 = 0.8;

/// Groups of tuples, and the tuples that found none.
///
/// Vectors of levels, one level per attribute, come in the order of what they cost the rows that are left on average.
/// Rows that share all labels of a vector and pass become a group and are out.
pub(super) fn group(
    tuples: &Tuples<'_>,
    axes: &[(usize, Axis)],
    goal: &dyn Principle,
    n_values: usize,
) -> (Vec<Cell>, Vec<u32>) {
    let ladders: Vec<Ladder> = axes.iter().map(|(_, axis)| Ladder::new(axis)).collect();
    let mut left: Vec<u32> = (0..tuples.counts.len() as u32).collect();
    let mut n_looks = MOST_LOOKS.max(MOST_LOOKS_EACH * left.len());
    let mut means = mean_costs(tuples, &ladders, &left);
    let mut n_then = left.len();
    let mut queue = BinaryHeap::from([Vector { cost: 0.0, levels: vec![0; axes.len()], from: 0 }]);
    let mut groups = Vec::new();
    let mut collector = Collector::new(tuples, &ladders, goal, n_values);
    for _ in 0..MOST_VECTORS {
        let Some(vector) = queue.pop() else { break };
        if left.is_empty() || n_looks < left.len() {
            break;
        }
        n_looks -= left.len();
        collector.collect(&vector.levels, &mut left, &mut groups);
        vector.push_coarser(&ladders, &means, &mut queue);
        if (left.len() as f64) < n_then as f64 * REFRESH && !left.is_empty() {
            n_then = left.len();
            means = mean_costs(tuples, &ladders, &left);
            let mut vectors = queue.into_vec();
            for vector in &mut vectors {
                vector.cost = vector.levels.iter().zip(&means).map(|(&level, means)| means[level as usize]).sum();
            }
            queue = BinaryHeap::from(vectors);
        }
    }
    (groups, left)
}

/// What every level of every attribute costs the rows that are left on average.
fn mean_costs(tuples: &Tuples<'_>, ladders: &[Ladder], left: &[u32]) -> Vec<Vec<f64>> {
    let mean = |(at, ladder): (usize, &Ladder)| {
        let mut weights = vec![0.0; ladder.steps[0].len()];
        for &tuple in left {
            weights[tuples.cells[tuple as usize * tuples.stride + at] as usize] +=
                f64::from(tuples.counts[tuple as usize]);
        }
        let n: f64 = weights.iter().sum();
        let mean = |step: &Vec<(u32, f64)>| {
            step.iter().zip(&weights).map(|((_, cost), weight)| cost * weight).sum::<f64>() / n
        };
        ladder.steps.iter().map(mean).collect()
    };
    ladders.iter().enumerate().map(mean).collect()
}

struct Collector<'a> {
    tuples: &'a Tuples<'a>,
    goal: &'a dyn Principle,
    least: u64,
    /// Per attribute and level: a number for the label of every rank.
    marks: Vec<Vec<Vec<u64>>>,
    spare: Spare<'a>,
    counts: SaCounts,
    keys: Vec<u64>,
    slots: Vec<u32>,
    found: Vec<(u64, u32)>,
    is_taken: Vec<bool>,
}

impl<'a> Collector<'a> {
    fn new(tuples: &'a Tuples<'a>, ladders: &'a [Ladder], goal: &'a dyn Principle, n_values: usize) -> Self {
        Collector {
            tuples,
            goal,
            least: goal.least_size(),
            marks: ladders.iter().enumerate().map(marks).collect(),
            spare: Spare::new(tuples, ladders, goal, n_values),
            counts: SaCounts::new(n_values),
            keys: Vec::new(),
            slots: Vec::new(),
            found: Vec::new(),
            is_taken: vec![false; tuples.counts.len()],
        }
    }

    /// Makes groups of tuples with equal labels, if these pass or if other groups can spare the rows that they lack.
    fn collect(&mut self, levels: &[u8], left: &mut Vec<u32>, groups: &mut Vec<Cell>) {
        self.find(levels, left);
        self.found.sort_unstable();
        let Tuples { counts, values, .. } = *self.tuples;
        let found = std::mem::take(&mut self.found);
        let mut group: Vec<u32> = Vec::new();
        let n_before = groups.len();
        let mut lacking: Vec<Vec<u32>> = Vec::new();
        for run in found.chunk_by(|a, b| a.0 == b.0) {
            self.counts.clear();
            run.iter().for_each(|&(_, tuple)| self.counts.add_many(values[tuple as usize], counts[tuple as usize]));
            group.clear();
            group.extend(run.iter().map(|&(_, tuple)| tuple));
            if self.counts.total() >= self.least && self.goal.holds(&self.counts) {
                self.spare.add(&group, levels, groups);
                group.iter().for_each(|&tuple| self.is_taken[tuple as usize] = true);
            } else {
                lacking.push(group.clone());
            }
        }
        for group in lacking {
            if self.spare.complete(&group, levels, groups) {
                group.iter().for_each(|&tuple| self.is_taken[tuple as usize] = true);
            }
        }
        self.found = found;
        if groups.len() > n_before {
            left.retain(|&tuple| !self.is_taken[tuple as usize]);
        }
    }

    /// Lists the tuples whose labels may be shared by enough rows, or nearly enough, each with a key of its labels.
    fn find(&mut self, levels: &[u8], left: &[u32]) {
        let Tuples { stride, cells, counts, .. } = *self.tuples;
        // Labels of different cells may happen to have the same key; that makes a group wider, never unsafe.
        let marks: Vec<&[u64]> =
            self.marks.iter().zip(levels).map(|(marks, &level)| &marks[level as usize][..]).collect();
        let bits = (4 * left.len()).next_power_of_two().ilog2();
        self.slots.clear();
        self.slots.resize(1 << bits, 0);
        self.keys.clear();
        for &tuple in left {
            let record = &cells[tuple as usize * stride..(tuple as usize + 1) * stride];
            let key = marks.iter().zip(record).fold(0u64, |key, (marks, &rank)| key.wrapping_add(marks[rank as usize]));
            self.keys.push(key);
            self.slots[(key >> (64 - bits)) as usize] += counts[tuple as usize];
        }
        let enough = self.spare.fewest();
        self.found.clear();
        for (&tuple, &key) in left.iter().zip(&self.keys) {
            if self.slots[(key >> (64 - bits)) as usize] >= enough {
                self.found.push((key, tuple));
            }
        }
    }
}

/// A number for the label of every rank, level by level; sums of them over attributes tell labels apart.
fn marks((at, ladder): (usize, &Ladder)) -> Vec<Vec<u64>> {
    // The finalizer of splitmix64.
    let mix = |x: u64| {
        let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    };
    let mark = |level: usize, label: u32| mix(mix((at as u64) << 32 | level as u64).wrapping_add(u64::from(label)));
    let of_level =
        |(level, step): (usize, &Vec<(u32, f64)>)| step.iter().map(|(label, _)| mark(level, *label)).collect();
    ladder.steps.iter().enumerate().map(of_level).collect()
}

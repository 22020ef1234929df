//! Step 2: groups of rows that share a label in every attribute, from fine labels to coarse ones.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use chrysalis_criteria::Principle;
use chrysalis_table::SaCounts;

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
    /// Puts all vectors that follow from this one in line.
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

/// At most so many vectors of levels are looked at, and tuples so often: this many times in all, or each of them.
const MOST_VECTORS: usize = 6_000;
const MOST_LOOKS: usize = 8_000_000;
const MOST_LOOKS_EACH: usize = 40;
/// Penalties are averaged anew once the tuples left are this share of what they were.
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
) -> (Vec<Vec<u32>>, Vec<u32>) {
    let ladders: Vec<Ladder> = axes.iter().map(|(_, axis)| Ladder::new(axis)).collect();
    let mut left: Vec<u32> = (0..tuples.counts.len() as u32).collect();
    let mut n_looks = MOST_LOOKS.max(MOST_LOOKS_EACH * left.len());
    let mut means = mean_costs(tuples, &ladders, &left);
    let mut n_then = left.len();
    let mut queue = BinaryHeap::from([Vector { cost: 0.0, levels: vec![0; axes.len()], from: 0 }]);
    let mut groups = Vec::new();
    let mut collector = Collector::new(tuples, goal, n_values);
    for _ in 0..MOST_VECTORS {
        let Some(vector) = queue.pop() else { break };
        if left.is_empty() || n_looks < left.len() {
            break;
        }
        n_looks -= left.len();
        collector.collect(&ladders, &vector.levels, &mut left, &mut groups);
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
    counts: SaCounts,
    keys: Vec<u64>,
    slots: Vec<u32>,
    found: Vec<(u64, u32)>,
}

impl<'a> Collector<'a> {
    fn new(tuples: &'a Tuples<'a>, goal: &'a dyn Principle, n_values: usize) -> Self {
        Collector {
            tuples,
            goal,
            least: goal.least_size(),
            counts: SaCounts::new(n_values),
            keys: Vec::new(),
            slots: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Tuples with equal labels become a group where that passes.
    fn collect(&mut self, ladders: &[Ladder], levels: &[u8], left: &mut Vec<u32>, groups: &mut Vec<Vec<u32>>) {
        let Tuples { stride, cells, counts, values } = *self.tuples;
        // Labels of different cells may meet in one key by chance; that makes a group wider, never unsafe.
        let steps: Vec<&[(u32, f64)]> =
            ladders.iter().zip(levels).map(|(ladder, &level)| &ladder.steps[level as usize][..]).collect();
        let bits = (4 * left.len()).next_power_of_two().ilog2();
        self.slots.clear();
        self.slots.resize(1 << bits, 0);
        self.keys.clear();
        for &tuple in left.iter() {
            let record = &cells[tuple as usize * stride..(tuple as usize + 1) * stride];
            let mut key = 0u64;
            for (step, &rank) in steps.iter().zip(record) {
                key = (key.rotate_left(23) ^ u64::from(step[rank as usize].0)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            }
            self.keys.push(key);
            self.slots[(key >> (64 - bits)) as usize] += counts[tuple as usize];
        }
        self.found.clear();
        for (&tuple, &key) in left.iter().zip(&self.keys) {
            if u64::from(self.slots[(key >> (64 - bits)) as usize]) >= self.least {
                self.found.push((key, tuple));
            }
        }
        if self.found.is_empty() {
            return;
        }
        self.found.sort_unstable();
        let n_before = groups.len();
        for run in self.found.chunk_by(|a, b| a.0 == b.0) {
            self.counts.clear();
            run.iter().for_each(|&(_, tuple)| self.counts.add_many(values[tuple as usize], counts[tuple as usize]));
            if self.goal.holds(&self.counts) {
                groups.push(run.iter().map(|&(_, tuple)| tuple).collect());
            }
        }
        if groups.len() > n_before {
            let mut taken: Vec<u32> = groups[n_before..].iter().flatten().copied().collect();
            taken.sort_unstable();
            left.retain(|tuple| taken.binary_search(tuple).is_err());
        }
    }
}

//! Lower bounds on what wings lose: distances to nearest neighbours (butterfly, theorem 4).
//!
//! The distance of two rows is what each would lose if they were shown as one. A row in a class of at least k rows
//! loses at least its distance to the (k−1)-th nearest of all rows, because some row of the class is no nearer than
//! that.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::super::mondrian::axis::Axis;
use super::super::mondrian::records::{Rank, Slice};
use super::space::{Space, Wing};

/// Up to this many distinct combinations of values, all distances are compared.
const COMPARED: usize = 1_500;
/// Up to this many rows of one class, all distances are compared.
const SMALL: usize = 32;

/// For every row, by its number, a lower bound on its loss on all wings together, in any class of at least `least`
/// rows.
pub(super) fn floors<T: Rank>(space: &Space<'_>, group: &Slice<'_, T>) -> Vec<f64> {
    let mut floors = vec![0.0; group.len()];
    for wing in &space.wings {
        let combinations = Combinations::new(wing, group);
        let of_combination = combinations.floors(&wing.axes, space.least);
        for (&row, &combination) in group.rows().iter().zip(&combinations.of_record) {
            floors[row as usize] += of_combination[combination as usize];
        }
    }
    floors
}

/// The distinct combinations of ranks in a wing.
struct Combinations {
    of_record: Vec<u32>,
    ranks: Vec<Vec<u32>>,
    counts: Vec<usize>,
}

impl Combinations {
    fn new<T: Rank>(wing: &Wing, group: &Slice<'_, T>) -> Self {
        let mut known: HashMap<Vec<u32>, u32, FixedState> = HashMap::default();
        let (mut ranks, mut counts): (Vec<Vec<u32>>, Vec<usize>) = (Vec::new(), Vec::new());
        let mut of_record = Vec::with_capacity(group.len());
        let mut key = Vec::new();
        for record in group.records() {
            key.clear();
            key.extend(record[wing.cells.clone()].iter().map(|rank| rank.get()));
            let combination = known.get(&key).copied().unwrap_or_else(|| {
                known.insert(key.clone(), ranks.len() as u32);
                ranks.push(key.clone());
                counts.push(0);
                ranks.len() as u32 - 1
            });
            counts[combination as usize] += 1;
            of_record.push(combination);
        }
        Combinations { of_record, ranks, counts }
    }

    fn floors(&self, axes: &[Axis], least: usize) -> Vec<f64> {
        if self.ranks.len() <= COMPARED { self.exact(axes, least) } else { self.by_axis(axes, least) }
    }

    /// For every combination, the distance within which there are enough rows.
    fn exact(&self, axes: &[Axis], least: usize) -> Vec<f64> {
        let floor = |at: usize| {
            if self.counts[at] >= least {
                return 0.0;
            }
            let distance = |other: usize| distance(axes, &self.ranks[at], &self.ranks[other]);
            let mut near: Vec<(f64, usize)> = (0..self.ranks.len()).map(|other| (distance(other), other)).collect();
            near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            within(near.into_iter().map(|(distance, other)| (distance, self.counts[other])), least)
        };
        (0..self.ranks.len()).map(floor).collect()
    }

    /// The largest distance on one axis alone: no more than the whole distance, and cheap to compute.
    fn by_axis(&self, axes: &[Axis], least: usize) -> Vec<f64> {
        let mut floors = vec![0.0_f64; self.ranks.len()];
        for (at, axis) in axes.iter().enumerate() {
            let mut counts = vec![0_usize; axis.n_ranks()];
            self.ranks.iter().zip(&self.counts).for_each(|(ranks, n)| counts[ranks[at] as usize] += n);
            let of_rank = on_axis(axis, &counts, least);
            for (floor, ranks) in floors.iter_mut().zip(&self.ranks) {
                *floor = floor.max(of_rank[ranks[at] as usize]);
            }
        }
        floors
    }
}

/// For every rank that occurs, the distance on one axis within which there are enough rows.
fn on_axis(axis: &Axis, counts: &[usize], least: usize) -> Vec<f64> {
    let present: Vec<u32> = (0..).zip(counts).filter(|(_, n)| **n > 0).map(|(rank, _)| rank).collect();
    let mut floors = vec![0.0; counts.len()];
    for (place, &rank) in present.iter().enumerate() {
        let (mut below, mut above) = (place, place + 1);
        // Ranks farther along the line are never nearer.
        let nearest = std::iter::from_fn(|| {
            let low = below.checked_sub(1).map(|at| (axis.width(present[at], rank, 2), present[at]));
            let high = present.get(above).map(|&other| (axis.width(rank, other, 2), other));
            match (low, high) {
                (Some(low), high) if high.is_none_or(|high| low.0 <= high.0) => {
                    below -= 1;
                    Some(low)
                }
                (_, Some(high)) => {
                    above += 1;
                    Some(high)
                }
                _ => None,
            }
        });
        let own = std::iter::once((0.0, counts[rank as usize]));
        let others = nearest.map(|(distance, other)| (distance, counts[other as usize]));
        floors[rank as usize] = within(own.chain(others), least);
    }
    floors
}

/// The distance at which the counts, nearest first, add up to enough.
fn within(near: impl Iterator<Item = (f64, usize)>, least: usize) -> f64 {
    let mut n = 0;
    let mut near = near.skip_while(|(_, count)| {
        n += count;
        n < least
    });
    near.next().map_or(0.0, |(distance, _)| distance)
}

/// What each of two rows loses if they are shown as one.
fn distance(axes: &[Axis], a: &[u32], b: &[u32]) -> f64 {
    axes.iter().zip(a.iter().zip(b)).map(|(axis, (&a, &b))| axis.width(a.min(b), a.max(b), 2)).sum()
}

/// For i = 0, 1, … below `n`: the smallest distance of any row of a class to its i-th nearest row in the class. Large
/// classes are not measured: for them all are 0.
pub(super) fn in_class<T: Rank>(wing: &Wing, class: &Slice<'_, T>, n: usize) -> Vec<f64> {
    let mut smallest = vec![f64::INFINITY; n];
    if class.len() > SMALL {
        return vec![0.0; n];
    }
    let rows: Vec<Vec<u32>> =
        class.records().map(|record| record[wing.cells.clone()].iter().map(|rank| rank.get()).collect()).collect();
    for row in &rows {
        let mut distances: Vec<f64> = rows.iter().map(|other| distance(&wing.axes, row, other)).collect();
        distances.sort_unstable_by(f64::total_cmp);
        for (smallest, distance) in smallest.iter_mut().zip(distances) {
            *smallest = smallest.min(distance);
        }
    }
    smallest
}

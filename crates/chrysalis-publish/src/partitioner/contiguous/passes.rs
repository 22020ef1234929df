//! The three contiguous partitions, as functions on a line of sorted values. Each gives the places where groups end.

use std::collections::VecDeque;

/// A line of sorted values, cut into groups that must not be too small.
pub(super) trait Line {
    /// Number of values.
    fn len(&self) -> usize;
    /// The value at a place; does not decrease along the line.
    fn value(&self, at: usize) -> f64;
    /// Whether the values from `start` up to, not including, `end` may form a group. If so, any longer stretch may,
    /// too.
    fn may_be_group(&self, start: usize, end: usize) -> bool;
}

/// ke 6.1: groups with the least sum of ranges. `None` when the whole line is no group.
pub(super) fn min_sum(line: &impl Line) -> Option<Vec<usize>> {
    let n = line.len();
    // Where the last group of the first i values starts.
    let mut start_of = Vec::with_capacity(n + 1);
    start_of.push(0);
    // Step 1. The least sum for the first i values, for every i that is no start yet; costs add up and start from 0
    // (errata ke-alg1).
    let mut costs = VecDeque::from([0.0]);
    // Step 2. The best start among those that are far enough to the left: cost[start] − value[start] is least.
    let mut next_start = 0;
    let mut best = (f64::INFINITY, 0);
    for end in 1..=n {
        while next_start < end && line.may_be_group(next_start, end) {
            let offer = costs.pop_front().unwrap_or(f64::INFINITY) - line.value(next_start);
            // Of equal offers the later one makes more groups.
            if offer <= best.0 {
                best = (offer, next_start);
            }
            next_start += 1;
        }
        costs.push_back(best.0 + line.value(end - 1));
        start_of.push(best.1 as u32);
    }
    best.0.is_finite().then(|| walk_back(&start_of, n))
}

/// ke 6.2: contiguous groups with the least largest range.
pub(super) fn min_max(line: &impl Line) -> Option<Vec<usize>> {
    let n = line.len();
    // Where the last group of the first i values starts.
    let mut start_of = Vec::with_capacity(n + 1);
    start_of.push(0);
    // The least largest range for the first i values, for every i that is no start yet.
    let mut costs = VecDeque::from([0.0]);
    // Starts by place, their costs increasing: an earlier start with a higher cost never wins again.
    let mut starts: VecDeque<(usize, f64)> = VecDeque::new();
    let mut next_start = 0;
    for end in 1..=n {
        while next_start < end && line.may_be_group(next_start, end) {
            let cost = costs.pop_front().unwrap_or(f64::INFINITY);
            if cost.is_finite() {
                while starts.back().is_some_and(|&(_, known)| known >= cost) {
                    starts.pop_back();
                }
                starts.push_back((next_start, cost));
            }
            next_start += 1;
        }
        let last = line.value(end - 1);
        let worst = |(start, cost): (usize, f64)| cost.max(last - line.value(start));
        // Ranges shrink along the queue and costs grow. Once the second start is no worse than the first, it stays so:
        // the first is held back by its range, which only grows.
        while starts.len() > 1 && worst(starts[1]) <= worst(starts[0]) {
            starts.pop_front();
        }
        costs.push_back(starts.front().map_or(f64::INFINITY, |&start| worst(start)));
        start_of.push(starts.front().map_or(0, |&(start, _)| start as u32));
    }
    (!starts.is_empty()).then(|| walk_back(&start_of, n))
}

/// ke 7: as many contiguous groups as there can be. Closing a group as early as possible never costs one later.
pub(super) fn max_groups(line: &impl Line) -> Option<Vec<usize>> {
    let n = line.len();
    let mut ends = Vec::new();
    let mut start = 0;
    for end in 1..=n {
        if line.may_be_group(start, end) {
            ends.push(end);
            start = end;
        }
    }
    // The values that are left over join the last group.
    *ends.last_mut()? = n;
    Some(ends)
}

fn walk_back(start_of: &[u32], n: usize) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut end = n;
    while end > 0 {
        ends.push(end);
        end = start_of[end] as usize;
    }
    ends.reverse();
    ends
}

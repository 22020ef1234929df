use super::deal;
use super::points::Point;
use crate::partitioner::dealing::{Dealing, joined};

/// How many groups on either side a row without a value looks at.
const REACH: usize = 64;

/// Step 4. Groups of `l` different values along the curve. Rows without a value protect nobody: they join these groups,
/// one per group as far as they go. Reorders the points group after group, and returns the sizes.
pub(super) fn deal<const D: usize>(points: &mut [Point<D>], l: usize, dealing: &Dealing) -> Vec<u32> {
    if points.iter().all(|point| !dealing.is_missing(point.value)) {
        return deal::deal(points, l, dealing);
    }
    // The points with a value, in order; and the others, each with the number of points with a value before it.
    let mut present: Vec<Point<D>> = Vec::with_capacity(points.len());
    let mut missing: Vec<(usize, Point<D>)> = Vec::new();
    for point in points.iter() {
        if dealing.is_missing(point.value) {
            missing.push((present.len(), *point));
        } else {
            present.push(*point);
        }
    }
    if present.len() < l {
        return vec![points.len() as u32];
    }
    let sizes = deal::deal(&mut present, l, dealing);
    let n_groups = sizes.len();
    let mut is_taken = vec![false; n_groups];
    let joining = (0u32..).zip(&missing).map(|(at, (before, _))| {
        // Groups are roughly in the order of the curve.
        let here = (before * n_groups / present.len()).min(n_groups - 1);
        let around = (0..REACH).flat_map(|step| [here.checked_sub(step), Some(here + step)]).flatten();
        let free = around.filter(|&group| group < n_groups).find(|&group| !is_taken[group]);
        let group = free.unwrap_or(here);
        is_taken[group] = true;
        (group as u32, present.len() as u32 + at)
    });
    let joining: Vec<(u32, u32)> = joining.collect();
    let places: Vec<u32> = (0..present.len() as u32).collect();
    let (order, sizes) = joined(&places, &sizes, joining);
    let place = |&place: &u32| match present.get(place as usize) {
        Some(point) => *point,
        None => missing[place as usize - present.len()].1,
    };
    let ordered: Vec<Point<D>> = order.iter().map(place).collect();
    points.copy_from_slice(&ordered);
    sizes
}

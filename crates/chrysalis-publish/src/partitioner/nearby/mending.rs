//! Groups that were dealt by one of several sensitive columns, mended for the others.

use chrysalis_criteria::Principle;
use chrysalis_table::SaCounts;

use super::super::dealing::Dealing;
use super::points::Point;

/// How many groups on either side of a failing one are looked through.
const WITHIN: usize = 32;

/// Lets rows of one class change places between groups of a cell, so that groups which fail the goal pass it (step 4a).
///
/// Rows of one class count as one value in the column by which rows were dealt, so that what was dealt stays as it is.
/// A change is made if the failing group then passes and the other one does not fail because of it.
pub(super) fn mend<const D: usize>(
    goal: &dyn Principle,
    dealing: &Dealing,
    points: &mut [Point<D>],
    sizes: &[u32],
    counts: &mut SaCounts,
) {
    let mut starts = Vec::with_capacity(sizes.len() + 1);
    starts.push(0);
    sizes.iter().for_each(|&size| starts.push(starts[starts.len() - 1] + size as usize));
    let mut passes: Vec<bool> =
        (0..sizes.len()).map(|at| holds(goal, &points[starts[at]..starts[at + 1]], counts)).collect();
    let mut clashing = Vec::new();
    for group in 0..sizes.len() {
        if passes[group] {
            continue;
        }
        clashing.clear();
        clashing.extend(
            (starts[group]..starts[group + 1])
                .filter(|&at| clash(dealing, points, at, at, starts[group]..starts[group + 1])),
        );
        let others = (1..=WITHIN).flat_map(|far| [group.checked_sub(far), Some(group + far)]).flatten();
        let mended = others.filter(|&other| other < sizes.len()).find_map(|other| {
            let (own, others) = (starts[group]..starts[group + 1], starts[other]..starts[other + 1]);
            // Where rows clash, one of them must go; otherwise it could be any.
            let going = || own.clone().filter(|at| clashing.is_empty() || clashing.contains(at));
            let mut pairs = going().flat_map(|a| others.clone().map(move |b| (a, b)));
            let found = pairs.find(|&(a, b)| {
                let (first, second) = (points[a].value, points[b].value);
                if first == second || dealing.class(first) != dealing.class(second) {
                    return false;
                }
                let is_idle = !clashing.is_empty()
                    && (clash(dealing, points, b, a, own.clone())
                        || passes[other] && clash(dealing, points, a, b, others.clone()));
                if is_idle {
                    return false;
                }
                points.swap(a, b);
                let is_better = holds(goal, &points[starts[group]..starts[group + 1]], counts)
                    && (!passes[other] || holds(goal, &points[starts[other]..starts[other + 1]], counts));
                if !is_better {
                    points.swap(a, b);
                }
                is_better
            });
            found.map(|_| other)
        });
        if let Some(other) = mended {
            passes[group] = true;
            passes[other] = holds(goal, &points[starts[other]..starts[other + 1]], counts);
        }
    }
}

/// Whether the row at a place clashes with rows of a group other than the one at `but`.
fn clash<const D: usize>(
    dealing: &Dealing,
    points: &[Point<D>],
    at: usize,
    but: usize,
    group: std::ops::Range<usize>,
) -> bool {
    let keys = dealing.keys(points[at].value);
    !keys.is_empty()
        && group
            .filter(|&other| other != but)
            .any(|other| dealing.keys(points[other].value).iter().any(|key| keys.contains(key)))
}

fn holds<const D: usize>(goal: &dyn Principle, points: &[Point<D>], counts: &mut SaCounts) -> bool {
    counts.clear();
    points.iter().for_each(|point| counts.add(point.value));
    goal.holds(counts)
}

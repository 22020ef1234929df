use chrysalis_criteria::Principle;
use chrysalis_table::SaCounts;

use super::points::Point;

/// About this many rows after a group are looked at for an exchange.
const ROWS_AHEAD: usize = 32;
/// Groups with more rows than this, or than groups of the least size can have, are left as they are: measuring a group
/// takes the square of its size, and one that had to be merged from many is wide whoever is in it.
const MOST_ROWS: usize = 256;
/// A gain below this may be rounding. The width of a domain is 32,000 times as much.
const LEAST_GAIN: f32 = 1.0;

/// Lets rows with different sensitive values change places, or move, between neighbouring groups of a block, if that
/// makes the two groups more compact, gives no group a value that it already has, and leaves the goal satisfied.
///
/// This lowers the sum over all groups of the mean distance between a member and the group.
pub(super) fn improve<const D: usize>(
    points: &mut [Point<D>],
    sizes: &mut [u32],
    goal: &dyn Principle,
    counts: &mut SaCounts,
) {
    let mut pair = Pair::new(goal);
    let mut groups: Vec<Group<D>> = Vec::with_capacity(sizes.len());
    let mut rest = &*points;
    for &size in &*sizes {
        let (group, after) = rest.split_at(size as usize);
        groups.push(Group::new(group.to_vec(), most_rows(goal)));
        rest = after;
    }
    for g in 0..groups.len() {
        let mut n_rows = 0;
        for h in g + 1..groups.len() {
            if n_rows >= ROWS_AHEAD {
                break;
            }
            n_rows += groups[h].points.len();
            let (before, after) = groups.split_at_mut(h);
            // PROOF: g < h, so the first is in `before` and the second opens `after`.
            pair.improve(&mut before[g], &mut after[0], goal, counts);
        }
    }
    let mut start = 0;
    for (group, size) in groups.iter().zip(sizes) {
        let end = start + group.points.len();
        points[start..end].copy_from_slice(&group.points);
        *size = group.points.len() as u32;
        start = end;
    }
}

/// The most rows of a group that takes part.
pub(super) fn most_rows(goal: &dyn Principle) -> usize {
    usize::try_from(goal.least_size()).unwrap_or(usize::MAX).saturating_mul(2).max(MOST_ROWS)
}

struct Group<const D: usize> {
    points: Vec<Point<D>>,
    /// Whether it is left as it is.
    is_left: bool,
    /// For every point, the sum of its distances to the others.
    inside: Vec<f32>,
    /// The sum over all pairs of points; 0 if all points are equal, and then nothing can be improved.
    total: f32,
}

impl<const D: usize> Group<D> {
    fn new(points: Vec<Point<D>>, most_rows: usize) -> Self {
        let is_left = points.len() > most_rows;
        let mut group = Group { inside: Vec::new(), points, is_left, total: 0.0 };
        if !is_left {
            group.measure();
        }
        group
    }

    fn measure(&mut self) {
        let points = &self.points;
        self.inside.clear();
        self.inside.extend(points.iter().map(|p| points.iter().map(|q| p.distance(q) as f32).sum::<f32>()));
        self.total = self.inside.iter().sum::<f32>() / 2.0;
    }

    fn len(&self) -> f32 {
        self.points.len() as f32
    }

    /// Whether no row of the group, except the one that leaves, has the value that comes in.
    fn stays_apart(&self, going: Option<usize>, coming: u32) -> bool {
        self.points.iter().enumerate().all(|(at, point)| Some(at) == going || point.value != coming)
    }

    fn holds(&self, goal: &dyn Principle, counts: &mut SaCounts) -> bool {
        counts.clear();
        self.points.iter().for_each(|point| counts.add(point.value));
        goal.holds(counts)
    }
}

/// A change between two groups; rows are given by their index in their group.
#[derive(Clone, Copy)]
enum Change {
    Exchange(usize, usize),
    /// A row of the first joins the second.
    There(usize),
    /// A row of the second joins the first.
    Back(usize),
}

/// Two groups, and how far each point of one is from the other.
struct Pair {
    /// From every point of the first group to every point of the second.
    distances: Vec<f32>,
    from_first: Vec<f32>,
    from_second: Vec<f32>,
    /// Groups keep at least this many rows, and fewer than twice as many.
    least: usize,
}

impl Pair {
    fn new(goal: &dyn Principle) -> Self {
        let least = usize::try_from(goal.least_size()).unwrap_or(usize::MAX);
        Pair { distances: Vec::new(), from_first: Vec::new(), from_second: Vec::new(), least }
    }

    fn improve<const D: usize>(
        &mut self,
        g: &mut Group<D>,
        h: &mut Group<D>,
        goal: &dyn Principle,
        counts: &mut SaCounts,
    ) {
        if g.is_left || h.is_left || g.total + h.total == 0.0 {
            return;
        }
        self.measure(g, h);
        let mut best = (-LEAST_GAIN, None);
        self.look_at_exchanges(g, h, &mut best);
        self.look_at_moves(g, h, &self.from_first, Change::There, &mut best);
        self.look_at_moves(h, g, &self.from_second, Change::Back, &mut best);
        let Some(change) = best.1 else { return };
        let undo = carry_out(g, h, change);
        if g.holds(goal, counts) && h.holds(goal, counts) {
            g.measure();
            h.measure();
        } else {
            carry_out(g, h, undo);
        }
    }

    fn measure<const D: usize>(&mut self, g: &Group<D>, h: &Group<D>) {
        self.distances.clear();
        self.from_first.clear();
        self.from_second.clear();
        self.from_second.resize(h.points.len(), 0.0);
        for p in &g.points {
            let mut sum = 0.0;
            for (q, from_q) in h.points.iter().zip(&mut self.from_second) {
                let distance = p.distance(q) as f32;
                self.distances.push(distance);
                sum += distance;
                *from_q += distance;
            }
            self.from_first.push(sum);
        }
    }

    fn look_at_exchanges<const D: usize>(&self, g: &Group<D>, h: &Group<D>, best: &mut (f32, Option<Change>)) {
        for (a, distances) in self.distances.chunks_exact(h.points.len()).enumerate() {
            for (b, &distance) in distances.iter().enumerate() {
                let change_of_g = (self.from_second[b] - distance - g.inside[a]) / g.len();
                let change_of_h = (self.from_first[a] - distance - h.inside[b]) / h.len();
                let change = change_of_g + change_of_h;
                if change < best.0
                    && g.stays_apart(Some(a), h.points[b].value)
                    && h.stays_apart(Some(b), g.points[a].value)
                {
                    *best = (change, Some(Change::Exchange(a, b)));
                }
            }
        }
    }

    fn look_at_moves<const D: usize>(
        &self,
        from: &Group<D>,
        to: &Group<D>,
        distances: &[f32],
        change: fn(usize) -> Change,
        best: &mut (f32, Option<Change>),
    ) {
        if from.total == 0.0 || from.points.len() <= self.least || to.points.len() + 1 >= 2 * self.least {
            return;
        }
        for (at, (point, distance)) in from.points.iter().zip(distances).enumerate() {
            let left = (from.total - from.inside[at]) / (from.len() - 1.0) - from.total / from.len();
            let joined = (to.total + distance) / (to.len() + 1.0) - to.total / to.len();
            if left + joined < best.0 && to.stays_apart(None, point.value) {
                *best = (left + joined, Some(change(at)));
            }
        }
    }
}

/// Carries a change out, and returns the change that would undo it.
fn carry_out<const D: usize>(g: &mut Group<D>, h: &mut Group<D>, change: Change) -> Change {
    match change {
        Change::Exchange(a, b) => {
            std::mem::swap(&mut g.points[a], &mut h.points[b]);
            change
        }
        Change::There(at) => {
            h.points.push(g.points.swap_remove(at));
            Change::Back(h.points.len() - 1)
        }
        Change::Back(at) => {
            g.points.push(h.points.swap_remove(at));
            Change::There(g.points.len() - 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrysalis_criteria::PrincipleSpec;

    fn point(at: u16, value: u32, row: u32) -> Point<8> {
        Point { at: [at, 0, 0, 0, 0, 0, 0, 0], value, row }
    }

    /// The rows of the groups after one pass, with groups of at least two.
    fn improved(mut points: Vec<Point<8>>, mut sizes: Vec<u32>) -> Vec<Vec<u32>> {
        let goal = "k=2".parse::<PrincipleSpec>().unwrap().bind(None).unwrap();
        improve(&mut points, &mut sizes, goal.as_ref(), &mut SaCounts::new(4));
        let mut rows = points.iter().map(|point| point.row);
        sizes.iter().map(|&size| rows.by_ref().take(size as usize).collect()).collect()
    }

    #[test]
    fn rows_with_different_values_change_places() {
        let points = vec![point(0, 0, 0), point(900, 1, 1), point(905, 2, 2), point(4, 3, 3)];
        assert_eq!(improved(points, vec![2, 2]), [[2, 1], [0, 3]]);
    }

    #[test]
    fn no_group_gets_a_value_twice() {
        let points = vec![point(0, 0, 0), point(900, 1, 1), point(905, 1, 2), point(4, 0, 3)];
        assert_eq!(improved(points, vec![2, 2]), [[0, 1], [2, 3]]);
    }

    #[test]
    fn a_row_moves_to_the_group_where_it_belongs() {
        let points = vec![point(0, 0, 0), point(0, 1, 1), point(900, 2, 2), point(900, 0, 3), point(905, 1, 4)];
        assert_eq!(improved(points, vec![3, 2]), [vec![0, 1], vec![3, 4, 2]]);
    }

    #[test]
    fn a_group_of_the_least_size_gives_no_row_away() {
        let points = vec![point(0, 0, 0), point(900, 2, 1), point(900, 0, 2), point(905, 1, 3)];
        let sizes = improved(points, vec![2, 2]).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(sizes, [2, 2]);
    }
}

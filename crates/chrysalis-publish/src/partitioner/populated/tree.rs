//! Weighted points in a kd-tree, counted inside boxes.

use super::Side;

/// Leaves have at most this many points.
const LEAF: usize = 16;

/// Points, each with the number of people who stand there.
pub(super) struct Points {
    n_axes: usize,
    places: Vec<u32>,
    people: Vec<u64>,
}

impl Points {
    pub(super) fn new(n_axes: usize) -> Points {
        Points { n_axes, places: Vec::new(), people: Vec::new() }
    }

    /// Adds a person, unless one of the places is not known. Whether it did.
    pub(super) fn push(&mut self, places: impl Iterator<Item = Option<u32>>) -> bool {
        let before = self.places.len();
        for place in places {
            let Some(place) = place else {
                self.places.truncate(before);
                return false;
            };
            self.places.push(place);
        }
        self.people.push(1);
        true
    }

    fn of(&self, at: usize) -> &[u32] {
        &self.places[at * self.n_axes..][..self.n_axes]
    }

    /// The same points in order, each once.
    fn counted(self) -> Points {
        let mut order: Vec<u32> = (0..self.people.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| self.of(a as usize).cmp(self.of(b as usize)));
        let mut points = Points::new(self.n_axes);
        for at in order {
            let point = self.of(at as usize);
            let is_known = points.people.last().is_some() && points.of(points.people.len() - 1) == point;
            match points.people.last_mut().filter(|_| is_known) {
                Some(people) => *people += 1,
                None => {
                    points.places.extend_from_slice(point);
                    points.people.push(1);
                }
            }
        }
        points
    }
}

/// A part of the points.
struct Node {
    /// The places of its points: the first and the last on each axis.
    low: Vec<u32>,
    high: Vec<u32>,
    people: u64,
    /// Its points in the order of the tree.
    points: std::ops::Range<usize>,
    /// Its halves.
    halves: Option<[usize; 2]>,
}

pub(super) struct Tree {
    points: Points,
    order: Vec<u32>,
    nodes: Vec<Node>,
}

impl Tree {
    pub(super) fn new(points: Points) -> Tree {
        let points = points.counted();
        let order = (0..points.people.len() as u32).collect();
        let mut tree = Tree { points, order, nodes: Vec::new() };
        if !tree.order.is_empty() {
            tree.grow(0..tree.order.len());
        }
        tree
    }

    /// All points.
    pub(super) fn points(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.points.people.len()).map(|at| self.points.of(at))
    }

    /// Adds the node of some points, and those below it. Halves are as deep as the logarithm of the points.
    fn grow(&mut self, range: std::ops::Range<usize>) -> usize {
        let n_axes = self.points.n_axes;
        let (mut low, mut high, mut people) = (vec![u32::MAX; n_axes], vec![0; n_axes], 0);
        for &at in &self.order[range.clone()] {
            people += self.points.people[at as usize];
            for (axis, &place) in self.points.of(at as usize).iter().enumerate() {
                low[axis] = low[axis].min(place);
                high[axis] = high[axis].max(place);
            }
        }
        let widest = (0..n_axes).max_by_key(|&axis| (high[axis] - low[axis], std::cmp::Reverse(axis)));
        let id = self.nodes.len();
        let is_leaf = range.len() <= LEAF;
        self.nodes.push(Node { low, high, people, points: range.clone(), halves: None });
        if let Some(axis) = widest.filter(|_| !is_leaf) {
            let middle = range.start + range.len() / 2;
            let points = &self.points;
            let place = |at: u32| (points.of(at as usize)[axis], at);
            self.order[range.clone()].select_nth_unstable_by_key(range.len() / 2, |&at| place(at));
            let halves = [self.grow(range.start..middle), self.grow(middle..range.end)];
            self.nodes[id].halves = Some(halves);
        }
        id
    }

    /// The people inside a box, up to `enough`.
    pub(super) fn count(&self, sides: &[Side<'_>], enough: u64) -> u64 {
        let (mut found, mut open) = (0u64, vec![0]);
        while let Some(node) = open.pop().and_then(|id: usize| self.nodes.get(id)) {
            match inside(sides, node) {
                Inside::Nothing => continue,
                Inside::Everything => found += node.people,
                Inside::Something => match node.halves {
                    Some(halves) => open.extend(halves),
                    None => {
                        let inside = |at: &&u32| covers(sides, self.points.of(**at as usize));
                        let inside = self.order[node.points.clone()].iter().filter(inside);
                        found += inside.map(|&at| self.points.people[at as usize]).sum::<u64>();
                    }
                },
            }
            if found >= enough {
                return enough;
            }
        }
        found
    }
}

enum Inside {
    Nothing,
    Something,
    Everything,
}

fn inside(sides: &[Side<'_>], node: &Node) -> Inside {
    let mut is_everything = true;
    for (side, (&low, &high)) in sides.iter().zip(node.low.iter().zip(&node.high)) {
        match *side {
            Side::Stretch(first, last) => {
                if high < first || last < low {
                    return Inside::Nothing;
                }
                is_everything &= first <= low && high <= last;
            }
            Side::Codes(codes) => {
                let between = codes.partition_point(|&code| code <= high) - codes.partition_point(|&code| code < low);
                if between == 0 {
                    return Inside::Nothing;
                }
                is_everything &= between as u64 == u64::from(high - low) + 1;
            }
        }
    }
    if is_everything { Inside::Everything } else { Inside::Something }
}

/// Whether a point is inside a box.
pub(super) fn covers(sides: &[Side<'_>], point: &[u32]) -> bool {
    sides.iter().zip(point).all(|(side, place)| match side {
        Side::Stretch(first, last) => (first..=last).contains(&place),
        Side::Codes(codes) => codes.binary_search(place).is_ok(),
    })
}

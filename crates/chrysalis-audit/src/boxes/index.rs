//! Which boxes cover a point: a tree of bounding boxes, from which boxes can be removed temporarily.

use chrysalis_table::Watch;

use super::space::{Axis, Interval};

/// Up to this many boxes are examined one by one.
const LEAF: usize = 8;

/// Boxes one after another, each with one interval per axis.
pub(crate) struct Boxes<'a> {
    pub(crate) axes: &'a [Axis<'a>],
    pub(crate) intervals: Vec<Interval>,
    pub(crate) n: usize,
}

impl Boxes<'_> {
    fn interval(&self, index: usize, axis: usize) -> Interval {
        self.intervals[index * self.axes.len() + axis]
    }

    /// The sum of the sides of a box, each as a fraction of its axis scaled to 2²⁰.
    fn girth(&self, index: usize) -> u64 {
        let side = |axis: usize| {
            let cell = self.interval(index, axis);
            (u64::from(cell.high.saturating_sub(cell.low)) << 20) / self.axes[axis].len().max(1) as u64
        };
        (0..self.axes.len()).map(side).sum()
    }

    /// Whether a box covers a point, one rank per axis.
    pub(crate) fn covers(&self, index: usize, point: &[u32]) -> bool {
        let covers = |(axis, &rank): (usize, &u32)| self.axes[axis].covers(self.interval(index, axis), rank);
        point.iter().enumerate().all(covers)
    }
}

/// Two properties by which boxes can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The box has room.
    Open = 0,
    /// The current search has not met the box.
    Unseen = 1,
}

struct Node {
    parent: u32,
    /// The right child; the left one comes directly after its parent. Zero for a leaf.
    right: u32,
    start: u32,
    end: u32,
    /// The number of boxes below with each mark.
    marked: [u32; 2],
}

/// A tree over boxes. Bounding boxes may overlap; a search goes down wherever the point lies inside.
pub(crate) struct Index<'a> {
    boxes: &'a Boxes<'a>,
    order: Vec<u32>,
    nodes: Vec<Node>,
    /// The low and high (exclusive) bounds of every node, one pair per axis.
    bounds: Vec<(u32, u32)>,
    leaf_of: Vec<u32>,
    marked: Vec<[bool; 2]>,
    girth: Vec<u64>,
}

impl<'a> Index<'a> {
    /// Builds the tree, halving at the median centre of the axis along which centres spread most.
    pub(crate) fn new(boxes: &'a Boxes<'a>, watch: &dyn Watch) -> Index<'a> {
        let n = boxes.n;
        let mut index = Index {
            boxes,
            order: (0..n as u32).collect(),
            nodes: Vec::new(),
            bounds: Vec::new(),
            leaf_of: vec![0; n],
            marked: vec![[true; 2]; n],
            girth: (0..n).map(|index| boxes.girth(index)).collect(),
        };
        if n > 0 {
            index.build(0, n, 0, watch);
        }
        index
    }

    /// The depth is logarithmic, because every split halves the boxes.
    fn build(&mut self, start: usize, end: usize, parent: u32, watch: &dyn Watch) -> u32 {
        watch.pause();
        let id = self.nodes.len() as u32;
        let n = (end - start) as u32;
        self.nodes.push(Node { parent, right: 0, start: start as u32, end: end as u32, marked: [n; 2] });
        for axis in 0..self.boxes.axes.len() {
            let intervals = self.order[start..end].iter().map(|&index| self.boxes.interval(index as usize, axis));
            let bounds = intervals.fold((u32::MAX, 0), |(low, high), cell| (low.min(cell.low), high.max(cell.high)));
            self.bounds.push(bounds);
        }
        match self.widest_axis(start, end).filter(|_| end - start > LEAF) {
            None => self.order[start..end].iter().for_each(|&index| self.leaf_of[index as usize] = id),
            Some(axis) => {
                let middle = (end - start) / 2;
                let boxes = self.boxes;
                self.order[start..end].select_nth_unstable_by_key(middle, |&index| centre(boxes, index, axis));
                self.build(start, start + middle, id, watch);
                let right = self.build(start + middle, end, id, watch);
                self.nodes[id as usize].right = right;
            }
        }
        id
    }

    /// `None` when all centres coincide.
    fn widest_axis(&self, start: usize, end: usize) -> Option<usize> {
        let spread = |axis: usize| {
            let centres = self.order[start..end].iter().map(|&index| centre(self.boxes, index, axis));
            let (low, high) = centres.fold((u64::MAX, 0), |(low, high), centre| (low.min(centre), high.max(centre)));
            (high - low) as f64 / self.boxes.axes[axis].len() as f64
        };
        let spreads = (0..self.boxes.axes.len()).map(|axis| (axis, spread(axis)));
        spreads.filter(|(_, spread)| *spread > 0.0).max_by(|a, b| a.1.total_cmp(&b.1)).map(|(axis, _)| axis)
    }

    /// A key that sorts small boxes first.
    pub(crate) fn tightness(&self, index: u32) -> u64 {
        self.girth[index as usize]
    }

    /// Calls `visit` with boxes that carry a mark and cover a point, until it returns `false`.
    pub(crate) fn visit(&self, mark: Mark, point: &[u32], mut visit: impl FnMut(u32) -> bool) {
        let mut stack: Vec<u32> = Vec::with_capacity(32);
        stack.extend((!self.nodes.is_empty()).then_some(0));
        while let Some(id) = stack.pop() {
            let node = &self.nodes[id as usize];
            if node.marked[mark as usize] == 0 || !self.bounds_cover(id, point) {
                continue;
            }
            if node.right > 0 {
                stack.extend([node.right, id + 1]);
                continue;
            }
            for &index in &self.order[node.start as usize..node.end as usize] {
                let is_there = self.marked[index as usize][mark as usize] && self.boxes.covers(index as usize, point);
                if is_there && !visit(index) {
                    return;
                }
            }
        }
    }

    fn bounds_cover(&self, id: u32, point: &[u32]) -> bool {
        let bounds = &self.bounds[id as usize * point.len()..][..point.len()];
        point.iter().zip(bounds).all(|(&rank, &(low, high))| low <= rank && rank < high)
    }

    /// The first box found that carries a mark and covers a point.
    pub(crate) fn first(&self, mark: Mark, point: &[u32]) -> Option<u32> {
        let mut found = None;
        self.visit(mark, point, |index| {
            found = Some(index);
            false
        });
        found
    }

    /// Sets or clears a mark.
    pub(crate) fn set(&mut self, mark: Mark, index: u32, to: bool) {
        let known = &mut self.marked[index as usize][mark as usize];
        if *known == to {
            return;
        }
        *known = to;
        let mut id = self.leaf_of[index as usize];
        loop {
            let node = &mut self.nodes[id as usize];
            let count = &mut node.marked[mark as usize];
            *count = if to { *count + 1 } else { *count - 1 };
            if id == 0 {
                return;
            }
            id = node.parent;
        }
    }
}

/// Twice the centre of a box along an axis.
fn centre(boxes: &Boxes<'_>, index: u32, axis: usize) -> u64 {
    let cell = boxes.interval(index as usize, axis);
    u64::from(cell.low) + u64::from(cell.high)
}

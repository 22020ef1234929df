//! A tree of bounding boxes, which finds the boxes that may cover a point.

/// The most boxes in a leaf.
const LEAF: usize = 8;

/// Boxes by their sides: for each box and axis, the first and the last code.
pub(crate) struct Tree {
    n_axes: usize,
    sides: Vec<(u32, u32)>,
    order: Vec<u32>,
    nodes: Vec<Node>,
    bounds: Vec<(u32, u32)>,
}

struct Node {
    start: u32,
    end: u32,
    /// The right child; the left one directly follows its parent. Zero for a leaf.
    right: u32,
}

impl Tree {
    pub(crate) fn new(n_axes: usize, sides: Vec<(u32, u32)>) -> Self {
        let n = sides.len().checked_div(n_axes).unwrap_or(0);
        let mut tree = Tree { n_axes, sides, order: (0..n as u32).collect(), nodes: Vec::new(), bounds: Vec::new() };
        if n > 0 {
            tree.build(0, n);
        }
        tree
    }

    fn side(&self, index: u32, axis: usize) -> (u32, u32) {
        self.sides[index as usize * self.n_axes + axis]
    }

    fn build(&mut self, start: usize, end: usize) -> u32 {
        let id = self.nodes.len() as u32;
        self.nodes.push(Node { start: start as u32, end: end as u32, right: 0 });
        let mut widest = (0, 0);
        for axis in 0..self.n_axes {
            let sides = self.order[start..end].iter().map(|&index| self.side(index, axis));
            let bounds = sides.clone().fold((u32::MAX, 0), |(low, high), side| (side.0.min(low), side.1.max(high)));
            let centres = sides.map(|(low, high)| u64::from(low) + u64::from(high));
            let (least, most) = centres.fold((u64::MAX, 0), |(least, most), at| (at.min(least), at.max(most)));
            self.bounds.push(bounds);
            if most.saturating_sub(least) > widest.0 {
                widest = (most - least, axis);
            }
        }
        if end - start > LEAF && widest.0 > 0 {
            let (axis, middle) = (widest.1, (end - start) / 2);
            let mut part = self.order[start..end].to_vec();
            part.select_nth_unstable_by_key(middle, |&index| {
                let (low, high) = self.side(index, axis);
                u64::from(low) + u64::from(high)
            });
            self.order[start..end].copy_from_slice(&part);
            self.build(start, start + middle);
            self.nodes[id as usize].right = self.build(start + middle, end);
        }
        id
    }

    /// Calls `visit` with every box whose sides cover a point, always in the same order.
    pub(crate) fn visit(&self, point: &[u32], mut visit: impl FnMut(u32)) {
        let mut stack: Vec<u32> = if self.nodes.is_empty() { Vec::new() } else { vec![0] };
        let inside = |sides: &[(u32, u32)]| point.iter().zip(sides).all(|(at, (low, high))| low <= at && at <= high);
        while let Some(id) = stack.pop() {
            if !inside(&self.bounds[id as usize * self.n_axes..][..self.n_axes]) {
                continue;
            }
            let node = &self.nodes[id as usize];
            if node.right > 0 {
                stack.extend([node.right, id + 1]);
                continue;
            }
            for &index in &self.order[node.start as usize..node.end as usize] {
                if inside(&self.sides[index as usize * self.n_axes..][..self.n_axes]) {
                    visit(index);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Tree;

    #[test]
    fn every_box_that_covers_a_point_is_visited_once() {
        let sides: Vec<(u32, u32)> =
            (0..200u32).flat_map(|at| [(at % 13, at % 13 + at % 5), (at % 7, at % 7 + at % 3)]).collect();
        let tree = Tree::new(2, sides.clone());
        for x in 0..18 {
            for y in 0..10 {
                let mut found = Vec::new();
                tree.visit(&[x, y], |index| found.push(index));
                found.sort_unstable();
                let covers = |index: &u32| {
                    let own = &sides[*index as usize * 2..][..2];
                    own[0].0 <= x && x <= own[0].1 && own[1].0 <= y && y <= own[1].1
                };
                assert_eq!(found, (0..200).filter(covers).collect::<Vec<_>>());
            }
        }
    }
}

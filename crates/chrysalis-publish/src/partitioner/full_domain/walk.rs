//! The order in which nodes are looked at.

use std::cell::Cell;

use super::lattice::{Lattice, Node};

/// Walks over all nodes in descending order and passes over whole boxes of them that cannot be better.
pub(super) struct Walk<'a> {
    lattice: &'a Lattice,
    /// The cost of every level of every attribute.
    base: &'a [Vec<f64>],
    /// Nodes that cost at least this much are no better.
    best: f64,
    /// Whether a node that no box rules out may be better, given the cost of its levels.
    is_open: &'a dyn Fn(Node, f64) -> bool,
    stop: &'a dyn Fn() -> bool,
    n_visits: Cell<u32>,
    is_over: Cell<bool>,
}

/// A box: all nodes that have the levels of `prefix` before `axis`.
#[derive(Clone, Copy)]
struct Place {
    axis: usize,
    prefix: Node,
    cost: f64,
    /// If this is given, the prefix is its own, and only nodes after it count.
    from: Option<Node>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        lattice: &'a Lattice,
        (base, best): (&'a [Vec<f64>], f64),
        is_open: &'a dyn Fn(Node, f64) -> bool,
        stop: &'a dyn Fn() -> bool,
    ) -> Self {
        Walk { lattice, base, best, is_open, stop, n_visits: Cell::new(0), is_over: Cell::new(false) }
    }

    /// The next open node after `from`; `None` if there is none, or if the walk was stopped.
    ///
    /// Neither nodes below one of `ruled_out` nor nodes above one of `floors` are open.
    pub(super) fn next(&self, from: Option<Node>, ruled_out: &[Node], floors: &[Node]) -> Option<Node> {
        self.visit(Place { axis: 0, prefix: self.lattice.bottom(), cost: 0.0, from }, ruled_out, floors)
    }

    /// Whether the walk was stopped on the way.
    pub(super) fn was_stopped(&self) -> bool {
        self.is_over.get()
    }

    /// Asks from time to time whether to stop: in a large lattice even passing over boxes takes long.
    fn is_over(&self) -> bool {
        self.n_visits.set(self.n_visits.get().wrapping_add(1));
        if self.n_visits.get().is_multiple_of(256) && (self.stop)() {
            self.is_over.set(true);
        }
        self.is_over.get()
    }

    /// `ruled_out` and `floors` are those that still matter here.
    fn visit(&self, place: Place, ruled_out: &[Node], floors: &[Node]) -> Option<Node> {
        let Place { axis, prefix, from, .. } = place;
        let lattice = self.lattice;
        if axis == lattice.n_axes() {
            return (from != Some(prefix) && (self.is_open)(prefix, place.cost)).then_some(prefix);
        }
        let highest = from.map_or(lattice.n_levels(axis) - 1, |from| lattice.level(from, axis));
        let (top, bottom) = (lattice.rest(lattice.top(), axis + 1), lattice.bottom());
        for level in (0..=highest).rev() {
            if self.is_over() {
                return None;
            }
            let cost = place.cost + self.base[axis][level];
            // Lemma 0: whatever the other levels, they do not lower the cost.
            if cost >= self.best {
                continue;
            }
            let of_level = |node: Node| lattice.level(node, axis);
            let below: Vec<Node> = ruled_out.iter().copied().filter(|&known| of_level(known) >= level).collect();
            // Lemma 1: the whole box, and all boxes of lower levels, lie below a node that rules them out.
            if below.iter().any(|&known| lattice.rest(known, axis + 1) == top) {
                return None;
            }
            let above: Vec<Node> = floors.iter().copied().filter(|&known| of_level(known) <= level).collect();
            // Lemma 3: the whole box lies above a node that already costs too much.
            if above.iter().any(|&known| lattice.rest(known, axis + 1) == bottom) {
                continue;
            }
            let from = from.filter(|&from| of_level(from) == level);
            let next = Place { axis: axis + 1, prefix: lattice.with(prefix, axis, level), cost, from };
            if let Some(found) = self.visit(next, &below, &above) {
                return Some(found);
            }
        }
        None
    }
}

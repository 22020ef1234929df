//! Combinations of levels, one per attribute, packed into one word each.

/// A combination of levels. The first attribute stands in the highest bits, so nodes sort like lists of levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Node(u128);

/// All combinations.
#[derive(Clone, Debug)]
pub(super) struct Lattice {
    fields: Vec<Field>,
    /// One free bit above every field, which a comparison may borrow.
    guards: u128,
}

#[derive(Clone, Copy, Debug)]
struct Field {
    shift: u32,
    mask: u128,
    n_levels: usize,
}

impl Lattice {
    /// `None` when the levels of all attributes do not fit one word: such a lattice is too large to be searched anyway.
    pub(super) fn new(n_levels: &[usize]) -> Option<Lattice> {
        let mut lattice = Lattice { fields: Vec::new(), guards: 0 };
        let mut shift = u128::BITS;
        for &n in n_levels {
            let bits = usize::BITS - (n - 1).leading_zeros();
            shift = shift.checked_sub(bits + 1)?;
            lattice.fields.push(Field { shift, mask: (1 << bits) - 1, n_levels: n });
            lattice.guards |= 1 << (shift + bits);
        }
        Some(lattice)
    }

    pub(super) fn n_axes(&self) -> usize {
        self.fields.len()
    }

    pub(super) fn n_levels(&self, axis: usize) -> usize {
        self.fields[axis].n_levels
    }

    /// Number of combinations.
    pub(super) fn size(&self) -> u128 {
        // PROOF: n levels take at least log2(n) bits, and all fields together fit 128 bits.
        self.fields.iter().map(|field| field.n_levels as u128).product()
    }

    /// Every combination.
    #[cfg(test)]
    pub(super) fn all(&self) -> Vec<Node> {
        (0..self.n_axes()).fold(vec![self.bottom()], |nodes, axis| {
            nodes
                .iter()
                .flat_map(|&node| (0..self.n_levels(axis)).map(move |level| self.with(node, axis, level)))
                .collect()
        })
    }

    /// Every attribute exact.
    pub(super) fn bottom(&self) -> Node {
        Node(0)
    }

    /// Every attribute at its top.
    pub(super) fn top(&self) -> Node {
        (0..self.n_axes()).fold(Node(0), |node, axis| self.with(node, axis, self.n_levels(axis) - 1))
    }

    pub(super) fn level(&self, node: Node, axis: usize) -> usize {
        let field = self.fields[axis];
        ((node.0 >> field.shift) & field.mask) as usize
    }

    pub(super) fn with(&self, node: Node, axis: usize, level: usize) -> Node {
        let field = self.fields[axis];
        Node(node.0 & !(field.mask << field.shift) | (level as u128) << field.shift)
    }

    /// Whether no attribute of `low` is higher than in `high`.
    pub(super) fn is_below(&self, low: Node, high: Node) -> bool {
        // A field that borrows from its guard is larger in `low`.
        ((high.0 | self.guards) - low.0) & self.guards == self.guards
    }

    /// The levels of the attributes from `axis` on, and nothing else.
    pub(super) fn rest(&self, node: Node, axis: usize) -> Node {
        let from = if axis == 0 { 0 } else { u128::BITS - self.fields[axis - 1].shift };
        Node(if from >= u128::BITS { 0 } else { node.0 & (u128::MAX >> from) })
    }

    /// How many combinations there are up to and including this one, in descending order.
    pub(super) fn n_down_to(&self, node: Node) -> u128 {
        let before = |n: u128, axis: usize| n * self.n_levels(axis) as u128 + self.level(node, axis) as u128;
        self.size() - (0..self.n_axes()).fold(0, before)
    }

    /// The node with one attribute a level higher, if there is a higher level.
    pub(super) fn raised(&self, node: Node, axis: usize) -> Option<Node> {
        let level = self.level(node, axis) + 1;
        (level < self.n_levels(axis)).then(|| self.with(node, axis, level))
    }

    /// The node with one attribute a level lower, if there is a lower level.
    pub(super) fn lowered(&self, node: Node, axis: usize) -> Option<Node> {
        let level = self.level(node, axis).checked_sub(1)?;
        Some(self.with(node, axis, level))
    }
}

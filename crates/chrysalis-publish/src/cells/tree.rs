//! The tree of cuts itself, and how it is written.

use serde::{Deserialize, Serialize};

use crate::partitioner::Cuts;

/// A tree of cuts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Node>", into = "Vec<Node>")]
pub(super) enum Tree {
    /// A cell, by its number.
    Cell(u32),
    /// Rows whose rank in a quasi column is at least `from` and below `to` go left.
    Cut { column: usize, from: u32, to: u32, left: Box<Tree>, right: Box<Tree> },
}

/// A node as it is written: a cut, or a cell. Every cut stands before what is left of it, and that before what is right, so
/// that nothing is nested, however deep the tree is.
type Node = Option<(usize, u32, u32)>;

impl Tree {
    /// The cuts of some columns of all: `columns` says which.
    pub(super) fn of(cuts: Cuts, columns: &[usize]) -> Tree {
        match cuts {
            Cuts::Leaf => Tree::Cell(0),
            Cuts::Node { axis, from, to, left, right } => Tree::Cut {
                column: columns[axis],
                from,
                to,
                left: Box::new(Tree::of(*left, columns)),
                right: Box::new(Tree::of(*right, columns)),
            },
        }
    }

    /// Numbers the cells from left to right.
    pub(super) fn number(&mut self, path: String, paths: &mut Vec<String>) {
        match self {
            Tree::Cell(cell) => {
                *cell = paths.len() as u32;
                paths.push(path);
            }
            Tree::Cut { left, right, .. } => {
                left.number(format!("{path}0"), paths);
                right.number(format!("{path}1"), paths);
            }
        }
    }

    pub(super) fn n_cells(&self) -> usize {
        match self {
            Tree::Cell(_) => 1,
            Tree::Cut { left, right, .. } => left.n_cells() + right.n_cells(),
        }
    }

    /// The tree with other trees in the place of some of its cells.
    pub(super) fn with(self, instead: &mut dyn FnMut(u32) -> Option<Tree>) -> Tree {
        match self {
            Tree::Cell(cell) => instead(cell).unwrap_or(Tree::Cell(cell)),
            Tree::Cut { column, from, to, left, right } => {
                let left = Box::new(left.with(instead));
                Tree::Cut { column, from, to, left, right: Box::new(right.with(instead)) }
            }
        }
    }
}

impl From<Tree> for Vec<Node> {
    fn from(tree: Tree) -> Self {
        let (mut nodes, mut waiting) = (Vec::new(), vec![tree]);
        while let Some(tree) = waiting.pop() {
            match tree {
                Tree::Cell(_) => nodes.push(None),
                Tree::Cut { column, from, to, left, right } => {
                    nodes.push(Some((column, from, to)));
                    waiting.extend([*right, *left]);
                }
            }
        }
        nodes
    }
}

impl TryFrom<Vec<Node>> for Tree {
    type Error = String;

    fn try_from(nodes: Vec<Node>) -> Result<Self, String> {
        let wrong = || "the cuts of a plan are not a tree".to_owned();
        // From the last node on, both sides of a cut are known when it is met.
        let mut cell = nodes.iter().filter(|node| node.is_none()).count() as u32;
        let mut known: Vec<Tree> = Vec::new();
        for node in nodes.into_iter().rev() {
            let tree = match node {
                None => {
                    cell -= 1;
                    Tree::Cell(cell)
                }
                Some((column, from, to)) => {
                    let (left, right) = (known.pop().ok_or_else(wrong)?, known.pop().ok_or_else(wrong)?);
                    Tree::Cut { column, from, to, left: Box::new(left), right: Box::new(right) }
                }
            };
            known.push(tree);
        }
        let tree = known.pop().ok_or_else(wrong)?;
        if known.is_empty() { Ok(tree) } else { Err(wrong()) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    /// Two levels of JSON for every cut would be more than `serde_json` reads from 64 cuts on.
    #[test]
    fn a_deep_tree_is_read_as_it_was_written() {
        let mut tree = Tree::Cell(0);
        for at in 0..500 {
            let (one, other) = (Box::new(tree), Box::new(Tree::Cell(0)));
            let (left, right) = if at % 3 == 0 { (one, other) } else { (other, one) };
            tree = Tree::Cut { column: at, from: 0, to: 7, left, right };
        }
        tree.number(String::new(), &mut Vec::new());
        let text = serde_json::to_string(&tree).unwrap();
        assert_eq!(serde_json::from_str::<Tree>(&text).unwrap(), tree);
        for broken in ["[]", "[[0,1,2],null]", "[null,null]", "[[0,1,2]]"] {
            assert!(serde_json::from_str::<Tree>(broken).is_err(), "{broken}");
        }
    }
}

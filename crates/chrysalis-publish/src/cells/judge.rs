//! Step 4: whether a cut stands.

use chrysalis_criteria::{All, Principle, Requirement};
use chrysalis_table::SaCounts;

use super::counts::{CellCounts, counted};
use super::tree::Tree;
use super::{Sides, Tried, Whole};
use crate::{Microdata, PublishError};

/// No side of a cut has a smaller share of the rows: a tree of slivers would be deep, and its cells of very different
/// sizes.
pub(super) const LEAST_SHARE: f64 = 0.125;
/// What the least share of a side is above what is safe, because a sample and the parts of a table differ from the whole.
const MARGIN: f64 = 1.1;

impl Sides<'_> {
    /// The share of some rows that either side of a cut should have, so that few cuts must be undone: `least`, or where the
    /// choice of cuts must say nothing, the share that is safe for the sensitive values of these rows together.
    pub(super) fn least_share(
        &self,
        whole: &Whole,
        rows: u64,
        counts: &[SaCounts],
        least: f64,
    ) -> Result<f64, PublishError> {
        if !self.transparent {
            return Ok(least);
        }
        let goals = goals(&Microdata::outline(self.attributes, whole)?, self.require)?;
        let without = [counted(&[rows])];
        let counts = if counts.is_empty() { &without[..] } else { counts };
        let size = |(goal, counts): (&All, &SaCounts)| goal.safe_size(counts).unwrap_or(u64::MAX);
        let safe = goals.iter().zip(counts).map(size).max().unwrap_or(1);
        Ok((MARGIN * safe as f64 / rows.max(1) as f64).max(least))
    }
}

/// What is required of every sensitive column, bound to the whole table; without one, of the number of rows.
pub(super) fn goals(outline: &Microdata, require: &[Requirement]) -> Result<Vec<All>, PublishError> {
    let whole = outline.goal(require)?;
    let columns = outline.sensitive_columns();
    let goals: Vec<All> = columns.map(|column| outline.goal_of(column, require)).collect::<Result<_, _>>()?;
    Ok(if goals.is_empty() { vec![whole] } else { goals })
}

/// Whether a cut stands.
pub(super) struct Judge<'a> {
    pub(super) counts: &'a CellCounts,
    /// By sensitive column, bound to the whole table; without one, one goal on the number of rows.
    pub(super) goals: &'a [All],
    pub(super) transparent: bool,
    /// What was tried at every cell.
    pub(super) tried: &'a [Tried],
}

/// What is left of a tree.
#[derive(Default)]
pub(super) struct Kept {
    /// By cell so far, its number from now on.
    pub(super) became: Vec<u32>,
    /// What was tried at every cell that is left.
    pub(super) tried: Vec<Tried>,
}

impl Judge<'_> {
    /// The tree without the cuts that do not stand.
    pub(super) fn kept(&self, tree: &Tree, kept: &mut Kept) -> Tree {
        let start = kept.became.len();
        let fresh = kept.tried.len() as u32;
        match tree {
            Tree::Cell(_) => {
                kept.became.push(fresh);
                kept.tried.push(self.tried[start].clone());
                Tree::Cell(0)
            }
            Tree::Cut { column, from, to, left, right } => {
                let (border, end) = (start + left.n_cells(), start + tree.n_cells());
                if self.stands(start..border, border..end) {
                    let left = Box::new(self.kept(left, kept));
                    return Tree::Cut {
                        column: *column,
                        from: *from,
                        to: *to,
                        left,
                        right: Box::new(self.kept(right, kept)),
                    };
                }
                // Cuts that stood once stand again, so all that is below was drawn at once, and nothing was tried there.
                let mut tried = self.tried[start].clone();
                tried.columns.push(*column);
                kept.became.extend(std::iter::repeat_n(fresh, end - start));
                kept.tried.push(tried);
                Tree::Cell(0)
            }
        }
    }

    fn stands(&self, left: std::ops::Range<usize>, right: std::ops::Range<usize>) -> bool {
        let sides = [self.counts.together(left.clone()), self.counts.together(right.clone())];
        if !self.transparent {
            return sides.iter().all(|(rows, columns)| self.holds(*rows, columns));
        }
        // LEAK: the sensitive values of a side must not decide, only those of both sides together.
        let (_, node) = self.counts.together(left.start..right.end);
        let fewest = sides.iter().map(|(rows, _)| *rows).min().unwrap_or(0);
        let total = sides.iter().map(|(rows, _)| *rows).sum();
        let node = if node.is_empty() { vec![counted(&[total])] } else { node };
        let is_safe = |(goal, counts): (&All, &SaCounts)| goal.safe_size(counts).is_some_and(|size| size <= fewest);
        self.goals.iter().zip(&node).all(is_safe)
    }

    fn holds(&self, rows: u64, columns: &[SaCounts]) -> bool {
        if columns.is_empty() {
            return self.goals.iter().all(|goal| goal.holds(&counted(&[rows])));
        }
        self.goals.iter().zip(columns).all(|(goal, counts)| goal.holds(counts))
    }
}

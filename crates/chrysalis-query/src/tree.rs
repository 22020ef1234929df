//! Two-valued conditions on value sets (steps 2 and 3 of `spec.md`).

use crate::question::{Condition, Test};
use crate::value_set::ValueSet;
use crate::{Field, QueryError};

/// A condition without negations, which is either true or false for a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// The attribute's value is in the set.
    In {
        /// The attribute, as an index into [`Plan::fields`](crate::Plan::fields).
        field: usize,
        /// The values.
        set: ValueSet,
    },
    /// All of them hold; an empty list always holds.
    All(Vec<Tree>),
    /// At least one of them holds; an empty list never holds.
    Any(Vec<Tree>),
}

impl Tree {
    /// Steps 2 and 3: negations move to the tests, where they select the values for which the test is FALSE, and every
    /// subtree that touches one attribute becomes one value set.
    pub(crate) fn of(
        condition: &Condition,
        is_negated: bool,
        fields: &[Field],
        find: &dyn Fn(&Test) -> Result<usize, QueryError>,
    ) -> Result<Tree, QueryError> {
        let all = |parts: &[Condition]| -> Result<Vec<Tree>, QueryError> {
            parts.iter().map(|part| Tree::of(part, is_negated, fields, find)).collect()
        };
        Ok(match condition {
            Condition::Test(test) => {
                let field = find(test)?;
                let outcome = fields[field].decide(test)?;
                Tree::In { field, set: if is_negated { outcome.no } else { outcome.yes } }
            }
            Condition::Not(inner) => Tree::of(inner, !is_negated, fields, find)?,
            // De Morgan's laws hold in three-valued logic as well.
            Condition::All(parts) if !is_negated => Tree::all(all(parts)?),
            Condition::Any(parts) if is_negated => Tree::all(all(parts)?),
            Condition::All(parts) | Condition::Any(parts) => Tree::any(all(parts)?),
        })
    }

    /// All of these, with tests of the same attribute merged.
    pub fn all(parts: Vec<Tree>) -> Tree {
        let flat = parts.into_iter().flat_map(|part| if let Tree::All(inner) = part { inner } else { vec![part] });
        let mut merged = merge(flat, ValueSet::intersection);
        if merged.len() == 1 { merged.remove(0) } else { Tree::All(merged) }
    }

    /// Any of these, with tests of the same attribute merged.
    pub fn any(parts: Vec<Tree>) -> Tree {
        let flat = parts.into_iter().flat_map(|part| if let Tree::Any(inner) = part { inner } else { vec![part] });
        let mut merged = merge(flat, ValueSet::union);
        if merged.len() == 1 { merged.remove(0) } else { Tree::Any(merged) }
    }

    /// The condition that holds exactly where this one does not.
    pub fn complement(&self) -> Tree {
        match self {
            Tree::In { field, set } => Tree::In { field: *field, set: set.complement() },
            Tree::All(parts) => Tree::any(parts.iter().map(Tree::complement).collect()),
            Tree::Any(parts) => Tree::all(parts.iter().map(Tree::complement).collect()),
        }
    }

    /// The attributes it touches, in ascending order.
    pub fn fields(&self) -> Vec<usize> {
        let mut fields = match self {
            Tree::In { field, .. } => vec![*field],
            Tree::All(parts) | Tree::Any(parts) => parts.iter().flat_map(Tree::fields).collect(),
        };
        fields.sort_unstable();
        fields.dedup();
        fields
    }
}

/// Merges tests of the same attribute, in the order in which attributes first appear.
fn merge(parts: impl Iterator<Item = Tree>, join: fn(&ValueSet, &ValueSet) -> ValueSet) -> Vec<Tree> {
    let mut merged: Vec<Tree> = Vec::new();
    for part in parts {
        if let Tree::In { field, set } = &part {
            let known = merged.iter_mut().find_map(|known| match known {
                Tree::In { field: other, set } if other == field => Some(set),
                _ => None,
            });
            if let Some(known) = known {
                *known = join(known, set);
                continue;
            }
        }
        merged.push(part);
    }
    merged
}

//! Unions of disjoint boxes (step 5 of `spec.md`).

use std::collections::BTreeMap;

use crate::value_set::ValueSet;
use crate::{Field, QueryError, Tree};

/// The most boxes a condition may need; a question that needs more is better asked in parts.
pub const MAX_BOXES: usize = 64;

/// One value set per attribute that matters; all other attributes may have any value. No set is empty, and none
/// contains every value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// Sets by the attribute's index in [`Plan::fields`](crate::Plan::fields).
    pub sets: BTreeMap<usize, ValueSet>,
}

impl Cell {
    /// The values in both boxes, if there are any.
    pub fn intersection(&self, other: &Cell, fields: &[Field]) -> Option<Cell> {
        let mut sets = self.sets.clone();
        for (&field, set) in &other.sets {
            let both = sets.get(&field).map_or_else(|| set.clone(), |known| known.intersection(set));
            sets.insert(field, both);
        }
        Cell { sets }.normal(fields)
    }

    /// The part of this box outside the other, as disjoint boxes: for each attribute of the other box in turn, the part
    /// that is inside it in the attributes before and outside it in this one.
    fn without(&self, other: &Cell, fields: &[Field]) -> Vec<Cell> {
        if self.intersection(other, fields).is_none() {
            return vec![self.clone()];
        }
        let (mut inside, mut pieces) = (self.clone(), Vec::new());
        for (&field, set) in &other.sets {
            let outside = Cell { sets: BTreeMap::from([(field, set.complement())]) };
            pieces.extend(inside.intersection(&outside, fields));
            match inside.intersection(&Cell { sets: BTreeMap::from([(field, set.clone())]) }, fields) {
                Some(next) => inside = next,
                None => break,
            }
        }
        pieces
    }

    /// Drops the sets that contain every value; `None` if some set is empty.
    fn normal(mut self, fields: &[Field]) -> Option<Cell> {
        // For an attribute without missing values, a set that lacks only the missing value contains everything, and a
        // set of only the missing value is empty.
        for (&field, set) in &mut self.sets {
            if !fields[field].has_missing {
                set.missing = false;
            }
        }
        if self.sets.values().any(ValueSet::is_empty) {
            return None;
        }
        self.sets.retain(|&field, set| !fields[field].is_full(set));
        Some(self)
    }
}

/// The disjoint boxes in which a condition holds; none when it never does.
pub fn boxes(tree: &Tree, fields: &[Field]) -> Result<Vec<Cell>, QueryError> {
    match tree {
        Tree::In { field, set } => {
            let cell = Cell { sets: BTreeMap::from([(*field, set.clone())]) };
            Ok(cell.normal(fields).into_iter().collect())
        }
        Tree::All(parts) => {
            let mut all = vec![Cell::default()];
            for part in parts {
                let part = boxes(part, fields)?;
                let pairs = all.iter().flat_map(|a| part.iter().filter_map(move |b| a.intersection(b, fields)));
                all = few(pairs)?;
            }
            Ok(all)
        }
        Tree::Any(parts) => {
            let mut any: Vec<Cell> = Vec::new();
            for part in parts {
                let mut rest = boxes(part, fields)?;
                for known in &any {
                    rest = few(rest.iter().flat_map(|cell| cell.without(known, fields)))?;
                }
                any = few(any.into_iter().chain(rest))?;
            }
            Ok(any)
        }
    }
}

fn few(cells: impl Iterator<Item = Cell>) -> Result<Vec<Cell>, QueryError> {
    let cells: Vec<Cell> = cells.take(MAX_BOXES + 1).collect();
    if cells.len() <= MAX_BOXES {
        return Ok(cells);
    }
    let problem = format!(
        "the condition falls into more than {MAX_BOXES} boxes, more than this form can count \
                           separately"
    );
    Err(QueryError::unanswerable(None, problem, "use fewer ORs over different columns, or ask in parts"))
}

//! Conditions as disjoint pieces, each a condition on the quasi side and sets of sensitive values (step 4a of `spec.md`).

use std::collections::BTreeMap;

use chrysalis_release::RoleName;

use crate::term::{Scalar, Term, truth};
use crate::value_set::ValueSet;
use crate::{Field, QueryError, Tree};

/// The most pieces of a condition.
const MAX_PIECES: usize = 64;

/// A condition on the quasi side, and the values that it admits of sensitive attributes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Piece {
    pub(crate) quasi: Option<Tree>,
    pub(crate) sets: BTreeMap<usize, ValueSet>,
}

/// Steps 2 and 3 for a term: where it is TRUE, or with `is_negated` where it is FALSE.
pub(crate) fn tree(term: &Term, is_negated: bool, fields: &[Field]) -> Result<Tree, QueryError> {
    let all = |parts: &[Term], is_negated: bool| {
        parts.iter().map(|part| tree(part, is_negated, fields)).collect::<Result<Vec<_>, _>>()
    };
    Ok(match term {
        Term::Constant(Scalar::Boolean(truth)) if *truth != is_negated => Tree::All(Vec::new()),
        Term::Constant(_) => Tree::Any(Vec::new()),
        Term::Not(inner) => tree(inner, !is_negated, fields)?,
        Term::And(parts) if !is_negated => Tree::all(all(parts, false)?),
        Term::Or(parts) if is_negated => Tree::all(all(parts, true)?),
        Term::And(parts) | Term::Or(parts) => Tree::any(all(parts, is_negated)?),
        Term::Case(branches, otherwise) => {
            let (mut any, mut before) = (Vec::new(), Vec::new());
            for (when, then) in branches {
                let when = tree(when, false, fields)?;
                let mut parts: Vec<Tree> = before.clone();
                parts.extend([when.clone(), tree(then, is_negated, fields)?]);
                any.push(Tree::all(parts));
                before.push(when.complement());
            }
            if let Some(otherwise) = otherwise {
                before.push(tree(otherwise, is_negated, fields)?);
                any.push(Tree::all(before));
            }
            Tree::any(any)
        }
        leaf => match leaf.fields().as_slice() {
            [] => {
                let is_true = leaf.eval(&|_| None, fields) == Scalar::Boolean(!is_negated);
                if is_true { Tree::All(Vec::new()) } else { Tree::Any(Vec::new()) }
            }
            [field] => {
                let (yes, no) = truth(leaf, *field, fields)?;
                Tree::In { field: *field, set: if is_negated { no } else { yes } }
            }
            several => {
                let names: Vec<&str> = several.iter().map(|&field| fields[field].name.as_str()).collect();
                let problem = format!("one comparison is about several columns, {}", names.join(" and "));
                let hint = "compare each column with constants, and join the comparisons with AND and OR";
                return Err(QueryError::unanswerable(None, problem, hint));
            }
        },
    })
}

/// The disjoint pieces of a condition. For every way in which the tests of sensitive attributes can come out, what is left
/// of the condition is about quasi attributes alone; ways that leave the same are joined.
pub(crate) fn pieces(tree: &Tree, fields: &[Field]) -> Result<Vec<Piece>, QueryError> {
    let sensitive: Vec<usize> =
        tree.fields().into_iter().filter(|&field| fields[field].role == RoleName::Sensitive).collect();
    let mut found = vec![Piece { quasi: Some(tree.clone()), sets: BTreeMap::new() }];
    for field in sensitive {
        let mut next: Vec<Piece> = Vec::new();
        for piece in found {
            let Some(tree) = &piece.quasi else { continue };
            for (rest, set) in split(tree, field, fields)? {
                let mut sets = piece.sets.clone();
                if !fields[field].is_full(&set) {
                    sets.insert(field, set);
                }
                next.push(Piece { quasi: Some(rest), sets });
            }
            if next.len() > MAX_PIECES {
                let problem = format!("the condition falls into more than {MAX_PIECES} parts");
                return Err(QueryError::unanswerable(None, problem, "use fewer ORs, or ask in parts"));
            }
        }
        found = next;
    }
    let plain = |mut piece: Piece| {
        piece.quasi = piece.quasi.filter(|tree| *tree != Tree::All(Vec::new()));
        piece
    };
    let never = || Tree::Any(Vec::new());
    let found: Vec<Piece> = found.into_iter().filter(|piece| piece.quasi != Some(never())).map(plain).collect();
    // A condition that never holds is a piece all the same: its answer is that nothing matches.
    let nothing = || vec![Piece { quasi: Some(never()), sets: BTreeMap::new() }];
    Ok(if found.is_empty() { nothing() } else { found })
}

/// What is left of a condition for the values of one attribute, with the values that leave the same.
fn split(tree: &Tree, field: usize, fields: &[Field]) -> Result<Vec<(Tree, ValueSet)>, QueryError> {
    let mut sets = Vec::new();
    tests_of(tree, field, &mut sets);
    let mut parts: Vec<ValueSet> = vec![fields[field].everything(fields[field].has_missing)];
    for set in sets {
        let halves = |part: &ValueSet| [part.intersection(set), part.intersection(&set.complement())];
        parts = parts.iter().flat_map(halves).filter(|part| !part.is_empty()).collect();
        if parts.len() > 1024 {
            let problem = format!("the condition tests `{}` in too many ways", fields[field].name);
            return Err(QueryError::unanswerable(None, problem, "use fewer ORs, or ask in parts"));
        }
    }
    let mut left: Vec<(Tree, ValueSet)> = Vec::new();
    for part in parts {
        let rest = given(tree, field, &part);
        match left.iter_mut().find(|(known, _)| *known == rest) {
            Some((_, set)) => *set = set.union(&part),
            None => left.push((rest, part)),
        }
    }
    Ok(left)
}

fn tests_of<'t>(tree: &'t Tree, at: usize, into: &mut Vec<&'t ValueSet>) {
    match tree {
        Tree::In { field, set } if *field == at => {
            if !into.contains(&set) {
                into.push(set);
            }
        }
        Tree::In { .. } => {}
        Tree::All(parts) | Tree::Any(parts) => parts.iter().for_each(|part| tests_of(part, at, into)),
    }
}

/// The condition for persons whose value lies in `part`, which every test of the attribute contains or misses as a whole.
fn given(tree: &Tree, at: usize, part: &ValueSet) -> Tree {
    match tree {
        Tree::In { field, set } if *field == at => {
            if part.intersection(set).is_empty() {
                Tree::Any(Vec::new())
            } else {
                Tree::All(Vec::new())
            }
        }
        Tree::In { .. } => tree.clone(),
        Tree::All(parts) => {
            let parts: Vec<Tree> = parts.iter().map(|part_tree| given(part_tree, at, part)).collect();
            if parts.contains(&Tree::Any(Vec::new())) { Tree::Any(Vec::new()) } else { Tree::all(parts) }
        }
        Tree::Any(parts) => {
            let parts: Vec<Tree> = parts.iter().map(|part_tree| given(part_tree, at, part)).collect();
            if parts.contains(&Tree::All(Vec::new())) { Tree::All(Vec::new()) } else { Tree::any(parts) }
        }
    }
}

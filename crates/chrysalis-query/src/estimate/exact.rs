//! Exact quasi values: every row can be tested, so the hits are known.

use std::ops::Range;
use std::sync::Arc;

use chrysalis_release::view::CodedColumn;
use chrysalis_table::Codes;
use rayon::prelude::*;

use super::keys::{Key, Radix};
use super::{Hit, HitsByKey, KeyValues};
use crate::code_test::CodeTest;
use crate::{OpenRelease, Plan, QuasiCondition, QueryError, Tree};

pub(super) fn hits(
    release: &OpenRelease,
    plan: &Plan,
    condition: &QuasiCondition,
    keys: &[usize],
) -> Result<HitsByKey, QueryError> {
    let rows = condition.tree.as_ref().map(|tree| Rows::new(release, plan, tree)).transpose()?;
    let pieces = release.groups().pieces().par_iter();
    if keys.is_empty() {
        return Ok(HitsByKey::ungrouped(pieces.map(|piece| counted(release, rows.as_ref(), piece)).collect()));
    }
    let columns: Vec<&CodedColumn> = keys.iter().map(|&key| release.column(plan, key)).collect::<Result<_, _>>()?;
    let values: Vec<KeyValues> = columns.iter().map(|column| KeyValues::Coded(Arc::clone(&column.domain))).collect();
    let radix = Radix::new(&values)?;
    // No check of the number of pairs (combination, group) is needed: there are no more of them than rows.
    let found: Vec<Vec<(Key, Hit)>> =
        pieces.map(|piece| counted_by_key(release, rows.as_ref(), &columns, &radix, piece)).collect();
    Ok(HitsByKey::grouped(values, &radix, found))
}

/// A condition on rows, with every test decided per code.
pub(super) enum Rows<'a> {
    In(&'a Codes, CodeTest),
    All(Vec<Rows<'a>>),
    Any(Vec<Rows<'a>>),
}

impl<'a> Rows<'a> {
    pub(super) fn new(release: &'a OpenRelease, plan: &Plan, tree: &Tree) -> Result<Self, QueryError> {
        let parts =
            |parts: &[Tree]| parts.iter().map(|part| Rows::new(release, plan, part)).collect::<Result<Vec<_>, _>>();
        Ok(match tree {
            Tree::In { field, set } => {
                let column = release.column(plan, *field)?;
                Rows::In(&column.codes, CodeTest::of(column, set))
            }
            Tree::All(all) => Rows::All(parts(all)?),
            Tree::Any(any) => Rows::Any(parts(any)?),
        })
    }

    /// Writes 1 for every row that matches, and 0 for the others.
    fn mark(&self, rows: Range<usize>, marks: &mut [u8]) {
        match self {
            Rows::In(codes, test) => test.mark(codes, rows, marks),
            Rows::All(parts) => joined(parts, rows, marks, 1, |mark, other| *mark &= other),
            Rows::Any(parts) => joined(parts, rows, marks, 0, |mark, other| *mark |= other),
        }
    }
}

/// The marks of several conditions joined into one; `unit` is the mark if there are no conditions.
fn joined(parts: &[Rows<'_>], rows: Range<usize>, marks: &mut [u8], unit: u8, join: impl Fn(&mut u8, u8)) {
    let Some((first, rest)) = parts.split_first() else { return marks.fill(unit) };
    first.mark(rows.clone(), marks);
    let mut others = vec![0; if rest.is_empty() { 0 } else { marks.len() }];
    for part in rest {
        part.mark(rows.clone(), &mut others);
        marks.iter_mut().zip(&others).for_each(|(mark, other)| join(mark, *other));
    }
}

/// The marks of a range of groups, and the row at which they begin.
pub(super) fn marks(release: &OpenRelease, rows: Option<&Rows<'_>>, piece: &Range<usize>) -> (Vec<u8>, usize) {
    let all = release.groups().rows(piece.start).start..release.groups().rows(piece.end - 1).end;
    let mut marks = vec![1; all.len()];
    if let Some(rows) = rows {
        rows.mark(all.clone(), &mut marks);
    }
    (marks, all.start)
}

fn counted(release: &OpenRelease, rows: Option<&Rows<'_>>, piece: &Range<usize>) -> Vec<Hit> {
    let (marks, first) = marks(release, rows, piece);
    let mut hits = Vec::with_capacity(piece.len());
    for group in piece.clone() {
        let rows = release.groups().rows(group);
        let n: u32 = marks[rows.start - first..rows.end - first].iter().map(|&mark| u32::from(mark)).sum();
        if n > 0 {
            hits.push(Hit::certain(group, n, rows.len() as u32));
        }
    }
    hits
}

fn counted_by_key(
    release: &OpenRelease,
    rows: Option<&Rows<'_>>,
    columns: &[&CodedColumn],
    radix: &Radix,
    piece: &Range<usize>,
) -> Vec<(Key, Hit)> {
    let (marks, first) = marks(release, rows, piece);
    let (mut hits, mut keys) = (Vec::new(), Vec::new());
    for group in piece.clone() {
        keys.clear();
        let size = release.groups().size(group);
        let matching = release.groups().rows(group).filter(|row| marks[row - first] == 1);
        keys.extend(matching.map(|row| radix.key(columns.iter().map(|column| column.codes.get(row)))));
        keys.sort_unstable();
        hits.extend(keys.chunk_by(|a, b| a == b).map(|run| (run[0], Hit::certain(group, run.len() as u32, size))));
    }
    hits
}

//! Rows that may match, one by one: what sums of weights need (step 6 of `spec.md`).
//!
//! Counts need only how many rows of a group match. Weights differ from row to row, so here it matters which rows match,
//! and how likely each of them is to.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use chrysalis_release::Detail;
use chrysalis_release::view::CodedColumn;
use rayon::prelude::*;

use super::KeyValues;
use super::exact::{Rows, marks};
use super::group_boxes::{BoxCoverage, KeyField, Split, each_key};
use super::keys::{Key, Radix, check_pairs};
use crate::{OpenRelease, Plan, QuasiCondition, QueryError};

/// The rows of one group that may match, each independently of the others.
#[derive(Clone, Debug)]
pub(crate) struct RowHits {
    pub(crate) group: u32,
    pub(crate) rows: MatchingRows,
}

/// Which rows may match.
#[derive(Clone, Debug)]
pub(crate) enum MatchingRows {
    /// All rows of the group, all in the same way.
    All(Split),
    /// These rows.
    Each(Vec<(u32, Split)>),
}

/// The digits of a combination of key values, and its rows, group by group.
pub(crate) type RowsByKey = BTreeMap<Vec<u32>, Vec<RowHits>>;

/// The rows that may satisfy the WHERE clause, for every combination of values of the quasi attributes in GROUP BY.
/// Digits are those of [`super::hits`].
pub(crate) fn matching_rows(release: &OpenRelease, plan: &Plan, keys: &[usize]) -> Result<RowsByKey, QueryError> {
    let condition = &plan.conditions[0];
    match plan.shape.detail {
        Detail::Exact => exact(release, plan, condition, keys),
        Detail::GroupBoxes | Detail::RowBoxes => boxes(release, plan, condition, keys),
        // PROOF: a form that permutes every column keeps no weight.
        Detail::Permuted => Ok(RowsByKey::new()),
    }
}

fn exact(
    release: &OpenRelease,
    plan: &Plan,
    condition: &QuasiCondition,
    keys: &[usize],
) -> Result<RowsByKey, QueryError> {
    let rows = condition.tree.as_ref().map(|tree| Rows::new(release, plan, tree)).transpose()?;
    let columns: Vec<&CodedColumn> = keys.iter().map(|&key| release.column(plan, key)).collect::<Result<_, _>>()?;
    let values: Vec<KeyValues> = columns.iter().map(|column| KeyValues::Coded(Arc::clone(&column.domain))).collect();
    let radix = Radix::new(&values)?;
    let piece = |piece: &Range<usize>| {
        let (marks, first) = marks(release, rows.as_ref(), piece);
        let mut found = Vec::new();
        for group in piece.clone() {
            let matching = release.groups().rows(group).filter(|row| marks[row - first] == 1);
            let key = |row: usize| radix.key(columns.iter().map(|column| column.codes.get(row)));
            let keyed = matching.map(|row| (key(row), (row as u32, Split::CERTAIN)));
            by_key(group, keyed.collect(), &mut found);
        }
        found
    };
    let found: Vec<Vec<(Key, RowHits)>> = release.groups().pieces().par_iter().map(piece).collect();
    Ok(merged(found, &radix))
}

fn boxes(
    release: &OpenRelease,
    plan: &Plan,
    condition: &QuasiCondition,
    keys: &[usize],
) -> Result<RowsByKey, QueryError> {
    let inside = BoxCoverage::new(release, plan, &condition.boxes, keys)?;
    let outside = BoxCoverage::new(release, plan, &condition.complement, &[])?;
    let keyed: Vec<KeyField<'_>> =
        keys.iter().map(|&key| KeyField::new(release, plan, key, &condition.boxes)).collect::<Result<_, _>>()?;
    let values: Vec<KeyValues> = keyed.iter().map(|key| KeyValues::Listed(key.values.clone())).collect();
    let radix = Radix::new(&values)?;
    // Without keys there is one combination, with no digits.
    let splits = |place: usize, n_known: usize, found: &mut dyn FnMut(Key, Split)| {
        each_key(place, n_known, &inside, &outside, &keyed, |digits, split| {
            if split.touches {
                found(radix.key(digits.iter().copied()), split);
            }
        })
    };
    let piece = |piece: &Range<usize>| {
        let mut found: Vec<(Key, RowHits)> = Vec::new();
        for group in piece.clone() {
            if plan.shape.detail == Detail::GroupBoxes {
                let n_known = found.len();
                splits(group, n_known, &mut |key, split| {
                    found.push((key, RowHits { group: group as u32, rows: MatchingRows::All(split) }));
                })?;
                continue;
            }
            let mut rows = Vec::new();
            for row in release.groups().rows(group) {
                let n_known = rows.len() + found.len();
                splits(row, n_known, &mut |key, split| rows.push((key, (row as u32, split))))?;
            }
            by_key(group, rows, &mut found);
        }
        Ok::<_, QueryError>(found)
    };
    let found: Vec<Vec<(Key, RowHits)>> = release.groups().pieces().par_iter().map(piece).collect::<Result<_, _>>()?;
    check_pairs(found.iter().map(Vec::len).sum())?;
    Ok(merged(found, &radix))
}

/// Splits the rows of a group by their keys.
fn by_key(group: usize, mut rows: Vec<(Key, (u32, Split))>, found: &mut Vec<(Key, RowHits)>) {
    // A stable sort, so that sums are taken in the order of the rows.
    rows.sort_by_key(|(key, _)| *key);
    found.extend(rows.chunk_by(|a, b| a.0 == b.0).map(|run| {
        let rows = MatchingRows::Each(run.iter().map(|(_, row)| *row).collect());
        (run[0].0, RowHits { group: group as u32, rows })
    }));
}

fn merged(found: Vec<Vec<(Key, RowHits)>>, radix: &Radix) -> RowsByKey {
    let mut by_key: BTreeMap<Key, Vec<RowHits>> = BTreeMap::new();
    for (key, hits) in found.into_iter().flatten() {
        by_key.entry(key).or_default().push(hits);
    }
    by_key.into_iter().map(|(key, hits)| (radix.digits(key), hits)).collect()
}

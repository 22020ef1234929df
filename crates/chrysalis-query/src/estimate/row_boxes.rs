//! Ranges and labels per row: every row of a batch lies somewhere in the box of its bucket.

use std::ops::Range;

use rayon::prelude::*;

use super::group_boxes::{BoxCoverage, KeyField, Split, each_key};
use super::keys::{Key, Radix, check_pairs};
use super::{Hit, HitsByKey, KeyValues};
use crate::{OpenRelease, Plan, QuasiCondition, QueryError};

pub(super) fn hits(
    release: &OpenRelease,
    plan: &Plan,
    condition: &QuasiCondition,
    keys: &[usize],
) -> Result<HitsByKey, QueryError> {
    let inside = BoxCoverage::new(release, plan, &condition.boxes, keys)?;
    let outside = BoxCoverage::new(release, plan, &condition.complement, &[])?;
    let pieces = release.groups().pieces().par_iter();
    if keys.is_empty() {
        let batch = |batch: usize| {
            let mut sum = Sum::default();
            for row in release.groups().rows(batch) {
                sum.add(Split::of(inside.share(row, &[]), outside.share(row, &[])));
            }
            sum.hit(release, batch)
        };
        let piece = |piece: &Range<usize>| piece.clone().filter_map(batch).collect();
        return Ok(HitsByKey::ungrouped(pieces.map(piece).collect()));
    }
    let keyed: Vec<KeyField<'_>> =
        keys.iter().map(|&key| KeyField::new(release, plan, key, &condition.boxes)).collect::<Result<_, _>>()?;
    let values: Vec<KeyValues> = keyed.iter().map(|key| KeyValues::Listed(key.values.clone())).collect();
    let radix = Radix::new(&values)?;
    let by_key = |piece: &Range<usize>| {
        let mut hits = Vec::new();
        for batch in piece.clone() {
            of_batch(release, batch, (&inside, &outside), &keyed, &radix, &mut hits)?;
        }
        Ok::<_, QueryError>(hits)
    };
    let found: Vec<Vec<(Key, Hit)>> = pieces.map(by_key).collect::<Result<_, _>>()?;
    check_pairs(found.iter().map(Vec::len).sum())?;
    Ok(HitsByKey::grouped(values, &radix, found))
}

/// The hits of one batch, separately for every combination of key values that some row of it may have.
fn of_batch(
    release: &OpenRelease,
    batch: usize,
    (inside, outside): (&BoxCoverage<'_>, &BoxCoverage<'_>),
    keyed: &[KeyField<'_>],
    radix: &Radix,
    hits: &mut Vec<(Key, Hit)>,
) -> Result<(), QueryError> {
    let mut rows: Vec<(Key, Split)> = Vec::new();
    for row in release.groups().rows(batch) {
        each_key(row, rows.len().saturating_add(hits.len()), inside, outside, keyed, |digits, split| {
            if split.touches {
                rows.push((radix.key(digits.iter().copied()), split));
            }
        })?;
    }
    // A stable sort, so that sums are taken in the order of the rows.
    rows.sort_by_key(|(key, _)| *key);
    for run in rows.chunk_by(|a, b| a.0 == b.0) {
        let mut sum = Sum::default();
        run.iter().for_each(|(_, split)| sum.add(*split));
        hits.extend(sum.hit(release, batch).map(|hit| (run[0].0, hit)));
    }
    Ok(())
}

/// Step 6, angel: rows are independent of each other.
#[derive(Default)]
struct Sum {
    least: u32,
    most: u32,
    expected: f64,
    others: f64,
    variance: f64,
}

impl Sum {
    fn add(&mut self, row: Split) {
        if !row.touches {
            return;
        }
        self.most += 1;
        self.least += u32::from(row.is_certain);
        self.expected += row.inside;
        self.others += row.outside;
        self.variance += row.inside * row.outside;
    }

    fn hit(self, release: &OpenRelease, batch: usize) -> Option<Hit> {
        let Sum { least, most, expected, others, variance } = self;
        // Rows that cannot match count as others as well.
        let others = others + f64::from(release.groups().size(batch).saturating_sub(most));
        (most > 0).then_some(Hit { group: batch as u32, least, most, expected, others, variance })
    }
}

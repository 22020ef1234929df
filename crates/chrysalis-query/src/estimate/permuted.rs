//! Permuted columns: the values of each attribute are known per group, but not which of them belong to the same row.

use std::ops::Range;
use std::sync::Arc;

use chrysalis_release::view::CodedColumn;
use chrysalis_table::{Code, each_width};
use rayon::prelude::*;

use super::keys::{Key, Radix, check_pairs, too_many};
use super::{Hit, HitsByKey, KeyValues, one_box};
use crate::code_test::CodeTest;
use crate::{Cell, OpenRelease, Plan, QuasiCondition, QueryError};

pub(super) fn hits(
    release: &OpenRelease,
    plan: &Plan,
    condition: &QuasiCondition,
    keys: &[usize],
) -> Result<HitsByKey, QueryError> {
    let mut fields: Vec<usize> = condition.boxes.iter().flat_map(|cell| cell.sets.keys().copied()).collect();
    fields.retain(|field| !keys.contains(field));
    fields.sort_unstable();
    fields.dedup();
    if let ([cell], []) = (condition.boxes.as_slice(), keys) {
        return one_box::hits(release, plan, cell);
    }
    let plain: Vec<Marginal> =
        fields.iter().map(|&field| Marginal::new(release, plan, field, &condition.boxes)).collect::<Result<_, _>>()?;
    let keyed: Vec<Marginal> =
        keys.iter().map(|&field| Marginal::new(release, plan, field, &condition.boxes)).collect::<Result<_, _>>()?;
    let n_boxes = condition.boxes.len();
    let pieces = release.groups().pieces().par_iter();
    if keys.is_empty() {
        let piece = |piece: &Range<usize>| -> Vec<Hit> {
            let mut counts = vec![Counts::new(n_boxes); plain.len()];
            piece.clone().filter_map(|group| hit(release, group, &plain, &mut counts, n_boxes)).collect()
        };
        return Ok(HitsByKey::ungrouped(pieces.map(piece).collect()));
    }
    let values: Vec<KeyValues> =
        keyed.iter().map(|marginal| KeyValues::Coded(Arc::clone(&marginal.column.domain))).collect();
    let radix = Radix::new(&values)?;
    let found: Vec<Vec<(Key, Hit)>> =
        pieces.map(|piece| by_key(release, piece, &plain, &keyed, &radix, n_boxes)).collect::<Result<_, _>>()?;
    check_pairs(found.iter().map(Vec::len).sum())?;
    Ok(HitsByKey::grouped(values, &radix, found))
}

/// A column with, for every code, the boxes that contain it, as bits. A box that does not mention the attribute
/// contains every code.
struct Marginal<'a> {
    column: &'a CodedColumn,
    boxes: Vec<u64>,
}

impl<'a> Marginal<'a> {
    fn new(release: &'a OpenRelease, plan: &Plan, field: usize, cells: &[Cell]) -> Result<Self, QueryError> {
        let column = release.column(plan, field)?;
        let mut boxes = vec![0_u64; column.domain.len()];
        for (bit, cell) in cells.iter().enumerate() {
            let test = cell.sets.get(&field).map(|set| CodeTest::of(column, set));
            for (code, boxes) in (0..).zip(&mut boxes) {
                let is_in = test.as_ref().is_none_or(|test| test.holds(code));
                *boxes |= u64::from(is_in) << bit;
            }
        }
        Ok(Marginal { column, boxes })
    }
}

/// How many of a group's values of one attribute lie in each box, and in each pair of boxes.
#[derive(Clone)]
struct Counts {
    one: Vec<u32>,
    two: Vec<u32>,
}

impl Counts {
    fn new(n_boxes: usize) -> Self {
        Counts { one: vec![0; n_boxes], two: vec![0; n_boxes * n_boxes] }
    }

    fn clear(&mut self) {
        self.one.fill(0);
        self.two.fill(0);
    }

    fn add(&mut self, boxes: u64, times: u32) {
        let n_boxes = self.one.len();
        for a in bits(boxes) {
            self.one[a] += times;
            for b in bits(boxes) {
                self.two[a * n_boxes + b] += times;
            }
        }
    }

    fn of_rows(&mut self, marginal: &Marginal<'_>, rows: Range<usize>) {
        self.clear();
        if self.one.len() == 1 {
            let boxes = &marginal.boxes;
            let n = each_width!(&marginal.column.codes, codes => {
                codes[rows].iter().map(|&code| boxes[code as usize] as u32).sum::<u32>()
            });
            (self.one[0], self.two[0]) = (n, n);
            return;
        }
        for row in rows {
            self.add(marginal.boxes[marginal.column.codes.get(row) as usize], 1);
        }
    }
}

fn bits(mut boxes: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = boxes.trailing_zeros() as usize;
        boxes &= boxes.wrapping_sub(1);
        (bit < 64).then_some(bit)
    })
}

fn hit(
    release: &OpenRelease,
    group: usize,
    plain: &[Marginal<'_>],
    counts: &mut [Counts],
    n_boxes: usize,
) -> Option<Hit> {
    for (counts, marginal) in counts.iter_mut().zip(plain) {
        counts.of_rows(marginal, release.groups().rows(group));
    }
    combined(group, release.groups().size(group), &counts.iter().collect::<Vec<_>>(), n_boxes)
}

/// Step 6, permute: from marginal counts to what is known about the hits. Attributes are independent.
fn combined(group: usize, size: u32, counts: &[&Counts], n_boxes: usize) -> Option<Hit> {
    let n = f64::from(size);
    let (mut expected, mut least, mut most) = (0.0, 0_u64, 0_u64);
    for cell in 0..n_boxes {
        let ones = || counts.iter().map(|counts| counts.one[cell]);
        let fewest = ones().min().unwrap_or(size);
        if fewest == 0 {
            continue;
        }
        expected += n * ones().map(|hits| f64::from(hits) / n).product::<f64>();
        // PROOF: of n rows, at most Σ(n − h) lie outside the box in some attribute.
        let outside: u64 = ones().map(|hits| u64::from(size - hits)).sum();
        least += u64::from(size).saturating_sub(outside);
        most += u64::from(fewest);
    }
    if most == 0 {
        return None;
    }
    let mut pairs = 0.0;
    if size > 1 {
        let all_pairs = n * (n - 1.0);
        for a in 0..n_boxes {
            for b in 0..n_boxes {
                let share = |counts: &&Counts| {
                    let product = f64::from(counts.one[a]) * f64::from(counts.one[b]);
                    (product - f64::from(counts.two[a * n_boxes + b])) / all_pairs
                };
                pairs += all_pairs * counts.iter().map(share).product::<f64>();
            }
        }
    }
    Some(Hit {
        group: group as u32,
        // PROOF: the boxes are disjoint, so their least hits are different rows.
        least: least.min(u64::from(size)) as u32,
        most: most.min(u64::from(size)) as u32,
        expected,
        others: n - expected,
        variance: (pairs + expected - expected * expected).max(0.0),
    })
}

/// Any key values that occur in a group may occur together, so every combination of them is visited.
fn by_key(
    release: &OpenRelease,
    piece: &Range<usize>,
    plain: &[Marginal<'_>],
    keyed: &[Marginal<'_>],
    radix: &Radix,
    n_boxes: usize,
) -> Result<Vec<(Key, Hit)>, QueryError> {
    let mut hits = Vec::new();
    let mut plain_counts = vec![Counts::new(n_boxes); plain.len()];
    for group in piece.clone() {
        for (counts, marginal) in plain_counts.iter_mut().zip(plain) {
            counts.of_rows(marginal, release.groups().rows(group));
        }
        let values: Vec<Vec<(Code, Counts)>> =
            keyed.iter().map(|marginal| key_counts(marginal, release.groups().rows(group), n_boxes)).collect();
        let n = values.iter().try_fold(1_usize, |n, values| n.checked_mul(values.len())).ok_or_else(too_many)?;
        check_pairs(n.saturating_add(hits.len()))?;
        let mut at = vec![0_usize; values.len()];
        for _ in 0..n {
            let chosen = || at.iter().zip(&values).map(|(&at, values)| &values[at]);
            let counts: Vec<&Counts> = plain_counts.iter().chain(chosen().map(|(_, counts)| counts)).collect();
            let key = radix.key(chosen().map(|(code, _)| *code));
            hits.extend(combined(group, release.groups().size(group), &counts, n_boxes).map(|hit| (key, hit)));
            advance(&mut at, &values);
        }
    }
    Ok(hits)
}

/// Advances to the next combination; the last attribute varies fastest.
fn advance<T>(at: &mut [usize], values: &[Vec<T>]) {
    for (at, values) in at.iter_mut().zip(values).rev() {
        *at += 1;
        if *at < values.len() {
            return;
        }
        *at = 0;
    }
}

/// The distinct values of a key attribute in a group that some box admits, each as a condition of its own.
fn key_counts(marginal: &Marginal<'_>, rows: Range<usize>, n_boxes: usize) -> Vec<(Code, Counts)> {
    let mut codes: Vec<Code> = rows.map(|row| marginal.column.codes.get(row)).collect();
    codes.sort_unstable();
    let runs = codes.chunk_by(|a, b| a == b).filter(|run| marginal.boxes[run[0] as usize] != 0);
    runs.map(|run| {
        let mut counts = Counts::new(n_boxes);
        counts.add(marginal.boxes[run[0] as usize], run.len() as u32);
        (run[0], counts)
    })
    .collect()
}

//! Ranges and labels: every row of a group lies somewhere in its box.

use std::ops::Range;

use chrysalis_release::view::{Label, Labels};
use chrysalis_table::{Date, DateTime, Kind, Value};
use rayon::prelude::*;

use super::keys::{Key, Radix, check_pairs, too_many};
use super::share::{Measure, Share, n_points};
use super::{Hit, HitsByKey, KeyValues};
use crate::value_set::{Ranges, ValueSet, Values};
use crate::{Cell, Field, OpenRelease, Plan, QuasiCondition, QueryError};

/// The most key values of one attribute that an answer may list.
const MAX_KEYS: i128 = 10_000;

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
        let piece = |piece: &Range<usize>| {
            let hit = |group| hit(release, group, Split::of(inside.share(group, &[]), outside.share(group, &[])));
            piece.clone().filter_map(hit).collect()
        };
        return Ok(HitsByKey::ungrouped(pieces.map(piece).collect()));
    }
    let keyed: Vec<KeyField> =
        keys.iter().map(|&key| KeyField::new(release, plan, key, &condition.boxes)).collect::<Result<_, _>>()?;
    let values: Vec<KeyValues> = keyed.iter().map(|key| KeyValues::Listed(key.values.clone())).collect();
    let radix = Radix::new(&values)?;
    let found: Vec<Vec<(Key, Hit)>> =
        pieces.map(|piece| by_key(release, piece, &inside, &outside, &keyed, &radix)).collect::<Result<_, _>>()?;
    check_pairs(found.iter().map(Vec::len).sum())?;
    Ok(HitsByKey::grouped(values, &radix, found))
}

fn hit(release: &OpenRelease, group: usize, split: Split) -> Option<Hit> {
    let size = release.groups().size(group);
    let n = f64::from(size);
    (split.touches && size > 0).then_some(Hit {
        group: group as u32,
        least: if split.is_certain { size } else { 0 },
        most: size,
        expected: n * split.inside,
        others: n * split.outside,
        variance: n * split.inside * split.outside,
    })
}

/// A box, split in two by a condition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Split {
    /// The share that matches.
    pub(crate) inside: f64,
    /// The share that does not. It is computed separately because `1 − inside` would lose it where it is tiny.
    pub(crate) outside: f64,
    /// Whether some value in the box matches.
    pub(crate) touches: bool,
    /// Whether every value in the box matches.
    pub(crate) is_certain: bool,
}

impl Split {
    /// A value that matches.
    pub(super) const CERTAIN: Split = Split { inside: 1.0, outside: 0.0, touches: true, is_certain: true };

    pub(super) fn of(inside: Share, outside: Share) -> Self {
        // Rounding must not make a share exceed 1.
        let (in_part, out_part) = (inside.share.min(1.0), outside.share.min(1.0));
        Split { inside: in_part, outside: out_part, touches: inside.touches, is_certain: !outside.touches }
    }

    /// The split of one of `points` equal slices of the box; `inside` is the part of the box that matches.
    fn of_slice(inside: Share, outside: Share, points: f64) -> Self {
        if points == 1.0 {
            return Split::of(inside, outside);
        }
        let share = (inside.share / points).min(1.0);
        // PROOF: with two or more points a slice is at most a half, so the difference loses no digits.
        Split { inside: share, outside: 1.0 - share, touches: inside.touches, is_certain: false }
    }
}

/// The boxes of a condition, measured against every label of the release.
pub(super) struct BoxCoverage<'a> {
    boxes: Vec<Vec<(&'a Labels, Vec<Share>)>>,
}

impl<'a> BoxCoverage<'a> {
    pub(super) fn new(
        release: &'a OpenRelease,
        plan: &Plan,
        cells: &[Cell],
        keys: &[usize],
    ) -> Result<Self, QueryError> {
        let mut boxes = Vec::with_capacity(cells.len());
        for cell in cells {
            let mut sets = Vec::new();
            for (&field, set) in cell.sets.iter().filter(|(field, _)| !keys.contains(field)) {
                let labels = release.labels(plan, field)?;
                let measure = Measure::new(set);
                sets.push((labels, labels.labels.iter().map(|label| measure.of(label)).collect()));
            }
            boxes.push(sets);
        }
        Ok(BoxCoverage { boxes })
    }

    /// How much of a group's box is covered, key attributes aside, by the boxes that admit the chosen key values.
    pub(super) fn share(&self, group: usize, admits: &[&[bool]]) -> Share {
        let mut sum = Share { share: 0.0, touches: false };
        for (at, sets) in self.boxes.iter().enumerate() {
            let shares = || sets.iter().map(|(labels, shares)| shares[labels.of[group] as usize]);
            if admits.iter().all(|admits| admits[at]) && shares().all(|share| share.touches) {
                sum.share += shares().map(|share| share.share).product::<f64>();
                sum.touches = true;
            }
        }
        sum
    }
}

/// A key attribute: which values it can have, and which boxes admit each of them.
pub(super) struct KeyField<'a> {
    labels: &'a Labels,
    pub(super) values: Vec<Option<Value>>,
    /// For every label: the places of its values in `values`, and how many points it has.
    of_label: Vec<(Vec<u32>, f64)>,
    /// For every value: whether each box admits it.
    admitted: Vec<Vec<bool>>,
}

impl<'a> KeyField<'a> {
    pub(super) fn new(release: &'a OpenRelease, plan: &Plan, field: usize, cells: &[Cell]) -> Result<Self, QueryError> {
        let labels = release.labels(plan, field)?;
        let field_plan = &plan.fields[field];
        let everything = || field_plan.everything(true);
        let sets: Vec<ValueSet> =
            cells.iter().map(|cell| cell.sets.get(&field).cloned().unwrap_or_else(everything)).collect();
        let any = sets.iter().fold(field_plan.nothing(), |any, set| any.union(set));
        let places = candidates(field_plan, &labels.labels, &any)?;
        let has_missing = any.missing && labels.labels.iter().any(Label::has_missing);
        let value = |place: &i64| Some(value_at(field_plan, *place));
        let values: Vec<Option<Value>> =
            has_missing.then_some(None).into_iter().chain(places.iter().map(value)).collect();
        let shift = u32::from(has_missing);
        let of_label = labels.labels.iter().map(|label| {
            let first = (has_missing && label.has_missing()).then_some(0);
            let rest = places_in(label, &places).map(|place| place + shift);
            (first.into_iter().chain(rest).collect(), n_points(label))
        });
        let of_label = of_label.collect();
        let admits = |value: &Option<Value>| sets.iter().map(|set| field_plan.contains(set, value.as_ref())).collect();
        Ok(KeyField { labels, of_label, admitted: values.iter().map(admits).collect(), values })
    }
}

/// Step 8: every point of the labels that some box admits, as whole numbers, days, microseconds or ranks.
fn candidates(field: &Field, labels: &[Label], any: &ValueSet) -> Result<Vec<i64>, QueryError> {
    if let Values::Words(words) = &any.values {
        return Ok((0..).zip(words).filter(|(_, is_in)| **is_in).map(|(rank, _)| rank).collect());
    }
    let Values::Integers(ranges) = &any.values else { return Ok(Vec::new()) };
    let ends = labels.iter().filter_map(|label| match label {
        Label::Points { ends: Some((low, high)), .. } => Some((i128::from(*low), i128::from(*high) + 1)),
        _ => None,
    });
    let points = Ranges::union_of(ends.collect()).intersection(ranges);
    if points.ranges().iter().map(|(from, to)| to - from).sum::<i128>() > MAX_KEYS {
        let problem = format!("`{}` can have more than {MAX_KEYS} values in this release", field.name);
        let hint = format!("narrow `{}` with WHERE, or ask about ranges one by one", field.name);
        return Err(QueryError::unanswerable(None, problem, hint));
    }
    Ok(points.ranges().iter().flat_map(|&(from, to)| from..to).map(|place| place as i64).collect())
}

fn value_at(field: &Field, place: i64) -> Value {
    match field.kind {
        Kind::Date => Value::Date(Date(i32::try_from(place).unwrap_or(i32::MAX))),
        Kind::DateTime => Value::DateTime(DateTime(place)),
        Kind::Ordinal | Kind::Category => Value::Text(field.words[place as usize].clone()),
        Kind::Integer | Kind::Real => Value::Integer(place),
    }
}

/// The places of a label's values in a sorted list.
fn places_in<'a>(label: &'a Label, places: &'a [i64]) -> Box<dyn Iterator<Item = u32> + 'a> {
    match label {
        Label::Points { ends: Some((low, high)), .. } => {
            let from = places.partition_point(|place| place < low);
            let to = places.partition_point(|place| place <= high);
            Box::new(from as u32..to as u32)
        }
        Label::Members { ranks, .. } => {
            Box::new(ranks.iter().filter_map(|rank| places.binary_search(&(*rank as i64)).ok()).map(|at| at as u32))
        }
        _ => Box::new(std::iter::empty()),
    }
}

fn by_key(
    release: &OpenRelease,
    piece: &Range<usize>,
    inside: &BoxCoverage<'_>,
    outside: &BoxCoverage<'_>,
    keyed: &[KeyField<'_>],
    radix: &Radix,
) -> Result<Vec<(Key, Hit)>, QueryError> {
    let mut hits = Vec::new();
    for group in piece.clone() {
        each_key(group, hits.len(), inside, outside, keyed, |digits, split| {
            hits.extend(hit(release, group, split).map(|hit| (radix.key(digits.iter().copied()), hit)));
        })?;
    }
    Ok(hits)
}

/// Calls `found` for every combination of key values that the labels at one place allow, with its digits and the part
/// of the box that has these values and is covered. `n_known` is the number of pairs found before.
pub(super) fn each_key(
    place: usize,
    n_known: usize,
    inside: &BoxCoverage<'_>,
    outside: &BoxCoverage<'_>,
    keyed: &[KeyField<'_>],
    mut found: impl FnMut(&[u32], Split),
) -> Result<(), QueryError> {
    let own: Vec<&(Vec<u32>, f64)> = keyed.iter().map(|key| &key.of_label[key.labels.of[place] as usize]).collect();
    let n = own.iter().try_fold(1_usize, |n, (values, _)| n.checked_mul(values.len())).ok_or_else(too_many)?;
    check_pairs(n.saturating_add(n_known))?;
    // Each key attribute takes one of its label's points.
    let points: f64 = own.iter().map(|(_, points)| points).product();
    let rest = outside.share(place, &[]);
    for at in 0..n {
        let digits = digits_of(at, &own);
        let admits: Vec<&[bool]> =
            digits.iter().zip(keyed).map(|(&digit, key)| key.admitted[digit as usize].as_slice()).collect();
        found(&digits, Split::of_slice(inside.share(place, &admits), rest, points));
    }
    Ok(())
}

/// The combination with number `at` of the labels' values; the last attribute varies fastest.
fn digits_of(mut at: usize, own: &[&(Vec<u32>, f64)]) -> Vec<u32> {
    let mut digits = vec![0; own.len()];
    for (digit, (values, _)) in digits.iter_mut().zip(own).rev() {
        *digit = values[at % values.len()];
        at /= values.len();
    }
    digits
}

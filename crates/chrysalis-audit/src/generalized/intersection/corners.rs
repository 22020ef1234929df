//! People who could be there: one wherever two groups of two releases meet.

use std::collections::BTreeMap;

use chrysalis_table::{Code, Codes, Column, Kind, Table, Value};

use super::super::cells::Cells;
use super::views::View;
use crate::AuditError;
use crate::columns::Positions;

/// Pairs of groups that are compared without the help of the microdata.
const MAX_PAIRS: usize = 20_000_000;

/// A value and its place; missing comes before all others.
type Placed = (Option<i64>, Option<Value>);

/// What a group shows of one attribute.
enum Shown {
    /// From one end to the other.
    Range(Placed, Option<i64>),
    /// One of these, from the lowest up.
    Values(Vec<Placed>),
    /// One of these words; empty is missing.
    Words(Vec<String>),
}

/// One row per pair of groups that have a point in common: the lowest such point.
pub(super) fn people(one: &View<'_>, another: &View<'_>) -> Result<Table, AuditError> {
    if one.groups.len().saturating_mul(another.groups.len()) > MAX_PAIRS {
        return Err(AuditError::TooManyPairs { pairs: one.groups.len().saturating_mul(another.groups.len()) });
    }
    let extra =
        another.published.quasi.iter().filter(|cells| one.attributes().all(|name| name != cells.attribute.name));
    let all: Vec<&Cells<'_>> = one.published.quasi.iter().chain(extra).collect();
    let (first, second) = (shown(one, &all), shown(another, &all));
    let mut points: Vec<Vec<Option<Value>>> = Vec::new();
    for a in &first {
        for b in &second {
            points.extend(meeting(a, b));
        }
    }
    let column = |(at, cells): (usize, &&Cells<'_>)| {
        let values: Vec<Option<Value>> = points.iter().map(|point| point[at].clone()).collect();
        let kind = Kind::from(cells.attribute.kind);
        let positions = Positions::of(cells.attribute);
        let rank = |value: &Option<Value>| {
            usize::try_from(positions.of_value(value.as_ref()).unwrap_or(0)).unwrap_or(usize::MAX)
        };
        let order: Vec<usize> = if kind == Kind::Ordinal { values.iter().map(rank).collect() } else { Vec::new() };
        let codes = Codes::collect(values.len(), 0..values.len() as u32);
        Column::from_entries(&cells.attribute.name, kind, values, &order, vec![codes])
    };
    Ok(Table::new(all.iter().enumerate().map(column).collect()))
}

/// What every group shows of these attributes; `None` where its table lacks one.
fn shown(view: &View<'_>, all: &[&Cells<'_>]) -> Vec<Vec<Option<Shown>>> {
    if view.is_permuted {
        return permuted(view, all);
    }
    let of = |row: usize, wanted: &&Cells<'_>| {
        let cells = view.published.quasi.iter().find(|cells| cells.attribute.name == wanted.attribute.name)?;
        let low = cells.low.domain().value(cells.low.code(row));
        if cells.is_range() {
            let positions = Positions::of(cells.attribute);
            let high = cells.high.domain().value(cells.high.code(row));
            return Some(Shown::Range((positions.of_value(low), low.cloned()), positions.of_value(high)));
        }
        let label = cells.low.domain().text(cells.low.code(row)).into_owned();
        let words = view.sets.get(&(cells.attribute.name.clone(), label));
        Some(Shown::Words(words.into_iter().flatten().cloned().collect()))
    };
    view.groups.iter().map(|group| all.iter().map(|wanted| of(group.row, wanted)).collect()).collect()
}

/// The same where a group shows the values of its rows and not what stands beside what.
fn permuted(view: &View<'_>, all: &[&Cells<'_>]) -> Vec<Vec<Option<Shown>>> {
    let group = view.published.group;
    let mut shown: Vec<Vec<Option<Shown>>> = view.groups.iter().map(|_| Vec::with_capacity(all.len())).collect();
    for wanted in all {
        let Some(cells) = view.published.quasi.iter().find(|cells| cells.attribute.name == wanted.attribute.name)
        else {
            shown.iter_mut().for_each(|shown| shown.push(None));
            continue;
        };
        let mut of_group: BTreeMap<Code, Vec<Code>> = BTreeMap::new();
        for (group, code) in group.codes().iter().zip(cells.low.codes().iter()) {
            of_group.entry(group).or_default().push(code);
        }
        for (known, shown) in view.groups.iter().zip(&mut shown) {
            let mut codes = of_group.remove(&group.code(known.row)).unwrap_or_default();
            codes.sort_unstable();
            codes.dedup();
            shown.push(Some(values(cells, &codes)));
        }
    }
    shown
}

fn values(cells: &Cells<'_>, codes: &[Code]) -> Shown {
    let domain = cells.low.domain();
    if !cells.is_range() {
        return Shown::Words(codes.iter().map(|&code| domain.text(code).into_owned()).collect());
    }
    let positions = Positions::of(cells.attribute);
    let placed = |&code: &Code| (positions.of_value(domain.value(code)), domain.value(code).cloned());
    let mut values: Vec<Placed> = codes.iter().map(placed).collect();
    values.sort_by_key(|(place, _)| *place);
    Shown::Values(values)
}

fn meeting(a: &[Option<Shown>], b: &[Option<Shown>]) -> Option<Vec<Option<Value>>> {
    let word = |text: &String| (!text.is_empty()).then(|| Value::Text(text.as_str().into()));
    let common = |(a, b): (&Option<Shown>, &Option<Shown>)| match (a, b) {
        (Some(Shown::Range(a, a_end)), Some(Shown::Range(b, b_end))) => {
            let low = if a.0 >= b.0 { a } else { b };
            (low.0 <= *a_end && low.0 <= *b_end).then(|| low.1.clone())
        }
        (Some(Shown::Values(a)), Some(Shown::Values(b))) => {
            let is_in_both = |(place, _): &&Placed| b.binary_search_by_key(place, |(place, _)| *place).is_ok();
            a.iter().find(is_in_both).map(|(_, value)| value.clone())
        }
        (Some(Shown::Values(values)), Some(Shown::Range(low, high)))
        | (Some(Shown::Range(low, high)), Some(Shown::Values(values))) => {
            let inside = |(place, _): &&Placed| low.0 <= *place && place <= high;
            values.iter().find(inside).map(|(_, value)| value.clone())
        }
        (Some(Shown::Words(a)), Some(Shown::Words(b))) => a.iter().find(|text| b.contains(text)).map(word),
        (Some(Shown::Values(values)), None) | (None, Some(Shown::Values(values))) => {
            values.first().map(|(_, value)| value.clone())
        }
        (Some(Shown::Range(low, _)), None) | (None, Some(Shown::Range(low, _))) => Some(low.1.clone()),
        (Some(Shown::Words(words)), None) | (None, Some(Shown::Words(words))) => words.first().map(word),
        _ => None,
    };
    a.iter().zip(b).map(common).collect()
}

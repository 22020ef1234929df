//! People who could be in the data: one wherever groups of all releases meet.

use std::collections::BTreeMap;

use chrysalis_table::{Code, Codes, Column, Kind, Table, Value, Watch};

use super::views::JoinedView;
use crate::AuditError;
use crate::boxes::cells::Cells;
use crate::columns::Positions;

/// The most comparisons of groups that are made where the microdata are not known.
const MAX_PAIRS: usize = 20_000_000;

/// A value and its place; missing comes before all others.
type PlacedValue = (Option<i64>, Option<Value>);

/// What a group shows of one attribute.
#[derive(Clone)]
enum GroupCell {
    /// From one end to the other.
    Range(PlacedValue, Option<i64>),
    /// One of these values, ascending.
    Values(Vec<PlacedValue>),
    /// One of these words; empty is missing.
    Words(Vec<String>),
}

/// A group, or the intersection of several: what is shown of every attribute, `None` where no table has it.
type Corner = Vec<Option<GroupCell>>;

/// One row per combination of groups of all tables that have a point in common: the lowest such point.
pub(super) fn people(views: &[&JoinedView<'_>], watch: &dyn Watch) -> Result<Table, AuditError> {
    let combinations = views.iter().map(|view| view.groups.len()).fold(1, usize::saturating_mul);
    let first = views.iter().take(2).map(|view| view.groups.len()).fold(1, usize::saturating_mul);
    if first > MAX_PAIRS {
        return Err(AuditError::TooManyPairs { combinations });
    }
    let mut all: Vec<&Cells<'_>> = Vec::new();
    for cells in views.iter().flat_map(|view| &view.published.quasi) {
        if all.iter().all(|known| known.attribute.name != cells.attribute.name) {
            all.push(cells);
        }
    }
    let tables: Vec<Vec<Corner>> = views.iter().map(|view| shown(view, &all)).collect();
    // The groups of the first table count as comparisons, although there is nothing yet to compare them with.
    let left = MAX_PAIRS + tables.first().map_or(0, Vec::len);
    let mut search = Search { points: Vec::new(), left, watch };
    let anywhere: Corner = all.iter().map(|_| None).collect();
    if !search.descend(&anywhere, &tables) {
        return Err(AuditError::TooManyPairs { combinations });
    }
    let points = search.points;
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
fn shown(view: &JoinedView<'_>, all: &[&Cells<'_>]) -> Vec<Corner> {
    if view.is_permuted {
        return permuted(view, all);
    }
    let of = |row: usize, wanted: &&Cells<'_>| {
        let cells = view.published.quasi.iter().find(|cells| cells.attribute.name == wanted.attribute.name)?;
        let low = cells.low.domain().value(cells.low.code(row));
        if cells.is_range() {
            let positions = Positions::of(cells.attribute);
            let high = cells.high.domain().value(cells.high.code(row));
            return Some(GroupCell::Range((positions.of_value(low), low.cloned()), positions.of_value(high)));
        }
        let label = cells.low.domain().text(cells.low.code(row)).into_owned();
        let words = view.sets.get(&(cells.attribute.name.clone(), label));
        Some(GroupCell::Words(words.into_iter().flatten().cloned().collect()))
    };
    view.groups.iter().map(|group| all.iter().map(|wanted| of(group.row, wanted)).collect()).collect()
}

/// The same where a group shows the values of its rows, but not which of them belong together.
fn permuted(view: &JoinedView<'_>, all: &[&Cells<'_>]) -> Vec<Corner> {
    let group = view.published.group;
    let mut shown: Vec<Corner> = view.groups.iter().map(|_| Vec::with_capacity(all.len())).collect();
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

fn values(cells: &Cells<'_>, codes: &[Code]) -> GroupCell {
    let domain = cells.low.domain();
    if !cells.is_range() {
        return GroupCell::Words(codes.iter().map(|&code| domain.text(code).into_owned()).collect());
    }
    let positions = Positions::of(cells.attribute);
    let placed = |&code: &Code| (positions.of_value(domain.value(code)), domain.value(code).cloned());
    let mut values: Vec<PlacedValue> = codes.iter().map(placed).collect();
    values.sort_by_key(|(place, _)| *place);
    GroupCell::Values(values)
}

/// Goes through all combinations of groups, one table after the other.
struct Search<'a> {
    points: Vec<Vec<Option<Value>>>,
    /// Comparisons that may still be made.
    left: usize,
    watch: &'a dyn Watch,
}

impl Search<'_> {
    /// Adds a point for every way to continue from here; false where there are too many.
    fn descend(&mut self, here: &Corner, tables: &[Vec<Corner>]) -> bool {
        let Some((table, rest)) = tables.split_first() else {
            self.points.push(here.iter().map(|shown| shown.as_ref().and_then(GroupCell::lowest)).collect());
            return true;
        };
        table.iter().all(|group| {
            if self.left == 0 {
                return false;
            }
            self.left -= 1;
            self.watch.pause();
            meeting(here, group).is_none_or(|there| self.descend(&there, rest))
        })
    }
}

impl GroupCell {
    fn lowest(&self) -> Option<Value> {
        match self {
            GroupCell::Range(low, _) => low.1.clone(),
            GroupCell::Values(values) => values.first().and_then(|(_, value)| value.clone()),
            GroupCell::Words(words) => {
                words.first().filter(|word| !word.is_empty()).map(|word| Value::Text(word.as_str().into()))
            }
        }
    }

    /// The intersection of two cells; `None` where it is empty.
    fn common(&self, other: &GroupCell) -> Option<GroupCell> {
        match (self, other) {
            (GroupCell::Range(a, a_end), GroupCell::Range(b, b_end)) => {
                let (low, end) = (if a.0 >= b.0 { a } else { b }, *a_end.min(b_end));
                (low.0 <= end).then(|| GroupCell::Range(low.clone(), end))
            }
            (GroupCell::Values(a), GroupCell::Values(b)) => {
                let is_in_both = |(place, _): &&PlacedValue| b.binary_search_by_key(place, |(place, _)| *place).is_ok();
                GroupCell::of_values(a.iter().filter(is_in_both))
            }
            (GroupCell::Values(values), GroupCell::Range(low, high))
            | (GroupCell::Range(low, high), GroupCell::Values(values)) => {
                GroupCell::of_values(values.iter().filter(|(place, _)| low.0 <= *place && place <= high))
            }
            (GroupCell::Words(a), GroupCell::Words(b)) => {
                let words: Vec<String> = a.iter().filter(|word| b.contains(word)).cloned().collect();
                (!words.is_empty()).then_some(GroupCell::Words(words))
            }
            _ => None,
        }
    }

    fn of_values<'a>(values: impl Iterator<Item = &'a PlacedValue>) -> Option<GroupCell> {
        let values: Vec<PlacedValue> = values.cloned().collect();
        (!values.is_empty()).then_some(GroupCell::Values(values))
    }

    /// Whether the cell stands for any value.
    fn is_something(&self) -> bool {
        match self {
            GroupCell::Range(low, end) => low.0 <= *end,
            GroupCell::Values(values) => !values.is_empty(),
            GroupCell::Words(words) => !words.is_empty(),
        }
    }
}

/// The intersection of two corners; `None` where it is empty.
fn meeting(a: &Corner, b: &Corner) -> Option<Corner> {
    let common = |(a, b): (&Option<GroupCell>, &Option<GroupCell>)| match (a, b) {
        (Some(a), Some(b)) => a.common(b).map(Some),
        (Some(one), None) | (None, Some(one)) => one.is_something().then(|| Some(one.clone())),
        (None, None) => Some(None),
    };
    a.iter().zip(b).map(common).collect()
}

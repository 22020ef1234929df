//! Which row is whose behind ranges and labels, and how much these reveal about who is in the data.

use chrysalis_table::{Code, Column, Kind, Value};

use super::cells::Cells;
use super::space::LabelSets;
use crate::attack::{Finding, WorstGroup, foremost, presence, row_linking};
use crate::columns::{Positions, from_json};
use crate::measure::Fraction;
use crate::{Groups, Presence, RowLinking, RowLinkingOver};

/// What an attacker who finds the group that covers a person knows.
pub(super) struct Found {
    pub(super) row_linking: Option<RowLinking>,
    pub(super) presence: Option<Presence>,
    /// Both in words, in this order.
    pub(super) findings: [Finding; 2],
}

/// Any of the n rows of a group that covers a person could be theirs: 1/n. Where all cells are single values, whoever
/// has them is in the data for certain. Groups that show nothing because their rows were suppressed cover nobody in
/// particular.
pub(super) fn attack<'a>(
    cells: &[&'a Cells<'a>],
    sets: &LabelSets,
    groups: &Groups,
    ids: &[Option<i64>],
    suppressed: u64,
) -> Found {
    let shows_all = shows_all(cells.iter().copied(), sets, groups.of_row.len());
    let mut hides = vec![false; groups.n_groups];
    groups.of_row.iter().zip(&shows_all).for_each(|(&group, all)| hides[group as usize] |= !all);
    let sizes = groups.sizes();
    let id = |group: usize| ids.get(group).copied().flatten();
    let all: Vec<usize> = (0..groups.n_groups).filter(|&group| sizes[group] > 0).collect();
    let certain: Vec<usize> = all.iter().copied().filter(|&group| !hides[group]).collect();
    let covered = covered(cells, sets, groups, suppressed > 0);
    let worst: Vec<WorstGroup> = foremost(all, |a, b| sizes[*a].cmp(&sizes[*b]).then(a.cmp(b)))
        .into_iter()
        .map(|group| {
            let level = Fraction::new(1, sizes[group].into()).exact().unwrap_or_default();
            WorstGroup::exact(id(group), sizes[group], &level)
        })
        .collect();
    let linked = worst.first().map(|group| RowLinking {
        delta: group.level,
        delta_text: group.level_text.clone(),
        group: group.id,
        over: RowLinkingOver::Covered,
    });
    let found = linked.as_ref().map(|_| Presence {
        population: None,
        certain_rows: certain.iter().map(|&group| sizes[group]).sum(),
        certain_group: certain.iter().filter_map(|&group| id(group)).min(),
        covered,
    });
    let rows = groups.of_row.len() as u64;
    let findings = [row_linking(linked.as_ref(), rows, worst), presence(found.as_ref(), linked.as_ref(), rows)];
    Found { row_linking: linked, presence: found, findings }
}

/// An upper bound on the share of conceivable combinations that some group covers: the shares of all groups added up.
fn covered(cells: &[&Cells<'_>], sets: &LabelSets, groups: &Groups, may_be_suppressed: bool) -> f64 {
    let shares: Vec<Box<dyn Fn(usize) -> f64 + '_>> = cells.iter().map(|cells| share(cells, sets)).collect();
    let each = groups.some_rows().into_iter().filter(|&row| row < groups.of_row.len());
    let each = each.map(|row| shares.iter().map(|share| share(row)).product::<f64>());
    each.filter(|&share| !may_be_suppressed || share < 1.0).sum::<f64>().min(1.0)
}

/// An upper bound on the share of an attribute's domain that a row's cell covers: whole numbers, days and words are
/// counted, ranges of reals are measured.
fn share<'a>(cells: &'a Cells<'_>, sets: &LabelSets) -> Box<dyn Fn(usize) -> f64 + 'a> {
    let (attribute, domain) = (cells.attribute, &cells.attribute.domain);
    let n_words = domain.order().len().max(1) as f64;
    if !cells.is_range() {
        let labels = cells.low.domain();
        let n_values = |label: Code| {
            let set = sets.get(&(attribute.name.clone(), labels.text(label).into_owned()));
            set.map_or(1, |set| set.len().max(1)) as f64
        };
        let of_label: Vec<f64> = (0..labels.len() as Code).map(|it| (n_values(it) / n_words).min(1.0)).collect();
        return Box::new(move |row| of_label[cells.low.code(row) as usize]);
    }
    let (kind, positions) = (Kind::from(attribute.kind), Positions::of(attribute));
    let unit = if kind == Kind::Real { 0.0 } else { 1.0 };
    let place = move |value: Option<&Value>| match value {
        Some(Value::Real(number)) => Some(*number),
        value => positions.of_value(value).map(|place| place as f64),
    };
    let end = |end: &Option<serde_json::Value>| end.as_ref().and_then(|it| from_json(kind, it));
    let (first, last) = match kind {
        Kind::Ordinal | Kind::Category => (Some(0.0), Some(n_words - 1.0)),
        Kind::Integer | Kind::Real | Kind::Date | Kind::DateTime => {
            (place(end(&domain.min).as_ref()), place(end(&domain.max).as_ref()))
        }
    };
    let of_codes = |column: &Column| -> Vec<Option<f64>> {
        (0..column.domain().len() as Code).map(|code| place(column.domain().value(code))).collect()
    };
    let (lows, highs) = (of_codes(cells.low), of_codes(cells.high));
    Box::new(move |row| {
        let (Some(first), Some(last)) = (first, last) else { return 1.0 };
        // A missing value comes before all others: as a lower end it is below the first value, as an upper end it is
        // the only value.
        let low = lows[cells.low.code(row) as usize].unwrap_or(first);
        let Some(high) = highs[cells.high.code(row) as usize] else { return 1.0 };
        let whole = last - first + unit;
        if whole > 0.0 { ((high - low + unit) / whole).clamp(0.0, 1.0) } else { 1.0 }
    })
}

/// Whether every cell of a row stands for one value: then it hides nothing about a person who has these values.
fn shows_all<'a>(cells: impl Iterator<Item = &'a Cells<'a>>, sets: &LabelSets, rows: usize) -> Vec<bool> {
    let mut shows_all = vec![true; rows];
    for cells in cells {
        let is_one = one_value(cells, sets);
        shows_all.iter_mut().enumerate().for_each(|(row, all)| *all &= is_one(row));
    }
    shows_all
}

fn one_value<'a>(cells: &'a Cells<'_>, sets: &LabelSets) -> Box<dyn Fn(usize) -> bool + 'a> {
    if cells.is_range() {
        let value = |column: &'a Column, row: usize| column.domain().value(column.code(row));
        return Box::new(move |row| value(cells.low, row) == value(cells.high, row));
    }
    let labels = cells.low.domain();
    let is_one = |label: u32| {
        let set = sets.get(&(cells.attribute.name.clone(), labels.text(label).into_owned()));
        set.is_none_or(|set| set.len() <= 1)
    };
    let is_one: Vec<bool> = (0..labels.len() as u32).map(is_one).collect();
    Box::new(move |row| is_one[cells.low.code(row) as usize])
}

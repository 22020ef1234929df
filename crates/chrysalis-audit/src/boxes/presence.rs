//! Whether somebody is seen to be in the data behind ranges and labels.

use chrysalis_table::Column;

use super::cells::Cells;
use super::space::LabelSets;
use crate::attack::{Finding, WorstGroup, foremost, presence};
use crate::measure::Fraction;
use crate::{Groups, Presence, PresenceOver};

/// Any of the n rows of a group that covers a person could be theirs: 1/n. Where all cells are single values, whoever has
/// them is there for sure.
pub(super) fn attack<'a>(
    cells: impl Iterator<Item = &'a Cells<'a>>,
    sets: &LabelSets,
    groups: &Groups,
    ids: &[Option<i64>],
) -> (Option<Presence>, Finding) {
    let shows_all = shows_all(cells, sets, groups.of_row.len());
    let mut hides = vec![false; groups.n_groups];
    groups.of_row.iter().zip(&shows_all).for_each(|(&group, all)| hides[group as usize] |= !all);
    let sizes = groups.sizes();
    let chance = |group: usize| Fraction::new(1, if hides[group] { sizes[group].into() } else { 1 });
    let all: Vec<usize> = (0..groups.n_groups).filter(|&group| sizes[group] > 0).collect();
    let rows_shown: u64 = all.iter().filter(|&&group| !hides[group]).map(|&group| sizes[group]).sum();
    let order = |a: &usize, b: &usize| chance(*b).compare(&chance(*a)).then(a.cmp(b));
    let worst: Vec<WorstGroup> = foremost(all, order)
        .into_iter()
        .map(|group| {
            let level = chance(group).exact().unwrap_or_default();
            WorstGroup::exact(ids.get(group).copied().flatten(), sizes[group], &level)
        })
        .collect();
    let found = worst.first().map(|group| Presence {
        delta: group.level,
        delta_text: group.level_text.clone(),
        group: group.id,
        over: PresenceOver::Covered,
    });
    let finding = presence(found.as_ref(), rows_shown, worst);
    (found, finding)
}

/// Whether every cell of a row stands for one value: then it hides nothing of whoever has these values.
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

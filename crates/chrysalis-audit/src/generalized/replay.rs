//! Who stands in which group of a release by mondrian, for the attack by replay.

use std::collections::BTreeSet;

use chrysalis_table::{Column, Table};

use super::cells::{Cells, Published};
use super::locate::Places;
use super::space::LabelSets;
use crate::Groups;
use crate::attack::{Replay, Setting, reason_against};

/// The replay of a generalized release, or why there is none.
pub(super) fn setting<'a>(published: &Published<'_>, groups: &Groups, microdata: Option<&'a Table>) -> Replay<'a> {
    let manifest = published.manifest;
    if let Some(reason) = reason_against(&manifest.method, &manifest.partitioner, &manifest.guarantees) {
        return Replay::Not(reason);
    }
    let Some(people) = microdata else {
        let reason = "Not run: this attacker knows everybody's quasi values; name the source with --microdata.";
        return Replay::Not(reason.to_owned());
    };
    let Some(sensitive) = published.sensitive.and_then(|(attribute, _)| people.column(&attribute.name)) else {
        return Replay::Not("Not run: nothing sensitive is published.".to_owned());
    };
    let sets = published.label_sets();
    let members = members(published, &sets, groups, people);
    let column = |cells: &Cells<'_>| {
        let column = people.column(&cells.attribute.name)?;
        is_plain(cells, column, &sets, groups, &members).then_some((column, !cells.is_range()))
    };
    let columns = published.quasi.iter().filter_map(column).collect();
    Replay::Of(Box::new(Setting { members, columns, sensitive }))
}

/// The people of every group. A group that somebody fits who fits another as well gets nobody.
fn members(published: &Published<'_>, sets: &LabelSets, groups: &Groups, people: &Table) -> Vec<Vec<usize>> {
    let places = Places::new(published.quasi.iter(), sets, groups, people);
    let columns: Vec<&Column> =
        published.quasi.iter().filter_map(|cells| people.column(&cells.attribute.name)).collect();
    let kinds = Groups::of_columns(&columns, people.rows());
    let found = places.of(&kinds.some_rows());
    let mut members = vec![Vec::new(); groups.n_groups];
    let mut is_open = vec![false; groups.n_groups];
    found.iter().filter(|of_kind| of_kind.len() > 1).flatten().for_each(|&group| is_open[group as usize] = true);
    for (row, &kind) in kinds.of_row.iter().enumerate() {
        if let [group] = found[kind as usize][..] {
            members[group as usize].push(row);
        }
    }
    members.iter_mut().zip(is_open).filter(|(_, is_open)| *is_open).for_each(|(members, _)| members.clear());
    members
}

/// Whether cells are as tight as their members' values: then the attribute has no taxonomy, and is cut by its order.
fn is_plain(cells: &Cells<'_>, column: &Column, sets: &LabelSets, groups: &Groups, members: &[Vec<usize>]) -> bool {
    let shown = |shown: &Column, row: usize| shown.domain().value(shown.code(row)).cloned();
    members.iter().zip(groups.some_rows()).filter(|(members, _)| !members.is_empty()).all(|(members, row)| {
        let codes = members.iter().map(|&member| column.code(member));
        if cells.is_range() {
            let ends = codes.clone().min().zip(codes.max());
            return ends.is_some_and(|(first, last)| {
                let value = |code| column.domain().value(code).cloned();
                value(first) == shown(cells.low, row) && value(last) == shown(cells.high, row)
            });
        }
        let label = cells.low.domain().text(cells.low.code(row)).into_owned();
        let texts: BTreeSet<String> = codes.map(|code| column.domain().text(code).into_owned()).collect();
        sets.get(&(cells.attribute.name.clone(), label)).is_some_and(|set| *set == texts)
    })
}

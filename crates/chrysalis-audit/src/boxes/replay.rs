//! Who is in which group of a release whose groups can be replayed.

use std::collections::BTreeSet;

use chrysalis_table::{Column, Table, Watch};

use super::cells::{BoxTable, Cells};
use super::locate::Places;
use super::space::LabelSets;
use crate::Groups;
use crate::attack::{ReplayOfCuts, Setting};
use crate::counting::Counting;
use crate::form::judge;

/// The replay of a generalized release, or why there is none. `whole` says how often every sensitive value occurs.
pub(super) fn setting<'a>(
    published: &BoxTable<'_>,
    (groups, whole): (&Groups, &[u64]),
    microdata: Option<&'a Table>,
    watch: &dyn Watch,
) -> ReplayOfCuts<'a> {
    let manifest = published.manifest;
    if let Some(reason) = judge(manifest.method).against_replay(manifest) {
        return ReplayOfCuts::Not(reason);
    }
    if manifest.persons.is_some() {
        let reason = "Not run: groups were cut so that promises about persons hold, and only cuts that count rows are \
                      replayed.";
        return ReplayOfCuts::Not(reason.to_owned());
    }
    // The replay counts only exactly equal values as one.
    let is_plain = published.sensitive.is_none_or(|(attribute, column)| {
        let counting = Counting::new(manifest, attribute, column.domain(), whole);
        counting.is_ok_and(|counting| counting.is_plain())
    });
    if !is_plain {
        let reason = "Not run: values that look alike or are near each other count as one here, or some are missing, and only \
                      counts of values are replayed.";
        return ReplayOfCuts::Not(reason.to_owned());
    }
    let Some(people) = microdata else {
        let reason = "Not run: this attacker knows everybody's quasi values; the microdata are needed for that.";
        return ReplayOfCuts::Not(reason.to_owned());
    };
    let Some(sensitive) = published.sensitive.and_then(|(attribute, _)| people.column(&attribute.name)) else {
        return ReplayOfCuts::Not("Not run: nothing sensitive is published.".to_owned());
    };
    let sets = published.label_sets();
    let members = members(published, &sets, groups, people, watch);
    let some_rows = groups.some_rows();
    let column = |cells: &Cells<'_>| {
        let column = people.column(&cells.attribute.name)?;
        let known = members.iter().zip(&some_rows).filter(|(members, _)| !members.is_empty());
        let mut is_tight = known.map(|(members, &row)| {
            watch.pause();
            is_tight(cells, row, column, members, &sets)
        });
        // If all cells are tight, the attribute has no taxonomy and is cut by its order.
        is_tight.all(|is_tight| is_tight).then_some((column, !cells.is_range()))
    };
    let columns = published.quasi.iter().filter_map(column).collect();
    ReplayOfCuts::Of(Box::new(Setting { members, columns, sensitive }))
}

/// The people of every group; none for a group that covers somebody whom another group covers as well.
fn members(
    published: &BoxTable<'_>,
    sets: &LabelSets,
    groups: &Groups,
    people: &Table,
    watch: &dyn Watch,
) -> Vec<Vec<usize>> {
    let places = Places::new(published.quasi.iter(), sets, groups, people);
    let columns: Vec<&Column> =
        published.quasi.iter().filter_map(|cells| people.column(&cells.attribute.name)).collect();
    let kinds = Groups::of_columns(&columns, people.rows(), watch);
    let found = places.of(&kinds.some_rows(), watch);
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

/// Whether the cell of a row is as tight as the values of its group's members.
fn is_tight(cells: &Cells<'_>, row: usize, column: &Column, members: &[usize], sets: &LabelSets) -> bool {
    let codes = members.iter().map(|&member| column.code(member));
    if cells.is_range() {
        let shown = |shown: &Column| shown.domain().value(shown.code(row)).cloned();
        let value = |code| column.domain().value(code).cloned();
        let ends = codes.clone().min().zip(codes.max());
        return ends.is_some_and(|(first, last)| value(first) == shown(cells.low) && value(last) == shown(cells.high));
    }
    let label = cells.low.domain().text(cells.low.code(row)).into_owned();
    let texts: BTreeSet<String> = codes.map(|code| column.domain().text(code).into_owned()).collect();
    sets.get(&(cells.attribute.name.clone(), label)).is_some_and(|set| *set == texts)
}

//! Whom the ends of ranges place in a group: a tight range ends at values that people of its group have, so if only one
//! person has such a value, that person is in the group for certain.

use std::collections::BTreeSet;

use chrysalis_table::{Code, Column, Table, Watch};

use super::cells::Cells;
use super::locate::Places;
use super::space::LabelSets;
use super::suppressed::show_nothing;
use crate::Groups;
use crate::attack::{EndPlacement, WorstGroup, foremost};

/// The cells that a user sees, and how their rows are divided into groups.
pub(super) struct Ranges<'a> {
    cells: Vec<&'a Cells<'a>>,
    sets: &'a LabelSets,
    groups: &'a Groups,
    ids: &'a [Option<i64>],
    /// Groups that show nothing because their rows were suppressed: their ranges are the whole domain.
    hidden: Vec<bool>,
    /// Whether several groups may share a range, that of the larger group they were divided from.
    may_share: bool,
}

impl<'a> Ranges<'a> {
    /// From all cells of a table, or from those that one user knows.
    pub(super) fn new(
        (cells, sets): (Vec<&'a Cells<'a>>, &'a LabelSets),
        (groups, ids): (&'a Groups, &'a [Option<i64>]),
        suppressed: u64,
    ) -> Ranges<'a> {
        let hidden = match suppressed {
            0 => vec![false; groups.n_groups],
            _ => show_nothing(cells.iter().copied(), sets, groups),
        };
        Ranges { cells, sets, groups, ids, hidden, may_share: false }
    }

    /// Classes of a user: they may have the range of a whole butterfly in common.
    pub(super) fn of_classes(self) -> Ranges<'a> {
        Ranges { may_share: true, ..self }
    }
}

/// A person who is the only one with a value at which a range of one group ends.
struct Candidate {
    attribute: usize,
    person: usize,
    group: u32,
}

/// Counts the people whom ends of ranges place in a group; see `attack/spec.md`, extremes.
pub(super) fn placed(shown: &Ranges<'_>, people: Option<&Table>, watch: &dyn Watch) -> EndPlacement {
    let ranges: Vec<&Cells<'_>> = shown.cells.iter().copied().filter(|cells| cells.is_range()).collect();
    if ranges.is_empty() {
        return EndPlacement::NoRanges;
    }
    let Some(people) = people else { return EndPlacement::CannotTell };
    let mut candidates = Vec::new();
    for (attribute, cells) in ranges.iter().enumerate() {
        watch.pause();
        let Some(column) = people.column(&cells.attribute.name) else { continue };
        let found = holders(shown, cells, column).unwrap_or_default();
        candidates.extend(found.into_iter().map(|(person, group)| Candidate { attribute, person, group }));
    }
    let persons: Vec<usize> = candidates.iter().map(|candidate| candidate.person).collect();
    let places = match persons.is_empty() {
        true => Vec::new(),
        false => Places::new(shown.cells.iter().copied(), shown.sets, shown.groups, people).of(&persons, watch),
    };
    // If a range ends at the value of a person who is not in its group, the ranges of the attribute are not tight.
    let mut is_tight = vec![true; ranges.len()];
    for (candidate, places) in candidates.iter().zip(&places) {
        is_tight[candidate.attribute] &= places.binary_search(&candidate.group).is_ok();
    }
    candidates.retain(|candidate| is_tight[candidate.attribute]);
    let placed: BTreeSet<usize> = candidates.iter().map(|candidate| candidate.person).collect();
    let groups: BTreeSet<u32> = candidates.iter().map(|candidate| candidate.group).collect();
    let sizes = shown.groups.sizes();
    let worst = groups.iter().map(|&group| WorstGroup {
        id: shown.ids.get(group as usize).copied().flatten(),
        rows: sizes[group as usize],
        level: 1.0,
        level_text: "1".to_owned(),
    });
    let worst = foremost(worst.collect(), |a, b| a.rows.cmp(&b.rows).then(a.id.cmp(&b.id)));
    EndPlacement::People(placed.len() as u64, worst)
}

/// The groups with a range that ends at a value.
#[derive(Clone, Copy)]
enum EndsOf {
    Nobody,
    One(u32),
    Several,
}

/// The people who are the only ones with a value at which the range of one group ends, and that group; `None` where
/// ranges end at other values than those of people.
fn holders(shown: &Ranges<'_>, cells: &Cells<'_>, column: &Column) -> Option<Vec<(usize, u32)>> {
    let counts = column.histogram();
    let known = |ends: &Column| -> Vec<Option<Code>> {
        let domain = ends.domain();
        let code = |code: Code| column.domain().code_of(domain.value(code)).filter(|&code| counts[code as usize] > 0);
        (0..domain.len() as Code).map(code).collect()
    };
    let (lows, highs) = (known(cells.low), known(cells.high));
    let mut ends = vec![EndsOf::Nobody; counts.len()];
    let (rows, sizes) = (shown.groups.some_rows(), shown.groups.sizes());
    for (group, &row) in rows.iter().enumerate().filter(|(group, _)| sizes[*group] > 0 && !shown.hidden[*group]) {
        let (low, high) = (lows[cells.low.code(row) as usize]?, highs[cells.high.code(row) as usize]?);
        for code in [low, high] {
            let end = &mut ends[code as usize];
            *end = match end {
                EndsOf::Nobody => EndsOf::One(group as u32),
                EndsOf::One(known) if *known == group as u32 => continue,
                EndsOf::One(_) | EndsOf::Several => EndsOf::Several,
            };
        }
    }
    let mut found = Vec::new();
    for (person, code) in column.codes().iter().enumerate().filter(|(_, code)| counts[*code as usize] == 1) {
        match ends[code as usize] {
            EndsOf::One(group) => found.push((person, group)),
            // A person is in one group only, so these ranges are not tight.
            EndsOf::Several if !shown.may_share => return None,
            EndsOf::Nobody | EndsOf::Several => {}
        }
    }
    Some(found)
}

//! The shares of sensitive values over all worlds that fit several releases.
//!
//! A world says who has which value, and who is where, so that every group of every release has the values it shows.
//! All worlds are equally likely; a person's share of a value is the fraction of worlds in which the person has it.
//! `spec.md` has the definition, the steps and what is not exact.

mod again;
mod bounds;
mod estimate;
mod exact;
mod links;
mod puzzle;
mod solve;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use chrysalis_criteria::Rational;
use chrysalis_table::{Column, Table, Watch};
use rayon::prelude::*;

use super::finder::{Finder, classes};
use super::views::JoinedView;
use crate::boxes::index::{Boxes, Index};
use crate::{NotCounted, SHARE_ERROR_PERCENT, Shares, SharesOver};
use again::new_ones;
pub(super) use puzzle::Likes;
use puzzle::{Puzzle, Side};
use solve::{Best, Solution, solve};

/// The most places that are examined over all kinds of people.
pub(super) const MAX_PLACES: usize = 10_000_000;

/// The people who are tried.
pub(super) struct Tried<'a> {
    pub(super) people: &'a Table,
    /// The sensitive column of the people, where it is known, and the numbers of its values.
    pub(super) truth: Option<(&'a Column, Vec<Option<u32>>)>,
}

/// The rows of the first table that shows people, as people.
pub(super) fn shown_people(views: &[&JoinedView<'_>]) -> Option<Table> {
    let view = views.iter().find(|view| view.has_people)?;
    Some(Table::new(view.published.quasi.iter().map(|cells| cells.low.clone()).collect()))
}

/// What several tables together say about everybody's value.
pub(super) fn together(
    views: &[&JoinedView<'_>],
    tried: &Tried<'_>,
    promised: Option<Rational>,
    watch: &dyn Watch,
) -> Result<Shares, NotCounted> {
    let (mut fitting, of_row) = Fitting::new(views, tried.people, watch)?;
    let kinds = std::mem::take(&mut fitting.kinds);
    let sides = views.iter().map(|view| side(view, watch)).collect();
    let (puzzle, solution) = solved(sides, kinds, watch)?;
    let best = best_bets(&puzzle, &solution, promised);
    let over = if tried.truth.is_some() { SharesOver::People } else { SharesOver::Rows };
    let mut shares = counted(&puzzle, &best, promised, over);
    if let Some((column, number)) = &tried.truth {
        let is_right = |&(row, kind): &(usize, &u32)| {
            let cell = fitting.kind_of[*kind as usize].map(|kind| puzzle.cell_of[kind as usize] as usize);
            let best = cell.and_then(|cell| best[cell]).filter(|best| best.is_above);
            best.is_some_and(|best| number[column.code(row) as usize] == Some(best.value))
        };
        shares.right = Some(of_row.iter().enumerate().filter(is_right).count() as u64);
    }
    Ok(shares)
}

/// What several tables together say about the values of people of whom it is known where they can be; in a table that does
/// not have them they are nowhere.
///
/// `set_of` numbers the set of values that a block of a view shows. Everybody's groups show one and the same set: worlds in
/// which somebody is in groups with different sets do not count.
pub(super) fn of_kinds(
    views: &[&JoinedView<'_>],
    kinds: Vec<Likes>,
    set_of: &dyn Fn(usize, usize) -> u32,
    promised: Option<Rational>,
    watch: &dyn Watch,
) -> Result<Shares, NotCounted> {
    let mut sides: Vec<Side> = views.iter().map(|view| side(view, watch)).collect();
    let plain = tell_apart(&mut sides, set_of);
    let (mut puzzle, solution) = solved(sides, kinds, watch)?;
    puzzle.plain = Some(plain);
    let best = best_bets(&puzzle, &solution, promised);
    Ok(counted(&puzzle, &best, promised, SharesOver::People))
}

/// Makes values of different sets different ones, so that whoever has one value in all releases is shown with one set.
/// Returns the value that was there, by the new number.
fn tell_apart(sides: &mut [Side], set_of: &dyn Fn(usize, usize) -> u32) -> Vec<u32> {
    let mut numbers: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for (at, side) in sides.iter().enumerate() {
        for (block, shown) in side.blocks.iter().enumerate() {
            let set = set_of(at, block);
            numbers.extend(shown.values.iter().map(|&(value, _)| ((set, value), 0)));
        }
    }
    // In the order of sets, then values: the values of a block stay in their order.
    numbers.values_mut().zip(0..).for_each(|(number, next)| *number = next);
    for (at, side) in sides.iter_mut().enumerate() {
        for (block, shown) in side.blocks.iter_mut().enumerate() {
            let set = set_of(at, block);
            shown.values.iter_mut().for_each(|(value, _)| *value = numbers[&(set, *value)]);
        }
    }
    numbers.into_keys().map(|(_, value)| value).collect()
}

/// The puzzle of several tables, and what can be said about all worlds that fit it.
fn solved(mut sides: Vec<Side>, mut kinds: Vec<Likes>, watch: &dyn Watch) -> Result<(Puzzle, Solution), NotCounted> {
    let new = new_ones(&sides, &kinds);
    sides = new.iter().map(|&at| std::mem::take(&mut sides[at])).collect();
    for kind in &mut kinds {
        kind.places = new.iter().map(|&at| std::mem::take(&mut kind.places[at])).collect();
        kind.margins = new.iter().map(|&at| std::mem::take(&mut kind.margins[at])).collect();
    }
    let puzzle = Puzzle::new(&sides, &kinds, watch).ok_or(NotCounted::TooManyOverlaps)?;
    drop((sides, kinds));
    let solution = solve(&puzzle, watch);
    Ok((puzzle, solution))
}

/// The best bet on everybody.
fn best_bets(puzzle: &Puzzle, solution: &Solution, promised: Option<Rational>) -> Vec<Option<Best>> {
    let error = SHARE_ERROR_PERCENT as f64 / 100.0;
    (0..puzzle.cells.len()).map(|cell| solution.best(puzzle, cell, promised, error)).collect()
}

/// How many people the best bets concern.
fn counted(puzzle: &Puzzle, best: &[Option<Best>], promised: Option<Rational>, over: SharesOver) -> Shares {
    let mut shares = Shares {
        promised,
        largest: None,
        is_largest_exact: true,
        people: 0,
        estimated: 0,
        above: 0,
        right: None,
        impossible: 0,
        over,
    };
    for (cell, best) in puzzle.cells.iter().zip(best).filter(|(cell, _)| cell.is_known) {
        let Some(best) = best else {
            shares.impossible += cell.people;
            continue;
        };
        shares.people += cell.people;
        shares.estimated += if best.is_exact { 0 } else { cell.people };
        shares.above += if best.is_above { cell.people } else { 0 };
        if shares.largest.is_none_or(|largest| best.share > largest) {
            (shares.largest, shares.is_largest_exact) = (Some(best.share), best.is_exact);
        }
    }
    shares
}

/// Numbers the places of a view, and the values of permuted columns.
pub(super) struct Placing<'a> {
    numbers: PlaceNumbers,
    margins: Vec<Margin<'a>>,
}

impl<'a> Placing<'a> {
    pub(super) fn new(view: &JoinedView<'_>, people: &'a Table) -> Placing<'a> {
        Placing { numbers: PlaceNumbers::new(view), margins: margins(view, people) }
    }

    pub(super) fn places(&self, groups: &[u32]) -> Vec<u32> {
        self.numbers.of_groups(groups)
    }

    pub(super) fn margins(&self, row: usize) -> Vec<(u32, u32)> {
        self.margins.iter().filter_map(|margin| margin.of(row)).collect()
    }
}

/// The kinds of people who fit: every table has groups that may hold them, and these have a value in common.
struct Fitting {
    kinds: Vec<Likes>,
    /// The kind of every class of people; `None` where they do not fit.
    kind_of: Vec<Option<u32>>,
}

impl Fitting {
    /// Also returns the class of every row.
    fn new(views: &[&JoinedView<'_>], people: &Table, watch: &dyn Watch) -> Result<(Fitting, Vec<u32>), NotCounted> {
        let finders: Vec<Finder<'_>> = views.iter().map(|view| Finder::new(view, people, false, watch)).collect();
        let boxes: Vec<Boxes<'_>> = finders.iter().map(Finder::boxes).collect();
        let indexes: Vec<Index<'_>> = boxes.iter().map(|boxes| Index::new(boxes, watch)).collect();
        let numbering: Vec<PlaceNumbers> = views.iter().map(|view| PlaceNumbers::new(view)).collect();
        let margins: Vec<Vec<Margin<'_>>> = views.iter().map(|view| margins(view, people)).collect();
        let classes = classes(views, people, watch);
        let rows: Vec<(usize, u64)> = classes.some_rows().into_iter().zip(classes.sizes()).collect();
        // Groups of hostile releases may all overlap.
        let n_found = AtomicUsize::new(0);
        let of_class = |&(row, people): &(usize, u64)| -> Option<Likes> {
            watch.pause();
            if n_found.load(Ordering::Relaxed) > MAX_PLACES {
                return None;
            }
            let groups: Vec<Vec<u32>> =
                finders.iter().zip(&indexes).map(|(finder, index)| finder.groups(index, row)).collect();
            let places: Vec<Vec<u32>> =
                groups.iter().zip(&numbering).map(|(groups, numbers)| numbers.of_groups(groups)).collect();
            n_found.fetch_add(places.iter().map(Vec::len).sum(), Ordering::Relaxed);
            let has_value = has_common_value(views.iter().copied().zip(groups.iter().map(Vec::as_slice)));
            let margins = margins.iter().map(|columns| columns.iter().filter_map(|margin| margin.of(row)).collect());
            has_value.then(|| Likes { people, places, margins: margins.collect() })
        };
        let found: Vec<Option<Likes>> = rows.par_iter().map(of_class).collect();
        if n_found.into_inner() > MAX_PLACES {
            return Err(NotCounted::TooManyOverlaps);
        }
        let mut fitting = Fitting { kinds: Vec::new(), kind_of: Vec::with_capacity(found.len()) };
        for kind in found {
            fitting.kind_of.push(kind.as_ref().map(|_| fitting.kinds.len() as u32));
            fitting.kinds.extend(kind);
        }
        Ok((fitting, classes.of_row))
    }
}

/// Whether some value is in one of these groups of every table.
pub(super) fn has_common_value<'v, 'a: 'v>(views: impl Iterator<Item = (&'v JoinedView<'a>, &'v [u32])>) -> bool {
    let mut left: Option<Vec<u32>> = None;
    for (view, groups) in views {
        let mut values: Vec<u32> =
            groups.iter().flat_map(|&group| &view.groups[group as usize].values).copied().collect();
        values.sort_unstable();
        values.dedup();
        left = Some(match left {
            None => values,
            Some(left) => left.into_iter().filter(|value| values.binary_search(value).is_ok()).collect(),
        });
    }
    left.is_some_and(|left| !left.is_empty())
}

/// The places of a table, group after group.
struct PlaceNumbers {
    starts: Vec<u32>,
}

impl PlaceNumbers {
    fn new(view: &JoinedView<'_>) -> PlaceNumbers {
        let mut starts = vec![0];
        for group in &view.groups {
            starts.push(starts[starts.len() - 1] + group.places.len() as u32);
        }
        PlaceNumbers { starts }
    }

    fn of_groups(&self, groups: &[u32]) -> Vec<u32> {
        groups.iter().flat_map(|&group| self.starts[group as usize]..self.starts[group as usize + 1]).collect()
    }
}

fn side(view: &JoinedView<'_>, watch: &dyn Watch) -> Side {
    let mut margins = BTreeMap::new();
    if view.is_permuted {
        // PROOF: a group of permuted rows has one place, whose rows are all rows of the block.
        let of_group: BTreeMap<u32, u32> = view
            .groups
            .iter()
            .flat_map(|group| group.places.iter().map(|place| (view.published.group.code(group.row), place.block)))
            .collect();
        for (column, cells) in (0..).zip(&view.published.quasi) {
            for (row, (group, code)) in view.published.group.codes().iter().zip(cells.low.codes().iter()).enumerate() {
                watch.pause_at(row);
                if let Some(&block) = of_group.get(&group) {
                    *margins.entry((block, column, code)).or_default() += 1;
                }
            }
        }
    }
    Side {
        blocks: view.blocks.clone(),
        places: view.groups.iter().flat_map(|group| group.places.iter().copied()).collect(),
        margins,
        is_permuted: view.is_permuted,
    }
}

/// The people's values of a permuted column.
struct Margin<'a> {
    number: u32,
    people: &'a Column,
    /// The published code of every code of the people.
    codes: Vec<Option<u32>>,
}

impl Margin<'_> {
    fn of(&self, row: usize) -> Option<(u32, u32)> {
        Some((self.number, self.codes[self.people.code(row) as usize]?))
    }
}

fn margins<'a>(view: &JoinedView<'_>, people: &'a Table) -> Vec<Margin<'a>> {
    let columns = (0..).zip(&view.published.quasi).filter(|_| view.is_permuted);
    let margin = |(number, cells): (u32, &crate::boxes::cells::Cells<'_>)| {
        let column = people.column(&cells.attribute.name)?;
        let (own, published) = (column.domain(), cells.low.domain());
        let codes = (0..own.len() as u32).map(|code| published.code_of(own.value(code))).collect();
        Some(Margin { number, people: column, codes })
    };
    columns.filter_map(margin).collect()
}

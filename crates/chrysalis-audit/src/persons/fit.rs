//! Which groups can hold a person of the microdata with all their rows at once.

use chrysalis_release::{Detail, RoleName, Values};
use chrysalis_table::{Code, Codes, Table, Watch};
use rayon::prelude::*;

use super::source::SourcePersons;
use super::tables::PersonTables;
use crate::boxes::angel::BatchTables;
use crate::boxes::cells::BoxTable;
use crate::boxes::index::{Boxes, Index, Mark};
use crate::boxes::space::Axis;
use crate::grouping::Key;
use crate::source::join;
use crate::{AuditError, Groups};

/// The groups that can hold a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fits {
    Nowhere,
    Only(u32),
    Several,
}

/// One thing that rows show and that groups have some of: how many rows of a group show it.
struct Side {
    /// What every row of the microdata shows.
    of_row: Vec<u32>,
    /// For everything that is shown: the groups that have it, ascending, and in how many rows.
    groups: Vec<Vec<(u32, u32)>>,
}

/// A table of ranges and labels. A box is what some rows of one group show.
struct BoxSide<'a> {
    axes: Vec<Axis<'a>>,
    /// The quasi values of every row of the microdata, one rank per axis.
    points: Vec<Vec<u32>>,
    /// The group of every box, its rows, and one of them.
    boxes: Vec<(u32, u32, u32)>,
}

/// Finds out for every person where they fit: with as many of their rows as were published.
pub(super) fn places(
    tables: &PersonTables<'_>,
    source: &SourcePersons,
    watch: &dyn Watch,
) -> Result<Vec<Fits>, AuditError> {
    let shape = tables.manifest.method.shape();
    let mut sides: Vec<Side> = Vec::new();
    match shape.detail {
        Detail::Exact => sides.extend(joint(tables, source, &[RoleName::Quasi, RoleName::Other], watch)),
        Detail::Permuted => {
            for attribute in tables.manifest.with_role(RoleName::Quasi) {
                sides.extend(of_columns(tables, source, &[attribute.name.as_str()], watch));
            }
        }
        Detail::GroupBoxes | Detail::RowBoxes => {}
    }
    // Where rows show their own sensitive value, it stands beside the columns that are kept as they are.
    match shape.detail.is_labelled() && shape.values == Values::Beside {
        true => sides.extend(joint(tables, source, &[RoleName::Other, RoleName::Sensitive], watch)),
        false => sides.extend(of_values(tables, source)),
    }
    match shape.detail {
        Detail::Exact | Detail::Permuted => Ok(search(tables, source, &sides, &[], watch)),
        Detail::GroupBoxes => {
            let table = BoxTable::open(tables.release)?;
            let boxes = [BoxSide::new(tables, &table, &source.table, watch)];
            Ok(search(tables, source, &sides, &boxes, watch))
        }
        Detail::RowBoxes => {
            let batches = BatchTables::open(tables.release)?;
            let boxes: Vec<BoxSide<'_>> =
                batches.tables.iter().map(|table| BoxSide::new(tables, table, &source.table, watch)).collect();
            Ok(search(tables, source, &sides, &boxes, watch))
        }
    }
}

/// Several columns of the table of people whose values belong together.
fn joint(tables: &PersonTables<'_>, source: &SourcePersons, roles: &[RoleName], watch: &dyn Watch) -> Option<Side> {
    let attributes = roles.iter().flat_map(|role| tables.manifest.with_role(*role));
    let names: Vec<&str> = attributes.map(|attribute| attribute.name.as_str()).collect();
    of_columns(tables, source, &names, watch)
}

fn of_columns(tables: &PersonTables<'_>, source: &SourcePersons, names: &[&str], watch: &dyn Watch) -> Option<Side> {
    watch.pause();
    let joined: Option<Vec<(Codes, usize)>> =
        names.iter().map(|name| Some(join(source.table.column(name)?, tables.people.column(name)?))).collect();
    let joined = joined.filter(|joined| !joined.is_empty())?;
    let keys: Vec<Key<'_>> = joined.iter().map(|(codes, n_codes)| Key { codes, n_codes: *n_codes }).collect();
    let kinds = Groups::of_keys(&keys, source.table.rows() + tables.people.rows(), watch);
    let mut of_row = kinds.of_row;
    let published = of_row.split_off(source.table.rows());
    let mut pairs: Vec<(u32, u32)> = published.into_iter().zip(tables.groups.of_row.iter().copied()).collect();
    pairs.par_sort_unstable();
    let mut groups = vec![Vec::new(); kinds.n_groups];
    for run in pairs.chunk_by(|a, b| a == b) {
        groups[run[0].0 as usize].push((run[0].1, run.len() as u32));
    }
    Some(Side { of_row, groups })
}

/// Sensitive values, as groups list them.
fn of_values(tables: &PersonTables<'_>, source: &SourcePersons) -> Option<Side> {
    let values = tables.values.as_ref()?;
    let column = source.table.column(&values.attribute.name)?;
    let (known, shown) = (column.domain(), values.column.domain());
    // A value that no group shows has a place of its own, which no group has.
    let n_shown = shown.len() as u32;
    let code = |code: Code| shown.code_of(known.value(code)).unwrap_or(n_shown);
    let of_code: Vec<u32> = (0..known.len() as Code).map(code).collect();
    let mut groups = vec![Vec::new(); shown.len() + 1];
    for group in 0..tables.ids.len() {
        let values = values.counts.group(group).values.iter();
        values.for_each(|&(code, count)| groups[code as usize].push((group as u32, count)));
    }
    Some(Side { of_row: column.codes().iter().map(|code| of_code[code as usize]).collect(), groups })
}

impl<'a> BoxSide<'a> {
    fn new(tables: &PersonTables<'_>, published: &BoxTable<'a>, people: &Table, watch: &dyn Watch) -> BoxSide<'a> {
        let sets = published.label_sets();
        let known: Vec<_> =
            published.quasi.iter().filter_map(|cells| Some((cells, people.column(&cells.attribute.name)?))).collect();
        let axes: Vec<Axis<'a>> = known.iter().map(|(cells, column)| Axis::new(cells, column, &sets)).collect();
        let point =
            |row: usize| axes.iter().zip(&known).map(|(axis, (_, column))| axis.rank(column.code(row))).collect();
        let points = (0..people.rows()).map(point).collect();
        let of_row = super::tables::numbered(&tables.ids, published.group);
        let of_group = Codes::collect(tables.ids.len().max(1), of_row.iter().copied());
        let mut keys = vec![Key { codes: &of_group, n_codes: tables.ids.len().max(1) }];
        let columns = published.cell_columns();
        keys.extend(columns.iter().map(|column| Key::of(column)));
        let looks = Groups::of_keys(&keys, of_row.len(), watch);
        let sizes = looks.sizes();
        let some_rows = looks.some_rows();
        let boxes = (0..looks.n_groups).map(|at| (of_row[some_rows[at]], sizes[at] as u32, some_rows[at] as u32));
        BoxSide { axes, points, boxes: boxes.collect() }
    }

    fn boxes(&self) -> Boxes<'_> {
        let rows = self.boxes.iter().map(|&(_, _, row)| row as usize);
        let intervals = rows.flat_map(|row| self.axes.iter().map(move |axis| axis.interval(row)));
        Boxes { axes: &self.axes, intervals: intervals.collect(), n: self.boxes.len() }
    }

    /// The boxes of every group.
    fn of_groups(&self, n_groups: usize) -> Vec<Vec<u32>> {
        let mut of_group = vec![Vec::new(); n_groups];
        (0..).zip(&self.boxes).for_each(|(at, &(group, ..))| of_group[group as usize].push(at));
        of_group
    }
}

impl Side {
    /// What some rows show, each once, with how many of them show it.
    fn of(&self, rows: &[u32]) -> Vec<(u32, u32)> {
        let mut shown: Vec<u32> = rows.iter().map(|&row| self.of_row[row as usize]).collect();
        shown.sort_unstable();
        shown.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect()
    }

    /// How many of the rows that show this can be in a group.
    fn room(&self, shown: &[(u32, u32)], group: u32) -> u64 {
        let room = |&(kind, rows): &(u32, u32)| {
            let groups = &self.groups[kind as usize];
            let have = groups.binary_search_by_key(&group, |&(group, _)| group).map_or(0, |at| groups[at].1);
            u64::from(have.min(rows))
        };
        shown.iter().map(room).sum()
    }
}

/// Where everybody fits.
fn search(
    tables: &PersonTables<'_>,
    source: &SourcePersons,
    sides: &[Side],
    box_sides: &[BoxSide<'_>],
    watch: &dyn Watch,
) -> Vec<Fits> {
    let all_boxes: Vec<Boxes<'_>> = box_sides.iter().map(BoxSide::boxes).collect();
    let of_groups: Vec<Vec<Vec<u32>>> = box_sides.iter().map(|side| side.of_groups(tables.ids.len())).collect();
    let index = all_boxes.first().map(|boxes| Index::new(boxes, watch));
    let of_person = |rows: &Vec<u32>| {
        watch.pause();
        let needed = source.published_rows(rows.len() as u64);
        let shown: Vec<Vec<(u32, u32)>> = sides.iter().map(|side| side.of(rows)).collect();
        let covers = |at: usize, index: u32| {
            let covered =
                rows.iter().filter(|&&row| all_boxes[at].covers(index as usize, &box_sides[at].points[row as usize]));
            u64::from(box_sides[at].boxes[index as usize].1) >= needed && covered.count() as u64 >= needed
        };
        let fits = |group: u32| {
            let (persons, of_group) = (tables.persons[group as usize], tables.rows[group as usize]);
            let has_rows = match tables.rows_known {
                true => persons > 0 && needed * persons == of_group,
                // Everybody else has one row at least.
                false => persons > 0 && needed + persons <= of_group + 1,
            };
            has_rows
                && sides.iter().zip(&shown).all(|(side, shown)| side.room(shown, group) >= needed)
                && (0..box_sides.len()).all(|at| of_groups[at][group as usize].iter().any(|&index| covers(at, index)))
        };
        let mut found = Fits::Nowhere;
        // Whether to look on: not once there are two groups.
        let mut meet = |group: u32| {
            if found == Fits::Only(group) || !fits(group) {
                return true;
            }
            found = if found == Fits::Nowhere { Fits::Only(group) } else { Fits::Several };
            found != Fits::Several
        };
        // Where all rows were published, the first of them decides; otherwise each may be the one.
        let is_whole = needed == rows.len() as u64;
        if let (Some(index), Some(side)) = (&index, box_sides.first()) {
            let mut goes_on = true;
            for &row in rows.iter().take(if is_whole { 1 } else { rows.len() }) {
                index.visit(Mark::Unseen, &side.points[row as usize], |at| {
                    goes_on = meet(side.boxes[at as usize].0);
                    goes_on
                });
                if !goes_on {
                    break;
                }
            }
            return found;
        }
        let lists = || {
            sides
                .iter()
                .zip(&shown)
                .flat_map(|(side, shown)| shown.iter().map(|&(kind, _)| &side.groups[kind as usize]))
        };
        match is_whole {
            true => {
                let rarest = lists().min_by_key(|groups| groups.len());
                rarest.into_iter().flatten().all(|&(group, _)| meet(group));
            }
            false => {
                lists().flatten().all(|&(group, _)| meet(group));
            }
        }
        found
    };
    source.persons.par_iter().with_min_len(16).map(of_person).collect()
}

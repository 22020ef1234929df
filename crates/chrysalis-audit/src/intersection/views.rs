//! A release as the attacker sees it: tables of groups, each with a box and a set of sensitive values.

use std::collections::{BTreeMap, BTreeSet};

use chrysalis_release::{Attribute, Release, RoleName};
use chrysalis_table::{Code, Column, Watch};

use crate::boxes::angel::{BatchTables, buckets};
use crate::boxes::cells::{BoxTable, Cells};
use crate::boxes::space::LabelSets;
use crate::measure::GroupCounts;
use crate::values::{RowsWithValues, rows_with_values};
use crate::{AuditError, Groups};

/// One table with boxes.
pub(crate) struct JoinedView<'a> {
    /// The table, with the cells of its own quasi attributes, then those of attributes that it shows as they are and
    /// another release treats as quasi: an attacker who knows these can tell its rows apart by them.
    pub(super) published: BoxTable<'a>,
    /// How many of the attributes are its own.
    pub(super) n_own: usize,
    pub(super) sets: LabelSets,
    pub(super) groups: Vec<GroupView>,
    /// Whether a group shows the values of every attribute, but not which belong together: then the cells of all its
    /// rows are those of the group.
    pub(super) is_permuted: bool,
    /// Whether every row shows the values of one person: then its rows are people.
    pub(super) has_people: bool,
    /// The sensitive values that are shown together.
    pub(super) blocks: Vec<Block>,
}

/// Rows that look the same.
pub(super) struct GroupView {
    /// One of them.
    pub(super) row: usize,
    /// The sensitive values that a member may have, ascending, numbered alike in all releases. Empty where nothing
    /// sensitive is published.
    pub(super) values: Vec<u32>,
    /// The blocks that its rows are in.
    pub(super) places: Vec<Place>,
}

/// Rows that look the same and are in the same block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) block: u32,
    pub(super) rows: u64,
}

/// Rows whose sensitive values are shown together, without saying which row has which: a group, a class or a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    /// Values and how many rows have each, ascending.
    pub(super) values: Vec<(u32, u64)>,
}

impl Block {
    pub(super) fn rows(&self) -> u64 {
        self.values.iter().map(|(_, count)| count).sum()
    }
}

impl JoinedView<'_> {
    pub(super) fn attributes(&self) -> impl Iterator<Item = &str> {
        self.published.quasi.iter().map(|cells| cells.attribute.name.as_str())
    }
}

/// Releases that are joined.
pub(crate) struct JoinedReleases<'a> {
    /// All of them.
    pub(super) all: &'a [&'a Release],
    /// The numbers of sensitive values, by their text.
    pub(super) numbers: BTreeMap<String, u32>,
    pub(super) watch: &'a dyn Watch,
}

/// One view of a release that shows boxes by group.
pub(crate) fn of_groups<'a>(
    release: &'a Release,
    joined: &mut JoinedReleases<'_>,
) -> Result<Vec<JoinedView<'a>>, AuditError> {
    Ok(vec![generalized(release, None, joined)?])
}

/// The same for several users, one view each.
pub(crate) fn of_users<'a>(
    release: &'a Release,
    joined: &mut JoinedReleases<'_>,
) -> Result<Vec<JoinedView<'a>>, AuditError> {
    let sets = release.manifest.quasi_identifiers.iter();
    sets.map(|set| generalized(release, Some(set), joined)).collect()
}

/// One view of a release that shows values.
pub(crate) fn of_values<'a>(
    release: &'a Release,
    joined: &mut JoinedReleases<'_>,
) -> Result<Vec<JoinedView<'a>>, AuditError> {
    Ok(vec![verbatim(rows_with_values(release)?, joined)])
}

impl JoinedReleases<'_> {
    /// The number of every sensitive value of a column.
    fn numbered(&mut self, column: &Column) -> Vec<u32> {
        let number = |code: Code| {
            let next = self.numbers.len() as u32;
            *self.numbers.entry(column.domain().text(code).into_owned()).or_insert(next)
        };
        (0..column.domain().len() as Code).map(number).collect()
    }
}

fn generalized<'a>(
    release: &'a Release,
    set: Option<&[String]>,
    joined: &mut JoinedReleases<'_>,
) -> Result<JoinedView<'a>, AuditError> {
    let mut published = BoxTable::open(release)?;
    let sensitive = published.sensitive.map(|(_, column)| (column, joined.numbered(column)));
    if let Some(set) = set {
        published.quasi.retain(|cells| set.contains(&cells.attribute.name));
    }
    let n_own = published.quasi.len();
    let mut sets = published.label_sets();
    for &(attribute, values) in &published.others {
        let is_quasi = |release: &&Release| {
            let known = release.manifest.attribute(&attribute.name);
            known.is_some_and(|known| known.role == RoleName::Quasi && known.kind == attribute.kind)
        };
        if joined.all.iter().any(is_quasi) {
            published.quasi.push(Cells { attribute, low: values, high: values });
            let texts = (0..values.domain().len() as Code).map(|code| values.domain().text(code).into_owned());
            sets.extend(texts.map(|text| ((attribute.name.clone(), text.clone()), BTreeSet::from([text]))));
        }
    }
    let rows = published.table.rows();
    // A user can tell rows apart only by the attributes of their set.
    let groups = match set {
        Some(_) => Groups::of_columns(&published.cell_columns(), rows, joined.watch),
        None => {
            let extra = published.quasi[n_own..].iter().map(|cells| cells.low);
            let columns: Vec<&Column> = std::iter::once(published.group).chain(extra).collect();
            Groups::of_columns(&columns, rows, joined.watch)
        }
    };
    let mut of_group: Vec<(usize, Vec<u32>)> = vec![(0, Vec::new()); groups.n_groups];
    for (row, &group) in groups.of_row.iter().enumerate() {
        let known = &mut of_group[group as usize];
        known.0 = row;
        known.1.extend(sensitive.as_ref().map(|(column, number)| number[column.code(row) as usize]));
    }
    let (mut views, mut blocks) = (Vec::with_capacity(groups.n_groups), Vec::with_capacity(groups.n_groups));
    for ((row, values), rows) in of_group.into_iter().zip(groups.sizes()) {
        let values = counted(values);
        let places = vec![Place { block: blocks.len() as u32, rows }];
        views.push(GroupView { row, values: values.iter().map(|&(value, _)| value).collect(), places });
        blocks.push(Block { values });
    }
    Ok(JoinedView { sets, published, n_own, groups: views, is_permuted: false, has_people: false, blocks })
}

/// One view per generalized table: a member of a bucket has a value of one of the batches there.
pub(crate) fn of_buckets<'a>(
    release: &'a Release,
    joined: &mut JoinedReleases<'_>,
) -> Result<Vec<JoinedView<'a>>, AuditError> {
    let angel = BatchTables::open(release)?;
    let batches = angel.batches()?;
    let number = joined.numbered(angel.sensitive.1);
    let view = |published: BoxTable<'a>| {
        let groups = buckets(&published, joined.watch);
        let of_row = batches.of_rows(published.group);
        let mut of_bucket: Vec<(usize, Vec<u32>)> = vec![(0, Vec::new()); groups.n_groups];
        for (row, &bucket) in groups.of_row.iter().enumerate() {
            let known = &mut of_bucket[bucket as usize];
            known.0 = row;
            known.1.push(of_row[row]);
        }
        let values = |(row, members): (usize, Vec<u32>)| {
            let members = counted(members);
            let codes = members.iter().flat_map(|&(batch, _)| batches.sample.group(batch as usize).values);
            let values = distinct(codes.map(|&(code, _)| number[code as usize]).collect());
            let places = members.iter().map(|&(block, rows)| Place { block, rows }).collect();
            GroupView { row, values, places }
        };
        let groups = of_bucket.into_iter().map(values).collect();
        let (sets, n_own) = (published.label_sets(), published.quasi.len());
        let blocks = blocks(&batches.sample, &number);
        JoinedView { sets, n_own, published, groups, is_permuted: false, has_people: false, blocks }
    };
    Ok(angel.tables.into_iter().map(view).collect())
}

/// Values as they are: a person with the values of a row may be the person of that row, and has a sensitive value of
/// its group. Where columns are permuted, a person with a value of every column of a group may be in it.
fn verbatim<'a>(rows: RowsWithValues<'a>, joined: &mut JoinedReleases<'_>) -> JoinedView<'a> {
    let (number, is_permuted) = (joined.numbered(rows.sensitive), rows.is_permuted);
    let cells = |&(attribute, values): &(&'a Attribute, &'a Column)| Cells { attribute, low: values, high: values };
    let published = BoxTable {
        manifest: rows.manifest,
        name: rows.manifest.method.shape().people.to_owned(),
        table: rows.table,
        group: rows.group,
        quasi: rows.quasi.iter().map(cells).collect(),
        others: Vec::new(),
        sensitive: None,
        members: None,
    };
    let mut sets = LabelSets::new();
    for (attribute, values) in &rows.quasi {
        let texts = (0..values.domain().len() as Code).map(|code| values.domain().text(code).into_owned());
        sets.extend(texts.map(|text| ((attribute.name.clone(), text.clone()), BTreeSet::from([text]))));
    }
    let beside = rows.quasi.iter().map(|(_, column)| *column).filter(|_| !is_permuted);
    let columns: Vec<&Column> = std::iter::once(rows.group).chain(beside).collect();
    let groups = Groups::of_columns(&columns, rows.table.rows(), joined.watch);
    let view = |(row, n): (usize, u64)| {
        let block = rows.of_row[row];
        let values = rows.sample.group(block as usize).values;
        let values = distinct(values.iter().map(|&(code, _)| number[code as usize]).collect());
        GroupView { row, values, places: vec![Place { block, rows: n }] }
    };
    let groups = groups.some_rows().into_iter().zip(groups.sizes()).map(view).collect();
    let (blocks, n_own) = (blocks(&rows.sample, &number), published.quasi.len());
    JoinedView { sets, n_own, published, groups, is_permuted, has_people: !is_permuted, blocks }
}

/// The values of all groups, as all releases number them.
fn blocks(sample: &GroupCounts, number: &[u32]) -> Vec<Block> {
    let block = |group: usize| {
        let values = sample.group(group).values.iter().map(|&(code, count)| (number[code as usize], u64::from(count)));
        let mut values: Vec<(u32, u64)> = values.collect();
        values.sort_unstable();
        // Two codes with one text have one number.
        let sum = |run: &[(u32, u64)]| (run[0].0, run.iter().map(|(_, count)| count).sum());
        Block { values: values.chunk_by(|a, b| a.0 == b.0).map(sum).collect() }
    };
    (0..sample.sizes().len()).map(block).collect()
}

/// Every number once, ascending, and how often it occurs.
fn counted(mut numbers: Vec<u32>) -> Vec<(u32, u64)> {
    numbers.sort_unstable();
    numbers.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u64)).collect()
}

fn distinct(mut numbers: Vec<u32>) -> Vec<u32> {
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

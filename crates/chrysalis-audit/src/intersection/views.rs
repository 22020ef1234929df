//! A release as the attacker sees it: tables of groups, each with a box and a set of sensitive values.

use std::collections::{BTreeMap, BTreeSet};

use chrysalis_release::{Attribute, Release, RoleName};
use chrysalis_table::{Code, Column, Watch};

use crate::boxes::angel::{Angelized, buckets};
use crate::boxes::cells::{BoxTable, Cells};
use crate::boxes::space::LabelSets;
use crate::values::{RowsWithValues, rows_with_values};
use crate::{AuditError, Groups};

/// One table with boxes.
pub(crate) struct JoinedView<'a> {
    /// Its cells are those of its own quasi attributes, then those it shows as they are and another release treats as
    /// quasi: who knows these can tell its rows apart by them.
    pub(super) published: BoxTable<'a>,
    /// How many are its own.
    pub(super) n_own: usize,
    pub(super) sets: LabelSets,
    pub(super) groups: Vec<GroupView>,
    /// Whether a group shows the values of every attribute, and not what stands beside what: then the cells of all its
    /// rows are the group's.
    pub(super) is_permuted: bool,
}

/// The rows that look the same.
pub(super) struct GroupView {
    /// One of them.
    pub(super) row: usize,
    /// The sensitive values one of which a member has, numbered alike in all releases, ascending. None where nothing
    /// sensitive is published.
    pub(super) values: Vec<u32>,
}

impl JoinedView<'_> {
    pub(super) fn attributes(&self) -> impl Iterator<Item = &str> {
        self.published.quasi.iter().map(|cells| cells.attribute.name.as_str())
    }
}

/// Releases that are joined.
pub(crate) struct Joined<'a> {
    /// All of them.
    pub(super) all: &'a [&'a Release],
    /// The numbers of sensitive values, by their text.
    pub(super) numbers: BTreeMap<String, u32>,
    pub(super) watch: &'a dyn Watch,
}

/// One view of a release that shows boxes by group.
pub(crate) fn of_groups<'a>(release: &'a Release, joined: &mut Joined<'_>) -> Result<Vec<JoinedView<'a>>, AuditError> {
    Ok(vec![generalized(release, None, joined)?])
}

/// The same for several users, one view each.
pub(crate) fn of_users<'a>(release: &'a Release, joined: &mut Joined<'_>) -> Result<Vec<JoinedView<'a>>, AuditError> {
    let sets = release.manifest.quasi_identifiers.iter();
    sets.map(|set| generalized(release, Some(set), joined)).collect()
}

/// One view of a release that shows values.
pub(crate) fn of_values<'a>(release: &'a Release, joined: &mut Joined<'_>) -> Result<Vec<JoinedView<'a>>, AuditError> {
    Ok(vec![verbatim(rows_with_values(release)?, joined)])
}

impl Joined<'_> {
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
    joined: &mut Joined<'_>,
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
    // Only what a set shows tells a user's rows apart.
    let groups = match set {
        Some(_) => Groups::of_columns(&published.cell_columns(), rows, joined.watch),
        None => {
            let extra = published.quasi[n_own..].iter().map(|cells| cells.low);
            let columns: Vec<&Column> = std::iter::once(published.group).chain(extra).collect();
            Groups::of_columns(&columns, rows, joined.watch)
        }
    };
    let mut views: Vec<GroupView> = (0..groups.n_groups).map(|_| GroupView { row: 0, values: Vec::new() }).collect();
    for (row, &group) in groups.of_row.iter().enumerate() {
        let view = &mut views[group as usize];
        view.row = row;
        view.values.extend(sensitive.as_ref().map(|(column, number)| number[column.code(row) as usize]));
    }
    Ok(JoinedView { sets, published, n_own, groups: tidy(views), is_permuted: false })
}

/// One view per generalized table: a member of a bucket has a value of one of the batches there.
pub(crate) fn of_buckets<'a>(release: &'a Release, joined: &mut Joined<'_>) -> Result<Vec<JoinedView<'a>>, AuditError> {
    let angel = Angelized::open(release)?;
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
        let values = |(row, mut members): (usize, Vec<u32>)| {
            members.sort_unstable();
            members.dedup();
            let codes = members.iter().flat_map(|&batch| batches.sample.group(batch as usize).values);
            GroupView { row, values: codes.map(|&(code, _)| number[code as usize]).collect() }
        };
        let groups = tidy(of_bucket.into_iter().map(values).collect());
        JoinedView { sets: published.label_sets(), n_own: published.quasi.len(), published, groups, is_permuted: false }
    };
    Ok(angel.tables.into_iter().map(view).collect())
}

/// Values as they are: who has the values of a row may be it, and has a sensitive value of its group. Where columns are
/// permuted, who has a value of every column of a group may be in it.
fn verbatim<'a>(rows: RowsWithValues<'a>, joined: &mut Joined<'_>) -> JoinedView<'a> {
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
    let view = |row: usize| {
        let values = rows.sample.group(rows.of_row[row] as usize).values;
        GroupView { row, values: values.iter().map(|&(code, _)| number[code as usize]).collect() }
    };
    let groups = tidy(groups.some_rows().into_iter().map(view).collect());
    JoinedView { sets, n_own: published.quasi.len(), published, groups, is_permuted }
}

fn tidy(mut groups: Vec<GroupView>) -> Vec<GroupView> {
    for group in &mut groups {
        group.values.sort_unstable();
        group.values.dedup();
    }
    groups
}

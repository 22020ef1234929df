//! What the forms share: random group ids, canonical order, and the parts of the manifest that every release has.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrysalis_criteria::show_rational;
use chrysalis_release::{
    Attribute, ColumnEntry, DomainEntry, ENCODING, Form, GROUP_ID, GROUPS, Manifest, PERSONS, Persons, Promise,
    Published, Release, RoleName, TableEntry, VERSION,
};
use chrysalis_table::{Codes, Column, Domain, Kind, Table, Taxonomy, Value, Watch};
use rand::CryptoRng;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::series::shown_values;
use crate::{Grouping, Microdata, Partition, PublishError, SeriesGroups};

/// The groups of a partition in the random order of their ids: entry k is the group with id k + 1.
pub(super) fn draw_ids(partition: &Partition, rng: &mut dyn CryptoRng) -> Vec<u32> {
    let mut shown: Vec<u32> = (0..partition.n_groups() as u32).collect();
    shown.shuffle(rng);
    shown
}

/// The rows in the order in which they are published, and for each the position of its group.
pub(super) struct Order {
    pub(super) rows: Vec<u32>,
    pub(super) place: Vec<u32>,
}

impl Order {
    /// By group id, then by the given columns.
    ///
    /// LEAK: the order depends on group ids and published values alone.
    pub(super) fn canonical(partition: &Partition, shown: &[u32], keys: &[&Codes], watch: &dyn Watch) -> Self {
        let mut rows = Vec::with_capacity(partition.n_rows());
        let mut place = Vec::with_capacity(partition.n_rows());
        for (at, &group) in (0u32..).zip(shown) {
            watch.pause_at(at as usize);
            let start = rows.len();
            rows.extend_from_slice(partition.group(group as usize));
            place.resize(rows.len(), at);
            sort_by_codes(&mut rows[start..], keys);
        }
        Order { rows, place }
    }
}

/// Sorts rows by several columns, the first one being the most significant.
pub(crate) fn sort_by_codes(rows: &mut [u32], keys: &[&Codes]) {
    let width = |codes: &Codes| match codes {
        Codes::U8(_) => 8,
        Codes::U16(_) => 16,
        Codes::U32(_) => 32,
    };
    if keys.iter().map(|codes| width(codes)).sum::<u32>() > u128::BITS {
        rows.par_sort_unstable_by(|&a, &b| {
            let key = |row: u32| keys.iter().map(move |codes| codes.get(row as usize));
            key(a).cmp(key(b))
        });
        return;
    }
    let packed =
        |row: u32| keys.iter().fold(0u128, |key, codes| key << width(codes) | u128::from(codes.get(row as usize)));
    if rows.len() < 64 {
        rows.sort_unstable_by_key(|&row| packed(row));
        return;
    }
    // Large groups: build every key once instead of once per comparison.
    let mut packed: Vec<(u128, u32)> = rows.par_iter().map(|&row| (packed(row), row)).collect();
    packed.par_sort_unstable();
    rows.iter_mut().zip(packed).for_each(|(place, (_, row))| *place = row);
}

/// The column of group ids, from 1 on, for rows whose groups are at these positions.
pub(super) fn group_ids(n_groups: usize, place: &[u32]) -> Column {
    ids(GROUP_ID, n_groups, place)
}

/// Like `group_ids`, under another column name.
pub(crate) fn ids(name: &str, n_groups: usize, place: &[u32]) -> Column {
    let ids = (1..=n_groups as i64).map(Value::Integer).collect();
    let codes = Codes::collect(n_groups, place.iter().copied());
    Column::new(name, Arc::new(Domain::new(Kind::Integer, ids, false)), codes)
}

/// Refuses tables in which two columns would have the same name.
pub(super) fn check_names(names: impl Iterator<Item = String>) -> Result<(), PublishError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if seen.contains(&name) {
            return Err(PublishError::NameClash { column: name });
        }
        seen.insert(name);
    }
    Ok(())
}

/// A release of the given tables, in the order of the form's layout.
pub(super) fn release(
    data: &Microdata,
    form: Form,
    groups: ShownGroups<'_>,
    mut tables: Vec<(String, Table)>,
) -> Release {
    let shape = form.shape();
    let persons = data.persons().map(|persons| Persons { count: persons.len() as u64, rows_known: persons.rows_known });
    if let (Some(partition), Some(persons)) = (groups.partition, data.persons()) {
        // The table of what labels stand for comes last.
        let at = tables.len() - usize::from(shape.members.is_some());
        let n_persons = |&group: &u32| persons.of_group(partition.group(group as usize)).count() as i64;
        let counts: Vec<i64> = groups.shown.iter().map(n_persons).collect();
        let places: Vec<u32> = (0..counts.len() as u32).collect();
        let ids = ids(shape.group_id.unwrap_or(GROUP_ID), counts.len(), &places);
        tables.insert(at, (GROUPS.to_owned(), Table::new(vec![ids, Column::integers(PERSONS, &counts)])));
    }
    let quasi = |(column, _): (&Column, _)| attribute(column, RoleName::Quasi, shape.detail.published());
    let other = data.other().map(|column| attribute(column, RoleName::Other, Published::Exact));
    let published = match data.sensitive_columns().len() {
        0 | 1 => shape.sensitive(),
        _ => shape.one_of_several(),
    };
    let sensitive = data.sensitive_columns().map(|sensitive| {
        let (column, categories) = (sensitive.column(), sensitive.categories());
        // LEAK: how many people have a value tells which of the values that are shown are counterfeit.
        let of_series = groups.series.map(|series| shown_values(column, series, groups.shown).0);
        let (column, all) = (of_series.as_ref().unwrap_or(column), column);
        Attribute {
            domain: DomainEntry::of(column.domain(), Some(column.histogram())),
            taxonomy: sensitive.taxonomy().map(Taxonomy::lines),
            categories: categories.map(|categories| categories.names().to_vec()),
            weights: categories.map(|categories| categories.weights().iter().map(ToString::to_string).collect()),
            ordinary: sensitive.named_ordinary().map(|codes| DomainEntry::values_of(all.domain(), codes)),
            near: sensitive.owner_near().map(show_rational),
            ..attribute(column, RoleName::Sensitive, published)
        }
    });
    let manifest = Manifest {
        version: VERSION,
        encoding: ENCODING,
        method: form,
        partitioner: groups.partitioner.to_owned(),
        rows: data.rows() as u64,
        groups: groups.n_groups as u64,
        promises: groups.promises,
        attributes: data.quasi().map(quasi).chain(other).chain(sensitive).collect(),
        together: data.together(),
        quasi_identifiers: vec![data.quasi().map(|(column, _)| column.name().to_owned()).collect()],
        tables: tables.iter().map(|(name, table)| table_entry(name, table)).collect(),
        persons,
        suppressed: 0,
        reproducible: false,
        transparent: false,
        series: groups.series.map(|series| series.entry.clone()),
        accepted: Vec::new(),
    };
    Release { manifest, tables: tables.into_iter().map(|(_, table)| table).collect() }
}

/// What a manifest says about the groups that are shown.
pub(super) struct ShownGroups<'a> {
    pub(super) partitioner: &'a str,
    pub(super) n_groups: usize,
    /// Promises come only from groups that were checked, so they cannot be made up.
    pub(super) promises: Vec<Promise>,
    /// The groups themselves, if there are any.
    pub(super) partition: Option<&'a Partition>,
    /// The groups in the order of their ids.
    pub(super) shown: &'a [u32],
    /// What is shown of them in a release of a series.
    pub(super) series: Option<&'a SeriesGroups>,
}

impl<'a> ShownGroups<'a> {
    pub(super) fn of(grouping: &'a Grouping, shown: &'a [u32]) -> Self {
        ShownGroups {
            partitioner: grouping.partitioner(),
            n_groups: grouping.partition().n_groups(),
            promises: grouping.promises().to_vec(),
            partition: Some(grouping.partition()),
            shown,
            series: grouping.series(),
        }
    }
}

fn attribute(column: &Column, role: RoleName, published: Published) -> Attribute {
    Attribute {
        name: column.name().to_owned(),
        role,
        kind: column.domain().kind().into(),
        published,
        domain: DomainEntry::of(column.domain(), None),
        taxonomy: None,
        categories: None,
        weights: None,
        ordinary: None,
        near: None,
        prepared: None,
        weight: false,
    }
}

/// What the manifest says about a table; the store fills in files and hashes.
fn table_entry(name: &str, table: &Table) -> TableEntry {
    let entry = |column: &Column| ColumnEntry { name: column.name().to_owned(), kind: column.domain().kind().into() };
    TableEntry {
        name: name.to_owned(),
        rows: table.rows() as u64,
        columns: table.columns().iter().map(entry).collect(),
        parts: Vec::new(),
    }
}

//! Ranges and labels in place of values; see `spec.md` for the steps that the comments number.

mod summary;

use std::collections::BTreeSet;
use std::sync::Arc;

use chrysalis_criteria::PrincipleSpec;
use chrysalis_criteria::loss::{Ncp, discernibility};
use chrysalis_release::generalized::{MEMBERS, MEMBERS_COLUMNS, TABLE};
use chrysalis_release::{
    Attribute, ColumnEntry, DomainEntry, FORMAT, GROUP_ID, Manifest, Published, Release, RoleName, TableEntry, VERSION,
};
use chrysalis_table::{Codes, Column, Domain, Kind, Table, Value};
use rand::CryptoRng;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::{Microdata, Partition, PublishError};
use summary::Summary;
pub(crate) use summary::node_ncp;

/// The publication `generalize`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Generalize;

/// A release, and what the owner wants to know about it.
#[derive(Debug)]
pub struct Outcome {
    /// What may be published.
    pub release: Release,
    /// What it costs.
    pub ncp: Ncp,
    /// The penalty per quasi attribute, summed over rows.
    pub ncp_by_attribute: Vec<(String, f64)>,
    /// Σ n² over groups.
    pub discernibility: u128,
    /// The smallest and the largest group.
    pub group_sizes: (u64, u64),
}

impl Generalize {
    /// The columns this form will have, or an error when two of them share a name.
    pub fn check_names(&self, data: &Microdata) -> Result<(), PublishError> {
        let mut seen = BTreeSet::from([GROUP_ID.to_owned()]);
        let quasi = data.quasi().flat_map(|(column, _)| summary::column_names(column));
        let rest = data.other().chain(data.sensitive()).map(|column| column.name().to_owned());
        for name in quasi.chain(rest) {
            if seen.contains(&name) {
                return Err(PublishError::NameClash { column: name });
            }
            seen.insert(name);
        }
        Ok(())
    }

    /// Shows a partition.
    pub fn publish(
        &self,
        data: &Microdata,
        partition: &Partition,
        partitioner: &str,
        guarantees: &[PrincipleSpec],
        rng: &mut dyn CryptoRng,
    ) -> Result<Outcome, PublishError> {
        self.check_names(data)?;
        // Step 1.
        let quasi: Vec<_> = data.quasi().collect();
        let summaries: Vec<Summary> =
            quasi.par_iter().map(|(column, taxonomy)| Summary::of(column, *taxonomy, partition)).collect();
        // Step 2. The k-th group in the release is group shown[k] of the partition, and has the id k+1.
        let mut shown: Vec<u32> = (0..partition.n_groups() as u32).collect();
        shown.shuffle(rng);
        // Step 3.
        let (rows, place) = canonical_rows(data, partition, &shown);
        let mut columns = vec![group_ids(partition.n_groups(), &place)];
        let group_columns: Vec<&Column> = summaries.iter().flat_map(Summary::columns).collect();
        let shown_columns: Vec<Column> = group_columns
            .par_iter()
            .map(|column| {
                let codes = column.codes().gather(&shown).gather(&place);
                Column::new(column.name(), Arc::clone(column.domain()), codes)
            })
            .collect();
        columns.extend(shown_columns);
        let exact: Vec<&Column> = data.other().chain(data.sensitive()).collect();
        columns.extend(exact.par_iter().map(|column| column.gather(&rows)).collect::<Vec<_>>());
        // Step 4.
        let tables = vec![Table::new(columns), members(&summaries)];
        let manifest = manifest(data, partition, partitioner, guarantees, &tables);
        let sizes = || partition.sizes();
        let by_attribute: Vec<(String, f64)> =
            summaries.iter().map(|summary| (summary.name().to_owned(), summary.ncp(partition))).collect();
        Ok(Outcome {
            release: Release { manifest, tables },
            ncp: Ncp { sum: by_attribute.iter().map(|(_, ncp)| ncp).sum(), cells: (data.rows() * quasi.len()) as u64 },
            ncp_by_attribute: by_attribute,
            discernibility: discernibility(sizes()),
            group_sizes: (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0)),
        })
    }
}

/// The rows in the order they are published, and for each the place of its group.
///
/// LEAK: the order depends on group ids and published values alone.
fn canonical_rows(data: &Microdata, partition: &Partition, shown: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let keys: Vec<&Codes> = data.other().chain(data.sensitive()).map(Column::codes).collect();
    let mut rows = Vec::with_capacity(partition.n_rows());
    let mut place = Vec::with_capacity(partition.n_rows());
    for (at, &group) in (0u32..).zip(shown) {
        let start = rows.len();
        rows.extend_from_slice(partition.group(group as usize));
        place.resize(rows.len(), at);
        if let [only] = keys[..] {
            rows[start..].sort_unstable_by_key(|&row| only.get(row as usize));
        } else {
            rows[start..].sort_unstable_by(|&a, &b| {
                let key = |row: u32| keys.iter().map(move |codes| codes.get(row as usize));
                key(a).cmp(key(b))
            });
        }
    }
    (rows, place)
}

/// Ids from 1 on, in order of the rows.
fn group_ids(n_groups: usize, place: &[u32]) -> Column {
    let ids = (1..=n_groups as i64).map(Value::Integer).collect();
    let codes = Codes::collect(n_groups, place.iter().copied());
    Column::new(GROUP_ID, Arc::new(Domain::new(Kind::Integer, ids, false)), codes)
}

/// The values behind every label, sorted.
fn members(summaries: &[Summary]) -> Table {
    let mut lines: Vec<[&str; 3]> = summaries
        .iter()
        .flat_map(|summary| {
            summary.members().iter().flat_map(move |(label, values)| {
                values.iter().map(move |value| [summary.name(), label.as_str(), value.as_str()])
            })
        })
        .collect();
    lines.sort_unstable();
    let column = |at: usize| Column::texts(MEMBERS_COLUMNS[at], lines.iter().map(move |line| line[at]));
    Table::new((0..3).map(column).collect())
}

fn manifest(
    data: &Microdata,
    partition: &Partition,
    partitioner: &str,
    guarantees: &[PrincipleSpec],
    tables: &[Table],
) -> Manifest {
    let quasi = data.quasi().map(|(column, _)| attribute(column, RoleName::Quasi, Published::Generalized));
    let other = data.other().map(|column| attribute(column, RoleName::Other, Published::Exact));
    let sensitive = data.sensitive().map(|column| Attribute {
        domain: DomainEntry::of(column.domain(), Some(column.histogram())),
        taxonomy: data.sensitive_taxonomy().map(chrysalis_table::Taxonomy::lines),
        categories: data.categories().map(|categories| categories.names().to_vec()),
        weights: data.categories().map(|categories| categories.weights().iter().map(ToString::to_string).collect()),
        ..attribute(column, RoleName::Sensitive, Published::Exact)
    });
    Manifest {
        format: FORMAT.into(),
        version: VERSION,
        method: "generalize".into(),
        partitioner: partitioner.into(),
        rows: partition.n_rows() as u64,
        groups: partition.n_groups() as u64,
        guarantees: guarantees.iter().map(ToString::to_string).collect(),
        attributes: quasi.chain(other).chain(sensitive).collect(),
        quasi_identifiers: vec![data.quasi().map(|(column, _)| column.name().to_owned()).collect()],
        tables: [TABLE, MEMBERS].iter().zip(tables).map(|(name, table)| table_entry(name, table)).collect(),
        reproducible: false,
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
    }
}

/// What the manifest says of a table; the store fills in file and hash.
fn table_entry(name: &str, table: &Table) -> TableEntry {
    let columns = table.columns().iter();
    let columns =
        columns.map(|column| ColumnEntry { name: column.name().to_owned(), kind: column.domain().kind().into() });
    TableEntry {
        name: name.to_owned(),
        file: String::new(),
        rows: table.rows() as u64,
        columns: columns.collect(),
        sha256: String::new(),
    }
}

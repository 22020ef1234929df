//! Steps 5 and 6: one cell, published on its own and numbered as part of the whole.

use std::sync::Arc;

use chrysalis_criteria::Requirement;
use chrysalis_release::{DomainEntry, Form, GROUP_ID, Manifest};
use chrysalis_table::{Codes, Column, Domain, Kind, Table, Value, Watch};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{CellPlan, GroupNumbers, Secret};
use crate::method::{Method, sort_by_codes};
use crate::{AttributeSpec, Disclosure, Job, Microdata, Partitioner, PublishError};

/// How every cell is published.
#[derive(Clone, Copy)]
pub struct CellSpec<'a> {
    /// The columns and what the owner says about them.
    pub attributes: &'a [AttributeSpec],
    /// What is promised.
    pub require: &'a [Requirement],
    /// Sensitive columns that are shown together.
    pub together: &'a [Vec<String>],
    /// What is shown of groups.
    pub method: &'a dyn Method,
    /// How groups are formed.
    pub partitioner: &'a dyn Partitioner,
}

/// What is counted of one cell. The facts of all cells together say all about a release that its tables do not.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CellFacts {
    /// The cell's number in the plan.
    pub cell: u32,
    /// The manifest of this cell alone, without the values of attributes, which are those of the whole table. Only the first
    /// cell says what else is said of attributes.
    #[serde(with = "as_json")]
    pub manifest: Manifest,
    /// The penalty of what is shown, summed over rows and quasi columns.
    pub ncp_sum: f64,
    /// Rows times quasi columns.
    pub ncp_cells: u64,
    /// The penalty per quasi column; empty where quasi values are exact.
    pub ncp_by_attribute: Vec<(String, f64)>,
    /// Σ n² over groups.
    pub discernibility: u64,
    /// The sizes of the smallest and the largest group.
    pub group_sizes: (u64, u64),
    /// What groups give away.
    pub disclosure: Option<Disclosure>,
    /// Rows of tables that say the same for all groups, such as what labels stand for: by table.
    pub shared: Vec<(String, Vec<Vec<String>>)>,
}

impl CellFacts {
    /// How many groups the cell has.
    pub fn groups(&self) -> u64 {
        self.manifest.groups
    }
}

/// Manifests have a serialization of their own, in which every table has files. The tables of a cell have none yet, so for
/// the journey each is given one. What a reader would refuse or limit in a release from elsewhere is no matter here.
mod as_json {
    use chrysalis_release::{Manifest, PartEntry};
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

    pub(super) fn serialize<S: Serializer>(manifest: &Manifest, to: S) -> Result<S::Ok, S::Error> {
        let mut manifest = manifest.clone();
        for table in &mut manifest.tables {
            table.parts = vec![PartEntry { file: table.name.clone(), rows: table.rows, sha256: String::new() }];
        }
        manifest.to_json().map_err(ser::Error::custom)?.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Manifest, D::Error> {
        let text = String::deserialize(from)?;
        let mut manifest = Manifest::parse_own(text.as_bytes()).map_err(de::Error::custom)?;
        manifest.tables.iter_mut().for_each(|table| table.parts.clear());
        Ok(manifest)
    }
}

/// One cell, whose groups are numbered from 1 on.
#[derive(Clone, Debug)]
pub struct CellRelease {
    /// What is counted of it.
    pub facts: CellFacts,
    /// Its tables with their names.
    pub tables: Vec<(String, Table)>,
}

/// Refuses forms whose groups cannot be formed cell by cell.
pub fn check_form(form: Form) -> Result<(), PublishError> {
    let shape = form.shape();
    let problem = match () {
        () if shape.group_id.is_none() => "has no groups that could be formed cell by cell",
        () if shape.marginals.is_some() => "forms batches and buckets apart, which cells would tear",
        () if shape.has_users => "forms groups for several users at once, which cells would tear",
        () => return Ok(()),
    };
    Err(PublishError::request(format!("{form} {problem}")))
}

/// Step 5: publishes the rows of one cell, in whatever order they come.
///
/// The result depends on the plan, the spec, the secret and the rows as a multiset.
pub fn publish_cell(
    plan: &CellPlan,
    spec: &CellSpec<'_>,
    secret: &Secret,
    cell: u32,
    table: &Table,
    watch: &dyn Watch,
) -> Result<CellRelease, PublishError> {
    plan.check_rows(cell, table, secret)?;
    if plan.route(table)?.par_iter().any(|&of_row| of_row != cell) {
        return Err(PublishError::Internal(format!("rows of other cells were brought to cell {cell}")));
    }
    let table = in_order(plan.whole().recoded(table)?);
    let data = Microdata::of_cell(table, spec.attributes, plan.whole())?.showing_together(spec.together)?;
    let mut rng = secret.stream(plan.path(cell));
    let outcome = Job::new(&data, spec.require, spec.partitioner, &mut rng, watch).run(spec.method)?;
    let names: Vec<String> = outcome.release.manifest.tables.iter().map(|entry| entry.name.clone()).collect();
    let all = names.into_iter().zip(outcome.release.tables);
    let (tables, shared): (Vec<_>, Vec<_>) = all.partition(|(_, table)| table.column(GROUP_ID).is_some());
    let facts = CellFacts {
        cell,
        ncp_sum: outcome.ncp.sum,
        ncp_cells: outcome.ncp.cells,
        ncp_by_attribute: outcome.ncp_by_attribute,
        discernibility: u64::try_from(outcome.discernibility).unwrap_or(u64::MAX),
        group_sizes: outcome.group_sizes,
        disclosure: outcome.disclosure,
        shared: shared.into_iter().map(|(name, table)| (name, lines(&table))).collect(),
        manifest: without_values(outcome.release.manifest, cell == 0),
    };
    Ok(CellRelease { facts, tables })
}

fn without_values(mut manifest: Manifest, is_first: bool) -> Manifest {
    manifest.attributes.retain(|_| is_first);
    manifest.attributes.iter_mut().for_each(|attribute| attribute.domain = DomainEntry::default());
    manifest
}

/// Rows in the order of their values, so that nothing of the order in which they came survives.
fn in_order(table: Table) -> Table {
    let keys: Vec<&Codes> = table.columns().iter().map(Column::codes).collect();
    let mut rows: Vec<u32> = (0..table.rows() as u32).collect();
    sort_by_codes(&mut rows, &keys);
    let columns = table.columns().par_iter();
    // Codes stay those of the whole table.
    let ordered =
        columns.map(|column| Column::new(column.name(), Arc::clone(column.domain()), column.codes().gather(&rows)));
    Table::new(ordered.collect())
}

fn lines(table: &Table) -> Vec<Vec<String>> {
    let text =
        |row: usize| table.columns().iter().map(move |column| column.domain().text(column.code(row)).into_owned());
    (0..table.rows()).map(|row| text(row).collect()).collect()
}

/// Step 6: the tables with the numbers that their groups have in the whole release, in the order of these. `first` is how
/// many groups the cells before this one have.
pub fn numbered(
    tables: Vec<(String, Table)>,
    groups: u64,
    numbers: &GroupNumbers,
    first: u64,
    watch: &dyn Watch,
) -> Result<Vec<(String, Table)>, PublishError> {
    let given: Vec<u64> = (0..groups).into_par_iter().map(|at| numbers.of(first + at)).collect();
    let one = |(name, table): (String, Table)| {
        watch.pause();
        numbered_table(&table, &given).map(|table| (name, table))
    };
    tables.into_iter().map(one).collect()
}

fn numbered_table(table: &Table, given: &[u64]) -> Result<Table, PublishError> {
    let wrong = || PublishError::Internal("a table names groups that its cell does not have".into());
    let at = table.columns().iter().position(|column| column.name() == GROUP_ID).ok_or_else(wrong)?;
    let ids = &table.columns()[at];
    let domain = ids.domain();
    let number = |value: &Value| {
        let local = value.whole().and_then(|id| usize::try_from(id).ok()).and_then(|id| id.checked_sub(1));
        local.and_then(|local| given.get(local)).and_then(|&number| i64::try_from(number).ok()).ok_or_else(wrong)
    };
    // By code: the number in the whole release, and its place among those of this table.
    let of_code: Vec<i64> = domain.values().iter().map(number).collect::<Result<_, _>>()?;
    let mut sorted: Vec<i64> = of_code.clone();
    sorted.par_sort_unstable();
    let place_of: Vec<u32> = of_code.par_iter().map(|number| sorted.partition_point(|it| it < number) as u32).collect();
    let mut rows: Vec<u32> = (0..table.rows() as u32).collect();
    // Stable: inside a group the rows stand in the order that they have.
    rows.par_sort_by_key(|&row| place_of[ids.code(row as usize) as usize]);
    let columns = table.columns().par_iter().enumerate().map(|(place, column)| {
        if place != at {
            // LEAK: values of other cells must not be named here, so they leave the domain.
            return column.gather(&rows);
        }
        let values = sorted.iter().map(|&number| Value::Integer(number)).collect();
        let codes = rows.iter().map(|&row| place_of[ids.code(row as usize) as usize]);
        let codes = Codes::collect(sorted.len(), codes);
        Column::new(GROUP_ID, Arc::new(Domain::new(Kind::Integer, values, false)), codes)
    });
    Ok(Table::new(columns.collect()))
}

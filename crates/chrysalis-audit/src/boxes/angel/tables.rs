//! Finds the tables of batches and buckets, checks their kinds, and checks whether they agree.

use std::iter::once;

use chrysalis_release::{Attribute, COUNT, Manifest, Release, RoleName};
use chrysalis_table::{Code, Column, Kind, Table, Value, Watch};

use super::super::cells::{BoxTable, Members, cells, group_id, members};
use super::super::structure::fits;
use crate::columns::{find, group_ids, only_sensitive};
use crate::findings::Findings;
use crate::measure::GroupCounts;
use crate::profile::check_size;
use crate::shape::{self, ExpectedTable};
use crate::{AuditError, Check, Groups};

/// A release of batches and buckets whose columns are all there. Their contents are not yet trusted.
pub(crate) struct BatchTables<'a> {
    pub(super) manifest: &'a Manifest,
    /// The table with all quasi attributes, then the marginals.
    pub(crate) tables: Vec<BoxTable<'a>>,
    /// The table of batches.
    bt_name: &'static str,
    bt: &'a Table,
    batch: &'a Column,
    count: &'a Column,
    /// The sensitive attribute and its column of the table of batches.
    pub(crate) sensitive: (&'a Attribute, &'a Column),
}

/// The batches of all tables under one numbering, ascending by id, and their sensitive values.
pub(crate) struct Batches {
    pub(super) ids: Vec<Option<i64>>,
    pub(crate) sample: GroupCounts,
}

impl<'a> BatchTables<'a> {
    pub(crate) fn open(release: &'a Release) -> Result<Self, AuditError> {
        let manifest = &release.manifest;
        let shape = manifest.method.shape();
        let (bt_name, id) = (shape.values_table(), group_id(manifest, &shape)?);
        let bt = release.table(bt_name)?;
        check_size("the batch table", bt.rows())?;
        let integers = |name: &str| find(bt, bt_name, name, Kind::Integer);
        let attribute = only_sensitive(manifest)?.ok_or(AuditError::NoSensitive { method: manifest.method })?;
        release.table(shape.people)?;
        let members = members(release, &shape, false)?;
        let mut tables = Vec::new();
        for layout in manifest.layout().people() {
            let (name, is_whole) = (&layout.name, layout.name == shape.people);
            let table = release.table(name)?;
            check_size("the release", table.rows())?;
            let quasi = layout.shows.iter().map(|&at| &manifest.attributes[at]);
            let others = manifest.with_role(RoleName::Other).filter(|_| is_whole);
            let exact = |it: &'a Attribute| Ok((it, find(table, name, &it.name, it.kind.into())?));
            tables.push(BoxTable {
                manifest,
                name: name.clone(),
                table,
                group: find(table, name, id, Kind::Integer)?,
                quasi: quasi.map(|it| cells(table, name, it)).collect::<Result<_, _>>()?,
                others: others.map(exact).collect::<Result<_, AuditError>>()?,
                sensitive: None,
                members,
            });
        }
        let sensitive = (attribute, find(bt, bt_name, &attribute.name, attribute.kind.into())?);
        Ok(BatchTables { manifest, tables, bt_name, bt, batch: integers(id)?, count: integers(COUNT)?, sensitive })
    }

    /// Every batch that some table mentions.
    pub(crate) fn batches(&self) -> Result<Batches, AuditError> {
        let columns = self.tables.iter().map(|table| table.group).chain(once(self.batch));
        let mut ids: Vec<Option<i64>> = columns.flat_map(group_ids).collect();
        ids.sort_unstable();
        ids.dedup();
        let (of_row, counts) = (numbered(&ids, self.batch), self.possible());
        let lines: Vec<(u32, Code, u32)> = (0..self.bt.rows())
            .filter_map(|row| Some((of_row[row], self.sensitive.1.code(row), counts[self.count.code(row) as usize]?)))
            .collect();
        let total: u64 = lines.iter().map(|&(_, _, count)| u64::from(count)).sum();
        check_size("the batch table", usize::try_from(total).unwrap_or(usize::MAX).max(1))?;
        Ok(Batches { sample: GroupCounts::from_counts(ids.len(), self.sensitive.1.domain().len(), lines), ids })
    }

    /// The count behind every code; `None` where no batch can have that many rows.
    fn possible(&self) -> Vec<Option<u32>> {
        let domain = self.count.domain();
        let rows = self.tables.first().map_or(0, |table| table.table.rows());
        let count = |code: Code| match domain.value(code) {
            Some(Value::Integer(count)) => u32::try_from(*count).ok().filter(|&n| n > 0 && n as usize <= rows),
            _ => None,
        };
        (0..domain.len() as Code).map(count).collect()
    }

    /// Tables, columns and numbers of rows are those of the manifest, and nothing else is published.
    pub(super) fn shape(&self, release: &Release) -> Check {
        let mut expected_tables: Vec<ExpectedTable<'_>> = self.tables.iter().map(expected_table).collect();
        let columns = [self.batch, self.sensitive.1, self.count].map(Column::name).to_vec();
        expected_tables.push(ExpectedTable { name: self.bt_name, table: self.bt, columns });
        expected_tables.extend(self.members().map(Members::expected_table));
        shape::tables(release, &expected_tables, fits)
    }

    fn members(&self) -> Option<Members<'a>> {
        self.tables.first().and_then(|table| table.members)
    }

    /// Rows ascend by batch, then by their cells.
    pub(super) fn row_order(&self, watch: &dyn Watch) -> Check {
        let mut orders: Vec<(&str, Vec<&Column>)> = self.tables.iter().map(order).collect();
        orders.push((self.bt_name, vec![self.batch, self.sensitive.1]));
        orders.extend(self.members().map(Members::order));
        shape::row_order(self.manifest, &orders, watch)
    }
}

fn expected_table<'b>(published: &'b BoxTable<'_>) -> ExpectedTable<'b> {
    let others = published.others.iter().map(|(_, column)| *column);
    let columns = published.cell_columns().into_iter().chain(others).chain(once(published.group));
    ExpectedTable { name: &published.name, table: published.table, columns: columns.map(Column::name).collect() }
}

fn order<'b>(published: &'b BoxTable<'_>) -> (&'b str, Vec<&'b Column>) {
    let others = published.others.iter().map(|(_, column)| *column);
    (&published.name, once(published.group).chain(published.cell_columns()).chain(others).collect())
}

impl Batches {
    /// The number of every row's batch.
    pub(crate) fn of_rows(&self, column: &Column) -> Vec<u32> {
        numbered(&self.ids, column)
    }

    fn name(&self, batch: usize) -> String {
        self.ids[batch].map_or_else(|| "(missing)".to_owned(), |id| id.to_string())
    }
}

pub(super) fn numbered(ids: &[Option<i64>], column: &Column) -> Vec<u32> {
    // PROOF: `ids` holds every id of every column of batch ids, so all are found.
    let of_code: Vec<u32> =
        group_ids(column).iter().map(|id| ids.binary_search(id).unwrap_or_default() as u32).collect();
    column.codes().iter().map(|code| of_code[code as usize]).collect()
}

/// Groups the rows of one table that show the same ranges and labels.
pub(crate) fn buckets(published: &BoxTable<'_>, watch: &dyn Watch) -> Groups {
    Groups::of_columns(&published.cell_columns(), published.table.rows(), watch)
}

/// Every batch has as many rows in every generalized table as it has sensitive values, and there are as many batches as
/// the manifest says.
pub(super) fn batch_sizes(angel: &BatchTables<'_>, batches: &Batches) -> Check {
    let mut findings = Findings::new("batches");
    let (totals, bt) = (batches.sample.sizes(), angel.bt_name);
    if batches.ids.first() == Some(&None) {
        findings.add("missing batch ids", || "some rows have no batch id".to_owned());
    }
    let n_batches = totals.iter().filter(|&&total| total > 0).count() as u64;
    if n_batches != angel.manifest.groups {
        let promised = angel.manifest.groups;
        findings.add("batches", || format!("there are {n_batches} batches, the manifest says {promised}"));
    }
    for published in &angel.tables {
        let name = &published.name;
        let mut sizes = vec![0_u64; totals.len()];
        batches.of_rows(published.group).into_iter().for_each(|batch| sizes[batch as usize] += 1);
        for batch in (0..totals.len()).filter(|&batch| sizes[batch] != totals[batch]) {
            let (rows, total) = (sizes[batch], totals[batch]);
            findings.add("batches of two sizes", || {
                let id = batches.name(batch);
                format!("batch {id} has {rows} rows in `{name}`, but {total} sensitive values in `{bt}`")
            });
        }
    }
    let n_tables = angel.tables.len();
    findings.check(format!("{n_batches} batches, of the same size in `{bt}` and {n_tables} generalized tables"))
}

/// Counts are positive and no larger than the release, and no batch lists a value twice.
pub(super) fn counts(angel: &BatchTables<'_>, batches: &Batches) -> Check {
    let mut findings = Findings::new("counts");
    let (of_code, of_row) = (angel.possible(), batches.of_rows(angel.batch));
    for row in (0..angel.bt.rows()).filter(|&row| of_code[angel.count.code(row) as usize].is_none()) {
        let count = angel.count.domain().display(angel.count.code(row)).into_owned();
        let id = batches.name(of_row[row] as usize);
        findings.add("impossible counts", || format!("batch {id} has a count of {count}"));
    }
    let values = angel.sensitive.1;
    let mut lines: Vec<(u32, Code)> = (0..angel.bt.rows()).map(|row| (of_row[row], values.code(row))).collect();
    lines.sort_unstable();
    for pair in lines.windows(2).filter(|pair| pair[0] == pair[1]) {
        let id = batches.name(pair[0].0 as usize);
        findings.add("repeated values", || format!("batch {id} lists a value twice"));
    }
    findings.check(format!("{} counts, all positive, none twice", angel.bt.rows()))
}

/// Counts the buckets of every table. Whether they are large enough is judged by the promise `k=`.
pub(super) fn bucket_counts(angel: &BatchTables<'_>, buckets: &[Groups]) -> Check {
    let mut findings = Findings::new("buckets");
    let (whole, rows) = angel.tables.first().map_or(("", 0), |table| (table.name.as_str(), table.table.rows()));
    for published in &angel.tables {
        let (name, found) = (&published.name, published.table.rows());
        if found != rows {
            findings.add("rows", || format!("`{name}` has {found} rows, `{whole}` has {rows}"));
        }
    }
    let each = angel.tables.iter().zip(buckets);
    let each = each.map(|(published, groups)| format!("{} in `{}`", groups.n_groups, published.name));
    findings.check(format!("buckets: {}", each.collect::<Vec<_>>().join(", ")))
}

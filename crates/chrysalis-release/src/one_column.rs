//! A release with several sensitive attributes, as seen by somebody who looks at one of them.
//!
//! Unless the owner wants some of them together, the attributes are shown apart: nothing in the tables ties a value of
//! one to a value of another. So what a release tells about one attribute to somebody who knows none of the others is a
//! release with this attribute alone.

use chrysalis_table::{Column, Table};

use crate::{
    Attribute, Cell, ColumnEntry, Holds, Manifest, PartEntry, Release, ReleaseError, RoleName, TableEntry, Values,
};

impl Manifest {
    /// Whether several attributes are sensitive.
    pub fn has_several_sensitive(&self) -> bool {
        self.with_role(RoleName::Sensitive).nth(1).is_some()
    }

    /// The attributes that remain where one sensitive attribute is looked at. Columns that are kept as they are stand
    /// beside values of other rows, once several sensitive columns are permuted beside them: they belong to nobody.
    fn attributes_about(&self, column: &str) -> Vec<Attribute> {
        let shape = self.method.shape();
        let keeps_others = !(shape.detail.is_labelled() && shape.values == Values::Beside);
        let is_seen = |attribute: &&Attribute| match attribute.role {
            RoleName::Sensitive => attribute.name == column,
            RoleName::Other => keeps_others,
            RoleName::Quasi | RoleName::Identifier => true,
        };
        let as_only = |attribute: &Attribute| match attribute.role {
            RoleName::Sensitive => Attribute { published: shape.sensitive(), ..attribute.clone() },
            _ => attribute.clone(),
        };
        self.attributes.iter().filter(is_seen).map(as_only).collect()
    }
}

impl Release {
    /// What the release tells about one of its sensitive attributes: the same groups, with this attribute alone. Rows
    /// are in the canonical order of such a release.
    pub fn about(&self, column: &str) -> Result<Release, ReleaseError> {
        let (manifest, layout) = (&self.manifest, self.manifest.layout());
        let attributes = manifest.attributes_about(column);
        let is_about = |at: usize| attributes.iter().any(|kept| kept.name == manifest.attributes[at].name);
        let is_kept = |cell: Cell| match cell {
            Cell::Value(at) | Cell::Low(at) | Cell::High(at) | Cell::Label(at) | Cell::Bound(at) => is_about(at),
            Cell::GroupId | Cell::Count | Cell::Persons | Cell::Hits | Cell::Member => true,
        };
        let (mut entries, mut tables) = (Vec::new(), Vec::new());
        for of_table in &layout.tables {
            let (Ok(table), true) = (
                self.table(&of_table.name),
                of_table.columns.iter().all(|it| is_own(of_table.holds, it.cell, &is_kept)),
            ) else {
                continue;
            };
            let shown = of_table.columns.iter().filter(|it| is_kept(it.cell));
            let columns: Vec<&Column> = shown.filter_map(|it| table.column(&it.name)).collect();
            let name = match (of_table.holds, layout.shape.values, layout.shape.help) {
                (Holds::Values, Values::Counted(name), _) | (Holds::Help, _, Some(name)) => name.to_owned(),
                _ => of_table.name.clone(),
            };
            // Rows that are sorted anew are one piece; others stay in their parts, each of which has an order of its own.
            let (table, parts) = match of_table.holds {
                Holds::People if columns.len() < of_table.columns.len() => {
                    (sorted(&columns, layout.shape.group_id), Vec::new())
                }
                _ => {
                    let known = manifest.tables.iter().find(|entry| entry.name == of_table.name);
                    let parts = known.map_or_else(Vec::new, |entry| entry.parts.clone());
                    (Table::new(columns.into_iter().cloned().collect()), parts)
                }
            };
            entries.push(entry(name, &table, parts));
            tables.push(table);
        }
        let promises = manifest.promises.iter().filter(|promise| promise.about().is_none_or(|about| about == column));
        let manifest = Manifest {
            promises: promises.cloned().collect(),
            attributes,
            tables: entries,
            together: Vec::new(),
            ..manifest.clone()
        };
        Ok(Release { manifest, tables })
    }
}

/// Whether a table belongs to what is looked at: tables of people always, others if they are about it.
fn is_own(holds: Holds, cell: Cell, is_kept: &impl Fn(Cell) -> bool) -> bool {
    holds == Holds::People || is_kept(cell)
}

/// Rows in canonical order: by group, then by all columns.
fn sorted(columns: &[&Column], group_id: Option<&str>) -> Table {
    let ids = columns.iter().filter(|column| group_id == Some(column.name()));
    let keys: Vec<&Column> =
        ids.chain(columns.iter().filter(|column| group_id != Some(column.name()))).copied().collect();
    let rows = columns.first().map_or(0, |column| column.codes().len());
    let mut order: Vec<u32> = (0..u32::try_from(rows).unwrap_or(u32::MAX)).collect();
    let key = |row: u32| keys.iter().map(move |column| column.code(row as usize));
    rayon::slice::ParallelSliceMut::par_sort_unstable_by(&mut order[..], |&a, &b| key(a).cmp(key(b)));
    Table::new(columns.iter().map(|column| column.gather(&order)).collect())
}

fn entry(name: String, table: &Table, parts: Vec<PartEntry>) -> TableEntry {
    let column = |column: &Column| ColumnEntry { name: column.name().to_owned(), kind: column.domain().kind().into() };
    TableEntry { name, rows: table.rows() as u64, columns: table.columns().iter().map(column).collect(), parts }
}

//! Finds the published columns and checks their kinds.

use chrysalis_release::{
    Attribute, MEMBERS_COLUMNS, Manifest, Release, ReleaseError, RoleName, Shape, max_column, min_column,
};
use chrysalis_table::{Column, Kind, Table, Watch};

use super::space::LabelSets;
use crate::AuditError;
use crate::attack::ShownAttribute;
use crate::columns::{find, only_sensitive};
use crate::profile::check_size;
use crate::shape::ExpectedTable;

/// A table of people whose columns are all there. Their contents are not yet trusted.
pub(crate) struct BoxTable<'a> {
    pub(crate) manifest: &'a Manifest,
    pub(crate) name: String,
    pub(crate) table: &'a Table,
    pub(crate) group: &'a Column,
    pub(crate) quasi: Vec<Cells<'a>>,
    pub(crate) others: Vec<(&'a Attribute, &'a Column)>,
    pub(crate) sensitive: Option<(&'a Attribute, &'a Column)>,
    pub(crate) members: Option<Members<'a>>,
}

/// The table that says what labels stand for.
#[derive(Clone, Copy)]
pub(crate) struct Members<'a> {
    pub(crate) name: &'static str,
    pub(crate) table: &'a Table,
}

/// The cells of one quasi attribute.
pub(crate) struct Cells<'a> {
    pub(crate) attribute: &'a Attribute,
    /// The column of lower ends, or of labels.
    pub(crate) low: &'a Column,
    /// The column of upper ends, or of labels again.
    pub(crate) high: &'a Column,
}

impl Cells<'_> {
    pub(crate) fn is_range(&self) -> bool {
        Kind::from(self.attribute.kind).is_ordered()
    }
}

impl<'a> BoxTable<'a> {
    pub(crate) fn open(release: &'a Release) -> Result<BoxTable<'a>, AuditError> {
        let manifest = &release.manifest;
        let shape = manifest.method.shape();
        let name = shape.people;
        let table = release.table(name)?;
        check_size("the release", table.rows())?;
        let exact =
            |attribute: &'a Attribute| Ok((attribute, find(table, name, &attribute.name, attribute.kind.into())?));
        let with = |role| manifest.with_role(role);
        let quasi: Vec<Cells<'_>> =
            with(RoleName::Quasi).map(|attribute| cells(table, name, attribute)).collect::<Result<_, AuditError>>()?;
        Ok(BoxTable {
            manifest,
            name: name.to_owned(),
            table,
            group: find(table, name, group_id(manifest, &shape)?, Kind::Integer)?,
            members: members(release, &shape, quasi.iter().any(|cells| !cells.is_range()))?,
            quasi,
            others: with(RoleName::Other).map(exact).collect::<Result<_, AuditError>>()?,
            sensitive: only_sensitive(manifest)?.map(exact).transpose()?,
        })
    }

    /// The columns that hold cells, each once.
    pub(crate) fn cell_columns(&self) -> Vec<&'a Column> {
        let columns = |cells: &Cells<'a>| if cells.is_range() { vec![cells.low, cells.high] } else { vec![cells.low] };
        self.quasi.iter().flat_map(columns).collect()
    }

    /// What `members` says, as (attribute, label) → values. An empty text is a missing one.
    pub(crate) fn label_sets(&self) -> LabelSets {
        let mut sets = LabelSets::new();
        for [attribute, label, value] in self.member_rows() {
            sets.entry((attribute, label)).or_default().insert(value);
        }
        sets
    }

    /// The rows of `members` as texts.
    pub(crate) fn member_rows(&self) -> impl Iterator<Item = [String; 3]> + '_ {
        self.members.into_iter().flat_map(|Members { table, .. }| {
            (0..table.rows()).map(move |row| {
                MEMBERS_COLUMNS.map(|name| match table.column(name) {
                    Some(column) => column.domain().text(column.code(row)).into_owned(),
                    None => String::new(),
                })
            })
        })
    }

    /// What an attacker sees of these quasi attributes.
    pub(crate) fn shown(
        &self,
        is_known: impl Fn(&str) -> bool,
        sets: &LabelSets,
        watch: &dyn Watch,
    ) -> Vec<ShownAttribute<'a>> {
        let shown = |cells: &Cells<'a>| match cells.is_range() {
            true => ShownAttribute::ranges(cells.attribute, cells.low, cells.high, watch),
            false => ShownAttribute::labels(cells.attribute, cells.low, sets),
        };
        self.quasi.iter().filter(|cells| is_known(&cells.attribute.name)).map(shown).collect()
    }

    /// The group id of a row for messages.
    pub(crate) fn group_of(&self, row: usize) -> String {
        self.group.domain().display(self.group.code(row)).into_owned()
    }
}

pub(crate) fn cells<'a>(table: &'a Table, name: &str, attribute: &'a Attribute) -> Result<Cells<'a>, AuditError> {
    let kind = Kind::from(attribute.kind);
    if kind.is_ordered() {
        let low = find(table, name, &min_column(&attribute.name), kind)?;
        Ok(Cells { attribute, low, high: find(table, name, &max_column(&attribute.name), kind)? })
    } else {
        let label = find(table, name, &attribute.name, Kind::Category)?;
        Ok(Cells { attribute, low: label, high: label })
    }
}

/// The name of the column with group ids.
pub(crate) fn group_id(manifest: &Manifest, shape: &Shape) -> Result<&'static str, ReleaseError> {
    shape.group_id.ok_or(ReleaseError::NoGroups { method: manifest.method })
}

pub(crate) fn members<'a>(
    release: &'a Release,
    shape: &Shape,
    is_needed: bool,
) -> Result<Option<Members<'a>>, AuditError> {
    let Some(name) = shape.members else { return Ok(None) };
    let table = match release.table(name) {
        Ok(table) => table,
        Err(_) if !is_needed => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    for column in MEMBERS_COLUMNS {
        find(table, name, column, Kind::Category)?;
    }
    Ok(Some(Members { name, table }))
}

impl<'a> Members<'a> {
    pub(crate) fn expected_table(self) -> ExpectedTable<'a> {
        ExpectedTable { name: self.name, table: self.table, columns: MEMBERS_COLUMNS.to_vec() }
    }

    /// The columns by which its rows ascend.
    pub(crate) fn order(self) -> (&'a str, Vec<&'a Column>) {
        (self.name, MEMBERS_COLUMNS.iter().filter_map(|name| self.table.column(name)).collect())
    }
}

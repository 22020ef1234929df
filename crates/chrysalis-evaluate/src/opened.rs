//! A release as every measure sees it: opened once, with access to columns and groups by position.

use chrysalis_release::view::{CodedColumn, Labels, Multisets};
use chrysalis_release::{Cell, Release, ReleaseError, RoleName, View};

use crate::EvaluateError;

/// The view of a release, whose groups may show values that nobody has. A form without groups is an error, because nothing can be rebuilt from it.
pub(crate) fn open(release: &Release) -> Result<View, EvaluateError> {
    View::with_counterfeits(release).map_err(|error| match error {
        ReleaseError::NoGroups { method } => EvaluateError::Method { method },
        error => error.into(),
    })
}

/// The positions of the attributes with a role, in order.
pub(crate) fn with_role(view: &View, role: RoleName) -> impl Iterator<Item = usize> {
    view.fields.iter().enumerate().filter(move |(_, field)| field.role == role).map(|(at, _)| at)
}

/// The names of attributes.
pub(crate) fn names(view: &View, fields: &[usize]) -> Vec<String> {
    fields.iter().map(|&field| view.fields[field].name.clone()).collect()
}

/// The number of rows of the release.
pub(crate) fn n_rows(view: &View) -> u64 {
    (0..view.groups.len()).map(|group| u64::from(view.groups.size(group))).sum()
}

/// The values of an attribute, row by row.
pub(crate) fn column(view: &View, field: usize) -> Result<&CodedColumn, EvaluateError> {
    view.column(field).ok_or_else(|| lacks(view, view.layout.shape.people, field))
}

/// The ranges and labels of an attribute that a table shows.
pub(crate) fn labels<'a>(view: &'a View, table: &str, field: usize) -> Result<&'a Labels, EvaluateError> {
    view.labels(table, field).ok_or_else(|| lacks(view, table, field))
}

/// The sensitive values of every group.
pub(crate) fn values(view: &View) -> Result<&Multisets, EvaluateError> {
    let sensitive = with_role(view, RoleName::Sensitive).next().ok_or(EvaluateError::NoSensitive)?;
    view.values(sensitive).ok_or_else(|| lacks(view, view.layout.shape.values_table(), sensitive))
}

/// The error for a column of an attribute that should be there.
fn lacks(view: &View, table: &str, field: usize) -> EvaluateError {
    let is_of = |cell: Cell| match cell {
        Cell::Value(at) | Cell::Low(at) | Cell::High(at) | Cell::Label(at) | Cell::Bound(at) => at == field,
        Cell::GroupId | Cell::Count | Cell::Persons | Cell::Hits | Cell::Member => false,
    };
    let columns = view.layout.table(table).into_iter().flat_map(|table| &table.columns);
    let named = columns.filter(|column| is_of(column.cell)).map(|column| column.name.clone()).next();
    let column = named.unwrap_or_else(|| view.fields[field].name.clone());
    ReleaseError::MissingColumn { table: table.to_owned(), column }.into()
}

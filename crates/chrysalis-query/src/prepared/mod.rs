//! A release made ready for questions: everything that does not depend on what is asked is done once.

mod angel;
mod columns;
mod groups;
mod labels;
mod multisets;

use chrysalis_release::generalized::{MEMBERS, max_column, min_column};
use chrysalis_release::{Manifest, Release, ReleaseError, RoleName, angelized};
use chrysalis_table::{Column, Table};
use rayon::prelude::*;

use crate::{Field, Form, Plan, QueryError};
use angel::Boxed;
pub(crate) use columns::{CodeTest, CodedColumn};
pub(crate) use groups::Groups;
pub(crate) use labels::{Label, Labels};
pub(crate) use multisets::Multisets;

/// A release that can be asked any number of questions.
///
/// Columns that the tables lack are no error until a question needs them, so that a front end may read only those that
/// [`Plan::columns`] names.
///
/// # Cost
/// Preparing is a pass over the rows, and a sort inside every group where the sensitive values have no table of their own.
/// A question then costs a pass over the codes of the columns it names, and one over the sensitive values of the groups
/// it touches.
#[derive(Debug)]
pub struct Asked {
    pub(crate) manifest: Manifest,
    pub(crate) form: Form,
    pub(crate) groups: Groups,
    /// By field: exact or permuted values.
    columns: Vec<Option<CodedColumn>>,
    /// By field: ranges and sets.
    labels: Vec<Option<Labels>>,
    /// For angel: the tables of generalized rows that are there.
    boxed: Vec<Boxed>,
    multisets: Option<Multisets>,
}

impl Asked {
    /// Prepares a release.
    pub fn new(release: Release) -> Result<Asked, QueryError> {
        let form = Form::of(&release.manifest)?;
        let fields: Vec<Field> = release.manifest.attributes.iter().map(Field::new).collect();
        let name = first_table(&release, form);
        let table = release.table(name)?;
        let ids = column(table, name, form.group_id())?;
        let groups = Groups::new(ids);
        let multisets = multisets(&release, form, &fields, &groups, ids)?;
        let members = release.table(MEMBERS).ok();
        let is_exact = !form.hits().is_labelled();
        let boxed = if form == Form::Angel { angel::tables(&release, &fields, ids)? } else { Vec::new() };
        let prepare = |field: &Field| {
            let is_quasi = field.role != RoleName::Sensitive;
            let exact = table.column(&field.name).filter(|_| is_exact && is_quasi);
            let is_label = form == Form::Generalize && field.role == RoleName::Quasi;
            let labels = if is_label { labels_of(field, table, members, &groups)? } else { None };
            Ok::<_, QueryError>((exact.map(|column| CodedColumn::new(column, field, &groups)), labels))
        };
        let prepared: Vec<_> = fields.par_iter().map(prepare).collect::<Result<_, _>>()?;
        let (columns, labels) = prepared.into_iter().unzip();
        Ok(Asked { manifest: release.manifest, form, groups, columns, labels, boxed, multisets })
    }

    /// What the release says of itself.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    pub(crate) fn column(&self, plan: &Plan, field: usize) -> Result<&CodedColumn, QueryError> {
        self.columns[field].as_ref().ok_or_else(|| self.lacks(plan, field))
    }

    /// The labels of every group; for angel, of every row of the plan's table, batch after batch.
    pub(crate) fn labels(&self, plan: &Plan, field: usize) -> Result<&Labels, QueryError> {
        let labels = match self.form {
            Form::Angel => self.boxed.iter().find(|table| table.name == plan.table).map(|table| &table.labels),
            _ => Some(&self.labels),
        };
        labels.and_then(|labels| labels[field].as_ref()).ok_or_else(|| self.lacks(plan, field))
    }

    /// The sensitive values of every group.
    pub(crate) fn multisets(&self) -> Result<&Multisets, QueryError> {
        let table = self.form.sensitive_table().map_or(self.form.quasi_table(), |(table, _)| table);
        let sensitive = || self.manifest.with_role(RoleName::Sensitive).next().map(|attribute| attribute.name.clone());
        let lacks = || ReleaseError::MissingColumn { table: table.into(), column: sensitive().unwrap_or_default() };
        self.multisets.as_ref().ok_or_else(|| lacks().into())
    }

    fn lacks(&self, plan: &Plan, field: usize) -> QueryError {
        let (table, column) = (plan.table.clone(), plan.fields[field].name.clone());
        ReleaseError::MissingColumn { table, column }.into()
    }
}

/// The table that says which groups there are: for angel, the first that is there.
fn first_table(release: &Release, form: Form) -> &str {
    let is_there = |name: &&str| release.table(name).is_ok_and(|table| table.column(form.group_id()).is_some());
    let tables = angelized::generalized_tables(&release.manifest).into_iter().map(|(table, _)| table.name.as_str());
    let found = if form == Form::Angel { tables.into_iter().find(is_there) } else { None };
    found.unwrap_or(form.quasi_table())
}

fn column<'a>(table: &'a Table, name: &str, column: &str) -> Result<&'a Column, QueryError> {
    let lacks = || ReleaseError::MissingColumn { table: name.to_owned(), column: column.to_owned() };
    table.column(column).ok_or_else(|| lacks().into())
}

fn multisets(
    release: &Release,
    form: Form,
    fields: &[Field],
    groups: &Groups,
    ids: &Column,
) -> Result<Option<Multisets>, QueryError> {
    let Some(sensitive) = fields.iter().find(|field| field.role == RoleName::Sensitive) else { return Ok(None) };
    match form.sensitive_table() {
        None => {
            let table = release.table(form.quasi_table())?;
            Ok(table.column(&sensitive.name).map(|column| Multisets::of_rows(column, sensitive, groups)))
        }
        Some((name, count)) => {
            let Some(values) = release.table(name)?.column(&sensitive.name) else { return Ok(None) };
            let table = release.table(name)?;
            let (own_ids, counts) = (column(table, name, form.group_id())?, column(table, name, count)?);
            Multisets::of_table(values, sensitive, counts, groups.places(ids, own_ids)?, groups).map(Some)
        }
    }
}

fn labels_of(
    field: &Field,
    table: &Table,
    members: Option<&Table>,
    groups: &Groups,
) -> Result<Option<Labels>, QueryError> {
    if field.kind.is_ordered() {
        let (low, high) = (table.column(&min_column(&field.name)), table.column(&max_column(&field.name)));
        let Some((low, high)) = low.zip(high) else { return Ok(None) };
        return Labels::of_ranges(field, low, high, groups).map(Some);
    }
    match (table.column(&field.name), members) {
        (Some(column), Some(members)) => Labels::of_sets(field, column, members, groups).map(Some),
        _ => Ok(None),
    }
}

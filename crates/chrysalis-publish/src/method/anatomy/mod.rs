//! Exact quasi values beside the sensitive values of their group; see `spec.md`.

use chrysalis_release::{COUNT, Form, GROUP_ID, Scope};
use chrysalis_table::{Codes, Column, Table, Watch};
use rayon::prelude::*;

use super::frame::{self, Order};
use super::{Method, Outcome};
use crate::{Job, Microdata, Partition, PublishError};

/// The publication `anatomy`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Anatomy;

impl Method for Anatomy {
    fn form(&self) -> Form {
        Form::Anatomy
    }

    fn check(&self, data: &Microdata) -> Result<(), PublishError> {
        if data.sensitive().is_none() {
            return Err(nothing_sensitive(self.form()));
        }
        let names = shown_columns(data).map(|column| column.name().to_owned());
        frame::check_names(names.chain([GROUP_ID.to_owned()]))?;
        check_sensitive_name(data)
    }

    fn publish(&self, job: &mut Job<'_>) -> Result<Outcome, PublishError> {
        let (data, watch) = (job.data(), job.watch());
        let grouping = job.group(Scope::Group)?;
        let partition = grouping.partition();
        // Step 1.
        let shown = frame::draw_ids(partition, job.rng());
        // Step 2.
        let exact: Vec<&Column> = shown_columns(data).collect();
        let keys: Vec<&Codes> = exact.iter().map(|column| column.codes()).collect();
        let order = Order::canonical(partition, &shown, &keys, watch);
        let mut columns: Vec<Column> = exact
            .par_iter()
            .map(|column| {
                watch.pause();
                column.gather(&order.rows)
            })
            .collect();
        columns.push(frame::group_ids(partition.n_groups(), &order.place));
        // Step 3.
        let shape = self.form().shape();
        let mut tables = vec![(shape.people.to_owned(), Table::new(columns))];
        tables.extend(data.sensitive().map(|column| {
            (shape.values_table().to_owned(), sensitive_table(column, partition, &shown, GROUP_ID, watch))
        }));
        let release = frame::release(data, self.form(), (&grouping).into(), tables);
        let disclosure = job.disclosure(&[partition], self.form());
        Ok(Outcome::new(release, partition, Vec::new(), Some(disclosure)))
    }
}

/// The error of forms that separate quasi values from sensitive ones, when no sensitive column is named.
pub(super) fn nothing_sensitive(form: Form) -> PublishError {
    PublishError::request(format!(
        "{form} separates quasi values from sensitive ones, but no sensitive column is \
                                   named"
    ))
}

fn shown_columns(data: &Microdata) -> impl Iterator<Item = &Column> {
    data.quasi().map(|(column, _)| column).chain(data.other())
}

/// Refuses a sensitive column whose name clashes with the other two columns of its table.
pub(super) fn check_sensitive_name(data: &Microdata) -> Result<(), PublishError> {
    let sensitive = data.sensitive().map(|column| column.name().to_owned());
    frame::check_names([GROUP_ID.to_owned(), COUNT.to_owned()].into_iter().chain(sensitive))
}

/// One row per group and value, sorted by group id, then by value.
pub(super) fn sensitive_table(
    column: &Column,
    partition: &Partition,
    shown: &[u32],
    id: &str,
    watch: &dyn Watch,
) -> Table {
    let (mut place, mut values, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    let mut codes = Vec::new();
    for (at, &group) in (0u32..).zip(shown) {
        watch.pause_at(at as usize);
        codes.clear();
        codes.extend(partition.group(group as usize).iter().map(|&row| column.code(row as usize)));
        codes.sort_unstable();
        for run in codes.chunk_by(|a, b| a == b) {
            place.push(at);
            values.push(run[0]);
            counts.push(run.len() as i64);
        }
    }
    let values = Codes::collect(column.domain().len(), values.into_iter());
    Table::new(vec![
        frame::ids(id, partition.n_groups(), &place),
        Column::new(column.name(), std::sync::Arc::clone(column.domain()), values),
        Column::integers(COUNT, &counts),
    ])
}

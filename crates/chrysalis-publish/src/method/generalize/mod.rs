//! Ranges and labels in place of values; see `spec.md` for the steps that the comments number.

mod summary;

use std::sync::Arc;

use chrysalis_release::{Form, GROUP_ID, MEMBERS_COLUMNS, Scope};
use chrysalis_table::{Codes, Column, Table};
use rayon::prelude::*;

use super::frame::{self, Order};
use super::permute::RowsByGroup;
use super::{Method, Outcome, together};
use crate::series::{counterfeits_table, shown_values};
use crate::{Job, Microdata, Partition, PublishError};
pub(super) use summary::{Summary, column_names};
pub(crate) use summary::{node_ends, node_ncp, shown_ends};

/// The publication `generalize`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Generalize;

impl Method for Generalize {
    fn form(&self) -> Form {
        Form::Generalize
    }

    fn check(&self, data: &Microdata) -> Result<(), PublishError> {
        let quasi = data.quasi().flat_map(|(column, _)| summary::column_names(column));
        let sensitive = data.sensitive_columns().map(|column| column.column());
        let rest = data.other().chain(sensitive).map(|column| column.name().to_owned());
        frame::check_names(std::iter::once(GROUP_ID.to_owned()).chain(quasi).chain(rest))
    }

    fn publish(&self, job: &mut Job<'_>) -> Result<Outcome, PublishError> {
        let (data, watch) = (job.data(), job.watch());
        let grouping = job.group(Scope::Group)?;
        let partition = grouping.partition();
        // Step 1.
        let summaries = Summary::all(data, partition, watch);
        // Step 2.
        let shown = frame::draw_ids(partition, job.rng());
        // Step 3.
        let beside: Vec<Column> = apart(job, partition, &shown);
        let alone = data.sensitive_columns().map(|column| column.column()).filter(|_| beside.is_empty());
        let exact: Vec<&Column> = data.other().chain(alone).chain(&beside).collect();
        let keys: Vec<&Codes> = exact.iter().map(|column| column.codes()).collect();
        // In a series, every group shows the values of its signature instead of those of its rows.
        let series = grouping.series().zip(data.sensitive_columns().next());
        let of_series = series.map(|(groups, sensitive)| shown_values(sensitive.column(), groups, &shown));
        let order = match &of_series {
            Some((_, place)) => Order { rows: Vec::new(), place: place.clone() },
            None => Order::canonical(partition, &shown, &keys, watch),
        };
        let mut columns = vec![frame::group_ids(partition.n_groups(), &order.place)];
        let group_columns: Vec<&Column> = summaries.iter().flat_map(Summary::columns).collect();
        let shown_columns: Vec<Column> = group_columns
            .par_iter()
            .map(|column| {
                watch.pause();
                let codes = column.codes().gather(&shown).gather(&order.place);
                Column::new(column.name(), Arc::clone(column.domain()), codes)
            })
            .collect();
        columns.extend(shown_columns);
        match of_series {
            Some((values, _)) => columns.push(values),
            None => columns.extend(exact.par_iter().map(|column| column.gather(&order.rows)).collect::<Vec<_>>()),
        }
        // Step 4.
        let mut tables = labelled(self.form(), Table::new(columns), summaries.iter());
        if let Some((groups, _)) = series {
            tables.insert(1, counterfeits_table(groups, &shown, GROUP_ID));
        }
        let mut release = frame::release(data, self.form(), frame::ShownGroups::of(&grouping, &shown), tables);
        release.manifest.suppressed = partition.n_suppressed();
        let ncp = summaries.iter().map(|summary| (summary.name().to_owned(), summary.ncp(partition))).collect();
        let disclosure = job.disclosure(&[partition], self.form());
        Ok(Outcome::new(release, partition, ncp, Some(disclosure)))
    }
}

/// Several sensitive columns, each permuted on its own inside its groups unless it is shown together with others;
/// nothing if there is only one.
///
/// LEAK: values of one person that stood side by side would tell more than each column alone.
fn apart(job: &mut Job<'_>, partition: &Partition, shown: &[u32]) -> Vec<Column> {
    let (data, watch) = (job.data(), job.watch());
    if data.sensitive_columns().len() < 2 {
        return Vec::new();
    }
    let grouped = RowsByGroup::new(partition, shown);
    let permuted = together::permuted(data, &grouped, job.rng(), watch);
    let columns: Vec<&Column> = data.sensitive_columns().map(|column| column.column()).collect();
    columns.par_iter().zip(&permuted).map(|(column, codes)| grouped.as_rows(column, codes)).collect()
}

/// The table of people, and the table of what its labels stand for.
pub(super) fn labelled<'a>(
    form: Form,
    people: Table,
    summaries: impl Iterator<Item = &'a Summary>,
) -> Vec<(String, Table)> {
    let shape = form.shape();
    let members = shape.members.map(|name| (name.to_owned(), members(summaries)));
    std::iter::once((shape.people.to_owned(), people)).chain(members).collect()
}

/// The values behind every label, sorted.
pub(super) fn members<'a>(summaries: impl Iterator<Item = &'a Summary>) -> Table {
    let mut lines: Vec<[&str; 3]> = summaries
        .flat_map(|summary| {
            summary.members().iter().flat_map(move |(label, values)| {
                values.iter().map(move |value| [summary.name(), label.as_str(), value.as_str()])
            })
        })
        .collect();
    lines.sort_unstable();
    // Several tables may show an attribute with the same label.
    lines.dedup();
    let column = |at: usize| Column::texts(MEMBERS_COLUMNS[at], lines.iter().map(move |line| line[at]));
    Table::new((0..3).map(column).collect())
}

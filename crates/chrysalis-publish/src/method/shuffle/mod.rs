//! Exact quasi values with the sensitive column permuted inside its group, and bounds for sums; see `spec.md`.

mod extreme;
mod help;

use std::sync::Arc;

use chrysalis_release::{Form, GROUP_ID, Scope};
use chrysalis_table::{Codes, Column, Knob, Remedy, Table};
use rayon::prelude::*;

use super::anatomy::check_sensitive_names;
use super::permute::RowsByGroup;
use super::{Method, Outcome, frame, together};
use crate::{Job, Microdata, PublishError};

/// The publication `shuffle`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shuffle;

impl Method for Shuffle {
    fn form(&self) -> Form {
        Form::Shuffle
    }

    fn check(&self, data: &Microdata) -> Result<(), PublishError> {
        let sensitive = numeric_sensitive(data, self.form())?;
        let names = data.quasi().map(|(column, _)| column).chain(data.other()).chain(sensitive);
        frame::check_names(names.map(|column| column.name().to_owned()).chain([GROUP_ID.to_owned()]))?;
        check_sensitive_names(data, self.form())
    }

    fn publish(&self, job: &mut Job<'_>) -> Result<Outcome, PublishError> {
        let (data, watch) = (job.data(), job.watch());
        let sensitive = numeric_sensitive(data, self.form())?;
        let grouping = job.group(Scope::Group)?;
        let partition = grouping.partition();
        // Step 1.
        let shown = frame::draw_ids(partition, job.rng());
        // Step 2.
        let exact: Vec<&Column> = data.quasi().map(|(column, _)| column).chain(data.other()).collect();
        let keys: Vec<&Codes> = exact.iter().map(|column| column.codes()).collect();
        let grouped = RowsByGroup::new(partition, &shown).sorted_by(&keys, watch);
        let permuted = together::permuted(data, &grouped, job.rng(), watch);
        // Step 3.
        watch.pause();
        let mut codes: Vec<Codes> = exact.par_iter().map(|column| column.codes().gather(grouped.rows())).collect();
        let n_exact = codes.len();
        codes.extend(permuted);
        watch.pause();
        let order = grouped.order(&codes);
        let with_sensitive: Vec<&Column> = exact.into_iter().chain(sensitive.iter().copied()).collect();
        let mut columns: Vec<Column> = with_sensitive
            .par_iter()
            .zip(&codes)
            .map(|(column, codes)| {
                watch.pause();
                Column::new(column.name(), Arc::clone(column.domain()), codes.gather(&order))
            })
            .collect();
        columns.insert(n_exact, frame::group_ids(partition.n_groups(), &grouped.place));
        // Step 4.
        let shape = self.form().shape();
        let mut tables = vec![(shape.people.to_owned(), Table::new(columns))];
        for column in &sensitive {
            if let Some(name) = shape.help_table(column.name(), sensitive.len() > 1) {
                tables.push((name, help::table(column, partition, &shown, watch)?));
            }
        }
        let release = frame::release(data, self.form(), frame::ShownGroups::of(&grouping, &shown), tables);
        let disclosure = job.disclosure(&[partition], self.form());
        Ok(Outcome::new(release, partition, Vec::new(), Some(disclosure)))
    }
}

/// The sensitive columns, which these forms need as numbers.
pub(super) fn numeric_sensitive(data: &Microdata, form: Form) -> Result<Vec<&Column>, PublishError> {
    if data.sensitive_columns().len() == 0 {
        return Err(PublishError::request(format!("{form} moves values of the sensitive column, but none is named")));
    }
    let numeric = |column: &'_ Column| {
        let (name, domain) = (column.name(), column.domain());
        if !domain.kind().is_numeric() {
            let kind = domain.kind();
            return Err(PublishError::request(format!(
                "{form} needs a numeric sensitive column, but `{name}` is {kind}"
            )));
        }
        if domain.has_missing() {
            let problem = format!("{form} cannot use rows whose `{name}` is missing");
            return Err(PublishError::remedied(problem, Remedy::from("use ").knob(Knob::Missing, "drop")));
        }
        Ok(())
    };
    let columns: Vec<&Column> = data.sensitive_columns().map(|column| column.column()).collect();
    columns.iter().try_for_each(|column| numeric(column))?;
    Ok(columns)
}

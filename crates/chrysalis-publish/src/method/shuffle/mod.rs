//! Exact quasi values with the sensitive column permuted inside its group, and bounds for sums; see `spec.md`.

mod extreme;
mod help;

use std::sync::Arc;

use chrysalis_release::{Form, GROUP_ID, Scope};
use chrysalis_table::{Codes, Column, Knob, Remedy, Table};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use rayon::prelude::*;

use super::permute::{RowsByGroup, key};
use super::{Method, Outcome, frame};
use crate::{Job, Microdata, PublishError};

/// The publication `shuffle`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shuffle;

impl Method for Shuffle {
    fn form(&self) -> Form {
        Form::Shuffle
    }

    fn check(&self, data: &Microdata) -> Result<(), PublishError> {
        numeric_sensitive(data, self.form())?;
        let names = data.quasi().map(|(column, _)| column).chain(data.other()).chain(data.sensitive());
        frame::check_names(names.map(|column| column.name().to_owned()).chain([GROUP_ID.to_owned()]))
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
        let permuted = grouped.permuted(sensitive, &mut ChaCha20Rng::from_seed(key(job.rng())));
        // Step 3.
        watch.pause();
        let mut codes: Vec<Codes> = exact.par_iter().map(|column| column.codes().gather(grouped.rows())).collect();
        codes.push(permuted);
        watch.pause();
        let order = grouped.order(&codes);
        let with_sensitive: Vec<&Column> = exact.into_iter().chain([sensitive]).collect();
        let mut columns: Vec<Column> = with_sensitive
            .par_iter()
            .zip(&codes)
            .map(|(column, codes)| {
                watch.pause();
                Column::new(column.name(), Arc::clone(column.domain()), codes.gather(&order))
            })
            .collect();
        columns.insert(columns.len() - 1, frame::group_ids(partition.n_groups(), &grouped.place));
        // Step 4.
        let shape = self.form().shape();
        let mut tables = vec![(shape.people.to_owned(), Table::new(columns))];
        if let Some(name) = shape.help {
            tables.push((name.to_owned(), help::table(sensitive, partition, &shown, watch)?));
        }
        let release = frame::release(data, self.form(), (&grouping).into(), tables);
        let disclosure = job.disclosure(&[partition], self.form());
        Ok(Outcome::new(release, partition, Vec::new(), Some(disclosure)))
    }
}

/// The sensitive column, which these forms need as numbers.
pub(super) fn numeric_sensitive(data: &Microdata, form: Form) -> Result<&Column, PublishError> {
    match data.sensitive() {
        None => Err(PublishError::request(format!("{form} moves values of the sensitive column, but none is named"))),
        Some(column) if !column.domain().kind().is_numeric() => {
            let (name, kind) = (column.name(), column.domain().kind());
            Err(PublishError::request(format!("{form} needs a numeric sensitive column, but `{name}` is {kind}")))
        }
        Some(column) if column.domain().has_missing() => {
            let problem = format!("{form} cannot use rows whose `{}` is missing", column.name());
            Err(PublishError::remedied(problem, Remedy::from("use ").knob(Knob::Missing, "drop")))
        }
        Some(column) => Ok(column),
    }
}

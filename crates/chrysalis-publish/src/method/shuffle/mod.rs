//! Exact quasi values with the sensitive column permuted inside its group, and bounds for sums; see `spec.md`.

mod extreme;
mod help;

use std::sync::Arc;

use chrysalis_release::shuffled::{HELP, TABLE};
use chrysalis_release::{GROUP_ID, Published};
use chrysalis_table::{Codes, Column, Table};
use rand::rngs::ChaCha20Rng;
use rand::{CryptoRng, SeedableRng};
use rayon::prelude::*;

use super::frame::{self, Origin};
use super::permute::{Grouped, key};
use super::{Outcome, Publisher};
use crate::{Microdata, Partition, PublishError};

/// The publication `shuffle`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shuffle;

impl Publisher for Shuffle {
    fn name(&self) -> &'static str {
        "shuffle"
    }

    fn check(&self, data: &Microdata) -> Result<(), PublishError> {
        numeric_sensitive(data, self.name())?;
        let names = data.quasi().map(|(column, _)| column).chain(data.other()).chain(data.sensitive());
        frame::check_names(names.map(|column| column.name().to_owned()).chain([GROUP_ID.to_owned()]))
    }

    fn publish(
        &self,
        data: &Microdata,
        partition: &Partition,
        origin: Origin<'_>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Outcome, PublishError> {
        self.check(data)?;
        let sensitive = numeric_sensitive(data, self.name())?;
        // Step 1.
        let shown = frame::draw_ids(partition, rng);
        // Step 2.
        let exact: Vec<&Column> = data.quasi().map(|(column, _)| column).chain(data.other()).collect();
        let keys: Vec<&Codes> = exact.iter().map(|column| column.codes()).collect();
        let grouped = Grouped::new(partition, &shown).sorted_by(&keys);
        let permuted = grouped.permuted(sensitive, &mut ChaCha20Rng::from_seed(key(rng)));
        // Step 3.
        let mut codes: Vec<Codes> = exact.par_iter().map(|column| column.codes().gather(grouped.rows())).collect();
        codes.push(permuted);
        let order = grouped.order(&codes);
        let with_sensitive: Vec<&Column> = exact.into_iter().chain([sensitive]).collect();
        let mut columns: Vec<Column> = with_sensitive
            .par_iter()
            .zip(&codes)
            .map(|(column, codes)| Column::new(column.name(), Arc::clone(column.domain()), codes.gather(&order)))
            .collect();
        columns.insert(columns.len() - 1, frame::group_ids(partition.n_groups(), &grouped.place));
        // Step 4.
        let tables = vec![(TABLE, Table::new(columns)), (HELP, help::table(sensitive, partition, &shown)?)];
        let published = (Published::Exact, Published::Permuted);
        let release = frame::release(data, self.name(), origin, partition.n_groups(), published, tables);
        Ok(Outcome::new(release, partition, Vec::new()))
    }
}

/// The sensitive column, which these methods need as numbers.
pub(super) fn numeric_sensitive<'a>(data: &'a Microdata, method: &str) -> Result<&'a Column, PublishError> {
    let refuse = |problem: String| Err(PublishError::Request(problem));
    match data.sensitive() {
        None => refuse(format!("{method} moves values of the sensitive column, and none is named")),
        Some(column) if !column.domain().kind().is_numeric() => {
            let (name, kind) = (column.name(), column.domain().kind());
            refuse(format!("{method} needs a numeric sensitive column, `{name}` is {kind}"))
        }
        Some(column) if column.domain().has_missing() => {
            refuse(format!("{method} cannot use rows whose `{}` is missing; use --missing drop", column.name()))
        }
        Some(column) => Ok(column),
    }
}

//! Exact quasi values beside the sensitive values of their group; see `spec.md`.

use chrysalis_release::anatomy::{COUNT, QUASI_TABLE, SENSITIVE_TABLE};
use chrysalis_release::{GROUP_ID, Published};
use chrysalis_table::{Codes, Column, Table};
use rand::CryptoRng;
use rayon::prelude::*;

use super::frame::{self, Order, Origin};
use super::{Outcome, Publisher};
use crate::{Microdata, Partition, PublishError};

/// The publication `anatomy`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Anatomy;

impl Publisher for Anatomy {
    fn name(&self) -> &'static str {
        "anatomy"
    }

    fn check(&self, data: &Microdata) -> Result<(), PublishError> {
        if data.sensitive().is_none() {
            let problem = "anatomy parts quasi values from sensitive ones, and no sensitive column is named";
            return Err(PublishError::Request(problem.into()));
        }
        let names = shown_columns(data).map(|column| column.name().to_owned());
        frame::check_names(names.chain([GROUP_ID.to_owned()]))?;
        check_sensitive_name(data)
    }

    fn publish(
        &self,
        data: &Microdata,
        partition: &Partition,
        origin: Origin<'_>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Outcome, PublishError> {
        self.check(data)?;
        // Step 1.
        let shown = frame::draw_ids(partition, rng);
        // Step 2.
        let exact: Vec<&Column> = shown_columns(data).collect();
        let keys: Vec<&Codes> = exact.iter().map(|column| column.codes()).collect();
        let order = Order::canonical(partition, &shown, &keys);
        let mut columns: Vec<Column> = exact.par_iter().map(|column| column.gather(&order.rows)).collect();
        columns.push(frame::group_ids(partition.n_groups(), &order.place));
        // Step 3.
        let mut tables = vec![(QUASI_TABLE, Table::new(columns))];
        tables.extend(
            data.sensitive()
                .map(|column| (SENSITIVE_TABLE, sensitive_table(column, partition, &shown, [GROUP_ID, COUNT]))),
        );
        let published = (Published::Exact, Published::Exact);
        let release = frame::release(data, self.name(), origin, partition.n_groups(), published, tables);
        Ok(Outcome::new(release, partition, Vec::new()))
    }
}

fn shown_columns(data: &Microdata) -> impl Iterator<Item = &Column> {
    data.quasi().map(|(column, _)| column).chain(data.other())
}

/// The table of sensitive values has two columns of its own.
pub(super) fn check_sensitive_name(data: &Microdata) -> Result<(), PublishError> {
    let sensitive = data.sensitive().map(|column| column.name().to_owned());
    frame::check_names([GROUP_ID.to_owned(), COUNT.to_owned()].into_iter().chain(sensitive))
}

/// One row per group and value, by group id and value.
pub(super) fn sensitive_table(column: &Column, partition: &Partition, shown: &[u32], [id, count]: [&str; 2]) -> Table {
    let (mut place, mut values, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    let mut codes = Vec::new();
    for (at, &group) in (0u32..).zip(shown) {
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
        Column::integers(count, &counts),
    ])
}

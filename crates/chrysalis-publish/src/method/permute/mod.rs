//! Every column permuted on its own inside its group; see `spec.md`.

use std::sync::Arc;

use chrysalis_release::permuted::{COUNT, QUASI_TABLE, SENSITIVE_TABLE};
use chrysalis_release::{GROUP_ID, Published};
use chrysalis_table::{Codes, Column, Table};
use rand::rngs::ChaCha20Rng;
use rand::seq::SliceRandom;
use rand::{CryptoRng, Rng, SeedableRng};
use rayon::prelude::*;

use super::anatomy::{check_sensitive_name, sensitive_table};
use super::frame::{self, Origin};
use super::generalize::Summary;
use super::{Outcome, Publisher};
use crate::{Microdata, Partition, PublishError};

/// The publication `permute`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Permute;

impl Publisher for Permute {
    fn name(&self) -> &'static str {
        "permute"
    }

    fn check(&self, data: &Microdata) -> Result<(), PublishError> {
        if data.other().len() > 0 {
            let problem = "permute cuts every link between columns, so a column kept as it is would belong to nobody: leave --other out";
            return Err(PublishError::Request(problem.into()));
        }
        let names = data.quasi().map(|(column, _)| column.name().to_owned());
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
        let grouped = Grouped::new(partition, &shown);
        let columns: Vec<(&Column, [u8; 32])> = data.quasi().map(|(column, _)| (column, key(rng))).collect();
        let permuted: Vec<Codes> = columns
            .par_iter()
            .map(|(column, key)| grouped.permuted(column, &mut ChaCha20Rng::from_seed(*key)))
            .collect();
        // Step 3.
        let order = grouped.order(&permuted);
        let mut shown_columns: Vec<Column> = columns
            .par_iter()
            .zip(&permuted)
            .map(|((column, _), codes)| Column::new(column.name(), Arc::clone(column.domain()), codes.gather(&order)))
            .collect();
        shown_columns.push(frame::group_ids(partition.n_groups(), &grouped.place));
        // Step 4.
        let mut tables = vec![(QUASI_TABLE, Table::new(shown_columns))];
        tables.extend(
            data.sensitive()
                .map(|column| (SENSITIVE_TABLE, sensitive_table(column, partition, &shown, [GROUP_ID, COUNT]))),
        );
        let published = (Published::Permuted, Published::Exact);
        let release = frame::release(data, self.name(), origin, partition.n_groups(), published, tables);
        let summaries = Summary::all(data, partition);
        let ncp = summaries.iter().map(|summary| (summary.name().to_owned(), summary.ncp(partition))).collect();
        Ok(Outcome::new(release, partition, ncp))
    }
}

/// A key for a generator of its own, so that columns can be permuted side by side.
pub(super) fn key(rng: &mut dyn CryptoRng) -> [u8; 32] {
    let mut key = [0; 32];
    rng.fill_bytes(&mut key);
    key
}

/// Rows group after group, in the order of group ids.
pub(super) struct Grouped {
    rows: Vec<u32>,
    sizes: Vec<usize>,
    pub(super) place: Vec<u32>,
}

impl Grouped {
    pub(super) fn new(partition: &Partition, shown: &[u32]) -> Self {
        let groups = || shown.iter().map(|&group| partition.group(group as usize));
        Grouped {
            rows: groups().flatten().copied().collect(),
            sizes: groups().map(<[u32]>::len).collect(),
            place: (0u32..).zip(groups()).flat_map(|(at, group)| std::iter::repeat_n(at, group.len())).collect(),
        }
    }

    /// The same with every group's rows in the order of these columns: what meets what is up to the generator alone.
    pub(super) fn sorted_by(mut self, keys: &[&Codes]) -> Self {
        let mut rest = &mut self.rows[..];
        for &size in &self.sizes {
            let (group, after) = rest.split_at_mut(size);
            frame::sort_by_codes(group, keys);
            rest = after;
        }
        self
    }

    /// The rows of the microdata, group after group.
    pub(super) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// A column's codes, group after group, each group's in a random order.
    ///
    /// Every group is sorted first: the result depends on its values and the generator, not on the order of the input.
    pub(super) fn permuted(&self, column: &Column, rng: &mut impl Rng) -> Codes {
        let mut codes: Vec<u32> = self.rows.iter().map(|&row| column.code(row as usize)).collect();
        let mut rest = &mut codes[..];
        for &size in &self.sizes {
            let (group, after) = rest.split_at_mut(size);
            group.sort_unstable();
            group.shuffle(rng);
            rest = after;
        }
        Codes::collect(column.domain().len(), codes.into_iter())
    }

    /// The order of places that sorts every group by these columns.
    pub(super) fn order(&self, columns: &[Codes]) -> Vec<u32> {
        let keys: Vec<&Codes> = columns.iter().collect();
        let mut order: Vec<u32> = (0..self.rows.len() as u32).collect();
        let mut rest = &mut order[..];
        for &size in &self.sizes {
            let (group, after) = rest.split_at_mut(size);
            frame::sort_by_codes(group, &keys);
            rest = after;
        }
        order
    }
}

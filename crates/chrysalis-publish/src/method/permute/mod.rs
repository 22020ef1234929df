//! Every column permuted on its own inside its group; see `spec.md`.

use std::sync::Arc;

use chrysalis_release::{Form, GROUP_ID, Scope};
use chrysalis_table::{Codes, Column, Knob, Remedy, Table, Watch};
use rand::rngs::ChaCha20Rng;
use rand::seq::SliceRandom;
use rand::{CryptoRng, Rng, SeedableRng};
use rayon::prelude::*;

use super::anatomy::{check_sensitive_names, tables_of_values};
use super::generalize::Summary;
use super::{Method, Outcome, frame};
use crate::{Job, Microdata, Partition, PublishError};

/// The publication `permute`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Permute;

impl Method for Permute {
    fn form(&self) -> Form {
        Form::Permute
    }

    fn check(&self, data: &Microdata) -> Result<(), PublishError> {
        if data.other().len() > 0 {
            let form = self.form();
            let problem =
                format!("{form} cuts every link between columns, so a column kept as it is would belong to nobody");
            return Err(PublishError::remedied(problem, Remedy::from("leave ").knob(Knob::Other, "").words(" out")));
        }
        let names = data.quasi().map(|(column, _)| column.name().to_owned());
        frame::check_names(names.chain([GROUP_ID.to_owned()]))?;
        check_sensitive_names(data, self.form())
    }

    fn publish(&self, job: &mut Job<'_>) -> Result<Outcome, PublishError> {
        let (data, watch) = (job.data(), job.watch());
        let grouping = job.group(Scope::Group)?;
        let partition = grouping.partition();
        // Step 1.
        let shown = frame::draw_ids(partition, job.rng());
        // Step 2.
        let grouped = RowsByGroup::new(partition, &shown);
        let columns: Vec<(&Column, [u8; 32])> = data.quasi().map(|(column, _)| (column, key(job.rng()))).collect();
        let permuted: Vec<Codes> = columns
            .par_iter()
            .map(|(column, key)| {
                watch.pause();
                grouped.permuted(column, &mut ChaCha20Rng::from_seed(*key))
            })
            .collect();
        // Step 3.
        watch.pause();
        let order = grouped.order(&permuted);
        let mut shown_columns: Vec<Column> = columns
            .par_iter()
            .zip(&permuted)
            .map(|((column, _), codes)| {
                watch.pause();
                Column::new(column.name(), Arc::clone(column.domain()), codes.gather(&order))
            })
            .collect();
        shown_columns.push(frame::group_ids(partition.n_groups(), &grouped.place));
        // Step 4.
        let shape = self.form().shape();
        let mut tables = vec![(shape.people.to_owned(), Table::new(shown_columns))];
        tables.extend(tables_of_values(data, self.form(), &grouping, &shown, watch));
        let release = frame::release(data, self.form(), frame::ShownGroups::of(&grouping, &shown), tables);
        let summaries = Summary::all(data, partition, watch);
        let ncp = summaries.iter().map(|summary| (summary.name().to_owned(), summary.ncp(partition))).collect();
        let disclosure = job.disclosure(&[partition], self.form());
        Ok(Outcome::new(release, partition, ncp, Some(disclosure)))
    }
}

/// A key for a separate generator, so that columns can be permuted in parallel.
pub(super) fn key(rng: &mut dyn CryptoRng) -> [u8; 32] {
    let mut key = [0; 32];
    rng.fill_bytes(&mut key);
    key
}

/// Rows group after group, in the order of group ids.
pub(super) struct RowsByGroup {
    rows: Vec<u32>,
    sizes: Vec<usize>,
    pub(super) place: Vec<u32>,
}

impl RowsByGroup {
    pub(super) fn new(partition: &Partition, shown: &[u32]) -> Self {
        let groups = || shown.iter().map(|&group| partition.group(group as usize));
        RowsByGroup {
            rows: groups().flatten().copied().collect(),
            sizes: groups().map(<[u32]>::len).collect(),
            place: (0u32..).zip(groups()).flat_map(|(at, group)| std::iter::repeat_n(at, group.len())).collect(),
        }
    }

    /// Sorts the rows of every group by these columns, so that only the generator decides which row gets which value.
    pub(super) fn sorted_by(mut self, keys: &[&Codes], watch: &dyn Watch) -> Self {
        let mut rest = &mut self.rows[..];
        for (at, &size) in self.sizes.iter().enumerate() {
            watch.pause_at(at);
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

    /// A column's codes, group after group, each group in random order.
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

    /// A column whose codes are given group after group, as a column of the microdata: row by row.
    pub(super) fn as_rows(&self, column: &Column, codes: &Codes) -> Column {
        let mut place = vec![0; self.rows.len()];
        (0_u32..).zip(&self.rows).for_each(|(at, &row)| place[row as usize] = at);
        Column::new(column.name(), Arc::clone(column.domain()), codes.gather(&place))
    }

    /// The permutation of positions that sorts every group by these columns.
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

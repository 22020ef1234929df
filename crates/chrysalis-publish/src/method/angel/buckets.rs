//! Buckets of one generalized table, and the table itself.

use std::sync::Arc;

use chrysalis_criteria::PrincipleSpec;
use chrysalis_release::BATCH_ID;
use chrysalis_table::{Codes, Column, Table, Watch};
use rayon::prelude::*;

use super::super::frame::{self, Order};
use super::super::generalize::Summary;
use crate::partitioner::{ByColumn, Mondrian, Partitioner, cut_by_density};
use crate::{Job, Microdata, Partition, PublishError};

/// A bucket partition over some quasi attributes, summarized.
pub(super) struct Buckets {
    pub(super) partition: Partition,
    pub(super) summaries: Vec<Summary>,
}

impl Buckets {
    /// Step 1, by `mondrian`: makes cuts that keep boxes small, or cuts that serve the reconstruction.
    pub(super) fn cut(
        job: &mut Job<'_>,
        attributes: &[usize],
        k: u64,
        for_reconstruction: bool,
    ) -> Result<Self, PublishError> {
        let watch = job.watch();
        let progress = |_: u64| watch.pause();
        let marginal = job.data().units().projected(attributes);
        let goal = marginal.goal(&[PrincipleSpec::KAnonymity { k }.into()])?;
        let partition = match for_reconstruction {
            true => cut_by_density(&marginal, &goal, &progress),
            false => Mondrian::default().partition(&marginal, &goal, job.rng(), &progress)?,
        };
        Ok(Buckets::of(&marginal, partition, watch))
    }

    /// Step 1, from a column of the input.
    pub(super) fn given(job: &mut Job<'_>, attributes: &[usize], k: u64, column: &str) -> Result<Self, PublishError> {
        let (data, watch) = (job.data(), job.watch());
        let goal = data.goal(&[PrincipleSpec::KAnonymity { k }.into()])?;
        let given = ByColumn { column: column.to_owned() };
        let partition = given.partition(data, &goal, job.rng(), &|_| watch.pause())?;
        let partition = job.to_units(partition)?;
        Ok(Buckets::of(&data.units().projected(attributes), partition, watch))
    }

    /// Buckets of persons as buckets of their rows, over some quasi attributes.
    pub(super) fn of_rows(self, job: &Job<'_>, attributes: &[usize]) -> Self {
        match job.data().persons() {
            None => self,
            Some(_) => Buckets::of(&job.data().projected(attributes), job.to_rows(self.partition), job.watch()),
        }
    }

    /// A partition, with a summary of every quasi attribute of `data`.
    pub(super) fn of(data: &Microdata, partition: Partition, watch: &dyn Watch) -> Self {
        Buckets { summaries: Summary::all(data, &partition, watch), partition }
    }

    /// How many points of the quasi space the labels of every bucket cover.
    pub(super) fn points(&self) -> Vec<f64> {
        let product = |bucket: usize| self.summaries.iter().map(|summary| summary.points()[bucket]).product();
        (0..self.partition.n_groups()).map(product).collect()
    }

    /// Step 5. `shown` is the order of the batches; `kept` columns are shown as they are.
    pub(super) fn table(&self, batches: &Partition, shown: &[u32], kept: &[&Column], watch: &dyn Watch) -> Table {
        let mut bucket_of = vec![0; self.partition.n_rows()];
        for (bucket, rows) in (0u32..).zip(self.partition.groups()) {
            rows.iter().for_each(|&row| bucket_of[row as usize] = bucket);
        }
        let (ranks, n_ranks) = self.ranks();
        let by_labels = Codes::collect(n_ranks, bucket_of.iter().map(|&bucket| ranks[bucket as usize]));
        let keys: Vec<&Codes> = std::iter::once(&by_labels).chain(kept.iter().map(|column| column.codes())).collect();
        let order = Order::canonical(batches, shown, &keys, watch);
        let buckets: Vec<u32> = order.rows.par_iter().map(|&row| bucket_of[row as usize]).collect();
        let labels: Vec<&Column> = self.summaries.iter().flat_map(Summary::columns).collect();
        let mut columns: Vec<Column> = labels
            .par_iter()
            .map(|column| {
                watch.pause();
                Column::new(column.name(), Arc::clone(column.domain()), column.codes().gather(&buckets))
            })
            .collect();
        columns.extend(kept.par_iter().map(|column| column.gather(&order.rows)).collect::<Vec<_>>());
        columns.push(frame::ids(BATCH_ID, batches.n_groups(), &order.place));
        Table::new(columns)
    }

    /// The rank of every bucket's labels among all distinct labels, and the number of ranks. Buckets that look the same
    /// share a rank.
    fn ranks(&self) -> (Vec<u32>, usize) {
        let labels: Vec<&Codes> = self.summaries.iter().flat_map(Summary::columns).map(Column::codes).collect();
        let key = |bucket: u32| labels.iter().map(move |codes| codes.get(bucket as usize));
        let mut order: Vec<u32> = (0..self.partition.n_groups() as u32).collect();
        order.par_sort_unstable_by(|&a, &b| key(a).cmp(key(b)));
        let (mut ranks, mut n_ranks) = (vec![0; order.len()], 0);
        for run in order.chunk_by(|&a, &b| key(a).eq(key(b))) {
            run.iter().for_each(|&bucket| ranks[bucket as usize] = n_ranks);
            n_ranks += 1;
        }
        (ranks, n_ranks as usize)
    }
}

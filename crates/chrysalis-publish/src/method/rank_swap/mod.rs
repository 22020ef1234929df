//! Sensitive values exchanged with others of a close rank; see `spec.md`.

mod free;

use std::sync::Arc;

use chrysalis_criteria::Minimum;
use chrysalis_release::Published;
use chrysalis_release::swapped::TABLE;
use chrysalis_table::{Codes, Column, Table};
use rand::{CryptoRng, RngExt};
use rayon::prelude::*;

use super::frame::{self, Origin};
use super::shuffle::numeric_sensitive;
use super::{Outcome, Publisher};
use crate::partitioner::Sorted;
use crate::{Microdata, Partition, PublishError};
use free::Free;

/// The publication `rank-swap`. It forms no groups: the partition it is given is not looked at.
#[derive(Clone, Copy, Debug)]
pub struct RankSwap {
    /// How many rows, distinct values and how wide a span a value may move within, at least.
    pub minimum: Minimum,
}

impl Publisher for RankSwap {
    fn name(&self) -> &'static str {
        "rank-swap"
    }

    fn check(&self, data: &Microdata) -> Result<(), PublishError> {
        numeric_sensitive(data, self.name())?;
        let names = data.quasi().map(|(column, _)| column).chain(data.other()).chain(data.sensitive());
        frame::check_names(names.map(|column| column.name().to_owned()))
    }

    fn publish(
        &self,
        data: &Microdata,
        partition: &Partition,
        _origin: Origin<'_>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Outcome, PublishError> {
        self.check(data)?;
        let sensitive = numeric_sensitive(data, self.name())?;
        // Step 1.
        let sorted = Sorted::shuffled(sensitive, self.minimum, rng);
        // Step 2.
        let codes = exchanged(&sorted, rng);
        let mut swapped = vec![0; codes.len()];
        for (key, code) in sorted.keys().iter().zip(codes) {
            swapped[key.row() as usize] = code;
        }
        // Step 3.
        let swapped = Codes::collect(sensitive.domain().len(), swapped.into_iter());
        let exact: Vec<&Column> = data.quasi().map(|(column, _)| column).chain(data.other()).collect();
        let mut keys: Vec<&Codes> = exact.iter().map(|column| column.codes()).collect();
        keys.push(&swapped);
        let mut rows: Vec<u32> = (0..data.rows() as u32).collect();
        frame::sort_by_codes(&mut rows, &keys);
        let with_sensitive: Vec<&Column> = exact.into_iter().chain([sensitive]).collect();
        let columns = with_sensitive
            .par_iter()
            .zip(&keys)
            .map(|(column, codes)| Column::new(column.name(), Arc::clone(column.domain()), codes.gather(&rows)))
            .collect();
        let nothing = Origin { partitioner: "none", guarantees: &[] };
        let published = (Published::Exact, Published::Permuted);
        let release = frame::release(data, self.name(), nothing, 0, published, vec![(TABLE, Table::new(columns))]);
        Ok(Outcome::new(release, partition, Vec::new()))
    }
}

/// Every code after the exchange: each changes places once at most.
fn exchanged(sorted: &Sorted, rng: &mut dyn CryptoRng) -> Vec<u32> {
    let mut codes: Vec<u32> = sorted.keys().iter().map(|key| key.code()).collect();
    let mut free = Free::new(codes.len());
    for at in 0..codes.len() {
        if free.count(&(at..at + 1)) == 0 {
            continue;
        }
        free.take(at);
        // All before it are taken.
        let others = at + 1..window(sorted, at).end;
        let n_free = free.count(&others);
        if n_free > 0 {
            let other = free.nth(&others, rng.random_range(0..n_free));
            free.take(other);
            codes.swap(at, other);
        }
    }
    codes
}

/// The places within the least radius that reaches the least numbers; all of them where none does.
fn window(sorted: &Sorted, at: usize) -> std::ops::Range<usize> {
    let n = sorted.keys().len();
    let range = |radius: usize| at.saturating_sub(radius)..n.min(at + radius + 1);
    let (mut low, mut high) = (0, n);
    // Wider windows reach all that narrower ones do: search by halving.
    while low < high {
        let middle = low + (high - low) / 2;
        let window = range(middle);
        if sorted.reaches_minimum(window.start, window.end) { high = middle } else { low = middle + 1 }
    }
    range(low)
}

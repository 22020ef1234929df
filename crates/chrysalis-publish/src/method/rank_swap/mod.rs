//! Sensitive values exchanged with others of a close rank; see `spec.md`.

mod free;

use std::sync::Arc;

use chrysalis_criteria::{Minimum, Principle};
use chrysalis_release::Form;
use chrysalis_table::{Codes, Column, Knob, Remedy, Table, Watch};
use rand::{CryptoRng, RngExt};
use rayon::prelude::*;

use super::frame::{self, ShownGroups};
use super::shuffle::numeric_sensitive;
use super::{Method, Outcome};
use crate::partitioner::SortedRows;
use crate::{Job, Microdata, Partition, PublishError, SensitiveColumn};
use free::Free;

/// The publication `rank-swap`. It forms no groups and promises nothing. The requirements give the least number of rows
/// and of distinct values, and the least span, of the window in which a value moves.
#[derive(Clone, Copy, Debug, Default)]
pub struct RankSwap;

impl RankSwap {
    /// The requirements as minimum numbers; an error if they say anything else.
    fn minimum(job: &Job<'_>, column: SensitiveColumn<'_>) -> Result<Minimum, PublishError> {
        let goal = job.goal_of(column)?;
        goal.minimum().ok_or_else(|| {
            let form = RankSwap.form();
            let problem = format!("{form} takes how far values move from ke, k and distinct-l, not from {goal}");
            PublishError::remedied(problem, Remedy::from("for example ").knob(Knob::Require, "ke=4,100"))
        })
    }
}

impl Method for RankSwap {
    fn form(&self) -> Form {
        Form::RankSwap
    }

    fn check(&self, data: &Microdata) -> Result<(), PublishError> {
        let sensitive = numeric_sensitive(data, self.form())?;
        let names = data.quasi().map(|(column, _)| column).chain(data.other()).chain(sensitive);
        frame::check_names(names.map(|column| column.name().to_owned()))
    }

    fn publish(&self, job: &mut Job<'_>) -> Result<Outcome, PublishError> {
        let data = job.data();
        let sensitive = numeric_sensitive(data, self.form())?;
        let minima: Vec<Minimum> =
            data.sensitive_columns().map(|column| RankSwap::minimum(job, column)).collect::<Result<_, _>>()?;
        job.publishing();
        let watch = job.watch();
        let mut moved = Vec::with_capacity(sensitive.len());
        for (column, minimum) in sensitive.iter().zip(minima) {
            // Step 1.
            let sorted = SortedRows::shuffled(column, minimum, job.rng());
            // Step 2.
            let codes = exchanged(&sorted, job.rng(), watch);
            let mut swapped = vec![0; codes.len()];
            for (key, code) in sorted.keys().iter().zip(codes) {
                swapped[key.row() as usize] = code;
            }
            moved.push(Codes::collect(column.domain().len(), swapped.into_iter()));
        }
        // Step 3.
        let exact: Vec<&Column> = data.quasi().map(|(column, _)| column).chain(data.other()).collect();
        let mut keys: Vec<&Codes> = exact.iter().map(|column| column.codes()).collect();
        keys.extend(&moved);
        let mut rows: Vec<u32> = (0..data.rows() as u32).collect();
        frame::sort_by_codes(&mut rows, &keys);
        watch.pause();
        let with_sensitive: Vec<&Column> = exact.into_iter().chain(sensitive).collect();
        let columns = with_sensitive
            .par_iter()
            .zip(&keys)
            .map(|(column, codes)| Column::new(column.name(), Arc::clone(column.domain()), codes.gather(&rows)))
            .collect();
        let nothing = ShownGroups {
            partitioner: "none",
            n_groups: 0,
            promises: Vec::new(),
            partition: None,
            shown: &[],
            series: None,
        };
        let tables = vec![(self.form().shape().people.to_owned(), Table::new(columns))];
        let release = frame::release(data, self.form(), nothing, tables);
        let whole = Partition::new((0..data.rows() as u32).collect(), &[data.rows() as u32]);
        Ok(Outcome::new(release, &whole, Vec::new(), None))
    }
}

/// All codes after the exchanges. Each code changes places at most once.
fn exchanged(sorted: &SortedRows, rng: &mut dyn CryptoRng, watch: &dyn Watch) -> Vec<u32> {
    let mut codes: Vec<u32> = sorted.keys().iter().map(|key| key.code()).collect();
    let mut free = Free::new(codes.len());
    for at in 0..codes.len() {
        watch.pause_at(at);
        if free.count(&(at..at + 1)) == 0 {
            continue;
        }
        free.take(at);
        // All positions before it are taken.
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

/// The positions within the smallest radius that reaches the minimum numbers; all positions if none does.
fn window(sorted: &SortedRows, at: usize) -> std::ops::Range<usize> {
    let n = sorted.keys().len();
    let range = |radius: usize| at.saturating_sub(radius)..n.min(at + radius + 1);
    let (mut low, mut high) = (0, n);
    // A wider window reaches all that a narrower one does, so bisection finds the radius.
    while low < high {
        let middle = low + (high - low) / 2;
        let window = range(middle);
        if sorted.reaches_minimum(window.start, window.end) { high = middle } else { low = middle + 1 }
    }
    range(low)
}

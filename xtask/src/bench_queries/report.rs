//! The tables in the terminal: medians, their ratio, and whether it is within its limit.

use std::thread;

use crate::bench::data::Input;
use crate::bench::report::{grouped, megabytes, met};
use crate::measure::{Timing, median};

pub(super) fn heading(input: &Input, repeat: usize) {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    println!("\ndata     {}", input.name);
    println!("rows     {}", grouped(input.rows));
    println!("cores    {cores}");
    let (duckdb, postgres) = (repeat * super::IN_DUCKDB, repeat * super::IN_POSTGRES);
    println!(
        "runs     {repeat} of each process, {duckdb} inside DuckDB, {postgres} inside PostgreSQL, alternating; medians"
    );
}

pub(super) fn table(title: &str, ours: &str, theirs: &str) {
    println!("\n{title}");
    println!("{:<32}{:>12}{:>12}{:>9}  limit", "", format!("{ours}, s"), format!("{theirs}, s"), "ratio");
}

pub(super) fn line(name: &str, ours: &[f64], theirs: &[f64], limit: Option<f64>) {
    let [ours, theirs] = [ours, theirs].map(|seconds| median(seconds.iter().copied()));
    let ratio = ours / theirs;
    let verdict = limit.map_or_else(|| "none".to_owned(), |limit| format!("{limit:.1}: {}", met(ratio <= limit)));
    println!("{name:<32}{ours:>12.4}{theirs:>12.4}{ratio:>9.2}  {verdict}");
}

/// The same for whole processes, with peak memory.
pub(super) fn runs(name: &str, ours: &[Timing], theirs: &[Timing], limit: Option<f64>) {
    let seconds = |runs: &[Timing]| runs.iter().map(|run| run.seconds).collect::<Vec<_>>();
    line(name, &seconds(ours), &seconds(theirs), limit);
    let peak = |runs: &[Timing]| megabytes(runs.iter().filter_map(|run| run.peak_bytes).max());
    println!("{:<32}{:>9} MB{:>9} MB", "  peak memory", peak(ours), peak(theirs));
}

pub(super) fn note(text: &str, runs: &[Timing]) {
    println!("({text}: {:.3} s)", median(runs.iter().map(|run| run.seconds)));
}

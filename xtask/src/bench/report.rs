//! The benchmark's tables in the terminal.

use std::thread;

use serde_json::Value;

use super::Form;
use super::data::Input;
use crate::measure::{Timing, median};

/// Publishing may cost at most this many times what moving the rows costs.
const MOST_TIMES_POLARS: f64 = 4.0;
/// Mondrian at k=10 should place at least this many rows a second on one core.
const ROWS_PER_SECOND: f64 = 1_000_000.0;

pub(super) fn heading(input: &Input, repeat: usize) {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    println!("\ndata     {}", input.name);
    println!("rows     {}", grouped(input.rows));
    println!("cores    {cores}");
    println!("runs     {repeat} of each, alternating");
    println!("polars   read CSV, sort by {}, write Parquet", input.sort_by.join(", "));
    let requirement = input.requirement.unwrap_or("what its spec requires");
    println!("publish  chrysalis publish --method generalize, {requirement}\n");
    println!("{:<8}{:>12}{:>12}{:>14}{:>14}", "", "polars", "publish", "polars", "publish");
    println!("{:<8}{:>12}{:>12}{:>14}{:>14}", "run", "seconds", "seconds", "peak MB", "peak MB");
}

/// The latest run of each program.
pub(super) fn pair(number: usize, polars: &[Timing], publish: &[Timing]) {
    if let (Some(a), Some(b)) = (polars.last(), publish.last()) {
        line(&number.to_string(), [a.seconds, b.seconds], [a.peak_bytes, b.peak_bytes]);
    }
}

pub(super) fn comparison(polars: &[Timing], publish: &[Timing], summary: &Value) {
    let seconds = [polars, publish].map(|runs| median(runs.iter().map(|run| run.seconds)));
    let peaks = [polars, publish].map(|runs| runs.iter().filter_map(|run| run.peak_bytes).max());
    line("median", seconds, [None, None]);
    println!("{:<8}{:>12}{:>12}{:>14}{:>14}", "peak", "", "", megabytes(peaks[0]), megabytes(peaks[1]));

    let ratio = seconds[1] / seconds[0];
    let verdict = met(ratio <= MOST_TIMES_POLARS);
    println!("\npublish / polars, medians: {ratio:.2} (at most {MOST_TIMES_POLARS:.0}: {verdict})");
    println!("peak memory of publish: {} MB", megabytes(peaks[1]));
    if let Some(phases) = summary["phases"].as_object() {
        let phases = phases.iter().filter_map(|(name, value)| Some((name, value.as_f64()?)));
        let phases: Vec<_> = phases.map(|(name, s)| format!("{name} {s:.2} s")).collect();
        println!("phases of the last publish: {}", phases.join(", "));
    }
}

pub(super) fn mondrian(rows: usize, partition: &[f64], summary: &Value) {
    let seconds = median(partition.iter().copied());
    #[expect(clippy::cast_precision_loss, reason = "a rate for people to read")]
    let rate = rows as f64 / seconds;
    println!("\nmondrian alone, k=10, one thread: median of {} runs {seconds:.2} s", partition.len());
    println!(
        "{:.2} million rows per second and core (at least {:.0} million: {})",
        rate / 1e6,
        ROWS_PER_SECOND / 1e6,
        met(rate >= ROWS_PER_SECOND)
    );
    println!("rows disclosed: {}", summary["disclosed_rows"]);
}

/// One line for one of the other methods.
pub(super) fn form(form: &Form, polars: &[Timing], publish: &[Timing], summary: &Value) {
    let seconds = [polars, publish].map(|runs| median(runs.iter().map(|run| run.seconds)));
    let peak = publish.iter().filter_map(|run| run.peak_bytes).max();
    let ratio = seconds[1] / seconds[0];
    let words = form.arguments.iter().filter(|word| !word.starts_with("--")).copied().collect::<Vec<_>>().join(" by ");
    println!(
        "\n{words}, {}: {:.2} s against {:.2} s, ratio {ratio:.2} (at most {:.0}: {}), peak {} MB, {} rows disclosed",
        form.requirement,
        seconds[1],
        seconds[0],
        form.limit,
        met(ratio <= form.limit),
        megabytes(peak),
        summary["disclosed_rows"]
    );
}

fn line(name: &str, seconds: [f64; 2], peaks: [Option<u64>; 2]) {
    let [a, b] = seconds;
    let [c, d] = peaks.map(|peak| peak.map_or_else(String::new, |_| megabytes(peak)));
    println!("{name:<8}{a:>12.2}{b:>12.2}{c:>14}{d:>14}");
}

pub(crate) fn met(holds: bool) -> &'static str {
    if holds { "met" } else { "MISSED" }
}

pub(crate) fn megabytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "not known".to_owned(), |bytes| (bytes / 1_000_000).to_string())
}

/// `2000000` as `2,000,000`.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_by_three() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (2_000_000, "2,000,000")];
        for (number, text) in cases {
            assert_eq!(grouped(number), text);
        }
    }
}

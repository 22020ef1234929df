//! Progress bars and notes, on standard error; none when it is not a terminal or with `--quiet`.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::render::printable;

/// One bar at a time, and how long each phase took.
pub(crate) struct Phases {
    shown: bool,
    quiet: bool,
    started: Instant,
    done: Vec<(&'static str, f64)>,
}

impl Phases {
    pub(crate) fn new(quiet: bool) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        Phases { shown, quiet, started: Instant::now(), done: Vec::new() }
    }

    /// Runs a phase. `total` is what its progress sums up to, `unit` what it counts.
    pub(crate) fn run<T>(
        &mut self,
        name: &'static str,
        total: Option<u64>,
        unit: Unit,
        work: impl FnOnce(&(dyn Fn(u64) + Sync)) -> T,
    ) -> T {
        let started = Instant::now();
        let bar = if self.shown { bar(name, total, unit) } else { ProgressBar::hidden() };
        let result = work(&|n| bar.inc(n));
        bar.finish_and_clear();
        self.done.push((name, started.elapsed().as_secs_f64()));
        result
    }

    /// What comes next, where somebody watches.
    #[allow(clippy::print_stderr, reason = "progress goes to standard error")]
    pub(crate) fn announce(&self, text: &str) {
        if self.shown {
            eprintln!("{}", printable(text));
        }
    }

    /// A remark for people.
    #[allow(clippy::print_stderr, reason = "notes go to standard error")]
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            eprintln!("note: {text}");
        }
    }

    /// Every phase with its seconds.
    pub(crate) fn done(&self) -> &[(&'static str, f64)] {
        &self.done
    }

    /// Seconds since the start.
    pub(crate) fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }
}

/// What a phase counts.
#[derive(Clone, Copy)]
pub(crate) enum Unit {
    Bytes,
    Rows,
    Nodes,
    Runs,
}

fn bar(name: &'static str, total: Option<u64>, unit: Unit) -> ProgressBar {
    let (counts, rate) = match unit {
        Unit::Bytes => ("{bytes}/{total_bytes}", "{bytes_per_sec}"),
        Unit::Rows => ("{human_pos}/{human_len} rows", "{per_sec}"),
        Unit::Runs => ("{human_pos}/{human_len} runs", "{per_sec}"),
        Unit::Nodes => ("{human_pos} of {human_len} combinations of levels checked or ruled out", "{per_sec}"),
    };
    let (bar, template) = match total {
        Some(total) => (ProgressBar::new(total), format!("{{msg:>10}} [{{wide_bar}}] {counts} {rate} {{eta}} left")),
        None => (ProgressBar::new_spinner(), format!("{{msg:>10}} {{spinner}} {{elapsed}} {rate}")),
    };
    bar.set_style(ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(name);
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

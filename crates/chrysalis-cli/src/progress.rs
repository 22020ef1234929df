//! Progress bars and notes on standard error (none without a terminal or with `--quiet`), and requests to stop.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use chrysalis::store::give_up;
use chrysalis::{Counted, Error, Stopped, Watch};
use indicatif::{ProgressBar, ProgressStyle};

use crate::args::Cli;
use crate::failure::{Failure, STOPPED, say};
use crate::render::printable;

/// Whether the user pressed Ctrl-C, or the system asks us to end.
static STOP: AtomicBool = AtomicBool::new(false);

/// How long the work may take to unwind before the process ends anyway.
const PATIENCE: Duration = Duration::from_millis(60);

/// From here on, a signal asks the work to stop. If it does not stop soon and has not put anything in its place yet,
/// unfinished output is removed and the process ends. Databases roll back only if they are asked to, so with them
/// (`is_patient`) that takes a second signal.
pub(crate) fn listen_for_signals(is_patient: bool) -> Result<(), Failure> {
    let stop = move || {
        let is_second = STOP.swap(true, Ordering::Relaxed);
        if is_patient && !is_second {
            return;
        }
        thread::sleep(PATIENCE);
        if give_up() {
            last_word(|| {
                clear_line();
                let _ = Failure::from(Error::from(Stopped)).report();
                std::process::exit(i32::from(STOPPED))
            })
        }
    };
    ctrlc::set_handler(stop).map_err(|error| Failure::internal(format!("cannot listen for signals: {error}")))
}

/// Only one thread reports how the process ended; all others wait for its end.
pub(crate) fn last_word<T>(say: impl FnOnce() -> T) -> T {
    static SAID: Mutex<()> = Mutex::new(());
    let said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    let what = say();
    std::mem::forget(said);
    what
}

/// Clears the progress bar, which nobody else will do.
fn clear_line() {
    let mut stderr = std::io::stderr();
    if stderr.is_terminal() {
        let _ = write!(stderr, "\r\x1b[2K");
    }
}

/// One bar at a time, and how long each phase took.
pub(crate) struct Phases {
    is_shown: bool,
    is_quiet: bool,
    is_verbose: bool,
    started: Instant,
    state: Mutex<State>,
}

struct State {
    bar: ProgressBar,
    /// The current phase, and when it began.
    now: Option<(&'static str, Instant)>,
    done: Vec<(&'static str, f64)>,
    /// Whether the end of every phase is reported.
    is_verbose: bool,
}

impl State {
    fn end(&mut self) {
        self.bar.finish_and_clear();
        if let Some((name, since)) = self.now.take() {
            let seconds = since.elapsed().as_secs_f64();
            if self.is_verbose {
                say(&format!("{name}: {seconds:.2} s"));
            }
            match self.done.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += seconds,
                None => self.done.push((name, seconds)),
            }
        }
    }
}

impl Phases {
    pub(crate) fn new(cli: &Cli) -> Self {
        let (is_quiet, is_verbose) = (cli.quiet, cli.verbose);
        let state = State { bar: ProgressBar::hidden(), now: None, done: Vec::new(), is_verbose };
        let is_shown = !is_quiet && std::io::stderr().is_terminal();
        Phases { is_shown, is_quiet, is_verbose, started: Instant::now(), state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every phase with its seconds. Ends the current phase.
    pub(crate) fn finish(&self) -> Vec<(String, f64)> {
        let mut state = self.state();
        state.end();
        state.done.iter().map(|(name, seconds)| ((*name).to_owned(), *seconds)).collect()
    }

    /// Seconds since the start.
    pub(crate) fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }
}

impl Watch for Phases {
    fn phase(&self, name: &'static str, total: Option<u64>, counted: Counted) {
        let mut state = self.state();
        state.end();
        state.now = Some((name, Instant::now()));
        if self.is_shown {
            state.bar = bar(name, total, counted);
        }
    }

    fn advance(&self, n: u64) {
        if self.is_shown {
            self.state().bar.inc(n);
        }
    }

    fn announce(&self, what: &str) {
        if self.is_shown {
            self.state().bar.finish_and_clear();
            say(&printable(what));
        }
    }

    fn note(&self, sentence: &str) {
        if !self.is_quiet {
            say(&format!("note: {}", printable(sentence)));
        }
    }

    fn detail(&self, sentence: &str) {
        if self.is_verbose {
            self.state().bar.suspend(|| say(&printable(sentence)));
        }
    }

    fn stopped(&self) -> bool {
        STOP.load(Ordering::Relaxed)
    }
}

fn bar(name: &'static str, total: Option<u64>, counted: Counted) -> ProgressBar {
    let (counts, rate) = match counted {
        Counted::Bytes => ("{bytes}/{total_bytes}", "{bytes_per_sec}"),
        Counted::Rows => ("{human_pos}/{human_len} rows", "{per_sec}"),
        Counted::Runs => ("{human_pos}/{human_len} runs", "{per_sec}"),
        Counted::Combinations => {
            ("{human_pos} of {human_len} combinations of levels checked or ruled out", "{per_sec}")
        }
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

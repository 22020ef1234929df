//! Long work: on threads of its own, without Python's lock, watched and stopped from the thread that called.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use chrysalis::{Counted, Error, Stopped, Watch};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::exception;

/// How often the calling thread looks whether somebody pressed Ctrl-C, and shows how far the work is.
const PACE: Duration = Duration::from_millis(50);
/// How long stopped work may take to unwind before the caller goes on without it.
const PATIENCE: Duration = Duration::from_millis(600);
/// Stack space for the deepest recursion possible; only pages that are used take memory.
const STACK: usize = 64 << 20;

/// What was said while work was done.
#[derive(Default)]
pub(crate) struct Told {
    /// What a person should know, in sentences.
    pub(crate) notes: Vec<String>,
    /// Every phase, with its seconds.
    pub(crate) phases: Vec<(String, f64)>,
    /// All seconds.
    pub(crate) seconds: f64,
}

/// Does work that may take long. `progress` is told how far it is, and stops it by returning `False`.
///
/// Ctrl-C stops it, too: the work unwinds and leaves nothing behind. If that takes long, the caller does not wait.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&dyn Watch) -> Result<T, Error> + Send + 'static,
) -> PyResult<(T, Told)> {
    let internal = |problem: String| exception(py, &Error::internal(problem));
    let pool = pool().map_err(internal)?;
    let (watched, slot) = (Arc::new(Watched::new()), Arc::new(Slot::default()));
    let (own, out) = (Arc::clone(&watched), Arc::clone(&slot));
    let job = move || out.fill(pool.install(|| catch_unwind(AssertUnwindSafe(|| work(&*own)))));
    let started = thread::Builder::new().name("chrysalis".into()).stack_size(STACK).spawn(job);
    started.map_err(|error| internal(format!("cannot start a thread: {error}")))?;
    loop {
        if let Some(outcome) = py.detach(|| slot.wait(PACE)) {
            return match outcome {
                Ok(Ok(made)) => {
                    watched.show(progress, true)?;
                    Ok((made, watched.told()))
                }
                Ok(Err(error)) => {
                    watched.show(progress, true)?;
                    Err(exception(py, &error))
                }
                Err(payload) if Stopped::is(&*payload) => Err(exception(py, &Stopped.into())),
                Err(payload) => {
                    let text = payload.downcast_ref::<String>().cloned();
                    let text = text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                    Err(internal(format!("internal error: {}", text.unwrap_or_else(|| "a panic".to_owned()))))
                }
            };
        }
        if let Err(interrupt) = py.check_signals().and_then(|()| watched.show(progress, false)) {
            watched.stop.store(true, Ordering::Relaxed);
            // What it has done is dropped with it; on Ctrl-C nobody asks any more whether that was all.
            py.detach(|| slot.wait(PATIENCE));
            let _ = watched.show(progress, true);
            return Err(interrupt);
        }
    }
}

/// Where work leaves its result.
struct Slot<T> {
    result: Mutex<Option<T>>,
    is_full: Condvar,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Slot { result: Mutex::new(None), is_full: Condvar::new() }
    }
}

impl<T> Slot<T> {
    fn fill(&self, result: T) {
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        self.is_full.notify_all();
    }

    /// The result, if there is one within this time.
    fn wait(&self, time: Duration) -> Option<T> {
        let result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.is_full.wait_timeout_while(result, time, |result| result.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.take()
    }
}

/// Threads for parallel work. A process that was forked has none of its parent's threads, and gets its own.
fn pool() -> Result<Arc<ThreadPool>, String> {
    static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);
    let mut known = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((_, pool)) = known.as_ref().filter(|(of, _)| *of == process) {
        return Ok(Arc::clone(pool));
    }
    let made = ThreadPoolBuilder::new().stack_size(STACK).build();
    let made = Arc::new(made.map_err(|error| format!("cannot start threads: {error}"))?);
    // The threads of the parent cannot be told to end: they are not here.
    std::mem::forget(known.replace((process, Arc::clone(&made))));
    Ok(made)
}

/// What the calling thread knows of the work.
struct Watched {
    stop: AtomicBool,
    done: AtomicU64,
    started: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The current phase: its name, what its progress adds up to, what it counts, and when it began.
    now: Option<(&'static str, Option<u64>, Counted, Instant)>,
    told: Told,
}

impl State {
    fn end(&mut self) {
        if let Some((name, _, _, since)) = self.now.take() {
            let seconds = since.elapsed().as_secs_f64();
            match self.told.phases.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += seconds,
                None => self.told.phases.push((name.to_owned(), seconds)),
            }
        }
    }
}

impl Watched {
    fn new() -> Self {
        let (stop, done) = (AtomicBool::new(false), AtomicU64::new(0));
        Watched { stop, done, started: Instant::now(), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything that was said. Ends the current phase.
    fn told(&self) -> Told {
        let mut state = self.state();
        state.end();
        Told { seconds: self.started.elapsed().as_secs_f64(), ..std::mem::take(&mut state.told) }
    }

    /// Calls `progress(phase, done, total, unit)`; at the end with `None` as the phase. If it returns `False`, the work
    /// is to stop.
    fn show(&self, progress: Option<&Bound<'_, PyAny>>, is_over: bool) -> PyResult<()> {
        let Some(progress) = progress else { return Ok(()) };
        let now = self.state().now;
        let done = self.done.load(Ordering::Relaxed);
        let answer = match now.filter(|_| !is_over) {
            Some((name, total, counted, _)) => progress.call1((name, done, total, unit(counted)))?,
            None if is_over => progress.call1((None::<&str>, done, None::<u64>, ""))?,
            None => return Ok(()),
        };
        if answer.extract::<bool>().is_ok_and(|goes_on| !goes_on) && !answer.is_none() {
            self.stop.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

fn unit(counted: Counted) -> &'static str {
    match counted {
        Counted::Bytes => "bytes",
        Counted::Rows => "rows",
        Counted::Combinations => "combinations",
        Counted::Runs => "runs",
    }
}

impl Watch for Watched {
    fn phase(&self, name: &'static str, total: Option<u64>, counted: Counted) {
        let mut state = self.state();
        state.end();
        state.now = Some((name, total, counted, Instant::now()));
        self.done.store(0, Ordering::Relaxed);
    }

    fn advance(&self, n: u64) {
        self.done.fetch_add(n, Ordering::Relaxed);
    }

    fn note(&self, sentence: &str) {
        self.state().told.notes.push(sentence.to_owned());
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

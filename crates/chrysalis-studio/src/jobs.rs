//! Long work: started by one request, watched and stopped by others.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrysalis::{Counted, Error, Fault, Remedy, Stopped, Watch};
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};

use crate::error::shown;

/// Jobs that are carried out at once; each of them uses all cores where it can.
const AT_ONCE: usize = 2;
/// Jobs that may wait for them.
const MOST_WAITING: usize = 32;
/// Jobs whose results are kept.
const MOST_KEPT: usize = 64;
/// How long a question about a job waits for its end.
const PATIENCE: Duration = Duration::from_millis(400);

/// One piece of work.
pub(crate) struct Job {
    state: Mutex<JobState>,
    done: AtomicU64,
    is_stopped: AtomicBool,
    /// Once it wrote something, it is carried on to its end.
    is_committed: AtomicBool,
    ended: Notify,
}

struct JobState {
    phase: &'static str,
    about: String,
    total: Option<u64>,
    notes: Vec<String>,
    outcome: Option<Result<Value, Error>>,
}

impl Job {
    fn new() -> Self {
        let state = JobState { phase: "waiting", about: String::new(), total: None, notes: Vec::new(), outcome: None };
        Job {
            state: Mutex::new(state),
            done: AtomicU64::new(0),
            is_stopped: AtomicBool::new(false),
            is_committed: AtomicBool::new(false),
            ended: Notify::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, JobState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_ended(&self) -> bool {
        self.state().outcome.is_some()
    }

    fn end(&self, outcome: Result<Value, Error>) {
        self.state().outcome = Some(outcome);
        self.ended.notify_waiters();
    }

    /// From here on the work cannot be stopped.
    pub(crate) fn commit(&self) {
        self.is_committed.store(true, Ordering::Relaxed);
    }

    /// What a person should know about the work.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.state().notes.clone()
    }

    fn json(&self) -> Value {
        let state = self.state();
        let mut told = json!({
            "phase": state.phase,
            "about": state.about,
            "done": self.done.load(Ordering::Relaxed),
            "total": state.total,
            "notes": state.notes,
            "can_stop": !self.is_committed.load(Ordering::Relaxed),
        });
        let (name, outcome) = match &state.outcome {
            None => ("running", Value::Null),
            Some(Ok(result)) => ("done", result.clone()),
            Some(Err(error)) if error.fault == Fault::Stopped => ("stopped", shown(error)),
            Some(Err(error)) => ("failed", shown(error)),
        };
        told["state"] = json!(name);
        told[if matches!(state.outcome, Some(Err(_))) { "error" } else { "result" }] = outcome;
        told
    }
}

impl Watch for Job {
    fn phase(&self, name: &'static str, total: Option<u64>, _: Counted) {
        let mut state = self.state();
        (state.phase, state.total) = (name, total);
        self.done.store(0, Ordering::Relaxed);
    }

    fn advance(&self, n: u64) {
        self.done.fetch_add(n, Ordering::Relaxed);
    }

    fn announce(&self, what: &str) {
        self.state().about = what.to_owned();
    }

    fn note(&self, sentence: &str) {
        self.state().notes.push(sentence.to_owned());
    }

    fn stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed) && !self.is_committed.load(Ordering::Relaxed)
    }
}

/// All jobs.
pub(crate) struct Jobs {
    next: AtomicU64,
    all: Mutex<BTreeMap<u64, Arc<Job>>>,
    heavy: Arc<Semaphore>,
}

impl Jobs {
    pub(crate) fn new() -> Self {
        Jobs { next: AtomicU64::new(1), all: Mutex::default(), heavy: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Job>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts work, and returns the number to ask about it.
    pub(crate) fn start(&self, work: impl FnOnce(&Job) -> Result<Value, Error> + Send + 'static) -> Result<u64, Error> {
        let mut all = self.all();
        if all.values().filter(|job| !job.has_ended()).count() >= AT_ONCE + MOST_WAITING {
            return Err(Error::request("the studio is busy with too many things at once", "wait a moment"));
        }
        while all.len() >= MOST_KEPT {
            let Some(oldest) = all.iter().find(|(_, job)| job.has_ended()).map(|(id, _)| *id) else { break };
            all.remove(&oldest);
        }
        let (id, job) = (self.next.fetch_add(1, Ordering::Relaxed), Arc::new(Job::new()));
        all.insert(id, Arc::clone(&job));
        let heavy = Arc::clone(&self.heavy);
        tokio::spawn(async move {
            let permit = heavy.acquire_owned().await;
            let own = Arc::clone(&job);
            let run = move || {
                let _permit = permit;
                own.end(carried_out(&own, work));
            };
            if tokio::task::spawn_blocking(run).await.is_err() {
                job.end(Err(Error::internal("the work ended without a result")));
            }
        });
        Ok(id)
    }

    /// What is known about a job; waits a moment for its end.
    pub(crate) async fn ask(&self, id: u64) -> Result<Value, Error> {
        let job = self.all().get(&id).cloned();
        let job = job.ok_or_else(|| Error::request("there is no such work any more", Remedy::none()))?;
        let ended = job.ended.notified();
        if !job.has_ended() {
            let _ = tokio::time::timeout(PATIENCE, ended).await;
        }
        Ok(job.json())
    }

    /// What a job gave, if it is known: nothing yet while it is under way, and an empty value for an error.
    pub(crate) fn result(&self, id: u64) -> Option<Option<Value>> {
        let job = self.all().get(&id).cloned()?;
        let state = job.state();
        Some(state.outcome.as_ref().map(|outcome| outcome.as_ref().map_or(Value::Null, Clone::clone)))
    }

    /// Asks a job to stop.
    pub(crate) fn stop(&self, id: u64) {
        if let Some(job) = self.all().get(&id) {
            job.is_stopped.store(true, Ordering::Relaxed);
        }
    }

    /// Asks all of them.
    pub(crate) fn stop_all(&self) {
        self.all().values().for_each(|job| job.is_stopped.store(true, Ordering::Relaxed));
    }
}

fn carried_out(job: &Job, work: impl FnOnce(&Job) -> Result<Value, Error>) -> Result<Value, Error> {
    if job.stopped() {
        return Err(Error::from(Stopped));
    }
    caught(|| work(job))
}

/// A panic is a bug of ours, and the end of one piece of work, not of the studio.
pub(crate) fn caught<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| match Stopped::is(&*payload) {
        true => Err(Error::from(Stopped)),
        false => Err(Error::internal("something went wrong inside the studio")),
    })
}

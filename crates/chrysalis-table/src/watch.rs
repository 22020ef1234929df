//! Long work that can be watched, and stopped from outside.
//!
//! The caller of long work brings a [`Watch`], which is told which phase has begun and how much of it is done, and
//! which may say that the result is no longer wanted. Algorithms know none of that. They are handed a [`Progress`],
//! which they call as they go, and which does not return once the work is to stop: it unwinds past all algorithms and
//! threads up to [`Stopped::catch`]. So no loop needs an error path for stopping, and everything that holds a file or a
//! folder releases it on the way.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Called, from any thread, with how many more bytes, rows or the like are done. It does not return once the work is to
/// stop, so `progress(0)` is a place to stop.
pub type Progress<'a> = &'a (dyn Fn(u64) + Sync);

/// For callers that do not show progress.
pub fn no_progress(_: u64) {}

/// What a phase counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Bytes of a file.
    Bytes,
    /// Rows of a table.
    Rows,
    /// Combinations of taxonomy levels.
    Combinations,
    /// Releases that are made and measured.
    Runs,
}

/// An observer of long work.
pub trait Watch: Sync {
    /// A phase begins, which ends the one before. `total` is what its progress adds up to.
    fn phase(&self, name: &'static str, total: Option<u64>, counted: Counted);

    /// This many more are done.
    fn advance(&self, n: u64);

    /// What comes next, when several pieces of work are watched.
    fn announce(&self, _what: &str) {}

    /// Something a person should know, in a sentence.
    fn note(&self, _sentence: &str) {}

    /// A detail of what is going on, for those who want to know.
    fn detail(&self, _sentence: &str) {}

    /// Whether the work is to stop. Asked often, from any thread.
    fn stopped(&self) -> bool {
        false
    }
}

impl dyn Watch + '_ {
    /// Counts what is done and is a place to stop.
    pub fn tell(&self, n: u64) {
        if n > 0 {
            self.advance(n);
        }
        self.pause();
    }

    /// A place to stop.
    pub fn pause(&self) {
        if self.stopped() {
            Stopped::unwind();
        }
    }

    /// A place to stop in a loop of short steps: only one step in a few thousand checks.
    pub fn pause_at(&self, step: usize) {
        if step.is_multiple_of(STEPS) {
            self.pause();
        }
    }
}

/// Steps of a loop between two places to stop.
const STEPS: usize = 1 << 12;

/// The same for code that has only a [`Progress`].
pub fn pause_at(progress: Progress<'_>, step: usize) {
    if step.is_multiple_of(STEPS) {
        progress(0);
    }
}

/// A watch that shows nothing and never stops the work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn phase(&self, _: &'static str, _: Option<u64>, _: Counted) {}
    fn advance(&self, _: u64) {}
}

/// The work was stopped from outside and left nothing behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

impl Stopped {
    /// Unwinds to [`Stopped::catch`]. This is not a panic: no hook is called, and nothing is printed.
    fn unwind() -> ! {
        resume_unwind(Box::new(Stopped))
    }

    /// Runs work that may be stopped. Panics of the work itself are passed on.
    pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, Stopped> {
        // Half-done results of stopped work are dropped with it, so nobody sees them.
        catch_unwind(AssertUnwindSafe(work)).map_err(|payload| match Stopped::is(&*payload) {
            true => Stopped,
            false => resume_unwind(payload),
        })
    }

    /// Whether a panic payload is a stop, for code that catches panics.
    pub fn is(payload: &(dyn Any + Send)) -> bool {
        payload.is::<Stopped>()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use rayon::prelude::*;

    use super::*;

    /// Stops once `left` steps are done.
    struct Impatient {
        left: AtomicU64,
        done: AtomicU64,
    }

    impl Watch for Impatient {
        fn phase(&self, _: &'static str, _: Option<u64>, _: Counted) {}

        fn advance(&self, n: u64) {
            self.done.fetch_add(n, Ordering::Relaxed);
        }

        fn stopped(&self) -> bool {
            self.done.load(Ordering::Relaxed) >= self.left.load(Ordering::Relaxed)
        }
    }

    #[test]
    fn work_on_many_threads_ends_where_it_is_stopped() {
        let watch = Impatient { left: AtomicU64::new(100), done: AtomicU64::new(0) };
        let watch: &dyn Watch = &watch;
        let ended = Stopped::catch(|| (0..1_000_000u64).into_par_iter().for_each(|_| watch.tell(1)));
        assert_eq!(ended, Err(Stopped));
        assert_eq!(Stopped::catch(|| (0..10).for_each(|_| (&Unwatched as &dyn Watch).tell(1))), Ok(()));
    }

    #[test]
    #[should_panic(expected = "a bug")]
    fn a_panic_is_not_taken_for_a_stop() {
        let _ = Stopped::catch(|| panic!("a bug"));
    }
}

//! What the server holds.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use chrysalis::Error;
use tokio::sync::Semaphore;

use crate::error::gone;
use crate::jobs::Jobs;
use crate::releases::{Made, Received};
use crate::scratch::Scratch;
use crate::server::Limits;
use crate::tables::{Loaded, Upload};
use crate::tabs::Tabs;

/// Tables and releases that are kept; the one that nobody used for longest makes room for a new one.
const KEPT: usize = 4;
/// Files that are received at once.
const UPLOADS: usize = 2;

/// Everything behind the page.
pub(crate) struct Studio {
    pub(crate) limits: Limits,
    /// What names of folders are relative to.
    pub(crate) home: PathBuf,
    /// The job that reads the file named at the start, if one was.
    pub(crate) first: Mutex<Option<u64>>,
    /// The file named at the start.
    pub(crate) file: Option<String>,
    pub(crate) jobs: Jobs,
    pub(crate) uploads: Arc<Semaphore>,
    pub(crate) tables: Shelf<Loaded>,
    /// Tables of people who could be in the others.
    pub(crate) populations: Shelf<Upload>,
    pub(crate) releases: Shelf<Made>,
    /// Pages about comparisons.
    pub(crate) pages: Shelf<String>,
    /// Releases from elsewhere that are being received.
    pub(crate) received: Shelf<Received>,
    /// What every tab of the page chose.
    pub(crate) tabs: Tabs,
    pub(crate) scratch: Scratch,
}

impl Studio {
    pub(crate) fn new(limits: Limits, home: PathBuf, file: Option<String>) -> Self {
        Studio {
            limits,
            home,
            first: Mutex::default(),
            file,
            jobs: Jobs::new(),
            uploads: Arc::new(Semaphore::new(UPLOADS)),
            tables: Shelf::new("table"),
            populations: Shelf::new("table of a population"),
            releases: Shelf::new("release"),
            pages: Shelf::new("page"),
            received: Shelf::new("release"),
            tabs: Tabs::default(),
            scratch: Scratch::default(),
        }
    }
}

/// A few things of one kind, by number.
pub(crate) struct Shelf<T> {
    /// What they are called.
    what: &'static str,
    held: Mutex<Held<T>>,
}

/// The last number that was given, and what is held: what was used last is at the end.
struct Held<T> {
    last: u64,
    things: Vec<(u64, Arc<T>)>,
}

impl<T> Shelf<T> {
    fn new(what: &'static str) -> Self {
        Shelf { what, held: Mutex::new(Held { last: 0, things: Vec::new() }) }
    }

    /// Puts something on the shelf, and returns its number.
    pub(crate) fn put(&self, thing: T) -> u64 {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.last += 1;
        let id = held.last;
        held.things.push((id, Arc::new(thing)));
        if held.things.len() > KEPT {
            held.things.remove(0);
        }
        id
    }

    pub(crate) fn get(&self, id: u64) -> Result<Arc<T>, Error> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let at = held.things.iter().position(|(known, _)| *known == id).ok_or_else(|| gone(self.what))?;
        let (_, thing) = held.things.remove(at);
        held.things.push((id, Arc::clone(&thing)));
        Ok(thing)
    }

    /// Whether it is still there; that is no use of it.
    pub(crate) fn has(&self, id: u64) -> bool {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).things.iter().any(|(known, _)| *known == id)
    }

    /// Forgets everything; temporary files go with it.
    pub(crate) fn clear(&self) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).things.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays() {
        let shelf = Shelf::new("table");
        let first = shelf.put("first");
        for _ in 0..10 {
            shelf.put("other");
            assert_eq!(*shelf.get(first).unwrap(), "first");
        }
        assert!(shelf.has(11) && shelf.has(9) && !shelf.has(8) && shelf.get(2).is_err());
    }
}

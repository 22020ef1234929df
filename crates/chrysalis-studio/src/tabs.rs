//! What every tab of the page chose, so that reloading it loses nothing. It is kept in memory, and not by the browser,
//! which might write it to disk: groups of values are words from the table.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use chrysalis::{Error, Remedy};

/// Tabs that are remembered; the one that chose nothing for longest is forgotten first.
const MOST: usize = 32;

/// What tabs chose, by the name that each gave itself.
#[derive(Default)]
pub(crate) struct Tabs(Mutex<Held>);

#[derive(Default)]
struct Held {
    /// Grows with every choice.
    now: u64,
    all: BTreeMap<String, (u64, Bytes)>,
}

impl Tabs {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps what a tab chose in the place of what it chose before.
    pub(crate) fn put(&self, name: &str, chosen: Bytes) -> Result<(), Error> {
        let is_name =
            (8..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !is_name {
            return Err(Error::request("a tab has no such name", Remedy::none()));
        }
        let mut held = self.held();
        held.now += 1;
        let now = held.now;
        held.all.insert(name.to_owned(), (now, chosen));
        while held.all.len() > MOST {
            let Some(oldest) = held.all.iter().min_by_key(|(_, (at, _))| *at).map(|(name, _)| name.clone()) else {
                break;
            };
            held.all.remove(&oldest);
        }
        Ok(())
    }

    /// What a tab chose, if that is still known.
    pub(crate) fn get(&self, name: &str) -> Option<Bytes> {
        self.held().all.get(name).map(|(_, chosen)| chosen.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_tabs_are_remembered() {
        let tabs = Tabs::default();
        let name = |at: usize| format!("tab-{at:05}");
        for at in 0..40 {
            tabs.put(&name(at), Bytes::from(at.to_string())).unwrap();
            // The first one is still used.
            tabs.put(&name(0), Bytes::from("again")).unwrap();
        }
        let known: Vec<usize> = (0..40).filter(|at| tabs.get(&name(*at)).is_some()).collect();
        assert_eq!((known.len(), known[0], known[1], known[31]), (32, 0, 9, 39));
        assert_eq!(tabs.get(&name(0)).unwrap(), "again");
        for wrong in ["", "a", "../../etc/passwd", "a b c d e f g"] {
            assert!(tabs.put(wrong, Bytes::new()).is_err() && tabs.get(wrong).is_none(), "{wrong}");
        }
    }
}

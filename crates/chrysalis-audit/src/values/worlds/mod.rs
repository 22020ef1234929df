//! Whether people can be assigned to groups so that every group has, column by column, the values it shows.
//!
//! With two columns this asks for a table of three dimensions whose three sets of two-dimensional margins are given, which
//! is NP-complete (Irving and Jerrum 1994); more columns are no easier. So the search is exact but not patient:
//!
//! 1. Do what is forced. A value that only one group still shows sends everyone who has it there; a value that only one
//!    kind of people left has sends them wherever it is shown.
//! 2. For everyone left, find the groups that have all their values; for every value that a group still shows, the
//!    people who could bring it. No group, or too few people, is a contradiction; one group, or just enough people, is
//!    forced.
//! 3. The rest falls into components that share no group; in each, try all choices.
//!
//! Steps 2 and 3 stop after a fixed amount of work. Whatever they have not settled by then is reported as open, never
//! as faithful.

mod index;
mod propagate;
mod search;

use chrysalis_table::Watch;

pub(super) use index::{Problem, ShownAttribute};
use propagate::State;

/// The result of the search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// An assignment was found.
    Possible,
    /// There is none: a group shows something in a column that nobody can bring.
    Contradiction(Contradiction),
    /// There is none: all choices were tried.
    Impossible,
    /// No contradiction was found, but not everything was tried.
    Open {
        /// People whose group was not settled.
        people: u64,
        /// Whether step 2 was completed: everyone has a group to go to, and somebody can bring every shown value.
        is_swept: bool,
    },
}

/// A group, and a column in which it shows something impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contradiction {
    pub(super) group: u32,
    pub(super) column: usize,
}

/// The most places in groups that are examined to find what is forced.
const SWEEPS: u64 = 100_000_000;
/// The most that are examined while trying the choices of one component, and of all components.
const TRIES: u64 = 2_000_000;
const ALL_TRIES: u64 = 40_000_000;

/// How many places may still be examined before giving up. The audit can be stopped whenever some are spent.
struct Work<'a> {
    left: u64,
    watch: &'a dyn Watch,
}

impl Work<'_> {
    fn spend(&mut self, places: u64) {
        self.watch.pause();
        self.left = self.left.saturating_sub(places);
    }

    fn is_spent(&self) -> bool {
        self.left == 0
    }
}

/// Decides whether an assignment exists, as far as that can be done in reasonable time.
pub(super) fn decide(problem: &Problem, watch: &dyn Watch) -> Verdict {
    let mut state = State::new(problem);
    let mut work = Work { left: SWEEPS, watch };
    match state.settle_most(problem, &mut work) {
        Err(contradiction) => return Verdict::Contradiction(contradiction),
        Ok(_) if state.n_left() == 0 => return Verdict::Possible,
        Ok(false) => return Verdict::Open { people: state.n_left(), is_swept: false },
        Ok(true) => {}
    }
    let mut left = ALL_TRIES;
    let mut people = 0;
    // Small ones first: each that is settled makes more people certain.
    let mut parts = search::components(problem, &state, &mut work);
    parts.sort_by_key(Problem::n_people);
    for part in parts {
        let mut work = Work { left: TRIES.min(left), watch };
        left -= work.left;
        match search::attempt(&part, State::new(&part), &mut work) {
            Some(true) => {}
            Some(false) => return Verdict::Impossible,
            None => people += part.n_people(),
        }
        left += work.left;
    }
    if people == 0 { Verdict::Possible } else { Verdict::Open { people, is_swept: true } }
}

#[cfg(test)]
mod tests;

//! What an intersection leaves people, added up.

use crate::{NotCounted, Shares};

/// What some tables together leave some people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct IntersectionTally {
    /// What is left to the worst off.
    pub(super) fewest: Option<u64>,
    /// People who are left less than they should.
    pub(super) narrowed: u64,
    /// People who were tried.
    pub(super) people: u64,
    /// People whom the tables cannot hold all at once.
    pub(super) contradicted: u64,
}

impl IntersectionTally {
    /// Of other people beside these.
    pub(super) fn and(self, other: IntersectionTally) -> IntersectionTally {
        IntersectionTally {
            fewest: least(self.fewest, other.fewest),
            narrowed: self.narrowed + other.narrowed,
            people: self.people + other.people,
            contradicted: self.contradicted + other.contradicted,
        }
    }

    /// Of the same people by other tables: the worse of both.
    pub(super) fn worse(self, other: IntersectionTally) -> IntersectionTally {
        IntersectionTally {
            fewest: least(self.fewest, other.fewest),
            narrowed: self.narrowed.max(other.narrowed),
            people: self.people.max(other.people),
            contradicted: self.contradicted.max(other.contradicted),
        }
    }
}

/// Of the same people by other tables: the worse of both. Somebody above a promise is worse than what cannot be told.
pub(super) fn worse_shares(
    known: Option<Result<Shares, NotCounted>>,
    other: Result<Shares, NotCounted>,
) -> Option<Result<Shares, NotCounted>> {
    let rank = |found: &Result<Shares, NotCounted>| match found {
        Ok(shares) => (if shares.above > 0 { 2 } else { 0 }, shares.above, shares.largest.unwrap_or(0.0)),
        Err(_) => (1, 0, 0.0),
    };
    match known {
        Some(known) if rank(&known) >= rank(&other) => Some(known),
        _ => Some(other),
    }
}

fn least(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

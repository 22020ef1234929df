//! What an intersection leaves to people, added up.

use crate::{NotCounted, Shares};

/// What some tables together leave to some people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct IntersectionTally {
    /// What the worst off are left with.
    pub(super) fewest: Option<u64>,
    /// People who are left with less than they should be.
    pub(super) narrowed: u64,
    /// People who were tried.
    pub(super) people: u64,
    /// People who do not fit all tables.
    pub(super) contradicted: u64,
}

impl IntersectionTally {
    /// Adds the tally of other people.
    pub(super) fn and(self, other: IntersectionTally) -> IntersectionTally {
        IntersectionTally {
            fewest: least(self.fewest, other.fewest),
            narrowed: self.narrowed + other.narrowed,
            people: self.people + other.people,
            contradicted: self.contradicted + other.contradicted,
        }
    }

    /// The worse of two tallies of the same people, by different tables.
    pub(super) fn worse(self, other: IntersectionTally) -> IntersectionTally {
        IntersectionTally {
            fewest: least(self.fewest, other.fewest),
            narrowed: self.narrowed.max(other.narrowed),
            people: self.people.max(other.people),
            contradicted: self.contradicted.max(other.contradicted),
        }
    }
}

/// The worse of two results for the same people, by different tables. Somebody above a promise is worse than shares
/// that were not counted.
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

//! Combinations of key values, and the hits of each.

use std::sync::Arc;

use chrysalis_table::{Domain, Value};
use rayon::prelude::*;

use super::Hit;
use crate::QueryError;

/// The values of one key attribute, ascending, the missing one first.
#[derive(Clone, Debug)]
pub(crate) enum KeyValues {
    /// The values of a column.
    Coded(Arc<Domain>),
    /// A list of values.
    Listed(Vec<Option<Value>>),
}

impl KeyValues {
    pub(crate) fn len(&self) -> usize {
        match self {
            KeyValues::Coded(domain) => domain.len(),
            KeyValues::Listed(values) => values.len(),
        }
    }

    pub(crate) fn value(&self, digit: u32) -> Option<Value> {
        match self {
            KeyValues::Coded(domain) => domain.value(digit).cloned(),
            KeyValues::Listed(values) => values[digit as usize].clone(),
        }
    }
}

/// A combination of key values, as one number: the first attribute counts most.
pub(super) type Key = u64;

/// The most pairs (combination, group) that one question may make.
const MAX_PAIRS: usize = 10_000_000;

/// How combinations are written as numbers.
pub(super) struct Radix {
    sizes: Vec<u64>,
    total: u64,
}

impl Radix {
    pub(super) fn new(keys: &[KeyValues]) -> Result<Self, QueryError> {
        let sizes: Vec<u64> = keys.iter().map(|key| key.len().max(1) as u64).collect();
        let total = sizes.iter().try_fold(1_u64, |total, size| total.checked_mul(*size)).ok_or_else(too_many)?;
        Ok(Radix { sizes, total })
    }

    pub(super) fn key(&self, digits: impl Iterator<Item = u32>) -> Key {
        digits.zip(&self.sizes).fold(0, |key, (digit, size)| key * size + u64::from(digit))
    }

    pub(super) fn digits(&self, mut key: Key) -> Vec<u32> {
        let mut digits: Vec<u32> = Vec::with_capacity(self.sizes.len());
        for size in self.sizes.iter().rev() {
            digits.push((key % size) as u32);
            key /= size;
        }
        digits.reverse();
        digits
    }
}

pub(super) fn too_many() -> QueryError {
    let problem = "GROUP BY asks for too many combinations of values";
    QueryError::unanswerable(None, problem, "group by fewer columns, or narrow them with WHERE")
}

/// Gives up before memory runs out.
pub(super) fn check_pairs(pieces: usize) -> Result<(), QueryError> {
    if pieces > MAX_PAIRS { Err(too_many()) } else { Ok(()) }
}

/// Hits by combination of key values.
#[derive(Debug)]
pub(crate) struct HitsByKey {
    pub(crate) keys: Vec<KeyValues>,
    pub(crate) combinations: Vec<Combination>,
}

/// The hits of one combination, in pieces that can be processed in parallel.
#[derive(Debug)]
pub(crate) struct Combination {
    /// For each key attribute: the place of its value among the attribute's values.
    pub(crate) digits: Vec<u32>,
    pub(crate) pieces: Vec<Vec<Hit>>,
}

/// The number of hits in a piece.
const PIECE: usize = 4096;

impl HitsByKey {
    /// Without GROUP BY there is one combination, even when nothing matches.
    pub(super) fn ungrouped(pieces: Vec<Vec<Hit>>) -> Self {
        HitsByKey { keys: Vec::new(), combinations: vec![Combination { digits: Vec::new(), pieces }] }
    }

    /// Sorts hits that were found group by group by their combinations.
    pub(super) fn grouped(keys: Vec<KeyValues>, radix: &Radix, pieces: Vec<Vec<(Key, Hit)>>) -> Self {
        let mut hits = sorted(pieces, radix.total).into_iter().peekable();
        let mut combinations = Vec::new();
        while let Some((key, first)) = hits.next() {
            let (mut pieces, mut piece) = (Vec::new(), vec![first]);
            while let Some((_, hit)) = hits.next_if(|(next, _)| *next == key) {
                if piece.len() == PIECE {
                    pieces.push(std::mem::take(&mut piece));
                }
                piece.push(hit);
            }
            pieces.push(piece);
            combinations.push(Combination { digits: radix.digits(key), pieces });
        }
        HitsByKey { keys, combinations }
    }
}

/// Sorted by combination, then by group: by counting if few combinations are possible, otherwise by comparison.
fn sorted(pieces: Vec<Vec<(Key, Hit)>>, total: u64) -> Vec<(Key, Hit)> {
    const FEW: u64 = 1 << 20;
    let n: usize = pieces.iter().map(Vec::len).sum();
    if total > FEW || total > 4 * n as u64 {
        let mut hits: Vec<(Key, Hit)> = pieces.into_iter().flatten().collect();
        hits.par_sort_by_key(|(key, _)| *key);
        return hits;
    }
    let mut next = vec![0_usize; total as usize + 1];
    pieces.iter().flatten().for_each(|(key, _)| next[*key as usize + 1] += 1);
    for key in 1..next.len() {
        next[key] += next[key - 1];
    }
    let nothing = (0, Hit { group: 0, least: 0, most: 0, expected: 0.0, others: 0.0, variance: 0.0 });
    let mut hits = vec![nothing; n];
    for (key, hit) in pieces.into_iter().flatten() {
        hits[next[key as usize]] = (key, hit);
        next[key as usize] += 1;
    }
    hits
}

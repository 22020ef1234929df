//! What whoever knows how signatures are chosen can tell at least, from nothing but the releases.
//!
//! Signatures are made of values that people of the table have. A value that no earlier release shows is that of somebody who
//! was not there before, and who now stands where it is shown: one of these people has it. Whoever replays the whole algorithm
//! may tell more; that takes a run for every conceivable table, and is not measured here.

use std::collections::{BTreeMap, BTreeSet};

use super::Seat;
use super::signatures::Signatures;
use crate::SeriesReplay;
use crate::attack::{count, counted};

/// `None` if earlier releases are missing, so that nobody knows what they show.
pub(super) fn tell(seats: &[Seat<'_>], signatures: &Signatures, promised: u64) -> Option<SeriesReplay> {
    let numbers = seats.iter().map(|seat| seat.month.release.manifest.series.as_ref().map_or(0, |entry| entry.number));
    if seats.len() < 2 || !numbers.eq(1..=seats.len() as u64) {
        return None;
    }
    let mut known: BTreeSet<u32> = BTreeSet::new();
    let mut replay = SeriesReplay { people: 0, fewest: None };
    for (at, seat) in seats.iter().enumerate() {
        // The people beside each value, and the blocks that they are in.
        let mut beside: BTreeMap<u32, (u64, Vec<usize>)> = BTreeMap::new();
        for (block, (&signature, &people)) in seat.signature.iter().zip(&seat.real).enumerate() {
            for &value in signatures.of(signature).iter().filter(|value| !known.contains(value)) {
                let (all, blocks) = beside.entry(value).or_default();
                *all += people;
                blocks.push(block);
            }
        }
        known.extend(beside.keys());
        if at == 0 {
            continue;
        }
        let told: Vec<&(u64, Vec<usize>)> =
            beside.values().filter(|(people, _)| (1..promised).contains(people)).collect();
        let blocks: BTreeSet<usize> = told.iter().flat_map(|(_, blocks)| blocks).copied().collect();
        replay.people += blocks.into_iter().map(|block| seat.real[block]).sum::<u64>();
        replay.fewest = told.iter().map(|(people, _)| *people).chain(replay.fewest).min();
    }
    Some(replay)
}

impl SeriesReplay {
    /// The sentence about it, whether or not it is known.
    pub(super) fn sentence(found: Option<SeriesReplay>) -> String {
        let more = "How much more a replay of the algorithm tells was not measured: cannot tell.";
        match found {
            None => "What a replay of the algorithm tells cannot be said without all releases from the first one on."
                .to_owned(),
            Some(SeriesReplay { fewest: None, .. }) => {
                format!("No value is new to the series where fewer people than promised can have it. {more}")
            }
            Some(SeriesReplay { people, fewest: Some(fewest) }) => {
                let odds = match fewest {
                    1 => "is certain to be right".to_owned(),
                    n => format!("is right at least once in {}", count(n)),
                };
                format!(
                    "Whoever also knows how such sets of values are chosen can bet on {} who stand beside values that are new to the \
                     series, and the best of these bets {odds}: that is not promised. {more}",
                    counted(people, "person", "people")
                )
            }
        }
    }
}

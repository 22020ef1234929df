//! Two groups that differ by who left: what one shows and the other does not is the value of whoever did.

use std::collections::{BTreeMap, BTreeSet};

use chrysalis_table::Watch;

use super::super::views::Block;
use super::Seat;
use super::people::People;
use crate::Check;
use crate::findings::Findings;

/// Groups whose people are all known, and are partly the same in two releases that follow each other.
pub(super) fn check(people: &People, seats: &[Seat<'_>], watch: &dyn Watch) -> Check {
    // Whoever can be in one block only is there; a block is known if that makes up all of its people.
    let mut members: Vec<Vec<Vec<u32>>> = seats.iter().map(|seat| vec![Vec::new(); seat.view.blocks.len()]).collect();
    for (who, life) in (0_u32..).zip(&people.lives) {
        watch.pause_at(who as usize);
        for (month, spot) in people.spots(life) {
            if let [block] = spot.blocks[..] {
                members[month][block as usize].push(who);
            }
        }
    }
    let block_of = |month: usize, who: u32| {
        let spot = people.spot(month, &people.lives[who as usize])?;
        let block = *spot.blocks.first().filter(|_| spot.blocks.len() == 1)?;
        let is_known = members[month][block as usize].len() as u64 == seats[month].real[block as usize];
        is_known.then_some(block)
    };
    let (mut n_pairs, mut given_away, mut places) = (0_u64, BTreeSet::new(), Vec::new());
    for month in 1..seats.len() {
        let mut pairs: BTreeSet<(u32, u32)> = BTreeSet::new();
        for (before, all) in (0_u32..).zip(&members[month - 1]) {
            watch.pause_at(before as usize);
            let is_known = all.len() as u64 == seats[month - 1].real[before as usize];
            let after = all.iter().filter(|_| is_known).filter_map(|&who| block_of(month, who));
            pairs.extend(after.map(|after| (before, after)));
        }
        n_pairs += pairs.len() as u64;
        for (before, after) in pairs {
            let (old, new) = (&members[month - 1][before as usize], &members[month][after as usize]);
            let gone: Vec<u32> = old.iter().copied().filter(|who| new.binary_search(who).is_err()).collect();
            let come: Vec<u32> = new.iter().copied().filter(|who| old.binary_search(who).is_err()).collect();
            let (old, new) =
                (&seats[month - 1].view.blocks[before as usize], &seats[month].view.blocks[after as usize]);
            // Those who left took their values along, and those who came brought theirs.
            let mut found: Vec<u32> = Vec::new();
            for (people, others, left) in [(&gone, &come, minus(old, new)), (&come, &gone, minus(new, old))] {
                let is_theirs = left.values().sum::<u64>() == people.len() as u64 && left.len() == 1;
                if is_theirs && (others.is_empty() || others.len() == 1 && people.len() == 1) {
                    found.extend(people);
                }
            }
            if !found.is_empty() {
                places.push((month, found.len()));
            }
            given_away.extend(found);
        }
    }
    let mut findings = Findings::new("subtraction");
    for (month, n) in places {
        let (one, other) = (seats[month - 1].month.name, seats[month].month.name);
        findings.add("groups that differ by who left or came", || {
            format!(
                "a group of {one} and one of {other} differ by who left or came: that tells the value of {n} of them"
            )
        });
    }
    findings.check(format!(
        "{n_pairs} pairs of groups whose people are all known have people in common, and none of them gives away the value of \
         who left or came"
    ))
}

/// The values that one group shows more often than another.
fn minus(one: &Block, other: &Block) -> BTreeMap<u32, u64> {
    let times = |value: u32| other.values.iter().find(|(known, _)| *known == value).map_or(0, |(_, times)| *times);
    let more = |&(value, n): &(u32, u64)| Some((value, n.saturating_sub(times(value)))).filter(|(_, n)| *n > 0);
    one.values.iter().filter_map(more).collect()
}

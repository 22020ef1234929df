//! What somebody learns who also runs the algorithm on all conceivable worlds: not promised, and printed.

#![allow(clippy::print_stdout, reason = "a measurement")]

use std::collections::BTreeMap;

use chrysalis_publish::PublishError;
use chrysalis_publish::method::Anatomy;

use crate::series::{Memory, Row, Shown, VALUES};

const MONTHS: usize = 3;

/// The releases of one series, without the names of groups; `None` where a table was refused, which is seen as well.
type Seen = Vec<Option<Vec<Shown>>>;

/// Publishes the months of a world: who is there in which of them, and who has which value.
fn published(lives: &[usize], world: &[usize], m: u64, seed: u64) -> Seen {
    let mut memory = Memory::default();
    let month = |month: usize| {
        let there = (0..lives.len()).filter(|&who| lives[who] >> month & 1 == 1);
        let rows: Vec<Row> = there.map(|who| (who as u32, who as i64, VALUES[world[who]])).collect();
        match memory.publish(&Anatomy, &rows, (m, &VALUES[..3], false, seed)) {
            _ if rows.is_empty() => None,
            Ok((_, mut shown)) => {
                shown.iter_mut().for_each(|(who, _)| who.sort_unstable());
                shown.sort();
                Some(shown)
            }
            Err(PublishError::Infeasible { .. }) => None,
            Err(error) => panic!("{error}: {rows:?}"),
        }
    };
    (0..MONTHS).map(month).collect()
}

/// The world after this one, if there is another.
fn next(world: &mut [usize]) -> bool {
    let Some(at) = (0..world.len()).find(|&who| world[who] < 2) else { return false };
    world[..at].fill(0);
    world[at] += 1;
    true
}

/// All series of up to three people (four where there is time), three values and three months. The attacker knows who was there when, tries every
/// world with many seeds, and keeps those that give the very same releases.
#[test]
fn what_a_replay_of_the_algorithm_tells_is_measured() {
    let (most_people, seeds) = if std::env::var_os("CHRYSALIS_SLOW").is_some() { (4, 32) } else { (3, 24) };
    for m in [2, 3_u64] {
        let (mut worst, mut sum, mut weight, mut above, mut beyond) = (0.0_f64, 0.0, 0.0, 0.0, 0.0);
        for n_people in 2..=most_people {
            let mut lives = vec![1; n_people];
            loop {
                let mut worlds_of: BTreeMap<Seen, Vec<(Vec<usize>, u64)>> = BTreeMap::new();
                let mut world = vec![0; n_people];
                loop {
                    for seed in 0..seeds {
                        let known = worlds_of.entry(published(&lives, &world, m, seed)).or_default();
                        match known.last_mut().filter(|(last, _)| *last == world) {
                            Some((_, times)) => *times += 1,
                            None => known.push((world.clone(), 1)),
                        }
                    }
                    if !next(&mut world) {
                        break;
                    }
                }
                for (seen, worlds) in &worlds_of {
                    let all = worlds.iter().map(|(_, times)| times).sum::<u64>() as f64;
                    let is_shown = |who: u32| seen.iter().flatten().flatten().any(|(group, _)| group.contains(&who));
                    for who in (0..n_people).filter(|&who| is_shown(who as u32)) {
                        let of = |value: usize| worlds.iter().filter(move |(world, _)| world[who] == value);
                        let times = (0..3).map(|value| of(value).map(|(_, times)| times).sum::<u64>());
                        let best = times.max().unwrap() as f64 / all;
                        worst = worst.max(best);
                        (sum, weight) = (sum + best * all, weight + all);
                        above += if best > 1.0 / m as f64 + 1e-9 { all } else { 0.0 };
                        beyond += if best > 1.0 - 1e-9 { all } else { 0.0 };
                    }
                }
                // The next multiset of lives: they never descend.
                let Some(at) = (0..n_people).rev().find(|&at| lives[at] < 7) else { break };
                let life = lives[at] + 1;
                lives[at..].fill(life);
            }
        }
        println!(
            "m={m}: whoever replays the algorithm is {:.3} sure at worst and {:.3} on average; surer than 1/m of {:.1} %, \
             certain of {:.1} %",
            worst,
            sum / weight,
            100.0 * above / weight,
            100.0 * beyond / weight
        );
        // Whoever replays learns no less than whoever does not.
        assert!(weight > 1_000.0 && worst >= 1.0 / m as f64 && sum / weight >= 1.0 / 3.0 - 1e-9 && worst <= 1.0);
    }
}

//! Compares shares with all worlds of small tables, and estimates with counts.

mod all_worlds;
mod estimates;

use std::collections::BTreeMap;

use chrysalis_table::Unwatched;

use super::super::views::{Block, Place};
use super::puzzle::{Likes, Puzzle, Side};
use super::solve::{KnownPeople, Solution, solve, solve_within};
use super::tell_apart;

/// Numbers that look random and are not.
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u64) -> Draw {
        Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 16) % n as u64) as usize
    }
}

/// One block per group number, ascending: how often each value occurs in it.
pub(super) fn blocks(groups: &[usize], values: &[usize]) -> Vec<Block> {
    let n_groups = groups.iter().max().map_or(0, |last| last + 1);
    let mut counts: Vec<BTreeMap<u32, u64>> = vec![BTreeMap::new(); n_groups];
    groups.iter().zip(values).for_each(|(&group, &value)| *counts[group].entry(value as u32).or_default() += 1);
    counts.into_iter().map(|counts| Block { values: counts.into_iter().collect() }).collect()
}

/// A release that shows nothing about people but their groups.
pub(super) fn by_groups(groups: &[usize], values: &[usize]) -> Side {
    let blocks = blocks(groups, values);
    let places = (0..).zip(&blocks).map(|(block, known)| Place { block, rows: known.rows() }).collect();
    Side { blocks, places, ..Side::default() }
}

/// Everybody in one place of every release.
pub(super) fn placed(releases: &[Vec<usize>]) -> Vec<Likes> {
    let likes = |person: usize| Likes {
        people: 1,
        places: releases.iter().map(|groups| vec![groups[person] as u32]).collect(),
        margins: vec![Vec::new(); releases.len()],
    };
    (0..releases[0].len()).map(likes).collect()
}

/// A share as a fraction: the people of the kind's cell who have a value, added up over all worlds, and all people of
/// the cell in all worlds.
pub(super) fn exact_share(puzzle: &Puzzle, solution: &Solution, kind: usize, value: usize) -> (u128, u128) {
    let cell = puzzle.cell_of[kind] as usize;
    let KnownPeople::Exactly(worlds) = solution.known[cell] else { panic!("not counted: {:?}", solution.known[cell]) };
    let entry = puzzle.entries(cell).find(|&entry| puzzle.values[entry] as usize == value);
    (entry.map_or(0, |entry| solution.sums[entry]), worlds * u128::from(puzzle.cells[cell].people))
}

#[test]
fn what_one_release_settles_for_another() {
    // Groups {0, 1} {2, 3} with values a, b and c, d; across {0, 2} {1, 3} with a, c and b, d: everybody's value is
    // certain.
    let values = [0, 1, 2, 3];
    let releases = [vec![0, 0, 1, 1], vec![0, 1, 0, 1]];
    let sides: Vec<Side> = releases.iter().map(|groups| by_groups(groups, &values)).collect();
    let puzzle = Puzzle::new(&sides, &placed(&releases), &Unwatched).unwrap();
    let solution = solve(&puzzle, &Unwatched);
    for (person, &value) in values.iter().enumerate() {
        assert_eq!(exact_share(&puzzle, &solution, person, value), (1, 1));
    }
    // Values that both groups of a person have stay possible.
    let values = [0, 1, 0, 1];
    let sides: Vec<Side> = releases.iter().map(|groups| by_groups(groups, &[0, 1, 1, 0])).collect();
    let puzzle = Puzzle::new(&sides, &placed(&releases), &Unwatched).unwrap();
    let solution = solve(&puzzle, &Unwatched);
    for (person, &value) in values.iter().enumerate() {
        let (people, worlds) = exact_share(&puzzle, &solution, person, value);
        assert_eq!(2 * people, worlds);
    }
}

#[test]
fn the_same_groups_twice_tell_what_one_tells() {
    let values = [0, 0, 1, 2, 2, 2, 3];
    let groups = vec![0, 0, 0, 1, 1, 1, 1];
    let sides = [by_groups(&groups, &values), by_groups(&groups, &values)];
    let puzzle = Puzzle::new(&sides, &placed(&[groups.clone(), groups]), &Unwatched).unwrap();
    let solution = solve(&puzzle, &Unwatched);
    assert_eq!(exact_share(&puzzle, &solution, 0, 0), (2, 3));
    assert_eq!(exact_share(&puzzle, &solution, 4, 2), (3, 4));
}

/// One group has two people and one row of a value that both must have.
#[test]
fn releases_that_no_world_fits_are_said_to_be_so() {
    let releases = [vec![0, 0, 1, 1], vec![0, 0, 1, 1]];
    let sides = [by_groups(&releases[0], &[0, 1, 2, 3]), by_groups(&releases[1], &[0, 4, 2, 3])];
    let puzzle = Puzzle::new(&sides, &placed(&releases), &Unwatched).unwrap();
    let solution = solve(&puzzle, &Unwatched);
    assert_eq!(solution.known[puzzle.cell_of[0] as usize], KnownPeople::Impossible);
    assert_eq!(exact_share(&puzzle, &solution, 2, 2), (1, 2));
}

/// Two people fit both groups of one release. Taken twice, worlds with more ways to be in its groups would weigh more.
#[test]
fn a_release_again_tells_nothing_new_whatever_its_ids() {
    let values = [0, 1, 1, 2];
    let one = by_groups(&[0, 0, 1, 1], &values);
    let renamed = by_groups(&[1, 1, 0, 0], &values);
    let other = by_groups(&[0, 1, 0, 1], &values);
    let places = |groups: [&[u32]; 3]| Likes {
        people: 1,
        places: groups.iter().map(|groups| groups.to_vec()).collect(),
        margins: vec![Vec::new(); 3],
    };
    let kinds = [
        places([&[0], &[1], &[0]]),
        places([&[0, 1], &[0, 1], &[1]]),
        places([&[0, 1], &[0, 1], &[0]]),
        places([&[1], &[0], &[1]]),
    ];
    assert_eq!(super::again::new_ones(&[one.clone(), renamed, other.clone()], &kinds), [0, 2]);
    // With different people in its groups, it is a different release.
    let kinds = [places([&[0], &[0], &[0]]), places([&[0], &[1], &[1]]), places([&[1], &[1], &[0]])];
    assert_eq!(super::again::new_ones(&[one.clone(), one, other], &kinds), [0, 1, 2]);
}

/// Two people fit both groups of two months. Only whoever forgets that groups show everybody with one set of values thinks
/// that they may have changed places, and is surer of the value that both sets have.
#[test]
fn worlds_in_which_somebody_changes_sets_do_not_count() {
    let month = || by_groups(&[0, 0, 1, 1], &[0, 1, 1, 2]);
    let places = |groups: &[u32]| Likes { people: 1, places: vec![groups.to_vec(); 2], margins: vec![Vec::new(); 2] };
    let kinds = [places(&[0]), places(&[0, 1]), places(&[0, 1]), places(&[1])];
    let share = |sides: &[Side], plain: Option<Vec<u32>>| {
        let mut puzzle = Puzzle::new(sides, &kinds, &Unwatched).unwrap();
        puzzle.plain = plain;
        let solution = solve(&puzzle, &Unwatched);
        let best = solution.best(&puzzle, puzzle.cell_of[1] as usize, None, 0.0).unwrap();
        assert!(best.is_exact);
        (best.value, best.share)
    };
    // Changing places adds two worlds to eight, and in both the two of them have the value that both groups show.
    let mut sides = vec![month(), month()];
    assert_eq!(share(&sides, None), (1, 0.6));
    let plain = tell_apart(&mut sides, &|_, block| block as u32);
    assert_eq!(share(&sides, Some(plain)), (1, 0.5));
}

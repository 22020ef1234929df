//! The people among whom everybody hides in several tables at once.
//!
//! Two people can be taken for each other if every table has a group that may hold both. So what counts is how many
//! people share such a combination of groups with a person.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use chrysalis_table::{Table, Watch};
use rayon::prelude::*;

use super::finder::{Finder, kinds};
use super::tally::IntersectionTally;
use super::views::JoinedView;
use crate::AuditError;
use crate::boxes::index::{Boxes, Index};

/// The most combinations of groups that are examined.
const MAX_COMBINATIONS: usize = 20_000_000;

/// For everybody, how many people share their groups in all tables. If one combination of groups already gives at least
/// `promised` people, only those are counted, even where groups overlap.
pub(super) fn together(
    views: &[&JoinedView<'_>],
    people: &Table,
    promised: u64,
    watch: &dyn Watch,
) -> Result<IntersectionTally, AuditError> {
    let finders: Vec<Finder<'_>> = views.iter().map(|view| Finder::new(view, people, false, watch)).collect();
    let boxes: Vec<Boxes<'_>> = finders.iter().map(Finder::boxes).collect();
    let indexes: Vec<Index<'_>> = boxes.iter().map(|boxes| Index::new(boxes, watch)).collect();
    let kinds = kinds(views, people, watch);
    // Groups of hostile releases may all overlap.
    let n_found = AtomicUsize::new(0);
    let places = |&(row, _): &(usize, u64)| -> Vec<Vec<u32>> {
        watch.pause();
        if n_found.load(Ordering::Relaxed) > MAX_COMBINATIONS {
            return Vec::new();
        }
        let found = finders.iter().zip(&indexes).map(|(finder, index)| finder.groups(index, row));
        let found: Vec<Vec<u32>> = found.collect();
        n_found.fetch_add(found.iter().map(Vec::len).sum(), Ordering::Relaxed);
        found
    };
    // People who fit the same groups everywhere are counted together.
    let mut alike: BTreeMap<Vec<Vec<u32>>, u64> = BTreeMap::new();
    let places: Vec<Vec<Vec<u32>>> = kinds.par_iter().map(places).collect();
    if n_found.into_inner() > MAX_COMBINATIONS {
        return Err(AuditError::TooManyOverlaps { least: MAX_COMBINATIONS });
    }
    for (places, (_, n)) in places.into_iter().zip(kinds) {
        watch.pause();
        *alike.entry(places).or_default() += n;
    }
    let n_combinations = alike.keys().map(|places| places.iter().map(Vec::len).fold(1, usize::saturating_mul));
    let n_combinations = n_combinations.fold(0, usize::saturating_add);
    if n_combinations > MAX_COMBINATIONS {
        return Err(AuditError::TooManyOverlaps { least: MAX_COMBINATIONS });
    }
    Ok(count(&alike.into_iter().collect::<Vec<_>>(), promised, watch))
}

/// Counts from the groups that may hold people in every table, and how many people those are.
fn count(alike: &[(Vec<Vec<u32>>, u64)], promised: u64, watch: &dyn Watch) -> IntersectionTally {
    let mut sharing: BTreeMap<Vec<u32>, Vec<usize>> = BTreeMap::new();
    for (at, (places, _)) in alike.iter().enumerate() {
        watch.pause();
        combinations(places).into_iter().for_each(|key| sharing.entry(key).or_default().push(at));
    }
    let of = |(places, n): &(Vec<Vec<u32>>, u64)| {
        watch.pause();
        if places.iter().any(Vec::is_empty) {
            return IntersectionTally { people: *n, contradicted: *n, ..IntersectionTally::default() };
        }
        let sharers: Vec<&Vec<usize>> = combinations(places).iter().filter_map(|key| sharing.get(key)).collect();
        let people = |at: &usize| alike[*at].1;
        let most = sharers.iter().map(|sharers| sharers.iter().map(people).sum::<u64>()).max().unwrap_or(0);
        let left = match most >= promised {
            true => most,
            false => {
                sharers.iter().flat_map(|sharers| sharers.iter()).collect::<BTreeSet<_>>().into_iter().map(people).sum()
            }
        };
        IntersectionTally {
            fewest: Some(left),
            narrowed: if left < promised { *n } else { 0 },
            people: *n,
            contradicted: 0,
        }
    };
    alike.iter().map(of).fold(IntersectionTally::default(), IntersectionTally::and)
}

/// All ways to pick one group of every table.
fn combinations(places: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let longer = |known: Vec<Vec<u32>>, groups: &Vec<u32>| {
        let with =
            |start: &Vec<u32>| groups.iter().map(|&group| [start.as_slice(), &[group]].concat()).collect::<Vec<_>>();
        known.iter().flat_map(with).collect()
    };
    places.iter().fold(vec![Vec::new()], longer)
}

#[cfg(test)]
mod tests {
    use chrysalis_table::Unwatched;

    use super::*;

    /// Compares everybody with everybody.
    fn slow(alike: &[(Vec<Vec<u32>>, u64)], at: usize) -> u64 {
        let meets =
            |other: &Vec<Vec<u32>>| alike[at].0.iter().zip(other).all(|(a, b)| a.iter().any(|group| b.contains(group)));
        alike.iter().filter(|(other, _)| meets(other)).map(|(_, n)| n).sum()
    }

    #[test]
    fn people_hide_among_those_who_share_a_group_in_every_table() {
        let alike = [
            (vec![vec![0], vec![0]], 2),
            (vec![vec![0, 1], vec![0]], 1),
            (vec![vec![1], vec![0, 1]], 1),
            (vec![vec![2], vec![2]], 1),
        ];
        assert_eq!((0..4).map(|at| slow(&alike, at)).collect::<Vec<_>>(), [3, 4, 2, 1]);
        let expected = IntersectionTally { fewest: Some(1), narrowed: 2, people: 5, contradicted: 0 };
        assert_eq!(count(&alike, 3, &Unwatched), expected);
        // Nobody hides among more than four.
        assert_eq!(count(&alike, 5, &Unwatched).narrowed, 5);
        assert_eq!(count(&alike, 1, &Unwatched).narrowed, 0);
        let nowhere = [(vec![vec![0], vec![]], 3)];
        assert_eq!(
            count(&nowhere, 2, &Unwatched),
            IntersectionTally { fewest: None, narrowed: 0, people: 3, contradicted: 3 }
        );
    }
}

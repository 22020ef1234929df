//! Releases that repeat the groups of another.

use std::collections::BTreeMap;

use super::puzzle::{Likes, Side};

/// What a block shows: its sensitive values, the values of its permuted columns and, for each of its places, how many
/// rows it has and which kinds of people can be there.
type Picture = (Vec<(u32, u64)>, Vec<(u32, u32, u64)>, Vec<(u64, Vec<u32>)>);

/// The releases that say something new, by number. One with the same groups as an earlier one does not, whatever their
/// ids: everybody is in the same group in both.
pub(super) fn new_ones(sides: &[Side], kinds: &[Likes]) -> Vec<usize> {
    let mut known: BTreeMap<Vec<Picture>, usize> = BTreeMap::new();
    (0..sides.len()).filter(|&at| *known.entry(pictures(&sides[at], at, kinds)).or_insert(at) == at).collect()
}

fn pictures(side: &Side, at: usize, kinds: &[Likes]) -> Vec<Picture> {
    let mut claims: Vec<Vec<u32>> = vec![Vec::new(); side.places.len()];
    for (kind, likes) in (0..).zip(kinds) {
        likes.places[at].iter().for_each(|&place| claims[place as usize].push(kind));
    }
    let mut pictures: Vec<Picture> =
        side.blocks.iter().map(|block| (block.values.clone(), Vec::new(), Vec::new())).collect();
    for (&(block, column, value), &rows) in &side.margins {
        pictures[block as usize].1.push((column, value, rows));
    }
    for (place, claims) in side.places.iter().zip(claims) {
        pictures[place.block as usize].2.push((place.rows, claims));
    }
    pictures.iter_mut().for_each(|picture| picture.2.sort_unstable());
    pictures.sort_unstable();
    pictures
}

//! Groups of a combination of levels: counted once for the exact values.

use std::hash::BuildHasher;

use chrysalis_table::Codes;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rayon::prelude::*;

use super::contents::GroupContents;
use super::judge::Problem;
use super::key::Key;
use super::lattice::Node;
use crate::Microdata;

/// The groups of one combination of levels, with their sensitive values.
#[derive(Debug)]
pub(super) struct Groups<K> {
    pub(super) node: Node,
    pub(super) keys: Vec<K>,
    pub(super) sizes: Vec<u32>,
    pub(super) contents: GroupContents,
}

impl<K> Groups<K> {
    /// How much memory they take.
    pub(super) fn weight(&self) -> usize {
        self.keys.len() + self.contents.weight()
    }
}

/// The groups of the lowest labels (the exact values, where no level is fixed), and the group of every row.
pub(super) fn exact<K: Key>(data: &Microdata, problem: &Problem<'_>) -> (Groups<K>, Vec<u32>) {
    let columns: Vec<&Codes> = data.quasi().map(|(column, _)| column.codes()).collect();
    let mut row_keys = vec![K::ZERO; data.rows()];
    for ((codes, &slot), axis) in columns.iter().zip(&problem.slots).zip(&problem.axes) {
        let labels = axis.labels(0);
        row_keys.iter_mut().zip(codes.iter()).for_each(|(key, code)| *key = key.with(slot, labels[code as usize]));
    }
    let (mut group_of, mut keys, mut sizes) = number_by_hash(row_keys.len(), |row| row_keys[row], |_| 1);
    drop(row_keys);
    in_order(&mut group_of, &mut keys, &mut sizes);
    let code = |row: usize| data.sensitive().map_or(0, |column| column.code(row));
    let contents = GroupContents::of_rows(problem.needs, &group_of, keys.len(), problem.n_values, code);
    (Groups { node: problem.lattice.bottom(), keys, sizes, contents }, group_of)
}

/// Renumbers groups in the order of their keys. Then groups that look alike in higher nodes are near each other, and
/// rolling up finds most of what it needs in the cache.
fn in_order<K: Key>(group_of: &mut [u32], keys: &mut Vec<K>, sizes: &mut Vec<u32>) {
    let mut order: Vec<(K, u32)> = keys.iter().copied().zip(0u32..).collect();
    order.par_sort_unstable();
    let mut place = vec![0u32; order.len()];
    (0u32..).zip(&order).for_each(|(at, &(_, group))| place[group as usize] = at);
    group_of.iter_mut().for_each(|group| *group = place[*group as usize]);
    *sizes = order.iter().map(|&(_, group)| sizes[group as usize]).collect();
    *keys = order.into_iter().map(|(key, _)| key).collect();
}

/// Numbers the groups in the order of their first member.
pub(super) fn number_by_hash<K: Key>(
    n: usize,
    key_of: impl Fn(usize) -> K,
    size_of: impl Fn(usize) -> u32,
) -> (Vec<u32>, Vec<K>, Vec<u32>) {
    let state = FixedState::default();
    let mut index: HashTable<u32> = HashTable::new();
    let (mut keys, mut sizes): (Vec<K>, Vec<u32>) = (Vec::new(), Vec::new());
    let group_of = (0..n)
        .map(|at| {
            let key = key_of(at);
            let hash = state.hash_one(key);
            let known = |&group: &u32| keys[group as usize] == key;
            let group = match index.entry(hash, known, |&group| state.hash_one(keys[group as usize])) {
                Entry::Occupied(entry) => *entry.get(),
                Entry::Vacant(entry) => {
                    let group = keys.len() as u32;
                    entry.insert(group);
                    keys.push(key);
                    sizes.push(0);
                    group
                }
            };
            sizes[group as usize] += size_of(at);
            group
        })
        .collect();
    (group_of, keys, sizes)
}

/// Members, group after group.
pub(super) struct ByGroup {
    members: Vec<u32>,
    ends: Vec<u32>,
}

impl ByGroup {
    /// A counting sort.
    pub(super) fn new(group_of: &[u32], n_groups: usize) -> ByGroup {
        let mut ends = vec![0u32; n_groups + 1];
        group_of.iter().for_each(|&group| ends[group as usize + 1] += 1);
        (1..ends.len()).for_each(|group| ends[group] += ends[group - 1]);
        let mut members = vec![0; group_of.len()];
        for (member, &group) in (0u32..).zip(group_of) {
            let next = &mut ends[group as usize];
            members[*next as usize] = member;
            *next += 1;
        }
        ends.pop();
        ByGroup { members, ends }
    }

    /// All members, group after group.
    pub(super) fn into_members(self) -> Vec<u32> {
        self.members
    }

    /// The members of one group.
    pub(super) fn group(&self, group: usize) -> &[u32] {
        let start = if group == 0 { 0 } else { self.ends[group - 1] };
        &self.members[start as usize..self.ends[group] as usize]
    }
}

impl<'a> IntoIterator for &'a ByGroup {
    type Item = &'a [u32];
    type IntoIter = Box<dyn Iterator<Item = &'a [u32]> + 'a>;
    fn into_iter(self) -> Self::IntoIter {
        Box::new((0..self.ends.len()).map(|group| self.group(group)))
    }
}

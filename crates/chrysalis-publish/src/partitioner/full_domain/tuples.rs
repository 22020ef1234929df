//! Groups of a combination of levels: counted once for the exact values, then rolled up.

use std::hash::BuildHasher;

use chrysalis_table::{Codes, SaCounts};
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::key::{Key, Slot};
use super::lattice::{Lattice, Node};
use super::levels::Axis;
use crate::Microdata;

/// The groups of one combination of levels, with their sensitive values.
#[derive(Debug)]
pub(super) struct Groups<K> {
    pub(super) node: Node,
    pub(super) keys: Vec<K>,
    pub(super) sizes: Vec<u32>,
    /// Absent where size is all that matters.
    pub(super) values: Option<Values>,
}

/// The sensitive values of every group, with their counts, group after group.
#[derive(Debug, Default)]
pub(super) struct Values {
    ends: Vec<u32>,
    counts: Vec<(u32, u32)>,
}

impl Values {
    pub(super) fn of(&self, group: usize) -> &[(u32, u32)] {
        let start = if group == 0 { 0 } else { self.ends[group - 1] };
        &self.counts[start as usize..self.ends[group] as usize]
    }

    pub(super) fn add_to(&self, group: usize, counts: &mut SaCounts) {
        self.of(group).iter().for_each(|&(code, n)| counts.add_many(code, n));
    }

    fn push(&mut self, group: &SaCounts) {
        // PROOF: a count is at most the number of rows, which fits 32 bits.
        self.counts.extend(group.iter().map(|(code, n)| (code, u32::try_from(n).unwrap_or(u32::MAX))));
        self.ends.push(self.counts.len() as u32);
    }
}

/// Groups of which only the sizes are known yet, and from which smaller groups they come.
#[derive(Debug)]
pub(super) struct Rolled<K> {
    pub(super) node: Node,
    /// The group of every group of the source.
    pub(super) group_of: Vec<u32>,
    pub(super) keys: Vec<K>,
    pub(super) sizes: Vec<u32>,
}

/// The exact groups, and the group of every row.
pub(super) fn exact<K: Key>(
    data: &Microdata,
    slots: &[Slot],
    bottom: Node,
    with_values: bool,
) -> (Groups<K>, Vec<u32>) {
    let columns: Vec<&Codes> = data.quasi().map(|(column, _)| column.codes()).collect();
    let mut row_keys = vec![K::ZERO; data.rows()];
    for (codes, &slot) in columns.iter().zip(slots) {
        row_keys.iter_mut().zip(codes.iter()).for_each(|(key, code)| *key = key.with(slot, code));
    }
    let (group_of, keys, sizes) = number_by_hash(row_keys.len(), |row| row_keys[row], |_| 1);
    drop(row_keys);
    let sensitive = data.sensitive().filter(|_| with_values);
    let values = with_values.then(|| {
        let code = |row: usize| sensitive.map_or(0, |column| column.code(row));
        let n_values = data.sensitive_counts().domain_len();
        collect_values(&group_of, keys.len(), n_values, |row, counts| counts.add(code(row)))
    });
    (Groups { node: bottom, keys, sizes, values }, group_of)
}

/// Numbers the groups in the order of their first member.
fn number_by_hash<K: Key>(
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

/// Sensitive values by group: members are put group after group, then counted.
fn collect_values(group_of: &[u32], n_groups: usize, n_values: usize, add: impl Fn(usize, &mut SaCounts)) -> Values {
    let mut values = Values::default();
    let mut counts = SaCounts::new(n_values);
    for members in &ByGroup::new(group_of, n_groups) {
        members.iter().for_each(|&member| add(member as usize, &mut counts));
        values.push(&counts);
        counts.clear();
    }
    values
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

    fn group(&self, group: usize) -> &[u32] {
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

/// How one attribute of a key changes on the way up.
struct Step<'a> {
    slot: Slot,
    /// The label above; `None` where it stays.
    up: Option<&'a [u32]>,
    /// What one label adds to the number of a group.
    stride: u32,
}

impl Step<'_> {
    fn label(&self, label: u32) -> u32 {
        self.up.map_or(label, |up| up[label as usize])
    }
}

impl<K: Key> Groups<K> {
    /// How much room they take.
    pub(super) fn weight(&self) -> usize {
        self.keys.len() + self.values.as_ref().map_or(0, |values| values.counts.len())
    }

    /// The groups of a higher node: labels are looked up, not counted anew.
    pub(super) fn roll_up(&self, axes: &[Axis], slots: &[Slot], lattice: &Lattice, to: Node) -> Rolled<K> {
        let mut stride = 1u64;
        let mut steps = Vec::new();
        for (at, (axis, &slot)) in axes.iter().zip(slots).enumerate() {
            let (from, level) = (lattice.level(self.node, at), lattice.level(to, at));
            if axis.n_labels(level) > 1 {
                let up = (from < level).then(|| axis.up(from, level));
                steps.push(Step { slot, up, stride: u32::try_from(stride).unwrap_or(u32::MAX) });
                stride = stride.saturating_mul(axis.n_labels(level) as u64);
            }
        }
        let rolled =
            |key: K| steps.iter().fold(K::ZERO, |new, step| new.with(step.slot, step.label(key.get(step.slot))));
        // With few conceivable groups a table of all of them beats hashing.
        let few = stride <= (4 * self.keys.len() as u64).max(1 << 12);
        let (group_of, keys, sizes) = if few {
            let mut index = vec![u32::MAX; stride as usize];
            let (mut keys, mut sizes) = (Vec::new(), Vec::new());
            let group_of = self.keys.iter().zip(&self.sizes).map(|(&key, &size)| {
                let number: u32 = steps.iter().map(|step| step.label(key.get(step.slot)) * step.stride).sum();
                let group = &mut index[number as usize];
                if *group == u32::MAX {
                    *group = keys.len() as u32;
                    keys.push(rolled(key));
                    sizes.push(0);
                }
                sizes[*group as usize] += size;
                *group
            });
            (group_of.collect(), keys, sizes)
        } else {
            number_by_hash(self.keys.len(), |at| rolled(self.keys[at]), |at| self.sizes[at])
        };
        Rolled { node: to, group_of, keys, sizes }
    }

    /// Calls `visit` with the sensitive values of every group above, until it says stop. Gives them all if it never does.
    pub(super) fn values_above(
        &self,
        rolled: &Rolled<K>,
        n_values: usize,
        mut visit: impl FnMut(usize, &SaCounts) -> bool,
    ) -> Option<Values> {
        let below = self.values.as_ref()?;
        let mut values = Values::default();
        let mut counts = SaCounts::new(n_values);
        let by_group = ByGroup::new(&rolled.group_of, rolled.keys.len());
        for (group, members) in by_group.into_iter().enumerate() {
            members.iter().for_each(|&member| below.add_to(member as usize, &mut counts));
            if !visit(group, &counts) {
                return None;
            }
            values.push(&counts);
            counts.clear();
        }
        Some(values)
    }
}

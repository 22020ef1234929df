use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// Sets of columns, a list for every key, in one arena.
#[derive(Default)]
pub(super) struct Lists {
    /// One more than the place of the last set of every key; 0 if it has none.
    last: Vec<u32>,
    sets: Vec<u64>,
    /// For every set, one more than the place of the one before it in the same list.
    before: Vec<u32>,
}

impl Lists {
    pub(super) fn new(keys: usize) -> Self {
        Lists { last: vec![0; keys], ..Lists::default() }
    }

    pub(super) fn push(&mut self, key: u32, set: u64) {
        self.sets.push(set);
        self.before.push(self.last[key as usize]);
        self.last[key as usize] = self.sets.len() as u32;
    }

    pub(super) fn of(&self, key: u32) -> impl Iterator<Item = u64> + '_ {
        let mut next = self.last[key as usize];
        std::iter::from_fn(move || {
            let at = next.checked_sub(1)? as usize;
            next = self.before[at];
            Some(self.sets[at])
        })
    }

    /// Whether a set of the list is part of `set`.
    pub(super) fn has_part_of(&self, key: u32, set: u64) -> bool {
        self.of(key).any(|known| known & set == known)
    }

    /// How often every set occurs, by size and then by set.
    pub(super) fn counts(&self) -> Vec<(u64, u64)> {
        let mut counts: HashMap<u64, u64, FixedState> = HashMap::default();
        self.sets.iter().for_each(|&set| *counts.entry(set).or_default() += 1);
        let mut counts: Vec<(u64, u64)> = counts.into_iter().collect();
        counts.sort_unstable_by_key(|(set, _)| (set.count_ones(), *set));
        counts
    }
}

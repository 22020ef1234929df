//! The search if a missing value matches anything: classes overlap, so they are copied instead of refined in place.

use chrysalis_table::{Counted, Watch};

use super::lists::Lists;
use crate::keys::Keys;

struct Search<'a> {
    keys: &'a Keys,
    is_alone: &'a [bool],
    limit: usize,
    lists: Lists,
    steps: usize,
    watch: &'a dyn Watch,
}

pub(super) fn search(keys: &Keys, is_alone: &[bool], limit: usize, watch: &dyn Watch) -> Lists {
    let members: Vec<u32> = (0..keys.len() as u32).filter(|&key| keys.rows[key as usize] > 0).collect();
    let owners: Vec<u32> = members.iter().copied().filter(|&key| is_alone[key as usize]).collect();
    watch.phase("minimal uniques", Some(keys.n_columns as u64), Counted::Combinations);
    let mut search = Search { keys, is_alone, limit, lists: Lists::new(keys.len()), steps: 0, watch };
    for first in 0..keys.n_columns {
        search.extend(&members, &owners, 0, 0, first..first + 1);
        watch.tell(1);
    }
    search.lists
}

impl Search<'_> {
    /// Step 5.4. `members` match on `set` what its `owners` have there, and no owner lacks a value there.
    fn extend(&mut self, members: &[u32], owners: &[u32], set: u64, size: usize, columns: std::ops::Range<usize>) {
        self.steps += 1;
        self.watch.pause_at(self.steps);
        if size == self.limit {
            return;
        }
        for column in columns {
            let (keys, lacks) = (self.keys, self.keys.missing_in >> column & 1 == 1);
            let has = |key: &u32| !lacks || keys.code(*key, column) != 0;
            let mut owners: Vec<u32> = owners.iter().copied().filter(has).collect();
            owners.sort_unstable_by_key(|&key| keys.code(key, column));
            for owners in owners.chunk_by(|&a, &b| keys.code(a, column) == keys.code(b, column)) {
                let code = keys.code(owners[0], column);
                let matches = |key: &u32| !has(key) || keys.code(*key, column) == code;
                let finer: Vec<u32> = members.iter().copied().filter(matches).collect();
                let larger = set | 1 << column;
                match finer[..] {
                    [key] => self.candidate(key, larger),
                    // All members match: the column tells nobody apart.
                    _ if finer.len() == members.len() => {}
                    _ => self.extend(&finer, owners, larger, size + 1, 0..column),
                }
            }
        }
    }

    fn candidate(&mut self, key: u32, set: u64) {
        if self.is_alone[key as usize] && !self.lists.has_part_of(key, set) {
            self.lists.push(key, set);
        }
    }
}

//! The search without wildcards: classes of keys are refined column by column, in place.

use chrysalis_table::{Counted, Watch};
use rayon::prelude::*;

use super::lists::Lists;
use crate::keys::Keys;

/// Classes up to this size are sorted by comparison.
const SMALL: usize = 192;

struct Search<'a> {
    keys: &'a Keys,
    is_alone: &'a [bool],
    limit: usize,
    /// What was found with earlier first columns.
    earlier: &'a Lists,
    /// The place of every key in the order of the first column.
    place: &'a [u32],
    watch: &'a dyn Watch,
}

/// A class of the first column: what it needs for itself.
struct Part {
    /// The place of the first key.
    start: u32,
    found: Lists,
    /// The keys and sets found, in order.
    log: Vec<(u32, u64)>,
    scratch: Vec<u32>,
    counts: Vec<u32>,
    steps: usize,
}

pub(super) fn search(keys: &Keys, is_alone: &[bool], limit: usize, watch: &dyn Watch) -> Lists {
    let n = keys.len();
    watch.phase("minimal uniques", Some((n * keys.n_columns) as u64), Counted::Rows);
    let mut lists = Lists::new(n);
    // Keys of the population alone are no rows of the table: they neither have nor hinder minimal uniques.
    let mut members: Vec<u32> = (0..n as u32).filter(|&key| keys.rows[key as usize] > 0).collect();
    let mut place = vec![0; n];
    // Step 5.1. First columns in ascending order. With first column c, the sets searched are c and columns before it, so
    // every set comes after all of its parts.
    for first in 0..keys.n_columns {
        watch.pause();
        let mut whole = Part::new(0, 0);
        whole.sort(keys, &mut members, first);
        members.iter().enumerate().for_each(|(at, &key)| place[key as usize] = at as u32);
        let mut classes: Vec<(u32, &mut [u32])> = Vec::new();
        let (mut rest, mut start) = (&mut members[..], 0);
        while !rest.is_empty() {
            let (class, later) = rest.split_at_mut(equal(keys, rest, first));
            start += class.len() as u32;
            classes.push((start - class.len() as u32, class));
            rest = later;
        }
        if classes.len() == 1 && n > 1 {
            // All rows agree: the column is part of no minimal unique.
            continue;
        }
        // Large classes first, so that no thread ends up with one alone.
        classes.sort_by_key(|(start, class)| (std::cmp::Reverse(class.len()), *start));
        let all = Search { keys, is_alone, limit, earlier: &lists, place: &place, watch };
        let logs: Vec<Vec<(u32, u64)>> =
            classes.into_par_iter().map(|(start, class)| all.class(start, class, first)).collect();
        for (key, set) in logs.into_iter().flatten() {
            lists.push(key, set);
        }
    }
    lists
}

impl Search<'_> {
    /// The keys that share a value of the first column.
    fn class(&self, start: u32, class: &mut [u32], first: usize) -> Vec<(u32, u64)> {
        let mut part = Part::new(start, class.len());
        let set = 1u64 << first;
        let n = class.len() as u64;
        match class {
            [key] => self.candidate(*key, set, &mut part),
            class => self.refine(class, set, 1, &(0..first as u8).collect::<Vec<_>>(), &mut part),
        }
        self.watch.tell(n);
        part.log
    }

    /// Step 5.2. At least two keys that agree on `set`, none of which has it for a minimal unique. `columns` may be added.
    fn refine(&self, class: &mut [u32], set: u64, size: usize, columns: &[u8], part: &mut Part) {
        part.steps += 1;
        self.watch.pause_at(part.steps);
        if size == self.limit || !class.iter().any(|&key| self.is_alone[key as usize]) {
            return;
        }
        // A column in which all agree tells nobody apart, here and in every finer class.
        let varies = |column: u8| {
            let first = self.keys.code(class[0], usize::from(column));
            class.iter().any(|&key| self.keys.code(key, usize::from(column)) != first)
        };
        let columns: Vec<u8> = columns.iter().copied().filter(|&column| varies(column)).collect();
        if let [one, other] = *class {
            for &column in &columns {
                self.candidate(one, set | 1 << column, part);
                self.candidate(other, set | 1 << column, part);
            }
            return;
        }
        for (at, &column) in columns.iter().enumerate() {
            let larger = set | 1 << column;
            part.sort(self.keys, class, usize::from(column));
            let mut rest = &mut *class;
            while !rest.is_empty() {
                let (finer, later) = rest.split_at_mut(equal(self.keys, rest, usize::from(column)));
                match finer {
                    [key] => self.candidate(*key, larger, part),
                    finer if at > 0 => self.refine(finer, larger, size + 1, &columns[..at], part),
                    _ => {}
                }
                rest = later;
            }
        }
    }

    /// Step 5.3. Nobody else has the key's values on `set`: a minimal unique, unless a part of it is one.
    fn candidate(&self, key: u32, set: u64, part: &mut Part) {
        if !self.is_alone[key as usize] || self.earlier.has_part_of(key, set) {
            return;
        }
        let local = self.place[key as usize] - part.start;
        if !part.found.has_part_of(local, set) {
            part.found.push(local, set);
            part.log.push((key, set));
        }
    }
}

impl Part {
    fn new(start: u32, keys: usize) -> Self {
        let (log, scratch, counts) = (Vec::new(), Vec::new(), Vec::new());
        Part { start, found: Lists::new(keys), log, scratch, counts, steps: 0 }
    }

    /// Sorts keys by their codes in a column.
    fn sort(&mut self, keys: &Keys, class: &mut [u32], column: usize) {
        let n_codes = keys.n_codes[column];
        if class.len() <= SMALL || n_codes > class.len() {
            class.sort_unstable_by_key(|&key| keys.code(key, column));
            return;
        }
        self.counts.clear();
        self.counts.resize(n_codes, 0);
        class.iter().for_each(|&key| self.counts[keys.code(key, column) as usize] += 1);
        let mut next = 0;
        for count in &mut self.counts {
            next += std::mem::replace(count, next);
        }
        self.scratch.clear();
        self.scratch.resize(class.len(), 0);
        for &key in &*class {
            let at = &mut self.counts[keys.code(key, column) as usize];
            self.scratch[*at as usize] = key;
            *at += 1;
        }
        class.copy_from_slice(&self.scratch);
    }
}

/// How many keys at the front of a sorted class have the code of the first one.
fn equal(keys: &Keys, class: &[u32], column: usize) -> usize {
    let first = keys.code(class[0], column);
    class.iter().take_while(|&&key| keys.code(key, column) == first).count()
}

//! The search without wildcards: classes of keys are refined column by column, in place.

use chrysalis_table::{Counted, Watch};
use rayon::prelude::*;

use super::lists::Lists;
use super::record::{Field, Packed, Plain, Record, columns_of, fields};
use super::transversals;
use crate::keys::Keys;

/// Classes up to this size are sorted by comparison.
const SMALL: usize = 192;
/// Classes up to this size are not refined: what tells their keys apart is compared pair by pair.
const FEW: usize = 8;

struct Search<'a> {
    keys: &'a Keys,
    fields: &'a [Field],
    limit: usize,
    /// What was found with earlier first columns.
    earlier: &'a Lists,
    /// The place of every key in the order of the first column.
    place: &'a [u32],
    watch: &'a dyn Watch,
}

/// A class of the first column: what it needs for itself.
struct Part<R> {
    /// The place of the first key.
    start: u32,
    found: Lists,
    /// The keys and sets found, in order.
    log: Vec<(u32, u64)>,
    scratch: Vec<R>,
    counts: Vec<u32>,
    /// Buffers for small classes.
    differences: Vec<u64>,
    sets: (Vec<u64>, Vec<u64>),
    steps: usize,
}

pub(super) fn search(keys: &Keys, is_alone: &[bool], limit: usize, watch: &dyn Watch) -> Lists {
    let (fields, bits) = fields(keys);
    // The highest bit of a key is taken.
    match keys.len() < 1 << 31 {
        true if bits <= u64::BITS => search_by::<Packed<u64>>(keys, &fields, is_alone, limit, watch),
        true if bits <= u128::BITS => search_by::<Packed<u128>>(keys, &fields, is_alone, limit, watch),
        _ => search_by::<Plain>(keys, &fields, is_alone, limit, watch),
    }
}

pub(super) fn search_by<R: Record>(
    keys: &Keys,
    fields: &[Field],
    is_alone: &[bool],
    limit: usize,
    watch: &dyn Watch,
) -> Lists {
    let n = keys.len();
    watch.phase("minimal uniques", Some((n * keys.n_columns) as u64), Counted::Rows);
    let mut lists = Lists::new(n);
    // Keys of the population alone are no rows of the table: they neither have nor hinder minimal uniques.
    let members = (0..n as u32).filter(|&key| keys.rows[key as usize] > 0);
    let mut members: Vec<R> = members.map(|key| R::new(keys, key, is_alone[key as usize], fields)).collect();
    let mut place = vec![0; n];
    // Step 5.1. First columns in ascending order. With first column c, the sets searched are c and columns before it, so
    // every set comes after all of its parts.
    for first in 0..keys.n_columns {
        watch.pause();
        let mut whole = Part::new(0, 0);
        whole.sort(keys, fields, &mut members, first);
        members.iter().enumerate().for_each(|(at, record)| place[record.key() as usize] = at as u32);
        let mut classes: Vec<(u32, &mut [R])> = Vec::new();
        let (mut rest, mut start) = (&mut members[..], 0);
        while !rest.is_empty() {
            let (class, later) = rest.split_at_mut(equal(keys, fields, rest, first));
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
        let all = Search { keys, fields, limit, earlier: &lists, place: &place, watch };
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
    fn class<R: Record>(&self, start: u32, class: &mut [R], first: usize) -> Vec<(u32, u64)> {
        let mut part = Part::new(start, class.len());
        let set = 1u64 << first;
        let n = class.len() as u64;
        match class {
            [only] => self.candidate(*only, set, &mut part),
            class => self.refine(class, set, (1 << first) - 1, &mut part),
        }
        self.watch.tell(n);
        part.log
    }

    /// Step 5.2. At least two keys that agree on `set`, none of which has it for a minimal unique. `columns` may be added.
    fn refine<R: Record>(&self, class: &mut [R], set: u64, columns: u64, part: &mut Part<R>) {
        part.steps += 1;
        self.watch.pause_at(part.steps);
        if set.count_ones() as usize == self.limit || !class.iter().any(|record| record.is_alone()) {
            return;
        }
        if class.len() <= FEW {
            return self.compare(class, set, columns, part);
        }
        // A column in which all agree tells nobody apart, here and in every finer class.
        let columns = self.varying(class, columns);
        for column in columns_of(columns) {
            let larger = set | 1 << column;
            let before = columns & ((1 << column) - 1);
            part.sort(self.keys, self.fields, class, column);
            let mut rest = &mut *class;
            while !rest.is_empty() {
                let (finer, later) = rest.split_at_mut(equal(self.keys, self.fields, rest, column));
                match finer {
                    [only] => self.candidate(*only, larger, part),
                    finer if before != 0 => self.refine(finer, larger, before, part),
                    _ => {}
                }
                rest = later;
            }
        }
    }

    /// Those of some columns in which not all keys agree.
    fn varying<R: Record>(&self, class: &[R], columns: u64) -> u64 {
        let mut found = 0;
        for other in &class[1..] {
            found |= class[0].differences(*other, self.keys, self.fields, columns & !found);
            if found == columns {
                break;
            }
        }
        found
    }

    /// Step 5.2 for a few keys. What must be added to `set` for a key to be alone is what meets, for every other key, the
    /// columns in which the two differ; the smallest such sets are the candidates.
    fn compare<R: Record>(&self, class: &[R], set: u64, columns: u64, part: &mut Part<R>) {
        // PROOF: `refine` has stopped where no column may be added.
        let most = (self.limit as u32).saturating_sub(set.count_ones());
        let (mut found, mut next) = std::mem::take(&mut part.sets);
        for (at, &record) in class.iter().enumerate().filter(|(_, record)| record.is_alone()) {
            part.differences.clear();
            for other in class[..at].iter().chain(&class[at + 1..]) {
                part.differences.push(record.differences(*other, self.keys, self.fields, columns));
            }
            if part.differences.contains(&0) {
                continue;
            }
            part.differences.sort_unstable_by_key(|set| set.count_ones());
            transversals::minimal(&part.differences, most, &mut found, &mut next);
            for &added in &found {
                self.candidate(record, set | added, part);
            }
        }
        part.sets = (found, next);
    }

    /// Step 5.3. Nobody else has the key's values on `set`: a minimal unique, unless a part of it is one.
    fn candidate<R: Record>(&self, record: R, set: u64, part: &mut Part<R>) {
        let key = record.key();
        if !record.is_alone() || self.earlier.has_part_of(key, set) {
            return;
        }
        let local = self.place[key as usize] - part.start;
        if !part.found.has_part_of(local, set) {
            part.found.push(local, set);
            part.log.push((key, set));
        }
    }
}

impl<R: Record> Part<R> {
    fn new(start: u32, keys: usize) -> Self {
        Part {
            start,
            found: Lists::new(keys),
            log: Vec::new(),
            scratch: Vec::new(),
            counts: Vec::new(),
            differences: Vec::new(),
            sets: (Vec::new(), Vec::new()),
            steps: 0,
        }
    }

    /// Sorts keys by their codes in a column.
    fn sort(&mut self, keys: &Keys, fields: &[Field], class: &mut [R], column: usize) {
        let n_codes = keys.n_codes[column];
        if class.len() <= SMALL || n_codes > class.len() {
            class.sort_unstable_by_key(|record| record.code(keys, fields, column));
            return;
        }
        self.counts.clear();
        self.counts.resize(n_codes, 0);
        class.iter().for_each(|record| self.counts[record.code(keys, fields, column) as usize] += 1);
        let mut next = 0;
        for count in &mut self.counts {
            next += std::mem::replace(count, next);
        }
        self.scratch.clear();
        self.scratch.extend_from_slice(class);
        for &record in &self.scratch {
            let at = &mut self.counts[record.code(keys, fields, column) as usize];
            class[*at as usize] = record;
            *at += 1;
        }
    }
}

/// How many keys at the front of a sorted class have the code of the first one.
fn equal<R: Record>(keys: &Keys, fields: &[Field], class: &[R], column: usize) -> usize {
    let first = class[0].code(keys, fields, column);
    class.iter().take_while(|record| record.code(keys, fields, column) == first).count()
}

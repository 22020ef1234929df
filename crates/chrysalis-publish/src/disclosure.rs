//! What groups give away, regardless of what is promised about them.

use chrysalis_criteria::{Alike, Near, Requirement};
use chrysalis_table::{Code, Column, Watch};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use rayon::prelude::*;

use crate::microdata::Persons;
use crate::{Microdata, Partition, SensitiveColumn};

/// For how many rows a release gives the sensitive value away.
///
/// A row is *certain* when what is shown of its group leaves only one possible sensitive value, or only numbers closer
/// together than the column's `near`; where persons may have several rows, also when all persons of its group have one
/// value in common. Values that look alike count as one. A certain row is *disclosed* when its value
/// is not ordinary. If several columns are sensitive, one of them is enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disclosure {
    /// Rows whose sensitive value follows from what is shown.
    pub certain_rows: u64,
    /// Certain rows whose value is not ordinary.
    pub disclosed_rows: u64,
    /// Disclosed rows that only the columns kept as they are give away: their groups alone would not disclose them.
    pub disclosed_by_others: u64,
    /// The place of the sensitive column that gives most rows away.
    pub column: usize,
}

/// What can be concluded about a row's sensitive value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Conclusion {
    #[default]
    Open,
    /// The value is certain, and ordinary.
    Ordinary,
    /// The value is certain, and not ordinary.
    Disclosed,
}

/// How sensitive values are judged.
struct Judge<'a> {
    column: &'a Column,
    ordinary: &'a [bool],
    near: &'a Near,
    looks: &'a Alike,
    /// For every code, and for one past the last, the number of rows with a lower code; empty if the owner names the
    /// ordinary values.
    below: Vec<u64>,
}

impl<'a> Judge<'a> {
    fn new(sensitive: SensitiveColumn<'a>, near: &'a Near) -> Self {
        let counts = sensitive.counts();
        let below = match sensitive.named_ordinary() {
            Some(_) => Vec::new(),
            None => (0..=counts.domain_len() as Code)
                .scan(0, |sum, code| {
                    let before = *sum;
                    *sum += counts.count(code);
                    Some(before)
                })
                .collect(),
        };
        let (column, ordinary, looks) = (sensitive.column(), sensitive.ordinary(), sensitive.looks());
        Judge { column, ordinary, near, looks, below }
    }

    /// What can be concluded about the rows of a group with these codes.
    fn known(&self, codes: impl Iterator<Item = Code> + Clone) -> Conclusion {
        // Values that look alike are one value.
        let firsts = codes.clone().map(|code| self.looks.first(code));
        let Some((low, high)) = firsts.fold(None, |ends: Option<(Code, Code)>, code| {
            Some(ends.map_or((code, code), |(low, high)| (low.min(code), high.max(code))))
        }) else {
            return Conclusion::Open;
        };
        // The missing value has the lowest code and is near no other value.
        let ends = self.column.domain().value(low).zip(self.column.domain().value(high));
        let is_one = low == high || ends.is_some_and(|(low, high)| self.near.is_one(low, high));
        if !is_one {
            return Conclusion::Open;
        }
        // A range of numbers that covers at least half of all rows is as ordinary as a single value that does.
        let is_ordinary = match (self.below.get(low as usize), self.below.get(high as usize + 1), self.below.last()) {
            (Some(before), Some(until), Some(all)) if low != high => 2 * (until - before) >= *all,
            _ => codes.into_iter().all(|code| self.ordinary[code as usize]),
        };
        if is_ordinary { Conclusion::Ordinary } else { Conclusion::Disclosed }
    }
}

impl Judge<'_> {
    /// What can be concluded from a value that all persons of a group have.
    fn shared(&self, persons: &Persons, rows: &[u32]) -> Conclusion {
        let n_persons = persons.of_group(rows).count();
        let value = |row: u32| self.looks.first(self.column.code(row as usize));
        let mut by_value: Vec<(Code, u32, u32)> =
            rows.iter().map(|&row| (value(row), persons.of_row(row), row)).collect();
        by_value.sort_unstable();
        let of_value = |run: &[(Code, u32, u32)]| {
            if run.chunk_by(|a, b| a.1 == b.1).count() < n_persons {
                return Conclusion::Open;
            }
            let is_ordinary = run.iter().all(|&(_, _, row)| self.ordinary[self.column.code(row as usize) as usize]);
            if is_ordinary { Conclusion::Ordinary } else { Conclusion::Disclosed }
        };
        by_value.chunk_by(|a, b| a.0 == b.0).map(of_value).max().unwrap_or_default()
    }
}

impl Microdata {
    /// Counts the rows that groups give away. Several partitions are the views that different users have of the same
    /// rows: a row counts as soon as one user can be certain of its value. `is_beside` says whether the columns that
    /// are kept as they are stand beside the sensitive values of their own rows.
    pub(crate) fn disclosure(
        &self,
        partitions: &[&Partition],
        require: &[Requirement],
        is_beside: bool,
        watch: &dyn Watch,
    ) -> Disclosure {
        let near: Vec<Near> = self.sensitive_columns().map(|column| column.near(require)).collect();
        let judges: Vec<Judge<'_>> =
            self.sensitive_columns().zip(&near).map(|(column, near)| Judge::new(column, near)).collect();
        let others = (is_beside && self.other().len() > 0).then(|| self.numbered_others());
        if let ([judge], [partition], None, None) = (&judges[..], partitions, &others, self.persons()) {
            return in_one(judge, partition, watch);
        }
        if judges.is_empty() {
            return Disclosure::default();
        }
        let mut known = vec![(Conclusion::Open, Conclusion::Open); self.rows()];
        let mut disclosed = vec![0_u64; judges.len()];
        for partition in partitions {
            for (group, rows) in partition.groups().enumerate() {
                watch.pause_at(group);
                for (judge, disclosed) in judges.iter().zip(&mut disclosed) {
                    let shared = self.persons().map_or(Conclusion::Open, |persons| judge.shared(persons, rows));
                    let of_group = judge.known(codes(judge.column, rows)).max(shared);
                    *disclosed += if of_group == Conclusion::Disclosed { rows.len() as u64 } else { 0 };
                    rows.iter().for_each(|&row| raise(&mut known[row as usize], (of_group, of_group)));
                }
                if let Some(others) = &others {
                    let mut sorted: Vec<u32> = rows.to_vec();
                    sorted.sort_unstable_by_key(|&row| others[row as usize]);
                    for alike in sorted.chunk_by(|&a, &b| others[a as usize] == others[b as usize]) {
                        for judge in &judges {
                            let of_alike = judge.known(codes(judge.column, alike));
                            alike.iter().for_each(|&row| raise(&mut known[row as usize], (Conclusion::Open, of_alike)));
                        }
                    }
                }
            }
        }
        let count = |is_meant: &dyn Fn((Conclusion, Conclusion)) -> bool| {
            known.iter().filter(|known| is_meant(**known)).count()
        };
        Disclosure {
            certain_rows: count(&|(_, all)| all > Conclusion::Open) as u64,
            disclosed_rows: count(&|(_, all)| all == Conclusion::Disclosed) as u64,
            disclosed_by_others: count(&|(alone, all)| all == Conclusion::Disclosed && alone != Conclusion::Disclosed)
                as u64,
            // The first of several that give away as many.
            column: (0..judges.len()).rev().max_by_key(|&at| disclosed[at]).unwrap_or(0),
        }
    }

    /// For every row, the number of its combination of values in the columns that are kept as they are.
    fn numbered_others(&self) -> Vec<u32> {
        let mut numbers = vec![0u32; self.rows()];
        for column in self.other() {
            let mut seen: HashMap<(u32, Code), u32, FixedState> = HashMap::default();
            for (row, number) in numbers.iter_mut().enumerate() {
                // PROOF: there are no more combinations than rows, which are numbered in 32 bits.
                let fresh = seen.len() as u32;
                *number = *seen.entry((*number, column.code(row))).or_insert(fresh);
            }
        }
        numbers
    }
}

fn codes<'a>(column: &'a Column, rows: &'a [u32]) -> impl Iterator<Item = Code> + Clone + 'a {
    rows.iter().map(|&row| column.code(row as usize))
}

fn raise(known: &mut (Conclusion, Conclusion), by: (Conclusion, Conclusion)) {
    *known = (known.0.max(by.0), known.1.max(by.1));
}

/// The simple case of one partition and no other columns: runs on all cores and keeps no state per row.
fn in_one(judge: &Judge<'_>, partition: &Partition, watch: &dyn Watch) -> Disclosure {
    let of_group = |group: usize| {
        watch.pause_at(group);
        let rows = partition.group(group);
        let n = rows.len() as u64;
        match judge.known(codes(judge.column, rows)) {
            Conclusion::Open => (0, 0),
            Conclusion::Ordinary => (n, 0),
            Conclusion::Disclosed => (n, n),
        }
    };
    let (certain_rows, disclosed_rows) = (0..partition.n_groups())
        .into_par_iter()
        .map(of_group)
        .reduce(|| (0, 0), |(a, b), (certain, disclosed)| (a + certain, b + disclosed));
    Disclosure { certain_rows, disclosed_rows, ..Disclosure::default() }
}

//! What groups give away, regardless of what is promised about them.

use chrysalis_criteria::{Alike, Near, Requirement};
use chrysalis_table::{Code, Column, Watch};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use rayon::prelude::*;

use crate::microdata::Persons;
use crate::{Microdata, Partition, SensitiveColumn, SeriesGroups};

/// For how many rows a release gives the sensitive value away.
///
/// A row is *certain* when what is shown of its group leaves only one possible sensitive value, or only numbers closer
/// together than the column's `near`; where persons may have several rows, also when all persons of its group have one
/// value in common. Values that look alike count as one. A certain row is *disclosed* when its value
/// is not ordinary. If several columns are sensitive, one of them is enough.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Disclosure {
    /// Rows whose sensitive value follows from what is shown.
    pub certain_rows: u64,
    /// Certain rows whose value is not ordinary.
    pub disclosed_rows: u64,
    /// Disclosed rows that only the columns kept as they are give away: their groups alone would not disclose them.
    pub disclosed_by_others: u64,
    /// How many rows each sensitive column gives away by groups alone, summed over views; empty if that was not counted.
    pub by_column: Vec<u64>,
}

impl Disclosure {
    /// The place of the sensitive column that gives most rows away, the first of several that give away as many.
    pub fn column(&self) -> usize {
        (0..self.by_column.len()).rev().max_by_key(|&at| self.by_column[at]).unwrap_or(0)
    }

    /// Adds what other groups give away. Several columns may disclose the same row, so that no sum of columns is one of rows.
    pub fn add(&mut self, other: &Disclosure) {
        self.certain_rows += other.certain_rows;
        self.disclosed_rows += other.disclosed_rows;
        self.disclosed_by_others += other.disclosed_by_others;
        self.by_column.resize(self.by_column.len().max(other.by_column.len()), 0);
        self.by_column.iter_mut().zip(&other.by_column).for_each(|(all, more)| *all += more);
    }
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
        let value = |row: u32| self.looks.first(self.column.code(row as usize));
        let has = |person: u32, shared: Code| persons.rows(person).iter().any(|&row| value(row) == shared);
        let mut others = persons.of_group(rows);
        // What all have is among what the first one has.
        let Some(first) = others.next() else { return Conclusion::Open };
        let candidates = persons.rows(first).iter().map(|&row| value(row));
        let shared = candidates.filter(|&candidate| others.clone().all(|person| has(person, candidate)));
        let conclusion = |shared: Code| {
            let mut codes = codes(self.column, rows).filter(|&code| self.looks.first(code) == shared);
            match codes.all(|code| self.ordinary[code as usize]) {
                true => Conclusion::Ordinary,
                false => Conclusion::Disclosed,
            }
        };
        shared.map(conclusion).max().unwrap_or_default()
    }

    /// What can be concluded about the rows of a group.
    fn of_group(&self, persons: Option<&Persons>, rows: &[u32]) -> Conclusion {
        let shared = persons.map_or(Conclusion::Open, |persons| self.shared(persons, rows));
        self.known(codes(self.column, rows)).max(shared)
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
        if judges.is_empty() {
            return Disclosure::default();
        }
        if let ([partition], None) = (partitions, &others) {
            return in_one(&judges, self.persons(), partition, watch);
        }
        let mut known = vec![(Conclusion::Open, Conclusion::Open); self.rows()];
        let mut disclosed = vec![0_u64; judges.len()];
        for partition in partitions {
            for (group, rows) in partition.groups().enumerate() {
                watch.pause_at(group);
                for (judge, disclosed) in judges.iter().zip(&mut disclosed) {
                    let of_group = judge.of_group(self.persons(), rows);
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
            by_column: disclosed,
        }
    }

    /// The same where groups show the values of a signature, some of which may be counterfeit.
    pub(crate) fn disclosure_in_series(
        &self,
        groups: &SeriesGroups,
        require: &[Requirement],
        watch: &dyn Watch,
    ) -> Disclosure {
        let mut found = Disclosure::default();
        for column in self.sensitive_columns() {
            let near = column.near(require);
            let judge = Judge::new(column, &near);
            for (group, rows) in groups.partition.groups().enumerate() {
                watch.pause_at(group);
                let known = judge.known(groups.shown(group).iter().copied());
                let rows = rows.len() as u64;
                found.certain_rows += if known > Conclusion::Open { rows } else { 0 };
                found.disclosed_rows += if known == Conclusion::Disclosed { rows } else { 0 };
            }
        }
        found
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
fn in_one(judges: &[Judge<'_>], persons: Option<&Persons>, partition: &Partition, watch: &dyn Watch) -> Disclosure {
    // Certain rows, disclosed rows, and rows that each column discloses.
    let none = || (0, 0, vec![0_u64; judges.len()]);
    let add = |(certain, disclosed, mut by_column): (u64, u64, Vec<u64>), group: usize| {
        watch.pause_at(group);
        let rows = partition.group(group);
        let n = rows.len() as u64;
        let mut most = Conclusion::Open;
        for (judge, of_column) in judges.iter().zip(&mut by_column) {
            let of_group = judge.of_group(persons, rows);
            *of_column += if of_group == Conclusion::Disclosed { n } else { 0 };
            most = most.max(of_group);
        }
        let certain = certain + if most > Conclusion::Open { n } else { 0 };
        (certain, disclosed + if most == Conclusion::Disclosed { n } else { 0 }, by_column)
    };
    let (certain_rows, disclosed_rows, by_column) = (0..partition.n_groups())
        .into_par_iter()
        .fold(none, add)
        .reduce(none, |a, b| (a.0 + b.0, a.1 + b.1, a.2.iter().zip(&b.2).map(|(a, b)| a + b).collect()));
    Disclosure { certain_rows, disclosed_rows, by_column, ..Disclosure::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_column_is_that_of_all_groups_together() {
        let part = |by_column: [u64; 2]| Disclosure {
            certain_rows: 9,
            disclosed_rows: by_column[0].max(by_column[1]),
            disclosed_by_others: 0,
            by_column: by_column.to_vec(),
        };
        let mut all = Disclosure::default();
        // The worst part discloses by the first column, and all parts together by the second.
        [part([8, 0]), part([0, 5]), part([0, 5])].iter().for_each(|part| all.add(part));
        assert_eq!((all.certain_rows, all.disclosed_rows, all.column()), (27, 18, 1));
        assert_eq!(Disclosure::default().column(), 0);
    }
}

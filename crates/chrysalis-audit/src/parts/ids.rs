//! Group ids over all parts of a table: one bit for each, so that memory does not grow with rows.

use chrysalis_table::{Domain, Value};

/// The ids that were seen in a table.
#[derive(Clone, Debug)]
pub(super) struct Ids {
    pub(super) table: String,
    /// The largest id that can be right.
    most: u64,
    /// A bit per id from 1 on, as far as they were seen.
    bits: Vec<u64>,
    /// How many different ids were seen.
    different: u64,
    /// The largest id that was seen.
    largest: u64,
    /// Ids that cannot be right: below 1, or above all that a group could have.
    outside: u64,
    /// Ids that several parts have.
    pub(super) divided: u64,
    /// One of them.
    pub(super) example: Option<i64>,
}

impl Ids {
    /// None yet; at most so many groups can be there.
    pub(super) fn new(table: String, most: u64) -> Ids {
        Ids { table, most, bits: Vec::new(), different: 0, largest: 0, outside: 0, divided: 0, example: None }
    }

    /// Adds the ids of one part, each of which its domain has once.
    pub(super) fn add(&mut self, domain: &Domain) {
        for value in domain.values() {
            let Value::Integer(id) = value else { continue };
            let known = u64::try_from(*id).ok().filter(|id| (1..=self.most).contains(id));
            let Some((place, id)) = known.and_then(|id| Some((usize::try_from(id / 64).ok()?, id))) else {
                self.outside += 1;
                continue;
            };
            if place >= self.bits.len() {
                self.bits.resize(place + 1, 0);
            }
            let (word, bit) = (&mut self.bits[place], 1 << (id % 64));
            if *word & bit == 0 {
                *word |= bit;
                self.different += 1;
                self.largest = self.largest.max(id);
            } else {
                self.divided += 1;
                self.example = self.example.or(i64::try_from(id).ok());
            }
        }
    }

    /// How many groups there are. An id that cannot be right is counted as often as parts have it.
    pub(super) fn groups(&self) -> u64 {
        self.different + self.outside
    }

    /// Whether they are the numbers from 1 on, without gaps.
    pub(super) fn are_dense(&self) -> bool {
        self.outside == 0 && self.largest == self.different
    }
}

#[cfg(test)]
mod tests {
    use chrysalis_table::Column;

    use super::*;

    fn seen(parts: &[&[i64]], most: u64) -> Ids {
        let mut ids = Ids::new("qit".into(), most);
        parts.iter().for_each(|part| ids.add(Column::integers("group_id", part).domain()));
        ids
    }

    #[test]
    fn gaps_repetitions_and_impossible_ids_are_noticed() {
        let fine = seen(&[&[3, 1, 70], &[2]], 100);
        assert_eq!((fine.groups(), fine.divided, fine.are_dense()), (4, 0, false));
        let mut numbers: Vec<i64> = (1..=130).collect();
        let rest = numbers.split_off(64);
        let dense = seen(&[&numbers, &rest], 130);
        assert_eq!((dense.groups(), dense.divided, dense.are_dense()), (130, 0, true));
        let twice = seen(&[&[1, 2], &[2, 3]], 9);
        assert_eq!((twice.groups(), twice.divided, twice.example, twice.are_dense()), (3, 1, Some(2), true));
        let odd = seen(&[&[0, 1], &[i64::MAX, -4]], 9);
        assert_eq!((odd.groups(), odd.are_dense()), (4, false));
    }
}

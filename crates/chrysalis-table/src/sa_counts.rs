use crate::Code;

/// How often each sensitive code occurs in one group.
///
/// Dense counts for lookup, plus the list of codes present, so that the cost of examining a small group depends on the
/// group and not on how many values the column has.
#[derive(Clone, Debug, Default)]
pub struct SaCounts {
    counts: Vec<u32>,
    present: Vec<Code>,
    total: u64,
}

impl SaCounts {
    /// An empty group over a domain of that many codes.
    pub fn new(domain_len: usize) -> Self {
        SaCounts { counts: vec![0; domain_len], present: Vec::new(), total: 0 }
    }

    /// The counts of some rows' codes.
    pub fn of(domain_len: usize, codes: impl IntoIterator<Item = Code>) -> Self {
        let mut counts = SaCounts::new(domain_len);
        codes.into_iter().for_each(|code| counts.add(code));
        counts
    }

    /// Adds one row.
    pub fn add(&mut self, code: Code) {
        self.add_many(code, 1);
    }

    /// Adds several rows with the same code.
    pub fn add_many(&mut self, code: Code, n: u32) {
        let count = &mut self.counts[code as usize];
        if *count == 0 && n > 0 {
            self.present.push(code);
        }
        *count += n;
        self.total += u64::from(n);
    }

    /// Takes one row away, in time proportional to the codes present if it was the last with its code.
    ///
    /// There must be such a row.
    pub fn remove(&mut self, code: Code) {
        let count = &mut self.counts[code as usize];
        *count -= 1;
        self.total -= 1;
        if *count == 0 {
            self.present.retain(|&other| other != code);
        }
    }

    /// Forgets all rows, in time proportional to the codes present.
    pub fn clear(&mut self) {
        for &code in &self.present {
            self.counts[code as usize] = 0;
        }
        self.present.clear();
        self.total = 0;
    }

    /// Becomes `whole` without `part`, which must lie within `whole`.
    pub fn set_difference(&mut self, whole: &SaCounts, part: &SaCounts) {
        self.clear();
        for (code, count) in whole.iter() {
            let part = part.counts[code as usize];
            self.add_many(code, u32::try_from(count).unwrap_or(u32::MAX).saturating_sub(part));
        }
    }

    /// The same counts out of another total. Where persons with several values are counted, the counts of all values
    /// together exceed the number of persons. No count is left above the total.
    pub fn set_total(&mut self, total: u64) {
        let most = u32::try_from(total).unwrap_or(u32::MAX);
        for &code in &self.present {
            let count = &mut self.counts[code as usize];
            *count = (*count).min(most);
        }
        self.total = total;
    }

    /// Both groups together.
    pub fn merged(&self, other: &SaCounts) -> SaCounts {
        let mut sum = self.clone();
        for (code, count) in other.iter() {
            sum.add_many(code, u32::try_from(count).unwrap_or(u32::MAX));
        }
        sum
    }

    /// How many rows have this code.
    pub fn count(&self, code: Code) -> u64 {
        self.counts.get(code as usize).map_or(0, |&count| u64::from(count))
    }

    /// The codes that occur with their counts, in no particular order, each once.
    pub fn iter(&self) -> impl Iterator<Item = (Code, u64)> + Clone + '_ {
        self.present.iter().map(|&code| (code, u64::from(self.counts[code as usize])))
    }

    /// The largest count.
    pub fn max(&self) -> u64 {
        self.iter().map(|(_, count)| count).max().unwrap_or(0)
    }

    /// The code with the largest count; the lowest one in a tie.
    pub fn most_frequent(&self) -> Option<Code> {
        self.iter().max_by_key(|&(code, count)| (count, std::cmp::Reverse(code))).map(|(code, _)| code)
    }

    /// Number of rows.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Number of distinct codes.
    pub fn distinct(&self) -> usize {
        self.present.len()
    }

    /// Number of codes in the domain.
    pub fn domain_len(&self) -> usize {
        self.counts.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_is_removed_leaves_no_trace() {
        let mut counts = SaCounts::of(4, [1, 3, 1]);
        counts.remove(1);
        counts.remove(3);
        assert_eq!((counts.total(), counts.distinct(), counts.count(1), counts.count(3)), (1, 1, 1, 0));
        counts.add(3);
        assert_eq!(counts.iter().collect::<Vec<_>>(), [(1, 1), (3, 1)]);
    }

    #[test]
    fn difference_and_merge_undo_each_other() {
        let whole = SaCounts::of(5, [0, 0, 3, 4, 4, 4]);
        let part = SaCounts::of(5, [0, 4]);
        let mut rest = SaCounts::new(5);
        rest.set_difference(&whole, &part);
        assert_eq!((rest.total(), rest.distinct(), rest.count(4)), (4, 3, 2));
        let back = rest.merged(&part);
        assert!((0..5).all(|code| back.count(code) == whole.count(code)));
        assert_eq!(whole.most_frequent(), Some(4));
        rest.clear();
        assert_eq!((rest.total(), rest.count(3)), (0, 0));
    }
}

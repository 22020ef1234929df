//! What is kept of the sensitive values of groups: no more than the goal looks at.

use chrysalis_criteria::Principle;
use chrysalis_table::SaCounts;

use super::tuples::ByGroup;

/// What a goal looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    /// Nothing but sizes.
    Sizes,
    /// A minimum of rows and of distinct values. `words` words per group hold which values occur.
    Distinct { rows: u64, distinct: u32, words: usize },
    /// How often each value occurs.
    Counts,
}

/// Columns with more values than bits in this many words are counted instead.
const MOST_WORDS: usize = 4;

impl Needs {
    pub(super) fn of(goal: &dyn Principle, n_values: usize) -> Needs {
        let words = n_values.div_ceil(64);
        match goal.minimum() {
            _ if goal.is_size_only() => Needs::Sizes,
            // If some values do not count as different, it is not enough to know which occur.
            Some(least) if least.span.is_none() && least.apart <= 1 && words <= MOST_WORDS => {
                Needs::Distinct { rows: least.rows, distinct: u32::try_from(least.distinct).unwrap_or(u32::MAX), words }
            }
            _ => Needs::Counts,
        }
    }
}

/// The sensitive values of all groups of a node.
#[derive(Debug)]
pub(super) enum GroupContents {
    /// Size is all that matters.
    Nothing,
    /// Which values occur.
    Sets(Sets),
    /// How often each occurs.
    Values(Values),
}

impl GroupContents {
    /// The contents of groups of rows.
    pub(super) fn of_rows(
        needs: Needs,
        group_of: &[u32],
        n_groups: usize,
        n_values: usize,
        code: impl Fn(usize) -> u32,
    ) -> GroupContents {
        match needs {
            Needs::Sizes => GroupContents::Nothing,
            Needs::Distinct { words, .. } => {
                let mut sets = Sets { words, bits: vec![0; n_groups * words] };
                for (row, &group) in group_of.iter().enumerate() {
                    let code = code(row) as usize;
                    sets.bits[group as usize * words + code / 64] |= 1 << (code % 64);
                }
                GroupContents::Sets(sets)
            }
            Needs::Counts => {
                let mut values = Values::default();
                let mut counts = SaCounts::new(n_values);
                for members in &ByGroup::new(group_of, n_groups) {
                    members.iter().for_each(|&row| counts.add(code(row as usize)));
                    values.push(&counts);
                    counts.clear();
                }
                GroupContents::Values(values)
            }
        }
    }

    /// The contents of the groups of a higher node.
    pub(super) fn above(&self, group_of: &[u32], n_groups: usize, n_values: usize) -> GroupContents {
        match self {
            GroupContents::Nothing => GroupContents::Nothing,
            GroupContents::Sets(sets) => GroupContents::Sets(sets.above(group_of, n_groups)),
            GroupContents::Values(values) => {
                GroupContents::Values(values.above(group_of, n_groups, n_values, |_, _| true).unwrap_or_default())
            }
        }
    }

    /// How much memory it takes, in entries of its lists.
    pub(super) fn weight(&self) -> usize {
        match self {
            GroupContents::Nothing => 0,
            GroupContents::Sets(sets) => sets.bits.len(),
            GroupContents::Values(values) => values.counts.len(),
        }
    }

    /// An empty union, to which groups can be added.
    pub(super) fn union(&self, n_values: usize) -> Union {
        match self {
            GroupContents::Nothing => Union { rows: 0, bits: Vec::new(), counts: SaCounts::default() },
            GroupContents::Sets(sets) => Union { rows: 0, bits: vec![0; sets.words], counts: SaCounts::default() },
            GroupContents::Values(_) => Union { rows: 0, bits: Vec::new(), counts: SaCounts::new(n_values) },
        }
    }
}

/// Which values occur in every group: a bit for each.
#[derive(Debug)]
pub(super) struct Sets {
    words: usize,
    bits: Vec<u64>,
}

impl Sets {
    fn of(&self, group: usize) -> &[u64] {
        &self.bits[group * self.words..(group + 1) * self.words]
    }

    /// How many different values a group has.
    pub(super) fn n_distinct(&self, group: usize) -> u32 {
        n_ones(self.of(group))
    }

    /// The sets of the groups of a higher node.
    pub(super) fn above(&self, group_of: &[u32], n_groups: usize) -> Sets {
        let mut above = Sets { words: self.words, bits: vec![0; n_groups * self.words] };
        if self.words == 1 {
            group_of.iter().zip(&self.bits).for_each(|(&group, bits)| above.bits[group as usize] |= bits);
            return above;
        }
        for (&group, bits) in group_of.iter().zip(self.bits.chunks_exact(self.words.max(1))) {
            let set = &mut above.bits[group as usize * self.words..];
            set.iter_mut().zip(bits).for_each(|(word, more)| *word |= more);
        }
        above
    }
}

fn n_ones(bits: &[u64]) -> u32 {
    bits.iter().map(|word| word.count_ones()).sum()
}

/// The sensitive values of every group, with their counts, group after group.
#[derive(Debug, Default)]
pub(super) struct Values {
    ends: Vec<u32>,
    counts: Vec<(u32, u32)>,
}

/// A table of all counts of all groups may have this many entries for every value that the lower node holds.
const ENTRIES_PER_VALUE: usize = 4;

impl Values {
    fn of(&self, group: usize) -> &[(u32, u32)] {
        let start = if group == 0 { 0 } else { self.ends[group - 1] };
        &self.counts[start as usize..self.ends[group] as usize]
    }

    /// Adds the values of one group to others.
    pub(super) fn add_to(&self, group: usize, counts: &mut SaCounts) {
        self.of(group).iter().for_each(|&(code, n)| counts.add_many(code, n));
    }

    fn push(&mut self, group: &SaCounts) {
        // PROOF: a count is at most the number of rows, which fits 32 bits.
        self.counts.extend(group.iter().map(|(code, n)| (code, u32::try_from(n).unwrap_or(u32::MAX))));
        self.ends.push(self.counts.len() as u32);
    }

    /// Calls `visit` with the values of every group of a higher node, until it returns `false`. Returns them all if it
    /// never does.
    pub(super) fn above(
        &self,
        group_of: &[u32],
        n_groups: usize,
        n_values: usize,
        mut visit: impl FnMut(usize, &SaCounts) -> bool,
    ) -> Option<Values> {
        let is_small = n_groups.saturating_mul(n_values) <= ENTRIES_PER_VALUE * self.counts.len();
        let table = if is_small { self.table(group_of, n_groups, n_values) } else { Vec::new() };
        let by_group = (!is_small).then(|| ByGroup::new(group_of, n_groups));
        let mut values = Values::default();
        let mut counts = SaCounts::new(n_values);
        for group in 0..n_groups {
            match &by_group {
                Some(by_group) => {
                    by_group.group(group).iter().for_each(|&member| self.add_to(member as usize, &mut counts));
                }
                None => {
                    let row = &table[group * n_values..(group + 1) * n_values];
                    (0u32..).zip(row).for_each(|(code, &n)| counts.add_many(code, n));
                }
            }
            if !visit(group, &counts) {
                return None;
            }
            values.push(&counts);
            counts.clear();
        }
        Some(values)
    }

    /// How often every value occurs in every group of a higher node.
    fn table(&self, group_of: &[u32], n_groups: usize, n_values: usize) -> Vec<u32> {
        let mut table = vec![0u32; n_groups * n_values];
        for (member, &group) in group_of.iter().enumerate() {
            let row = &mut table[group as usize * n_values..(group as usize + 1) * n_values];
            self.of(member).iter().for_each(|&(code, n)| row[code as usize] += n);
        }
        table
    }
}

/// Several groups as one.
#[derive(Debug)]
pub(super) struct Union {
    rows: u64,
    bits: Vec<u64>,
    counts: SaCounts,
}

impl Union {
    /// Adds a group of a node whose values are `contents`.
    pub(super) fn add(&mut self, contents: &GroupContents, group: usize, size: u32) {
        self.rows += u64::from(size);
        match contents {
            GroupContents::Nothing => {}
            GroupContents::Sets(sets) => {
                self.bits.iter_mut().zip(sets.of(group)).for_each(|(word, more)| *word |= more)
            }
            GroupContents::Values(values) => values.add_to(group, &mut self.counts),
        }
    }

    /// Whether they pass as one group.
    pub(super) fn passes(&self, goal: &dyn Principle, needs: Needs) -> bool {
        match needs {
            Needs::Sizes => self.rows >= goal.least_size(),
            Needs::Distinct { rows, distinct, .. } => self.rows >= rows && n_ones(&self.bits) >= distinct,
            Needs::Counts => goal.holds(&self.counts),
        }
    }
}

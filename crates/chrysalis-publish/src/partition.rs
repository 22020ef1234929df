use crate::partitioner::KeptLabels;

/// Disjoint groups that cover every row.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    rows: Vec<u32>,
    ends: Vec<u32>,
    recoding: Option<Recoding>,
    kept: Option<KeptLabels>,
}

/// How groups are to be shown when a whole column is shown at one level of its taxonomy.
#[derive(Clone, Debug, PartialEq)]
pub struct Recoding {
    /// One per quasi attribute, in their order.
    pub levels: Vec<ShownLevel>,
    /// The group of suppressed rows, which shows every attribute at its top; it is always the last group.
    pub suppressed: Option<usize>,
    /// How far the search that chose the levels went.
    pub search: SearchReport,
}

/// The level at which an attribute is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownLevel {
    /// 0 for exact values.
    pub level: usize,
    /// The lowest level at which all values look the same; suppressed rows show it.
    pub top: usize,
}

/// How far a search went.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchReport {
    /// What was optimized, as written on the command line.
    pub metric: &'static str,
    /// What the chosen levels cost by this metric.
    pub cost: f64,
    /// Combinations of levels whose groups were formed and judged.
    pub checked: u64,
    /// All combinations there are.
    pub nodes: u128,
    /// Whether it is proven that no combination is better; `false` if the search was stopped early.
    pub proven: bool,
}

impl Partition {
    /// From row numbers, group after group, and the size of each group.
    pub fn new(rows: Vec<u32>, sizes: &[u32]) -> Self {
        let ends: Vec<u32> = sizes
            .iter()
            .scan(0, |end, size| {
                *end += size;
                Some(*end)
            })
            .collect();
        debug_assert_eq!(ends.last().copied().unwrap_or(0) as usize, rows.len());
        Partition { rows, ends, recoding: None, kept: None }
    }

    /// The same groups, to be shown at these levels.
    #[must_use]
    pub fn recoded(self, recoding: Recoding) -> Self {
        Partition { recoding: Some(recoding), ..self }
    }

    /// The same groups, which keep labels of an earlier release.
    #[must_use]
    pub fn keeping(self, kept: KeptLabels) -> Self {
        Partition { kept: Some(kept), ..self }
    }

    /// The labels that groups keep, if they were formed like those of an earlier release.
    pub fn kept(&self) -> Option<&KeptLabels> {
        self.kept.as_ref()
    }

    /// The levels at which attributes are shown, if the partitioner chose some.
    pub fn recoding(&self) -> Option<&Recoding> {
        self.recoding.as_ref()
    }

    /// Rows that are shown fully generalized because their own groups failed.
    pub fn n_suppressed(&self) -> u64 {
        let group = self.recoding.as_ref().and_then(|recoding| recoding.suppressed);
        group.map_or(0, |group| self.group(group).len() as u64)
    }

    /// Whether each of `n_rows` rows is in exactly one group, and no group is empty.
    pub(crate) fn covers_once(&self, n_rows: usize) -> bool {
        let mut is_seen = vec![false; n_rows];
        let is_first = |&row: &u32| is_seen.get_mut(row as usize).is_some_and(|seen| !std::mem::replace(seen, true));
        self.rows.len() == n_rows && self.groups().all(|group| !group.is_empty()) && self.rows.iter().all(is_first)
    }

    /// Number of groups.
    pub fn n_groups(&self) -> usize {
        self.ends.len()
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// All rows, group after group.
    pub fn into_rows(self) -> Vec<u32> {
        self.rows
    }

    /// The rows of a group, in no particular order.
    pub fn group(&self, index: usize) -> &[u32] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.rows[start as usize..self.ends[index] as usize]
    }

    /// All groups.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = &[u32]> + Clone {
        (0..self.n_groups()).map(|index| self.group(index))
    }

    /// The size of every group.
    pub fn sizes(&self) -> impl ExactSizeIterator<Item = u64> + Clone + '_ {
        self.groups().map(|group| group.len() as u64)
    }
}

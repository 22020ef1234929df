/// Disjoint groups that cover every row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    rows: Vec<u32>,
    ends: Vec<u32>,
}

impl Partition {
    /// From row numbers put group after group, and the size of each group.
    pub fn new(rows: Vec<u32>, sizes: &[u32]) -> Self {
        let ends: Vec<u32> = sizes
            .iter()
            .scan(0, |end, size| {
                *end += size;
                Some(*end)
            })
            .collect();
        debug_assert_eq!(ends.last().copied().unwrap_or(0) as usize, rows.len());
        Partition { rows, ends }
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

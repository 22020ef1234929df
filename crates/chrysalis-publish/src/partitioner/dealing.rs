//! How rows are dealt to groups by their sensitive values.

use chrysalis_criteria::{Clashes, Principle};
use chrysalis_table::{Code, SaCounts};

/// Which values are dealt as one, because they count as one, and which are missing, so that their rows protect nobody.
pub(super) struct Dealing {
    /// Empty where every value is dealt by itself.
    classes: Vec<Code>,
    /// Empty where no value is missing.
    is_missing: Vec<bool>,
    /// Empty where no value is ordinary: rows with such a value may stand in a group in any number.
    is_ordinary: Vec<bool>,
    /// What rows of a group should not have in common beside their class.
    clashes: Option<Clashes>,
}

impl Dealing {
    /// The classes and the missing values that a goal distinguishes, over a domain of `n_values` codes.
    pub(super) fn of(goal: &dyn Principle, n_values: usize) -> Dealing {
        let clashes = goal.clashes();
        let is_ordinary = goal.beside_ordinary().map_or_else(Vec::new, |(_, is_ordinary)| is_ordinary.to_vec());
        let Some(alike) = goal.alike() else {
            return Dealing { classes: Vec::new(), is_missing: Vec::new(), is_ordinary, clashes };
        };
        let mut is_missing: Vec<bool> = (0..n_values as Code).map(|code| alike.is_missing(code)).collect();
        if !is_missing.contains(&true) {
            is_missing.clear();
        }
        Dealing { classes: alike.classes(), is_missing, is_ordinary, clashes }
    }

    /// The code that stands for all codes that count as one with this one.
    pub(super) fn class(&self, code: Code) -> Code {
        self.classes.get(code as usize).copied().unwrap_or(code)
    }

    /// Whether the code stands for a missing value.
    pub(super) fn is_missing(&self, code: Code) -> bool {
        self.is_missing.get(code as usize).copied().unwrap_or(false)
    }

    /// Whether rows with this code may stand in a group in any number.
    pub(super) fn is_ordinary(&self, code: Code) -> bool {
        self.is_ordinary.get(code as usize).copied().unwrap_or(false)
    }

    /// What a row with this code should not share with others of its group; nothing where only its class matters.
    pub(super) fn keys(&self, code: Code) -> &[u32] {
        self.clashes.as_ref().map_or(&[], |clashes| clashes.keys(code))
    }

    /// The number of rows that have a value, and the size of the largest class among them.
    fn present(&self, counts: &SaCounts) -> (u64, u64) {
        if self.classes.is_empty() && self.is_missing.is_empty() {
            return (counts.total(), counts.max());
        }
        let mut classes: Vec<(Code, u64)> = counts
            .iter()
            .filter(|(code, _)| !self.is_missing(*code))
            .map(|(code, count)| (self.class(code), count))
            .collect();
        classes.sort_unstable();
        let of_class = |rows: &[(Code, u64)]| rows.iter().map(|(_, count)| count).sum::<u64>();
        let most = classes.chunk_by(|a, b| a.0 == b.0).map(of_class).max().unwrap_or(0);
        (of_class(&classes), most)
    }

    /// The number of rows with a value that a group starts with: as few as the goal allows, and no more than can have
    /// different values.
    pub(super) fn group_size(&self, goal: &dyn Principle, counts: &SaCounts) -> usize {
        let n = counts.total();
        let least = goal.least_size().clamp(1, n.max(1));
        let (present, most) = self.present(counts);
        let most = if goal.is_size_only() { n } else { present / most.max(1) };
        least.min(most).max(1) as usize
    }
}

/// Adds rows to groups. `order` and `sizes` are the groups, `joining` pairs of a group and a row. Returns all rows,
/// group after group, and the new sizes.
pub(super) fn joined(order: &[u32], sizes: &[u32], mut joining: Vec<(u32, u32)>) -> (Vec<u32>, Vec<u32>) {
    joining.sort_unstable();
    let mut joining = joining.into_iter().peekable();
    let mut all = Vec::with_capacity(order.len() + joining.len());
    let mut start = 0;
    let mut grown = Vec::with_capacity(sizes.len());
    for (group, &size) in (0u32..).zip(sizes) {
        let before = all.len();
        all.extend_from_slice(&order[start..start + size as usize]);
        start += size as usize;
        while let Some((_, place)) = joining.next_if(|&(joined, _)| joined == group) {
            all.push(place);
        }
        grown.push((all.len() - before) as u32);
    }
    (all, grown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_join_the_groups_they_name() {
        let (order, sizes) = joined(&[4, 1, 2, 0], &[2, 2], vec![(1, 5), (0, 3), (1, 6)]);
        assert_eq!((order, sizes), (vec![4, 1, 3, 2, 0, 5, 6], vec![3, 4]));
    }
}

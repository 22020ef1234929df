//! Columns that the owner shows together: an insider who knows one of them about a person learns about the other.
//!
//! Everything is counted from the published combinations, so nothing is estimated: the insider also knows the person's
//! group, and looks at the rows of this group that have the known value.

use super::finding::{Finding, counted, percent};

/// What knowing one column tells about another that is shown together with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Together {
    /// The column that the insider knows.
    pub known: String,
    /// The column that the insider learns about.
    pub learned: String,
    /// Published rows.
    pub rows: u64,
    /// Rows whose value follows from their group and the known value: all such rows have it.
    pub certain_rows: u64,
    /// Rows whose value follows from their group alone.
    pub certain_from_group: u64,
    /// How many rows the best bets are right about, given the group and the known value.
    pub right: u64,
    /// How many they are right about, given the group alone.
    pub right_from_group: u64,
}

/// One published combination, reduced to two columns: its group, the known value, the learned one, and its rows.
pub(crate) type Pair = (u32, u32, u32, u64);

impl Together {
    pub(crate) fn new(known: &str, learned: &str, mut pairs: Vec<Pair>) -> Together {
        pairs.sort_unstable();
        let (certain_rows, right, rows) = bets(&pairs, |a, b| (a.0, a.1) == (b.0, b.1));
        pairs.sort_unstable_by_key(|pair| (pair.0, pair.2));
        let (certain_from_group, right_from_group, _) = bets(&pairs, |a, b| a.0 == b.0);
        let (known, learned) = (known.to_owned(), learned.to_owned());
        Together { known, learned, rows, certain_rows, certain_from_group, right, right_from_group }
    }

    /// A part of the published rows.
    pub fn share(&self, rows: u64) -> f64 {
        rows as f64 / self.rows.max(1) as f64
    }

    /// The pair of columns that gives most away, in words.
    pub(crate) fn finding(all: &[Together]) -> Option<Finding> {
        let weight = |found: &&Together| (found.certain_rows, found.right - found.right_from_group);
        let worst = all.iter().rev().max_by_key(weight)?;
        let Together { known, learned, .. } = worst;
        let certain = match worst.certain_rows {
            0 => "for no row for certain".to_owned(),
            rows => format!("for certain for {} ({})", counted(rows, "row", "rows"), percent(worst.share(rows))),
        };
        let sentence = format!(
            "`{known}` and `{learned}` are shown together. Whoever knows the group of a person and their `{known}` learns their \
             `{learned}` {certain}, and bets right on {} of all rows, against {} from the group alone. Nothing is promised \
             about combinations.",
            percent(worst.share(worst.right)),
            percent(worst.share(worst.right_from_group)),
        );
        Some(Finding::new("together", sentence, "Show the columns apart."))
    }
}

/// The rows in runs with one learned value, the rows that the most frequent value of every run has, and all rows. Runs
/// are rows that the insider cannot tell apart, sorted by the learned value.
fn bets(pairs: &[Pair], is_same: impl Fn(&Pair, &Pair) -> bool) -> (u64, u64, u64) {
    let (mut certain, mut right, mut rows) = (0, 0, 0);
    for run in pairs.chunk_by(|a, b| is_same(a, b)) {
        let sums = run.chunk_by(|a, b| a.2 == b.2).map(|same| same.iter().map(|pair| pair.3).sum::<u64>());
        let sums: Vec<u64> = sums.collect();
        let all: u64 = sums.iter().sum();
        rows += all;
        right += sums.iter().max().copied().unwrap_or(0);
        certain += if sums.len() == 1 { all } else { 0 };
    }
    (certain, right, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two groups, typed in by hand: (0,0)×2, (0,1), (1,2) in one, (0,5)×3 in the other.
    #[test]
    fn what_an_insider_learns_is_counted() {
        let pairs = vec![(1, 0, 5, 3), (0, 1, 2, 1), (0, 0, 0, 2), (0, 0, 1, 1)];
        let found = Together::new("a", "b", pairs.clone());
        // The row with a = 1 and all rows of the second group have one b; bets on a = 0 are right for 2 of 3 rows.
        assert_eq!((found.rows, found.certain_rows, found.right), (7, 4, 6));
        // From the group alone: 2 of 4 rows, and 3 of 3.
        assert_eq!((found.certain_from_group, found.right_from_group), (3, 5));
        let back = Together::new("b", "a", pairs.iter().map(|&(group, a, b, n)| (group, b, a, n)).collect());
        // Every b has one a.
        assert_eq!((back.certain_rows, back.right, back.certain_from_group, back.right_from_group), (7, 7, 3, 6));
        let finding = Together::finding(&[found, back]).unwrap();
        let said = "`b` and `a` are shown together. Whoever knows the group of a person and their `b` learns their `a` for \
                    certain for 7 rows (100.0 %), and bets right on 100.0 % of all rows, against 85.7 % from the group \
                    alone. Nothing is promised about combinations.";
        assert_eq!(finding.sentence, said);
        assert_eq!(Together::finding(&[]), None);
    }
}

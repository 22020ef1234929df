//! Sensitive values under conditions on ranges and labels, from all groups together (step 9 of `spec.md`).

use std::sync::{Arc, OnceLock};

use super::Spreads;
use super::rows::{LearnedGroup, LearnedRows};
use super::totals::Chances;
use crate::aggregate::Pick;

/// Values are learned about in at most this many classes of about equally many rows: small values may be found elsewhere
/// than large ones. Every class costs a third of what learning about all rows does.
const CLASSES: usize = 2;

/// The values of one operand in classes, ascending.
#[derive(Debug, Default)]
pub(crate) struct ValueClasses {
    /// The greatest number of each class but the last.
    limits: Vec<f64>,
    /// Where the rows of each class are, if there are several.
    learned: Vec<Arc<Spreads>>,
}

/// For every hit of one row of an answer: how likely a row with each value is to be hit.
pub(crate) struct ValueChances {
    classes: Arc<ValueClasses>,
    of_classes: Vec<Arc<Chances>>,
    tilt: f64,
}

impl LearnedRows<'_> {
    /// What is learned about the values of an operand: the number behind every code, or none where there is but one.
    /// Where a sensitive attribute is in GROUP BY there is but one as well; otherwise they are the same for all rows of an
    /// answer.
    pub(crate) fn values(&self, numbers: &[Option<f64>], known: &OnceLock<Arc<ValueClasses>>) -> ValueChances {
        let classes = if self.has_sensitive_key() || numbers.is_empty() {
            Arc::default()
        } else {
            Arc::clone(known.get_or_init(|| Arc::new(self.classes(numbers))))
        };
        let of_classes = if classes.learned.is_empty() {
            vec![Arc::clone(&self.chances)]
        } else {
            self.chances_under(&classes.learned).into_iter().map(Arc::new).collect()
        };
        ValueChances { classes, of_classes, tilt: self.tilt }
    }

    fn classes(&self, numbers: &[Option<f64>]) -> ValueClasses {
        let mut rows = vec![0_u64; numbers.len()];
        let n_groups = self.hits.side.groups.len();
        let mut values: Vec<(usize, f64, u32)> = Vec::new();
        for group in 0..n_groups {
            let listed = self.hits.side.values.into_iter();
            for (code, count) in listed.flat_map(|listed| listed.passing(group, self.hits.side.test)) {
                if let Some(number) = numbers[code as usize] {
                    rows[code as usize] += u64::from(count);
                    values.push((group, number, count));
                }
            }
        }
        let counted = numbers.iter().zip(&rows).filter(|(_, rows)| **rows > 0);
        let mut counted: Vec<(f64, u64)> = counted.filter_map(|(number, rows)| Some(((*number)?, *rows))).collect();
        counted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let limits = limits(&counted);
        if limits.is_empty() {
            return ValueClasses::default();
        }
        let mut masses = vec![vec![0.0; n_groups]; limits.len() + 1];
        values.iter().for_each(|(group, number, count)| masses[class(&limits, *number)][*group] += f64::from(*count));
        let learned = masses.iter().map(|masses| Arc::new(self.spreads(|group| masses[group]))).collect();
        ValueClasses { limits, learned }
    }
}

/// Ascending numbers, each with how many rows have it, cut into classes of about equally many rows.
fn limits(counted: &[(f64, u64)]) -> Vec<f64> {
    let total: u64 = counted.iter().map(|(_, rows)| rows).sum();
    let (mut limits, mut passed) = (Vec::new(), 0);
    for pair in counted.windows(2) {
        passed += pair[0].1;
        // Equal numbers stay together.
        if pair[0].0 < pair[1].0 && passed * CLASSES as u64 >= total * (limits.len() as u64 + 1) {
            limits.push(pair[0].0);
        }
        if limits.len() + 1 == CLASSES {
            break;
        }
    }
    limits
}

fn class(limits: &[f64], number: f64) -> usize {
    limits.partition_point(|limit| *limit < number)
}

impl ValueChances {
    /// The values of the group of a hit, which is at this place among all.
    pub(crate) fn group(&self, at: usize, picks: &[Pick]) -> LearnedGroup {
        let chance = |pick: &Pick| self.of_classes[class(&self.classes.limits, pick.low)].of_hits[at];
        LearnedGroup::of_chances(picks.iter().map(chance).collect(), self.of_classes[0].drawn[at], self.tilt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_about_equally_many_rows_and_equal_numbers_stay_together() {
        let even: Vec<(f64, u64)> = (0..8).map(|at| (f64::from(at), 10)).collect();
        assert_eq!(limits(&even), [3.0]);
        let places: Vec<usize> = even.iter().map(|(number, _)| class(&[3.0], *number)).collect();
        assert_eq!(places, [0, 0, 0, 0, 1, 1, 1, 1]);
        assert_eq!(limits(&[(1.0, 97), (2.0, 2), (3.0, 1)]), [1.0]);
        assert_eq!(limits(&[(7.0, 5), (7.0, 5), (8.0, 1)]), [7.0]);
        assert!(limits(&[(7.0, 5)]).is_empty() && limits(&[]).is_empty());
    }
}

//! The result of an attack, in words for readers who do not know the papers.

use std::cmp::Ordering;

use chrysalis_table::exact::BigRational;
use rayon::iter::ParallelIterator;

use crate::measure::{Fraction, Group, GroupCounts, to_float};
use crate::promise::show;

/// The most groups that a finding lists.
const LISTED: usize = 5;

/// The result of an attack: who can mount it, how many people it reaches, how sure it is, and what would prevent it.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Which attack: `linking`, `row_linking`, `presence`, `similarity`, `background`, `learned`, `minimality`, `replay`,
    /// `republishing`, `subtraction`, `extremes`, `bystander`, `insider`, `joining`, `together`, `intersection`, `series` or `pooling`.
    pub attack: &'static str,
    /// Whether it was run; where it was not, the sentence says why.
    pub was_run: bool,
    /// One or two sentences.
    pub sentence: String,
    /// What would prevent it; empty where nothing needs preventing.
    pub prevention: String,
    /// The groups it hits hardest, worst first, at most five.
    pub worst_groups: Vec<WorstGroup>,
}

/// A group that an attack hits hard.
#[derive(Clone, Debug, PartialEq)]
pub struct WorstGroup {
    /// Its id; absent for classes, buckets and others without one.
    pub id: Option<i64>,
    /// Its rows.
    pub rows: u64,
    /// How sure the attacker is there, from 0 to 1.
    pub level: f64,
    /// The same, exactly where it is exact.
    pub level_text: String,
}

impl WorstGroup {
    /// A group whose level is a fraction.
    pub(crate) fn exact(id: Option<i64>, rows: u64, level: &BigRational) -> WorstGroup {
        WorstGroup { id, rows, level: to_float(Some(level)), level_text: show(level) }
    }
}

impl Finding {
    pub(crate) fn new(attack: &'static str, sentence: impl Into<String>, prevention: impl Into<String>) -> Finding {
        Finding {
            attack,
            was_run: true,
            sentence: sentence.into(),
            prevention: prevention.into(),
            worst_groups: Vec::new(),
        }
    }

    /// An attack that says nothing about this release, and why.
    pub(crate) fn not_run(attack: &'static str, reason: impl Into<String>) -> Finding {
        Finding { was_run: false, ..Finding::new(attack, reason, "") }
    }

    pub(crate) fn with_groups(self, worst_groups: Vec<WorstGroup>) -> Finding {
        Finding { worst_groups, ..self }
    }
}

/// The groups with the highest levels; ties go to the groups that come first.
pub(crate) fn worst_groups(
    sample: &GroupCounts,
    ids: &[Option<i64>],
    level: impl Fn(Group<'_>) -> Fraction + Sync,
) -> Vec<WorstGroup> {
    let levels: Vec<(Fraction, usize)> = sample.groups().map(|(index, group)| (level(group), index)).collect();
    let order = |a: &(Fraction, usize), b: &(Fraction, usize)| b.0.compare(&a.0).then(a.1.cmp(&b.1));
    let shown = |(level, index): (Fraction, usize)| {
        let (id, rows) = (ids.get(index).copied().flatten(), sample.sizes()[index]);
        match level.exact() {
            Some(level) => WorstGroup::exact(id, rows, &level),
            None => WorstGroup { id, rows, level: f64::INFINITY, level_text: "unbounded".to_owned() },
        }
    };
    foremost(levels, order).into_iter().map(shown).collect()
}

/// The first few of a list in some order.
pub(crate) fn foremost<T>(mut all: Vec<T>, order: impl Fn(&T, &T) -> Ordering) -> Vec<T> {
    if all.len() > LISTED {
        all.select_nth_unstable_by(LISTED, &order);
        all.truncate(LISTED);
    }
    all.sort_by(order);
    all
}

/// `1234567` as `1,234,567`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let comma = |at: usize| if at > 0 && (digits.len() - at).is_multiple_of(3) { "," } else { "" };
    digits.char_indices().map(|(at, digit)| format!("{}{digit}", comma(at))).collect()
}

/// `1 row`, `2,000 rows`.
pub(crate) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// `12.5 %`.
pub(crate) fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.000_95 { format!("{:.3} %", 100.0 * share) } else { format!("{:.1} %", 100.0 * share) }
}

/// A chance for people to read: `25.0 %`, with the fraction where that is more precise.
pub(crate) fn chance(exact: &BigRational) -> String {
    let text = show(exact);
    let share = percent(to_float(Some(exact)));
    if text.contains('/') { format!("{share} ({text})") } else { share }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(counted(1, "row", "rows"), "1 row");
        assert_eq!(counted(1_234_567, "row", "rows"), "1,234,567 rows");
        assert_eq!((percent(0.25), percent(0.000_2)), ("25.0 %".into(), "0.020 %".into()));
        assert_eq!(chance(&BigRational::new(1.into(), 3.into())), "33.3 % (1/3)");
        assert_eq!(chance(&BigRational::new(1.into(), 4.into())), "25.0 %");
    }

    #[test]
    fn the_first_few_come_in_order() {
        assert_eq!(foremost(vec![3, 9, 1, 7, 5, 8, 2], |a, b| b.cmp(a)), [9, 8, 7, 5, 3]);
        assert_eq!(foremost(vec![2, 1], i32::cmp), [1, 2]);
    }
}

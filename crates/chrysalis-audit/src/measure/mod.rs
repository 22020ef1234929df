//! The levels that groups reach, measured independently of the code that formed them.
//!
//! A [`GroupCounts`] holds the sensitive values of every group; each function finds the worst group and its level, as
//! an exact [`Fraction`] or whole number.
//!
//! Rows are numbered in 32 bits. That is what makes 128-bit arithmetic exact below: a group's size n and the table's
//! N stay under 2³², their product under 2⁶⁴, and a sum over the values of a column under 2⁹⁶.

mod distance;
mod entropy;
mod frequency;
mod weights;

#[cfg(test)]
mod tests;

pub use distance::{Ground, closeness};
pub use entropy::{Decision, effective_values, entropy_at_least, entropy_floor, least_entropy};
pub use frequency::{distinct, gain, ratio, recursive, recursive_ratio, share, smallest};
pub use weights::{Categories, distinct_numbers, least_weight, span};

use std::cmp::Ordering;

use chrysalis_table::exact::{self, BigRational};
use chrysalis_table::{Code, Codes, each_width};
use num_bigint::BigInt;
use rayon::prelude::*;

use crate::Groups;

/// The sensitive values of every group, and of the whole table.
#[derive(Clone, Debug)]
pub struct GroupCounts {
    starts: Vec<usize>,
    ends: Vec<usize>,
    values: Vec<(Code, u32)>,
    sizes: Vec<u64>,
    whole: Vec<u64>,
    /// Rows of the whole table, where these are not all groups of it.
    rows_of_whole: Option<u64>,
}

/// The sensitive values of one group: every code that occurs with its count, ascending by code.
#[derive(Clone, Copy, Debug)]
pub struct Group<'a> {
    /// Rows of the group.
    pub size: u64,
    /// Codes and counts.
    pub values: &'a [(Code, u32)],
}

impl Group<'_> {
    /// The counts alone.
    pub fn counts(&self) -> impl Iterator<Item = u64> + Clone + '_ {
        self.values.iter().map(|&(_, count)| u64::from(count))
    }

    /// The largest count.
    pub fn max(&self) -> u64 {
        self.counts().max().unwrap_or(0)
    }

    /// The smallest count.
    pub fn min(&self) -> u64 {
        self.counts().min().unwrap_or(0)
    }
}

/// The worst level of all groups, and the first group that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worst<T> {
    /// The level.
    pub level: T,
    /// The group's number.
    pub group: usize,
}

impl GroupCounts {
    /// Counts the codes of every group; all codes are below `n_codes`.
    pub fn new(groups: &Groups, codes: &Codes, n_codes: usize) -> GroupCounts {
        let sizes = groups.sizes();
        let mut starts = Vec::with_capacity(sizes.len());
        let mut next = 0;
        for &size in &sizes {
            starts.push(next);
            next += size as usize;
        }
        let (by_code, whole) = rows_by_code(codes, n_codes);
        let mut ends = starts.clone();
        let mut values = vec![(0, 0); next];
        // Rows come in the order of their codes, so every group's stretch ascends and equal codes are adjacent.
        for row in by_code {
            let group = groups.of_row[row as usize] as usize;
            let code = codes.get(row as usize);
            let (start, end) = (starts[group], &mut ends[group]);
            if *end > start && values[*end - 1].0 == code {
                values[*end - 1].1 += 1;
            } else {
                values[*end] = (code, 1);
                *end += 1;
            }
        }
        GroupCounts { starts, ends, values, sizes, whole, rows_of_whole: None }
    }

    /// The same from existing counts, as (group, code, count). Together they must stay below 2³².
    pub fn from_counts(n_groups: usize, n_codes: usize, mut lines: Vec<(u32, Code, u32)>) -> GroupCounts {
        lines.sort_unstable();
        lines.dedup_by(|next, kept| {
            let is_same = (next.0, next.1) == (kept.0, kept.1);
            if is_same {
                kept.2 += next.2;
            }
            is_same
        });
        let first = |group: usize| lines.partition_point(|line| (line.0 as usize) < group);
        let starts: Vec<usize> = (0..n_groups).map(first).collect();
        let ends: Vec<usize> = (1..=n_groups).map(first).collect();
        let (mut sizes, mut whole) = (vec![0; n_groups], vec![0; n_codes]);
        for &(group, code, count) in &lines {
            sizes[group as usize] += u64::from(count);
            whole[code as usize] += u64::from(count);
        }
        let values = lines.into_iter().map(|(_, code, count)| (code, count)).collect();
        GroupCounts { starts, ends, values, sizes, whole, rows_of_whole: None }
    }

    /// The same values out of other sizes: of persons, who may have several values each.
    pub(crate) fn with_sizes(self, sizes: Vec<u64>) -> GroupCounts {
        GroupCounts { sizes, ..self }
    }

    /// The same groups, as some of those of a larger table: how often each code occurs there. Together it stays below 2³².
    pub(crate) fn within(self, whole: Vec<u64>) -> GroupCounts {
        let rows_of_whole = Some(whole.iter().sum());
        GroupCounts { whole, rows_of_whole, ..self }
    }

    /// Rows of the whole table.
    pub fn rows(&self) -> u64 {
        self.rows_of_whole.unwrap_or_else(|| self.sizes.iter().sum())
    }

    /// How often each code occurs in the whole table.
    pub fn whole(&self) -> &[u64] {
        &self.whole
    }

    /// Number of rows in every group.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// One group.
    pub fn group(&self, index: usize) -> Group<'_> {
        Group { size: self.sizes[index], values: &self.values[self.starts[index]..self.ends[index]] }
    }

    /// The groups that have rows, with their numbers.
    pub fn groups(&self) -> impl ParallelIterator<Item = (usize, Group<'_>)> {
        let all = (0..self.sizes.len()).into_par_iter().with_min_len(512);
        all.map(|index| (index, self.group(index))).filter(|(_, group)| group.size > 0)
    }

    /// The group whose level is greatest in an order from good to bad; the first of several.
    ///
    /// `None` when there are no rows.
    pub fn worst<T: Send>(
        &self,
        level: impl Fn(Group<'_>) -> T + Sync,
        badness: impl Fn(&T, &T) -> Ordering + Sync,
    ) -> Option<Worst<T>> {
        let levels = self.groups().map(|(index, group)| Worst { level: level(group), group: index });
        levels.reduce_with(
            |first, second| {
                if badness(&second.level, &first.level) == Ordering::Greater { second } else { first }
            },
        )
    }
}

/// All rows, ascending by code, and how often each code occurs.
fn rows_by_code(codes: &Codes, n_codes: usize) -> (Vec<u32>, Vec<u64>) {
    let mut whole = vec![0u64; n_codes];
    each_width!(codes, codes => codes.iter().for_each(|&code| whole[code as usize] += 1));
    let mut next = 0;
    let mut places: Vec<usize> = whole
        .iter()
        .map(|&count| {
            next += count as usize;
            next - count as usize
        })
        .collect();
    let mut rows = vec![0; codes.len()];
    each_width!(codes, codes => {
        for (row, &code) in (0..).zip(codes) {
            rows[places[code as usize]] = row;
            places[code as usize] += 1;
        }
    });
    (rows, whole)
}

/// A level as numerator over denominator; over zero it is infinite.
///
/// Fractions of one measure are compared by cross multiplication, so their products must fit 128 bits.
#[derive(Clone, Copy, Debug)]
pub struct Fraction {
    /// What is counted.
    pub numerator: u128,
    /// Of how many.
    pub denominator: u128,
}

impl Fraction {
    /// A fraction that need not be in lowest terms.
    pub fn new(numerator: u128, denominator: u128) -> Fraction {
        Fraction { numerator, denominator }
    }

    /// Compares two fractions.
    pub fn compare(&self, other: &Fraction) -> Ordering {
        (self.numerator * other.denominator).cmp(&(other.numerator * self.denominator))
    }

    /// The fraction in lowest terms; `None` when it is infinite.
    pub fn exact(&self) -> Option<BigRational> {
        let whole = |number: u128| BigInt::from(number);
        (self.denominator > 0).then(|| BigRational::new(whole(self.numerator), whole(self.denominator)))
    }
}

/// The nearest float; infinite for `None`.
pub fn to_float(level: Option<&BigRational>) -> f64 {
    level.map_or(f64::INFINITY, exact::to_float)
}

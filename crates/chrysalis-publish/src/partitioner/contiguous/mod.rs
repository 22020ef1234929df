//! Partitions of the sorted sensitive values (ke, section 6); see `spec.md` for the steps that the comments number.

mod exact;
mod passes;
#[cfg(test)]
mod tests;

use chrysalis_criteria::principle::spans;
use chrysalis_criteria::{Minimum, Principle};
use chrysalis_table::{Column, Domain, Progress, each_width};
use rand::CryptoRng;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::Partitioner;
use crate::{Microdata, Partition, PublishError};
use exact::Problem;
use passes::Line;

/// What the groups of sorted values should be best at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BySensitive {
    /// The least sum of ranges (ke 6.1).
    MinSum,
    /// The least largest range among contiguous groups (ke 6.2, at most twice the best).
    MinMax,
    /// The least largest range among all groups (ke 6.2).
    MinMaxExact,
    /// The most contiguous groups (ke 7).
    MaxGroups,
}

impl Partitioner for BySensitive {
    fn name(&self) -> &'static str {
        match self {
            BySensitive::MinSum => "min-sum",
            BySensitive::MinMax => "min-max",
            BySensitive::MinMaxExact => "min-max-exact",
            BySensitive::MaxGroups => "max-groups",
        }
    }

    fn partition(
        &self,
        data: &Microdata,
        goal: &dyn Principle,
        rng: &mut dyn CryptoRng,
        progress: Progress<'_>,
    ) -> Result<Partition, PublishError> {
        let (column, minimum) = self.check(data, goal)?;
        let sorted = Sorted::new(column, minimum);
        let partition = match self {
            BySensitive::MinMaxExact => sorted.exact(rng),
            BySensitive::MinSum => passes::min_sum(&sorted).map(|ends| sorted.contiguous(&ends, rng)),
            BySensitive::MinMax => passes::min_max(&sorted).map(|ends| sorted.contiguous(&ends, rng)),
            BySensitive::MaxGroups => passes::max_groups(&sorted).map(|ends| sorted.contiguous(&ends, rng)),
        };
        progress(data.rows() as u64);
        partition.ok_or_else(|| {
            PublishError::Internal(format!("{} found no partition of a table that has one", self.name()))
        })
    }
}

impl BySensitive {
    /// Step 1.
    fn check<'a>(&self, data: &'a Microdata, goal: &dyn Principle) -> Result<(&'a Column, Minimum), PublishError> {
        let name = self.name();
        let column = data.sensitive().ok_or_else(|| {
            PublishError::Request(format!("`{name}` sorts by the sensitive column, and none is named"))
        })?;
        let domain = column.domain();
        if !domain.kind().is_numeric() {
            let problem =
                format!("`{name}` needs a numeric sensitive column, `{}` is {}", column.name(), domain.kind());
            return Err(PublishError::Request(problem));
        }
        if domain.has_missing() {
            let problem =
                format!("`{name}` cannot place rows whose `{}` is missing; use --missing drop", column.name());
            return Err(PublishError::Request(problem));
        }
        let minimum = goal.minimum().ok_or_else(|| {
            PublishError::Request(format!("`{name}` forms groups for ke, k and distinct-l only, not for {goal}"))
        })?;
        if *self == BySensitive::MinMaxExact && minimum.rows > minimum.distinct {
            let problem =
                format!("`{name}` counts distinct values: it cannot promise {} rows beyond them", minimum.rows);
            return Err(PublishError::Request(problem));
        }
        Ok((column, minimum))
    }
}

/// A counting sort of so many values stays within fast memory.
const FEW_VALUES: usize = 1 << 16;

/// Rows in order of their sensitive value.
pub(crate) struct Sorted {
    rows: Vec<u32>,
    /// The code of each row, in that order.
    codes: Vec<u32>,
    /// The number behind each code.
    values: Vec<f64>,
    /// For every code the first one far enough above it; the number of codes where there is none.
    reach: Vec<usize>,
    minimum: Minimum,
}

impl Sorted {
    /// Rows with equal values in random order.
    pub(crate) fn shuffled(column: &Column, minimum: Minimum, rng: &mut dyn CryptoRng) -> Self {
        let mut sorted = Sorted::new(column, minimum);
        let mut rows = &mut sorted.rows[..];
        for run in sorted.codes.chunk_by(|a, b| a == b) {
            let (here, after) = rows.split_at_mut(run.len());
            // LEAK: sorting keeps the input's order among equal values.
            here.shuffle(rng);
            rows = after;
        }
        sorted
    }

    pub(crate) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The code of each row, in that order.
    pub(crate) fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// Whether the rows from `start` up to, not including, `end` reach the least numbers.
    pub(crate) fn reaches_minimum(&self, start: usize, end: usize) -> bool {
        self.may_be_group(start, end)
    }

    /// Step 2.
    fn new(column: &Column, minimum: Minimum) -> Self {
        let domain = column.domain();
        let ((rows, codes), (values, reach)) = rayon::join(
            || if domain.len() <= FEW_VALUES { counted(column) } else { compared(column) },
            || {
                let values = (0..domain.len() as u32).map(|code| domain.position(code).unwrap_or(0.0)).collect();
                (values, reach(domain, minimum))
            },
        );
        Sorted { rows, codes, values, reach, minimum }
    }

    /// Step 4 for contiguous groups.
    fn contiguous(mut self, ends: &[usize], rng: &mut dyn CryptoRng) -> Partition {
        for &end in &ends[..ends.len() - 1] {
            // LEAK: which of several rows with one value stand left of a border must not depend on the input's order.
            if self.codes[end - 1] == self.codes[end] {
                let run = self.run(self.codes[end]);
                self.rows[run].shuffle(rng);
            }
        }
        let sizes: Vec<u32> = ends
            .iter()
            .scan(0, |start, &end| {
                let size = end - *start;
                *start = end;
                Some(size as u32)
            })
            .collect();
        Partition::new(self.rows, &sizes)
    }

    /// The rows that have a code.
    fn run(&self, code: u32) -> std::ops::Range<usize> {
        self.codes.partition_point(|&other| other < code)..self.codes.partition_point(|&other| other <= code)
    }

    /// Steps 3 and 4 for groups that may overlap.
    fn exact(&self, rng: &mut dyn CryptoRng) -> Option<Partition> {
        let n_codes = self.values.len();
        let copies: Vec<u64> = (0..n_codes as u32).map(|code| self.run(code).len() as u64).collect();
        let problem = Problem {
            values: &self.values,
            copies: &copies,
            distinct: self.minimum.distinct as usize,
            reach: &self.reach,
        };
        let (_, groups) = problem.solve()?;
        let mut groups_of: Vec<Vec<usize>> = vec![Vec::new(); n_codes];
        for (group, values) in groups.iter().enumerate() {
            values.iter().for_each(|&value| groups_of[value].push(group));
        }
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); groups.len()];
        for (code, groups) in (0u32..).zip(&groups_of) {
            let mut rows = self.rows[self.run(code)].to_vec();
            rows.shuffle(rng);
            // One copy to every group that has the value, spare ones in turn.
            for (row, &group) in rows.into_iter().zip(groups.iter().cycle()) {
                members[group].push(row);
            }
        }
        let sizes: Vec<u32> = members.iter().map(|rows| rows.len() as u32).collect();
        Some(Partition::new(members.concat(), &sizes))
    }
}

/// Rows and codes by a counting sort, for few values.
fn counted(column: &Column) -> (Vec<u32>, Vec<u32>) {
    let counts = column.histogram();
    let starts = counts.iter().scan(0, |start, &n| {
        *start += n as usize;
        Some(*start - n as usize)
    });
    let mut next: Vec<usize> = starts.collect();
    let mut rows = vec![0; column.codes().len()];
    each_width!(column.codes(), codes => {
        for (row, &code) in (0u32..).zip(codes) {
            let place = &mut next[code as usize];
            rows[*place] = row;
            *place += 1;
        }
    });
    (rows, (0u32..).zip(&counts).flat_map(|(code, &n)| std::iter::repeat_n(code, n as usize)).collect())
}

/// The same by comparing: with many values, counting would jump about in memory once per row.
fn compared(column: &Column) -> (Vec<u32>, Vec<u32>) {
    let mut keys: Vec<u64> = each_width!(column.codes(), codes => {
        (0u64..).zip(codes).map(|(row, &code)| u64::from(code) << 32 | row).collect()
    });
    keys.par_sort_unstable();
    rayon::join(
        || keys.par_iter().map(|&key| key as u32).collect(),
        || keys.par_iter().map(|&key| (key >> 32) as u32).collect(),
    )
}

/// Two pointers over the distinct values, each comparison exact.
fn reach(domain: &Domain, minimum: Minimum) -> Vec<usize> {
    let values = domain.values();
    let mut high = 0;
    (0..values.len())
        .map(|low| {
            high = high.max(low);
            while high < values.len() && minimum.span.is_some_and(|span| !spans(&values[low], &values[high], span)) {
                high += 1;
            }
            high
        })
        .collect()
}

impl Line for Sorted {
    fn len(&self) -> usize {
        self.codes.len()
    }

    fn value(&self, at: usize) -> f64 {
        self.values[self.codes[at] as usize]
    }

    fn may_be_group(&self, start: usize, end: usize) -> bool {
        let (low, high) = (self.codes[start] as usize, self.codes[end - 1] as usize);
        let distinct = (high - low + 1) as u64;
        (end - start) as u64 >= self.minimum.rows && distinct >= self.minimum.distinct && self.reach[low] <= high
    }
}

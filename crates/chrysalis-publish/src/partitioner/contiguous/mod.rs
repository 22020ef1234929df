//! Partitions of the sorted sensitive values (ke, section 6); see `spec.md` for the steps that the comments number.

mod exact;
mod passes;
#[cfg(test)]
mod tests;

use chrysalis_criteria::principle::spans;
use chrysalis_criteria::{Minimum, Principle};
use chrysalis_table::{Column, Domain, Knob, Progress, Remedy, each_width};
use rand::CryptoRng;
use rand::seq::SliceRandom;

use super::{Compact, Partitioner};
use crate::{Microdata, Partition, PublishError};
use exact::Problem;
use passes::Line;

/// What the groups of sorted values should optimize.
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
        if data.is_combined() {
            return self.of_several(data, goal, rng, progress);
        }
        let (column, minimum) = self.check(data, goal)?;
        let apart = goal.alike().filter(|_| minimum.apart > 1).map_or(&[][..], |alike| alike.reach());
        let sorted = SortedRows::new(column, minimum, apart);
        let partition = match self {
            BySensitive::MinMaxExact => sorted.exact(rng)?,
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
    /// Several columns cannot all be sorted at once: groups that are close in all of them are sought as in `compact`,
    /// with the sensitive columns in place of the quasi-identifier.
    fn of_several(
        &self,
        data: &Microdata,
        goal: &dyn Principle,
        rng: &mut dyn CryptoRng,
        progress: Progress<'_>,
    ) -> Result<Partition, PublishError> {
        if *self != BySensitive::MinSum {
            let problem = format!(
                "`{}` sorts rows by one sensitive column: it takes neither several of them nor persons with several rows",
                self.name()
            );
            let remedy = Remedy::from("use ").knob(Knob::Partitioner, BySensitive::MinSum.name());
            return Err(PublishError::remedied(problem, remedy));
        }
        Compact.partition(&data.by_sensitive(), goal, rng, progress)
    }

    /// Step 1.
    fn check<'a>(&self, data: &'a Microdata, goal: &dyn Principle) -> Result<(&'a Column, Minimum), PublishError> {
        let name = self.name();
        let column = data.sensitive().ok_or_else(|| {
            PublishError::request(format!("`{name}` sorts by the sensitive column, but none is named"))
        })?;
        let domain = column.domain();
        if !domain.kind().is_numeric() {
            let problem =
                format!("`{name}` needs a numeric sensitive column, but `{}` is {}", column.name(), domain.kind());
            return Err(PublishError::request(problem));
        }
        if domain.has_missing() {
            let problem = format!("`{name}` cannot place rows whose `{}` is missing", column.name());
            return Err(PublishError::remedied(problem, Remedy::from("use ").knob(Knob::Missing, "drop")));
        }
        let minimum = goal.minimum().ok_or_else(|| {
            PublishError::request(format!("`{name}` forms groups for ke, k and distinct-l only, not for {goal}"))
        })?;
        if *self == BySensitive::MinMaxExact && minimum.rows > minimum.distinct {
            let problem =
                format!("`{name}` counts distinct values: it cannot promise {} rows beyond them", minimum.rows);
            return Err(PublishError::request(problem));
        }
        if *self == BySensitive::MinMaxExact && minimum.apart > 1 {
            let problem = format!(
                "`{name}` counts distinct values: it cannot keep numbers apart that are near each other, as {goal} asks here"
            );
            let remedy = Remedy::from("use ").knob(Knob::Partitioner, BySensitive::MinMax.name());
            return Err(PublishError::remedied(problem, remedy));
        }
        Ok((column, minimum))
    }
}

/// The most steps that `min-max-exact` may take before it is refused: about a minute.
const MOST_STEPS: f64 = 3e8;
/// A counting sort by digits of this many bits stays within fast memory; a single pass may use a few more.
const DIGIT_BITS: u32 = 12;
const MOST_DIGIT_BITS: u32 = 16;

/// Rows in order of their sensitive value.
pub(crate) struct SortedRows {
    /// The number behind each code.
    values: Vec<f64>,
    /// Code and row, from the lowest code up.
    keys: Vec<Key>,
    /// For every code, the first one far enough above it; the number of codes if there is none.
    reach: Vec<u32>,
    minimum: Minimum,
}

/// A code in the upper half of a number, and a row in the lower.
#[derive(Clone, Copy)]
pub(crate) struct Key(u64);

impl Key {
    pub(crate) fn row(self) -> u32 {
        self.0 as u32
    }

    pub(crate) fn code(self) -> u32 {
        (self.0 >> u32::BITS) as u32
    }
}

impl SortedRows {
    /// Sorted rows, those with equal values in random order.
    pub(crate) fn shuffled(column: &Column, minimum: Minimum, rng: &mut dyn CryptoRng) -> Self {
        let mut sorted = SortedRows::new(column, minimum, &[]);
        // LEAK: sorting keeps the input's order among equal values, so these are shuffled.
        sorted.keys.chunk_by_mut(|a, b| a.code() == b.code()).for_each(|run| run.shuffle(rng));
        sorted
    }

    pub(crate) fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Whether the rows from `start` up to, not including, `end` reach the minimum numbers.
    pub(crate) fn reaches_minimum(&self, start: usize, end: usize) -> bool {
        self.may_be_group(start, end)
    }

    /// Step 2.
    fn new(column: &Column, minimum: Minimum, apart: &[u32]) -> Self {
        let domain = column.domain();
        let numbers = || (0..domain.len() as u32).map(|code| domain.position(code).unwrap_or(0.0)).collect();
        let (keys, (values, reach)) =
            rayon::join(|| sorted_keys(column), || (numbers(), reach(domain, minimum, apart)));
        SortedRows { values, keys, reach, minimum }
    }

    /// Step 4 for contiguous groups.
    fn contiguous(mut self, ends: &[usize], rng: &mut dyn CryptoRng) -> Partition {
        for &end in &ends[..ends.len() - 1] {
            // LEAK: which of several rows with one value stand left of a border must not depend on the input's order.
            let code = self.keys[end].code();
            if self.keys[end - 1].code() == code {
                let run = self.run(code);
                self.keys[run].shuffle(rng);
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
        Partition::new(self.keys.iter().map(|key| key.row()).collect(), &sizes)
    }

    /// The rows that have a code.
    fn run(&self, code: u32) -> std::ops::Range<usize> {
        self.keys.partition_point(|key| key.code() < code)..self.keys.partition_point(|key| key.code() <= code)
    }

    /// Steps 3 and 4 for groups that may overlap.
    fn exact(&self, rng: &mut dyn CryptoRng) -> Result<Option<Partition>, PublishError> {
        let n_codes = self.values.len();
        let reach: Vec<usize> = self.reach.iter().map(|&code| code as usize).collect();
        let copies: Vec<u64> = (0..n_codes as u32).map(|code| self.run(code).len() as u64).collect();
        let problem =
            Problem { values: &self.values, copies: &copies, distinct: self.minimum.distinct as usize, reach: &reach };
        // Contiguous groups are a solution too, so their largest range need not be exceeded.
        let Some(ends) = passes::min_max(self) else { return Ok(None) };
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let ranges = starts.zip(&ends).map(|(start, &end)| self.value(end - 1) - self.value(start));
        let most = ranges.fold(0.0, f64::max);
        if problem.steps(most) > MOST_STEPS {
            let problem = format!(
                "`min-max-exact` would take too long: too many of {n_codes} values lie within {most} of each other; \
                 use `min-max`, whose largest range is at most twice as large"
            );
            return Err(PublishError::request(problem));
        }
        let Some((_, groups)) = problem.solve(most) else { return Ok(None) };
        let mut groups_of: Vec<Vec<usize>> = vec![Vec::new(); n_codes];
        for (group, values) in groups.iter().enumerate() {
            values.iter().for_each(|&value| groups_of[value].push(group));
        }
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); groups.len()];
        for (code, groups) in (0u32..).zip(&groups_of) {
            let mut rows: Vec<u32> = self.keys[self.run(code)].iter().map(|key| key.row()).collect();
            rows.shuffle(rng);
            // One row for every group that has the value; spare rows go to these groups in turn.
            for (row, &group) in rows.into_iter().zip(groups.iter().cycle()) {
                members[group].push(row);
            }
        }
        let sizes: Vec<u32> = members.iter().map(|rows| rows.len() as u32).collect();
        Ok(Some(Partition::new(members.concat(), &sizes)))
    }
}

/// A counting sort, digit by digit: with many values, counting them at once would jump about in memory.
fn sorted_keys(column: &Column) -> Vec<Key> {
    let n_bits = (column.domain().len() as u64).next_power_of_two().trailing_zeros();
    let digit_bits = if n_bits <= MOST_DIGIT_BITS { n_bits.max(1) } else { DIGIT_BITS };
    let n_digits = 1 << digit_bits;
    let digit = |shift: u32| move |key: Key| (key.code() >> shift) as usize & (n_digits - 1);
    let mut keys = vec![Key(0); column.codes().len()];
    each_width!(column.codes(), codes => {
        let unsorted = (0u64..).zip(codes).map(|(row, &code)| Key(u64::from(code) << u32::BITS | row));
        scatter(unsorted, &mut keys, n_digits, digit(0));
    });
    let mut sorted = Vec::new();
    for shift in (digit_bits..n_bits).step_by(digit_bits as usize) {
        sorted.resize(keys.len(), Key(0));
        scatter(keys.iter().copied(), &mut sorted, n_digits, digit(shift));
        std::mem::swap(&mut keys, &mut sorted);
    }
    keys
}

/// Puts keys in the order of a digit; keys with the same digit keep their order.
fn scatter(keys: impl Iterator<Item = Key> + Clone, sorted: &mut [Key], n_digits: usize, digit: impl Fn(Key) -> usize) {
    let mut next = vec![0; n_digits];
    keys.clone().for_each(|key| next[digit(key)] += 1);
    let mut start = 0;
    for count in &mut next {
        start += std::mem::replace(count, start);
    }
    for key in keys {
        let place = &mut next[digit(key)];
        sorted[*place] = key;
        *place += 1;
    }
}

/// For every code, the first one far enough above it: two pointers over the distinct values, each comparison exact.
/// `apart` is empty if all values count as different. Otherwise it holds, for every value, the first one above it that
/// counts as different from it; l values that count are then l − 1 such steps.
fn reach(domain: &Domain, minimum: Minimum, apart: &[u32]) -> Vec<u32> {
    let values = domain.values();
    let mut high = 0;
    let by_span = (0..values.len()).map(|low| {
        high = high.max(low);
        while high < values.len() && minimum.span.is_some_and(|span| !spans(&values[low], &values[high], span)) {
            high += 1;
        }
        high as u32
    });
    let mut reach: Vec<u32> = by_span.collect();
    if !apart.is_empty() {
        let n = values.len() as u32;
        for (low, reach) in (0u32..).zip(&mut reach) {
            let last =
                (1..minimum.apart).try_fold(low, |at, _| apart.get(at as usize).copied().filter(|&next| next < n));
            *reach = last.map_or(n, |last| last.max(*reach));
        }
    }
    reach
}

impl Line for SortedRows {
    fn len(&self) -> usize {
        self.keys.len()
    }

    fn value(&self, at: usize) -> f64 {
        self.values[self.keys[at].code() as usize]
    }

    fn may_be_group(&self, start: usize, end: usize) -> bool {
        let (low, high) = (self.keys[start].code(), self.keys[end - 1].code());
        let distinct = u64::from(high - low + 1);
        (end - start) as u64 >= self.minimum.rows
            && distinct >= self.minimum.distinct
            && self.reach[low as usize] <= high
    }
}

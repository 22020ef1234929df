//! What a table of swapped sensitive values says to a reader who knows how far values may have moved.
//!
//! The table shows which rows match, because quasi values are unchanged, but not which values those rows had. ke (7.1):
//! "only when a long sequence of consecutive sensitive attribute values are covered by a query, can we say for sure
//! that some tuples are definitely included". In numbers, with the rows in the order of their values:
//!
//! 1. A row of rank o may have been swapped with one of rank p if p lies within the radius of o or o within that of p.
//!    For each p, the possible o lie between two ends, both of which grow with p, because a radius grows by at most one
//!    from rank to rank.
//! 2. The h rows that match had h different ranks o. For the least sum, each takes, in the order of p, the lowest rank
//!    that is within its reach and not yet taken. The greatest sum is found likewise from above.
//! 3. The matching rows have exactly the values that the other rows do not have: the sum of all values minus the most
//!    that the other rows can have is also a lower bound, and the better of the two counts.
//!
//! The bounds are certain, but not always the tightest: they do not use the fact that values were swapped in pairs.

use chrysalis_criteria::Minimum;
use chrysalis_criteria::principle::spans;
use chrysalis_query::question::Function;
use chrysalis_release::{Release, Shape, Values};
use chrysalis_table::{Code, Column, Watch};
use rayon::prelude::*;

use super::generate::Query;
use super::judge::ToldAnswer;
use super::truth::{Truth, numbers};
use crate::{EvaluateError, error};

/// Whether sensitive values were swapped across the whole table.
fn is_swapped(shape: &Shape) -> bool {
    match shape.values {
        Values::Swapped => true,
        Values::Beside | Values::Counted(_) => false,
    }
}

/// The answers of a swapped table to some queries over columns of the microdata, the sensitive one last.
pub(super) fn answers(
    release: &Release,
    minimum: Minimum,
    microdata: &[&Column],
    (queries, functions): (&[Query], &[Function]),
    watch: &dyn Watch,
) -> Result<Vec<Vec<ToldAnswer>>, EvaluateError> {
    let (method, shape) = (release.manifest.method, release.manifest.method.shape());
    if !is_swapped(&shape) {
        let problem = format!("in a release by `{method}` no values were swapped");
        return Err(EvaluateError::Workload {
            problem,
            hint: format!("ask one by {}", error::forms(is_swapped)).into(),
        });
    }
    let table = release.table(shape.people)?;
    let own = |column: &&Column| {
        let missing = || EvaluateError::broken(format!("`{}` has no column `{}`", shape.people, column.name()));
        table.column(column.name()).ok_or_else(missing)
    };
    let columns = microdata.iter().map(own).collect::<Result<Vec<&Column>, _>>()?;
    let numbers = numbers(columns[columns.len() - 1]).into_iter().collect::<Option<Vec<f64>>>();
    let Some(numbers) = numbers.filter(|numbers| !numbers.is_empty()) else {
        return Err(EvaluateError::broken("the swapped values are not all numbers"));
    };
    let ranks = Ranks::new(columns[columns.len() - 1], numbers, minimum);
    let answer = |query: &Query| {
        watch.pause();
        let mut hits = vec![0_u64; ranks.numbers.len()];
        let tests = tests(query, microdata, &columns);
        let matches = |row: &usize| tests.iter().all(|(column, admitted)| admitted[column.code(*row) as usize]);
        let sensitive = columns[columns.len() - 1];
        (0..table.rows()).filter(matches).for_each(|row| hits[sensitive.code(row) as usize] += 1);
        let (truth, bounds) = (ranks.told(&hits), ranks.bounds(&hits));
        functions.iter().map(|&function| told(function, &truth, bounds)).collect()
    };
    Ok(queries.par_iter().map(answer).collect())
}

/// Which codes of the published columns a query admits.
fn tests<'a>(query: &Query, microdata: &[&Column], columns: &[&'a Column]) -> Vec<(&'a Column, Vec<bool>)> {
    let test = |condition: &super::generate::Condition| {
        let (theirs, ours) = (microdata[condition.column].domain(), columns[condition.column]);
        let mut admitted = vec![false; ours.domain().len()];
        let known = condition.codes.codes().filter_map(|code| ours.domain().code_of(theirs.value(code)));
        known.for_each(|code| admitted[code as usize] = true);
        (ours, admitted)
    };
    query.conditions.iter().map(test).collect()
}

/// Counts are certain; sums lie within bounds, and averages are sums divided by the count.
fn told(function: Function, published: &Truth, (least, most): (f64, f64)) -> ToldAnswer {
    let estimate = published.answer(function);
    let bound = |sum: f64| match function {
        Function::Sum => Some(sum),
        Function::Avg => Some(sum / published.numbers as f64),
        // Counts; no workload asks for anything else.
        _ => estimate,
    };
    let is_there = estimate.is_some();
    ToldAnswer {
        estimate,
        lower: bound(least).filter(|_| is_there),
        upper: bound(most).filter(|_| is_there),
        std_error: None,
    }
}

/// The published values in order.
struct Ranks {
    /// By code.
    numbers: Vec<f64>,
    /// The first rank of every code, and how many ranks there are.
    firsts: Vec<usize>,
    codes: Vec<Code>,
    /// For every rank, the lowest and the highest rank that its value may have come from.
    ends: Vec<(usize, usize)>,
}

impl Ranks {
    fn new(column: &Column, numbers: Vec<f64>, minimum: Minimum) -> Ranks {
        let (mut firsts, mut codes) = (vec![0], Vec::new());
        for (code, &count) in (0..).zip(&column.histogram()) {
            codes.extend(std::iter::repeat_n(code, count as usize));
            firsts.push(codes.len());
        }
        let ends = ends(&radii(column, &codes, minimum));
        Ranks { numbers, firsts, codes, ends }
    }

    /// The answer of the table as it stands.
    fn told(&self, hits: &[u64]) -> Truth {
        let rows = hits.iter().sum();
        let sum = hits.iter().zip(&self.numbers).map(|(&n, number)| n as f64 * number).sum();
        Truth { rows, numbers: rows, sum }
    }

    /// The least and the greatest possible sum of the values that the matching rows had.
    fn bounds(&self, hits: &[u64]) -> (f64, f64) {
        let others: Vec<u64> =
            hits.iter().zip(self.firsts.windows(2)).map(|(hit, ends)| (ends[1] - ends[0]) as u64 - hit).collect();
        let total: f64 = self.codes.iter().map(|&code| self.numbers[code as usize]).sum();
        let least = self.least(hits).max(total - self.most(&others));
        let most = self.most(hits).min(total - self.least(&others));
        (least, most)
    }

    /// Step 2: the n hits of a code came from n different ranks; taking the code's n lowest ranks gives the least sum.
    fn least(&self, hits: &[u64]) -> f64 {
        let ranks = hits.iter().zip(&self.firsts).flat_map(|(&n, &first)| first..first + n as usize);
        let (mut free, mut sum) = (0, 0.0);
        for rank in ranks {
            let taken = free.max(self.ends[rank].0);
            sum += self.numbers[self.codes[taken] as usize];
            free = taken + 1;
        }
        sum
    }

    fn most(&self, hits: &[u64]) -> f64 {
        let ranks = hits.iter().zip(&self.firsts[1..]).rev().flat_map(|(&n, &end)| (end - n as usize..end).rev());
        let (mut free, mut sum) = (self.codes.len(), 0.0);
        for rank in ranks {
            let taken = (free - 1).min(self.ends[rank].1);
            sum += self.numbers[self.codes[taken] as usize];
            free = taken;
        }
        sum
    }
}

/// For every rank, the smallest radius within which the minimum numbers are reached; all ranks if none suffices.
fn radii(column: &Column, codes: &[Code], minimum: Minimum) -> Vec<usize> {
    let (n, domain) = (codes.len(), column.domain());
    let reaches = |at: usize, radius: usize| {
        let (first, last) = (at.saturating_sub(radius), (at + radius).min(n - 1));
        let (low, high) = (codes[first], codes[last]);
        let is_wide = || domain.value(low).zip(domain.value(high)).zip(minimum.span);
        (last - first + 1) as u64 >= minimum.rows
            && u64::from(high - low + 1) >= minimum.distinct
            && (minimum.span.is_none() || is_wide().is_some_and(|((low, high), span)| spans(low, high, span)))
    };
    let mut radius: usize = 0;
    let mut of = |at: usize| {
        // From one rank to the next, the radius changes by at most one.
        radius = radius.saturating_sub(1);
        while radius < n && !reaches(at, radius) {
            radius += 1;
        }
        radius
    };
    (0..n).map(&mut of).collect()
}

/// Step 1.
fn ends(radii: &[usize]) -> Vec<(usize, usize)> {
    let n = radii.len();
    let (mut ends, mut low, mut high) = (Vec::with_capacity(n), 0, 0);
    for (at, radius) in radii.iter().enumerate() {
        while low + radii[low] < at {
            low += 1;
        }
        while high + 1 < n && (high + 1).saturating_sub(radii[high + 1]) <= at {
            high += 1;
        }
        ends.push((low.min(at.saturating_sub(*radius)), high.max((at + radius).min(n - 1))));
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(values: &[i64], distinct: u64) -> Ranks {
        let column = Column::integers("s", values);
        let numbers = numbers(&column).into_iter().map(Option::unwrap).collect();
        Ranks::new(&column, numbers, Minimum { rows: 1, distinct, span: None, apart: 1 })
    }

    /// Values 0 to 9, three distinct ones within reach: every value comes from a neighbour, or at the ends from two
    /// places away.
    #[test]
    fn reach_is_that_of_either_partner() {
        let found = ranks(&(0..10).collect::<Vec<_>>(), 3);
        assert_eq!(found.ends, [(0, 2), (0, 2), (0, 3), (2, 4), (3, 5), (4, 6), (5, 7), (6, 9), (7, 9), (7, 9)]);
    }

    #[test]
    fn what_a_long_sequence_covers_is_certain() {
        let found = ranks(&(0..10).collect::<Vec<_>>(), 3);
        // The table shows 3, 4, 5 and 6. Alone, they may have been 2 + 3 + 4 + 5 = 14 to 4 + 5 + 6 + 7 = 22; but the
        // others make up at most 1 + 2 + 3 + 7 + 8 + 9 = 30 of 45, and at least 24.
        let hits = [0, 0, 0, 1, 1, 1, 1, 0, 0, 0];
        assert_eq!((found.least(&hits), found.most(&hits)), (14.0, 22.0));
        assert_eq!(found.bounds(&hits), (15.0, 21.0));
        assert_eq!(found.bounds(&[1; 10]), (45.0, 45.0));
        // All but 4, which may have been 3 or 5: a bound on one row is a bound on the others.
        assert_eq!(found.bounds(&[1, 1, 1, 1, 0, 1, 1, 1, 1, 1]), (40.0, 42.0));
        assert_eq!(found.bounds(&[0; 10]), (0.0, 0.0));
    }

    /// Three rows with the same value have three ranks.
    #[test]
    fn equal_values_are_told_apart_by_their_number() {
        let found = ranks(&[1, 2, 2, 2, 3], 2);
        assert_eq!(found.bounds(&[0, 1, 0]), (1.0, 3.0));
        assert_eq!(found.bounds(&[0, 3, 0]), (5.0, 7.0));
    }
}

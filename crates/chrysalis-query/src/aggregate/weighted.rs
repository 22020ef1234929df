//! SUM, AVG, MIN and MAX of survey weights (step 7a of `spec.md`).

use chrysalis_release::view::Groups;
use chrysalis_table::{Code, Codes};
use rayon::prelude::*;

use super::Estimate;
use super::average::Choice;
use super::extreme::{Misses, NEVER, least};
use super::sum::{Bound, Sum};
use crate::code_test::CodeTest;
use crate::estimate::{Hit, MatchingRows, RowHits, Split};
use crate::listed::Listed;
use crate::question::Function;

/// What counts for an aggregate of weights.
pub(crate) struct WeightedSide<'a> {
    pub(crate) groups: &'a Groups,
    /// The weight of every row, as a code.
    pub(crate) codes: &'a Codes,
    /// The number behind every code; none is negative.
    pub(crate) numbers: &'a [f64],
    /// A condition on sensitive values that stand beside the weights of the same people.
    pub(crate) own: Option<(&'a Codes, &'a CodeTest)>,
    /// Conditions on sensitive values of which only the groups are known.
    pub(crate) drawn: Vec<(&'a Listed<'a>, Option<&'a CodeTest>)>,
}

/// A row that may match.
#[derive(Clone, Copy)]
struct Row {
    code: Code,
    weight: f64,
    split: Split,
}

/// A group's part in an answer.
struct Group {
    /// Rows that may match on the quasi side, in ascending order of their weights.
    rows: Vec<Row>,
    /// The number of rows of the whole group.
    n: f64,
    /// How many rows of the whole group satisfy the sensitive conditions; which they are is unknown.
    drawn: Hit,
    /// The least and most rows that match on both sides.
    least: usize,
    most: usize,
}

/// Groups of a piece, for parallel work. It does not depend on the number of threads, and so neither do the sums.
const PIECE: usize = 1024;

impl WeightedSide<'_> {
    /// What can be said about an aggregate of the weights of these rows.
    pub(crate) fn aggregate(&self, function: Function, hits: &[RowHits]) -> Estimate {
        match function {
            Function::Sum => self.sum(hits),
            Function::Avg => self.average(hits),
            Function::Min => self.extreme(hits, 1.0),
            // PROOF: a plan never weighs a count, and has none of the functions below.
            Function::Max | Function::Count => self.extreme(hits, -1.0),
            Function::CountDistinct | Function::Quantile => self.extreme(hits, -1.0),
            Function::VarPop | Function::VarSamp | Function::StddevPop | Function::StddevSamp => {
                self.extreme(hits, -1.0)
            }
            #[cfg(feature = "toy-function")]
            Function::Toy => self.extreme(hits, -1.0),
        }
    }

    /// `None` if no row of the group can match.
    fn group(&self, hits: &RowHits) -> Option<Group> {
        let group = hits.group as usize;
        let size = self.groups.size(group);
        let drawn = self.drawn.iter().try_fold(Hit::certain(group, size, size), |hit, (listed, test)| {
            hit.thinned(size, listed.count(group, *test))
        })?;
        let counts = |row: usize| self.own.is_none_or(|(codes, test)| test.holds(codes.get(row)));
        let row = |row: usize, split: Split| {
            let code = self.codes.get(row);
            Row { code, weight: self.numbers[code as usize], split }
        };
        let mut rows: Vec<Row> = match &hits.rows {
            MatchingRows::All(split) => {
                self.groups.rows(group).filter(|&at| counts(at)).map(|at| row(at, *split)).collect()
            }
            MatchingRows::Each(each) => {
                let each = each.iter().map(|&(at, split)| (at as usize, split));
                each.filter(|&(at, _)| counts(at)).map(|(at, split)| row(at, split)).collect()
            }
        };
        // Weights ascend with their codes.
        rows.sort_by_key(|row| row.code);
        let certain = rows.iter().filter(|row| row.split.is_certain).count();
        // PROOF: at most n − m of the rows that match for certain are among those that the conditions leave out.
        let least = (certain + drawn.least as usize).saturating_sub(size as usize);
        let most = rows.len().min(drawn.most as usize);
        (most > 0).then_some(Group { rows, n: f64::from(size), drawn, least, most })
    }

    fn groups<'h>(&'h self, hits: &'h [RowHits]) -> impl Iterator<Item = Group> + 'h {
        hits.iter().filter_map(|hits| self.group(hits))
    }

    fn sum(&self, hits: &[RowHits]) -> Estimate {
        let piece = |hits: &[RowHits]| {
            let mut totals = Totals::default();
            self.groups(hits).for_each(|group| totals.add(&group));
            totals
        };
        let parts: Vec<Totals> = hits.par_chunks(PIECE).map(piece).collect();
        let mut all = Totals::default();
        parts.into_iter().for_each(|part| all.merge(part));
        if !all.has_hits {
            return Estimate::default();
        }
        Estimate {
            estimate: Some(all.estimate.value()),
            lower: Some(all.lower.at_least()),
            // The greatest sum is the negated least sum of the negated weights.
            upper: Some(-all.upper.at_least() + 0.0),
            std_error: Some(all.variance.value().max(0.0).sqrt()),
        }
        .inside()
    }

    fn average(&self, hits: &[RowHits]) -> Estimate {
        let piece = |hits: &[RowHits]| {
            let (mut sum, mut count) = (Sum::default(), Sum::default());
            let (mut low, mut high) = (Choice::default(), Choice::default());
            for group in self.groups(hits) {
                sum.add(group.expected(|row| row.weight));
                count.add(group.expected(|_| 1.0));
                group.choose(&mut low, 1.0);
                group.choose(&mut high, -1.0);
            }
            (sum, count, low, high)
        };
        let parts: Vec<_> = hits.par_chunks(PIECE).map(piece).collect();
        let (mut sum, mut count) = (Sum::default(), Sum::default());
        let (mut low, mut high) = (Choice::default(), Choice::default());
        for part in parts {
            sum.merge(part.0);
            count.merge(part.1);
            low.merge(part.2);
            high.merge(part.3);
        }
        let count = count.value();
        let ratio = (count > 0.0).then(|| sum.value() / count);
        Estimate {
            estimate: ratio,
            lower: low.least(),
            upper: high.least().map(|least| -least),
            std_error: ratio.map(|ratio| self.deviation(hits, ratio) / count),
        }
        .inside()
    }

    /// The square root of the variance of Σ(w − R) over the rows that match.
    fn deviation(&self, hits: &[RowHits], ratio: f64) -> f64 {
        let piece = |hits: &[RowHits]| {
            let mut sum = Sum::default();
            self.groups(hits).for_each(|group| sum.add(group.variance(|row| row.weight - ratio)));
            sum
        };
        let parts: Vec<Sum> = hits.par_chunks(PIECE).map(piece).collect();
        let mut all = Sum::default();
        parts.into_iter().for_each(|part| all.merge(part));
        all.value().max(0.0).sqrt()
    }

    /// The minimum, or with a `sign` of −1 the maximum.
    fn extreme(&self, hits: &[RowHits], sign: f64) -> Estimate {
        let parts: Vec<Extreme> = hits.par_chunks(PIECE).map(|hits| self.extreme_of(hits, sign)).collect();
        let n_misses = parts.iter().map(|part| part.misses.len()).sum();
        let (mut all, mut misses) = (Extreme::default(), Misses::new(self.numbers.len(), n_misses));
        for part in parts {
            all.near = least(all.near, part.near);
            all.certain = least(all.certain, part.certain);
            all.far = least(all.far, part.far);
            misses.add(part.misses);
        }
        let far = all.certain.or(all.far.map(|far| -far));
        let (Some(near), Some(far)) = (all.near, far) else { return Estimate::default() };
        let expected = misses.expectation(|code| sign * self.numbers[code as usize], sign);
        let (lower, upper) = if sign > 0.0 { (near, far) } else { (-far, -near) };
        Estimate {
            estimate: expected.map(|(mean, _)| sign * mean),
            // −0 is a number that nobody wants to read.
            lower: Some(lower + 0.0),
            upper: Some(upper + 0.0),
            std_error: expected.map(|(_, deviation)| deviation),
        }
        .inside()
    }

    fn extreme_of(&self, hits: &[RowHits], sign: f64) -> Extreme {
        let mut found = Extreme::default();
        for mut group in self.groups(hits) {
            if sign < 0.0 {
                group.rows.reverse();
            }
            let number = |row: &Row| sign * row.weight;
            found.near = least(found.near, group.rows.first().map(number));
            found.far = least(found.far, group.rows.last().map(|row| -number(row)));
            if group.least > 0 {
                // The rows that must match are at best the last of those that match for certain on the quasi side.
                let mut certain = group.rows.iter().rev().filter(|row| row.split.is_certain);
                found.certain = least(found.certain, certain.nth(group.least - 1).map(number));
            }
            group.add_misses(&mut found.misses);
        }
        found
    }
}

#[derive(Default)]
struct Totals {
    estimate: Sum,
    variance: Sum,
    lower: Bound,
    upper: Bound,
    has_hits: bool,
}

impl Totals {
    fn add(&mut self, group: &Group) {
        self.estimate.add(group.expected(|row| row.weight));
        self.variance.add(group.variance(|row| row.weight));
        let certain = group.rows.iter().filter(|row| row.split.is_certain);
        certain.take(group.least).for_each(|row| self.lower.add(row.weight, 1));
        group.rows.iter().rev().take(group.most).for_each(|row| self.upper.add(-row.weight, 1));
        self.has_hits = true;
    }

    fn merge(&mut self, other: Totals) {
        self.estimate.merge(other.estimate);
        self.variance.merge(other.variance);
        self.lower.merge(other.lower);
        self.upper.merge(other.upper);
        self.has_hits |= other.has_hits;
    }
}

/// What is known about a minimum.
#[derive(Default)]
struct Extreme {
    /// The least value that can be hit.
    near: Option<f64>,
    /// The least value that the minimum cannot exceed.
    certain: Option<f64>,
    /// The greatest value that can be hit, negated.
    far: Option<f64>,
    misses: Vec<(Code, f64)>,
}

impl Group {
    /// The expected sum of a number over the rows that match.
    fn expected(&self, number: impl Fn(&Row) -> f64) -> f64 {
        let inside: f64 = self.rows.iter().map(|row| number(row) * row.split.inside).sum();
        inside * (self.drawn.expected / self.n)
    }

    /// The variance of that sum.
    fn variance(&self, number: impl Fn(&Row) -> f64) -> f64 {
        let (n, Hit { expected, others, variance, .. }) = (self.n, self.drawn);
        let inside: Vec<f64> = self.rows.iter().map(|row| number(row) * row.split.inside).collect();
        let sum: f64 = inside.iter().sum();
        let mean = sum / n;
        let rest = (n - inside.len() as f64) * mean * mean;
        let squares = inside.iter().map(|inside| (inside - mean).powi(2)).sum::<f64>() + rest;
        let of_boxes: f64 =
            self.rows.iter().map(|row| number(row).powi(2) * row.split.inside * row.split.outside).sum();
        let drawn = if n > 1.0 { ((expected * others - variance) / (n * (n - 1.0))).max(0.0) * squares } else { 0.0 };
        expected / n * of_boxes + drawn + variance * mean * mean
    }

    /// The rows behind the least average, or with a `sign` of −1 behind the greatest, negated.
    fn choose(&self, choice: &mut Choice, sign: f64) {
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        if sign < 0.0 {
            rows.reverse();
        }
        let (mut must, mut may) = (self.least, self.most - self.least);
        for row in rows {
            if row.split.is_certain && must > 0 {
                must -= 1;
                choice.must_take(sign * row.weight);
            } else if may > 0 {
                may -= 1;
                choice.may_take(sign * row.weight);
            }
        }
    }

    /// For every row: ln P(it does not match | no row before it matches), until that is impossible.
    fn add_misses(&self, misses: &mut Vec<(Code, f64)>) {
        let mut so_far = 0.0;
        for (rank, row) in self.rows.iter().enumerate() {
            let drawn = (self.drawn.expected / (self.n - rank as f64)).min(1.0);
            let chance = drawn * row.split.inside;
            let miss = if chance >= 1.0 { f64::NEG_INFINITY } else { (-chance).ln_1p() };
            misses.push((row.code, miss));
            so_far += miss;
            if so_far < NEVER {
                break;
            }
        }
    }
}

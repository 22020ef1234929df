//! Conditions on values, decided once per distinct value.

use std::ops::Range;

use chrysalis_release::view::{CodedColumn, GroupValues, Multisets};
use chrysalis_table::{Code, Codes, Domain, Value, each_width};

use crate::value_set::{ValueSet, Values};

/// A condition on codes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CodeTest {
    /// A range of codes, which the processor compares many at a time.
    Between(Range<Code>),
    /// Any codes.
    Table(Vec<bool>),
}

impl CodeTest {
    /// The codes of a column whose values are in a set.
    pub(crate) fn of(column: &CodedColumn, set: &ValueSet) -> Self {
        CodeTest::new(&column.domain, &column.ranks, set)
    }

    /// The codes of sensitive values that are in a set; `None` when all are.
    pub(crate) fn of_values(values: &Multisets, set: &ValueSet) -> Option<Self> {
        let test = CodeTest::new(&values.domain, &values.ranks, set);
        (test != CodeTest::Between(0..values.domain.len() as Code)).then_some(test)
    }

    /// The codes of a domain whose values are in a set.
    pub(crate) fn new(domain: &Domain, ranks: &[Option<usize>], set: &ValueSet) -> Self {
        let shift = Code::from(domain.has_missing());
        let values = domain.values();
        // Values ascend, so every range of values is a range of codes.
        let codes = |from: usize, to: usize| from as Code + shift..to as Code + shift;
        let mut runs: Vec<Range<Code>> = Vec::new();
        if set.missing && domain.has_missing() {
            runs.push(0..1);
        }
        match &set.values {
            Values::Integers(ranges) => runs.extend(ranges.ranges().iter().map(|&(from, to)| {
                codes(
                    values.partition_point(|value| whole(value) < from),
                    values.partition_point(|value| whole(value) < to),
                )
            })),
            Values::Reals(ranges) => runs.extend(ranges.ranges().iter().map(|&(from, to)| {
                let before = |value: &Value, cut: crate::value_set::RealCut| {
                    crate::value_set::RealCut::before(value.number().unwrap_or(0.0)) < cut
                };
                codes(
                    values.partition_point(|value| before(value, from)),
                    values.partition_point(|value| before(value, to)),
                )
            })),
            Values::Words(words) => {
                let is_in = |rank: &Option<usize>| rank.is_some_and(|rank| words[rank]);
                runs.extend((0..).zip(ranks).filter(|(_, rank)| is_in(rank)).map(|(at, _)| codes(at, at + 1)));
            }
        }
        runs.retain(|run| !run.is_empty());
        let is_one_run = runs.windows(2).all(|pair| pair[0].end == pair[1].start);
        match (runs.first(), runs.last()) {
            (Some(first), Some(last)) if is_one_run => CodeTest::Between(first.start..last.end),
            (Some(_), Some(_)) => {
                let mut table = vec![false; domain.len()];
                runs.into_iter().flatten().for_each(|code| table[code as usize] = true);
                CodeTest::Table(table)
            }
            _ => CodeTest::Between(0..0),
        }
    }

    pub(crate) fn holds(&self, code: Code) -> bool {
        match self {
            CodeTest::Between(codes) => codes.contains(&code),
            CodeTest::Table(table) => table[code as usize],
        }
    }

    /// Writes 1 for every row that passes, and 0 for the others.
    pub(crate) fn mark(&self, codes: &Codes, rows: Range<usize>, marks: &mut [u8]) {
        each_width!(codes, codes => match self {
            CodeTest::Between(range) => mark_between(&codes[rows], range, marks),
            CodeTest::Table(table) => {
                for (mark, &code) in marks.iter_mut().zip(&codes[rows]) {
                    *mark = u8::from(table[code as usize]);
                }
            }
        });
    }
}

/// Compared in the codes' own width, many at a time.
fn mark_between<C: Copy + Ord + TryFrom<Code>>(codes: &[C], range: &Range<Code>, marks: &mut [u8]) {
    let last = range.end.saturating_sub(1);
    // PROOF: codes lie below the domain's length, whose width they have; an end that does not fit is beyond all of them.
    match (C::try_from(range.start), C::try_from(last)) {
        (Ok(first), Ok(last)) if !range.is_empty() => {
            for (mark, &code) in marks.iter_mut().zip(codes) {
                *mark = u8::from((code >= first) & (code <= last));
            }
        }
        _ => marks.fill(0),
    }
}

/// Whole numbers, days and microseconds.
fn whole(value: &Value) -> i128 {
    value.whole().map_or(0, i128::from)
}

/// The values of a group that pass a test, with their counts.
pub(crate) fn passing<'a>(
    values: GroupValues<'a>,
    test: Option<&'a CodeTest>,
) -> impl Iterator<Item = (Code, u32)> + use<'a> {
    let pairs = values.codes.iter().copied().zip(values.counts.iter().copied());
    pairs.filter(move |(code, _)| test.is_none_or(|test| test.holds(*code)))
}

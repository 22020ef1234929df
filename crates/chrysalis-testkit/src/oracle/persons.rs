//! Persons who may have several rows each: all worlds of a few of them, and principles that count them, from the words
//! of the contract.

use std::collections::{BTreeMap, BTreeSet};

use chrysalis_criteria::{PrincipleSpec, Rational};
use chrysalis_table::exact::BigRational;
use chrysalis_table::{Code, SaCounts, Value};
use num_bigint::BigInt;

use super::principle::holds;
use crate::SensitiveColumn;

/// What a reader knows of the rows of a group's persons.
#[derive(Clone, Debug)]
pub enum RowsOf {
    /// How many each person has.
    Known(Vec<usize>),
    /// How many persons there are; each has at least one row.
    Hidden(usize),
}

/// How a value is shown in a group: in how many rows it stands, and how many persons have it, if that is shown.
#[derive(Clone, Copy, Debug)]
pub struct ValueShown {
    /// Rows with the value.
    pub count: usize,
    /// Persons with the value.
    pub persons: Option<usize>,
}

/// How many worlds there are, and in how many of them a person has a value.
#[derive(Clone, Debug, Default)]
pub struct Odds {
    /// The number of worlds.
    pub worlds: u128,
    /// For every person and every value, the worlds in which that person has that value.
    pub having: Vec<Vec<u128>>,
}

impl Odds {
    fn add(&mut self, weight: u128, dealt: &[Vec<usize>]) {
        self.worlds += weight;
        self.having.resize(dealt.len(), vec![0; dealt[0].len()]);
        for (having, of_person) in self.having.iter_mut().zip(dealt) {
            having.iter_mut().zip(of_person).filter(|(_, rows)| **rows > 0).for_each(|(having, _)| *having += weight);
        }
    }

    /// The worlds of both.
    pub fn merge(&mut self, other: &Odds) {
        self.worlds += other.worlds;
        self.having.resize(other.having.len(), vec![0; other.having.first().map_or(0, Vec::len)]);
        for (having, others) in self.having.iter_mut().zip(&other.having) {
            having.iter_mut().zip(others).for_each(|(having, other)| *having += other);
        }
    }

    /// The largest number of worlds in which some person has some value.
    pub fn most(&self) -> u128 {
        self.having.iter().flatten().copied().max().unwrap_or(0)
    }
}

/// All worlds of one group that show what it shows, by the numbers of rows that persons have, in ascending order.
///
/// Worlds are counted twice: in the first odds two worlds differ if somebody has other values, in the second if a
/// published row is somebody else's.
pub fn worlds_of_persons(rows: &RowsOf, values: &[ValueShown]) -> BTreeMap<Vec<usize>, [Odds; 2]> {
    let n_persons = match rows {
        RowsOf::Known(rows) => rows.len(),
        RowsOf::Hidden(n) => *n,
    };
    let mut found = BTreeMap::new();
    let left: Vec<usize> = values.iter().map(|value| value.count).collect();
    deal(rows, n_persons, values, &left, &mut Vec::new(), &mut found);
    found
}

/// Gives the next person all there is to give.
fn deal(
    rows: &RowsOf,
    n_persons: usize,
    values: &[ValueShown],
    left: &[usize],
    dealt: &mut Vec<Vec<usize>>,
    found: &mut BTreeMap<Vec<usize>, [Odds; 2]>,
) {
    let person = dealt.len();
    if person == n_persons {
        let having = |at: usize| dealt.iter().filter(|of_person| of_person[at] > 0).count();
        let is_shown = |(at, value): (usize, &ValueShown)| value.persons.is_none_or(|persons| persons == having(at));
        if left.iter().all(|&left| left == 0) && values.iter().enumerate().all(is_shown) {
            let mut sizes: Vec<usize> = dealt.iter().map(|of_person| of_person.iter().sum()).collect();
            sizes.sort_unstable();
            let ways = |at: usize| {
                let parts: u128 = dealt.iter().map(|of_person| factorial(of_person[at])).product();
                factorial(values[at].count) / parts
            };
            let odds = found.entry(sizes).or_default();
            odds[0].add(1, dealt);
            odds[1].add((0..values.len()).map(ways).product(), dealt);
        }
        return;
    }
    let mut own = vec![0; left.len()];
    loop {
        let n: usize = own.iter().sum();
        let fits = match rows {
            RowsOf::Known(rows) => n == rows[person],
            RowsOf::Hidden(_) => n > 0,
        };
        if fits {
            let rest: Vec<usize> = left.iter().zip(&own).map(|(left, own)| left - own).collect();
            dealt.push(own.clone());
            deal(rows, n_persons, values, &rest, dealt, found);
            dealt.pop();
        }
        let Some(at) = (0..own.len()).find(|&at| own[at] < left[at]) else { return };
        own[..at].fill(0);
        own[at] += 1;
    }
}

fn factorial(n: usize) -> u128 {
    (1..=n as u128).product()
}

/// The values of one person, one code per row.
pub type RowsOfPerson = Vec<Code>;

/// Whether a group of persons satisfies a principle, as DESIGN-2.md section 4 defines it; `all` are all persons of the
/// table. `shows_persons` says whether readers see how many persons have a value: otherwise every row of a value
/// may be another person's. Columns without missing values whose words all look different, or numbers for `ke`.
///
/// # Panics
/// When the principle needs what the column lacks: numbers, or categories.
pub fn holds_of_persons(
    spec: &PrincipleSpec,
    column: &SensitiveColumn,
    all: &[RowsOfPerson],
    group: &[RowsOfPerson],
    shows_persons: bool,
) -> bool {
    let n = group.len() as u64;
    let values: BTreeSet<Code> = group.iter().flatten().copied().collect();
    let having = |persons: &[RowsOfPerson], value: Code| persons.iter().filter(|it| it.contains(&value)).count() as u64;
    let rows = |value: Code| group.iter().flatten().filter(|&&code| code == value).count() as u64;
    let most_possible = |value: Code| if shows_persons { having(group, value) } else { rows(value) };
    let share = |part: u64, of: u64| BigRational::new(part.into(), of.into());
    let big = |number: &Rational| BigRational::new(BigInt::from(*number.numer()), BigInt::from(*number.denom()));
    let is_rare = |value: Code, most: &BigRational| share(most_possible(value).min(n), n) <= *most;
    match spec {
        _ if n == 0 => false,
        PrincipleSpec::KAnonymity { k } => n >= *k,
        PrincipleSpec::OfPopulation(_) | PrincipleSpec::MInvariance { .. } => false,
        PrincipleSpec::DistinctL { l } => n >= *l && values.len() as u64 >= *l,
        PrincipleSpec::FrequencyL { l } => values.iter().all(|&value| is_rare(value, &big(l).recip())),
        PrincipleSpec::OthersL { l } => {
            let mut others = values.iter().filter(|&&value| !column.ordinary[value as usize]);
            others.all(|&value| is_rare(value, &big(l).recip()))
        }
        PrincipleSpec::AlphaK { alpha, k } => n >= *k && values.iter().all(|&value| is_rare(value, &big(alpha))),
        PrincipleSpec::Beta { beta } => values.iter().all(|&value| {
            let (p, q) = (share(having(group, value), n), share(having(all, value), all.len() as u64));
            (&p - &q) / &q <= big(beta)
        }),
        PrincipleSpec::Ke { k, e } => {
            let number = |value: &Code| match column.domain.value(*value) {
                Some(Value::Integer(number)) => *number,
                other => panic!("{other:?} is no whole number"),
            };
            let numbers: Vec<i64> = values.iter().map(number).collect();
            let span = numbers.iter().max().zip(numbers.iter().min()).map_or(0, |(high, low)| high - low);
            n >= *k && numbers.len() as u64 >= *k && BigRational::from_integer(span.into()) >= big(e)
        }
        PrincipleSpec::EntropyL { l } => n >= l.ceil().to_integer() && of_shares(spec, column, all, group),
        PrincipleSpec::RecursiveCl { l, .. } => n >= *l && of_shares(spec, column, all, group),
        PrincipleSpec::TCloseness { .. } => of_shares(spec, column, all, group),
        PrincipleSpec::DistinctLAlpha { l, alpha } => {
            let scaled = PrincipleSpec::DistinctLAlpha { l: *l, alpha: *alpha * WHOLE };
            n >= *l && of_shares(&scaled, column, all, group)
        }
        PrincipleSpec::EntropyLAlpha { l, alpha } => {
            let scaled = PrincipleSpec::EntropyLAlpha { l: *l, alpha: *alpha * WHOLE };
            n >= *l && of_shares(&scaled, column, all, group)
        }
        PrincipleSpec::RecursiveLAlpha { c, l, alpha } => {
            let scaled = PrincipleSpec::RecursiveLAlpha { c: *c, l: *l, alpha: *alpha * WHOLE };
            n >= *l && of_shares(&scaled, column, all, group)
        }
    }
}

/// What one person counts for, where each of d different values gets an equal share. Divisible by every d up to 6.
const WHOLE: u64 = 60;

fn shares(column: &SensitiveColumn, persons: &[RowsOfPerson]) -> SaCounts {
    let mut counts = SaCounts::new(column.domain.len());
    for person in persons {
        let different: BTreeSet<Code> = person.iter().copied().collect();
        let d = different.len() as u64;
        assert_eq!(WHOLE % d, 0, "a person with {d} values");
        different.iter().for_each(|&value| counts.add_many(value, u32::try_from(WHOLE / d).unwrap()));
    }
    counts
}

/// A principle on the mean over persons of 1/d on each of a person's d values.
fn of_shares(spec: &PrincipleSpec, column: &SensitiveColumn, all: &[RowsOfPerson], group: &[RowsOfPerson]) -> bool {
    let mut of_persons = column.clone();
    of_persons.counts = shares(column, all);
    holds(spec, &of_persons, &shares(column, group))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(counts: &[(usize, Option<usize>)]) -> Vec<ValueShown> {
        counts.iter().map(|&(count, persons)| ValueShown { count, persons }).collect()
    }

    /// Two persons with two rows each, values a, a, b, b. Somebody has both a's, or everybody has one of each.
    #[test]
    fn worlds_of_two_persons_with_two_rows_each() {
        let known = RowsOf::Known(vec![2, 2]);
        let found = worlds_of_persons(&known, &shown(&[(2, None), (2, None)]));
        let [multisets, rows] = &found[&vec![2, 2]];
        assert_eq!((multisets.worlds, &multisets.having), (3, &vec![vec![2, 2]; 2]));
        // Of 4!/(2!·2!) = 6 ways to hand four rows out, one gives the first person both a's.
        assert_eq!((rows.worlds, &rows.having), (6, &vec![vec![5, 5]; 2]));
        // One person has each value: two worlds are left.
        let found = worlds_of_persons(&known, &shown(&[(2, Some(1)), (2, Some(1))]));
        assert_eq!(found[&vec![2, 2]][0].worlds, 2);
        assert_eq!(found[&vec![2, 2]][0].having, vec![vec![1, 1]; 2]);
    }

    /// Two persons share rows a, a, b, nobody knows how: {a}{ab}, {ab}{a}, {b}{aa}, {aa}{b}.
    #[test]
    fn worlds_in_which_rows_cannot_be_counted() {
        let found = worlds_of_persons(&RowsOf::Hidden(2), &shown(&[(2, None), (1, None)]));
        let [multisets, rows] = &found[&vec![1, 2]];
        assert_eq!((found.len(), multisets.worlds, &multisets.having), (1, 4, &vec![vec![3, 2]; 2]));
        assert_eq!((rows.worlds, &rows.having), (6, &vec![vec![5, 3]; 2]));
        // A person known to have two of the three rows is likelier to have either value.
        let known = worlds_of_persons(&RowsOf::Known(vec![1, 2]), &shown(&[(2, None), (1, None)]));
        assert_eq!(known[&vec![1, 2]][0].having, vec![vec![1, 1], vec![2, 1]]);
    }
}

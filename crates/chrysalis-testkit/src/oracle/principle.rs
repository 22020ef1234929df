use std::collections::BTreeMap;

use chrysalis_criteria::{Near, PrincipleSpec, Rational, Weights};
use chrysalis_table::exact::{self, BigRational};
use chrysalis_table::{Code, Kind, SaCounts, TaxonomyFile, Value, folded};
use num_bigint::BigInt;
use num_rational::Ratio;
use num_traits::Signed;

use super::least_cost;
use crate::SensitiveColumn;

fn big(number: Rational) -> BigRational {
    BigRational::new(BigInt::from(*number.numer()), BigInt::from(*number.denom()))
}

fn whole(number: impl Into<BigInt>) -> BigRational {
    BigRational::from_integer(number.into())
}

fn share(part: u64, all: u64) -> BigRational {
    BigRational::new(part.into(), all.into())
}

/// Whether a group satisfies a principle, word for word as DESIGN.md section 3 defines it, including what counts as one
/// value and what counts as none. A group without rows satisfies nothing.
///
/// # Panics
/// When the principle needs what the column lacks: numbers, or categories.
pub fn holds(spec: &PrincipleSpec, column: &SensitiveColumn, group: &SaCounts) -> bool {
    let n = group.total();
    if n == 0 {
        return false;
    }
    let largest = |is_counted: &dyn Fn(Code) -> bool| largest_share_among(column, group, is_counted);
    let distinct = different(column, group);
    match spec {
        PrincipleSpec::KAnonymity { k } => n >= *k,
        // Labels decide, or what was published before.
        PrincipleSpec::OfPopulation(_) | PrincipleSpec::MInvariance { .. } => true,
        PrincipleSpec::DistinctL { l } => distinct >= *l,
        PrincipleSpec::FrequencyL { l } => largest(&|_| true) <= big(*l).recip(),
        PrincipleSpec::OthersL { l } => largest(&|code| !column.ordinary[code as usize]) <= big(*l).recip(),
        PrincipleSpec::EntropyL { l } => {
            readings(column, group).iter().all(|counts| is_entropy_at_least_ln(counts, &big(*l)))
        }
        PrincipleSpec::RecursiveCl { c, l } => {
            readings(column, group).iter().all(|counts| is_recursive(counts, *c, *l))
        }
        PrincipleSpec::TCloseness { t } => distances(column, group).iter().all(|distance| *distance <= big(*t)),
        PrincipleSpec::Ke { k, e } => {
            let numbers: Vec<BigRational> = group.iter().filter_map(|(code, _)| number(column, code)).collect();
            let span = numbers.iter().max().zip(numbers.iter().min()).map(|(high, low)| high - low);
            numbers.len() as u64 >= *k && span.is_some_and(|span| span >= big(*e))
        }
        PrincipleSpec::AlphaK { alpha, k } => n >= *k && largest(&|_| true) <= big(*alpha),
        PrincipleSpec::DistinctLAlpha { l, alpha } => distinct >= *l && weight(column, group) >= big(*alpha),
        PrincipleSpec::EntropyLAlpha { l, alpha } => {
            let is_diverse = |counts: &Vec<u64>| is_entropy_at_least_ln(counts, &whole(*l));
            let diverse = category_counts(column, group).iter().all(is_diverse);
            distinct >= *l && weight(column, group) >= big(*alpha) && diverse
        }
        PrincipleSpec::RecursiveLAlpha { c, l, alpha } => {
            let diverse = category_counts(column, group).iter().all(|counts| is_recursive(counts, *c, *l));
            distinct >= *l && weight(column, group) >= big(*alpha) && diverse
        }
        PrincipleSpec::Beta { beta } => (0..column.domain.len() as Code).all(|code| {
            let (p, q) = (share(group.count(code), n), share(column.counts.count(code), column.counts.total()));
            (&p - &q) / &q <= big(*beta)
        }),
    }
}

/// The largest share of what counts as one value among the rows that have a value, or the share of missing values among
/// all rows if that is larger.
///
/// # Panics
/// When the group has no rows.
pub fn largest_share(column: &SensitiveColumn, group: &SaCounts) -> BigRational {
    largest_share_among(column, group, &|_| true)
}

fn largest_share_among(column: &SensitiveColumn, group: &SaCounts, is_counted: &dyn Fn(Code) -> bool) -> BigRational {
    let of_missing = (0..column.domain.len() as Code).filter(|&code| is_missing(column, code) && is_counted(code));
    let of_missing = share(of_missing.map(|code| group.count(code)).sum(), group.total());
    match group.total() - missing(column, group) {
        0 => of_missing,
        there => of_missing.max(share(heaviest(column, group, is_counted), there)),
    }
}

/// How far apart numbers must be to be different; `None` where any two are.
fn near(column: &SensitiveColumn) -> Option<BigRational> {
    match &column.near {
        Near::Nothing => None,
        Near::Width(width) => Some(big(*width)),
        Near::Hundredth(low, high) => Some((exact(high) - exact(low)) / whole(100)),
    }
}

fn exact(value: &Value) -> BigRational {
    match value {
        Value::Integer(number) => whole(*number),
        Value::Real(number) => exact::from_float(*number).unwrap(),
        Value::Date(date) => whole(date.0),
        Value::DateTime(moment) => whole(moment.0) / whole(1_000_000),
        Value::Text(_) => panic!("words have no distance"),
    }
}

fn look(column: &SensitiveColumn, code: Code) -> String {
    folded(&column.domain.text(code)).into_owned()
}

fn is_missing(column: &SensitiveColumn, code: Code) -> bool {
    look(column, code).is_empty()
}

fn missing(column: &SensitiveColumn, group: &SaCounts) -> u64 {
    group.iter().filter(|(code, _)| is_missing(column, *code)).map(|(_, count)| count).sum()
}

/// Whether two values, neither of which is missing, count as one.
fn is_one(column: &SensitiveColumn, a: Code, b: Code) -> bool {
    let (Some(low), Some(high)) = (column.domain.value(a), column.domain.value(b)) else { return a == b };
    match near(column) {
        _ if a == b => true,
        Some(near) => (exact(high) - exact(low)).abs() < near,
        None => look(column, a) == look(column, b),
    }
}

/// The codes of a group that are not missing.
fn present(column: &SensitiveColumn, group: &SaCounts) -> Vec<Code> {
    (0..column.domain.len() as Code).filter(|&code| group.count(code) > 0 && !is_missing(column, code)).collect()
}

/// The most rows whose values count as one pairwise. Values are in order, so comparing with the lowest is enough.
fn heaviest(column: &SensitiveColumn, group: &SaCounts, is_counted: &dyn Fn(Code) -> bool) -> u64 {
    let codes: Vec<Code> = present(column, group).into_iter().filter(|&code| is_counted(code)).collect();
    let of = |&low: &Code| codes.iter().filter(move |&&code| code >= low && is_one(column, low, code));
    codes.iter().map(|low| of(low).map(|&code| group.count(code)).sum()).max().unwrap_or(0)
}

/// The most values no two of which count as one, found by trying all sets; 1 if all values are missing.
pub fn different(column: &SensitiveColumn, group: &SaCounts) -> u64 {
    let codes = present(column, group);
    let is_apart = |set: u32| {
        let chosen: Vec<Code> = (0..codes.len()).filter(|at| set >> at & 1 == 1).map(|at| codes[at]).collect();
        let pairs = chosen.iter().flat_map(|&a| chosen.iter().map(move |&b| (a, b)));
        pairs.filter(|(a, b)| a < b).all(|(a, b)| !is_one(column, a, b))
    };
    (0..1u32 << codes.len()).filter(|&set| is_apart(set)).map(u32::count_ones).max().map_or(1, |n| u64::from(n.max(1)))
}

/// The frequencies of a group's values in every reading that must be diverse. Words that look alike are one value.
/// Numbers are put into bins of the width `near`, and in another reading into bins that are shifted by half of it. Each
/// reading comes with missing values as one value, and without them.
///
/// # Panics
/// Never, for columns made by `SensitiveColumn::new`.
pub fn readings(column: &SensitiveColumn, group: &SaCounts) -> Vec<Vec<u64>> {
    let half = BigRational::new(1.into(), 2.into());
    let keys: Vec<Box<dyn Fn(Code) -> String>> = match near(column) {
        None => vec![Box::new(|code| look(column, code))],
        Some(near) => [whole(0), half]
            .into_iter()
            .map(|shift| -> Box<dyn Fn(Code) -> String> {
                let first = exact(column.domain.values().first().unwrap());
                let near = near.clone();
                Box::new(move |code| match column.domain.value(code) {
                    None => String::new(),
                    // Nothing is near anything else.
                    Some(value) if near == whole(0) => exact(value).to_string(),
                    Some(value) => ((exact(value) - &first) / &near + &shift).floor().to_string(),
                })
            })
            .collect(),
    };
    let counted = |key: &dyn Fn(Code) -> String, with_missing: bool| {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for (code, count) in group.iter().filter(|(code, _)| with_missing || !is_missing(column, *code)) {
            *counts.entry(key(code)).or_default() += count;
        }
        counts.into_values().collect::<Vec<u64>>()
    };
    let both = keys.iter().flat_map(|key| [counted(key, true), counted(key, false)]);
    both.filter(|counts| !counts.is_empty()).collect()
}

fn number(column: &SensitiveColumn, code: Code) -> Option<BigRational> {
    match column.domain.value(code)? {
        Value::Integer(number) => Some(whole(*number)),
        Value::Real(number) => exact::from_float(*number),
        _ => panic!("(k,e) needs numbers"),
    }
}

/// −Σ p ln p ≥ ln l: in floats where the result is clear, otherwise by multiplying out.
fn is_entropy_at_least_ln(counts: &[u64], l: &BigRational) -> bool {
    let n: u64 = counts.iter().sum();
    let present = counts.iter().copied().filter(|&count| count > 0);
    let entropy: f64 = present.clone().map(|count| count as f64 / n as f64).map(|p| -p * p.ln()).sum();
    let ratio = |number: &BigRational| -> f64 {
        number.numer().to_string().parse::<f64>().unwrap() / number.denom().to_string().parse::<f64>().unwrap()
    };
    let surplus = entropy - ratio(l).ln();
    if surplus.abs() > 1e-9 {
        return surplus > 0.0;
    }
    // exp(n · entropy) = Π (n/c)^c against l^n.
    let power = |base: BigRational, exponent: u64| base.pow(i32::try_from(exponent).unwrap());
    let product = present.fold(whole(1), |product, count| product * power(share(n, count), count));
    product >= power(l.clone(), n)
}

/// r₁ < c·(r_l + … + r_m), r sorted descending.
fn is_recursive(counts: &[u64], c: Rational, l: u64) -> bool {
    let mut r: Vec<u64> = counts.iter().copied().filter(|&count| count > 0).collect();
    r.sort_unstable_by_key(|&count| std::cmp::Reverse(count));
    let tail: u64 = r.iter().skip(usize::try_from(l).unwrap() - 1).sum();
    r.first().is_some_and(|&first| whole(first) < big(c) * whole(tail))
}

/// The category of a code, and the weight of every category, by lalpha's equation 1.
fn weighted_categories(column: &SensitiveColumn) -> (Vec<usize>, Vec<BigRational>) {
    let (names, weights) = column.categories.as_ref().expect("(l,α) needs categories");
    let category = |code: Code| {
        let text = column.domain.text(code);
        names.iter().position(|names| names.iter().any(|name| *name == text)).unwrap()
    };
    let gap = |i: u64, beta: u32| BigRational::new(1.into(), BigInt::from(i).pow(beta));
    let by_gaps = |beta: u32| {
        let sum_to = |i: u64| (1..=i).map(|i| gap(i, beta)).fold(whole(0), |sum, gap| sum + gap);
        let q = names.len() as u64;
        (0..q).map(|i| if i == 0 { whole(0) } else { sum_to(i) / sum_to(q - 1) }).collect()
    };
    let weights = match weights {
        Weights::Uniform => by_gaps(0),
        Weights::Sensitivity(beta) => by_gaps(*beta),
        Weights::Custom(weights) => weights.iter().map(|weight| big(*weight)).collect(),
    };
    // Values that look alike belong to the most sensitive of their categories.
    let lowest = |code: Code| {
        let alike = (0..column.domain.len() as Code).filter(|&other| look(column, other) == look(column, code));
        alike.map(category).min().unwrap()
    };
    ((0..column.domain.len() as Code).map(lowest).collect(), weights)
}

/// The weight of a group: the sum over its rows that have a value, or over all where none has.
///
/// # Panics
/// When the column has no categories.
pub fn weight(column: &SensitiveColumn, group: &SaCounts) -> BigRational {
    let (category_of, weights) = weighted_categories(column);
    let is_counted = |code: Code| !is_missing(column, code) || missing(column, group) == group.total();
    let rows = group.iter().filter(|(code, _)| is_counted(*code));
    let rows = rows.flat_map(|(code, count)| std::iter::repeat_n(code, usize::try_from(count).unwrap()));
    rows.map(|code| &weights[category_of[code as usize]]).fold(whole(0), |sum, weight| sum + weight)
}

/// Rows per category: of all rows, and of those that have a value.
fn category_counts(column: &SensitiveColumn, group: &SaCounts) -> Vec<Vec<u64>> {
    let (category_of, weights) = weighted_categories(column);
    let counted = |with_missing: bool| {
        let mut counts = vec![0; weights.len()];
        let rows = group.iter().filter(|(code, _)| with_missing || !is_missing(column, *code));
        rows.for_each(|(code, count)| counts[category_of[code as usize]] += count);
        counts
    };
    [counted(true), counted(false)].into_iter().filter(|counts| counts.iter().sum::<u64>() > 0).collect()
}

/// The earth mover's distance between a group and the whole table, as a transport problem (Li et al., sections
/// 4.1–4.3): the largest of the distances that t must bound.
pub fn distance(column: &SensitiveColumn, group: &SaCounts) -> BigRational {
    distances(column, group).into_iter().max().unwrap()
}

/// The distances with every value by itself, and with values that look alike in the place of the first of them.
fn distances(column: &SensitiveColumn, group: &SaCounts) -> Vec<BigRational> {
    let first = |code: Code| (0..code).find(|&other| look(column, other) == look(column, code)).unwrap_or(code);
    vec![carried(column, group, |code| code), carried(column, group, first)]
}

fn carried(column: &SensitiveColumn, group: &SaCounts, place: impl Fn(Code) -> Code) -> BigRational {
    let (n, all) = (i128::from(group.total()), i128::from(column.counts.total()));
    let mut places: Vec<Code> = (0..column.domain.len() as Code).map(&place).collect();
    places.sort_unstable();
    places.dedup();
    let m = places.len();
    let mut surplus = vec![0i128; m];
    for code in 0..column.domain.len() as Code {
        let at = places.binary_search(&place(code)).unwrap();
        surplus[at] += i128::from(group.count(code)) * all - i128::from(column.counts.count(code)) * n;
    }
    let (cost, scale) = if let Some(file) = &column.taxonomy {
        let tree = Heights::new(column, file, &places);
        (least_cost(&surplus, |a, b| tree.between(a, b)), tree.root())
    } else if column.domain.kind() == Kind::Category {
        (least_cost(&surplus, |a, b| i128::from(a != b)), 1)
    } else {
        (least_cost(&surplus, |a, b| (a as i128 - b as i128).abs()), m as i128 - 1)
    };
    BigRational::new(cost.into(), (scale.max(1) * n * all).into())
}

/// The branchings above some values. Two values are as far apart as there are branchings on the longest way down from
/// where they part.
struct Heights {
    /// For every value, the sets of values under each label above it, the smallest first, each set once.
    above: Vec<Vec<u64>>,
}

impl Heights {
    fn new(column: &SensitiveColumn, file: &TaxonomyFile, codes: &[Code]) -> Self {
        let paths: Vec<Vec<String>> = codes.iter().map(|&code| path(file, &column.domain.text(code))).collect();
        let is_there = |at: usize| column.domain.value(codes[at]).is_some();
        let everything = (1u64 << paths.len()) - 1;
        let below = |label: &String| -> u64 {
            (0..paths.len()).filter(|&at| is_there(at) && paths[at].contains(label)).map(|at| 1 << at).sum()
        };
        // Labels above the same values are one branching. A missing value is beside all others.
        let above = |at: usize| {
            let mut sets: Vec<u64> = if is_there(at) { paths[at].iter().map(below).collect() } else { vec![1 << at] };
            sets.push(everything);
            sets.sort_by_key(|set| set.count_ones());
            sets.dedup();
            if (0..paths.len()).any(|at| !is_there(at)) && paths.len() > 2 {
                // The set of all values but the missing one is no branching of its own beside the root.
                let missing = (0..paths.len()).find(|&at| !is_there(at)).unwrap();
                sets.retain(|&set| set != everything & !(1 << missing));
            }
            sets
        };
        Heights { above: (0..paths.len()).map(above).collect() }
    }

    /// Branchings on the longest way from a set of values down to one of them.
    fn height(&self, set: u64) -> i128 {
        let under = |sets: &Vec<u64>| sets.iter().position(|&other| other == set).unwrap_or(0) as i128;
        self.above.iter().map(under).max().unwrap_or(0)
    }

    fn between(&self, a: usize, b: usize) -> i128 {
        if a == b {
            return 0;
        }
        let common = self.above[a].iter().find(|set| self.above[b].contains(set)).unwrap();
        self.height(*common)
    }

    fn root(&self) -> i128 {
        self.above.iter().map(|sets| sets.len() as i128 - 1).max().unwrap_or(0)
    }
}

/// The labels from a value up to the root, repeated ones once. A missing value lies directly below the root.
pub(super) fn path(file: &TaxonomyFile, text: &str) -> Vec<String> {
    if text.is_empty() {
        return vec![String::new(), file.line(0).last().unwrap().to_owned()];
    }
    let mut path = file.lines().find(|line| line[0] == text).unwrap();
    path.dedup();
    path.into_iter().map(str::to_owned).collect()
}

/// The principle with each of its parameters weakened in turn.
pub fn weaker(spec: &PrincipleSpec) -> Vec<PrincipleSpec> {
    use PrincipleSpec::{
        AlphaK, Beta, DistinctL, DistinctLAlpha, EntropyL, EntropyLAlpha, FrequencyL, KAnonymity, Ke, MInvariance,
        OfPopulation, OthersL, RecursiveCl, RecursiveLAlpha, TCloseness,
    };
    let less = |n: u64| n.saturating_sub(1).max(1);
    let one = Rational::from(1);
    let nearer_one = |number: Rational| (number + one) / 2;
    let half = |number: Rational| number / 2;
    let more = |number: Rational| number * 2 + Ratio::new(1, 3);
    match *spec {
        KAnonymity { k } => vec![KAnonymity { k: less(k) }],
        DistinctL { l } => vec![DistinctL { l: less(l) }],
        FrequencyL { l } => vec![FrequencyL { l: nearer_one(l) }],
        OthersL { l } => vec![OthersL { l: nearer_one(l) }],
        EntropyL { l } => vec![EntropyL { l: nearer_one(l) }],
        RecursiveCl { c, l } => vec![RecursiveCl { c: more(c), l }, RecursiveCl { c, l: less(l) }],
        TCloseness { t } => vec![TCloseness { t: nearer_one(t) }],
        Ke { k, e } => vec![Ke { k: less(k), e }, Ke { k, e: half(e) }],
        AlphaK { alpha, k } => vec![AlphaK { alpha: nearer_one(alpha), k }, AlphaK { alpha, k: less(k) }],
        DistinctLAlpha { l, alpha } => {
            vec![DistinctLAlpha { l: less(l), alpha }, DistinctLAlpha { l, alpha: half(alpha) }]
        }
        EntropyLAlpha { l, alpha } => {
            vec![EntropyLAlpha { l: less(l), alpha }, EntropyLAlpha { l, alpha: half(alpha) }]
        }
        RecursiveLAlpha { c, l, alpha } => vec![
            RecursiveLAlpha { c: more(c), l, alpha },
            RecursiveLAlpha { c, l: less(l), alpha },
            RecursiveLAlpha { c, l, alpha: half(alpha) },
        ],
        Beta { beta } => vec![Beta { beta: more(beta) }],
        MInvariance { m } => vec![MInvariance { m: less(m) }],
        OfPopulation(_) => Vec::new(),
    }
}

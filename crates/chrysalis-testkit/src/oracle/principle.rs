use std::collections::BTreeMap;

use chrysalis_criteria::{PrincipleSpec, Rational, Weights};
use chrysalis_table::{Code, Kind, SaCounts, TaxonomyFile, Value};
use num_bigint::BigInt;
use num_rational::{BigRational, Ratio};

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

/// Whether a group satisfies a principle, word for word as DESIGN.md section 3 defines it. No group of no rows does.
///
/// # Panics
/// When the principle needs what the column lacks: numbers, or categories.
pub fn holds(spec: &PrincipleSpec, column: &SensitiveColumn, group: &SaCounts) -> bool {
    let n = group.total();
    if n == 0 {
        return false;
    }
    let counts: Vec<u64> = (0..column.domain.len() as Code).map(|code| group.count(code)).collect();
    let most = counts.iter().max().copied().unwrap_or(0);
    let distinct = counts.iter().filter(|&&count| count > 0).count() as u64;
    match spec {
        PrincipleSpec::KAnonymity { k } => n >= *k,
        PrincipleSpec::DistinctL { l } => distinct >= *l,
        PrincipleSpec::FrequencyL { l } => share(most, n) <= big(*l).recip(),
        PrincipleSpec::OthersL { l } => counts
            .iter()
            .zip(&column.ordinary)
            .all(|(&count, &is_ordinary)| is_ordinary || share(count, n) <= big(*l).recip()),
        PrincipleSpec::EntropyL { l } => is_entropy_at_least_ln(&counts, &big(*l)),
        PrincipleSpec::RecursiveCl { c, l } => is_recursive(&counts, *c, *l),
        PrincipleSpec::TCloseness { t } => distance(column, group) <= big(*t),
        PrincipleSpec::Ke { k, e } => {
            let numbers: Vec<BigRational> = group.iter().filter_map(|(code, _)| number(column, code)).collect();
            let span = numbers.iter().max().zip(numbers.iter().min()).map(|(high, low)| high - low);
            numbers.len() as u64 >= *k && span.is_some_and(|span| span >= big(*e))
        }
        PrincipleSpec::AlphaK { alpha, k } => n >= *k && share(most, n) <= big(*alpha),
        PrincipleSpec::DistinctLAlpha { l, alpha } => distinct >= *l && weight(column, group) >= big(*alpha),
        PrincipleSpec::EntropyLAlpha { l, alpha } => {
            let diverse = is_entropy_at_least_ln(&category_counts(column, group), &whole(*l));
            distinct >= *l && weight(column, group) >= big(*alpha) && diverse
        }
        PrincipleSpec::RecursiveLAlpha { c, l, alpha } => {
            let diverse = is_recursive(&category_counts(column, group), *c, *l);
            distinct >= *l && weight(column, group) >= big(*alpha) && diverse
        }
        PrincipleSpec::Beta { beta } => (0..column.domain.len() as Code).all(|code| {
            let (p, q) = (share(group.count(code), n), share(column.counts.count(code), column.counts.total()));
            (&p - &q) / &q <= big(*beta)
        }),
    }
}

fn number(column: &SensitiveColumn, code: Code) -> Option<BigRational> {
    match column.domain.value(code)? {
        Value::Integer(number) => Some(whole(*number)),
        Value::Real(number) => BigRational::from_float(*number),
        _ => panic!("(k,e) needs numbers"),
    }
}

/// −Σ p ln p ≥ ln l: in floats where they are clear, by multiplying out where they are not.
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
    ((0..column.domain.len() as Code).map(category).collect(), weights)
}

/// The weight of a group: the sum over its rows.
///
/// # Panics
/// When the column has no categories.
pub fn weight(column: &SensitiveColumn, group: &SaCounts) -> BigRational {
    let (category_of, weights) = weighted_categories(column);
    let rows = group.iter().flat_map(|(code, count)| std::iter::repeat_n(code, usize::try_from(count).unwrap()));
    rows.map(|code| &weights[category_of[code as usize]]).fold(whole(0), |sum, weight| sum + weight)
}

fn category_counts(column: &SensitiveColumn, group: &SaCounts) -> Vec<u64> {
    let (category_of, weights) = weighted_categories(column);
    let mut counts = vec![0; weights.len()];
    group.iter().for_each(|(code, count)| counts[category_of[code as usize]] += count);
    counts
}

/// The earth mover's distance between a group and the whole table, by carrying (Li et al., sections 4.1–4.3).
pub fn distance(column: &SensitiveColumn, group: &SaCounts) -> BigRational {
    let (n, all) = (i128::from(group.total()), i128::from(column.counts.total()));
    let m = column.domain.len();
    let surplus: Vec<i128> = (0..m as Code)
        .map(|code| i128::from(group.count(code)) * all - i128::from(column.counts.count(code)) * n)
        .collect();
    let (cost, scale) = if let Some(file) = &column.taxonomy {
        let tree = Heights::new(column, file);
        (least_cost(&surplus, |a, b| tree.between(a, b)), tree.root())
    } else if column.domain.kind() == Kind::Category {
        (least_cost(&surplus, |a, b| i128::from(a != b)), 1)
    } else {
        (least_cost(&surplus, |a, b| (a as i128 - b as i128).abs()), m as i128 - 1)
    };
    BigRational::new(cost.into(), (scale.max(1) * n * all).into())
}

/// How far below a label its values lie, for all labels above the values that occur.
struct Heights {
    paths: Vec<Vec<String>>,
    height: BTreeMap<String, i128>,
}

impl Heights {
    fn new(column: &SensitiveColumn, file: &TaxonomyFile) -> Self {
        let paths: Vec<Vec<String>> =
            (0..column.domain.len() as Code).map(|code| path(file, &column.domain.text(code))).collect();
        let mut height: BTreeMap<String, i128> = BTreeMap::new();
        for path in &paths {
            for (steps, label) in (0..).zip(path.iter()) {
                let known = height.entry(label.clone()).or_insert(0);
                *known = steps.max(*known);
            }
        }
        Heights { paths, height }
    }

    fn between(&self, a: usize, b: usize) -> i128 {
        if a == b {
            return 0;
        }
        let common = self.paths[a].iter().find(|label| self.paths[b].contains(label)).unwrap();
        self.height[common]
    }

    fn root(&self) -> i128 {
        self.height.values().max().copied().unwrap_or(0)
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
        AlphaK, Beta, DistinctL, DistinctLAlpha, EntropyL, EntropyLAlpha, FrequencyL, KAnonymity, Ke, OthersL,
        RecursiveCl, RecursiveLAlpha, TCloseness,
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
    }
}

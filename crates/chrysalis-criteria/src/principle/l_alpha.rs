use std::fmt;

use chrysalis_table::{Code, SaCounts};
use num_integer::Integer;

use super::entropy_l::{entropy, entropy_is_at_least_ln};
use super::recursive_cl::{head_and_tail, is_recursive, least_c};
use super::{Limit, Principle, Sensitive, column_name, distinct_values};
use crate::{Alike, Categories, CriteriaError, Laws, PrincipleSpec, Rational, show_rational};

/// The three (l,α)-diversities: at least l distinct values whose weights sum to at least α, and for the entropy and
/// recursive variants the diversity over *categories* of values.
///
/// Values that look alike are one, in the most sensitive category that any of them has. Rows without a value weigh nothing, and
/// categories must be diverse with and without them; a group of such rows alone is judged like any other.
///
/// # Guarantees
/// A group cannot consist of the most sensitive values alone, so learning the group's category tells less.
/// # Against whom
/// An attacker who links by the quasi-identifier and is content with knowing how bad the value is (similarity attack).
/// # Cost
/// Linear in the values present.
/// # Paper
/// lalpha, definitions 4–6; the weight is summed over rows.
#[derive(Clone, Debug)]
pub(super) struct LAlphaDiversity {
    spec: PrincipleSpec,
    n_categories: usize,
    /// Weight of every category times the common denominator.
    weights: Vec<u128>,
    denominator: u128,
    alike: Alike,
    /// The category of every code.
    category_of: Vec<usize>,
    weight_words: String,
}

/// Weights with a larger common denominator leave the exact range of 128 bits once multiplied by counts.
const LARGEST_DENOMINATOR: u128 = 1_000_000_000_000_000_000;

impl LAlphaDiversity {
    pub(super) fn bind(
        spec: PrincipleSpec,
        sensitive: &Sensitive<'_>,
        categories: &Categories,
    ) -> Result<Self, CriteriaError> {
        let weights = categories.weights();
        let common = weights.iter().try_fold(1u128, |common, weight| {
            let next = common.lcm(&u128::from(*weight.denom()));
            (next <= LARGEST_DENOMINATOR).then_some(next)
        });
        let denominator = common.ok_or_else(|| CriteriaError::Categories {
            column: sensitive.name.to_owned(),
            problem: "have weights without a common denominator of at most 18 digits".into(),
        })?;
        let shown: Vec<String> = weights.iter().map(|weight| show_rational(*weight)).collect();
        let weight_words = match &shown[..] {
            [first, others @ ..] if !others.is_empty() && others.iter().all(|other| other == first) => {
                format!("all {} categories weigh {first}: none counts as worse than another", shown.len())
            }
            all => format!("categories weigh {}", all.join(", ")),
        };
        let scaled = |weight: &Rational| u128::from(*weight.numer()) * (denominator / u128::from(*weight.denom()));
        let weights = weights.iter().map(scaled).collect();
        let alike = sensitive.alike.clone();
        let codes = 0..sensitive.domain.len() as Code;
        let mut category_of: Vec<usize> = codes.clone().map(|code| categories.category(code)).collect();
        for set in alike.sets() {
            let lowest = set.iter().map(|&code| category_of[code as usize]).min().unwrap_or(0);
            set.into_iter().for_each(|code| category_of[code as usize] = lowest);
        }
        let n_categories = categories.len();
        Ok(LAlphaDiversity { spec, n_categories, weights, denominator, alike, category_of, weight_words })
    }

    fn l(&self) -> u64 {
        match &self.spec {
            PrincipleSpec::DistinctLAlpha { l, .. }
            | PrincipleSpec::EntropyLAlpha { l, .. }
            | PrincipleSpec::RecursiveLAlpha { l, .. } => *l,
            _ => 1,
        }
    }

    fn alpha(&self) -> Rational {
        match &self.spec {
            PrincipleSpec::DistinctLAlpha { alpha, .. }
            | PrincipleSpec::EntropyLAlpha { alpha, .. }
            | PrincipleSpec::RecursiveLAlpha { alpha, .. } => *alpha,
            _ => Rational::from(0),
        }
    }

    /// The weight of a group, times the common denominator: of the rows that have a value, if there are any.
    fn weight(&self, group: &SaCounts) -> u128 {
        let is_all_missing = self.alike.missing(group) == group.total();
        let rows = group.iter().filter(|(code, _)| is_all_missing || !self.alike.is_missing(*code));
        rows.map(|(code, count)| u128::from(count) * self.weights[self.category_of[code as usize]]).sum()
    }

    fn is_heavy(&self, group: &SaCounts) -> bool {
        let alpha = self.alpha();
        self.weight(group) * u128::from(*alpha.denom()) >= u128::from(*alpha.numer()) * self.denominator
    }

    /// Rows per non-empty category: of all rows, and, if only some rows lack a value, of the others alone.
    fn category_counts(&self, group: &SaCounts) -> Vec<Vec<u64>> {
        let of_rows = |counts: &dyn Fn(Code) -> bool| {
            let mut rows = vec![0; self.n_categories];
            let counted = group.iter().filter(|(code, _)| counts(*code));
            counted.for_each(|(code, count)| rows[self.category_of[code as usize]] += count);
            rows.retain(|&count| count > 0);
            rows
        };
        let missing = self.alike.missing(group);
        let all = of_rows(&|_| true);
        if missing == 0 || missing == group.total() {
            return vec![all];
        }
        vec![all, of_rows(&|code| !self.alike.is_missing(code))]
    }

    fn is_diverse(&self, group: &SaCounts) -> bool {
        let is_enough = |counts: Vec<u64>| match &self.spec {
            PrincipleSpec::EntropyLAlpha { l, .. } => entropy_is_at_least_ln(counts.into_iter(), Rational::from(*l)),
            PrincipleSpec::RecursiveLAlpha { c, l, .. } => is_recursive(counts, *c, *l),
            _ => true,
        };
        match &self.spec {
            PrincipleSpec::DistinctLAlpha { .. } => true,
            _ => self.category_counts(group).into_iter().all(is_enough),
        }
    }
}

impl Principle for LAlphaDiversity {
    /// Not scale-free: the weight grows with the group. One Flu and one Asthma weigh less than two of each.
    fn laws(&self) -> Laws {
        Laws { monotone: true, scale_free: false }
    }

    fn holds(&self, group: &SaCounts) -> bool {
        self.alike.distinct(group) >= self.l() && self.is_heavy(group) && self.is_diverse(group)
    }

    fn alike(&self) -> Option<&Alike> {
        Some(&self.alike)
    }

    fn measured(&self) -> String {
        let mut words = self.alike.words();
        words.push(self.weight_words.clone());
        words.join("; ")
    }

    fn least_size(&self) -> u64 {
        // A row weighs at most 1.
        self.l().max(self.alpha().ceil().to_integer())
    }

    fn limit(&self, whole: &SaCounts, sensitive: Option<&Sensitive<'_>>) -> Limit {
        let (column, distinct) = (column_name(sensitive), self.alike.distinct(whole));
        let hundredths = u64::try_from(self.weight(whole) * 100 / self.denominator).unwrap_or(u64::MAX);
        let weight = Rational::new(hundredths, 100);
        let counts = self.category_counts(whole);
        let reason = if distinct < self.l() {
            format!("{}, a group needs {}", distinct_values(distinct, &self.alike, sensitive), self.l())
        } else if !self.is_heavy(whole) {
            let needed = show_rational(self.alpha());
            format!("all rows together weigh {}, a group needs {needed}", show_rational(weight))
        } else if let PrincipleSpec::RecursiveLAlpha { l, .. } = self.spec {
            let (first, tail) = largest(&counts, l);
            format!("the largest category of {column} has {first} rows, all from number {l} on together {tail}")
        } else {
            let reached =
                counts.iter().map(|counts| entropy(counts.iter().copied()).exp()).fold(f64::INFINITY, f64::min);
            format!("the categories of {column} are as diverse as {reached:.2} equally frequent ones")
        };
        // Every parameter as strong as the whole table allows.
        let alpha = if self.is_heavy(whole) { self.alpha() } else { weight };
        let spec = self.spec.with_alpha(alpha);
        let weaker = (self.l().min(2)..=self.l().min(distinct)).rev().filter_map(|l| {
            let spec = spec.with_l(l);
            let PrincipleSpec::RecursiveLAlpha { c, .. } = spec else { return Some(spec) };
            let (first, tail) = largest(&counts, l);
            let is_fine = counts.iter().all(|counts| is_recursive(counts.clone(), c, l));
            Some(spec.with_c(if is_fine { c } else { least_c(first, tail)? }))
        });
        let holds = |spec: &PrincipleSpec| LAlphaDiversity { spec: spec.clone(), ..self.clone() }.holds(whole);
        let instead = match counts.iter().map(Vec::len).min().unwrap_or(0) {
            0 | 1 => "the values are all of one category: choose others, or a principle without categories",
            _ => "one category is too frequent: choose others, or a principle without categories",
        };
        Limit::new(reason, weaker.into_iter().find(holds), instead)
    }
}

/// r₁ and r_l + … + r_m of the reading in which r₁ is largest relative to that sum; products of counts fit 64 bits.
fn largest(readings: &[Vec<u64>], l: u64) -> (u64, u64) {
    let heads = readings.iter().map(|counts| head_and_tail(counts.clone(), l));
    heads.max_by(|a, b| (a.0 * b.1).cmp(&(b.0 * a.1))).unwrap_or((0, 0))
}

impl PrincipleSpec {
    fn with_l(&self, new: u64) -> PrincipleSpec {
        let mut spec = self.clone();
        if let PrincipleSpec::DistinctLAlpha { l, .. }
        | PrincipleSpec::EntropyLAlpha { l, .. }
        | PrincipleSpec::RecursiveLAlpha { l, .. } = &mut spec
        {
            *l = new;
        }
        spec
    }

    fn with_alpha(&self, new: Rational) -> PrincipleSpec {
        let mut spec = self.clone();
        if let PrincipleSpec::DistinctLAlpha { alpha, .. }
        | PrincipleSpec::EntropyLAlpha { alpha, .. }
        | PrincipleSpec::RecursiveLAlpha { alpha, .. } = &mut spec
        {
            *alpha = new;
        }
        spec
    }

    fn with_c(&self, new: Rational) -> PrincipleSpec {
        let mut spec = self.clone();
        if let PrincipleSpec::RecursiveLAlpha { c, .. } = &mut spec {
            *c = new;
        }
        spec
    }
}

impl fmt::Display for LAlphaDiversity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec.fmt(f)
    }
}

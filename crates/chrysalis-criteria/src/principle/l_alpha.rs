use std::fmt;

use chrysalis_table::SaCounts;
use num_integer::Integer;

use super::entropy_l::{entropy, entropy_is_at_least_ln};
use super::recursive_cl::{head_and_tail, is_recursive, least_c};
use super::{Limit, Principle, Sensitive, column_name, values};
use crate::{Categories, CriteriaError, Laws, PrincipleSpec, Rational, show_rational};

/// The three (l,α)-diversities: at least l distinct values whose weights sum to at least α, and for the entropy and
/// recursive variants the diversity over *categories* of values.
///
/// # Guarantees
/// A group cannot consist of the most sensitive values alone, so learning the group's category tells less.
/// # Against whom
/// An attacker who links by the quasi-identifier and is content with knowing how bad the value is (similarity attack).
/// # Cost
/// Linear in the values present.
/// # Paper
/// lalpha, definitions 4–6; the weight is summed over rows.
#[derive(Debug)]
pub(super) struct LAlphaDiversity {
    spec: PrincipleSpec,
    categories: Categories,
    /// Weight of every category times the common denominator.
    weights: Vec<u128>,
    denominator: u128,
}

/// Weights with a larger common denominator leave the exact range of 128 bits once multiplied by counts.
const LARGEST_DENOMINATOR: u128 = 1_000_000_000_000_000_000;

impl LAlphaDiversity {
    pub(super) fn bind(spec: PrincipleSpec, column: &str, categories: &Categories) -> Result<Self, CriteriaError> {
        let weights = categories.weights();
        let common = weights.iter().try_fold(1u128, |common, weight| {
            let next = common.lcm(&u128::from(*weight.denom()));
            (next <= LARGEST_DENOMINATOR).then_some(next)
        });
        let denominator = common.ok_or_else(|| CriteriaError::Categories {
            column: column.to_owned(),
            problem: "have weights without a common denominator of at most 18 digits".into(),
        })?;
        let scaled = |weight: &Rational| u128::from(*weight.numer()) * (denominator / u128::from(*weight.denom()));
        let weights = weights.iter().map(scaled).collect();
        Ok(LAlphaDiversity { spec, categories: categories.clone(), weights, denominator })
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

    /// The weight of a group, times the common denominator.
    fn weight(&self, group: &SaCounts) -> u128 {
        group.iter().map(|(code, count)| u128::from(count) * self.weights[self.categories.category(code)]).sum()
    }

    fn is_heavy(&self, group: &SaCounts) -> bool {
        let alpha = self.alpha();
        self.weight(group) * u128::from(*alpha.denom()) >= u128::from(*alpha.numer()) * self.denominator
    }

    /// Rows per category, empty ones left out.
    fn category_counts(&self, group: &SaCounts) -> Vec<u64> {
        let mut counts = vec![0; self.categories.len()];
        group.iter().for_each(|(code, count)| counts[self.categories.category(code)] += count);
        counts.retain(|&count| count > 0);
        counts
    }

    fn is_diverse(&self, group: &SaCounts) -> bool {
        match &self.spec {
            PrincipleSpec::EntropyLAlpha { l, .. } => {
                entropy_is_at_least_ln(self.category_counts(group).into_iter(), Rational::from(*l))
            }
            PrincipleSpec::RecursiveLAlpha { c, l, .. } => is_recursive(self.category_counts(group), *c, *l),
            _ => true,
        }
    }
}

impl Principle for LAlphaDiversity {
    /// Not scale-free: the weight grows with the group. One Flu and one Asthma weigh less than two of each.
    fn laws(&self) -> Laws {
        Laws { monotone: true, scale_free: false }
    }

    fn holds(&self, group: &SaCounts) -> bool {
        group.distinct() as u64 >= self.l() && self.is_heavy(group) && self.is_diverse(group)
    }

    fn least_size(&self) -> u64 {
        // A row weighs at most 1.
        self.l().max(self.alpha().ceil().to_integer())
    }

    fn limit(&self, whole: &SaCounts, sensitive: Option<&Sensitive<'_>>) -> Limit {
        let (column, distinct) = (column_name(sensitive), whole.distinct() as u64);
        let hundredths = u64::try_from(self.weight(whole) * 100 / self.denominator).unwrap_or(u64::MAX);
        let weight = Rational::new(hundredths, 100);
        let counts = self.category_counts(whole);
        let reason = if distinct < self.l() {
            format!("{column} has {distinct} distinct {}, a group needs {}", values(distinct), self.l())
        } else if !self.is_heavy(whole) {
            let needed = show_rational(self.alpha());
            format!("all rows together weigh {}, a group needs {needed}", show_rational(weight))
        } else if let PrincipleSpec::RecursiveLAlpha { l, .. } = self.spec {
            let (first, tail) = head_and_tail(counts.clone(), l);
            format!("the largest category of {column} has {first} rows, all from number {l} on together {tail}")
        } else {
            let reached = entropy(counts.iter().copied()).exp();
            format!("the categories of {column} are as diverse as {reached:.2} equally frequent ones")
        };
        // Every parameter as strong as the whole table allows it.
        let alpha = if self.is_heavy(whole) { self.alpha() } else { weight };
        let spec = self.spec.with_alpha(alpha);
        let weaker = (self.l().min(2)..=self.l().min(distinct)).rev().filter_map(|l| {
            let spec = spec.with_l(l);
            let PrincipleSpec::RecursiveLAlpha { c, .. } = spec else { return Some(spec) };
            let (first, tail) = head_and_tail(counts.clone(), l);
            Some(spec.with_c(if is_recursive(counts.clone(), c, l) { c } else { least_c(first, tail)? }))
        });
        let holds = |spec: &PrincipleSpec| {
            let (categories, weights) = (self.categories.clone(), self.weights.clone());
            LAlphaDiversity { spec: spec.clone(), categories, weights, denominator: self.denominator }.holds(whole)
        };
        let instead = match counts.len() {
            0 | 1 => "the values are all of one category: choose others, or a principle without categories",
            _ => "one category is too frequent: choose others, or a principle without categories",
        };
        Limit::new(reason, weaker.into_iter().find(holds), instead)
    }
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

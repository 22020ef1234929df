use std::fmt;

use chrysalis_table::{Code, Domain};
use num_rational::Ratio;
use num_traits::{One, Zero};

use crate::{CriteriaError, Rational, parse_rational};

/// Numerators and denominators of weights stay below this, so that a manifest can say them exactly.
const LARGEST_PART: u64 = 1_000_000_000;

/// How much less each category matters than the most sensitive one (lalpha, equation 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Weights {
    /// Equal steps from 0 to 1.
    Uniform,
    /// The step below category i is 1/(i−1)^β: the first steps are the largest.
    Sensitivity(u32),
    /// One weight per category, as given.
    Custom(Vec<Rational>),
}

impl Weights {
    /// Reads `uniform` or `sensitivity(2)`.
    pub fn parse(text: &str) -> Result<Weights, CriteriaError> {
        let error = |problem: &str| CriteriaError::Weights { text: text.to_owned(), problem: problem.to_owned() };
        if text == "uniform" {
            return Ok(Weights::Uniform);
        }
        let beta = text.strip_prefix("sensitivity(").and_then(|rest| rest.strip_suffix(')'));
        let beta = beta.ok_or_else(|| error("there is no such name"))?.trim().parse::<u32>().ok();
        // Larger powers leave the exact range and mean the same: only the first step counts.
        let beta = beta.filter(|&beta| beta <= 4).ok_or_else(|| error("β must be a whole number from 0 to 4"))?;
        Ok(Weights::Sensitivity(beta))
    }

    /// Reads one weight per category, each from 0 to 1.
    pub fn parse_custom<'a>(texts: impl Iterator<Item = &'a str>) -> Result<Weights, CriteriaError> {
        let read = |text: &str| {
            parse_rational(text).filter(|weight| *weight <= Rational::one()).ok_or_else(|| CriteriaError::Weights {
                text: text.to_owned(),
                problem: "a weight is a number from 0 to 1".into(),
            })
        };
        Ok(Weights::Custom(texts.map(read).collect::<Result<_, _>>()?))
    }

    /// The weight of every category, most sensitive first.
    fn of(&self, n: usize) -> Option<Vec<Rational>> {
        let step = |i: usize| match self {
            Weights::Sensitivity(beta) => Ratio::new(1u128, (i as u128).pow(*beta)),
            _ => Ratio::one(),
        };
        if let Weights::Custom(weights) = self {
            return (weights.len() == n).then(|| weights.clone());
        }
        // Up to a dozen categories the common denominators stay within 128 bits; papers use four.
        if n > 12 && matches!(self, Weights::Sensitivity(1..)) {
            return None;
        }
        let total: Ratio<u128> = (1..n).map(step).fold(Ratio::zero(), |sum, step| sum + step);
        let mut sum = Ratio::zero();
        let mut weights = vec![Rational::zero()];
        for i in 1..n {
            sum += step(i);
            let weight: Ratio<u128> = sum / total;
            let part = |number: &u128| u64::try_from(*number).ok().filter(|number| *number < LARGEST_PART);
            weights.push(Ratio::new(part(weight.numer())?, part(weight.denom())?));
        }
        Some(weights)
    }
}

impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Weights::Uniform => f.write_str("uniform"),
            Weights::Sensitivity(beta) => write!(f, "sensitivity({beta})"),
            Weights::Custom(_) => f.write_str("custom"),
        }
    }
}

/// A sensitive domain split into ordered categories with weights (lalpha, definitions 2 and 3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Categories {
    names: Vec<Vec<String>>,
    weights: Vec<Rational>,
    category_of: Vec<usize>,
}

impl Categories {
    /// Splits a domain; every value must be in exactly one category. A missing value is written as `""`.
    pub fn new(
        column: &str,
        domain: &Domain,
        names: Vec<Vec<String>>,
        weights: &Weights,
    ) -> Result<Self, CriteriaError> {
        let error = |problem: String| CriteriaError::Categories { column: column.to_owned(), problem };
        if names.is_empty() || names.iter().any(Vec::is_empty) {
            return Err(error("must not be empty".into()));
        }
        let place = |text: &str| names.iter().position(|category| category.iter().any(|name| name == text));
        let repeated =
            names.iter().flatten().find(|name| names.iter().flatten().filter(|other| other == name).count() > 1);
        if let Some(name) = repeated {
            return Err(error(format!("list `{name}` twice")));
        }
        let category_of = (0..domain.len() as Code)
            .map(|code| place(&domain.text(code)).ok_or_else(|| error(format!("leave out `{}`", domain.display(code)))))
            .collect::<Result<_, _>>()?;
        let problem = || error(format!("do not fit the weights: {weights} for {} categories", names.len()));
        let weights = weights.of(names.len()).ok_or_else(problem)?;
        Ok(Categories { names, weights, category_of })
    }

    /// The values of every category, most sensitive first, as given.
    pub fn names(&self) -> &[Vec<String>] {
        &self.names
    }

    /// The weight of every category.
    pub fn weights(&self) -> &[Rational] {
        &self.weights
    }

    /// Number of categories.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there are none, which construction rules out.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// The category of a code.
    pub fn category(&self, code: Code) -> usize {
        self.category_of[code as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lalpha_weights_follow_equation_1() {
        let show = |weights: &Weights| weights.of(4).unwrap().iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(show(&Weights::Uniform), ["0", "1/3", "2/3", "1"]);
        // The paper prints 9/61 and 45/61, which its own equation does not give (errata lalpha-beta2).
        assert_eq!(show(&Weights::parse("sensitivity(2)").unwrap()), ["0", "36/49", "45/49", "1"]);
        assert_eq!(Weights::Uniform.of(1).unwrap(), [Rational::zero()]);
        assert!(Weights::parse("sensitivity(x)").is_err());
        assert!(Weights::parse_custom(["0", "1.5"].into_iter()).is_err());
    }
}

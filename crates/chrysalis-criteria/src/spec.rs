use std::fmt;
use std::str::FromStr;

use num_traits::{One, Zero};

use crate::{CriteriaError, Rational, parse_rational, show_rational};

/// A principle as a user writes it: a name and exact parameters, not yet bound to a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrincipleSpec {
    /// `k=10`: every group has at least k rows.
    KAnonymity {
        /// Least size.
        k: u64,
    },
    /// `distinct-l=4`: every group has at least l distinct sensitive values.
    DistinctL {
        /// Least number of values.
        l: u64,
    },
    /// `l=4`: no sensitive value makes up more than 1/l of a group.
    FrequencyL {
        /// One over the largest share.
        l: Rational,
    },
    /// `others-l=4`: no sensitive value except ordinary ones makes up more than 1/l of a group. This is what `l=4`
    /// means if the owner names ordinary values.
    OthersL {
        /// One over the largest share.
        l: Rational,
    },
    /// `entropy-l=4`: the entropy of the sensitive values is at least ln l.
    EntropyL {
        /// The number of equally frequent values with the same entropy.
        l: Rational,
    },
    /// `recursive-l=3,4`: r₁ < c·(r_l + … + r_m), counts in descending order.
    RecursiveCl {
        /// The factor c.
        c: Rational,
        /// Where the tail begins.
        l: u64,
    },
    /// `t=0.2`: the distribution in every group lies within t of the whole table's.
    TCloseness {
        /// Largest earth mover's distance.
        t: Rational,
    },
    /// `ke=4,100`: at least k distinct values, which span at least e.
    Ke {
        /// Least number of values.
        k: u64,
        /// Least span.
        e: Rational,
    },
    /// `alpha-k=0.5,10`: at least k rows, and no value makes up more than α of a group.
    AlphaK {
        /// Largest share.
        alpha: Rational,
        /// Least size.
        k: u64,
    },
    /// `distinct-l-alpha=3,1`: at least l distinct values, and a weight of at least α.
    DistinctLAlpha {
        /// Least number of values.
        l: u64,
        /// Least weight.
        alpha: Rational,
    },
    /// `entropy-l-alpha=2,2`: the same, and an entropy over categories of at least ln l.
    EntropyLAlpha {
        /// Least number of values, and of equally frequent categories.
        l: u64,
        /// Least weight.
        alpha: Rational,
    },
    /// `recursive-l-alpha=3,4,2`: as `distinct-l-alpha`, and r₁ < c·(r_l + …) over category counts.
    RecursiveLAlpha {
        /// The factor c.
        c: Rational,
        /// Least number of values, and where the tail begins.
        l: u64,
        /// Least weight.
        alpha: Rational,
    },
    /// `beta=1`: no value is more than β more frequent, relatively, than in the whole table.
    Beta {
        /// Largest relative gain.
        beta: Rational,
    },
    /// `m=4`: m-invariance. In every release of a series, a person's group shows the same m or more sensitive values,
    /// each once.
    MInvariance {
        /// Least number of values.
        m: u64,
    },
    /// `k-map=5`, `delta-presence=0.1,0.5`: conditions on the people of a population under the labels of every group.
    OfPopulation(PopulationSpec),
    /// `toy=2`: every group has at least n distinct sensitive values; it exists for one test.
    #[cfg(feature = "toy-principle")]
    Toy {
        /// Least number of values.
        n: u64,
    },
}

/// What is asked of the population under the labels of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PopulationSpec {
    /// `k-map=5`: at least k people.
    KMap {
        /// Least number of people.
        k: u64,
    },
    /// `delta-presence=0.1,0.5`: between these shares of them are in the data; nobody of the population is under no
    /// group's labels, unless the lower share is 0.
    DeltaPresence {
        /// Least share.
        low: Rational,
        /// Largest share.
        high: Rational,
    },
}

impl PrincipleSpec {
    /// Whether it can be judged only with a table of the population.
    pub fn needs_population(&self) -> bool {
        matches!(self, PrincipleSpec::OfPopulation(_))
    }

    /// Whether it is about several releases, so that it can be judged only with what was published before.
    pub fn needs_series(&self) -> bool {
        matches!(self, PrincipleSpec::MInvariance { .. })
    }

    /// Whether it looks at sensitive values at all.
    pub fn needs_sensitive(&self) -> bool {
        !matches!(self, PrincipleSpec::KAnonymity { .. } | PrincipleSpec::OfPopulation(_))
    }

    /// Whether it weighs sensitive values by their categories.
    pub fn weighs(&self) -> bool {
        matches!(
            self,
            PrincipleSpec::DistinctLAlpha { .. }
                | PrincipleSpec::EntropyLAlpha { .. }
                | PrincipleSpec::RecursiveLAlpha { .. }
        )
    }

    /// Whether groups can be chosen for it so that the choice says nothing about anybody's value: whether some size of
    /// groups is proved to be safe.
    pub fn may_be_transparent(&self) -> bool {
        !self.weighs() && !self.needs_population() && !self.needs_series()
    }

    /// Whether every group that has a row satisfies it, whatever is in it.
    pub fn promises_nothing(&self) -> bool {
        let one = Rational::one();
        match self {
            PrincipleSpec::KAnonymity { k } => *k <= 1,
            PrincipleSpec::DistinctL { l } => *l <= 1,
            PrincipleSpec::MInvariance { m } => *m <= 1,
            PrincipleSpec::FrequencyL { l } | PrincipleSpec::OthersL { l } | PrincipleSpec::EntropyL { l } => *l <= one,
            PrincipleSpec::RecursiveCl { c, l } => *l <= 1 && *c > one,
            PrincipleSpec::TCloseness { t } => *t >= one,
            PrincipleSpec::Ke { k, e } => *k <= 1 && e.is_zero(),
            PrincipleSpec::AlphaK { alpha, k } => *k <= 1 && *alpha >= one,
            PrincipleSpec::DistinctLAlpha { l, alpha } | PrincipleSpec::EntropyLAlpha { l, alpha } => {
                *l <= 1 && alpha.is_zero()
            }
            PrincipleSpec::RecursiveLAlpha { c, l, alpha } => *l <= 1 && *c > one && alpha.is_zero(),
            // How much a share may grow depends on the table.
            PrincipleSpec::Beta { .. } => false,
            PrincipleSpec::OfPopulation(PopulationSpec::KMap { k }) => *k <= 1,
            PrincipleSpec::OfPopulation(PopulationSpec::DeltaPresence { low, high }) => low.is_zero() && *high >= one,
            #[cfg(feature = "toy-principle")]
            PrincipleSpec::Toy { n } => *n <= 1,
        }
    }
}

impl fmt::Display for PrincipleSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |number: &Rational| show_rational(*number);
        match self {
            PrincipleSpec::KAnonymity { k } => write!(f, "k={k}"),
            PrincipleSpec::DistinctL { l } => write!(f, "distinct-l={l}"),
            PrincipleSpec::MInvariance { m } => write!(f, "m={m}"),
            PrincipleSpec::FrequencyL { l } => write!(f, "l={}", show(l)),
            PrincipleSpec::OthersL { l } => write!(f, "others-l={}", show(l)),
            PrincipleSpec::EntropyL { l } => write!(f, "entropy-l={}", show(l)),
            PrincipleSpec::RecursiveCl { c, l } => write!(f, "recursive-l={},{l}", show(c)),
            PrincipleSpec::TCloseness { t } => write!(f, "t={}", show(t)),
            PrincipleSpec::Ke { k, e } => write!(f, "ke={k},{}", show(e)),
            PrincipleSpec::AlphaK { alpha, k } => write!(f, "alpha-k={},{k}", show(alpha)),
            PrincipleSpec::DistinctLAlpha { l, alpha } => write!(f, "distinct-l-alpha={l},{}", show(alpha)),
            PrincipleSpec::EntropyLAlpha { l, alpha } => write!(f, "entropy-l-alpha={l},{}", show(alpha)),
            PrincipleSpec::RecursiveLAlpha { c, l, alpha } => {
                write!(f, "recursive-l-alpha={},{l},{}", show(c), show(alpha))
            }
            PrincipleSpec::Beta { beta } => write!(f, "beta={}", show(beta)),
            PrincipleSpec::OfPopulation(PopulationSpec::KMap { k }) => write!(f, "k-map={k}"),
            PrincipleSpec::OfPopulation(PopulationSpec::DeltaPresence { low, high }) => {
                write!(f, "delta-presence={},{}", show(low), show(high))
            }
            #[cfg(feature = "toy-principle")]
            PrincipleSpec::Toy { n } => write!(f, "toy={n}"),
        }
    }
}

impl FromStr for PrincipleSpec {
    type Err = CriteriaError;

    fn from_str(text: &str) -> Result<Self, CriteriaError> {
        let unknown = || CriteriaError::Unknown { text: text.to_owned() };
        let (name, parameters) = text.split_once('=').ok_or_else(unknown)?;
        if parameters.contains('=') {
            return Err(CriteriaError::Several { text: text.to_owned(), parts: parts(text) });
        }
        let parameters = Parameters { text, values: parameters.split(',').map(str::trim).collect() };
        match name.trim() {
            "k" => Ok(PrincipleSpec::KAnonymity { k: parameters.only(&["k"])?.count(0, "k")? }),
            "m" => Ok(PrincipleSpec::MInvariance { m: parameters.only(&["m"])?.count(0, "m")? }),
            "distinct-l" => Ok(PrincipleSpec::DistinctL { l: parameters.only(&["l"])?.count(0, "l")? }),
            "l" => Ok(PrincipleSpec::FrequencyL { l: parameters.only(&["l"])?.at_least_one(0, "l")? }),
            "others-l" => Ok(PrincipleSpec::OthersL { l: parameters.only(&["l"])?.at_least_one(0, "l")? }),
            "entropy-l" => Ok(PrincipleSpec::EntropyL { l: parameters.only(&["l"])?.at_least_one(0, "l")? }),
            "recursive-l" => {
                let parameters = parameters.only(&["c", "l"])?;
                Ok(PrincipleSpec::RecursiveCl { c: parameters.positive(0, "c")?, l: parameters.count(1, "l")? })
            }
            "t" => Ok(PrincipleSpec::TCloseness { t: parameters.only(&["t"])?.share(0, "t", true)? }),
            "ke" => {
                let parameters = parameters.only(&["k", "e"])?;
                Ok(PrincipleSpec::Ke { k: parameters.count(0, "k")?, e: parameters.number(1, "e")? })
            }
            "alpha-k" => {
                let parameters = parameters.only(&["alpha", "k"])?;
                Ok(PrincipleSpec::AlphaK { alpha: parameters.share(0, "alpha", false)?, k: parameters.count(1, "k")? })
            }
            "distinct-l-alpha" => {
                let parameters = parameters.only(&["l", "alpha"])?;
                Ok(PrincipleSpec::DistinctLAlpha {
                    l: parameters.count(0, "l")?,
                    alpha: parameters.number(1, "alpha")?,
                })
            }
            "entropy-l-alpha" => {
                let parameters = parameters.only(&["l", "alpha"])?;
                Ok(PrincipleSpec::EntropyLAlpha { l: parameters.count(0, "l")?, alpha: parameters.number(1, "alpha")? })
            }
            "recursive-l-alpha" => {
                let parameters = parameters.only(&["c", "l", "alpha"])?;
                Ok(PrincipleSpec::RecursiveLAlpha {
                    c: parameters.positive(0, "c")?,
                    l: parameters.count(1, "l")?,
                    alpha: parameters.number(2, "alpha")?,
                })
            }
            "beta" => Ok(PrincipleSpec::Beta { beta: parameters.only(&["beta"])?.number(0, "beta")? }),
            #[cfg(feature = "toy-principle")]
            "toy" => Ok(PrincipleSpec::Toy { n: parameters.only(&["n"])?.count(0, "n")? }),
            "k-map" => {
                let k = parameters.only(&["k"])?.count(0, "k")?;
                Ok(PrincipleSpec::OfPopulation(PopulationSpec::KMap { k }))
            }
            "delta-presence" => {
                let parameters = parameters.only(&["low", "high"])?;
                let (low, high) = (parameters.share(0, "low", true)?, parameters.share(1, "high", false)?);
                if low > high {
                    return Err(parameters.error("low must not be greater than high".to_owned()));
                }
                Ok(PrincipleSpec::OfPopulation(PopulationSpec::DeltaPresence { low, high }))
            }
            _ => Err(unknown()),
        }
    }
}

/// The principles in a text that has several: a number belongs to the name before it.
fn parts(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for word in text.split([',', ';', ' ']).map(str::trim).filter(|word| !word.is_empty()) {
        match parts.last_mut() {
            Some(part) if !word.contains('=') => *part = format!("{part},{word}"),
            _ => parts.push(word.to_owned()),
        }
    }
    parts
}

/// The numbers after the equals sign.
struct Parameters<'a> {
    text: &'a str,
    values: Vec<&'a str>,
}

impl<'a> Parameters<'a> {
    fn error(&self, problem: String) -> CriteriaError {
        CriteriaError::Parameter { text: self.text.to_owned(), problem }
    }

    fn only(self, names: &[&str]) -> Result<Parameters<'a>, CriteriaError> {
        if self.values.len() == names.len() {
            return Ok(self);
        }
        let what = if names.len() == 1 { "one number" } else { "numbers" };
        Err(self.error(format!("{what} expected ({}), {} given", names.join(","), self.values.len())))
    }

    fn count(&self, index: usize, name: &str) -> Result<u64, CriteriaError> {
        let number = self.values[index].parse::<u32>().ok().filter(|&number| number > 0);
        number.map(u64::from).ok_or_else(|| self.error(format!("{name} must be a whole number from 1 to {}", u32::MAX)))
    }

    fn number(&self, index: usize, name: &str) -> Result<Rational, CriteriaError> {
        let problem = || format!("{name} must be a number of at least 0, with at most nine digits on either side");
        parse_rational(self.values[index]).ok_or_else(|| self.error(problem()))
    }

    fn positive(&self, index: usize, name: &str) -> Result<Rational, CriteriaError> {
        let number = self.number(index, name)?;
        if number.is_zero() { Err(self.error(format!("{name} must be greater than 0"))) } else { Ok(number) }
    }

    fn at_least_one(&self, index: usize, name: &str) -> Result<Rational, CriteriaError> {
        let number = parse_rational(self.values[index]).filter(|number| *number >= Rational::one());
        number.ok_or_else(|| {
            self.error(format!("{name} must be a number of at least 1, with at most nine digits on either side"))
        })
    }

    fn share(&self, index: usize, name: &str, or_zero: bool) -> Result<Rational, CriteriaError> {
        let number = parse_rational(self.values[index]).filter(|number| *number <= Rational::one());
        let number = number.filter(|number| or_zero || !number.is_zero());
        let range = if or_zero { "from 0 to 1" } else { "above 0 and at most 1" };
        number.ok_or_else(|| self.error(format!("{name} must be a number {range}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn principles_read_back_as_they_were_written() {
        let all = "k=10 distinct-l=4 l=4 l=2.5 entropy-l=4 recursive-l=3,4 recursive-l=0.5,2 t=0.2 t=0 ke=4,100 \
                   alpha-k=0.5,10 distinct-l-alpha=3,1 entropy-l-alpha=2,2 recursive-l-alpha=3,4,2 beta=1 beta=1/3 k-map=5 \
                   delta-presence=0.1,0.5 delta-presence=0,1";
        for text in all.split_whitespace() {
            assert_eq!(text.parse::<PrincipleSpec>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn nonsense_is_refused_with_the_reason() {
        let check = |text: &str, message: &str| {
            let error = text.parse::<PrincipleSpec>().unwrap_err();
            assert_eq!(error.to_string(), message);
            assert!(!error.hint().is_empty());
        };
        check("l=0", "`l=0`: l must be a number of at least 1, with at most nine digits on either side");
        check("k=-1", "`k=-1`: k must be a whole number from 1 to 4294967295");
        check("k=0", "`k=0`: k must be a whole number from 1 to 4294967295");
        check("k=1.5", "`k=1.5`: k must be a whole number from 1 to 4294967295");
        check("t=1.2", "`t=1.2`: t must be a number from 0 to 1");
        check("alpha-k=0,3", "`alpha-k=0,3`: alpha must be a number above 0 and at most 1");
        check("recursive-l=3", "`recursive-l=3`: numbers expected (c,l), 1 given");
        check("recursive-l=0,2", "`recursive-l=0,2`: c must be greater than 0");
        check("k=1,2", "`k=1,2`: one number expected (k), 2 given");
        check("beta=x", "`beta=x`: beta must be a number of at least 0, with at most nine digits on either side");
        check("k-map=0", "`k-map=0`: k must be a whole number from 1 to 4294967295");
        check("delta-presence=0.5", "`delta-presence=0.5`: numbers expected (low,high), 1 given");
        check("delta-presence=0.5,0.1", "`delta-presence=0.5,0.1`: low must not be greater than high");
        check("delta-presence=0,0", "`delta-presence=0,0`: high must be a number above 0 and at most 1");
        check("diversity=3", "`diversity=3` is not a principle");
        check("k", "`k` is not a principle");
        check("k=5,l=3", "`k=5,l=3` is several principles where one is expected");
    }

    #[test]
    fn some_parameters_promise_nothing() {
        let nothing = "k=1 distinct-l=1 l=1 entropy-l=1 recursive-l=2,1 t=1 ke=1,0 alpha-k=1,1 distinct-l-alpha=1,0 \
                       entropy-l-alpha=1,0 recursive-l-alpha=2,1,0 k-map=1 delta-presence=0,1";
        for text in nothing.split_whitespace() {
            assert!(text.parse::<PrincipleSpec>().unwrap().promises_nothing(), "{text}");
        }
        let something = "k=2 distinct-l=2 l=1.5 entropy-l=1.01 recursive-l=1,1 recursive-l=2,2 t=0.99 ke=1,1 ke=2,0 \
                         alpha-k=0.9,1 alpha-k=1,2 distinct-l-alpha=1,1 beta=9 k-map=2 delta-presence=0,0.9";
        for text in something.split_whitespace() {
            assert!(!text.parse::<PrincipleSpec>().unwrap().promises_nothing(), "{text}");
        }
    }

    #[test]
    fn several_principles_are_taken_apart() {
        let hint = |text: &str| text.parse::<PrincipleSpec>().unwrap_err().hint().to_string();
        assert_eq!(hint("k=5,l=3"), "require each on its own: `require = k=5` `require = l=3`");
        assert_eq!(
            hint("recursive-l=3, 4; k=5"),
            "require each on its own: `require = recursive-l=3,4` `require = k=5`"
        );
    }
}

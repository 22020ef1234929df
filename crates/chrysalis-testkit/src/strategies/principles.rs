use chrysalis_criteria::{PrincipleSpec, Rational};
use proptest::prelude::*;

use crate::SensitiveColumn;

/// Every principle, as it is named on the command line.
pub const NAMES: [&str; 13] = [
    "k",
    "distinct-l",
    "l",
    "others-l",
    "entropy-l",
    "recursive-l",
    "t",
    "ke",
    "alpha-k",
    "distinct-l-alpha",
    "entropy-l-alpha",
    "recursive-l-alpha",
    "beta",
];

/// A fraction from one whole number to another, with a small denominator.
pub fn rational(low: u64, high: u64) -> impl Strategy<Value = Rational> {
    let denominator = prop::sample::select(vec![1u64, 2, 3, 4, 10, 60]);
    (denominator, 0..=1000u64).prop_map(move |(q, pick)| Rational::new(low * q + (high - low) * q * pick / 1000, q))
}

/// Parameters that about half of small groups reach.
///
/// # Panics
/// When there is no principle of that name.
pub fn principle(name: &str) -> BoxedStrategy<PrincipleSpec> {
    with_reach(name, 1)
}

/// Parameters that many whole tables do not reach.
///
/// # Panics
/// When there is no principle of that name.
pub fn demanding(name: &str) -> BoxedStrategy<PrincipleSpec> {
    with_reach(name, 12)
}

fn with_reach(name: &str, reach: u64) -> BoxedStrategy<PrincipleSpec> {
    use PrincipleSpec::{
        AlphaK, Beta, DistinctL, DistinctLAlpha, EntropyL, EntropyLAlpha, FrequencyL, KAnonymity, Ke, OthersL,
        RecursiveCl, RecursiveLAlpha, TCloseness,
    };
    let few = 1..=2 + reach.min(8);
    let alpha = || rational(0, 4 * reach);
    let c = || rational(0, 4).prop_map(move |c| (c + Rational::new(1, 7)) / reach);
    match name {
        "k" => (1..=12 * reach).prop_map(|k| KAnonymity { k }).boxed(),
        "distinct-l" => few.prop_map(|l| DistinctL { l }).boxed(),
        "l" => rational(1, 3 + reach).prop_map(|l| FrequencyL { l }).boxed(),
        "others-l" => rational(1, 3 + reach).prop_map(|l| OthersL { l }).boxed(),
        "entropy-l" => rational(1, 3 + reach).prop_map(|l| EntropyL { l }).boxed(),
        "recursive-l" => (c(), few).prop_map(|(c, l)| RecursiveCl { c, l }).boxed(),
        "t" => rational(0, 1).prop_map(|t| TCloseness { t }).boxed(),
        "ke" => (few, rational(0, 5 * reach)).prop_map(|(k, e)| Ke { k, e }).boxed(),
        "alpha-k" => {
            let share = rational(0, 1).prop_map(move |share| (share / reach).max(Rational::new(1, 20)));
            (share, 1..=8 * reach).prop_map(|(alpha, k)| AlphaK { alpha, k }).boxed()
        }
        "distinct-l-alpha" => (few, alpha()).prop_map(|(l, alpha)| DistinctLAlpha { l, alpha }).boxed(),
        "entropy-l-alpha" => (few, alpha()).prop_map(|(l, alpha)| EntropyLAlpha { l, alpha }).boxed(),
        "recursive-l-alpha" => (c(), few, alpha()).prop_map(|(c, l, alpha)| RecursiveLAlpha { c, l, alpha }).boxed(),
        "beta" => rational(0, 3).prop_map(|beta| Beta { beta }).boxed(),
        _ => panic!("no principle `{name}`"),
    }
}

/// Between none and three principles that can be bound to a column.
pub fn principles_for(column: &SensitiveColumn) -> BoxedStrategy<Vec<PrincipleSpec>> {
    let fits = |name: &&str| match *name {
        "ke" => column.domain.kind().is_numeric(),
        name if name.contains("-l-alpha") => column.categories.is_some(),
        _ => true,
    };
    let names: Vec<&'static str> = NAMES.into_iter().filter(fits).collect();
    prop::collection::vec(prop::sample::select(names).prop_flat_map(principle), 0..=3).boxed()
}

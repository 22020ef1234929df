//! What a side of a cut must satisfy, decided on its counts alone.

use chrysalis_criteria::{PrincipleSpec, Rational};
use chrysalis_release::Promise;

use crate::measure::{entropy_at_least, recursive_ratio};

/// The principles of a release that both sides of a cut must satisfy.
pub(super) struct Rules(Vec<PrincipleSpec>);

impl Rules {
    /// `None` where some promise is decided by more than the counts of a group.
    pub(super) fn of(promises: &[Promise]) -> Option<Rules> {
        let known = |spec: &PrincipleSpec| match spec {
            PrincipleSpec::KAnonymity { .. }
            | PrincipleSpec::DistinctL { .. }
            | PrincipleSpec::FrequencyL { .. }
            | PrincipleSpec::EntropyL { .. }
            | PrincipleSpec::RecursiveCl { .. }
            | PrincipleSpec::AlphaK { .. } => Some(spec.clone()),
            PrincipleSpec::TCloseness { .. }
            | PrincipleSpec::Ke { .. }
            | PrincipleSpec::DistinctLAlpha { .. }
            | PrincipleSpec::EntropyLAlpha { .. }
            | PrincipleSpec::RecursiveLAlpha { .. }
            | PrincipleSpec::OthersL { .. }
            | PrincipleSpec::OfPopulation(_)
            | PrincipleSpec::MInvariance { .. }
            | PrincipleSpec::Beta { .. } => None,
            #[cfg(feature = "toy-principle")]
            PrincipleSpec::Toy { .. } => None,
        };
        promises.iter().map(|promise| known(promise.principle())).collect::<Option<Vec<_>>>().map(Rules)
    }

    /// Whether some promise looks at sensitive values; otherwise a group's fate says nothing about them.
    pub(super) fn look_at_values(&self) -> bool {
        self.0.iter().any(PrincipleSpec::needs_sensitive)
    }

    /// Whether rows with these sensitive values could be a group.
    pub(super) fn allow(&self, counts: &[u64]) -> bool {
        let size: u64 = counts.iter().sum();
        let most = counts.iter().copied().max().unwrap_or(0);
        let distinct = counts.iter().filter(|count| **count > 0).count() as u64;
        let at_most = |share: Rational| {
            u128::from(most) * u128::from(*share.denom()) <= u128::from(size) * u128::from(*share.numer())
        };
        self.0.iter().all(|spec| match spec {
            PrincipleSpec::KAnonymity { k } => size >= *k,
            PrincipleSpec::DistinctL { l } => distinct >= *l,
            PrincipleSpec::FrequencyL { l } => *l.numer() > 0 && at_most(l.recip()),
            PrincipleSpec::AlphaK { alpha, k } => size >= *k && at_most(*alpha),
            PrincipleSpec::EntropyL { l } => entropy_at_least(counts.iter().copied(), *l).holds(),
            PrincipleSpec::RecursiveCl { c, l } => {
                let ratio = recursive_ratio(counts.iter().copied(), *l);
                ratio.numerator * u128::from(*c.denom()) < ratio.denominator * u128::from(*c.numer())
            }
            _ => true,
        })
    }

    /// Whether `size` rows could be a group if all their values were different.
    pub(super) fn allow_size(&self, size: u64) -> bool {
        self.allow(&vec![1; size as usize])
    }
}

#[cfg(test)]
mod tests {
    use chrysalis_release::Form;

    use super::*;
    use crate::testing::promises as promised;

    fn rules(promises: &[&str]) -> Option<Rules> {
        Rules::of(&promised(Form::Generalize, Some("disease"), promises))
    }

    fn check(promises: &[&str], counts: &[u64], allowed: bool) {
        assert_eq!(rules(promises).unwrap().allow(counts), allowed, "{promises:?} {counts:?}");
    }

    #[test]
    fn rules_are_those_of_the_principles() {
        check(&["k=3"], &[2, 1], true);
        check(&["k=4"], &[2, 1], false);
        check(&["distinct-l=2", "k=2"], &[3, 0], false);
        check(&["l=2"], &[2, 2], true);
        check(&["l=2"], &[3, 2], false);
        check(&["l=1.5"], &[2, 1], true);
        check(&["alpha-k=0.5,4"], &[2, 2], true);
        check(&["alpha-k=0.5,5"], &[2, 2], false);
        check(&["entropy-l=3"], &[2, 2, 2], true);
        check(&["entropy-l=3"], &[2, 2, 1], false);
        check(&["recursive-l=2,2"], &[2, 1, 1], true);
        check(&["recursive-l=1,2"], &[2, 1, 1], false);
        assert!(rules(&["t=0.2"]).is_none());
        assert!(!rules(&["k=3"]).unwrap().look_at_values());
    }
}

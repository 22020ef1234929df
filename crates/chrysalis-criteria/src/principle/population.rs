use std::fmt;

use chrysalis_table::SaCounts;

use super::{Limit, Minimum, Principle, Sensitive};
use crate::{Laws, PopulationSpec, PrincipleSpec, Rational};

/// k-map and δ-presence: conditions on how many people of a population are under the labels of a group.
///
/// # Guarantees
/// k-map: whoever knows the population and a person's quasi values finds at least k people whom a group may mean.
/// δ-presence: the chance that somebody of the population under a group's labels is in the data lies within bounds.
/// # Against whom
/// An attacker who has the population table.
/// # Cost
/// Constant, once the population was counted.
/// # Paper
/// Sweeney, *k-map*; Nergiz, Atzori and Clifton, *Hiding the presence of individuals from shared databases*.
///
/// Labels decide, and counts of sensitive values do not know them. So [`Principle::holds`] lets every group with a row
/// pass, and a publisher must judge groups by their labels as well ([`PopulationGoal`]) before it promises anything.
#[derive(Debug)]
pub(super) struct OfPopulation {
    pub(super) spec: PopulationSpec,
}

impl Principle for OfPopulation {
    /// Merging groups widens labels: k-map survives that, and shares of the population may rise or fall.
    fn laws(&self) -> Laws {
        Laws { monotone: matches!(self.spec, PopulationSpec::KMap { .. }), scale_free: false }
    }

    fn holds(&self, group: &SaCounts) -> bool {
        group.total() > 0
    }

    fn least_size(&self) -> u64 {
        1
    }

    fn is_size_only(&self) -> bool {
        true
    }

    fn minimum(&self) -> Option<Minimum> {
        self.laws().monotone.then_some(Minimum { rows: 1, distinct: 1, span: None, apart: 1 })
    }

    fn limit(&self, _: &SaCounts, _: Option<&Sensitive<'_>>) -> Limit {
        Limit::no_rows()
    }
}

impl fmt::Display for OfPopulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        PrincipleSpec::OfPopulation(self.spec).fmt(f)
    }
}

/// All that some principles ask of the population, as one condition on a group and the people under its labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PopulationGoal {
    least_people: u64,
    least_presence: Rational,
    most_presence: Rational,
    is_empty: bool,
}

impl PopulationGoal {
    /// What is asked by those principles that ask anything.
    pub fn of<'a>(principles: impl Iterator<Item = &'a PrincipleSpec>) -> PopulationGoal {
        let nothing = PopulationGoal {
            least_people: 0,
            least_presence: Rational::from_integer(0),
            most_presence: Rational::from_integer(1),
            is_empty: true,
        };
        principles.fold(nothing, |goal, principle| match principle {
            PrincipleSpec::OfPopulation(PopulationSpec::KMap { k }) => {
                PopulationGoal { least_people: goal.least_people.max(*k), is_empty: false, ..goal }
            }
            PrincipleSpec::OfPopulation(PopulationSpec::DeltaPresence { low, high }) => PopulationGoal {
                least_presence: goal.least_presence.max(*low),
                most_presence: goal.most_presence.min(*high),
                is_empty: false,
                ..goal
            },
            _ => goal,
        })
    }

    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// The least number of people under a group's labels.
    pub fn least_people(&self) -> u64 {
        self.least_people
    }

    /// Whether shares of the population are bounded, and not only numbers of people.
    pub fn bounds_presence(&self) -> bool {
        self.least_presence > Rational::from_integer(0) || self.most_presence < Rational::from_integer(1)
    }

    /// The least share of the population under a group's labels that must be in the data.
    pub fn least_presence(&self) -> Rational {
        self.least_presence
    }

    /// Whether enough people are under a group's labels.
    pub fn is_mapped(&self, people: u64) -> bool {
        people >= self.least_people
    }

    /// Whether a group of so many rows passes with so many people under its labels. Rows that are not in the population
    /// can make the share larger than 1, which no bound allows.
    pub fn holds(&self, rows: u64, people: u64) -> bool {
        let at_least = |share: Rational| {
            u128::from(rows) * u128::from(*share.denom()) >= u128::from(people) * u128::from(*share.numer())
        };
        let at_most = |share: Rational| {
            u128::from(rows) * u128::from(*share.denom()) <= u128::from(people) * u128::from(*share.numer())
        };
        self.is_mapped(people)
            && (!self.bounds_presence() || at_least(self.least_presence) && at_most(self.most_presence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goal(texts: &[&str]) -> PopulationGoal {
        let specs: Vec<PrincipleSpec> = texts.iter().map(|text| text.parse().unwrap()).collect();
        PopulationGoal::of(specs.iter())
    }

    #[test]
    fn all_conditions_count_and_bounds_are_inclusive() {
        assert!(goal(&["k=5", "l=2"]).is_empty());
        let map = goal(&["k-map=3", "k-map=5"]);
        assert!(!map.is_empty() && !map.holds(4, 4) && map.holds(1, 5) && map.holds(9, 5));
        let presence = goal(&["delta-presence=0.1,0.5"]);
        let verdicts: Vec<bool> =
            [(1, 2), (2, 3), (1, 10), (1, 11), (0, 5), (3, 2)].iter().map(|&(n, all)| presence.holds(n, all)).collect();
        assert_eq!(verdicts, [true, false, true, false, false, false]);
        let both = goal(&["k-map=5", "delta-presence=0,0.25", "delta-presence=0.1,0.5"]);
        assert!(both.holds(2, 8) && !both.holds(1, 4) && !both.holds(3, 8) && !both.holds(1, 20));
        assert_eq!(both.least_presence(), Rational::new(1, 10));
    }

    #[test]
    fn labels_decide_so_counts_alone_refuse_nobody() {
        for (text, monotone) in [("k-map=5", true), ("delta-presence=0,0.5", false)] {
            let bound = text.parse::<PrincipleSpec>().unwrap().bind(None).unwrap();
            assert_eq!((bound.laws().monotone, bound.minimum().is_some(), bound.least_size()), (monotone, monotone, 1));
            assert!(bound.holds(&SaCounts::of(1, [0])) && !bound.holds(&SaCounts::new(1)));
            assert_eq!(bound.to_string(), text);
        }
    }
}

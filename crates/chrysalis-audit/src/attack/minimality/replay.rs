//! One group, replayed: all ways to hand out its sensitive values to its members under which no cut would have been
//! allowed.

use std::collections::BTreeSet;

use super::rule::Rules;

/// The most ways of handing out values ("states") that are examined in one group.
pub(super) const MOST_STATES: u64 = 200_000;

/// The values of the members of a group in one quasi attribute.
pub(super) struct Attribute {
    /// The rank of every member's value.
    pub(super) ranks: Vec<u32>,
    /// Whether one value may also be cut off from all others.
    pub(super) is_set: bool,
}

/// The assignments of a group's values that remain possible once it is known that the group could not be cut.
#[derive(Debug, PartialEq)]
pub(super) struct RemainingGroup {
    /// The class of every member: members of one class are on the same side of every cut.
    pub(super) class_of: Vec<usize>,
    /// Members per class.
    pub(super) sizes: Vec<u64>,
    /// Per class and value: in how many assignments a member has the value, summed over the members of the class.
    pub(super) hits: Vec<Vec<u128>>,
    /// Assignments that remain.
    pub(super) worlds: u128,
    /// States examined.
    pub(super) states: u64,
}

/// The cuts that mondrian looks at, as sets of members on one side: between neighbouring ranks, and one value against
/// all others. Only cuts both of whose sides are large enough to be groups.
pub(super) fn cuts(attributes: &[Attribute], n: usize, rules: &Rules) -> BTreeSet<u32> {
    let everybody = (1_u32 << n) - 1;
    let mut cuts = BTreeSet::new();
    let is_large = |members: u32| rules.allow_size(u64::from(members.count_ones()));
    let mut add = |side: u32| {
        let other = everybody & !side;
        if side != 0 && other != 0 && is_large(side) && is_large(other) {
            // A cut and its mirror image are the same.
            cuts.insert(side.min(other));
        }
    };
    for attribute in attributes {
        let with = |is_in: &dyn Fn(u32) -> bool| {
            let members = attribute.ranks.iter().enumerate().filter(|(_, rank)| is_in(**rank));
            members.fold(0_u32, |side, (member, _)| side | 1 << member)
        };
        for &rank in &attribute.ranks {
            add(with(&|other| other < rank));
            if attribute.is_set {
                add(with(&|other| other == rank));
            }
        }
    }
    cuts
}

/// Hands out `counts` in every way that leaves the group whole. The error, where there are too many ways, is how many
/// were examined.
pub(super) fn replay(cuts: &BTreeSet<u32>, n: usize, counts: &[u64], rules: &Rules) -> Result<RemainingGroup, u64> {
    // Members on the same side of every cut are interchangeable.
    let side_of = |member: usize| cuts.iter().map(|cut| cut >> member & 1 == 1).collect::<Vec<bool>>();
    let sides: Vec<Vec<bool>> = (0..n).map(side_of).collect();
    let kinds: BTreeSet<&Vec<bool>> = sides.iter().collect();
    let class_of: Vec<usize> = sides.iter().map(|side| kinds.iter().take_while(|kind| **kind < side).count()).collect();
    let mut sizes = vec![0_u64; kinds.len()];
    class_of.iter().for_each(|&class| sizes[class] += 1);
    let left_of = |cut: usize| kinds.iter().enumerate().filter(|(_, kind)| kind[cut]).map(|(class, _)| class).collect();
    let lefts: Vec<Vec<usize>> = (0..cuts.len()).map(left_of).collect();
    let mut search = Search {
        rules,
        lefts: &lefts,
        sizes: &sizes,
        counts,
        given: vec![vec![0; counts.len()]; sizes.len()],
        rest: counts.to_vec(),
        left: vec![0; counts.len()],
        right: vec![0; counts.len()],
        hits: vec![vec![0; counts.len()]; sizes.len()],
        worlds: 0,
        states: 0,
    };
    let outcome = search.descend(0, 0, sizes.first().copied().unwrap_or(0), 1);
    let Search { hits, worlds, states, .. } = search;
    outcome.ok_or(states)?;
    Ok(RemainingGroup { class_of, sizes, hits, worlds, states })
}

struct Search<'a> {
    rules: &'a Rules,
    /// Per cut, the classes on its left.
    lefts: &'a [Vec<usize>],
    sizes: &'a [u64],
    counts: &'a [u64],
    /// Values handed to each class so far.
    given: Vec<Vec<u64>>,
    /// Values still to be handed out.
    rest: Vec<u64>,
    /// The values on both sides of the current cut.
    left: Vec<u64>,
    right: Vec<u64>,
    hits: Vec<Vec<u128>>,
    worlds: u128,
    states: u64,
}

impl Search<'_> {
    /// Class by class, value by value: chooses how many of `value` go to `class`, of which `room` members have no value
    /// yet. `ways` counts the assignments that agree with the choices so far.
    fn descend(&mut self, class: usize, value: usize, room: u64, ways: u128) -> Option<()> {
        if class == self.sizes.len() {
            self.states += 1;
            self.count(ways);
            return (self.states < MOST_STATES).then_some(());
        }
        if room == 0 {
            let next = self.sizes.get(class + 1).copied().unwrap_or(0);
            return self.descend(class + 1, 0, next, ways);
        }
        if value == self.rest.len() {
            return Some(());
        }
        for n in 0..=room.min(self.rest[value]) {
            self.given[class][value] = n;
            self.rest[value] -= n;
            let outcome = self.descend(class, value + 1, room - n, ways * choose(room, n));
            self.rest[value] += n;
            self.given[class][value] = 0;
            outcome?;
        }
        Some(())
    }

    fn count(&mut self, ways: u128) {
        for classes in self.lefts {
            self.left.fill(0);
            for given in classes.iter().map(|&class| &self.given[class]) {
                self.left.iter_mut().zip(given).for_each(|(left, n)| *left += n);
            }
            let sides = self.right.iter_mut().zip(self.counts).zip(&self.left);
            sides.for_each(|((right, whole), left)| *right = whole - left);
            if self.rules.allow(&self.left) && self.rules.allow(&self.right) {
                return;
            }
        }
        self.worlds += ways;
        for (hits, given) in self.hits.iter_mut().flatten().zip(self.given.iter().flatten()) {
            *hits += ways * u128::from(*given);
        }
    }
}

/// n choose k, for groups of at most a dozen rows.
fn choose(n: u64, k: u64) -> u128 {
    (0..k).fold(1, |product, at| product * u128::from(n - at) / u128::from(at + 1))
}

#[cfg(test)]
mod tests {
    use chrysalis_release::Form;

    use super::*;
    use crate::testing::promises as promised;

    fn rules(promises: &[&str]) -> Rules {
        Rules::of(&promised(Form::Generalize, Some("disease"), promises)).unwrap()
    }

    /// All assignments one by one, and every cut on each of them.
    fn brute_force(cuts: &BTreeSet<u32>, n: usize, counts: &[u64], rules: &Rules) -> (u128, Vec<Vec<u128>>) {
        let (mut worlds, mut hits) = (0, vec![vec![0; counts.len()]; n]);
        let total = (counts.len() as u64).pow(n as u32);
        for code in 0..total {
            let values: Vec<usize> =
                (0..n).map(|at| (code / (counts.len() as u64).pow(at as u32)) as usize % counts.len()).collect();
            let tally = |is_in: &dyn Fn(usize) -> bool| {
                let mut tally = vec![0; counts.len()];
                values.iter().enumerate().filter(|(at, _)| is_in(*at)).for_each(|(_, &value)| tally[value] += 1);
                tally
            };
            if tally(&|_| true) != counts {
                continue;
            }
            let stands = |cut: &u32| {
                rules.allow(&tally(&|at| cut >> at & 1 == 1)) && rules.allow(&tally(&|at| cut >> at & 1 == 0))
            };
            if !cuts.iter().any(stands) {
                worlds += 1;
                values.iter().enumerate().for_each(|(at, &value)| hits[at][value] += 1);
            }
        }
        (worlds, hits)
    }

    fn check(attributes: &[(&[u32], bool)], counts: &[u64], promises: &[&str]) -> RemainingGroup {
        let attributes: Vec<Attribute> =
            attributes.iter().map(|&(ranks, is_set)| Attribute { ranks: ranks.to_vec(), is_set }).collect();
        let (n, rules) = (attributes[0].ranks.len(), rules(promises));
        let cuts = cuts(&attributes, n, &rules);
        let left = replay(&cuts, n, counts, &rules).unwrap();
        let (worlds, hits) = brute_force(&cuts, n, counts, &rules);
        assert_eq!(left.worlds, worlds);
        for (member, hits) in hits.iter().enumerate() {
            let class = left.class_of[member];
            for (value, &hits) in hits.iter().enumerate() {
                // Members of a class share their hits evenly.
                assert_eq!(left.hits[class][value], hits * u128::from(left.sizes[class]), "{member} {value}");
            }
        }
        left
    }

    #[test]
    fn a_group_that_was_not_cut_betrays_why() {
        // Wong et al. 2007, in small: two pairs of people who could be groups of their own, values HIV, HIV, flu, flu,
        // distinct-l=2. The pairs were not separated, so one of them has the same value twice, and so has the other.
        let left = check(&[(&[1, 1, 2, 2], false)], &[2, 2], &["distinct-l=2"]);
        assert_eq!((left.worlds, left.sizes.len()), (2, 2));
        // Everybody still has either value in half of the assignments: nothing is learned about a single person.
        assert_eq!(left.hits[0], [2, 2]);
    }

    #[test]
    fn values_are_narrowed_where_one_side_must_fail() {
        // HIV once and flu three times, in two pairs; distinct-l=2 asks for two values. Every assignment leaves one
        // pair with flu alone, so nothing is learned.
        let left = check(&[(&[1, 1, 2, 2], false)], &[1, 3], &["distinct-l=2"]);
        assert_eq!(left.worlds, 4);
        // Six people, three values twice each, l=3: the two halves could be separated if each had all three values.
        let left = check(&[(&[1, 1, 1, 2, 2, 2], false)], &[2, 2, 2], &["l=3"]);
        assert_eq!(left.worlds, 90 - 36);
    }

    #[test]
    fn replays_agree_with_brute_force() {
        check(&[(&[1, 2, 3, 4, 5, 6], false)], &[3, 2, 1], &["l=2"]);
        check(&[(&[1, 2, 3, 1, 2, 3], true), (&[1, 1, 1, 2, 2, 2], false)], &[3, 2, 1], &["distinct-l=2"]);
        check(&[(&[1, 2, 2, 3, 3, 3, 4], true)], &[3, 3, 1], &["alpha-k=0.67,3"]);
        check(&[(&[4, 3, 2, 1, 4, 3], false), (&[1, 2, 1, 2, 1, 2], true)], &[2, 2, 1, 1], &["entropy-l=2"]);
        check(&[(&[1, 1, 1, 1], false)], &[2, 2], &["l=2"]);
    }

    #[test]
    fn too_many_ways_are_not_tried() {
        let ranks = (0..12).collect();
        let attributes = [Attribute { ranks, is_set: false }];
        let rules = rules(&["distinct-l=2"]);
        let cuts = cuts(&attributes, 12, &rules);
        assert_eq!(replay(&cuts, 12, &[1; 12], &rules), Err(MOST_STATES));
    }
}

//! Random exchanges between finished groups, so that replaying the algorithm on possible worlds hardly tells them apart
//! by the groups that come out.
//!
//! Two rows of different groups are picked, whatever their sensitive values, and change places with a probability that
//! falls with the cost of the exchange (Metropolis and others 1953). If this is done often enough, a grouping π that
//! passes comes out with a probability proportional to exp(−cost(π)/heat). Now let two members of a group exchange
//! their values. Every grouping with that group passes in both worlds or in neither, and costs the same. So its
//! probability changes only by the ratio of the sums over all groupings that pass, and these sums hardly depend on two
//! rows.

use chrysalis_criteria::Principle;
use chrysalis_table::SaCounts;
use rand::rngs::ChaCha8Rng;
use rand::{CryptoRng, RngExt, SeedableRng};

/// The heat, in units of the average cost of a row: the higher it is, the less groups reveal, and the more they lose.
pub(super) const HEAT: f64 = 0.25;
/// About this many rows are looked at in all: small tables are stirred longer.
const LOOKS_IN_ALL: u64 = 4_000_000;
/// The most orders into which groups are put, and the most times that every row is picked in each order.
const MOST_ROUNDS: u64 = 8;
const MOST_SWEEPS: u64 = 16;

/// Rows of larger groups are picked less often, so that no group costs the square of its size.
const MOST_LOOKS: u32 = 512;

/// In how many orders to stir groups of these sizes, and how often to pick every row in each. They are part of a table
/// with `whole_rows` rows, with which they share the looks.
pub(super) fn rounds_and_sweeps(sizes: impl Iterator<Item = u32> + Clone, whole_rows: usize) -> (usize, usize) {
    // Judging an exchange takes a look at every row of both groups.
    let looks: u64 = sizes.clone().map(|size| u64::from(size) * u64::from(size.min(MOST_LOOKS))).sum();
    let n_rows = sizes.map(u64::from).sum::<u64>().max(1);
    let looks = looks.saturating_mul((whole_rows as u64).div_ceil(n_rows));
    let sweeps = (LOOKS_IN_ALL / looks.max(1)).clamp(1, MOST_ROUNDS * MOST_SWEEPS);
    let rounds = sweeps.min(MOST_ROUNDS);
    (rounds as usize, (sweeps / rounds) as usize)
}

/// Rows that are 2 to this power or more positions apart, in the order of groups, do not change places.
const BITS_APART: u32 = 7;

/// A row that can be a member of a group.
pub(super) trait Member: Copy {
    /// Its sensitive code.
    fn value(&self) -> u32;
}

/// What groups cost.
pub(super) trait Cost<T> {
    /// By how much the cost of two groups rises if row `a` of the first and row `b` of the second change places.
    fn rise(&self, first: &[T], a: usize, second: &[T], b: usize) -> f64;
}

/// Randomness that is divided among blocks of groups, whichever threads work on them.
pub(super) struct Lots {
    key: [u8; 32],
}

impl Lots {
    pub(super) fn new(rng: &mut dyn CryptoRng) -> Self {
        let mut key = [0; 32];
        rng.fill_bytes(&mut key);
        Lots { key }
    }

    /// The generator of one block in one round.
    pub(super) fn of(&self, round: usize, block: usize) -> ChaCha8Rng {
        let mut lots = ChaCha8Rng::from_seed(self.key);
        lots.set_stream((round as u64) << 32 | block as u64);
        lots
    }
}

/// How groups are stirred.
pub(super) struct Stirrer<'a> {
    pub(super) goal: &'a dyn Principle,
    /// Whether values stay apart: if no group holds a value twice, none ever will.
    pub(super) keeps_apart: bool,
    /// About what an exchange may cost.
    pub(super) heat: f64,
    /// How often each row is picked, on average.
    pub(super) sweeps: usize,
    /// By how much the cost may rise in all, on average per row.
    pub(super) slack: f64,
}

impl Stirrer<'_> {
    /// Exchanges rows between groups, which `members` holds one after the other. Sizes stay as they are, and every
    /// group passes.
    pub(super) fn stir<T: Member>(
        &self,
        members: &mut [T],
        sizes: &[u32],
        cost: &impl Cost<T>,
        counts: &mut SaCounts,
        lots: &mut ChaCha8Rng,
    ) {
        let n = members.len();
        if sizes.len() < 2 {
            return;
        }
        let mut group_of: Vec<u32> = Vec::with_capacity(n);
        let mut starts: Vec<u32> = Vec::with_capacity(sizes.len());
        for (group, &size) in (0u32..).zip(sizes) {
            starts.push(group_of.len() as u32);
            group_of.extend((0..size).map(|_| group));
        }
        let is_apart = self.keeps_apart && are_apart(members, sizes);
        let slack = self.slack * n as f64;
        let mut risen = 0.0;
        for _ in 0..n * self.sweeps {
            // Two positions are picked with the same probability whichever rows are there, so an exchange is proposed
            // as often as its reverse.
            let i = lots.random_range(0..n);
            // Near positions are picked more often than far ones.
            let least = 1 << lots.random_range(0..BITS_APART);
            let j = i + lots.random_range(least..2 * least);
            if j >= n || group_of[i] == group_of[j] {
                continue;
            }
            // How often a row is picked depends on the sizes of both groups alone, which an exchange leaves as they are.
            let larger = sizes[group_of[i] as usize].max(sizes[group_of[j] as usize]);
            if larger > MOST_LOOKS && lots.random_range(0..larger) >= MOST_LOOKS {
                continue;
            }
            let most = -self.heat * f64::from(lots.random::<f32>().max(f32::MIN_POSITIVE).ln());
            let range = |group: u32| {
                let start = starts[group as usize] as usize;
                start..start + sizes[group as usize] as usize
            };
            let (first, second) = (range(group_of[i]), range(group_of[j]));
            let (a, b) = (i - first.start, j - second.start);
            let rise = cost.rise(&members[first.clone()], a, &members[second.clone()], b);
            if rise <= most
                && risen + rise <= slack
                && (!is_apart || stay_apart(&members[first.clone()], a, &members[second.clone()], b))
                && self.passes(&members[first], a, &members[second], b, counts)
            {
                members.swap(i, j);
                risen += rise;
            }
        }
    }

    /// Whether both groups pass once two rows have changed places.
    fn passes<T: Member>(&self, first: &[T], a: usize, second: &[T], b: usize, counts: &mut SaCounts) -> bool {
        let (going, coming) = (first[a].value(), second[b].value());
        if going == coming {
            return true;
        }
        let mut holds = |group: &[T], but: usize, value: u32| {
            counts.clear();
            group
                .iter()
                .enumerate()
                .for_each(|(at, member)| counts.add(if at == but { value } else { member.value() }));
            self.goal.holds(counts)
        };
        holds(first, a, coming) && holds(second, b, going)
    }
}

/// Whether no row meets its own value in its new group when two rows change places.
fn stay_apart<T: Member>(first: &[T], a: usize, second: &[T], b: usize) -> bool {
    let lacks = |group: &[T], but: usize, value: u32| {
        group.iter().enumerate().all(|(at, member)| at == but || member.value() != value)
    };
    lacks(first, a, second[b].value()) && lacks(second, b, first[a].value())
}

/// Whether no group holds a value twice.
fn are_apart<T: Member>(members: &[T], sizes: &[u32]) -> bool {
    let mut rest = members;
    let mut values = Vec::new();
    sizes.iter().all(|&size| {
        let (group, after) = rest.split_at(size as usize);
        rest = after;
        values.clear();
        values.extend(group.iter().map(Member::value));
        values.sort_unstable();
        values.windows(2).all(|pair| pair[0] != pair[1])
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use chrysalis_criteria::PrincipleSpec;

    use super::*;

    #[derive(Clone, Copy, Debug)]
    struct Person {
        at: f64,
        value: u32,
        name: u32,
    }

    impl Member for Person {
        fn value(&self) -> u32 {
            self.value
        }
    }

    /// Pairs to start from.
    const START: [usize; 6] = [0, 2, 1, 3, 4, 5];

    /// How far the two of a pair are apart.
    struct Apart;

    impl Cost<Person> for Apart {
        fn rise(&self, first: &[Person], a: usize, second: &[Person], b: usize) -> f64 {
            let apart = |p: &Person, q: &Person| (p.at - q.at).abs();
            let (p, q) = (&first[a], &second[b]);
            let (of_p, of_q) = (&first[1 - a], &second[1 - b]);
            apart(q, of_p) + apart(p, of_q) - apart(p, of_p) - apart(q, of_q)
        }
    }

    fn people(values: [u32; 6]) -> Vec<Person> {
        let at = [0.0, 1.0, 1.5, 3.0, 3.2, 5.0];
        (0..6).map(|name| Person { at: at[name], value: values[name], name: name as u32 }).collect()
    }

    /// Pairs of names, in order.
    fn pairs(people: &[Person]) -> Vec<(u32, u32)> {
        let pair = |pair: &[Person]| (pair[0].name.min(pair[1].name), pair[0].name.max(pair[1].name));
        let mut pairs: Vec<(u32, u32)> = people.chunks_exact(2).map(pair).collect();
        pairs.sort_unstable();
        pairs
    }

    /// How often every way to form pairs comes out, after many exchanges.
    fn shares(values: [u32; 6], heat: f64, slack: f64) -> BTreeMap<Vec<(u32, u32)>, f64> {
        let goal = "l=2".parse::<PrincipleSpec>().unwrap();
        let counts = SaCounts::of(4, values);
        let domain = chrysalis_table::Column::integers("s", &values.map(i64::from));
        let alike = chrysalis_criteria::Alike::new(domain.domain(), &chrysalis_criteria::Near::Nothing);
        let sensitive = chrysalis_criteria::Sensitive {
            alike: &alike,
            name: "s",
            domain: domain.domain(),
            counts: &counts,
            taxonomy: None,
            categories: None,
            ordinary: &[false; 4],
        };
        let goal = goal.bind(Some(&sensitive)).unwrap();
        let stirrer = Stirrer { goal: goal.as_ref(), keeps_apart: true, heat, sweeps: 4, slack };
        let mut lots = Lots { key: [7; 32] }.of(0, 0);
        let mut members = START.map(|name| people(values)[name]).to_vec();
        let mut seen: BTreeMap<Vec<(u32, u32)>, f64> = BTreeMap::new();
        let n = 60_000;
        for _ in 0..n {
            stirrer.stir(&mut members, &[2, 2, 2], &Apart, &mut SaCounts::new(4), &mut lots);
            *seen.entry(pairs(&members)).or_default() += 1.0 / f64::from(n);
        }
        seen
    }

    /// exp(−cost/heat) over all pairs that pass.
    fn expected(values: [u32; 6], heat: f64) -> BTreeMap<Vec<(u32, u32)>, f64> {
        let people = people(values);
        let mut weights = BTreeMap::new();
        for second in 1..6 {
            let left: Vec<usize> = (1..6).filter(|&name| name != second).collect();
            for third in 1..4 {
                let last: Vec<usize> = (1..4).filter(|&at| at != third).collect();
                let order = [0, second, left[0], left[third], left[last[0]], left[last[1]]];
                let members: Vec<Person> = order.iter().map(|&name| people[name]).collect();
                let cost: f64 = members.chunks_exact(2).map(|pair| (pair[0].at - pair[1].at).abs()).sum();
                if members.chunks_exact(2).all(|pair| pair[0].value != pair[1].value) {
                    weights.insert(pairs(&members), (-cost / heat).exp());
                }
            }
        }
        let all: f64 = weights.values().sum();
        weights.into_iter().map(|(pairs, weight)| (pairs, weight / all)).collect()
    }

    #[test]
    fn groups_come_out_as_often_as_their_cost_says() {
        let values = [0, 0, 1, 2, 1, 3];
        let (seen, expected) = (shares(values, 1.5, f64::INFINITY), expected(values, 1.5));
        assert_eq!(expected.len(), 10);
        assert!(seen.keys().eq(expected.keys()), "{seen:?}");
        for (pairs, share) in &expected {
            assert!((seen[pairs] - share).abs() < 0.02, "{pairs:?}: {} {share}", seen[pairs]);
        }
    }

    /// What somebody who replays the algorithm sees: if the members of a pair exchange their values, the probability of
    /// every grouping with that pair changes by the same factor.
    #[test]
    fn an_exchange_inside_a_group_changes_its_chance_by_one_factor() {
        let (own, other) = (expected([0, 0, 1, 2, 1, 3], 1.5), expected([1, 0, 0, 2, 1, 3], 1.5));
        let ratios: Vec<f64> = own
            .iter()
            .filter(|(pairs, _)| pairs.contains(&(0, 2)))
            .map(|(pairs, share)| share / other[pairs])
            .collect();
        assert!(ratios.len() > 1 && ratios.iter().all(|ratio| (ratio - ratios[0]).abs() < 1e-12), "{ratios:?}");
    }

    #[test]
    fn nothing_costs_more_than_it_may() {
        // Whatever happens on the way, no grouping that comes out costs more than the one at the start.
        let seen = shares([0, 0, 1, 2, 1, 3], 1.5, 0.0);
        let cost = |pairs: &Vec<(u32, u32)>| {
            let people = people([0; 6]);
            pairs.iter().map(|&(a, b)| people[b as usize].at - people[a as usize].at).sum::<f64>()
        };
        assert!(seen.keys().all(|pairs| cost(pairs) <= cost(&vec![(0, 2), (1, 3), (4, 5)]) + 1e-9), "{seen:?}");
    }

    #[test]
    fn small_tables_are_stirred_longer() {
        assert_eq!(rounds_and_sweeps(std::iter::repeat_n(4, 75), 300), (8, 16));
        assert_eq!(rounds_and_sweeps(std::iter::repeat_n(10, 10_000), 100_000), (4, 1));
        assert_eq!(rounds_and_sweeps(std::iter::repeat_n(10, 200_000), 2_000_000), (1, 1));
        // A tenth of a large table.
        assert_eq!(rounds_and_sweeps(std::iter::repeat_n(10, 10_000), 1_000_000), (1, 1));
    }
}

use std::collections::{BTreeMap, BTreeSet};

use chrysalis_criteria::Rational;
use chrysalis_table::Watch;

/// The most states that sums run over.
const MAX_STATES: usize = 100_000;

/// The most cells of a part.
const MAX_CELLS: usize = 64;

/// People who are in the same groups of a part.
pub(super) struct Cell {
    /// The groups, by their places in the part.
    pub(super) groups: Vec<usize>,
    pub(super) people: u64,
    /// Whether they are people of the table, and not some who left.
    pub(super) stays: bool,
}

/// Groups that are joined, and the people in them.
pub(super) struct Part<'a> {
    pub(super) shown: &'a [BTreeMap<String, u64>],
    pub(super) cells: &'a [Cell],
    pub(super) ordinary: &'a BTreeSet<String>,
}

/// What all worlds together tell of some people.
pub(super) struct Told {
    pub(super) people: u64,
    /// Whether they are people of the table, and not some who left.
    pub(super) stay: bool,
    /// The largest share of a value.
    pub(super) most: Rational,
    /// The largest share of a value that is not ordinary.
    pub(super) most_other: Rational,
    /// The largest share that a value has in one of their own groups.
    pub(super) alone: Rational,
}

/// How many people of each cell have no value yet.
type State = Vec<u16>;

/// The largest share of a value in one group.
fn largest(values: &BTreeMap<String, u64>) -> Option<Rational> {
    let most = *values.values().max()?;
    Some(Rational::new(most, values.values().sum()))
}

/// One over the number of values, if all groups show the same values, and each of them all equally often.
pub(super) fn even_share(shown: &[BTreeMap<String, u64>]) -> Option<Rational> {
    let first = shown.first().filter(|first| !first.is_empty())?;
    let is_even = |values: &BTreeMap<String, u64>| values.values().collect::<BTreeSet<_>>().len() == 1;
    let is_same = |values: &BTreeMap<String, u64>| values.keys().eq(first.keys());
    shown.iter().all(|values| is_even(values) && is_same(values)).then(|| Rational::new(1, first.len() as u64))
}

/// The greatest common divisor.
fn divisor(one: u128, other: u128) -> u128 {
    if other == 0 { one.max(1) } else { divisor(other, one % other) }
}

impl Part<'_> {
    /// What is told of every cell; `None` where worlds cannot be counted, or there are none.
    pub(super) fn shares(&self, watch: &dyn Watch) -> Option<Vec<Told>> {
        if self.cells.len() > MAX_CELLS {
            return None;
        }
        let values: BTreeSet<&String> = self.shown.iter().flat_map(BTreeMap::keys).collect();
        let values: Vec<&String> = values.into_iter().collect();
        let full: State = self.cells.iter().map(|cell| u16::try_from(cell.people).ok()).collect::<Option<_>>()?;
        // By the number of values that are handed out: the ways to come to a state.
        let mut ways: Vec<BTreeMap<State, u128>> = vec![BTreeMap::from([(full, 1)])];
        for value in &values {
            let mut next: BTreeMap<State, u128> = BTreeMap::new();
            for (state, n) in &ways[ways.len() - 1] {
                watch.pause();
                for (taken, times) in self.choices(state, value)? {
                    let left: State = state.iter().zip(&taken).map(|(state, taken)| state - taken).collect();
                    let known = next.entry(left).or_default();
                    *known = known.checked_add(n.checked_mul(times)?)?;
                }
                if next.len() > MAX_STATES {
                    return None;
                }
            }
            ways.push(next);
        }
        let none: State = vec![0; self.cells.len()];
        let n_worlds = *ways[values.len()].get(&none)?;
        // Backwards: the ways to go on from a state, and with them the people of every cell who have a value.
        let mut after: BTreeMap<State, u128> = BTreeMap::from([(none, 1)]);
        let (mut most, mut most_other) = (vec![0_u128; self.cells.len()], vec![0_u128; self.cells.len()]);
        for (at, value) in values.iter().enumerate().rev() {
            let (mut before, mut having) = (BTreeMap::new(), vec![0_u128; self.cells.len()]);
            for (state, n) in &ways[at] {
                watch.pause();
                let mut onwards = 0_u128;
                for (taken, times) in self.choices(state, value)? {
                    let left: State = state.iter().zip(&taken).map(|(state, taken)| state - taken).collect();
                    let Some(rest) = after.get(&left) else { continue };
                    let through = times.checked_mul(*rest)?;
                    onwards = onwards.checked_add(through)?;
                    for (having, &taken) in having.iter_mut().zip(&taken) {
                        let people = n.checked_mul(through)?.checked_mul(u128::from(taken))?;
                        *having = having.checked_add(people)?;
                    }
                }
                if onwards > 0 {
                    before.insert(state.clone(), onwards);
                }
            }
            let raise = |most: &mut [u128]| {
                most.iter_mut().zip(&having).for_each(|(most, &having)| *most = (*most).max(having));
            };
            raise(&mut most);
            if !self.ordinary.contains(*value) {
                raise(&mut most_other);
            }
            after = before;
        }
        let share = |cell: &Cell, most: u128| {
            let all = n_worlds.checked_mul(u128::from(cell.people))?;
            let common = divisor(most, all);
            let (most, all) = (most / common, all / common);
            // A share that needs more digits is rounded up.
            let shift = (128 - all.leading_zeros()).saturating_sub(62);
            let more = u128::from(shift > 0);
            Some(Rational::new(u64::try_from((most >> shift) + more).ok()?, u64::try_from(all >> shift).ok()?))
        };
        let told = |(cell, (most, most_other)): (&Cell, (&u128, &u128))| {
            let (most, most_other) = (share(cell, *most)?, share(cell, *most_other)?);
            let alone = cell.groups.iter().filter_map(|&group| largest(&self.shown[group])).max()?;
            Some(Told { people: cell.people, stay: cell.stays, most, most_other, alone })
        };
        self.cells.iter().zip(most.iter().zip(&most_other)).map(told).collect()
    }

    /// All ways to choose who has a value, cell by cell, so that every group has as many as it shows: how many of each cell,
    /// and the ways to choose these. `None` where there are too many.
    fn choices(&self, state: &[u16], value: &str) -> Option<Vec<(State, u128)>> {
        let mut lacking: Vec<u64> = self.shown.iter().map(|shown| shown.get(value).copied().unwrap_or(0)).collect();
        let (mut all, mut taken) = (Vec::new(), vec![0_u16; state.len()]);
        self.choose(0, state, &mut lacking, (&mut taken, 1), &mut all)?;
        Some(all)
    }

    fn choose(
        &self,
        cell: usize,
        state: &[u16],
        lacking: &mut [u64],
        (taken, times): (&mut [u16], u128),
        all: &mut Vec<(State, u128)>,
    ) -> Option<()> {
        let Some(known) = self.cells.get(cell) else {
            if lacking.iter().all(|&lacking| lacking == 0) {
                all.push((taken.to_vec(), times));
            }
            return (all.len() <= MAX_STATES).then_some(());
        };
        let most = known.groups.iter().map(|&group| lacking[group]).min().unwrap_or(0).min(u64::from(state[cell]));
        let mut ways = 1_u128;
        for n in 0..=most {
            taken[cell] = u16::try_from(n).ok()?;
            known.groups.iter().for_each(|&group| lacking[group] -= n);
            self.choose(cell + 1, state, lacking, (taken, times.checked_mul(ways)?), all)?;
            known.groups.iter().for_each(|&group| lacking[group] += n);
            // The next binomial coefficient.
            ways = ways.checked_mul(u128::from(state[cell]) - u128::from(n))? / u128::from(n + 1);
        }
        taken[cell] = 0;
        Some(())
    }
}

//! Whether a combination of levels is feasible, what it costs, and what follows for other combinations.

use chrysalis_criteria::{Principle, Rational};
use chrysalis_table::SaCounts;

use super::Metric;
use super::contents::{GroupContents, Needs, Union};
use super::key::{Key, Slot};
use super::lattice::{Lattice, Node};
use super::levels::Axis;
use super::population::{Counted, Population};
use super::roll::RolledGroups;
use super::tuples::Groups;

/// What is fixed during a search.
pub(super) struct Problem<'a> {
    pub(super) axes: Vec<Axis>,
    pub(super) lattice: Lattice,
    pub(super) slots: Vec<Slot>,
    pub(super) goal: &'a dyn Principle,
    pub(super) metric: Metric,
    pub(super) rows: u64,
    /// Rows that may be suppressed.
    pub(super) limit: u64,
    pub(super) n_values: usize,
    pub(super) needs: Needs,
    /// The people who could be in the table, if the goal asks about them.
    pub(super) population: Option<Population>,
}

/// What is known about a node once its groups have been formed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Verdict {
    pub(super) node: Node,
    /// The cost of the release it gives; `None` if too many rows would have to be suppressed.
    pub(super) cost: Option<f64>,
    /// No node below is feasible either (spec, lemma 1).
    pub(super) rules_out_below: bool,
    /// Every node below costs at least this much more than its levels alone (lemma 2).
    pub(super) extra_below: f64,
    /// Every node above costs at least this much (lemma 3).
    pub(super) least_above: f64,
}

/// Which groups of a node are suppressed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Split {
    /// Groups whose rows are suppressed, ascending; `None` if that would be too many rows.
    pub(super) suppressed: Option<Vec<u32>>,
    /// Groups of this node, each with a number of rows that are suppressed in every node below.
    removals: Vec<(u32, u64)>,
    is_ruled_out: bool,
}

/// The largest number of rows within a share of all rows.
pub(super) fn allowance(rows: u64, share: Rational) -> u64 {
    let allowed = u128::from(rows) * u128::from(*share.numer()) / u128::from(*share.denom());
    u64::try_from(allowed).unwrap_or(rows).min(rows)
}

impl Problem<'_> {
    /// What the levels of a node cost when nothing is suppressed; 0 for metrics that look at groups.
    pub(super) fn base(&self, axis: usize, level: usize) -> f64 {
        let here = &self.axes[axis];
        match self.metric {
            Metric::Loss => here.rows(level).iter().zip(here.ncp(level)).map(|(&rows, ncp)| rows as f64 * ncp).sum(),
            Metric::Precision => self.rows as f64 * here.share_of_height(level),
            Metric::Height => here.numbers[level] as f64,
            Metric::Entropy | Metric::MonotonicEntropy => here.entropy(level),
            Metric::Discernibility | Metric::Average => 0.0,
        }
    }

    /// What suppression adds to the loss of an attribute, given how many suppressed rows showed each label before.
    fn surcharge(&self, axis: usize, level: usize, rows: &[u64]) -> f64 {
        let here = &self.axes[axis];
        let charged = rows.iter().enumerate().filter(|(_, rows)| **rows > 0);
        match self.metric {
            Metric::Loss => {
                charged.map(|(label, &n)| n as f64 * (here.top.ncp - here.ncp(level)[label]).max(0.0)).sum()
            }
            Metric::Precision => {
                let lost = here.top_share_of_height() - here.share_of_height(level);
                charged.map(|(_, &n)| n as f64 * lost).sum()
            }
            // Labels become values that are put under one label.
            Metric::Entropy => {
                let all: u64 = rows.iter().sum();
                charged.map(|(_, &n)| n as f64 * (all as f64 / n as f64).log2()).sum()
            }
            Metric::Height | Metric::MonotonicEntropy | Metric::Discernibility | Metric::Average => 0.0,
        }
    }

    /// What suppressing some rows of some groups adds to the cost. Rows are counted per label first, so that the order
    /// of groups does not matter.
    fn extra<K: Key>(&self, rolled: &RolledGroups<K>, parts: impl Iterator<Item = (u32, u64)> + Clone) -> f64 {
        if !matches!(self.metric, Metric::Loss | Metric::Precision | Metric::Entropy) {
            return 0.0;
        }
        let mut sum = 0.0;
        for (axis, &slot) in self.slots.iter().enumerate() {
            let level = self.lattice.level(rolled.node, axis);
            let mut rows = vec![0u64; self.axes[axis].n_labels(level)];
            parts.clone().for_each(|(group, n)| rows[rolled.keys[group as usize].get(slot) as usize] += n);
            sum += self.surcharge(axis, level, &rows);
        }
        sum
    }

    /// Forms the groups of a node from those of a lower one, and judges them. Also returns the groups, if all were
    /// looked at.
    pub(super) fn evaluate<K: Key>(&self, source: &Groups<K>, node: Node) -> (Verdict, Option<Groups<K>>) {
        let rolled = source.roll_up(self, node);
        let (split, contents) = self.split(source, &rolled);
        let base: f64 = (0..self.axes.len()).map(|axis| self.base(axis, self.lattice.level(node, axis))).sum();
        let rows_of = |group: &u32| (*group, u64::from(rolled.sizes[*group as usize]));
        let cost = split.suppressed.as_ref().map(|groups| match self.metric {
            Metric::Discernibility => self.squares(&rolled.sizes, groups),
            Metric::Average => self.average(rolled.sizes.len(), groups.len()),
            _ => base + self.extra(&rolled, groups.iter().map(rows_of)),
        });
        let verdict = Verdict {
            node,
            cost,
            rules_out_below: split.is_ruled_out,
            extra_below: if split.is_ruled_out { 0.0 } else { self.extra(&rolled, split.removals.iter().copied()) },
            least_above: match self.metric {
                Metric::Discernibility => self.squares(&rolled.sizes, &[]),
                Metric::Average => self.rows as f64 / self.most_groups_above(&rolled.sizes) as f64,
                _ => 0.0,
            },
        };
        let groups = contents.map(|contents| Groups { node, keys: rolled.keys, sizes: rolled.sizes, contents });
        (verdict, groups)
    }

    fn squares(&self, sizes: &[u32], suppressed: &[u32]) -> f64 {
        let square = |n: u64| u128::from(n) * u128::from(n);
        let all: u128 = sizes.iter().map(|&size| square(size.into())).sum();
        let apart: u128 = suppressed.iter().map(|&group| square(sizes[group as usize].into())).sum();
        let rows: u64 = suppressed.iter().map(|&group| u64::from(sizes[group as usize])).sum();
        (all - apart + square(rows)) as f64
    }

    fn average(&self, n_groups: usize, n_suppressed: usize) -> f64 {
        self.rows as f64 / (n_groups - n_suppressed + usize::from(n_suppressed > 0)) as f64
    }

    /// The most groups that a node above can have. Each of them holds a group that is large enough here, or only small
    /// ones that are large enough together, or the suppressed rows.
    fn most_groups_above(&self, sizes: &[u32]) -> u64 {
        let least = self.goal.least_size().max(1);
        let small = sizes.iter().map(|&size| u64::from(size)).filter(|&size| size < least);
        let (n_small, rows) = small.fold((0, 0), |(n, rows), size| (n + 1, rows + size));
        let n = sizes.len() as u64;
        n.min(n - n_small + rows / least + 1)
    }

    /// Which groups pass. Stops looking as soon as the node and all below are ruled out; otherwise also returns what
    /// the groups hold.
    pub(super) fn split<K: Key>(&self, source: &Groups<K>, rolled: &RolledGroups<K>) -> (Split, Option<GroupContents>) {
        let least = self.goal.least_size();
        let is_small = |size: &&u32| u64::from(**size) < least;
        let small: u64 = rolled.sizes.iter().filter(is_small).map(|&size| u64::from(size)).sum();
        let mut failing = FailingGroups::default();
        let people = (small <= self.limit).then(|| self.people(rolled)).flatten();
        let contents = match small > self.limit {
            true => None,
            false => self.look(source, rolled, (self.limit, people.as_ref()), &mut failing),
        };
        match contents {
            None => {
                // If only sizes matter they are known anyway, and other nodes may be rolled up from them.
                let contents = matches!(source.contents, GroupContents::Nothing).then_some(GroupContents::Nothing);
                (Split { is_ruled_out: true, ..Split::default() }, contents)
            }
            Some(contents) => {
                let mut split = self.completed(rolled, &contents, failing);
                split.suppressed = split.suppressed.filter(|groups| self.covers(people.as_ref(), !groups.is_empty()));
                (split, Some(contents))
            }
        }
    }

    /// How many rows are in groups of a node that fail.
    pub(super) fn rows_that_fail<K: Key>(&self, source: &Groups<K>, node: Node) -> u64 {
        let rolled = source.roll_up(self, node);
        let mut failing = FailingGroups::default();
        let people = self.people(&rolled);
        self.look(source, &rolled, (u64::MAX, people.as_ref()), &mut failing);
        failing.groups.iter().map(|&group| u64::from(rolled.sizes[group as usize])).sum()
    }

    /// Looks at the values of every group. `None` once more rows of groups that fail have been found than the limit.
    fn look<K: Key>(
        &self,
        source: &Groups<K>,
        rolled: &RolledGroups<K>,
        (limit, people): (u64, Option<&Counted>),
        failing: &mut FailingGroups,
    ) -> Option<GroupContents> {
        let n_groups = rolled.sizes.len();
        let of_people = |group: usize| self.verdict_of_people(people, group, rolled.sizes[group].into());
        match &source.contents {
            GroupContents::Nothing => {
                let passes = |_: usize, size: u64| size >= self.goal.least_size();
                failing.all_rows_of(&rolled.sizes, passes, of_people);
                Some(GroupContents::Nothing).filter(|_| failing.gone <= limit)
            }
            GroupContents::Sets(below) => {
                let sets = below.above(&rolled.group_of, n_groups);
                if let Needs::Distinct { rows, distinct, .. } = self.needs {
                    let passes = |group: usize, size: u64| size >= rows && sets.n_distinct(group) >= distinct;
                    failing.all_rows_of(&rolled.sizes, passes, of_people);
                }
                Some(GroupContents::Sets(sets)).filter(|_| failing.gone <= limit)
            }
            GroupContents::Values(below) => {
                // Lemma 1 needs a principle that survives merging.
                let is_monotone = self.goal.laws().monotone;
                let visit = |group: usize, counts: &SaCounts| {
                    match (of_people(group), self.goal.holds(counts)) {
                        (PeopleVerdict::Never, _) => failing.add(group as u32, counts.total()),
                        (PeopleVerdict::Passes, true) => {}
                        (_, false) if is_monotone => failing.add(group as u32, self.goal.least_removal(counts)),
                        _ => failing.add(group as u32, 0),
                    }
                    failing.gone <= limit
                };
                below.above(&rolled.group_of, n_groups, self.n_values, visit).map(GroupContents::Values)
            }
        }
    }

    /// Suppressed rows form one group, which must pass like any other: while it does not, the smallest group that
    /// passes joins it.
    fn completed<K: Key>(&self, rolled: &RolledGroups<K>, contents: &GroupContents, failing: FailingGroups) -> Split {
        let size = |group: u32| u64::from(rolled.sizes[group as usize]);
        let FailingGroups { groups: mut suppressed, removals, .. } = failing;
        let mut rows: u64 = suppressed.iter().map(|&group| size(group)).sum();
        let mut split = Split { suppressed: None, removals, is_ruled_out: false };
        if suppressed.is_empty() {
            split.suppressed = Some(suppressed);
            return split;
        }
        let mut union = contents.union(self.n_values);
        let add = |union: &mut Union, group: u32| union.add(contents, group as usize, rolled.sizes[group as usize]);
        suppressed.iter().for_each(|&group| add(&mut union, group));
        let mut others: Option<std::vec::IntoIter<u32>> = None;
        let passes = |union: &Union, rows: u64| {
            let of_people = self.population.as_ref().is_none_or(|population| population.holds_for_suppressed(rows));
            of_people && union.passes(self.goal, self.needs)
        };
        while rows <= self.limit && !passes(&union, rows) {
            let others = others.get_or_insert_with(|| {
                let passes =
                    |group: &u32| suppressed.binary_search(group).is_err() && size(*group) <= self.limit - rows;
                let mut others: Vec<u32> = (0..rolled.sizes.len() as u32).filter(passes).collect();
                others.sort_unstable_by_key(|&group| (size(group), rolled.keys[group as usize]));
                others.into_iter()
            });
            let Some(next) = others.next() else { return split };
            add(&mut union, next);
            rows += size(next);
            suppressed.push(next);
        }
        suppressed.sort_unstable();
        split.suppressed = (rows <= self.limit).then_some(suppressed);
        split
    }
}

/// What the people under its labels say about a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PeopleVerdict {
    Passes,
    /// It fails, but parts of it may pass.
    Fails,
    /// It fails, and so does every part of it.
    Never,
}

impl Problem<'_> {
    /// The people under the labels of every group, if the goal asks about them.
    fn people<K: Key>(&self, rolled: &RolledGroups<K>) -> Option<Counted> {
        self.population.as_ref().map(|population| population.under(self, rolled.node, &rolled.keys))
    }

    fn verdict_of_people(&self, people: Option<&Counted>, group: usize, size: u64) -> PeopleVerdict {
        let Some((population, people)) = self.population.as_ref().zip(people) else { return PeopleVerdict::Passes };
        let people = people.of_group[group];
        match (population.holds(size, people), population.is_mapped(people)) {
            (true, _) => PeopleVerdict::Passes,
            (false, true) => PeopleVerdict::Fails,
            (false, false) => PeopleVerdict::Never,
        }
    }

    /// Whether the labels leave nobody out whom they must not leave out.
    fn covers(&self, people: Option<&Counted>, has_suppressed: bool) -> bool {
        let known = self.population.as_ref().zip(people);
        known.is_none_or(|(population, people)| population.covers(people.outside, has_suppressed))
    }
}

/// Groups that fail, and rows that are therefore suppressed in every node below.
#[derive(Debug, Default)]
struct FailingGroups {
    groups: Vec<u32>,
    removals: Vec<(u32, u64)>,
    gone: u64,
}

impl FailingGroups {
    fn add(&mut self, group: u32, removal: u64) {
        self.groups.push(group);
        self.removals.extend((removal > 0).then_some((group, removal)));
        self.gone += removal;
    }

    /// A group that falls short of a minimum still does after rows have left, so none of its rows can stay.
    fn all_rows_of(
        &mut self,
        sizes: &[u32],
        passes: impl Fn(usize, u64) -> bool,
        of_people: impl Fn(usize) -> PeopleVerdict,
    ) {
        for (group, &size) in sizes.iter().enumerate() {
            match (of_people(group), passes(group, size.into())) {
                (PeopleVerdict::Passes, true) => {}
                (PeopleVerdict::Fails, true) => self.add(group as u32, 0),
                _ => self.add(group as u32, size.into()),
            }
        }
    }
}

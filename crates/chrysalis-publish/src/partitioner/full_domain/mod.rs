//! One level per attribute for the whole table; see `spec.md` for the steps and lemmas that comments name.

mod contents;
mod judge;
mod key;
mod lattice;
mod levels;
mod population;
mod roll;
mod search;
#[cfg(test)]
mod tests;
mod tuples;
mod walk;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use chrysalis_criteria::{PopulationGoal, Principle, Rational};
use chrysalis_table::{Counted, Knob, Progress, Remedy};
use rand::CryptoRng;

use self::contents::Needs;
use self::judge::{Problem, allowance};
use self::key::{Key, Slot, Wide, slots};
use self::lattice::{Lattice, Node};
use self::levels::Axis;
use self::population::Population;
pub(crate) use self::population::holds_in as population_holds_in;
use self::search::Search;
use self::tuples::{ByGroup, exact};
use super::Partitioner;
use crate::partition::{Recoding, SearchReport, ShownLevel};
use crate::{Microdata, Partition, PublishError};

/// When to stop and take the best so far.
#[derive(Clone)]
pub struct Stop {
    /// Asked from time to time.
    is_over: Arc<dyn Fn() -> bool + Send + Sync>,
    /// Combinations of levels that may be judged.
    most_nodes: u64,
}

impl Stop {
    /// Stops once the closure says so.
    pub fn when(is_over: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Stop { is_over: Arc::new(is_over), most_nodes: u64::MAX }
    }

    /// Stops once about `n_nodes` combinations of levels have been judged: the same ones on every machine.
    pub fn after(n_nodes: u64) -> Self {
        Stop { most_nodes: n_nodes, ..Stop::never() }
    }

    /// Goes on until the result is proven.
    pub fn never() -> Self {
        Stop::when(|| false)
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stop")
    }
}

/// What makes one combination of levels better than another. Less is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metric {
    /// The normalized certainty penalty (NCP) summed over all cells.
    #[default]
    Loss,
    /// Σ n² over groups (DM).
    Discernibility,
    /// Rows per group.
    Average,
    /// How high the levels are, as shares of their taxonomies' heights (one minus Sweeney's Prec).
    Precision,
    /// The sum of all levels; suppressing rows costs nothing.
    Height,
    /// Non-uniform entropy: Σ over cells of −log₂(rows with the value / rows with its label). Suppressed rows pay a second
    /// time, for the labels that they then show no more.
    Entropy,
    /// The same, but suppressing rows costs nothing.
    MonotonicEntropy,
}

impl Metric {
    /// Every metric with its name on the command line.
    pub const ALL: [(&'static str, Metric); 7] = [
        ("loss", Metric::Loss),
        ("dm", Metric::Discernibility),
        ("average", Metric::Average),
        ("precision", Metric::Precision),
        ("height", Metric::Height),
        ("entropy", Metric::Entropy),
        ("monotonic-entropy", Metric::MonotonicEntropy),
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        Metric::ALL.iter().find(|(_, metric)| *metric == self).map_or("", |(name, _)| name)
    }
}

impl FromStr for Metric {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Metric::ALL.iter().find(|(name, _)| *name == text);
        known
            .map(|(_, metric)| *metric)
            .ok_or_else(|| "expected loss, dm, average, precision, height, entropy or monotonic-entropy".to_owned())
    }
}

/// Full-domain generalization: the best combination of taxonomy levels, one per attribute.
///
/// # Guarantees
/// Every group satisfies the principles, the group of suppressed rows included; no combination of levels costs less,
/// unless the search was stopped, and then the result says so.
/// # Against whom
/// The attackers of the principles.
/// # Cost
/// The lattice is exponential in the attributes, but only its border is looked at; linear in the rows for each node.
/// # Paper
/// LeFevre, DeWitt and Ramakrishnan, *Incognito*; the baseline of `ke` and `lalpha`.
#[derive(Clone, Debug)]
pub struct FullDomain {
    /// What to optimize.
    pub metric: Metric,
    /// The share of rows that may be suppressed.
    pub suppress: Rational,
    /// Columns whose level is fixed; the search is for the levels of all others.
    pub levels: Vec<(String, usize)>,
    /// When to stop early.
    pub stop: Stop,
}

impl Default for FullDomain {
    fn default() -> Self {
        FullDomain {
            metric: Metric::default(),
            suppress: Rational::from_integer(0),
            levels: Vec::new(),
            stop: Stop::never(),
        }
    }
}

impl FullDomain {
    /// How many combinations of levels there are.
    pub fn n_nodes(data: &Microdata) -> Result<u128, PublishError> {
        Ok(lattice(&Axis::all(data))?.size())
    }

    fn solve<K: Key>(
        &self,
        data: &Microdata,
        problem: &Problem<'_>,
        progress: Progress<'_>,
    ) -> Result<Partition, PublishError> {
        // Step 2.
        let (groups, group_of_row) = exact::<K>(data, problem);
        let mut search = Search::new(problem, groups, &self.stop);
        let proven = search.run(progress);
        let (checked, (cost, node)) = (search.checked, search.best);
        let exact = search.into_exact();
        if cost.is_infinite() {
            return Err(self.nothing_found(problem, &exact, proven));
        }
        let metric = self.metric.name();
        let report = SearchReport { metric, cost, checked, nodes: problem.lattice.size(), proven };
        // Step 6.
        Ok(assemble(problem, exact, &group_of_row, node, report))
    }

    /// Why fixed levels allow no release; where none is fixed, everything at its top is one.
    fn nothing_found<K: Key>(&self, problem: &Problem<'_>, exact: &tuples::Groups<K>, proven: bool) -> PublishError {
        if !proven {
            let message = "time ran out before levels were found that keep the promise beside those that are fixed";
            let remedy = Remedy::from("fix fewer with ").knob(Knob::Levels, "").words(", or raise ");
            return PublishError::remedied(message, remedy.knob(Knob::TimeLimit, ""));
        }
        let top = problem.lattice.top();
        let failing = problem.rows_that_fail(exact, top);
        let levels = match (self.levels.is_empty(), problem.lattice.size()) {
            (true, _) => "with every column at its top",
            (_, 1) => "with the levels that are fixed",
            _ => "with the levels that are fixed and all others at their tops",
        };
        let reason = match failing {
            0 => format!("{levels}, people of the population are under no group's labels"),
            _ => format!(
                "{levels}, {failing} of {} rows stand in groups that fail it, and at most {} may be suppressed",
                problem.rows, problem.limit
            ),
        };
        let instead = match self.levels.is_empty() {
            true => Remedy::from("ask for less, or name a larger table in ").knob(Knob::PopulationTable, ""),
            false => {
                let remedy = Remedy::from("choose other ").knob(Knob::Levels, "").words(", or allow more rows in ");
                remedy.knob(Knob::Suppress, "")
            }
        };
        PublishError::Infeasible { principle: problem.goal.to_string(), reason, possible: None, instead }
    }
}

/// What a goal asks of the population.
fn population_goal(goal: &dyn Principle) -> PopulationGoal {
    PopulationGoal::of(goal.specs().iter().map(|required| &required.principle))
}

fn lattice(axes: &[Axis]) -> Result<Lattice, PublishError> {
    let n_levels: Vec<usize> = axes.iter().map(Axis::n_levels).collect();
    Lattice::new(&n_levels).ok_or_else(|| {
        let message = format!("full-domain cannot search the levels of {} attributes at once", axes.len());
        PublishError::request(message)
    })
}

/// The groups of the chosen node in the order of their labels, suppressed rows last.
fn assemble<K: Key>(
    problem: &Problem<'_>,
    exact: tuples::Groups<K>,
    group_of_row: &[u32],
    node: Node,
    search: SearchReport,
) -> Partition {
    let rolled = exact.roll_up(problem, node);
    let (split, _) = problem.split(&exact, &rolled);
    let suppressed = split.suppressed.unwrap_or_default();
    let mut order: Vec<u32> = (0..rolled.keys.len() as u32).collect();
    let is_suppressed = |group: u32| suppressed.binary_search(&group).is_ok();
    order.sort_unstable_by_key(|&group| (is_suppressed(group), rolled.keys[group as usize]));
    let n_kept = order.len() - suppressed.len();
    let mut place = vec![0u32; order.len()];
    for (at, &group) in order.iter().enumerate() {
        // PROOF: `at` counts groups, of which there are no more than rows.
        place[group as usize] = at.min(n_kept) as u32;
    }
    let group_of: Vec<u32> =
        group_of_row.iter().map(|&exact| place[rolled.group_of[exact as usize] as usize]).collect();
    let by_group = ByGroup::new(&group_of, n_kept + usize::from(!suppressed.is_empty()));
    let sizes: Vec<u32> = (&by_group).into_iter().map(|rows| rows.len() as u32).collect();
    let level = |(at, axis): (usize, &Axis)| ShownLevel {
        level: axis.numbers[problem.lattice.level(node, at)],
        top: axis.top.number,
    };
    let recoding = Recoding {
        levels: problem.axes.iter().enumerate().map(level).collect(),
        suppressed: (!suppressed.is_empty()).then_some(n_kept),
        search,
    };
    Partition::new(by_group.into_members(), &sizes).recoded(recoding)
}

impl Partitioner for FullDomain {
    fn name(&self) -> &'static str {
        "full-domain"
    }

    fn is_of_whole_columns(&self) -> bool {
        true
    }

    fn total(&self, data: &Microdata) -> Result<(u64, Counted), PublishError> {
        let n_nodes = lattice(&Axis::some_fixed(data, &self.levels)?)?.size();
        Ok((u64::try_from(n_nodes).unwrap_or(u64::MAX), Counted::Combinations))
    }

    fn partition(
        &self,
        data: &Microdata,
        goal: &dyn Principle,
        _rng: &mut dyn CryptoRng,
        progress: Progress<'_>,
    ) -> Result<Partition, PublishError> {
        // Step 1.
        let axes = Axis::some_fixed(data, &self.levels)?;
        let n_labels: Vec<usize> = axes.iter().map(|axis| axis.n_labels(0)).collect();
        let n_values = data.sensitive_counts().domain_len();
        let problem = |slots: Vec<Slot>, axes: Vec<Axis>| -> Result<Problem<'_>, PublishError> {
            Ok(Problem {
                lattice: lattice(&axes)?,
                slots,
                goal,
                metric: self.metric,
                population: Population::new(data, &axes, population_goal(goal))?,
                axes,
                rows: data.rows() as u64,
                limit: allowance(data.rows() as u64, self.suppress),
                n_values,
                needs: Needs::of(goal, n_values),
            })
        };
        if let Some(slots) = slots::<u64>(&n_labels) {
            return self.solve::<u64>(data, &problem(slots, axes)?, progress);
        }
        if let Some(slots) = slots::<u128>(&n_labels) {
            return self.solve::<u128>(data, &problem(slots, axes)?, progress);
        }
        if let Some(slots) = slots::<Wide>(&n_labels) {
            return self.solve::<Wide>(data, &problem(slots, axes)?, progress);
        }
        let message = format!("{} attributes have too many values for full-domain", axes.len());
        Err(PublishError::request(message))
    }
}

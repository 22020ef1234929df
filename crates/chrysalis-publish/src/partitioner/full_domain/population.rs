//! People of the population under the labels of groups; see `spec.md`, *Population*.

use chrysalis_criteria::{PopulationGoal, Rational};
use chrysalis_table::{Code, Column, Domain, Table, Taxonomy, Value};
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::judge::Problem;
use super::key::Key;
use super::lattice::Node;
use super::levels::Axis;
use crate::method::shown_ends;
use crate::{Microdata, Partition, PublishError};

/// A value that no label stands for.
const NOBODY: u32 = u32::MAX;

/// The population, counted by its distinct combinations of quasi values, and what is asked of groups.
#[derive(Debug)]
pub(super) struct Population {
    goal: PopulationGoal,
    axes: Vec<PopulationAxis>,
    /// Codes of the population's own columns, one combination after another.
    tuples: Vec<Code>,
    rows: Vec<u64>,
    /// Rows in all, and rows under the labels of suppressed rows.
    total: u64,
    under_top: u64,
}

/// One attribute of the population.
#[derive(Debug)]
struct PopulationAxis {
    /// By level: the label that each value is under.
    labels: Vec<Vec<u32>>,
    /// Whether each value is under the label of suppressed rows.
    is_under_top: Vec<bool>,
}

/// What is known of the groups of a node.
pub(super) struct Counted {
    /// Rows of the population under the labels of every group.
    pub(super) of_group: Vec<u64>,
    /// Rows of the population under the labels of no group.
    pub(super) outside: u64,
}

impl Population {
    /// Counts the population of a table, as far as its groups can be told apart by these axes. `None` if nothing is
    /// asked of the population.
    pub(super) fn new(
        data: &Microdata,
        axes: &[Axis],
        goal: PopulationGoal,
    ) -> Result<Option<Population>, PublishError> {
        if goal.is_empty() {
            return Ok(None);
        }
        let table = data.population().ok_or_else(|| {
            PublishError::Internal("the population was asked about, but there is no table of it".into())
        })?;
        let columns: Vec<&Column> = data
            .quasi()
            .map(|(column, _)| {
                let name = column.name();
                table
                    .column(name)
                    .ok_or_else(|| PublishError::Internal(format!("`{name}` of the population was not read")))
            })
            .collect::<Result<_, _>>()?;
        let axes: Vec<PopulationAxis> = data
            .quasi()
            .zip(&columns)
            .zip(axes)
            .map(|(((column, taxonomy), people), axis)| PopulationAxis::new(column, taxonomy, people, axis))
            .collect();
        let (tuples, rows) = counted(&columns, table);
        let is_under_top =
            |tuple: &[Code]| tuple.iter().zip(&axes).all(|(&code, axis)| axis.is_under_top[code as usize]);
        let under_top = tuples.chunks_exact(columns.len()).zip(&rows).filter(|(tuple, _)| is_under_top(tuple));
        let under_top = under_top.map(|(_, rows)| rows).sum();
        Ok(Some(Population { goal, axes, tuples, total: rows.iter().sum(), rows, under_top }))
    }

    /// How much of the population is under the labels of the groups of a node.
    pub(super) fn under<K: Key>(&self, problem: &Problem<'_>, node: Node, keys: &[K]) -> Counted {
        let mut index: HashMap<K, u32, FixedState> =
            HashMap::with_capacity_and_hasher(keys.len(), FixedState::default());
        // PROOF: groups are numbered in 32 bits.
        index.extend(keys.iter().copied().zip(0u32..));
        let levels: Vec<&[u32]> = self
            .axes
            .iter()
            .enumerate()
            .map(|(at, axis)| axis.labels[problem.lattice.level(node, at)].as_slice())
            .collect();
        let mut counted = Counted { of_group: vec![0; keys.len()], outside: 0 };
        for (tuple, rows) in self.tuples.chunks_exact(self.axes.len()).zip(&self.rows) {
            let mut key = Some(K::ZERO);
            for ((&code, labels), &slot) in tuple.iter().zip(&levels).zip(&problem.slots) {
                let label = labels[code as usize];
                key = key.filter(|_| label != NOBODY).map(|key| key.with(slot, label));
            }
            match key.and_then(|key| index.get(&key)) {
                Some(&group) => counted.of_group[group as usize] += rows,
                None => counted.outside += rows,
            }
        }
        counted
    }

    /// Whether a group has enough of the population under its labels: what fails here fails in every node below.
    pub(super) fn is_mapped(&self, people: u64) -> bool {
        self.goal.is_mapped(people)
    }

    /// Whether a group passes.
    pub(super) fn holds(&self, size: u64, people: u64) -> bool {
        self.goal.holds(size, people)
    }

    /// Whether suppressed rows pass as a group.
    pub(super) fn holds_for_suppressed(&self, size: u64) -> bool {
        self.goal.holds(size, self.under_top)
    }

    /// Whether nobody's presence is ruled out too surely, given who is under no label and whether rows are suppressed.
    pub(super) fn covers(&self, outside: u64, has_suppressed: bool) -> bool {
        let outside = if has_suppressed { self.total - self.under_top } else { outside };
        outside == 0 || self.goal.least_presence() == Rational::from_integer(0)
    }
}

impl PopulationAxis {
    fn new(column: &Column, taxonomy: Option<&Taxonomy>, people: &Column, axis: &Axis) -> PopulationAxis {
        let (domain, known) = (column.domain(), people.domain());
        let values: Vec<Option<&Value>> = (0..known.len() as Code).map(|code| known.value(code)).collect();
        let labels = (0..axis.n_levels()).map(|level| {
            let ranges = Ranges::new(column, taxonomy, axis.numbers[level], axis.labels(level));
            values.iter().map(|value| ranges.label(domain, *value, axis.labels(level))).collect()
        });
        let labels: Vec<Vec<u32>> = labels.collect();
        let one = vec![0; domain.len()];
        let top = Ranges::new(column, taxonomy, axis.top.number, &one);
        let is_under_top = values.iter().map(|value| top.label(domain, *value, &one) != NOBODY).collect();
        PopulationAxis { labels, is_under_top }
    }
}

/// What labels of an ordered attribute stand for, beyond the values of the table itself.
struct Ranges {
    /// The ends of each label that is shown as a range, as they are shown, and the label.
    ends: Vec<(Option<Value>, Option<Value>, u32)>,
}

impl Ranges {
    fn new(column: &Column, taxonomy: Option<&Taxonomy>, number: usize, label_of_code: &[u32]) -> Ranges {
        let mut ends = Vec::new();
        if column.domain().kind().is_ordered() {
            let mut first = 0;
            for (code, &label) in (0..).zip(label_of_code) {
                // Labels are numbered in the order of their first code.
                if label == first {
                    let (low, high) = shown_ends(column.domain(), taxonomy, code, number);
                    ends.push((low, high, label));
                    first += 1;
                }
            }
        }
        Ranges { ends }
    }

    /// The label that a value of the population is under.
    fn label(&self, domain: &Domain, value: Option<&Value>, label_of_code: &[u32]) -> u32 {
        if let Some(code) = domain.code_of(value) {
            return label_of_code[code as usize];
        }
        let Some(value) = value else { return NOBODY };
        // A range that starts at the missing value, which is the lowest, holds everything up to its end.
        let holds = |(low, high, _): &&(Option<Value>, Option<Value>, u32)| {
            low.as_ref().is_none_or(|low| low <= value) && high.as_ref().is_some_and(|high| value <= high)
        };
        self.ends.iter().find(holds).map_or(NOBODY, |(_, _, label)| *label)
    }
}

/// The distinct combinations of some columns, and how many rows have each.
fn counted(columns: &[&Column], table: &Table) -> (Vec<Code>, Vec<u64>) {
    let mut order: Vec<u32> = (0..table.rows() as u32).collect();
    let tuple = |row: u32| columns.iter().map(move |column| column.code(row as usize));
    order.sort_unstable_by(|&a, &b| tuple(a).cmp(tuple(b)));
    let (mut tuples, mut rows): (Vec<Code>, Vec<u64>) = (Vec::new(), Vec::new());
    for (at, &row) in order.iter().enumerate() {
        if at > 0 && tuple(order[at - 1]).eq(tuple(row)) {
            if let Some(last) = rows.last_mut() {
                *last += 1;
            }
        } else {
            tuples.extend(tuple(row));
            rows.push(1);
        }
    }
    (tuples, rows)
}

/// Whether what is asked of the population holds in every group of a partition, judged from the groups themselves.
pub(crate) fn holds_in(data: &Microdata, partition: &Partition, goal: PopulationGoal) -> Result<bool, PublishError> {
    let Some(recoding) = partition.recoding() else {
        return Err(PublishError::Internal("the population was asked about groups that have no levels".into()));
    };
    let names = data.quasi().map(|(column, _)| column.name().to_owned());
    let levels: Vec<(String, usize)> = names.zip(recoding.levels.iter().map(|shown| shown.level)).collect();
    let axes = Axis::some_fixed(data, &levels)?;
    let Some(population) = Population::new(data, &axes, goal)? else { return Ok(true) };
    let columns: Vec<&Column> = data.quasi().map(|(column, _)| column).collect();
    let mut people: HashMap<Vec<u32>, u64, FixedState> = HashMap::default();
    let mut nowhere = 0;
    for (tuple, rows) in population.tuples.chunks_exact(columns.len()).zip(&population.rows) {
        let key: Vec<u32> =
            tuple.iter().zip(&population.axes).map(|(&code, axis)| axis.labels[0][code as usize]).collect();
        if key.contains(&NOBODY) { nowhere += rows } else { *people.entry(key).or_default() += rows }
    }
    let mut outside = nowhere + people.values().sum::<u64>();
    for (at, group) in partition.groups().enumerate() {
        let size = group.len() as u64;
        if recoding.suppressed == Some(at) {
            if !population.holds_for_suppressed(size) {
                return Ok(false);
            }
            continue;
        }
        let label = |(column, axis): (&&Column, &Axis)| axis.labels(0)[column.code(group[0] as usize) as usize];
        let key: Vec<u32> = columns.iter().zip(&axes).map(label).collect();
        let found = people.get(&key).copied().unwrap_or(0);
        outside -= found;
        if !population.holds(size, found) {
            return Ok(false);
        }
    }
    Ok(population.covers(outside, recoding.suppressed.is_some()))
}

//! People of a population under the labels of groups that any partitioner formed; see `spec.md` for the steps that the
//! comments number.

mod extent;
mod merge;
#[cfg(test)]
mod tests;
mod tree;

use chrysalis_criteria::{PopulationGoal, Rational};
use chrysalis_table::{Code, Column, Domain, Taxonomy, Value, Watch};
use rayon::prelude::*;

pub(in crate::partitioner) use self::extent::Extent;
use self::extent::Extents;
use self::tree::{Points, Tree};
use super::mondrian::axis::Axis;
use crate::method::node_ends;
use crate::{Microdata, Partition, PublishError};

/// The population as points, and how the labels of groups look among them.
pub(crate) struct People<'a> {
    goal: PopulationGoal,
    axes: Vec<PeopleAxis<'a>>,
    tree: Tree,
    /// People under no label that any group could have.
    nowhere: u64,
}

/// One attribute: the places of its values, and which places a label covers.
pub(super) struct PeopleAxis<'a> {
    pub(super) axis: Axis,
    column: &'a Column,
    taxonomy: Option<&'a Taxonomy>,
    /// For ordered attributes all values that occur anywhere, in order; place 0 is the missing value. Empty for others.
    values: Vec<Value>,
}

/// The places that one label covers.
pub(super) enum Side<'e> {
    /// From the first to the last.
    Stretch(u32, u32),
    /// These codes, ascending.
    Codes(&'e [Code]),
}

impl<'a> People<'a> {
    /// The population of a table, and what is asked of it.
    pub(crate) fn new(data: &'a Microdata, goal: PopulationGoal) -> Result<People<'a>, PublishError> {
        let table = data.population().ok_or_else(|| {
            PublishError::Internal("the population was asked about, but there is no table of it".into())
        })?;
        let mut axes = Vec::new();
        let mut places: Vec<(&Column, Vec<Option<u32>>)> = Vec::new();
        for (column, taxonomy) in data.quasi() {
            let name = column.name();
            let people = table
                .column(name)
                .ok_or_else(|| PublishError::Internal(format!("`{name}` of the population was not read")))?;
            let axis = PeopleAxis::new(column, taxonomy, people.domain());
            let known = people.domain();
            let place = |code: usize| axis.place(known.value(code as Code));
            places.push((people, (0..known.len()).map(place).collect()));
            axes.push(axis);
        }
        let mut points = Points::new(axes.len());
        let mut nowhere = 0;
        for row in 0..table.rows() {
            let point = places.iter().map(|(column, places)| places[column.code(row) as usize]);
            nowhere += u64::from(!points.push(point));
        }
        Ok(People { goal, axes, tree: Tree::new(points), nowhere })
    }

    /// Step 2: how many people are under the labels of a group, counted up to `enough`.
    fn under(&self, extents: &Extents, at: usize, enough: u64) -> u64 {
        let sides: Vec<Side<'_>> = self.axes.iter().zip(extents.of(at)).map(|(axis, it)| axis.side(it)).collect();
        self.tree.count(&sides, enough)
    }

    /// Step 1: the most people that any group can have under its labels.
    fn under_everything(&self, data: &Microdata) -> u64 {
        let all: Vec<u32> = (0..data.rows() as u32).collect();
        let whole = Partition::new(all, &[data.rows() as u32]);
        self.under(&Extents::new(data, &self.axes, &whole), 0, u64::MAX)
    }

    /// Refuses a k that no group can reach.
    pub(crate) fn check(&self, data: &Microdata) -> Result<(), PublishError> {
        let people = self.under_everything(data);
        if self.goal.is_mapped(people) {
            return Ok(());
        }
        Err(PublishError::Infeasible {
            principle: format!("k-map={}", self.goal.least_people()),
            reason: format!("only {people} people of the population are under the labels of all rows together"),
            possible: (people > 0).then(|| format!("k-map={people}")),
            instead: "name a table of the population that holds everybody who could be in the data".into(),
        })
    }

    /// The sizes of groups to start from, ascending.
    pub(crate) fn starts(&self) -> Vec<u64> {
        let k = self.goal.least_people().max(1);
        let mut starts = vec![1, k.div_ceil(4), k.div_ceil(2), (3 * k).div_ceil(4), k];
        starts.dedup();
        starts
    }

    /// The penalty (NCP) of all rows.
    pub(crate) fn penalty(&self, data: &Microdata, partition: &Partition) -> f64 {
        let extents = Extents::new(data, &self.axes, partition);
        let of_row = |at: usize| {
            let cells = self.axes.iter().zip(extents.of(at));
            cells.map(|(axis, extent)| extent.penalty(&axis.axis)).sum::<f64>()
        };
        partition.sizes().enumerate().map(|(at, size)| size as f64 * of_row(at)).sum()
    }

    /// Step 4: whether what is asked of the population holds in every group, judged from the groups themselves.
    pub(crate) fn are_enough_in(&self, data: &Microdata, partition: &Partition, watch: &dyn Watch) -> bool {
        let extents = Extents::new(data, &self.axes, partition);
        let is_about_presence = self.goal.bounds_presence();
        // Shares need all people, k needs no more than k.
        let enough = if is_about_presence { u64::MAX } else { self.goal.least_people() };
        let sizes: Vec<u64> = partition.sizes().collect();
        let holds = |at: usize| {
            watch.pause_at(at);
            self.goal.holds(sizes[at], self.under(&extents, at, enough))
        };
        let all = (0..sizes.len()).into_par_iter().all(holds);
        // Whoever is under no group's labels is certainly not in the data, which a lower bound rules out.
        all && (self.goal.least_presence() == Rational::from_integer(0) || self.cover_everybody(&extents, sizes.len()))
    }

    fn cover_everybody(&self, extents: &Extents, n_groups: usize) -> bool {
        let boxes: Vec<Vec<Side<'_>>> = (0..n_groups)
            .map(|at| self.axes.iter().zip(extents.of(at)).map(|(axis, extent)| axis.side(extent)).collect())
            .collect();
        self.nowhere == 0 && self.tree.points().all(|point| boxes.iter().any(|sides| tree::covers(sides, point)))
    }
}

impl<'a> PeopleAxis<'a> {
    fn new(column: &'a Column, taxonomy: Option<&'a Taxonomy>, people: &Domain) -> PeopleAxis<'a> {
        let domain = column.domain();
        let mut values: Vec<Value> = Vec::new();
        // The places of words with an order are those of the table: where others stand is not known.
        if domain.kind().is_ordered() && domain.kind() != chrysalis_table::Kind::Ordinal {
            values.extend(domain.values().iter().chain(people.values()).cloned());
            values.sort_unstable();
            values.dedup();
        }
        PeopleAxis { axis: Axis::new(column, taxonomy), column, taxonomy, values }
    }

    /// Whether labels are ranges of values that need not occur in the table.
    fn has_ranges(&self) -> bool {
        !self.values.is_empty()
    }

    /// Where a value of the population stands; none if no label can cover it.
    fn place(&self, value: Option<&Value>) -> Option<u32> {
        let Some(value) = value.filter(|_| self.has_ranges()) else {
            return match self.has_ranges() {
                true => Some(0),
                false => self.column.domain().code_of(value).map(|code| self.axis.rank(code)),
            };
        };
        Some(1 + self.values.partition_point(|known| known < value) as u32)
    }

    /// The places that the label of some rows covers.
    fn side<'e>(&self, extent: &'e Extent) -> Side<'e> {
        let (low, high) = (extent.low, extent.high);
        if !extent.codes.is_empty() {
            return Side::Codes(&extent.codes);
        }
        if !self.has_ranges() {
            return match self.taxonomy {
                Some(tree) => {
                    let ranks = &tree.node(tree.common_ancestor(low..=high)).ranks;
                    Side::Stretch(*ranks.start(), *ranks.end())
                }
                None => Side::Stretch(low, high),
            };
        }
        let domain = self.column.domain();
        let (first, last) = match self.taxonomy {
            Some(tree) => node_ends(domain, tree, tree.common_ancestor(low..=high)),
            None => (domain.value(low).cloned(), domain.value(high).cloned()),
        };
        let first = first.map_or(0, |first| 1 + self.values.partition_point(|known| *known < first) as u32);
        // An end that does not occur lies after the last value below it.
        let last = last.map_or(0, |last| self.values.partition_point(|known| *known <= last) as u32);
        Side::Stretch(first, last)
    }
}

/// Whether what is asked of the population holds in every group of a partition that shows no levels.
pub(crate) fn holds_in(
    data: &Microdata,
    partition: &Partition,
    goal: PopulationGoal,
    watch: &dyn Watch,
) -> Result<bool, PublishError> {
    Ok(goal.is_empty() || People::new(data, goal)?.are_enough_in(data, partition, watch))
}

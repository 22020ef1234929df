//! Steps 3 and 4 on groups of some rows that were formed elsewhere.

use std::sync::Arc;

use chrysalis_criteria::Principle;
use chrysalis_table::{Column, no_progress};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

use super::super::mondrian::axis::Axis;
use super::super::mondrian::cut::Worth;
use super::atoms::{Atoms, Groups};
use super::hull::Hull;
use super::line::{Line, Measure};
use super::{ATOMS_FOR_BLOCKS, ATOMS_FOR_ONE, blocks, dearest_first, improved, regroup};
use crate::Partition;

/// Groups of some rows.
pub(in crate::partitioner) struct Refined {
    /// The rows, group after group.
    pub(in crate::partitioner) rows: Vec<u32>,
    pub(in crate::partitioner) sizes: Vec<u32>,
    /// How much less they lose than the groups that were given.
    pub(in crate::partitioner) gain: f64,
}

/// Lowers what groups lose on some attributes.
pub(in crate::partitioner) struct Refiner<'a> {
    columns: &'a [&'a Column],
    sensitive: Option<&'a Column>,
    axes: Vec<(usize, Axis)>,
    measures: Vec<Measure>,
    lines: Vec<Line>,
    goal: &'a dyn Principle,
    n_values: usize,
}

impl<'a> Refiner<'a> {
    /// For groups over these columns, whose axes are `axes`.
    pub(in crate::partitioner) fn new(
        columns: &'a [&'a Column],
        axes: &[Axis],
        sensitive: Option<&'a Column>,
        goal: &'a dyn Principle,
        n_values: usize,
    ) -> Self {
        let mut axes: Vec<(usize, Axis)> = axes.iter().cloned().enumerate().collect();
        dearest_first(&mut axes, Worth::Penalty);
        let measures: Vec<Measure> = axes.iter().map(|(_, axis)| Measure::new(axis, Worth::Penalty)).collect();
        let lines = measures.iter().map(Line::whole).collect();
        let sensitive = sensitive.filter(|_| !goal.is_size_only());
        Refiner { columns, sensitive, axes, measures, lines, goal, n_values }
    }

    /// Returns the given groups, which must satisfy the goal, or better ones if any are found.
    pub(in crate::partitioner) fn refine(&self, given: Refined, seed: u64) -> Refined {
        let Refined { rows, sizes, .. } = &given;
        // Codes keep their meaning: the axes and the goal refer to the codes of the whole table.
        let selected =
            |column: &Column| Column::new(column.name(), Arc::clone(column.domain()), column.codes().gather(rows));
        let columns: Vec<Column> = self.columns.iter().map(|column| selected(column)).collect();
        let columns: Vec<&Column> = columns.iter().collect();
        let sensitive = self.sensitive.map(selected);
        let places: Vec<u32> = (0..rows.len() as u32).collect();
        let atoms = Atoms::new(&columns, &self.axes, sensitive.as_ref(), &places, &no_progress);
        let groups = atoms.groups(&Partition::new(places, sizes), rows.len(), &no_progress);
        let loss = |groups: &Groups| Hull::all(&self.lines, &atoms, groups).iter().map(Hull::cost).sum::<f64>();
        let most = loss(&groups);
        if most == 0.0 || atoms.len() > ATOMS_FOR_BLOCKS {
            return given;
        }
        let mut orders = ChaCha20Rng::seed_from_u64(seed);
        let blocks = blocks(&groups, self.goal);
        let mut groups =
            improved(&atoms, &self.measures, &groups, &blocks, true, self.goal, self.n_values, &no_progress);
        if atoms.len() <= ATOMS_FOR_ONE {
            groups =
                regroup::regroup(&atoms, &self.measures, groups, self.goal, self.n_values, &mut orders, &no_progress);
        }
        let gain = most - loss(&groups);
        if gain <= 0.0 {
            return given;
        }
        let better = atoms.partition(&groups, &no_progress);
        Refined {
            rows: better.groups().flatten().map(|&place| rows[place as usize]).collect(),
            sizes: better.sizes().map(|size| size as u32).collect(),
            gain,
        }
    }
}

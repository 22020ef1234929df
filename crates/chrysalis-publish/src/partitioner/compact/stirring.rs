//! Step 5: rows change places at random, where that costs little.

use chrysalis_criteria::Principle;
use chrysalis_table::{Progress, SaCounts};
use rand::rngs::ChaCha20Rng;
use rayon::prelude::*;

use super::atoms::{Atoms, Groups, Piece};
use super::hull::Hull;
use super::line::{Line, Measure};
use super::regroup::side_by_side;
use crate::partitioner::blocks::blocks;
use crate::partitioner::stir::{Cost, HEAT, Lots, Member, Stirrer, rounds_and_sweeps};

/// One row of an atom.
#[derive(Clone, Copy)]
struct Row {
    atom: u32,
    value: u32,
}

impl Member for Row {
    fn value(&self) -> u32 {
        self.value
    }
}

/// The cost of groups: the penalty of all their rows.
struct Penalty<'a> {
    atoms: &'a Atoms,
    lines: &'a [Line],
}

/// What it takes to stir groups.
pub(super) struct Stirring<'a> {
    pub(super) atoms: &'a Atoms,
    pub(super) measures: &'a [Measure],
    pub(super) lines: &'a [Line],
    pub(super) goal: &'a dyn Principle,
    pub(super) n_values: usize,
    /// The rows of the table of which these are part.
    pub(super) whole_rows: usize,
    /// The penalty that may not be exceeded.
    pub(super) most: f64,
}

impl Stirring<'_> {
    /// Stirs the groups. The result loses about as much.
    pub(super) fn stirred(
        &self,
        mut groups: Groups,
        lots: &Lots,
        orders: &mut ChaCha20Rng,
        progress: Progress<'_>,
    ) -> Groups {
        let Stirring { atoms, lines, .. } = *self;
        let hulls = Hull::all(lines, atoms, &groups);
        let n_rows = hulls.iter().map(|hull| f64::from(hull.size)).sum::<f64>().max(1.0);
        let (n_rounds, sweeps) = rounds_and_sweeps(hulls.iter().map(|hull| hull.size), self.whole_rows);
        let heat = HEAT * hulls.iter().map(Hull::cost).sum::<f64>() / n_rows;
        let penalty = Penalty { atoms, lines };
        for round in 0..n_rounds {
            let cost = Hull::all(lines, atoms, &groups).iter().map(Hull::cost).sum::<f64>();
            let slack = (self.most - cost) / n_rows;
            let stirrer = Stirrer { goal: self.goal, keeps_apart: false, heat, sweeps, slack };
            groups = side_by_side(atoms, self.measures, lines, &groups, orders);
            let (mut rows, mut sizes) = expanded(atoms, &groups);
            blocks(&mut rows, &mut sizes, 1).into_par_iter().enumerate().for_each_init(
                || SaCounts::new(self.n_values),
                |counts, (block, (rows, sizes))| {
                    progress(0);
                    stirrer.stir(rows, sizes, &penalty, counts, &mut lots.of(round, block));
                },
            );
            groups = collapsed(&rows, &sizes);
        }
        groups
    }
}

/// Every row on its own, group after group.
fn expanded(atoms: &Atoms, groups: &Groups) -> (Vec<Row>, Vec<u32>) {
    let mut rows = Vec::new();
    let mut sizes = Vec::with_capacity(groups.len());
    for index in 0..groups.len() {
        let before = rows.len();
        for piece in groups.group(index) {
            let row = Row { atom: piece.atom, value: atoms.value[piece.atom as usize] };
            rows.extend((0..piece.count).map(|_| row));
        }
        sizes.push((rows.len() - before) as u32);
    }
    (rows, sizes)
}

/// Turns rows into groups of pieces again.
fn collapsed(rows: &[Row], sizes: &[u32]) -> Groups {
    let mut groups = Groups::default();
    let mut rest = rows;
    let mut atoms = Vec::new();
    for &size in sizes {
        let (group, after) = rest.split_at(size as usize);
        rest = after;
        atoms.clear();
        atoms.extend(group.iter().map(|row| row.atom));
        atoms.sort_unstable();
        groups.push(atoms.chunk_by(|a, b| a == b).map(|run| Piece { atom: run[0], count: run.len() as u32 }));
    }
    groups
}

impl Cost<Row> for Penalty<'_> {
    fn rise(&self, first: &[Row], a: usize, second: &[Row], b: usize) -> f64 {
        if first[a].atom == second[b].atom {
            return 0.0;
        }
        let (going, coming) = (self.atoms.cells(first[a].atom), self.atoms.cells(second[b].atom));
        let (mut of_first, mut of_second) = (0.0, 0.0);
        for (at, line) in self.lines.iter().enumerate().filter(|(at, _)| going[*at] != coming[*at]) {
            of_first += self.widened(line, at, first, a, going[at], coming[at]);
            of_second += self.widened(line, at, second, b, coming[at], going[at]);
        }
        of_first * first.len() as f64 + of_second * second.len() as f64
    }
}

impl Penalty<'_> {
    /// How much wider a group becomes on one attribute.
    fn widened(&self, line: &Line, at: usize, group: &[Row], but: usize, going: u32, coming: u32) -> f64 {
        let others = || {
            let others = group.iter().enumerate().filter(|(place, _)| *place != but);
            others.map(|(_, row)| self.atoms.cells(row.atom)[at])
        };
        if line.is_set() {
            let (mut n, mut has_going, mut has_coming) = (0, false, false);
            let mut seen = 0u128;
            for (place, cell) in others().enumerate() {
                has_going |= cell == going;
                has_coming |= cell == coming;
                let is_new = if cell < u128::BITS {
                    let is_new = seen >> cell & 1 == 0;
                    seen |= 1 << cell;
                    is_new
                } else {
                    others().take(place).all(|other| other != cell)
                };
                n += u32::from(is_new);
            }
            line.width(0, n + u32::from(!has_coming)) - line.width(0, n + u32::from(!has_going))
        } else {
            let (low, high) = others().fold((u32::MAX, 0), |(low, high), cell| (low.min(cell), high.max(cell)));
            line.width(low.min(coming), high.max(coming)) - line.width(low.min(going), high.max(going))
        }
    }
}

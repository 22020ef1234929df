use chrysalis_table::{Column, Progress, pause_at};
use rayon::prelude::*;

use super::super::mondrian::axis::Axis;
use super::cells::Tuples;
use crate::Partition;

/// Rows that nothing tells apart: equal quasi values and, where the goal looks at it, an equal sensitive value.
pub(super) struct Atoms {
    /// Number of quasi attributes.
    pub(super) stride: usize,
    /// The ranks of every atom, attribute by attribute.
    cells: Vec<u32>,
    /// The sensitive code, or 0 where it does not matter.
    pub(super) value: Vec<u32>,
    /// The rows, atom after atom.
    rows: Vec<u32>,
    /// Where the rows of an atom end.
    ends: Vec<u32>,
}

/// Some rows of an atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) atom: u32,
    pub(super) count: u32,
}

/// Groups of pieces, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    pub(super) pieces: Vec<Piece>,
    /// Where the pieces of a group end.
    pub(super) ends: Vec<u32>,
}

impl Groups {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn group(&self, index: usize) -> &[Piece] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.pieces[start as usize..self.ends[index] as usize]
    }

    /// Runs of groups with about `n_rows` rows each. Large pieces count as fewer rows, because each is a single atom.
    pub(super) fn stretches(&self, n_rows: usize) -> Vec<Vec<u32>> {
        let most = n_rows as u32 / 8;
        let mut stretches = Vec::new();
        let (mut open, mut n): (Vec<u32>, usize) = (Vec::new(), 0);
        for group in 0..self.len() {
            open.push(group as u32);
            n += self.group(group).iter().map(|piece| piece.count.min(most) as usize).sum::<usize>();
            if n >= n_rows {
                stretches.push(std::mem::take(&mut open));
                n = 0;
            }
        }
        if !open.is_empty() {
            stretches.push(open);
        }
        stretches
    }

    /// Some of the groups.
    pub(super) fn selected(&self, wanted: &[u32]) -> Groups {
        let mut groups = Groups::default();
        wanted.iter().for_each(|&group| groups.push(self.group(group as usize).iter().copied()));
        groups
    }

    /// Forgets the last group.
    pub(super) fn pop(&mut self) {
        self.ends.pop();
        self.pieces.truncate(self.ends.last().map_or(0, |&end| end as usize));
    }

    pub(super) fn push(&mut self, pieces: impl Iterator<Item = Piece>) {
        self.pieces.extend(pieces);
        self.ends.push(self.pieces.len() as u32);
    }
}

impl Atoms {
    /// Step 1. Rows of one atom keep the order of `rows`.
    pub(super) fn new(
        columns: &[&Column],
        axes: &[(usize, Axis)],
        sensitive: Option<&Column>,
        rows: &[u32],
        progress: Progress<'_>,
    ) -> Self {
        let (stride, width) = (axes.len(), axes.len() + 1);
        let mut records = vec![0u32; rows.len() * width];
        let chunk = 1 << 12;
        records.par_chunks_mut(chunk * width).zip(rows.par_chunks(chunk)).for_each(|(records, rows)| {
            progress(0);
            for (record, &row) in records.chunks_exact_mut(width).zip(rows) {
                for (cell, (at, axis)) in record.iter_mut().zip(axes) {
                    *cell = axis.rank(columns[*at].code(row as usize));
                }
                record[stride] = sensitive.map_or(0, |column| column.code(row as usize));
            }
        });
        let n_values = sensitive.map_or(1, |column| column.domain().len());
        let order = sorted(&records, width, &bits_of(axes.iter().map(|(_, axis)| axis.n_ranks()).chain([n_values])));
        progress(0);
        let record = |place: u32| &records[place as usize * width..(place as usize + 1) * width];
        let mut atoms = Atoms { stride, cells: Vec::new(), value: Vec::new(), rows: Vec::new(), ends: Vec::new() };
        atoms.rows.extend(order.iter().map(|&place| rows[place as usize]));
        for run in order.chunk_by(|&a, &b| record(a) == record(b)) {
            pause_at(progress, atoms.ends.len());
            let first = record(run[0]);
            atoms.cells.extend_from_slice(&first[..stride]);
            atoms.value.push(first[stride]);
            atoms.ends.push(atoms.ends.last().copied().unwrap_or(0) + run.len() as u32);
        }
        atoms
    }

    /// All atoms as records.
    pub(super) fn tuples<'a>(&'a self, counts: &'a [u32]) -> Tuples<'a> {
        Tuples { stride: self.stride, cells: &self.cells, counts, values: &self.value }
    }

    /// Number of atoms.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Rows per atom.
    pub(super) fn counts(&self) -> Vec<u32> {
        (0..self.ends.len() as u32).map(|atom| self.rows(atom).len() as u32).collect()
    }

    /// The rows of an atom.
    pub(super) fn rows(&self, atom: u32) -> &[u32] {
        let start = if atom == 0 { 0 } else { self.ends[atom as usize - 1] };
        &self.rows[start as usize..self.ends[atom as usize] as usize]
    }

    /// As many rows as the pieces say. Which rows of an atom a piece gets in the end is decided in step 6.
    pub(super) fn some_rows(&self, pieces: &mut [Piece]) -> Vec<u32> {
        pieces.sort_unstable_by_key(|piece| piece.atom);
        let runs = pieces.chunk_by(|a, b| a.atom == b.atom);
        let rows = |run: &[Piece]| {
            let count: u32 = run.iter().map(|piece| piece.count).sum();
            &self.rows(run[0].atom)[..count as usize]
        };
        runs.flat_map(rows).copied().collect()
    }

    /// Groups of rows, each with all rows of its atoms, as groups of pieces.
    pub(super) fn groups(&self, partition: &Partition, n_rows: usize, progress: Progress<'_>) -> Groups {
        let mut atom_of = vec![0u32; n_rows];
        for atom in 0..self.ends.len() as u32 {
            self.rows(atom).iter().for_each(|&row| atom_of[row as usize] = atom);
        }
        let mut groups = Groups::default();
        for rows in partition.groups() {
            pause_at(progress, groups.len());
            let mut atoms: Vec<u32> = rows.iter().map(|&row| atom_of[row as usize]).collect();
            atoms.sort_unstable();
            let runs = atoms.chunk_by(|a, b| a == b);
            groups.push(runs.map(|run| Piece { atom: run[0], count: run.len() as u32 }));
        }
        groups
    }

    /// The ranks of an atom.
    pub(super) fn cells(&self, atom: u32) -> &[u32] {
        &self.cells[atom as usize * self.stride..(atom as usize + 1) * self.stride]
    }

    /// Step 6. Turns pieces into rows. The order of the rows at the start decides which of an atom's rows a group gets.
    pub(super) fn partition(&self, groups: &Groups, progress: Progress<'_>) -> Partition {
        let mut next: Vec<u32> =
            (0..self.ends.len()).map(|atom| if atom == 0 { 0 } else { self.ends[atom - 1] }).collect();
        let mut rows = Vec::with_capacity(self.rows.len());
        let mut sizes = Vec::with_capacity(groups.len());
        for index in 0..groups.len() {
            pause_at(progress, index);
            let mut size = 0;
            for piece in groups.group(index) {
                let start = &mut next[piece.atom as usize];
                rows.extend_from_slice(&self.rows[*start as usize..(*start + piece.count) as usize]);
                *start += piece.count;
                size += piece.count;
            }
            sizes.push(size);
        }
        Partition::new(rows, &sizes)
    }
}

/// How many bits a number below each limit takes.
fn bits_of(limits: impl Iterator<Item = usize>) -> Vec<u32> {
    limits.map(|n| usize::BITS - n.saturating_sub(1).leading_zeros()).collect()
}

/// The positions of the records, sorted by their cells; equal records keep their order.
fn sorted(records: &[u32], width: usize, bits: &[u32]) -> Vec<u32> {
    let n = records.len() / width;
    if bits.iter().sum::<u32>() <= u64::BITS {
        let key =
            |record: &[u32]| record.iter().zip(bits).fold(0u64, |key, (&cell, bits)| key << bits | u64::from(cell));
        let mut keys: Vec<(u64, u32)> =
            (0..n).into_par_iter().map(|at| (key(&records[at * width..(at + 1) * width]), at as u32)).collect();
        keys.par_sort_unstable();
        return keys.into_iter().map(|(_, place)| place).collect();
    }
    let record = |place: u32| &records[place as usize * width..(place as usize + 1) * width];
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.par_sort_unstable_by(|&a, &b| record(a).cmp(record(b)).then(a.cmp(&b)));
    order
}

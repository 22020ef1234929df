use super::atoms::{Atoms, Groups, Piece};
use super::line::{Line, Measure};
use super::pool::Pool;

/// A few groups that lie close together, with values renumbered so that all counts stay in the cache.
pub(super) struct Block {
    pub(super) lines: Vec<Line>,
    /// The number of values of all attributes together.
    pub(super) n_held: usize,
    /// The atoms of the block, ascending.
    pub(super) atoms: Vec<u32>,
    /// The renumbered values of every atom.
    cells: Vec<u32>,
    /// The sensitive code of every atom.
    pub(super) values: Vec<u32>,
    /// The rows of every atom in this block.
    pub(super) counts: Vec<u32>,
}

impl Block {
    /// The atoms of some groups.
    pub(super) fn new(all: &Atoms, measures: &[Measure], groups: &Groups, wanted: &[u32]) -> Self {
        let mut pieces: Vec<Piece> = wanted.iter().flat_map(|&group| groups.group(group as usize)).copied().collect();
        pieces.sort_unstable_by_key(|piece| piece.atom);
        let (mut atoms, mut counts): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        for run in pieces.chunk_by(|a, b| a.atom == b.atom) {
            atoms.push(run[0].atom);
            counts.push(run.iter().map(|piece| piece.count).sum());
        }
        let d = measures.len();
        let mut cells = vec![0; atoms.len() * d];
        let mut lines: Vec<Line> = Vec::with_capacity(d);
        let mut n_held = 0;
        for (at, measure) in measures.iter().enumerate() {
            let mut ranks: Vec<u32> = atoms.iter().map(|&atom| all.cells(atom)[at]).collect();
            ranks.sort_unstable();
            ranks.dedup();
            for (index, &atom) in atoms.iter().enumerate() {
                // PROOF: every rank was just listed.
                cells[index * d + at] = ranks.partition_point(|&rank| rank < all.cells(atom)[at]) as u32;
            }
            lines.push(Line::new(measure, &ranks, n_held));
            n_held += ranks.len();
        }
        let values = atoms.iter().map(|&atom| all.value[atom as usize]).collect();
        Block { lines, n_held, atoms, cells, values, counts }
    }

    /// The values of an atom.
    pub(super) fn cells(&self, atom: usize) -> &[u32] {
        let d = self.lines.len();
        &self.cells[atom * d..(atom + 1) * d]
    }

    /// The groups that the block was made of.
    pub(super) fn pool(&self, groups: &Groups, wanted: &[u32]) -> Pool<'_> {
        let mut pool = Pool::new(self);
        for &group in wanted {
            let index = pool.open();
            for piece in groups.group(group as usize) {
                pool.add(index, self.atoms.partition_point(|&other| other < piece.atom), piece.count);
            }
        }
        pool
    }

    /// Groups of atoms of this block as groups of pieces.
    pub(super) fn groups(&self, pool: &Pool<'_>) -> Groups {
        let mut groups = Groups::default();
        for pieces in &pool.pieces {
            groups.push(pieces.iter().map(|&(atom, count)| Piece { atom: self.atoms[atom as usize], count }));
        }
        groups
    }
}

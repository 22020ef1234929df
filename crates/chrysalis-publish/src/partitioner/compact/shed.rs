//! Step 7: persons who look alike leave a wide group, as far as the rest can spare them.

use chrysalis_criteria::Principle;
use chrysalis_table::{Codes, Progress, SaCounts};
use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::method::sort_by_codes;
use crate::partitioner::stir::Lots;
use crate::{Microdata, Partition};

/// Takes groups apart: of the rows of a group that look alike, the most frequent first, as many as possible form a
/// group of their own. Both parts pass, and neither is wider than the whole.
///
/// A person with many rows of one value needs many others around it. Steps 2 to 4 look for groups of about the least
/// size, and so put such a person into whatever large group is near, whose rows all become wider.
pub(super) fn shed(
    data: &Microdata,
    goal: &dyn Principle,
    partition: &Partition,
    lots: &Lots,
    progress: Progress<'_>,
) -> Partition {
    let keys: Vec<&Codes> = data.quasi().map(|(column, _)| column.codes()).collect();
    let n_values = data.sensitive_counts().domain_len();
    let parts: Vec<Vec<Vec<u32>>> = (0..partition.n_groups())
        .into_par_iter()
        .map_init(
            || Shedder { data, goal, keys: &keys, counts: SaCounts::new(n_values), leaving: SaCounts::new(n_values) },
            |shedder, group| {
                progress(0);
                let mut rows = partition.group(group).to_vec();
                sort_by_codes(&mut rows, &keys);
                let mut cells: Vec<Vec<u32>> =
                    rows.chunk_by(|&a, &b| shedder.is_alike(a, b)).map(<[u32]>::to_vec).collect();
                // LEAK: which of several rows that look alike stay must not depend on where they stood in the input.
                let rng = &mut lots.of(usize::MAX, group);
                cells.iter_mut().for_each(|cell| cell.shuffle(rng));
                cells.sort_by_key(|cell| std::cmp::Reverse(cell.len()));
                shedder.shed(cells)
            },
        )
        .collect();
    let groups = || parts.iter().flatten();
    let sizes: Vec<u32> = groups().map(|group| group.len() as u32).collect();
    Partition::new(groups().flatten().copied().collect(), &sizes)
}

struct Shedder<'a> {
    data: &'a Microdata,
    goal: &'a dyn Principle,
    keys: &'a [&'a Codes],
    /// What the rows that stay have.
    counts: SaCounts,
    /// What the rows that leave have.
    leaving: SaCounts,
}

impl Shedder<'_> {
    fn is_alike(&self, a: u32, b: u32) -> bool {
        self.keys.iter().all(|codes| codes.get(a as usize) == codes.get(b as usize))
    }

    /// The groups that come out of one whose rows look alike cell by cell; the largest cells come first.
    fn shed(&mut self, cells: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
        if cells.len() < 2 {
            return cells;
        }
        let least = usize::try_from(self.goal.least_size()).unwrap_or(usize::MAX);
        self.counts.clear();
        self.data.bundle_counts(cells.iter().flatten().copied(), &mut self.counts);
        let (mut groups, mut rest): (Vec<Vec<u32>>, Vec<u32>) = (Vec::new(), Vec::new());
        for cell in cells {
            // A part of a cell with fewer rows than a group cannot be one, and somebody else must stay.
            if cell.len() < least || cell.len() as u64 == self.counts.total() {
                rest.extend(cell);
                continue;
            }
            let mut stay = Stay { cell: &cell, n: cell.len() };
            let n = stay.fewest(self);
            let n = n.filter(|&n| self.is_group(&cell[n..])).unwrap_or(cell.len());
            stay.set(self, n);
            groups.extend((n < cell.len()).then(|| cell[n..].to_vec()));
            rest.extend(&cell[..n]);
        }
        groups.push(rest);
        groups
    }

    fn is_group(&mut self, rows: &[u32]) -> bool {
        self.leaving.clear();
        self.data.bundle_counts(rows.iter().copied(), &mut self.leaving);
        self.goal.holds(&self.leaving)
    }
}

/// The first `n` rows of a cell stay, and are counted.
struct Stay<'a> {
    cell: &'a [u32],
    n: usize,
}

impl Stay<'_> {
    fn set(&mut self, shedder: &mut Shedder<'_>, n: usize) {
        if n > self.n {
            shedder.data.bundle_counts(self.cell[self.n..n].iter().copied(), &mut shedder.counts);
        } else {
            self.cell[n..self.n].iter().for_each(|&row| shedder.counts.remove(shedder.data.bundle(row)));
        }
        self.n = n;
    }

    fn holds(&mut self, shedder: &mut Shedder<'_>, n: usize) -> bool {
        self.set(shedder, n);
        shedder.goal.holds(&shedder.counts)
    }

    /// How many rows of the cell must stay so that these and all others pass; `None` if all of them must.
    fn fewest(&mut self, shedder: &mut Shedder<'_>) -> Option<usize> {
        let mut enough = 0;
        while !self.holds(shedder, enough) {
            enough = (2 * enough).max(1);
            if enough >= self.cell.len() {
                return None;
            }
        }
        // What was tried last did not pass.
        let mut few = enough / 2;
        while enough > few + 1 {
            let middle = few.midpoint(enough);
            if self.holds(shedder, middle) {
                enough = middle;
            } else {
                few = middle;
            }
        }
        Some(enough)
    }
}

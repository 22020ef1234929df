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
            || Shedder { data, goal, keys: &keys, counts: SaCounts::new(n_values) },
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
    counts: SaCounts,
}

impl Shedder<'_> {
    fn is_alike(&self, a: u32, b: u32) -> bool {
        self.keys.iter().all(|codes| codes.get(a as usize) == codes.get(b as usize))
    }

    fn holds(&mut self, parts: [&[u32]; 2]) -> bool {
        self.counts.clear();
        self.data.bundle_counts(parts.into_iter().flatten().copied(), &mut self.counts);
        self.goal.holds(&self.counts)
    }

    /// The groups that come out of one whose rows look alike cell by cell.
    fn shed(&mut self, cells: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
        let mut groups = Vec::new();
        let mut rest: Vec<u32> = cells.concat();
        if cells.len() > 1 {
            for cell in cells {
                let is_of_cell = |row: u32| cell.first().is_some_and(|&first| self.is_alike(first, row));
                let others: Vec<u32> = rest.iter().copied().filter(|&row| !is_of_cell(row)).collect();
                if others.is_empty() {
                    break;
                }
                let Some(stay) = self.fewest(&others, &cell) else { continue };
                if self.holds([&cell[stay..], &[]]) {
                    groups.push(cell[stay..].to_vec());
                    rest = others;
                    rest.extend(&cell[..stay]);
                }
            }
        }
        groups.push(rest);
        groups
    }

    /// How many rows of a cell must stay with the others so that these pass; `None` if all of them must.
    fn fewest(&mut self, others: &[u32], cell: &[u32]) -> Option<usize> {
        let mut enough = 0;
        while !self.holds([others, &cell[..enough]]) {
            enough = (2 * enough).max(1);
            if enough >= cell.len() {
                return None;
            }
        }
        // What was tried last did not pass.
        let mut few = enough / 2;
        while enough > few + 1 {
            let middle = few.midpoint(enough);
            if self.holds([others, &cell[..middle]]) {
                enough = middle;
            } else {
                few = middle;
            }
        }
        Some(enough)
    }
}

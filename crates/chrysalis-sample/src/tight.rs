//! Labels that say more than what they cover: made from the values of one group, each end and each member occurs there
//! (spec, step 1).

use std::collections::BTreeMap;

use chrysalis_release::set_label;
use chrysalis_release::view::{Field, Label};
use chrysalis_table::{Code, Table};
use rand::rngs::ChaCha8Rng;

use crate::axis::Part;
use crate::redraw::below;

/// Pairs of ranges that are looked at.
const MOST_RANGES: usize = 2000;

/// Whether the labels of a column cannot come from a hierarchy. Ranges of a hierarchy lie one inside the other or apart, so
/// two that overlap in part are those of two groups' values. Sets that are written out (`{F,M}`) have no name of their
/// own, so they are no nodes of a taxonomy.
pub(crate) fn is_tight(field: &Field, people: &Table, labels: &[Label]) -> bool {
    match people.column(&field.name) {
        Some(column) => (0..column.domain().len() as Code).zip(labels).all(|(code, label)| {
            let Label::Members { ranks, missing } = label else { return false };
            let empty = missing.then_some("");
            let words: Vec<&str> = empty.into_iter().chain(ranks.iter().map(|&rank| &*field.words[rank])).collect();
            words.len() == 1 || {
                let mut sorted = words.clone();
                sorted.sort_unstable();
                let text = column.domain().text(code);
                text == set_label(words.into_iter()) || text == set_label(sorted.into_iter())
            }
        }),
        None => overlap_in_part(labels),
    }
}

fn overlap_in_part(labels: &[Label]) -> bool {
    let ends = |label: &Label| match label {
        Label::Points { ends: Some((low, high)), .. } => Some((*low as f64, *high as f64)),
        Label::Stretch { ends, .. } => *ends,
        Label::Points { .. } | Label::Members { .. } => None,
    };
    let ranges: Vec<(f64, f64)> = labels.iter().filter_map(ends).take(MOST_RANGES).collect();
    ranges.iter().any(|a| ranges.iter().any(|b| a.0 < b.0 && b.0 <= a.1 && a.1 < b.1))
}

/// The cells that some row of a group must have, ascending.
pub(crate) fn required(label: &Label, parts: &[Part], cells: &mut Vec<u16>) {
    cells.clear();
    match label {
        Label::Members { .. } => cells.extend(parts.iter().map(|part| part.cell)),
        Label::Points { .. } | Label::Stretch { .. } => {
            let known = usize::from(label.has_missing());
            cells.extend(parts.iter().take(known).map(|part| part.cell));
            // An empty lower end reaches down to the missing value, so only the upper one is known to occur.
            let first = parts.get(known).filter(|_| !label.has_missing());
            cells.extend(first.map(|part| part.cell));
            cells.extend(parts.get(known..).and_then(<[Part]>::last).map(|part| part.cell));
            cells.dedup();
        }
    }
}

/// How many rows of a group have each required cell.
pub(crate) struct Holders {
    of: BTreeMap<u16, u32>,
}

impl Holders {
    /// Counts the rows that have required cells, and gives cells that nobody has to rows that can spare theirs. `None` if
    /// there are fewer rows than cells.
    pub(crate) fn new(required: &[u16], cells: &mut [u16], rng: &mut ChaCha8Rng) -> Option<Holders> {
        if required.len() > cells.len() {
            return None;
        }
        let mut holders = Holders { of: required.iter().map(|&cell| (cell, 0)).collect() };
        for cell in cells.iter() {
            holders.add(*cell, 1);
        }
        for &lacking in required {
            if holders.of.get(&lacking).is_some_and(|&count| count > 0) {
                continue;
            }
            let shift = below(cells.len(), rng);
            // PROOF: there are at least as many rows as required cells and one cell has no row, so some row can be spared.
            let spare =
                (0..cells.len()).map(|at| (at + shift) % cells.len()).find(|&at| !holders.is_needed(cells[at]))?;
            holders.moved(cells[spare], lacking);
            cells[spare] = lacking;
        }
        Some(holders)
    }

    /// Whether a row with this cell is the only one that has it, and somebody must.
    pub(crate) fn is_needed(&self, cell: u16) -> bool {
        self.of.get(&cell) == Some(&1)
    }

    /// A row went from one cell to another.
    pub(crate) fn moved(&mut self, from: u16, to: u16) {
        if let Some(count) = self.of.get_mut(&from) {
            *count = count.saturating_sub(1);
        }
        self.add(to, 1);
    }

    fn add(&mut self, cell: u16, n: u32) {
        if let Some(count) = self.of.get_mut(&cell) {
            *count += n;
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn points(low: i64, high: i64) -> Label {
        Label::Points { ends: Some((low, high)), missing: false }
    }

    #[test]
    fn ranges_of_a_hierarchy_lie_inside_each_other_or_apart() {
        assert!(!overlap_in_part(&[points(0, 9), points(10, 19), points(0, 19), points(5, 5)]));
        assert!(overlap_in_part(&[points(0, 9), points(5, 12)]));
        assert!(!overlap_in_part(&[points(3, 7)]));
    }

    #[test]
    fn lacking_cells_are_given_to_rows_that_can_spare_theirs() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..50 {
            let mut cells = [3, 3, 5, 9];
            let holders = Holders::new(&[3, 4, 7, 9], &mut cells, &mut rng).unwrap();
            cells.sort_unstable();
            assert_eq!(cells, [3, 4, 7, 9]);
            assert!([3, 4, 7, 9].iter().all(|&cell| holders.is_needed(cell)));
        }
        assert!(Holders::new(&[1, 2], &mut [1], &mut rng).is_none());
    }
}

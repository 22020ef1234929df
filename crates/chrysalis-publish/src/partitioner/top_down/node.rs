use chrysalis_table::SaCounts;

use super::Table;

/// Rows under one label per attribute.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) rows: Vec<u32>,
    levels: Vec<u8>,
    /// Attributes that were tried in vain.
    is_done: Vec<bool>,
}

/// What one level down in one attribute would give.
struct Specialization {
    attribute: usize,
    /// Penalty saved by the children that pass.
    gain: f64,
}

impl Node {
    pub(super) fn new(rows: Vec<u32>, levels: Vec<u8>) -> Self {
        let is_done = vec![false; levels.len()];
        Node { rows, levels, is_done }
    }

    fn child(&self, attribute: usize, rows: Vec<u32>) -> Node {
        let mut child = Node::new(rows, self.levels.clone());
        child.levels[attribute] -= 1;
        child
    }

    /// Goes one level down where that saves most; what has to stay behind stays in this node. `None`: no way down.
    pub(super) fn step(&mut self, table: &Table<'_>) -> Option<Vec<Node>> {
        loop {
            // Step 2.
            let mut found: Vec<Specialization> = Vec::new();
            for attribute in 0..self.levels.len() {
                while self.levels[attribute] > 0 && !self.is_done[attribute] {
                    let children = table.children(attribute, self.levels[attribute] - 1, &self.rows);
                    if children.len() > 1 {
                        found.extend(self.judged(table, attribute, &children));
                        break;
                    }
                    self.levels[attribute] -= 1;
                }
            }
            // Step 3.
            let best = found.iter().max_by(|a, b| a.gain.total_cmp(&b.gain).then(b.attribute.cmp(&a.attribute)))?;
            let attribute = best.attribute;
            self.is_done[attribute] = true;
            if let Some(children) = self.divided(table, attribute) {
                return Some(children.into_iter().map(|rows| self.child(attribute, rows)).collect());
            }
        }
    }

    fn judged(&self, table: &Table<'_>, attribute: usize, children: &[(f64, Vec<u32>)]) -> Option<Specialization> {
        let (_, now) = table.label(attribute, self.levels[attribute], *self.rows.first()?);
        let passing = children.iter().filter(|(_, rows)| table.goal.holds(&table.counts(rows)));
        let gains: Vec<f64> = passing.map(|(cost, rows)| (now - cost) * rows.len() as f64).collect();
        (!gains.is_empty()).then(|| Specialization { attribute, gain: gains.iter().sum() })
    }

    /// Children that pass. The rows of all others stay here, with as many more as they need to pass.
    fn divided(&mut self, table: &Table<'_>, attribute: usize) -> Option<Vec<Vec<u32>>> {
        let children = table.children(attribute, self.levels[attribute] - 1, &self.rows);
        let with_counts = children.into_iter().map(|(_, rows)| (table.counts(&rows), rows));
        let (mut passing, failing): (Vec<_>, Vec<_>) = with_counts.partition(|(counts, _)| table.goal.holds(counts));
        let mut back: Vec<u32> = failing.into_iter().flat_map(|(_, rows)| rows).collect();
        // Step 4.
        let mut held = table.counts(&back);
        while !back.is_empty() && !table.goal.holds(&held) {
            let (child, place) = spare(table, &passing, &held)?;
            let (counts, rows) = &mut passing[child];
            let row = rows.swap_remove(place);
            *counts = table.counts(rows);
            held.add(table.value(row));
            back.push(row);
        }
        self.rows = back;
        Some(passing.into_iter().map(|(_, rows)| rows).collect())
    }
}

/// A row that a child can spare: of the value that is rarest among those that came back, from the largest child.
fn spare(table: &Table<'_>, passing: &[(SaCounts, Vec<u32>)], held: &SaCounts) -> Option<(usize, usize)> {
    let mut best: Option<((u64, std::cmp::Reverse<usize>), usize, u32)> = None;
    for (child, (counts, rows)) in passing.iter().enumerate() {
        let mut values: Vec<u32> = counts.iter().map(|(value, _)| value).collect();
        values.sort_unstable();
        for value in values {
            let order = (held.count(value), std::cmp::Reverse(rows.len()));
            if best.as_ref().is_some_and(|best| best.0 <= order) {
                continue;
            }
            let mut rest = SaCounts::new(table.n_values);
            for (other, count) in counts.iter() {
                // PROOF: a group has at most as many rows as the table, which are numbered in 32 bits.
                rest.add_many(other, count as u32 - u32::from(other == value));
            }
            if table.goal.holds(&without_zeros(rest, table.n_values)) {
                best = Some((order, child, value));
            }
        }
    }
    let (_, child, value) = best?;
    let place = passing[child].1.iter().rposition(|&row| table.value(row) == value)?;
    Some((child, place))
}

/// Counts in which a value that is gone is not listed.
fn without_zeros(counts: SaCounts, n_values: usize) -> SaCounts {
    let mut kept = SaCounts::new(n_values);
    counts.iter().filter(|(_, count)| *count > 0).for_each(|(value, count)| kept.add_many(value, count as u32));
    kept
}

use std::cmp::Reverse;

use chrysalis_table::SaCounts;

use super::SearchContext;

/// Rows under one label per attribute.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) rows: Vec<u32>,
    levels: Vec<u8>,
    /// Attributes that were already tried.
    is_done: Vec<bool>,
}

/// The effect of going one level down in one attribute.
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

    /// Goes one level down in the attribute that saves most. Rows that cannot go down stay in this node. `None` if
    /// there is no way down.
    pub(super) fn step(&mut self, context: &SearchContext<'_>) -> Option<Vec<Node>> {
        loop {
            // Step 2.
            let mut found: Vec<Specialization> = Vec::new();
            for attribute in 0..self.levels.len() {
                while self.levels[attribute] > 0 && !self.is_done[attribute] {
                    let children = context.children(attribute, self.levels[attribute] - 1, &self.rows);
                    if children.len() > 1 {
                        found.extend(self.judged(context, attribute, &children));
                        break;
                    }
                    self.levels[attribute] -= 1;
                }
            }
            // Step 3.
            let best = found.iter().max_by(|a, b| a.gain.total_cmp(&b.gain).then(b.attribute.cmp(&a.attribute)))?;
            let attribute = best.attribute;
            self.is_done[attribute] = true;
            if let Some(children) = self.divided(context, attribute) {
                return Some(children.into_iter().map(|rows| self.child(attribute, rows)).collect());
            }
        }
    }

    fn judged(
        &self,
        context: &SearchContext<'_>,
        attribute: usize,
        children: &[(f64, Vec<u32>)],
    ) -> Option<Specialization> {
        let (_, now) = context.label(attribute, self.levels[attribute], *self.rows.first()?);
        let passing = children.iter().filter(|(_, rows)| context.goal.holds(&context.counts(rows)));
        let gains: Vec<f64> = passing.map(|(cost, rows)| (now - cost) * rows.len() as f64).collect();
        (!gains.is_empty()).then(|| Specialization { attribute, gain: gains.iter().sum() })
    }

    /// The children that pass. The rows of all others stay here, with as many more as they need to pass.
    fn divided(&mut self, context: &SearchContext<'_>, attribute: usize) -> Option<Vec<Vec<u32>>> {
        let children = context.children(attribute, self.levels[attribute] - 1, &self.rows);
        let with_counts = children.into_iter().map(|(_, rows)| (context.counts(&rows), rows));
        let (passing, failing): (Vec<_>, Vec<_>) = with_counts.partition(|(counts, _)| context.goal.holds(counts));
        let mut back: Vec<u32> = failing.into_iter().flat_map(|(_, rows)| rows).collect();
        let mut held = context.counts(&back);
        let mut children: Vec<Vec<u32>> = Vec::with_capacity(passing.len());
        if back.is_empty() || context.goal.holds(&held) {
            children.extend(passing.into_iter().map(|(_, rows)| rows));
        } else {
            // Step 4.
            let mut stocks: Vec<Stock> =
                passing.into_iter().map(|(counts, rows)| Stock::new(context, counts, rows)).collect();
            while !context.goal.holds(&held) {
                let row = spare(context, &mut stocks, &held)?;
                held.add(context.value(row));
                back.push(row);
            }
            children.extend(stocks.into_iter().map(Stock::into_rows));
        }
        self.rows = back;
        Some(children)
    }
}

/// A child that may give rows back.
struct Stock {
    counts: SaCounts,
    /// The rows of every value that it has, values in order.
    by_value: Vec<(u32, Vec<u32>)>,
}

impl Stock {
    fn new(context: &SearchContext<'_>, counts: SaCounts, mut rows: Vec<u32>) -> Self {
        rows.sort_by_key(|&row| context.value(row));
        let runs = rows.chunk_by(|&a, &b| context.value(a) == context.value(b));
        Stock { counts, by_value: runs.map(|run| (context.value(run[0]), run.to_vec())).collect() }
    }

    fn into_rows(self) -> Vec<u32> {
        self.by_value.into_iter().flat_map(|(_, rows)| rows).collect()
    }
}

/// Takes a row that a child can spare: of the value that is rarest among the rows that came back, from the largest
/// child.
fn spare(context: &SearchContext<'_>, stocks: &mut [Stock], held: &SaCounts) -> Option<u32> {
    let mut offers: Vec<(u64, Reverse<u64>, usize, usize)> = Vec::new();
    for (child, stock) in stocks.iter().enumerate() {
        let left = stock.by_value.iter().enumerate().filter(|(_, (_, rows))| !rows.is_empty());
        offers.extend(left.map(|(at, (value, _))| (held.count(*value), Reverse(stock.counts.total()), child, at)));
    }
    offers.sort_unstable();
    for (_, _, child, at) in offers {
        let Stock { counts, by_value } = &mut stocks[child];
        let (value, rows) = &mut by_value[at];
        counts.remove(*value);
        if context.goal.holds(counts) {
            return rows.pop();
        }
        counts.add(*value);
    }
    None
}

use chrysalis_criteria::loss::set_ncp;
use chrysalis_table::{Column, Taxonomy};

use crate::Microdata;
use crate::method::node_ncp;

/// All rows as ranks, one record per row.
pub(super) struct Ranks {
    cells: Vec<u32>,
    axes: Vec<Axis>,
}

struct Axis {
    shape: Shape,
    n_ranks: usize,
}

enum Shape {
    /// Published as a range; the share of the domain's width left of each rank. `None` is the missing value.
    Range(Vec<Option<f64>>),
    /// Published as a set of values.
    Set,
    /// Published as a node; with the penalty of each node.
    Tree(Taxonomy, Vec<f64>),
}

impl Axis {
    fn new(column: &Column, taxonomy: Option<&Taxonomy>) -> Self {
        let domain = column.domain();
        let n_ranks = domain.len();
        let shape = match taxonomy {
            Some(tree) => {
                let penalties = tree.nodes().iter().map(|node| node_ncp(domain, tree, node)).collect();
                Shape::Tree(tree.clone(), penalties)
            }
            None if domain.kind().is_ordered() => {
                let positions: Vec<Option<f64>> = (0..n_ranks as u32).map(|code| domain.position(code)).collect();
                let first = positions.iter().flatten().next().copied().unwrap_or(0.0);
                let last = positions.last().copied().flatten().unwrap_or(0.0);
                let width = if last > first { last - first } else { 1.0 };
                Shape::Range(positions.into_iter().map(|at| at.map(|at| (at - first) / width)).collect())
            }
            None => Shape::Set,
        };
        Axis { shape, n_ranks }
    }

    /// The penalty of one row in a group with these ranks: the first, the last, and how many distinct ones.
    fn width(&self, low: u32, high: u32, n_distinct: usize) -> f64 {
        match &self.shape {
            _ if low == high => 0.0,
            Shape::Range(shares) => match (shares[low as usize], shares[high as usize]) {
                (Some(low), Some(high)) => high - low,
                // A range from missing to a number says almost nothing.
                _ => 1.0,
            },
            Shape::Set => set_ncp(n_distinct, self.n_ranks),
            Shape::Tree(tree, penalties) => penalties[tree.common_ancestor(low..=high)],
        }
    }
}

impl Ranks {
    pub(super) fn new(data: &Microdata) -> Self {
        let axes: Vec<Axis> = data.quasi().map(|(column, taxonomy)| Axis::new(column, taxonomy)).collect();
        let mut cells = vec![0; data.rows() * axes.len()];
        for (at, (column, taxonomy)) in data.quasi().enumerate() {
            let ranks: Vec<u32> =
                (0..column.domain().len() as u32).map(|code| taxonomy.map_or(code, |tree| tree.rank(code))).collect();
            for (record, code) in cells.chunks_exact_mut(axes.len()).zip(column.codes().iter()) {
                record[at] = ranks[code as usize];
            }
        }
        Ranks { cells, axes }
    }

    pub(super) fn record(&self, row: u32) -> &[u32] {
        let n = self.axes.len();
        &self.cells[row as usize * n..(row as usize + 1) * n]
    }

    /// The smallest and the largest rank of every attribute in these rows.
    pub(super) fn extremes(&self, rows: &[u32]) -> (Vec<u32>, Vec<u32>) {
        let (mut lowest, mut highest) = (vec![u32::MAX; self.axes.len()], vec![0; self.axes.len()]);
        for &row in rows {
            for ((low, high), &rank) in lowest.iter_mut().zip(&mut highest).zip(self.record(row)) {
                *low = (*low).min(rank);
                *high = (*high).max(rank);
            }
        }
        (lowest, highest)
    }
}

/// One of the two parts that a division fills: what its rows cover on every attribute.
pub(super) struct Side {
    n: f64,
    width: f64,
    covers: Vec<Cover>,
    /// Counts restarts, so that marks need no clearing.
    now: u32,
}

struct Cover {
    low: u32,
    high: u32,
    width: f64,
    n_distinct: usize,
    /// For sets: when each rank was last seen.
    seen: Vec<u32>,
}

impl Side {
    pub(super) fn new(ranks: &Ranks) -> Self {
        let cover = |axis: &Axis| {
            let n_marks = if matches!(axis.shape, Shape::Set) { axis.n_ranks } else { 0 };
            Cover { low: 0, high: 0, width: 0.0, n_distinct: 0, seen: vec![0; n_marks] }
        };
        Side { n: 0.0, width: 0.0, covers: ranks.axes.iter().map(cover).collect(), now: 0 }
    }

    /// Forgets all rows and takes in the artificial tuple.
    pub(super) fn restart(&mut self, ranks: &Ranks, tuple: &[u32]) {
        if self.now == u32::MAX {
            self.covers.iter_mut().for_each(|cover| cover.seen.fill(0));
            self.now = 0;
        }
        self.now += 1;
        (self.n, self.width) = (0.0, 0.0);
        for (cover, &rank) in self.covers.iter_mut().zip(tuple) {
            (cover.low, cover.high, cover.width, cover.n_distinct) = (rank, rank, 0.0, 0);
        }
        self.add(ranks, tuple);
    }

    /// How much the penalty of all rows together grows with this one: NCP(G ∪ w) − NCP(G).
    pub(super) fn increase(&self, ranks: &Ranks, record: &[u32]) -> f64 {
        let mut wider = 0.0;
        for ((cover, axis), &rank) in self.covers.iter().zip(&ranks.axes).zip(record) {
            wider += cover.with(axis, rank, self.now).0 - cover.width;
        }
        self.n * wider + self.width + wider
    }

    pub(super) fn add(&mut self, ranks: &Ranks, record: &[u32]) {
        for ((cover, axis), &rank) in self.covers.iter_mut().zip(&ranks.axes).zip(record) {
            let (width, is_new) = cover.with(axis, rank, self.now);
            self.width += width - cover.width;
            cover.width = width;
            cover.low = cover.low.min(rank);
            cover.high = cover.high.max(rank);
            if is_new {
                cover.n_distinct += 1;
                cover.seen[rank as usize] = self.now;
            }
        }
        self.n += 1.0;
    }
}

impl Cover {
    /// The width with one more rank, and whether the rank is new to a set.
    fn with(&self, axis: &Axis, rank: u32, now: u32) -> (f64, bool) {
        let is_new = self.seen.get(rank as usize).is_some_and(|&seen| seen != now);
        if !is_new && self.low <= rank && rank <= self.high {
            return (self.width, false);
        }
        (axis.width(self.low.min(rank), self.high.max(rank), self.n_distinct + usize::from(is_new)), is_new)
    }
}

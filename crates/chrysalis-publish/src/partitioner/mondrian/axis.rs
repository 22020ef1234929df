use chrysalis_criteria::loss::set_ncp;
use chrysalis_table::{Column, Taxonomy, Value};

/// A quasi attribute as the kd-tree sees it: ranks on a line, and what a stretch of ranks would cost if published.
#[derive(Clone)]
pub(in crate::partitioner) struct Axis {
    shape: Shape,
    /// From code to rank; empty where they are the same.
    ranks: Vec<u32>,
    n_ranks: usize,
    /// For ranges of whole numbers and days: where each rank lies; `None` is the missing value. Empty otherwise.
    places: Vec<Option<f64>>,
}

#[derive(Clone)]
pub(in crate::partitioner) enum Shape {
    /// Published as a range; the share of the domain's width left of each rank. `None` is the missing value.
    Range(Vec<Option<f64>>),
    /// Published as a set of values.
    Set,
    /// Published as a node; with the penalty of each node.
    Tree(Taxonomy, Vec<f64>),
}

impl Axis {
    pub(in crate::partitioner) fn new(column: &Column, taxonomy: Option<&Taxonomy>) -> Self {
        let domain = column.domain();
        let n_ranks = domain.len();
        let codes = 0..n_ranks as u32;
        if let Some(tree) = taxonomy {
            let penalties = tree.nodes().iter().map(|node| crate::method::node_ncp(domain, tree, node)).collect();
            let ranks = codes.map(|code| tree.rank(code)).collect();
            return Axis { shape: Shape::Tree(tree.clone(), penalties), ranks, n_ranks, places: Vec::new() };
        }
        if !domain.kind().is_ordered() {
            return Axis { shape: Shape::Set, ranks: Vec::new(), n_ranks, places: Vec::new() };
        }
        let positions: Vec<Option<f64>> = codes.map(|code| domain.position(code)).collect();
        let first = positions.iter().flatten().next().copied().unwrap_or(0.0);
        let last = positions.last().copied().flatten().unwrap_or(0.0);
        let width = if last > first { last - first } else { 1.0 };
        let whole = |code: u32| domain.value(code).and_then(Value::whole).map(|place| place as f64);
        let places = if domain.kind().is_whole() { (0..n_ranks as u32).map(whole).collect() } else { Vec::new() };
        let shares = positions.into_iter().map(|position| position.map(|at| (at - first) / width)).collect();
        Axis { shape: Shape::Range(shares), ranks: Vec::new(), n_ranks, places }
    }

    pub(in crate::partitioner) fn n_ranks(&self) -> usize {
        self.n_ranks
    }

    pub(in crate::partitioner) fn shape(&self) -> &Shape {
        &self.shape
    }

    pub(in crate::partitioner) fn rank(&self, code: u32) -> u32 {
        self.ranks.get(code as usize).copied().unwrap_or(code)
    }

    /// How many values a row of a group with these ranks may have: whole numbers, days or microseconds between them,
    /// otherwise values of the domain.
    pub(in crate::partitioner) fn points(&self, first: u32, last: u32, n_distinct: usize) -> f64 {
        match &self.shape {
            Shape::Range(_) => match (self.places.get(first as usize), self.places.get(last as usize)) {
                (Some(Some(low)), Some(Some(high))) => high - low + 1.0,
                _ => f64::from(last - first) + 1.0,
            },
            Shape::Set => n_distinct as f64,
            Shape::Tree(tree, _) => tree.node(tree.common_ancestor(first..=last)).n_leaves() as f64,
        }
    }

    /// The penalty of one row in a group that has these ranks: the first, the last, and how many distinct ones.
    pub(in crate::partitioner) fn width(&self, first: u32, last: u32, n_distinct: usize) -> f64 {
        match &self.shape {
            _ if first == last => 0.0,
            Shape::Range(shares) => match (shares[first as usize], shares[last as usize]) {
                (Some(low), Some(high)) => high - low,
                // A range from missing to a number says almost nothing.
                _ => 1.0,
            },
            Shape::Set => set_ncp(n_distinct, self.n_ranks),
            Shape::Tree(tree, penalties) => penalties[tree.common_ancestor(first..=last)],
        }
    }
}

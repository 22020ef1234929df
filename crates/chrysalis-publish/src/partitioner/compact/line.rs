use super::super::mondrian::axis::{Axis, Shape};
use super::super::mondrian::cut::Worth;

/// What a range of one attribute costs, over all ranks.
pub(super) enum Measure {
    /// The share of the domain's width left of every rank; a missing value lies a whole width below.
    Range(Vec<f64>),
    /// Where every rank lies, for ranges that cost the logarithm of the points in them.
    Points(Vec<f64>),
    /// The share of the domain that a single value makes up.
    Set(f64),
    /// The cost of a set, by its number of values.
    Sizes(Vec<f64>),
    /// For every rank, the cost of the lowest node above it and the next rank.
    Tree(Vec<f64>),
}

impl Measure {
    pub(super) fn new(axis: &Axis, worth: Worth) -> Self {
        let last = axis.n_ranks().saturating_sub(1) as u32;
        let points = |first: u32, last: u32, n: usize| axis.points(first, last, n);
        match (axis.shape(), worth) {
            (Shape::Range(shares), Worth::Penalty) => {
                Measure::Range(shares.iter().map(|share| share.unwrap_or(-1.0)).collect())
            }
            (Shape::Range(shares), Worth::Surprise) => {
                // A missing value lies as far below as the domain is wide.
                let first = shares.iter().position(Option::is_some).unwrap_or(0) as u32;
                let place = |rank| if rank < first { -points(first, last, 1) } else { points(first, rank, 1) };
                Measure::Points((0..=last).map(place).collect())
            }
            (Shape::Set, Worth::Penalty) => Measure::Set(1.0 / axis.n_ranks() as f64),
            (Shape::Set, Worth::Surprise) => {
                Measure::Sizes((0..=axis.n_ranks()).map(|n| points(0, last, n.max(1)).ln()).collect())
            }
            (Shape::Tree(..), Worth::Penalty) => {
                Measure::Tree((0..last).map(|rank| axis.width(rank, rank + 1, 2)).collect())
            }
            (Shape::Tree(..), Worth::Surprise) => {
                Measure::Tree((0..last).map(|rank| points(rank, rank + 1, 2).ln()).collect())
            }
        }
    }

    /// About how much two different values cost; attributes where this is high are looked at first.
    pub(super) fn weight(&self, n_ranks: usize) -> f64 {
        match self {
            Measure::Range(_) => 1.0 / n_ranks as f64,
            Measure::Set(step) => 2.0 * step,
            Measure::Points(_) | Measure::Sizes(_) => std::f64::consts::LN_2,
            Measure::Tree(next) => next.iter().sum::<f64>() / next.len().max(1) as f64,
        }
    }
}

/// One attribute over some ranks, which are renumbered from 0.
pub(super) struct Line {
    /// Where its values begin among those of all attributes.
    pub(super) offset: usize,
    /// How many values occur.
    pub(super) n: usize,
    kind: LineKind,
}

enum LineKind {
    Range(Vec<f64>),
    Points(Vec<f64>),
    Set(f64),
    Sizes(Vec<f64>),
    /// Level i: the largest penalty among 2^i neighbours. The node above a range costs as much as the most expensive
    /// node above two neighbours in it.
    Tree(Vec<Vec<f64>>),
}

impl Line {
    /// The line over all ranks.
    pub(super) fn whole(measure: &Measure) -> Self {
        let n = match measure {
            Measure::Range(places) | Measure::Points(places) => places.len(),
            Measure::Set(_) | Measure::Sizes(_) => 0,
            Measure::Tree(next) => next.len() + 1,
        };
        Line::new(measure, &(0..n as u32).collect::<Vec<_>>(), 0)
    }

    /// The line over the ranks that occur.
    pub(super) fn new(measure: &Measure, ranks: &[u32], offset: usize) -> Self {
        let at_ranks = |all: &[f64]| ranks.iter().map(|&rank| all[rank as usize]).collect();
        let kind = match measure {
            Measure::Range(shares) => LineKind::Range(at_ranks(shares)),
            Measure::Points(places) => LineKind::Points(at_ranks(places)),
            Measure::Set(step) => LineKind::Set(*step),
            Measure::Sizes(costs) => LineKind::Sizes(costs.clone()),
            Measure::Tree(next) => {
                let between =
                    |pair: &[u32]| next[pair[0] as usize..pair[1] as usize].iter().copied().fold(0.0, f64::max);
                let mut levels: Vec<Vec<f64>> = vec![ranks.windows(2).map(between).collect()];
                let mut reach = 1;
                while 2 * reach < ranks.len() {
                    let below = &levels[levels.len() - 1];
                    let level = (0..below.len() - reach).map(|at| below[at].max(below[at + reach])).collect();
                    levels.push(level);
                    reach *= 2;
                }
                LineKind::Tree(levels)
            }
        };
        Line { offset, n: ranks.len(), kind }
    }

    pub(super) fn is_set(&self) -> bool {
        matches!(self.kind, LineKind::Set(_) | LineKind::Sizes(_))
    }

    /// The penalty of a row in a group that reaches from `low` to `high`; for sets `high` is the number of values.
    #[inline]
    pub(super) fn width(&self, low: u32, high: u32) -> f64 {
        match &self.kind {
            LineKind::Set(step) => {
                if high <= 1 {
                    0.0
                } else {
                    f64::from(high) * step
                }
            }
            LineKind::Sizes(costs) => costs[high as usize],
            _ if low >= high => 0.0,
            LineKind::Points(places) => (places[high as usize] - places[low as usize] + 1.0).ln(),
            LineKind::Range(shares) => (shares[high as usize] - shares[low as usize]).min(1.0),
            LineKind::Tree(levels) => {
                let level = (high - low).ilog2();
                let penalties = &levels[level as usize];
                penalties[low as usize].max(penalties[high as usize - (1 << level)])
            }
        }
    }
}

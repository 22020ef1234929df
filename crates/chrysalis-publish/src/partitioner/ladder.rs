use super::mondrian::axis::{Axis, Shape};

/// The levels to which an attribute can be coarsened, the finest first: per level, the label of every rank and its
/// penalty.
pub(super) struct Ladder {
    pub(super) steps: Vec<Vec<(u32, f64)>>,
}

/// The finest ranges of an ordered attribute without a taxonomy divide its width into this many parts.
const FINEST_RANGE: u32 = 32;

impl Ladder {
    pub(super) fn new(axis: &Axis) -> Self {
        let n = axis.n_ranks() as u32;
        let mut steps: Vec<Vec<(u32, f64)>> = vec![(0..n).map(|rank| (rank, 0.0)).collect()];
        match axis.shape() {
            Shape::Set => steps.push(vec![(0, 1.0); n as usize]),
            Shape::Range(shares) => {
                let mut parts = FINEST_RANGE;
                while parts >= 1 {
                    let label =
                        |share: &Option<f64>| share.map_or(parts, |at| ((at * f64::from(parts)) as u32).min(parts - 1));
                    steps.push(shares.iter().map(|share| (label(share), 1.0 / f64::from(parts))).collect());
                    parts /= 2;
                }
                if shares.iter().any(Option::is_none) {
                    steps.push(vec![(0, 1.0); n as usize]);
                }
            }
            Shape::Tree(tree, penalties) => {
                let mut labels: Vec<usize> = (0..n).map(|rank| tree.common_ancestor(rank..=rank)).collect();
                let height = tree.node(0).height;
                for level in 1..=height {
                    for label in &mut labels {
                        // Every label is lifted until it is no deeper than the level allows.
                        while tree.node(*label).depth > height - level {
                            *label = tree.node(*label).parent.unwrap_or(0);
                        }
                    }
                    steps.push(labels.iter().map(|&label| (label as u32, penalties[label])).collect());
                }
            }
        }
        Ladder { steps }
    }
}

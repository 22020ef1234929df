use std::fmt;

use chrysalis_table::{Kind, SaCounts, Taxonomy};

use super::{Limit, Principle, Sensitive};
use crate::{Laws, Rational, show_rational};

/// t-closeness: the earth mover's distance between a group's values and the whole table's is at most t.
///
/// Equal distance for categories; ordered distance (one step per distinct value) for ordered kinds; hierarchical
/// distance when the column has a taxonomy.
///
/// # Guarantees
/// The release tells about a person's group little more than the whole table tells about everybody.
/// # Against whom
/// An attacker who knows the whole table's distribution and links by the quasi-identifier.
/// # Cost
/// Equal: linear in the values present. Ordered and hierarchical: linear in the domain.
/// # Paper
/// Li, Li and Venkatasubramanian, sections 4.1–4.3.
#[derive(Debug)]
pub(super) struct TCloseness {
    t: Rational,
    whole: SaCounts,
    distance: Distance,
}

#[derive(Debug)]
enum Distance {
    Equal,
    Ordered,
    Hierarchical(Taxonomy),
}

impl TCloseness {
    pub(super) fn bind(t: Rational, sensitive: &Sensitive<'_>) -> Self {
        let distance = match sensitive.taxonomy {
            Some(taxonomy) => Distance::Hierarchical(taxonomy.clone()),
            None if sensitive.domain.kind() == Kind::Category => Distance::Equal,
            None => Distance::Ordered,
        };
        TCloseness { t, whole: sensitive.counts.clone(), distance }
    }

    /// The surplus of a code in the group, times n·N: c·N − C·n.
    fn surplus(&self, group: &SaCounts, code: u32) -> i128 {
        i128::from(group.count(code)) * i128::from(self.whole.total())
            - i128::from(self.whole.count(code)) * i128::from(group.total())
    }

    /// The distance as a fraction of n·N: numerator and what it is to be divided by.
    fn distance(&self, group: &SaCounts) -> (i128, i128) {
        match &self.distance {
            Distance::Equal => {
                // Values absent from the group have a deficit of C·n each; all surpluses sum to zero.
                let surplus = group.iter().map(|(code, _)| self.surplus(group, code).max(0)).sum();
                (surplus, 1)
            }
            Distance::Ordered => {
                let codes = 0..self.whole.domain_len() as u32;
                let steps = codes.scan(0i128, |sum, code| {
                    *sum += self.surplus(group, code);
                    Some(sum.abs())
                });
                (steps.sum(), (self.whole.domain_len() as i128 - 1).max(1))
            }
            Distance::Hierarchical(taxonomy) => self.hierarchical(group, taxonomy),
        }
    }

    /// Σ over inner nodes of height(node)/H · min(surplus, deficit among its children).
    fn hierarchical(&self, group: &SaCounts, taxonomy: &Taxonomy) -> (i128, i128) {
        let nodes = taxonomy.nodes();
        let mut extra = vec![0i128; nodes.len()];
        let mut flows = vec![(0i128, 0i128); nodes.len()];
        let mut cost = 0;
        // PROOF: children come after their parent, so backwards every child is done before its parent.
        for (id, node) in nodes.iter().enumerate().rev() {
            if node.children.is_empty() {
                extra[id] = self.surplus(group, taxonomy.code_at(*node.ranks.start()));
            }
            cost += node.height as i128 * flows[id].0.min(flows[id].1);
            if let Some(parent) = node.parent {
                extra[parent] += extra[id];
                flows[parent].0 += extra[id].max(0);
                flows[parent].1 -= extra[id].min(0);
            }
        }
        (cost, (nodes[0].height as i128).max(1))
    }
}

impl Principle for TCloseness {
    fn laws(&self) -> Laws {
        Laws { monotone: true, scale_free: true }
    }

    /// distance / (scale·n·N) ≤ p/q, cross-multiplied.
    fn holds(&self, group: &SaCounts) -> bool {
        let (distance, scale) = self.distance(group);
        let (p, q) = (i128::from(*self.t.numer()), i128::from(*self.t.denom()));
        // PROOF: n·N ≤ 2⁶⁴, scale ≤ 2³², q ≤ 10⁹ < 2³⁰: both sides stay below 2¹²⁷.
        distance * q <= p * scale * i128::from(group.total()) * i128::from(self.whole.total())
    }

    fn least_size(&self) -> u64 {
        1
    }

    /// With r of n rows gone the distance falls by at most r/n.
    ///
    /// PROOF: the group is a mixture of what stays and a share r/n of what left; no distance between values exceeds 1,
    /// so the two distributions are at most r/n apart, and the earth mover's distance keeps the triangle inequality.
    fn least_removal(&self, group: &SaCounts) -> u64 {
        if self.holds(group) {
            return 0;
        }
        let (distance, scale) = self.distance(group);
        let (p, q) = (i128::from(*self.t.numer()), i128::from(*self.t.denom()));
        let whole = i128::from(self.whole.total());
        let excess = distance * q - p * scale * i128::from(group.total()) * whole;
        u64::try_from(excess / (scale * whole * q).max(1)).unwrap_or(0).max(1)
    }

    /// The whole table has distance 0 from itself.
    fn limit(&self, _: &SaCounts, _: Option<&Sensitive<'_>>) -> Limit {
        Limit::no_rows()
    }
}

impl fmt::Display for TCloseness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t={}", show_rational(self.t))
    }
}

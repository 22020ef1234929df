use std::fmt;

use chrysalis_table::{Code, Domain, Kind, SaCounts, Taxonomy};

use super::{Limit, Principle, Sensitive, safe};
use crate::{Alike, Laws, Rational, show_rational};

/// t-closeness: the earth mover's distance between a group's values and the whole table's is at most t.
///
/// Equal distance for categories; ordered distance (one step per distinct value) for ordered kinds; hierarchical
/// distance if the column has a taxonomy: the height of the lowest label that two values share over the height of the
/// tree, where height counts branchings. A label with a single label or value below it is no branching, and values that
/// do not occur are not part of the tree.
///
/// # Guarantees
/// The release says little more about a person's group than the whole table says about everybody. If the order or the
/// taxonomy has values that look alike, this also holds with them merged.
/// # Against whom
/// An attacker who knows the whole table's distribution and links by the quasi-identifier.
/// # Cost
/// Equal: linear in the values present. Ordered and hierarchical: linear in the domain.
/// # Paper
/// Li, Li and Venkatasubramanian, sections 4.1–4.3. In their trees all leaves have the same depth and all inner nodes
/// branch; for such trees our distance is theirs.
#[derive(Debug)]
pub(super) struct TCloseness {
    t: Rational,
    whole: SaCounts,
    /// For the values as they are, and, if that differs, with those that look alike merged.
    distances: Vec<Distance>,
    /// The distance in words.
    name: String,
}

#[derive(Debug)]
enum Distance {
    Equal,
    /// The place of every code on a line, and how many places there are.
    Ordered(Vec<usize>, usize),
    Hierarchical(Branches),
}

impl TCloseness {
    pub(super) fn bind(t: Rational, sensitive: &Sensitive<'_>) -> Self {
        let plain = Alike::default();
        let is_folded = !sensitive.alike.sets().is_empty();
        let readings = [Some(&plain), is_folded.then_some(sensitive.alike)].into_iter().flatten();
        let distances = match sensitive.taxonomy {
            Some(taxonomy) => {
                readings.map(|alike| Distance::Hierarchical(Branches::new(taxonomy, sensitive, alike))).collect()
            }
            // PROOF: merging values never increases the distance, so what holds for the values holds for the merged
            // ones.
            None if sensitive.domain.kind() == Kind::Category => vec![Distance::Equal],
            None => readings.map(|alike| line(sensitive.counts, alike)).collect(),
        };
        let name = match distances.first() {
            Some(Distance::Hierarchical(branches)) => {
                let levels = branches.nodes.first().map_or(0, |root| root.1);
                format!("hierarchical distance, {levels} {}", if levels == 1 { "level" } else { "levels" })
            }
            Some(Distance::Ordered(..)) if sensitive.domain.kind() == Kind::Ordinal => {
                format!("distance ordered by the order given: {}", order(sensitive.domain))
            }
            Some(Distance::Ordered(..)) => "distance ordered by value".to_owned(),
            Some(Distance::Equal) | None => "equal distance".to_owned(),
        };
        TCloseness { t, whole: sensitive.counts.clone(), distances, name }
    }

    /// The surplus of a code in the group, times n·N: c·N − C·n.
    fn surplus(&self, group: &SaCounts, code: u32) -> i128 {
        i128::from(group.count(code)) * i128::from(self.whole.total())
            - i128::from(self.whole.count(code)) * i128::from(group.total())
    }

    /// The distance times n·N, as a numerator and a denominator.
    fn distance(&self, group: &SaCounts, distance: &Distance) -> (i128, i128) {
        match distance {
            Distance::Equal => {
                // Values absent from the group have a deficit of C·n each; all surpluses sum to zero.
                let surplus = group.iter().map(|(code, _)| self.surplus(group, code).max(0)).sum();
                (surplus, 1)
            }
            Distance::Ordered(places, n_places) => {
                let mut at = vec![0i128; *n_places];
                (0..).zip(places).for_each(|(code, &place)| at[place] += self.surplus(group, code));
                let steps = at.iter().scan(0i128, |sum, surplus| {
                    *sum += surplus;
                    Some(sum.abs())
                });
                (steps.sum(), (*n_places as i128 - 1).max(1))
            }
            Distance::Hierarchical(branches) => branches.distance(|code| self.surplus(group, code)),
        }
    }

    /// distance / (scale·n·N) ≤ p/q, cross-multiplied: by how much the left side exceeds the right, and how much of
    /// that one row can account for.
    fn excess(&self, group: &SaCounts, distance: &Distance) -> (i128, i128) {
        let (distance, scale) = self.distance(group, distance);
        let (p, q) = (i128::from(*self.t.numer()), i128::from(*self.t.denom()));
        // PROOF: n·N ≤ 2⁶⁴, scale ≤ 2³², q ≤ 10⁹ < 2³⁰: both sides stay below 2¹²⁷.
        let whole = i128::from(self.whole.total());
        (distance * q - p * scale * i128::from(group.total()) * whole, (scale * whole * q).max(1))
    }
}

/// `a < b < c`, or only the ends of a long order.
fn order(domain: &Domain) -> String {
    let names: Vec<String> = domain.values().iter().map(|value| format!("`{value}`")).collect();
    match &names[..] {
        [first, second, .., last] if names.len() > MOST_NAMES => format!("{first} < {second} < … < {last}"),
        names => names.join(" < "),
    }
}

/// More values than this are not spelled out.
const MOST_NAMES: usize = 8;

/// One step per distinct value that occurs.
fn line(whole: &SaCounts, alike: &Alike) -> Distance {
    let mut places = vec![0; whole.domain_len()];
    let mut n_places: usize = 0;
    for code in 0..whole.domain_len() as Code {
        let first = alike.first(code);
        places[code as usize] = if first < code {
            places[first as usize]
        } else {
            n_places += usize::from(whole.count(code) > 0);
            n_places.saturating_sub(1)
        };
    }
    Distance::Ordered(places, n_places.max(1))
}

/// The part of a taxonomy where values that occur part ways.
#[derive(Debug)]
struct Branches {
    /// The nodes, each before those below it, with its parent and the number of branchings on the longest way down.
    nodes: Vec<(Option<usize>, i128)>,
    /// The node of every code.
    leaf_of: Vec<usize>,
}

impl Branches {
    fn new(taxonomy: &Taxonomy, sensitive: &Sensitive<'_>, alike: &Alike) -> Self {
        let n_codes = sensitive.domain.len() as Code;
        let is_missing = |code: Code| sensitive.domain.value(code).is_none();
        // Step 1. How many of the values that occur lie below each node. A missing value lies nowhere in the tree.
        let mut below = vec![0usize; taxonomy.nodes().len()];
        for code in (0..n_codes).filter(|&code| alike.first(code) == code && !is_missing(code)) {
            let is_there = (code..n_codes).any(|other| alike.first(other) == code && sensitive.counts.count(other) > 0);
            let mut next = is_there.then(|| leaf(taxonomy, code));
            while let Some(node) = next {
                below[node] += 1;
                next = taxonomy.node(node).parent;
            }
        }
        // Step 2. Nodes are kept where values part ways, and where they end. PROOF: parents come before their children.
        let mut branches = Branches { nodes: Vec::new(), leaf_of: vec![0; n_codes as usize] };
        let mut kept_as: Vec<usize> = vec![0; below.len()];
        for (id, node) in taxonomy.nodes().iter().enumerate() {
            let parent = node.parent.map(|parent| kept_as[parent]).filter(|_| !branches.nodes.is_empty());
            let parts = node.children.iter().filter(|&&child| below[child] > 0).count();
            let is_kept = below[id] > 0 && (parts != 1);
            kept_as[id] = if is_kept {
                branches.nodes.push((parent, 0));
                branches.nodes.len() - 1
            } else {
                parent.unwrap_or(0)
            };
        }
        for code in 0..n_codes {
            let first = alike.first(code);
            if !is_missing(first) {
                branches.leaf_of[code as usize] = kept_as[leaf(taxonomy, first)];
            }
        }
        // Step 3. A missing value is as far from all others as possible: beside the highest branching.
        if let Some(code) = (0..n_codes).find(|&code| is_missing(code)) {
            if branches.nodes.first().is_none_or(|root| branches.nodes.len() == 1 && root.0.is_none()) {
                branches.nodes.insert(0, (None, 0));
                branches.nodes.iter_mut().skip(1).for_each(|node| node.0 = Some(0));
                branches.leaf_of.iter_mut().for_each(|leaf| *leaf = 1.min(branches.nodes.len() - 1));
            }
            branches.nodes.push((Some(0), 0));
            let last = branches.nodes.len() - 1;
            (code..n_codes)
                .filter(|&other| alike.first(other) == code)
                .for_each(|other| branches.leaf_of[other as usize] = last);
        }
        for id in (1..branches.nodes.len()).rev() {
            let (parent, height) = branches.nodes[id];
            if let Some(parent) = parent {
                branches.nodes[parent].1 = branches.nodes[parent].1.max(height + 1);
            }
        }
        branches
    }

    /// Σ over branchings of height/H · min(surplus, deficit below).
    fn distance(&self, surplus: impl Fn(Code) -> i128) -> (i128, i128) {
        let mut extra = vec![0i128; self.nodes.len()];
        let mut flows = vec![(0i128, 0i128); self.nodes.len()];
        (0..).zip(&self.leaf_of).for_each(|(code, &leaf)| extra[leaf] += surplus(code));
        let mut cost = 0;
        for (id, &(parent, height)) in self.nodes.iter().enumerate().rev() {
            cost += height * flows[id].0.min(flows[id].1);
            if let Some(parent) = parent {
                extra[parent] += extra[id];
                flows[parent].0 += extra[id].max(0);
                flows[parent].1 -= extra[id].min(0);
            }
        }
        (cost, self.nodes.first().map_or(1, |root| root.1.max(1)))
    }
}

fn leaf(taxonomy: &Taxonomy, code: Code) -> usize {
    let rank = taxonomy.rank(code);
    taxonomy.common_ancestor(rank..=rank)
}

impl Principle for TCloseness {
    fn laws(&self) -> Laws {
        Laws { monotone: true, scale_free: true }
    }

    fn holds(&self, group: &SaCounts) -> bool {
        self.distances.iter().all(|distance| self.excess(group, distance).0 <= 0)
    }

    fn least_size(&self) -> u64 {
        1
    }

    fn measured(&self) -> String {
        self.name.clone()
    }

    /// With r of n rows gone the distance falls by at most r/n.
    ///
    /// PROOF: the group is a mixture of what stays and a share r/n of what left; no distance between values exceeds 1,
    /// so the two distributions are at most r/n apart, and the earth mover's distance keeps the triangle inequality.
    fn least_removal(&self, group: &SaCounts) -> u64 {
        if self.holds(group) {
            return 0;
        }
        let rows = |distance: &Distance| {
            let (excess, row) = self.excess(group, distance);
            u64::try_from(excess / row).unwrap_or(0)
        };
        self.distances.iter().map(rows).max().unwrap_or(0).max(1)
    }

    /// No distance is above the equal one, which is the largest sum of surpluses. Of n rows, a set of values has no
    /// surplus above the sum of c/n − C/N over those that gain most per row, as many as it takes for n rows. If every
    /// group of n rows passes, so do larger ones: each is a mixture of such groups.
    fn safe_size(&self, rows: &SaCounts) -> Option<u64> {
        let all = i128::from(self.whole.total());
        // The value that gains most per row comes first: C/c ascends.
        let mut counts: Vec<(u64, u64)> = rows.iter().map(|(code, count)| (count, self.whole.count(code))).collect();
        counts.sort_unstable_by(|a, b| (u128::from(a.1) * u128::from(b.0)).cmp(&(u128::from(b.1) * u128::from(a.0))));
        let (p, q) = (i128::from(*self.t.numer()), i128::from(*self.t.denom()));
        let is_enough = |size: u64| {
            let (mut left, mut surplus) = (size, 0_i128);
            for &(count, of_all) in &counts {
                let gain = i128::from(count) * all - i128::from(of_all) * i128::from(size);
                if left == 0 || gain <= 0 {
                    break;
                }
                left = left.saturating_sub(count);
                surplus += gain;
            }
            surplus * q <= p * all * i128::from(size)
        };
        Some(safe::least(rows.total(), is_enough))
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

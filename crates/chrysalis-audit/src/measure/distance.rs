use std::cmp::Reverse;
use std::collections::BTreeMap;

use chrysalis_table::exact::BigRational;
use chrysalis_table::{Code, Domain, NodeId, Taxonomy};

use super::{Fraction, Group, GroupCounts, Worst};

/// How far apart two sensitive values are (Li, Li and Venkatasubramanian 2007, section 4).
#[derive(Clone, Copy, Debug)]
pub enum Ground<'a> {
    /// 1 for any two different values.
    Equal,
    /// By rank: 1/(m−1) for neighbours, 1 for the ends.
    Ordered,
    /// The height of the lowest common ancestor over the height of the tree. A height counts branchings between values
    /// that occur: a level that separates no two of them adds nothing.
    Hierarchical(&'a Taxonomy, &'a Domain),
    /// The same, with heights in steps of the taxonomy as it is written, as in version 1.
    Written(&'a Taxonomy),
}

impl<'a> Ground<'a> {
    /// The distance for a column: by its taxonomy if it has one, else by its order, else equal.
    pub fn of(domain: &'a Domain, taxonomy: Option<&'a Taxonomy>) -> Self {
        match taxonomy {
            Some(taxonomy) => Ground::Hierarchical(taxonomy, domain),
            None if domain.kind().is_ordered() => Ground::Ordered,
            None => Ground::Equal,
        }
    }

    /// The distance as in version 1.
    pub fn as_written(self) -> Self {
        match self {
            Ground::Hierarchical(taxonomy, _) => Ground::Written(taxonomy),
            Ground::Equal | Ground::Ordered | Ground::Written(_) => self,
        }
    }
}

/// t-closeness: the largest earth mover's distance of any group from the whole table.
pub fn closeness(sample: &GroupCounts, ground: Ground<'_>) -> Option<Worst<BigRational>> {
    let rows = u128::from(sample.rows());
    let (worst, scale) = match ground {
        Ground::Equal => {
            let level = |group: Group<'_>| Fraction::new(equal(sample, group), group.size.into());
            (sample.worst(level, Fraction::compare), rows)
        }
        Ground::Ordered => {
            let line = Line::new(sample.whole());
            let level = |group: Group<'_>| Fraction::new(line.distance(rows, group), group.size.into());
            (sample.worst(level, Fraction::compare), rows * line.steps())
        }
        Ground::Hierarchical(taxonomy, _) | Ground::Written(taxonomy) => {
            let tree = Tree::new(taxonomy, ground.heights(sample.whole()), sample.whole());
            let level = |group: Group<'_>| Fraction::new(tree.distance(rows, group), group.size.into());
            (sample.worst(level, Fraction::compare), rows * tree.height())
        }
    };
    let worst = worst?;
    // PROOF: both factors are below 2⁹⁶ and 2³² (see the module), neither is zero.
    let level = Fraction::new(worst.level.numerator, worst.level.denominator * scale).exact()?;
    Some(Worst { level, group: worst.group })
}

impl Ground<'_> {
    /// The height of every node of the tree; nothing without a tree.
    fn heights(&self, whole: &[u64]) -> Vec<usize> {
        match self {
            Ground::Equal | Ground::Ordered => Vec::new(),
            Ground::Written(taxonomy) => taxonomy.nodes().iter().map(|node| node.height).collect(),
            Ground::Hierarchical(taxonomy, domain) => branchings(taxonomy, domain, whole),
        }
    }

    /// How many levels of labels separate values that occur: the height of the whole tree; 0 without a tree.
    pub fn levels(&self, whole: &[u64]) -> usize {
        self.heights(whole).first().copied().unwrap_or(0)
    }
}

/// The number of branchings on the longest path from every node down to a value that occurs.
///
/// A node separates values if more of them lie below it than below any one of its children. A missing value is a
/// sibling of all others, whatever lies between these and the root.
fn branchings(taxonomy: &Taxonomy, domain: &Domain, whole: &[u64]) -> Vec<usize> {
    let occurs = |code: Code| whole[code as usize] > 0;
    let values: Vec<Code> =
        (0..domain.len() as Code).filter(|&code| occurs(code) && domain.value(code).is_some()).collect();
    let up = |code: Code| {
        let rank = taxonomy.rank(code);
        std::iter::successors(Some(taxonomy.common_ancestor(rank..=rank)), |&node| taxonomy.node(node).parent)
    };
    let mut below = vec![0usize; taxonomy.nodes().len()];
    values.iter().flat_map(|&code| up(code)).for_each(|node| below[node] += 1);
    let mut heights = vec![0; below.len()];
    for &code in &values {
        let (mut n_before, mut n_branchings) = (1, 0);
        for node in up(code) {
            n_branchings += usize::from(below[node] > n_before);
            n_before = below[node];
            heights[node] = heights[node].max(n_branchings);
        }
    }
    let has_missing = (0..domain.len() as Code).any(|code| occurs(code) && domain.value(code).is_none());
    if let Some(root) = heights.first_mut() {
        *root = (*root).max(usize::from(has_missing && !values.is_empty()));
    }
    heights
}

/// n·N times the distance: half the sum of all differences is the sum of those above zero.
fn equal(sample: &GroupCounts, group: Group<'_>) -> u128 {
    let rows = u128::from(sample.rows());
    let excess = |&(code, count): &(u32, u32)| {
        let in_table = u128::from(sample.whole()[code as usize]) * u128::from(group.size);
        (u128::from(count) * rows).saturating_sub(in_table)
    };
    group.values.iter().map(excess).sum()
}

/// The values that occur, in a line. The amount carried over the gap after value i is |Σ_{j≤i} (p_j − q_j)|.
struct Line {
    rank_of_code: Vec<usize>,
    /// Rows of the table up to and including each rank.
    up_to: Vec<u128>,
    /// Sums of `up_to` before each rank.
    sums: Vec<u128>,
}

impl Line {
    fn new(whole: &[u64]) -> Line {
        let mut line = Line { rank_of_code: Vec::with_capacity(whole.len()), up_to: Vec::new(), sums: vec![0] };
        let (mut rows, mut sum) = (0, 0);
        for &count in whole {
            line.rank_of_code.push(line.up_to.len());
            if count > 0 {
                rows += u128::from(count);
                sum += rows;
                line.up_to.push(rows);
                line.sums.push(sum);
            }
        }
        line
    }

    /// Gaps between neighbours; one where there is none, as nothing is carried then.
    fn steps(&self) -> u128 {
        (self.up_to.len() as u128).saturating_sub(1).max(1)
    }

    /// n·N·(m−1) times the distance.
    ///
    /// Between two values of the group, its own share stays the same while the table's grows, so a stretch of ranks is
    /// summed at once: the cost follows the group, not the column.
    fn distance(&self, rows: u128, group: Group<'_>) -> u128 {
        let size = u128::from(group.size);
        let (mut total, mut start, mut carried) = (0, 0, 0u128);
        for &(code, count) in group.values {
            let rank = self.rank_of_code[code as usize];
            total += self.stretch(start, rank, carried * rows, size);
            carried += u128::from(count);
            start = rank;
        }
        total + self.stretch(start, self.up_to.len(), carried * rows, size)
    }

    /// Σ |in_group − up_to·size| over the ranks of a stretch.
    fn stretch(&self, start: usize, end: usize, in_group: u128, size: u128) -> u128 {
        let middle = start + self.up_to[start..end].partition_point(|&rows| rows * size <= in_group);
        let below = (middle - start) as u128 * in_group - size * (self.sums[middle] - self.sums[start]);
        let above = size * (self.sums[end] - self.sums[middle]) - (end - middle) as u128 * in_group;
        below + above
    }
}

/// A taxonomy with the table's rows below every node.
struct Tree<'a> {
    taxonomy: &'a Taxonomy,
    heights: Vec<usize>,
    rows_below: Vec<u64>,
}

impl<'a> Tree<'a> {
    fn new(taxonomy: &'a Taxonomy, heights: Vec<usize>, whole: &[u64]) -> Tree<'a> {
        let rows_below = (0..taxonomy.nodes().len())
            .map(|node| taxonomy.codes_below(node).map(|code| whole[code as usize]).sum())
            .collect();
        Tree { taxonomy, heights, rows_below }
    }

    /// Height of the root; one where there is no inner node, as nothing is carried then.
    fn height(&self) -> u128 {
        self.heights.first().map_or(0, |&height| height as u128).max(1)
    }

    /// n·N·H times the distance: at every inner node, the surplus of its children is matched with what other children
    /// lack.
    ///
    /// Children without rows of the group have no surplus. So nodes off the paths from the group's values to the root
    /// cost nothing, and on the paths the lack is the surplus minus the balance of the node itself.
    fn distance(&self, rows: u128, group: Group<'_>) -> u128 {
        let mut total = 0;
        let mut waiting: BTreeMap<(Reverse<usize>, NodeId), (u128, u128)> = BTreeMap::new();
        for &(code, count) in group.values {
            let rank = self.taxonomy.rank(code);
            let leaf = self.taxonomy.common_ancestor(rank..=rank);
            waiting.entry((Reverse(self.taxonomy.node(leaf).depth), leaf)).or_default().0 += u128::from(count);
        }
        while let Some(((_, id), (count, surplus))) = waiting.pop_first() {
            let node = self.taxonomy.node(id);
            let (here, expected) = (count * rows, u128::from(self.rows_below[id]) * u128::from(group.size));
            let lack = (surplus + expected).saturating_sub(here);
            total += self.heights[id] as u128 * surplus.min(lack);
            if let Some(parent) = node.parent {
                let above = waiting.entry((Reverse(self.taxonomy.node(parent).depth), parent)).or_default();
                above.0 += count;
                above.1 += here.saturating_sub(expected);
            }
        }
        total
    }
}

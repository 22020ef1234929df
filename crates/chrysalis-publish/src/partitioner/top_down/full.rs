//! Step 6: the groups of full-domain generalization.

use chrysalis_table::no_progress;
use rand::CryptoRng;

use super::SearchContext;
use super::node::Node;
use crate::partitioner::{FullDomain, Partitioner, Stop};
use crate::{Microdata, Partition};

/// Nodes of the lattice that the search for the cheapest levels may judge.
const MOST_NODES: u64 = 10_000;

/// A node for every group under the cheapest levels for all rows; none if there are too many attributes to search.
pub(super) fn nodes(data: &Microdata, context: &SearchContext<'_>, rows: &[u32], rng: &mut dyn CryptoRng) -> Vec<Node> {
    let search = FullDomain { stop: Stop::after(MOST_NODES), ..FullDomain::default() };
    let partition = search.partition(data, context.goal, rng, &no_progress);
    partition.map_or(Vec::new(), |partition| {
        let node = |cell: Vec<u32>| {
            let levels = context.shared_levels(&cell);
            Node::new(cell, levels)
        };
        in_order_of(&partition, rows).into_iter().map(node).collect()
    })
}

/// The rows of every group, in the order of `rows`.
fn in_order_of(partition: &Partition, rows: &[u32]) -> Vec<Vec<u32>> {
    let mut group_of = vec![0; rows.len()];
    for (group, members) in partition.groups().enumerate() {
        members.iter().for_each(|&row| group_of[row as usize] = group);
    }
    let mut cells = vec![Vec::new(); partition.n_groups()];
    rows.iter().for_each(|&row| cells[group_of[row as usize]].push(row));
    cells
}

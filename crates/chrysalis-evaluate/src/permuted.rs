//! Permuted columns: inside a group they are independent of each other.

use chrysalis_release::permuted::QUASI_TABLE;
use chrysalis_release::{GROUP_ID, Release};
use chrysalis_table::{Code, Column};

use crate::boxes::{Distributions, add, sizes};
use crate::coverage::find;
use crate::tree::Tree;
use crate::universe::{Universe, translated};
use crate::{EvaluateError, Reconstruction};

/// Groups by the values of their columns.
pub(crate) struct Permuted {
    tree: Tree,
    /// By group and attribute: codes of the microdata, ascending, and how often each occurs.
    values: Vec<Vec<Vec<(Code, f64)>>>,
    sizes: Vec<f64>,
    groups: Distributions,
}

impl Permuted {
    pub(crate) fn new(
        release: &Release,
        universe: &Universe<'_>,
        attributes: &[String],
    ) -> Result<Self, EvaluateError> {
        let published = (QUASI_TABLE, release.table(QUASI_TABLE)?);
        let groups = Distributions::new(release, published, GROUP_ID, universe.sensitive)?;
        let sizes = sizes(&groups.of_row, groups.shares.len());
        let mut values: Vec<Vec<Vec<(Code, f64)>>> = vec![Vec::with_capacity(attributes.len()); sizes.len()];
        for (name, own) in attributes.iter().zip(&universe.columns) {
            let column = find(published, name)?;
            let counted = histograms(&groups.of_row, sizes.len(), column, &translated(column, own));
            values.iter_mut().zip(counted).for_each(|(values, counted)| values.push(counted));
        }
        // A group without values of an attribute covers nothing.
        let side = |counted: &Vec<(Code, f64)>| counted.first().zip(counted.last()).map_or((1, 0), |(a, b)| (a.0, b.0));
        let tree = Tree::new(attributes.len(), values.iter().flatten().map(side).collect());
        Ok(Permuted { tree, values, sizes, groups })
    }
}

/// Per group the values of a column, ascending, and how often each occurs. `codes` says how a code is written.
pub(crate) fn histograms(
    of_row: &[u32],
    n_groups: usize,
    column: &Column,
    codes: &[Option<Code>],
) -> Vec<Vec<(Code, f64)>> {
    let mut values: Vec<Vec<(Code, f64)>> = vec![Vec::new(); n_groups];
    for (&group, code) in of_row.iter().zip(column.codes().iter()) {
        values[group as usize].extend(codes[code as usize].map(|code| (code, 1.0)));
    }
    for counted in &mut values {
        counted.sort_unstable_by_key(|(code, _)| *code);
        counted.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            kept.1 += if is_same { next.1 } else { 0.0 };
            is_same
        });
    }
    values
}

impl Reconstruction for Permuted {
    fn shares(&self, point: &[u32], values: &[u32]) -> Vec<f64> {
        let mut shares = vec![0.0; values.len()];
        self.tree.visit(point, |group| {
            let size = self.sizes[group as usize];
            let mut weight = size / self.groups.of_row.len() as f64;
            for (code, counted) in point.iter().zip(&self.values[group as usize]) {
                let count = counted.binary_search_by_key(code, |(known, _)| *known).map_or(0.0, |at| counted[at].1);
                weight *= count / size;
            }
            if weight > 0.0 {
                add(&mut shares, values, &self.groups.shares[group as usize], weight);
            }
        });
        shares
    }
}

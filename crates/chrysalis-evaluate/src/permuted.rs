//! Permuted columns: within a group they are independent of each other.

use chrysalis_release::View;
use chrysalis_release::view::{CodedColumn, Groups};
use chrysalis_table::Code;

use crate::boxes::{Distributions, add};
use crate::tree::Tree;
use crate::universe::{Universe, translated};
use crate::{EvaluateError, Reconstruction, opened};

/// Groups by the values of their columns.
pub(crate) struct PermutedGroups {
    tree: Tree,
    /// By group and attribute: codes of the microdata, ascending, and how often each occurs.
    values: Vec<Vec<Vec<(Code, f64)>>>,
    sizes: Vec<f64>,
    groups: Distributions,
}

impl PermutedGroups {
    pub(crate) fn new(view: &View, universe: &Universe<'_>) -> Result<Self, EvaluateError> {
        let groups = Distributions::new(view, universe.sensitive)?;
        let sizes: Vec<f64> = (0..view.groups.len()).map(|group| f64::from(view.groups.size(group))).collect();
        let mut values: Vec<Vec<Vec<(Code, f64)>>> = vec![Vec::with_capacity(universe.fields.len()); sizes.len()];
        for (&field, own) in universe.fields.iter().zip(&universe.columns) {
            let column = opened::column(view, field)?;
            let counted = histograms(&view.groups, column, &translated(&column.domain, own));
            values.iter_mut().zip(counted).for_each(|(values, counted)| values.push(counted));
        }
        // A group without values of an attribute covers no point.
        let side = |counted: &Vec<(Code, f64)>| counted.first().zip(counted.last()).map_or((1, 0), |(a, b)| (a.0, b.0));
        let tree = Tree::new(universe.fields.len(), values.iter().flatten().map(side).collect());
        Ok(PermutedGroups { tree, values, sizes, groups })
    }
}

/// For each group, the values of a column, ascending, and how often each occurs. `codes` translates the column's codes.
pub(crate) fn histograms(groups: &Groups, column: &CodedColumn, codes: &[Option<Code>]) -> Vec<Vec<(Code, f64)>> {
    let of_group = |group: usize| {
        let codes = groups.rows(group).filter_map(|row| codes[column.codes.get(row) as usize]);
        summed(codes.map(|code| (code, 1.0)).collect())
    };
    (0..groups.len()).map(of_group).collect()
}

/// Every code once, ascending, with the sum of its counts.
pub(crate) fn summed(mut counted: Vec<(Code, f64)>) -> Vec<(Code, f64)> {
    counted.sort_unstable_by_key(|(code, _)| *code);
    counted.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        kept.1 += if is_same { next.1 } else { 0.0 };
        is_same
    });
    counted
}

impl Reconstruction for PermutedGroups {
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

//! Attributes that are shown in the same classes: those of the body, or those of one wing.

use std::sync::Arc;

use chrysalis_table::{Codes, Column, Watch};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use rayon::prelude::*;

use super::super::generalize::Summary;
use crate::{Microdata, Partition};

/// Some quasi attributes, by index, and their classes.
pub(super) struct Layer<'a> {
    pub(super) classes: &'a Partition,
    pub(super) places: &'a [usize],
    pub(super) summaries: Vec<Summary>,
    of_row: Vec<u32>,
}

impl<'a> Layer<'a> {
    pub(super) fn new(data: &Microdata, classes: &'a Partition, places: &'a [usize], watch: &dyn Watch) -> Self {
        let mut of_row = vec![0; classes.n_rows()];
        for (class, rows) in (0u32..).zip(classes.groups()) {
            rows.iter().for_each(|&row| of_row[row as usize] = class);
        }
        Layer { classes, places, summaries: Summary::some(data, places, classes, watch), of_row }
    }

    /// For every class, the rank of its labels among all distinct labels. Classes that look the same share a rank.
    fn looks(&self) -> Vec<u32> {
        let labels: Vec<&Codes> = self.summaries.iter().flat_map(Summary::columns).map(Column::codes).collect();
        let key = |class: u32| labels.iter().map(move |codes| codes.get(class as usize));
        let mut order: Vec<u32> = (0..self.classes.n_groups() as u32).collect();
        order.par_sort_unstable_by(|&a, &b| key(a).cmp(key(b)));
        let mut looks = vec![0; order.len()];
        for (look, run) in (0u32..).zip(order.chunk_by(|&a, &b| key(a).eq(key(b)))) {
            run.iter().for_each(|&class| looks[class as usize] = look);
        }
        looks
    }

    /// The loss of every attribute, with its name.
    pub(super) fn lost(&self) -> Vec<(usize, (String, f64))> {
        let each = self.places.iter().zip(&self.summaries);
        each.map(|(&place, summary)| (place, (summary.name().to_owned(), summary.ncp(self.classes)))).collect()
    }

    /// The columns of every attribute, for these rows.
    pub(super) fn columns(&self, rows: &[u32], watch: &dyn Watch) -> Vec<(usize, Vec<Column>)> {
        watch.pause();
        let classes: Vec<u32> = rows.par_iter().map(|&row| self.of_row[row as usize]).collect();
        let shown =
            |column: &Column| Column::new(column.name(), Arc::clone(column.domain()), column.codes().gather(&classes));
        let of_attribute =
            |(&place, summary): (&usize, &Summary)| (place, summary.columns().iter().map(shown).collect());
        self.places.par_iter().zip(&self.summaries).map(of_attribute).collect()
    }
}

/// Groups the rows that look alike: one group per combination of labels, whichever butterflies the rows come from.
///
/// LEAK: anybody can derive the groups from the labels, so group ids reveal nothing more. They do not reveal which
/// butterfly a row comes from.
pub(super) fn alike(n_rows: usize, layers: &[Layer<'_>], watch: &dyn Watch) -> Partition {
    let mut of_row = vec![0_u32; n_rows];
    let mut n_groups = usize::from(n_rows > 0);
    for layer in layers {
        watch.pause();
        let looks = layer.looks();
        let key = |row: usize| u64::from(of_row[row]) << 32 | u64::from(looks[layer.of_row[row] as usize]);
        let keys: Vec<u64> = (0..n_rows).into_par_iter().map(key).collect();
        (of_row, n_groups) = numbered(&keys);
    }
    let mut sizes = vec![0; n_groups];
    of_row.iter().for_each(|&group| sizes[group as usize] += 1);
    let mut next: Vec<u32> = sizes.iter().scan(0, |end, size| Some(std::mem::replace(end, *end + size))).collect();
    let mut rows = vec![0; n_rows];
    for (row, &group) in (0u32..).zip(&of_row) {
        let place = &mut next[group as usize];
        rows[*place as usize] = row;
        *place += 1;
    }
    Partition::new(rows, &sizes)
}

/// The rank of every key among the distinct keys, and the number of distinct keys.
fn numbered(keys: &[u64]) -> (Vec<u32>, usize) {
    let mut known: HashMap<u64, u32, FixedState> = HashMap::default();
    let mut distinct = Vec::new();
    for &key in keys {
        known.entry(key).or_insert_with(|| {
            distinct.push(key);
            0
        });
    }
    distinct.sort_unstable();
    (0u32..).zip(&distinct).for_each(|(number, key)| {
        known.insert(*key, number);
    });
    (keys.par_iter().map(|key| known[key]).collect(), distinct.len())
}

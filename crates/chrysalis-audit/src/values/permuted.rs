//! Whether columns were permuted inside their groups at all, which only the microdata can tell.

use chrysalis_release::{Detail, Values};
use chrysalis_table::{Codes, Table, Watch};

use super::tables::ValueTables;
use super::tally::Tally;
use crate::findings::Findings;
use crate::grouping::Key;
use crate::source::join;
use crate::{Check, Groups};

/// Permutations of our own that tell what chance brings together.
const DRAWS: usize = 3;
/// Rows beyond those of chance, in roots of the number of rows, and some more for small releases. Exchanging two rows changes
/// two, so a random permutation is that far off with a chance below exp(−50).
const ROOTS: f64 = 10.0;
const MORE: f64 = 20.0;

/// Counts the rows whose values somebody has all together, and compares with permutations of our own.
pub(super) fn check(tables: &ValueTables<'_>, tally: &Tally, microdata: &Table, watch: &dyn Watch) -> Option<Check> {
    let quasi = || tables.quasi.iter().chain(&tables.others);
    let beside = tables.sensitive.iter().filter(|_| match tables.shape.values {
        Values::Beside => true,
        Values::Counted(_) | Values::Swapped => false,
    });
    let (fixed, moved): (Vec<_>, Vec<_>) = match tables.shape.detail {
        Detail::Permuted => (quasi().take(1).collect(), quasi().skip(1).chain(beside).collect()),
        Detail::Exact | Detail::GroupBoxes | Detail::RowBoxes => (quasi().collect(), beside.collect()),
    };
    if moved.is_empty() || fixed.is_empty() {
        return None;
    }
    let (n_people, n_rows) = (microdata.rows(), tables.table.rows());
    let rows = Rows::by_group(&tally.groups);
    let mut numbers = Numbers(0);
    let mut columns = Vec::with_capacity(fixed.len() + moved.len());
    for (at, (attribute, column)) in fixed.iter().chain(&moved).enumerate() {
        let (codes, n_codes) = join(microdata.column(&attribute.name)?, column);
        let mut all: Vec<u32> = codes.iter().collect();
        for _ in 0..DRAWS {
            watch.pause();
            let mut drawn: Vec<u32> = all[n_people..n_people + n_rows].to_vec();
            if at >= fixed.len() {
                rows.shuffle(&mut drawn, &mut numbers);
            }
            all.extend(drawn);
        }
        columns.push((Codes::collect(n_codes, all.into_iter()), n_codes));
    }
    let keys: Vec<Key<'_>> = columns.iter().map(|(codes, n_codes)| Key { codes, n_codes: *n_codes }).collect();
    let tuples = Groups::of_keys(&keys, n_people + (1 + DRAWS) * n_rows, watch);
    let mut is_real = vec![false; tuples.n_groups];
    tuples.of_row[..n_people].iter().for_each(|&tuple| is_real[tuple as usize] = true);
    let count = |at: usize| {
        let shown = &tuples.of_row[n_people + at * n_rows..n_people + (at + 1) * n_rows];
        shown.iter().filter(|&&tuple| is_real[tuple as usize]).count()
    };
    let (found, chance) = (count(0), (1..=DRAWS).map(count).sum::<usize>() as f64 / DRAWS as f64);
    let mut findings = Findings::new("permuted");
    if found as f64 > chance + ROOTS * (n_rows as f64).sqrt() + MORE {
        findings.add("not permuted", || {
            format!(
                "{found} of {n_rows} rows show values that somebody has all together, where permuting inside groups leaves about \
                 {chance:.0}: the columns were not permuted at random"
            )
        });
    }
    Some(findings.check(format!(
        "{found} of {n_rows} rows show values that somebody has all together, about as many as chance brings together \
         ({chance:.0})"
    )))
}

/// Row numbers, group after group.
struct Rows {
    rows: Vec<u32>,
    ends: Vec<usize>,
}

impl Rows {
    fn by_group(groups: &Groups) -> Self {
        let mut ends: Vec<usize> = vec![0; groups.n_groups + 1];
        groups.of_row.iter().for_each(|&group| ends[group as usize + 1] += 1);
        (1..ends.len()).for_each(|at| ends[at] += ends[at - 1]);
        let mut rows = vec![0; groups.of_row.len()];
        for (row, &group) in (0u32..).zip(&groups.of_row) {
            rows[ends[group as usize]] = row;
            ends[group as usize] += 1;
        }
        ends.pop();
        Rows { rows, ends }
    }

    /// Permutes values inside their groups.
    fn shuffle(&self, values: &mut [u32], numbers: &mut Numbers) {
        let mut start = 0;
        for &end in &self.ends {
            for at in (start + 1..end).rev() {
                let other = start + numbers.below((at - start + 1) as u64) as usize;
                values.swap(self.rows[at] as usize, self.rows[other] as usize);
            }
            start = end;
        }
    }
}

/// SplitMix64: an audit says the same every time, and nobody's secret depends on these numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

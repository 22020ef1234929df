//! What a release shows of one quasi attribute: cells, and the values each may stand for.
//!
//! Values are put in at most 256 bins: neighbours together for ordered kinds, rare words together for others. With up
//! to 256 values, the usual case, every value is a bin of its own. A cell is one bin where values are shown as they
//! are, and several where it is a range or a label.

use std::collections::{BTreeMap, BTreeSet};

use chrysalis_release::Attribute;
use chrysalis_table::{Code, Codes, Column, Domain, Watch};

use crate::Groups;
use crate::columns::Positions;
use crate::grouping::Key;

/// The most bins per attribute.
const MOST_BINS: usize = 256;

/// One quasi attribute.
pub(crate) struct ShownAttribute<'a> {
    pub(crate) name: &'a str,
    /// The cell of every row.
    pub(crate) cells: Codes,
    /// Where the bins of every cell begin in `bins`; one more than there are cells.
    starts: Vec<u32>,
    bins: Vec<u32>,
    pub(crate) n_bins: usize,
    line: Line<'a>,
}

/// How the bin of a person's value is found.
enum Line<'a> {
    Values(&'a Domain, Vec<u32>),
    /// The first place of every stretch, and the bin of every stretch.
    Places(Positions, Vec<i128>, Vec<u32>),
    Words(BTreeMap<String, u32>),
}

impl<'a> ShownAttribute<'a> {
    /// Values as they are.
    pub(crate) fn exact(column: &'a Column) -> ShownAttribute<'a> {
        let domain = column.domain();
        let (bin_of_code, n_bins) = pool(&column.histogram(), domain.kind().is_ordered());
        let cells = Codes::collect(n_bins, column.codes().iter().map(|code| bin_of_code[code as usize]));
        ShownAttribute {
            name: column.name(),
            cells,
            starts: (0..=n_bins as u32).collect(),
            bins: (0..n_bins as u32).collect(),
            n_bins,
            line: Line::Values(domain, bin_of_code),
        }
    }

    /// Ranges from one column to another.
    pub(crate) fn ranges(
        attribute: &'a Attribute,
        low: &Column,
        high: &Column,
        watch: &dyn Watch,
    ) -> ShownAttribute<'a> {
        let positions = Positions::of(attribute);
        let (lows, highs) = (places(&positions, low), places(&positions, high));
        let mut firsts: Vec<i128> = lows.iter().copied().chain(highs.iter().map(|place| place + 1)).collect();
        firsts.sort_unstable();
        firsts.dedup();
        let (bin_of_stretch, n_bins) = pool(&vec![1; firsts.len()], true);
        let bin = |place: i128| {
            let stretch = firsts.partition_point(|first| *first <= place).saturating_sub(1);
            bin_of_stretch.get(stretch).copied().unwrap_or(0)
        };
        let recoded = |column: &Column, bins: Vec<u32>| {
            Codes::collect(n_bins, column.codes().iter().map(|code| bins[code as usize]))
        };
        let first = recoded(low, lows.iter().map(|&place| bin(place)).collect());
        let last = recoded(high, highs.iter().map(|&place| bin(place)).collect());
        let keys = [Key { codes: &first, n_codes: n_bins }, Key { codes: &last, n_codes: n_bins }];
        let pairs = Groups::of_keys(&keys, low.codes().len(), watch);
        let mut of_cell = vec![(0, 0); pairs.n_groups];
        for (row, &cell) in pairs.of_row.iter().enumerate() {
            of_cell[cell as usize] = (first.get(row), last.get(row));
        }
        let (mut starts, mut bins) = (vec![0], Vec::new());
        for (first, last) in of_cell {
            // A range that ends before it begins is a mistake or a trick; it stands for its first bin.
            bins.extend(first..=last.max(first));
            starts.push(bins.len() as u32);
        }
        ShownAttribute {
            name: &attribute.name,
            cells: Codes::collect(pairs.n_groups, pairs.of_row.iter().copied()),
            starts,
            bins,
            n_bins,
            line: Line::Places(positions, firsts, bin_of_stretch),
        }
    }

    /// Labels, each of which stands for some words.
    pub(crate) fn labels(
        attribute: &'a Attribute,
        labels: &Column,
        sets: &BTreeMap<(String, String), BTreeSet<String>>,
    ) -> ShownAttribute<'a> {
        let domain = labels.domain();
        let members: Vec<BTreeSet<String>> = (0..domain.len() as Code)
            .map(|code| {
                let label = domain.text(code).into_owned();
                let known = sets.get(&(attribute.name.clone(), label.clone())).filter(|set| !set.is_empty());
                known.cloned().unwrap_or_else(|| BTreeSet::from([label]))
            })
            .collect();
        let mut weights: BTreeMap<&String, u64> = BTreeMap::new();
        members.iter().flatten().for_each(|word| *weights.entry(word).or_default() += 1);
        let (bin_of_word, n_bins) = pool(&weights.values().copied().collect::<Vec<_>>(), false);
        let words: BTreeMap<String, u32> = weights.into_keys().cloned().zip(bin_of_word).collect();
        let (mut starts, mut bins) = (vec![0], Vec::new());
        for set in &members {
            let mut of_cell: Vec<u32> = set.iter().filter_map(|word| words.get(word).copied()).collect();
            of_cell.sort_unstable();
            of_cell.dedup();
            bins.extend(of_cell);
            starts.push(bins.len() as u32);
        }
        let cells = labels.codes().clone();
        ShownAttribute { name: &attribute.name, cells, starts, bins, n_bins, line: Line::Words(words) }
    }

    pub(crate) fn n_cells(&self) -> usize {
        self.starts.len() - 1
    }

    /// The bins that a cell stands for; never none.
    pub(crate) fn bins_of(&self, cell: usize) -> &[u32] {
        &self.bins[self.starts[cell] as usize..self.starts[cell + 1] as usize]
    }

    /// The bin of every value of a column of the microdata; `None` for a value that is shown nowhere.
    pub(crate) fn bins_of_values(&self, column: &Column) -> Vec<Option<u32>> {
        let domain = column.domain();
        let codes = 0..domain.len() as Code;
        match &self.line {
            Line::Values(known, bins) => {
                codes.map(|code| known.code_of(domain.value(code)).map(|code| bins[code as usize])).collect()
            }
            Line::Places(positions, firsts, bins) => {
                let bin = |place: i128| {
                    let stretch = firsts.partition_point(|first| *first <= place).checked_sub(1)?;
                    bins.get(stretch).copied()
                };
                places(positions, column).into_iter().map(bin).collect()
            }
            Line::Words(words) => codes.map(|code| words.get(domain.text(code).as_ref()).copied()).collect(),
        }
    }
}

/// The place of every code, the missing value before all others.
fn places(positions: &Positions, column: &Column) -> Vec<i128> {
    let place = |place: Option<i64>| place.map_or(i128::from(i64::MIN) - 1, i128::from);
    positions.of_column(column).into_iter().map(place).collect()
}

/// Puts values in at most [`MOST_BINS`] bins: in even shares of their weights where they have an order; otherwise the
/// most frequent get a bin each and the others share one.
pub(crate) fn pool(weights: &[u64], is_ordered: bool) -> (Vec<u32>, usize) {
    if weights.len() <= MOST_BINS {
        return ((0..weights.len() as u32).collect(), weights.len());
    }
    let mut bins = vec![MOST_BINS as u32 - 1; weights.len()];
    if is_ordered {
        let total: u128 = weights.iter().map(|&weight| u128::from(weight)).sum::<u128>().max(1);
        let mut before = 0_u128;
        for (bin, &weight) in bins.iter_mut().zip(weights) {
            *bin = (before * MOST_BINS as u128 / total).min(MOST_BINS as u128 - 1) as u32;
            before += u128::from(weight);
        }
    } else {
        let mut by_weight: Vec<usize> = (0..weights.len()).collect();
        by_weight.sort_by_key(|&value| (std::cmp::Reverse(weights[value]), value));
        (0..).zip(&by_weight[..MOST_BINS - 1]).for_each(|(bin, &value)| bins[value] = bin);
    }
    dense(bins)
}

/// The same bins without gaps in their numbering.
fn dense(mut bins: Vec<u32>) -> (Vec<u32>, usize) {
    let mut known: Vec<u32> = bins.clone();
    known.sort_unstable();
    known.dedup();
    bins.iter_mut().for_each(|bin| *bin = known.partition_point(|other| other < bin) as u32);
    (bins, known.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_are_bins_of_their_own_and_many_share() {
        assert_eq!(pool(&[5, 0, 7], true), (vec![0, 1, 2], 3));
        let (bins, n) = pool(&vec![1; 1000], true);
        assert!(n == 256 && bins.is_sorted() && bins[0] == 0 && bins[999] == 255);
        let mut weights = vec![1; 300];
        weights[299] = 9;
        let (bins, n) = pool(&weights, false);
        assert_eq!((n, bins[299], bins[298]), (256, 0, 255));
        // All weight on one value leaves few bins, numbered without gaps.
        weights = vec![0; 300];
        weights[0] = 4;
        assert_eq!(pool(&weights, true).1, 2);
    }
}

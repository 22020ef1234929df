//! Published cells as boxes over the microdata's values.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use chrysalis_table::{Code, Column};

use super::cells::Cells;
use crate::columns::Positions;

/// What `members` says, as (attribute, label) → values.
pub(crate) type LabelSets = BTreeMap<(String, String), BTreeSet<String>>;

/// One quasi attribute: its values along a line, and which stretch of the line every published cell covers.
///
/// Values are numbered by *rank*. For ordered kinds that is their order; for words it is chosen so that the sets behind
/// the labels are stretches where possible, as they are for a taxonomy and for neighbouring codes.
pub(crate) struct Axis<'a> {
    rank_of_code: Vec<u32>,
    low_column: &'a Column,
    high_column: &'a Column,
    /// The first rank covered, by code of the low column.
    low: Vec<u32>,
    /// The first rank beyond those covered, by code of the high column.
    high: Vec<u32>,
    /// For labels whose set has holes: which ranks it covers, as bits.
    sets: Vec<Option<Vec<u64>>>,
    /// For groups that show values: which ranks each covers.
    lists: Option<Lists>,
}

/// Some ranks per cell, ascending.
struct Lists {
    /// Where the ranks of every cell begin; one more entry than there are cells.
    starts: Vec<u32>,
    ranks: Vec<u32>,
}

impl Lists {
    /// From pairs of a cell and a rank, in any order; pairs may be repeated.
    fn new(mut pairs: Vec<(Code, u32)>, n_cells: usize) -> Lists {
        pairs.sort_unstable();
        pairs.dedup();
        let starts = (0..=n_cells as Code).map(|cell| pairs.partition_point(|(known, _)| *known < cell) as u32);
        Lists { starts: starts.collect(), ranks: pairs.iter().map(|&(_, rank)| rank).collect() }
    }

    fn of(&self, cell: Code) -> &[u32] {
        let cell = cell as usize;
        &self.ranks[self.starts[cell] as usize..self.starts[cell + 1] as usize]
    }
}

/// A cell: the ranks from `low` up to but not including `high`, and the label it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) low: u32,
    pub(crate) high: u32,
    pub(crate) label: Code,
}

impl<'a> Axis<'a> {
    /// The axis of a column of the microdata under the published cells.
    pub(crate) fn new(cells: &Cells<'a>, column: &Column, sets: &LabelSets) -> Axis<'a> {
        if cells.is_range() { Axis::of_ranges(cells, column) } else { Axis::of_labels(cells, column, sets) }
    }

    /// The axis of a column of the microdata under groups that show which values they have, and not who has them: a cell
    /// is a group.
    pub(crate) fn of_groups(cells: &Cells<'a>, group: &'a Column, column: &Column) -> Axis<'a> {
        let places = Positions::of(cells.attribute).of_column(column);
        let rank_of_code =
            if cells.is_range() { inverse(&by_place(&places)) } else { (0..places.len() as u32).collect() };
        let (shown, known) = (cells.low.domain(), column.domain());
        let rank = |code: Code| known.code_of(shown.value(code)).map(|code| rank_of_code[code as usize]);
        let ranks: Vec<Option<u32>> = (0..shown.len() as Code).map(rank).collect();
        let pairs = group.codes().iter().zip(cells.low.codes().iter());
        let pairs = pairs.filter_map(|(group, code)| Some((group, ranks[code as usize]?))).collect();
        let n_groups = group.domain().len();
        let lists = Lists::new(pairs, n_groups);
        let groups = 0..n_groups as Code;
        Axis {
            low_column: group,
            high_column: group,
            low: groups.clone().map(|group| lists.of(group).first().copied().unwrap_or(0)).collect(),
            high: groups.map(|group| lists.of(group).last().map_or(0, |last| last + 1)).collect(),
            sets: Vec::new(),
            lists: Some(lists),
            rank_of_code,
        }
    }

    fn of_ranges(cells: &Cells<'a>, column: &Column) -> Axis<'a> {
        let positions = Positions::of(cells.attribute);
        let places = positions.of_column(column);
        let codes = by_place(&places);
        let sorted: Vec<Option<i64>> = codes.iter().map(|&code| places[code]).collect();
        // A missing place sorts first: as a lower end it admits the missing value, as an upper end nothing else.
        let first = |end: Option<i64>| sorted.partition_point(|place| *place < end) as u32;
        let after = |end: Option<i64>| sorted.partition_point(|place| *place <= end) as u32;
        Axis {
            rank_of_code: inverse(&codes),
            low_column: cells.low,
            high_column: cells.high,
            low: positions.of_column(cells.low).into_iter().map(first).collect(),
            high: positions.of_column(cells.high).into_iter().map(after).collect(),
            sets: Vec::new(),
            lists: None,
        }
    }

    fn of_labels(cells: &Cells<'a>, column: &Column, sets: &LabelSets) -> Axis<'a> {
        let domain = column.domain();
        let code_of: BTreeMap<String, usize> =
            (0..domain.len()).map(|code| (domain.text(code as Code).into_owned(), code)).collect();
        let labels = cells.low.domain();
        let members = |label: Code| -> Vec<usize> {
            let set = sets.get(&(cells.attribute.name.clone(), labels.text(label).into_owned()));
            set.into_iter().flatten().filter_map(|value| code_of.get(value.as_str()).copied()).collect()
        };
        let members: Vec<Vec<usize>> = (0..labels.len() as Code).map(members).collect();
        let rank_of_code = arrange(domain.len(), &members);
        let ranks = members.iter().map(|codes| {
            let mut ranks: Vec<u32> = codes.iter().map(|&code| rank_of_code[code]).collect();
            ranks.sort_unstable();
            ranks
        });
        let ranks: Vec<Vec<u32>> = ranks.collect();
        Axis {
            low_column: cells.low,
            high_column: cells.high,
            low: ranks.iter().map(|ranks| ranks.first().copied().unwrap_or(0)).collect(),
            high: ranks.iter().map(|ranks| ranks.last().map_or(0, |last| last + 1)).collect(),
            sets: ranks.iter().map(|ranks| bits_with_holes(ranks, domain.len())).collect(),
            lists: None,
            rank_of_code,
        }
    }

    /// The rank of a value of the microdata.
    pub(crate) fn rank(&self, code: Code) -> u32 {
        self.rank_of_code[code as usize]
    }

    /// Number of ranks.
    pub(crate) fn len(&self) -> usize {
        self.rank_of_code.len()
    }

    /// The cell of a published row.
    pub(crate) fn interval(&self, row: usize) -> Interval {
        let (low, high) = (self.low_column.code(row), self.high_column.code(row));
        Interval { low: self.low[low as usize], high: self.high[high as usize], label: low }
    }

    /// Whether a cell covers a rank.
    pub(crate) fn covers(&self, cell: Interval, rank: u32) -> bool {
        let has = |bits: &Vec<u64>| bits[rank as usize / 64] >> (rank % 64) & 1 == 1;
        let in_set = || self.sets.get(cell.label as usize).and_then(Option::as_ref).is_none_or(has);
        let in_list = || self.lists.as_ref().is_none_or(|lists| lists.of(cell.label).binary_search(&rank).is_ok());
        cell.low <= rank && rank < cell.high && in_set() && in_list()
    }
}

/// Codes in the order of their places.
fn by_place(places: &[Option<i64>]) -> Vec<usize> {
    let mut codes: Vec<usize> = (0..places.len()).collect();
    codes.sort_by_key(|&code| places[code]);
    codes
}

fn inverse(codes: &[usize]) -> Vec<u32> {
    let mut rank_of_code = vec![0; codes.len()];
    (0..).zip(codes).for_each(|(rank, &code)| rank_of_code[code] = rank);
    rank_of_code
}

fn bits_with_holes(ranks: &[u32], n_ranks: usize) -> Option<Vec<u64>> {
    let (first, last) = (ranks.first()?, ranks.last()?);
    if (last - first) as usize + 1 == ranks.len() {
        return None;
    }
    let mut bits = vec![0; n_ranks.div_ceil(64)];
    ranks.iter().for_each(|&rank| bits[rank as usize / 64] |= 1 << (rank % 64));
    Some(bits)
}

/// Ranks under which the sets are stretches, where possible: code order if that is enough, otherwise an order that
/// keeps nested sets together.
///
/// PROOF: with larger sets first, compare two codes by the first set that has only one of them. For nested or disjoint
/// sets, all codes of a set agree on every set before it, so no code from outside can come between them.
fn arrange(n_codes: usize, sets: &[Vec<usize>]) -> Vec<u32> {
    let is_stretch = |set: &Vec<usize>| match (set.iter().min(), set.iter().max()) {
        (Some(low), Some(high)) => high - low + 1 == set.len(),
        _ => true,
    };
    let mut codes: Vec<usize> = (0..n_codes).collect();
    if !sets.iter().all(is_stretch) {
        let mut by_size: Vec<&Vec<usize>> = sets.iter().collect();
        by_size.sort_by_key(|set| std::cmp::Reverse(set.len()));
        let mut signature = vec![Vec::new(); n_codes];
        for (place, set) in by_size.into_iter().enumerate() {
            set.iter().for_each(|&code| signature[code].push(place));
        }
        codes.sort_by(|&a, &b| compare(&signature[a], &signature[b]).then(a.cmp(&b)));
    }
    inverse(&codes)
}

/// Of two codes, the one in the first set that has only one of them comes first.
fn compare(a: &[usize], b: &[usize]) -> Ordering {
    let differ = a.iter().zip(b).find(|(a, b)| a != b);
    differ.map_or_else(|| b.len().cmp(&a.len()), |(a, b)| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_sets_become_stretches() {
        let sets = [vec![0, 2, 4, 5], vec![0, 4], vec![1, 3], vec![0], vec![0, 1, 2, 3, 4, 5]];
        let ranks = arrange(6, &sets);
        for set in &sets {
            let of_set: Vec<u32> = set.iter().map(|&code| ranks[code]).collect();
            let (low, high) = (of_set.iter().min().unwrap(), of_set.iter().max().unwrap());
            assert_eq!((high - low) as usize + 1, set.len(), "{set:?} in {ranks:?}");
        }
        assert_eq!(arrange(4, &[vec![1, 2], vec![2, 3]]), [0, 1, 2, 3]);
    }

    #[test]
    fn holes_are_kept_as_bits() {
        assert_eq!(bits_with_holes(&[3, 4, 5], 70), None);
        assert_eq!(bits_with_holes(&[0, 65], 70), Some(vec![1, 2]));
        assert_eq!(bits_with_holes(&[], 70), None);
    }
}

//! Whether the rows of a batch in one table can be those of the same people in another.

use chrysalis_table::{Code, Watch};
use rayon::prelude::*;

use super::super::cells::{BoxTable, Cells};
use super::super::space::LabelSets;
use super::tables::{BatchTables, Batches, numbered};
use crate::Check;
use crate::columns::Positions;
use crate::findings::Findings;

/// Batches of more rows are not examined: the number of pairs grows with the square.
const MOST_ROWS: usize = 200;

/// Everybody has a row in every table, under the same batch, and both rows cover the person. So inside a batch the rows
/// of two tables can be paired so that, in every attribute that both show, some value is in both cells.
pub(super) fn check(angel: &BatchTables<'_>, batches: &Batches, watch: &dyn Watch) -> Option<Check> {
    let (people, marginals) = angel.tables.split_first()?;
    if marginals.is_empty() {
        return None;
    }
    let mut findings = Findings::new("marginals");
    let sets = people.label_sets();
    let rows = by_batch(batches, people);
    let mut n_large = 0;
    for marginal in marginals {
        watch.pause();
        let its_rows = by_batch(batches, marginal);
        let pairs: Vec<MeetingCells> = shared(people, marginal).map(|(a, b)| MeetingCells::new(a, b, &sets)).collect();
        let verdict = |(ours, theirs): (&Vec<u32>, &Vec<u32>)| {
            if ours.len() > MOST_ROWS {
                return None;
            }
            // If the numbers of rows differ, another check says so.
            let meets = |a: usize, b: usize| pairs.iter().all(|pair| pair.meets(ours[a] as usize, theirs[b] as usize));
            Some(ours.len() != theirs.len() || can_be_paired(ours.len(), meets))
        };
        let verdicts: Vec<Option<bool>> = rows.par_iter().zip(&its_rows).map(verdict).collect();
        for (at, verdict) in verdicts.iter().enumerate() {
            n_large += u64::from(verdict.is_none());
            if *verdict == Some(false) {
                findings.add("batches whose rows are of other people", || {
                    let id = batches.ids[at].map_or_else(|| "without id".to_owned(), |id| id.to_string());
                    let (name, main) = (&marginal.name, &people.name);
                    format!("the rows of batch {id} in `{name}` cannot be those of the same people as in `{main}`")
                });
            }
        }
    }
    let left_out = match n_large {
        0 => String::new(),
        n => format!("; cannot tell for {n} batches of more than {MOST_ROWS} rows"),
    };
    Some(findings.check(format!("the rows of a batch can be the same people in every table{left_out}")))
}

/// The rows of every batch.
fn by_batch(batches: &Batches, table: &BoxTable<'_>) -> Vec<Vec<u32>> {
    let mut rows = vec![Vec::new(); batches.ids.len()];
    (0..).zip(numbered(&batches.ids, table.group)).for_each(|(row, batch)| rows[batch as usize].push(row));
    rows
}

/// The attributes that both tables show.
fn shared<'b, 'a>(
    one: &'b BoxTable<'a>,
    other: &'b BoxTable<'a>,
) -> impl Iterator<Item = (&'b Cells<'a>, &'b Cells<'a>)> {
    other.quasi.iter().filter_map(|cells| {
        let known = one.quasi.iter().find(|known| known.attribute.name == cells.attribute.name)?;
        Some((known, cells))
    })
}

/// One attribute in two tables.
enum MeetingCells<'a> {
    Ranges(RangeEnds<'a>, RangeEnds<'a>),
    Labels { one: &'a Cells<'a>, other: &'a Cells<'a>, meets: Vec<Vec<bool>> },
}

impl<'a> MeetingCells<'a> {
    fn new(one: &'a Cells<'a>, other: &'a Cells<'a>, sets: &LabelSets) -> Self {
        if one.is_range() {
            return MeetingCells::Ranges(RangeEnds::new(one), RangeEnds::new(other));
        }
        let (ours, theirs) = (values_of_labels(one, sets), values_of_labels(other, sets));
        let meets = |a: &Vec<String>| theirs.iter().map(|b| a.iter().any(|value| b.contains(value))).collect();
        MeetingCells::Labels { one, other, meets: ours.iter().map(meets).collect() }
    }

    /// Whether some value is in both cells.
    fn meets(&self, a: usize, b: usize) -> bool {
        match self {
            MeetingCells::Ranges(one, other) => one.low(a) <= other.high(b) && other.low(b) <= one.high(a),
            MeetingCells::Labels { one, other, meets } => meets[one.low.code(a) as usize][other.low.code(b) as usize],
        }
    }
}

/// Where the ends of ranges lie on a line.
struct RangeEnds<'a> {
    cells: &'a Cells<'a>,
    low: Vec<i64>,
    high: Vec<i64>,
}

impl<'a> RangeEnds<'a> {
    fn new(cells: &'a Cells<'a>) -> Self {
        let positions = Positions::of(cells.attribute);
        // The missing value comes before all others.
        let places = |column| positions.of_column(column).into_iter().map(|place| place.unwrap_or(i64::MIN)).collect();
        RangeEnds { cells, low: places(cells.low), high: places(cells.high) }
    }

    fn low(&self, row: usize) -> i64 {
        self.low[self.cells.low.code(row) as usize]
    }

    fn high(&self, row: usize) -> i64 {
        self.high[self.cells.high.code(row) as usize]
    }
}

/// What every label stands for; itself where the release says nothing about it.
fn values_of_labels(cells: &Cells<'_>, sets: &LabelSets) -> Vec<Vec<String>> {
    let domain = cells.low.domain();
    let values = |code: Code| {
        let label = domain.text(code).into_owned();
        let set = sets.get(&(cells.attribute.name.clone(), label.clone()));
        set.map_or_else(|| vec![label], |set| set.iter().cloned().collect())
    };
    (0..domain.len() as Code).map(values).collect()
}

/// Whether `n` rows can be paired with as many others: augmenting paths, one row after the other.
fn can_be_paired(n: usize, meets: impl Fn(usize, usize) -> bool) -> bool {
    let mut partner: Vec<Option<usize>> = vec![None; n];
    (0..n).all(|row| {
        let mut is_seen = vec![false; n];
        augment(row, &meets, &mut partner, &mut is_seen)
    })
}

fn augment(
    row: usize,
    meets: &impl Fn(usize, usize) -> bool,
    partner: &mut [Option<usize>],
    is_seen: &mut [bool],
) -> bool {
    for at in 0..partner.len() {
        if is_seen[at] || !meets(row, at) {
            continue;
        }
        is_seen[at] = true;
        // PROOF: a path visits every row at most once, so it is no deeper than a batch has rows.
        if partner[at].is_none_or(|other| augment(other, meets, partner, is_seen)) {
            partner[at] = Some(row);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Tries all orders.
    fn by_force(n: usize, meets: &dyn Fn(usize, usize) -> bool, taken: &mut Vec<usize>) -> bool {
        taken.len() == n
            || (0..n).any(|at| {
                if taken.contains(&at) || !meets(taken.len(), at) {
                    return false;
                }
                taken.push(at);
                let found = by_force(n, meets, taken);
                taken.pop();
                found
            })
    }

    proptest! {
        #[test]
        fn pairs_are_found_where_there_are_any(
            n in 0usize..6,
            table in prop::collection::vec(prop::bool::weighted(0.4), 36),
        ) {
            let meets = |a: usize, b: usize| table[a * 6 + b];
            prop_assert_eq!(can_be_paired(n, meets), by_force(n, &meets, &mut Vec::new()));
        }
    }
}

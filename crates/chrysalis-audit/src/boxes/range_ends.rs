//! Whether ranges end at values that people have.

use std::cmp::Reverse;

use chrysalis_table::{Column, Table};

use super::cells::{BoxTable, Cells};
use crate::columns::Positions;
use crate::findings::Findings;

/// LEAK: if a range may end anywhere, its ends can carry information. So a range must be as narrow as its group, and
/// end at values that people have, or be one of the owner's intervals, any two of which are nested or disjoint.
pub(super) fn look(published: &BoxTable<'_>, microdata: &Table, findings: &mut Findings) {
    for cells in published.quasi.iter().filter(|cells| cells.is_range()) {
        let Some(source) = microdata.column(&cells.attribute.name) else { continue };
        let strange =
            strange_ends(cells.low, source) + if is_one_column(cells) { 0 } else { strange_ends(cells.high, source) };
        if strange > 0 && !are_intervals(cells, source) {
            findings.add("range ends", || {
                format!("{strange} ends of ranges of `{}` are values that nobody has", cells.attribute.name)
            });
        }
    }
}

fn is_one_column(cells: &Cells<'_>) -> bool {
    std::ptr::eq(cells.low, cells.high)
}

/// How many values of a column no row of the microdata has.
fn strange_ends(ends: &Column, source: &Column) -> usize {
    let (shown, known) = (ends.histogram(), source.histogram());
    let is_known = |code: u32| {
        let found = source.domain().code_of(ends.domain().value(code));
        found.is_some_and(|code| known[code as usize] > 0)
    };
    (0..).zip(&shown).filter(|&(code, &rows)| rows > 0 && !is_known(code)).count()
}

/// Whether any two ranges are nested or have at most an end in common. The parts of ranges below the smallest value or
/// above the largest are ignored: the first and the last interval reach beyond these values, and the whole domain does
/// not.
fn are_intervals(cells: &Cells<'_>, source: &Column) -> bool {
    let positions = Positions::of(cells.attribute);
    let places = |column: &Column| -> Vec<i64> {
        positions.of_column(column).into_iter().map(|place| place.unwrap_or(i64::MIN)).collect()
    };
    let all = places(source);
    let (least, most) = (all.iter().copied().min().unwrap_or(i64::MIN), all.iter().copied().max().unwrap_or(i64::MAX));
    let (low, high) = (places(cells.low), places(cells.high));
    let rows = cells.low.codes().iter().zip(cells.high.codes().iter());
    let mut ranges: Vec<(i64, Reverse<i64>)> =
        rows.map(|(a, b)| (low[a as usize].max(least), Reverse(high[b as usize].min(most)))).collect();
    ranges.sort_unstable();
    ranges.dedup();
    // Ranges that are still open, each inside the one before.
    let mut open: Vec<i64> = Vec::new();
    ranges.into_iter().all(|(low, Reverse(high))| {
        while open.last().is_some_and(|&end| end <= low && end < high) {
            open.pop();
        }
        let fits = open.last().is_none_or(|&end| high <= end);
        open.push(high);
        fits
    })
}

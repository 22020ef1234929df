//! Whether suppressed rows are what the manifest says: one group that shows nothing.

use std::collections::BTreeSet;

use chrysalis_table::Kind;

use super::cells::{BoxTable, Cells};
use super::space::LabelSets;
use crate::columns::Positions;
use crate::findings::Findings;
use crate::{Check, Groups};

/// If rows were suppressed, exactly one group shows the whole domain of every attribute, and it has as many rows as
/// were suppressed.
///
/// It is a group like any other: every promise is measured on it too.
pub(super) fn check(published: &BoxTable<'_>, groups: &Groups, sizes: &[u64]) -> Option<Check> {
    let promised = published.manifest.suppressed;
    if promised == 0 {
        return None;
    }
    let mut findings = Findings::new("suppressed");
    let shows_nothing = show_nothing(published.quasi.iter(), &published.label_sets(), groups);
    let found: Vec<usize> = (0..groups.n_groups).filter(|&group| shows_nothing[group] && sizes[group] > 0).collect();
    match found[..] {
        [group] if sizes[group] == promised => {}
        [group] => {
            let rows = sizes[group];
            findings.add("rows", || {
                format!("the fully generalized group has {rows} rows, the manifest says {promised} are suppressed")
            });
        }
        _ => {
            let n = found.len();
            findings.add("groups", || {
                format!("{promised} rows are said to be suppressed, but {n} groups are fully generalized, not one")
            });
        }
    }
    let rows = if promised == 1 { "1 row is".to_owned() } else { format!("{promised} rows are") };
    Some(findings.check(format!("{rows} fully generalized, in one group that is judged like every other")))
}

/// Which groups show the whole domain of every attribute.
pub(super) fn show_nothing<'a>(
    all: impl Iterator<Item = &'a Cells<'a>>,
    sets: &LabelSets,
    groups: &Groups,
) -> Vec<bool> {
    let mut shows_nothing = vec![true; groups.n_groups];
    for cells in all {
        let is_whole = whole_cells(cells, sets);
        for (row, &group) in groups.of_row.iter().enumerate() {
            shows_nothing[group as usize] &= is_whole(row);
        }
    }
    shows_nothing
}

/// A function that says whether a row's cell stands for the attribute's whole domain.
fn whole_cells<'a>(cells: &'a Cells<'_>, sets: &LabelSets) -> Box<dyn Fn(usize) -> bool + 'a> {
    let (attribute, domain) = (cells.attribute, &cells.attribute.domain);
    if !cells.is_range() {
        let values = domain.values.iter().flatten();
        let all: BTreeSet<String> = values.map(|value| value.as_str().unwrap_or_default().to_owned()).collect();
        let is_whole = |label: u32| {
            let label = cells.low.domain().text(label).into_owned();
            sets.get(&(attribute.name.clone(), label)).is_some_and(|members| all.is_subset(members))
        };
        let whole: Vec<bool> = (0..cells.low.domain().len() as u32).map(is_whole).collect();
        return Box::new(move |row| whole[cells.low.code(row) as usize]);
    }
    let positions = Positions::of(attribute);
    let (lows, highs) = (positions.of_column(cells.low), positions.of_column(cells.high));
    let (first, last) = match Kind::from(attribute.kind) {
        Kind::Ordinal => (Some(0), (domain.order().len() as i64).checked_sub(1)),
        _ => {
            let place = |end: &Option<serde_json::Value>| end.as_ref().and_then(|end| positions.of_json(end));
            (place(&domain.min), place(&domain.max))
        }
    };
    // The missing value, which has no place, comes before all others.
    let first = if domain.missing { None } else { first };
    Box::new(move |row| lows[cells.low.code(row) as usize] <= first && highs[cells.high.code(row) as usize] >= last)
}

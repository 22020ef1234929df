//! Whether a release is a truthful picture of the microdata.

use chrysalis_table::{Codes, Column, Table, Watch};
use rayon::prelude::*;

use super::cells::BoxTable;
use super::index::Boxes;
use super::matching::{Class, MatchingResult, Slots, assign};
use super::range_ends;
use super::space::Axis;
use crate::findings::Findings;
use crate::grouping::Key;
use crate::profile::check_size;
use crate::source::{different_counts, join, relevant};
use crate::{AuditError, Check, Groups};

/// There must be a one-to-one assignment of people to published rows that makes every published cell true.
pub(super) fn check(published: &BoxTable<'_>, microdata: &Table, watch: &dyn Watch) -> Result<Check, AuditError> {
    let mut findings = Findings::new("faithful");
    let (table, n_dropped) = relevant(published.manifest, microdata)?;
    let (found, shown) = (table.rows(), published.table.rows());
    check_size("the microdata", table.rows() + shown)?;
    if found != shown {
        findings.add("rows", || format!("the microdata have {found} rows, the release {shown}"));
    }
    for (attribute, column) in published.others.iter().chain(&published.sensitive) {
        let n_different = table.column(&attribute.name).map_or(0, |source| different_counts(source, column));
        if n_different > 0 {
            findings.add("values", || {
                let name = &attribute.name;
                format!("{n_different} values of `{name}` occur a different number of times in the microdata")
            });
        }
    }
    range_ends::look(published, &table, &mut findings);
    let outcome = place(published, &table, watch);
    if outcome.uncovered > 0 {
        findings.add("rows no cell covers", || {
            format!("{} rows of the microdata are covered by no published row", outcome.uncovered)
        });
    }
    let squeezed = outcome.left_over - outcome.uncovered;
    if squeezed > 0 {
        findings.add("rows without a place", || {
            format!("{squeezed} rows of the microdata are covered, but find no published row of their own")
        });
    }
    let dropped = if n_dropped > 0 { format!(", {n_dropped} with missing values left out") } else { String::new() };
    Ok(findings.check(format!("each of {found} rows of the microdata has a published row of its own{dropped}")))
}

/// Assigns people to rows. Rows with different exact values cannot replace each other, so each combination of these is
/// a problem of its own.
pub(super) fn place(published: &BoxTable<'_>, microdata: &Table, watch: &dyn Watch) -> MatchingResult {
    let sets = published.label_sets();
    let quasi: Vec<&Column> =
        published.quasi.iter().filter_map(|cells| microdata.column(&cells.attribute.name)).collect();
    let axes: Vec<Axis<'_>> =
        published.quasi.iter().zip(&quasi).map(|(cells, column)| Axis::new(cells, column, &sets)).collect();
    let payloads = Payloads::new(published, microdata, watch);

    let classes = distinct(&payloads.of_source, payloads.n, &quasi, watch);
    let slots = distinct(&payloads.of_published, payloads.n, &published.cell_columns(), watch);
    let problems = classes.into_par_iter().zip(slots).map(|(classes, slots)| {
        let point = |row: usize| axes.iter().zip(&quasi).map(|(axis, column)| axis.rank(column.code(row))).collect();
        let classes: Vec<Class> =
            classes.into_iter().map(|(row, rows)| Class { point: point(row as usize), rows }).collect();
        let intervals = slots.iter().flat_map(|&(row, _)| axes.iter().map(move |axis| axis.interval(row as usize)));
        let boxes = Boxes { axes: &axes, intervals: intervals.collect(), n: slots.len() };
        assign(&classes, &boxes, Slots::of_boxes(slots.iter().map(|&(_, rows)| rows).collect()), watch)
    });
    problems.reduce(MatchingResult::default, |a, b| MatchingResult {
        uncovered: a.uncovered + b.uncovered,
        left_over: a.left_over + b.left_over,
    })
}

/// The combination of `other` and sensitive values of every row, with the same numbering on both sides.
struct Payloads {
    of_source: Vec<u32>,
    of_published: Vec<u32>,
    n: usize,
}

impl Payloads {
    fn new(published: &BoxTable<'_>, microdata: &Table, watch: &dyn Watch) -> Payloads {
        let exact = published.others.iter().chain(&published.sensitive);
        let joined: Vec<(Codes, usize)> =
            exact.filter_map(|(attribute, column)| Some(join(microdata.column(&attribute.name)?, column))).collect();
        let keys: Vec<Key<'_>> = joined.iter().map(|(codes, n_codes)| Key { codes, n_codes: *n_codes }).collect();
        let rows = microdata.rows() + published.table.rows();
        let Groups { of_row: mut of_source, n_groups } = Groups::of_keys(&keys, rows, watch);
        let of_published = of_source.split_off(microdata.rows());
        Payloads { of_source, of_published, n: n_groups }
    }
}

/// For every payload, the rows that differ in some columns: one row of each kind, and how many there are.
pub(super) fn distinct(
    payload_of_row: &[u32],
    n_payloads: usize,
    columns: &[&Column],
    watch: &dyn Watch,
) -> Vec<Vec<(u32, u32)>> {
    let payloads = Codes::U32(payload_of_row.to_vec());
    let mut keys = vec![Key { codes: &payloads, n_codes: n_payloads }];
    keys.extend(columns.iter().map(|column| Key::of(column)));
    let groups = Groups::of_keys(&keys, payload_of_row.len(), watch);
    let mut all: Vec<(u32, u32)> = vec![(0, 0); groups.n_groups];
    for (row, &group) in (0..).zip(&groups.of_row) {
        let known = &mut all[group as usize];
        *known = (row, known.1 + 1);
    }
    let mut by_payload = vec![Vec::new(); n_payloads];
    all.into_iter().for_each(|(row, rows)| by_payload[payload_of_row[row as usize] as usize].push((row, rows)));
    by_payload
}

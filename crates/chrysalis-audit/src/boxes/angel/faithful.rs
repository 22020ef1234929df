//! Whether an angel release is a truthful picture of the microdata, as far as that can be decided.

use std::collections::BTreeMap;

use chrysalis_table::{Code, Column, Table, Watch};
use rayon::prelude::*;

use super::super::cells::BoxTable;
use super::super::faithful;
use super::super::index::Boxes;
use super::super::matching::{Class, Slots, assign};
use super::super::range_ends;
use super::super::space::Axis;
use super::tables::{BatchTables, Batches};
use crate::findings::Findings;
use crate::profile::check_size;
use crate::source::{different_totals, relevant};
use crate::{AuditError, Check};

/// In every table everybody must have a row of their own, and so must the people of each sensitive value, among the
/// rows whose batches have that value.
pub(super) fn check(
    angel: &BatchTables<'_>,
    batches: &Batches,
    microdata: &Table,
    watch: &dyn Watch,
) -> Result<Check, AuditError> {
    let mut findings = Findings::new("faithful");
    let (table, n_dropped) = relevant(angel.manifest, microdata)?;
    let (attribute, values) = angel.sensitive;
    let (found, shown) = (table.rows(), angel.tables[0].table.rows());
    check_size("the microdata", found + shown)?;
    if found != shown {
        findings.add("rows", || format!("the microdata have {found} rows, the release {shown}"));
    }
    let Some(source) = table.column(&attribute.name) else { return Ok(findings.check(String::new())) };
    let n_different = different_totals(source, values.domain(), batches.sample.whole());
    if n_different > 0 {
        findings.add("values", || {
            format!("{n_different} values of `{}` occur a different number of times in the microdata", attribute.name)
        });
    }
    for published in &angel.tables {
        let name = &published.name;
        range_ends::look(published, &table, &mut findings);
        let outcome = faithful::place(published, &table, watch);
        if outcome.left_over > 0 {
            findings.add("rows without a place", || {
                format!("{} rows of the microdata find no row of `{name}` of their own", outcome.left_over)
            });
            continue;
        }
        let left = by_value((published, batches), values, (&table, source), watch);
        if left > 0 {
            findings.add("values without a place", || {
                format!("{left} rows of the microdata find no row of `{name}` whose batch has their sensitive value")
            });
        }
    }
    let dropped = if n_dropped > 0 { format!(", {n_dropped} with missing values left out") } else { String::new() };
    Ok(findings.check(format!(
        "each of {found} rows of the microdata has a row of its own in every table, also among those whose batches have its \
         sensitive value{dropped}"
    )))
}

/// How many people find no row, value by value: a batch has room for as many people of a value as `bt` says, and a
/// bucket for as many as its batches have rows and values for. Whether one assignment works for all values at once is
/// not decided.
fn by_value(
    (published, batches): (&BoxTable<'_>, &Batches),
    values: &Column,
    (table, source): (&Table, &Column),
    watch: &dyn Watch,
) -> u64 {
    let sets = published.label_sets();
    let quasi: Vec<&Column> = published.quasi.iter().filter_map(|cells| table.column(&cells.attribute.name)).collect();
    let axes: Vec<Axis<'_>> =
        published.quasi.iter().zip(&quasi).map(|(cells, column)| Axis::new(cells, column, &sets)).collect();
    let people = faithful::distinct(&source.codes().iter().collect::<Vec<_>>(), source.domain().len(), &quasi, watch);
    let places = Places::new(published, batches, watch);
    let left = |code: usize| {
        let shown = values.domain().code_of(source.domain().value(code as Code));
        let point = |row: usize| axes.iter().zip(&quasi).map(|(axis, column)| axis.rank(column.code(row))).collect();
        let classes: Vec<Class> =
            people[code].iter().map(|&(row, rows)| Class { point: point(row as usize), rows }).collect();
        let buckets = places.of_value(shown);
        let rows = buckets.iter().map(|bucket| bucket.row as usize);
        let intervals = rows.flat_map(|row| axes.iter().map(move |axis| axis.interval(row)));
        let boxes = Boxes { axes: &axes, intervals: intervals.collect(), n: buckets.len() };
        let left = |slots: Slots| assign(&classes, &boxes, slots, watch).left_over;
        let room = places.room_in_batches(shown);
        // PROOF: a bucket has room for one person at least of each of its batches. So if no batch has the value twice, an
        // assignment to batches fills no bucket beyond its room.
        let is_repeated = room.iter().any(|&count| count > 1);
        let by_batch = left(Slots::shared(room, buckets.iter().map(|bucket| &bucket.batches[..])));
        let by_bucket = || left(Slots::of_boxes(buckets.iter().map(|bucket| bucket.room).collect()));
        if is_repeated { by_batch.max(by_bucket()) } else { by_batch }
    };
    (0..source.domain().len()).into_par_iter().map(left).sum()
}

/// A bucket that people with some value can be in.
struct Bucket {
    /// One of its rows.
    row: u32,
    /// The most people with the value who fit in it.
    room: u32,
    /// Its batches, numbered among those that have the value.
    batches: Vec<u32>,
}

/// The rows of a table by bucket and batch.
struct Places {
    /// Per batch and bucket: a row of the bucket, and how many rows of the batch are in it.
    of_batch: Vec<Vec<(u32, u32)>>,
    /// Per value: batches that have it, and how many rows.
    of_value: Vec<Vec<(u32, u32)>>,
}

impl Places {
    fn new(published: &BoxTable<'_>, batches: &Batches, watch: &dyn Watch) -> Self {
        let of_row = batches.of_rows(published.group);
        let mut of_batch = faithful::distinct(&of_row, batches.ids.len(), &published.cell_columns(), watch);
        // All rows of a bucket have the same cells, so one of them stands for the others.
        let buckets = super::tables::buckets(published, watch);
        let some_rows = buckets.some_rows();
        let same = |row: u32| some_rows[buckets.of_row[row as usize] as usize] as u32;
        of_batch.iter_mut().flatten().for_each(|(row, _)| *row = same(*row));
        let mut of_value = vec![Vec::new(); batches.sample.whole().len()];
        for batch in 0..batches.ids.len() {
            for &(code, count) in batches.sample.group(batch).values {
                of_value[code as usize].push((batch as u32, count));
            }
        }
        Places { of_batch, of_value }
    }

    /// The batches that have a value, and how many rows.
    fn with_value(&self, code: Option<Code>) -> &[(u32, u32)] {
        code.and_then(|code| self.of_value.get(code as usize)).map_or(&[], Vec::as_slice)
    }

    fn room_in_batches(&self, code: Option<Code>) -> Vec<u32> {
        self.with_value(code).iter().map(|&(_, count)| count).collect()
    }

    /// The buckets that some batch with the value has rows in.
    fn of_value(&self, code: Option<Code>) -> Vec<Bucket> {
        let mut buckets: BTreeMap<u32, Bucket> = BTreeMap::new();
        for (place, &(batch, count)) in (0..).zip(self.with_value(code)) {
            for &(row, rows) in &self.of_batch[batch as usize] {
                let bucket = buckets.entry(row).or_insert_with(|| Bucket { row, room: 0, batches: Vec::new() });
                bucket.room += rows.min(count);
                bucket.batches.push(place);
            }
        }
        buckets.into_values().collect()
    }
}

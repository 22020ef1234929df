//! The attack that joins all tables of a release: only batches that every table allows are left for a person.

use chrysalis_release::{Promise, Scope};
use chrysalis_table::{Code, Column, Table, Watch};
use rayon::prelude::*;

use super::super::cells::BoxTable;
use super::super::index::{Boxes, Index, Mark};
use super::super::space::Axis;
use super::tables::{BatchTables, Batches, buckets};
use crate::findings::Findings;
use crate::measure;
use crate::promise::{promised_values, show};
use crate::source::relevant;
use crate::{AuditError, Check, Groups, Joining};

/// Theorem 1: whatever buckets a person is in, the values left are a mixture of batches, so no attacker can be more
/// certain of a value than the worst batch allows. With the microdata, the attack is run on everybody in them.
///
/// There is no such theorem about rows: a bucket has k of them, and the other tables may leave fewer. That is a finding
/// and breaks no promise, because k is promised for the buckets of each table alone.
pub(super) fn check(
    angel: &BatchTables<'_>,
    batches: &Batches,
    microdata: Option<&Table>,
    watch: &dyn Watch,
) -> Result<(Check, Option<Joining>), AuditError> {
    let mut findings = Findings::new("intersection");
    let worst = measure::share(&batches.sample).and_then(|worst| worst.level.exact());
    let most = worst.map_or_else(|| "nothing".to_owned(), |share| show(&share));
    let tables = angel.tables.len();
    let joined = if tables == 1 { "one generalized table".to_owned() } else { format!("{tables} generalized tables") };
    let bound = format!("nobody's value is more likely than {most}, however they are joined");
    let Some(microdata) = microdata else {
        return Ok((findings.check(format!("{joined}, tied by batches alone: {bound}")), None));
    };
    let (people, _) = relevant(angel.manifest, microdata)?;
    let promised = promised_values(&angel.manifest.promises);
    let of_buckets = angel.manifest.promises.iter().filter(|promise| promise.scope() == Scope::Bucket);
    let k = Promise::largest_k(of_buckets).unwrap_or(1);
    let found = attack(angel, batches, &people, (promised, k), watch);
    if found.nowhere > 0 {
        findings.add("contradictions", || {
            let n = found.nowhere;
            format!("{n} people of the microdata are in no batch with their value that every table allows")
        });
    }
    if found.narrowed > 0 {
        findings.add("narrowed", || {
            format!(
                "{} people of the microdata are left with fewer sensitive values than promised once all tables are joined \
                 ({} in the worst case, {promised} promised)",
                found.narrowed,
                found.fewest.unwrap_or(0)
            )
        });
    }
    let joining = found.fewest_rows.filter(|_| tables > 1).map(|fewest| Joining {
        tables: tables as u64,
        people: people.rows() as u64,
        promised: k,
        fewest,
        narrowed: found.below_k,
        alone: found.alone,
    });
    let fine = match found.fewest {
        None => format!("{joined} joined for nobody, as no row of the microdata is left; {bound}"),
        Some(fewest) => format!(
            "{joined} joined for {} people: everybody keeps at least {fewest} sensitive values ({} people are left with one \
             batch); {bound}",
            people.rows(),
            found.one_batch
        ),
    };
    Ok((findings.check(fine), joining))
}

/// What joining all tables reveals about everybody.
struct JoinOutcome {
    /// The fewest values that anybody keeps; none where there is nobody.
    fewest: Option<u64>,
    /// People who keep fewer values than promised.
    narrowed: u64,
    /// People for whom one batch is left.
    one_batch: u64,
    /// People for whom no batch is left, or none that has their value.
    nowhere: u64,
    /// The fewest rows that anybody keeps, in the table where they are fewest; none where there is nobody.
    fewest_rows: Option<u64>,
    /// People who keep fewer rows than a bucket is promised to have.
    below_k: u64,
    /// People who keep one row.
    alone: u64,
}

impl JoinOutcome {
    const NOBODY: JoinOutcome =
        JoinOutcome { fewest: None, narrowed: 0, one_batch: 0, nowhere: 0, fewest_rows: None, below_k: 0, alone: 0 };

    fn and(self, other: JoinOutcome) -> JoinOutcome {
        JoinOutcome {
            fewest: self.fewest.into_iter().chain(other.fewest).min(),
            narrowed: self.narrowed + other.narrowed,
            one_batch: self.one_batch + other.one_batch,
            nowhere: self.nowhere + other.nowhere,
            fewest_rows: self.fewest_rows.into_iter().chain(other.fewest_rows).min(),
            below_k: self.below_k + other.below_k,
            alone: self.alone + other.alone,
        }
    }
}

fn attack(
    angel: &BatchTables<'_>,
    batches: &Batches,
    people: &Table,
    (promised, k): (u64, u64),
    watch: &dyn Watch,
) -> JoinOutcome {
    let (attribute, values) = angel.sensitive;
    let Some(source) = people.column(&attribute.name) else { return JoinOutcome::NOBODY };
    // Everybody's value as a code of the release.
    let shown: Vec<Option<Code>> =
        (0..source.domain().len() as Code).map(|code| values.domain().code_of(source.domain().value(code))).collect();
    let quasi: Vec<&Column> =
        angel.tables[0].quasi.iter().filter_map(|cells| people.column(&cells.attribute.name)).collect();
    let classes = Groups::of_columns(&quasi, people.rows(), watch);
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); classes.n_groups];
    (0..).zip(&classes.of_row).for_each(|(row, &class)| members[class as usize].push(row));
    let sides: Vec<Side<'_>> =
        angel.tables.iter().map(|published| Side::new(published, batches, people, watch)).collect();
    let boxes: Vec<Boxes<'_>> = sides.iter().map(Side::boxes).collect();
    let indexes: Vec<Index<'_>> = boxes.iter().map(|boxes| Index::new(boxes, watch)).collect();
    let of_class = |rows: &Vec<u32>| {
        watch.pause();
        let lists: Vec<Vec<Batched<'_>>> =
            sides.iter().zip(&indexes).map(|(side, index)| side.batches(index, rows[0])).collect();
        let left = common(&lists);
        let mut kept: Vec<Code> = left
            .iter()
            .flat_map(|&batch| batches.sample.group(batch as usize).values.iter().map(|&(code, _)| code))
            .collect();
        kept.sort_unstable();
        kept.dedup();
        let has_own = |&&row: &&u32| {
            shown[source.code(row as usize) as usize].is_some_and(|code| kept.binary_search(&code).is_ok())
        };
        let (n, n_kept) = (rows.len() as u64, kept.len() as u64);
        let n_rows = lists.iter().map(|lists| rows_left(lists, &left)).min().unwrap_or(0);
        JoinOutcome {
            fewest: Some(n_kept),
            narrowed: if n_kept < promised { n } else { 0 },
            one_batch: if left.len() == 1 { n } else { 0 },
            nowhere: n - rows.iter().filter(has_own).count() as u64,
            fewest_rows: Some(n_rows),
            below_k: if n_rows < k { n } else { 0 },
            alone: if n_rows == 1 { n } else { 0 },
        }
    };
    members.par_iter().map(of_class).reduce(|| JoinOutcome::NOBODY, JoinOutcome::and)
}

/// The batches that have rows in a bucket, ascending, and how many rows each has there.
type Batched<'a> = &'a [(u32, u32)];

/// The rows of one table that may be a person's once only some batches are left.
fn rows_left(buckets: &[Batched<'_>], left: &[u32]) -> u64 {
    let in_bucket = |bucket: &Batched<'_>| -> u64 {
        // Iterate over the shorter list and search the longer one.
        if left.len() < bucket.len() {
            let rows = |batch: &u32| bucket.binary_search_by_key(batch, |it| it.0).map_or(0, |at| bucket[at].1);
            left.iter().map(|batch| u64::from(rows(batch))).sum()
        } else {
            bucket.iter().filter(|it| left.binary_search(&it.0).is_ok()).map(|it| u64::from(it.1)).sum()
        }
    };
    buckets.iter().map(in_bucket).sum()
}

/// The batches that are in at least one list of every table, ascending. Each list is that of one bucket, ascending.
///
/// # Cost
/// The batches of the table with the fewest, times a search in the lists of every other table: a bucket of half the
/// table is searched, never copied.
fn common(tables: &[Vec<Batched<'_>>]) -> Vec<u32> {
    let total = |lists: &Vec<Batched<'_>>| lists.iter().map(|list| list.len()).sum::<usize>();
    let mut tables: Vec<&Vec<Batched<'_>>> = tables.iter().collect();
    tables.sort_by_key(|lists| total(lists));
    let Some((fewest, others)) = tables.split_first() else { return Vec::new() };
    let mut left = merged(fewest);
    for lists in others {
        // Many small buckets are faster to merge than to search one by one.
        if lists.len() > 1 && left.len() * lists.len() > total(lists) {
            let all = merged(lists);
            left.retain(|batch| all.binary_search(batch).is_ok());
        } else {
            left.retain(|batch| lists.iter().any(|list| list.binary_search_by_key(batch, |it| it.0).is_ok()));
        }
    }
    left
}

fn merged(lists: &[Batched<'_>]) -> Vec<u32> {
    let mut all: Vec<u32> = lists.iter().flat_map(|list| list.iter().map(|it| it.0)).collect();
    if lists.len() > 1 {
        all.sort_unstable();
        all.dedup();
    }
    all
}

/// One generalized table: its buckets, where they are and which batches have rows there.
struct Side<'a> {
    axes: Vec<Axis<'a>>,
    columns: Vec<&'a Column>,
    /// A row of every bucket.
    some_rows: Vec<usize>,
    /// The batches with rows in every bucket, ascending, and how many each has there.
    of_bucket: Vec<Vec<(u32, u32)>>,
}

impl<'a> Side<'a> {
    fn new(published: &BoxTable<'a>, batches: &Batches, people: &'a Table, watch: &dyn Watch) -> Self {
        let sets = published.label_sets();
        let known = published.quasi.iter().filter_map(|cells| Some((cells, people.column(&cells.attribute.name)?)));
        let known: Vec<_> = known.collect();
        let groups = buckets(published, watch);
        let mut of_bucket = vec![Vec::new(); groups.n_groups];
        let of_row = batches.of_rows(published.group);
        groups.of_row.iter().zip(of_row).for_each(|(&bucket, batch)| of_bucket[bucket as usize].push((batch, 1)));
        of_bucket.iter_mut().for_each(|batches: &mut Vec<(u32, u32)>| {
            batches.sort_unstable();
            batches.dedup_by(|next, kept| {
                let is_same = next.0 == kept.0;
                kept.1 += if is_same { next.1 } else { 0 };
                is_same
            });
        });
        Side {
            axes: known.iter().map(|(cells, column)| Axis::new(cells, column, &sets)).collect(),
            columns: known.iter().map(|(_, column)| *column).collect(),
            some_rows: groups.some_rows(),
            of_bucket,
        }
    }

    fn boxes(&self) -> Boxes<'_> {
        let intervals = self.some_rows.iter().flat_map(|&row| self.axes.iter().map(move |axis| axis.interval(row)));
        Boxes { axes: &self.axes, intervals: intervals.collect(), n: self.some_rows.len() }
    }

    /// The batches of each bucket that may hold the person of a row.
    fn batches(&self, index: &Index<'_>, row: u32) -> Vec<Batched<'_>> {
        let rank = |(axis, column): (&Axis<'_>, &&Column)| axis.rank(column.code(row as usize));
        let point: Vec<u32> = self.axes.iter().zip(&self.columns).map(rank).collect();
        let mut found = Vec::new();
        index.visit(Mark::Unseen, &point, |bucket| {
            found.push(self.of_bucket[bucket as usize].as_slice());
            true
        });
        found
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::{common, rows_left};

    proptest! {
        #[test]
        fn batches_and_rows_are_left_that_every_table_allows(
            mut tables in prop::collection::vec(
                prop::collection::vec(prop::collection::btree_map(0u32..40, 1u32..4, 0..30), 0..6), 1..4),
        ) {
            let as_list = |map: BTreeMap<u32, u32>| map.into_iter().collect::<Vec<_>>();
            let lists: Vec<Vec<Vec<(u32, u32)>>> =
                tables.drain(..).map(|table| table.into_iter().map(as_list).collect()).collect();
            let has = |list: &Vec<(u32, u32)>, batch: u32| list.iter().any(|it| it.0 == batch);
            let is_allowed = |batch: &u32| lists.iter().all(|table| table.iter().any(|list| has(list, *batch)));
            let expected: Vec<u32> = (0..40).filter(is_allowed).collect();
            let slices: Vec<Vec<&[(u32, u32)]>> =
                lists.iter().map(|table| table.iter().map(Vec::as_slice).collect()).collect();
            let found = common(&slices);
            prop_assert_eq!(&found, &expected);
            for (table, slices) in lists.iter().zip(&slices) {
                let rows = table.iter().flatten().filter(|it| expected.contains(&it.0));
                prop_assert_eq!(rows_left(slices, &found), rows.map(|it| u64::from(it.1)).sum::<u64>());
            }
        }
    }
}

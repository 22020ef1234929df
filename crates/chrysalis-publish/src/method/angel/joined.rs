//! How far joining the tables of one release narrows people down.

use chrysalis_table::Watch;
use rayon::prelude::*;

use super::buckets::Buckets;
use crate::Partition;

/// How many rows still match a person once the generalized tables are joined on their batches. k is promised only for
/// each table by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinedFacts {
    /// The rows that match the worst-off person, in the table where they are fewest.
    pub fewest: u64,
    /// People who are matched by fewer than `k` rows.
    pub narrowed: u64,
    /// The least number of rows in a bucket.
    pub k: u64,
}

/// The batches with rows in a bucket, ascending, and how many each has there.
type Batched = Vec<(u32, u32)>;

/// Looks up every person in their own bucket of each table. Where the labels of several buckets cover a person, an
/// attacker is left with more rows, so nobody is worse off than this says.
pub(super) fn joined(batches: &Partition, tables: &[Buckets], k: u64, watch: &dyn Watch) -> Option<JoinedFacts> {
    if tables.len() < 2 {
        return None;
    }
    let batch_of = places(batches);
    let of_tables: Vec<(Vec<u32>, Vec<Batched>)> = tables
        .iter()
        .map(|buckets| {
            watch.pause();
            let batched = |rows: &[u32]| -> Batched {
                let mut ids: Vec<u32> = rows.iter().map(|&row| batch_of[row as usize]).collect();
                ids.sort_unstable();
                ids.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect()
            };
            let groups: Vec<&[u32]> = buckets.partition.groups().collect();
            (places(&buckets.partition), groups.par_iter().map(|rows| batched(rows)).collect())
        })
        .collect();
    // People who share a bucket in every table are left with the same rows.
    let key = |row: u32| of_tables.iter().map(move |(bucket_of, _)| bucket_of[row as usize]);
    let mut rows: Vec<u32> = (0..batches.n_rows() as u32).collect();
    rows.par_sort_unstable_by(|&a, &b| key(a).cmp(key(b)));
    let cells: Vec<&[u32]> = rows.chunk_by(|&a, &b| key(a).eq(key(b))).collect();
    let of_cell = |cell: &&[u32]| {
        watch.pause();
        let own: Vec<&Batched> =
            of_tables.iter().map(|(bucket_of, batched)| &batched[bucket_of[cell[0] as usize] as usize]).collect();
        (left(own), cell.len() as u64)
    };
    let all: Vec<(u64, u64)> = cells.par_iter().map(of_cell).collect();
    Some(JoinedFacts {
        fewest: all.iter().map(|&(rows, _)| rows).min().unwrap_or(0),
        narrowed: all.iter().filter(|(rows, _)| *rows < k).map(|(_, people)| people).sum(),
        k,
    })
}

/// The group of every row.
fn places(partition: &Partition) -> Vec<u32> {
    let mut places = vec![0; partition.n_rows()];
    for (group, rows) in (0u32..).zip(partition.groups()) {
        rows.iter().for_each(|&row| places[row as usize] = group);
    }
    places
}

/// The number of rows in batches that occur in all of these buckets, in the bucket that has the fewest of them.
fn left(mut buckets: Vec<&Batched>) -> u64 {
    buckets.sort_by_key(|batched| batched.len());
    let rows_in = |batched: &Batched, batch: u32| {
        batched.binary_search_by_key(&batch, |&(batch, _)| batch).ok().map(|at| u64::from(batched[at].1))
    };
    let mut totals = vec![0; buckets.len()];
    for &(batch, _) in buckets.first().into_iter().flat_map(|batched| batched.iter()) {
        let counts: Option<Vec<u64>> = buckets.iter().map(|batched| rows_in(batched, batch)).collect();
        totals.iter_mut().zip(counts.into_iter().flatten()).for_each(|(total, rows)| *total += rows);
    }
    totals.into_iter().min().unwrap_or(0)
}

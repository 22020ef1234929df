//! What an attacker who finds a person's bucket learns.

use std::collections::BTreeMap;

use chrysalis_table::Watch;
use chrysalis_table::exact::BigRational;
use num_bigint::BigInt;
use num_traits::Zero;
use rayon::prelude::*;

use super::tables::{BatchTables, Batches};
use crate::attack::foremost;
use crate::measure::{self, Group, GroupCounts};
use crate::promise::show;
use crate::{Groups, Linking, WorstGroup};

/// Shares that differ by less come from the same fraction.
const SLACK: f64 = 1e-12;

/// Equation 2: a bucket's distribution is a mixture of those of its rows' batches. Finds the worst bucket of all
/// tables, and counts the rows of all buckets in which some value is that likely.
pub(super) fn attack(
    angel: &BatchTables<'_>,
    batches: &Batches,
    buckets: &[Groups],
    watch: &dyn Watch,
) -> Option<(Linking, Vec<WorstGroup>)> {
    let n_values = angel.sensitive.1.domain().len();
    let of_tables: Vec<Vec<Vec<u32>>> = angel
        .tables
        .iter()
        .zip(buckets)
        .map(|(published, groups)| {
            watch.pause();
            let mut members = vec![Vec::new(); groups.n_groups];
            let of_row = batches.of_rows(published.group);
            groups.of_row.iter().zip(of_row).for_each(|(&bucket, batch)| members[bucket as usize].push(batch));
            members.iter_mut().for_each(|batches: &mut Vec<u32>| batches.sort_unstable());
            members
        })
        .collect();
    let all: Vec<&Vec<u32>> = of_tables.iter().flatten().collect();
    let likeliest = |shares: &mut Vec<f64>, members: &&Vec<u32>| {
        watch.pause();
        likeliest(members, batches, shares)
    };
    let found: Vec<(f64, u32)> = all.par_iter().map_init(|| vec![0.0; n_values], likeliest).collect();
    let worst = found.iter().map(|(share, _)| *share).fold(0.0, f64::max);
    let at = found.iter().position(|(share, _)| *share >= worst - SLACK)?;
    let rows =
        found.iter().zip(&all).filter(|((share, _), _)| *share >= worst - SLACK).map(|(_, rows)| rows.len() as u64);
    let confidence = exact(all[at], found[at].1, batches);
    let linking = Linking {
        confidence: measure::to_float(Some(&confidence)),
        confidence_text: show(&confidence),
        group: None,
        rows: rows.sum(),
    };
    let order = |&a: &usize, &b: &usize| found[b].0.total_cmp(&found[a].0).then(a.cmp(&b));
    let worst = foremost((0..all.len()).collect(), order).into_iter();
    let mut worst: Vec<(BigRational, usize)> = worst.map(|at| (exact(all[at], found[at].1, batches), at)).collect();
    worst.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    // Buckets have no id.
    let worst = worst.iter().map(|(level, at)| WorstGroup::exact(None, all[*at].len() as u64, level));
    Some((linking, worst.collect()))
}

/// The same for persons, of whom every bucket has some of each of its batches: how likely the likeliest value of each
/// bucket is, for every bucket that has persons. `having` counts the persons of batches who have each value.
pub(crate) fn mixture(
    buckets: &[&Vec<(u32, u64)>],
    having: &GroupCounts,
    watch: &dyn Watch,
) -> Vec<(BigRational, usize)> {
    let share = |of: &GroupCounts, batch: u32, count: u32, persons: u64, all: u64| {
        let whole = BigInt::from(of.sizes()[batch as usize].max(1)) * BigInt::from(all);
        BigRational::new(BigInt::from(count) * BigInt::from(persons), whole)
    };
    let likeliest = |(at, members): (usize, &&Vec<(u32, u64)>)| {
        watch.pause();
        let all: u64 = members.iter().map(|&(_, persons)| persons).sum();
        if all == 0 {
            return None;
        }
        let mut sums: BTreeMap<u32, BigRational> = BTreeMap::new();
        for &(batch, persons) in *members {
            for &(code, count) in having.group(batch as usize).values {
                let sum = sums.entry(code).or_insert_with(BigRational::zero);
                *sum += share(having, batch, count, persons, all);
            }
        }
        Some((sums.into_values().max()?, at))
    };
    buckets.par_iter().enumerate().filter_map(likeliest).collect()
}

fn group<'a>(batches: &'a Batches, batch: u32) -> Group<'a> {
    batches.sample.group(batch as usize)
}

/// The likeliest value of a bucket with rows of these batches, and how likely it is.
fn likeliest(members: &[u32], batches: &Batches, shares: &mut [f64]) -> (f64, u32) {
    let mut best = (0.0, 0);
    for run in members.chunk_by(|a, b| a == b) {
        let of_batch = group(batches, run[0]);
        let weight = run.len() as f64 / of_batch.size as f64 / members.len() as f64;
        for &(code, count) in of_batch.values {
            shares[code as usize] += weight * f64::from(count);
            if shares[code as usize] > best.0 {
                best = (shares[code as usize], code);
            }
        }
    }
    for run in members.chunk_by(|a, b| a == b) {
        group(batches, run[0]).values.iter().for_each(|&(code, _)| shares[code as usize] = 0.0);
    }
    best
}

/// The same share as a fraction.
fn exact(members: &[u32], code: u32, batches: &Batches) -> BigRational {
    let mut sum = BigRational::zero();
    for run in members.chunk_by(|a, b| a == b) {
        let of_batch = group(batches, run[0]);
        let count = of_batch.values.iter().find(|(known, _)| *known == code).map_or(0, |(_, count)| *count);
        let rows = BigInt::from(run.len()) * BigInt::from(count);
        let of = BigInt::from(members.len()) * BigInt::from(of_batch.size.max(1));
        sum += BigRational::new(rows, of);
    }
    sum
}

//! The help table of ke, figure 4, for sums, minima and maxima.

use std::sync::Arc;

use chrysalis_release::HELP_COLUMNS;
use chrysalis_table::{Codes, Column, Domain, Kind, Table, Value, Watch};
use rayon::prelude::*;

use super::super::frame;
use super::extreme::{self, Moments};
use crate::{Partition, PublishError};

/// One row per group and number of hits, sorted by hits, then by group id, so that a database that looks up a few
/// numbers of hits without an index can skip most of the table.
pub(super) fn table(
    sensitive: &Column,
    partition: &Partition,
    shown: &[u32],
    watch: &dyn Watch,
) -> Result<Table, PublishError> {
    let groups: Vec<Group<'_>> = shown
        .par_iter()
        .map(|&group| {
            watch.pause();
            let rows = partition.group(group as usize).iter();
            Group::new(sensitive.domain(), rows.map(|&row| sensitive.code(row as usize)).collect())
        })
        .collect();
    let [_, hits, names @ ..] = HELP_COLUMNS;
    let place = (0u32..).zip(&groups).flat_map(|(at, group)| std::iter::repeat_n(at, group.n())).collect::<Vec<_>>();
    let counted: Vec<i64> = groups.iter().flat_map(|group| 1..=group.n() as i64).collect();
    let order = by_hits(&groups);
    let mut columns = vec![frame::group_ids(groups.len(), &place), Column::integers(hits, &counted)];
    columns.iter_mut().for_each(|column| *column = column.gather(&order));
    let of_group = |group: &Group<'_>| {
        watch.pause();
        group.extremes().collect::<Vec<_>>()
    };
    let extremes = groups.par_iter().flat_map_iter(of_group).collect::<Vec<[Moments; 2]>>();
    let rest: Result<Vec<Column>, PublishError> = names
        .into_par_iter()
        .enumerate()
        .map(|(at, name)| {
            watch.pause();
            let column = column(at, name, sensitive, &groups, &extremes)?;
            watch.pause();
            Ok(column.gather(&order))
        })
        .collect();
    columns.extend(rest?);
    Ok(Table::new(columns))
}

/// The order of the rows by hits, then by group; the rows themselves are stored group after group.
fn by_hits(groups: &[Group<'_>]) -> Vec<u32> {
    let most = groups.iter().map(Group::n).max().unwrap_or(0);
    // How many groups reach each number of hits, and from that, where its rows begin.
    let mut next = vec![0u32; most + 2];
    groups.iter().for_each(|group| next[group.n()] += 1);
    (1..most).rev().for_each(|hits| next[hits] += next[hits + 1]);
    let mut begin = 0;
    for places in &mut next[1..] {
        begin += std::mem::replace(places, begin);
    }
    let mut order = vec![0; begin as usize];
    let mut row = 0;
    for group in groups {
        for places in &mut next[1..=group.n()] {
            order[*places as usize] = row;
            *places += 1;
            row += 1;
        }
    }
    order
}

/// One of the columns after `hits`, in the order of [`HELP_COLUMNS`].
fn column(
    at: usize,
    name: &str,
    sensitive: &Column,
    groups: &[Group<'_>],
    extremes: &[[Moments; 2]],
) -> Result<Column, PublishError> {
    let extreme = |code: fn(&Group<'_>, usize) -> u32| {
        let codes = groups.iter().flat_map(|group| (1..=group.n()).map(move |h| code(group, h)));
        let codes = Codes::collect(sensitive.domain().len(), codes);
        Ok(Column::new(name, Arc::clone(sensitive.domain()), codes))
    };
    let of_sum = |number: fn(&Group<'_>, f64) -> f64| {
        reals(name, groups.iter().flat_map(|group| (1..=group.n()).map(move |h| number(group, h as f64))))
    };
    let of_extreme = |number: fn(&[Moments; 2]) -> f64| reals(name, extremes.iter().map(number));
    match at {
        // The h smallest and the h largest values.
        0 => sums(name, groups, |group, h| group.codes[h - 1]),
        1 => sums(name, groups, |group, h| group.codes[group.n() - h]),
        2 => extreme(|group, _| group.codes[0]),
        3 => extreme(|group, h| group.codes[group.n() - h]),
        4 => extreme(|group, h| group.codes[h - 1]),
        5 => extreme(|group, _| group.codes[group.n() - 1]),
        6 => of_sum(|group, h| h * group.mean),
        7 => of_sum(|group, h| group.variance_of_sum(h)),
        8 => of_extreme(|[least, _]| least.mean),
        9 => of_extreme(|[least, _]| least.variance),
        10 => of_extreme(|[_, greatest]| greatest.mean),
        _ => of_extreme(|[_, greatest]| greatest.variance),
    }
}

fn reals(name: &str, numbers: impl Iterator<Item = f64>) -> Result<Column, PublishError> {
    let numbers: Vec<f64> = numbers.collect();
    if numbers.iter().any(|number| !number.is_finite()) {
        return Err(too_large());
    }
    Ok(Column::reals(name, &numbers))
}

fn too_large() -> PublishError {
    PublishError::request("sums or squares of the sensitive column leave the range of 64-bit numbers")
}

/// Running sums over 1, 2, … hits, where `next` gives the value that each hit adds; exact for integers.
fn sums(name: &str, groups: &[Group<'_>], next: fn(&Group<'_>, usize) -> u32) -> Result<Column, PublishError> {
    let n_rows = groups.iter().map(Group::n).sum();
    if groups.first().is_some_and(|group| group.domain.kind() == Kind::Integer) {
        let mut running = Vec::with_capacity(n_rows);
        for group in groups {
            let mut sum = 0i64;
            for h in 1..=group.n() {
                sum = sum.checked_add(group.integer(next(group, h))).ok_or_else(too_large)?;
                running.push(sum);
            }
        }
        return Ok(Column::integers(name, &running));
    }
    let mut running = Vec::with_capacity(n_rows);
    for group in groups {
        let mut sum = 0.0;
        for h in 1..=group.n() {
            sum += group.real(next(group, h));
            running.push(sum);
        }
    }
    reals(name, running.into_iter())
}

/// The sorted values of one group.
struct Group<'a> {
    domain: &'a Domain,
    codes: Vec<u32>,
    mean: f64,
    variance: f64,
}

impl<'a> Group<'a> {
    fn new(domain: &'a Domain, mut codes: Vec<u32>) -> Self {
        codes.sort_unstable();
        let values = || codes.iter().map(|&code| domain.position(code).unwrap_or(0.0));
        let n = codes.len() as f64;
        // The folds start from 0.0 so that no sum is negative zero.
        let mean = values().fold(0.0, |sum, value| sum + value) / n;
        let variance = values().map(|value| (value - mean).powi(2)).fold(0.0, |sum, square| sum + square) / n;
        Group { domain, codes, mean, variance }
    }

    fn n(&self) -> usize {
        self.codes.len()
    }

    /// The moments of the least and the greatest of 1, 2, … values drawn without replacement. Means are kept inside
    /// their bounds in spite of rounding.
    fn extremes(&self) -> impl Iterator<Item = [Moments; 2]> {
        let position = |code: u32| self.domain.position(code).unwrap_or(0.0);
        let runs = self.codes.chunk_by(|a, b| a == b);
        let runs: Vec<(f64, usize)> = runs.map(|run| (position(run[0]), run.len())).collect();
        let (least, greatest) = rayon::join(|| extreme::least(&runs), || extreme::greatest(&runs));
        let ends =
            self.codes.iter().rev().zip(&self.codes).map(move |(&most, &least)| (position(most), position(least)));
        least.into_iter().zip(greatest).zip(ends).map(|((least, greatest), (most, at_least))| {
            let (low, high) = (least.mean.min(most), greatest.mean.max(at_least));
            [Moments { mean: low, ..least }, Moments { mean: high, ..greatest }]
        })
    }

    /// PROOF: the form refuses columns with missing values, so every code stands for one; and values of one domain
    /// share a variant.
    fn integer(&self, code: u32) -> i64 {
        if let Value::Integer(number) = self.domain.values()[code as usize] { number } else { 0 }
    }

    fn real(&self, code: u32) -> f64 {
        if let Value::Real(number) = self.domain.values()[code as usize] { number } else { 0.0 }
    }

    /// The variance of the sum of h values drawn without replacement.
    fn variance_of_sum(&self, h: f64) -> f64 {
        let n = self.n() as f64;
        if n <= 1.0 { 0.0 } else { h * (n - h) / (n - 1.0) * self.variance }
    }
}

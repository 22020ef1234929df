//! The help table of ke, figure 4, for sums, minima and maxima.

use std::sync::Arc;

use chrysalis_release::shuffled::HELP_COLUMNS;
use chrysalis_table::{Codes, Column, Domain, Kind, Table, Value};
use rayon::prelude::*;

use super::super::frame;
use crate::{Partition, PublishError};

/// One row per group and number of hits, by hits and group id: a database that looks up a few numbers of hits without an
/// index then passes over most of the table.
pub(super) fn table(sensitive: &Column, partition: &Partition, shown: &[u32]) -> Result<Table, PublishError> {
    let groups: Vec<Group<'_>> = shown
        .par_iter()
        .map(|&group| {
            let rows = partition.group(group as usize).iter();
            Group::new(sensitive.domain(), rows.map(|&row| sensitive.code(row as usize)).collect())
        })
        .collect();
    let [_, hits, names @ ..] = HELP_COLUMNS;
    let place = (0u32..).zip(&groups).flat_map(|(at, group)| std::iter::repeat_n(at, group.n())).collect::<Vec<_>>();
    let counted: Vec<i64> = groups.iter().flat_map(|group| 1..=group.n() as i64).collect();
    let mut columns = vec![frame::group_ids(groups.len(), &place), Column::integers(hits, &counted)];
    let rest: Result<Vec<Column>, PublishError> =
        names.into_par_iter().enumerate().map(|(at, name)| column(at, name, sensitive, &groups)).collect();
    columns.extend(rest?);
    Ok(Table::new(columns).gather(&by_hits(&groups)))
}

/// The places of the rows, which stand group after group, in the order of hits and group.
fn by_hits(groups: &[Group<'_>]) -> Vec<u32> {
    let most = groups.iter().map(Group::n).max().unwrap_or(0);
    // How many groups reach each number of hits, and from that where its rows begin.
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
fn column(at: usize, name: &str, sensitive: &Column, groups: &[Group<'_>]) -> Result<Column, PublishError> {
    let extreme = |code: fn(&Group<'_>, usize) -> u32| {
        let codes = groups.iter().flat_map(|group| (1..=group.n()).map(move |h| code(group, h)));
        let codes = Codes::collect(sensitive.domain().len(), codes);
        Ok(Column::new(name, Arc::clone(sensitive.domain()), codes))
    };
    let real = |number: fn(&Group<'_>, f64) -> f64| {
        let numbers = groups.iter().flat_map(|group| (1..=group.n()).map(move |h| number(group, h as f64)));
        Ok(Column::reals(name, &numbers.collect::<Vec<f64>>()))
    };
    match at {
        // The h smallest and the h largest values.
        0 => sums(name, groups, |group, h| group.codes[h - 1]),
        1 => sums(name, groups, |group, h| group.codes[group.n() - h]),
        2 => extreme(|group, _| group.codes[0]),
        3 => extreme(|group, h| group.codes[group.n() - h]),
        4 => extreme(|group, h| group.codes[h - 1]),
        5 => extreme(|group, _| group.codes[group.n() - 1]),
        6 => real(|group, h| h * group.mean),
        7 => real(|group, h| group.variance_of_sum(h)),
        _ => {
            let sizes = groups.iter().flat_map(|group| std::iter::repeat_n(group.n() as i64, group.n()));
            Ok(Column::integers(name, &sizes.collect::<Vec<i64>>()))
        }
    }
}

/// Sums over 1, 2, … hits, when `next` says which value comes with each hit; exact for integers.
fn sums(name: &str, groups: &[Group<'_>], next: fn(&Group<'_>, usize) -> u32) -> Result<Column, PublishError> {
    let too_large = || PublishError::Request("sums of the sensitive column leave the range of 64-bit numbers".into());
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
    if running.iter().any(|sum| !sum.is_finite()) {
        return Err(too_large());
    }
    Ok(Column::reals(name, &running))
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
        // From 0, so that no sum is the negative zero.
        let mean = values().fold(0.0, |sum, value| sum + value) / n;
        let variance = values().map(|value| (value - mean).powi(2)).fold(0.0, |sum, square| sum + square) / n;
        Group { domain, codes, mean, variance }
    }

    fn n(&self) -> usize {
        self.codes.len()
    }

    /// PROOF: the form refuses columns with missing values, so every code stands for one; and values of one domain
    /// share a variant.
    fn integer(&self, code: u32) -> i64 {
        if let Value::Integer(number) = self.domain.values()[code as usize] { number } else { 0 }
    }

    fn real(&self, code: u32) -> f64 {
        if let Value::Real(number) = self.domain.values()[code as usize] { number } else { 0.0 }
    }

    /// Of h values drawn without replacement.
    fn variance_of_sum(&self, h: f64) -> f64 {
        let n = self.n() as f64;
        if n <= 1.0 { 0.0 } else { h * (n - h) / (n - 1.0) * self.variance }
    }
}

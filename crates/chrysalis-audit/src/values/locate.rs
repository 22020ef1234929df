//! Where a person may be in a release that shows values.

use chrysalis_table::{Code, Codes, Column, Table, Watch};
use rayon::prelude::*;

use super::tables::ValueTables;
use super::tally::Tally;
use crate::Groups;
use crate::attack::Places;
use crate::grouping::Key;
use crate::measure::GroupCounts;
use crate::source::join;

/// Quasi values that belong together: the groups that have a row with all of a person's values, and how many such rows.
pub(super) fn among_rows(
    tables: &ValueTables<'_>,
    tally: &Tally,
    microdata: &Table,
    people: &[usize],
    watch: &dyn Watch,
) -> Places {
    let columns = tables.quasi.iter();
    let joined = columns.filter_map(|(attribute, column)| {
        watch.pause();
        Some(join(microdata.column(&attribute.name)?, column))
    });
    let joined: Vec<(Codes, usize)> = joined.collect();
    let keys: Vec<Key<'_>> = joined.iter().map(|(codes, n_codes)| Key { codes, n_codes: *n_codes }).collect();
    let n_people = microdata.rows();
    let kinds = Groups::of_keys(&keys, n_people + tables.table.rows(), watch);
    let published = kinds.of_row[n_people..].iter().zip(&tally.groups.of_row);
    let mut rows: Vec<(u32, u32)> = published.map(|(&kind, &group)| (kind, group)).collect();
    watch.pause();
    rows.par_sort_unstable();
    let of_person = |&person: &usize| {
        let kind = kinds.of_row[person];
        let first = rows.partition_point(|row| row.0 < kind);
        let own = rows[first..].iter().take_while(|row| row.0 == kind).map(|row| row.1);
        runs(own)
    };
    people.par_iter().map(of_person).collect()
}

/// Runs of equal groups, each with its length.
fn runs(groups: impl Iterator<Item = u32>) -> Vec<(u32, f32)> {
    let mut runs: Vec<(u32, f32)> = Vec::new();
    for group in groups {
        match runs.last_mut() {
            Some((last, rows)) if *last == group => *rows += 1.0,
            _ => runs.push((group, 1.0)),
        }
    }
    runs
}

/// Columns that were permuted on their own: the groups that have every value of a person, and how many of their rows are
/// expected to have all of them at once, n·Π(n_i/n). `samples` holds the columns by group.
pub(super) fn among_columns(
    tables: &ValueTables<'_>,
    tally: &Tally,
    samples: &[GroupCounts],
    (microdata, people): (&Table, &[usize]),
    watch: &dyn Watch,
) -> Places {
    let columns: Vec<(&Column, &Column, &GroupCounts)> = tables
        .quasi
        .iter()
        .zip(samples)
        .filter_map(|((attribute, shown), sample)| Some((microdata.column(&attribute.name)?, *shown, sample)))
        .collect();
    let maps: Vec<Vec<Option<Code>>> = columns
        .iter()
        .map(|(source, shown, _)| {
            let codes = 0..source.domain().len() as Code;
            codes.map(|code| shown.domain().code_of(source.domain().value(code))).collect()
        })
        .collect();
    let holders: Vec<Vec<Holders>> = columns.iter().map(|(_, shown, sample)| holders(shown, sample)).collect();
    let of_person = |&person: &usize| {
        watch.pause();
        let codes: Option<Vec<Code>> =
            columns.iter().zip(&maps).map(|((source, _, _), map)| map[source.code(person) as usize]).collect();
        let Some(codes) = codes else { return Vec::new() };
        let mut lists: Vec<&Holders> = codes.iter().zip(&holders).map(|(&code, of)| &of[code as usize]).collect();
        lists.sort_by_key(|list| list.groups.len());
        let Some((fewest, others)) = lists.split_first() else { return Vec::new() };
        let rows = |&group: &u32| {
            let n = tally.sizes[group as usize] as f32;
            let count = |(&code, (_, _, sample)): (&Code, &(&Column, &Column, &GroupCounts))| {
                let values = sample.group(group as usize).values;
                values.binary_search_by_key(&code, |&(code, _)| code).ok().map(|at| values[at].1 as f32 / n)
            };
            let shares: Option<Vec<f32>> = codes.iter().zip(&columns).map(count).collect();
            shares.map(|shares| (group, n * shares.iter().product::<f32>()))
        };
        let may_hold = |group: &&u32| others.iter().all(|list| list.may_have(**group));
        fewest.groups.iter().filter(may_hold).filter_map(rows).collect()
    };
    people.par_iter().with_min_len(16).map(of_person).collect()
}

/// The groups that have a value.
struct Holders {
    /// Ascending.
    groups: Vec<u32>,
    /// The same as bits, where they are many: together no more than a word per row.
    bits: Vec<u64>,
}

impl Holders {
    /// Whether a group has the value, as far as the bits tell.
    fn may_have(&self, group: u32) -> bool {
        self.bits.get(group as usize / 64).is_none_or(|word| word >> (group % 64) & 1 == 1)
    }
}

fn holders(column: &Column, sample: &GroupCounts) -> Vec<Holders> {
    let n_groups = sample.sizes().len();
    let mut groups = vec![Vec::new(); column.domain().len()];
    for group in 0..n_groups {
        sample.group(group).values.iter().for_each(|&(code, _)| groups[code as usize].push(group as u32));
    }
    let with_bits = |groups: Vec<u32>| {
        let is_many = groups.len() > n_groups / 64;
        let mut bits = vec![0; if is_many { n_groups.div_ceil(64) } else { 0 }];
        groups.iter().filter(|_| is_many).for_each(|&group| bits[group as usize / 64] |= 1 << (group % 64));
        Holders { groups, bits }
    };
    groups.into_iter().map(with_bits).collect()
}

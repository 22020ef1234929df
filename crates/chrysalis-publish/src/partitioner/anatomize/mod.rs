//! Anatomy's own partitioner; see `spec.md` for the steps that the comments number.

mod buckets;

use chrysalis_criteria::Principle;
use chrysalis_table::{Progress, SaCounts};
use rand::seq::SliceRandom;
use rand::{CryptoRng, RngExt};

use super::Partitioner;
use super::dealing::{Dealing, joined};
use super::nearby::merged_until_all_hold;
use crate::{Microdata, Partition, PublishError};
use buckets::Buckets;

/// Forms groups of l random rows with distinct sensitive values, whatever their quasi values.
///
/// # Guarantees
/// Every principle, in every group.
/// # Cost
/// Linear in the rows for `l=`.
/// # Paper
/// Xiao and Tao 2006, the baseline of pa.
#[derive(Clone, Copy, Debug, Default)]
pub struct Anatomize;

impl Partitioner for Anatomize {
    fn name(&self) -> &'static str {
        "anatomize"
    }

    fn partition(
        &self,
        data: &Microdata,
        goal: &dyn Principle,
        rng: &mut dyn CryptoRng,
        progress: Progress<'_>,
    ) -> Result<Partition, PublishError> {
        // Step 1. Rows in random order, so that the next row of a bucket is a random one.
        let mut rows: Vec<u32> = (0..data.rows() as u32).collect();
        rows.shuffle(rng);
        let n_values = data.sensitive_counts().domain_len();
        let sizes = dealt(data, goal, &Dealing::of(goal, n_values), &mut rows, &mut SaCounts::new(n_values), rng);
        progress(data.rows() as u64);
        Ok(Partition::new(rows, &sizes))
    }
}

/// Steps 2 to 4 for some rows of a table, which are in random order: reorders them group after group, and returns the
/// sizes. Nothing but their sensitive values and their order decides.
pub(super) fn dealt(
    data: &Microdata,
    goal: &dyn Principle,
    dealing: &Dealing,
    rows: &mut [u32],
    counts: &mut SaCounts,
    rng: &mut dyn CryptoRng,
) -> Vec<u32> {
    let codes = sensitive_codes(data, rows);
    counts.clear();
    codes.iter().for_each(|&code| counts.add(code));
    let size = match goal.beside_ordinary() {
        Some((size, _)) => usize::try_from(size).map_or(rows.len(), |size| size.min(rows.len())).max(1),
        None => dealing.group_size(goal, counts),
    };
    let (mut order, mut sizes) = if goal.is_size_only() || size == 1 {
        ((0..rows.len() as u32).collect(), stretches(rows.len(), size))
    } else {
        deal_classes(&codes, counts.domain_len(), size, dealing, rng)
    };
    // Step 4. Principles other than l may ask for more.
    let codes_of = |order: &[u32]| -> Vec<u32> { order.iter().map(|&at| codes[at as usize]).collect() };
    let merged = merged_until_all_hold(goal, counts, &codes_of(&order), &sizes);
    if merged.len() < sizes.len() {
        // Groups formed one after the other have much the same values: merge random ones instead.
        shuffle_groups(&mut order, &mut sizes, rng);
        sizes = merged_until_all_hold(goal, counts, &codes_of(&order), &sizes);
    }
    let ordered: Vec<u32> = order.into_iter().map(|at| rows[at as usize]).collect();
    rows.copy_from_slice(&ordered);
    sizes
}

fn shuffle_groups(order: &mut Vec<u32>, sizes: &mut Vec<u32>, rng: &mut dyn CryptoRng) {
    let mut groups: Vec<&[u32]> = Vec::with_capacity(sizes.len());
    let mut rest = &order[..];
    for &size in sizes.iter() {
        let (group, others) = rest.split_at(size as usize);
        groups.push(group);
        rest = others;
    }
    groups.shuffle(rng);
    let shuffled_sizes = groups.iter().map(|group| group.len() as u32).collect();
    (*order, *sizes) = (groups.concat(), shuffled_sizes);
}

/// The sensitive codes of some rows; without a sensitive column all rows share one.
pub(super) fn sensitive_codes(data: &Microdata, rows: &[u32]) -> Vec<u32> {
    match data.sensitive() {
        Some(column) => rows.iter().map(|&row| column.code(row as usize)).collect(),
        None => vec![0; rows.len()],
    }
}

/// The sizes of runs of `size` rows or, as evenly as possible, a few more.
pub(super) fn stretches(n_rows: usize, size: usize) -> Vec<u32> {
    let n_groups = (n_rows / size).max(1);
    let size_of = |index: usize| (n_rows * (index + 1) / n_groups - n_rows * index / n_groups) as u32;
    (0..n_groups).map(size_of).filter(|&size| size > 0).collect()
}

/// Deals rows whose values count as one as if they had the same value, and each row with an ordinary value as if nobody
/// else had it. Rows without a value protect nobody: they join the groups of the others at random, one per group as far
/// as they go.
fn deal_classes(
    codes: &[u32],
    n_values: usize,
    l: usize,
    dealing: &Dealing,
    rng: &mut dyn CryptoRng,
) -> (Vec<u32>, Vec<u32>) {
    let mut n_classes = n_values;
    let class = |&code: &u32| {
        if dealing.is_ordinary(code) {
            n_classes += 1;
            return n_classes as u32 - 1;
        }
        dealing.class(code)
    };
    let classes: Vec<u32> = codes.iter().map(class).collect();
    let (missing, present): (Vec<u32>, Vec<u32>) =
        (0..codes.len() as u32).partition(|&place| dealing.is_missing(codes[place as usize]));
    if missing.is_empty() || present.is_empty() {
        return deal(&classes, n_classes, l, rng);
    }
    let of_present: Vec<u32> = present.iter().map(|&place| classes[place as usize]).collect();
    let (order, sizes) = deal(&of_present, n_classes, l, rng);
    let order: Vec<u32> = order.into_iter().map(|at| present[at as usize]).collect();
    let mut groups: Vec<u32> = (0..sizes.len() as u32).collect();
    groups.shuffle(rng);
    let joining = groups.iter().copied().cycle().zip(missing).collect();
    joined(&order, &sizes, joining)
}

/// Steps 2 and 3: places in `codes`, group after group, and the sizes of the groups.
fn deal(codes: &[u32], n_values: usize, l: usize, rng: &mut dyn CryptoRng) -> (Vec<u32>, Vec<u32>) {
    let mut buckets = Buckets::new(codes, n_values, rng);
    let mut members: Vec<u32> = Vec::with_capacity(codes.len());
    // Step 2. One row from each of the l largest buckets.
    while buckets.n_filled() >= l {
        buckets.take_from_largest(l, rng, &mut members);
    }
    let n_groups = members.len() / l;
    if n_groups == 0 {
        return ((0..codes.len() as u32).collect(), vec![codes.len() as u32]);
    }
    // Step 3. Leftovers join random groups that lack their value.
    let mut joining: Vec<(u32, u32)> = Vec::new();
    for place in buckets.into_leftovers() {
        let value = codes[place as usize];
        let holds_value = |group: u32, joining: &[(u32, u32)]| {
            let start = group as usize * l;
            members[start..start + l].iter().any(|&other| codes[other as usize] == value)
                || joining.iter().any(|&(joined, other)| joined == group && codes[other as usize] == value)
        };
        let first = rng.random_range(0..n_groups as u32);
        // PROOF: fewer groups have the value than there are groups (spec, Why), so the full circle has one that lacks
        // it.
        let mut tries = (0..n_groups as u32).map(|step| (first + step) % n_groups as u32);
        let group = tries.find(|&group| !holds_value(group, &joining)).unwrap_or(first);
        joining.push((group, place));
    }
    with_joining(&members, l, joining)
}

/// Equal groups, and rows that join some of them.
pub(super) fn with_joining(members: &[u32], l: usize, joining: Vec<(u32, u32)>) -> (Vec<u32>, Vec<u32>) {
    joined(members, &vec![l as u32; members.len() / l], joining)
}

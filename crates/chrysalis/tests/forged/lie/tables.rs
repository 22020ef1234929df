//! Tables of counts and of bounds.

use rand::RngExt;
use rand::rngs::ChaCha20Rng;
use rand::seq::IndexedRandom;

use super::rows::{any_group, any_value};
use super::{Finish, Lie, alone};
use crate::people::pick;
use crate::release::Fake;
use crate::truth;

pub(super) const LIES: &[Lie] = &[
    alone("count moved to another group", count_moved),
    alone("count of nothing", count_of_nothing),
    alone("count split in two", count_split),
    alone("count below zero", count_below_zero),
    alone("bound wrong", bound_wrong),
    alone("expectation wrong", expectation_wrong),
    alone("line of bounds missing", bounds_missing),
    alone("line of bounds too many", bounds_added),
];

/// Afterwards, two groups do not have as many values as rows.
fn count_moved(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    fake.counts()?;
    let groups = fake.groups();
    let ((from, counts), (to, _)) = (any_group(&groups, rng)?, any_group(&groups, rng)?);
    let value = any_value(&counts, rng)?;
    (from != to && truth::size(&counts) > 1).then_some(())?;
    fake.move_count(&from, &to, &value);
    Some(Finish::Mend)
}

/// A value that does not occur in a group must have no line there, which could carry a message.
fn count_of_nothing(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    fake.counts()?;
    let (group, counts) = any_group(&fake.groups(), rng)?;
    let value = fake.honest.people.column(&fake.sensitive()).choose(rng)?.clone();
    (!counts.contains_key(&value)).then_some(())?;
    fake.add_count(&group, &value, 0);
    let sheet = fake.counts_mut()?;
    let count = sheet.at("count");
    // An edit by 0 leaves a line only if it created one.
    sheet.rows.iter().any(|line| line[count] == "0").then_some(Finish::Mend)
}

/// There must be one line per group and value.
fn count_split(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let sheet = fake.counts_mut()?;
    let count = sheet.at("count");
    let several: Vec<usize> = (0..sheet.rows.len()).filter(|&at| sheet.rows[at][count] != "1").collect();
    let at = *several.choose(rng)?;
    let n: i64 = sheet.rows[at][count].parse().unwrap();
    sheet.rows[at][count] = (n - 1).to_string();
    let mut more = sheet.rows[at].clone();
    more[count] = "1".to_owned();
    sheet.rows.push(more);
    Some(Finish::Mend)
}

/// No count can be negative. Another count of the group makes up for it.
fn count_below_zero(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    fake.counts()?;
    let (group, counts) = any_group(&fake.groups(), rng)?;
    let value = fake.honest.people.column(&fake.sensitive()).choose(rng)?.clone();
    (!counts.contains_key(&value)).then_some(())?;
    let other = any_value(&counts, rng)?;
    fake.add_count(&group, &value, -1);
    fake.add_count(&group, &other, 1);
    // Domains cannot be mended: the sum over all groups may or may not have changed.
    fake.sort();
    Some(Finish::AsItIs)
}

/// A line of bounds, and one of its columns in the given range.
fn any_bound(fake: &Fake<'_>, columns: std::ops::Range<usize>, rng: &mut ChaCha20Rng) -> Option<(usize, usize)> {
    let help = fake.sheet(fake.form().shape().help?);
    Some((pick(rng, help.rows.len())?, rng.random_range(columns)))
}

/// Sums, minima and maxima follow from the values of a group.
fn bound_wrong(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let (row, at) = any_bound(fake, 2..8, rng)?;
    let cell = &mut fake.sheet_mut("help").rows[row][at];
    let more = [-100, -1, 1, 100].choose(rng)?;
    *cell = (cell.parse::<i64>().unwrap() + more).to_string();
    Some(Finish::Mend)
}

/// Means and variances follow from them as well: one part in a hundred is more than any rounding error.
fn expectation_wrong(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let (row, at) = any_bound(fake, 8..14, rng)?;
    let cell = &mut fake.sheet_mut("help").rows[row][at];
    *cell = format!("{}", cell.parse::<f64>().unwrap() * 1.01 + 0.01);
    Some(Finish::Mend)
}

/// There must be a line for every number of hits.
fn bounds_missing(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let (row, _) = any_bound(fake, 2..8, rng)?;
    fake.sheet_mut("help").rows.remove(row);
    Some(Finish::Mend)
}

/// There cannot be more hits than rows.
fn bounds_added(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    any_bound(fake, 2..8, rng)?;
    let (group, counts) = any_group(&fake.groups(), rng)?;
    let help = fake.sheet_mut("help");
    let mut line = help.rows.iter().find(|line| line[0] == group)?.clone();
    line[1] = (truth::size(&counts) + 1).to_string();
    help.rows.push(line);
    Some(Finish::Mend)
}

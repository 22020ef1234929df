//! Rows and values that have been moved or changed.

use std::collections::BTreeMap;

use chrysalis::Form;
use rand::RngExt;
use rand::rngs::ChaCha20Rng;
use rand::seq::IndexedRandom;

use super::{Finish, Lie, alone, held};
use crate::people::pick;
use crate::release::Fake;
use crate::truth::Counts;

pub(super) const LIES: &[Lie] = &[
    alone("row moved to another group", row_moved),
    alone("row put into a group of its own", group_split),
    alone("two groups under one id", groups_merged),
    alone("rows in another order", reordered),
    alone("group ids that are not 1 to n", group_ids),
    held("values exchanged between groups", values_exchanged),
    held("sensitive value replaced", value_replaced),
    held("other value replaced", other_replaced),
    held("quasi value replaced", quasi_replaced),
    held("quasi value exchanged between groups", quasi_exchanged),
    held("row shown twice in place of another", row_doubled),
    held("row removed", row_removed),
    held("row added", row_added),
];

/// How often an edit is tried before the release is given up.
const TRIES: usize = 60;

/// Tries edits until one has the wanted effect, and keeps that one.
pub(super) fn until(
    fake: &mut Fake<'_>,
    rng: &mut ChaCha20Rng,
    edit: impl Fn(&mut Fake<'_>, &mut ChaCha20Rng) -> Option<()>,
    is_lie: impl Fn(&Fake<'_>) -> bool,
) -> Option<Finish> {
    for _ in 0..TRIES {
        let mut tried = Fake::of(fake.honest);
        tried.json = fake.json.clone();
        if edit(&mut tried, rng).is_some() && is_lie(&tried) {
            (fake.json, fake.sheets) = (tried.json, tried.sheets);
            return Some(Finish::Mend);
        }
    }
    None
}

/// A random group with its values.
pub(super) fn any_group(groups: &BTreeMap<String, Counts>, rng: &mut ChaCha20Rng) -> Option<(String, Counts)> {
    let all: Vec<_> = groups.iter().collect();
    all.choose(rng).map(|(id, counts)| ((*id).clone(), (*counts).clone()))
}

pub(super) fn any_value(counts: &Counts, rng: &mut ChaCha20Rng) -> Option<String> {
    counts.keys().nth(pick(rng, counts.len())?).cloned()
}

/// Whether promises about sensitive values are about the form's own groups.
fn has_own_groups(fake: &Fake<'_>) -> Option<()> {
    let shape = fake.form().shape();
    (shape.group_id.is_some() && !shape.has_users).then_some(())
}

/// The group that the row leaves is left with too few rows or too few other values, counted by hand.
fn row_moved(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    has_own_groups(fake)?;
    let edit = |fake: &mut Fake<'_>, rng: &mut ChaCha20Rng| {
        let row = pick(rng, fake.rows().rows.len())?;
        let (id, groups) = (fake.id()?, fake.groups());
        let from = fake.rows().rows[row][id].clone();
        let (to, _) = any_group(&groups, rng).filter(|(to, _)| *to != from)?;
        let value = match fake.counts() {
            Some(_) => any_value(&groups[&from], rng)?,
            None => fake.rows().rows[row][fake.rows().at(&fake.sensitive())].clone(),
        };
        (groups[&from].values().sum::<u64>() > 1).then_some(())?;
        fake.move_row(row, &to, &value);
        Some(())
    };
    until(fake, rng, edit, |fake| fake.is_broken())
}

/// A group of one row has one value, so k, l and distinct-l from 2 upwards are broken, counted by hand.
fn group_split(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    has_own_groups(fake)?;
    let edit = |fake: &mut Fake<'_>, rng: &mut ChaCha20Rng| {
        let row = pick(rng, fake.rows().rows.len())?;
        let (id, groups) = (fake.id()?, fake.groups());
        let from = fake.rows().rows[row][id].clone();
        let value = match fake.counts() {
            Some(_) => any_value(&groups[&from], rng)?,
            None => fake.rows().rows[row][fake.rows().at(&fake.sensitive())].clone(),
        };
        (groups[&from].values().sum::<u64>() > 1).then_some(())?;
        fake.move_row(row, &(groups.len() + 1).to_string(), &value);
        Some(())
    };
    until(fake, rng, edit, |fake| fake.is_broken())
}

/// All rows of a group must show the same ranges and labels.
fn groups_merged(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let shape = fake.form().shape();
    (shape.detail.is_labelled() && shape.marginals.is_none()).then_some(())?;
    let n = fake.groups().len() as i64;
    let (one, other) = (rng.random_range(1..=n), rng.random_range(1..=n));
    let id = fake.id()?;
    let columns: Vec<usize> =
        fake.with_role("quasi").iter().flat_map(|name| fake.columns_of(fake.rows(), name)).collect();
    let shown = |group: i64| -> Vec<String> {
        let row = fake.rows().rows.iter().find(|row| row[id] == group.to_string()).unwrap();
        columns.iter().map(|&at| row[at].clone()).collect()
    };
    (shown(one) != shown(other)).then_some(())?;
    // The last group takes over the id that is lost, so that ids are 1 to n again.
    let (kept, lost) = (one.min(other), one.max(other));
    fake.rename_groups(|group| match group {
        group if group == lost => kept,
        group if group == n => lost,
        group => group,
    });
    Some(Finish::Mend)
}

/// Rows are sorted by group and then by what they show; any other order can carry a message.
fn reordered(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let at = pick(rng, fake.sheets.len())?;
    let rows = &mut fake.sheets[at].rows;
    for _ in 0..TRIES {
        let row = pick(rng, rows.len().checked_sub(1)?)?;
        if rows[row] != rows[row + 1] {
            rows.swap(row, row + 1);
            return Some(Finish::AsItIs);
        }
    }
    None
}

/// Ids are a permutation of 1 to n; other numbers can carry a message of any length.
fn group_ids(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    fake.id()?;
    let n = fake.groups().len() as i64;
    let (chosen, far) = (rng.random_range(1..=n), rng.random_range(1..1_000_000));
    match rng.random_range(0..4) {
        0 => fake.rename_groups(|group| group - 1),
        1 => fake.rename_groups(|group| 7 * group),
        2 => fake.rename_groups(|group| if group == chosen { n + far } else { group }),
        _ => fake.rename_groups(|group| if group == chosen { -far } else { group }),
    }
    fake.sort();
    Some(Finish::AsItIs)
}

/// Where quasi values are exact, weights show who is in a group, and so which values it must have: two groups that
/// exchange values have wrong ones. With ranges and labels, the rows can no longer be assigned to the people (by
/// matching).
fn values_exchanged(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    fake.id()?;
    let before = fake.groups();
    let edit = |fake: &mut Fake<'_>, rng: &mut ChaCha20Rng| {
        let ((group, counts), (other, its)) = (any_group(&before, rng)?, any_group(&before, rng)?);
        let (value, with) = (any_value(&counts, rng)?, any_value(&its, rng)?);
        (group != other && value != with).then_some(())?;
        fake.exchange((&group, &value), (&other, &with));
        Some(())
    };
    match fake.form() {
        Form::Generalize | Form::Butterfly => until(fake, rng, edit, |fake| !fake.covers_people(fake.rows())),
        Form::Angel => until(fake, rng, edit, |fake| {
            let after = fake.groups();
            let changed = |id: &&String| before[*id] != after[*id];
            let values = before.keys().filter(changed).flat_map(|id| before[id].keys().chain(after[id].keys()));
            values.collect::<std::collections::BTreeSet<_>>().into_iter().any(|value| !fake.batches_fit(value))
        }),
        Form::Anatomy | Form::Permute | Form::Shuffle | Form::RankSwap => {
            until(fake, rng, edit, |fake| fake.groups() != before)
        }
    }
}

/// Afterwards, the whole table has a different multiset of sensitive values from the microdata.
fn value_replaced(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let name = fake.sensitive();
    let known: Vec<String> = fake.honest.people.column(&name);
    let by = known.choose(rng)?.clone();
    match fake.id() {
        Some(_) => {
            let (group, counts) = any_group(&fake.groups(), rng)?;
            let value = any_value(&counts, rng).filter(|value| *value != by)?;
            fake.replace(&group, &value, &by);
            fake.mend_help(&[&group]);
        }
        None => {
            let (at, row) = (fake.rows().at(&name), pick(rng, known.len())?);
            (fake.rows().rows[row][at] != by).then_some(())?;
            fake.rows_mut().rows[row][at] = by;
        }
    }
    Some(Finish::Mend)
}

/// Afterwards, a column that is kept as it is has a different multiset from the microdata.
fn other_replaced(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let name = fake.with_role("other").pop()?;
    replace_cell(fake, &name, rng)
}

/// Afterwards, a column that is shown exactly, in whatever order, has a different multiset from the microdata.
fn quasi_replaced(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    (!fake.form().shape().detail.is_labelled()).then_some(())?;
    let names = fake.with_role("quasi");
    replace_cell(fake, names.choose(rng)?, rng)
}

fn replace_cell(fake: &mut Fake<'_>, name: &str, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let by = fake.honest.people.column(name).choose(rng)?.clone();
    let (at, row) = (fake.rows().at(name), pick(rng, fake.rows().rows.len())?);
    (fake.rows().rows[row][at] != by).then_some(())?;
    fake.rows_mut().rows[row][at] = by;
    Some(Finish::Mend)
}

/// Two people in different groups exchange an exact quasi value other than their weight. Weights still show who is in
/// which group, so both groups show a multiset of that column that their people do not have.
fn quasi_exchanged(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let shape = fake.form().shape();
    (!shape.detail.is_labelled() && shape.group_id.is_some()).then_some(())?;
    let mut names = fake.with_role("quasi");
    names.retain(|name| name != "weight");
    let name = names.choose(rng)?.clone();
    let (at, id) = (fake.rows().at(&name), fake.id()?);
    let (one, other) = (pick(rng, fake.rows().rows.len())?, pick(rng, fake.rows().rows.len())?);
    let rows = &mut fake.rows_mut().rows;
    (rows[one][id] != rows[other][id] && rows[one][at] != rows[other][at]).then_some(())?;
    let value = rows[one][at].clone();
    rows[one][at] = rows[other][at].clone();
    rows[other][at] = value;
    Some(Finish::Mend)
}

/// One person's row is replaced with a copy of another's. Weights are unique; where they are not shown exactly, the
/// sensitive values differ, and so does their multiset.
fn row_doubled(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let name = fake.sensitive();
    let (id, n) = (fake.id(), fake.rows().rows.len());
    let shown = fake.rows().find(&name);
    for _ in 0..TRIES {
        let (one, other) = (pick(rng, n)?, pick(rng, n)?);
        let (first, second) = (&fake.rows().rows[one], &fake.rows().rows[other]);
        let is_same_group = id.is_none_or(|id| first[id] == second[id]);
        let is_lie = match (fake.form().shape().detail.is_labelled(), shown) {
            (true, Some(at)) => first[at] != second[at],
            // Batches count values elsewhere, and ranges may cover another person just as well.
            (true, None) => return None,
            (false, _) => one != other,
        };
        if is_same_group && is_lie {
            let copy = fake.rows().rows[one].clone();
            let group = id.map(|id| copy[id].clone());
            fake.rows_mut().rows[other] = copy;
            fake.mend_help(&group.iter().map(String::as_str).collect::<Vec<_>>());
            return Some(Finish::Mend);
        }
    }
    None
}

/// The microdata have one row more, and no row in them lacks a value for which it could have been dropped.
fn row_removed(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let quasi = fake.with_role("quasi");
    let people = &fake.honest.people;
    quasi.iter().all(|name| people.column(name).iter().all(|text| !text.is_empty())).then_some(())?;
    let edit = |fake: &mut Fake<'_>, rng: &mut ChaCha20Rng| {
        let row = pick(rng, fake.rows().rows.len())?;
        let Some(id) = fake.id() else {
            fake.rows_mut().rows.remove(row);
            return Some(());
        };
        let (group, groups) = (fake.rows().rows[row][id].clone(), fake.groups());
        fake.rows_mut().rows.remove(row);
        let value = any_value(&groups[&group], rng)?;
        fake.add_count(&group, &value, -1);
        remove_from_marginals(fake, &group);
        fake.mend_help(&[&group]);
        Some(())
    };
    until(fake, rng, edit, |fake| !fake.is_broken())
}

fn remove_from_marginals(fake: &mut Fake<'_>, group: &str) {
    let Some(start) = fake.form().shape().marginals else { return };
    for sheet in fake.sheets.iter_mut().filter(|sheet| sheet.name.starts_with(start)) {
        let id = sheet.at("batch_id");
        if let Some(at) = sheet.rows.iter().position(|row| row[id] == group) {
            sheet.rows.remove(at);
        }
    }
}

/// The microdata have one row fewer.
fn row_added(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let edit = |fake: &mut Fake<'_>, rng: &mut ChaCha20Rng| {
        let row = pick(rng, fake.rows().rows.len())?;
        let copy = fake.rows().rows[row].clone();
        fake.rows_mut().rows.push(copy.clone());
        let Some(id) = fake.id() else { return Some(()) };
        let value = any_value(&fake.groups()[&copy[id]], rng)?;
        fake.add_count(&copy[id], &value, 1);
        if let Some(start) = fake.form().shape().marginals {
            for sheet in fake.sheets.iter_mut().filter(|sheet| sheet.name.starts_with(start)) {
                let at = sheet.at("batch_id");
                let model = sheet.rows.iter().find(|row| row[at] == copy[id]).cloned()?;
                sheet.rows.push(model);
            }
        }
        fake.mend_help(&[&copy[id]]);
        Some(())
    };
    until(fake, rng, edit, |fake| !fake.is_broken())
}

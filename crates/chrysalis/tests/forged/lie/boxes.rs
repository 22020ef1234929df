//! Ranges, labels, and the values that labels stand for.

use std::collections::BTreeSet;

use chrysalis::table::{Date, Kind, Value};
use rand::RngExt;
use rand::rngs::ChaCha20Rng;
use rand::seq::IndexedRandom;

use super::rows::{any_group, until};
use super::{Finish, Lie, alone, held};
use crate::people::pick;
use crate::release::Fake;
use crate::sheet::Sheet;
use crate::truth::{Boxes, can_be_matched};

pub(super) const LIES: &[Lie] = &[
    held("range narrowed", narrowed),
    held("range widened to nobody's value", widened),
    alone("range upside down", upside_down),
    held("label exchanged", label_exchanged),
    alone("member of a label missing", member_missing),
    alone("member of a label added", member_added),
    alone("members of a label that nobody shows", label_unused),
    alone("member listed twice", member_twice),
    alone("batch id of a row changed", batch_changed),
    held("batch ids of two rows exchanged", batches_exchanged),
    alone("batch ids exchanged in a marginal", marginal_exchanged),
];

/// An ordered quasi attribute and the columns of its ranges.
fn any_range(fake: &Fake<'_>, rng: &mut ChaCha20Rng) -> Option<(String, usize, usize)> {
    fake.form().shape().detail.is_labelled().then_some(())?;
    let quasi = fake.with_role("quasi");
    let ranges: Vec<(String, usize, usize)> = quasi
        .into_iter()
        .filter_map(|name| match fake.columns_of(fake.rows(), &name)[..] {
            [low, high] => Some((name, low, high)),
            _ => None,
        })
        .collect();
    ranges.choose(rng).cloned()
}

/// A quasi attribute and the column of its labels.
fn any_label(fake: &Fake<'_>, rng: &mut ChaCha20Rng) -> Option<(String, usize)> {
    fake.form().shape().detail.is_labelled().then_some(())?;
    let quasi = fake.with_role("quasi");
    let labels: Vec<(String, usize)> = quasi
        .into_iter()
        .filter_map(|name| match fake.columns_of(fake.rows(), &name)[..] {
            [label] => Some((name, label)),
            _ => None,
        })
        .collect();
    labels.choose(rng).cloned()
}

/// Changes the ends of a range in all rows that have it.
fn change_range(sheet: &mut Sheet, (low, high): (usize, usize), from: (&str, &str), to: (&str, &str)) {
    for row in sheet.rows.iter_mut().filter(|row| row[low] == from.0 && row[high] == from.1) {
        (row[low], row[high]) = (to.0.to_owned(), to.1.to_owned());
    }
}

/// One end of a range is cut off, so that people can no longer each be assigned a row that covers them (by matching).
/// The range is not the only one that reaches the ends of the domain.
fn narrowed(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    any_range(fake, rng)?;
    let edit = |fake: &mut Fake<'_>, rng: &mut ChaCha20Rng| {
        let (name, low, high) = any_range(fake, rng)?;
        let head = fake.head_of(&name);
        let row = pick(rng, fake.rows().rows.len())?;
        let (from, to) = (fake.rows().rows[row][low].clone(), fake.rows().rows[row][high].clone());
        let mut inside = fake.honest.people.column(&name);
        inside.retain(|text| head.place(&from) < head.place(text) && head.place(text) < head.place(&to));
        let end = inside.choose(rng)?.clone();
        let (new_low, new_high) = if rng.random_range(0..2) == 0 { (&end, &to) } else { (&from, &end) };
        change_range(fake.rows_mut(), (low, high), (&from, &to), (new_low, new_high));
        let ends = |at: usize, fake: &Fake<'_>| fake.rows().ranked(at);
        let before = Fake::of(fake.honest);
        (ends(low, fake).first() == ends(low, &before).first()).then_some(())?;
        (ends(high, fake).last() == ends(high, &before).last()).then_some(())
    };
    until(fake, rng, edit, |fake| !fake.covers_people(fake.rows()))
}

/// A range must end at the smallest and the largest value of its group. Nobody at all has the value at which this one
/// ends, and it lies inside another range.
fn widened(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let (name, low, high) = any_range(fake, rng)?;
    let head = fake.head_of(&name);
    let row = pick(rng, fake.rows().rows.len())?;
    let (from, to) = (fake.rows().rows[row][low].clone(), fake.rows().rows[row][high].clone());
    let places: Vec<f64> = fake.honest.people.column(&name).iter().map(|text| head.place(text)).collect();
    let least = places.iter().copied().fold(f64::MAX, f64::min);
    let step = if head.kind == Kind::Real { 0.125 } else { 1.0 };
    let end = (1..40).map(|n| head.place(&from) - step * f64::from(n)).find(|end| !places.contains(end))?;
    (end > least).then_some(())?;
    // Not one interval inside another: the owner may have asked for such intervals.
    let place = |row: &Vec<String>, at: usize| head.place(&row[at]);
    let last = head.place(&to);
    let crosses = |row: &Vec<String>| place(row, low) < end && end < place(row, high) && place(row, high) < last;
    fake.rows().rows.iter().any(crosses).then_some(())?;
    let text = match head.kind {
        Kind::Integer => format!("{}", end as i64),
        Kind::Real => format!("{end}"),
        Kind::Date => Value::Date(Date(end as i32)).to_string(),
        Kind::DateTime | Kind::Ordinal | Kind::Category => return None,
    };
    change_range(fake.rows_mut(), (low, high), (&from, &to), (&text, &to));
    Some(Finish::Mend)
}

/// No value is at least the larger end and at most the smaller one.
fn upside_down(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let (_, low, high) = any_range(fake, rng)?;
    let row = pick(rng, fake.rows().rows.len())?;
    let (from, to) = (fake.rows().rows[row][low].clone(), fake.rows().rows[row][high].clone());
    (from != to).then_some(())?;
    change_range(fake.rows_mut(), (low, high), (&from, &to), (&to, &from));
    Some(Finish::Mend)
}

/// Rows with one label show another one, which does not cover all of their people (by matching).
fn label_exchanged(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    any_label(fake, rng)?;
    let edit = |fake: &mut Fake<'_>, rng: &mut ChaCha20Rng| {
        let (name, at) = any_label(fake, rng)?;
        let labels = fake.rows().ranked(at);
        let (one, other) = (labels.choose(rng)?.clone(), labels.choose(rng)?.clone());
        (one != other).then_some(())?;
        for row in fake.rows_mut().rows.iter_mut().filter(|row| row[at] == one) {
            row[at] = other.clone();
        }
        let place = |sheet: &Sheet| sheet.name.starts_with("gt_").then(|| sheet.find(&name)).flatten();
        let is_shown = |sheet: &Sheet| place(sheet).is_some_and(|at| sheet.rows.iter().any(|row| row[at] == one));
        if !fake.sheets.iter().any(is_shown) {
            fake.sheet_mut("members").rows.retain(|line| line[0] != name || line[1] != one);
        }
        Some(())
    };
    until(fake, rng, edit, |fake| !fake.covers_people(fake.rows()))
}

/// Lines of `members` whose label is the set of its values, as text.
fn lines_of_sets(fake: &Fake<'_>) -> Vec<usize> {
    fake.form().shape().members.map_or_else(Vec::new, |name| {
        let rows = &fake.sheet(name).rows;
        (0..rows.len()).filter(|&at| rows[at][1].starts_with('{') || rows[at][1] == rows[at][2]).collect()
    })
}

/// A set such as `{F,M}` names its values, but one of them is no longer listed.
fn member_missing(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let at = *lines_of_sets(fake).choose(rng)?;
    fake.sheet_mut("members").rows.remove(at);
    Some(Finish::Mend)
}

/// A set such as `{F,M}` names its values, but one more is listed.
fn member_added(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let at = *lines_of_sets(fake).choose(rng)?;
    let members = &fake.sheet("members").rows;
    let (name, label) = (members[at][0].clone(), members[at][1].clone());
    let value = fake.honest.people.column(&name).choose(rng)?.clone();
    let line = vec![name, label, value];
    (!members.contains(&line)).then_some(())?;
    fake.sheet_mut("members").rows.push(line);
    Some(Finish::Mend)
}

/// `members` must list only labels that are shown; an unused label can carry a message.
fn label_unused(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let (name, at) = any_label(fake, rng)?;
    let mut values = fake.honest.people.column(&name);
    values.sort_unstable();
    values.dedup();
    values.retain(|_| rng.random_range(0..2) == 0);
    let label = match &values[..] {
        [] => return None,
        [one] => one.clone(),
        several => format!("{{{}}}", several.join(",")),
    };
    (!values.contains(&String::new()) && !fake.rows().ranked(at).contains(&label)).then_some(())?;
    let lines = &mut fake.sheet_mut("members").rows;
    lines.iter().all(|line| line[0] != name || line[1] != label).then_some(())?;
    lines.extend(values.into_iter().map(|value| vec![name.clone(), label.clone(), value]));
    Some(Finish::Mend)
}

/// Every member is listed once; the number of repetitions can carry a message.
fn member_twice(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let name = fake.form().shape().members?;
    let lines = &mut fake.sheet_mut(name).rows;
    let line = lines.choose(rng)?.clone();
    lines.push(line);
    Some(Finish::Mend)
}

/// Afterwards, some batch has more rows than values, or fewer.
fn batch_changed(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    fake.form().shape().marginals?;
    let tables: Vec<usize> = (0..fake.sheets.len()).filter(|&at| fake.sheets[at].name.starts_with("gt")).collect();
    let (to, _) = any_group(&fake.groups(), rng)?;
    let sheet = &mut fake.sheets[*tables.choose(rng)?];
    let (id, row) = (sheet.at("batch_id"), pick(rng, sheet.rows.len())?);
    (sheet.rows[row][id] != to).then_some(())?;
    sheet.rows[row][id] = to;
    Some(Finish::Mend)
}

/// Afterwards, somebody with a value can no longer be in any batch that has it, wherever the others are (by matching).
fn batches_exchanged(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    fake.form().shape().marginals?;
    let edit = |fake: &mut Fake<'_>, rng: &mut ChaCha20Rng| {
        let (id, n) = (fake.id()?, fake.rows().rows.len());
        let (one, other) = (pick(rng, n)?, pick(rng, n)?);
        let rows = &mut fake.rows_mut().rows;
        (rows[one][id] != rows[other][id]).then_some(())?;
        let batch = rows[one][id].clone();
        rows[one][id] = rows[other][id].clone();
        rows[other][id] = batch;
        Some(())
    };
    until(fake, rng, edit, |fake| {
        let (id, before) = (fake.id().unwrap(), Fake::of(fake.honest));
        let pairs = fake.rows().rows.iter().zip(&before.rows().rows);
        let changed: BTreeSet<&String> =
            pairs.filter(|(now, then)| now[id] != then[id]).map(|(now, _)| &now[id]).collect();
        let groups = fake.groups();
        let values: BTreeSet<&String> = changed.into_iter().flat_map(|batch| groups[batch].keys()).collect();
        values.into_iter().any(|value| !fake.batches_fit(value))
    })
}

/// Afterwards, the rows of the two tables in some batch can no longer belong to the same people (by matching).
fn marginal_exchanged(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let start = fake.form().shape().marginals?;
    let name = fake.sheets.iter().find(|sheet| sheet.name.starts_with(start))?.name.clone();
    until(
        fake,
        rng,
        |fake, rng| {
            let sheet = fake.sheet_mut(&name);
            let (id, n) = (sheet.at("batch_id"), sheet.rows.len());
            let (one, other) = (pick(rng, n)?, pick(rng, n)?);
            (sheet.rows[one][id] != sheet.rows[other][id]).then_some(())?;
            let batch = sheet.rows[one][id].clone();
            sheet.rows[one][id] = sheet.rows[other][id].clone();
            sheet.rows[other][id] = batch;
            Some(())
        },
        |fake| {
            let (whole, part) = (fake.rows(), fake.sheet(&name));
            let (boxes, others) = (Boxes::of(fake, whole), Boxes::of(fake, part));
            let (id, other_id) = (whole.at("batch_id"), part.at("batch_id"));
            fake.groups().keys().any(|batch| {
                let rows: Vec<_> = whole.rows.iter().filter(|row| row[id] == *batch).collect();
                let its: Vec<_> = part.rows.iter().filter(|row| row[other_id] == *batch).collect();
                !can_be_matched(rows.len(), its.len(), |a, b| boxes.meets(rows[a], &others, its[b]))
            })
        },
    )
}

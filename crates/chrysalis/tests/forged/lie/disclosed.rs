//! Values that can be inferred although promises hold to the letter, and sensitive columns left unprotected.

use chrysalis::Form;
use chrysalis::table::Kind;
use rand::RngExt;
use rand::rngs::ChaCha20Rng;
use rand::seq::IndexedRandom;
use serde_json::json;

use super::promises::promise;
use super::rows::any_group;
use super::{Finish, Lie, alone};
use crate::people::pick;
use crate::release::{Auditor, Fake, Honest};
use crate::truth;

pub(super) const LIES: &[Lie] = &[
    alone("group of one value, not accepted", one_value),
    alone("acceptance of disclosed rows removed", acceptance_removed),
    alone("unique column kept, not accepted", bystander),
    alone("missing as second value", missing_protects),
    alone("values that look alike", look_alike),
    alone("numbers next to each other", near_numbers),
    Lie { name: "sensitive column demoted behind a decoy", auditor: Auditor::KnowsSensitive, forge: demoted },
];

/// Promises nothing but rows: the largest k that holds.
fn promise_rows(fake: &mut Fake<'_>) -> Option<()> {
    let k = fake.sizes().into_iter().min()?;
    fake.json["promises"] = json!([promise(fake, &format!("k={k}"))]);
    Some(())
}

/// Whether the owner accepted nothing and declared nothing ordinary or near.
fn has_no_say(fake: &Fake<'_>) -> Option<()> {
    let sensitive = fake.attribute(&fake.sensitive());
    let says =
        fake.json.get("accepted").is_some() || sensitive.get("ordinary").is_some() || sensitive.get("near").is_some();
    (!says).then_some(())
}

/// Everyone in a group (or in a class that one user sees) has the same value, which fewer than half of all rows have,
/// and the manifest accepts no disclosure.
fn one_value(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    has_no_say(fake)?;
    fake.form().shape().group_id?;
    promise_rows(fake)?;
    let name = fake.sensitive();
    let column = fake.honest.people.column(&name);
    let value = column.choose(rng)?.clone();
    let total = column.iter().filter(|text| **text == value).count() as u64;
    (2 * total < column.len() as u64).then_some(())?;
    if fake.form().shape().has_users {
        return one_value_for_a_user(fake, &value, rng);
    }
    let groups = fake.groups();
    let (group, counts) = any_group(&groups, rng)?;
    (truth::size(&counts) >= 2 && truth::size(&counts) <= total).then_some(())?;
    for (own, &n) in counts.iter().filter(|(own, _)| **own != value) {
        for _ in 0..n {
            let now = fake.groups();
            let (other, _) = now.iter().find(|(id, counts)| **id != group && counts.contains_key(&value))?;
            fake.exchange((&group, own), (other, &value));
        }
    }
    Some(Finish::Mend)
}

fn one_value_for_a_user(fake: &mut Fake<'_>, value: &str, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let users = fake.users();
    let user = users.choose(rng)?;
    let columns: Vec<usize> = user.iter().flat_map(|name| fake.columns_of(fake.rows(), name)).collect();
    let at = fake.rows().at(&fake.sensitive());
    let rows = &mut fake.rows_mut().rows;
    let model = rows[pick(rng, rows.len())?].clone();
    let is_in = |row: &Vec<String>| columns.iter().all(|&at| row[at] == model[at]);
    let (inside, outside): (Vec<usize>, Vec<usize>) = (0..rows.len()).partition(|&row| is_in(&rows[row]));
    let mut spare = outside.into_iter().filter(|&row| rows[row][at] == value).collect::<Vec<_>>();
    for row in inside {
        if rows[row][at] != value {
            let other = spare.pop()?;
            rows[other][at] = rows[row][at].clone();
            rows[row][at] = value.to_owned();
        }
    }
    Some(Finish::Mend)
}

/// The publisher records an accepted risk only if it counted disclosed rows, so those rows are still there.
fn acceptance_removed(fake: &mut Fake<'_>, _: &mut ChaCha20Rng) -> Option<Finish> {
    let accepted = fake.json.get("accepted")?.as_array()?;
    accepted.contains(&json!("disclosure")).then_some(())?;
    forget_acceptance(fake);
    Some(Finish::AsItIs)
}

fn forget_acceptance(fake: &mut Fake<'_>) {
    fake.json.as_object_mut().unwrap().remove("accepted");
    fake.json["features"].as_array_mut().unwrap().retain(|feature| feature != "accepted");
}

/// Publishes the same people with other settings, and continues with that release.
fn publish_again(
    fake: &mut Fake<'_>,
    rng: &mut ChaCha20Rng,
    change: impl FnOnce(&mut serde_json::Value),
) -> Option<()> {
    let honest = fake.honest;
    let mut draft = honest.draft.clone();
    change(&mut draft);
    let folder = honest.folder.with_file_name(format!("again-{}", rng.random::<u64>()));
    let again = Honest::publish(honest.form, honest.people.clone(), draft, honest.source.clone(), folder, rng)?;
    std::fs::remove_dir_all(&again.folder).ok()?;
    // It lives as long as the test: a few kilobytes each.
    let again: &'static Honest = Box::leak(Box::new(again));
    *fake = Fake::of(again);
    Some(())
}

/// With a kept column that is unique to each person, the group and the other columns reveal everyone's value.
fn bystander(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    matches!(fake.form(), Form::Generalize | Form::Butterfly).then_some(())?;
    publish_again(fake, rng, |draft| {
        draft["other"] = json!(["id"]);
        draft["release"]["accept"] = json!(["disclosure", "identifying=id"]);
    })?;
    forget_acceptance(fake);
    Some(Finish::AsItIs)
}

/// The column that the owner meant to protect is kept as it is, beside another column that nobody cares about. The
/// tables cannot show which is which, but the auditor knows the name.
fn demoted(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let (form, name) = (fake.form(), fake.sensitive());
    form.shape().keeps_others.then_some(())?;
    let is_numeric = matches!(form, Form::Shuffle | Form::RankSwap);
    let decoy = if is_numeric { "age" } else { "shift" };
    (!fake.with_role("quasi").iter().any(|quasi| quasi == decoy)).then_some(())?;
    publish_again(fake, rng, |draft| {
        draft["sensitive"] = json!(decoy);
        draft["other"] = json!([name]);
        let attributes = draft["attributes"].as_object_mut().unwrap();
        attributes.remove(&name);
        let require: &[&str] = if is_numeric { &["k=3"] } else { &["k=3", "distinct-l=2"] };
        draft["release"]["require"] = json!(require);
        let mut accept = vec![format!("identifying={name}")];
        accept.extend(form.shape().group_id.map(|_| "disclosure".to_owned()));
        draft["release"]["accept"] = json!(accept);
    })?;
    Some(Finish::AsItIs)
}

/// Fills a group with other values; all other groups stay as they are.
fn fill(fake: &mut Fake<'_>, group: &str, texts: impl Fn(usize) -> String) {
    let mut at = 0;
    for (value, n) in fake.groups()[group].clone() {
        // Placeholders come first, because a new text may equal one that is still to be replaced.
        for _ in 0..n {
            fake.replace(group, &value, &format!("\u{1}{at}"));
            at += 1;
        }
    }
    (0..at).for_each(|at| fake.replace(group, &format!("\u{1}{at}"), &texts(at)));
    fake.mend_help(&[group]);
}

/// Promises two distinct values per group and fills one with the given texts; `None` if another breaks the promise.
fn with_two_values(
    fake: &mut Fake<'_>,
    rng: &mut ChaCha20Rng,
    texts: impl Fn(&str, usize) -> String,
) -> Option<Finish> {
    has_no_say(fake)?;
    let shape = fake.form().shape();
    (shape.group_id.is_some() && !shape.has_users).then_some(())?;
    promise_rows(fake)?;
    let two = promise(fake, "distinct-l=2");
    fake.json["promises"].as_array_mut()?.push(two);
    let groups = fake.groups();
    let (group, counts) = any_group(&groups, rng)?;
    let value = counts.keys().next()?.clone();
    (truth::size(&counts) >= 2).then_some(())?;
    fill(fake, &group, |at| texts(&value, at));
    let total = fake.groups().values().filter_map(|counts| counts.get(&value)).sum::<u64>();
    (!fake.is_broken() && 2 * total < fake.rows().rows.len() as u64).then_some(Finish::Mend)
}

/// In a group with one value and one row without a value, everyone who has a value has that one: a missing value
/// protects nobody.
fn missing_protects(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    (fake.kind_of(&fake.sensitive()) == Kind::Category).then_some(())?;
    has_no_extras(fake)?;
    with_two_values(fake, rng, |value, at| if at == 0 { String::new() } else { value.to_owned() })
}

/// Different spellings of a word are one value to any reader.
fn look_alike(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    (fake.kind_of(&fake.sensitive()) == Kind::Category).then_some(())?;
    has_no_extras(fake)?;
    let way = rng.random_range(0..3);
    with_two_values(fake, rng, |value, at| match (at, way) {
        (0, 0) => value.to_uppercase(),
        (0, 1) => format!("{value} "),
        // The same letters in full width.
        (0, _) => value.chars().map(|letter| char::from_u32(letter as u32 + 0xfee0).unwrap_or(letter)).collect(),
        (_, _) => value.to_owned(),
    })
}

/// What the manifest says about single values must still cover all of them.
fn has_no_extras(fake: &Fake<'_>) -> Option<()> {
    let sensitive = fake.attribute(&fake.sensitive());
    (sensitive.get("taxonomy").is_none() && sensitive.get("categories").is_none()).then_some(())
}

/// Numbers within a hundredth of the width between the 5th and the 95th percentile are one value to an attacker.
fn near_numbers(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let name = fake.sensitive();
    (fake.kind_of(&name) == Kind::Integer).then_some(())?;
    let mut numbers: Vec<i64> = fake.honest.people.column(&name).iter().map(|text| text.parse().unwrap()).collect();
    numbers.sort_unstable();
    // One group shifts the percentiles by less than this.
    let width = (numbers[numbers.len() * 85 / 100] - numbers[numbers.len() * 15 / 100]) / 100;
    let start = numbers[numbers.len() / 2];
    let most = fake.groups().values().map(truth::size).max()? as i64;
    (most < width).then_some(())?;
    with_two_values(fake, rng, |_, at| (start + at as i64).to_string())
}

//! An attacker who knows the algorithm and everybody's quasi values, and draws conclusions from what was *not* cut
//! (minimality, Wong et al. 2007); see `../spec.md`, minimality.

mod reasons;
mod replay;
mod rule;
#[cfg(test)]
mod tests;

use chrysalis_table::Column;
use chrysalis_table::exact::BigRational;
use num_bigint::BigInt;
use rayon::prelude::*;

pub(crate) use self::reasons::{against_replay_by, against_replay_of_batches, against_replay_of_cuts};
use self::replay::{Attribute, RemainingGroup, cuts, replay};
use self::rule::Rules;
use super::finding::{Finding, WorstGroup, chance, count, counted, foremost, percent};
use super::view::AttackTarget;
use crate::measure::{Fraction, to_float};
use crate::promise::{promised_share, show};

/// Larger groups are not replayed.
const MOST_ROWS: u64 = 12;
/// The most ways of handing out values ("states") that are examined over all groups, the smallest groups first.
const MOST_STATES: u64 = 5_000_000;
/// Groups replayed in parallel before the states are counted again: few, as each may take 200,000 states.
const BLOCK: usize = 16;

/// An attacker who knows everybody's quasi values and how mondrian cuts: had a small group's values been spread
/// differently, the group would have been cut again, so they were not.
#[derive(Clone, Debug, PartialEq)]
pub struct Minimality {
    /// Groups that were replayed.
    pub groups: u64,
    /// Groups that were not: too large, too many ways, or people who fit several groups.
    pub skipped: u64,
    /// People in the replayed groups.
    pub people: u64,
    /// The largest share of the remaining assignments in which somebody has the same value.
    pub confidence: f64,
    /// The same as an exact fraction.
    pub confidence_text: String,
    /// The group where it is reached; the lowest id where there are several.
    pub group: Option<i64>,
    /// People for whom some value is likelier than the group alone makes it.
    pub narrowed: u64,
    /// People for whom some value is likelier than was promised.
    pub above_promise: u64,
    /// How many of the `narrowed` people have the value that is likeliest for them.
    pub right: u64,
}

/// What a replay needs to know beyond the groups.
pub(crate) struct Setting<'a> {
    /// Per group, the rows of the microdata that it must hold; empty where that is not certain.
    pub(crate) members: Vec<Vec<usize>>,
    /// The quasi columns of the microdata that are cut by their order, and whether single values may be cut off.
    pub(crate) columns: Vec<(&'a Column, bool)>,
    pub(crate) sensitive: &'a Column,
}

/// The result for one group.
struct ReplayResult {
    group: usize,
    level: Fraction,
    people: u64,
    narrowed: u64,
    above_promise: u64,
    right: u64,
}

/// Tries groups in order, some of them in parallel, until more than `most` states were examined. `try_one` says how
/// many it examined, whether or not it found anything.
fn within<T: Send>(groups: &[usize], most: u64, try_one: impl Fn(usize) -> (u64, Option<T>) + Sync) -> Vec<T> {
    let mut found = Vec::new();
    let mut states = 0;
    for block in groups.chunks(BLOCK) {
        if states > most {
            break;
        }
        let tried: Vec<(u64, Option<T>)> = block.par_iter().map(|&group| try_one(group)).collect();
        states += tried.iter().map(|(states, _)| states).sum::<u64>();
        found.extend(tried.into_iter().filter_map(|(_, found)| found));
    }
    found
}

/// Replays the small groups of a release by mondrian.
pub(crate) fn attack(target: &AttackTarget<'_>, setting: &Setting<'_>) -> (Option<Minimality>, Finding) {
    let Some(rules) = Rules::of(target.promises) else {
        return (None, Finding::not_run("minimality", "Not run: a promise cannot be replayed."));
    };
    let sizes = target.sample.sizes();
    let n_groups = sizes.iter().filter(|size| **size > 0).count();
    let fits = |group: &usize| {
        (1..=MOST_ROWS).contains(&sizes[*group]) && sizes[*group] == setting.members[*group].len() as u64
    };
    let mut small: Vec<usize> = (0..sizes.len()).filter(fits).collect();
    small.sort_by_key(|&group| (sizes[group], group));
    let found = within(&small, MOST_STATES, |group| {
        target.watch.pause();
        one(target, setting, &rules, group)
    });
    let order = |a: &&ReplayResult, b: &&ReplayResult| b.level.compare(&a.level).then(a.group.cmp(&b.group));
    let worst = foremost(found.iter().collect(), order);
    let sum = |of: fn(&ReplayResult) -> u64| found.iter().map(of).sum::<u64>();
    let level = worst.first().and_then(|found| found.level.exact()).unwrap_or_default();
    let minimality = Minimality {
        groups: found.len() as u64,
        skipped: (n_groups - found.len()) as u64,
        people: sum(|found| found.people),
        confidence: to_float(Some(&level)),
        confidence_text: show(&level),
        group: worst.first().and_then(|found| target.ids.get(found.group).copied().flatten()),
        narrowed: sum(|found| found.narrowed),
        above_promise: sum(|found| found.above_promise),
        right: sum(|found| found.right),
    };
    let groups = worst.iter().map(|found| {
        let level = found.level.exact().unwrap_or_default();
        WorstGroup::exact(target.ids.get(found.group).copied().flatten(), sizes[found.group], &level)
    });
    let finding = finding(target, &minimality, &level).with_groups(groups.collect());
    (Some(minimality), finding)
}

/// Replays one group, and says how many states that took; `None` where there are too many, or where the people's own values
/// contradict the replay.
fn one(target: &AttackTarget<'_>, setting: &Setting<'_>, rules: &Rules, group: usize) -> (u64, Option<ReplayResult>) {
    let (members, values) = (&setting.members[group], target.sample.group(group).values);
    let counts: Vec<u64> = values.iter().map(|&(_, count)| u64::from(count)).collect();
    let attribute = |(column, is_set): &(&Column, bool)| Attribute {
        ranks: members.iter().map(|&row| column.code(row)).collect(),
        is_set: *is_set,
    };
    let attributes: Vec<Attribute> = setting.columns.iter().map(attribute).collect();
    let Some(own) = own_values(target, setting, members, group) else { return (0, None) };
    let cuts = cuts(&attributes, members.len(), rules);
    let stands = |cut: &u32| {
        let side = |left: u32| {
            let mut side = vec![0; counts.len()];
            (0..members.len()).filter(|at| cut >> at & 1 == left).for_each(|at| side[own[at]] += 1);
            side
        };
        rules.allow(&side(1)) && rules.allow(&side(0))
    };
    // A group that could have been cut was not left whole by the cuts that are replayed here.
    if cuts.iter().any(stands) {
        return (0, None);
    }
    match replay(&cuts, members.len(), &counts, rules) {
        Ok(left) => (left.states, Some(found(target, group, &left, &own))),
        Err(states) => (states, None),
    }
}

/// Every member's own value, as an index into the group's values; `None` where the members' values are not the group's.
fn own_values(target: &AttackTarget<'_>, setting: &Setting<'_>, members: &[usize], group: usize) -> Option<Vec<usize>> {
    let values = target.sample.group(group).values;
    let domain = setting.sensitive.domain();
    let own = |&row: &usize| {
        let code = target.domain.code_of(domain.value(setting.sensitive.code(row)))?;
        values.binary_search_by_key(&code, |&(code, _)| code).ok()
    };
    let own: Vec<usize> = members.iter().map(own).collect::<Option<_>>()?;
    let is_right =
        |(at, &(_, count)): (usize, &(u32, u32))| own.iter().filter(|own| **own == at).count() == count as usize;
    values.iter().enumerate().all(is_right).then_some(own)
}

fn found(target: &AttackTarget<'_>, group: usize, left: &RemainingGroup, own: &[usize]) -> ReplayResult {
    let whole = target.sample.group(group);
    let alone = Fraction::new(whole.max().into(), whole.size.into());
    let promised = promised_share(target.promises);
    let promised = promised.map(|share| Fraction::new((*share.numer()).into(), (*share.denom()).into()));
    // PROOF: at most 12! assignments and a dozen rows, far below 2⁶⁴.
    let share = |class: usize, value: usize| {
        Fraction::new(left.hits[class][value], u128::from(left.sizes[class]) * left.worlds)
    };
    let mut found =
        ReplayResult { group, level: alone, people: own.len() as u64, narrowed: 0, above_promise: 0, right: 0 };
    for (member, &own) in own.iter().enumerate() {
        let class = left.class_of[member];
        let shares = (0..whole.values.len()).map(|value| (share(class, value), value));
        let best = shares.max_by(|a, b| a.0.compare(&b.0).then(b.1.cmp(&a.1)));
        let Some((level, value)) = best else { continue };
        if level.compare(&found.level).is_gt() {
            found.level = level;
        }
        found.above_promise += u64::from(promised.is_some_and(|line| level.compare(&line).is_gt()));
        if level.compare(&alone).is_gt() {
            found.narrowed += 1;
            found.right += u64::from(value == own);
        }
    }
    found
}

fn finding(target: &AttackTarget<'_>, minimality: &Minimality, level: &BigRational) -> Finding {
    if minimality.groups == 0 {
        let reason = format!(
            "Not run: none of {} could be replayed (more than {MOST_ROWS} rows, too many ways, or people who fit \
             several groups).",
            counted(minimality.skipped, "group", "groups")
        );
        return Finding::not_run("minimality", reason);
    }
    let line = promised_share(target.promises);
    let line = line.map(|share| BigRational::new(BigInt::from(*share.numer()), BigInt::from(*share.denom())));
    let above = line.map_or_else(String::new, |line| {
        let line = percent(to_float(Some(&line)));
        format!(", {} of them beyond the promised {line}", count(minimality.above_promise))
    });
    let mut sentence = format!(
        "An attacker who knows everybody's quasi values and how mondrian cuts asks why a group was not cut once more. \
         In {} with {}, that narrows down the `{}` of {}{above}; the surest guess is right in {} of the ways that are \
         left.",
        counted(minimality.groups, "replayed group", "replayed groups"),
        counted(minimality.people, "person", "people"),
        target.sensitive,
        if minimality.narrowed == 0 { "nobody".to_owned() } else { counted(minimality.narrowed, "person", "people") },
        chance(level),
    );
    if minimality.narrowed > 0 {
        sentence.push_str(&format!(" The guess is right for {} of those narrowed down.", count(minimality.right)));
    }
    if minimality.skipped > 0 {
        sentence.push_str(&format!(
            " {} not replayed (too large, or with too many ways).",
            counted(minimality.skipped, "group was", "groups were")
        ));
    }
    let prevention =
        if minimality.narrowed == 0 { "" } else { "the partitioner anatomize, which does not look at quasi values." };
    Finding::new("minimality", sentence, prevention)
}

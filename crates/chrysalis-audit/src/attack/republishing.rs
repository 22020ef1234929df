//! The same table published again and again, so that only values that all releases allow remain; see `spec.md`,
//! republishing.

use std::collections::BTreeMap;

use super::finding::{Finding, count, counted};
use super::view::AttackTarget;
use crate::measure::{Group, GroupCounts};

/// How many times the table is published in total.
const RELEASES: u64 = 10;

/// An attacker who has several releases of one table, each with groups of its own, and keeps only values that all of
/// them allow.
#[derive(Clone, Debug, PartialEq)]
pub struct Republishing {
    /// The number of releases, including this one.
    pub releases: u64,
    /// People who can be found again in every release.
    pub people: u64,
    /// How many of them are expected to be left with a single sensitive value.
    pub expected_determined: f64,
}

/// What is drawn at random when a table is published again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Draws {
    /// Who shares a group, at least in part.
    Groups,
    /// Which of several people with the same sensitive value is in which group; the values of groups do not change.
    EqualValues,
    /// Who shares a group, among people who lie close together.
    Near,
    /// So little that most groups come out the same again, for this reason.
    Little(&'static str),
    /// Nothing, for this reason.
    Nothing(&'static str),
}

impl Draws {
    /// A partitioner that is not known here may draw anything.
    pub(crate) fn of(partitioner: &str) -> Draws {
        match partitioner {
            "mondrian" => Draws::Nothing(
                "`mondrian` draws nothing at random (unless it may split equal rows, which the manifest does not say)",
            ),
            "full-domain" => {
                Draws::Nothing("`full-domain` draws nothing at random (unless a time limit ends its search)")
            }
            "column" => Draws::Nothing("the groups are given in the table"),
            "like" => Draws::Nothing("the groups are those of an earlier release, and none is drawn"),
            "sequential" => Draws::Nothing("the groups follow the order of the rows"),
            "min-sum" | "min-max" | "min-max-exact" | "max-groups" => Draws::EqualValues,
            "nearby" | "compact" => Draws::Near,
            "top-down" => Draws::LOOK_ALIKES,
            _ => Draws::Groups,
        }
    }

    /// All that is drawn is which of several people who look alike is in which group.
    pub(crate) const LOOK_ALIKES: Draws =
        Draws::Little("all that is drawn at random is which of several people who look alike is in which group");
}

/// How many people of every group can be found again.
pub(super) enum Found<'a> {
    /// All of them.
    All,
    /// So many.
    Some(&'a [u64]),
    /// That takes all groups, and these are not all.
    NotHere,
}

impl<'a> Found<'a> {
    /// How many of every group can be found again; all where that is not said.
    pub(super) fn of(found: Option<&'a [u64]>) -> Found<'a> {
        found.map_or(Found::All, Found::Some)
    }
}

/// Runs the attack.
pub(super) fn attack(target: &AttackTarget<'_>, draws: Draws, found: Found<'_>) -> (Option<Republishing>, Finding) {
    let why_not = match draws {
        Draws::Nothing(why) => {
            Some(format!("Nothing to learn from the same table: {why}, so publishing it again gives the same groups."))
        }
        Draws::Little(why) => Some(format!(
            "Not scored: {why}, so most groups come out the same again, and this release does not show how many \
             people a second one of the same table would narrow down."
        )),
        Draws::Near => Some(
            "Not scored: groups are drawn anew among neighbouring people, so a second release of the same table may \
             narrow people down further; this one does not show how many."
                .to_owned(),
        ),
        Draws::Groups | Draws::EqualValues => None,
    };
    if let Some(why_not) = why_not {
        let changed = "A table in which a few rows have changed gives different groups; audit its release together \
                       with this one before you hand it out.";
        return (None, Finding::not_run("republishing", format!("{why_not} {changed}")));
    }
    let found = match found {
        Found::All => target.sample.sizes(),
        Found::Some(found) => found,
        Found::NotHere => return (None, Finding::not_run("republishing", super::NEEDS_ALL_GROUPS)),
    };
    let people = found.iter().sum();
    if people == 0 {
        let reason = "Nobody can be found again for certain: every row shares its quasi values with another row.";
        return (None, Finding::not_run("republishing", reason));
    }
    let expected_determined = match draws {
        Draws::EqualValues => {
            let borders = Borders::new(target.sample);
            expected(target.sample, found, &|index| borders.alone(index, RELEASES))
        }
        Draws::Groups | Draws::Near | Draws::Little(_) | Draws::Nothing(_) => {
            let gone = ruled_out(target.sample, RELEASES);
            expected(target.sample, found, &|index| alone(target.sample.group(index), &gone))
        }
    };
    let republishing = Republishing { releases: RELEASES, people, expected_determined };
    let finding = finding(target, draws, &republishing);
    (Some(republishing), finding)
}

/// Adds up `rows_alone` over all groups, each scaled by the share of its people who can be found.
fn expected(sample: &GroupCounts, found: &[u64], rows_alone: &dyn Fn(usize) -> f64) -> f64 {
    let of_group = |index: usize| match sample.sizes()[index] {
        0 => 0.0,
        size => found[index] as f64 * rows_alone(index) / size as f64,
    };
    (0..sample.sizes().len().min(found.len())).map(of_group).sum()
}

/// For every value, how likely it is that a person's groups in the other releases do not all have it. Each has it with
/// the share of this release's groups that have it.
fn ruled_out(sample: &GroupCounts, releases: u64) -> Vec<f64> {
    let mut groups_with = vec![0_u64; sample.whole().len()];
    let mut n_groups = 0_u64;
    for index in 0..sample.sizes().len() {
        let group = sample.group(index);
        n_groups += u64::from(group.size > 0);
        group.values.iter().for_each(|&(code, _)| groups_with[code as usize] += 1);
    }
    let share = |groups: u64| groups as f64 / n_groups.max(1) as f64;
    groups_with.into_iter().map(|groups| 1.0 - share(groups).powi(releases as i32 - 1)).collect()
}

/// How many rows of a group are expected to be left with their own value alone, all others of the group being ruled
/// out.
fn alone(group: Group<'_>, gone: &[f64]) -> f64 {
    // The product over all values but one, from both ends: a factor may be zero, so it cannot be divided out.
    let mut after = vec![1.0; group.values.len() + 1];
    for (at, &(code, _)) in group.values.iter().enumerate().rev() {
        after[at] = after[at + 1] * gone[code as usize];
    }
    let mut before = 1.0;
    let mut rows = 0.0;
    for (at, &(code, n)) in group.values.iter().enumerate() {
        rows += f64::from(n) * before * after[at + 1];
        before *= gone[code as usize];
    }
    rows
}

/// Groups whose values stay the same while rows with equal values move between them.
struct Borders<'a> {
    sample: &'a GroupCounts,
    /// The groups that have each value.
    groups_with: Vec<Vec<u32>>,
}

/// The most other groups that a value is looked for in; where values are sorted, each is in two or three groups.
const MOST_GROUPS: usize = 16;

impl<'a> Borders<'a> {
    fn new(sample: &'a GroupCounts) -> Borders<'a> {
        let mut groups_with = vec![Vec::new(); sample.whole().len()];
        for index in 0..sample.sizes().len() {
            let values = sample.group(index).values.iter();
            values.for_each(|&(code, _)| groups_with[code as usize].push(index as u32));
        }
        Borders { sample, groups_with }
    }

    /// How many rows of a group are expected to be left with their own value, because in another release they were in a
    /// group that has nothing else in common with this one.
    fn alone(&self, index: usize, releases: u64) -> f64 {
        let group = self.sample.group(index);
        if group.values.len() == 1 {
            return group.size as f64;
        }
        let mut is_apart: BTreeMap<u32, bool> = BTreeMap::new();
        let mut rows = 0.0;
        for &(code, n) in group.values {
            let others = self.groups_with[code as usize].iter().filter(|other| **other as usize != index);
            let mut elsewhere = 0_u64;
            for &other in others.take(MOST_GROUPS) {
                let there = self.sample.group(other as usize);
                if *is_apart.entry(other).or_insert_with(|| n_common(group, there) == 1) {
                    let count =
                        there.values.binary_search_by_key(&code, |&(code, _)| code).map(|at| there.values[at].1);
                    elsewhere += u64::from(count.unwrap_or(0));
                }
            }
            let share = elsewhere as f64 / self.sample.whole()[code as usize] as f64;
            rows += f64::from(n) * (1.0 - (1.0 - share).powi(releases as i32 - 1));
        }
        rows
    }
}

/// How many values two groups have in common, counted up to two.
fn n_common(a: Group<'_>, b: Group<'_>) -> usize {
    let (few, many) = if a.values.len() <= b.values.len() { (a, b) } else { (b, a) };
    let is_common = |(code, _): &&(u32, u32)| many.values.binary_search_by_key(code, |&(code, _)| code).is_ok();
    few.values.iter().filter(is_common).take(2).count()
}

fn finding(target: &AttackTarget<'_>, draws: Draws, found: &Republishing) -> Finding {
    let (releases, name, word) = (found.releases, target.sensitive, target.group_word);
    let (people, determined) =
        (counted(found.people, "person", "people"), average(found.expected_determined, found.people));
    let sentence = match draws {
        Draws::EqualValues => format!(
            "If this table were published {releases} times, it would be drawn anew each time which of several people \
             with the same `{name}` is in which {word}. Of {people} who can be found again, {determined} would be \
             seen in two that have only their own `{name}` in common."
        ),
        Draws::Groups | Draws::Near | Draws::Little(_) | Draws::Nothing(_) => format!(
            "If this table were published {releases} times, each time with groups drawn anew, an attacker who has all \
             releases keeps only what all of them allow: of {people} who can be found again, {determined} would be \
             left with a single `{name}`."
        ),
    };
    let prevention = if found.expected_determined > 0.0 {
        "publishing a table once and handing out the same release again; earlier releases can be audited together \
         with it."
    } else {
        ""
    };
    Finding::new("republishing", sentence, prevention)
}

/// An expected number of people, in words.
fn average(expected: f64, people: u64) -> String {
    match expected {
        0.0 => "nobody".to_owned(),
        few if few < 0.05 => "hardly anybody".to_owned(),
        few if few < 100.0 && (people as f64 - few).abs() > 0.05 => format!("about {few:.1}"),
        many => format!("about {}", count(many.round() as u64)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Groups;
    use crate::attack::tests::mixed;

    fn counts(values: &[u32], group_of_row: &[u32]) -> GroupCounts {
        let n_groups = group_of_row.iter().max().map_or(0, |last| *last as usize + 1);
        let n_codes = values.iter().max().map_or(0, |last| *last as usize + 1);
        let codes = chrysalis_table::Codes::collect(n_codes, values.iter().copied());
        GroupCounts::new(&Groups { of_row: group_of_row.to_vec(), n_groups }, &codes, n_codes)
    }

    /// Groups of `l` rows with different values, taken from the values with the most rows left; ties are drawn at
    /// random.
    fn dealt(values: &[u32], l: usize, seed: u64) -> Vec<u32> {
        let mut left: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        (0..values.len()).for_each(|row| left.entry(values[row]).or_default().push(row));
        left.values_mut().for_each(|rows| rows.sort_by_key(|&row| mixed(seed ^ (row as u64) << 20, 1 << 50)));
        let mut groups = vec![0; values.len()];
        for group in 0..(values.len() / l) as u32 {
            let mut order: Vec<(usize, u64, u32)> = left
                .iter()
                .map(|(&value, rows)| {
                    (rows.len(), mixed(seed ^ u64::from(group * 64 + value + 1) << 40, 1 << 50), value)
                })
                .collect();
            order.sort_unstable();
            for &(_, _, value) in order.iter().rev().take(l) {
                groups[left.get_mut(&value).unwrap().pop().unwrap()] = group;
            }
        }
        groups
    }

    /// How many rows are left with one value after some releases, on average over the trials.
    fn simulated(values: &[u32], releases: u64, trials: u64, partition: &dyn Fn(u64) -> Vec<u32>) -> f64 {
        let mut alone = 0;
        for trial in 0..trials {
            let mut left: Vec<Option<BTreeSet<u32>>> = vec![None; values.len()];
            for release in 0..releases {
                let groups = partition(1 + trial * 1_000 + release);
                let mut of_group: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
                groups.iter().zip(values).for_each(|(&group, &value)| {
                    of_group.entry(group).or_default().insert(value);
                });
                for (left, group) in left.iter_mut().zip(&groups) {
                    let allowed = &of_group[group];
                    *left = Some(left.as_ref().map_or_else(|| allowed.clone(), |known| known & allowed));
                }
            }
            alone += left.iter().flatten().filter(|left| left.len() == 1).count();
        }
        alone as f64 / trials as f64
    }

    #[test]
    fn as_many_are_alone_as_where_groups_are_dealt_again_and_again() {
        // 12 values, some three times as frequent as others, in groups of four.
        let values: Vec<u32> = (0..96).map(|row: u32| if row < 48 { row % 4 } else { 4 + row % 8 }).collect();
        let deal = |seed: u64| dealt(&values, 4, seed);
        let sample = counts(&values, &deal(7));
        let all = sample.sizes().to_vec();
        for (releases, below) in [(1, 0.0), (3, 0.2), (5, 0.1), (10, 0.01)] {
            let gone = ruled_out(&sample, releases);
            let score = expected(&sample, &all, &|index| alone(sample.group(index), &gone));
            let truth = simulated(&values, releases, 60, &deal);
            // Every value in a group leaves less room for others, so in truth others are ruled out a little sooner.
            assert!(score <= truth * 1.05 && score >= truth * (1.0 - below) - 0.5, "{releases}: {score}, {truth}");
        }
    }

    #[test]
    fn products_leave_out_the_own_value_also_where_others_are_never_ruled_out() {
        // Value 0 is in every group, so nobody but its owners is ever left with one value.
        let sample = counts(&[0, 1, 0, 2, 0, 3], &[0, 0, 1, 1, 2, 2]);
        let gone = ruled_out(&sample, 2);
        assert_eq!(gone[0], 0.0);
        let score = expected(&sample, sample.sizes(), &|index| alone(sample.group(index), &gone));
        // One owner of value 0 per group, whose other value is in one of three groups.
        assert!((score - 3.0 * (2.0 / 3.0)).abs() < 1e-12, "{score}");
        // Every product in full.
        let group = sample.group(1);
        let slow: f64 = (0..group.values.len())
            .map(|own| {
                let others = (0..group.values.len()).filter(|&at| at != own);
                others.map(|at| gone[group.values[at].0 as usize]).product::<f64>() * f64::from(group.values[own].1)
            })
            .sum();
        assert!((alone(group, &gone) - slow).abs() < 1e-12);
        // One group for all is the same group every time, and one value alone is known at once.
        let one = counts(&[0, 1, 2], &[0, 0, 0]);
        assert_eq!(expected(&one, one.sizes(), &|index| alone(one.group(index), &ruled_out(&one, 10))), 0.0);
        let known = counts(&[0, 0], &[0, 0]);
        assert_eq!(expected(&known, known.sizes(), &|index| alone(known.group(index), &ruled_out(&known, 10))), 2.0);
    }

    #[test]
    fn only_people_at_borders_change_groups_where_values_are_sorted() {
        // 0 0 1 1 1 | 1 2 2 3 3 | 3 3 4 5 5: three groups of five, with 1 and 3 on borders.
        let values = [0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 3, 3, 4, 5, 5];
        let in_order: Vec<u32> = (0..15).map(|row| row / 5).collect();
        let drawn = |seed: u64| {
            let mut rows: Vec<usize> = (0..15).collect();
            rows.sort_by_key(|&row| (values[row], mixed(seed ^ (row as u64) << 20, 1 << 50)));
            let mut groups = vec![0; 15];
            rows.iter().enumerate().for_each(|(place, &row)| groups[row] = in_order[place]);
            groups
        };
        let sample = counts(&values, &in_order);
        for releases in [2, 4, 10] {
            let score = expected(&sample, sample.sizes(), &|index| Borders::new(&sample).alone(index, releases));
            let truth = simulated(&values, releases, 2_000, &drawn);
            assert!((score - truth).abs() < 0.15, "{releases}: {score}, {truth}");
        }
        // Only the people of the first group can be found again.
        let part = expected(&sample, &[5, 0, 0], &|index| Borders::new(&sample).alone(index, 2));
        assert!((part - 3.0 * (1.0 - 3.0 / 4.0)).abs() < 1e-12, "{part}");
        // Groups that have two values in common tell nobody apart.
        let overlapping = counts(&[0, 1, 2, 0, 1, 2], &[0, 0, 0, 1, 1, 1]);
        assert_eq!(Borders::new(&overlapping).alone(0, 10), 0.0);
    }

    #[test]
    fn averages_are_said_in_words() {
        let said: Vec<String> =
            [(0.0, 9), (0.01, 9), (1.25, 9), (9.0, 9), (1_234.4, 5_000)].map(|(n, of)| average(n, of)).to_vec();
        assert_eq!(said, ["nobody", "hardly anybody", "about 1.2", "about 9", "about 1,234"]);
    }
}

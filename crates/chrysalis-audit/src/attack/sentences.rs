//! The attacks that need no more than counts, in words.

use chrysalis_release::Detail;

use super::finding::{Finding, WorstGroup, chance, count, counted, percent, worst_groups};
use super::view::AttackTarget;
use crate::form::names_of;
use crate::measure::{Fraction, GroupCounts, share};
use crate::{Linking, Pooling, Presence, PresenceOver, Similarity};

const NOTHING_SENSITIVE: &str = "Not run: nothing sensitive is published.";

/// Betting on the most frequent value of a group.
pub(crate) fn linking(target: &AttackTarget<'_>, found: Option<&Linking>, worst: Option<Vec<WorstGroup>>) -> Finding {
    let Some(found) = found else { return Finding::not_run("linking", NOTHING_SENSITIVE) };
    let level = share(target.sample).and_then(|worst| worst.level.exact());
    let likely = match level {
        // Of buckets the share is a mixture, which the level of batches does not tell.
        Some(level) if worst.is_none() => chance(&level),
        _ => percent(found.confidence),
    };
    let sentence = format!(
        "An attacker who finds a person's {} and bets on its most frequent `{}` is right in at most {likely} of cases; {} open \
         to a bet this good.",
        target.group_word,
        target.sensitive,
        counted(found.rows, "row is", "rows are"),
    );
    // Twice the l that is reached, promised or not.
    let l = ((1.0 / found.confidence + 1e-9).floor().max(2.0) as u64).saturating_mul(2);
    let prevention = format!("a larger l; l={l} keeps every such bet at {} or less.", percent(1.0 / l as f64));
    let own = |group: crate::measure::Group<'_>| Fraction::new(group.max().into(), group.size.into());
    let worst = worst.unwrap_or_else(|| worst_groups(target.sample, target.ids, own));
    Finding::new("linking", sentence, prevention).with_groups(worst)
}

/// Nothing sensitive, or no groups: nobody can be linked, narrowed or learned about.
pub(crate) fn nothing_sensitive() -> Vec<Finding> {
    let not_run = |attack| Finding::not_run(attack, NOTHING_SENSITIVE);
    ["linking", "similarity", "background", "learned", "minimality", "republishing", "subtraction"]
        .map(not_run)
        .to_vec()
}

/// Finding out whether somebody is in the data at all.
pub(crate) fn presence(found: Option<&Presence>, rows: u64, worst: Vec<WorstGroup>) -> Finding {
    let Some(found) = found else {
        return Finding::not_run("presence", "Not run: the release shows no group to be found in.");
    };
    let how_likely = format!("{}{}", percent(found.delta), fraction(&found.delta_text));
    let (sentence, prevention) = match found.over {
        PresenceOver::ExactValues => (
            format!(
                "Quasi values are published as they are: whoever knows a person's sees whether the person is among the {}.",
                counted(rows, "row", "rows")
            ),
            instead_of_exact_values(),
        ),
        PresenceOver::Conceivable => (
            format!(
                "Who knows all quasi values of a person can say with at most {how_likely} that the person is in a given group."
            ),
            "larger groups, or groups whose members differ more.".to_owned(),
        ),
        PresenceOver::People => (
            format!(
                "Who knows all quasi values of a person of the microdata can say with at most {how_likely} that the person is in \
                 a given group."
            ),
            "larger groups, or groups whose members differ more.".to_owned(),
        ),
        PresenceOver::Covered if found.delta >= 1.0 => (
            format!(
                "{} one value per quasi attribute: who is known to have these values is seen to be in the data.",
                counted(rows, "row shows", "rows show")
            ),
            "a coarser generalization of their groups.".to_owned(),
        ),
        PresenceOver::Covered => (
            format!(
                "Who knows all quasi values of a person finds several rows that could be the person's, and no row is theirs with \
                 more than {how_likely}."
            ),
            "a larger k.".to_owned(),
        ),
    };
    Finding::new("presence", sentence, prevention).with_groups(worst)
}

/// The forms that show less, in words.
fn instead_of_exact_values() -> String {
    let with = |is_meant: fn(Detail) -> bool| {
        // Where several users are told apart, that is a question of its own.
        names_of(|form| !form.shape().has_users && is_meant(form.shape().detail)).join(", ")
    };
    format!(
        "a form that shows ranges or labels ({}, {} with k=10) or permutes every column ({}).",
        with(|detail| detail == Detail::GroupBoxes),
        with(|detail| detail == Detail::RowBoxes),
        with(|detail| detail == Detail::Permuted),
    )
}

fn fraction(text: &str) -> String {
    if text.contains('/') && text.len() < 24 { format!(" ({text})") } else { String::new() }
}

/// Learning how bad a value is from groups that lie in one category.
pub(crate) fn similarity(target: &AttackTarget<'_>, found: Option<&Similarity>, worst: Vec<WorstGroup>) -> Finding {
    let Some(found) = found else {
        let reason = "Not run: the manifest puts the sensitive values into no categories.";
        return Finding::not_run("similarity", reason);
    };
    let sentence = match found.by_category.iter().find(|of| of.rows > 0) {
        None => format!("No {} has sensitive values of one category only.", target.group_word),
        Some(first) => format!(
            "Of {} in {} it is known of which category their `{}` is, because no other occurs there; the most sensitive such \
             category, {{{}}}, has {} of them.",
            counted(found.rows, "row", "rows"),
            counted(found.groups, "group", "groups"),
            target.sensitive,
            first.values.join(", "),
            count(first.rows),
        ),
    };
    let prevention = if found.rows == 0 {
        ""
    } else {
        "distinct-l-alpha, which asks for values of different weight in every group."
    };
    Finding::new("similarity", sentence, prevention).with_groups(worst)
}

/// The groups that similarity betrays, the largest first.
pub(crate) fn similar_groups(sample: &GroupCounts, ids: &[Option<i64>], groups: &[usize]) -> Vec<WorstGroup> {
    let all = groups.iter().map(|&group| WorstGroup {
        id: ids.get(group).copied().flatten(),
        rows: sample.sizes()[group],
        level: 1.0,
        level_text: "1".into(),
    });
    super::finding::foremost(all.collect(), |a, b| b.rows.cmp(&a.rows).then(a.id.cmp(&b.id)))
}

impl Pooling {
    /// The attack in words.
    pub fn finding(&self) -> Finding {
        let sure = self.confidence.map_or_else(String::new, |confidence| {
            format!(" Together they guess a sensitive value right in at most {} of cases.", percent(confidence))
        });
        let sentence = format!(
            "Two users who put together what they know ({}) see {}, the smallest of {}; {} in classes of fewer than the {} \
             promised to each.{sure}",
            self.attributes.join(", "),
            counted(self.classes, "class", "classes"),
            counted(self.smallest, "row", "rows"),
            counted(self.rows_below, "row is", "rows are"),
            count(self.promised),
        );
        let prevention = if self.rows_below == 0 {
            ""
        } else {
            "publishing so that any two users may pool what they know (collude 2), which protects every pair of users."
        };
        Finding::new("pooling", sentence, prevention)
    }
}

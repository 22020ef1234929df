//! The findings of attacks that need only counts, in words.

use chrysalis_release::{Promise, Scope};
use chrysalis_table::exact::BigRational;

use super::finding::{Finding, WorstGroup, chance, count, counted, percent, worst_groups};
use super::view::{AttackTarget, Subject};
use crate::measure::{Fraction, GroupCounts, share};
use crate::{Joining, Linking, Pooling, Similarity};

const NOTHING_SENSITIVE: &str = "Not run: nothing sensitive is published.";

/// Betting on the most frequent value of a group.
pub(crate) fn linking(target: &AttackTarget<'_>, found: Option<&Linking>, worst: Option<Vec<WorstGroup>>) -> Finding {
    match worst {
        // For buckets the share is a mixture, which differs from the level of the batches.
        Some(worst) => linking_worst(target.subject(), found, None, worst),
        None => {
            let level = share(target.sample).and_then(|worst| worst.level.exact());
            let own = |group: crate::measure::Group<'_>| Fraction::new(group.max().into(), group.size.into());
            linking_worst(target.subject(), found, level, worst_groups(target.sample, target.ids, own))
        }
    }
}

/// The same, given the level exactly and the worst groups.
pub(crate) fn linking_worst(
    subject: Subject<'_>,
    found: Option<&Linking>,
    level: Option<BigRational>,
    worst: Vec<WorstGroup>,
) -> Finding {
    let Some(found) = found else { return Finding::not_run("linking", NOTHING_SENSITIVE) };
    let likely = level.map_or_else(|| percent(found.confidence), |level| chance(&level));
    let sentence = format!(
        "An attacker who finds a person's {} and bets on its most frequent `{}` is right in at most {likely} of cases; {} open \
         to a bet this good.",
        subject.group_word,
        subject.sensitive,
        counted(found.rows, "row is", "rows are"),
    );
    // Twice the l that the release reaches, promised or not.
    let l = ((1.0 / found.confidence + 1e-9).floor().max(2.0) as u64).saturating_mul(2);
    let prevention = format!("a larger l; l={l} keeps every such bet at {} or less.", percent(1.0 / l as f64));
    Finding::new("linking", sentence, prevention).with_groups(worst)
}

/// Nothing sensitive, or no groups: nobody can be linked, narrowed or learned about.
pub(crate) fn nothing_sensitive() -> Vec<Finding> {
    let not_run = |attack| Finding::not_run(attack, NOTHING_SENSITIVE);
    ["linking", "similarity", "background", "learned", "minimality", "republishing", "subtraction"]
        .map(not_run)
        .to_vec()
}

/// Learning how sensitive a value is from groups whose values all lie in one category.
pub(crate) fn similarity(subject: Subject<'_>, found: Option<&Similarity>, worst: Vec<WorstGroup>) -> Finding {
    let Some(found) = found else {
        let reason = "Not run: the manifest has no categories of sensitive values.";
        return Finding::not_run("similarity", reason);
    };
    let sentence = match found.by_category.iter().find(|of| of.rows > 0) {
        None => format!("No {} has sensitive values of one category only.", subject.group_word),
        Some(first) => format!(
            "For {} in {}, the category of `{}` is known, because no other occurs there; the most sensitive such \
             category, {{{}}}, has {} of them.",
            counted(found.rows, "row", "rows"),
            counted(found.groups, "group", "groups"),
            subject.sensitive,
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

impl Joining {
    /// The attack in words; none where there is one table.
    pub(crate) fn finding(found: Option<&Joining>, promises: &[Promise], tables: usize) -> Option<Finding> {
        if tables < 2 {
            return None;
        }
        let of_buckets = promises.iter().filter(|promise| promise.scope() == Scope::Bucket);
        let k = Promise::largest_k(of_buckets);
        let alone = match k {
            Some(k) => format!("k={k} is promised for each table alone"),
            None => "No k is promised".to_owned(),
        };
        let Some(found) = found else {
            let reason = "only the microdata show how many rows a person keeps once the tables are joined.";
            return Some(Finding::not_run("joining", format!("Not run: {reason} {alone}.")));
        };
        let below = match (found.narrowed, k) {
            (_, None) => String::new(),
            (0, Some(_)) => "nobody keeps fewer, and ".to_owned(),
            (n, Some(_)) => {
                let (fewer, one) = (counted(n, "keeps", "keep"), counted(found.alone, "keeps", "keep"));
                format!("{fewer} fewer, {one} one, and ")
            }
        };
        let sentence = format!(
            "An attacker who knows a person's quasi values finds rows in each of {tables} tables, and joins them by their batches. \
             {alone}; of {}, {below}the worst off keep {}.",
            counted(found.people, "person of the microdata", "people of the microdata"),
            counted(found.fewest, "row", "rows"),
        );
        let prevention = if found.narrowed == 0 { "" } else { "fewer marginals, or none." };
        Some(Finding::new("joining", sentence, prevention))
    }
}

impl Pooling {
    /// The attack in words.
    pub fn finding(&self) -> Finding {
        let sure = self.confidence.map_or_else(String::new, |confidence| {
            format!(" Together they guess a sensitive value right in at most {} of cases.", percent(confidence))
        });
        let sentence = format!(
            "Whoever puts the columns of two users together ({}) sees {}, the smallest of {}; {} in classes of fewer \
             than the {} promised to each.{sure}",
            self.attributes.join(", "),
            counted(self.classes, "class", "classes"),
            counted(self.smallest, "row", "rows"),
            counted(self.rows_below, "row is", "rows are"),
            count(self.promised),
        );
        let prevention =
            if self.rows_below == 0 { "" } else { "protecting more users who pool what they know (a larger collude)." };
        Finding::new("pooling", sentence, prevention)
    }
}

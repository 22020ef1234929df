//! An attacker who knows a person's value of one sensitive attribute and bets on another; see `../spec.md`, insider.

mod margins;
mod pairing;
mod people;
#[cfg(test)]
mod tests;

use chrysalis_table::{Table, Watch};
use rayon::prelude::*;

pub(crate) use self::margins::{Margin, Margins};
use self::pairing::Pairing;
use self::people::Insiders;
pub(crate) use self::people::Locate;
use super::finding::{Finding, WorstGroup, counted, foremost, percent};

/// The most beliefs that are worked out about two attributes: values of one times values of the other, over all groups.
const MOST_BELIEFS: u64 = 64_000_000;
/// A gain below this share of the baseline is no reason to advise anything.
const SLACK: f64 = 1.05;

/// An attacker who knows a person's group and the value of one sensitive attribute bets on that of another. Which
/// values go together is learned from all groups. Beliefs are the attacker's own and may be wrong; with the microdata
/// they are scored.
#[derive(Clone, Debug, PartialEq)]
pub struct Insider {
    /// Every two attributes, either way round, in the manifest's order.
    pub pairs: Vec<InsiderPair>,
    /// Which of them gains most over the groups alone: by bets won where these are scored, otherwise by bets expected
    /// to be won. The first of several.
    pub worst: usize,
    /// Pairs of attributes that were left out because groups are too large to learn from.
    pub left_out: u64,
}

/// What somebody who knows one sensitive attribute learns about another.
#[derive(Clone, Debug, PartialEq)]
pub struct InsiderPair {
    /// The attribute that the attacker knows.
    pub known: String,
    /// The attribute that is bet on.
    pub guessed: String,
    /// Rows bet on.
    pub tried: u64,
    /// How sure the attacker is, on average, of the value bet on.
    pub mean_confidence: f64,
    /// The same for an attacker who knows the group alone and bets on its most frequent value.
    pub baseline: f64,
    /// `mean_confidence` divided by `baseline`.
    pub lift: f64,
    /// The surest bet.
    pub confidence: f64,
    /// The group where it is made; the lowest number where there are several.
    pub group: Option<i64>,
    /// How the bets came out; absent without the microdata, and where nobody's group could be found.
    pub scored: Option<InsiderScore>,
}

/// An insider's bets compared with the microdata.
#[derive(Clone, Debug, PartialEq)]
pub struct InsiderScore {
    /// People bet on.
    pub people: u64,
    /// Bets won by the insider; people to whom several values are equally likely count in part.
    pub right: f64,
    /// Bets won by an attacker who knows the groups alone.
    pub right_from_groups: f64,
    /// Bets won by an insider who also knows beforehand, from the microdata, how often values go together.
    pub right_from_truth: f64,
    /// `right` divided by `right_from_groups`.
    pub lift: f64,
}

/// The people of the microdata, and how they are found.
#[derive(Clone, Copy)]
pub(crate) struct Located<'a> {
    pub(crate) microdata: &'a Table,
    pub(crate) quasi: &'a [&'a str],
    pub(crate) locate: &'a Locate<'a>,
}

/// Runs the attack on every two sensitive attributes.
pub(crate) fn attack(
    margins: &Margins<'_>,
    known: Option<Located<'_>>,
    watch: &dyn Watch,
) -> (Option<Insider>, Finding) {
    let people = known.map(|it| Insiders::new(it.microdata, it.quasi, it.locate, watch));
    let (mut pairs, mut worst_groups, mut left_out) = (Vec::new(), Vec::new(), 0);
    let n = margins.columns.len();
    for (at, one) in margins.columns.iter().enumerate() {
        for other in &margins.columns[at + 1..n] {
            let Some(pairing) = Pairing::learned([one, other], MOST_BELIEFS, watch) else {
                left_out += 1;
                continue;
            };
            let taught = people.as_ref().and_then(|people| people.taught(&pairing, watch));
            for known in [0, 1] {
                let (pair, groups) = bets(&pairing, known, &margins.ids, watch);
                let scored = people.as_ref().zip(taught.as_ref());
                let scored = scored.and_then(|(people, taught)| people.score([&pairing, taught], known, watch));
                pairs.push(InsiderPair { scored, ..pair });
                worst_groups.push(groups);
            }
        }
    }
    let worst = (0..pairs.len()).rev().max_by(|&a, &b| pairs[a].gain().total_cmp(&pairs[b].gain()));
    let Some(worst) = worst else {
        let reason = "Not run: groups are so large that being in one says next to nothing, and learning from them \
                      takes too long.";
        return (None, Finding::not_run("insider", reason));
    };
    let insider = Insider { pairs, worst, left_out };
    let finding = insider.finding(margins.group_word).with_groups(worst_groups.swap_remove(worst));
    (Some(insider), finding)
}

/// The finding about a release without two sensitive attributes in groups.
pub(crate) fn not_applicable() -> Finding {
    Finding::not_run("insider", "Does not apply: there are no two sensitive columns that share groups.")
}

/// How sure an insider is of every row of every group, and the groups where an insider is surest.
fn bets(pairing: &Pairing<'_>, known: usize, ids: &[Option<i64>], watch: &dyn Watch) -> (InsiderPair, Vec<WorstGroup>) {
    let guessed = &pairing.sides[1 - known].margin.values;
    let of_group = |group: usize| {
        watch.pause_at(group);
        let rows = pairing.rows(group)?;
        let (mut sum, mut surest) = (0.0, 0.0_f64);
        for &(class, count) in pairing.classes(known, group) {
            let believed = pairing.believed_values(known, group, class);
            let best = believed.iter().map(|(_, share)| *share).fold(0.0, f64::max).min(1.0);
            sum += f64::from(count) * best;
            surest = surest.max(best);
        }
        Some((group, rows, sum, guessed.group(group).max(), surest))
    };
    let all: Vec<(usize, u64, f64, u64, f64)> =
        (0..pairing.n_groups()).into_par_iter().with_min_len(64).filter_map(of_group).collect();
    let tried: u64 = all.iter().map(|group| group.1).sum();
    let mean = |sum: f64| rounded(sum / tried.max(1) as f64);
    let (expected, baseline): (f64, u64) = all.iter().fold((0.0, 0), |sum, it| (sum.0 + it.2, sum.1 + it.3));
    let surest = all.iter().map(|&(group, rows, _, _, surest)| (group, rows, surest)).collect();
    let surest = foremost(surest, |a: &(usize, u64, f64), b| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0)));
    let id = |group: usize| ids.get(group).copied().flatten();
    let worst = |&(group, rows, level): &(usize, u64, f64)| WorstGroup {
        id: id(group),
        rows,
        level: rounded(level),
        level_text: format!("{level:.3}"),
    };
    let names = [known, 1 - known].map(|side| pairing.sides[side].margin.attribute.name.clone());
    let [known, guessed] = names;
    let pair = InsiderPair {
        known,
        guessed,
        tried,
        mean_confidence: mean(expected),
        baseline: mean(baseline as f64),
        lift: rounded(if baseline > 0 { expected / baseline as f64 } else { 1.0 }),
        confidence: surest.first().map_or(0.0, |(_, _, level)| rounded(*level)),
        group: surest.first().and_then(|(group, _, _)| id(*group)),
        scored: None,
    };
    (pair, surest.iter().map(worst).collect())
}

/// Cuts off digits that depend on the machine.
fn rounded(number: f64) -> f64 {
    (number * 1e5).round() / 1e5
}

impl InsiderScore {
    /// Bets won by the better of the two insiders.
    fn most(&self) -> f64 {
        self.right.max(self.right_from_truth)
    }
}

impl InsiderPair {
    /// How much larger the share of right bets is than from the groups alone.
    fn gain(&self) -> f64 {
        match &self.scored {
            Some(scored) => (scored.most() - scored.right_from_groups) / scored.people.max(1) as f64,
            None => self.mean_confidence - self.baseline,
        }
    }

    /// Whether an insider does noticeably better than from the groups alone.
    fn is_better(&self) -> bool {
        match &self.scored {
            Some(scored) => scored.most() > scored.right_from_groups * SLACK,
            None => self.lift > SLACK,
        }
    }
}

impl Insider {
    /// The attributes between which most can be learned.
    pub fn worst_pair(&self) -> Option<&InsiderPair> {
        self.pairs.get(self.worst)
    }

    /// The attack in words.
    fn finding(&self, group_word: &str) -> Finding {
        let Some(pair) = self.worst_pair() else { return not_applicable() };
        let InsiderPair { known, guessed, .. } = pair;
        let mut sentence = format!(
            "An insider who knows a person's `{known}` and {group_word}, and learns from all groups which values go \
             together, bets on the person's `{guessed}` and expects to be right in {} of cases ({} from the {group_word} \
             alone).",
            percent(pair.mean_confidence),
            percent(pair.baseline),
        );
        if let Some(scored) = &pair.scored {
            let share = |right: f64| percent(right / scored.people.max(1) as f64);
            sentence.push_str(&format!(
                " Of bets on {}, {} are right ({} from the {group_word} alone); {} are, if the insider knows beforehand \
                 how often values go together.",
                counted(scored.people, "person", "people"),
                share(scored.right),
                share(scored.right_from_groups),
                share(scored.right_from_truth),
            ));
        }
        if self.pairs.len() > 2 {
            sentence.push_str(" No other two sensitive columns tell more about each other.");
        }
        if self.left_out > 0 {
            sentence.push_str(&format!(
                " {} left out, because groups are too large to learn from.",
                counted(self.left_out, "pair of columns was", "pairs of columns were")
            ));
        }
        let prevention = match pair.is_better() {
            true => format!(
                "publish one of `{known}` and `{guessed}` only, or require more of `{guessed}`; no promise covers what \
                 one sensitive column tells about another."
            ),
            false => String::new(),
        };
        Finding::new("insider", sentence, prevention)
    }
}

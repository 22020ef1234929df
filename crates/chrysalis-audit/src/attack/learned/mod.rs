//! An attacker who learns from the whole release how attributes and sensitive values go together ("deFinetti", Kifer 2009),
//! and then bets inside every group; see `../spec.md`, learned.

mod beliefs;
mod crowd;
mod model;
mod people;
#[cfg(test)]
mod tests;

use rayon::prelude::*;

use self::crowd::Crowd;
use self::model::Model;
use self::people::Victims;
pub(crate) use self::people::{KnownPeople, Places};
use super::finding::{Finding, WorstGroup, counted, foremost, percent};
use super::view::AttackerView;
use crate::measure::Group;
use crate::promise::promised_share;

/// The most beliefs that are worked out: rows times values, summed over all groups.
const MOST_BELIEFS: u64 = 64_000_000;
/// A belief exceeds a limit only if it does so by more than rounding errors.
const SLACK: f64 = 1.0 + 1e-4;

/// An attacker learns from all groups what people with a sensitive value are like, and bets on the likeliest value of a
/// person's group. Beliefs are the attacker's own and may be wrong; with the microdata they are scored.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// On whom the attack was tried.
    pub over: LearnedOver,
    /// How many rows or people that are.
    pub tried: u64,
    /// How sure the attacker is, on average, of the value bet on.
    pub mean_confidence: f64,
    /// The same for an attacker who bets on the most frequent value of the group.
    pub baseline: f64,
    /// `mean_confidence` divided by `baseline`.
    pub lift: f64,
    /// How many bets the attacker expects to win.
    pub expected_right: f64,
    /// The surest bet.
    pub confidence: f64,
    /// The group where it is made; the lowest number where there are several.
    pub group: Option<i64>,
    /// The promised limit on a value's share of a group; absent where nothing of the kind was promised.
    pub promised: Option<f64>,
    /// Bets that the attacker is surer of than the promised limit.
    pub above_promise: u64,
    /// Bets that the attacker is surer of than the group alone allows.
    pub above_group: u64,
    /// Attributes that were left out because they show too many different labels.
    pub left_out: Vec<String>,
    /// How the bets came out; absent without the microdata.
    pub scored: Option<BetScore>,
}

/// On whom the learned attack was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LearnedOver {
    /// The published rows, as if each were a person.
    Rows,
    /// The people of the microdata, or some of them.
    People,
}

/// Bets compared with the microdata. People with the same quasi values look alike, so each counts with their average.
#[derive(Clone, Debug, PartialEq)]
pub struct BetScore {
    /// People bet on.
    pub people: u64,
    /// Bets won by the learned attack.
    pub right: f64,
    /// Bets won by an attacker who looks at groups alone.
    pub right_from_groups: f64,
    /// Bets won by an attacker who has no release but learned from the microdata themselves; absent where there are too
    /// many sensitive values to tell them all apart.
    pub right_from_truth: Option<f64>,
    /// `right` divided by `right_from_groups`.
    pub lift: f64,
    /// People whose quasi values nobody shares, so that nobody else blurs what is believed about them.
    pub unique_people: u64,
    /// Bets on them won by the learned attack.
    pub unique_right: f64,
    /// Bets on them won by an attacker who looks at groups alone.
    pub unique_right_from_groups: f64,
}

/// The results for some members.
#[derive(Clone, Debug, Default)]
struct Bets {
    tried: f64,
    confidence: f64,
    baseline: f64,
    above_promise: f64,
    above_group: f64,
    right: f64,
    right_from_groups: f64,
    right_from_truth: f64,
    unique: f64,
    unique_right: f64,
    unique_right_from_groups: f64,
    /// The surest bet and its group, per group.
    surest: Vec<(f64, u32)>,
}

impl Bets {
    /// Adds bets on `rows` members with this confidence, where the group alone would give `baseline`.
    fn add(&mut self, rows: f64, confidence: f64, baseline: f64, promised: Option<f64>) {
        self.tried += rows;
        self.confidence += rows * confidence;
        self.baseline += rows * baseline;
        self.above_group += if confidence > baseline * SLACK { rows } else { 0.0 };
        self.above_promise += if promised.is_some_and(|line| confidence > line * SLACK) { rows } else { 0.0 };
    }

    fn merge(mut self, other: Bets) -> Bets {
        self.tried += other.tried;
        self.confidence += other.confidence;
        self.baseline += other.baseline;
        self.above_promise += other.above_promise;
        self.above_group += other.above_group;
        self.right += other.right;
        self.right_from_groups += other.right_from_groups;
        self.right_from_truth += other.right_from_truth;
        self.unique += other.unique;
        self.unique_right += other.unique_right;
        self.unique_right_from_groups += other.unique_right_from_groups;
        self.surest.extend(other.surest);
        self
    }
}

/// Runs the attack on the published rows, or on people where they are known.
pub(crate) fn attack(view: &AttackerView<'_>, known: Option<&KnownPeople<'_>>) -> (Option<Learned>, Finding) {
    let target = view.target;
    let crowd = Crowd::of_rows(view.of_row, target.ids.len());
    let beliefs = (0..crowd.n_groups())
        .map(|group| crowd.members(group).0.len() as u64 * target.sample.group(group).values.len() as u64);
    if beliefs.sum::<u64>() > MOST_BELIEFS {
        let reason = "Not run: groups are so large that being in one says next to nothing, and learning from them \
                      takes too long.";
        return (None, Finding::not_run("learned", reason));
    }
    if view.quasi.is_empty() {
        return (None, Finding::not_run("learned", "Not run: no quasi attribute is published to learn from."));
    }
    let model = Model::trained(view, &crowd);
    let (over, bets, has_truth) = match known {
        None => (LearnedOver::Rows, bets_on_rows(view, &model, &crowd), false),
        Some(known) => {
            let victims = Victims::new(view, known);
            (LearnedOver::People, victims.bets(view, &model, known), victims.is_told_apart(&model))
        }
    };
    let is_used = |at: usize| model.tables.iter().any(|table| table.attribute == at);
    let left_out = (0..view.quasi.len()).filter(|&at| !is_used(at)).map(|at| view.quasi[at].name.to_owned());
    let learned = summary(view, over, &bets, left_out.collect(), has_truth);
    let finding = finding(view, &learned, &bets);
    (Some(learned), finding)
}

/// Bets on every published row.
fn bets_on_rows(view: &AttackerView<'_>, model: &Model, crowd: &Crowd) -> Bets {
    let evidence = model.of_cells(&view.quasi);
    let promised = promised(view);
    let of_stretch = |groups: std::ops::Range<usize>| {
        let (mut bets, mut beliefs) = (Bets::default(), Vec::new());
        for group in groups {
            view.target.watch.pause();
            let values = view.target.sample.group(group);
            if values.values.is_empty() {
                continue;
            }
            evidence.together(values, crowd.members(group), &mut beliefs);
            let mut surest = 0.0;
            for line in beliefs.chunks_exact(values.values.len()) {
                let confidence = f64::from(line.iter().copied().fold(0.0, f32::max));
                bets.add(1.0, confidence, share(values), promised);
                surest = f64::max(surest, confidence);
            }
            bets.surest.push((surest, group as u32));
        }
        bets.surest = foremost(std::mem::take(&mut bets.surest), surer);
        bets
    };
    let all: Vec<Bets> = crowd.stretches(64).into_par_iter().map(of_stretch).collect();
    all.into_iter().fold(Bets::default(), Bets::merge)
}

fn surer(a: &(f64, u32), b: &(f64, u32)) -> std::cmp::Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}

/// The share of the most frequent value.
fn share(group: Group<'_>) -> f64 {
    group.max() as f64 / group.size.max(1) as f64
}

fn promised(view: &AttackerView<'_>) -> Option<f64> {
    promised_share(view.target.promises).map(|share| *share.numer() as f64 / *share.denom() as f64)
}

fn summary(view: &AttackerView<'_>, over: LearnedOver, bets: &Bets, left_out: Vec<String>, has_truth: bool) -> Learned {
    let mean = |sum: f64| if bets.tried > 0.0 { sum / bets.tried } else { 0.0 };
    let ratio = |a: f64, b: f64| if b > 0.0 { a / b } else { 1.0 };
    let surest = bets.surest.iter().min_by(|a, b| surer(a, b));
    let scored = (over == LearnedOver::People).then(|| BetScore {
        people: bets.tried as u64,
        right: rounded(bets.right),
        right_from_groups: rounded(bets.right_from_groups),
        right_from_truth: has_truth.then_some(rounded(bets.right_from_truth)),
        lift: rounded(ratio(bets.right, bets.right_from_groups)),
        unique_people: bets.unique as u64,
        unique_right: rounded(bets.unique_right),
        unique_right_from_groups: rounded(bets.unique_right_from_groups),
    });
    Learned {
        over,
        tried: bets.tried as u64,
        mean_confidence: rounded(mean(bets.confidence)),
        baseline: rounded(mean(bets.baseline)),
        lift: rounded(ratio(bets.confidence, bets.baseline)),
        expected_right: rounded(bets.confidence),
        confidence: surest.map_or(0.0, |(confidence, _)| rounded(*confidence)),
        group: surest.and_then(|&(_, group)| view.target.ids.get(group as usize).copied().flatten()),
        promised: promised(view),
        above_promise: bets.above_promise as u64,
        above_group: bets.above_group as u64,
        left_out,
        scored,
    }
}

/// Cuts off digits that depend on the machine: beliefs rest on single-precision logarithms.
fn rounded(number: f64) -> f64 {
    (number * 1e5).round() / 1e5
}

fn finding(view: &AttackerView<'_>, learned: &Learned, bets: &Bets) -> Finding {
    let name = view.target.sensitive;
    let whom = match learned.over {
        LearnedOver::Rows => counted(learned.tried, "row", "rows"),
        LearnedOver::People => counted(learned.tried, "person", "people"),
    };
    let mut sentence = format!(
        "An attacker who learns from all groups together which quasi values go with which `{name}` bets on {whom} and expects to \
         be right in {} of cases ({} from the groups alone)",
        percent(learned.mean_confidence),
        percent(learned.baseline),
    );
    if let Some(line) = learned.promised {
        let above = counted(learned.above_promise, "bet is", "bets are");
        sentence.push_str(&format!("; {above} surer than the promised {}", percent(line)));
    }
    sentence.push('.');
    if let Some(scored) = &learned.scored {
        sentence.push_str(&result(scored));
    }
    let worst = foremost(bets.surest.clone(), surer);
    let groups = worst.into_iter().map(|(level, group)| WorstGroup {
        id: view.target.ids.get(group as usize).copied().flatten(),
        rows: view.target.sample.sizes()[group as usize],
        level: rounded(level),
        level_text: format!("{level:.4}"),
    });
    let is_gain = learned.mean_confidence > learned.baseline * SLACK;
    let prevention = "this breaks no promise about groups; a larger l, groups of similar members (nearby instead of \
                      anatomize), t-closeness or beta leave less to learn.";
    Finding::new("learned", sentence, if is_gain { prevention } else { "" }).with_groups(groups.collect())
}

/// How bets came out.
fn result(scored: &BetScore) -> String {
    let share = |right: f64, people: u64| percent(if people > 0 { right / people as f64 } else { 0.0 });
    let of_all = |right: f64| share(right, scored.people);
    let mut sentence = format!(
        " Checked against the microdata, {} of the bets are right ({} from the groups alone",
        of_all(scored.right),
        of_all(scored.right_from_groups)
    );
    if let Some(right) = scored.right_from_truth {
        sentence.push_str(&format!("; {} without the release, learning from the microdata", of_all(right)));
    }
    sentence.push_str(").");
    if scored.unique_people > 0 && scored.unique_people < scored.people {
        let of_unique = |right: f64| share(right, scored.unique_people);
        sentence.push_str(&format!(
            " Of the bets on {} whose quasi values nobody shares, {} are right ({}).",
            counted(scored.unique_people, "person", "people"),
            of_unique(scored.unique_right),
            of_unique(scored.unique_right_from_groups)
        ));
    }
    sentence
}

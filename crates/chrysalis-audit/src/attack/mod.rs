//! What an attacker can do with a release; `spec.md` defines every attack.
//!
//! Forms differ in what they show, attacks in what they ask. Between them stands an [`AttackerView`](view::AttackerView):
//! groups with their sensitive values, and for every published row its group and a cell per quasi attribute. Each form
//! builds one (or one per user), and background, learned, minimality, republishing, subtraction and extremes are written
//! once.
//!
//! An attack that succeeds is a finding, not a broken promise: promises are judged elsewhere.

mod background;
mod extremes;
mod finding;
mod insider;
mod learned;
mod minimality;
mod presence;
mod replay;
mod republishing;
mod sentences;
mod shown;
mod subtraction;
#[cfg(test)]
pub(crate) mod tests;
mod together;
mod view;

pub use background::{Background, RuledOut};
pub use extremes::Extremes;
pub use finding::{Finding, WorstGroup};
pub use insider::{Insider, InsiderPair, InsiderScore};
pub use learned::{BetScore, Learned, LearnedOver};
pub use minimality::Minimality;
pub use replay::Replay;
pub use republishing::Republishing;
pub use subtraction::Subtraction;
pub use together::Together;

pub(crate) use background::{finding as background, worst_by_step};
pub(crate) use extremes::{EndPlacement, Holders, NumberEnds, extremes};
pub(crate) use finding::{chance, count, counted, foremost, percent};
pub(crate) use insider::{Located, Margin, Margins, attack as insider, not_applicable as no_insider};
pub(crate) use learned::{KnownPeople, Places};
pub(crate) use minimality::{Setting, against_replay_by, against_replay_of_batches, against_replay_of_cuts};
pub(crate) use presence::{presence, row_linking};
pub(crate) use republishing::Draws;
use republishing::Found;
pub(crate) use sentences::{linking, linking_worst, nothing_sensitive, similar_groups, similarity};
pub(crate) use shown::ShownAttribute;
pub(crate) use subtraction::subtraction;
pub(crate) use view::{AttackTarget, AttackerView, Subject};

use chrysalis_release::Manifest;

use crate::Attacks;
use crate::form::judge;

/// Whether groups that mondrian cut can be replayed, and how.
pub(crate) enum ReplayOfCuts<'a> {
    /// The replay does not apply to this release, or cannot be run, for this reason.
    Not(String),
    /// It can be run.
    Of(Box<Setting<'a>>),
}

impl ReplayOfCuts<'_> {
    /// The reason for a form whose groups are not replayed.
    pub(crate) fn none(manifest: &Manifest) -> ReplayOfCuts<'static> {
        let reason = judge(manifest.method).against_replay(manifest);
        ReplayOfCuts::Not(reason.unwrap_or_else(|| "Does not apply.".to_owned()))
    }
}

/// What attacks that go beyond the groups of this release need to know.
pub(crate) struct Beyond {
    /// What is drawn at random when the table is published again.
    pub(crate) draws: Draws,
    /// How many people of each group can be found again in every release; absent where all can.
    pub(crate) found_again: Option<Vec<u64>>,
    /// Whom the ends of ranges place in a group.
    pub(crate) placed: EndPlacement,
    /// Whether these are the groups of one part of a release, so that attacks that look at all groups cannot be run.
    pub(crate) is_part: bool,
}

/// Why an attack was not run on a release that was judged part by part.
pub(crate) const NEEDS_ALL_GROUPS: &str = "Not run: this attack learns from all groups of the release at once, and the \
                                           release was read part by part because it does not fit into the memory \
                                           that is allowed. What it would achieve is not known.";

/// Runs the attacks that are written once for all forms, and adds what they found.
pub(crate) fn run(
    view: &AttackerView<'_>,
    known: Option<&KnownPeople<'_>>,
    replay: &ReplayOfCuts<'_>,
    beyond: Beyond,
    attacks: &mut Attacks,
) {
    let watch = view.target.watch;
    watch.pause();
    let (background, finding) = background::attack(&view.target);
    attacks.background = background;
    attacks.findings.push(finding);
    watch.pause();
    let (learned, finding) = match beyond.is_part {
        true => (None, Finding::not_run("learned", NEEDS_ALL_GROUPS)),
        false => learned::attack(view, known),
    };
    attacks.learned = learned;
    attacks.findings.push(finding);
    watch.pause();
    let (minimality, finding) = match replay {
        ReplayOfCuts::Not(reason) => (None, Finding::not_run("minimality", reason.clone())),
        ReplayOfCuts::Of(setting) => minimality::attack(&view.target, setting),
    };
    attacks.minimality = minimality;
    attacks.findings.push(finding);
    watch.pause();
    let found = if beyond.is_part { Found::NotHere } else { Found::of(beyond.found_again.as_deref()) };
    let (republishing, finding) = republishing::attack(&view.target, beyond.draws, found);
    attacks.republishing = republishing;
    attacks.findings.push(finding);
    let (subtraction, finding) = subtraction(view.target.sensitive);
    attacks.subtraction = subtraction;
    attacks.findings.push(finding);
    let (extremes, finding) = extremes(NumberEnds::of_groups(&view.target), beyond.placed);
    attacks.extremes = extremes;
    attacks.findings.push(finding);
}
